// SPDX-License-Identifier: Apache-2.0
// Controls about a free axis: hinges, universal joints and ball joints in a tilted frame, axes off
// the centre of mass.
//
//   hinge       I x'' = T(t) - k (x - rest) - d x',  I = moment about the axis + armature; any
//               number of turns
//   universal   R = turn(a about x of the base) turn(b about y of the follower), centre fixed:
//               d/dt (J a') = -k1 a,   I_y b'' = (I_z - I_x) sin b cos b a'^2 - k2 b,
//               J = I_x cos^2 b + I_z sin^2 b
//   ball        equal springs on all axes: torque = -k phi, phi the rotation vector; a body with
//               equal moments oscillates about any axis as I phi'' = -k phi, at any angle
//
// Rotations are not linear in the affine coordinates: errors against these references must fall
// with order 1.8 or more. Young's modulus is 1e12 Pa, because the bodies of the references are
// rigid.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#define H 0.005

static const double pi = 3.14159265358979323846;
static const block_def off_axis = {
    .sides = {0.3, 0.2, 0.12}, .place = {0.1, -0.12, 0.15}, .young = 1e12};

static double hinge_inertia(void) {
    const double y = off_axis.place[1], z = off_axis.place[2];
    return block_inertia(&off_axis, 0) + block_mass(&off_axis) * (y * y + z * z);
}

// ---- hinge -------------------------------------------------------------------------------------

typedef struct turn_case {
    const char* name;
    mabd_axis_def axis;
    double speed, duration, h;
    double (*expected)(const struct turn_case* c, double t);
} turn_case;

static mabd_model* hinge_model(const turn_case* c) {
    mabd_scene* scene = rig_scene(0);
    block_def def = off_axis;
    def.spin[0] = c->speed; // centre: spin x place
    def.velocity[1] = -c->speed * def.place[2];
    def.velocity[2] = c->speed * def.place[1];
    joint_add_axis(scene, MABD_JOINT_HINGE, MABD_WORLD, block_add(scene, &def), MABD_AXIS_RX,
                   &c->axis);
    return rig_model(scene);
}

static double hinge_error(const turn_case* c, const mabd_model* model, double h) {
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    double worst = 0;
    for (int n = 1; n <= (int)lround(c->duration / h); n++) {
        joint_run(sim, 1);
        const double x = joint_coordinate(sim, 0, MABD_AXIS_RX);
        worst = fmax(worst, fabs(x - c->expected(c, n * h)));
    }
    mabd_sim_destroy(sim);
    return worst;
}

static void check_hinge(const turn_case* c) {
    mabd_model* model = hinge_model(c);
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = hinge_error(c, model, ldexp(c->h, -k));
    const double order = rig_order(c->name, c->h, 3, error);
    cr_expect(order >= 1.8, "%s: order %g", c->name, order);
    cr_expect(error[2] < 5e-4 * fabs(c->speed) + 5e-4, "%s: error %g", c->name, error[2]);
    mabd_model_destroy(model);
}

static double spring_expected(const turn_case* c, double t) {
    const double k = c->axis.stiffness, w = sqrt(k / (hinge_inertia() + c->axis.armature));
    const double rest = c->axis.rest;
    return rest - rest * cos(w * t) + c->speed / w * sin(w * t);
}

Test(controls_turn, a_spring_swings_a_hinge) {
    const turn_case c = {"hinge spring", {.stiffness = 8, .rest = 0.4}, 3, 1, H, spring_expected};
    check_hinge(&c);
}

// Amplitude speed/w: 4 turns to one side.
Test(controls_turn, a_spring_winds_up_over_several_turns) {
    const turn_case c = {"hinge over turns", {.stiffness = 0.1, .armature = 0.2}, 12, 4, H / 4,
                         spring_expected};
    const double w = sqrt(0.1 / (hinge_inertia() + 0.2));
    cr_assert(lt(dbl, 4 * pi, c.speed / w));
    check_hinge(&c);
}

static double damper_expected(const turn_case* c, double t) {
    const double rate = c->axis.damping / hinge_inertia();
    return c->speed / rate * (1 - exp(-rate * t));
}

Test(controls_turn, a_damper_slows_a_hinge) {
    const turn_case c = {"hinge damper", {.damping = 0.5}, 4, 1, H, damper_expected};
    check_hinge(&c);
}

static double motor_expected(const turn_case* c, double t) {
    const double inertia = hinge_inertia() + c->axis.armature;
    return c->speed * t + c->axis.motor.value / inertia * t * t / 2;
}

Test(controls_turn, a_motor_turns_a_hinge_against_its_armature) {
    const turn_case c = {"hinge motor",
                         {.motor = {.kind = MABD_SIGNAL_CONSTANT, .value = 1.5}, .armature = 0.3},
                         -1,
                         1,
                         H,
                         motor_expected};
    check_hinge(&c);
}

static double sine_expected(const turn_case* c, double t) {
    const mabd_signal* s = &c->axis.motor;
    const double u = 2 * pi * s->frequency;
    return s->amplitude / (hinge_inertia() * u * u) * (u * t - sin(u * t));
}

Test(controls_turn, a_motor_turns_a_hinge_over_time) {
    const turn_case c = {"hinge motor, sine",
                         {.motor = {.kind = MABD_SIGNAL_SINE, .amplitude = 2, .frequency = 1}},
                         0,
                         1,
                         H,
                         sine_expected};
    check_hinge(&c);
}

// I x'' = kp (target - x) - kd x', started at rest.
static double servo_expected(const turn_case* c, double t) {
    const double inertia = hinge_inertia(), decay = c->axis.servo_damping / (2 * inertia);
    const double w = sqrt(c->axis.servo_stiffness / inertia - decay * decay);
    return c->axis.servo.value * (1 - exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t)));
}

Test(controls_turn, a_servo_turns_a_hinge_to_its_target) {
    const turn_case c = {"hinge servo",
                         {.servo = {.kind = MABD_SIGNAL_CONSTANT, .value = 2.5},
                          .servo_stiffness = 10,
                          .servo_damping = 1},
                         0,
                         1,
                         H,
                         servo_expected};
    check_hinge(&c);
}

Test(controls_turn, a_rigid_servo_meets_its_target_over_several_turns) {
    const turn_case c = {
        "rigid ramp",
        {.servo = {.kind = MABD_SIGNAL_RAMP, .value_end = 12000, .end = 1000}, .servo_rigid = true},
        12,
        3,
        H,
        NULL};
    mabd_model* model = hinge_model(&c);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    for (int n = 1; n <= 300; n++) {
        joint_run(sim, 1);
        const double x = joint_coordinate(sim, 0, MABD_AXIS_RX);
        cr_assert(fabs(x - 0.12 * n) < 1e-9, "step %d: %.12g", n, x);
    }
    rig_destroy(sim, model);
}

// x = A - A cos(u t); the hinge rotates the body with I x''.
Test(controls_turn, a_rigid_servo_takes_the_torque_of_the_motion) {
    const double size = 1.1, u = 2 * pi * 0.7;
    const turn_case c = {
        .axis = {.servo = signal_sine(size, size, 0.7, -pi / 2), .servo_rigid = true}};
    mabd_model* model = hinge_model(&c);
    double error[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        error[k] = 0;
        for (int n = 1; n <= (int)lround(1.5 / h); n++) {
            mabd_real wrench[6];
            joint_run(sim, 1);
            const double t = n * h, x = joint_coordinate(sim, 0, MABD_AXIS_RX);
            cr_assert(fabs(x - size * (1 - cos(u * t))) < 1e-9, "step %d: %.12g", n, x);
            if (t < 0.2) continue;
            mabd_sim_get_joint_forces(sim, wrench);
            const double expected = hinge_inertia() * size * u * u * cos(u * t);
            error[k] = fmax(error[k], fabs(joint_component(wrench + 3, 0) - expected));
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("torque of a rigid servo", H, 3, error);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(error[2] < 0.01, "%g N m", error[2]);
    mabd_model_destroy(model);
}

// ---- universal joint ---------------------------------------------------------------------------

static const block_def centred = {.sides = {0.3, 0.2, 0.12}, .young = 1e12};
static const double universal_stiffness[2] = {2.5, 4};

// y = a, b, a', b'
static void universal_rate(const void* context, const double* y, double* dy) {
    const double Ix = block_inertia(&centred, 0), Iy = block_inertia(&centred, 1),
                 Iz = block_inertia(&centred, 2);
    const double s = sin(y[1]), c = cos(y[1]), J = Ix * c * c + Iz * s * s;
    (void)context;
    dy[0] = y[2], dy[1] = y[3];
    dy[2] = (-universal_stiffness[0] * y[0] - 2 * (Iz - Ix) * s * c * y[3] * y[2]) / J;
    dy[3] = ((Iz - Ix) * s * c * y[2] * y[2] - universal_stiffness[1] * y[1]) / Iy;
}

static double universal_error(const mabd_model* model, double speed_a, double speed_b, double h) {
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    double y[4] = {0, 0, speed_a, speed_b}, worst = 0;
    for (int n = 1; n <= (int)lround(0.8 / h); n++) {
        mabd_real x[6];
        joint_run(sim, 1);
        reference_rk4(universal_rate, NULL, 4, h / 10, 10, y);
        mabd_sim_get_joint_coordinates(sim, 0, x);
        worst = fmax(worst, fmax(fabs(x[MABD_AXIS_RX] - y[0]), fabs(x[MABD_AXIS_RY] - y[1])));
    }
    mabd_sim_destroy(sim);
    return worst;
}

static void check_universal(const char* name, double speed_a, double speed_b) {
    mabd_scene* scene = rig_scene(0);
    block_def def = centred;
    def.spin[0] = speed_a, def.spin[1] = speed_b;
    const mabd_axis_def first = {.stiffness = universal_stiffness[0]},
                        second = {.stiffness = universal_stiffness[1]};
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {
        [MABD_AXIS_RX] = &first, [MABD_AXIS_RY] = &second};
    joint_add(scene, MABD_JOINT_UNIVERSAL, MABD_WORLD, block_add(scene, &def), axes);
    mabd_model* model = rig_model(scene);
    double error[4];
    for (int k = 0; k < 4; k++) error[k] = universal_error(model, speed_a, speed_b, ldexp(H, -k));
    const double order = rig_order(name, H, 4, error);
    cr_expect(order >= 1.8, "%s: order %g", name, order);
    cr_expect(error[3] < 2e-3, "%s: error %g", name, error[3]);
    mabd_model_destroy(model);
}

Test(controls_turn, springs_on_a_universal_joint_swing_each_axis_alone) {
    check_universal("universal, first axis", 6, 0);
    check_universal("universal, second axis", 0, 8);
}

Test(controls_turn, springs_on_a_universal_joint_swing_both_axes_together) {
    check_universal("universal, both axes", 6, 8);
}

// ---- ball joint --------------------------------------------------------------------------------

// A cube on a ball joint at its centre, spinning about an axis oblique to the joint frame; springs
// on all axes.
static mabd_model* ball_model(double stiffness, double speed, const double* axis, double* inertia) {
    mabd_scene* scene = rig_scene(0);
    block_def def = {.sides = {0.2, 0.2, 0.2}, .young = 1e12};
    const mabd_axis_def spring = {.stiffness = stiffness};
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {
        [MABD_AXIS_RX] = &spring, [MABD_AXIS_RY] = &spring, [MABD_AXIS_RZ] = &spring};
    for (int k = 0; k < 3; k++) def.spin[k] = speed * axis[k];
    *inertia = block_inertia(&def, 0);
    joint_add(scene, MABD_JOINT_BALL, MABD_WORLD, block_add(scene, &def), axes);
    return rig_model(scene);
}

static void check_ball(const char* name, double stiffness, double speed, double duration) {
    const double axis[3] = {1 / sqrt(14), -2 / sqrt(14), 3 / sqrt(14)};
    double inertia, error[3], torque_error[3];
    mabd_model* model = ball_model(stiffness, speed, axis, &inertia);
    const double w = sqrt(stiffness / inertia);
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        error[k] = torque_error[k] = 0;
        for (int n = 1; n <= (int)lround(duration / h); n++) {
            mabd_real x[6], wrench[6];
            joint_run(sim, 1);
            mabd_sim_get_joint_coordinates(sim, 0, x);
            mabd_sim_get_joint_forces(sim, wrench);
            for (int i = 0; i < 3; i++) {
                const double phi = axis[i] * speed / w * sin(w * n * h);
                error[k] = fmax(error[k], fabs(x[3 + i] - phi));
                const double torque = joint_component(wrench + 3, i) + stiffness * x[3 + i];
                torque_error[k] = fmax(torque_error[k], fabs(torque));
            }
        }
        mabd_sim_destroy(sim);
    }
    const double factor = rig_square_bound(name, H, 3, error);
    cr_expect(factor < 160, "%s: %g rad/s^2", name, factor);
    cr_expect(error[2] < 2e-3 * speed / w, "%s: error %g", name, error[2]);
    // the torque follows from the coordinates
    cr_expect(torque_error[2] < 1e-5 * stiffness * speed / w, "%s: torque off by %g", name,
              torque_error[2]);
    mabd_model_destroy(model);
}

Test(controls_turn, equal_springs_on_a_ball_joint_swing_a_body_about_any_axis) {
    check_ball("ball, 2.5 rad", 2, 2.5 * sqrt(2 / (8.0 * 0.04 / 6)), 1);
}

Test(controls_turn, equal_springs_on_a_ball_joint_wind_up_over_several_turns) {
    check_ball("ball, 9 rad", 0.2, 9 * sqrt(0.2 / (8.0 * 0.04 / 6)), 3);
}

// A rod that hangs from a ball joint with equal bending springs: w^2 = (m g c + k) / I, small
// angles in two directions. (Unequal springs also rotate a thin rod about its own axis, because the
// components of the rotation vector are coupled.)
Test(controls_turn, bending_springs_stiffen_a_hanging_rod) {
    const double length = 1, width = 0.04, mass = 1000 * length * width * width, gravity = 9.81;
    const double inertia =
        mass * (length * length + width * width) / 12 + mass * length * length / 4;
    const double stiffness = 7, speed = 0.01;
    const mabd_axis_def bending = {.stiffness = stiffness};
    double error[3];
    mabd_scene* scene = rig_scene(-gravity);
    const mabd_real size[3] = {width, width, length};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1;
    body.geoms = &geom;
    body.young = 1e12;
    body.position[2] = -length / 2;
    body.angular_velocity[0] = speed, body.angular_velocity[1] = speed;
    body.velocity[0] = -speed * length / 2, body.velocity[1] = speed * length / 2;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.b = rig_add_body(scene, &body);
    joint.axes[MABD_AXIS_RX] = joint.axes[MABD_AXIS_RY] = &bending;
    mabd_error trouble = {0};
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &trouble), &trouble, "joint");
    mabd_model* model = rig_model(scene);
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(2 * H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        error[k] = 0;
        for (int n = 1; n <= (int)lround(2 / h); n++) {
            mabd_real x[6];
            joint_run(sim, 1);
            mabd_sim_get_joint_coordinates(sim, 0, x);
            for (int i = 0; i < 2; i++) {
                const double w = sqrt((mass * gravity * length / 2 + stiffness) / inertia);
                error[k] = fmax(error[k], fabs(x[3 + i] / speed - sin(w * n * h) / w));
            }
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("hanging rod", 2 * H, 3, error);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(error[2] < 5e-3, "%g", error[2]);
    mabd_model_destroy(model);
}

// A body that bends and twists in a ball joint with any set of springs: torques are gradients of
// the spring energy, so the total energy is constant except for BDF2's loss, and dampers only
// dissipate.
static double ball_energy(const double* stiffness, double damping, double h, double* gain) {
    mabd_scene* scene = rig_scene(0);
    block_def def = {.sides = {0.2, 0.15, 0.3}, .place = {0, 0, -0.15}, .young = 1e12};
    mabd_axis_def springs[3];
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {0};
    const double spin[3] = {1.5, 0, 2};
    for (int k = 0; k < 3; k++) {
        springs[k] = (mabd_axis_def){.stiffness = stiffness[k], .damping = damping};
        if (stiffness[k] > 0) axes[3 + k] = &springs[k];
        def.spin[k] = spin[k];
    }
    def.velocity[1] = spin[0] * 0.15;
    joint_add(scene, MABD_JOINT_BALL, MABD_WORLD, block_add(scene, &def), axes);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def sim_def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &sim_def);
    const double start = mabd_sim_measure(sim).energy;
    double last = start, loss = 0;
    *gain = 0;
    for (int n = 0; n < (int)lround(1.5 / h); n++) {
        joint_run(sim, 1);
        const double now = mabd_sim_measure(sim).energy;
        loss = fmax(loss, fabs(now - start) / start);
        *gain = fmax(*gain, (now - last) / start);
        last = now;
    }
    rig_destroy(sim, model);
    return loss;
}

Test(controls_turn, springs_on_a_ball_joint_keep_energy_with_second_order) {
    static const double sets[][3] = {{7, 7, 7}, {7, 7, 0}, {7, 3, 5}, {0, 6, 2}};
    for (int i = 0; i < 4; i++) {
        double loss[3], gain;
        for (int k = 0; k < 3; k++) loss[k] = ball_energy(sets[i], 0, ldexp(H, -k), &gain);
        const double order = rig_order("energy of a ball joint", H, 3, loss);
        cr_expect(order >= 1.8, "springs %g %g %g: order %g", sets[i][0], sets[i][1], sets[i][2],
                  order);
        cr_expect(loss[2] < 1e-3, "springs %g %g %g: %g", sets[i][0], sets[i][1], sets[i][2],
                  loss[2]);
    }
}

Test(controls_turn, dampers_on_a_ball_joint_only_take_energy) {
    static const double sets[][3] = {{7, 7, 0}, {7, 3, 5}};
    for (int i = 0; i < 2; i++) {
        double gain;
        const double loss = ball_energy(sets[i], 0.1, H / 4, &gain);
        cr_expect(gain < 1e-6, "a step gains %g", gain);
        cr_expect(loss > 0.2, "lost %g", loss);
    }
}
