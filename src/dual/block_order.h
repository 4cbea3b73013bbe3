// SPDX-License-Identifier: Apache-2.0
// Elimination orders of the slots of a dual system.
#pragma once

#include "dual/dual.h"

/// order (slot_count): the cheaper, by operations, of the natural order (joints that close cycles last) and
/// approximate minimum degree. Deterministic.
mabd_status mabd_block_order(const mabd_allocator* allocator, const mabd_dual_system* system,
                             int32_t* order);
