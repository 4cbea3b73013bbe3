// SPDX-License-Identifier: Apache-2.0
// Factor of a dense symmetric positive definite matrix, U'U = A by rows of U, compiled for each
// instruction set (base/isa.h):
//
//   for eight rows p at a time:  U_pp'U_pp = A_pp,  U_pk = U_pp^-T A_pk
//                                A_kl -= sum_p U_pk U_pl        k <= l behind them
//
// The update goes along rows, so that reals of a row do not interact: all sets give the same bits.
#pragma once

#include "base/isa.h"
#include "math/shared.h"

#include <stddef.h>

/// Factor of a matrix n x n, row-major, in place; the upper triangle is read and written. False if
/// it is not positive definite.
typedef bool mabd_dense_upper_factor_fn(size_t n, mabd_real* A);

#define MABD_UPPER_JOIN_(name, isa) mabd_dense_upper_##name##_##isa
#define MABD_UPPER_JOIN(name, isa)  MABD_UPPER_JOIN_(name, isa)
#ifdef MABD_ISA
mabd_dense_upper_factor_fn MABD_UPPER_JOIN(factor, MABD_ISA);
#endif

/// Return the factor of an instruction set, 0 .. mabd_isa_count() - 1 (dense_upper.c).
mabd_dense_upper_factor_fn* mabd_dense_upper_factor_of(int32_t isa);
/// Solve U'U x = b: x (n) is b before and the solution after (dense_upper.c).
void mabd_dense_upper_solve(size_t n, const mabd_real* U, mabd_real* x);
