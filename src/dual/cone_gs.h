// SPDX-License-Identifier: Apache-2.0
// Contact forces by nonlinear block Gauss-Seidel, for problems of dual/cone_cg.h whose matrix W is
// assembled.
//
// W is sparse with 3 x 3 blocks: contacts i and j share one if they are on the same body or on
// bodies jointed to each other. A sweep visits the contacts forward, then backward, and gives each
// the force that obeys the law while all others are constant:
//
//   g  = sum_j W_ij l_j + rest_i + c l_i                   rows of the contact
//   l' = l - (W_ii + c)^-1 g                               sticks, if |l'_t| <= mu l'_n
//   else  l_n <- max(0, l_n - g_n/(W_nn + c)),             slips, or is open
//         l_t <- P(l_t - g_t/e)     P: onto the disc of radius mu l_n
//                                   e: largest eigenvalue of the block of the tangents
//
// The friction bound uses the normal force of the same visit: Coulomb's law without passes. A sweep
// costs as much as a product.
//
// The change d of a sweep forward and backward is a gradient preconditioned by Gauss-Seidel. While
// it falls, the forces are extrapolated as in conjugate gradients, along p <- d + p |d|^2/|previous
// d|^2, and projected into the cones. In piles of several layers this needs far fewer sweeps. High
// stacks of boxes, with more rows than freedoms, converge faster by conjugate gradients.
#pragma once

#include "dual/cone_cg.h"

/// W by rows of blocks. Columns count from `first`, so that an uncoupled part of a larger matrix is
/// a matrix of its own.
typedef struct mabd_cone_matrix {
    int32_t count, first;
    const int32_t *start, *end; // blocks of a row, its own among them (count)
    const int32_t* column;      // of a block
    const mabd_real* block;     // 3 x 3 each, row-major [m/N]
} mabd_cone_matrix;

/// y = W x; self is a mabd_cone_matrix.
mabd_cone_operator mabd_cone_matrix_product;

/// Number of reals of workspace that mabd_cone_gs needs.
size_t mabd_cone_gs_work(int32_t count);
/// Solve a problem by sweeps over W; the operator of the problem is not used. force (3 count):
/// first guess in, forces out [N]; rows (3 count) gets g [m]; work: mabd_cone_gs_work(count) reals.
/// `products` of the report counts sweeps.
mabd_cone_report mabd_cone_gs(const mabd_cone_problem* problem, const mabd_cone_matrix* W,
                              mabd_real* force, mabd_real* rows, mabd_real* work);
