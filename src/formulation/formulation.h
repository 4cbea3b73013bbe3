// SPDX-License-Identifier: Apache-2.0
// What a formulation gives to mabd_sim. Each lives in a folder of its own and fills one table; sim.c
// knows no more than this.
#pragma once

#include "base/memory.h"
#include "mabd/sim.h"

typedef struct mabd_formulation_ops {
    /// Bytes that create will take for a model and def.dual, its solvers' included; SIZE_MAX if too many or not
    /// known.
    size_t (*bytes_for)(const mabd_model* model, mabd_dual dual);
    /// Take all memory, start state.
    mabd_status (*create)(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, void** self, mabd_error* error);
    void (*destroy)(void* self, const mabd_allocator* allocator);
    void (*reset)(void* self);
    /// Advance from `time` by def.h. On failure the state is that before the step.
    mabd_status (*step)(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);
    mabd_measure (*measure)(const void* self);
    void (*get_state)(const void* self, mabd_real* positions, mabd_real* quaternions,
                      mabd_real* velocities, mabd_real* angular);
    void (*get_joint_forces)(const void* self, mabd_real* forces);
    void (*get_joint_coordinates)(const void* self, int32_t joint, mabd_real* coordinates);
    /// Targets of copies first .. first + count - 1, which (controls, null = all), values (count x controls, null = those of
    /// the scene's signals).
    void (*set_targets)(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values);
    void (*get_controls)(const void* self, mabd_real* coordinates, mabd_real* rates);
    int32_t (*get_contacts)(const void* self, int32_t capacity, mabd_contact_info* contacts);
    mabd_status (*overlap)(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
    size_t (*state_size)(const void* self);
    void (*save)(const void* self, void* buffer);
    /// `time` [s] is that of the saved state. MABD_ERR_INPUT if `size` bytes are no state of this model,
    /// MABD_ERR_MEMORY; then nothing has changed.
    mabd_status (*restore)(void* self, const void* buffer, size_t size, mabd_real time);
    size_t (*bytes)(const void* self);
    size_t (*device_bytes)(const void* self);
    void (*get_times)(const void* self, double* seconds);
} mabd_formulation_ops;

/// M-ABD (formulation/mabd/).
extern const mabd_formulation_ops mabd_formulation_affine;
