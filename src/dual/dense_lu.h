// SPDX-License-Identifier: Apache-2.0
// LU of a dense square matrix by rows, P A = L U.
//
// The pivot of a column is the entry that is largest relative to its own row of A: the rows may
// have different units (metres and radians).
#pragma once

#include "mabd/base.h"

/// Factor A (n x n, row-major) in place: L below the diagonal, its unit diagonal left out. pivot
/// (n): row pivot[k] was exchanged with row k. scale (n): workspace. False if a pivot is zero or
/// not finite; *bad is its column then.
bool mabd_dense_lu_factor(int32_t n, mabd_real* A, int32_t* pivot, mabd_real* scale, int32_t* bad);
/// Solve A x = b after a factor, x (n): b in, solution out.
void mabd_dense_lu_solve(int32_t n, const mabd_real* A, const int32_t* pivot, mabd_real* x);
/// Solve A X = B after a factor, X (n x columns, row-major): B in, solution out.
void mabd_dense_lu_solve_rows(int32_t n, const mabd_real* A, const int32_t* pivot, int32_t columns,
                              mabd_real* X);
/// Solve A' x = b after a factor, x (n): b in, solution out.
void mabd_dense_lu_solve_transposed(int32_t n, const mabd_real* A, const int32_t* pivot,
                                    mabd_real* x);
