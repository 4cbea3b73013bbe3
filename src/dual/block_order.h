// SPDX-License-Identifier: Apache-2.0
// Elimination orders of the slots of a dual system.
#pragma once

#include "dual/block_symbolic.h"
#include "mabd/sim.h"

/// The order taken and the cost of each candidate. A candidate that was not tried has zeros; one
/// abandoned because it costs more than another has no entries, and the operations at which
/// counting stopped.
typedef struct mabd_dual_order_report {
    mabd_order which;
    mabd_dual_block_count counts[MABD_ORDER_COUNT];
} mabd_dual_order_report;

/// Compute the order of the plan, whose slots run leaf to root.
mabd_status mabd_dual_block_order_natural(const mabd_allocator* allocator,
                                          const mabd_dual_system* system, int32_t* order,
                                          mabd_dual_order_report* report);

/// Compute one of the candidate orders (slot_count); tree and cut are the plan's own.
/// MABD_ERR_MEMORY.
mabd_status mabd_dual_block_order_by(const mabd_allocator* allocator,
                                     const mabd_dual_system* system, mabd_order which,
                                     int32_t* order);

/// Compute the order (slot_count) of all candidates with the fewest operations. Deterministic.
/// MABD_ERR_MEMORY.
mabd_status mabd_dual_block_order(const mabd_allocator* allocator, const mabd_dual_system* system,
                                  int32_t* order, mabd_dual_order_report* report);
