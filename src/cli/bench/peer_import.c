// SPDX-License-Identifier: Apache-2.0
// A scene of other engines as a model of mabd; see peer_import.h. Frames of bodies are the
// principal ones, as in the scene.
#include "cli/bench/peer_import.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES_MAX 16 // of one body

// ---- the scene ---------------------------------------------------------------------------------

static mabd_geom geom_of(const peer_shape* shape) {
    mabd_geom geom = mabd_geom_make((mabd_shape)shape->kind, shape->size, 1000);
    memcpy(geom.position, shape->position, sizeof(geom.position));
    memcpy(geom.rotation, shape->quaternion, sizeof(geom.rotation));
    geom.friction = (mabd_real)shape->friction;
    return geom;
}

static mabd_status add_body(mabd_scene* scene, const peer_scene* from, int32_t i,
                            mabd_error* error) {
    const peer_body* body = &from->bodies[i];
    mabd_geom geoms[SHAPES_MAX];
    mabd_body_def def = mabd_default_body_def();
    def.geoms = geoms;
    for (int32_t k = 0; k < from->shape_count; k++) {
        if (from->shapes[k].body != i) continue;
        if (def.geom_count == SHAPES_MAX) {
            return mabd_fail(error, MABD_ERR_ARG, "more than %d shapes on a body", SHAPES_MAX);
        }
        geoms[def.geom_count++] = geom_of(&from->shapes[k]);
    }
    if (peer_body_is_fixed(body)) {
        def.motion = MABD_MOTION_FIXED;
    } else {
        def.mass = (mabd_real)body->mass, def.inertia_given = true;
        for (int k = 0; k < 3; k++) def.inertia[k] = (mabd_real)body->inertia[k];
    }
    memcpy(def.position, body->start.position, sizeof(def.position));
    memcpy(def.rotation, body->start.quaternion, sizeof(def.rotation));
    memcpy(def.velocity, body->start.velocity, sizeof(def.velocity));
    memcpy(def.angular_velocity, body->start.angular, sizeof(def.angular_velocity));
    return mabd_scene_add_body(scene, &def, NULL, error);
}

static mabd_status add_joint(mabd_scene* scene, const peer_joint* joint, bool jointed,
                             mabd_error* error) {
    mabd_joint_def def = mabd_default_joint_def();
    const bool hinge = peer_joint_is_hinge(joint);
    def.type = !jointed ? MABD_JOINT_FREE : hinge ? MABD_JOINT_HINGE : MABD_JOINT_BALL;
    def.a = joint->a, def.b = joint->b, def.local = true;
    memcpy(def.anchor_a, joint->anchor_a, sizeof(def.anchor_a));
    memcpy(def.anchor_b, joint->anchor_b, sizeof(def.anchor_b));
    if (hinge && !(mabd_frame_from_axes(joint->axis_a, NULL, def.frame_a) &&
                   mabd_frame_from_axes(joint->axis_b, NULL, def.frame_b))) {
        return mabd_fail(error, MABD_ERR_ARG, "a hinge has no axis");
    }
    return mabd_scene_add_joint(scene, &def, NULL, error);
}

static mabd_status fill(mabd_scene* scene, const peer_scene* from, bool jointed, double young,
                        mabd_error* error) {
    mabd_contact_def contact = mabd_default_contact_def();
    mabd_real gravity[3];
    for (int k = 0; k < 3; k++) gravity[k] = (mabd_real)from->gravity[k];
    contact.enabled = from->shape_count > 0;
    MABD_TRY(mabd_scene_set_name(scene, from->name));
    MABD_TRY(mabd_scene_set_gravity(scene, gravity, error));
    MABD_TRY(mabd_scene_set_young(scene, (mabd_real)young, error));
    MABD_TRY(mabd_scene_set_contact(scene, &contact, error));
    for (int32_t i = 0; i < from->body_count; i++) MABD_TRY(add_body(scene, from, i, error));
    for (int32_t i = 0; i < from->joint_count; i++) {
        MABD_TRY(add_joint(scene, &from->joints[i], jointed, error));
    }
    return MABD_OK;
}

mabd_status bench_peer_import(const peer_scene* from, bool jointed, double young,
                              mabd_model** model, mabd_error* error) {
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = fill(scene, from, jointed, young, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

// ---- overlaps ----------------------------------------------------------------------------------

static bool all_finite(const double* values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) return false;
    }
    return true;
}

static mabd_status find_deepest(mabd_sim* sim, const peer_scene* scene, const peer_samples* samples,
                                double* depth, mabd_error* error) {
    const size_t n = (size_t)scene->body_count;
    for (size_t k = 0; k < (size_t)samples->count; k++) {
        const double *x = samples->positions + 3 * k * n, *q = samples->quaternions + 4 * k * n;
        mabd_real here = 0;
        int32_t a = 0, b = 0;
        if (!all_finite(x, 3 * n) || !all_finite(q, 4 * n)) {
            *depth = NAN;
            return MABD_OK;
        }
        MABD_TRY(mabd_sim_set_state(sim, x, q, NULL, NULL, error));
        MABD_TRY(mabd_sim_overlap(sim, &here, &a, &b));
        *depth = fmax(*depth, (double)here);
    }
    return MABD_OK;
}

mabd_status bench_peer_overlap(const peer_scene* scene, const peer_samples* samples, double* depth,
                               mabd_error* error) {
    const mabd_sim_def def = mabd_default_sim_def();
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    *depth = 0;
    if (scene->shape_count == 0) return MABD_OK;
    MABD_TRY(bench_peer_import(scene, false, (double)MABD_DEFAULT_YOUNG, &model, error));
    mabd_status status = mabd_sim_create(model, &def, &sim, error);
    if (status == MABD_OK) status = find_deepest(sim, scene, samples, depth, error);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    return status;
}
