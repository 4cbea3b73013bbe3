// SPDX-License-Identifier: Apache-2.0
// Elimination orders in which slots without a block of their own can have pivots.
#pragma once

#include "dual/dual.h"

/// Move the slots marked `late` in an order (slot_count) so that each follows a slot that it is
/// coupled with, is not late and serves no other late slot; late slots for which none is left come
/// last. The order of all other slots stays. system->late null: the order stays. MABD_ERR_MEMORY.
mabd_status mabd_dual_order_pivots(const mabd_allocator* allocator, const mabd_dual_system* system,
                                   int32_t* order);
