// SPDX-License-Identifier: Apache-2.0
// The impulse formulation behind its table.
#pragma once

#include "formulation/formulation.h"
#include "formulation/impulse/impulse_data.h"

/// Write the fields of a preset: entry apply_preset of the table (options.c).
void mabd_impulse_apply_preset(mabd_sim_def* def, mabd_preset preset);
/// Replace automatic choices: entry resolve of the table (options.c).
void mabd_impulse_resolve(mabd_sim_def* def);
/// Refuse what the formulation cannot simulate: entry check of the table (options.c).
mabd_status mabd_impulse_check(const mabd_model* model, const mabd_sim_def* def, mabd_error* error);

/// Warn of frequencies of soft rows that substeps cut to less than half (options.c).
void mabd_impulse_warn_hertz(mabd_impulse_sim* sim);

/// Sort the joints into the order of the sweeps and lay out all arrays (layout.c). sim->model, def
/// and allocator are set, the rest is zero. MABD_ERR_MEMORY: call mabd_impulse_release.
mabd_status mabd_impulse_prepare(mabd_impulse_sim* sim);
/// Free everything that mabd_impulse_prepare took; also after it failed (layout.c).
void mabd_impulse_release(mabd_impulse_sim* sim);

/// Set sim->poses to the state at `time` [s], and poses and velocities of scripts (forces.c).
void mabd_impulse_set_poses(mabd_impulse_sim* sim, mabd_real time);
/// Set sim->poses after bodies have moved by a substep (forces.c).
void mabd_impulse_end_poses(mabd_impulse_sim* sim);
/// Start a substep: inertias, mean velocities of scripts, velocities with loads and without
/// impulses (forces.c).
void mabd_impulse_add_loads(mabd_impulse_sim* sim);
/// Force of motor r of a joint in the current substep (forces.c).
mabd_real mabd_impulse_motor(const mabd_impulse_sim* sim, int32_t joint, int32_t r);
/// Move the poses over the substep (forces.c).
void mabd_impulse_move(mabd_impulse_sim* sim);
/// End a substep: turn the velocities with their bodies (forces.c).
void mabd_impulse_turn_velocities(mabd_impulse_sim* sim);

/// Compute the rows of the block of a joint at sim->poses; rate: of errors [1/s] (rows.c).
void mabd_impulse_set_block(const mabd_impulse_sim* sim, const mabd_impulse_joint* joint,
                            mabd_real rate, mabd_impulse_block* block);
/// Turn values C of mabd_impulse_joint_rows into errors at the end of the substep: those of servos
/// from their targets, 0 for rows that are not held (rows.c).
void mabd_impulse_position_errors(const mabd_impulse_sim* sim, const mabd_impulse_joint* joint,
                                  mabd_real* C);
/// Compute values C and derivatives J of the block of a joint at sim->poses, servos included
/// (rows.c).
void mabd_impulse_joint_rows(const mabd_impulse_sim* sim, const mabd_impulse_joint* joint,
                             mabd_real* C, mabd_impulse_row* J);
/// Return J M^-1 K' of two rows with the same bodies (rows.c).
mabd_real mabd_impulse_compliance(const mabd_impulse_sim* sim, int32_t a, int32_t b,
                                  const mabd_impulse_row* J, const mabd_impulse_row* K);
/// Turn the angular parts of a row to world axes (rows.c).
mabd_impulse_row mabd_impulse_world_row(const mabd_impulse_sim* sim, int32_t a, int32_t b,
                                        const mabd_rigid_row* J);
/// List the rows of a block beyond the rigid ones, and return their number (rows.c).
int32_t mabd_impulse_block_controls(const mabd_row_set* set,
                                    mabd_impulse_control rows[MABD_IMPULSE_MAX_ROWS]);
/// Rows of the block of a joint (rows.c).
int32_t mabd_impulse_block_width(const mabd_row_set* set);

/// Force law of control r of a joint over its displacement in the substep: of its coordinate, or,
/// kind TURN, of its angular velocity (axes.c).
mabd_axis_law mabd_impulse_law(const mabd_impulse_sim* sim, const mabd_model_joint* joint,
                               int32_t r, mabd_impulse_kind kind);
/// Rows that the axes of a joint have (axes.c).
int32_t mabd_impulse_axis_rows(const mabd_row_set* set);
/// Compute the rows of axes at sim->poses (axes.c).
void mabd_impulse_set_axes(mabd_impulse_sim* sim);
/// Set joint and control of all rows of axes (axes.c).
void mabd_impulse_number_axes(mabd_impulse_sim* sim);
/// Note how far axes have moved in the substep, and where their stops are now (axes.c).
void mabd_impulse_move_axes(mabd_impulse_sim* sim);
/// Input of control r of a joint after a part of the current substep, 0 to 1 (axes.c).
mabd_real mabd_impulse_input(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r,
                             mabd_real part);
/// Coordinates and rates of controls at the state (axes.c).
void mabd_impulse_read_coordinates(mabd_impulse_sim* sim);

/// Find the bodies that carry more than their inertia holds, by the impulses of the last substep
/// (carriers.c).
void mabd_impulse_find_carriers(mabd_impulse_sim* sim);
/// Take the torques of loads off them, and after velocities have loads, set their inertia and turn
/// them by these torques (carriers.c).
void mabd_impulse_take_loads(mabd_impulse_sim* sim);
void mabd_impulse_raise_inertia(mabd_impulse_sim* sim);
/// Return the inverse of the inertia that a body of moments I has under the stiffness S [N m]
/// against turns, principal frame, in substeps of h [s], and the largest (h w)^2 (carriers.c).
mabd_sym3 mabd_impulse_raised_inverse(const mabd_real I[3], mabd_sym3 S, mabd_real h,
                                      mabd_real* most);

/// Parts of the next step (substeps.c).
int32_t mabd_impulse_substeps(const mabd_impulse_sim* sim);
/// Raise the number of automatic substeps to what the state needs (substeps.c).
void mabd_impulse_watch_stability(mabd_impulse_sim* sim);

/// Apply the impulses of the last substep, times `scale` (sweep.c).
void mabd_impulse_warm_start(mabd_impulse_sim* sim, mabd_real scale);
/// One sweep over all rows; relax: rows end no errors (sweep.c).
void mabd_impulse_sweep(mabd_impulse_sim* sim, bool relax);

/// Constants of rows of a frequency [1/s] and damping ratio in substeps of h [s] (step.c).
mabd_impulse_soft mabd_impulse_soft_row(const mabd_impulse_def* def, mabd_real hertz,
                                        mabd_real damping, mabd_real h);
/// Advance by def.h: entry step of the table (step.c).
mabd_status mabd_impulse_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);

/// Return the square of the radius of gyration [m^2] of the largest body that moves by forces
/// (divergence.c).
mabd_real mabd_impulse_largest_size2(const mabd_impulse_sim* sim);
/// End a step, whose works are booked, in which bodies gained energy without cause:
/// MABD_ERR_DIVERGED with body and time (divergence.c).
mabd_status mabd_impulse_check_gain(mabd_impulse_sim* sim, mabd_real time, mabd_error* error);

/// Return to the start state (state.c).
mabd_status mabd_impulse_start(void* self, mabd_error* error);
/// Entries of the table (state.c).
mabd_status mabd_impulse_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                   bool moved, mabd_error* error);
size_t mabd_impulse_state_size(const void* self);
void mabd_impulse_save(const void* self, void* buffer);
mabd_status mabd_impulse_restore(void* self, const void* buffer, size_t size, mabd_real time);
/// Keep the state before a step, and return to it (state.c).
void mabd_impulse_keep(mabd_impulse_sim* sim);
void mabd_impulse_undo(mabd_impulse_sim* sim);

/// State of a body; body_count is the world (output.c).
mabd_rigid_state mabd_impulse_state_of(const mabd_impulse_sim* sim, int32_t body);
/// Both sides of a joint at the state (output.c).
mabd_joint_view mabd_impulse_view(const mabd_impulse_sim* sim, const mabd_model_joint* joint);
/// Book what impulses of axes and contacts have done to the velocities of a substep, before these
/// turn with their bodies (works.c).
void mabd_impulse_book_velocities(mabd_impulse_sim* sim);
/// Book the works of rigid servos in a substep (works.c).
void mabd_impulse_book_substep(mabd_impulse_sim* sim);
/// Book the works of a step that succeeded (works.c).
void mabd_impulse_book_step(mabd_impulse_sim* sim, mabd_real time);
/// Entries of the table (output.c).
mabd_measure mabd_impulse_measure(const void* self);
mabd_energy_balance mabd_impulse_energy_balance(const void* self);
void mabd_impulse_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                            mabd_real* velocities, mabd_real* angular);
void mabd_impulse_get_joint_forces(const void* self, mabd_real* forces);
void mabd_impulse_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);
void mabd_impulse_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x);

/// The table of the impulse formulation (sim.c).
extern const mabd_formulation_ops mabd_formulation_impulse;
