// SPDX-License-Identifier: Apache-2.0
// Blocks of joints in lanes (packs.c): their rows and sweeps.
#pragma once

#include "formulation/impulse/impulse_sim.h"
#include "formulation/impulse/impulse_sweep.h"

/// Blocks of joints in the order of the sweeps. Impulses live in the packs; sim->lambda has those
/// of the state.
struct mabd_impulse_blocks {
    mabd_impulse_packs packs;
    int32_t* joint;              // (items) in sim->joints
    mabd_impulse_spare* spare;   // (threads)
    mabd_impulse_change* change; // (tiles)
    mabd_arena by_item, by_pack, numbers;
};

/// Put the joints of a simulation into packs: sim->blocks. MABD_ERR_MEMORY: call
/// mabd_impulse_blocks_destroy.
mabd_status mabd_impulse_blocks_create(mabd_impulse_sim* sim);
/// Free the packs; also after create failed.
void mabd_impulse_blocks_destroy(mabd_impulse_sim* sim);
/// Bytes held.
size_t mabd_impulse_blocks_bytes(const mabd_impulse_sim* sim);

/// Compute the rows of all blocks at sim->poses.
void mabd_impulse_blocks_place(mabd_impulse_sim* sim);
/// Do something to all blocks: apply their impulses times `ratio`, or one sweep. Returns the
/// largest change of an impulse and the largest impulse.
mabd_impulse_change mabd_impulse_blocks_run(mabd_impulse_sim* sim, mabd_impulse_task task,
                                            mabd_real ratio, bool relax, bool backwards);
/// True if mabd_impulse_blocks_gap measures a joint of the model.
bool mabd_impulse_blocks_measure(const mabd_impulse_sim* sim, int32_t joint);
/// Return the largest opening of ball joints at sim->poses [m] and its joint; -1 if there is none.
mabd_real mabd_impulse_blocks_gap(const mabd_impulse_sim* sim, int32_t* joint);
/// Copy the impulses from the packs to sim->lambda, or back.
void mabd_impulse_blocks_read(mabd_impulse_sim* sim);
void mabd_impulse_blocks_write(mabd_impulse_sim* sim);
