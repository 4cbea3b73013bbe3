// SPDX-License-Identifier: Apache-2.0
#include "support/scene_measures.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

const mabd_scene_body* scene_body(const mabd_scene* scene, int32_t i) {
    return (const mabd_scene_body*)scene->bodies.data + i;
}

const mabd_scene_joint* scene_joint(const mabd_scene* scene, int32_t i) {
    return (const mabd_scene_joint*)scene->joints.data + i;
}

const mabd_geom* scene_geom(const mabd_scene* scene, int32_t body) {
    const mabd_scene_class* classes = scene->classes.data;
    return (const mabd_geom*)scene->geoms.data +
           classes[scene_body(scene, body)->class_index].geom_first;
}

void vector_cross(const double* a, const double* b, double* c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

double vector_norm(const double* v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// v + 2 u x (u x v + w v) for the quaternion (w, u)
void vector_rotate(const double* q, const double* v, double* out) {
    double t[3], s[3];
    vector_cross(q + 1, v, t);
    for (int k = 0; k < 3; k++) t[k] += q[0] * v[k];
    vector_cross(q + 1, t, s);
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * s[k];
}

static joint_side side_of(const mabd_scene* scene, int32_t body, const double* anchor,
                          const double* frame) {
    joint_side s = {0};
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2};
        vector_rotate(frame, unit, s.axes[k]);
    }
    memcpy(s.point, anchor, sizeof s.point);
    if (body == MABD_WORLD) return s;
    const mabd_scene_body* b = scene_body(scene, body);
    double arm[3];
    vector_rotate(b->rotation, anchor, arm);
    memcpy(s.omega, b->angular_velocity, sizeof s.omega);
    vector_cross(s.omega, arm, s.velocity);
    for (int k = 0; k < 3; k++) {
        double in_body[3];
        s.point[k] = b->position[k] + arm[k];
        s.velocity[k] += b->velocity[k];
        memcpy(in_body, s.axes[k], sizeof in_body);
        vector_rotate(b->rotation, in_body, s.axes[k]);
    }
    return s;
}

joint_side scene_side_a(const mabd_scene* scene, int32_t joint) {
    const mabd_scene_joint* j = scene_joint(scene, joint);
    return side_of(scene, j->a, j->anchor_a, j->frame_a);
}

joint_side scene_side_b(const mabd_scene* scene, int32_t joint) {
    const mabd_scene_joint* j = scene_joint(scene, joint);
    return side_of(scene, j->b, j->anchor_b, j->frame_b);
}

double scene_opening(const mabd_scene* scene) {
    static const char* const rotations[] = {
#define X(name, text, free_translations, free_rotations) free_rotations,
        MABD_JOINT_LIST(X)
#undef X
    };
    double worst = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        joint_side a = scene_side_a(scene, i), b = scene_side_b(scene, i);
        double dp[3], dv[3], dw[3];
        for (int k = 0; k < 3; k++) {
            dp[k] = a.point[k] - b.point[k];
            dv[k] = a.velocity[k] - b.velocity[k];
            dw[k] = a.omega[k] - b.omega[k];
        }
        worst = fmax(worst, fmax(vector_norm(dp), vector_norm(dv)));
        for (int k = 0; k < 3; k++) {
            double da[3] = {a.axes[k][0] - b.axes[k][0], a.axes[k][1] - b.axes[k][1],
                            a.axes[k][2] - b.axes[k][2]};
            worst = fmax(worst, vector_norm(da));
            double turn = a.axes[k][0] * dw[0] + a.axes[k][1] * dw[1] + a.axes[k][2] * dw[2];
            if (!strchr(rotations[j->type], "xyz"[k])) worst = fmax(worst, fabs(turn));
        }
    }
    return worst;
}

static double misplacement(const mabd_scene* scene, int32_t body, const double* anchor, bool pin,
                           double bead_length) {
    if (body == MABD_WORLD) return 0;
    const mabd_geom* geom = scene_geom(scene, body);
    double half = geom->shape == MABD_SHAPE_BOX ? geom->size[0] / 2 : geom->size[1] / 2;
    if (geom->shape == MABD_SHAPE_SPHERE) half = bead_length > 0 ? bead_length / 2 : geom->size[0];
    double error = fabs(vector_norm(anchor) - half);
    if (geom->shape == MABD_SHAPE_CAPSULE || geom->shape == MABD_SHAPE_CYLINDER) {
        double ez[3] = {0, 0, 1}, along[3]; // the axis of the solid is that of the link
        vector_rotate(geom->rotation, ez, along);
        error = fmax(error, half * hypot(along[1], along[2]));
    }
    if (geom->shape != MABD_SHAPE_SPHERE) error = fmax(error, hypot(anchor[1], anchor[2]));
    return pin ? fmin(error, vector_norm(anchor)) : error;
}

double scene_misplaced(const mabd_scene* scene, double bead_length) {
    double worst = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        bool pin = j->a == MABD_WORLD;
        worst = fmax(worst, misplacement(scene, j->a, j->anchor_a, pin, bead_length));
        worst = fmax(worst, misplacement(scene, j->b, j->anchor_b, pin, bead_length));
    }
    return worst;
}

static int32_t wrong_names(const mabd_names* names, int32_t count) {
    char name[256];
    int32_t wrong = 0;
    for (int32_t i = 0; i < count; i++) {
        bool right =
            mabd_names_write(names, i, name, sizeof name) && mabd_names_find(names, name) == i;
        wrong += !right;
    }
    return wrong;
}

int32_t scene_wrong_names(const mabd_scene* scene) {
    return wrong_names(&scene->body_names, scene->bodies.count) +
           wrong_names(&scene->joint_names, scene->joints.count);
}

static uint64_t hash_reals(uint64_t hash, const double* values, size_t n) {
    return mabd_hash(hash, values, n * sizeof(double));
}

static uint64_t hash_axes(uint64_t hash, const mabd_scene_axes* axes) {
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        const mabd_axis_def* x = &axes->axis[k];
        double values[] = {axes->used[k], x->stiffness, x->damping, x->rest, x->motor.value};
        hash = hash_reals(hash, values, 5);
    }
    return hash;
}

uint64_t scene_hash(const mabd_scene* scene) {
    uint64_t hash = MABD_HASH_START;
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const mabd_scene_body* b = scene_body(scene, i);
        const mabd_scene_class* c = (const mabd_scene_class*)scene->classes.data + b->class_index;
        const mabd_geom* geom = scene_geom(scene, i);
        hash = hash_reals(hash_reals(hash, b->position, 3), b->rotation, 4);
        hash = hash_reals(hash_reals(hash, b->velocity, 3), b->angular_velocity, 3);
        double material[] = {c->mass, c->density, c->young, c->poisson, c->drag, geom->density};
        hash = hash_reals(hash_reals(hash, material, 6), c->inertia, 6);
        hash = hash_reals(hash_reals(hash, geom->size, 3), geom->rotation, 4);
        hash = mabd_hash(hash, &geom->shape, sizeof geom->shape);
    }
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        int32_t ends[] = {j->a, j->b, (int32_t)j->type};
        hash = mabd_hash(hash, ends, sizeof ends);
        hash = hash_reals(hash_reals(hash, j->anchor_b, 3), j->frame_b, 4);
        if (j->axes >= 0) {
            hash = hash_axes(hash, (const mabd_scene_axes*)scene->axes.data + j->axes);
        }
    }
    return hash;
}
