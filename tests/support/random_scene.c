// SPDX-License-Identifier: Apache-2.0
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

mabd_real random_real(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (mabd_real)((double)(*state >> 11) / 4503599627370496.0 - 1.0);
}

static int32_t random_index(uint64_t* state, int32_t n) {
    const mabd_real u = (random_real(state) + 1) / 2;
    const int32_t i = (int32_t)(u * (mabd_real)n);
    return i < n ? i : n - 1;
}

static void check(mabd_status status, const mabd_error* error) {
    if (status != MABD_OK) cr_fatal("random scene: %s", error->text);
}

static void random_rotation(uint64_t* state, mabd_real* q) {
    mabd_real norm;
    do {
        norm = 0;
        for (int k = 0; k < 4; k++) {
            q[k] = random_real(state);
            norm += q[k] * q[k];
        }
    } while (norm < (mabd_real)0.05);
}

static void add_body(mabd_scene* scene, const random_scene_def* def, uint64_t* state, int32_t i) {
    mabd_error error = {0};
    mabd_body_def body = mabd_default_body_def();
    mabd_real size[3];
    for (int k = 0; k < 3; k++) {
        size[k] = (mabd_real)0.2 + (mabd_real)0.15 * random_real(state);
        body.position[k] = (mabd_real)0.5 * random_real(state) + (k == 0 ? (mabd_real)i * 0.4 : 0);
        body.velocity[k] = random_real(state);
        body.angular_velocity[k] = 2 * random_real(state);
    }
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    body.geoms = &geom;
    body.geom_count = 1;
    body.mass = (mabd_real)pow((double)def->mass_range, (double)random_real(state) / 2);
    random_rotation(state, body.rotation);
    check(mabd_scene_add_body(scene, &body, NULL, &error), &error);
}

static const char* const free_axes[MABD_JOINT_COUNT][2] = {
#define X(name, text, translations, rotations) {translations, rotations},
    MABD_JOINT_LIST(X)
#undef X
};

static bool is_free(mabd_joint type, int axis) {
    const char letter = "xyz"[axis % 3];
    for (const char* c = free_axes[type][axis / 3]; *c; c++) {
        if (*c == letter) return true;
    }
    return false;
}

static void random_control(uint64_t* state, mabd_axis_def* axis) {
    const mabd_axis_def none = {0};
    *axis = none;
    axis->stiffness = 50 * (1 + random_real(state));
    axis->rest = (mabd_real)0.1 * random_real(state);
    axis->damping = 2 * (1 + random_real(state));
    axis->armature = (mabd_real)0.1 * (1 + random_real(state));
    if (random_real(state) > 0) {
        axis->servo_rigid = random_real(state) > (mabd_real)0.5;
        const mabd_real target = axis->servo_rigid ? 0 : (mabd_real)0.1 * random_real(state);
        axis->servo = mabd_signal_constant(target);
        if (!axis->servo_rigid) axis->servo_stiffness = 100;
    }
    if (random_real(state) > 0) axis->motor = mabd_signal_constant(random_real(state));
}

static void add_joint(mabd_scene* scene, const random_scene_def* def, uint64_t* state, int32_t a,
                      int32_t b) {
    mabd_error error = {0};
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_axis_def axes[MABD_AXIS_COUNT];
    joint.type =
        def->balls_only ? MABD_JOINT_BALL : (mabd_joint)random_index(state, MABD_JOINT_COUNT - 1);
    joint.a = a;
    joint.b = b;
    for (int k = 0; k < 3; k++) joint.anchor[k] = random_real(state) / 2;
    joint.anchor[0] += (mabd_real)0.4 * (mabd_real)b;
    random_rotation(state, joint.frame);
    for (int k = 0; def->controls && !def->balls_only && k < MABD_AXIS_COUNT; k++) {
        if (!is_free(joint.type, k) || random_real(state) < 0) continue;
        random_control(state, &axes[k]);
        joint.axes[k] = &axes[k];
    }
    check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error);
}

mabd_scene* random_scene(const random_scene_def* def) {
    mabd_error error = {0};
    mabd_scene* scene;
    uint64_t state = def->seed * 0x9e3779b97f4a7c15ull + 1;
    check(mabd_scene_create(NULL, &scene), &error);
    for (int32_t i = 0; i < def->bodies; i++) add_body(scene, def, &state, i);
    if (def->grounded) add_joint(scene, def, &state, MABD_WORLD, 0);
    const int32_t n = def->bodies, half = n / 2;
    switch (def->pattern) {
    case RANDOM_CHAIN:
        for (int32_t i = 1; i < n; i++) add_joint(scene, def, &state, i - 1, i);
        break;
    case RANDOM_LADDER:
        for (int32_t i = 1; i < half; i++) {
            add_joint(scene, def, &state, i - 1, i);
            add_joint(scene, def, &state, half + i - 1, half + i);
        }
        for (int32_t i = 0; i < half; i++) add_joint(scene, def, &state, i, half + i);
        break;
    default:
        for (int32_t i = 1; i < n; i++) add_joint(scene, def, &state, random_index(&state, i), i);
        for (int32_t i = 0; def->pattern == RANDOM_LOOPS && i < 3; i++) {
            // not neighbours: two joints of any type between two bodies may have more rows than the
            // bodies have freedoms, and then multipliers are not unique
            const int32_t a = random_index(&state, n), b = random_index(&state, n);
            if (a - b > 1 || b - a > 1) add_joint(scene, def, &state, a, b);
        }
    }
    return scene;
}
