// SPDX-License-Identifier: Apache-2.0
// Controls along a free axis, on a block on a prismatic joint in a tilted frame, anchored off its
// centre. With the mass M = m + armature:
//
//   spring           M x'' = -k (x - rest)                   rest + A cos(w t - phase)
//   damper           M x'' = -d x'                           v M/d (1 - exp(-d t/M))
//   armature         M x'' = F                               F t^2 / 2M
//   all of them      M x'' = F - k (x - rest) - d x'         a damped oscillation
//   servo            adds kp (target(t) - x) - kd x'
//   motor            adds F(t)
//
// Each run is compared with two references: the closed form, where the error must fall with order
// 1.8 or more; and BDF2 applied to the same scalar equation, where it must be zero. The equation is
// linear, so only round-off and elasticity (force x lever^2 / V E: 1e-10 m) differ; tolerance 1e-8
// m.

#include "support/joint_rig.h"
#include "support/rig.h"

#define DURATION 1.5
#define H        0.01

static const double pi = 3.14159265358979323846;

// m x'' + d x' + k x = f + g t: x is a line plus the transient of the start (underdamped).
typedef struct oscillator {
    double mass, damping, stiffness;
} oscillator;

// Free motion from x, v.
static double swing(const oscillator* o, double x, double v, double t) {
    const double decay = o->damping / (2 * o->mass);
    const double w = sqrt(o->stiffness / o->mass - decay * decay);
    return exp(-decay * t) * (x * cos(w * t) + (v + decay * x) / w * sin(w * t));
}

// Response to the force f + g t, from x, v.
static double respond(const oscillator* o, double f, double g, double x, double v, double t) {
    const double slope = g / o->stiffness, offset = (f - o->damping * slope) / o->stiffness;
    return offset + slope * t + swing(o, x - offset, v - slope, t);
}

// ---- a case: its model and its expected motion -------------------------------------------------

typedef struct line_case {
    const char* name;
    mabd_axis_def axis;
    mabd_signal force; // on the block, along the axis
    double speed;      // at the start [m/s]
    double (*expected)(const struct line_case* c, double t);
    double (*push)(double t, const void* c); // force + rest and targets, for the scalar reference
} line_case;

static const block_def block_shape = {
    .sides = {0.3, 0.2, 0.12}, .place = {0.2, -0.1, 0.15}, .young = 1e12};

static oscillator oscillator_of(const line_case* c) {
    const bool servo = c->axis.servo.kind != MABD_SIGNAL_NONE;
    const oscillator o = {block_mass(&block_shape) + c->axis.armature,
                          c->axis.damping + (servo ? c->axis.servo_damping : 0),
                          c->axis.stiffness + (servo ? c->axis.servo_stiffness : 0)};
    return o;
}

static mabd_model* model_of(const line_case* c) {
    mabd_scene* scene = rig_scene(0);
    block_def def = block_shape;
    const double along[3] = {1, 0, 0};
    def.velocity[0] = c->speed;
    const int32_t body = block_add(scene, &def);
    joint_add_axis(scene, MABD_JOINT_PRISMATIC, MABD_WORLD, body, MABD_AXIS_TX, &c->axis);
    if (c->force.kind != MABD_SIGNAL_NONE) block_push(scene, body, along, NULL, c->force);
    return rig_model(scene);
}

typedef struct errors {
    double closed, discrete; // largest |x - reference| over the run [m]
} errors;

static errors run_case(const line_case* c, const mabd_model* model, double h) {
    const oscillator o = oscillator_of(c);
    const line_motion motion = {o.mass, o.stiffness, o.damping, c->push, c};
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    const int steps = (int)lround(DURATION / h), sample = (int)lround(0.05 / h);
    mabd_sim* sim = rig_sim(model, &def);
    errors e = {0, 0};
    for (int n = sample; n <= steps; n += sample) {
        joint_run(sim, sample);
        double x = 0, rate = c->speed;
        line_bdf2(&motion, h, n, &x, &rate);
        const double found = joint_coordinate(sim, 0, MABD_AXIS_TX);
        e.closed = fmax(e.closed, fabs(found - c->expected(c, n * h)));
        e.discrete = fmax(e.discrete, fabs(found - x));
    }
    mabd_sim_destroy(sim);
    return e;
}

static void check_case(const line_case* c) {
    mabd_model* model = model_of(c);
    double closed[4];
    for (int k = 0; k < 4; k++) {
        const errors e = run_case(c, model, ldexp(H, -k));
        closed[k] = e.closed;
        cr_expect(e.discrete < 1e-8, "%s: %g m from BDF2 of the scalar equation", c->name,
                  e.discrete);
    }
    const double order = rig_order(c->name, H, 4, closed);
    cr_expect(order >= 1.8, "%s: order %g", c->name, order);
    cr_expect(closed[3] < 2e-4, "%s: error %g", c->name, closed[3]);
    mabd_model_destroy(model);
}

// ---- spring, damper, armature ------------------------------------------------------------------

static double constant_push(double t, const void* context) {
    const line_case* c = context;
    (void)t;
    return c->axis.stiffness * c->axis.rest + c->force.value;
}

static double spring_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    return respond(&o, constant_push(t, c), 0, 0, c->speed, t);
}

Test(controls_line, a_spring_swings_about_its_rest) {
    const line_case c = {.name = "spring",
                         .axis = {.stiffness = 400, .rest = 0.1},
                         .speed = 0.4,
                         .expected = spring_expected,
                         .push = constant_push};
    check_case(&c);
}

static double damper_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    return c->speed * o.mass / o.damping * (1 - exp(-o.damping * t / o.mass));
}

Test(controls_line, a_damper_takes_the_speed_away) {
    const line_case c = {.name = "damper",
                         .axis = {.damping = 20},
                         .speed = 2,
                         .expected = damper_expected,
                         .push = constant_push};
    check_case(&c);
}

// F t^2 / 2M: exact for BDF2.
static double armature_expected(const line_case* c, double t) {
    return c->force.value / oscillator_of(c).mass * t * t / 2;
}

Test(controls_line, armature_adds_to_the_mass) {
    const line_case c = {.axis = {.armature = 5},
                         .force = mabd_signal_constant(30),
                         .expected = armature_expected,
                         .push = constant_push};
    mabd_model* model = model_of(&c);
    const errors e = run_case(&c, model, H);
    cr_expect(e.closed < 1e-8, "%g", e.closed);
    cr_expect(e.discrete < 1e-8, "%g", e.discrete);
    mabd_model_destroy(model);
}

Test(controls_line, spring_damper_and_armature_act_together_under_load) {
    const line_case c = {.name = "all",
                         .axis = {.stiffness = 300, .rest = -0.05, .damping = 12, .armature = 3},
                         .force = mabd_signal_constant(40),
                         .speed = -0.5,
                         .expected = spring_expected,
                         .push = constant_push};
    check_case(&c);
}

// ---- servos ------------------------------------------------------------------------------------

static double value_of(const mabd_signal* s, double t) {
    if (s->kind == MABD_SIGNAL_CONSTANT) return s->value;
    if (s->kind == MABD_SIGNAL_SINE) {
        return s->value + s->amplitude * sin(2 * pi * s->frequency * t + s->phase);
    }
    if (s->kind == MABD_SIGNAL_RAMP) {
        const double u = fmin(1, fmax(0, (t - s->start) / (s->end - s->start)));
        return s->value + u * (s->value_end - s->value);
    }
    int i = 0;
    while (i + 1 < s->point_count && s->times[i + 1] < t) i++;
    if (t <= s->times[0]) return s->values[0];
    if (i + 1 == s->point_count) return s->values[i];
    const double u = (t - s->times[i]) / (s->times[i + 1] - s->times[i]);
    return s->values[i] + u * (s->values[i + 1] - s->values[i]);
}

static double servo_push(double t, const void* context) {
    const line_case* c = context;
    return c->axis.servo_stiffness * value_of(&c->axis.servo, t) + constant_push(t, c);
}

static double step_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    return respond(&o, servo_push(0, c), 0, 0, c->speed, t);
}

Test(controls_line, a_servo_goes_to_a_constant_target) {
    const line_case c = {
        .name = "servo, constant",
        .axis = {.servo = mabd_signal_constant(0.3), .servo_stiffness = 500, .servo_damping = 40},
        .force = mabd_signal_constant(-25),
        .expected = step_expected,
        .push = servo_push};
    check_case(&c);
}

// kp A sin(u t + p): the response lags by the phase of 1/(k - m u^2 + i d u).
static double sine_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    const mabd_signal* s = &c->axis.servo;
    const double u = 2 * pi * s->frequency;
    const double real = o.stiffness - o.mass * u * u, imaginary = o.damping * u;
    const double size = c->axis.servo_stiffness * s->amplitude / hypot(real, imaginary);
    const double phase = s->phase - atan2(imaginary, real);
    const double rest = (c->axis.servo_stiffness * s->value + constant_push(t, c)) / o.stiffness;
    return rest + size * sin(u * t + phase) +
           swing(&o, -rest - size * sin(phase), c->speed - size * u * cos(phase), t);
}

Test(controls_line, a_servo_follows_a_sine_with_the_lag_of_its_frequency_response) {
    const line_case c = {.name = "servo, sine",
                         .axis = {.servo = signal_sine(0.1, 0.2, 1.1, 0.7),
                                  .servo_stiffness = 500,
                                  .servo_damping = 40,
                                  .stiffness = 80,
                                  .rest = 0.05},
                         .expected = sine_expected,
                         .push = servo_push};
    check_case(&c);
}

// Piecewise linear targets: the response to each change of slope, added up.
static double ramps_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    const mabd_signal* s = &c->axis.servo;
    const double kp = c->axis.servo_stiffness;
    const double two_times[2] = {s->start, s->end}, two_values[2] = {s->value, s->value_end};
    const bool ramp = s->kind == MABD_SIGNAL_RAMP;
    const double* times = ramp ? two_times : s->times;
    const double* values = ramp ? two_values : s->values;
    const int n = ramp ? 2 : s->point_count;
    double x = respond(&o, kp * values[0] + constant_push(t, c), 0, 0, c->speed, t), last = 0;
    for (int i = 0; i < n; i++) {
        const double slope =
            i + 1 < n ? (values[i + 1] - values[i]) / (times[i + 1] - times[i]) : 0;
        if (t > times[i]) x += respond(&o, 0, kp * (slope - last), 0, 0, t - times[i]);
        last = slope;
    }
    return x;
}

Test(controls_line, a_servo_trails_a_ramp) {
    const line_case c = {.name = "servo, ramp",
                         .axis = {.servo = signal_ramp(0.1, 0.7, 0.2, 1),
                                  .servo_stiffness = 500,
                                  .servo_damping = 40},
                         .expected = ramps_expected,
                         .push = servo_push};
    check_case(&c);
}

Test(controls_line, a_servo_follows_a_table) {
    static const mabd_real times[] = {0.1, 0.3, 0.5, 1.1}, values[] = {0, 0.3, 0.2, 0.5};
    const line_case c = {.name = "servo, table",
                         .axis = {.servo = {.kind = MABD_SIGNAL_TABLE,
                                            .point_count = 4,
                                            .times = times,
                                            .values = values},
                                  .servo_stiffness = 500,
                                  .servo_damping = 40},
                         .expected = ramps_expected,
                         .push = servo_push};
    check_case(&c);
}

// kp (target - x) = load, and the lag behind a ramp of speed v is (kd v)/kp.
Test(controls_line, a_servo_at_rest_carries_its_load_and_lags_by_its_damping) {
    const double kp = 800, kd = 160, load = -37;
    for (int ramp = 0; ramp < 2; ramp++) {
        const line_case c = {
            .axis = {.servo = ramp ? signal_ramp(0, 100, 0, 200) : mabd_signal_constant(0.2),
                     .servo_stiffness = kp,
                     .servo_damping = kd},
            .force = mabd_signal_constant(load)};
        mabd_model* model = model_of(&c);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real wrench[6];
        joint_run(sim, 500);
        const double target = ramp ? 2.5 : 0.2, lag = ramp ? kd * 0.5 / kp : 0;
        const double found = joint_coordinate(sim, 0, MABD_AXIS_TX);
        cr_expect(fabs(found - (target - lag + load / kp)) < 1e-9, "%.12g", found);
        mabd_sim_get_joint_forces(sim, wrench);
        cr_expect(fabs(joint_component(wrench, 0) + load) < 1e-6, "force %.12g",
                  joint_component(wrench, 0));
        rig_destroy(sim, model);
    }
}

// ---- motors ------------------------------------------------------------------------------------

static double motor_push(double t, const void* context) {
    const line_case* c = context;
    return value_of(&c->axis.motor, t) + constant_push(t, c);
}

static double motor_expected(const line_case* c, double t) {
    const mabd_signal* s = &c->axis.motor;
    const double u = 2 * pi * s->frequency, mass = oscillator_of(c).mass;
    return s->amplitude / (mass * u * u) * (u * t - sin(u * t)) + s->value * t * t / (2 * mass) +
           c->speed * t;
}

Test(controls_line, a_motor_pushes_over_time) {
    const line_case c = {.name = "motor, sine",
                         .axis = {.motor = signal_sine(10, 60, 1.3, 0)},
                         .speed = -0.3,
                         .expected = motor_expected,
                         .push = motor_push};
    check_case(&c);
}

// m x'' = F - k x: the motor acts beside the spring on one axis.
static double motor_spring_expected(const line_case* c, double t) {
    const oscillator o = oscillator_of(c);
    return respond(&o, motor_push(t, c), 0, 0, 0, t);
}

Test(controls_line, a_motor_acts_beside_a_spring) {
    const line_case c = {
        .name = "motor and spring",
        .axis = {.motor = mabd_signal_constant(45), .stiffness = 350, .damping = 5},
        .expected = motor_spring_expected,
        .push = motor_push};
    check_case(&c);
}

// ---- rigid servo -------------------------------------------------------------------------------

// x = A - A cos(u t): starts at rest. The joint pushes with m x'' - load; compared from 0.2 s on,
// when the start error of BDF2 has decayed.
Test(controls_line, a_rigid_servo_meets_its_target_with_the_force_it_takes) {
    const double size = 0.15, u = 2 * pi * 0.8, load = 33, mass = block_mass(&block_shape);
    const line_case c = {
        .axis = {.servo = signal_sine(size, size, 0.8, -pi / 2), .servo_rigid = true},
        .force = mabd_signal_constant(load)};
    mabd_model* model = model_of(&c);
    double force_error[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
        mabd_sim* sim = rig_sim(model, &def);
        force_error[k] = 0;
        for (int n = 1; n <= (int)lround(DURATION / h); n++) {
            mabd_real wrench[6];
            joint_run(sim, 1);
            const double t = n * h, x = joint_coordinate(sim, 0, MABD_AXIS_TX);
            cr_assert(fabs(x - size * (1 - cos(u * t))) < 1e-9, "step %d: %.12g", n, x);
            if (t < 0.2) continue;
            mabd_sim_get_joint_forces(sim, wrench);
            const double expected = mass * size * u * u * cos(u * t) - load;
            force_error[k] = fmax(force_error[k], fabs(joint_component(wrench, 0) - expected));
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("force of a rigid servo", H, 3, force_error);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(force_error[2] < 0.1, "%g N", force_error[2]);
    mabd_model_destroy(model);
}

// ---- two moving bodies, energy -----------------------------------------------------------------

// Two blocks on one line with a spring between them: the reduced mass oscillates, the common centre
// is fixed.
Test(controls_line, a_spring_between_two_bodies_swings_with_their_reduced_mass) {
    const block_def a = {.sides = {0.3, 0.2, 0.12}, .place = {-0.2, 0, 0}, .young = 1e12};
    const block_def b = {.sides = {0.1, 0.2, 0.15}, .place = {0.3, 0, 0}, .young = 1e12};
    const mabd_axis_def spring = {.stiffness = 300, .rest = 0.12};
    mabd_scene* scene = rig_scene(0);
    const int32_t first = block_add(scene, &a), second = block_add(scene, &b);
    joint_add_axis(scene, MABD_JOINT_PRISMATIC, first, second, MABD_AXIS_TX, &spring);
    mabd_model* model = rig_model(scene);
    const double mass = 1 / (1 / block_mass(&a) + 1 / block_mass(&b)), w = sqrt(300 / mass);
    double error[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(H / 2, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
        mabd_sim* sim = rig_sim(model, &def);
        error[k] = 0;
        for (int n = 1; n <= (int)lround(1 / h); n++) {
            joint_run(sim, 1);
            const double x = joint_coordinate(sim, 0, MABD_AXIS_TX);
            error[k] = fmax(error[k], fabs(x - 0.12 * (1 - cos(w * n * h))));
        }
        cr_expect(rig_norm(mabd_sim_measure(sim).linear_momentum) < 1e-10);
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("two bodies", H / 2, 3, error);
    cr_expect(order >= 1.8, "order %g", order);
    mabd_model_destroy(model);
}

// Kinetic energy (with armature) plus spring energy is constant except for BDF2's loss.
Test(controls_line, energy_of_spring_and_mass_is_conserved_to_second_order) {
    const line_case c = {.axis = {.stiffness = 250, .rest = 0.1, .armature = 2}, .speed = 1};
    const double mass = oscillator_of(&c).mass, start = mass / 2 + 250 * 0.1 * 0.1 / 2;
    mabd_model* model = model_of(&c);
    double loss[4];
    for (int k = 0; k < 4; k++) {
        const double h = ldexp(H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_measure before = mabd_sim_measure(sim);
        cr_expect(fabs(before.energy - start) < 1e-12 * start, "%.12g for %.12g", before.energy,
                  start);
        loss[k] = 0;
        for (int n = 1; n <= (int)lround(1 / h); n++) {
            mabd_real velocity[3];
            joint_run(sim, 1);
            const mabd_measure now = mabd_sim_measure(sim);
            const double x = joint_coordinate(sim, 0, MABD_AXIS_TX) - 0.1;
            mabd_sim_get_state(sim, NULL, NULL, velocity, NULL);
            const double v = joint_component(velocity, 0);
            cr_assert(fabs(now.spring - 125 * x * x) < 1e-9 * start);
            cr_assert(fabs(now.kinetic - mass * v * v / 2) < 1e-6 * start);
            cr_assert(now.energy < start * (1 + 1e-9), "energy grows");
            loss[k] = fmax(loss[k], start - now.energy);
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("energy of a spring", H, 4, loss);
    cr_expect(order >= 1.8, "order %g", order);
    mabd_model_destroy(model);
}
