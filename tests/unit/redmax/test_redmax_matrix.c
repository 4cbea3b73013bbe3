// SPDX-License-Identifier: Apache-2.0
// Tests for residual, Newton matrix and factor of src/formulation/redmax on random trees of all
// joint types: derivatives against differences of the residual, solves against LAPACK's dense LU,
// the residual against d'Alembert's principle over poses.
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "support/redmax_case.h"
#include "support/sanitized.h"

#include <stdlib.h>

void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
            const int* ldb, int* info);

#define GAMMA 0.1

static random_scene_def tree(uint64_t seed, int32_t bodies) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = seed % 3 == 0 ? RANDOM_CHAIN : RANDOM_TREE,
                                  .bodies = bodies,
                                  .grounded = seed % 2 == 0,
                                  .on_fixed = seed % 4 == 0,
                                  .controls = true,
                                  .soft = true,
                                  .paths = seed % 5 > 2,
                                  .charts = seed % 7 > 3,
                                  .wide = true,
                                  .mass_range = 4};
    return def;
}

// Hold about every third axis, of balls single components of the rotation vector, with the forces
// on it for which the ball is in balance: there the rows of forces on theta, Y^-T r, have no more
// derivatives than r.
static void hold_some(redmax_case* c) {
    mabd_redmax_sim* sim = c->inside;
    mabd_redmax_part* part = &sim->parts[0];
    part->structure.lean = false;
    for (int32_t i = 0; i < part->link_count; i++) {
        mabd_redmax_link* link = &sim->links[i];
        bool some = false;
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            mabd_redmax_freedom* f = &sim->freedoms[k];
            if (link->kind == MABD_PRIMITIVE_TRANSLATION || random_real(&c->state) < 0.3) continue;
            if (link->path >= 0) continue; // without laws
            f->held = some = true, f->law = 0, f->hold = random_real(&c->state);
        }
        if (some && link->kind == MABD_PRIMITIVE_BALL) link->laws = true;
    }
    mabd_redmax_rates(&c->solve);
    mabd_redmax_residual(&c->solve);
    for (int32_t i = 0; i < part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_vec3 theta;
        mabd_mat3 Y;
        if (link->kind != MABD_PRIMITIVE_BALL || !link->laws) continue;
        mabd_redmax_ball_turn(&c->solve, i, &theta, &Y);
        const mabd_vec3 f = mabd_redmax_ball_forces(Y, mabd_v3_load(sim->r + link->first));
        for (int k = 0; k < 3; k++) sim->force[link->first + k] += mabd_v3_get(f, k);
    }
}

// Give every axis with a control smooth friction.
static void rub_all(redmax_case* c) {
    for (int32_t k = 0; k < c->inside->freedom_count; k++) {
        mabd_redmax_freedom* f = &c->inside->freedoms[k];
        if (!f->control) continue;
        ((mabd_control*)f->control)->friction_speed = 3 + random_real(&c->state);
        f->bound = 20 + 10 * random_real(&c->state);
    }
}

// Residual of the rows at coordinates q + x e_k.
static void residual_at(const redmax_case* c, const mabd_real* q, int32_t k, mabd_real x,
                        mabd_real* r) {
    mabd_redmax_sim* sim = c->inside;
    const size_t bytes = (size_t)sim->parts[0].freedom_count * sizeof *r;
    memcpy(sim->q, q, bytes);
    sim->q[k] += x;
    mabd_redmax_rates(&c->solve);
    mabd_redmax_residual(&c->solve);
    mabd_redmax_axes_rows(&c->solve);
    memcpy(r, sim->rows, bytes);
}

// Column k of dr/dq by differences of fourth order over x.
static void difference_over(const redmax_case* c, const mabd_real* q, int32_t k, mabd_real x,
                            mabd_real* column) {
    const int32_t n = c->inside->parts[0].freedom_count;
    mabd_real* r = calloc(4 * (size_t)n, sizeof *r);
    residual_at(c, q, k, -2 * x, r), residual_at(c, q, k, -x, r + n);
    residual_at(c, q, k, x, r + 2 * n), residual_at(c, q, k, 2 * x, r + 3 * n);
    for (int32_t i = 0; i < n; i++) {
        column[i] = (r[i] - 8 * r[n + i] + 8 * r[2 * n + i] - r[3 * n + i]) / (12 * x);
    }
    free(r);
}

// Steps that change rates by 0.01.
static void difference(const redmax_case* c, const mabd_real* q, int32_t k, mabd_real* column) {
    difference_over(c, q, k, (mabd_real)0.01 * c->solve.gamma, column);
}

/// Write H (n x n, by columns) as products with unit vectors, factored at q.
static void dense(const redmax_case* c, const mabd_real* q, mabd_real* H) {
    mabd_redmax_sim* sim = c->inside;
    const int32_t n = sim->parts[0].freedom_count;
    const mabd_redmax_weights w = mabd_redmax_stage_weights(c->solve.gamma);
    mabd_real* e = calloc((size_t)n, sizeof *e);
    int32_t link;
    residual_at(c, q, 0, 0, e);
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, w, &link), MABD_OK));
    for (int32_t k = 0; k < n; k++) {
        memset(e, 0, (size_t)n * sizeof *e);
        e[k] = 1;
        mabd_redmax_multiply(&c->solve, w, e, H + (size_t)k * (size_t)n);
    }
    free(e);
}

static double largest(size_t n, const mabd_real* x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// Worst error of H against differences, relative to its largest entry.
static double derivative_error(redmax_case* c, double gamma, bool holds) {
    mabd_redmax_sim* sim = c->inside;
    const size_t n = (size_t)sim->parts[0].freedom_count;
    mabd_real *q = calloc(n, sizeof *q), *H = calloc(n * n, sizeof *H);
    mabd_real* column = calloc(n, sizeof *column);
    double worst = 0;
    redmax_case_draw(c, (mabd_real)gamma);
    if (holds) hold_some(c);
    memcpy(q, sim->q, n * sizeof *q);
    dense(c, q, H);
    for (size_t k = 0; k < n; k++) {
        difference(c, q, (int32_t)k, column);
        for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(column[i] - H[n * k + i]));
    }
    worst /= largest(n * n, H);
    free(q), free(H), free(column);
    return worst;
}

// Stages of euler, bdf2 and sdirk2 at 10 ms, and a longer one, where rates weigh less.
static const double gammas[] = {GAMMA, 0.01, 0.02 / 3, 0.0029289};

Test(redmax_matrix, is_the_derivative_of_the_residual) {
    double worst = 0;
    int32_t freedoms = 0;
    for (uint64_t seed = 0; seed < AMOUNT(100, 12); seed++) {
        const random_scene_def def = tree(seed, 2 + (int32_t)(seed % 7));
        redmax_case c = redmax_case_make(&def, seed % 3 != 1 ? REDMAX_FORCES : REDMAX_FREE);
        if (seed % 5 < 2) rub_all(&c);
        const double error = derivative_error(&c, gammas[seed / 2 % 4], seed % 4 > 1);
        cr_expect(lt(dbl, error, 1e-8), "seed %d", (int)seed);
        worst = fmax(worst, error);
        freedoms += c.inside->parts[0].freedom_count;
        redmax_case_free(&c);
    }
    printf("H against differences, %d freedoms: %.1e\n", (int)freedoms, worst);
}

// ---- solves ------------------------------------------------------------------------------------

// Worst difference of the solve and of the transposed solve from LAPACK, relative to the solution.
static double solve_error(redmax_case* c, bool transposed, bool holds) {
    mabd_redmax_sim* sim = c->inside;
    const size_t n = (size_t)sim->parts[0].freedom_count;
    const int size = (int)n, one = 1;
    mabd_real *H = calloc(n * n, sizeof *H), *q = calloc(n, sizeof *q), *b = calloc(n, sizeof *b);
    mabd_real *x = calloc(n, sizeof *x), *A = calloc(n * n, sizeof *A);
    int *pivots = calloc(n, sizeof *pivots), info;
    double worst = 0;
    redmax_case_draw(c, (mabd_real)GAMMA);
    if (holds) hold_some(c);
    memcpy(q, sim->q, n * sizeof *q);
    dense(c, q, H);
    for (size_t k = 0; k < n; k++) b[k] = random_real(&c->state);
    for (size_t k = 0; k < n * n; k++) A[k] = transposed ? H[n * (k % n) + k / n] : H[k];
    if (transposed) {
        mabd_redmax_apply_transposed(&c->solve, b, x);
    } else {
        mabd_redmax_apply(&c->solve, b, x);
    }
    dgesv_(&size, &one, A, &size, pivots, b, &size, &info);
    cr_assert(eq(int, info, 0));
    for (size_t k = 0; k < n; k++) worst = fmax(worst, fabs(x[k] - b[k]));
    worst /= largest(n, b);
    free(H), free(q), free(b), free(x), free(A), free(pivots);
    return worst;
}

static const int32_t sizes[] = {2, 5, 14, 40, 80};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

// ---- pins --------------------------------------------------------------------------------------

#define PIN                                                                                        \
    "{\"friction\": 3, \"friction_speed\": 2, \"pin\": {\"friction\": 0.6, \"radius\": 0.3,"       \
    " \"length\": 0.4, \"face\": 0.2}}"
#define BODY(name, place)                                                                          \
    "{\"name\": \"" name "\", \"shape\": \"box\", \"size\": [0.4, 0.3, 0.2], \"position\": " place \
    "}"

// Pins on all kinds of axes, on joints that the tree reaches from both sides.
// clang-format off
static const char* const pinned =
    "{\"gravity\": [1, -2, -9.81], \"bodies\": ["
    BODY("a", "[0.3, 0, 0.1]") ", " BODY("b", "[0.8, 0.1, 0]") ", " BODY("c", "[1.2, 0, 0]") ", "
    BODY("d", "[1.5, 0, -0.2]") ", " BODY("e", "[0.9, 0.6, 0]") ", " BODY("f", "[1.6, 0.9, 0]")
    "], \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"axes\": {\"rx\": " PIN "}},"
    "{\"type\": \"cylindrical\", \"a\": \"b\", \"b\": \"a\", \"anchor\": [0.5, 0.1, 0],"
    " \"axis\": [1, 1, 0], \"axes\": {\"tx\": " PIN ", \"rx\": " PIN "}},"
    "{\"type\": \"ball\", \"a\": \"b\", \"b\": \"c\", \"anchor\": [1, 0, 0],"
    " \"axes\": {\"rx\": " PIN ", \"ry\": " PIN ", \"rz\": " PIN "}},"
    "{\"type\": \"prismatic\", \"a\": \"c\", \"b\": \"d\", \"anchor\": [1.4, 0, 0],"
    " \"axis\": [0, 1, 2], \"axes\": {\"tx\": " PIN "}},"
    "{\"type\": \"universal\", \"a\": \"e\", \"b\": \"a\", \"anchor\": [0.6, 0.4, 0],"
    " \"axis\": [0, 0, 1], \"axes\": {\"rx\": " PIN ", \"ry\": " PIN "}},"
    "{\"type\": \"ball\", \"a\": \"f\", \"b\": \"e\", \"anchor\": [1.2, 0.8, 0],"
    " \"axes\": {\"rz\": " PIN "}}]}";
// clang-format on

// Residual with the bounds of its own wrenches.
static void loaded_residual(const redmax_case* c, const mabd_real* q, int32_t k, mabd_real x,
                            mabd_real* r) {
    residual_at(c, q, k, x, r);
    mabd_redmax_update_bounds(&c->solve);
    residual_at(c, q, k, x, r);
}

Test(redmax_matrix, has_the_loads_of_pins) {
    redmax_case c = {.state = 9};
    c.model = rig_text_model(pinned);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_REDMAX;
    c.sim = rig_sim(c.model, &def);
    c.inside = c.sim->self;
    for (int draw = 0; draw < 5; draw++) {
        mabd_redmax_sim* sim = c.inside;
        redmax_case_draw(&c, (mabd_real)GAMMA);
        const int32_t n = sim->parts[0].freedom_count;
        mabd_real q[32], r[4][32], e[32] = {0}, column[32], x[32], y[32];
        double worst = 0, most = 0, plain = 0;
        int32_t link;
        memcpy(q, sim->q, (size_t)n * sizeof *q);
        for (int32_t k = 0; k < n; k++) {
            const mabd_real h = (mabd_real)2e-4;
            for (int i = 0; i < 4; i++) {
                loaded_residual(&c, q, k, h * (mabd_real)(i < 2 ? i - 2 : i - 1), r[i]);
            }
            loaded_residual(&c, q, k, 0, column);
            const mabd_redmax_weights w = mabd_redmax_stage_weights((mabd_real)GAMMA);
            memset(e, 0, sizeof e), e[k] = 1;
            mabd_redmax_load_columns(&c.solve, false);
            c.solve.loads = true;
            cr_assert(eq(int, mabd_redmax_factor(&c.solve, w, &link), MABD_OK));
            mabd_redmax_multiply(&c.solve, w, e, column);
            mabd_redmax_apply(&c.solve, column, x); // back to e
            for (int32_t i = 0; i < n; i++) {
                const double d = (r[0][i] - 8 * r[1][i] + 8 * r[2][i] - r[3][i]) / (12 * h);
                worst = fmax(worst, fabs(d - column[i])), most = fmax(most, fabs(d));
                cr_expect(lt(dbl, fabs(x[i] - e[i]), 1e-9));
                e[i] = random_real(&c.state);
            }
            mabd_redmax_apply(&c.solve, e, x); // z.(H^-1 e) = (H^-T z).e
            for (int32_t i = 0; i < n; i++) r[0][i] = random_real(&c.state);
            mabd_redmax_apply_transposed(&c.solve, r[0], y);
            double left = 0, right = 0;
            for (int32_t i = 0; i < n; i++) left += r[0][i] * x[i], right += y[i] * e[i];
            cr_expect(lt(dbl, fabs(left - right), 1e-9 * (1 + fabs(left))));
            c.solve.loads = false;
            mabd_redmax_multiply(&c.solve, w, (memset(e, 0, sizeof e), e[k] = 1, e), y);
            for (int32_t i = 0; i < n; i++) plain = fmax(plain, fabs(y[i] - column[i]));
        }
        printf("loads: error %.1e, without them %.1e\n", worst / most, plain / most);
        cr_expect(lt(dbl, worst / most, 1e-7));
        cr_expect(lt(dbl, 1e-3, plain / most));
    }
    redmax_case_free(&c);
}

Test(redmax_matrix, its_factor_solves_like_a_dense_one) {
    double worst[2] = {0, 0};
    for (uint64_t seed = 0; seed < AMOUNT(40, 10); seed++) {
        const random_scene_def def = tree(seed, sizes[seed % SIZES]);
        redmax_case c = redmax_case_make(&def, seed % 3 != 1 ? REDMAX_FORCES : REDMAX_FREE);
        for (int t = 0; t < 2; t++) {
            const double error = solve_error(&c, t == 1, seed % 4 > 1);
            cr_expect(lt(dbl, error, 1e-10), "seed %d, %d freedoms, transposed %d", (int)seed,
                      (int)c.inside->parts[0].freedom_count, t);
            worst[t] = fmax(worst[t], error);
        }
        redmax_case_free(&c);
    }
    printf("solve %.1e, transposed %.1e\n", worst[0], worst[1]);
}

// ---- springs, ground ---------------------------------------------------------------------------

// Write H (n x n, by columns) as differences. False if a force changes its piece between them.
static bool differences(const redmax_case* c, const mabd_real* q, mabd_real* H) {
    const size_t n = (size_t)c->inside->parts[0].freedom_count;
    mabd_real* half = calloc(n, sizeof *half);
    bool smooth = true;
    for (size_t k = 0; k < n && smooth; k++) {
        difference_over(c, q, (int32_t)k, (mabd_real)1e-4, H + n * k);
        difference_over(c, q, (int32_t)k, (mabd_real)0.5e-4, half);
        for (size_t i = 0; i < n; i++) half[i] -= H[n * k + i];
        smooth = largest(n, half) < 1e-7 * largest(n, H + n * k);
    }
    free(half);
    return smooth;
}

// Put the solution of the bordered system back into differences: H dq - b, relative to H dq.
static double bordered_error(redmax_case* c) {
    mabd_redmax_sim* sim = c->inside;
    const size_t n = (size_t)sim->parts[0].freedom_count;
    const mabd_redmax_weights w = mabd_redmax_stage_weights((mabd_real)GAMMA);
    mabd_real *H = calloc(n * n, sizeof *H), *q = calloc(n, sizeof *q), *b = calloc(n, sizeof *b);
    int32_t link;
    do {
        redmax_case_draw(c, (mabd_real)GAMMA);
        memcpy(q, sim->q, n * sizeof *q);
    } while (!differences(c, q, H));
    residual_at(c, q, 0, 0, b);
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, w, &link), MABD_OK));
    for (size_t k = 0; k < n; k++) b[k] = sim->step[k] = random_real(&c->state);
    if (c->solve.part->border_count > 0) {
        cr_assert(eq(int, mabd_redmax_border_factor(&c->solve), MABD_OK));
        mabd_redmax_border_solve(&c->solve);
    } else {
        mabd_redmax_apply(&c->solve, sim->step, sim->step);
    }
    double worst = 0, scale = largest(n * n, H) * largest(n, sim->step);
    for (size_t i = 0; i < n; i++) {
        double sum = -b[i];
        for (size_t k = 0; k < n; k++) sum += H[n * k + i] * sim->step[k];
        worst = fmax(worst, fabs(sum) / scale);
    }
    free(H), free(q), free(b);
    return worst;
}

// Springs of two and three points of all laws, and the ground, on random trees: one Newton step
// with their exact derivatives.
Test(redmax_matrix, with_springs_and_ground_a_step_solves_with_the_derivative_of_the_residual) {
    double worst = 0;
    int32_t borders = 0;
    for (uint64_t seed = 0; seed < AMOUNT(50, 6); seed++) {
        const random_scene_def def = tree(seed, 2 + (int32_t)(seed % 7));
        redmax_case c = redmax_case_make(&def, REDMAX_SPRINGS);
        const double error = bordered_error(&c);
        cr_expect(lt(dbl, error, 1e-8), "seed %d", (int)seed);
        worst = fmax(worst, error);
        borders += c.inside->parts[0].border_count;
        redmax_case_free(&c);
    }
    printf("step against differences, %d borders: %.1e\n", (int)borders, worst);
}

// ---- the residual by d'Alembert's principle ----------------------------------------------------

/// Poses of all bodies along q + v t + a t^2/2, in the chart: centre (3) and rotation (9).
typedef struct pose {
    mabd_vec3 c;
    mabd_mat3 R;
} pose;

static void poses_at(const redmax_case* c, const mabd_real* q, pose* out) {
    mabd_redmax_sim* sim = c->inside;
    memcpy(sim->q, q, (size_t)sim->parts[0].freedom_count * sizeof *q);
    mabd_redmax_place(&c->solve);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const int32_t link = sim->body_link[i];
        if (link < 0) continue;
        const mabd_frame W = mabd_frame_product(&sim->world[link], &sim->links[link].principal);
        out[i].c = W.p, out[i].R = W.R;
    }
}

#define BODIES_MAX 8
#define SAMPLES    5
// First and second derivatives at the middle of five samples.
static const double d1[SAMPLES] = {1 / 12., -8 / 12., 0, 8 / 12., -1 / 12.};
static const double d2[SAMPLES] = {-1 / 12., 16 / 12., -30 / 12., 16 / 12., -1 / 12.};

static mabd_vec3 derive(const mabd_vec3* x, const double* weights, double scale) {
    mabd_vec3 sum = {0, 0, 0};
    for (int i = 0; i < SAMPLES; i++) sum = mabd_v3_axpy((mabd_real)weights[i], x[i], sum);
    return mabd_v3_scale((mabd_real)scale, sum);
}

// Force m (c'' - g) and torque d/dt (R J R' omega) of each body along the motion, world axes.
static void inertia_wrenches(const redmax_case* c, const mabd_real* q, const mabd_real* v,
                             const mabd_real* a, mabd_vec3 (*wrench)[2]) {
    const mabd_redmax_sim* sim = c->inside;
    const int32_t n = sim->parts[0].freedom_count;
    const double t = 1e-3;
    pose at[SAMPLES][BODIES_MAX];
    mabd_real* x = calloc((size_t)n, sizeof *x);
    for (int s = 0; s < SAMPLES; s++) {
        const double time = (s - 2) * t;
        for (int32_t k = 0; k < n; k++) x[k] = q[k] + time * v[k] + time * time * a[k] / 2;
        poses_at(c, x, at[s]);
    }
    free(x);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_model_class* own = &sim->model->classes[sim->model->body_class[i]];
        mabd_vec3 center[SAMPLES], turn[SAMPLES];
        for (int s = 0; s < SAMPLES; s++) {
            center[s] = at[s][i].c;
            turn[s] = mabd_so3_log(mabd_m3_tproduct(at[2][i].R, at[s][i].R)); // body axes
        }
        // at the middle, where turn = 0: omega = turn', omega' = turn''
        const mabd_vec3 om = derive(turn, d1, 1 / t), al = derive(turn, d2, 1 / (t * t));
        const mabd_vec3 J = mabd_v3_load(own->principal);
        const mabd_vec3 L = mabd_v3(J.x * om.x, J.y * om.y, J.z * om.z);
        const mabd_vec3 torque =
            mabd_v3_add(mabd_v3(J.x * al.x, J.y * al.y, J.z * al.z), mabd_v3_cross(om, L));
        const mabd_vec3 fall =
            mabd_v3_sub(derive(center, d2, 1 / (t * t)), mabd_v3_load(sim->model->gravity));
        wrench[i][0] = mabd_v3_scale(own->material.mass, fall);
        wrench[i][1] = mabd_m3_mul(at[2][i].R, torque);
    }
}

// Generalised force of the wrenches on freedom k: their work over a small change of it.
static double work_on(const redmax_case* c, const mabd_real* q, int32_t k,
                      const mabd_vec3 (*wrench)[2]) {
    const mabd_redmax_sim* sim = c->inside;
    const int32_t n = sim->parts[0].freedom_count;
    const double x = 1e-3;
    pose at[SAMPLES][BODIES_MAX];
    double sum = 0;
    mabd_real* moved = calloc((size_t)n, sizeof *moved);
    for (int s = 0; s < SAMPLES; s++) {
        memcpy(moved, q, (size_t)n * sizeof *q);
        moved[k] += (mabd_real)((s - 2) * x);
        poses_at(c, moved, at[s]);
    }
    free(moved);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_vec3 center[SAMPLES], turn[SAMPLES];
        for (int s = 0; s < SAMPLES; s++) {
            center[s] = at[s][i].c;
            turn[s] = mabd_so3_log(mabd_m3_product(at[s][i].R, mabd_m3_transpose(at[2][i].R)));
        }
        sum += mabd_v3_dot(wrench[i][0], derive(center, d1, 1 / x));
        sum += mabd_v3_dot(wrench[i][1], derive(turn, d1, 1 / x));
    }
    return sum;
}

Test(redmax_matrix, its_residual_is_the_force_of_dalemberts_principle) {
    double worst = 0;
    for (uint64_t seed = 0; seed < AMOUNT(50, 8); seed++) {
        random_scene_def def = tree(seed, 2 + (int32_t)(seed % 5));
        def.controls = false, def.on_fixed = false;
        redmax_case c = redmax_case_make(&def, REDMAX_FREE);
        mabd_redmax_sim* sim = c.inside;
        const size_t n = (size_t)sim->parts[0].freedom_count;
        mabd_real *q = calloc(n, sizeof *q), *v = calloc(n, sizeof *v), *a = calloc(n, sizeof *a);
        mabd_real* r = calloc(n, sizeof *r);
        mabd_vec3 wrench[BODIES_MAX][2];
        redmax_case_draw(&c, (mabd_real)GAMMA);
        memcpy(q, sim->q, n * sizeof *q), memcpy(v, sim->v, n * sizeof *v);
        memcpy(a, sim->a, n * sizeof *a);
        mabd_redmax_residual(&c.solve);
        memcpy(r, sim->r, n * sizeof *r);
        inertia_wrenches(&c, q, v, a, wrench);
        const double scale = largest(n, r);
        for (size_t k = 0; k < n; k++) {
            const double error = fabs(work_on(&c, q, (int32_t)k, wrench) - r[k]) / scale;
            cr_expect(lt(dbl, error, 1e-7), "seed %d, freedom %d", (int)seed, (int)k);
            worst = fmax(worst, error);
        }
        free(q), free(v), free(a), free(r);
        redmax_case_free(&c);
    }
    printf("residual against d'Alembert: %.1e\n", worst);
}
