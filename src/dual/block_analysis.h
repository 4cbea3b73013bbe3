// SPDX-License-Identifier: Apache-2.0
// Elimination order and symbolic factorisation of a component in one object: the integer part of a
// block solver, made once and handed to mabd_dual_ops.create_from.
#pragma once

#include "dual/block_order.h"

/// Order and symbolic factorisation of a component, from the pattern alone.
typedef struct mabd_dual_block_analysis {
    mabd_dual_order_report orders;
    mabd_dual_block_symbolic* symbolic;
} mabd_dual_block_analysis;

/// Select the cheapest elimination order and analyse the factorisation in it. D and U of the system
/// may be null. Destroy analysis->symbolic with mabd_dual_block_symbolic_destroy, or hand it to
/// mabd_dual_ops.create_from. MABD_ERR_MEMORY: analysis->symbolic is null.
mabd_status mabd_dual_block_prepare(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    mabd_dual_block_analysis* analysis);
