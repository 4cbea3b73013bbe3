// SPDX-License-Identifier: Apache-2.0
// What runs leave of a chain: its cuts and all slots outside of runs, a shorter chain (cpu/run.h).
#pragma once

#include "cpu/sim.h"

/// Such a chain of one component.
struct mabd_outer {
    mabd_dual_system system; // rows from 0, blocks where they are in D and U
    int32_t* slots;          // of the plan (slot_count)
    mabd_real* x;            // (row_count)
    int32_t run_first, run_last;
    void* memory;
    size_t bytes;
};

/// One for each component, all zero where there are no runs. MABD_ERR_MEMORY.
mabd_status mabd_outer_create(mabd_cpu_sim* sim, const mabd_allocator* allocator);
void mabd_outer_destroy(mabd_cpu_sim* sim, const mabd_allocator* allocator);
/// Bytes that they hold; what they will hold, from the model and its packs.
size_t mabd_outer_bytes(const mabd_cpu_sim* sim);

/// True if a component has runs.
bool mabd_outer_is(const mabd_cpu_sim* sim, int32_t component);
/// Factor and solve it: the parts of lambda outside of runs. MABD_ERR_SINGULAR: *bad is a slot, from 0 in the component.
mabd_status mabd_outer_factor(mabd_cpu_sim* sim, int32_t component, int32_t* bad);
void mabd_outer_solve(mabd_cpu_sim* sim, int32_t component);
