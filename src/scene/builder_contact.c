// SPDX-License-Identifier: Apache-2.0
// Set the contact properties of a scene and of single pairs of bodies.
#include "base/error.h"
#include "scene/check.h"
#include "scene/store.h"

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

static mabd_status check_pair(const mabd_scene* scene, const mabd_subject* subject,
                              const mabd_pair_def* def) {
    const int32_t bodies[2] = {def->a, def->b};
    for (int i = 0; i < 2; i++) {
        if (bodies[i] == MABD_WORLD) {
            return mabd_reject(subject, "the world has no geoms that could touch");
        }
        if (bodies[i] >= 0 && bodies[i] < scene->bodies.count) continue;
        return mabd_reject(subject, "body %d does not exist (the scene has %d)", (int)bodies[i],
                           (int)scene->bodies.count);
    }
    if (def->a == def->b) {
        char label[120];
        return mabd_reject(subject, "it pairs %s with itself",
                           mabd_store_body_label(scene, def->a, label, sizeof label));
    }
    if (def->excluded && (def->friction_given || def->restitution_given)) {
        return mabd_reject(subject, "a pair that never touches has no friction or restitution");
    }
    if (def->friction_given) {
        MABD_TRY(mabd_check_not_negative(subject, "friction", def->friction));
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
