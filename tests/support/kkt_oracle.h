// SPDX-License-Identifier: Apache-2.0
// The oracle of the tests: the whole KKT matrix by UMFPACK, without its structure. Not in the
// library.
#pragma once

#include "mabd/base.h"

/// Solve | H  J' | |y|   |r|
///       | J  -c | |x| = |b|
/// H (body_count x 12 x 12, row-major, symmetric), J by entry_count triplets (row, column, value),
/// columns 12 * body + k, duplicates are summed; c (row_count) >= 0. y (12 body_count) and x
/// (row_count) get the solution.
mabd_status mabd_kkt_solve(int32_t body_count, const mabd_real* H, int32_t row_count,
                           int32_t entry_count, const int32_t* row, const int32_t* column,
                           const mabd_real* value, const mabd_real* c, const mabd_real* r,
                           const mabd_real* b, mabd_real* y, mabd_real* x);
