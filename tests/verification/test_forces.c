// SPDX-License-Identifier: Apache-2.0
// External forces on one free body: gravity, point forces and torques in the world and in the body,
// varying in time, wind.
//
//   gravity        x = v t + g t^2/2
//   point force    F at an offset is F at the centre and the torque r x F
//   body frame     force and torque rotate with the body: a thruster
//   wind           m v' = m g + drag (u - v): v -> u + m g / drag, as exp(-drag t/m)
//
// Along a line the equations are linear and the result is BDF2's solution of them, to round-off;
// rotating bodies are compared with RK4 solutions of Euler's equations, and the error must fall
// with order 1.8 or more.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#include <string.h>

#define H 0.01

static const double pi = 3.14159265358979323846;
static const block_def shape = {.sides = {0.3, 0.2, 0.12}, .young = 1e12};

static void center_of(const mabd_sim* sim, double* center) {
    mabd_real position[3], rotation[4];
    mabd_sim_get_state(sim, position, rotation, NULL, NULL);
    block_world_center(position, rotation, center);
    for (int k = 0; k < 3; k++) center[k] -= joint_anchor[k];
}

static mabd_sim* start(mabd_scene* scene, double h, mabd_model** model) {
    *model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    return rig_sim(*model, &def);
}

// ---- along a line ------------------------------------------------------------------------------

Test(forces, gravity_makes_a_parabola) {
    const mabd_real gravity[3] = {1.5, -2, -9};
    const double velocity[3] = {2, 1, 3}; // along the joint axes
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    mabd_model* model;
    block_def def = shape;
    double world[3], center[3];
    rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
    memcpy(def.velocity, velocity, sizeof velocity);
    joint_to_world(velocity, world);
    block_add(scene, &def);
    mabd_sim* sim = start(scene, H, &model);
    joint_run(sim, 200);
    center_of(sim, center);
    for (int k = 0; k < 3; k++) {
        const double expected = world[k] * 2 + gravity[k] * 2;
        cr_expect(fabs(center[k] - expected) < 1e-11, "%c: %.15g for %.15g", "xyz"[k], center[k],
                  expected);
    }
    const double height = center[2] + joint_anchor[2], m = block_mass(&shape);
    const mabd_measure now = mabd_sim_measure(sim);
    const double potential =
        -m * (gravity[0] * (center[0] + joint_anchor[0]) +
              gravity[1] * (center[1] + joint_anchor[1]) + gravity[2] * height);
    cr_expect(fabs(now.gravity - potential) < 1e-9, "%.12g for %.12g", now.gravity, potential);
    rig_destroy(sim, model);
}

static double sine_force(double t, const void* context) {
    (void)context;
    return 8 + 20 * sin(2 * pi * 1.5 * t + 0.4);
}

static double ramp_force(double t, const void* context) {
    (void)context;
    return -5 + 30 * fmin(1, fmax(0, (t - 0.2) / 0.5));
}

static double table_force(double t, const void* context) {
    (void)context;
    return t <= 0.1   ? 4
           : t <= 0.4 ? 4 + 20 * (t - 0.1) / 0.3
           : t <= 0.8 ? 24 - 34 * (t - 0.4) / 0.4
                      : -10;
}

Test(forces, follow_their_signals) {
    static const mabd_real times[] = {0.1, 0.4, 0.8}, values[] = {4, 24, -10};
    const struct {
        const char* name;
        mabd_signal signal;
        double (*force)(double t, const void* context);
    } cases[] = {{"sine", signal_sine(8, 20, 1.5, 0.4), sine_force},
                 {"ramp", signal_ramp(-5, 25, 0.2, 0.7), ramp_force},
                 {"table",
                  {.kind = MABD_SIGNAL_TABLE, .point_count = 3, .times = times, .values = values},
                  table_force}};
    for (int i = 0; i < 3; i++) {
        const double direction[3] = {0.6, 0, -0.8};
        const line_motion motion = {.mass = block_mass(&shape), .force = cases[i].force};
        mabd_scene* scene = rig_scene(0);
        mabd_model* model;
        double x = 0, rate = 0, center[3];
        block_push(scene, block_add(scene, &shape), direction, NULL, cases[i].signal);
        mabd_sim* sim = start(scene, H, &model);
        joint_run(sim, 120);
        line_bdf2(&motion, H, 120, &x, &rate);
        center_of(sim, center);
        for (int k = 0; k < 3; k++) {
            cr_expect(fabs(joint_component(center, k) - x * direction[k]) < 1e-11,
                      "%s: %.15g for %.15g", cases[i].name, joint_component(center, k),
                      x * direction[k]);
        }
        rig_destroy(sim, model);
    }
}

// ---- wind --------------------------------------------------------------------------------------

static const double drag = 20, wind_speed = 6, wind_direction[3] = {3, 1, -2};

static mabd_sim* windy(double h, const mabd_signal* strength, mabd_model** model) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-9.81);
    block_def def = shape;
    def.drag = drag;
    rig_check(mabd_scene_set_wind(scene, wind_direction, strength, &error), &error, "wind");
    block_add(scene, &def);
    return start(scene, h, model);
}

Test(forces, wind_carries_a_body_to_its_terminal_velocity) {
    const mabd_signal steady = mabd_signal_constant(wind_speed);
    const double mass = block_mass(&shape), rate = drag / mass, length = rig_norm(wind_direction);
    double errors[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(2 * H, -k);
        mabd_model* model;
        mabd_sim* sim = windy(h, &steady, &model);
        mabd_real velocity[3];
        double terminal[3];
        for (int i = 0; i < 3; i++) {
            terminal[i] = wind_speed * wind_direction[i] / length - (i == 2) * 9.81 / rate;
        }
        errors[k] = 0;
        for (int n = 1; n <= (int)lround(3 / h); n++) {
            joint_run(sim, 1);
            mabd_sim_get_state(sim, NULL, NULL, velocity, NULL);
            for (int i = 0; i < 3; i++) {
                const double expected = terminal[i] * (1 - exp(-rate * n * h));
                errors[k] = fmax(errors[k], fabs(velocity[i] - expected));
            }
        }
        joint_run(sim, (int)lround(9 / h)); // 33 time constants in all
        mabd_sim_get_state(sim, NULL, NULL, velocity, NULL);
        cr_expect(rig_distance(velocity, terminal) < 1e-9, "terminal: %g",
                  rig_distance(velocity, terminal));
        rig_destroy(sim, model);
    }
    const double order = rig_order("approach", 2 * H, 3, errors);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(errors[2] < 1e-3, "%g", errors[2]);
}

static double gust_force(double t, const void* context) {
    const int axis = *(const int*)context;
    const double u = wind_speed * sin(2 * pi * 0.5 * t) / rig_norm(wind_direction);
    return drag * u * wind_direction[axis] - (axis == 2) * 9.81 * block_mass(&shape);
}

Test(forces, wind_follows_its_signal) {
    const mabd_signal gusts = signal_sine(0, wind_speed, 0.5, 0);
    mabd_model* model;
    mabd_sim* sim = windy(H, &gusts, &model);
    double center[3];
    joint_run(sim, 150);
    center_of(sim, center);
    for (int k = 0; k < 3; k++) {
        const line_motion motion = {block_mass(&shape), 0, drag, gust_force, &k};
        double x = 0, rate = 0;
        line_bdf2(&motion, H, 150, &x, &rate);
        cr_expect(fabs(center[k] - x) < 1e-11, "%c: %.15g for %.15g", "xyz"[k], center[k], x);
    }
    rig_destroy(sim, model);
}

// ---- turning bodies ----------------------------------------------------------------------------

// Force on a point off the centre; everything along the joint axes, which are the principal axes at
// the start.
typedef struct push {
    double force[3], arm[3], torque[3];
    bool body_frame;
} push;

static void cross(const double* a, const double* b, double* c) {
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        c[k] = a[i] * b[j] - a[j] * b[i];
    }
}

// y = quaternion (principal axes to joint axes at the start), angular velocity in principal axes.
static void turn_rate(const void* context, const double* y, double* dy) {
    const push* p = context;
    double force[3], torque[3], moment[3];
    memcpy(force, p->force, sizeof force);
    memcpy(torque, p->torque, sizeof torque);
    if (!p->body_frame) {
        reference_unrotate(y, p->force, force);
        reference_unrotate(y, p->torque, torque);
    }
    cross(p->arm, force, moment);
    const double *q = y, *w = y + 4;
    dy[0] = -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]) / 2;
    dy[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2;
    dy[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2;
    dy[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double Ii = block_inertia(&shape, i), Ij = block_inertia(&shape, j);
        dy[4 + k] = (moment[k] + torque[k] + (Ii - Ij) * w[i] * w[j]) / block_inertia(&shape, k);
    }
}

// Add the push to a block; body-frame vectors are given in the user frame of the block.
static void add_push(mabd_scene* scene, int32_t body, const push* p) {
    mabd_error error = {0};
    mabd_geom geom;
    const mabd_body_def def = block_body(&shape, &geom);
    mabd_force_def f = {.body = body, .body_frame = p->body_frame};
    double world[3], local[3];
    joint_to_world(p->arm, world);
    reference_unrotate(def.rotation, world, local);
    for (int k = 0; k < 3; k++) f.point[k] = block_center[k] + local[k];
    joint_to_world(p->force, f.force);
    joint_to_world(p->torque, f.torque);
    if (p->body_frame) {
        memcpy(world, f.force, sizeof world);
        reference_unrotate(def.rotation, world, f.force);
        memcpy(world, f.torque, sizeof world);
        reference_unrotate(def.rotation, world, f.torque);
    }
    rig_check(mabd_scene_add_force(scene, &f, &error), &error, "force");
}

// Return the largest distance of an axis of the body from the reference over a second.
static double turn_error(const push* p, double h) {
    mabd_scene* scene = rig_scene(0);
    mabd_model* model;
    mabd_geom geom;
    const mabd_body_def def = block_body(&shape, &geom);
    add_push(scene, block_add(scene, &shape), p);
    mabd_sim* sim = start(scene, h, &model);
    double y[7] = {1, 0, 0, 0, 0, 0, 0}, worst = 0;
    for (int n = 1; n <= (int)lround(1 / h); n++) {
        mabd_real rotation[4];
        joint_run(sim, 1);
        reference_rk4(turn_rate, p, 7, h / 10, 10, y);
        mabd_sim_get_state(sim, NULL, rotation, NULL, NULL);
        for (int k = 0; k < 3; k++) {
            const double unit[3] = {k == 0, k == 1, k == 2};
            double turned[3], expected[3], start_axis[3], local[3], found[3];
            reference_rotate(y, unit, turned);
            joint_to_world(turned, expected);
            joint_to_world(unit, start_axis);
            reference_unrotate(def.rotation, start_axis, local);
            reference_rotate(rotation, local, found);
            worst = fmax(worst, rig_distance(found, expected));
        }
    }
    rig_destroy(sim, model);
    return worst;
}

static void check_turn(const char* name, const push* p) {
    double errors[3];
    for (int k = 0; k < 3; k++) errors[k] = turn_error(p, ldexp(H / 2, -k));
    const double order = rig_order(name, H / 2, 3, errors);
    cr_expect(order >= 1.8, "%s: order %g", name, order);
    cr_expect(errors[2] < 1e-3, "%s: %g", name, errors[2]);
}

Test(forces, a_force_off_the_centre_turns_a_body) {
    const push p = {.force = {0.8, -0.5, 0.9}, .arm = {0.12, 0.08, -0.05}};
    check_turn("point force", &p);
}

Test(forces, a_force_in_the_body_frame_turns_with_the_body) {
    const push p = {.force = {0.8, -0.5, 0.9}, .arm = {0.12, 0.08, -0.05}, .body_frame = true};
    check_turn("thruster", &p);
}

Test(forces, a_torque_turns_a_body) {
    const push p = {.torque = {0.09, -0.06, 0.1}};
    check_turn("torque", &p);
}

Test(forces, a_torque_in_the_body_frame_turns_with_the_body) {
    const push p = {.torque = {0.09, -0.06, 0.1}, .body_frame = true};
    check_turn("torque in the body", &p);
}

// A force at an offset and the same force at the centre with its torque are equivalent: equal up to
// round-off.
Test(forces, a_point_force_is_a_force_and_a_torque) {
    const push at_point = {
        .force = {0.8, -0.5, 0.9}, .arm = {0.12, 0.08, -0.05}, .body_frame = true};
    push at_center = {.force = {0.8, -0.5, 0.9}, .body_frame = true};
    mabd_real position[2][3], rotation[2][4];
    cross(at_point.arm, at_point.force, at_center.torque);
    for (int i = 0; i < 2; i++) {
        mabd_scene* scene = rig_scene(0);
        mabd_model* model;
        add_push(scene, block_add(scene, &shape), i ? &at_center : &at_point);
        mabd_sim* sim = start(scene, H, &model);
        joint_run(sim, 100);
        mabd_sim_get_state(sim, position[i], rotation[i], NULL, NULL);
        rig_destroy(sim, model);
    }
    // a step is solved up to the square of the remaining rotation, 1e-12 rad or 1e-10 rad/s: 1e-8
    // over the run
    cr_expect(rig_distance(position[0], position[1]) < 1e-7, "%g",
              rig_distance(position[0], position[1]));
    for (int k = 0; k < 4; k++) cr_expect(fabs(rotation[0][k] - rotation[1][k]) < 1e-7);
}
