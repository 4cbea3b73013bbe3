// SPDX-License-Identifier: Apache-2.0
// A substep of an island: rows, forces, the Newton iteration. The order of a substep is that of
// step.c.
#pragma once

#include "formulation/variational/variational_data.h"

/// True in the first substep of a run: its momenta are those of velocities, so that they lack no
/// impulse of the node, and rows and boxes give half of theirs.
MABD_FN bool mabd_variational_begins(const mabd_variational_solve* s) {
    return !s->sim->begun && s->time <= s->sim->time &&
           s->sim->def.integrator != MABD_INTEGRATOR_SYMPLECTIC_EULER;
}

// ---- rows (rows.c) -----------------------------------------------------------------------------

/// Pose of a side of a joint that does not move by forces, at a time [s]; body_count is the world.
mabd_rigid_pose mabd_variational_fixed_pose(const mabd_variational_sim* sim, int32_t body,
                                            mabd_real time);
/// Both sides of a joint with poses (bodies + 1) of moving bodies at a time [s].
mabd_joint_view mabd_variational_view(const mabd_variational_sim* sim, const mabd_rigid_pose* poses,
                                      mabd_real time, int32_t joint);
/// G M^-1 G' of a row of a joint over its sides that move [1/kg], [1/(kg m^2)].
mabd_real mabd_variational_own_compliance(const mabd_variational_sim* sim, int32_t joint,
                                          const mabd_rigid_row* G);
/// Take the rows of an island at the start of a substep: Jacobians, laws, compliances; sim->from
/// and sim->x0 are those of the start, sim->input that of the end.
void mabd_variational_start_rows(const mabd_variational_solve* s);
/// Compute the residuals of the rows of a joint at sim->to and sim->impulse, and with `slopes`
/// their Jacobians there. Returns the largest error of a held row less its round-off [m], [rad].
mabd_real mabd_variational_joint_error(const mabd_variational_solve* s, int32_t joint, bool slopes);
/// Compute the coordinates x (controls) of a joint, those nearest to near (controls), at poses
/// (bodies + 1) at a time [s].
void mabd_variational_read_axes(const mabd_variational_sim* sim, const mabd_rigid_pose* poses,
                                mabd_real time, int32_t joint, const mabd_real* near, mabd_real* x);
/// True if rows keep an axis reversed at sim->to: a false root. *joint gets the joint.
bool mabd_variational_is_reversed(const mabd_variational_solve* s, int32_t* joint);
/// Turn a Jacobian at the end of a body into one by V: E't.
MABD_FN mabd_rigid_wrench mabd_variational_by_velocity(const mabd_variational_sim* sim,
                                                       int32_t body, mabd_rigid_wrench w) {
    if (mabd_variational_moves(sim, body)) w.t = mabd_m3_tmul(sim->motion[body].turn, w.t);
    return w;
}
/// True if a control acts on a rate of a rotation vector: dampers or armature on three rotations,
/// but where a rigid servo or a rate holds the coordinate.
MABD_FN bool mabd_variational_is_damped_turn(const mabd_row_set* set, int32_t control) {
    const mabd_control* c = &set->control[control];
    return set->damped && set->control_row[control].kind == MABD_ROW_VECTOR &&
           !mabd_variational_is_held(c) && !mabd_variational_is_paced(c);
}
/// Row of relative angular velocity about axis k of the joint frame on b.
mabd_rigid_row mabd_variational_turn_row(const mabd_joint_view* view, int k);

// ---- forces (forces.c) -------------------------------------------------------------------------

/// Set sim->input of an island at a time of a substep: targets and forces of motors.
void mabd_variational_set_inputs(const mabd_variational_solve* s, mabd_real time);
/// Write the forces that depend on poses and time to sim->load for the bodies of an island: poses
/// (bodies + 1), coordinates x, a time of the substep, sim->input at that time. u (bodies + 1):
/// velocities, for dampers of springs. share [s]: for which they act, for means over the step.
void mabd_variational_find_forces(const mabd_variational_solve* s, const mabd_rigid_pose* poses,
                                  const mabd_real* x, mabd_real time, const mabd_rigid_twist* u,
                                  mabd_real share);

// ---- the symmetric matrix (symmetric.c) --------------------------------------------------------

/// Factor K = G M^-1 G' + c of the components of an island with sim->G and sim->compliance.
/// MABD_ERR_SINGULAR: *joint is the joint whose pivot failed.
mabd_status mabd_variational_factor(const mabd_variational_solve* s, int32_t* joint);
/// Solve K x = b of the components of an island: x and b in sim->b.
void mabd_variational_solve_rows(const mabd_variational_solve* s);

// ---- the iteration (newton.c) ------------------------------------------------------------------

/// Find V and the impulses of a substep from the momenta `in` and the guess in sim->motion[].V and
/// sim->impulse. MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: the report names the joint or body.
mabd_status mabd_variational_newton(const mabd_variational_solve* s);
/// Compute all residuals at the iterate, and with `slopes` the rows there. Returns the largest
/// error of a held row; *joint gets its joint.
mabd_real mabd_variational_evaluate(const mabd_variational_solve* s, bool slopes, int32_t* joint);
/// Keep the iterate: mabd_variational_move starts from it.
void mabd_variational_keep_base(const mabd_variational_solve* s);
/// Move from the kept iterate by a part of the increments.
void mabd_variational_move(const mabd_variational_solve* s, mabd_real part);
/// Return the largest length of the increments [m].
mabd_real mabd_variational_size_of_change(const mabd_variational_solve* s);
/// Halve *part until no body turns by half a turn. Returns the body that would in the whole step,
/// -1 = none.
int32_t mabd_variational_bound_turns(const mabd_variational_solve* s, mabd_real* part);
/// Return the round-off of the coordinates of an island [m].
mabd_real mabd_variational_round_off(const mabd_variational_solve* s);
/// Write a failure to the report. Returns the status.
mabd_status mabd_variational_fail(const mabd_variational_solve* s, mabd_status status, int32_t body,
                                  int32_t joint, const char* reason);

/// Move the bodies of a substep by the guess, without any impulse: the first step of
/// symplectic-euler.
void mabd_variational_drift(const mabd_variational_solve* s);

// ---- failures (explain.c) ----------------------------------------------------------------------

/// True if a substep that does not converge has no solution: its rows contradict each other to
/// second order. *joint gets a joint of them. Overwrites the iterate.
bool mabd_variational_has_conflict(const mabd_variational_solve* s, int32_t* joint);

// ---- substeps (substeps.c) ---------------------------------------------------------------------

/// Return the least depth that the forces of the last substep allow for a step of h [s], at least
/// that of the island.
int32_t mabd_variational_depth(const mabd_variational_solve* s, mabd_real h);

// ---- velocities (velocities.c) -----------------------------------------------------------------

/// Replace changes of velocities w (bodies) by the nearest that the joints allow; context: the
/// simulation, whose joints mabd_variational_velocities has taken.
void mabd_variational_allow(void* context, mabd_rigid_twist* w);
/// Velocities of all bodies at the state, as a user sees them (bodies + 1).
const mabd_rigid_twist* mabd_variational_velocities(const mabd_variational_sim* sim);
