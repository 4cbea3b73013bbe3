// SPDX-License-Identifier: Apache-2.0
// Redundant rows of the quaternion formulation: the proximal solver, which keeps all rows, against
// the elimination of [VQ App. B], which leaves as many out as singular values say. The two solve
// different equations, and their poses must agree. Counts are known from the mechanisms: a planar
// loop of four hinges has 3 redundant rows, a door on two hinges 5, and Hoberman's sphere 547
// (tests/unit/generate/test_generate_hoberman.c finds the same number from the scene).

#include "support/counting_allocator.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define DOOR                                                                                       \
    "{\"gravity\": [0, 3, -9], \"bodies\": [{\"name\": \"door\", \"shape\": \"box\","              \
    " \"size\": [0.9, 0.04, 2], \"position\": [0.45, 0, 1]}], \"joints\": ["                       \
    "{\"name\": \"lower\", \"type\": \"hinge\", \"b\": \"door\", \"anchor\": [0, 0, 0.2],"         \
    " \"axis\": [0, 0, 1]}, {\"name\": \"upper\", \"type\": \"hinge\", \"b\": \"door\","           \
    " \"anchor\": [0, 0, 1.8], \"axis\": [0, 0, 1], \"axis2\": [1, 0, 0]}]}"

static mabd_sim_def def_of(mabd_redundancy redundancy, mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = integrator;
    def.quaternion.redundancy = redundancy;
    return def;
}

static void expect_rank(const mabd_model* model, int rows, int redundant, int freedoms) {
    mabd_error error = {0};
    mabd_rank_info rank;
    const mabd_sim_def def = def_of(MABD_REDUNDANCY_PROXIMAL, MABD_INTEGRATOR_BDF2, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    rig_check(mabd_sim_get_rank(sim, &rank, &error), &error, "rank");
    cr_expect(eq(i32, rank.rows, rows));
    cr_expect(eq(i32, rank.redundant, redundant));
    cr_expect(eq(i32, rank.rank, rows - redundant));
    cr_expect(eq(i32, rank.freedoms, freedoms));
    mabd_sim_destroy(sim);
}

// Largest difference of positions and quaternions of two simulations.
static double difference(mabd_sim* const* sims, int32_t bodies) {
    mabd_real* x = calloc(14 * (size_t)bodies, sizeof *x);
    double most = 0;
    cr_assert(x != NULL);
    for (int k = 0; k < 2; k++) {
        mabd_real* own = x + 7 * (size_t)bodies * (size_t)k;
        mabd_sim_get_state(sims[k], own, own + 3 * bodies, NULL, NULL);
    }
    for (int32_t i = 0; i < 7 * bodies; i++) most = fmax(most, fabs(x[i] - x[7 * bodies + i]));
    free(x);
    return most;
}

// Take `steps` steps both ways; returns the largest difference of poses at the end.
static double run_both(const mabd_model* model, mabd_integrator integrator, double h, int steps,
                       int redundant) {
    mabd_sim* sims[2];
    for (int k = 0; k < 2; k++) {
        const mabd_sim_def def = def_of((mabd_redundancy)k, integrator, h);
        sims[k] = rig_sim(model, &def);
    }
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < 2; k++) {
            const mabd_step_info info = rig_step(sims[k]);
            cr_expect(info.converged && info.retries == 0, "step %d", i);
            cr_expect(eq(i32, info.quaternion.redundant_rows, k ? redundant : 0));
            const mabd_measure now = mabd_sim_measure(sims[k]); // all rows, also those left out
            cr_expect(now.gap < 2e-11 && now.angle_error < 2e-11, "%d: step %d, %g m, %g rad", k, i,
                      (double)now.gap, (double)now.angle_error);
        }
    }
    const double most = difference(sims, mabd_model_get_info(model).bodies);
    printf("%s, %s: %d rows left out, poses differ by %.1e after %d steps\n",
           mabd_model_name(model), mabd_integrator_name(integrator), redundant, most, steps);
    mabd_sim_destroy(sims[0]), mabd_sim_destroy(sims[1]);
    return most;
}

Test(quaternion_redundancy, elimination_gives_the_poses_of_the_proximal_solver) {
    const mabd_integrator integrators[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_EULER,
                                           MABD_INTEGRATOR_TRBDF2};
    for (int i = 0; i < 3; i++) {
        mabd_model* four_bar = rig_file_model("scenes/four-bar.json", "driven", "0");
        mabd_model* door = rig_text_model(DOOR);
        cr_expect(run_both(four_bar, integrators[i], 0.005, 10, 3) < 1e-10);
        cr_expect(run_both(door, integrators[i], 0.005, 10, 5) < 1e-10);
        mabd_model_destroy(four_bar), mabd_model_destroy(door);
    }
}

Test(quaternion_redundancy, ranks_of_mechanisms) {
    mabd_model* four_bar = rig_file_model("scenes/four-bar.json", "driven", "0");
    mabd_model* driven = rig_file_model("scenes/four-bar.json", "driven", "1");
    mabd_model* door = rig_text_model(DOOR);
    expect_rank(four_bar, 20, 3, 1);
    expect_rank(driven, 21, 3, 0);
    expect_rank(door, 10, 5, 1);
    mabd_model_destroy(four_bar), mabd_model_destroy(driven), mabd_model_destroy(door);
}

static mabd_model* sphere(int32_t rings, int32_t pairs, double angle, double spin) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.rings = rings, def.pairs = pairs, def.angle = (mabd_real)angle;
    def.spin = (mabd_real)spin;
    rig_check(mabd_generate_hoberman_sphere(scene, &def, &error), &error, "sphere");
    return rig_model(scene);
}

// 3 rings of 8 pairs: 48 bodies, 15 x 24 + 6 x 6 = 396 rows of rank 288 - 7.
Test(quaternion_redundancy, elimination_agrees_on_hobermans_sphere) {
    mabd_model* model = sphere(3, AMOUNT(8, 4), 1.9, 2);
    const int pairs = AMOUNT(8, 4), rows = 45 * pairs + 36;
    expect_rank(model, rows, rows - (36 * pairs - 7), 7);
    cr_expect(run_both(model, MABD_INTEGRATOR_BDF2, 0.005, 10, rows - (36 * pairs - 7)) < 1e-10);
    mabd_model_destroy(model);
}

// The rank changes at full expansion, twice in these steps: the rows that are kept lose rank there,
// and others must be chosen for the steps to converge with all rows closed.
Test(quaternion_redundancy, rows_are_chosen_anew_where_the_rank_changes) {
    mabd_model* model = sphere(3, 8, 1.2, 6);
    const mabd_sim_def def = def_of(MABD_REDUNDANCY_ELIMINATE, MABD_INTEGRATOR_BDF2, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    double gap = 0, angle = 0;
    for (int i = 0; i < 50; i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, (double)now.gap), angle = fmax(angle, (double)now.angle_error);
    }
    printf("through full expansion without redundant rows: %.1e m, %.1e rad\n", gap, angle);
    cr_expect(gap < 1e-11 && angle < 1e-11, "%g m, %g rad", gap, angle); // 10 row_tolerance
    rig_destroy(sim, model);
}

Test(quaternion_redundancy, hobermans_sphere_has_547_redundant_rows) {
    if (AMOUNT(0, 1)) return;
    mabd_model* model = rig_file_model("scenes/hoberman-sphere.json", NULL, NULL);
    expect_rank(model, 1980, 547, 7);
    mabd_model_destroy(model);
}

Test(quaternion_redundancy, elimination_refuses_large_models_and_names_the_default) {
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    mabd_model* model = rig_file_model("scenes/chain.json", "links", "2000");
    const mabd_sim_def def = def_of(MABD_REDUNDANCY_ELIMINATE, MABD_INTEGRATOR_BDF2, 0.01);
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "proximal") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}

// A saved state holds the rows that are left out: the same bits afterwards.
Test(quaternion_redundancy, restored_states_leave_out_the_same_rows) {
    mabd_model* model = rig_file_model("scenes/four-bar.json", "driven", "0");
    const mabd_sim_def def = def_of(MABD_REDUNDANCY_ELIMINATE, MABD_INTEGRATOR_BDF2, 0.005);
    mabd_sim* sims[2] = {rig_sim(model, &def), rig_sim(model, &def)};
    for (int i = 0; i < 20; i++) rig_step(sims[0]);
    const size_t size = mabd_sim_state_size(sims[0]);
    void* state = malloc(size);
    cr_assert(state != NULL);
    mabd_sim_save(sims[0], state);
    cr_assert(mabd_sim_restore(sims[1], state, size, NULL) == MABD_OK);
    for (int i = 0; i < 20; i++) rig_step(sims[0]), rig_step(sims[1]);
    cr_expect(difference(sims, 3) == 0);
    free(state);
    mabd_sim_destroy(sims[1]);
    rig_destroy(sims[0], model);
}

// ---- memory ------------------------------------------------------------------------------------

// Both need the graph of bodies: one for multipliers and with the analysis of rows, one because its
// rows determine all poses.
static mabd_model* memory_case(int k, mabd_sim_def* def) {
    *def = def_of(k ? MABD_REDUNDANCY_PROXIMAL : MABD_REDUNDANCY_ELIMINATE, MABD_INTEGRATOR_BDF2,
                  0.005);
    return rig_file_model("scenes/four-bar.json", "driven", k ? "1" : "0");
}

Test(quaternion_redundancy, a_step_allocates_nothing_and_the_plan_knows_the_bytes) {
    for (int k = 0; k < 2; k++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def;
        mabd_sim_plan plan;
        mabd_error error = {0};
        mabd_real forces[24];
        mabd_model* model = memory_case(k, &def);
        def.allocator = &allocator;
        rig_check(mabd_sim_get_plan(model, &def, &plan, &error), &error, "plan");
        mabd_sim* sim = rig_sim(model, &def);
        cr_expect(eq(sz, plan.bytes_sim, mabd_sim_bytes(sim)));
        const int64_t before = counter.calls;
        for (int i = 0; i < 20; i++) {
            rig_step(sim);
            mabd_sim_get_joint_forces(sim, forces);
        }
        cr_expect(eq(i64, counter.calls, before));
        rig_destroy(sim, model);
        cr_expect(counter.live_blocks == 0 && counter.wrong_frees == 0);
    }
}

Test(quaternion_redundancy, any_allocation_may_fail) {
    for (int k = 0; k < 2; k++) {
        mabd_sim_def def;
        mabd_model* model = memory_case(k, &def);
        mabd_status status = MABD_ERR_MEMORY;
        for (int64_t at = 0; status != MABD_OK; at++) {
            counting_allocator counter = {.fail_at = at};
            const mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_sim* sim = NULL;
            def.allocator = &allocator;
            status = mabd_sim_create(model, &def, &sim, NULL);
            cr_assert(status == MABD_OK || status == MABD_ERR_MEMORY, "call %d", (int)at);
            cr_expect(eq(int, sim != NULL, status == MABD_OK), "call %d", (int)at);
            mabd_sim_destroy(sim);
            cr_expect(eq(i64, counter.live_blocks, 0), "call %d leaks", (int)at);
            cr_expect(eq(i64, counter.wrong_frees, 0), "call %d", (int)at);
        }
        mabd_model_destroy(model);
    }
}
