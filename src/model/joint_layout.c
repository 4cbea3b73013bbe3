// SPDX-License-Identifier: Apache-2.0
// The layout of joint states (mabd/model.h): joints of the tree from the ground in the order of the
// scene, then free bodies.

#include "base/error.h"
#include "model/joint_tree.h"

/// Entries so far.
typedef struct layout_writer {
    int32_t capacity;
    mabd_joint_layout* entries;
    mabd_joint_layout_info* info;
} layout_writer;

// Add an entry of some freedoms, three for each unit quaternion among them.
static void add_entry(layout_writer* w, int32_t joint, int32_t body, bool reversed,
                      int32_t freedoms, int quaternions) {
    mabd_joint_layout_info* n = w->info;
    const int32_t positions = freedoms + quaternions;
    if (n->entries < w->capacity) {
        w->entries[n->entries] = (mabd_joint_layout){.joint = joint,
                                                     .body = body,
                                                     .reversed = reversed,
                                                     .position_first = n->positions,
                                                     .position_count = positions,
                                                     .velocity_first = n->velocities,
                                                     .velocity_count = freedoms};
    }
    n->entries++, n->positions += positions, n->velocities += freedoms;
}

// Joints and bodies of the first copy; copies have the same trees.
static void write_entries(const mabd_model* m, const mabd_tree* tree, layout_writer* w) {
    for (int32_t j = 0; j < m->copy_joints; j++) {
        const mabd_model_joint* joint = &m->joints[j];
        const bool from_b = joint->a < m->body_count && tree->parent_joint[joint->a] == j;
        const bool from_a = joint->b < m->body_count && tree->parent_joint[joint->b] == j;
        int quaternions;
        if (!from_a && !from_b) continue;
        const int freedoms = mabd_model_joint_freedoms(m, joint, &quaternions);
        add_entry(w, j, from_b ? joint->a : joint->b, from_b, freedoms, quaternions);
    }
    for (int32_t i = 0; i < m->copy_bodies; i++) {
        const bool moves = m->body_motion[i] == MABD_MOTION_DYNAMIC;
        const bool node = mabd_model_is_node(m, i); // it does not turn
        if (moves && tree->parent_joint[i] < 0) add_entry(w, -1, i, false, node ? 3 : 6, !node);
    }
}

mabd_status mabd_model_joint_layout(const mabd_model* model, int32_t capacity,
                                    mabd_joint_layout* entries, mabd_joint_layout_info* info,
                                    mabd_error* error) {
    mabd_joint_tree own;
    if (!model || !info || capacity < 0 || (capacity > 0 && !entries)) {
        return mabd_fail(error, MABD_ERR_ARG, "joint_layout: null argument");
    }
    if (mabd_joint_tree_init(&model->allocator, model, &own) != MABD_OK) {
        return mabd_fail_memory(error, "laying out joint states");
    }
    *info = (mabd_joint_layout_info){.cut_joints = own.tree.cut_count};
    if (model->copy_count > 0) info->cut_joints /= model->copy_count;
    layout_writer w = {capacity, entries, info};
    write_entries(model, &own.tree, &w);
    mabd_joint_tree_free(&model->allocator, &own);
    return MABD_OK;
}
