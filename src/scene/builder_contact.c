// SPDX-License-Identifier: Apache-2.0
// Set the contact properties of a scene, of single pairs and of groups of bodies.
#include "base/error.h"
#include "scene/check.h"
#include "scene/store.h"

#include <stdlib.h>
#include <string.h>

mabd_status mabd_scene_set_contact(mabd_scene* scene, const mabd_contact_def* def,
                                   mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "set_contact: null argument");
    if (def->cookie != MABD_CONTACT_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the contact definition does not come from mabd_default_contact_def");
    }
    mabd_subject subject = mabd_subject_other("contact", error);
    MABD_TRY(mabd_check_not_negative(&subject, "margin", def->margin));
    MABD_TRY(mabd_check_not_negative(&subject, "compliance", def->compliance));
    if (def->compliance > 1) {
        return mabd_reject(&subject, "compliance must be between 0 and 1, not %g",
                           (double)def->compliance);
    }
    scene->contact = *def;
    return MABD_OK;
}

static mabd_status check_body(const mabd_scene* scene, const mabd_subject* subject, int32_t body) {
    if (body == MABD_WORLD) return mabd_reject(subject, "the world has no geoms that could touch");
    if (body >= 0 && body < scene->bodies.count) return MABD_OK;
    return mabd_reject(subject, "body %d does not exist (the scene has %d)", (int)body,
                       (int)scene->bodies.count);
}

static mabd_status reject_twice(const mabd_scene* scene, const mabd_subject* subject,
                                int32_t body) {
    char label[120];
    mabd_store_body_label(scene, body, label, sizeof label);
    const mabd_status status = mabd_reject(subject, "it pairs %s with itself", label);
    if (subject->error) subject->error->body = body;
    return status;
}

static mabd_status check_pair(const mabd_scene* scene, const mabd_subject* subject,
                              const mabd_pair_def* def) {
    MABD_TRY(check_body(scene, subject, def->a));
    MABD_TRY(check_body(scene, subject, def->b));
    if (def->a == def->b) return reject_twice(scene, subject, def->a);
    const bool rolls = def->rolling_friction_given || def->spinning_friction_given;
    if (def->excluded && (def->friction_given || def->restitution_given || rolls)) {
        return mabd_reject(subject, "a pair that never touches has no friction or restitution");
    }
    if (def->friction_given) {
        MABD_TRY(mabd_check_not_negative(subject, "friction", def->friction));
    }
    if (def->rolling_friction_given) {
        MABD_TRY(mabd_check_not_negative(subject, "rolling friction", def->rolling_friction));
    }
    if (def->spinning_friction_given) {
        MABD_TRY(mabd_check_not_negative(subject, "spinning friction", def->spinning_friction));
    }
    return def->restitution_given ? mabd_check_restitution(subject, def->restitution) : MABD_OK;
}

mabd_status mabd_scene_set_pair(mabd_scene* scene, const mabd_pair_def* def, mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "set_pair: null argument");
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    mabd_subject subject = mabd_subject_other("pair", error);
    MABD_TRY(check_pair(scene, &subject, def));
    if (mabd_list_reserve(&scene->allocator, &scene->pairs, sizeof *def, 1) != MABD_OK) {
        return mabd_fail_memory(error, "setting a pair of bodies apart");
    }
    ((mabd_pair_def*)scene->pairs.data)[scene->pairs.count++] = *def;
    return MABD_OK;
}

// ---- groups ------------------------------------------------------------------------------------

static int compare_bodies(const void* a, const void* b) {
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Check the bodies of a group; sorted (n): memory for them.
static mabd_status check_group(const mabd_scene* scene, int32_t n, const int32_t* bodies,
                               int32_t* sorted, mabd_error* error) {
    const mabd_subject subject = mabd_subject_other("pair", error);
    for (int32_t i = 0; i < n; i++) MABD_TRY(check_body(scene, &subject, bodies[i]));
    memcpy(sorted, bodies, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_bodies);
    for (int32_t i = 1; i < n; i++) {
        if (sorted[i] == sorted[i - 1]) return reject_twice(scene, &subject, sorted[i]);
    }
    return MABD_OK;
}

static mabd_status add_group(mabd_scene* scene, int32_t n, const int32_t* bodies,
                             mabd_error* error) {
    mabd_scene_member* member;
    if (mabd_list_reserve(&scene->allocator, &scene->members, sizeof *member, n) != MABD_OK) {
        return mabd_fail_memory(error, "excluding contacts of a group of bodies");
    }
    member = (mabd_scene_member*)scene->members.data + scene->members.count;
    for (int32_t i = 0; i < n; i++) {
        member[i] = (mabd_scene_member){bodies[i], scene->group_count, scene->pairs.count};
    }
    scene->members.count += n;
    scene->group_count++;
    return MABD_OK;
}

mabd_status mabd_scene_exclude(mabd_scene* scene, int32_t n, const int32_t* bodies,
                               mabd_error* error) {
    if (!scene || !bodies) return mabd_fail(error, MABD_ERR_ARG, "exclude: null argument");
    if (n < 2) {
        return mabd_fail(error, MABD_ERR_ARG, "exclude: expected two bodies or more, not %d",
                         (int)n);
    }
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    const size_t bytes = mabd_bytes((size_t)n, sizeof(int32_t));
    int32_t* sorted = mabd_alloc(&scene->allocator, bytes);
    if (!sorted) return mabd_fail_memory(error, "excluding contacts of a group of bodies");
    mabd_status status = check_group(scene, n, bodies, sorted, error);
    mabd_free(&scene->allocator, sorted, bytes);
    if (status != MABD_OK) return status;
    if (n > 2) return add_group(scene, n, bodies, error);
    const mabd_pair_def pair = {.a = bodies[0], .b = bodies[1], .excluded = true};
    return mabd_scene_set_pair(scene, &pair, error);
}
