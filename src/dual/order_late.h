// SPDX-License-Identifier: Apache-2.0
// Elimination orders of systems with junctions.
#pragma once

#include "dual/dual.h"

/// Joints between junctions, or between a junction and the ground, have a definite block only once
/// a junction of theirs is eliminated. Move each such slot of `order` (slot_count) that comes too
/// soon behind the slots of the first of its junctions that is complete. Other slots keep their
/// order.
mabd_status mabd_order_late(const mabd_allocator* allocator, const mabd_dual_system* system,
                            int32_t* order);
