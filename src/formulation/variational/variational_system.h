// SPDX-License-Identifier: Apache-2.0
// The exact matrix of a substep of an island (system.c).
#pragma once

#include "dual/block_lu.h"
#include "formulation/variational/variational_solve.h"

/// Blocks of a joint with rows, or of a contact between two moving bodies: its slot, and the
/// offsets of its edges in U and lower, SIZE_MAX = the side does not move.
typedef struct mabd_variational_tie {
    int32_t index; // joint of the model; contact
    int32_t slot, row, width;
    size_t a, b;
} mabd_variational_tie;

/// Matrix and factor. Slots: bodies of the island, 6 rows each, then its joints with rows, then
/// contacts with 3 rows each. Vectors are in this order.
typedef struct mabd_variational_system {
    int32_t body_count, joint_count, contact_count;
    mabd_variational_tie* joints;   // (joint_count)
    mabd_variational_tie* contacts; // (contact_count)
    mabd_dual_lu_system pattern;
    mabd_real *D, *U, *lower;
    mabd_real *x, *b, *rest; // (rows)
    mabd_real* shift;        // (rows)
    mabd_dual_lu* lu;
    void* memory;
    size_t memory_size;
} mabd_variational_system;

/// Bodies of a contact between two moving bodies.
typedef struct mabd_variational_pair {
    int32_t a, b;
} mabd_variational_pair;

/// Create the system of an island with slots for contacts: pairs (count) of its bodies.
/// MABD_ERR_MEMORY: *out is null.
mabd_status mabd_variational_system_create(const mabd_variational_sim* sim,
                                           const mabd_variational_island* island, int32_t count,
                                           const mabd_variational_pair* pairs,
                                           mabd_variational_system** out);
/// Null is allowed.
void mabd_variational_system_destroy(const mabd_allocator* allocator,
                                     mabd_variational_system* system);
/// Bytes held by a system; 0 for null.
size_t mabd_variational_system_bytes(const mabd_variational_system* system);
/// Write the matrix at the iterate, and minus the residuals to x: bodies and joints. Blocks of
/// contacts are zero.
void mabd_variational_system_assemble(const mabd_variational_solve* s);
/// Block of a body (6 x 6) and its part of x (6).
mabd_real* mabd_variational_system_block(const mabd_variational_system* system, int32_t slot);
/// Factor. MABD_ERR_SINGULAR: *body or *joint is that of the failed pivot, the other -1.
mabd_status mabd_variational_system_factor(const mabd_variational_solve* s, int32_t* body,
                                           int32_t* joint);
/// Solve for x, and write the increments of bodies and rows to the motions and sim->change.
void mabd_variational_system_solve(const mabd_variational_solve* s);
