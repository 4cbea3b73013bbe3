// SPDX-License-Identifier: Apache-2.0
// Chains of two links with mass ratios 1e-6 ... 1e6, heavy link first and light link first:
// released level, 1 s.
//
// Energy is a constant. Its error is the largest |E - E0| over the largest kinetic energy; it must
// not be a gain (1e-3), and it is the truncation error of BDF2, of order (omega h)^2: below 1 % at
// the step sizes used here (at 10 ms the chain of the generator, 0.1 m links that rotate by 0.2 rad
// per step, would lose up to 27 %).
//
// Gaps are round-off. A multiplier lambda is known to eps lambda, which moves a light link of mass
// m by eps lambda (2h/3)^2/m: for the 1.25e-6 kg rod before the 1.25 kg one at 5 ms that is 1e-13
// m, times 4 for the compliance at the end of a rod. Tolerance 1e-12 m.

#include "support/rig.h"

static void check(const char* what, double ratio, mabd_model* model, double h) {
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    const int steps = (int)lround(1 / h);
    const double start = mabd_sim_measure(sim).energy;
    double kinetic = 0, error = 0, gain = -INFINITY, gap = 0;
    for (int i = 0; i < steps; i++) {
        rig_run(sim, 1);
        const mabd_measure now = mabd_sim_measure(sim);
        cr_assert(isfinite(now.energy));
        kinetic = fmax(kinetic, now.kinetic);
        error = fmax(error, fabs(now.energy - start));
        gain = fmax(gain, now.energy - start);
        gap = fmax(gap, now.gap);
    }
    printf("%s 1 : %-7.0e energy error %.2e of %.1e J, gap %.1e m\n", what, ratio, error / kinetic,
           kinetic, gap);
    cr_expect(error < 0.01 * kinetic, "ratio %g: energy error %g", ratio, error / kinetic);
    cr_expect(gain < 1e-3 * kinetic, "ratio %g: energy gain %g", ratio, gain / kinetic);
    cr_expect(gap < 1e-12, "ratio %g: gap %g", ratio, gap);
    rig_destroy(sim, model);
}

// Two rods of half a metre on ball joints. The heavier one has 1000 kg/m^3, because the stiffness
// of a link depends on its size: a rod of a million times that density would be stretched to five
// times its length.
static mabd_model* rods_model(double ratio) {
    const mabd_real size[3] = {0.5, 0.05, 0.05};
    mabd_scene* scene = rig_scene(-9.81);
    for (int i = 0; i < 2; i++) {
        const mabd_real density = 1000 * (i ? ratio : 1) / fmax(1, ratio);
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, density);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1;
        body.geoms = &geom;
        body.position[0] = 0.25 + 0.5 * i;
        rig_add_body(scene, &body);
        rig_add_joint(scene, MABD_JOINT_BALL, i - 1, i, 0.5 * i, 0);
    }
    return rig_model(scene);
}

Test(mass_ratio, rods_of_any_density_keep_energy_and_stay_closed) {
    for (int decade = -6; decade <= 6; decade++) {
        const double ratio = pow(10, decade);
        check("rods", ratio, rods_model(ratio), 0.005);
    }
}

Test(mass_ratio, ends_of_any_size_keep_energy_and_stay_closed) {
    for (int decade = -6; decade <= 6; decade++) {
        mabd_chain_def chain = mabd_default_chain_def();
        chain.links = 2;
        chain.end_mass_ratio = pow(10, decade);
        check("link and end", chain.end_mass_ratio, rig_chain_model(&chain, -9.81), 0.001);
    }
}
