// SPDX-License-Identifier: Apache-2.0
// Elimination orders of systems with junctions.
#pragma once

#include "dual/dual.h"

/// Move late slots of an elimination order. Joints between junctions, or between a junction and the
/// ground, have a definite block only once one of their junctions is eliminated. Each such slot of
/// `order` (slot_count) that comes too soon moves behind the slots of the first of its junctions
/// that is complete. Other slots keep their order.
mabd_status mabd_dual_order_late(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 int32_t* order);
