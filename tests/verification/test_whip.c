// SPDX-License-Identifier: Apache-2.0
// Whips: chains of 100 and 1000 links released level, 20 s at h = 10 ms. When the free end cracks,
// links rotate by more than a radian per step; a fixed budget of one or two iterations gains energy
// there and becomes unstable.
//
// Nothing drives the chain, so its energy must not rise above the start: tolerance 1e-3 of the
// scale, the largest kinetic energy. Each solve closes the joints: gaps are round-off, 1e-12 m at a
// length of 100 m. Iterations: at most the budget of the preset in one try, three per step on
// average.

#include "support/rig.h"

static void check(int32_t links) {
    enum { steps = 2000 };
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links;
    mabd_model* model = rig_chain_model(&chain, -9.81);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double kinetic = 0, gain = -INFINITY, gap = 0;
    int iterations = 0, most = 0, retries = 0, unsettled = 0;
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        cr_assert(isfinite(now.energy), "step %d", i);
        if (info.retries == 0) {
            cr_assert(info.iterations <= mabd_sim_get_def(sim).max_iterations);
            most = most > info.iterations ? most : info.iterations;
        }
        iterations += info.iterations;
        retries += info.retries;
        unsettled += !info.converged;
        kinetic = fmax(kinetic, now.kinetic);
        gain = fmax(gain, now.energy - start);
        gap = fmax(gap, now.gap);
    }
    const double end = mabd_sim_measure(sim).energy;
    printf("%4d links, %d steps: %.2f iterations a step, at most %d, %d retries, %d unsettled\n",
           (int)links, steps, (double)iterations / steps, most, retries, unsettled);
    printf("  gap %.1e m, energy gain %.1e, end %.3f of %.0f J\n", gap, gain / kinetic,
           (end - start) / kinetic, kinetic);
    cr_expect(gain <= 1e-3 * kinetic, "energy %g J above the start, scale %g J", gain, kinetic);
    cr_expect(gap < 1e-12, "gap %g", gap);
    cr_expect(iterations < 3 * steps, "%d iterations in %d steps", iterations, steps);
    rig_destroy(sim, model);
}

Test(whip, a_hundred_links_gain_no_energy_in_twenty_seconds) {
    check(100);
}

Test(whip, a_thousand_links_gain_no_energy_in_twenty_seconds) {
    check(1000);
}
