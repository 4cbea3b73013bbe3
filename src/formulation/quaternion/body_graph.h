// SPDX-License-Identifier: Apache-2.0
// A symmetric system over the bodies of a part (body_graph.c):
//
//   S = J' V J + shift        J: free rows of the part, V: their inverse weights
//
// Free rows are those whose multiplier is not known: rigid rows and rigid servos. Compliant rows
// have a force that the pose determines.
#pragma once

#include "dual/block_factor.h"
#include "formulation/quaternion/solve.h"

/// Rows of a joint at most.
#define MABD_GRAPH_WIDTH MABD_JOINT_MAX_ROWS

typedef struct mabd_body_graph {
    mabd_dual_system system; // slots are the bodies of the part
    int32_t *width, *row, *from, *to;
    size_t *block, *edge_block;
    uint64_t* key;     // (joints of the part) the bodies of each, sorted
    size_t* pair;      // (joints of the part) offset in U of its two bodies, SIZE_MAX = none
    mabd_real* V;      // (joints x MABD_GRAPH_WIDTH^2) inverse weights, row-major, as wide as a row
    bool* mixed;       // (joints) V is not diagonal
    mabd_real* force;  // (6 per body) workspace of callers
    mabd_real* motion; // (6 per body) workspace of callers
    mabd_real* rest;   // (6 per body)
    void* solver;      // of mabd_dual_block
    void* memory;
    size_t memory_size;
} mabd_body_graph;

/// Create the graph of a part. MABD_ERR_MEMORY: *graph is null.
mabd_status mabd_body_graph_create(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                   mabd_body_graph** graph);
/// Free a graph; null is allowed.
void mabd_body_graph_destroy(const mabd_allocator* allocator, mabd_body_graph* graph);
/// Return the bytes of a graph and its factor; 0 for null.
size_t mabd_body_graph_bytes(const mabd_body_graph* graph);

/// True if row r of a joint is free.
MABD_FN bool mabd_is_free_row(const mabd_row_set* set, int32_t r) {
    return r < set->rigid_count || set->control[r - set->rigid_count].rigid;
}

/// Set V to 1 for all free rows of a part, and 0 for all others.
void mabd_body_graph_set_equal(const mabd_quaternion_solve* s);
/// out (6 per body) = J' V J x, with J of the matrix of the part (mabd_quaternion_store_rows).
void mabd_body_graph_multiply(const mabd_quaternion_solve* s, const mabd_real* x, mabd_real* out);
/// lambda (rows of the part) = V J y on free rows; others stay as they are.
void mabd_body_graph_row_forces(const mabd_quaternion_solve* s, const mabd_real* y,
                                mabd_real* lambda);
/// out (6 per body) = J' lambda over the free rows.
void mabd_body_graph_body_forces(const mabd_quaternion_solve* s, const mabd_real* lambda,
                                 mabd_real* out);
/// Assemble J' V J with J of the matrix of the part.
void mabd_body_graph_assemble(const mabd_quaternion_solve* s);
/// Assemble S with J of the matrix of the part and V, and factor it. shift: relative to the
/// diagonal. MABD_ERR_SINGULAR: *slot is the body, from 0, whose pivot is below it.
mabd_status mabd_body_graph_factor(const mabd_quaternion_solve* s, mabd_real shift, int32_t* slot);
/// y (6 per body) = (J' V J)^+ b, up to motions that no row resists: solves with the factor,
/// refined until the residual falls no more. b (6 per body) must be in the range of J'. Returns the
/// number of refinements. y and b are different arrays.
int32_t mabd_body_graph_solve(const mabd_quaternion_solve* s, const mabd_real* b, mabd_real* y);
