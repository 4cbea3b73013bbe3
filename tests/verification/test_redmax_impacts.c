// SPDX-License-Identifier: Apache-2.0
// Energy of impacts, stops and contacts by cause in the redmax formulation, against closed forms.
// Steps with contacts go by implicit Euler, of first order; what impacts take is the energy of the
// speed they meet.

#include "support/balance_rig.h"
#include "support/contact_rig.h"

static mabd_energy_balance run(const mabd_model* model, mabd_integrator integrator,
                               mabd_coordinates coordinates, double h, double time) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.integrator = integrator;
    def.redmax.coordinates = coordinates;
    mabd_sim* sim = rig_sim(model, &def);
    const int steps = (int)lround(time / h);
    for (int i = 0; i < steps; i++) rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    balance_check(sim);
    mabd_sim_destroy(sim);
    return b;
}

/// Integrators of joint coordinates, then that of maximal ones.
static const struct {
    mabd_integrator integrator;
    mabd_coordinates coordinates;
} modes[] = {{MABD_INTEGRATOR_BDF2, MABD_COORDINATES_REDUCED},
             {MABD_INTEGRATOR_SDIRK2, MABD_COORDINATES_REDUCED},
             {MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_COORDINATES_MAXIMAL}};
#define MODES (sizeof modes / sizeof modes[0])

// A ball of 2 kg meets the ground with v = 3 m/s, without gravity, and leaves with w = e v: impacts
// take (1 - e^2) 9 J, however the distance is divided by steps. The softness of rows, 1e-6
// (contact_forces.c), leaves that part of the force out: w = e v - 1e-6 (1 + e) v.
Test(redmax_impacts, a_ball_loses_the_part_that_is_not_returned) {
    for (int n = 0; n < 6; n++) {
        const double e = 0.4 * (n % 3), w = e - 1e-6 * (1 + e), taken = 9 * (1 - w * w);
        const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                                   .size = {0.1},
                                   .mass = 2,
                                   .restitution = e,
                                   .position = {0, 0, 0.2 + 0.0031 * n},
                                   .velocity = {0, 0, -3}};
        mabd_scene* scene = contact_scene(0);
        contact_add(scene, &ball);
        contact_add_ground(scene, 0.5);
        mabd_model* model = rig_model(scene);
        for (size_t k = 0; k < MODES; k++) {
            const mabd_energy_balance b =
                run(model, modes[k].integrator, modes[k].coordinates, 0.004, 0.1);
            printf("bounce: e %g, impacts %.9g of %.9g J, integrator %.1e J\n", e,
                   (double)b.impacts, taken, (double)b.integrator);
            cr_expect(fabs((double)b.impacts - taken) < 1e-8);
            cr_expect(fabs((double)b.integrator) < 1e-8 && fabs((double)b.friction) < 1e-9);
        }
        mabd_model_destroy(model);
    }
}

// It falls by 1 m: the impact takes (1 - e^2) m g s. Without restitution the step ends on the
// ground and the next one takes the rest of the speed v, without an error of first order. With it
// the ball leaves with e v from where it was, up to h v above the ground, so the impact takes up to
// m g h v (1 - e^2 + e) less. Semi-implicit falls lose m g h v/2.
Test(redmax_impacts, a_ball_that_falls_loses_the_energy_of_its_fall) {
    for (int n = 0; n < 2; n++) {
        const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                                   .size = {0.1},
                                   .mass = 2,
                                   .restitution = 0.5 * n,
                                   .position = {0, 0, 1.1}};
        mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
        contact_add(scene, &ball);
        contact_add_ground(scene, 0.5);
        mabd_model* model = rig_model(scene);
        const double taken = (1 - 0.25 * n) * 2 * CONTACT_GRAVITY;
        for (size_t k = 0; k < MODES; k++) {
            const double e = 0.5 * n, h = 0.001, way = sqrt(2 * CONTACT_GRAVITY) * h;
            const mabd_energy_balance b =
                run(model, modes[k].integrator, modes[k].coordinates, h, 0.7);
            printf("fall: impacts %.6g of %.6g J, integrator %.2e J\n", (double)b.impacts, taken,
                   (double)b.integrator);
            const double steps = 4 * pow(CONTACT_GRAVITY * h, 2); // of Euler: m (g h)^2/2 each
            const double fell = k == 2 ? CONTACT_GRAVITY * way : 0;
            const double early = n == 0 ? 0 : 2 * CONTACT_GRAVITY * way * (1 - e * e + e);
            cr_expect(fabs((double)b.impacts - taken) < steps + fell + early);
            cr_expect(fabs((double)b.integrator) < steps + 2 * fell);
        }
        mabd_model_destroy(model);
    }
}

// A box slides from 1 m/s to rest: friction takes m v^2/2 = 1 J, impacts nothing.
Test(redmax_impacts, friction_takes_the_energy_of_a_box_that_comes_to_rest) {
    const contact_body box = {.shape = MABD_SHAPE_BOX,
                              .size = {0.4, 0.4, 0.1},
                              .mass = 2,
                              .friction = 0.3,
                              .position = {0, 0, 0.05},
                              .velocity = {1, 0, 0}};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &box);
    contact_add_ground(scene, 0.3);
    mabd_model* model = rig_model(scene);
    for (size_t k = 0; k < MODES; k++) {
        for (int i = 0; i < 2; i++) {
            const double h = ldexp(0.004, -i);
            const mabd_energy_balance b =
                run(model, modes[k].integrator, modes[k].coordinates, h, 0.5);
            printf("box: friction %.6g of 1 J, impacts %.1e J, integrator %.1e J\n",
                   (double)b.friction, (double)b.impacts, (double)b.integrator);
            cr_expect(fabs((double)b.friction - 1) < h * h);
            cr_expect(fabs((double)b.integrator) < h * h && fabs((double)b.impacts) < 1e-6);
        }
    }
    mabd_model_destroy(model);
}

// A platform rises by 0.2 (1 - cos 4t) under a box of 2 kg: the script does m g z + m v^2/2.
Test(redmax_impacts, a_script_that_lifts_by_contact_does_the_work) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {}, \"bodies\": [{\"name\": \"s\", \"shape\": "
        "\"box\", \"size\": [1, 1, 0.1], \"script\": {\"direction\": [0, 0, 1], \"translation\": "
        "{\"sine\": {\"offset\": 0.2, \"amplitude\": -0.2, \"frequency\": 0.63661977236758138, "
        "\"phase\": 1.5707963267948966}}}}, {\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, "
        "0.2, 0.2], \"mass\": 2, \"position\": [0, 0, 0.15]}]}");
    const double z = 0.2 * (1 - cos(2.0)), v = 0.8 * sin(2.0), work = 2 * 9.81 * z + v * v;
    for (int i = 0; i < 2; i++) {
        const double h = ldexp(0.005, -i);
        const mabd_energy_balance b =
            run(model, MABD_INTEGRATOR_BDF2, MABD_COORDINATES_REDUCED, h, 0.5);
        printf("platform: scripts %.5g of %.5g J, integrator %.2e J\n", (double)b.scripts, work,
               (double)b.integrator);
        cr_expect(fabs((double)b.scripts - work) < 0.6 * h * work);
        cr_expect(fabs((double)b.integrator) < 0.6 * h * work && fabs((double)b.impacts) < 1e-6);
    }
    mabd_model_destroy(model);
}
