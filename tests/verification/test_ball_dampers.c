// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on the rotations of ball, slot and free joints act on the relative angular
// velocity O and its rate, components in the joint frame on body b.
//
//   block = b   the frame is that of the principal axes of the block: Euler's equations in them,
//                 (I_k + A_k) O_k' = (I O x O)_k - d_k O_k
//   block = a   the frame is at rest, P its rotation to the principal axes at the time t:
//                 (I + P A P') w' = I w x w - P (d + A [P' w x]..) ..., see world_rate
//
// Both are integrated by the fourth-order Runge-Kutta method (support/reference.h). Errors must
// fall with order 1.8 or more.
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
    const double order = rig_order(c->name, H, 3, error);
    cr_expect(order >= 1.8, "%s: order %g", c->name, order);
    cr_expect(error[2] < 0.02, "%s: error %g rad/s", c->name, error[2]);
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

Test(ball_dampers, slot_and_free_joints_do_the_same) {
    damped_case c = {"slot", MABD_JOINT_SLOT, {0.01, 0.02, 0.005}, {0.01, 0, 0}, false};
    check_damped(&c);
    c.name = "free", c.type = MABD_JOINT_FREE;
    check_damped(&c);
}
