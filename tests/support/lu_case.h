// SPDX-License-Identifier: Apache-2.0
// Systems for the tests of the block LU, and measures that no solver uses.
#pragma once

#include "dual/block_lu.h"
#include "support/dual_case.h"

typedef struct lu_case {
    mabd_dual_lu_system system;
    int32_t* order; // leaf to root, every joint after its body; null without bodies
    size_t numbers; // of D
    size_t edge_numbers;
    mabd_real *D, *U, *L; // of the system
    mabd_real *b, *x;     // (row_count): right-hand side, and the vector solved in
    int32_t *width, *row, *from, *to;
    size_t *block, *edge_block;
    bool* late;
} lu_case;

/// What lu_case_bodies makes of a graph.
typedef struct lu_bodies {
    double mass;  // factor of the blocks of bodies
    double shift; // diagonal of the blocks of joints, 0 = no block
    bool coupled; // bodies of a joint have a block of their own
    bool twin;    // the rows of the last joint equal those of the one before
    bool mark;    // joints are marked late
    uint64_t seed;
} lu_bodies;

/// Copy pattern and numbers of a dual system; lower = U'. With `skew` > 0, random numbers of that
/// size are added to all blocks.
lu_case lu_case_copy(const dual_case* c, double skew, uint64_t seed);
/// Make K = [A - G, -J'; J, shift] of a graph, which is freed: slot i = body i, 6 wide, and slot
/// bodies + i = joint i. The first joint of a body to an earlier body, or to the ground, must be
/// the one towards the root.
lu_case lu_case_bodies(dual_graph graph, lu_bodies how);
void lu_case_free(lu_case* c);

/// Compute y = K x, or K' x.
void lu_case_product(const lu_case* c, bool transposed, const mabd_real* x, double* y);
/// Compute |b - K x| / (|K| |x| + |b|), largest entries and row sums; K' if transposed.
double lu_case_backward_error(const lu_case* c, bool transposed);
/// Compute |x - y| / |y|, y by LAPACK's dense LU (dgetrf, dgetrs); K' if transposed. *condition
/// gets the condition number of K in the 1-norm, as estimated by dgecon.
double lu_case_dense_difference(const lu_case* c, bool transposed, double* condition);
