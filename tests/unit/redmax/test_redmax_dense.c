// SPDX-License-Identifier: Apache-2.0
// Recursions and products in O(links) against dense Jacobians and their derivatives, which only
// these tests form (support/dense_jacobian.h), on random trees.
#include "support/dense_jacobian.h"

static double size_of(mabd_spatial x) {
    return sqrt(mabd_sp_dot(x, x));
}

static redmax_case make(uint64_t seed, int32_t bodies) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = seed % 3 == 0 ? RANDOM_CHAIN : RANDOM_TREE,
                                  .bodies = bodies,
                                  .grounded = true,
                                  .mass_range = 4};
    return redmax_case_make(&def, REDMAX_FREE);
}

static void draw(redmax_case* c) {
    redmax_case_draw(c, (mabd_real)0.1);
    c->inside->parts[0].structure.lean = false; // keeps all motions of links
    mabd_redmax_residual(&c->solve);
}

// V = J v and A = J a + J' v + X (0, -g).
static void expect_motion(const redmax_case* c, const dense_tree* d) {
    const mabd_redmax_sim* sim = c->inside;
    for (int32_t i = 0; i < d->links; i++) {
        const mabd_spatial V = dense_apply(d, d->J, i, sim->v);
        mabd_spatial A =
            mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(-1, mabd_v3_load(sim->model->gravity)));
        A = mabd_frame_to_child(&sim->world[i], A);
        A = mabd_sp_add(A, dense_apply(d, d->J, i, sim->a));
        A = mabd_sp_add(A, dense_apply(d, d->Jdot, i, sim->v));
        cr_expect(lt(dbl, size_of(mabd_sp_sub(V, sim->V[i])), 1e-12 * (1 + size_of(V))));
        cr_expect(lt(dbl, size_of(mabd_sp_sub(A, sim->A[i])), 1e-12 * (1 + size_of(A))));
    }
}

// Products with weights (q, v, a) by unit vectors against columns of a dense matrix.
static void expect_products(redmax_case* c, mabd_redmax_weights w, const mabd_real* H,
                            const char* what) {
    mabd_redmax_sim* sim = c->inside;
    const size_t n = (size_t)sim->freedom_count;
    mabd_real *e = calloc(n, sizeof *e), *y = calloc(n, sizeof *y);
    double most = 0, worst = 0;
    int32_t link;
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, w, &link), MABD_OK));
    for (size_t k = 0; k < n; k++) {
        memset(e, 0, n * sizeof *e);
        e[k] = 1;
        mabd_redmax_multiply(&c->solve, w, e, y);
        for (size_t i = 0; i < n; i++) {
            most = fmax(most, fabs(H[i * n + k]));
            worst = fmax(worst, fabs(H[i * n + k] - y[i]));
        }
    }
    printf("%s: %.1e\n", what, worst / most);
    cr_expect(lt(dbl, worst, 1e-12 * most), "%s: %g of %g", what, worst, most);
    free(e), free(y);
}

// Derivative of the residual J'(M A - ad(V)' M V) by q, v and a, by their weights:
//   dr = dJ' F + J' dF,  dF = M dA - ad(dV)' M V - ad(V)' M dV
//   by q_l   dV = dJ_l v, dA = dJ_l a + dJ'_l v + ad(X (0, -g)) J_l
//   by v_l   dV = J_l,    dA = J'_l + dJ_l v
//   by a_l   dA = J_l
static void fill(const redmax_case* c, const dense_tree* d, mabd_redmax_weights w, mabd_real* H) {
    const mabd_redmax_sim* sim = c->inside;
    const size_t n = (size_t)d->n;
    memset(H, 0, n * n * sizeof *H);
    for (int32_t i = 0; i < d->links; i++) {
        const mabd_spatial_inertia* M = &sim->links[i].M;
        const mabd_spatial V = dense_apply(d, d->J, i, sim->v), P = mabd_inertia_mul(M, V);
        const mabd_spatial fall = mabd_frame_to_child(
            &sim->world[i],
            mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(-1, mabd_v3_load(sim->model->gravity))));
        mabd_spatial A =
            mabd_sp_add(dense_apply(d, d->J, i, sim->a), dense_apply(d, d->Jdot, i, sim->v));
        A = mabd_sp_add(A, fall);
        const mabd_spatial F = mabd_sp_sub(mabd_inertia_mul(M, A), mabd_sp_cross_wrench(V, P));
        for (int32_t l = 0; l < d->n; l++) {
            const mabd_spatial J = d->J[dense_at(d, i, l)];
            mabd_spatial byV = mabd_sp_zero(), byA = mabd_sp_cross(fall, J), turn = mabd_sp_zero();
            for (int32_t j = 0; j < d->n; j++) {
                const mabd_spatial dJ = d->dJ[dense_at3(d, i, j, l)];
                byV = mabd_sp_axpy(sim->v[j], dJ, byV);
                byA = mabd_sp_axpy(sim->a[j], dJ, byA);
                byA = mabd_sp_axpy(sim->v[j], d->dJdot[dense_at3(d, i, j, l)], byA);
                turn = mabd_sp_axpy(sim->v[j], d->dJ[dense_at3(d, i, l, j)], turn);
            }
            // d(J'v)/dv_l = J'_l + sum_j dJ_j/dq_l v_j
            const mabd_spatial rate = mabd_sp_add(d->Jdot[dense_at(d, i, l)], byV);
            cr_expect(lt(dbl, size_of(mabd_sp_sub(turn, d->Jdot[dense_at(d, i, l)])),
                         1e-12 * (1 + size_of(turn))));
            const mabd_spatial dV = mabd_sp_add(mabd_sp_scale(w.q, byV), mabd_sp_scale(w.v, J));
            mabd_spatial dA = mabd_sp_add(mabd_sp_scale(w.q, byA), mabd_sp_scale(w.v, rate));
            dA = mabd_sp_axpy(w.a, J, dA);
            mabd_spatial dF = mabd_inertia_mul(M, dA);
            dF = mabd_sp_sub(dF, mabd_sp_cross_wrench(dV, P));
            dF = mabd_sp_sub(dF, mabd_sp_cross_wrench(V, mabd_inertia_mul(M, dV)));
            for (int32_t j = 0; j < d->n; j++) {
                H[(size_t)j * n + (size_t)l] += mabd_sp_dot(d->J[dense_at(d, i, j)], dF) +
                                                w.q * mabd_sp_dot(d->dJ[dense_at3(d, i, j, l)], F);
            }
        }
    }
}

Test(redmax_dense, motions_and_products_agree_with_dense_jacobians) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        redmax_case c = make(seed, 7);
        draw(&c);
        dense_tree d = dense_tree_make(&c);
        const size_t n = (size_t)d.n;
        mabd_real* H = calloc(n * n, sizeof *H);
        const mabd_redmax_weights mass = {0, 0, 1}, all = mabd_redmax_stage_weights(c.solve.gamma);
        expect_motion(&c, &d);
        fill(&c, &d, mass, H);
        expect_products(&c, mass, H, "M");
        fill(&c, &d, all, H);
        expect_products(&c, all, H, "H");
        free(H);
        dense_tree_free(&d);
        redmax_case_free(&c);
    }
}

// ---- large trees -------------------------------------------------------------------------------

static double largest(size_t n, const mabd_real* x) {
    double most = 0;
    for (size_t k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

// y = J'(M J x), and its largest entry if terms do not cancel.
static double dense_mass(const dense_tree* d, const mabd_real* x, mabd_real* y) {
    mabd_spatial* w = calloc((size_t)d->links, sizeof *w);
    mabd_real* most = calloc((size_t)d->n, sizeof *most);
    for (int32_t i = 0; i < d->links; i++) {
        w[i] = mabd_inertia_mul(&d->c->inside->links[i].M, dense_apply(d, d->J, i, x));
        for (int32_t j = 0; j < d->n; j++) {
            most[j] += size_of(d->J[dense_at(d, i, j)]) * size_of(w[i]);
        }
    }
    memset(y, 0, (size_t)d->n * sizeof *y);
    dense_pull(d, w, y);
    const double scale = largest((size_t)d->n, most);
    free(w), free(most);
    return scale;
}

static void expect_equal(const dense_tree* d, const mabd_real* y, const mabd_real* z, double scale,
                         const char* what) {
    double worst = 0;
    for (int32_t j = 0; j < d->n; j++) worst = fmax(worst, fabs(y[j] - z[j]));
    printf("%d freedoms, %s: %.1e\n", (int)d->n, what, worst / scale);
    cr_expect(lt(dbl, worst, 1e-12 * scale), "%d freedoms, %s: %g", (int)d->n, what, worst);
}

// M x, M^-1 b, and M^-1(b + J'w), put back into dense matrices.
static void expect_sweeps(redmax_case* c, const dense_tree* d) {
    const size_t n = (size_t)d->n;
    const mabd_redmax_weights mass = {0, 0, 1};
    mabd_real *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *b = calloc(n, sizeof *b);
    mabd_spatial* w = calloc((size_t)d->links, sizeof *w);
    int32_t link;
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, mass, &link), MABD_OK));
    for (size_t k = 0; k < n; k++) x[k] = random_real(&c->state), b[k] = random_real(&c->state);
    double scale = dense_mass(d, x, y);
    mabd_real* z = calloc(n, sizeof *z);
    mabd_redmax_multiply(&c->solve, mass, x, z);
    expect_equal(d, y, z, scale, "M x");
    mabd_redmax_apply(&c->solve, b, x);
    expect_equal(d, b, y, dense_mass(d, x, y), "M^-1 b");
    mabd_redmax_clear_bars(&c->solve);
    for (int32_t i = 0; i < d->links; i++) {
        mabd_real six[6];
        for (int k = 0; k < 6; k++) six[k] = random_real(&c->state);
        w[i] = mabd_sp_load(six);
        mabd_sp_store(w[i], c->inside->up + MABD_VARIATION * (size_t)i + 6); // on dA
    }
    mabd_redmax_apply_transposed_bars(&c->solve, b, z);
    dense_pull(d, w, b);
    scale = dense_mass(d, z, y);
    expect_equal(d, b, y, scale, "M^-1 (b + J'w)");
    free(x), free(y), free(b), free(z), free(w);
}

Test(redmax_dense, sweeps_over_trees_of_up_to_200_freedoms_agree_with_dense_jacobians) {
    static const int32_t bodies[] = {20, 40, 60, 80, 90};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        redmax_case c = make(seed, bodies[seed % 5]);
        draw(&c);
        dense_tree d = dense_tree_make_rates(&c);
        expect_motion(&c, &d);
        expect_sweeps(&c, &d);
        dense_tree_free(&d);
        redmax_case_free(&c);
    }
}
