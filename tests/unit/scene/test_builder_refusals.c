// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/check.c through the builder: refused input, its message, and an unchanged
// scene.
#include "scene/scene_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static mabd_scene* scene;
static mabd_error error;

// bodies 0 "arm" and 1 "leg" are dynamic, 2 "ground" and 3 are fixed
static void setup(void) {
    const double size[3] = {0.1, 0.2, 0.3};
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 1, def.geoms = &geom;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    def.name = "arm";
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, NULL), MABD_OK));
    def.name = "leg";
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, NULL), MABD_OK));
    def.name = "ground";
    def.motion = MABD_MOTION_FIXED;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, NULL), MABD_OK));
    def.name = NULL;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, NULL), MABD_OK));
}

static void teardown(void) {
    mabd_scene_destroy(scene);
}

TestSuite(refusals, .init = setup, .fini = teardown);

/// The last call failed with MABD_ERR_INPUT and exactly this text, and nothing was added.
static void assert_refused(mabd_status status, const char* text) {
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", text);
    cr_expect(eq(int, error.status, MABD_ERR_INPUT));
    cr_expect(eq(str, error.text, (char*)text));
    cr_expect(eq(i32, scene->bodies.count, 4));
    cr_expect(eq(i32, scene->joints.count, 0));
    cr_expect(eq(i32, scene->classes.count, 1));
    cr_expect(eq(i32, scene->geoms.count, 1));
    cr_expect(eq(i32, scene->scripts.count, 0));
    cr_expect(eq(i32, scene->axes.count, 0));
    cr_expect(eq(i32, scene->forces.count, 0));
    cr_expect(eq(i32, scene->tables.count, 0));
    cr_expect(eq(i32, scene->body_names.ranges.count, 3));
    cr_expect(eq(i32, scene->joint_names.ranges.count, 0));
    memset(&error, 0, sizeof error);
}

// ---- bodies ------------------------------------------------------------------------------------

static mabd_body_def def;
static mabd_geom geoms[2];

static void fresh_body(void) {
    const double size[3] = {1, 2, 3};
    geoms[0] = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    geoms[1] = mabd_geom_make(MABD_SHAPE_CAPSULE, size, 1000);
    def = mabd_default_body_def();
    def.name = "box";
    def.geom_count = 2, def.geoms = geoms;
}

/// Set one number of a fresh body, add it, and expect the message.
static void refuse_number(double* number, double value, const char* text) {
    fresh_body();
    *number = value;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), text);
}

Test(refusals, numbers_of_a_body) {
    refuse_number(&def.mass, -1, "body 'box': mass must not be negative, not -1");
    refuse_number(&def.mass, NAN, "body 'box': mass is not a finite number");
    refuse_number(&def.density, 0, "body 'box': density must be positive, not 0");
    refuse_number(&def.young, -1e9, "body 'box': young must not be negative, not -1e+09");
    refuse_number(&def.young, INFINITY, "body 'box': young is not a finite number");
    refuse_number(&def.poisson, 0.5, "body 'box': poisson must be between -1 and 0.5, not 0.5");
    refuse_number(&def.poisson, -1, "body 'box': poisson must be between -1 and 0.5, not -1");
    refuse_number(&def.poisson, NAN, "body 'box': poisson is not a finite number");
    refuse_number(&def.drag, -2, "body 'box': drag must not be negative, not -2");
    refuse_number(&def.position[2], NAN, "body 'box': position is not a finite number");
    refuse_number(&def.rotation[0], 0, "body 'box': rotation is a quaternion without length");
    refuse_number(&def.rotation[3], INFINITY, "body 'box': rotation is not a finite number");
    refuse_number(&def.velocity[1], NAN, "body 'box': velocity is not a finite number");
    refuse_number(&def.angular_velocity[1], NAN,
                  "body 'box': angular velocity is not a finite number");
}

Test(refusals, numbers_of_a_geom) {
    refuse_number(&geoms[0].size[1], 0, "body 'box': geom 0: size y must be positive, not 0");
    refuse_number(&geoms[0].size[2], -1, "body 'box': geom 0: size z must be positive, not -1");
    refuse_number(&geoms[1].size[0], 0, "body 'box': geom 1: radius must be positive, not 0");
    refuse_number(&geoms[1].size[1], -1, "body 'box': geom 1: length must not be negative, not -1");
    refuse_number(&geoms[1].size[1], NAN, "body 'box': geom 1: length is not a finite number");
    refuse_number(&geoms[1].density, 0, "body 'box': geom 1: density must be positive, not 0");
    refuse_number(&geoms[1].position[0], NAN,
                  "body 'box': geom 1: position is not a finite number");
    refuse_number(&geoms[1].rotation[0], 0,
                  "body 'box': geom 1: rotation is a quaternion without length");
    refuse_number(&geoms[0].size[0], 1e200, "body 'box': inertia is not a finite number");
    fresh_body();
    geoms[0].shape = (mabd_shape)9;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': geom 0: unknown shape 9");
    fresh_body();
    geoms[0].shape = MABD_SHAPE_CYLINDER, geoms[0].size[1] = 0;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': geom 0: length must be positive, not 0");
}

Test(refusals, a_capsule_may_have_no_length) {
    fresh_body();
    geoms[1].size[1] = 0;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK), "%s", error.text);
}

static mabd_status add_moments(double xx, double yy, double zz, double xy) {
    fresh_body();
    def.geom_count = 0, def.geoms = NULL, def.inertia_given = true, def.mass = 1;
    def.inertia[0] = xx, def.inertia[1] = yy, def.inertia[2] = zz, def.inertia[3] = xy;
    return mabd_scene_add_body(scene, &def, NULL, &error);
}

Test(refusals, inertia) {
    assert_refused(add_moments(1, 1, 2.5, 0),
                   "body 'box': inertia breaks the triangle inequality: of the principal moments "
                   "2.5, 1, 1 kg m^2 the largest exceeds the sum of the others");
    assert_refused(add_moments(2, 2, 3, 1.5), // principal moments 3.5, 3, 0.5: a plate
                   "body 'box': inertia is that of a body without thickness (of the principal "
                   "moments 3.5, 3, 0.5 kg m^2 the largest is the sum of the others), which has a "
                   "singular affine mass matrix: make it thicker");
    assert_refused(add_moments(2, 2, 2, 1.5), // 3.5, 2, 0.5
                   "body 'box': inertia breaks the triangle inequality: of the principal moments "
                   "3.5, 2, 0.5 kg m^2 the largest exceeds the sum of the others");
    assert_refused(add_moments(1, 1, 0, 0), "body 'box': inertia must be positive, but its "
                                            "principal moments are 1, 1, 0 kg m^2");
    assert_refused(add_moments(1, 1, 1, 2), "body 'box': inertia must be positive, but its "
                                            "principal moments are 3, 1, -1 kg m^2");
    assert_refused(add_moments(1, NAN, 1, 0), "body 'box': inertia is not a finite number");
    def.inertia[1] = 1, def.mass = 0;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), "body 'box': mass is zero");
    def.mass = 1, def.center[1] = INFINITY;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': center is not a finite number");
    cr_assert(eq(int, add_moments(1, 1, 2 - 1e-7, 0), MABD_OK)); // thin bodies are allowed
}

Test(refusals, bodies_without_mass) {
    fresh_body();
    def.geom_count = 0;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': no mass: give geoms, or mass and inertia");
    def.mass = 2;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': mass without inertia: give inertia, or geoms");
}

Test(refusals, names_of_bodies) {
    fresh_body();
    def.name = "arm";
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), "body 'arm': the name is taken");
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, NULL), MABD_ERR_INPUT));
    def.name = "";
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), "body '': the name is empty");
    def.name = "a\x1b[31m";
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'a\\u001b[31m': the name has the control character U+001B");
    cr_expect(eq(int, mabd_scene_set_name(scene, "a\nb"), MABD_ERR_ARG));
    def.name = "arm/3";
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'arm/3': names that end in '/' and a number are made by the scene");
    def.name = NULL, def.mass = -1;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_ERR_INPUT));
    cr_assert(eq(i32, error.body, 4));
    assert_refused(MABD_ERR_INPUT, "body 4: mass must not be negative, not -1");
}

Test(refusals, one_bad_element_of_a_bulk_call) {
    const double positions[] = {0, 0, 0, 1, 0, NAN, 2, 0, 0};
    fresh_body();
    geoms[0].size[0] = 7; // a new class, which must be removed again
    mabd_status status =
        mabd_scene_add_body_n(scene, &def, 3, positions, NULL, NULL, NULL, NULL, &error);
    cr_assert(eq(i32, error.body, 5));
    assert_refused(status, "body 'box/1': position is not a finite number");
    def.name = "leg";
    const double fine[9] = {0};
    assert_refused(mabd_scene_add_body_n(scene, &def, 3, fine, NULL, NULL, NULL, NULL, &error),
                   "body 'leg': the name is taken");
}

static const double times[] = {0, 1, 1}, values[] = {1, 2, NAN};

Test(refusals, scripts) {
    fresh_body();
    def.motion = MABD_MOTION_SCRIPTED;
    def.script.translation = def.script.angle = mabd_signal_constant(1);
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': script direction has no length");
    def.script.direction[0] = 1;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': script axis has no length");
    def.script.axis[0] = 1;
    def.script.translation = (mabd_signal){
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    def.script.angle.value = NAN;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': script angle is not a finite number");
    def.script.angle.value = 1, def.name = "arm"; // found late: the table must be removed again
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), "body 'arm': the name is taken");
    def.name = "box", def.velocity[0] = 1;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': a velocity is given, but the body is moved by its script");
    def.script.translation.kind = MABD_SIGNAL_STEPS;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': script translation: a prescribed position cannot jump by 'steps'; "
                   "use 'ramp' or 'table'");
    def.script.translation = mabd_signal_constant(0);
    def.motion = MABD_MOTION_FIXED;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error),
                   "body 'box': a velocity is given, but the body is fixed");
    def.motion = (mabd_motion)5;
    assert_refused(mabd_scene_add_body(scene, &def, NULL, &error), "body 'box': unknown motion 5");
}

// ---- joints ------------------------------------------------------------------------------------

static mabd_status add_joint(mabd_joint type, int32_t a, int32_t b) {
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = "pin", joint.type = type, joint.a = a, joint.b = b;
    return mabd_scene_add_joint(scene, &joint, NULL, &error);
}

Test(refusals, ends_of_a_joint) {
    assert_refused(add_joint(MABD_JOINT_BALL, 0, 17),
                   "joint 'pin': body 17 does not exist (the scene has 4)");
    assert_refused(add_joint(MABD_JOINT_BALL, -2, 0),
                   "joint 'pin': body -2 does not exist (the scene has 4)");
    assert_refused(add_joint(MABD_JOINT_BALL, 1, 1), "joint 'pin': it joins body 'leg' to itself");
    assert_refused(add_joint(MABD_JOINT_BALL, MABD_WORLD, MABD_WORLD),
                   "joint 'pin': it joins the world to itself");
    assert_refused(add_joint(MABD_JOINT_BALL, 2, 3),
                   "joint 'pin': it joins body 'ground' and body 3, neither of which can be moved");
    assert_refused(add_joint(MABD_JOINT_BALL, MABD_WORLD, 2),
                   "joint 'pin': it joins the world and body 'ground', neither of which can be "
                   "moved");
    cr_assert(eq(int, MABD_JOINT_TYPE_COUNT, 18));
    assert_refused(add_joint((mabd_joint)18, 0, 1), "joint 'pin': unknown joint type 18");
}

Test(refusals, frames_of_a_joint) {
    mabd_joint_def joint = mabd_default_joint_def();
    joint.frame[0] = 0;
    assert_refused(mabd_scene_add_joint(scene, &joint, NULL, &error),
                   "joint 0: frame is a quaternion without length");
    joint.anchor[1] = NAN;
    assert_refused(mabd_scene_add_joint(scene, &joint, NULL, &error),
                   "joint 0: anchor is not a finite number");
    joint.local = true;
    joint.frame_b[0] = 0;
    assert_refused(mabd_scene_add_joint(scene, &joint, NULL, &error),
                   "joint 0: frame on b is a quaternion without length");
    joint.anchor_b[0] = INFINITY;
    assert_refused(mabd_scene_add_joint(scene, &joint, NULL, &error),
                   "joint 0: anchor on b is not a finite number");
    const int32_t a[] = {0, 1, 2}, b[] = {1, 2, 3};
    const double anchors[9] = {0};
    joint = mabd_default_joint_def();
    joint.name = "pins";
    mabd_status status =
        mabd_scene_add_joint_n(scene, &joint, 3, a, b, anchors, NULL, NULL, &error);
    cr_assert(eq(i32, error.joint, 2));
    assert_refused(status, "joint 'pins/2': it joins body 'ground' and body 3, neither of which "
                           "can be moved");
}

static mabd_axis_def axis;

static mabd_status add_axis(mabd_joint type, mabd_axis which) {
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = "pin", joint.type = type;
    joint.axes[which] = &axis;
    return mabd_scene_add_joint(scene, &joint, NULL, &error);
}

/// Set one number of an axis that is otherwise valid, and expect the message.
static void refuse_axis(double* number, double value, const char* text) {
    memset(&axis, 0, sizeof axis);
    axis.servo = axis.motor = mabd_signal_constant(1);
    axis.servo_stiffness = 1;
    *number = value;
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX), text);
}

Test(refusals, numbers_of_an_axis) {
    refuse_axis(&axis.stiffness, -1, "joint 'pin': rx: stiffness must not be negative, not -1");
    refuse_axis(&axis.damping, -2, "joint 'pin': rx: damping must not be negative, not -2");
    refuse_axis(&axis.armature, -3, "joint 'pin': rx: armature must not be negative, not -3");
    refuse_axis(&axis.servo_stiffness, -4,
                "joint 'pin': rx: servo stiffness must not be negative, not -4");
    refuse_axis(&axis.servo_damping, -5,
                "joint 'pin': rx: servo damping must not be negative, not -5");
    refuse_axis(&axis.rest, NAN, "joint 'pin': rx: rest is not a finite number");
    refuse_axis(&axis.servo.value, NAN, "joint 'pin': rx: servo is not a finite number");
    refuse_axis(&axis.motor.value, NAN, "joint 'pin': rx: motor is not a finite number");
    refuse_axis(&axis.servo_stiffness, 0,
                "joint 'pin': rx: a servo needs a stiffness above 0, or must be rigid");
    axis.servo.kind = MABD_SIGNAL_NONE;
    axis.servo_rigid = true;
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: servo gains without a servo target");
}

Test(refusals, stops_drives_and_friction) {
    refuse_axis(&axis.friction, -1, "joint 'pin': rx: friction must not be negative, not -1");
    refuse_axis(&axis.friction, INFINITY, "joint 'pin': rx: friction is not a finite number");
    refuse_axis(&axis.max_force, -2, "joint 'pin': rx: max force must not be negative, not -2");
    axis = (mabd_axis_def){.max_force = 3};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: max force needs a servo or a motor velocity");
    axis = (mabd_axis_def){.motor_velocity = mabd_signal_constant(NAN)};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: motor velocity is not a finite number");
    axis = (mabd_axis_def){.motor_velocity = mabd_signal_constant(1),
                           .servo = mabd_signal_constant(1),
                           .servo_rigid = true};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: a servo and a motor velocity: an axis has one of them");
    axis = (mabd_axis_def){.limited = true, .lower = 1, .upper = 0.5};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: the lower limit 1 is above the upper limit 0.5");
    axis = (mabd_axis_def){.limited = true, .lower = NAN, .upper = 1};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: a limit is not a number");
    axis = (mabd_axis_def){.limited = true, .lower = INFINITY, .upper = INFINITY};
    assert_refused(add_axis(MABD_JOINT_HINGE, MABD_AXIS_RX),
                   "joint 'pin': rx: limits leave no place: a missing lower limit is -infinity, a "
                   "missing upper one +infinity");
}

Test(refusals, locked_axes) {
    // the free axes of each type, in the order of mabd_axis
    static const char* const free_axes[MABD_JOINT_COUNT] = {
        "......", "x.....", "...x..", "xy....", "x..x..", "x...y.", "...xy.",
        "xyz...", "xy...z", "...xyz", "x..xyz", "xyzxyz", "xyzx..", "xy.xyz"};
    int32_t added = 0;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int k = 0; k < MABD_AXIS_COUNT; k++) {
            mabd_joint_def joint = mabd_default_joint_def();
            axis = (mabd_axis_def){.damping = 1};
            joint.type = (mabd_joint)type;
            joint.axes[k] = &axis;
            bool is_free = free_axes[type][k] != '.';
            added += is_free;
            cr_expect(eq(int, mabd_scene_add_joint(scene, &joint, NULL, &error),
                         is_free ? MABD_OK : MABD_ERR_INPUT));
        }
    }
    cr_assert(eq(i32, mabd_scene_joint_count(scene), added));
    cr_assert(eq(int, add_axis(MABD_JOINT_HINGE, MABD_AXIS_TY), MABD_ERR_INPUT));
    cr_assert(eq(str, error.text,
                 "joint 'pin': ty: this axis of a hinge joint is locked, nothing can act on it"));
}

// ---- signals, forces, settings -----------------------------------------------------------------

static void refuse_signal(mabd_signal signal, const char* text) {
    mabd_force_def force = {.signal = signal};
    assert_refused(mabd_scene_add_force(scene, &force, &error), text);
}

Test(refusals, signals) {
    refuse_signal((mabd_signal){.kind = MABD_SIGNAL_TABLE, .times = times, .values = values},
                  "force: signal is a table without points");
    refuse_signal((mabd_signal){.kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times},
                  "force: signal is a table without points");
    refuse_signal(
        (mabd_signal){.kind = MABD_SIGNAL_TABLE, .point_count = 3, .times = times, .values = times},
        "force: signal: times of a table must rise, but 1 s follows 1 s");
    refuse_signal(
        (mabd_signal){
            .kind = MABD_SIGNAL_TABLE, .point_count = 3, .times = times, .values = values},
        "force: signal is not a finite number");
    refuse_signal((mabd_signal){.kind = MABD_SIGNAL_RAMP, .start = 2, .end = 2},
                  "force: signal: a ramp must end after its start at 2 s, not at 2 s");
    refuse_signal((mabd_signal){.kind = MABD_SIGNAL_RAMP, .start = 2, .end = NAN},
                  "force: signal is not a finite number");
    refuse_signal((mabd_signal){.kind = MABD_SIGNAL_SINE, .frequency = INFINITY},
                  "force: signal is not a finite number");
    refuse_signal((mabd_signal){.kind = (mabd_signal_kind)8},
                  "force: signal: unknown kind of signal 8");
}

Test(refusals, forces) {
    mabd_force_def force = {.body = 4};
    assert_refused(mabd_scene_add_force(scene, &force, &error),
                   "force: body 4 does not exist (the scene has 4)");
    force.body = MABD_WORLD;
    assert_refused(mabd_scene_add_force(scene, &force, &error),
                   "force: body -1 does not exist (the scene has 4)");
    force.body = 2;
    assert_refused(mabd_scene_add_force(scene, &force, &error),
                   "force: body 'ground' is not moved by forces");
    force.body = 0, force.torque[2] = NAN;
    assert_refused(mabd_scene_add_force(scene, &force, &error),
                   "force: torque is not a finite number");
}

Test(refusals, settings) {
    const double zero[3] = {0, 0, 0}, bad[3] = {0, NAN, 0}, up[3] = {0, 0, 1};
    mabd_signal strength = mabd_signal_constant(1);
    assert_refused(mabd_scene_set_gravity(scene, bad, &error),
                   "gravity: the vector is not a finite number");
    assert_refused(mabd_scene_set_wind(scene, zero, &strength, &error),
                   "wind: direction has no length");
    strength.value = NAN;
    assert_refused(mabd_scene_set_wind(scene, up, &strength, &error),
                   "wind: strength is not a finite number");
    assert_refused(mabd_scene_set_time(scene, -1, 0, &error),
                   "time: step h must not be negative, not -1");
    assert_refused(mabd_scene_set_time(scene, 0, NAN, &error),
                   "time: duration is not a finite number");
    cr_assert(scene->gravity[2] == -9.81 && scene->h == 0 && scene->wind_direction[2] == 0);
}

// ---- arguments ---------------------------------------------------------------------------------

Test(refusals, wrong_arguments) {
    mabd_joint_def joint = mabd_default_joint_def();
    const int32_t ends[2] = {0, 1};
    const double zero[3] = {0};
    fresh_body();
    cr_assert(eq(int, mabd_scene_create(NULL, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_scene_add_body(scene, NULL, NULL, &error), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_scene_add_body_n(scene, &def, 1, NULL, NULL, NULL, NULL, NULL, &error),
                 MABD_ERR_ARG));
    cr_assert(eq(int, mabd_scene_add_body_n(scene, &def, -1, zero, NULL, NULL, NULL, NULL, &error),
                 MABD_ERR_ARG));
    cr_assert(eq(int,
                 mabd_scene_add_joint_n(scene, &joint, 1, ends, NULL, zero, NULL, NULL, &error),
                 MABD_ERR_ARG));
    joint.local = true;
    cr_assert(eq(int,
                 mabd_scene_add_joint_n(scene, &joint, 1, ends, ends + 1, zero, NULL, NULL, &error),
                 MABD_ERR_ARG));
    joint.cookie++;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &joint, NULL, &error), MABD_ERR_ARG));
    cr_assert(
        eq(str, error.text, "the joint definition does not come from mabd_default_joint_def"));
    def.cookie = 0;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_ERR_ARG));
    cr_assert(eq(str, error.text, "the body definition does not come from mabd_default_body_def"));
    fresh_body();
    def.geoms = NULL;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_scene_set_name(scene, NULL), MABD_ERR_ARG));
    cr_assert(eq(i32, mabd_scene_find_body(scene, NULL), -1));
}
