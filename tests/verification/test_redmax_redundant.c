// SPDX-License-Identifier: Apache-2.0
// Spatial mechanisms with many redundant rows in the redmax formulation. A Hoberman sphere of three
// rings has 48 bodies, 165 rows at its cut joints and 50 that do not follow from others. Stages of
// sdirk2 hold rates at poses that are not quite closed, where the rates of redundant rows
// contradict each other: with all of them Newton's method took 50 iterations a step. Bodies that
// are welded in a cycle have nothing but redundant rows, of which round-off is all there is.

#include "support/small_sphere.h"

static double energy(const mabd_sim* sim) {
    return (double)mabd_sim_measure(sim).energy;
}

static void expect_few_iterations(mabd_integrator integrator, int32_t stages) {
    mabd_model* model = small_sphere_model();
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    def.redmax.energy_guard = 0; // of halved steps there would be more iterations
    mabd_sim* sim = rig_sim(model, &def);
    const double start = energy(sim);
    for (int i = 0; i < 8; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_expect(info.converged);
        cr_expect(eq(i32, info.retries, 0));
        cr_expect(le(i32, info.iterations, (i == 0 ? 2 : stages) * 3 + 1));
        cr_expect(lt(dbl, info.gap, 1e-12));
    }
    cr_expect(lt(dbl, fabs(energy(sim) - start), 1e-3 * start));
    rig_destroy(sim, model);
}

Test(redmax_redundant, sdirk2_takes_three_iterations_a_stage) {
    expect_few_iterations(MABD_INTEGRATOR_SDIRK2, 2);
}

Test(redmax_redundant, bdf2_takes_three_iterations_a_stage) {
    expect_few_iterations(MABD_INTEGRATOR_BDF2, 1);
}

// A chain that falls from the horizontal: members of three rods which are welded to each other, and
// the last to the first once more if `twice`.
static mabd_model* welded_model(int32_t members, bool twice) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_error error = {0};
    for (int32_t k = 0; k < members; k++) {
        const mabd_real x = (mabd_real)0.9 * (mabd_real)k;
        const int32_t before = k > 0 ? 3 * k - 1 : MABD_WORLD;
        int32_t rods[3];
        for (int i = 0; i < 3; i++) {
            const mabd_real at = x + (mabd_real)0.3 * (mabd_real)i;
            rods[i] = rig_add_rod(scene, at, (mabd_real)0.3, (mabd_real)0.1, (mabd_real)1e9);
            mabd_joint_def weld = mabd_default_joint_def();
            weld.type = MABD_JOINT_FIXED;
            weld.frame[0] = (mabd_real)0.31, weld.frame[1] = (mabd_real)0.17 * (mabd_real)(k + i);
            weld.anchor[2] = (mabd_real)0.137 * (mabd_real)(i + 1); // entries that are not round
            weld.a = rods[i > 0 ? i - 1 : 0], weld.b = rods[i], weld.anchor[0] = at;
            if (i > 0) rig_check(mabd_scene_add_joint(scene, &weld, NULL, &error), &error, "weld");
            weld.a = rods[0];
            if (i == 2 && twice)
                rig_check(mabd_scene_add_joint(scene, &weld, NULL, &error), &error, "second weld");
        }
        rig_add_joint(scene, MABD_JOINT_UNIVERSAL, before, rods[0], x, 0);
    }
    return rig_model(scene);
}

static void expect_idle_welds(int32_t members, double bound) {
    static const mabd_integrator methods[] = {
        MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
        MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
    mabd_model* models[2] = {welded_model(members, false), welded_model(members, true)};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.005);
        def.formulation = MABD_FORMULATION_REDMAX, def.integrator = methods[m];
        mabd_sim* sims[2] = {rig_sim(models[0], &def), rig_sim(models[1], &def)};
        for (int i = 0; i < 20; i++) {
            rig_step(sims[0]);
            const mabd_step_info info = rig_step(sims[1]);
            cr_expect(info.converged);
            cr_expect(eq(i32, info.redmax.guarded, 0));
        }
        const double apart = rig_apart(models[0], sims[0], sims[1]);
        printf("%d members, %s: %.1e m\n", (int)members, mabd_integrator_name(methods[m]), apart);
        cr_expect(lt(dbl, apart, bound), "%s", mabd_integrator_name(methods[m]));
        mabd_sim_destroy(sims[0]), mabd_sim_destroy(sims[1]);
    }
    mabd_model_destroy(models[0]), mabd_model_destroy(models[1]);
}

Test(redmax_redundant, second_welds_change_nothing) {
    expect_idle_welds(2, 1e-11);
}

Test(redmax_redundant, second_welds_along_a_long_chain_change_nothing) {
    expect_idle_welds(24, 1e-10);
}

// Two rods of weight W and length L hang between points 2L(1 - s) apart, d = L sqrt(1 - (1 - s)^2)
// deep. Moments of one of them about its point: T d = W L (1 - s)/2. So T grows as 1/sqrt(s), and
// at s = 0 no force is in equilibrium with the weights.
Test(redmax_redundant, taut_rods_pull_with_forces_that_have_no_limit) {
    static const double slack[] = {1e-2, 1e-4, 1e-6};
    double pull[3];
    for (int i = 0; i < 3; i++) {
        const double half = 1 - slack[i], depth = sqrt(1 - half * half);
        const double angle = atan2(depth, half) * 180 / 3.14159265358979323846;
        char text[1400];
        snprintf(
            text, sizeof text,
            "{\"bodies\": ["
            "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": [%.17g, 0, "
            "%.17g], \"rotation\": {\"axis\": [0, 1, 0], \"degrees\": %.17g}},"
            "{\"name\": \"b\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": [%.17g, 0, "
            "%.17g], \"rotation\": {\"axis\": [0, 1, 0], \"degrees\": %.17g}}], \"joints\": ["
            "{\"type\": \"ball\", \"b\": \"a\", \"anchor\": [%.17g, 0, 0]},"
            "{\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0, 0, %.17g]},"
            "{\"type\": \"ball\", \"b\": \"b\", \"anchor\": [%.17g, 0, 0]}]}",
            -half / 2, -depth / 2, angle, half / 2, -depth / 2, -angle, -half, -depth, half);
        mabd_model* model = rig_text_model(text);
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
        def.formulation = MABD_FORMULATION_REDMAX;
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real forces[18];
        for (int k = 0; k < 5; k++) cr_expect(le(i32, rig_step(sim).iterations, 4));
        mabd_sim_get_joint_forces(sim, forces);
        pull[i] = fabs((double)forces[6]); // at the middle, along x
        const double exact = 2 * 9.81 * half / (2 * depth);
        cr_expect(lt(dbl, fabs(pull[i] - exact), 1e-3 * exact), "s = %g: %g N of %g", slack[i],
                  pull[i], exact);
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 99, pull[2] / pull[0]));
}
