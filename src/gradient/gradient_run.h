// SPDX-License-Identifier: Apache-2.0
// The object behind mabd_gradient (gradient.c).
#pragma once

#include "gradient/loss.h"
#include "sim/sim_object.h"

struct mabd_gradient {
    mabd_allocator allocator;
    const mabd_model* source;
    mabd_gradient_def def; // its arrays are the two below
    mabd_parameter* parameters;
    mabd_loss_term* terms;
    mabd_real* values; // (parameters) of the run
    mabd_variant variant;
    mabd_sim* sim; // of the variant
    void* work;    // derivatives of the formulation
    mabd_loss_frame frame;
    mabd_real* start_change; // (bodies x 12)
    bool* which;             // (controls of a copy)
    mabd_real* targets;      // (controls of a copy)
    char* tape;
    size_t tape_size, record_size, state_size;
    int64_t group;       // steps between checkpoints; steps = none
    int64_t group_first; // state at which the records on the tape begin, after the one before it
    void* memory;
    size_t memory_size;
};

/// The record of state k on the tape, from group_first - 1 to group_first + group.
char* mabd_gradient_record(const mabd_gradient* g, int64_t k);
/// The checkpoint of a group: a saved state, the records of that state and of the one before.
char* mabd_gradient_checkpoint(const mabd_gradient* g, int64_t group);
/// Set the values p and return to the start state.
mabd_status mabd_gradient_begin(mabd_gradient* g, const mabd_real* p, mabd_error* error);
/// Take step number `step`, from 1, with its controls and forces.
mabd_status mabd_gradient_advance(mabd_gradient* g, int64_t step, mabd_error* error);
