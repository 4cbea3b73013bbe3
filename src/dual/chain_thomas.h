// SPDX-License-Identifier: Apache-2.0
// Block Thomas for one chain, in place. mabd_dual_chain of dual.h is made of these.
#pragma once

#include "dual/dual.h"

/// Factor the dual system of a chain: edge i couples slots i and i + 1. Allocates nothing; O(n).
/// D gets L and 1/d of every pivot block, U gets Z (see chain_kernel.h).
/// @param bad  on MABD_ERR_SINGULAR, the slot whose pivot failed; may be null
mabd_status mabd_dual_chain_factor(const mabd_dual_system* system, int32_t* bad);

/// Solve with the factors of mabd_dual_chain_factor.
/// @param x    right-hand side (row_count) in, solution out
void mabd_dual_chain_solve(const mabd_dual_system* system, mabd_real* x);
