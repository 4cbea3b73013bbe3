// SPDX-License-Identifier: Apache-2.0
// Nested dissection of the graph of slots. Integers only.
#pragma once

#include "dual/dual.h"

/// Compute a nested dissection. set (slot_count): number of the set that a slot belongs to, from 0
/// on without gaps. Sets are parts that are not cut further, and separators; two sets are coupled
/// only if one of them is a separator with the greater number. So any order by ascending sets is a
/// nested dissection. The result is the same on every run and machine; O(n log n). MABD_ERR_MEMORY.
mabd_status mabd_dual_dissect(const mabd_allocator* allocator, const mabd_dual_system* system,
                              int32_t* set);
