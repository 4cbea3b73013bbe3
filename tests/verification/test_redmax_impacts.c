// SPDX-License-Identifier: Apache-2.0
// Energy of impacts, stops and contacts by cause in the redmax formulation, against closed forms.
// Steps with contacts go by implicit Euler, of first order; what impacts take is the energy of the
// speed they meet.

#include "support/axis_rig.h"
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

// ---- stops -------------------------------------------------------------------------------------

// A rod of 1 m and 10 kg falls from the horizontal by 0.7 rad to its stop: all of m g L/2 sin(0.7).
// Its way is of second order, its last step and the impact by Euler: bdf2 and sdirk2 as Euler.
Test(redmax_impacts, the_stop_of_a_pendulum_takes_the_energy_of_its_fall) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[1, 0.1, 0.1], \"position\": [0.5, 0, 0], \"mass\": 10}], \"joints\": [{\"type\": "
        "\"hinge\", "
        "\"b\": \"b\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"upper\": "
        "0.7}}}]}");
    const double fall = 10 * 9.81 * 0.5 * sin(0.7);
    for (size_t k = 0; k < 2; k++) {
        double errors[4];
        for (int i = 0; i < 4; i++) {
            const mabd_energy_balance b =
                run(model, modes[k].integrator, MABD_COORDINATES_REDUCED, ldexp(0.01, -i), 1);
            errors[i] = fmax(fabs((double)b.impacts - fall), fabs((double)b.integrator)) / fall;
            cr_expect(b.drives == 0 && b.dampers == 0 && b.friction == 0);
        }
        rig_order("stop of a pendulum", 0.01, 4, errors);
        cr_expect(errors[0] < 5e-3 && errors[3] < 0.25 * errors[0]);
    }
    mabd_model_destroy(model);
}

// 1 kg at 2 m/s against a stop, with an armature of 0.5 kg, without gravity: 3 J however the steps
// divide the distance. Euler alone takes the impact in two steps.
Test(redmax_impacts, a_stop_takes_the_energy_of_a_speed_at_any_distance) {
    const mabd_integrator integrators[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                           MABD_INTEGRATOR_EULER};
    for (int i = 0; i < 6; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", "
                 "\"size\": [0.1, 0.1, 0.1], \"mass\": 1, \"velocity\": [2, 0, 0]}], \"joints\": "
                 "[{\"type\": \"prismatic\", \"b\": \"b\", \"axis\": [1, 0, 0], \"axes\": {\"tx\": "
                 "{\"upper\": %g, \"armature\": 0.5}}}]}",
                 0.1 + 0.0043 * i);
        mabd_model* model = rig_text_model(text);
        const mabd_energy_balance b =
            run(model, integrators[i % 3], MABD_COORDINATES_REDUCED, 0.01, 0.2);
        cr_expect(fabs((double)b.impacts - 3) < 1e-9, "%.9g J", (double)b.impacts);
        cr_expect(fabs((double)b.integrator) < 1e-9, "%.3g J", (double)b.integrator);
        mabd_model_destroy(model);
    }
}

// A slide of 10 kg with a drive of 2 m/s and at most 500 N: 500 N over 0.04 m are 20 J, and the
// stop at 0.5 m takes them.
Test(redmax_impacts, the_stop_of_a_drive_takes_the_work_of_the_drive) {
    mabd_axis_def axis = {.limited = true, .lower = -1, .upper = 0.5};
    axis.max_force = 500;
    axis.motor_velocity = mabd_signal_constant(2);
    const axis_case c = {.axis = axis, .slide = true};
    mabd_model* model = axis_model(&c);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b =
            run(model, modes[k].integrator, MABD_COORDINATES_REDUCED, 0.002, 0.6);
        printf("drive against a stop: drives %.6g, impacts %.6g of 20 J, integrator %.2e J\n",
               (double)b.drives, (double)b.impacts, (double)b.integrator);
        cr_expect(fabs((double)b.drives - 20) < 0.02 * 20);
        cr_expect(fabs((double)b.impacts - 20) < 0.01 * 20);
        cr_expect(fabs((double)b.integrator) < 0.02 * 20);
    }
    mabd_model_destroy(model);
}
