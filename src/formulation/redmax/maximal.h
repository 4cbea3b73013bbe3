// SPDX-License-Identifier: Apache-2.0
// The redmax formulation with coordinates maximal, behind its table.
#pragma once

#include "formulation/formulation.h"
#include "formulation/redmax/maximal_data.h"

/// True if a control of a joint is a row of the dual system: a rigid servo, or a spring or damper
/// of integrator linear-implicit (maximal_rows.c).
bool mabd_maximal_is_row(const mabd_sim_def* def, const mabd_row_set* set, int32_t control);
/// True if a control acts on a component of a rotation vector and is no rigid servo: its force at
/// the start of the step is explicit, its row if it is one holds the change (maximal_rows.c).
bool mabd_maximal_is_turn(const mabd_row_set* set, int32_t control);
/// Rows of a joint in the plan (maximal_rows.c).
int32_t mabd_maximal_row_count(const mabd_model* m, const mabd_sim_def* def, int32_t joint);
/// Pose and twist of all bodies at the start of the step, of scripts that of the whole step, into
/// poses, u and free (maximal_rows.c).
void mabd_maximal_place(mabd_maximal_sim* sim);
/// Compute J, goal and compliance of the rows of a component (maximal_rows.c).
void mabd_maximal_rows(mabd_maximal_sim* sim, int32_t component);
/// Write coordinates and rates of all controls of a joint at a node: x (controls x 2). near
/// (controls x 2): coordinates before (maximal_rows.c).
void mabd_maximal_coordinates(const mabd_maximal_sim* sim, const mabd_model_joint* joint,
                              const mabd_maximal_node* node, mabd_real time, const mabd_real* near,
                              mabd_real* x);

/// Set the loads of a step on all bodies: those of bodies, and explicit forces of axes
/// (maximal_loads.c).
void mabd_maximal_set_loads(mabd_maximal_sim* sim);
/// Add the forces of springs between points and of the ground at the start of the step to the loads
/// (maximal_springs.c).
void mabd_maximal_add_springs(mabd_maximal_sim* sim);
/// Energy that they store now [J] (maximal_springs.c).
mabd_real mabd_maximal_spring_energy(const mabd_maximal_sim* sim);
/// Book what their dampers and friction have taken in the step (maximal_springs.c).
void mabd_maximal_book_springs(mabd_maximal_sim* sim);
/// Velocity of a body after the step without forces of rows (maximal_loads.c).
mabd_rigid_twist mabd_maximal_free_twist(const mabd_maximal_sim* sim, int32_t body);
/// Write the wrench of the rows of a joint on b in the step to sim->wrench, and the forces on its
/// controlled coordinates to sim->through (maximal_loads.c).
void mabd_maximal_write_wrench(mabd_maximal_sim* sim, int32_t joint);
/// Value of the input of control r of a joint after a part of the step, 0 to 1 (maximal_loads.c).
mabd_real mabd_maximal_input(const mabd_maximal_sim* sim, const mabd_model_joint* joint, int32_t r,
                             mabd_real part);
/// Force of motor r of a joint at the start of the step (maximal_loads.c).
mabd_real mabd_maximal_motor(const mabd_maximal_sim* sim, int32_t joint, int32_t r);

/// Advance a time step: entry step of the table (maximal_step.c).
mabd_status mabd_maximal_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);
/// Solve the factored rows of a component for impulses with the velocities `free`, and move its
/// bodies from `now` to `next` (maximal_step.c).
void mabd_maximal_move(mabd_maximal_sim* sim, int32_t component);
/// The dual system of a component (maximal_step.c).
mabd_dual_system mabd_maximal_system(const mabd_maximal_sim* sim, int32_t component);
/// The rows of a simulation (maximal_step.c).
mabd_rigid_mobility mabd_maximal_mobility(const mabd_maximal_sim* sim);

/// Find the contacts of the step to `next`, and move the components that touch by their forces
/// (maximal_contact.c). MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_maximal_meet(mabd_maximal_sim* sim, mabd_step_info* info);
/// Entries of the table (maximal_contact.c).
int32_t mabd_maximal_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
mabd_status mabd_maximal_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);

/// State of a body at a node and time; body_count is the world (maximal_output.c).
mabd_rigid_state mabd_maximal_state_of(const mabd_maximal_sim* sim, const mabd_maximal_node* node,
                                       mabd_real time, int32_t body);
/// Both sides of a joint at a node (maximal_output.c).
mabd_joint_view mabd_maximal_view(const mabd_maximal_sim* sim, const mabd_model_joint* joint,
                                  const mabd_maximal_node* node, mabd_real time);
/// Book the works of the step from `last` to `now` (maximal_output.c).
void mabd_maximal_book_step(mabd_maximal_sim* sim, mabd_real time);
/// Entries of the table (maximal_output.c).
mabd_measure mabd_maximal_measure(const void* self);
mabd_energy_balance mabd_maximal_energy_balance(const void* self);
void mabd_maximal_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                            mabd_real* velocities, mabd_real* angular);
void mabd_maximal_get_joint_forces(const void* self, mabd_real* forces);
void mabd_maximal_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);
void mabd_maximal_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x);

/// Place bodies in a state (bodies) at a time, without a history (maximal.c).
void mabd_maximal_set(mabd_maximal_sim* sim, const mabd_model_start* state, mabd_real time);

extern const mabd_formulation_ops mabd_formulation_maximal;
