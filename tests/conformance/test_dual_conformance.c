// SPDX-License-Identifier: Apache-2.0
// Every dual solver against the full KKT matrix by UMFPACK, on seeded random scenes: multipliers and
// increments of one iteration agree to 1e-9 relative; the iterative solvers, told how far rows may be open, to
// what such gaps come to in increments and multipliers.
#include "support/kkt_scene.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9

typedef struct difference {
    double lambda, dq, residual; // the last as the solver tells, 0 = direct
} difference;

// One iteration at the current state, after `steps` whole steps (so that stress and history are real).
static difference compare(const random_scene_def* def, int32_t steps, mabd_dual dual, double gap) {
    mabd_error error = {0};
    mabd_scene* scene = random_scene(def);
    mabd_model* model = NULL;
    void* self = NULL;
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_sim_def sim_def = mabd_default_sim_def();
    sim_def.h = (mabd_real)0.004;
    sim_def.dual = dual;
    sim_def.gap_tolerance = (mabd_real)gap;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_formulation_affine.create(model, &sim_def, &allocator, &self, &error),
                 MABD_OK));
    mabd_affine_sim* sim = self;
    for (int32_t i = 0; i < steps; i++) {
        const mabd_status status = mabd_affine_step(sim, (mabd_real)i * sim_def.h, NULL, &error);
        cr_assert(eq(int, status, MABD_OK), "seed %d: %s", (int)def->seed, error.text);
    }
    const size_t bytes = 6 * (size_t)model->body_count * sizeof(mabd_real);
    mabd_real* stress = malloc(bytes);
    memcpy(stress, sim->cpu.stress, bytes);
    int32_t bad = -1;
    mabd_cpu_begin(&sim->cpu, steps > 0 ? MABD_SCHEME_BDF2 : MABD_SCHEME_EULER,
                   (mabd_real)steps * sim_def.h, sim_def.h);
    mabd_cpu_predict(&sim->cpu);
    mabd_cpu_assemble(&sim->cpu, true);
    cr_assert(eq(int, mabd_cpu_factor(&sim->cpu, &bad), MABD_OK), "seed %d", (int)def->seed);
    mabd_cpu_solve(&sim->cpu);
    mabd_cpu_update(&sim->cpu);
    const kkt_difference full = kkt_compare(sim, stress);
    const difference d = {full.lambda, full.dq, (double)sim->cpu.dual_report.residual};
    free(stress);
    mabd_formulation_affine.destroy(self, &allocator);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return d;
}

static void run(random_pattern pattern, int32_t count, mabd_real mass_range, bool controls,
                bool balls) {
    for (int32_t i = 0; i < count; i++) {
        random_scene_def def = {0};
        def.seed = (uint64_t)(1000 * pattern + i);
        def.pattern = pattern;
        def.bodies = 2 + (i * 7) % 23;
        def.grounded = i % 2;
        def.controls = controls && i % 3 != 0;
        def.balls_only = balls;
        def.mass_range = mass_range;
        const difference d = compare(&def, i % 4, MABD_DUAL_DIRECT, 1);
        cr_expect(lt(dbl, d.lambda, TOLERANCE), "lambda, seed %d", (int)def.seed);
        cr_expect(lt(dbl, d.dq, TOLERANCE), "dq, seed %d", (int)def.seed);
    }
}

Test(dual_conformance, chains_of_ball_joints) {
    run(RANDOM_CHAIN, 24, 10, false, true);
}

Test(dual_conformance, chains_of_mixed_joints_and_controls) {
    run(RANDOM_CHAIN, 60, 10, true, false);
}

// Without rigid servos, which with such masses can make K as ill-conditioned as 1e13: then no two solvers
// agree to nine digits.
Test(dual_conformance, chains_with_masses_over_six_decades) {
    run(RANDOM_CHAIN, 60, (mabd_real)1e6, false, false);
}

Test(dual_conformance, trees) {
    run(RANDOM_TREE, 40, 10, true, false);
}

Test(dual_conformance, trees_with_loops) {
    run(RANDOM_LOOPS, 40, 10, true, false);
}

Test(dual_conformance, ladders) {
    run(RANDOM_LADDER, 24, 10, true, false);
}

// A residual e of the rows changes the increments by about e and a lever ratio, the multipliers by e over the
// smallest eigenvalue of K: rows that hold against each other give way by elasticity alone. Returns how many of
// the 36 scenes met the goal.
static int32_t run_iterative(mabd_dual dual, int32_t steps, double gap, double tolerance) {
    const random_pattern patterns[] = {RANDOM_TREE, RANDOM_LOOPS, RANDOM_LADDER};
    int32_t met = 0;
    for (int32_t i = 0; i < 36; i++) {
        random_scene_def def = {0};
        def.seed = (uint64_t)(7000 + i);
        def.pattern = patterns[i % 3];
        def.bodies = 4 + (i * 5) % 19;
        def.grounded = i / 3 % 2;
        def.controls = steps > 0 && i % 4 == 1;
        def.balls_only = steps == 0;
        def.mass_range = 10;
        const difference d = compare(&def, steps, dual, gap);
        if (!(d.residual <= gap)) continue;
        met++;
        cr_expect(lt(dbl, d.dq, tolerance), "dq, seed %d", (int)def.seed);
        cr_expect(lt(dbl, d.lambda, tolerance), "lambda, seed %d", (int)def.seed);
    }
    return met;
}

Test(dual_conformance, conjugate_gradients_with_sweeps) {
    cr_expect(eq(i32, run_iterative(MABD_DUAL_PCG, 2, 1e-12, 1e-8), 36));
}

Test(dual_conformance, conjugate_gradients_with_an_older_factor) {
    cr_expect(eq(i32, run_iterative(MABD_DUAL_STALE, 2, 1e-12, 1e-8), 36));
}

// Slow: with a stiff body across lines it uses up its sweeps. What it closes must be right.
Test(dual_conformance, gauss_seidel) {
    const int32_t met = run_iterative(MABD_DUAL_GS, 0, 1e-10, 1e-6);
    cr_log_info("%d of 36 closed", (int)met);
    cr_expect(ge(i32, met, 5));
}
