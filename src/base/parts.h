// SPDX-License-Identifier: Apache-2.0
// Sizes of the parts of a tree that threads process in parallel. The numbering and the cutting of a
// tree use the same sizes, so that a part is contiguous in memory.
#pragma once

#include <stdint.h>

/// Trees of fewer slots are not cut: their work takes about 100 microseconds.
#define MABD_TREE_LEAST 1024

/// Largest number of slots of a subtree in a part, and smallest number of slots of a part: 1/64 of
/// all slots for a good balance, at least enough to pay for a thread, and at most the size of the
/// second level of the cache.
static inline int32_t mabd_part_size(int32_t count) {
    const int32_t share = count / 64, least = 128, most = 4096;
    return share < least ? least : share > most ? most : share;
}
