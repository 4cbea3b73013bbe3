// SPDX-License-Identifier: Apache-2.0
// Create and destroy a scene; its settings, forces and names. Bodies, joints and contacts:
// builder_bodies.c, builder_joints.c, builder_contact.c. A call that fails leaves the scene
// unchanged.
#include "base/error.h"
#include "base/text.h"
#include "scene/check.h"
#include "scene/joint_piece.h"
#include "scene/store.h"

#include <string.h>

mabd_status mabd_scene_create(const mabd_allocator* allocator, mabd_scene** scene) {
    if (!scene) return MABD_ERR_ARG;
    *scene = NULL;
    mabd_allocator used = allocator ? *allocator : mabd_default_allocator();
    mabd_scene* made = mabd_alloc(&used, sizeof *made);
    if (!made) return MABD_ERR_MEMORY;
    made->allocator = made->warnings.allocator = used;
    made->gravity[2] = (mabd_real)-9.81;
    made->young = MABD_DEFAULT_YOUNG;
    made->contact = mabd_default_contact_def();
    made->name = mabd_scene_copy_text(made, "");
    made->text = mabd_scene_copy_text(made, "");
    if (!made->name || !made->text) {
        mabd_scene_destroy(made);
        return MABD_ERR_MEMORY;
    }
    *scene = made;
    return MABD_OK;
}

static void free_params(mabd_scene* scene) {
    mabd_param_entry* entries = (mabd_param_entry*)scene->params.data;
    for (int32_t i = 0; i < scene->params.count; i++) {
        mabd_scene_free_text(scene, entries[i].name);
        mabd_scene_free_text(scene, entries[i].value);
        mabd_scene_free_text(scene, entries[i].fallback);
        mabd_scene_free_text(scene, entries[i].unit);
        mabd_scene_free_text(scene, entries[i].meaning);
    }
    mabd_list_free(&scene->allocator, &scene->params, sizeof(mabd_param_entry));
}

void mabd_scene_destroy(mabd_scene* scene) {
    if (!scene) return;
    mabd_allocator allocator = scene->allocator;
    mabd_store_drop_tables(scene, 0);
    mabd_store_drop_fields(scene, 0);
    free_params(scene);
    mabd_scene_free_text(scene, scene->name);
    mabd_scene_free_text(scene, scene->text);
    mabd_list_free(&allocator, &scene->pairs, sizeof(mabd_pair_def));
    mabd_list_free(&allocator, &scene->members, sizeof(mabd_scene_member));
    mabd_list_free(&allocator, &scene->geoms, sizeof(mabd_geom));
    mabd_list_free(&allocator, &scene->fields, sizeof(mabd_height_field*));
    mabd_list_free(&allocator, &scene->classes, sizeof(mabd_scene_class));
    mabd_list_free(&allocator, &scene->class_buckets, sizeof(int32_t));
    mabd_list_free(&allocator, &scene->bodies, sizeof(mabd_scene_body));
    mabd_list_free(&allocator, &scene->scripts, sizeof(mabd_script));
    mabd_list_free(&allocator, &scene->joints, sizeof(mabd_scene_joint));
    mabd_list_free(&allocator, &scene->axes, sizeof(mabd_scene_axes));
    mabd_list_free(&allocator, &scene->pieces, sizeof(mabd_joint_piece));
    mabd_list_free(&allocator, &scene->piece_values, sizeof(mabd_real));
    mabd_list_free(&allocator, &scene->forces, sizeof(mabd_force_def));
    mabd_list_free(&allocator, &scene->springs, sizeof(mabd_scene_spring));
    mabd_list_free(&allocator, &scene->spring_points, sizeof(mabd_spring_point));
    mabd_list_free(&allocator, &scene->nodes, sizeof(int32_t));
    mabd_list_free(&allocator, &scene->ground_points, sizeof(mabd_spring_point));
    mabd_list_free(&allocator, &scene->couplings, sizeof(mabd_scene_coupling));
    mabd_list_free(&allocator, &scene->coupling_axes, sizeof(mabd_coupling_axis));
    mabd_list_free(&allocator, &scene->tables, sizeof(mabd_scene_table));
    mabd_warnings_free(&scene->warnings);
    mabd_names_free(&allocator, &scene->body_names);
    mabd_names_free(&allocator, &scene->joint_names);
    mabd_free(&allocator, scene, sizeof *scene);
}

// ---- forces ------------------------------------------------------------------------------------

static mabd_status check_force(const mabd_scene* scene, const mabd_subject* subject,
                               const mabd_force_def* def) {
    if (def->body < 0 || def->body >= scene->bodies.count) {
        return mabd_reject(subject, "body %d does not exist (the scene has %d)", (int)def->body,
                           (int)scene->bodies.count);
    }
    const mabd_scene_body* bodies = (const mabd_scene_body*)scene->bodies.data;
    if (bodies[def->body].motion != MABD_MOTION_DYNAMIC) {
        char label[120];
        return mabd_reject(subject, "%s is not moved by forces",
                           mabd_store_body_label(scene, def->body, label, sizeof label));
    }
    MABD_TRY(mabd_check_finite(subject, "point", 3, def->point));
    MABD_TRY(mabd_check_finite(subject, "force", 3, def->force));
    MABD_TRY(mabd_check_finite(subject, "torque", 3, def->torque));
    const mabd_real *t = def->torque, *x = def->point;
    const bool turns = t[0] != 0 || t[1] != 0 || t[2] != 0 || x[0] != 0 || x[1] != 0 || x[2] != 0;
    if (turns && mabd_scene_is_node(scene, def->body)) {
        char label[120];
        return mabd_reject(subject, "%s is a node: it has no torques and no points beside its own",
                           mabd_store_body_label(scene, def->body, label, sizeof label));
    }
    return mabd_check_signal(subject, "signal", &def->signal);
}

mabd_status mabd_scene_add_force(mabd_scene* scene, const mabd_force_def* def, mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_force: null argument");
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    mabd_subject subject = mabd_subject_other("force", error);
    MABD_TRY(check_force(scene, &subject, def));
    mabd_force_def force = *def;
    mabd_signal one = mabd_signal_constant(1);
    const mabd_signal* signal = def->signal.kind == MABD_SIGNAL_NONE ? &one : &def->signal;
    if (mabd_list_reserve(&scene->allocator, &scene->forces, sizeof force, 1) != MABD_OK ||
        mabd_store_signal(scene, signal, &force.signal) != MABD_OK) {
        return mabd_fail_memory(error, "adding a force");
    }
    ((mabd_force_def*)scene->forces.data)[scene->forces.count++] = force;
    return MABD_OK;
}

// ---- settings ----------------------------------------------------------------------------------

mabd_status mabd_scene_set_gravity(mabd_scene* scene, const mabd_real* gravity, mabd_error* error) {
    if (!scene || !gravity) return mabd_fail(error, MABD_ERR_ARG, "set_gravity: null argument");
    mabd_subject subject = mabd_subject_other("gravity", error);
    MABD_TRY(mabd_check_finite(&subject, "the vector", 3, gravity));
    memcpy(scene->gravity, gravity, sizeof scene->gravity);
    return MABD_OK;
}

mabd_status mabd_scene_set_wind(mabd_scene* scene, const mabd_real* direction,
                                const mabd_signal* strength, mabd_error* error) {
    if (!scene || !direction || !strength) {
        return mabd_fail(error, MABD_ERR_ARG, "set_wind: null argument");
    }
    mabd_subject subject = mabd_subject_other("wind", error);
    mabd_real unit[3];
    MABD_TRY(mabd_check_direction(&subject, "direction", direction, unit));
    MABD_TRY(mabd_check_signal(&subject, "strength", strength));
    if (mabd_store_signal(scene, strength, &scene->wind_strength) != MABD_OK) {
        return mabd_fail_memory(error, "setting the wind");
    }
    bool calm = strength->kind == MABD_SIGNAL_NONE;
    for (int k = 0; k < 3; k++) scene->wind_direction[k] = calm ? 0 : unit[k];
    return MABD_OK;
}

mabd_status mabd_scene_set_time(mabd_scene* scene, mabd_real h, mabd_real duration,
                                mabd_error* error) {
    if (!scene) return mabd_fail(error, MABD_ERR_ARG, "set_time: null argument");
    mabd_subject subject = mabd_subject_other("time", error);
    MABD_TRY(mabd_check_not_negative(&subject, "step h", h));
    MABD_TRY(mabd_check_not_negative(&subject, "duration", duration));
    scene->h = h;
    scene->duration = duration;
    return MABD_OK;
}

// Count the bodies that move under forces and take the scene-wide Young's modulus.
static int32_t count_young(const mabd_scene* scene) {
    const mabd_scene_body* bodies = (const mabd_scene_body*)scene->bodies.data;
    const mabd_scene_class* classes = (const mabd_scene_class*)scene->classes.data;
    int32_t count = 0;
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        count +=
            bodies[i].motion == MABD_MOTION_DYNAMIC && !(classes[bodies[i].class_index].young > 0);
    }
    return count;
}

mabd_status mabd_scene_set_young(mabd_scene* scene, mabd_real young, mabd_error* error) {
    if (!scene) return mabd_fail(error, MABD_ERR_ARG, "set_young: null argument");
    mabd_subject subject = mabd_subject_other("scene", error);
    MABD_TRY(mabd_check_positive(&subject, "young", young));
    scene->young = young;
    if (scene->bodies.count > 0 && count_young(scene) == 0) {
        mabd_warn(&scene->warnings, -1, -1, 0,
                  "young %g Pa reaches no body: every moving body has a value of its own",
                  (double)young);
    }
    return MABD_OK;
}

mabd_status mabd_scene_set_close_joints(mabd_scene* scene, bool close, mabd_error* error) {
    if (!scene) return mabd_fail(error, MABD_ERR_ARG, "set_close_joints: null argument");
    scene->close_joints = close;
    return MABD_OK;
}

mabd_status mabd_scene_set_name(mabd_scene* scene, const char* name) {
    if (!scene || !name || mabd_text_control(name)) return MABD_ERR_ARG;
    char* copy = mabd_scene_copy_text(scene, name);
    if (!copy) return MABD_ERR_MEMORY;
    mabd_scene_free_text(scene, scene->name);
    scene->name = copy;
    return MABD_OK;
}

// ---- names and counts --------------------------------------------------------------------------

int32_t mabd_scene_find_body(const mabd_scene* scene, const char* name) {
    return name ? mabd_names_find(&scene->body_names, name) : -1;
}

int32_t mabd_scene_find_joint(const mabd_scene* scene, const char* name) {
    return name ? mabd_names_find(&scene->joint_names, name) : -1;
}

int32_t mabd_scene_body_count(const mabd_scene* scene) {
    return scene->bodies.count;
}

int32_t mabd_scene_joint_count(const mabd_scene* scene) {
    return scene->joints.count;
}

int32_t mabd_scene_warnings(const mabd_scene* scene, int32_t capacity, mabd_warning* warnings) {
    return scene ? mabd_warnings_read(&scene->warnings, capacity, warnings) : 0;
}
