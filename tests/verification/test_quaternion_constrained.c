// SPDX-License-Identifier: Apache-2.0
// Mechanisms whose rows determine all poses: the solver that takes poses from the rows alone, then
// multipliers, must give what the general equations give, which solve for both together.

#include "support/rig.h"

#include <stdlib.h>

static mabd_sim_def solver_def(mabd_solver solver, mabd_integrator integrator) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.005);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = integrator;
    def.quaternion.solver = solver;
    def.quaternion.newton_tolerance = (mabd_real)1e-14; // poses are compared at 1e-12
    return def;
}

// A chain of `links` boxes in space, hinge axes alternating, every hinge driven by a sine; the last
// link has a second hinge on the axis of its first, so that 5 rows are redundant, with weights.
static mabd_model* driven_chain(int links) {
    static char text[65536];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"name\": \"driven chain\", \"bodies\": [");
    for (int i = 0; i < links; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"name\": \"b%d\", \"shape\": \"box\", \"size\": [0.2, 0.05,"
                              " 0.08], \"position\": [%g, 0, 0]}",
                              i ? ", " : "", i, 0.1 + 0.2 * i);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "], \"joints\": [");
    for (int i = 0; i < links; i++) {
        char base[16] = "world";
        if (i > 0) snprintf(base, sizeof base, "b%d", i - 1);
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"type\": \"hinge\", \"a\": \"%s\", \"b\": \"b%d\", \"anchor\":"
                              " [%g, 0, 0], \"axis\": [%d, %d, 1], \"weight\": {\"force\": %g},"
                              " \"axes\": {\"rx\": {\"servo_rigid\": true, \"weight\": 100,"
                              " \"servo\": {\"sine\": {\"amplitude\": 0.3, \"frequency\": %g}}}}}",
                              i ? ", " : "", base, i, 0.2 * i, i % 2, i % 3 == 0, 1 + 0.5 * i,
                              0.5 + 0.1 * i);
    }
    const int last = links - 1;
    snprintf(text + n, sizeof text - n,
             ", {\"type\": \"hinge\", \"a\": \"b%d\", \"b\": \"b%d\", \"anchor\": [%g, %g, 0.1],"
             " \"axis\": [%d, %d, 1]}]}",
             last - 1, last, 0.2 * last + 0.1 * (last % 2), 0.1 * (last % 3 == 0), last % 2,
             last % 3 == 0);
    return rig_text_model(text);
}

// Step both ways; expect equal poses and multipliers.
static void expect_equal(const mabd_model* model, mabd_integrator integrator, int steps) {
    const int32_t bodies = mabd_model_get_info(model).bodies,
                  joints = mabd_model_joint_count(model);
    mabd_real* x = calloc((size_t)(14 * bodies + 12 * joints), sizeof *x);
    mabd_sim* sims[2];
    double pose = 0, force = 0, size = 0, gap = 0;
    int iterations[2] = {0, 0};
    cr_assert(x != NULL);
    for (int k = 0; k < 2; k++) {
        const mabd_sim_def def =
            solver_def(k ? MABD_SOLVER_FULLY_CONSTRAINED : MABD_SOLVER_GENERAL, integrator);
        sims[k] = rig_sim(model, &def);
    }
    mabd_real* f[2] = {x + 14 * bodies, x + 14 * bodies + 6 * joints};
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < 2; k++) {
            mabd_real* own = x + 7 * bodies * k;
            const mabd_step_info info = rig_step(sims[k]);
            iterations[k] += info.iterations;
            cr_expect(info.converged && info.retries == 0);
            mabd_sim_get_state(sims[k], own, own + 3 * bodies, NULL, NULL);
            mabd_sim_get_joint_forces(sims[k], f[k]);
            const mabd_measure now = mabd_sim_measure(sims[k]);
            gap = fmax(gap, fmax((double)now.gap, (double)now.angle_error));
        }
        for (int32_t m = 0; m < 7 * bodies; m++) pose = fmax(pose, fabs(x[m] - x[7 * bodies + m]));
        for (int32_t m = 0; m < 6 * joints; m++) {
            force = fmax(force, fabs(f[0][m] - f[1][m])), size = fmax(size, fabs(f[0][m]));
        }
    }
    printf("%s, %s: poses differ by %.1e, forces by %.1e of %.3g, rows %.1e; %.2f iterations, "
           "general %.2f\n",
           mabd_model_name(model), mabd_integrator_name(integrator), pose, force / size, size, gap,
           (double)iterations[1] / steps, (double)iterations[0] / steps);
    cr_expect(pose < 1e-12, "%g", pose);
    cr_expect(force < 1e-8 * size, "%g", force / size);
    cr_expect(gap < 2e-12, "%g", gap);
    mabd_sim_destroy(sims[0]), mabd_sim_destroy(sims[1]);
    free(x);
}

Test(quaternion_constrained, equals_the_general_solver) {
    const mabd_integrator integrators[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_EULER,
                                           MABD_INTEGRATOR_TRBDF2};
    mabd_model* four_bar = rig_file_model("scenes/four-bar.json", "driven", "1");
    mabd_model* chain = driven_chain(8);
    for (int i = 0; i < 3; i++) {
        expect_equal(four_bar, integrators[i], 40);
        expect_equal(chain, integrators[i], 40);
    }
    mabd_model_destroy(four_bar), mabd_model_destroy(chain);
}

// The default takes the same path: same bits as with the solver given.
Test(quaternion_constrained, is_the_automatic_choice_where_rows_determine_all_poses) {
    mabd_model* model = driven_chain(4);
    mabd_real x[2][12], f[2][30];
    for (int k = 0; k < 2; k++) {
        const mabd_sim_def def =
            solver_def(k ? MABD_SOLVER_AUTO : MABD_SOLVER_FULLY_CONSTRAINED, MABD_INTEGRATOR_BDF2);
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 10; i++) rig_step(sim);
        mabd_sim_get_state(sim, x[k], NULL, NULL, NULL);
        mabd_sim_get_joint_forces(sim, f[k]);
        mabd_sim_destroy(sim);
    }
    cr_expect(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(f[0], f[1], sizeof f[0]) == 0);
    mabd_model_destroy(model);
}

static void expect_refused(mabd_model* model, const char* name) {
    const mabd_sim_def def = solver_def(MABD_SOLVER_FULLY_CONSTRAINED, MABD_INTEGRATOR_BDF2);
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "'fully-constrained'") && strstr(error.text, name), "%s",
              error.text);
    cr_expect(sim == NULL);
    mabd_model_destroy(model);
}

Test(quaternion_constrained, mechanisms_with_freedoms_are_refused_by_name) {
    // fewer rows than freedoms; as many, but one freedom is left; a spring is no servo
    expect_refused(rig_file_model("scenes/double-pendulum.json", NULL, NULL), "body");
    expect_refused(rig_file_model("scenes/four-bar.json", "driven", "0"), "four-bar");
    expect_refused(rig_text_model("{\"bodies\": [{\"name\": \"arm\", \"shape\": \"sphere\","
                                  " \"radius\": 0.1}], \"joints\": [{\"type\": \"hinge\", \"b\":"
                                  " \"arm\", \"axes\": {\"rx\": {\"stiffness\": 5}}}]}"),
                   "arm");
}
