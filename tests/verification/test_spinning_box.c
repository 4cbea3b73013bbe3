// SPDX-License-Identifier: Apache-2.0
// A free box that flies and spins without gravity: p = m v and L = x x p + R I R' omega are
// constants.
//
// p: the step's equation for t contains no force, so p changes by round-off alone; 1000 steps may
// each lose a few units in the last place: 1e-12 relative. L: BDF2 and implicit Euler take
// rotations in the frame of the body and follow the free motion. BDF2 on the coordinates
// (bdf2-linear) has a local error of third order in omega h, so over a fixed time the loss falls as
// h^2 or faster: a factor of 3.5 at least for each halving.

#include "support/rig.h"

static mabd_model* box_model(mabd_real x, mabd_real y, mabd_real z, const mabd_real* spin) {
    const mabd_real size[3] = {x, y, z};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_scene* scene = rig_scene(0);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1;
    body.geoms = &geom;
    body.position[2] = 2;
    body.velocity[0] = 1;
    body.velocity[1] = -2;
    for (int k = 0; k < 3; k++) body.angular_velocity[k] = spin[k];
    rig_add_body(scene, &body);
    return rig_model(scene);
}

// |L - L0| / |L0| after one second, L about the centre of mass.
static double angular_loss(const mabd_model* model, mabd_integrator integrator, mabd_preset preset,
                           int steps) {
    mabd_sim_def def = rig_def(preset, (mabd_real)1 / steps);
    def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_mass mass = mabd_model_body_mass(model, 0);
    mabd_real spin[2][3];
    for (int end = 0; end < 2; end++) {
        mabd_real x[3], v[3];
        if (end) rig_run(sim, steps);
        const mabd_measure now = mabd_sim_measure(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            spin[end][k] = now.angular_momentum[k] - mass.mass * (x[i] * v[j] - x[j] * v[i]);
        }
    }
    mabd_sim_destroy(sim);
    return rig_distance(spin[0], spin[1]) / rig_norm(spin[0]);
}

Test(spinning_box, keeps_linear_momentum_to_round_off) {
    const mabd_real spin[3] = {4, 10, -3};
    mabd_model* model = box_model(0.1, 0.2, 0.3, spin);
    for (int integrator = MABD_INTEGRATOR_BDF2; integrator <= MABD_INTEGRATOR_BDF2_LINEAR;
         integrator++) {
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        def.integrator = (mabd_integrator)integrator;
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_measure start = mabd_sim_measure(sim);
        double worst = 0;
        cr_assert(fabs(rig_norm(start.linear_momentum) - 6 * sqrt(5)) < 1e-13); // 6 kg
        for (int i = 0; i < 1000; i++) {
            rig_step(sim);
            const mabd_measure now = mabd_sim_measure(sim);
            worst = fmax(worst, rig_distance(now.linear_momentum, start.linear_momentum));
        }
        worst /= rig_norm(start.linear_momentum);
        printf("%s: linear momentum changes by %.2e\n", mabd_integrator_name(integrator), worst);
        cr_expect(worst < 1e-12, "%g", worst);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

Test(spinning_box, angular_momentum_loss_falls_with_the_order_of_bdf2_on_the_coordinates) {
    const mabd_real spins[2][3] = {{0, 10, 0}, {4, 10, -3}};
    const mabd_real sizes[2][3] = {{0.1, 0.1, 0.1}, {0.1, 0.2, 0.3}};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = box_model(sizes[i][0], sizes[i][1], sizes[i][2], spins[i]);
        for (int preset = MABD_PRESET_BALANCED; preset <= MABD_PRESET_EXACT; preset++) {
            double loss[4];
            for (int k = 0; k < 4; k++) {
                loss[k] = angular_loss(model, MABD_INTEGRATOR_BDF2_LINEAR, preset, 100 << k);
            }
            const double order = rig_order(i ? "tumbling box" : "spinning cube", 0.01, 4, loss);
            cr_expect(order >= log2(3.5), "order %g", order);
        }
        mabd_model_destroy(model);
    }
}

Test(spinning_box, steps_in_the_frame_of_the_body_keep_angular_momentum) {
    const mabd_real steady[3] = {0, 10, 0}, tumbling[3] = {4, 10, -3};
    mabd_model* cube = box_model(0.1, 0.1, 0.1, steady);
    mabd_model* box = box_model(0.1, 0.2, 0.3, tumbling);
    const mabd_integrator integrators[2] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2};
    for (int i = 0; i < 2; i++) {
        const double spin = angular_loss(cube, integrators[i], MABD_PRESET_BALANCED, 100);
        const double tumble = angular_loss(box, integrators[i], MABD_PRESET_BALANCED, 100);
        printf("%s, 1 s at 10 ms: L changes by %.1e (cube), %.1e (tumbling box)\n",
               mabd_integrator_name(integrators[i]), spin, tumble);
        cr_expect(spin < 1e-12, "%g", spin);
        cr_expect(tumble < 1e-5, "%g", tumble);
    }
    mabd_model_destroy(cube), mabd_model_destroy(box);
}
