// SPDX-License-Identifier: Apache-2.0
// Add joints. A joint given in world coordinates, anchor p and frame f, is stored on each side
// in that body's user frame (position x, rotation q):
//   anchor = R(q)' (p - x),  frame = q* f
// so both sides meet, and all joint coordinates are zero, in the start pose. Joints with pieces
// (joint_piece.h) have the frame at their start coordinates, p and f behind all pieces, on b.
#include "base/error.h"
#include "math/quat.h"
#include "scene/builder_pieces.h"
#include "scene/store.h"

#include <string.h>

/// The arguments of one call: n joints of one definition.
typedef struct joint_batch {
    const mabd_joint_def* def;
    int32_t n;
    bool bulk;                // names get "/0", "/1", ...
    const int32_t* a;         // (n)
    const int32_t* b;         // (n)
    const mabd_real* anchors; // (n x 3) world; not used if def->local
    const mabd_real* frames;  // (n x 4) world, null = def->frame for all
} joint_batch;

static bool moves(const mabd_scene* scene, int32_t body) {
    return body >= 0 &&
           ((const mabd_scene_body*)scene->bodies.data)[body].motion == MABD_MOTION_DYNAMIC;
}

static mabd_status check_ends(const mabd_scene* scene, const mabd_subject* subject, int32_t a,
                              int32_t b) {
    const int32_t ends[2] = {a, b}, count = scene->bodies.count;
    char label_a[120], label_b[120];
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= MABD_WORLD && ends[i] < count) continue;
        return mabd_reject(subject, "body %d does not exist (the scene has %d)", (int)ends[i],
                           (int)count);
    }
    for (int i = 0; i < 2; i++) {
        if (!mabd_scene_is_node(scene, ends[i])) continue;
        return mabd_reject(subject, "%s is a node, which no joint holds",
                           mabd_store_body_label(scene, ends[i], label_a, sizeof label_a));
    }
    if (a == b) {
        return mabd_reject(subject, "it joins %s to itself",
                           mabd_store_body_label(scene, a, label_a, sizeof label_a));
    }
    if (!moves(scene, a) && !moves(scene, b)) {
        return mabd_reject(subject, "it joins %s and %s, neither of which can be moved",
                           mabd_store_body_label(scene, a, label_a, sizeof label_a),
                           mabd_store_body_label(scene, b, label_b, sizeof label_b));
    }
    return MABD_OK;
}

/// Turn a world anchor and frame into those in the user frame of a body.
static void to_body(const mabd_scene* scene, int32_t index, mabd_vec3 p, mabd_quat f,
                    mabd_real* anchor, mabd_real* frame) {
    if (index != MABD_WORLD) {
        const mabd_scene_body* body = (const mabd_scene_body*)scene->bodies.data + index;
        mabd_quat back = mabd_q_conjugate(mabd_q_load(body->rotation));
        p = mabd_q_rotate(back, mabd_v3_sub(p, mabd_v3_load(body->position)));
        f = mabd_q_normalize(mabd_q_product(back, f));
    }
    mabd_v3_store(p, anchor);
    mabd_q_store(f, frame);
}

/// The frame behind the pieces of a joint, which are staged, at their start coordinates.
static void pass_pieces(const mabd_scene* scene, const mabd_scene_joint* joint, mabd_vec3* p,
                        mabd_quat* f) {
    const mabd_joint_piece* pieces = scene->pieces.data;
    mabd_frame E = {mabd_q_matrix(*f), *p};
    if (joint->piece_count == 0) return;
    for (int32_t i = joint->piece_first; i < joint->piece_first + joint->piece_count; i++) {
        const mabd_frame own = mabd_piece_start_frame(&pieces[i], scene->piece_values.data);
        E = mabd_frame_product(&E, &own);
    }
    *p = E.p, *f = mabd_q_normalize(mabd_q_from_matrix(E.R));
}

static mabd_status fill_world(const mabd_scene* scene, const mabd_subject* subject,
                              const joint_batch* batch, int32_t i, mabd_scene_joint* joint) {
    const mabd_real* anchor = batch->anchors + 3 * (size_t)i;
    const mabd_real* frame = batch->frames ? batch->frames + 4 * (size_t)i : batch->def->frame;
    mabd_real unit[4];
    MABD_TRY(mabd_check_finite(subject, "anchor", 3, anchor));
    MABD_TRY(mabd_check_rotation(subject, "frame", frame, unit));
    mabd_vec3 p = mabd_v3_load(anchor);
    mabd_quat f = mabd_q_load(unit);
    to_body(scene, joint->a, p, f, joint->anchor_a, joint->frame_a);
    pass_pieces(scene, joint, &p, &f);
    to_body(scene, joint->b, p, f, joint->anchor_b, joint->frame_b);
    return MABD_OK;
}

static mabd_status fill_local(const mabd_subject* subject, const mabd_joint_def* def,
                              mabd_scene_joint* joint) {
    MABD_TRY(mabd_check_finite(subject, "anchor on a", 3, def->anchor_a));
    MABD_TRY(mabd_check_finite(subject, "anchor on b", 3, def->anchor_b));
    MABD_TRY(mabd_check_rotation(subject, "frame on a", def->frame_a, joint->frame_a));
    MABD_TRY(mabd_check_rotation(subject, "frame on b", def->frame_b, joint->frame_b));
    memcpy(joint->anchor_a, def->anchor_a, sizeof joint->anchor_a);
    memcpy(joint->anchor_b, def->anchor_b, sizeof joint->anchor_b);
    return MABD_OK;
}

/// Write the n joints behind the last one, without counting them.
static mabd_status stage_joints(mabd_scene* scene, mabd_subject subject, const joint_batch* batch,
                                int32_t axes, int32_t pieces) {
    MABD_TRY(
        mabd_list_reserve(&scene->allocator, &scene->joints, sizeof(mabd_scene_joint), batch->n));
    mabd_scene_joint* joints = (mabd_scene_joint*)scene->joints.data + scene->joints.count;
    for (int32_t i = 0; i < batch->n; i++) {
        if (batch->bulk) subject.element = i;
        joints[i].type = batch->def->type;
        joints[i].a = batch->a[i];
        joints[i].b = batch->b[i];
        joints[i].axes = axes;
        joints[i].piece_first = scene->pieces.count, joints[i].piece_count = pieces;
        joints[i].chart = batch->def->chart;
        MABD_TRY(check_ends(scene, &subject, joints[i].a, joints[i].b));
        MABD_TRY(batch->def->local ? fill_local(&subject, batch->def, &joints[i])
                                   : fill_world(scene, &subject, batch, i, &joints[i]));
    }
    return MABD_OK;
}

/// Find an equal set of axes or write it behind the last one. *index gets its index, -1 = none;
/// *added is true if the set is new and must be counted.
static mabd_status stage_axes(mabd_scene* scene, const mabd_joint_def* def, int32_t* index,
                              bool* added) {
    mabd_scene_axes axes;
    *added = false;
    *index = -1;
    if (!mabd_store_make_axes(def, &axes)) return MABD_OK;
    *index = scene->axes.count - 1;
    if (mabd_store_is_last_axes(scene, &axes)) return MABD_OK;
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->axes, sizeof axes, 1));
    MABD_TRY(mabd_store_own_axes(scene, &axes));
    *index = scene->axes.count;
    ((mabd_scene_axes*)scene->axes.data)[*index] = axes;
    *added = true;
    return MABD_OK;
}

static mabd_status try_joints(mabd_scene* scene, const joint_batch* batch, mabd_error* error) {
    const mabd_joint_def* def = batch->def;
    mabd_subject subject = {
        MABD_SUBJECT_JOINT, def->name, scene->joints.count, -1, NULL, -1, error};
    if ((unsigned)def->type >= MABD_JOINT_TYPE_COUNT) {
        return mabd_reject(&subject, "unknown joint type %d", (int)def->type);
    }
    MABD_TRY(mabd_check_weights(&subject, def));
    MABD_TRY(mabd_check_axes(&subject, def->type, def->axes));
    int32_t axes, pieces, reals;
    bool new_axes;
    MABD_TRY(stage_axes(scene, def, &axes, &new_axes));
    MABD_TRY(mabd_stage_pieces(scene, &subject, def, &pieces, &reals));
    MABD_TRY(stage_joints(scene, subject, batch, axes, pieces));
    MABD_TRY(mabd_store_name(scene, &scene->joint_names, &subject, batch->bulk ? batch->n : 0));

    if (new_axes) scene->axes.count++;
    scene->pieces.count += pieces, scene->piece_values.count += reals;
    scene->joints.count += batch->n;
    return MABD_OK;
}

static mabd_status add_joints(mabd_scene* scene, const joint_batch* batch, int32_t* first,
                              mabd_error* error) {
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    if (batch->def->cookie != MABD_JOINT_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the joint definition does not come from mabd_default_joint_def");
    }
    int32_t index = scene->joints.count, tables = scene->tables.count;
    mabd_status status = batch->n > 0 ? try_joints(scene, batch, error) : MABD_OK;
    if (status != MABD_OK) mabd_store_drop_tables(scene, tables);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "adding joints");
    if (status == MABD_OK && first) *first = index;
    return status;
}

mabd_status mabd_scene_add_joint(mabd_scene* scene, const mabd_joint_def* def, int32_t* id,
                                 mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_joint: null argument");
    joint_batch batch = {def, 1, false, &def->a, &def->b, def->anchor, NULL};
    return add_joints(scene, &batch, id, error);
}

mabd_status mabd_scene_add_joint_n(mabd_scene* scene, const mabd_joint_def* def, int32_t n,
                                   const int32_t* a, const int32_t* b, const mabd_real* anchors,
                                   const mabd_real* frames, int32_t* first, mabd_error* error) {
    if (!scene || !def || (n > 0 && (!a || !b || !anchors))) {
        return mabd_fail(error, MABD_ERR_ARG, "add_joint_n: null argument");
    }
    if (n < 0) return mabd_fail(error, MABD_ERR_ARG, "add_joint_n: n is negative");
    if (def->local) {
        return mabd_fail(error, MABD_ERR_ARG, "add_joint_n: anchors are world ones, not local");
    }
    joint_batch batch = {def, n, true, a, b, anchors, frames};
    return add_joints(scene, &batch, first, error);
}
