// SPDX-License-Identifier: Apache-2.0
// Spatial mechanisms with many redundant rows in the redmax formulation. A Hoberman sphere of three
// rings has 48 bodies, 165 rows at its cut joints and 50 that do not follow from others. Stages of
// sdirk2 hold rates at poses that are not quite closed, where the rates of redundant rows
// contradict each other: with all of them Newton's method took 50 iterations a step.

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
