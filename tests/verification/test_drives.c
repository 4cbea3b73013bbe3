// SPDX-License-Identifier: Apache-2.0
// Drives with a force limit and dry friction, against the motion of one inertia under constant
// forces.
//
// The torque of a hinge is reported about axes that are strained with the bodies, with a relative
// error of 1e-8; a multiplier itself is exact, as the slides show.

#include "support/axis_rig.h"

#define STRAINED 1e-6

static mabd_sim* start(const axis_case* c, mabd_model** model, double h) {
    const mabd_sim_def def = axis_def(MABD_PRESET_EXACT, h);
    *model = axis_model(c);
    return rig_sim(*model, &def);
}

// ---- drives by rate -----------------------------------------------------------------------------

// Start the same rod under a force motor: a drive at its limit must move exactly like it.
static mabd_sim* start_twin(const axis_case* c, double force, mabd_model** model, double h) {
    axis_case twin = *c;
    twin.axis = (mabd_axis_def){.motor = mabd_signal_constant(force)};
    return start(&twin, model, h);
}

// I x'' = 5 until x' = 2, then no torque.
AXIS_TEST(drives, a_motor_reaches_its_rate_with_its_limit_and_keeps_it_with_nothing) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(2), .max_force = 5}};
        mabd_model *model, *twin_model;
        const double arrival = 2 * axis_inertia() / 5, h = axis_steps[k];
        mabd_sim* sim = start(&c, &model, h);
        mabd_sim* twin = start_twin(&c, 5, &twin_model, h);
        while (mabd_sim_time(sim) < arrival + 0.5) {
            axis_step(sim), axis_step(twin);
            const double t = mabd_sim_time(sim), force = axis_force(sim, &c);
            cr_assert(lt(dbl, fabs(force), 5 + STRAINED * 5));
            if (t < arrival - 2 * h) {
                cr_assert(lt(dbl, fabs(force - 5), STRAINED * 5), "%g at %g", force, t);
                cr_assert(lt(dbl, fabs(axis_x(sim, &c) - axis_x(twin, &c)), 1e-10));
            }
            if (t > arrival + 20 * h) { // A, not its angle, is differenced: error x'^3 h^2/3
                cr_assert(lt(dbl, fabs(axis_rate(sim, &c) - 2), 4 * h * h), "%.12g at %g",
                          axis_rate(sim, &c), t);
            }
        }
        printf("h %g ms: rate %.12g, torque %.1e\n", 1e3 * h, axis_rate(sim, &c),
               axis_force(sim, &c));
        cr_expect(lt(dbl, fabs(axis_force(sim, &c)), 1e-2));
        rig_destroy(sim, model);
        rig_destroy(twin, twin_model);
    }
}

// A lift of 10 kg with 50 N against 80 N: it falls with (80 - 50)/10, pulled with exactly 50 N.
AXIS_TEST_EXACT(drives, a_motor_under_overload_pulls_with_exactly_its_limit) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(0.5),
                                      .max_force = 50,
                                      .motor = mabd_signal_constant(-80)},
                             .slide = true};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        while (mabd_sim_time(sim) < 0.5) {
            axis_step(sim);
            // accelerations are second differences of coordinates: round-off over h^2
            const double noise = 4 * AXIS_MASS * DBL_EPSILON * fabs(axis_x(sim, &c)) /
                                 (axis_steps[k] * axis_steps[k]);
            const double bound = axis_formulation == MABD_FORMULATION_REDMAX ? noise : 0;
            cr_assert(lt(dbl, fabs(axis_force(sim, &c) + 30), 1e-12 + bound), "%.17g",
                      axis_force(sim, &c));
        }
        const double t = mabd_sim_time(sim);
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) + 3 * t * t / 2), 1e-6), "%g", axis_x(sim, &c));
        rig_destroy(sim, model);
    }
}

// A motor strong enough for its load holds its rate from the first steps on, with the load's force.
AXIS_TEST(drives, a_motor_within_its_limit_carries_the_load) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(0.5),
                                      .max_force = 90,
                                      .motor = mabd_signal_constant(-80)},
                             .slide = true};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        while (mabd_sim_time(sim) < 2) axis_step(sim);
        printf("h %g ms: rate %.15g, rest of the force %.1e\n", 1e3 * axis_steps[k],
               axis_rate(sim, &c), axis_force(sim, &c));
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c) - 0.5), 1e-9));
        cr_expect(lt(dbl, fabs(axis_force(sim, &c)), 1e-6));
        rig_destroy(sim, model);
    }
}

AXIS_TEST(drives, a_motor_without_limit_keeps_its_rate_whatever_it_takes) {
    const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(-1.5), .friction = 3},
                         .gravity = -9.81};
    for (int k = 0; k < 2; k++) {
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        while (mabd_sim_time(sim) < 1) axis_step(sim);
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) + 1.5), 1e-2), "%g", axis_x(sim, &c));
        const double of_turn =
            3 * axis_steps[k] * axis_steps[k]; // A, not its angle, is differenced
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c) + 1.5), of_turn), "%g", axis_rate(sim, &c));
        rig_destroy(sim, model);
    }
}

// ---- servos -------------------------------------------------------------------------------------

AXIS_TEST_EXACT(drives, a_servo_saturates_and_arrives) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.servo = mabd_signal_constant(1),
                                      .servo_stiffness = 100,
                                      .servo_damping = 20,
                                      .max_force = 4}};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        while (mabd_sim_time(sim) < 5) {
            axis_step(sim);
            const double t = mabd_sim_time(sim), force = axis_force(sim, &c);
            cr_assert(lt(dbl, fabs(force), 4 + STRAINED * 4));
            if (t > 0.8) continue;
            cr_assert(lt(dbl, fabs(force - 4), STRAINED * 4), "%g at %g", force, t);
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - 4 / axis_inertia() * t * t / 2), 1e-4));
        }
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - 1), 1e-3), "%g", axis_x(sim, &c));
        rig_destroy(sim, model);
    }
}

// A rigid servo of 40 N m cannot lift the rod, which needs 49.05 N m; one of 200 N m holds its
// position.
AXIS_TEST(drives, a_rigid_servo_with_a_limit_gives_way) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {
            .axis = {.servo = mabd_signal_constant(-0.5), .servo_rigid = true, .max_force = 40},
            .gravity = -9.81};
        axis_case held = c;
        held.axis.servo = mabd_signal_constant(0);
        held.axis.max_force = 200; // more than twice a suddenly applied load
        mabd_model *model, *held_model, *twin_model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        mabd_sim* still = start(&held, &held_model, axis_steps[k]);
        mabd_sim* twin = start_twin(&c, -40, &twin_model, axis_steps[k]);
        while (mabd_sim_time(sim) < 0.5) {
            axis_step(sim), axis_step(still), axis_step(twin);
            cr_assert(lt(dbl, fabs(axis_force(sim, &c) + 40), STRAINED * 40));
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - axis_x(twin, &c)), 1e-10));
            cr_assert(lt(dbl, fabs(axis_x(still, &held)), 1e-9));
        }
        const double load = AXIS_MASS * 9.81 * AXIS_LENGTH / 2;
        cr_expect(lt(dbl, 0.1, axis_x(sim, &c)));
        cr_expect(lt(dbl, fabs(axis_force(still, &held) + load), 1e-4 * load), "%g",
                  axis_force(still, &held));
        rig_destroy(sim, model);
        rig_destroy(still, held_model);
        rig_destroy(twin, twin_model);
    }
}

AXIS_TEST(drives, a_stop_wins_over_a_rigid_servo) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.servo = {.kind = MABD_SIGNAL_RAMP, .value_end = 1, .end = 1},
                                      .servo_rigid = true,
                                      .limited = true,
                                      .lower = -1,
                                      .upper = 0.4}};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        while (mabd_sim_time(sim) < 1.2) {
            axis_step(sim);
            const double t = mabd_sim_time(sim);
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - fmin(t, 0.4)), 1e-9), "%g at %g",
                      axis_x(sim, &c), t);
        }
        rig_destroy(sim, model);
    }
}

// ---- friction -----------------------------------------------------------------------------------

// One part in 1e9 below its torque it holds, one part above it slips: x = (T - F)/I t^2/2.
AXIS_TEST_EXACT(drives, friction_holds_up_to_its_torque) {
    for (int k = 0; k < 4; k++) {
        const double torque = 20 * (1 + (k % 2 ? 1e-9 : -1e-9));
        const axis_case c = {.axis = {.friction = 20, .motor = mabd_signal_constant(torque)}};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k / 2]);
        while (mabd_sim_time(sim) < 1) axis_step(sim);
        const double t = mabd_sim_time(sim);
        const double slipped = k % 2 ? (torque - 20) / axis_inertia() * t * t / 2 : 0;
        printf("h %g ms, torque %.10f: %.3e rad of %.3e\n", 1e3 * axis_steps[k / 2], torque,
               axis_x(sim, &c), slipped);
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - slipped), 1e-10));
        cr_expect(lt(dbl, fabs(axis_force(sim, &c) - (k % 2 ? torque - 20 : 0)), 1e-7));
        rig_destroy(sim, model);
    }
}

// I x'' = -5 from 3 rad/s on: stops after I 9/10 rad, having lost 5 N m times that.
AXIS_TEST_EXACT(drives, friction_takes_its_torque_times_the_angle) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.friction = 5}, .rate = 3};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        const double before = mabd_sim_measure(sim).energy, h = axis_steps[k];
        const double stop = 3 * axis_inertia() / 5, angle = axis_inertia() * 9 / 10;
        double energy = before;
        while (mabd_sim_time(sim) < stop + 0.5) {
            axis_step(sim);
            const double now = mabd_sim_measure(sim).energy;
            cr_assert(lt(dbl, now, energy + 1e-9));
            energy = now;
            if (mabd_sim_time(sim) > stop - 2 * h) continue;
            cr_assert(lt(dbl, fabs(axis_force(sim, &c) + 5), STRAINED * 5));
            const double lost = before - energy;
            if (mabd_sim_time(sim) < 0.1) continue;
            cr_assert(lt(dbl, fabs(lost - 5 * axis_x(sim, &c)), 0.01 * lost));
        }
        printf("h %g ms: stopped at %.6f of %.6f rad, rate %.1e\n", 1e3 * h, axis_x(sim, &c), angle,
               axis_rate(sim, &c));
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - angle), 0.01 * angle));
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c)), 1e-9));
        rig_destroy(sim, model);
    }
}

// Spring 300 N m/rad, rest 1.1 rad, friction 60 N m: half swings about rest -+ 0.2, 0 -> 1.8 -> 0.8
// -> 1.0, where the spring's 30 N m no longer move it.
AXIS_TEST(drives, friction_ends_the_swings_of_a_spring) {
    const double tolerance[] = {2e-2, 2e-3};
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.stiffness = 300, .rest = 1.1, .friction = 60}};
        mabd_model* model;
        mabd_sim* sim = start(&c, &model, axis_steps[k]);
        double highest = 0;
        while (mabd_sim_time(sim) < 3) {
            axis_step(sim);
            highest = fmax(highest, axis_x(sim, &c));
        }
        printf("h %g ms: highest %.5f of 1.8, at rest %.5f of 1.0\n", 1e3 * axis_steps[k], highest,
               axis_x(sim, &c));
        cr_expect(lt(dbl, fabs(highest - 1.8), tolerance[k]));
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - 1.0), tolerance[k]));
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c)), 1e-9));
        // spring and friction balance each other
        cr_expect(lt(dbl, fabs(axis_force(sim, &c)), 1e-6));
        rig_destroy(sim, model);
    }
}

// Dry friction in a ball joint about its axis of rotation: I x'' = -2 until it stops.
AXIS_TEST(drives, friction_of_a_ball_joint_slows_as_that_of_a_hinge) {
    const mabd_axis_def axis = {.friction = 2};
    for (int k = 0; k < 2; k++) {
        axis_case c = {.rate = 1};
        mabd_scene* scene = rig_scene(0);
        const mabd_real size[3] = {AXIS_LENGTH, AXIS_WIDTH, AXIS_WIDTH};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        mabd_error error = {0};
        mabd_body_def body = mabd_default_body_def();
        mabd_joint_def joint = mabd_default_joint_def();
        body.geom_count = 1, body.geoms = &geom, body.young = 1e10;
        body.position[0] = AXIS_LENGTH / 2;
        body.angular_velocity[1] = c.rate, body.velocity[2] = -c.rate * AXIS_LENGTH / 2;
        joint.b = rig_add_body(scene, &body);
        joint.axes[MABD_AXIS_RY] = &axis;
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = axis_def(MABD_PRESET_EXACT, axis_steps[k]);
        mabd_sim* sim = rig_sim(model, &def);
        const double stands = c.rate * axis_inertia() / 2;
        while (mabd_sim_time(sim) < stands - 0.1) axis_step(sim);
        const double left = c.rate - 2 * mabd_sim_time(sim) / axis_inertia();
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c) - left), 0.01 * c.rate), "%g, not %g",
                  axis_rate(sim, &c), left);
        while (mabd_sim_time(sim) < stands + 0.5) axis_step(sim);
        cr_expect(lt(dbl, fabs(axis_rate(sim, &c)), 1e-9));
        rig_destroy(sim, model);
    }
}
