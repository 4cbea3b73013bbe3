// SPDX-License-Identifier: Apache-2.0
// Preconditioned conjugate gradients over a mabd_dual_graph_matrix.
#pragma once

#include "dual/graph_matrix.h"

typedef struct mabd_dual_graph_cg {
    mabd_real *b,
        *x; // right-hand side; first guess in, solution out (row_count), in the matrix' order
    mabd_real *r, *z, *s, *p, *q;
} mabd_dual_graph_cg;

/// Apply a preconditioner: z = M^-1 r, M symmetric and positive definite, and s = K z, most of
/// which a preconditioner made of parts of K has computed already.
typedef void mabd_dual_graph_precondition(void* context, const mabd_real* r, mabd_real* z,
                                          mabd_real* s);

/// Take the arrays from the arena. Called twice: with a measuring arena, then with memory.
void mabd_dual_graph_cg_layout(mabd_dual_graph_cg* cg, const mabd_dual_system* system,
                               mabd_arena* arena);
/// Iterate until the true residual meets the goal or progress stops. Adds to
/// report->iterations, at most up to goal->max_iterations; sets report->residual. True if the goal
/// is met.
bool mabd_dual_graph_cg_run(mabd_dual_graph_cg* cg, const mabd_dual_graph_matrix* matrix,
                            mabd_dual_graph_precondition* precondition, void* context,
                            const mabd_dual_goal* goal, mabd_dual_report* report);
