// SPDX-License-Identifier: Apache-2.0
// The variational formulation behind its table.
#pragma once

#include "formulation/formulation.h"
#include "formulation/variational/variational_data.h"

/// Entries apply_preset, resolve and check of the table (options.c).
void mabd_variational_apply_preset(mabd_sim_def* def, mabd_preset preset);
void mabd_variational_resolve(mabd_sim_def* def);
mabd_status mabd_variational_check(const mabd_model* model, const mabd_sim_def* def,
                                   mabd_error* error);

/// Divide the bodies into islands, lay out all arrays and create the solvers (layout.c). model, def
/// and allocator are set, the rest is zero. MABD_ERR_MEMORY: call mabd_variational_release.
mabd_status mabd_variational_prepare(mabd_variational_sim* sim);
/// Free everything that mabd_variational_prepare took; also after it failed (layout.c).
void mabd_variational_release(mabd_variational_sim* sim);
/// Find the lowest member of the set of i; root[i] leads towards it (layout.c).
int32_t mabd_variational_root(int32_t* root, int32_t i);
/// Unite the sets of a and b (layout.c).
void mabd_variational_unite(int32_t* root, int32_t a, int32_t b);
/// Write the bytes of state, workspace and solvers into bytes (MABD_MEMORY_COUNT) (layout.c).
void mabd_variational_memory(const mabd_variational_sim* sim, size_t* bytes);

/// Advance by def.h: entry step of the table (step.c).
mabd_status mabd_variational_step(void* self, mabd_real time, mabd_step_info* info,
                                  mabd_error* error);
/// Keep what the books need of the state before a step (works.c).
void mabd_variational_begin_books(mabd_variational_sim* sim);
/// Book the step from `next` to `now` at sim->time, before its inputs are kept (works.c).
void mabd_variational_book_step(mabd_variational_sim* sim);

/// Return to the start state (state.c).
mabd_status mabd_variational_start(mabd_variational_sim* sim, mabd_error* error);
/// Entries set_state, state_size, save and restore of the table (state.c).
mabd_status mabd_variational_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                       bool moved, mabd_error* error);
size_t mabd_variational_state_size(const void* self);
void mabd_variational_save(const void* self, void* buffer);
mabd_status mabd_variational_restore(void* self, const void* buffer, size_t size, mabd_real time);

/// Entries for inputs of the table (inputs.c).
void mabd_variational_restart_input(void* self, int32_t control, int32_t body);
void mabd_variational_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                                  const mabd_real* values);
void mabd_variational_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates);
bool mabd_variational_get_target(const void* self, int32_t copy, int32_t control,
                                 mabd_real* target);
void mabd_variational_apply_force(void* self, int32_t n, const int32_t* bodies,
                                  const mabd_real* forces, const mabd_real* torques);

/// Getters of the table (output.c).
mabd_measure mabd_variational_measure(const void* self);
mabd_energy_balance mabd_variational_energy_balance(const void* self);
void mabd_variational_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                                mabd_real* velocities, mabd_real* angular);
void mabd_variational_get_joint_forces(const void* self, mabd_real* forces);
void mabd_variational_get_efforts(const void* self, mabd_real* efforts);
void mabd_variational_get_joint_coordinates(const void* self, int32_t joint,
                                            mabd_real* coordinates);
/// Coordinate and rate (2) of a control of a copy (output.c).
void mabd_variational_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x);

/// The table of the variational formulation (sim.c).
extern const mabd_formulation_ops mabd_formulation_variational;
