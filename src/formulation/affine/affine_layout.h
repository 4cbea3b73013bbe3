// SPDX-License-Identifier: Apache-2.0
// Memory of a simulation: sizes, arrays, dual solvers, start state, and the constants of a solve.
#pragma once

#include "formulation/affine/data.h"

/// Count the arrays of a simulation of a model.
mabd_affine_sizes mabd_affine_count(const mabd_model* model);
/// True if bodies of a class turn in their own frame (element/spin.h) with a definition whose
/// integrator is resolved.
bool mabd_affine_turns_in_frame(const mabd_body_material* material, const mabd_sim_def* def);
/// Count the bodies that store their rotation: all, or none if no class turns in its own frame.
size_t mabd_affine_count_spins(const mabd_model* model, const mabd_sim_def* def);
/// Take all arrays from an arena. Called twice: once to measure, once to assign.
void mabd_affine_layout(mabd_affine_sim* sim, mabd_arena* arena);
/// Compute the constants of the layout and create the dual solvers. Analyses of components stay in
/// sim->analysis for solvers that are created later. MABD_ERR_MEMORY.
mabd_status mabd_affine_prepare(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Create the dual solver of a component if it is missing. MABD_ERR_MEMORY.
mabd_status mabd_affine_make_solver(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                    int32_t component);
/// Free all that mabd_affine_prepare created.
void mabd_affine_release(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Bytes that tiles and packs will hold (affine/cpu/pack.h); SIZE_MAX if they cannot be counted.
size_t mabd_affine_schedule_bytes_for(const mabd_model* model);
/// Set the start state of the model.
void mabd_affine_reset(mabd_affine_sim* sim);
/// Compute x and xd of all controlled coordinates from q and v; angles are those nearest to the
/// previous x.
void mabd_affine_read_coordinates(mabd_affine_sim* sim);

/// Compute the constants of a solve in the step of size h that starts at `time`: blocks of all
/// classes and signals at the end of the solve. Sets sim->step.
void mabd_affine_begin_solve(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                             mabd_real h);
/// Compute controls, motors and scales of forces at a time, into the arrays of sim: signals, and
/// targets that are set from outside. Returns the wind there [m/s].
mabd_vec3 mabd_affine_set_values(mabd_affine_sim* sim, mabd_real time);
/// Compute the rate x' of a coordinate: J q' of both bodies, each in its own frame. view: of
/// sim->q.
mabd_real mabd_affine_coordinate_rate(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                      const mabd_joint_view* view, const mabd_row* row);
