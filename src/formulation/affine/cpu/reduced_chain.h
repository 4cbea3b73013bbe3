// SPDX-License-Identifier: Apache-2.0
// What segments leave of a chain: its cuts and all slots outside of segments, a shorter chain (affine/cpu/segment.h).
#pragma once

#include "formulation/affine/cpu/pack.h"

/// Such a chain of one component.
struct mabd_affine_reduced_chain {
    mabd_dual_system system; // rows from 0, blocks where they are in D and U
    int32_t* slots;          // of the plan (slot_count)
    mabd_real* x;            // (row_count)
    int32_t segment_first, segment_last;
    void* memory;
    size_t bytes;
};

/// One for each component, all zero where there are no segments. MABD_ERR_MEMORY.
mabd_status mabd_affine_reduced_chain_create(mabd_affine_sim* sim, const mabd_allocator* allocator);
void mabd_affine_reduced_chain_destroy(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Bytes that they hold; what they will hold, from the model and its packs.
size_t mabd_affine_reduced_chain_bytes(const mabd_affine_sim* sim);

/// True if a component has segments.
bool mabd_affine_reduced_chain_is(const mabd_affine_sim* sim, int32_t component);
/// Factor and solve it: the parts of lambda outside of segments. MABD_ERR_SINGULAR: *bad is a slot, from 0 in the component.
mabd_status mabd_affine_reduced_chain_factor(mabd_affine_sim* sim, int32_t component, int32_t* bad);
void mabd_affine_reduced_chain_solve(mabd_affine_sim* sim, int32_t component);
