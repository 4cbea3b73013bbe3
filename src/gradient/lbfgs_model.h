// SPDX-License-Identifier: Apache-2.0
// The quadratic model of a function inside bounds, from the last few steps and their gradients
// [LBFGSB sec. 3 to 5]:
//
//   q(x + d) = f + g'd + d'B d/2,    B = theta 1 - W K^-1 W'
//
//   W = [Y  theta S]    S = steps, Y = changes of the gradient, k columns each
//   K = [-D    L'       ]    D, L: diagonal and strictly lower part of S'Y
//       [ L    theta S'S]
//
// Its minimiser inside the bounds is approximated in two parts. The Cauchy point is the first local
// minimum of q along the path P(x - t g), P = projection onto the bounds: a polygon whose corners
// are visited in order, f' and f'' of q updated in O(k^2) at each. Then q is minimised over the
// variables that are free there, without their bounds,
//
//   d_F = -r_F/theta - W_F y/theta^2,    (K - W_F' W_F/theta) y = W_F' r_F
//
// with r the gradient of q at the Cauchy point, and the result is projected; if that does not
// descend it is shortened instead [MN sec. 2]. With n variables and k pairs: O(k n + k^3), and
// O(n log n) for the order of the corners.
#pragma once

#include "base/memory.h"

/// Pairs and work arrays. n variables, at most `memory` pairs.
typedef struct mabd_lbfgs_model {
    int32_t n, memory, count;       // count: pairs in use
    mabd_real theta;                // scale of B without pairs
    const mabd_real *lower, *upper; // (n) of the caller
    mabd_real *S, *Y;               // (memory x n) oldest first
    mabd_real *SS, *SY;             // (memory x memory) S'S, S'Y
    mabd_real *xc, *r;              // (n) Cauchy point; gradient of q there
    mabd_real *corner, *d;          // (n) of the path: when a variable meets its bound; direction
    int32_t* order;                 // (n) heap of corners
    mabd_real *p, *c, *w, *v;       // (2 memory)
    mabd_real *K, *LU;              // (2 memory x 2 memory)
} mabd_lbfgs_model;

/// Lay out the arrays of a model whose n, memory, lower and upper are set.
void mabd_lbfgs_model_layout(mabd_lbfgs_model* model, mabd_arena* arena);
/// Forget all pairs; B becomes the unit matrix.
void mabd_lbfgs_model_clear(mabd_lbfgs_model* model);
/// Take in the pair s = step, y = change of the gradient (n). A pair without positive curvature,
/// s'y <= eps y'y, is left out; returns whether it was taken.
bool mabd_lbfgs_model_add(mabd_lbfgs_model* model, const mabd_real* s, const mabd_real* y);
/// Compute the point `next` (n), inside the bounds, that minimises the model about x (n) with
/// gradient g (n) approximately. x must lie inside the bounds. False if the pairs give no
/// usable model: clear it and try again. x, g and next must not overlap.
bool mabd_lbfgs_model_minimize(mabd_lbfgs_model* model, const mabd_real* x, const mabd_real* g,
                               mabd_real* next);
