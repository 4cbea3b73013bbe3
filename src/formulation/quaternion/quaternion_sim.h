// SPDX-License-Identifier: Apache-2.0
// The quaternion formulation behind its table.
#pragma once

#include "formulation/formulation.h"
#include "formulation/quaternion/quaternion_data.h"

/// Write the fields of a preset: entry apply_preset of the table (options.c).
void mabd_quaternion_apply_preset(mabd_sim_def* def, mabd_preset preset);
/// Replace automatic choices: entry resolve of the table (options.c).
void mabd_quaternion_resolve(mabd_sim_def* def);
/// Refuse what the formulation cannot simulate: entry check of the table (options.c).
mabd_status mabd_quaternion_check(const mabd_model* model, const mabd_sim_def* def,
                                  mabd_error* error);

/// Set controls and motors of a solve of a part into sim->input and the wind into the solve
/// (inputs.c).
struct mabd_quaternion_solve;
void mabd_quaternion_set_inputs(struct mabd_quaternion_solve* s);
/// True if a control, a force or a signal of steps of a part jumps at the start of the step
/// (inputs.c).
bool mabd_quaternion_jumps(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                           mabd_real time);
/// Entries of the table (inputs.c).
void mabd_quaternion_restart_input(void* self, int32_t control, int32_t body);
void mabd_quaternion_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                                 const mabd_real* values);
void mabd_quaternion_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates);
bool mabd_quaternion_get_target(const void* self, int32_t copy, int32_t control, mabd_real* target);
void mabd_quaternion_apply_force(void* self, int32_t n, const int32_t* bodies,
                                 const mabd_real* forces, const mabd_real* torques);

/// Advance by def.h: entry step of the table (step.c).
mabd_status mabd_quaternion_step(void* self, mabd_real time, mabd_step_info* info,
                                 mabd_error* error);

/// Set the poses and velocities of the start state (state.c).
void mabd_quaternion_place_bodies(mabd_quaternion_sim* sim);
/// Return to the start state (state.c). MABD_ERR_DIVERGED if redundant rows cannot be left out.
mabd_status mabd_quaternion_start(mabd_quaternion_sim* sim, mabd_error* error);
/// Entry set_state of the table (state.c).
mabd_status mabd_quaternion_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                      bool moved, mabd_error* error);
/// Forget the history: the state is that of `now` (state.c).
void mabd_quaternion_forget_history(mabd_quaternion_sim* sim);
/// Bytes of a saved state: entries of the table (state.c).
size_t mabd_quaternion_state_size(const void* self);
void mabd_quaternion_save(const void* self, void* buffer);
mabd_status mabd_quaternion_restore(void* self, const void* buffer, size_t size, mabd_real time);

/// Getters of the table (output.c).
mabd_measure mabd_quaternion_measure(const void* self);
mabd_energy_balance mabd_quaternion_energy_balance(const void* self);
void mabd_quaternion_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                               mabd_real* velocities, mabd_real* angular);
void mabd_quaternion_get_joint_forces(const void* self, mabd_real* forces);
void mabd_quaternion_get_efforts(const void* self, mabd_real* efforts);
void mabd_quaternion_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);
/// Both sides of a joint at the state (output.c).
mabd_joint_view mabd_quaternion_view_now(const mabd_quaternion_sim* sim,
                                         const mabd_model_joint* joint);
/// Coordinate and rate (2) of a control of a copy (output.c).
void mabd_quaternion_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x);

/// The table of the quaternion formulation (sim.c).
extern const mabd_formulation_ops mabd_formulation_quaternion;
