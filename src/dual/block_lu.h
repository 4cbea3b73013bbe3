// SPDX-License-Identifier: Apache-2.0
// Direct solve of K x = b and K' x = b for a square K whose pattern is symmetric and whose numbers
// are not: the Newton matrix of bodies and joints,
//
//   K = | A - G  -J' |   bodies are slots, 6 wide
//       |   J      c |   joints are slots of 1 to 6 rows; c may be 0
//
// The factorisation P K = L U is multifrontal (block_lu_numeric.c) over the symbolic analysis of
// block_symbolic.h. The order of the slots is fixed in advance; P exchanges rows only inside the
// pivot block of a front. Chains and trees have no fill if every joint follows its body on the
// side of the leaves, from the leaves to the root.
//
// A slot with a zero diagonal block must follow a slot that it is coupled with: then its pivot
// block is the Schur complement J A^-1 J'.
#pragma once

#include "dual/dual.h"

/// A pivot fails if its magnitude is at most this times the scale of its column of the system: the
/// largest magnitude in the column of D, or if that is 0 the largest |L| |U| / |D| over the edges
/// of its slot, |D| that of the other slot (the size of its Schur complement). Smaller pivots are
/// round-off with certainty; pivots of rows that the caller shifts by 1e-8 are far above.
#define MABD_DUAL_LU_LEAST 1e-14

/// Pattern and numbers of K. The pattern (slots, rows, edges, offsets) is that of a
/// mabd_dual_system; each pair of slots has at most one edge. Of `blocks`, `negative` and `pool`
/// are not used.
typedef struct mabd_dual_lu_system {
    /// D: diagonal blocks, full, row-major, not symmetric. U: blocks (from, to). `late` marks slots
    /// whose diagonal block is zero; it is read where create makes the order. A slot with a small
    /// shift on its diagonal may stay unmarked: the order is cheaper then, and the growth of the
    /// factor up to the reciprocal of the shift.
    mabd_dual_system blocks;
    /// Blocks (to, from), width(to) x width(from), row-major, at the offsets edge_block of U.
    const mabd_real* lower;
} mabd_dual_lu_system;

/// Result of a factorisation.
typedef struct mabd_dual_lu_report {
    int32_t bad; // slot whose pivot failed, from 0; -1 = none
    /// Largest |l_ik| |u_kj| over the largest magnitude of K. The residual of a solve is about
    /// this times the unit round-off; one refinement reduces it by the same factor again.
    double growth;
} mabd_dual_lu_report;

/// Entries of L and U together, the unit diagonal of L left out.
typedef struct mabd_dual_lu_entries {
    int64_t pattern; // of the elimination slot by slot: those of K plus the fill
    int64_t stored;  // with the zeros of merged fronts, without padding
} mabd_dual_lu_entries;

typedef struct mabd_dual_lu mabd_dual_lu;

/// Create a solver for systems of this pattern; D, U and lower are not read. order (slot_count):
/// slots in the order to eliminate them, null = the cheapest one of block_order.h in which late
/// slots can have pivots (order_pivots.h); a chain without late slots in the order of its slots is
/// factored by block Thomas (chain_lu.h). Takes all memory. MABD_ERR_ARG for an empty system,
/// MABD_ERR_MEMORY: *lu is null.
mabd_status mabd_dual_lu_create(const mabd_allocator* allocator, const mabd_dual_lu_system* system,
                                const int32_t* order, mabd_dual_lu** lu);
void mabd_dual_lu_destroy(const mabd_allocator* allocator, mabd_dual_lu* lu);

/// Factor K; the system stays unchanged. Allocates nothing. MABD_ERR_SINGULAR: report->bad is the
/// slot whose pivot failed, and the solver needs another factor before any solve. report may be
/// null.
mabd_status mabd_dual_lu_factor(mabd_dual_lu* lu, const mabd_dual_lu_system* system,
                                mabd_dual_lu_report* report);

/// Solve K x = b after factor. x (row_count): b in, solution out.
void mabd_dual_lu_solve(mabd_dual_lu* lu, mabd_real* x);
/// Solve K' x = b after factor. x (row_count): b in, solution out.
void mabd_dual_lu_solve_transposed(mabd_dual_lu* lu, mabd_real* x);

/// Return the bytes held by a solver.
size_t mabd_dual_lu_bytes(const mabd_dual_lu* lu);
/// Count the entries of the factor.
mabd_dual_lu_entries mabd_dual_lu_count(const mabd_dual_lu* lu);
