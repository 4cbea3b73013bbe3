// SPDX-License-Identifier: Apache-2.0
// Tables of the kernels of trees, by instruction set.

#include "dual/tree_numeric.h"

#define ENTRY(isa, result, name, arguments) .name = MABD_TREE_JOIN(name, isa),
#define TABLE(isa)                          {MABD_TREE_EACH(ENTRY, isa)},

MABD_ISA_EACH(MABD_TREE_PROTOTYPES)
static const mabd_dual_tree_kernels tables[] = {MABD_ISA_EACH(TABLE)};

const mabd_dual_tree_kernels* mabd_dual_tree_kernels_of(int32_t isa) {
    return &tables[isa];
}
