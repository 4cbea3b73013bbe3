// SPDX-License-Identifier: Apache-2.0
// Contact forces by nonlinear block Gauss-Seidel, for problems of dual/cone_cg.h whose matrix W is at hand.
//
// W is sparse, of 3 x 3 blocks: contacts i and j share one where a body, or bodies jointed to each other, carry both.
// A sweep visits one contact after the other, forth and then back, and gives each the force that obeys the law with all
// others as they are:
//
//   g  = sum_j W_ij l_j + rest_i + c l_i                   rows of the contact
//   l' = l - (W_ii + c)^-1 g                               sticks, if |l'_t| <= mu l'_n
//   else  l_n <- max(0, l_n - g_n/(W_nn + c)),             slips, or is open
//         l_t <- P(l_t - g_t/e)     P: onto the disk of radius mu l_n, e: largest eigenvalue of the tangents' block
//
// The bound of friction is that of the normal force of the same visit: Coulomb's law, no passes. The price of a sweep is that
// of a product.
//
// What a sweep forth and back does, d, is a gradient that Gauss-Seidel has preconditioned, and as long as it becomes smaller
// the forces go on as conjugate gradients would, along p <- d + p |d|^2/|d of before|^2, back into the cones. In heaps of some
// layers this takes far fewer sweeps. High stacks of boxes, with more rows than freedoms, are better left to conjugate gradients.
#pragma once

#include "dual/cone_cg.h"

/// W by rows of blocks. Columns are counted from `first`, so that a part of a larger matrix that nothing else couples with is a
/// matrix, too.
typedef struct mabd_cone_matrix {
    int32_t count, first;
    const int32_t *start, *end; // blocks of a row, its own among them (count)
    const int32_t* column;      // of a block
    const mabd_real* block;     // 3 x 3 each, row-major [m/N]
} mabd_cone_matrix;

/// y = W x; self is a mabd_cone_matrix.
mabd_contact_operator mabd_cone_matrix_product;

/// Reals that a solve works in.
size_t mabd_cone_gs_work(int32_t count);
/// As mabd_cone_cg, with sweeps for products; the operator of the problem is not used.
mabd_cone_report mabd_cone_gs(const mabd_cone_problem* problem, const mabd_cone_matrix* W,
                              mabd_real* force, mabd_real* rows, mabd_real* work);
