// SPDX-License-Identifier: Apache-2.0
// Tables of the kernels of the block factorisation, by instruction set.

#include "dual/block_numeric.h"

#define PROTOTYPES(isa) MABD_BLOCK_PROTOTYPES(isa);
#define TABLE(isa)                                                                                 \
    {MABD_BLOCK_JOIN(factor, isa), MABD_BLOCK_JOIN(forward, isa), MABD_BLOCK_JOIN(backward, isa)},

MABD_ISA_EACH(PROTOTYPES)
static const mabd_dual_block_kernels tables[] = {MABD_ISA_EACH(TABLE)};

const mabd_dual_block_kernels* mabd_dual_block_kernels_of(int32_t isa) {
    return &tables[isa];
}
