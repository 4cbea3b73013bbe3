// SPDX-License-Identifier: Apache-2.0
// The linear systems of a substep of the variational formulation: Jacobians of the rows against
// central differences, the exact matrix against a dense one that the test builds and solves itself.
#include "formulation/variational/variational_body.h"
#include "formulation/variational/variational_exact.h"
#include "formulation/variational/variational_system.h"
#include "sim/sim_object.h"
#include "support/random_scene.h"
#include "support/rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// A random scene in motion, with the exact matrix.
static mabd_sim* random_sim(uint64_t seed, random_pattern pattern, mabd_model** model) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = pattern,
                                  .bodies = 9,
                                  .grounded = seed % 2,
                                  .controls = true,
                                  .soft = true,
                                  .wide = true,
                                  .mass_range = 10};
    mabd_sim_def own = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.002);
    own.formulation = MABD_FORMULATION_VARIATIONAL;
    own.variational.newton = MABD_NEWTON_EXACT;
    *model = rig_model(random_scene(&def));
    mabd_sim* sim = rig_sim(*model, &own);
    for (int i = 0; i < 3; i++) rig_step(sim);
    return sim;
}

// A substep of an island at its start, its iterate moved by the velocities of the bodies.
static mabd_variational_solve substep_of(mabd_variational_sim* sim, int32_t island,
                                         mabd_variational_report* report) {
    const mabd_variational_solve s = {.sim = sim,
                                      .island = &sim->islands[island],
                                      .report = report,
                                      .h = sim->def.h,
                                      .time = sim->time};
    for (int32_t i = 0; i < s.island->body_count; i++) {
        const int32_t body = s.island->bodies[i];
        sim->next[body] = sim->now[body];
        sim->from[body].R = mabd_q_matrix(sim->now[body].q);
        sim->from[body].c = sim->now[body].c;
        sim->motion[body].V.v = sim->now[body].v, sim->motion[body].V.w = sim->now[body].w;
    }
    for (int32_t k = 0; k < sim->model->coordinate_count; k++) {
        sim->next_axis[k] = sim->axis[k], sim->x0[k] = sim->axis[k].x;
    }
    return s;
}

// Place the bodies by their velocities and compute the residuals of the rows.
static void evaluate(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        sim->to[body].R =
            mabd_q_matrix(mabd_variational_rotate(sim->now[body].q, motion->V.w, s->h));
        sim->to[body].c = mabd_v3_axpy(s->h, motion->V.v, sim->now[body].c);
        motion->turn = mabd_variational_turn(motion->V.w, s->h);
    }
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i];
        if (mabd_variational_first_row(sim, joint) < 0) continue;
        mabd_variational_joint_error(s, joint, true);
    }
}

static mabd_real* entry_of(mabd_variational_motion* motion, int k) {
    mabd_vec3* half = k < 3 ? &motion->V.v : &motion->V.w;
    return k % 3 == 0 ? &half->x : k % 3 == 1 ? &half->y : &half->z;
}

// Largest error of the Jacobians by the velocity of one body.
static double jacobian_error(const mabd_variational_solve* s, int32_t body, int k) {
    mabd_variational_sim* sim = s->sim;
    const int32_t rows = sim->plan->row_count;
    const double e = 1e-5;
    mabd_real *x = entry_of(&sim->motion[body], k), at = *x;
    mabd_real* plus = calloc((size_t)rows, sizeof *plus);
    double worst = 0;
    *x = at + e, evaluate(s);
    for (int32_t r = 0; r < rows; r++) plus[r] = sim->rows[r].r;
    *x = at - e, evaluate(s);
    for (int32_t r = 0; r < rows; r++) plus[r] = (plus[r] - sim->rows[r].r) / (2 * e);
    *x = at, evaluate(s);
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i], first = mabd_variational_first_row(sim, joint);
        const mabd_model_joint* j = &sim->model->joints[joint];
        if (first < 0) continue;
        const int32_t width = sim->plan->slot_width[sim->plan->joint_slot[joint]];
        for (int32_t r = first; r < first + width; r++) {
            const mabd_rigid_row* next = &sim->next_G[r];
            const mabd_real* a = (const mabd_real*)&next->a;
            const mabd_real* b = (const mabd_real*)&next->b;
            const double known = (j->a == body ? a[k] : 0) + (j->b == body ? b[k] : 0);
            worst = fmax(worst, fabs(known - plus[r]) / (1 + fabs(known)));
        }
    }
    free(plus);
    return worst;
}

Test(variational_system, jacobians_of_rows_are_those_of_differences) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        mabd_model* model;
        mabd_sim* sim = random_sim(seed, seed % 2 ? RANDOM_TREE : RANDOM_LOOPS, &model);
        mabd_variational_sim* own = sim->self;
        mabd_variational_report report = {0};
        const mabd_variational_solve s = substep_of(own, 0, &report);
        double worst = 0;
        mabd_variational_set_inputs(&s, s.time + s.h);
        mabd_variational_start_rows(&s);
        for (int32_t i = 0; i < s.island->body_count; i++) {
            for (int k = 0; k < 6; k++) {
                worst = fmax(worst, jacobian_error(&s, s.island->bodies[i], k));
            }
        }
        cr_expect(lt(dbl, worst, 1e-7), "seed %d", (int)seed);
        rig_destroy(sim, model);
    }
}

// ---- the matrix --------------------------------------------------------------------------------

// Gauss with row exchanges: A (n x n) and b (n) are overwritten, b gets the solution.
static void dense_solve(int n, double* A, double* b) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        }
        for (int j = 0; j < n; j++) {
            const double t = A[k * n + j];
            A[k * n + j] = A[best * n + j], A[best * n + j] = t;
        }
        const double t = b[k];
        b[k] = b[best], b[best] = t;
        for (int i = k + 1; i < n; i++) {
            const double f = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
}

// Write the matrix [A -G'; G1 c] of an island from rows and momenta, in the order of the system.
static void dense_matrix(const mabd_variational_solve* s, int n, double* A) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_system* system = s->island->system;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
        const mabd_vec3 w = sim->motion[body].V.w;
        for (int k = 0; k < 3; k++) {
            // dLp/dw by differences: not the derivative that the system takes
            mabd_real up[3], down[3], column[3];
            const double e = 1e-4 * (1 + mabd_v3_norm(w));
            mabd_v3_store(w, up), mabd_v3_store(w, down);
            up[k] += e, down[k] -= e;
            mabd_v3_store(
                mabd_v3_sub(mabd_variational_momentum(c->principal, mabd_v3_load(up), s->h, 1),
                            mabd_variational_momentum(c->principal, mabd_v3_load(down), s->h, 1)),
                column);
            A[(6 * i + k) * n + 6 * i + k] = c->material.mass;
            for (int r = 0; r < 3; r++) {
                A[(6 * i + 3 + r) * n + 6 * i + 3 + k] = column[r] / (2 * e);
            }
        }
    }
    for (int32_t i = 0; i < system->joint_count; i++) {
        const mabd_variational_tie* tie = &system->joints[i];
        const mabd_model_joint* j = &sim->model->joints[tie->index];
        const int32_t first = mabd_variational_first_row(sim, tie->index);
        for (int32_t r = 0; r < tie->width; r++) {
            const mabd_variational_row* row = &sim->rows[first + r];
            const mabd_rigid_row *start = &sim->G[first + r], *end = &sim->next_G[first + r];
            const int32_t sides[2] = {j->a, j->b};
            A[(tie->row + r) * n + tie->row + r] = row->c;
            for (int side = 0; side < 2; side++) {
                if (!mabd_variational_moves(sim, sides[side])) continue;
                const int at = 6 * sim->body_slot[sides[side]];
                const mabd_real* G = (const mabd_real*)(side ? &start->b : &start->a);
                const mabd_real* next = (const mabd_real*)(side ? &end->b : &end->a);
                for (int k = 0; k < 6; k++) {
                    A[(at + k) * n + tie->row + r] -= G[k];
                    A[(tie->row + r) * n + at + k] += next[k];
                }
            }
        }
    }
}

// Residuals of rows that some velocities meet: rows that depend on each other do not contradict.
static void set_possible_rows(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i], first = mabd_variational_first_row(sim, joint);
        const mabd_model_joint* j = &sim->model->joints[joint];
        if (first < 0) continue;
        const int32_t sides[2] = {j->a, j->b};
        for (int32_t r = 0; r < sim->plan->slot_width[sim->plan->joint_slot[joint]]; r++) {
            mabd_variational_row* row = &sim->rows[first + r];
            const mabd_rigid_row* next = &sim->next_G[first + r];
            row->r = row->kind == MABD_VARIATIONAL_HELD ? 0 : (mabd_real)0.01 * (r + 1);
            for (int side = 0; side < 2; side++) {
                const double k = sides[side] + 1;
                const mabd_rigid_twist u = {{sin(k), cos(2 * k), 0.5}, {-0.3, sin(3 * k), cos(k)}};
                if (!mabd_variational_moves(sim, sides[side])) continue;
                row->r += mabd_rigid_power(side ? next->b : next->a, u);
            }
        }
    }
}

// The matrix over the rows alone gives the same increments of velocities, and the same impulses on
// the bodies.
static void expect_rows_alike(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    mabd_rigid_twist* known = calloc((size_t)s->island->body_count, sizeof *known);
    double worst = 0, size = 0;
    int32_t body, joint;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        known[i] = sim->motion[s->island->bodies[i]].change;
    }
    cr_assert(eq(int, mabd_variational_exact_factor(s, &body, &joint), MABD_OK));
    mabd_variational_exact_solve(s);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const mabd_rigid_twist change = sim->motion[s->island->bodies[i]].change;
        worst = fmax(worst, mabd_v3_norm(mabd_v3_sub(change.v, known[i].v)));
        worst = fmax(worst, mabd_v3_norm(mabd_v3_sub(change.w, known[i].w)));
        size = fmax(size, mabd_v3_norm(change.v) + mabd_v3_norm(change.w));
    }
    cr_expect(lt(dbl, worst, 1e-8 * size));
    free(known);
}

static void expect_solution(uint64_t seed, random_pattern pattern) {
    mabd_model* model;
    mabd_sim* sim = random_sim(seed, pattern, &model);
    mabd_variational_sim* own = sim->self;
    mabd_variational_report report = {0};
    const mabd_variational_solve s = substep_of(own, 0, &report);
    rig_check(mabd_variational_system_create(own, s.island, 0, NULL, &s.island->system), NULL,
              "system");
    mabd_variational_system* system = s.island->system;
    const int n = system->pattern.blocks.row_count;
    double *A = calloc((size_t)(n * n), sizeof *A), *b = calloc((size_t)n, sizeof *b), worst = 0,
           size = 0;
    int32_t body, joint;
    mabd_variational_set_inputs(&s, s.time + s.h);
    mabd_variational_start_rows(&s);
    // rows of loops depend on each other where they are closed: at the start
    for (int32_t i = 0; s.island->shifted && i < s.island->body_count; i++) {
        memset(&own->motion[s.island->bodies[i]].V, 0, sizeof(mabd_rigid_twist));
    }
    evaluate(&s);
    set_possible_rows(&s);
    for (int32_t i = 0; i < s.island->body_count; i++) {
        own->motion[s.island->bodies[i]].d.f = mabd_v3(1, -2, 0.5 * i);
        own->motion[s.island->bodies[i]].d.t = mabd_v3(0.1 * i, 0.2, -0.3);
    }
    mabd_variational_system_assemble(&s);
    for (int i = 0; i < n; i++) b[i] = system->x[i];
    cr_assert(eq(int, mabd_variational_system_factor(&s, &body, &joint), MABD_OK));
    mabd_variational_system_solve(&s);
    dense_matrix(&s, n, A);
    // residual of the dense matrix, and the dense solution where rows do not depend on each other
    for (int i = 0; i < n; i++) {
        double sum = -b[i], scale = fabs(b[i]) + 1e-3;
        for (int k = 0; k < n; k++) {
            sum += A[i * n + k] * system->x[k], scale += fabs(A[i * n + k] * system->x[k]);
        }
        cr_expect(fabs(sum) < 1e-9 * scale, "seed %d, row %d of %d: %g of %g", (int)seed, i, n, sum,
                  scale);
    }
    expect_rows_alike(&s);
    if (!s.island->shifted) {
        dense_solve(n, A, b);
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(b[i] - system->x[i])), size = fmax(size, fabs(b[i]));
        }
        cr_expect(lt(dbl, worst, 1e-7 * size), "seed %d", (int)seed);
    }
    free(A), free(b);
    rig_destroy(sim, model);
}

Test(variational_system, the_exact_solution_solves_the_dense_matrix) {
    for (uint64_t seed = 1; seed <= 8; seed++) expect_solution(seed, RANDOM_TREE);
    for (uint64_t seed = 1; seed <= 8; seed++) expect_solution(seed, RANDOM_LOOPS);
    for (uint64_t seed = 1; seed <= 4; seed++) expect_solution(seed, RANDOM_STAR);
}

// Redundant rows make the matrix singular: the paper does not mention them.
Test(variational_system, redundant_rows_are_singular_without_their_shift) {
    mabd_model* model = rig_file_model("scenes/double-four-bar.json", NULL, NULL);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_variational_sim* own = sim->self;
    mabd_error error = {0};
    cr_assert(eq(int, own->islands[0].shifted, 1));
    cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_OK));
    own->islands[0].shifted = false;
    cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_ERR_SINGULAR), "%s", error.text);
    own->islands[0].shifted = true;
    cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_OK));
    rig_destroy(sim, model);
}
