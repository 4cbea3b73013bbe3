// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on the rotations of ball, slot, point-on-plane and free joints act on the
// relative angular velocity O and its rate, components in the joint frame on body b.
//
//   block = b   the frame is that of the principal axes of the block: Euler's equations in them,
//                 (I_k + A_k) O_k' = (I O x O)_k - d_k O_k
//   block = a   the frame is at rest, Q the rotation from the principal axes to it:
//                 (I + Q'A Q) w' = I w x w - Q'd Q w
//   planar      about one axis x of the joint, with Coulomb friction f or a stop:
//                 I x'' = -d x' - f,   x' = (v + f/d) exp(-d t/I) - f/d   until x' = 0
//
// The first two are integrated by the fourth-order Runge-Kutta method (support/reference.h). Errors
// must fall with order 1.8 or more. The torques on a and b are opposite: the momentum of two free
// bodies is conserved. Dampers never add energy, also where joints are at their stops and turned by
// more than half a turn.
#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#define H 0.004

// ---- one block ----------------------------------------------------------------------------------

typedef struct damped_case {
    const char* name;
    mabd_joint type;
    double damping[3], armature[3];
    bool block_is_a;
} damped_case;

static const double spin[3] = {10, 3, 5}; // [rad/s]

// A box with the moments 0.01, 0.02, 0.025 kg m^2.
static block_def block(void) {
    const double ratio[3] = {0.21, 0.09, 0.03}; // squares of the sides of a box of 1 kg
    const double size = pow(1000 * sqrt(ratio[0] * ratio[1] * ratio[2]), -0.2);
    block_def def = {.young = 1e12};
    for (int k = 0; k < 3; k++) def.sides[k] = size * sqrt(ratio[k]), def.spin[k] = spin[k];
    return def;
}

static mabd_model* damped_model(const damped_case* c) {
    mabd_scene* scene = rig_scene(0);
    const block_def def = block();
    mabd_axis_def axis[3];
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {NULL};
    memset(axis, 0, sizeof axis);
    for (int k = 0; k < 3; k++) {
        axis[k].damping = c->damping[k], axis[k].armature = c->armature[k];
        if (c->damping[k] + c->armature[k] > 0) axes[MABD_AXIS_RX + k] = &axis[k];
    }
    const int32_t body = block_add(scene, &def);
    joint_add(scene, c->type, c->block_is_a ? body : MABD_WORLD, c->block_is_a ? MABD_WORLD : body,
              axes);
    return rig_model(scene);
}

static void cross(const double* a, const double* b, double* out) {
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

// Solve M x = b of three equations by Cramer's rule.
static void solve3(double (*M)[3], const double* b, double* x) {
    double c[3][3];
    for (int k = 0; k < 3; k++) {
        const double u[3] = {M[0][(k + 1) % 3], M[1][(k + 1) % 3], M[2][(k + 1) % 3]};
        const double v[3] = {M[0][(k + 2) % 3], M[1][(k + 2) % 3], M[2][(k + 2) % 3]};
        cross(u, v, c[k]);
    }
    const double det = M[0][0] * c[0][0] + M[1][0] * c[0][1] + M[2][0] * c[0][2];
    for (int k = 0; k < 3; k++) x[k] = (b[0] * c[k][0] + b[1] * c[k][1] + b[2] * c[k][2]) / det;
}

// y = quaternion from the principal axes to the joint frame at the start, w in principal axes. The
// joint frame at rest measures -O = Q w, so d/dt(Q w) = Q w' (w x w = 0):
//   I w' + Q'A Q w' = I w x w - Q'd Q w
static void world_rate(const void* context, const double* y, double* dy) {
    const damped_case* c = context;
    const block_def def = block();
    const double* w = y + 4;
    double Q[3][3], M[3][3] = {{0}}, b[3], L[3];
    for (int k = 0; k < 3; k++) {
        double e[3] = {0}, turned[3];
        e[k] = 1;
        reference_rotate(y, e, turned);
        for (int i = 0; i < 3; i++) Q[i][k] = turned[i];
        L[k] = block_inertia(&def, k) * w[k];
        M[k][k] = block_inertia(&def, k);
    }
    cross(L, w, b);
    for (int i = 0; i < 3; i++) {
        const double rate = Q[i][0] * w[0] + Q[i][1] * w[1] + Q[i][2] * w[2];
        for (int j = 0; j < 3; j++) {
            b[j] -= Q[i][j] * c->damping[i] * rate;
            for (int k = 0; k < 3; k++) M[j][k] += Q[i][j] * c->armature[i] * Q[i][k];
        }
    }
    solve3(M, b, dy + 4);
    dy[0] = (-y[1] * w[0] - y[2] * w[1] - y[3] * w[2]) / 2;
    dy[1] = (y[0] * w[0] + y[2] * w[2] - y[3] * w[1]) / 2;
    dy[2] = (y[0] * w[1] - y[1] * w[2] + y[3] * w[0]) / 2;
    dy[3] = (y[0] * w[2] + y[1] * w[1] - y[2] * w[0]) / 2;
}

// y = quaternion, w in principal axes, which are those of the joint frame on the block.
static void body_rate(const void* context, const double* y, double* dy) {
    const damped_case* c = context;
    const damped_case free = {.name = c->name};
    const block_def def = block();
    const double* w = y + 4;
    double L[3], b[3];
    world_rate(&free, y, dy);
    for (int k = 0; k < 3; k++) L[k] = block_inertia(&def, k) * w[k];
    cross(L, w, b);
    for (int k = 0; k < 3; k++) {
        dy[4 + k] = (b[k] - c->damping[k] * w[k]) / (block_inertia(&def, k) + c->armature[k]);
    }
}

static void reference(const damped_case* c, double* y) {
    const double start[7] = {1, 0, 0, 0, spin[0], spin[1], spin[2]};
    memcpy(y, start, sizeof start);
    reference_rk4(c->block_is_a ? world_rate : body_rate, c, 7, 1e-4, 10000, y);
}

// Kinetic energy of the block at angular velocity w, principal axes [J].
static double energy_of(const double* w) {
    const block_def def = block();
    double energy = 0;
    for (int k = 0; k < 3; k++) energy += block_inertia(&def, k) * w[k] * w[k] / 2;
    return energy;
}

// Distance of the angular velocity after 1 s from that of the reference, world [rad/s].
static double damped_error(const mabd_model* model, const double* y, double h) {
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[3];
    double along[3], world[3], square = 0;
    joint_run(sim, (int)lround(1 / h));
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    reference_rotate(y, y + 4, along);
    joint_to_world(along, world);
    for (int k = 0; k < 3; k++) square += (w[k] - world[k]) * (w[k] - world[k]);
    mabd_sim_destroy(sim);
    return sqrt(square);
}

static void check_damped(const damped_case* c) {
    mabd_model* model = damped_model(c);
    double error[3], y[7];
    reference(c, y);
    for (int k = 0; k < 3; k++) error[k] = damped_error(model, y, ldexp(H, -k));
    // second order: with BDF2 on the coordinates up to 640 rad/s^3
    const double factor = rig_square_bound(c->name, H, 3, error);
    cr_expect(factor < 350, "%s: %g rad/s^3", c->name, factor);
    cr_expect(error[2] < 1e-3, "%s: error %g rad/s", c->name, error[2]);
    mabd_model_destroy(model);
}

Test(ball_dampers, equal_dampers_take_the_energy_of_a_tumbling_block) {
    const damped_case c = {"ball, equal dampers", MABD_JOINT_BALL, {0.01, 0.01, 0.01}, {0}, false};
    double y[7];
    cr_assert(ieee_ulp_eq(dbl, energy_of(spin), 0.9025, 100));
    reference(&c, y);
    cr_assert(epsilon_eq(dbl, energy_of(y + 4), 0.242, 5e-4));
    check_damped(&c);
}

Test(ball_dampers, different_dampers_act_in_the_frame_on_the_block) {
    const damped_case c = {"ball, dampers on b", MABD_JOINT_BALL, {0.03, 0.002, 0.01}, {0}, false};
    check_damped(&c);
}

Test(ball_dampers, different_dampers_act_in_a_frame_at_rest) {
    const damped_case c = {"ball, dampers, a", MABD_JOINT_BALL, {0.03, 0.002, 0.01}, {0}, true};
    check_damped(&c);
}

Test(ball_dampers, a_damper_about_one_axis_leaves_the_others_alone) {
    const damped_case on_b = {"ball, one damper, b", MABD_JOINT_BALL, {0, 0.03, 0}, {0}, false};
    const damped_case on_a = {"ball, one damper, a", MABD_JOINT_BALL, {0, 0.03, 0}, {0}, true};
    check_damped(&on_b);
    check_damped(&on_a);
}

Test(ball_dampers, armature_resists_the_rate_of_the_angular_velocity) {
    const damped_case equal = {"ball, armature", MABD_JOINT_BALL, {0}, {0.02, 0.02, 0.02}, false};
    const damped_case on_b = {
        "ball, armature and dampers, b", MABD_JOINT_BALL, {0.01, 0.003, 0}, {0.05, 0, 0.01}, false};
    damped_case on_a = on_b;
    on_a.name = "ball, armature and dampers, a", on_a.block_is_a = true;
    check_damped(&equal);
    check_damped(&on_b);
    check_damped(&on_a);
}

Test(ball_dampers, slot_plane_and_free_joints_do_the_same) {
    damped_case c = {"slot", MABD_JOINT_SLOT, {0.01, 0.02, 0.005}, {0.01, 0, 0}, false};
    check_damped(&c);
    c.name = "point-on-plane", c.type = MABD_JOINT_POINT_ON_PLANE;
    check_damped(&c);
    c.name = "free", c.type = MABD_JOINT_FREE;
    check_damped(&c);
}

// ---- along one axis, with force laws ------------------------------------------------------------

// Largest error of the angle about x within 0.5 s; speed: at the start. expected: of the time.
static double planar_error(const mabd_axis_def* axis, double speed, double h,
                           double (*expected)(const mabd_axis_def* axis, double speed, double t)) {
    mabd_scene* scene = rig_scene(0);
    block_def def = block();
    const mabd_axis_def other = {.damping = 0.05, .armature = 0.001};
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {
        [MABD_AXIS_RX] = axis, [MABD_AXIS_RY] = &other, [MABD_AXIS_RZ] = &other};
    def.spin[0] = speed, def.spin[1] = def.spin[2] = 0;
    joint_add(scene, MABD_JOINT_BALL, MABD_WORLD, block_add(scene, &def), axes);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def sim_def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &sim_def);
    double worst = 0;
    for (int n = 1; n <= (int)lround(0.5 / h); n++) {
        joint_run(sim, 1);
        const double x = joint_coordinate(sim, 0, MABD_AXIS_RX);
        worst = fmax(worst, fabs(x - expected(axis, speed, n * h)));
    }
    rig_destroy(sim, model);
    return worst;
}

static double rubbed_angle(const mabd_axis_def* axis, double speed, double t) {
    const block_def def = block();
    const double inertia = block_inertia(&def, 0) + axis->armature, d = axis->damping,
                 f = axis->friction / d;
    const double end = inertia / d * log(1 + speed / f);
    if (t > end) t = end;
    return (speed + f) * inertia / d * (1 - exp(-d / inertia * t)) - f * t;
}

Test(ball_dampers, a_damper_and_friction_stop_a_ball_joint) {
    const mabd_axis_def axis = {.damping = 0.05, .friction = 0.04, .armature = 0.002};
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = planar_error(&axis, 5, ldexp(H, -k), rubbed_angle);
    rig_order("damper and friction", H, 3, error);
    cr_expect(error[2] < 2e-4, "%g rad", error[2]);
}

static double stopped_angle(const mabd_axis_def* axis, double speed, double t) {
    const block_def def = block();
    const double inertia = block_inertia(&def, 0), d = axis->damping;
    return fmin(axis->upper, speed * inertia / d * (1 - exp(-d / inertia * t)));
}

Test(ball_dampers, a_damped_ball_joint_comes_to_rest_at_its_stop) {
    const mabd_axis_def axis = {
        .damping = 0.02, .limited = true, .lower = -1, .upper = (mabd_real)0.7};
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = planar_error(&axis, 5, ldexp(H, -k), stopped_angle);
    rig_order("damper and stop", H, 3, error);
    cr_expect(error[2] < 5e-3, "%g rad", error[2]); // a step that meets the stop is of first order
}

static double held_angle(const mabd_axis_def* axis, double speed, double t) {
    (void)speed;
    return axis->servo.value + (axis->servo.value_end - axis->servo.value) * t;
}

Test(ball_dampers, a_rigid_servo_turns_one_axis_of_a_damped_ball_joint) {
    const mabd_axis_def axis = {.servo = signal_ramp(0, 5, 0, 1), .servo_rigid = true};
    cr_expect(le(dbl, planar_error(&axis, 5, H, held_angle), 1e-9));
}

// ---- mechanisms ---------------------------------------------------------------------------------

// Two blocks, apart from a common anchor, tumbling in a ball joint with or without dampers and
// armature.
static mabd_model* pair_model(bool damped) {
    mabd_scene* scene = rig_scene(0);
    const mabd_axis_def axis[3] = {
        {.damping = 0.05, .armature = 0.01}, {.damping = 0.01}, {.armature = 0.03}};
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {
        [MABD_AXIS_RX] = &axis[0], [MABD_AXIS_RY] = &axis[1], [MABD_AXIS_RZ] = &axis[2]};
    const mabd_axis_def* none[MABD_AXIS_COUNT] = {NULL};
    block_def a = block(), b = block();
    const double spin_a[3] = {3, -6, 4}, arm = 0.2;
    memcpy(a.spin, spin_a, sizeof a.spin);
    a.place[0] = -arm, b.place[0] = arm; // the anchor is at rest: velocity = spin x place
    a.velocity[1] = -arm * a.spin[2], a.velocity[2] = arm * a.spin[1];
    b.velocity[1] = arm * b.spin[2], b.velocity[2] = -arm * b.spin[1];
    const int32_t first = block_add(scene, &a);
    joint_add(scene, MABD_JOINT_BALL, first, block_add(scene, &b), damped ? axes : none);
    return rig_model(scene);
}

Test(ball_dampers, two_free_bodies_keep_their_angular_momentum) {
    mabd_model* model = pair_model(true);
    double error[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(H, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_measure start = mabd_sim_measure(sim);
        double size = 0, off = 0;
        joint_run(sim, (int)lround(1 / h));
        const mabd_measure end = mabd_sim_measure(sim);
        for (int i = 0; i < 3; i++) {
            size = hypot(size, start.angular_momentum[i]);
            off = hypot(off, end.angular_momentum[i] - start.angular_momentum[i]);
        }
        error[k] = off / size;
        mabd_sim_destroy(sim);
    }
    rig_order("angular momentum of two bodies", H, 3, error);
    cr_expect(error[2] < 1e-4, "%g of the angular momentum", error[2]);
    mabd_model_destroy(model);
}

// Run a scene, every step in one piece; return the largest energy above that at the start, as a
// part of the kinetic energy there.
static double largest_gain(mabd_model* model, double h, int steps) {
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gain = 0;
    for (int n = 0; n < steps; n++) {
        mabd_error error = {0};
        mabd_step_info info;
        rig_check(mabd_sim_step(sim, &info, &error), &error, "step");
        cr_assert(info.converged && info.retries == 0, "step %d", n);
        gain = fmax(gain, (mabd_sim_measure(sim).energy - start.energy) / start.kinetic);
    }
    rig_destroy(sim, model);
    return gain;
}

// The integrator may add energy to a fast body in its first steps. Dampers do not increase that.
Test(ball_dampers, dampers_add_no_energy_at_a_long_step) {
    const damped_case c = {"", MABD_JOINT_BALL, {0.01, 0.01, 0.01}, {0}, false};
    const damped_case free = {"", MABD_JOINT_BALL, {0}, {0}, false};
    const double own = largest_gain(damped_model(&free), 0.01, 300);
    cr_expect(le(dbl, largest_gain(damped_model(&c), 0.01, 300), own + 1e-12));
    const double bare = largest_gain(pair_model(false), 0.01, 300);
    cr_expect(le(dbl, largest_gain(pair_model(true), 0.01, 300), bare + 1e-12));
}

typedef struct figure_part {
    mabd_shape shape;
    double size[3], position[3]; // [m]
    double spin[3];              // [rad/s]
    int parent;                  // -1 = the world
    double anchor[3];            // of the joint to the parent [m]
} figure_part;

// Bodies whose joints to their parents, or to nothing (first: free), are balls with equal axes.
static mabd_model* figure_model(int count, const figure_part* parts, bool held,
                                const mabd_axis_def* axis) {
    mabd_scene* scene = rig_scene(-9.81);
    for (int i = 0; i < count; i++) {
        mabd_error error = {0};
        const mabd_geom geom = mabd_geom_make(parts[i].shape, parts[i].size, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        memcpy(body.position, parts[i].position, sizeof body.position);
        memcpy(body.angular_velocity, parts[i].spin, sizeof body.angular_velocity);
        const int32_t id = rig_add_body(scene, &body);
        mabd_joint_def joint = mabd_default_joint_def();
        joint.a = parts[i].parent < 0 ? MABD_WORLD : parts[i].parent, joint.b = id;
        memcpy(joint.anchor, parts[i].anchor, sizeof joint.anchor);
        for (int k = MABD_AXIS_RX; k < MABD_AXIS_COUNT; k++) joint.axes[k] = axis;
        if (parts[i].parent < 0 && !held) continue;
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

// The parts of these velocities that open the joints are removed at the start.
static const figure_part rod[] = {
    {MABD_SHAPE_BOX, {0.1, 0.1, 0.4}, {0, 0, -0.2}, {4, 6, 2}, -1, {0, 0, 0}},
    {MABD_SHAPE_CAPSULE, {0.008, 0.5, 0}, {0, 0, -0.66}, {-3, 6, 12}, 0, {0, 0, -0.4}},
    {MABD_SHAPE_BOX, {0.12, 0.1, 0.2}, {0, 0, -1.02}, {-8, 3, -20}, 1, {0, 0, -0.92}},
};

// A thin rod between two damped balls, which turns about its own axis by many turns.
Test(ball_dampers, a_rod_between_damped_balls_settles_at_a_long_step) {
    // the start of BDF2 gains 1.8 % of the spin in the first steps of stiff bodies without dampers
    const mabd_axis_def bare = {0};
    const double own = largest_gain(figure_model(3, rod, true, &bare), 0.01, 500);
    for (double damping = 1e-4; damping < 20; damping *= 10) {
        const mabd_axis_def axis = {.damping = damping};
        const double gain = largest_gain(figure_model(3, rod, true, &axis), 0.01, 500);
        cr_expect(le(dbl, gain, fmax(1e-3, own)), "damping %g", damping);
    }
}

static const figure_part doll[] = {
    {MABD_SHAPE_BOX, {0.2, 0.3, 0.5}, {0, 0, 1.5}, {3, 5, 2}, -1, {0}},
    {MABD_SHAPE_CAPSULE, {0.1, 0.02, 0}, {0, 0, 1.9}, {0}, 0, {0, 0, 1.77}},
    {MABD_SHAPE_CAPSULE, {0.045, 0.25, 0}, {0, 0.2, 1.5}, {0}, 0, {0, 0.2, 1.7}},
    {MABD_SHAPE_CAPSULE, {0.04, 0.25, 0}, {0, 0.2, 1.15}, {0}, 2, {0, 0.2, 1.33}},
    {MABD_SHAPE_CAPSULE, {0.045, 0.25, 0}, {0, -0.2, 1.5}, {0}, 0, {0, -0.2, 1.7}},
    {MABD_SHAPE_CAPSULE, {0.04, 0.25, 0}, {0, -0.2, 1.15}, {0}, 4, {0, -0.2, 1.33}},
    {MABD_SHAPE_CAPSULE, {0.06, 0.35, 0}, {0, 0.1, 0.95}, {0}, 0, {0, 0.1, 1.2}},
    {MABD_SHAPE_CAPSULE, {0.05, 0.35, 0}, {0, 0.1, 0.45}, {0}, 6, {0, 0.1, 0.7}},
    {MABD_SHAPE_CAPSULE, {0.06, 0.35, 0}, {0, -0.1, 0.95}, {0}, 0, {0, -0.1, 1.2}},
    {MABD_SHAPE_CAPSULE, {0.05, 0.35, 0}, {0, -0.1, 0.45}, {0}, 8, {0, -0.1, 0.7}},
};
#define DOLL (int)(sizeof doll / sizeof doll[0])

Test(ball_dampers, damped_ragdolls_tumble_at_a_long_step) {
    for (int armature = 0; armature < 2; armature++) {
        for (int stops = 0; stops < 2; stops++) {
            for (double damping = 0.01; damping < 2; damping *= 10) {
                const mabd_axis_def axis = {.damping = damping,
                                            .armature = 0.01 * armature,
                                            .limited = stops,
                                            .lower = -0.9,
                                            .upper = 0.9};
                cr_expect(
                    le(dbl, largest_gain(figure_model(DOLL, doll, false, &axis), 0.01, 300), 1e-3));
            }
        }
    }
}
