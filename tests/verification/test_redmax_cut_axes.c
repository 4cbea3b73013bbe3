// SPDX-License-Identifier: Apache-2.0
// Laws on the axes of joints that close loops, in the redmax formulation: a four-bar whose hinges
// have springs, dampers, motors and friction of pins, against the equations of Newton and Euler of
// its bars; servos, stops and couplings at each of its hinges; loops of joints without rows.

#include "support/four_bar_loads.h"

// Errors of the crank at h, h/2, h/4 after `seconds`.
static void expect_orders(const char* what, const four_bar_axis axes[4], mabd_integrator integrator,
                          double h, double seconds) {
    double errors[3], p = four_bar_start, w = 0;
    mabd_model* model = four_bar_loaded(axes);
    four_bar_run(axes, seconds, &p, &w);
    for (int i = 0; i < 3; i++) {
        mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)ldexp(h, -i));
        def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
        mabd_sim* sim = rig_sim(model, &def);
        rig_run(sim, (int)lround(seconds / (double)def.h));
        double angle, rate;
        one_freedom_read(sim, &angle, &rate);
        errors[i] = fabs(angle - p) + fabs(rate - w);
        mabd_sim_destroy(sim);
    }
    const double order = rig_order(what, h, 3, errors);
    const bool first = integrator == MABD_INTEGRATOR_LINEAR_IMPLICIT;
    cr_expect(order > (first ? 0.9 : 1.9), "%s: order %g", what, order);
    mabd_model_destroy(model);
}

Test(redmax_cut_axes, springs_dampers_armature_and_motors_on_all_hinges_of_a_four_bar) {
    const four_bar_axis axes[4] = {{.k = 3, .d = 0.05, .arm = 0.002, .M = 1},
                                   {.k = 2, .d = 0.2},
                                   {.k = 1, .d = 0.1, .M = -2},
                                   {.k = 2, .d = 0.3, .arm = 0.001}};
    expect_orders("laws, bdf2", axes, MABD_INTEGRATOR_BDF2, 0.004, 0.4);
    expect_orders("laws, sdirk2", axes, MABD_INTEGRATOR_SDIRK2, 0.004, 0.4);
    expect_orders("laws, linear-implicit", axes, MABD_INTEGRATOR_LINEAR_IMPLICIT, 0.002, 0.4);
}

Test(redmax_cut_axes, friction_that_grows_with_the_load_of_every_pin_of_a_four_bar) {
    const four_bar_axis pin = {.mu = 0.3, .rho = 0.02, .speed = 0.3};
    const four_bar_axis axes[4] = {pin, pin, pin, pin};
    expect_orders("pins, bdf2", axes, MABD_INTEGRATOR_BDF2, 0.004, 0.4);
    expect_orders("pins, sdirk2", axes, MABD_INTEGRATOR_SDIRK2, 0.001, 0.4);
}

// No hinge turns back on the way.
Test(redmax_cut_axes, dry_pins_of_a_four_bar) {
    const four_bar_axis pin = {.mu = 0.3, .rho = 0.02};
    const four_bar_axis axes[4] = {pin, pin, pin, pin};
    expect_orders("dry pins, bdf2", axes, MABD_INTEGRATOR_BDF2, 0.004, 0.16);
}

// ---- held axes ---------------------------------------------------------------------------------

static mabd_axis_def servo_axis(double to) {
    mabd_axis_def def = {.servo_rigid = true};
    def.servo = (mabd_signal){.kind = MABD_SIGNAL_RAMP, .value_end = (mabd_real)to, .end = 1};
    return def;
}

static double hinge_angle(mabd_sim* sim, int32_t joint) {
    mabd_real x[MABD_AXIS_COUNT];
    mabd_sim_get_joint_coordinates(sim, joint, x);
    return x[MABD_AXIS_RX];
}

Test(redmax_cut_axes, rigid_servos_stops_and_drives_hold_any_hinge_of_a_loop) {
    const mabd_axis_def damper = {.damping = (mabd_real)0.01};
    for (int joint = 0; joint < 4; joint++) {
        for (int kind = 0; kind < 3; kind++) {
            mabd_axis_def held = servo_axis(-0.3);
            if (kind == 1) held = (mabd_axis_def){.limited = true, .lower = -1, .upper = 1};
            if (kind == 1) held.lower = (mabd_real)-0.02, held.upper = (mabd_real)0.02;
            if (kind == 2)
                held = (mabd_axis_def){.motor_velocity = mabd_signal_constant((mabd_real)-0.3)};
            const mabd_axis_def* axes[4] = {&damper, &damper, &damper, &damper};
            axes[joint] = &held;
            mabd_model* model = four_bar_with(axes);
            mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.005);
            def.formulation = MABD_FORMULATION_REDMAX;
            mabd_sim* sim = rig_sim(model, &def);
            for (int i = 0; i < 60; i++) {
                const mabd_step_info info = rig_step(sim);
                cr_assert(info.gap < 1e-12, "hinge %d, kind %d, step %d: gap %g", joint, kind, i,
                          (double)info.gap);
            }
            const double x = hinge_angle(sim, joint);
            if (kind == 1) {
                cr_expect(fabs(fabs(x) - 0.02) < 1e-9, "hinge %d at its stop: %g", joint, x);
            } else {
                cr_expect(fabs(x + 0.09) < 1e-9, "hinge %d, kind %d: %g", joint, kind, x);
            }
            rig_destroy(sim, model);
        }
    }
}

// ---- other loops -------------------------------------------------------------------------------

// A torsion pendulum between two hinges with springs, one of which the tree must cut, and a door of
// one of them that a wheel follows: x_wheel = 2 x_door.
Test(redmax_cut_axes, two_springs_in_line_are_one_and_a_coupling_takes_a_cut_joint) {
    const char* const text =
        "{\"gravity\": [0, 0, 0], \"bodies\": ["
        "{\"name\": \"door\", \"shape\": \"box\", \"size\": [1, 1, 1]},"
        "{\"name\": \"wheel\", \"shape\": \"box\", \"size\": [0.5, 0.5, 0.5],"
        " \"position\": [0, 0, 3]}], \"joints\": ["
        "{\"name\": \"one\", \"type\": \"hinge\", \"b\": \"door\", \"anchor\": [0, 1, 0],"
        " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 300, \"rest\": 0.2}}},"
        "{\"name\": \"two\", \"type\": \"hinge\", \"b\": \"door\", \"anchor\": [0, -1, 0],"
        " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 500, \"rest\": 0.2}}},"
        "{\"name\": \"three\", \"type\": \"hinge\", \"b\": \"wheel\", \"anchor\": [0, 0, 3],"
        " \"axis\": [0, 1, 0]}], \"couplings\": [{\"axes\": [{\"joint\": \"three\", \"axis\":"
        " \"rx\"}, {\"joint\": \"%s\", \"axis\": \"rx\", \"ratio\": -2}]}]}";
    const double inertia = 1000 / 6.0 + 4 * 125 / 24.0, rate = sqrt(800 / inertia);
    for (int which = 0; which < 2; which++) {
        char full[2048];
        double errors[3];
        snprintf(full, sizeof full, text, which ? "one" : "two");
        mabd_model* model = rig_text_model(full);
        for (int i = 0; i < 3; i++) {
            mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)ldexp(0.02, -i));
            def.formulation = MABD_FORMULATION_REDMAX;
            mabd_sim* sim = rig_sim(model, &def);
            rig_run(sim, 100 << i);
            const double exact = 0.2 * (1 - cos(2 * rate));
            errors[i] = fabs(hinge_angle(sim, 0) - exact);
            cr_expect(fabs(hinge_angle(sim, 1) - hinge_angle(sim, 0)) < 1e-12);
            cr_expect(fabs(hinge_angle(sim, 2) - 2 * hinge_angle(sim, 0)) < 1e-12);
            mabd_sim_destroy(sim);
        }
        cr_expect(rig_order("two springs", 0.02, 3, errors) > 1.9);
        mabd_model_destroy(model);
    }
}

// A nut of mass m and moment J on a screw of pitch s, in a sleeve: (m + J/s^2) z'' = -m g.
Test(redmax_cut_axes, a_nut_on_a_screw_in_a_sleeve) {
    const char* const text =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"nut\", \"shape\": \"box\","
        " \"size\": [0.2, 0.2, 0.1], \"position\": [0, 0, 1]}], \"joints\": ["
        "{\"type\": \"screw\", \"pitch\": 0.05, \"b\": \"nut\", \"anchor\": [0, 0, 1],"
        " \"axis\": [0, 0, 1]},"
        "{\"type\": \"screw\", \"pitch\": 0.05, \"b\": \"nut\", \"anchor\": [0, 0, 1.5],"
        " \"axis\": [0, 0, 1]}]}";
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_REDMAX;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 100; i++) rig_step(sim);
    mabd_real x[3];
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    const double ratio = 1 / (1 + (0.08 / 12) / (0.05 * 0.05));
    cr_expect(fabs(x[2] - 1 + ratio * 9.81 / 2) < 2e-4, "%g %g", (double)x[2] - 1,
              -ratio * 9.81 / 2);
    rig_destroy(sim, model);
}
