// SPDX-License-Identifier: Apache-2.0
// One implicit solve of a part: residual, matrix, Newton iteration.
#pragma once

#include "formulation/quaternion/ball_damper.h"
#include "formulation/quaternion/quaternion_data.h"

/// An implicit solve of a part. sim->past holds its history, sim->input the values of controls and
/// motors at its end.
typedef struct mabd_quaternion_solve {
    mabd_quaternion_sim* sim;
    mabd_quaternion_part* part;
    mabd_real bh;      // [s]
    mabd_real time;    // of its end [s]
    mabd_real from, h; // start and length of the step [s]
    mabd_vec3 wind;    // [m/s]
    bool accepts;      // a pose near which the iteration stalls: there is no smaller step left
    mabd_quaternion_report* report;
} mabd_quaternion_solve;

/// Sizes of a residual.
typedef struct mabd_quaternion_size {
    mabd_real merit;     // sum of squares of the entries below
    mabd_real largest;   // of |E_f| bh^2/m [m], |E_t,k| bh^2/J_k [rad], |C| [m] or [rad]
    mabd_real balance;   // of the bodies alone
    int32_t body, joint; // where it is, the other is -1
} mabd_quaternion_size;

/// Pose of a side of a joint at the time of a solve: of the iterate, of a script, or fixed.
/// pose (bodies x 7).
void mabd_quaternion_side(const mabd_quaternion_sim* sim, const mabd_real* pose, mabd_real time,
                          int32_t body, mabd_mat3* R, mabd_vec3* c);
/// Both sides of a joint at `pose` (bodies x 7) and `time` [s].
mabd_joint_view mabd_quaternion_view(const mabd_quaternion_sim* sim, const mabd_real* pose,
                                     mabd_real time, const mabd_model_joint* joint);

/// Compute the residual at `pose` (bodies x 7) with scaled multipliers (rows) into sim->residual;
/// with `matrix` also K of the part, without the shift.
mabd_quaternion_size mabd_quaternion_evaluate(const mabd_quaternion_solve* s, const mabd_real* pose,
                                              const mabd_real* multiplier, bool matrix);

/// Compute the residual of the bodies of a part at `pose` (bodies x 7) without rows, with motors
/// and dampers, into sim->residual: bh^2 E.
void mabd_quaternion_evaluate_loads(const mabd_quaternion_solve* s, const mabd_real* pose);

/// Motion of a body in a solve at `pose` (7), with its past (MABD_NODE_REALS).
mabd_rigid_motion mabd_quaternion_motion(const mabd_quaternion_solve* s, const mabd_real* pose,
                                         const mabd_real* past);
/// Motion of a body at a node whose pose is in sim->pose, without accelerations.
mabd_rigid_motion mabd_quaternion_motion_at(const mabd_quaternion_solve* s,
                                            const mabd_quaternion_node* node, int32_t body);
/// Balance of a body with its loads; s->bh may be infinite: then the derivatives are those at fixed
/// velocities.
mabd_rigid_balance mabd_quaternion_balance(const mabd_quaternion_solve* s, int32_t body,
                                           const mabd_rigid_motion* motion);
/// Angular velocity of a side of a joint and its derivative, as the solve has them.
mabd_ball_side mabd_quaternion_ball_side(const mabd_quaternion_solve* s, const mabd_real* pose,
                                         int32_t body);
/// Set the matrix of a part to zero.
void mabd_quaternion_clear(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part);
/// Write J (width of the joint) and -J' of one side of a joint into the matrix.
void mabd_quaternion_store_jacobian(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j,
                                    const mabd_rigid_row* J, bool is_b);
/// Return the blocks of the two bodies of a joint in the matrix; null where there is none.
mabd_rigid_blocks mabd_quaternion_blocks(const mabd_quaternion_solve* s,
                                         const mabd_quaternion_joint* j);
/// Compute loads, motors and gyroscopic terms of the bodies of a part, as forces and torques (6 per
/// body), at a node whose poses are in sim->pose. Overwrites sim->residual.
void mabd_quaternion_forces(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                            mabd_real* out);

/// True if control r of a row set is on a component of a rotation vector with dampers or armature:
/// its rate is a component of the relative angular velocity (ball_damper.h).
MABD_FN bool mabd_quaternion_is_damped_turn(const mabd_row_set* set, int32_t r) {
    return set->damped && set->control_row[r].kind == MABD_ROW_VECTOR;
}
/// Return the gains of a damped joint with the past of the current solve; rate: 1/bh [1/s].
mabd_ball_damper mabd_quaternion_damper(const mabd_quaternion_sim* sim,
                                        const mabd_model_joint* joint, mabd_real rate);
/// Return the angular velocity of a body with a prescribed motion, principal frame [rad/s].
mabd_vec3 mabd_quaternion_prescribed_spin(const mabd_quaternion_sim* sim, mabd_real time,
                                          int32_t body);

/// Measure a vector of unknowns of a part (6 per body, then its rows) as that size.
mabd_quaternion_size mabd_quaternion_size_of(const mabd_quaternion_sim* sim,
                                             const mabd_quaternion_part* part,
                                             const mabd_real* vector);

/// Solve the equations of a part. sim->pose holds the first guess and gets the result;
/// sim->multiplier (scaled) likewise. Writes the report; status is that of the solve. A solve that
/// stalls is MABD_ERR_DIVERGED, with report->near if a solve with s->accepts would take its pose.
mabd_status mabd_quaternion_newton(mabd_quaternion_solve* s);

/// Check that no joint of a part has flipped over at sim->pose; writes the report.
/// MABD_ERR_DIVERGED.
mabd_status mabd_quaternion_check_consistency(const mabd_quaternion_solve* s);

/// Solve with the factor of K + shift as it is. x (unknowns of the part): right-hand side in,
/// solution out.
void mabd_quaternion_apply_factor(const mabd_quaternion_solve* s, mabd_real* x);
/// Solve K y = rhs with the factor of K + shift: refined until the residual falls by less than 4.
/// Both in the arrays of the simulation; rhs is kept. Returns the number of refinements.
int32_t mabd_quaternion_solve_linear(const mabd_quaternion_solve* s);
/// Add the shift to K and factor it. MABD_ERR_SINGULAR: *body or *joint names the slot.
mabd_status mabd_quaternion_factor(const mabd_quaternion_solve* s, int32_t* body, int32_t* joint);
