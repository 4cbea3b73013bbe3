// SPDX-License-Identifier: Apache-2.0
// The exact matrix of a substep of an island (system.c).
#pragma once

#include "dual/block_lu.h"
#include "formulation/variational/variational_solve.h"

/// Most entries of a factor, 1.6 GB: heaps of some ten thousand bodies.
#define MABD_VARIATIONAL_MAX_ENTRIES INT64_C(200000000)

/// Blocks of a joint with rows: its slot, and the offsets of its edges in U and lower, SIZE_MAX =
/// the side does not move.
typedef struct mabd_variational_tie {
    int32_t index; // joint of the model
    int32_t slot, row, width;
    size_t a, b;
} mabd_variational_tie;

/// Two moving bodies that touches or boxes couple: the lower slot first.
typedef struct mabd_variational_pair {
    int32_t a, b;
} mabd_variational_pair;

/// Matrix and factor. Slots: bodies of the island, 6 rows each, then its joints with rows. Vectors
/// are in this order.
typedef struct mabd_variational_system {
    int32_t body_count, joint_count, pair_count;
    mabd_variational_tie* joints; // (joint_count)
    mabd_variational_pair* pairs; // (pair_count) rising by slots
    size_t* pair_block;           // (pair_count) offset in U and lower, 6 x 6
    mabd_dual_lu_system pattern;
    mabd_real *D, *U, *lower;
    mabd_real *x, *b, *rest; // (rows)
    mabd_real* shift;        // (rows)
    mabd_dual_lu* lu;
    void* memory;
    size_t memory_size;
} mabd_variational_system;

/// Create the system of an island with blocks for pairs (count) of its bodies, rising by slots,
/// none twice. MABD_ERR_MEMORY: *out is null; also if the factor would have more than
/// MABD_VARIATIONAL_MAX_ENTRIES.
mabd_status mabd_variational_system_create(const mabd_variational_sim* sim,
                                           const mabd_variational_island* island, int32_t count,
                                           const mabd_variational_pair* pairs,
                                           mabd_variational_system** out);
/// Null is allowed.
void mabd_variational_system_destroy(const mabd_allocator* allocator,
                                     mabd_variational_system* system);
/// Bytes held by a system; 0 for null.
size_t mabd_variational_system_bytes(const mabd_variational_system* system);
/// True if these are the pairs of a system.
bool mabd_variational_system_has_pairs(const mabd_variational_system* system, int32_t count,
                                       const mabd_variational_pair* pairs);
/// Write the matrix at the iterate, and minus the residuals to x: bodies and joints. Blocks of
/// pairs are zero.
void mabd_variational_system_assemble(const mabd_variational_solve* s);
/// Write minus the residuals to x.
void mabd_variational_system_residuals(const mabd_variational_solve* s);
/// Add s G'K to the matrix: rows G and K on bodies a and b, whose pair is one of the system.
void mabd_variational_system_add(const mabd_variational_sim* sim, mabd_variational_system* system,
                                 int32_t a, int32_t b, const mabd_rigid_row* G,
                                 const mabd_rigid_row* K, mabd_real s);
/// Add s G' to x.
void mabd_variational_system_load(const mabd_variational_sim* sim, mabd_variational_system* system,
                                  int32_t a, int32_t b, const mabd_rigid_row* G, mabd_real s);
/// Factor. MABD_ERR_SINGULAR: *body or *joint is that of the failed pivot, the other -1.
mabd_status mabd_variational_system_factor(const mabd_variational_solve* s, int32_t* body,
                                           int32_t* joint);
/// Solve for x, and write the increments of bodies and rows to the motions and sim->change.
void mabd_variational_system_solve(const mabd_variational_solve* s);
