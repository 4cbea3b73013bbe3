// SPDX-License-Identifier: Apache-2.0
// The plan: how the dual system of a model is laid out and solved. Integers only.
//
// The plan is built on the spanning trees of the joint graph (topology/tree.h), which also define
// components, their classes and cut joints. The dual matrix K = J H^-1 J' + c has one diagonal
// block per joint, and one off-diagonal block per pair of joints that share a moving body; for a
// chain K is block tridiagonal. The order in which a component with cycles is eliminated is a
// matter of cost (dual/block_order.h).
//
// A slot is the place of a joint in the dual system (order.c). Slots of one component are
// consecutive; within a chain, slot s couples with s-1 and s+1 only. Joints without rows (type
// free, no controls) have no slot.
//
// A body with many joints is a junction: its freedoms are unknowns of the dual system as well, 12
// of an affine body or 6 of a rigid one, in slots of 6 rows that follow each other (order.c).
// Joints before them are coupled with them and not with each other.
#pragma once

#include "base/memory.h"
#include "mabd/model.h"

/// Most rows of a slot; a slot of a junction has as many.
#define MABD_PLAN_SLOT_ROWS 6

/// Freedoms of a junction: of an affine body, of a rigid one.
#define MABD_PLAN_AFFINE_ROWS (2 * MABD_PLAN_SLOT_ROWS)
#define MABD_PLAN_RIGID_ROWS  MABD_PLAN_SLOT_ROWS

/// Rows to other moving bodies, of one joint for each, from which a body is a junction. A star of
/// 10 ball joints takes the same number of instructions in both forms; one of 12 takes 0.86 times
/// as many with a junction.
#define MABD_PLAN_JUNCTION_ROWS 31
/// The same for junctions of 6 freedoms. A star of 6 ball joints takes the same number of
/// instructions in both forms, one of 8 takes 0.94 times as many with a junction; in a mesh of
/// loops it costs more: Hoberman's sphere (15 to 21 rows a bar) takes 1.4 times as many with 18.
#define MABD_PLAN_RIGID_JUNCTION_ROWS 24

/// Rows from which a body is a junction of one slot (junction_slots 1) or of two.
static inline int32_t mabd_plan_junction_limit(int32_t junction_slots) {
    return junction_slots == 1 ? MABD_PLAN_RIGID_JUNCTION_ROWS : MABD_PLAN_JUNCTION_ROWS;
}

/// One joint on one moving body, or one of the slots of a junction.
typedef struct mabd_plan_side {
    int32_t slot;
    int32_t is_b; // 1 if the body is the joint's body b, 0 if a; -1 for a slot of the body itself
} mabd_plan_side;

/// One off-diagonal contribution of a body: sides i < j of its side list (slot of i < slot of j)
/// couple in block `edge`.
typedef struct mabd_plan_pair {
    int32_t i, j; // places in the body's side list
    int32_t edge;
} mabd_plan_pair;

typedef struct mabd_plan_component {
    mabd_component kind;
    int32_t loops;          // independent cycles
    int32_t junction_count; // bodies that are junctions
    int32_t ground_count;   // joints to the ground
    int32_t cut_rows;       // rows of the joints that close them, its last slots to eliminate
    int32_t slot_first, slot_count; // its slots
    int32_t edge_first, edge_count; // its off-diagonal blocks
    int32_t body_first, body_count; // its bodies, in component_bodies
} mabd_plan_component;

typedef struct mabd_plan {
    int32_t body_count, joint_count;
    int32_t slot_count, row_count, edge_count, component_count;
    int32_t junction_count;
    int32_t junction_slots; // of each junction, 6 rows each
    int32_t widest;         // rows of the widest slot
    int32_t* slot_joint;    // joint of a slot, -1 - body for a junction (slot_count)
    int32_t* elimination;   // slots in order of elimination, from 0 in each component (slot_count)
    int32_t* joint_slot;    // slot of a joint, -1 = none (joint_count)
    int32_t* slot_width;    // rows of a slot (slot_count)
    int32_t* slot_row;      // first row of a slot in the dual vector (slot_count + 1)
    bool* slot_negative;    // the slot is a junction's (slot_count)
    bool* slot_late;        // all moving bodies of the slot's joint are junctions (slot_count)
    size_t* slot_block;     // offset of its diagonal block in D, width x width (slot_count + 1)
    int32_t *edge_from, *edge_to; // slots coupled, from < to (edge_count), sorted by (from, to)
    size_t* edge_block;    // offset in U, width(from) x width(to), row-major (edge_count + 1)
    int32_t* side_start;   // sides of a body (body_count + 1); none for bodies that do not move
    mabd_plan_side* sides; // sorted by slot within a body
    int32_t* early;        // sides of a junction before its own, -1 = no junction (body_count)
    int32_t* pair_start;   // pairs of a body (body_count + 1)
    mabd_plan_pair* pairs;
    mabd_plan_component* components;
    int32_t* component_bodies; // moving bodies by component
    int32_t counts[MABD_COMPONENT_COUNT];
    int32_t loops; // over all components
    size_t bytes;  // of the whole plan
    mabd_allocator allocator;
} mabd_plan;

/// Build a plan. moving (body_count): the body is dynamic; a, b (joint_count): bodies or -1; width
/// (joint_count): rows, 0..6; junction_rows: freedoms of a junction, 12 or 6. Joints between two
/// bodies that do not move must have width 0; other joints with rows must have two different bodies
/// (MABD_ERR_ARG). Chains are numbered from the end with the lower body or joint index; components
/// by their lowest body. O(bodies + joints + pairs); pairs of a junction: one for each of its slots
/// and each joint, and those of the joints after it. MABD_ERR_MEMORY also if there are more than
/// INT32_MAX pairs. On failure *plan is null.
mabd_status mabd_plan_build(const mabd_allocator* allocator, int32_t body_count, const bool* moving,
                            int32_t joint_count, const int32_t* a, const int32_t* b,
                            const int32_t* width, int32_t junction_rows, mabd_plan** plan);
/// Free a plan. Null is allowed.
void mabd_plan_destroy(mabd_plan* plan);

/// Rows of all joints: the rows of the dual system without the freedoms of junctions.
static inline int32_t mabd_plan_joint_rows(const mabd_plan* plan) {
    return plan->row_count - plan->junction_slots * MABD_PLAN_SLOT_ROWS * plan->junction_count;
}
