// SPDX-License-Identifier: Apache-2.0
// Symmetric matrices of one body made positive definite.
//
// S (6 x 6) is measured against the inertia M = diag(m): B = M^-1/2 S M^-1/2, which is I for the
// mass matrix. Eigenvalues of B below `least` are raised to it:
//
//   S <- S + M^1/2 V diag(max(least - e_k, 0)) V' M^1/2,     B = V diag(e) V'
//
// so directions in which S is stiff enough keep it. B - least I is factored first: if all its
// pivots are positive nothing is to be done, which is the usual case and takes 56 products.
#pragma once

#include "math/vec3.h"

/// Raise the eigenvalues of S (6 x 6, row-major, symmetric) relative to diag(m) (6, positive) that
/// are below `least`. True if S was changed.
bool mabd_rigid_raise(const mabd_real* m, mabd_real least, mabd_real* S);
