// SPDX-License-Identifier: Apache-2.0
// The dual matrix of any pattern for iterative solvers: a copy by block rows, in an order of their
// own.
//
// Place p of the order holds a slot. Row p keeps its diagonal block and the blocks K_pq of its
// neighbours q < p, ascending; the other triangle is read from the same blocks. Vectors are in the
// same order.
#pragma once

#include "dual/dual.h"

/// Coupled slots: the neighbours of slot s are slot[start[s]] ... slot[start[s + 1] - 1],
/// ascending.
typedef struct mabd_dual_neighbours {
    int32_t* start; // (slot_count + 1)
    int32_t* slot;  // (2 edge_count)
    int32_t* edge;  // (2 edge_count) by which edge
    size_t bytes;
} mabd_dual_neighbours;

/// Take memory for the neighbours of all slots of a system and fill it. MABD_ERR_MEMORY.
mabd_status mabd_dual_neighbours_make(const mabd_allocator* allocator,
                                      const mabd_dual_system* system, mabd_dual_neighbours* list);
void mabd_dual_neighbours_free(const mabd_allocator* allocator, mabd_dual_neighbours* list);

typedef struct mabd_dual_graph_matrix {
    int32_t count, row_count; // slots, rows
    int32_t* slot;            // at a place (count)
    int32_t* place;           // of a slot (count)
    int32_t* width;           // by place (count)
    int32_t* row;             // first row by place (count + 1)
    size_t* block;            // offset in D by place (count + 1)
    int32_t* start;           // of a row's blocks in low, edge (count + 1)
    int32_t* low;             // places q < p (edge_count)
    int32_t* edge;            // edge of such a block, or -1 - edge where U holds its transpose
    size_t* at;               // offset in A of a row's first block (count + 1)
    mabd_real* D;             // diagonal blocks, full
    mabd_real* A;             // K_pq, width(p) x width(q), row-major
} mabd_dual_graph_matrix;

/// Take the arrays from the arena. Called twice: with a measuring arena, then with memory.
void mabd_dual_graph_matrix_layout(mabd_dual_graph_matrix* matrix, const mabd_dual_system* system,
                                   mabd_arena* arena);
/// Fill all but the values, after `slot` has been set to the order.
void mabd_dual_graph_matrix_prepare(mabd_dual_graph_matrix* matrix, const mabd_dual_system* system,
                                    const mabd_dual_neighbours* list);
/// Copy the values of D and U.
void mabd_dual_graph_matrix_load(mabd_dual_graph_matrix* matrix, const mabd_dual_system* system);

/// y = K x
void mabd_dual_graph_matrix_product(const mabd_dual_graph_matrix* matrix, const mabd_real* x,
                                    mabd_real* y);
/// r = b - K x; returns mabd_dual_graph_matrix_largest of r.
mabd_real mabd_dual_graph_matrix_residual(const mabd_dual_graph_matrix* matrix, const mabd_real* b,
                                          const mabd_real* x, mabd_real* r);
/// Largest 2-norm over the rows of one slot; of a residual, the largest joint error [m, rad].
mabd_real mabd_dual_graph_matrix_largest(const mabd_dual_graph_matrix* matrix, const mabd_real* r);
/// Copy a vector (row_count) from the order of slots into the order of the matrix.
void mabd_dual_graph_matrix_gather(const mabd_dual_graph_matrix* matrix,
                                   const mabd_dual_system* system, const mabd_real* from,
                                   mabd_real* to);
void mabd_dual_graph_matrix_scatter(const mabd_dual_graph_matrix* matrix,
                                    const mabd_dual_system* system, const mabd_real* from,
                                    mabd_real* to);
