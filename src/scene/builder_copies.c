// SPDX-License-Identifier: Apache-2.0
// Copies of a scene in one scene: the elements of a copy are appended to the lists, their indices
// shifted.
//
// Equal classes are shared, and so are equal sets of axes of the same joint in other copies, so
// that solvers process equal parts of all copies together. A joint that can be controlled from
// outside gets its own set: a row set of the model belongs to one set of axes, and targets are set
// by row set (affine/targets.c).
#include "base/error.h"
#include "mabd/batch.h"
#include "scene/joint_piece.h"
#include "scene/signal.h"
#include "scene/store.h"

#include <string.h>

int32_t mabd_scene_copy_count(const mabd_scene* scene) {
    return scene->copies;
}

// ---- checks ------------------------------------------------------------------------------------

typedef struct copy_work {
    mabd_scene* scene;
    const mabd_scene* copy;
    int32_t bodies, joints, scripts, axes; // counts of the scene before
    int32_t* classes;                      // (classes of the copy) their index in the scene
    mabd_error* error;
} copy_work;

static mabd_status differs(const copy_work* w, const char* what) {
    return mabd_fail(w->error, MABD_ERR_INPUT, "copy %d: %s not as in the first copy",
                     (int)w->scene->copies, what);
}

static mabd_status body_differs(const copy_work* w, int32_t body, const char* what) {
    char label[120];
    return mabd_fail_at(w->error, MABD_ERR_INPUT, body, -1, 0,
                        "copy %d: %s has %s than in the first copy", (int)w->scene->copies,
                        mabd_store_body_label(w->copy, body, label, sizeof label), what);
}

static mabd_status joint_differs(const copy_work* w, int32_t joint, const char* what) {
    char name[101] = "";
    mabd_names_write(&w->copy->joint_names, joint, name, sizeof name);
    return mabd_fail_at(w->error, MABD_ERR_INPUT, -1, joint, 0,
                        "copy %d: joint %d%s%s has %s than in the first copy",
                        (int)w->scene->copies, (int)joint, name[0] ? " " : "", name, what);
}

static mabd_status check_bodies(const copy_work* w) {
    const mabd_scene_body *first = w->scene->bodies.data, *bodies = w->copy->bodies.data;
    const mabd_scene_class *known = w->scene->classes.data, *classes = w->copy->classes.data;
    const mabd_geom *there = w->scene->geoms.data, *geoms = w->copy->geoms.data;
    for (int32_t i = 0; i < w->copy->bodies.count; i++) {
        const mabd_scene_class* a = &known[first[i].class_index];
        const mabd_scene_class* b = &classes[bodies[i].class_index];
        if (first[i].motion != bodies[i].motion) return body_differs(w, i, "another motion");
        if (a->geom_count != b->geom_count) return body_differs(w, i, "another number of geoms");
        for (int32_t k = 0; k < a->geom_count; k++) {
            if (there[a->geom_first + k].shape != geoms[b->geom_first + k].shape) {
                return body_differs(w, i, "geoms of another shape");
            }
        }
    }
    return MABD_OK;
}

// True if the pieces of a joint are of the same types, sizes and charts in both scenes.
static bool same_pieces(const copy_work* w, const mabd_scene_joint* a, const mabd_scene_joint* b) {
    const mabd_joint_piece* p = (const mabd_joint_piece*)w->scene->pieces.data + a->piece_first;
    const mabd_joint_piece* q = (const mabd_joint_piece*)w->copy->pieces.data + b->piece_first;
    bool same = a->piece_count == b->piece_count && a->chart == b->chart;
    for (int32_t i = 0; same && i < a->piece_count; i++) {
        same = p[i].type == q[i].type && p[i].closed == q[i].closed && p[i].rows == q[i].rows &&
               p[i].columns == q[i].columns && p[i].chart == q[i].chart;
    }
    return same;
}

static mabd_status check_joints(const copy_work* w) {
    const mabd_scene_joint *first = w->scene->joints.data, *joints = w->copy->joints.data;
    for (int32_t i = 0; i < w->copy->joints.count; i++) {
        if (first[i].type != joints[i].type) return joint_differs(w, i, "another type");
        if (first[i].a != joints[i].a || first[i].b != joints[i].b) {
            return joint_differs(w, i, "other bodies");
        }
        if (!same_pieces(w, &first[i], &joints[i])) {
            return joint_differs(w, i, "another spline, chart or other parts");
        }
    }
    return MABD_OK;
}

static bool same_ground(const mabd_ground_def* a, const mabd_ground_def* b) {
    return a->cookie == b->cookie && memcmp(a->point, b->point, sizeof a->point) == 0 &&
           memcmp(a->normal, b->normal, sizeof a->normal) == 0 && a->stiffness == b->stiffness &&
           a->damping == b->damping && a->tangent == b->tangent && a->friction == b->friction;
}

static mabd_status check_surroundings(const copy_work* w) {
    const mabd_scene *a = w->scene, *b = w->copy;
    if (memcmp(a->gravity, b->gravity, sizeof a->gravity) != 0) {
        return differs(w, "gravity is");
    }
    if (memcmp(a->wind_direction, b->wind_direction, sizeof a->wind_direction) != 0 ||
        !mabd_signal_equal(&a->wind_strength, &b->wind_strength)) {
        return differs(w, "the wind is");
    }
    if (a->contact.enabled != b->contact.enabled || a->contact.margin != b->contact.margin ||
        a->contact.neighbours != b->contact.neighbours ||
        a->contact.compliance != b->contact.compliance) {
        return differs(w, "how geoms touch is");
    }
    if (!same_ground(&a->ground, &b->ground)) return differs(w, "the ground is");
    if (a->close_joints != b->close_joints) return differs(w, "closing of joints is");
    return MABD_OK;
}

// Compare with the first copy; its bodies and joints are at the start of the lists of the scene.
static mabd_status check_like_first(const copy_work* w) {
    const int32_t copies = w->scene->copies;
    if (w->copy->bodies.count != w->scene->bodies.count / copies) {
        return differs(w, "the number of bodies is");
    }
    if (w->copy->joints.count != w->scene->joints.count / copies) {
        return differs(w, "the number of joints is");
    }
    if (w->copy->springs.count != w->scene->springs.count / copies ||
        w->copy->nodes.count != w->scene->nodes.count / copies ||
        w->copy->couplings.count != w->scene->couplings.count / copies) {
        return differs(w, "the number of springs, nodes or couplings is");
    }
    MABD_TRY(check_bodies(w));
    MABD_TRY(check_joints(w));
    return check_surroundings(w);
}

static mabd_status check(const copy_work* w) {
    const mabd_scene *scene = w->scene, *copy = w->copy;
    if (scene == copy) return mabd_fail(w->error, MABD_ERR_ARG, "a scene is no copy of itself");
    if (copy->copies > 0) {
        return mabd_fail(w->error, MABD_ERR_ARG, "the copy holds copies itself");
    }
    if (copy->bodies.count == 0) {
        return mabd_fail(w->error, MABD_ERR_INPUT, "the copy has no bodies");
    }
    if (scene->copies > 0) return check_like_first(w);
    if (scene->bodies.count + scene->joints.count > 0) {
        return mabd_fail(w->error, MABD_ERR_ARG, "the scene holds bodies of its own");
    }
    return MABD_OK;
}

// ---- adding ------------------------------------------------------------------------------------

static mabd_status add_class(copy_work* w, int32_t index) {
    mabd_scene* scene = w->scene;
    mabd_scene_class made = ((const mabd_scene_class*)w->copy->classes.data)[index];
    made.young = mabd_scene_class_young(w->copy, &made); // copies may differ in it
    const size_t count = (size_t)made.geom_count;
    MABD_TRY(
        mabd_list_reserve(&scene->allocator, &scene->geoms, sizeof(mabd_geom), made.geom_count));
    mabd_geom* staged = (mabd_geom*)scene->geoms.data + scene->geoms.count;
    if (count > 0) {
        memcpy(staged, (const mabd_geom*)w->copy->geoms.data + made.geom_first,
               count * sizeof *staged);
    }
    made.geom_first = scene->geoms.count;
    w->classes[index] = mabd_store_find_class(scene, &made);
    if (w->classes[index] >= 0) return MABD_OK;
    const int32_t fields = scene->fields.count;
    mabd_status status = mabd_store_reserve_class(scene);
    if (status == MABD_OK) status = mabd_store_own_fields(scene, &made);
    if (status == MABD_OK) {
        w->classes[index] = mabd_store_commit_class(scene, &made);
    } else {
        mabd_store_drop_fields(scene, fields);
    }
    return status;
}

// Copy the elements of a list of the copy behind those of the scene; null if out of memory.
static void* stage_list(const copy_work* w, const mabd_list* from, size_t element,
                        mabd_list* list) {
    const mabd_allocator* allocator = &w->scene->allocator;
    // One more, so that an empty list gives a valid pointer.
    if (mabd_list_reserve(allocator, list, element, (int64_t)from->count + 1) != MABD_OK) {
        return NULL;
    }
    char* behind = (char*)list->data + (size_t)list->count * element;
    if (from->count > 0) memcpy(behind, from->data, (size_t)from->count * element);
    return behind;
}
#define STAGE(list, to)                                                                            \
    do {                                                                                           \
        (to) = stage_list(w, &w->copy->list, sizeof *(to), &w->scene->list);                       \
        if (!(to)) return MABD_ERR_MEMORY;                                                         \
    } while (0)

static mabd_status stage_bodies(const copy_work* w) {
    mabd_scene_body* bodies;
    STAGE(bodies, bodies);
    for (int32_t i = 0; i < w->copy->bodies.count; i++) {
        bodies[i].class_index = w->classes[bodies[i].class_index];
        if (bodies[i].script >= 0) bodies[i].script += w->scripts;
    }
    return MABD_OK;
}

static mabd_status stage_scripts(const copy_work* w) {
    mabd_script* scripts;
    STAGE(scripts, scripts);
    for (int32_t i = 0; i < w->copy->scripts.count; i++) {
        mabd_signal *translation = &scripts[i].translation, *angle = &scripts[i].angle;
        MABD_TRY(mabd_store_signal(w->scene, translation, translation));
        MABD_TRY(mabd_store_signal(w->scene, angle, angle));
    }
    return MABD_OK;
}

// Find the index of the axes of joint i: those of the first copy or of the joint before, if they
// are equal and may be shared; else they are added behind all others.
static mabd_status stage_axes(copy_work* w, int32_t i, int32_t* place) {
    mabd_scene* scene = w->scene;
    const mabd_scene_joint *from = w->copy->joints.data, *known = scene->joints.data;
    const mabd_scene_axes* axes = (const mabd_scene_axes*)w->copy->axes.data + from[i].axes;
    if (!mabd_store_is_controlled(axes)) {
        const int32_t before = i > 0 && from[i - 1].axes == from[i].axes ? w->joints + i - 1 : -1;
        const int32_t like = before >= 0 ? before : scene->copies > 0 ? i : -1;
        const int32_t index = like >= 0 ? known[like].axes : -1;
        const mabd_scene_axes* others = scene->axes.data;
        if (index >= 0 && mabd_store_equal_axes(&others[index], axes)) {
            *place = index;
            return MABD_OK;
        }
    }
    mabd_scene_axes own = *axes;
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->axes, sizeof own, 1));
    MABD_TRY(mabd_store_own_axes(scene, &own));
    *place = scene->axes.count;
    ((mabd_scene_axes*)scene->axes.data)[scene->axes.count++] = own;
    return MABD_OK;
}

static mabd_status stage_joints(copy_work* w) {
    mabd_scene_joint* joints;
    STAGE(joints, joints);
    for (int32_t i = 0; i < w->copy->joints.count; i++) {
        if (joints[i].a != MABD_WORLD) joints[i].a += w->bodies;
        if (joints[i].b != MABD_WORLD) joints[i].b += w->bodies;
        if (joints[i].axes >= 0) MABD_TRY(stage_axes(w, i, &joints[i].axes));
        joints[i].piece_first += w->scene->pieces.count;
    }
    return MABD_OK;
}

static mabd_status stage_pieces(const copy_work* w) {
    mabd_joint_piece* pieces;
    mabd_real* values;
    STAGE(pieces, pieces);
    STAGE(piece_values, values);
    for (int32_t i = 0; i < w->copy->pieces.count; i++) {
        pieces[i].first += w->scene->piece_values.count;
    }
    return MABD_OK;
}

static mabd_status stage_forces(const copy_work* w) {
    mabd_force_def* forces;
    STAGE(forces, forces);
    for (int32_t i = 0; i < w->copy->forces.count; i++) {
        forces[i].body += w->bodies;
        MABD_TRY(mabd_store_signal(w->scene, &forces[i].signal, &forces[i].signal));
    }
    return MABD_OK;
}

static void shift_points(int32_t count, int32_t bodies, mabd_spring_point* points) {
    for (int32_t i = 0; i < count; i++) {
        if (points[i].body != MABD_WORLD) points[i].body += bodies;
    }
}

static mabd_status stage_springs(const copy_work* w) {
    const mabd_scene* copy = w->copy;
    mabd_scene_spring* springs;
    mabd_spring_point *points, *ground;
    int32_t* nodes;
    mabd_scene_coupling* couplings;
    mabd_coupling_axis* axes;
    STAGE(springs, springs);
    STAGE(spring_points, points);
    STAGE(ground_points, ground);
    STAGE(nodes, nodes);
    STAGE(couplings, couplings);
    STAGE(coupling_axes, axes);
    for (int32_t i = 0; i < copy->springs.count; i++) {
        springs[i].first += w->scene->spring_points.count;
    }
    shift_points(copy->spring_points.count, w->bodies, points);
    shift_points(copy->ground_points.count, w->bodies, ground);
    for (int32_t i = 0; i < copy->nodes.count; i++) nodes[i] += w->bodies;
    for (int32_t i = 0; i < copy->couplings.count; i++) {
        couplings[i].first += w->scene->coupling_axes.count;
    }
    for (int32_t i = 0; i < copy->coupling_axes.count; i++) axes[i].joint += w->joints;
    return MABD_OK;
}

static mabd_status stage_pairs(const copy_work* w) {
    mabd_pair_def* pairs;
    STAGE(pairs, pairs);
    for (int32_t i = 0; i < w->copy->pairs.count; i++) {
        pairs[i].a += w->bodies, pairs[i].b += w->bodies;
    }
    return MABD_OK;
}

static mabd_status stage_members(const copy_work* w) {
    mabd_scene_member* members;
    STAGE(members, members);
    for (int32_t i = 0; i < w->copy->members.count; i++) {
        members[i].body += w->bodies;
        members[i].group += w->scene->group_count;
        members[i].after += w->scene->pairs.count;
    }
    return MABD_OK;
}

// Copy names and settings from the first copy.
static mabd_status take_settings(const copy_work* w) {
    mabd_scene* scene = w->scene;
    const mabd_scene* copy = w->copy;
    MABD_TRY(mabd_names_copy(&scene->allocator, &copy->body_names, &scene->body_names));
    mabd_status status =
        mabd_names_copy(&scene->allocator, &copy->joint_names, &scene->joint_names);
    if (status == MABD_OK) status = mabd_scene_set_name(scene, copy->name);
    if (status == MABD_OK) {
        status = mabd_store_signal(scene, &copy->wind_strength, &scene->wind_strength);
    }
    if (status != MABD_OK) {
        mabd_names_free(&scene->allocator, &scene->body_names);
        mabd_names_free(&scene->allocator, &scene->joint_names);
        return status;
    }
    memcpy(scene->gravity, copy->gravity, sizeof scene->gravity);
    memcpy(scene->wind_direction, copy->wind_direction, sizeof scene->wind_direction);
    scene->h = copy->h, scene->duration = copy->duration;
    scene->young = copy->young;
    scene->close_joints = copy->close_joints;
    scene->contact = copy->contact;
    scene->ground = copy->ground;
    return MABD_OK;
}

// Write all elements behind the counted part of the lists, without counting them. If this fails,
// the caller removes the new axes; new classes stay, unused.
static mabd_status stage(copy_work* w) {
    for (int32_t i = 0; i < w->copy->classes.count; i++) MABD_TRY(add_class(w, i));
    MABD_TRY(stage_bodies(w));
    MABD_TRY(stage_scripts(w));
    MABD_TRY(stage_joints(w));
    MABD_TRY(stage_pieces(w));
    MABD_TRY(stage_forces(w));
    MABD_TRY(stage_springs(w));
    MABD_TRY(stage_pairs(w));
    MABD_TRY(stage_members(w));
    return w->scene->copies == 0 ? take_settings(w) : MABD_OK;
}

static void commit(const copy_work* w) {
    mabd_scene* scene = w->scene;
    scene->bodies.count += w->copy->bodies.count;
    scene->scripts.count += w->copy->scripts.count;
    scene->joints.count += w->copy->joints.count;
    scene->pieces.count += w->copy->pieces.count;
    scene->piece_values.count += w->copy->piece_values.count;
    scene->forces.count += w->copy->forces.count;
    scene->springs.count += w->copy->springs.count;
    scene->spring_points.count += w->copy->spring_points.count;
    scene->ground_points.count += w->copy->ground_points.count;
    scene->nodes.count += w->copy->nodes.count;
    scene->couplings.count += w->copy->couplings.count;
    scene->coupling_axes.count += w->copy->coupling_axes.count;
    scene->pairs.count += w->copy->pairs.count;
    scene->members.count += w->copy->members.count;
    scene->group_count += w->copy->group_count;
    scene->copies++;
}

mabd_status mabd_scene_add_copy(mabd_scene* scene, const mabd_scene* copy, mabd_error* error) {
    if (!scene || !copy) return mabd_fail(error, MABD_ERR_ARG, "add_copy: null argument");
    copy_work w = {.scene = scene,
                   .copy = copy,
                   .bodies = scene->bodies.count,
                   .joints = scene->joints.count,
                   .scripts = scene->scripts.count,
                   .axes = scene->axes.count,
                   .error = error};
    MABD_TRY(check(&w));
    const int32_t tables = scene->tables.count;
    const size_t bytes = mabd_bytes((size_t)copy->classes.count, sizeof *w.classes);
    w.classes = mabd_alloc(&scene->allocator, bytes);
    mabd_status status = w.classes ? stage(&w) : MABD_ERR_MEMORY;
    mabd_free(&scene->allocator, w.classes, bytes);
    if (status == MABD_OK) {
        commit(&w);
        return MABD_OK;
    }
    mabd_store_drop_tables(scene, tables);
    scene->axes.count = w.axes;
    return mabd_fail_memory(error, "adding a copy");
}
