// SPDX-License-Identifier: Apache-2.0
// A private copy of a model whose numbers follow the parameters of a gradient (variant.c).
#pragma once

#include "mabd/gradient.h"
#include "model/model_data.h"

typedef struct mabd_variant {
    const mabd_model* source;
    mabd_model model; // arrays that parameters do not change are those of the source
    int32_t parameter_count;
    const mabd_parameter* parameters; // (parameter_count), of the caller
    const mabd_real* values;          // (parameter_count), of the caller
    bool* body_own;                   // (bodies) has a class of its own
    mabd_real (*inertia)[6];          // (classes) xx yy zz xy xz yz of own classes, user frame
    bool *turned, *moved;             // (classes) inertia, (joints) frames are changed
    mabd_vec3 center;                 // common centre of mass of dynamic bodies at the start
    void* memory;
    size_t memory_size;
} mabd_variant;

/// Create a variant; model, parameters and values must outlive it. MABD_ERR_MEMORY.
mabd_status mabd_variant_create(const mabd_allocator* allocator, const mabd_model* model,
                                int32_t count, const mabd_parameter* parameters,
                                const mabd_real* values, mabd_variant* out);
void mabd_variant_free(const mabd_allocator* allocator, mabd_variant* variant);
/// Set the numbers of the model to the values. MABD_ERR_INPUT for a mass or inertia that no body
/// has.
mabd_status mabd_variant_update(mabd_variant* variant, mabd_error* error);

/// Write the derivatives of the start state of the model by a parameter (bodies x 12): position,
/// turn in the body frame, velocity, angular velocity. False: the parameter does not change it, and
/// all are zero.
bool mabd_variant_start_change(const mabd_variant* variant, int32_t parameter, mabd_real* start);
/// The change of an anchor or the turn of the axes of a joint, user's frame, by one unit of a
/// parameter of kind anchor or axis.
mabd_vec3 mabd_variant_turn(const mabd_variant* variant, int32_t parameter);
