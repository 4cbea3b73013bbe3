// SPDX-License-Identifier: Apache-2.0
// Contact forces by an interior-point method, for problems with an assembled matrix that is nearly
// singular: a chain that is pressed on a pulley has compliances from those of its loads to those of
// links that roll, a ratio of 1e7, and more rows than freedoms.
//
//   minimise l'A l/2 + b'l,  |l_t| <= mu l_n        A symmetric, positive definite
//
// With x = (mu l_n, l_t) in the cone K: |x_t| <= x_0 (a half line if mu = 0), Q and c in these
// units,
//
//   y = Q x + c in K,  x o y = 0        u o v = (u'v, u_0 v_t + v_0 u_t)
//
// Newton's method on x o y = sigma mean e in the scaling of Nesterov and Todd, T x = T^-1 y = s:
//
//   (Q + T^2) dx = -(Q x + c - y) + T (s \ r)      dy = T (s \ r) - T^2 dx
//   r = sigma mean e - s o s - (T dx_a) o (T^-1 dy_a)      with the step a of sigma = 0 [Mehrotra]
//
// Some fifteen dense factorisations, whatever the condition.
#pragma once

#include "dual/cone_cg.h"

/// Reals of workspace of mabd_cone_ip.
size_t mabd_cone_ip_work(int32_t count);
/// Find the forces of `count` contacts: A (3 count x 3 count, row-major, the lower triangle is
/// read), b (3 count) [m], friction (count); force (3 count) out [N]. *steps counts factorisations.
/// Returns false if they do not converge to `tolerance` [m]; force is then the best found.
bool mabd_cone_ip(int32_t count, const mabd_real* A, const mabd_real* b, const mabd_real* friction,
                  mabd_real tolerance, mabd_real* force, mabd_real* work, int32_t* steps);
