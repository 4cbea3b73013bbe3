// SPDX-License-Identifier: Apache-2.0
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

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

static const mabd_joint single_joints[] = {
    MABD_JOINT_FIXED,       MABD_JOINT_PRISMATIC,   MABD_JOINT_HINGE,     MABD_JOINT_RECTANGULAR,
    MABD_JOINT_CYLINDRICAL, MABD_JOINT_PIN_IN_SLOT, MABD_JOINT_UNIVERSAL, MABD_JOINT_PLANAR};
#define SINGLE_JOINTS ((int32_t)(sizeof single_joints / sizeof single_joints[0]))

static bool is_free(mabd_joint type, int axis) {
    const char letter = "xyz"[axis % 3];
    for (const char* c = free_axes[type][axis / 3]; *c; c++) {
        if (*c == letter) return true;
    }
    return false;
}

// Give an axis stops around the start, dry or smooth friction, or, where it may be driven, a drive
// of limited force.
static void random_law(uint64_t* state, const random_scene_def* def, mabd_axis_def* axis) {
    const int32_t kind = random_index(state, def->passive ? 4 : 7);
    const mabd_real size = 1 + random_real(state);
    if (kind % 4 == 0 || kind == 5) {
        axis->limited = true;
        axis->lower = (mabd_real)-0.05 - (mabd_real)0.2 * (1 + random_real(state));
        axis->upper = (mabd_real)0.05 + (mabd_real)0.2 * (1 + random_real(state));
    }
    if (kind == 1 || kind == 2 || kind == 5) axis->friction = size;
    if (kind == 2) axis->friction_speed = (mabd_real)0.1;
    if (kind < 4) return;
    axis->max_force = 5 * size + (mabd_real)0.1;
    if (kind == 6 && !axis->servo_rigid) {
        axis->servo = mabd_signal_constant(0);
        axis->servo.kind = MABD_SIGNAL_NONE;
        axis->servo_stiffness = axis->servo_damping = 0;
        axis->motor_velocity = mabd_signal_constant(random_real(state));
    } else if (axis->servo.kind == MABD_SIGNAL_NONE) {
        axis->servo = mabd_signal_constant((mabd_real)0.1 * random_real(state));
        axis->servo_stiffness = 100;
    }
}

static void random_control(uint64_t* state, const random_scene_def* def, mabd_axis_def* axis) {
    const mabd_axis_def none = {0};
    *axis = none;
    axis->stiffness = 50 * (1 + random_real(state));
    axis->rest = (mabd_real)0.1 * random_real(state);
    axis->damping = 2 * (1 + random_real(state));
    axis->armature = (mabd_real)0.1 * (1 + random_real(state));
    if (def->passive) return;
    if (random_real(state) > 0) {
        axis->servo_rigid = random_real(state) > (mabd_real)0.5;
        axis->servo_rigid &= !def->soft;
        const mabd_real target = axis->servo_rigid ? 0 : (mabd_real)0.1 * random_real(state);
        axis->servo = mabd_signal_constant(target);
        if (!axis->servo_rigid) axis->servo_stiffness = 100;
    }
    if (random_real(state) > 0) axis->motor = mabd_signal_constant(random_real(state));
}

#define GRID 5 // of splines: q = 0 .. 2

/// What a joint without atomic rows points to.
typedef struct path_storage {
    mabd_joint_part parts[2];
    mabd_real frames[7 * GRID], values[MABD_AXIS_COUNT][GRID * GRID];
    mabd_curve_def curve;
    mabd_surface_def surface;
} path_storage;

// Make a joint one without atomic rows.
static void make_path(uint64_t* state, path_storage* s, mabd_joint_def* joint) {
    joint->type = (mabd_joint)(MABD_JOINT_SCREW + random_index(state, 4));
    if (joint->type == MABD_JOINT_SCREW) joint->pitch = random_real(state);
    for (int i = 0; i < 2; i++) { // two balls could spin without moving a mass
        static const mabd_joint kinds[] = {MABD_JOINT_SCREW, MABD_JOINT_BALL, MABD_JOINT_UNIVERSAL};
        s->parts[i] = mabd_default_joint_part();
        s->parts[i].type = kinds[i == 0 ? 2 * random_index(state, 2) : random_index(state, 3)];
        s->parts[i].pitch = s->parts[i].type == MABD_JOINT_SCREW ? random_real(state) : 0;
        for (int k = 0; k < 3; k++) s->parts[i].anchor[k] = random_real(state) / 2;
        random_rotation(state, s->parts[i].frame);
    }
    for (int i = 0; i < GRID; i++) {
        const mabd_real turn[3] = {random_real(state), random_real(state), random_real(state)};
        for (int k = 0; k < 3; k++) {
            s->frames[7 * i + k] = random_real(state), s->frames[7 * i + 4 + k] = turn[k] / 2;
        }
        s->frames[7 * i + 3] = 1;
    }
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        for (int i = 0; i < GRID * GRID; i++) s->values[k][i] = random_real(state);
        s->surface.values[k] = s->values[k];
    }
    s->curve = (mabd_curve_def){.count = GRID, .frames = s->frames};
    s->surface.rows = s->surface.columns = GRID;
    if (joint->type == MABD_JOINT_COMPOSITE) joint->part_count = 2, joint->parts = s->parts;
    if (joint->type == MABD_JOINT_SPLINE_CURVE) joint->curve = &s->curve;
    if (joint->type == MABD_JOINT_SPLINE_SURFACE) joint->surface = &s->surface;
    for (int k = 0; k < 2; k++) joint->start[k] = (mabd_real)0.2;
}

static bool has_ball(mabd_joint type) {
    return type == MABD_JOINT_BALL || type == MABD_JOINT_SLOT || type == MABD_JOINT_FREE ||
           type == MABD_JOINT_POINT_ON_PLANE;
}

// Give balls charts that are not singular in the start pose.
static void draw_charts(uint64_t* state, path_storage* s, mabd_joint_def* joint) {
    if (has_ball(joint->type)) joint->chart = (mabd_joint_chart)(1 + random_index(state, 7));
    for (int32_t i = 0; i < joint->part_count; i++) {
        if (!has_ball(s->parts[i].type)) continue;
        s->parts[i].chart = (mabd_joint_chart)(1 + random_index(state, 7));
    }
}

// Any type with rows; those that come after `free` only in wide scenes.
static mabd_joint random_type(uint64_t* state, bool wide) {
    const int32_t count = wide ? MABD_JOINT_COUNT - 1 : MABD_JOINT_FREE;
    const mabd_joint type = (mabd_joint)random_index(state, count);
    return type < MABD_JOINT_FREE ? type : type + 1;
}

static void add_joint(mabd_scene* scene, const random_scene_def* def, uint64_t* state, int32_t a,
                      int32_t b) {
    mabd_error error = {0};
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_axis_def axes[MABD_AXIS_COUNT];
    joint.type = def->balls_only ? MABD_JOINT_BALL : random_type(state, def->wide);
    if (def->single) joint.type = single_joints[random_index(state, SINGLE_JOINTS)];
    joint.a = a;
    joint.b = b;
    for (int k = 0; k < 3; k++) joint.anchor[k] = random_real(state) / 2;
    joint.anchor[0] += (mabd_real)0.4 * (mabd_real)b;
    random_rotation(state, joint.frame);
    for (int k = 0; def->controls && !def->balls_only && k < MABD_AXIS_COUNT; k++) {
        if (!is_free(joint.type, k) || (!def->passive && random_real(state) < 0)) continue;
        random_control(state, def, &axes[k]);
        // springs on a rotation vector push the other way beyond half a turn: their energy jumps
        const bool vector = free_axes[joint.type][1][0] != 0 && free_axes[joint.type][1][1] != 0 &&
                            free_axes[joint.type][1][2] != 0;
        if (def->passive && vector && k >= 3) axes[k].stiffness = axes[k].rest = 0;
        const bool slides = free_axes[joint.type][0][0] != 0 && free_axes[joint.type][0][1] != 0 &&
                            free_axes[joint.type][0][2] != 0;
        if (def->laws && !(def->damped && (slides || vector))) random_law(state, def, &axes[k]);
        joint.axes[k] = &axes[k];
        if (def->damped && vector && k >= 3) joint.axes[k] = NULL;
    }
    for (int k = 3; def->damped && def->controls && has_ball(joint.type) && k < 6; k++) {
        axes[k] = (mabd_axis_def){.damping = b % 3, .armature = (mabd_real)0.02 * (b % 4)};
        joint.axes[k] = b % 2 == 0 ? &axes[k] : NULL;
    }
    path_storage path;
    if (def->paths && random_real(state) > 0) {
        memset(joint.axes, 0, sizeof joint.axes);
        make_path(state, &path, &joint);
    }
    if (def->charts) draw_charts(state, &path, &joint);
    check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error);
}

// Start poses of the bodies of a part, and the source of its joints.
typedef struct part {
    mabd_scene* scene;
    const random_scene_def* def;
    uint64_t state;
    int32_t first;
} part;

static void join(part* p, int32_t a, int32_t b) {
    add_joint(p->scene, p->def, &p->state, p->first + a, p->first + b);
}

static void join_line(part* p, int32_t begin, int32_t end) {
    for (int32_t i = begin + 1; i < end; i++) join(p, i - 1, i);
}

static void join_ladder(part* p, int32_t begin, int32_t half) {
    for (int32_t i = 1; i < half; i++) {
        join(p, begin + i - 1, begin + i);
        join(p, begin + half + i - 1, begin + half + i);
    }
    for (int32_t i = 0; i < half; i++) join(p, begin + i, begin + half + i);
}

static void join_tree(part* p, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) join(p, random_index(&p->state, i), i);
}

static void join_across(part* p, int32_t n, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        // not neighbours: two joints of any type between two bodies may have more rows than the
        // bodies have freedoms, and then multipliers are not unique
        const int32_t a = random_index(&p->state, n), b = random_index(&p->state, n);
        if (a - b > 1 || b - a > 1) join(p, a, b);
    }
}

#define NET_COLUMNS 3

static void join_net(part* p, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if ((i + 1) % NET_COLUMNS != 0 && i + 1 < n) join(p, i, i + 1);
        if (i + NET_COLUMNS < n) join(p, i, i + NET_COLUMNS);
    }
}

static void join_mixed(part* p, int32_t n) {
    const int32_t third = n / 3, half = third / 2;
    join_line(p, 0, third);
    if (third > 2) join(p, third - 1, 0);
    join_ladder(p, third, half);
    if (half > 0) join(p, 0, third);
    join_tree(p, third + 2 * half, n);
    join_across(p, n, 3);
}

static void add_fixed(part* p, int32_t i) {
    mabd_error error = {0};
    mabd_body_def body = mabd_default_body_def();
    const mabd_real size[3] = {(mabd_real)0.3, (mabd_real)0.3, (mabd_real)0.3};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    body.geoms = &geom;
    body.geom_count = 1;
    body.motion = MABD_MOTION_FIXED;
    body.position[0] = (mabd_real)0.4 * (mabd_real)i;
    random_rotation(&p->state, body.rotation);
    check(mabd_scene_add_body(p->scene, &body, NULL, &error), &error);
}

void random_scene_add(const random_scene_def* def, mabd_scene* scene) {
    const int32_t n = def->bodies;
    part p = {scene, def, def->seed * 0x9e3779b97f4a7c15ull + 1, mabd_scene_body_count(scene)};
    for (int32_t i = 0; i < n; i++) add_body(scene, def, &p.state, i);
    if (def->grounded && def->on_fixed) add_fixed(&p, n);
    if (def->grounded)
        add_joint(scene, def, &p.state, def->on_fixed ? p.first + n : MABD_WORLD, p.first);
    switch (def->pattern) {
    case RANDOM_CHAIN:
        join_line(&p, 0, n);
        break;
    case RANDOM_LADDER:
        join_ladder(&p, 0, n / 2);
        break;
    case RANDOM_STAR:
        for (int32_t i = 1; i < n; i++) join(&p, 0, i);
        break;
    case RANDOM_RING:
        join_line(&p, 0, n);
        if (n > 2) join(&p, n - 1, 0);
        break;
    case RANDOM_NET:
        join_net(&p, n);
        break;
    case RANDOM_MIXED:
        join_mixed(&p, n);
        break;
    default:
        join_tree(&p, 1, n);
        if (def->pattern == RANDOM_LOOPS) join_across(&p, n, 3);
    }
}

mabd_scene* random_scene(const random_scene_def* def) {
    mabd_error error = {0};
    mabd_scene* scene;
    check(mabd_scene_create(NULL, &scene), &error);
    random_scene_add(def, scene);
    return scene;
}
