// SPDX-License-Identifier: Apache-2.0
// Add bodies. New elements are written behind the counted part of the lists of the scene; the
// counts grow only when nothing can fail any more.
#include "base/error.h"
#include "scene/check.h"
#include "scene/store.h"

#include <string.h>

/// The arguments of one call: n bodies of one definition.
typedef struct body_batch {
    const mabd_body_def* def;
    int32_t n;
    bool bulk;                   // names get "/0", "/1", ...
    const mabd_real* positions;  // (n x 3)
    const mabd_real* rotations;  // (n x 4), null = def->rotation for all
    const mabd_real* velocities; // (n x 3), null = def->velocity for all
    const mabd_real* angular;    // (n x 3), null = def->angular_velocity for all
} body_batch;

static bool is_zero(const mabd_real* v) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/// Check pose and velocity of element i and write them into *body.
static mabd_status fill_body(const mabd_subject* subject, const body_batch* batch, int32_t i,
                             mabd_scene_body* body) {
    const mabd_body_def* def = batch->def;
    size_t at = (size_t)i;
    const mabd_real* position = batch->positions + 3 * at;
    const mabd_real* rotation = batch->rotations ? batch->rotations + 4 * at : def->rotation;
    const mabd_real* velocity = batch->velocities ? batch->velocities + 3 * at : def->velocity;
    const mabd_real* angular = batch->angular ? batch->angular + 3 * at : def->angular_velocity;
    MABD_TRY(mabd_check_finite(subject, "position", 3, position));
    MABD_TRY(mabd_check_rotation(subject, "rotation", rotation, body->rotation));
    MABD_TRY(mabd_check_finite(subject, "velocity", 3, velocity));
    MABD_TRY(mabd_check_finite(subject, "angular velocity", 3, angular));
    if (def->motion != MABD_MOTION_DYNAMIC && !(is_zero(velocity) && is_zero(angular))) {
        return mabd_reject(subject, "a velocity is given, but the body is %s",
                           def->motion == MABD_MOTION_FIXED ? "fixed" : "moved by its script");
    }
    memcpy(body->position, position, sizeof body->position);
    memcpy(body->velocity, velocity, sizeof body->velocity);
    memcpy(body->angular_velocity, angular, sizeof body->angular_velocity);
    return MABD_OK;
}

/// Write the n bodies behind the last one, without counting them.
static mabd_status stage_bodies(mabd_scene* scene, mabd_subject subject, const body_batch* batch,
                                int32_t class_index, int32_t script) {
    MABD_TRY(
        mabd_list_reserve(&scene->allocator, &scene->bodies, sizeof(mabd_scene_body), batch->n));
    mabd_scene_body* bodies = (mabd_scene_body*)scene->bodies.data + scene->bodies.count;
    for (int32_t i = 0; i < batch->n; i++) {
        if (batch->bulk) subject.element = i;
        bodies[i].class_index = class_index;
        bodies[i].script = script;
        bodies[i].motion = batch->def->motion;
        MABD_TRY(fill_body(&subject, batch, i, &bodies[i]));
    }
    return MABD_OK;
}

/// Write the script behind the last one, without counting it, and normalise its axis.
static mabd_status stage_script(mabd_scene* scene, const mabd_subject* subject,
                                const mabd_script* script) {
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->scripts, sizeof *script, 1));
    mabd_script staged = {0};
    memcpy(staged.direction, script->direction, sizeof staged.direction);
    if (script->translation.kind == MABD_SIGNAL_NONE) {
        memset(staged.direction, 0, sizeof staged.direction);
    }
    if (script->angle.kind != MABD_SIGNAL_NONE) {
        MABD_TRY(mabd_check_direction(subject, "script axis", script->axis, staged.axis));
    }
    MABD_TRY(mabd_store_signal(scene, &script->translation, &staged.translation));
    MABD_TRY(mabd_store_signal(scene, &script->angle, &staged.angle));
    ((mabd_script*)scene->scripts.data)[scene->scripts.count] = staged;
    return MABD_OK;
}

static mabd_status check_shared(mabd_scene* scene, const mabd_subject* subject,
                                const mabd_body_def* def, mabd_scene_class* body_class) {
    MABD_TRY(mabd_check_body(subject, def));
    for (int32_t i = 0; i < def->geom_count; i++) {
        MABD_TRY(mabd_check_geom(subject, def->motion, i, &def->geoms[i]));
    }
    const mabd_geom* geoms;
    MABD_TRY(mabd_store_stage_geoms(scene, def->geom_count, def->geoms, &geoms));
    *body_class = mabd_store_make_class(scene, def);
    mabd_inertia inertia = mabd_class_inertia(body_class, geoms);
    return mabd_check_inertia(subject, def->motion, &inertia);
}

static mabd_status try_bodies(mabd_scene* scene, const body_batch* batch, mabd_error* error) {
    const mabd_body_def* def = batch->def;
    mabd_subject subject = {MABD_SUBJECT_BODY, def->name, scene->bodies.count, -1, NULL, -1, error};
    mabd_scene_class body_class;
    MABD_TRY(check_shared(scene, &subject, def, &body_class));
    int32_t class_index = mabd_store_find_class(scene, &body_class);
    bool new_class = class_index < 0, scripted = def->motion == MABD_MOTION_SCRIPTED;
    if (new_class) {
        MABD_TRY(mabd_store_reserve_class(scene));
        MABD_TRY(mabd_store_own_fields(scene, &body_class));
        class_index = scene->classes.count;
    }
    MABD_TRY(
        stage_bodies(scene, subject, batch, class_index, scripted ? scene->scripts.count : -1));
    if (scripted) MABD_TRY(stage_script(scene, &subject, &def->script));
    MABD_TRY(mabd_store_name(scene, &scene->body_names, &subject, batch->bulk ? batch->n : 0));

    if (new_class) mabd_store_commit_class(scene, &body_class);
    if (scripted) scene->scripts.count++;
    scene->bodies.count += batch->n;
    return MABD_OK;
}

static mabd_status add_bodies(mabd_scene* scene, const body_batch* batch, int32_t* first,
                              mabd_error* error) {
    const mabd_body_def* def = batch->def;
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    if (def->cookie != MABD_BODY_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the body definition does not come from mabd_default_body_def");
    }
    if (def->geom_count < 0 || (def->geom_count > 0 && !def->geoms)) {
        return mabd_fail(error, MABD_ERR_ARG, "geom_count does not fit geoms");
    }
    int32_t index = scene->bodies.count;
    int32_t tables = scene->tables.count, fields = scene->fields.count;
    mabd_status status = batch->n > 0 ? try_bodies(scene, batch, error) : MABD_OK;
    if (status != MABD_OK) {
        mabd_store_drop_tables(scene, tables);
        mabd_store_drop_fields(scene, fields);
    }
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "adding bodies");
    if (status == MABD_OK && first) *first = index;
    return status;
}

mabd_status mabd_scene_add_body(mabd_scene* scene, const mabd_body_def* def, int32_t* id,
                                mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_body: null argument");
    body_batch batch = {.def = def, .n = 1, .positions = def->position};
    return add_bodies(scene, &batch, id, error);
}

mabd_status mabd_scene_add_body_n(mabd_scene* scene, const mabd_body_def* def, int32_t n,
                                  const mabd_real* positions, const mabd_real* rotations,
                                  const mabd_real* velocities, const mabd_real* angular,
                                  int32_t* first, mabd_error* error) {
    if (!scene || !def || (n > 0 && !positions)) {
        return mabd_fail(error, MABD_ERR_ARG, "add_body_n: null argument");
    }
    if (n < 0) return mabd_fail(error, MABD_ERR_ARG, "add_body_n: n is negative");
    body_batch batch = {def, n, true, positions, rotations, velocities, angular};
    return add_bodies(scene, &batch, first, error);
}
