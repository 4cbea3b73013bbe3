// SPDX-License-Identifier: Apache-2.0
#include "rigid/component_dual.h"

#include <stdio.h>
#include <string.h>

mabd_status mabd_rigid_plan_build(const mabd_allocator* allocator, const mabd_model* m,
                                  const int32_t* width, mabd_plan** plan) {
    const size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
    mabd_arena arena = {0};
    *plan = NULL;
    for (int pass = 0;; pass++) {
        bool* moving = mabd_arena_take(&arena, bodies, sizeof *moving);
        int32_t* a = mabd_arena_take(&arena, joints, sizeof *a);
        int32_t* b = mabd_arena_take(&arena, joints, sizeof *b);
        if (pass == 0) {
            MABD_TRY(mabd_arena_allocate(allocator, &arena));
            continue;
        }
        for (size_t i = 0; i < bodies; i++) moving[i] = m->body_motion[i] == MABD_MOTION_DYNAMIC;
        for (size_t i = 0; i < joints; i++) {
            const mabd_model_joint* joint = &m->joints[i];
            a[i] = joint->a == m->body_count ? -1 : joint->a;
            b[i] = joint->b == m->body_count ? -1 : joint->b;
        }
        const mabd_status status = mabd_plan_build(allocator, m->body_count, moving, m->joint_count,
                                                   a, b, width, MABD_PLAN_RIGID_ROWS, plan);
        mabd_free(allocator, arena.memory, arena.size);
        return status;
    }
}

mabd_dual_system mabd_rigid_dual_system(const mabd_plan* plan, int32_t component, mabd_real* D,
                                        mabd_real* U) {
    const mabd_plan_component* c = &plan->components[component];
    mabd_dual_system system;
    system.elimination = c->loops > 0 ? plan->elimination + c->slot_first : NULL;
    system.negative = c->junction_count ? plan->slot_negative + c->slot_first : NULL;
    system.late = c->junction_count ? plan->slot_late + c->slot_first : NULL;
    system.slot_count = c->slot_count;
    system.edge_count = c->edge_count;
    system.row_offset = plan->slot_row[c->slot_first];
    system.row_count = plan->slot_row[c->slot_first + c->slot_count] - system.row_offset;
    system.width = plan->slot_width + c->slot_first;
    system.row = plan->slot_row + c->slot_first;
    system.block = plan->slot_block + c->slot_first;
    system.from = plan->edge_from + c->edge_first;
    system.to = plan->edge_to + c->edge_first;
    system.slot_offset = c->slot_first;
    system.edge_block = plan->edge_block + c->edge_first;
    system.D = D;
    system.U = U;
    system.pool = NULL;
    return system;
}

const mabd_dual_ops* mabd_rigid_direct_dual(const mabd_plan_component* c) {
    if (c->slot_count == 0) return NULL;
    // Rows of one or two bodies held at both ends may depend on each other (a door on two hinges, a
    // shaft in three bearings), and so may those of a branched tree held in several places. Solvers
    // in place do not handle that: they keep nothing to try again with.
    const bool loose_chain = c->body_count > 2 || c->slot_count <= c->body_count;
    if (c->kind == MABD_COMPONENT_CHAIN && loose_chain) return &mabd_dual_chain;
    if (c->kind == MABD_COMPONENT_TREE && c->ground_count <= 1) return &mabd_dual_tree;
    return &mabd_dual_block;
}

bool mabd_rigid_may_iterate(const mabd_plan_component* c) {
    return c->slot_count > 0 && c->kind != MABD_COMPONENT_CHAIN && c->junction_count == 0;
}

bool mabd_rigid_may_be_too_large(const mabd_plan_component* c) {
    return mabd_rigid_may_iterate(c) && c->slot_count > MABD_DUAL_AUTO_MAX_SLOTS &&
           (c->kind == MABD_COMPONENT_LOOPS || c->kind == MABD_COMPONENT_GRAPH);
}

const mabd_dual_ops* mabd_rigid_select_dual(const mabd_plan_component* c, mabd_dual dual,
                                            size_t direct_bytes) {
    const mabd_dual_ops* direct = mabd_rigid_direct_dual(c);
    if (!mabd_rigid_may_iterate(c)) return direct;
    switch (dual) {
    case MABD_DUAL_STALE:
        return &mabd_dual_stale;
    case MABD_DUAL_GS:
        return &mabd_dual_gs;
    case MABD_DUAL_PCG:
        return &mabd_dual_pcg;
    case MABD_DUAL_AUTO:
        return mabd_rigid_may_be_too_large(c) && direct_bytes > MABD_DUAL_AUTO_MAX_BYTES
                   ? &mabd_dual_pcg
                   : direct;
    default:
        return direct;
    }
}

void mabd_rigid_add_solver_name(char text[64], const char* name) {
    const size_t length = strlen(text);
    if (strstr(text, name)) return;
    snprintf(text + length, 64 - length, "%s%s", length ? ", " : "", name);
}
