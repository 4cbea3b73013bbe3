// SPDX-License-Identifier: Apache-2.0
// How large the parts of a tree are that threads work on at the same time: known to those who number it and to
// those who cut it, so that a part lies in one place.
#pragma once

#include <stdint.h>

/// Trees of fewer slots are not cut: some 100 microseconds of work.
#define MABD_TREE_LEAST 1024

/// Most slots of a subtree that goes into a part, and fewest of a part: 1/64 of all for a good balance, no fewer than pay for a
/// thread to take them, and no more than the second level of the cache holds.
static inline int32_t mabd_tree_part_size(int32_t count) {
    const int32_t share = count / 64, least = 128, most = 4096;
    return share < least ? least : share > most ? most : share;
}
