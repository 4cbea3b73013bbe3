// SPDX-License-Identifier: Apache-2.0
// Controls and forces that jump, on one mass of which the motion is known (src/formulation/affine/
// jumps.c). Between two jumps the force is constant:
//   oscillator   m x'' = f - k x      x = f/k + (x0 - f/k) cos wt + (v0/w) sin wt
//   wind         m x'' = d (u - x')   v = u + (v0 - u) e, x = u t + (v0 - u)(1 - e) m/d,
//                                     e = exp(-d t/m)
// The error must be of second order, however the force is given. BDF2 with its history is of first
// order; a table with a ramp of 1 ns, which is no jump to the integrator, shows it.

#include "mabd/batch.h"
#include "support/axis_rig.h"

#define PERIODS   12
#define PERIOD    0.08
#define STIFFNESS 1500.0
#define DRAG      60.0

static const double pi = 3.14159265358979323846;

/// Ways to give the force.
typedef enum given {
    BY_FORCE,
    BY_MOTOR,
    BY_SERVO,
    BY_TARGET,      // of the servo, from outside
    BY_MOTOR_VALUE, // of the motor, from outside
    BY_APPLIED,     // forces for one step
    BY_WIND,
    WAYS
} given;
static const char* const ways[WAYS] = {"force",       "motor",   "servo", "target",
                                       "motor value", "applied", "wind"};

// The force in a period [N], or the speed of the wind times the drag.
static double force_of(int period) {
    const double x = sin(12.9898 * (period + 1)) * 43758.5453;
    return 300 * (2 * (x - floor(x)) - 1);
}

// Points of a signal: the values of the periods, as steps or as ramps of 1 ns.
typedef struct points {
    mabd_real times[2 * PERIODS], values[2 * PERIODS];
} points;

static mabd_signal signal_of(points* p, double scale, double delay, bool steps) {
    int n = 0;
    for (int i = 0; i < PERIODS; i++) {
        if (!steps && i > 0) {
            p->times[n] = PERIOD * i + delay, p->values[n++] = scale * force_of(i - 1);
        }
        p->times[n] = PERIOD * i + (i > 0 ? delay : 0) + (steps ? 0 : 1e-9);
        p->values[n++] = scale * force_of(i);
    }
    return (mabd_signal){.kind = steps ? MABD_SIGNAL_STEPS : MABD_SIGNAL_TABLE,
                         .point_count = n,
                         .times = p->times,
                         .values = p->values};
}

// A mass on a slide along x, driven by a signal.
static mabd_model* slider(given by, double stiffness, double delay, bool steps) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    points p;
    const mabd_signal force = signal_of(&p, 1, delay, steps), zero = mabd_signal_constant(0);
    mabd_axis_def axis = {.stiffness = by == BY_WIND ? 0 : stiffness};
    if (by == BY_MOTOR) axis.motor = force;
    if (by == BY_MOTOR_VALUE) axis.motor = zero;
    if (by == BY_SERVO || by == BY_TARGET) { // k (target - x)
        axis.servo_stiffness = stiffness, axis.stiffness = 0;
        axis.servo = by == BY_TARGET ? zero : signal_of(&p, 1 / stiffness, delay, steps);
    }
    const mabd_real size[3] = {AXIS_LENGTH, AXIS_WIDTH, AXIS_WIDTH}, x[3] = {1, 0, 0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.drag = by == BY_WIND ? DRAG : 0;
    const int32_t mass = rig_add_body(scene, &body);
    axis_add_joint(scene, true, MABD_WORLD, mass, 0, &axis);
    if (by == BY_FORCE) {
        const mabd_force_def def = {.body = mass, .force = {1, 0, 0}, .signal = force};
        rig_check(mabd_scene_add_force(scene, &def, &error), &error, "force");
    }
    if (by == BY_WIND) {
        const mabd_signal wind = signal_of(&p, 1 / DRAG, delay, steps);
        rig_check(mabd_scene_set_wind(scene, x, &wind, &error), &error, "wind");
    }
    return rig_model(scene);
}

static void act(mabd_sim* sim, given by, double force) {
    mabd_error error = {0};
    const int32_t body = 0;
    const mabd_real value = by == BY_TARGET ? force / STIFFNESS : force, wrench[3] = {force};
    if (by == BY_TARGET || by == BY_MOTOR_VALUE) {
        rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &value, &error), &error, "target");
    } else if (by == BY_APPLIED) {
        rig_check(mabd_sim_apply_force(sim, 1, &body, wrench, NULL, &error), &error, "force");
    }
}

// Exact motion over time t under a constant force.
static void move(given by, double stiffness, double force, double t, double* x, double* v) {
    if (by == BY_WIND) {
        const double u = force / DRAG, e = exp(-DRAG * t / AXIS_MASS), v0 = *v;
        *x += u * t + (v0 - u) * (1 - e) * AXIS_MASS / DRAG;
        *v = u + (v0 - u) * e;
    } else if (stiffness > 0) {
        const double w = sqrt(stiffness / AXIS_MASS), rest = force / stiffness;
        const double c = cos(w * t), s = sin(w * t), x0 = *x - rest, v0 = *v;
        *x = rest + x0 * c + v0 / w * s;
        *v = v0 * c - w * x0 * s;
    } else {
        *x += *v * t + force * t * t / (2 * AXIS_MASS);
        *v += force * t / AXIS_MASS;
    }
}

// Position and speed of the first body along x.
static double position_of(const mabd_sim* sim) {
    mabd_real position[6]; // of up to two bodies
    mabd_sim_get_state(sim, position, NULL, NULL, NULL);
    return position[0];
}
static double velocity_of(const mabd_sim* sim) {
    mabd_real velocity[6];
    mabd_sim_get_state(sim, NULL, NULL, velocity, NULL);
    return velocity[0];
}

// Largest error of the position at the ends of the periods; jumps are `delay` after them.
static double error_of(given by, double stiffness, double delay, bool steps, double h,
                       mabd_integrator integrator) {
    mabd_model* model = slider(by, stiffness, delay, steps);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    double x = 0, v = 0, worst = 0;
    for (int i = 0; i < PERIODS; i++) {
        if (i > 0) move(by, stiffness, force_of(i - 1), delay, &x, &v);
        move(by, stiffness, force_of(i), PERIOD - (i > 0 ? delay : 0), &x, &v);
        for (int s = 0; s < (int)lround(PERIOD / h); s++) {
            act(sim, by, force_of(i));
            rig_step(sim);
        }
        worst = fmax(worst, fabs(position_of(sim) - x));
    }
    rig_destroy(sim, model);
    return worst;
}

Test(jumps, every_way_to_switch_a_force_is_of_second_order) {
    static const mabd_integrator integrators[] = {MABD_INTEGRATOR_BDF2,
                                                  MABD_INTEGRATOR_BDF2_LINEAR};
    for (int k = 0; k < 2 * WAYS; k++) {
        const given by = (given)(k / 2);
        double errors[3];
        for (int i = 0; i < 3; i++) {
            errors[i] = error_of(by, STIFFNESS, 0, true, 0.01 / (1 << i), integrators[k % 2]);
        }
        cr_expect(lt(dbl, 1.8, rig_order(ways[by], 0.01, 3, errors)), "%s", ways[by]);
    }
}

// The same signals as tables, whose jumps the integrator does not see.
Test(jumps, history_over_a_jump_is_of_first_order) {
    static const given by[] = {BY_FORCE, BY_MOTOR, BY_SERVO, BY_WIND};
    for (int k = 0; k < 4; k++) {
        double errors[3];
        for (int i = 0; i < 3; i++) {
            errors[i] = error_of(by[k], STIFFNESS, 0, false, 0.01 / (1 << i), MABD_INTEGRATOR_BDF2);
        }
        cr_expect(lt(dbl, rig_order(ways[by[k]], 0.01, 3, errors), 1.4), "%s", ways[by[k]]);
        const double seen = error_of(by[k], STIFFNESS, 0, true, 0.01 / 4, MABD_INTEGRATOR_BDF2);
        cr_expect(lt(dbl, 10 * seen, errors[2]), "%s", ways[by[k]]);
    }
}

// Without a spring a step by SDIRK2 is exact for a constant force: x and v to round-off.
Test(jumps, a_free_mass_under_steps_moves_exactly) {
    cr_expect(lt(dbl, error_of(BY_FORCE, 0, 0, true, 0.01, MABD_INTEGRATOR_BDF2), 1e-12));
    cr_expect(lt(dbl, error_of(BY_APPLIED, 0, 0, true, 0.01, MABD_INTEGRATOR_BDF2), 1e-12));
}

// A step with a jump inside has the mean of the force, so its impulse is exact. The position is
// then off by (f1 - f0) h^2 p (1 - p)/2m for a jump after the part p of the step, and by no more
// later.
Test(jumps, inside_a_step_keep_the_impulse) {
    const double h = 0.01, delay = 0.0137;
    mabd_model* model = slider(BY_FORCE, 0, delay, true);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    double x = 0, v = 0, bound = 0;
    for (int i = 0; i < PERIODS; i++) {
        if (i > 0) {
            move(BY_FORCE, 0, force_of(i - 1), delay, &x, &v);
            bound += fabs(force_of(i) - force_of(i - 1)) * h * h / (8 * AXIS_MASS);
        }
        move(BY_FORCE, 0, force_of(i), PERIOD - (i > 0 ? delay : 0), &x, &v);
        rig_run(sim, (int)lround(PERIOD / h));
        cr_expect(lt(dbl, fabs(velocity_of(sim) - v), 1e-12), "period %d", i);
        cr_expect(le(dbl, fabs(position_of(sim) - x), bound + 1e-12), "period %d", i);
    }
    rig_destroy(sim, model);
}

// With a spring: sixteen times as many steps, less than a hundredth of the error.
Test(jumps, inside_a_step_are_of_second_order) {
    const double coarse = error_of(BY_FORCE, STIFFNESS, 0.0137, true, 0.01, MABD_INTEGRATOR_BDF2);
    const double fine =
        error_of(BY_FORCE, STIFFNESS, 0.0137, true, 0.01 / 16, MABD_INTEGRATOR_BDF2);
    printf("jumps inside steps: %.2e m at 10 ms, %.2e m at 0.625 ms\n", coarse, fine);
    cr_expect(lt(dbl, 100 * fine, coarse));
}

// A drive for the speed: held speeds give x exactly, x_{n+1} = x_n + h u; BDF2 with history lags by
// (h/3)(u1 - u0).
Test(jumps, the_rate_of_a_drive_is_held_exactly) {
    const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(0)}, .slide = true};
    mabd_model* model = axis_model(&c);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    double x = 0;
    for (int i = 0; i < PERIODS; i++) {
        const mabd_real u = force_of(i) / 300;
        rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &u, &error), &error, "target");
        for (int s = 0; s < 4; s++) rig_step(sim);
        x += 4 * 0.005 * u;
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - x), 1e-9), "period %d", i);
    }
    rig_destroy(sim, model);
}

// ---- no jumps ----------------------------------------------------------------------------------

// Setting a target, or applying a force, that is as before changes nothing: same bits.
Test(jumps, the_same_value_again_is_none) {
    static const given by[] = {BY_TARGET, BY_MOTOR_VALUE};
    for (int k = 0; k < 2; k++) {
        mabd_model* model = slider(by[k], STIFFNESS, 0, true);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
        mabd_sim *once = rig_sim(model, &def), *often = rig_sim(model, &def);
        for (int i = 0; i < 40; i++) {
            if (i == 0 || i == 20) act(once, by[k], force_of(i / 20));
            act(often, by[k], force_of(i / 20));
            const mabd_step_info a = rig_step(once), b = rig_step(often);
            cr_assert(position_of(once) == position_of(often), "step %d", i);
            cr_assert(velocity_of(once) == velocity_of(often), "step %d", i);
            cr_assert(eq(i32, a.iterations, i % 20 == 0 ? 2 : 1), "step %d", i);
            cr_assert(eq(i32, b.iterations, a.iterations), "step %d", i);
        }
        mabd_sim_destroy(often);
        rig_destroy(once, model);
    }
}

// A force that is applied again takes one solve; a change of it, and its end, take two.
Test(jumps, the_same_force_again_is_none) {
    mabd_model* model = slider(BY_APPLIED, STIFFNESS, 0, true);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 30; i++) {
        if (i < 20) act(sim, BY_APPLIED, i < 10 ? 100 : 120);
        const int32_t solves = i == 0 || i == 10 || i == 20 ? 2 : 1;
        cr_expect(eq(i32, rig_step(sim).iterations, solves), "step %d", i);
    }
    rig_destroy(sim, model);
}

// A target from outside that equals the signal it replaces, and a signal of equal values.
Test(jumps, a_value_that_stays_is_none) {
    mabd_model* model = slider(BY_MOTOR_VALUE, STIFFNESS, 0, true); // the motor has 0
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_sim *plain = rig_sim(model, &def), *set = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_real speed[3] = {0.4, 0, 0}, spin[3] = {0};
    rig_check(mabd_sim_set_state(plain, NULL, NULL, speed, spin, &error), &error, "state");
    rig_check(mabd_sim_set_state(set, NULL, NULL, speed, spin, &error), &error, "state");
    for (int i = 0; i < 30; i++) {
        if (i == 10) act(set, BY_MOTOR_VALUE, 0);
        if (i == 20) rig_check(mabd_sim_clear_targets(set, 0, 1, &error), &error, "clear");
        if (i == 15) act(set, BY_APPLIED, 0);
        rig_step(plain), rig_step(set);
        cr_assert(position_of(plain) == position_of(set), "step %d", i);
    }
    mabd_sim_destroy(set);
    rig_destroy(plain, model);
}

// A cart on a slide follows x = a sin wt by a rigid servo, and carries a rod on a hinge whose
// torque jumps. Returns the largest error of the speed of the cart. outside: a program sets the
// target of the end of every step before it; else the servo has a signal.
static double path_error(bool outside, double h) {
    const double a = 0.1, w = 8;
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    const mabd_signal sine = {.kind = MABD_SIGNAL_SINE, .amplitude = a, .frequency = w / (2 * pi)};
    const mabd_axis_def rigid = {.servo = sine, .servo_rigid = true};
    const mabd_axis_def motor = {.motor = mabd_signal_constant(0)};
    const bool which[2] = {outside, true};
    const int32_t cart = rig_add_rod(scene, 0, 1, 0.1, 0), rod = rig_add_rod(scene, 1, 1, 0.1, 0);
    axis_add_joint(scene, true, MABD_WORLD, cart, 0, &rigid);
    axis_add_joint(scene, false, cart, rod, 1, &motor);
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.integrator = MABD_INTEGRATOR_BDF2;
    mabd_sim* sim = rig_sim(model, &def);
    double worst = 0;
    for (int i = 0; i * h < 1; i++) {
        const double t = h * (i + 1);
        const mabd_real values[2] = {a * sin(w * t), 0.2 * force_of(i / 5) / 300};
        rig_check(mabd_sim_set_targets(sim, 0, 1, which, values, &error), &error, "targets");
        rig_step(sim);
        if (i > 10) worst = fmax(worst, fabs(velocity_of(sim) - a * w * cos(w * t)));
    }
    rig_destroy(sim, model);
    return worst;
}

// The error of BDF2 is a w^3 h^2/3, also in the steps in which the torque jumps. A target that is
// held for the whole step would give -4.8 times the speed there.
Test(jumps, a_rigid_servo_follows_its_path_over_jumps_of_others) {
    for (int k = 0; k < 4; k++) {
        const double h = k % 2 ? 0.001 : 0.002, worst = path_error(k / 2 == 1, h);
        printf("%s, h %g ms: speed off by %.2e m/s\n", k / 2 ? "target" : "signal", 1e3 * h, worst);
        cr_expect(lt(dbl, worst, 0.1 * 8 * 8 * 8 * h * h));
    }
}
