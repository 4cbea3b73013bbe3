// SPDX-License-Identifier: Apache-2.0
// Stops, limited drives and dry friction of axes in the variational formulation, against closed
// forms; energy by cause with contacts.
#include "support/contact_rig.h"

#define G CONTACT_GRAVITY

static mabd_sim_def variational(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    return def;
}

// 2 kg that slide along x, without gravity, with fields of the axis.
static mabd_model* slider(const char* axis) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"box\", \"shape\": \"box\", "
             "\"size\": [0.1, 0.1, 0.1], \"mass\": 2}], \"joints\": [{\"type\": \"prismatic\", "
             "\"a\": \"world\", \"b\": \"box\", \"axis\": [1, 0, 0], \"axes\": {\"tx\": {%s}}}]}",
             axis);
    return rig_text_model(text);
}

static double x_of(const mabd_sim* sim) {
    mabd_real x[3];
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    return x[0];
}

static double v_of(const mabd_sim* sim) {
    mabd_real x[3], v[3];
    mabd_sim_get_state(sim, x, NULL, v, NULL);
    return v[0];
}

// A drive of 1 m/s and at most 4 N: v = min(1, 2 t), x = t^2 then t - 1/4, until the stop at 1 m,
// where the drive pushes with 4 N. The step in which the drive reaches its rate is right to O(h^2).
Test(variational_limits, a_limited_rate_ramps_up_runs_and_pushes_against_a_stop) {
    for (int i = 0; i < 2; i++) {
        const double h = i ? 0.005 : 0.01;
        mabd_model* model = slider("\"motor_velocity\": 1, \"max_force\": 4, \"upper\": 1");
        const mabd_sim_def def = variational(h);
        mabd_sim* sim = rig_sim(model, &def);
        double ramp = 0, run = 0;
        mabd_real force[6];
        while (mabd_sim_time(sim) < 2) {
            contact_step(sim);
            const double t = mabd_sim_time(sim);
            if (t < 0.5 - h) {
                ramp = fmax(ramp, fabs(v_of(sim) - 2 * t));
                ramp = fmax(ramp, fabs(x_of(sim) - t * t));
            }
            if (t > 0.5 + 2 * h && t < 1.25 - 2 * h) {
                run = fmax(run, fabs(v_of(sim) - 1));
                run = fmax(run, fabs(x_of(sim) - (t - 0.25)));
            }
            cr_assert(lt(dbl, x_of(sim), 1));
        }
        mabd_sim_get_joint_forces(sim, force);
        printf("h %g: ramp off by %.1e, run by %.1e, rests %.1e m before the stop at %.1e m/s, "
               "axis %.1e N\n",
               h, ramp, run, 1 - x_of(sim), v_of(sim), force[0]);
        cr_expect(lt(dbl, ramp, 1e-6));
        cr_expect(lt(dbl, run, 2 * h * h));
        cr_expect(lt(dbl, 1 - x_of(sim), 1e-11));
        cr_expect(lt(dbl, fabs(v_of(sim)), 1e-9));
        cr_expect(lt(dbl, fabs(force[0]), 1e-6)); // drive and stop are in balance
        rig_destroy(sim, model);
    }
}

// Friction of 4 N holds against 3.9 N without creep worth the name, and gives way to 5 N: 1 N is
// left for 2 kg.
Test(variational_limits, dry_friction_of_an_axis_holds_below_its_bound) {
    for (int i = 0; i < 2; i++) {
        char axis[100];
        snprintf(axis, sizeof axis, "\"friction\": 4, \"motor\": %g", i ? 5.0 : 3.9);
        mabd_model* model = slider(axis);
        const mabd_sim_def def = variational(0.01);
        mabd_sim* sim = rig_sim(model, &def);
        for (int k = 0; k < 100; k++) contact_step(sim);
        printf("%g N: %.3e m, %.3e m/s\n", i ? 5.0 : 3.9, x_of(sim), v_of(sim));
        const double wanted = i ? 0.25 : 0; // a t^2/2, a = 1/2
        cr_expect(lt(dbl, fabs(x_of(sim) - wanted), i ? 1e-8 : 1e-9));
        cr_expect(lt(dbl, fabs(v_of(sim) - 2 * wanted), i ? 1e-8 : 1e-9));
        rig_destroy(sim, model);
    }
}

// A servo of 1000 N/m with at most 10 N moves 2 kg over 1 m: at first with its full force, x = 2.5
// t^2 - 0 until it brakes by its own damping.
Test(variational_limits, a_limited_servo_starts_with_its_full_force_and_arrives) {
    mabd_model* model = slider("\"servo\": 1, \"servo_stiffness\": 1000, \"servo_damping\": 600, "
                               "\"max_force\": 10");
    const mabd_sim_def def = variational(0.005);
    mabd_sim* sim = rig_sim(model, &def);
    double start = 0;
    while (mabd_sim_time(sim) < 0.2) {
        contact_step(sim);
        const double t = mabd_sim_time(sim);
        start = fmax(start, fabs(x_of(sim) - 2.5 * t * t));
    }
    while (mabd_sim_time(sim) < 10) contact_step(sim);
    printf("start off by %.1e m, end by %.1e m\n", start, x_of(sim) - 1);
    cr_expect(lt(dbl, start, 1e-9));
    cr_expect(lt(dbl, fabs(x_of(sim) - 1), 1e-4));
    rig_destroy(sim, model);
}

// A servo of 2000 N/m and 2000 N s/m leads 2 kg along sin 2t: m x'' + d x' + k (x - sin 2t) = 0. By
// Runge-Kutta of fourth order.
static double led_error(double h, int32_t substeps, double* speed) {
    const double mass = 2, k = 2000, d = 2000, step = 1e-4;
    double x = 0, v = 0;
    for (int i = 0; i < 10000; i++) {
        double dx[4], dv[4];
        for (int s = 0; s < 4; s++) {
            const double part = s == 0 ? 0 : s == 3 ? step : step / 2;
            const double at = v + (s ? part * dv[s - 1] : 0);
            const double target = sin(2 * (i * step + part));
            dx[s] = at;
            dv[s] = (k * (target - x - (s ? part * dx[s - 1] : 0)) - d * at) / mass;
        }
        x += step * (dx[0] + 2 * dx[1] + 2 * dx[2] + dx[3]) / 6;
        v += step * (dv[0] + 2 * dv[1] + 2 * dv[2] + dv[3]) / 6;
    }
    mabd_model* model = slider("\"servo\": {\"sine\": {\"amplitude\": 1, \"frequency\": "
                               "0.3183098861837907}}, \"servo_stiffness\": 2000, "
                               "\"servo_damping\": 2000");
    mabd_sim_def def = variational(h);
    def.variational.substeps = substeps;
    mabd_sim* sim = rig_sim(model, &def);
    for (long i = 0; i < lround(1 / h); i++) rig_step(sim);
    const double error = fabs(x_of(sim) - x);
    *speed = fabs(v_of(sim) - v);
    rig_destroy(sim, model);
    return error;
}

// h d/m = 20 to 2.5, and 1.25 to 0.16 in sixteen parts of a step: both kinds of weights. The speed
// of a user is of second order as well.
Test(variational_limits, stiff_dampers_of_servos_are_of_second_order) {
    for (int32_t substeps = 1; substeps <= 16; substeps += 15) {
        double errors[4], speeds[4];
        for (int i = 0; i < 4; i++) errors[i] = led_error(ldexp(0.02, -i), substeps, &speeds[i]);
        const double order = rig_order("servo", 0.02, 4, errors);
        const double fast = rig_order("its speed", 0.02, 4, speeds);
        cr_expect(order > 1.8 && order < 2.3, "%d parts: order %g", (int)substeps, order);
        cr_expect(fast > 1.8, "%d parts: order of the speed %g", (int)substeps, fast);
    }
}

// Two rods that hang on hinges with stops at 0 between them and at a quarter turn to the world:
// what falls stays straight, comes to rest level, and no stop is passed.
Test(variational_limits, stops_between_moving_bodies_hold_a_falling_arm) {
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"upper\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1], "
        "\"mass\": "
        "1, \"position\": [0.5, 0, 0]}, {\"name\": \"lower\", \"shape\": \"box\", \"size\": [1, "
        "0.1, "
        "0.1], \"mass\": 1, \"position\": [1.5, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"a\": "
        "\"world\", \"b\": \"upper\", \"axis\": [0, 1, 0], \"anchor\": [0, 0, 0], \"axes\": "
        "{\"rx\": "
        "{\"upper\": 0.5}}}, {\"type\": \"hinge\", \"a\": \"upper\", \"b\": \"lower\", \"axis\": "
        "[0, "
        "1, 0], \"anchor\": [1, 0, 0], \"axes\": {\"rx\": {\"upper\": 0}}}]}");
    const mabd_sim_def def = variational(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[6], v[6];
    double furthest = -1;
    for (int i = 0; i < 200; i++) {
        contact_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        // the second rod never hangs below the line of the first
        const double across = 0.5 * (x[5] - 2 * x[2]) - x[2] * (x[3] / x[0] - 2) * 0.5;
        furthest = fmax(furthest, -x[2] / 0.5);
        cr_assert(lt(dbl, -1e-9, across), "step %d: %g", i, across);
    }
    printf("upper rod at %.12f of sin 0.5, speeds %.1e %.1e m/s\n", furthest / sin(0.5),
           rig_norm(v), rig_norm(v + 3));
    cr_expect(lt(dbl, furthest, sin(0.5) + 1e-11));
    cr_expect(lt(dbl, fabs(-x[2] / 0.5 - sin(0.5)), 1e-9));
    cr_expect(lt(dbl, rig_norm(v) + rig_norm(v + 3), 1e-8));
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    printf("impacts %.6f J of %.6f J\n", b.impacts, -b.gravity);
    cr_expect(lt(dbl, fabs(b.impacts + b.gravity), 0.02 * fabs(b.gravity)));
    rig_destroy(sim, model);
}

// Friction takes c m g times the way of a sliding box, an impact with e = 0 m g times the height.
Test(variational_limits, works_of_friction_and_impacts_are_booked) {
    mabd_scene* scene = contact_scene(G);
    contact_add_ground(scene, 0.3);
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_BOX,
                                       .size = {0.5, 0.5, 0.5},
                                       .mass = 1,
                                       .friction = 0.3,
                                       .position = {0, 0, 0.25},
                                       .velocity = {2, 0, 0}});
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_SPHERE,
                                       .size = {0.1},
                                       .mass = 2,
                                       .friction = 0,
                                       .position = {5, 0, 1.1}});
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = variational(0.005);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 200; i++) contact_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    printf("friction %.6f J of 2 J, impacts %.6f J of %.6f J, integrator %.1e J\n", b.friction,
           b.impacts, 2 * G, b.integrator);
    cr_expect(lt(dbl, fabs(b.friction - 2), 5e-3));
    cr_expect(lt(dbl, fabs(b.impacts - 2 * G), 1e-2 * 2 * G));
    cr_expect(lt(dbl, fabs(b.integrator), 1e-2));
    rig_destroy(sim, model);
}
