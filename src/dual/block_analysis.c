// SPDX-License-Identifier: Apache-2.0
#include "dual/block_analysis.h"

#include "dual/order_late.h"

mabd_status mabd_dual_block_prepare(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    mabd_dual_block_analysis* analysis) {
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* order = mabd_alloc(allocator, bytes);
    analysis->symbolic = NULL;
    if (!order) return MABD_ERR_MEMORY;
    mabd_status status = mabd_dual_block_order(allocator, system, order, &analysis->orders);
    if (status == MABD_OK) status = mabd_dual_order_late(allocator, system, order);
    if (status == MABD_OK) {
        status = mabd_dual_block_analyse(allocator, system, order, &analysis->symbolic);
    }
    mabd_free(allocator, order, bytes);
    return status;
}
