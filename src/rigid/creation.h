// SPDX-License-Identifier: Apache-2.0
// Creation of simulations, and entries of the table of formulations that are alike for those that
// run on the CPU or have no contacts.
#pragma once

#include "base/error.h"
#include "mabd/sim.h"
#include "model/model_data.h"

/// What a simulation is created from.
typedef struct mabd_rigid_given {
    const mabd_model* model;
    const mabd_sim_def* def;
    const mabd_allocator* allocator;
    const mabd_model_start* start; // (bodies) of the run; outlives the simulation
} mabd_rigid_given;

/// The object of a formulation.
typedef struct mabd_rigid_kind {
    size_t size; // of the object
    /// Take all memory of a zeroed object. MABD_ERR_MEMORY: destroy is called.
    mabd_status (*prepare)(void* self, const mabd_rigid_given* given);
    /// Set the start state.
    mabd_status (*start)(void* self, mabd_error* error);
    /// Free an object, also one whose prepare failed.
    void (*destroy)(void* self, const mabd_allocator* allocator);
} mabd_rigid_kind;

/// Create an object without a state: for its plan. MABD_ERR_MEMORY.
mabd_status mabd_rigid_make(const mabd_rigid_kind* kind, const mabd_rigid_given* given, void** self,
                            mabd_error* error);
/// Create an object in its start state. MABD_ERR_MEMORY, and what `start` returns.
mabd_status mabd_rigid_create(const mabd_rigid_kind* kind, const mabd_rigid_given* given,
                              void** self, mabd_error* error);

/// Entry has_backend: the CPU.
bool mabd_rigid_on_cpu(mabd_backend backend);
/// Entry device_bytes: 0.
size_t mabd_rigid_no_device_bytes(const void* self);
/// Entry get_contacts: none.
int32_t mabd_rigid_no_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
/// Entry overlap: none.
mabd_status mabd_rigid_no_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
