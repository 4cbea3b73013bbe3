// SPDX-License-Identifier: Apache-2.0
// The redmax formulation behind its table.
#pragma once

#include "formulation/formulation.h"
#include "formulation/redmax/redmax_data.h"

/// Write the fields of a preset: entry apply_preset of the table (options.c).
void mabd_redmax_apply_preset(mabd_sim_def* def, mabd_preset preset);
/// Replace automatic choices: entry resolve of the table (options.c).
void mabd_redmax_resolve(mabd_sim_def* def);
/// Refuse what the formulation cannot simulate: entry check of the table (options.c).
mabd_status mabd_redmax_check(const mabd_model* model, const mabd_sim_def* def, mabd_error* error);

/// Build links and parts, and take all memory. sim->model, def and allocator are set, the rest is
/// zero (layout.c). MABD_ERR_MEMORY: call mabd_redmax_release.
mabd_status mabd_redmax_prepare(mabd_redmax_sim* sim);
/// Free everything that mabd_redmax_prepare took; also after it failed (layout.c).
void mabd_redmax_release(mabd_redmax_sim* sim);
/// Write the bytes of state, workspace and factors into bytes (MABD_MEMORY_COUNT) (layout.c).
void mabd_redmax_memory(const mabd_redmax_sim* sim, size_t* bytes);

/// Describe strings and cut joints; sim needs no state, *tree is zero (plan.c).
void mabd_redmax_describe(const mabd_redmax_sim* sim, mabd_tree_plan* tree);

/// Set the laws' forces and the wind of a solve at its time, into s->force, motor and wind
/// (inputs.c).
void mabd_redmax_set_inputs(mabd_redmax_solve* s);
/// Coordinate and rate of a prescribed freedom at the time of a solve (inputs.c).
void mabd_redmax_prescribed(const mabd_redmax_solve* s, int32_t freedom, mabd_real* q,
                            mabd_real* rate);
/// True if a prescribed freedom can follow the rate of its signal: the signal does not jump
/// (inputs.c).
bool mabd_redmax_has_rate(const mabd_redmax_sim* sim, int32_t freedom);
/// True if a control or force of a part, or a signal of steps, jumps at the start of the step
/// (inputs.c).
bool mabd_redmax_jumps(const mabd_redmax_sim* sim, const mabd_redmax_part* part);
/// Entries of the table (inputs.c).
void mabd_redmax_restart_input(void* self, int32_t control, int32_t body);
void mabd_redmax_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                             const mabd_real* values);
void mabd_redmax_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates);
bool mabd_redmax_get_target(const void* self, int32_t copy, int32_t control, mabd_real* target);
void mabd_redmax_apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                             const mabd_real* torques);

/// Solve a stage by Newton's method: sim->q holds the first guess and becomes the solution, with
/// v, a, r and F (newton.c). MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: the report names the link.
mabd_status mabd_redmax_newton(const mabd_redmax_solve* s);
/// Take one Newton iteration without safeguards (newton.c).
mabd_status mabd_redmax_newton_once(const mabd_redmax_solve* s);
/// Compute the accelerations a at sim->q, v (newton.c); those of prescribed freedoms are in sim->a.
/// Rows of loops keep their rates if s->gamma is 0, else their rates vanish after gamma by them.
mabd_status mabd_redmax_accelerate(const mabd_redmax_solve* s);
/// Advance a time step: entry step of the table (step.c).
mabd_status mabd_redmax_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);
/// Begin the step of a part: clear its report, and return a solve from `now` (step.c).
mabd_redmax_solve mabd_redmax_begin_step(mabd_redmax_sim* sim, int32_t part);
/// The method that a part takes its step from sim->time by (step.c).
mabd_integrator mabd_redmax_step_method(const mabd_redmax_sim* sim, const mabd_redmax_part* part);
/// 1 - sqrt(1/2): sdirk2
#define MABD_REDMAX_ALPHA ((mabd_real)0.29289321881345247559915563789515)
/// Prepare stage `number` of an implicit method over s->h from s->from: gamma, time, base and
/// inputs; of the second stage of sdirk2 sim->v, a are those of the first one (step.c).
void mabd_redmax_set_stage(mabd_redmax_solve* s, mabd_integrator method, int number);
/// Put the prescribed freedoms that have followed the rates of their signals where these are
/// (step.c).
void mabd_redmax_settle_prescribed(const mabd_redmax_solve* s);
/// True if a method holds the poses of loops; others hold rates, and end by a projection (step.c).
bool mabd_redmax_holds_poses(mabd_integrator method);
/// Begin a step with the forces that the rows had in the last one (step.c).
void mabd_redmax_load_forces(const mabd_redmax_solve* s);
/// Put the prescribed freedoms of sim->q where they are in the stage (step.c).
void mabd_redmax_follow(const mabd_redmax_solve* s);
/// Advance a part from s->from_node at s->from by s->h to `to`. MABD_ERR_DIVERGED also if it gains
/// energy, unless `last` says that the step cannot be divided further (step.c).
mabd_status mabd_redmax_advance(mabd_redmax_solve* s, mabd_integrator method, bool last,
                                mabd_redmax_node* to);
/// Begin a step of a part at `time` [s] with the branches of the state (step.c).
void mabd_redmax_begin_branches(mabd_redmax_solve* s, mabd_real time);
/// Take the step of a part from sim->time to sim->next; the report of the part tells its status
/// (step.c).
void mabd_redmax_step_part(mabd_redmax_sim* sim, int32_t part);
/// Take the step of a part from `time` [s] in parts (step.c).
mabd_status mabd_redmax_divide(mabd_redmax_solve* s, mabd_real time);
/// The method of the parts of a divided step (step.c).
mabd_integrator mabd_redmax_divided_method(const mabd_redmax_sim* sim,
                                           const mabd_redmax_part* part);
/// Copy the share of a part in a node (step.c).
void mabd_redmax_copy_node(const mabd_redmax_solve* s, const mabd_redmax_node* from,
                           mabd_redmax_node* to);
/// Load a node into the iterate of a part: q, v in the chart that is centred at it (step.c).
void mabd_redmax_load_node(const mabd_redmax_solve* s, const mabd_redmax_node* node);
/// Coordinates and rates (freedoms) of a ball at an earlier node in the chart that is centred at a
/// node (step.c).
void mabd_redmax_local_past(const mabd_redmax_link* link, const mabd_redmax_node* at,
                            const mabd_redmax_node* before, mabd_real* q, mabd_real* v);
/// Write the iterate of a part to a node (step.c).
void mabd_redmax_store_node(const mabd_redmax_solve* s, mabd_redmax_node* to);

/// Energy of a part at a node, at `time`, under constant forces of the laws in s [J], for the
/// guard; the kinetic part goes to *kinetic, that of springs and ground to s->stored (guard.c).
mabd_real mabd_redmax_energy(mabd_redmax_solve* s, const mabd_redmax_node* node, mabd_real time,
                             mabd_real* kinetic);
/// Work of prescribed freedoms and of forces without a potential over h, by their power at the end
/// of the last solve [J] (guard.c).
mabd_real mabd_redmax_work(const mabd_redmax_solve* s);
/// Energy that a part gained from s->from_node to `to` beyond what the guard allows [J], without
/// the error of resolved motions; *peak: the largest kinetic energy with it (guard.c).
mabd_real mabd_redmax_excess(const mabd_redmax_solve* s, const mabd_redmax_node* to,
                             mabd_real* peak);
/// True if the step from s->from_node to `to`, of the last residual, gained more energy than the
/// guard allows; else the largest kinetic energy counts it (guard.c).
bool mabd_redmax_gains_energy(const mabd_redmax_solve* s, const mabd_redmax_node* to);

/// Place bodies and joints in the start state (state.c).
void mabd_redmax_start(mabd_redmax_sim* sim);
/// Refuse a start state that a joint with pieces does not allow, by name: MABD_ERR_INPUT (state.c).
mabd_status mabd_redmax_check_start(mabd_redmax_sim* sim, mabd_error* error);
/// Place bodies and joints in the start state of the model, or the nearest one that joints with
/// pieces allow, without a warning (state.c).
void mabd_redmax_start_nearest(mabd_redmax_sim* sim);
/// Entries of the table (state.c).
mabd_status mabd_redmax_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                  bool moved, mabd_error* error);
size_t mabd_redmax_state_size(const void* self);
void mabd_redmax_save(const void* self, void* buffer);
mabd_status mabd_redmax_restore(void* self, const void* buffer, size_t size, mabd_real time);

/// State of a body that does not move by forces at a time [s] (output.c).
mabd_rigid_state mabd_redmax_ground_state(const mabd_redmax_sim* sim, int32_t body, mabd_real time);
/// Place all links of all parts at `now`, with their velocities (output.c).
void mabd_redmax_place_now(const mabd_redmax_sim* sim);
/// State of a body after mabd_redmax_place_now (output.c).
mabd_rigid_state mabd_redmax_body(const mabd_redmax_sim* sim, int32_t body);
/// Joint with pieces whose coordinate freedom k is; -1 = none, or a component of a ball (output.c).
int32_t mabd_redmax_piece_joint(const mabd_redmax_sim* sim, int32_t k);
/// Entry get_axes of the table (output.c).
void mabd_redmax_get_axes(const void* self, mabd_real* axes);
/// Coordinate and rate (2) of a freedom with a control at a node; those of a ball by its joint
/// (output.c).
void mabd_redmax_coordinate(const mabd_redmax_sim* sim, const mabd_redmax_node* node,
                            int32_t freedom, mabd_real* x);
/// Both sides of a joint after mabd_redmax_place_now (output.c).
mabd_joint_view mabd_redmax_view(const mabd_redmax_sim* sim, const mabd_model_joint* joint);
/// Vector from the origin of the last link of a joint's string to the anchor on body b, in the
/// world, after mabd_redmax_place_now: of a string from b to a, whose last link has its origin on a
/// where the first part begins (output.c).
mabd_vec3 mabd_redmax_arm(const mabd_redmax_sim* sim, int32_t joint);
/// Largest errors of rigid rows at `now` [m], [rad], and the joint that has one of them (output.c).
void mabd_redmax_measure_rows(const mabd_redmax_sim* sim, mabd_real* gap, mabd_real* angle,
                              int32_t* joint);
/// Entries of the table (output.c).
mabd_measure mabd_redmax_measure(const void* self);
mabd_energy_balance mabd_redmax_energy_balance(const void* self);
void mabd_redmax_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                           mabd_real* velocities, mabd_real* angular);
void mabd_redmax_get_joint_forces(const void* self, mabd_real* forces);
/// Entry get_efforts of the table (efforts.c).
void mabd_redmax_get_efforts(const void* self, mabd_real* efforts);
void mabd_redmax_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);
/// Coordinate and rate (2) of a control of a copy after mabd_redmax_place_now (output.c).
void mabd_redmax_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x);

extern const mabd_formulation_ops mabd_formulation_redmax;
