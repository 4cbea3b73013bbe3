// SPDX-License-Identifier: Apache-2.0
// The reduced chain of a component with segments: its cuts and all slots outside segments
// (affine/cpu/segment.h).
#pragma once

#include "formulation/affine/cpu/pack.h"

/// The reduced chain of one component.
struct mabd_affine_reduced_chain {
    mabd_dual_system system; // rows from 0; its blocks are in D and U of the sim
    int32_t* slots;          // of the plan (slot_count)
    mabd_real* x;            // (row_count)
    int32_t segment_first, segment_last;
    void* memory;
    size_t bytes;
};

/// Create the reduced chains of all components; all zero for components without segments.
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_reduced_chain_create(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Free the reduced chains of all components.
void mabd_affine_reduced_chain_destroy(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Bytes that the reduced chains hold.
size_t mabd_affine_reduced_chain_bytes(const mabd_affine_sim* sim);

/// True if a component has segments.
bool mabd_affine_reduced_chain_is(const mabd_affine_sim* sim, int32_t component);
/// Factor the reduced chain. MABD_ERR_SINGULAR: *bad gets the slot, counted from 0 in the
/// component; it may be one that was eliminated inside a segment.
mabd_status mabd_affine_reduced_chain_factor(mabd_affine_sim* sim, int32_t component, int32_t* bad);
/// Solve the reduced chain after factor, and set the parts of lambda outside segments.
void mabd_affine_reduced_chain_solve(mabd_affine_sim* sim, int32_t component);
