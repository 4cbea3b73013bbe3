// SPDX-License-Identifier: Apache-2.0
// Multi-directional block Gauss-Seidel [MABD 5.5]: the lines of graph_lines.h, each solved exactly,
// forward and backward.
#pragma once

#include "dual/graph_matrix.h"

typedef struct mabd_dual_graph_sweep {
    mabd_dual_graph_matrix matrix; // slots line by line
    uint8_t* joined;               // the place before is of the same line (count)
    uint8_t* bound;  // at the start of a line: it has neighbours in later lines (count)
    size_t* link;    // offset in Z (count)
    mabd_real* F;    // L and 1/d of every pivot block, at matrix.block
    mabd_real* Z;    // of place p: d^-1 L^-1 K_{p-1,p}, width(p-1) x width(p)
    mabd_real* work; // (row_count) after a sweep: change by the backward pass
} mabd_dual_graph_sweep;

/// Take the arrays from the arena. Called twice: with a measuring arena, then with memory.
void mabd_dual_graph_sweep_layout(mabd_dual_graph_sweep* sweep, const mabd_dual_system* system,
                                  mabd_arena* arena);
/// Find the lines. MABD_ERR_MEMORY: takes scratch memory.
mabd_status mabd_dual_graph_sweep_prepare(mabd_dual_graph_sweep* sweep,
                                          const mabd_allocator* allocator,
                                          const mabd_dual_system* system);
/// Copy the values and factor every line; D and U stay unchanged. MABD_ERR_SINGULAR: *bad (may be
/// null) gets the slot whose pivot failed.
mabd_status mabd_dual_graph_sweep_factor(mabd_dual_graph_sweep* sweep,
                                         const mabd_dual_system* system, int32_t* bad);
/// z = M^-1 r: one sweep forward and backward from zero, vectors in the order of the matrix. M is
/// symmetric and positive definite.
void mabd_dual_graph_sweep_apply(mabd_dual_graph_sweep* sweep, const mabd_real* r, mabd_real* z);
/// s = K z of the last apply, for the same r.
void mabd_dual_graph_sweep_product(const mabd_dual_graph_sweep* sweep, const mabd_real* r,
                                   mabd_real* s);
