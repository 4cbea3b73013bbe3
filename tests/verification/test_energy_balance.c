// SPDX-License-Identifier: Apache-2.0
// Energy by cause against closed forms: smooth causes, whose works and whose rest `integrator` must
// converge with order 1.8 or more, for BDF2 of the affine formulation on the coordinates and on the
// rotation, and for two methods each of the quaternion and redmax formulations.
//
//   motor      lifts a weight: M dx = m g dz + kinetic energy
//   servo      drags a damped load along x = a sin(w t): works by quadrature of the exact motion
//   damper     oscillator m x'' + d x' + k x = 0: takes k x0^2/2 - what is left
//   friction   constant torque times angle
//   drag       m g v t - m v^2/2 of a fall with drag, and the weight's power at terminal speed
//   force      F . d, torque times angle
//   script     lifts a chain: all of its energy
//   pendulum   no cause at all: integrator is the loss

#include "support/balance_rig.h"

#define G 9.81

static const double step = 0.01;
#define STEPS 4

// Closed forms of the accounts of a case.
typedef struct expected {
    double drives, scripts, forces, dampers, friction, drag, impacts;
    double scale; // [J]
} expected;

// Largest part of the scale by which an account differs from its closed form.
static double error_of(const mabd_energy_balance* b, const expected* e) {
    double worst = 0;
    worst = fmax(worst, fabs(b->drives - e->drives));
    worst = fmax(worst, fabs(b->scripts - e->scripts));
    worst = fmax(worst, fabs(b->forces - e->forces));
    worst = fmax(worst, fabs(b->dampers - e->dampers));
    worst = fmax(worst, fabs(b->friction - e->friction));
    worst = fmax(worst, fabs(b->drag - e->drag));
    worst = fmax(worst, fabs(b->impacts - e->impacts));
    return worst / e->scale;
}

// Mean order over the last halvings: errors of two parts may cancel at one step size.
static double order_of(const char* what, const double* errors) {
    rig_order(what, step, STEPS, errors);
    return log2(errors[1] / errors[STEPS - 1]) / (STEPS - 2);
}

/// True if a method is of first order in a case.
typedef bool is_first_order(balance_method method);

static bool none(balance_method method) {
    (void)method;
    return false;
}
// Friction makes a rigid servo a row for the poses of stages, of which sdirk2 has order 1. Boxes of
// the variational formulation are implicit, of order 1.
static bool by_stages_or_boxes(balance_method method) {
    return method.integrator == MABD_INTEGRATOR_SDIRK2 ||
           method.formulation == MABD_FORMULATION_VARIATIONAL;
}
static bool by_boxes(balance_method method) {
    return method.formulation == MABD_FORMULATION_VARIATIONAL;
}

// Works and the rest must converge with order 1.8, or be below `floor` of the scale; with order 0.8
// those of methods that are of first order.
static void expect_order_but(is_first_order* is_first, const char* what, balance_case c,
                             const expected* e, double floor) {
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        const bool first = is_first(balance_methods[k]);
        const double order = first ? 0.8 : 1.8, most = first ? 2e-2 : 1e-3;
        double works[STEPS], rests[STEPS], last = 0;
        for (int i = 0; i < STEPS; i++) {
            const mabd_energy_balance b = balance_run(&c, balance_methods[k], ldexp(step, -i));
            works[i] = error_of(&b, e);
            rests[i] = fabs(b.integrator) / e->scale;
            last = fmax(works[i], rests[i]);
        }
        const double by_works = order_of(what, works);
        const double by_rest = order_of("  integrator", rests);
        cr_expect(works[STEPS - 1] < floor || by_works > order, "%s: order %g", what, by_works);
        cr_expect(rests[STEPS - 1] < floor || by_rest > order, "%s: order %g", what, by_rest);
        cr_expect(last < most, "%s: %g of the energy exchanged", what, last);
    }
}

static void expect_order(const char* what, balance_case c, const expected* e, double floor) {
    expect_order_but(none, what, c, e, floor);
}

// ---- drives ------------------------------------------------------------------------------------

// 2 kg on a slide along z; 30 N against the weight: constant acceleration.
Test(energy_balance, a_motor_gives_a_weight_its_energy) {
    const balance_case c = {"{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\":"
                            " \"box\", \"size\": [0.1, 0.1, 0.1], \"mass\": 2}], \"joints\": ["
                            "{\"type\": \"prismatic\", \"b\": \"b\", \"axis\": [0, 0, 1], \"axes\":"
                            " {\"tx\": {\"motor\": 30}}}]}",
                            0.8};
    const double a = 30 / 2.0 - G, dz = a * 0.8 * 0.8 / 2;
    const expected e = {.drives = 30 * dz, .scale = 30 * dz};
    expect_order("motor", c, &e, 1e-11);
}

// A crank of 1 kg m^2 turned by a motor of 3 sin(5 t) N m: w = 3 (1 - cos 5t)/5/I, and the work is
// the kinetic energy I w^2/2. The hinge is at the centre, so that gravity does not matter.
Test(energy_balance, a_motor_that_varies_gives_the_kinetic_energy) {
    const balance_case c = {"{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\":"
                            " \"box\", \"size\": [0.6, 0.6, 0.6], \"mass\": 16.666666666666667}],"
                            " \"joints\": [{\"type\": \"hinge\", \"b\": \"b\", \"axis\": [0, 1, 0],"
                            " \"axes\": {\"rx\": {\"motor\": {\"sine\": {\"amplitude\": 3,"
                            " \"frequency\": 0.79577471545947667}}}}}]}",
                            0.8};
    const double w = 3 * (1 - cos(5 * 0.8)) / 5, work = w * w / 2;
    const expected e = {.drives = work, .scale = work};
    expect_order("motor that varies", c, &e, 1e-11);
}

// The exact motion of x'' = -d x' - k (x - a sin(w t)) from rest, m = 1, by its own quadrature: RK4
// with steps of 0.1 ms, good to 1e-12. y: x, x', work of the servo, taken by the damper.
static void servo_rates(double t, const double* y, double* rates) {
    const double k = 40, d = 1.5, pull = k * (0.5 * sin(6 * t) - y[0]);
    rates[0] = y[1];
    rates[1] = pull - d * y[1];
    rates[2] = pull * y[1];
    rates[3] = d * y[1] * y[1];
}

static void servo_reference(double time, double* y) {
    const double h = 1e-4;
    const int n = (int)lround(time / h);
    for (int k = 0; k < 4; k++) y[k] = 0;
    for (int i = 0; i < n; i++) {
        double r[4][4], z[4];
        servo_rates(i * h, y, r[0]);
        for (int s = 1; s < 4; s++) {
            const double part = s < 3 ? h / 2 : h;
            for (int k = 0; k < 4; k++) z[k] = y[k] + part * r[s - 1][k];
            servo_rates(i * h + part, z, r[s]);
        }
        for (int k = 0; k < 4; k++) {
            y[k] += h / 6 * (r[0][k] + 2 * r[1][k] + 2 * r[2][k] + r[3][k]);
        }
    }
}

#define SLIDE(speed, axis)                                                                         \
    "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.1, " \
    "0.1, 0.1], \"mass\": 1, \"velocity\": [" speed                                                \
    ", 0, 0]}], \"joints\": [{\"type\": \"prismatic\", \"b\": \"b\", \"axis\": "                   \
    "[1, 0, 0], \"axes\": {\"tx\": {" axis "}}}]}"
#define SINE "{\"sine\": {\"amplitude\": 0.5, \"frequency\": 0.95492965855137202}}"

Test(energy_balance, a_servo_and_its_damping_are_a_drive_and_a_damper) {
    double y[4];
    servo_reference(0.9, y);
    const expected e = {.drives = y[2], .dampers = y[3], .scale = fabs(y[2]) + y[3]};
    const balance_case plain = {
        SLIDE("0", "\"servo\": " SINE ", \"servo_stiffness\": 40, \"servo_damping\": 1.5"), 0.9};
    const balance_case limited = {SLIDE("0", "\"servo\": " SINE ", \"servo_stiffness\": 40, "
                                             "\"servo_damping\": 1.5, \"max_force\": 1000"),
                                  0.9};
    expect_order("servo", plain, &e, 1e-9);
    expect_order_but(by_boxes, "servo below its limit", limited, &e, 1e-9);
}

// x = 0.5 sin(6 t) by a rigid servo, with a spring of 40 N/m, a damper of 1.5 N s/m and an armature
// of 0.5 kg on the axis: the drive does all the work.
Test(energy_balance, a_rigid_servo_does_the_work_of_all_parts_of_its_axis) {
    const balance_case c = {SLIDE("3",
                                  "\"servo\": " SINE ", \"servo_rigid\": true, \"armature\": 0.5, "
                                  "\"stiffness\": 40, \"damping\": 1.5, \"friction\": 0.7"),
                            0.9};
    const double t = 0.9, x = 0.5 * sin(6 * t), v = 3 * cos(6 * t);
    const double damper = 1.5 * 9 * (t / 2 + sin(12 * t) / 24);
    const double kinetic = 1.5 * (v * v - 9) / 2, spring = 40 * x * x / 2;
    const double length = 0.5 * (1 + 2 + (sin(6 * t) + 1)); // turns at 6 t = pi/2 and 3 pi/2
    const expected e = {.drives = kinetic + spring + damper + 0.7 * length,
                        .dampers = damper,
                        .friction = 0.7 * length,
                        .scale = damper + spring + fabs(kinetic)};
    expect_order_but(by_stages_or_boxes, "rigid servo", c, &e, 1e-9);
}

// A hinge driven at 2 rad/s against a friction of 0.4 N m: after the first step the torque of the
// drive is that of friction, and both do 0.4 N m times the angle.
Test(energy_balance, a_rate_drive_does_the_work_that_friction_takes) {
    const balance_case c = {
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.2, 0.2, 0.2], \"mass\": 3, \"angular_velocity\": [0, 2, 0]}], \"joints\": [{\"type\": "
        "\"hinge\", \"b\": \"b\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"motor_velocity\": 2, "
        "\"max_force\": 5, \"friction\": 0.4}}}]}",
        1};
    const expected e = {.drives = 0.8, .friction = 0.8, .scale = 0.8};
    expect_order("rate against friction", c, &e, 1e-9);
}

// ---- dampers -----------------------------------------------------------------------------------

// m = 1 kg, k = 25 N/m, d = 2 N s/m from x = 0.3 m at rest: x = e^-t (0.3 cos wt + 0.3/w sin wt),
// w^2 = 24. The rest length of the spring is -0.3 m, and the energy lost is the damper's.
Test(energy_balance, a_damper_takes_what_an_oscillator_loses) {
    const balance_case c = {SLIDE("0", "\"stiffness\": 25, \"rest\": -0.3, \"damping\": 2"), 1};
    const double w = sqrt(24), t = 1;
    const double x = exp(-t) * 0.3 * (cos(w * t) + sin(w * t) / w);
    const double v = -exp(-t) * 0.3 * (w + 1 / w) * sin(w * t);
    const double taken = 25 * 0.09 / 2 - 25 * x * x / 2 - v * v / 2;
    const expected e = {.dampers = taken, .scale = taken};
    expect_order("damped oscillator", c, &e, 1e-9);
}

// A ball joint at the centre of a cube, I = 1 kg m^2 about any axis, with dampers of 0.8 N m s/rad
// on all axes: the angular velocity falls as exp(-0.8 t) about a fixed axis.
Test(energy_balance, dampers_of_a_ball_take_the_energy_of_its_rotation) {
    const balance_case c = {
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.6, 0.6, 0.6], \"mass\": 16.666666666666667, \"angular_velocity\": [2, -1, 2]}], "
        "\"joints\": [{\"type\": \"ball\", \"b\": \"b\", \"frame\": [1, 0, 0, 0], \"axes\": "
        "{\"rx\": "
        "{\"damping\": 0.8}, \"ry\": {\"damping\": 0.8}, \"rz\": {\"damping\": 0.8}}}]}",
        0.8};
    const double taken = 9.0 / 2 * (1 - exp(-2 * 0.8 * 0.8));
    const expected e = {.dampers = taken, .scale = taken};
    expect_order("ball with dampers", c, &e, 1e-9);
}

// The same cube with dampers that differ by axis tumbles. Dampers are the only cause, and act on
// the angular velocity, not on the rate of the rotation vector: the rest converges only if they do.
Test(energy_balance, dampers_of_a_ball_that_tumbles_take_what_it_loses) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.6, 0.6, 0.6], \"mass\": 16.666666666666667, \"angular_velocity\": [2, -1, 2]}], "
        "\"joints\": [{\"type\": \"ball\", \"b\": \"b\", \"frame\": [1, 0, 0, 0], \"axes\": "
        "{\"rx\": "
        "{\"damping\": 0.2}, \"ry\": {\"damping\": 2.5}, \"rz\": {\"damping\": 0.8}}}]}";
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        const balance_case c = {text, 0.8};
        double rests[STEPS];
        for (int i = 0; i < STEPS; i++) {
            const mabd_energy_balance b = balance_run(&c, balance_methods[k], ldexp(step, -i));
            rests[i] = fabs(b.integrator) / b.dampers;
            cr_expect(b.dampers > 1);
        }
        const double order = order_of("tumbling ball", rests);
        cr_expect(order > 1.8 && rests[STEPS - 1] < 1e-4, "order %g", order);
    }
}

// ---- friction ----------------------------------------------------------------------------------

// A wheel of 1 kg m^2 at 3 rad/s, braked by 1.5 N m: after 1 s it has turned by 3 - 0.75 rad.
Test(energy_balance, a_brake_takes_torque_times_angle) {
    const balance_case c = {
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.6, 0.6, 0.6], \"mass\": 16.666666666666667, \"angular_velocity\": [0, 3, 0]}], "
        "\"joints\": [{\"type\": \"hinge\", \"b\": \"b\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": "
        "{\"friction\": 1.5}}}]}",
        1};
    const expected e = {.friction = 1.5 * 2.25, .scale = 1.5 * 2.25};
    expect_order("brake", c, &e, 1e-9);
}

// ---- drag --------------------------------------------------------------------------------------

// m v' = m g - c v: v = u (1 - exp(-t/T)), T = m/c = 0.2 s, u = g T. At ten T the speed is u and
// drag takes the power m g u.
Test(energy_balance, drag_takes_the_power_of_the_weight_at_terminal_speed) {
    const balance_case c = {"{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\":"
                            " \"sphere\", \"radius\": 0.1, \"mass\": 2, \"drag\": 10}]}",
                            2};
    const double T = 0.2, u = G * T, t = 2, fall = u * (t - T * (1 - exp(-t / T)));
    const double v = u * (1 - exp(-t / T));
    const expected e = {.drag = 2 * G * fall - v * v, .scale = 2 * G * fall};
    expect_order("drag of a fall", c, &e, 1e-9);
}

// Wind of 4 m/s on a body at rest that it takes along: m v' = c (u - v). Drag does
// -integral of c (u - v) v = -m v^2/2: it drives the body.
Test(energy_balance, wind_that_drives_a_body_counts_as_negative_drag) {
    const balance_case c = {
        "{\"gravity\": [0, 0, 0], \"wind\": {\"direction\": [1, 0, 0], "
        "\"strength\": 4}, \"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\","
        " \"radius\": 0.1, \"mass\": 2, \"drag\": 10}]}",
        0.5};
    const double v = 4 * (1 - exp(-0.5 / 0.2));
    const expected e = {.drag = -v * v, .scale = v * v};
    expect_order("wind", c, &e, 1e-9);
}

// ---- forces ------------------------------------------------------------------------------------

// A thruster of 5 N along y at the end of a lever of 0.4 m, on a wheel of 1 kg m^2 on a hinge at
// its centre: a torque of 2 N m, which turns with the body. And a torque of the world of 1 N m.
Test(energy_balance, forces_and_torques_do_the_work_of_their_points) {
    const balance_case c = {
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.6, "
        "0.6, 0.6], \"mass\": 16.666666666666667}], \"joints\": [{\"type\": \"hinge\", \"b\": "
        "\"b\", \"axis\": [0, 0, 1]}], \"forces\": [{\"body\": \"b\", \"force\": [0, 5, 0], "
        "\"point\": [0.4, 0, 0], \"frame\": \"body\"}, {\"body\": \"b\", \"torque\": [0, 0, 1]}]}",
        1};
    const expected e = {.forces = 3 * 1.5, .scale = 3 * 1.5};
    expect_order("thruster", c, &e, 1e-9);
}

Test(energy_balance, forces_for_one_step_do_the_work_of_the_step) {
    const char* text =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", "
        "\"size\": [0.6, 0.6, 0.6], \"mass\": 16.666666666666667}]}";
    const mabd_real force[3] = {5, 0, 2}, torque[3] = {0.5, 0, 1.5};
    const int32_t body = 0;
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        double errors[STEPS];
        for (int i = 0; i < STEPS; i++) {
            mabd_error error = {0};
            mabd_model* model = rig_text_model(text);
            const double h = ldexp(step, -i);
            mabd_sim* sim = balance_start(model, balance_methods[k], h);
            for (int n = 0; n < (int)lround(1 / h); n++) {
                rig_check(mabd_sim_apply_force(sim, 1, &body, force, torque, &error), &error,
                          "force");
                rig_step(sim);
            }
            const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
            const double work = 29 / (2 * 16.666666666666667) + 2.5 / 2; // F^2 t^2/(2 m), /(2 I)
            balance_check(sim);
            errors[i] = fmax(fabs(b.forces - work), fabs(b.integrator)) / work;
            rig_destroy(sim, model);
        }
        const double order = order_of("force for one step", errors);
        cr_expect(errors[STEPS - 1] < 1e-9 || order > 1.8, "order %g", order);
        cr_expect(errors[STEPS - 1] < 1e-3);
    }
}

// ---- scripts -----------------------------------------------------------------------------------

// A scripted block moves two rods on hinges, by 0.3 (1 - cos 4t) m and 0.5 (1 - cos 5t) rad from
// rest; a spring is on the hinge to the block. All energy comes from the script.
Test(energy_balance, a_script_does_all_the_work_on_what_hangs_on_it) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"s\", \"shape\": \"box\", \"size\": "
        "[0.1, 0.1, 0.1], \"script\": {\"direction\": [0.3, 0, 1], \"translation\": {\"sine\": "
        "{\"offset\": 0.3, \"amplitude\": -0.3, \"frequency\": 0.63661977236758138, \"phase\": "
        "1.5707963267948966}}, \"axis\": [0, 1, 0], \"angle\": {\"sine\": {\"offset\": 0.5, "
        "\"amplitude\": -0.5, \"frequency\": 0.79577471545947667, \"phase\": "
        "1.5707963267948966}}}},"
        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.4, 0.05, 0.05], \"position\": [0.2, 0, "
        "0]}, {\"name\": \"b\", \"shape\": \"box\", \"size\": [0.4, 0.05, 0.05], \"position\": "
        "[0.6, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"a\": \"s\", \"b\": \"a\", \"anchor\": "
        "[0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 3}}}, {\"type\": "
        "\"hinge\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0.4, 0, 0], \"axis\": [0, 1, 0]}]}";
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        const balance_case c = {text, 0.8};
        double rests[STEPS];
        for (int i = 0; i < STEPS; i++) {
            const mabd_energy_balance b = balance_run(&c, balance_methods[k], ldexp(step, -i));
            rests[i] = fabs(b.integrator) / fabs(b.scripts);
            cr_expect(fabs(b.scripts) > 0.5 && b.drives == 0 && b.forces == 0 && b.dampers == 0);
            cr_expect(b.friction == 0 && b.drag == 0 && b.impacts == 0);
        }
        const double order = order_of("script", rests);
        cr_expect(order > 1.8, "order %g", order);
        cr_expect(rests[STEPS - 1] < 1e-3);
    }
}

// A box of 2 kg on a slide along z on a block that rises at 2 m/s, with a motor of 30 N between
// them.
Test(energy_balance, a_motor_on_a_script_shares_the_work) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"s\", \"shape\": \"box\", \"size\": "
        "[0.1, 0.1, 0.1], \"script\": {\"direction\": [0, 0, 1], \"translation\": {\"ramp\": "
        "{\"to\": "
        "2, \"end\": 1}}}}, {\"name\": \"b\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], "
        "\"mass\": 2, \"velocity\": [0, 0, 2]}], \"joints\": [{\"type\": \"prismatic\", \"a\": "
        "\"s\", \"b\": \"b\", \"axis\": [0, 0, 1], \"axes\": {\"tx\": {\"motor\": 30}}}]}";
    // b: 2 z'' = 30 - 2 g, relative path a t^2/2; the script moves by 2 t against the motor's 30 N
    const double a = 15 - G, t = 0.8;
    const expected e = {.drives = 30 * a * t * t / 2, .scripts = 30 * 2 * t, .scale = 30 * 2 * t};
    const balance_case c = {text, t};
    expect_order("motor on a script", c, &e, 1e-9);
}

// ---- no cause ----------------------------------------------------------------------------------

Test(energy_balance, a_pendulum_has_no_cause_but_the_integrator) {
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        mabd_model* model = rig_file_model("scenes/pendulum.json", NULL, NULL);
        mabd_sim* sim = balance_start(model, balance_methods[k], 0.01);
        const mabd_measure start = mabd_sim_measure(sim);
        for (int i = 0; i < 100; i++) rig_step(sim);
        const mabd_measure end = mabd_sim_measure(sim);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        cr_expect(b.drives == 0 && b.scripts == 0 && b.forces == 0);
        cr_expect(b.dampers == 0 && b.friction == 0 && b.drag == 0 && b.impacts == 0);
        cr_expect(fabs(b.integrator - (start.energy - end.energy)) < 1e-13, "%g J for %g J",
                  (double)b.integrator, (double)(start.energy - end.energy));
        cr_expect(fabs(b.integrator) > 1e-7, "the pendulum must lose something: %g J",
                  (double)b.integrator);
        balance_check(sim);
        mabd_sim_reset(sim);
        cr_expect(mabd_sim_get_energy_balance(sim).kinetic == 0);
        rig_destroy(sim, model);
    }
}
