// SPDX-License-Identifier: Apache-2.0
// tree_kernel.h for one instruction set.

#include "dual/tree_numeric.h"

#include "dual/tree_kernel.h"

bool MABD_TREE(eliminate)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                          mabd_real* x) {
    return mabd_dual_tree_eliminate_slot(system, start, s, x);
}

void MABD_TREE(forward)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                        mabd_real* x) {
    mabd_dual_tree_forward_slot(system, start, s, x);
}

void MABD_TREE(back)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                     mabd_real* x) {
    mabd_dual_tree_back_slot(system, start, s, x);
}
