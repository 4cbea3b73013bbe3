// SPDX-License-Identifier: Apache-2.0
#include "model/joint_tree.h"

int mabd_model_joint_freedoms(const mabd_model* m, const mabd_model_joint* joint,
                              int* quaternions) {
    const mabd_joint_piece plain = {.type = joint->type};
    int sum = 0;
    if (joint->piece_count == 0) return mabd_piece_freedoms(&plain, quaternions);
    *quaternions = 0;
    for (int32_t i = joint->piece_first; i < joint->piece_first + joint->piece_count; i++) {
        int own;
        sum += mabd_piece_freedoms(&m->pieces[i], &own);
        *quaternions += own;
    }
    return sum;
}

// Rows by which joints are chosen: rigid ones. A free joint with controls has none, and is
// preferred to nothing.
static int32_t width_of(const mabd_model* m, const mabd_model_joint* joint) {
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const bool moves_a = m->body_motion[joint->a] == MABD_MOTION_DYNAMIC;
    const bool moves_b = m->body_motion[joint->b] == MABD_MOTION_DYNAMIC;
    if (!moves_a && !moves_b) return 0;
    if (joint->type >= MABD_JOINT_COUNT) { // without atomic rows
        int quaternions;
        const int held = 6 - mabd_model_joint_freedoms(m, joint, &quaternions);
        return held > 0 ? held : 1;
    }
    if (set->rigid_count > 0) return set->rigid_count;
    return set->control_count + set->motor_count > 0;
}

static mabd_status fill_graph(const mabd_allocator* allocator, const mabd_model* m,
                              mabd_joint_tree* g) {
    const size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
    mabd_arena arena = {0};
    bool *moving = NULL, *keep = NULL;
    int32_t *a = NULL, *b = NULL, *width = NULL;
    for (int pass = 0; pass < 2; pass++) {
        moving = mabd_arena_take(&arena, bodies, sizeof *moving);
        keep = mabd_arena_take(&arena, joints, sizeof *keep);
        a = mabd_arena_take(&arena, joints, sizeof *a);
        b = mabd_arena_take(&arena, joints, sizeof *b);
        width = mabd_arena_take(&arena, joints, sizeof *width);
        if (pass == 0) MABD_TRY(mabd_arena_allocate(allocator, &arena));
    }
    g->memory = arena.memory, g->bytes = arena.size;
    for (size_t i = 0; i < bodies; i++) moving[i] = m->body_motion[i] == MABD_MOTION_DYNAMIC;
    for (size_t j = 0; j < joints; j++) {
        const mabd_model_joint* joint = &m->joints[j];
        a[j] = joint->a < m->body_count ? joint->a : -1;
        b[j] = joint->b < m->body_count ? joint->b : -1;
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        width[j] = width_of(m, joint);
        keep[j] = set->control_count + set->motor_count > 0;
    }
    g->graph = (mabd_graph){.body_count = m->body_count,
                            .joint_count = m->joint_count,
                            .moving = moving,
                            .a = a,
                            .b = b,
                            .width = width,
                            .keep = keep};
    return mabd_graph_init(allocator, &g->graph);
}

mabd_status mabd_joint_tree_init(const mabd_allocator* allocator, const mabd_model* m,
                                 mabd_joint_tree* g) {
    *g = (mabd_joint_tree){0};
    mabd_status status = fill_graph(allocator, m, g);
    if (status == MABD_OK) status = mabd_ground_tree_init(allocator, &g->graph, &g->tree);
    if (status == MABD_OK) status = mabd_joint_tree_merge(allocator, m, &g->tree);
    if (status == MABD_OK) status = mabd_joint_tree_sort(allocator, m->body_count, &g->tree);
    if (status != MABD_OK) mabd_joint_tree_free(allocator, g);
    return status;
}

void mabd_joint_tree_free(const mabd_allocator* allocator, mabd_joint_tree* g) {
    mabd_tree_free(allocator, &g->tree);
    mabd_graph_free(allocator, &g->graph);
    mabd_free(allocator, g->memory, g->bytes);
    *g = (mabd_joint_tree){0};
}

size_t mabd_joint_tree_bytes(const mabd_joint_tree* g) {
    return g->bytes + g->graph.bytes + g->tree.body_bytes + g->tree.component_bytes;
}
