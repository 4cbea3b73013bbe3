// SPDX-License-Identifier: Apache-2.0
// The exact matrix of a substep over the rows alone (exact.c).
#pragma once

#include "dual/block_lu.h"
#include "formulation/variational/variational_solve.h"

/// Matrices and factors of all components of the plan.
typedef struct mabd_variational_exact {
    mabd_dual_lu** lu;       // (components) null = none
    mabd_real* lower;        // offsets are those of U
    mabd_real* Y;            // (sides' rows x 6) A^-1 G0'
    size_t* side;            // (sides) first row of a side in Y
    mabd_mat3* inverse;      // (bodies) of dLp/dw
    mabd_real *x, *b, *rest; // (rows)
    void* memory;
    size_t memory_size, lu_bytes;
} mabd_variational_exact;

/// Take the memory that all components share; they have no factors yet. MABD_ERR_MEMORY: *out is
/// null.
mabd_status mabd_variational_exact_create(const mabd_variational_sim* sim,
                                          mabd_variational_exact** out);
/// Create the factor of a component. MABD_ERR_MEMORY.
mabd_status mabd_variational_exact_add(const mabd_variational_sim* sim,
                                       mabd_variational_exact* exact, int32_t component);
/// Null is allowed.
void mabd_variational_exact_destroy(const mabd_variational_sim* sim, mabd_variational_exact* exact);
/// Bytes held; 0 for null.
size_t mabd_variational_exact_bytes(const mabd_variational_exact* exact);
/// Assemble and factor the matrices of an island at the iterate. MABD_ERR_SINGULAR: *body or
/// *joint is that of the failed pivot, the other -1.
mabd_status mabd_variational_exact_factor(const mabd_variational_solve* s, int32_t* body,
                                          int32_t* joint);
/// Solve, and write the increments of bodies and rows to the motions and sim->change.
void mabd_variational_exact_solve(const mabd_variational_solve* s);
