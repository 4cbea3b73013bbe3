// SPDX-License-Identifier: Apache-2.0
#include "support/joint_rig.h"

#include "support/reference.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

// unit: (5, 3, -2, 4)/sqrt(54)
const double joint_frame[4] = {0.68041381743977169, 0.40824829046386302, -0.27216552697590868,
                               0.54433105395181736};
const double joint_anchor[3] = {0.4, -0.7, 1.1};
const double block_center[3] = {0.03, -0.02, 0.05};

// Rotation of a box in its user frame: (7, -1, 3, 2)/sqrt(63)
static const double askew[4] = {0.88191710368819687, -0.12598815766974242, 0.37796447300922725,
                                0.25197631533948484};

static void check(mabd_status status, const mabd_error* error, const char* what) {
    if (status != MABD_OK) cr_fatal("%s: %s", what, error->text);
}

static void product(const double* a, const double* b, double* c) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void joint_to_world(const double* along, double* world) {
    reference_rotate(joint_frame, along, world);
}

double joint_component(const double* world, int k) {
    double along[3];
    reference_unrotate(joint_frame, world, along);
    return along[k];
}

// ---- blocks ------------------------------------------------------------------------------------

double block_mass(const block_def* def) {
    return 1000 * def->sides[0] * def->sides[1] * def->sides[2];
}

double block_inertia(const block_def* def, int k) {
    const double u = def->sides[(k + 1) % 3], v = def->sides[(k + 2) % 3];
    return block_mass(def) * (u * u + v * v) / 12;
}

void block_world_center(const double* position, const double* quaternion, double* center) {
    reference_rotate(quaternion, block_center, center);
    for (int k = 0; k < 3; k++) center[k] += position[k];
}

mabd_body_def block_body(const block_def* def, mabd_geom* geom) {
    const double back[4] = {askew[0], -askew[1], -askew[2], -askew[3]};
    mabd_body_def body = mabd_default_body_def();
    double center[3], arm[3], spin[3];
    *geom = mabd_geom_make(MABD_SHAPE_BOX, def->sides, 1000);
    memcpy(geom->position, block_center, sizeof geom->position);
    memcpy(geom->rotation, askew, sizeof geom->rotation);
    body.geom_count = 1;
    body.geoms = geom;
    body.drag = def->drag;
    if (def->young > 0) body.young = def->young;
    product(joint_frame, back, body.rotation);
    joint_to_world(def->place, center);
    reference_rotate(body.rotation, block_center, arm);
    joint_to_world(def->velocity, body.velocity);
    joint_to_world(def->spin, spin);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        body.position[k] = joint_anchor[k] + center[k] - arm[k];
        body.angular_velocity[k] = spin[k];
        body.velocity[k] -= spin[i] * arm[j] - spin[j] * arm[i]; // of the frame's origin
    }
    return body;
}

int32_t block_add(mabd_scene* scene, const block_def* def) {
    mabd_error error = {0};
    mabd_geom geom;
    int32_t id = -1;
    const mabd_body_def body = block_body(def, &geom);
    check(mabd_scene_add_body(scene, &body, &id, &error), &error, "body");
    return id;
}

void block_push(mabd_scene* scene, int32_t body, const double* force, const double* torque,
                mabd_signal signal) {
    mabd_error error = {0};
    mabd_force_def def = {.body = body, .signal = signal};
    memcpy(def.point, block_center, sizeof def.point);
    if (force) joint_to_world(force, def.force);
    if (torque) joint_to_world(torque, def.torque);
    check(mabd_scene_add_force(scene, &def, &error), &error, "force");
}

// ---- joints ------------------------------------------------------------------------------------

int joint_is_free(mabd_joint type, int axis) {
    static const char* const letters[MABD_JOINT_COUNT][2] = {
#define X(name, text, translations, rotations) {translations, rotations},
        MABD_JOINT_LIST(X)
#undef X
    };
    return strchr(letters[type][axis / 3], "xyz"[axis % 3]) != NULL;
}

int32_t joint_add(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b,
                  const mabd_axis_def* const* axes) {
    mabd_error error = {0};
    mabd_joint_def def = mabd_default_joint_def();
    int32_t id = -1;
    def.type = type;
    def.a = a;
    def.b = b;
    memcpy(def.anchor, joint_anchor, sizeof def.anchor);
    memcpy(def.frame, joint_frame, sizeof def.frame);
    for (int k = 0; axes && k < MABD_AXIS_COUNT; k++) def.axes[k] = axes[k];
    check(mabd_scene_add_joint(scene, &def, &id, &error), &error, "joint");
    return id;
}

int32_t joint_add_axis(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b, mabd_axis axis,
                       const mabd_axis_def* def) {
    const mabd_axis_def* axes[MABD_AXIS_COUNT] = {0};
    axes[axis] = def;
    return joint_add(scene, type, a, b, axes);
}

void joint_coordinates(const mabd_sim* sim, int32_t joint, bool bare, double* x) {
    int32_t a, b;
    mabd_sim_get_joint_coordinates(sim, joint, x);
    if (!bare || mabd_model_joint_type(mabd_sim_model(sim), joint, &a, &b) != MABD_JOINT_BALL)
        return;
    for (int k = 0; k < 6; k += 3) {
        const double world[3] = {x[k], x[k + 1], x[k + 2]};
        reference_unrotate(joint_frame, world, x + k);
    }
}

double joint_coordinate(const mabd_sim* sim, int32_t joint, int axis) {
    double x[MABD_AXIS_COUNT];
    joint_coordinates(sim, joint, false, x);
    return x[axis];
}

void joint_run(mabd_sim* sim, int steps) {
    for (int i = 0; i < steps; i++) {
        mabd_error error = {0};
        mabd_step_info info;
        check(mabd_sim_step(sim, &info, &error), &error, "step");
        if (!info.converged || info.retries > 0 || !(info.gap < 1e-9) ||
            !(info.angle_error < 1e-9)) {
            cr_fatal("step %d: rotation %g, %d retries, gap %g m, %g rad", i,
                     (double)info.affine.rotation, (int)info.retries, (double)info.gap,
                     (double)info.angle_error);
        }
    }
}

mabd_signal signal_sine(double offset, double amplitude, double frequency, double phase) {
    const mabd_signal s = {.kind = MABD_SIGNAL_SINE,
                           .value = offset,
                           .amplitude = amplitude,
                           .frequency = frequency,
                           .phase = phase};
    return s;
}

mabd_signal signal_ramp(double value, double value_end, double start, double end) {
    const mabd_signal s = {.kind = MABD_SIGNAL_RAMP,
                           .value = value,
                           .value_end = value_end,
                           .start = start,
                           .end = end};
    return s;
}

// ---- one coordinate ----------------------------------------------------------------------------

// One implicit solve to time t. With x' = (x - x_b)/bh and x'' = (x' - v_b)/bh:
//   (m/bh^2 + d/bh + k) x = f + m (x_b/bh + v_b)/bh + d x_b/bh
static void line_solve(const line_motion* motion, double t, double bh, double xb, double vb,
                       double* x, double* rate) {
    const double force = motion->force ? motion->force(t, motion->context) : 0;
    const double left = motion->mass / (bh * bh) + motion->damping / bh + motion->stiffness;
    const double right = force + motion->mass * (xb / bh + vb) / bh + motion->damping * xb / bh;
    *x = right / left;
    *rate = (*x - xb) / bh;
}

void line_bdf2(const line_motion* motion, double h, int steps, double* x, double* rate) {
    const double g = 1 - sqrt(0.5), k = (1 - g) / g;
    double x1 = *x, v1 = *rate;
    if (steps == 0) return;
    line_solve(motion, g * h, g * h, x1, v1, x, rate);
    line_solve(motion, h, g * h, k * *x + (1 - k) * x1, k * *rate + (1 - k) * v1, x, rate);
    for (int n = 2; n <= steps; n++) {
        const double xb = (4 * *x - x1) / 3, vb = (4 * *rate - v1) / 3;
        x1 = *x, v1 = *rate;
        line_solve(motion, n * h, 2 * h / 3, xb, vb, x, rate);
    }
}
