// SPDX-License-Identifier: Apache-2.0
// A joint at the solution of an implicit function, for derivatives (tangent_joint.c).
#pragma once

#include "formulation/quaternion/tangent.h"

/// A joint at sim->pose.
typedef struct mabd_tangent_joint {
    const mabd_quaternion_joint* j;
    const mabd_model_joint* joint;
    const mabd_row_set* set;
    size_t first_row; // of its rows in a vector of unknowns of the part
    mabd_joint_view view;
    mabd_rigid_joint rigid, controls;
    /// Values of rigid rows, coordinates of controls, then of held axes of the start.
    mabd_real x[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    int32_t held_count;
    struct mabd_start_hold* held[MABD_JOINT_MAX_ROWS];
} mabd_tangent_joint;

/// Quantities of a row that change with the pose and with the place of the joint on its bodies.
typedef enum mabd_row_quantity {
    MABD_ROW_RATE, // J u
    MABD_ROW_BEND, // J a + u'G u, the second derivative by time
} mabd_row_quantity;

/// Velocities and accelerations (6 each) of both sides.
typedef struct mabd_tangent_motion {
    mabd_real u[2][6], a[2][6]; // of a, of b
} mabd_tangent_motion;

/// Evaluate joint number i of the part of a point.
void mabd_tangent_joint_at(const mabd_quaternion_point* p, int32_t i, mabd_tangent_joint* at);
/// Motions of the sides of a joint: velocities of the node of the point; accelerations of its
/// solution for MABD_FUNCTION_ACCELERATE, and velocities of its solution for
/// MABD_FUNCTION_PROJECT and MABD_FUNCTION_REDUCE, in which all other sides are at rest; for
/// MABD_FUNCTION_IMPACT velocities after the impact, and their jumps instead of accelerations.
mabd_tangent_motion mabd_tangent_motion_of(const mabd_quaternion_point* p,
                                           const mabd_tangent_joint* at);
/// Row r of a joint: rigid rows, then controls, then held axes.
const mabd_row* mabd_tangent_row_of(const mabd_tangent_joint* at, int32_t r);

/// y += s J dx of one row with dx (6 per body of the part); backwards dx += s J' y.
void mabd_tangent_row(const mabd_tangent_joint* at, const mabd_rigid_row* J, bool back, mabd_real s,
                      mabd_real* y, mabd_real* dx);
/// y += s a.dx with a (12: by the changes of a, of b), dx (6 per body of the part).
void mabd_tangent_sides(const mabd_tangent_joint* at, const mabd_real* a, bool back, mabd_real s,
                        mabd_real* y, mabd_real* dx);
/// Add G of all rows and motors of a joint, with the multipliers of the point, to blocks aa, ab,
/// ba, bb (36 each), and their wrenches to wrench (12, null = not needed).
void mabd_tangent_geometric(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                            mabd_real blocks[4][36], mabd_real* wrench);

/// Derivatives (12) of J u of a row by the changes of pose at fixed velocities: u'G.
void mabd_tangent_rate_gradient(const mabd_tangent_joint* at, int32_t r, const mabd_real* ua,
                                const mabd_real* ub, mabd_real* out);
/// Derivatives (12) of u'G u by the velocities: u'(G + G').
void mabd_tangent_bend_rates(const mabd_tangent_joint* at, int32_t r, const mabd_real* ua,
                             const mabd_real* ub, mabd_real* out);
/// Derivatives (12) of the bend of a row by the changes of pose at fixed motion.
void mabd_tangent_bend_gradient(const mabd_tangent_joint* at, int32_t r,
                                const mabd_tangent_motion* m, mabd_real* out);
/// The same of the sum of weight times bend over the rigid rows: one pass for all of them.
void mabd_tangent_bends_gradient(const mabd_tangent_joint* at, const mabd_real* weights,
                                 const mabd_tangent_motion* m, mabd_real* out);
/// Derivative of a quantity of a row by a move of the joint frame on side 0 = a or 1 = b: the
/// anchor by `shift`, the axes by `turn`, both in the principal frame.
mabd_real mabd_tangent_moved(const mabd_tangent_joint* at, int32_t r, mabd_row_quantity quantity,
                             const mabd_tangent_motion* m, int side, mabd_vec3 shift,
                             mabd_vec3 turn);

/// F += the derivatives of the torques D r + I r' of a damped rotation (ball_damper.h) by poses xi
/// and angular velocities eta, null = fixed, with r and r' of the motion of the sides; gains in the
/// joint frame (tangent_acceleration.c).
void mabd_tangent_damper(const mabd_tangent_joint* at, mabd_vec3 damping, mabd_vec3 armature,
                         const mabd_tangent_motion* m, bool back, mabd_real* F, mabd_real* xi,
                         mabd_real* eta);

/// F -= G xi of the rows and motors of a joint (tangent_acceleration.c).
void mabd_tangent_wrenches(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                           mabd_real* F, mabd_real* xi);
/// Rates of damped rotations in a node, += F'(om_b - Q om_a) by the poses xi, null = fixed, and the
/// angular velocities eta; om of the motion of the sides (tangent_start.c).
void mabd_tangent_turn_rates(const mabd_tangent_joint* at, const mabd_tangent_motion* m, bool back,
                             mabd_quaternion_node node, mabd_real* xi, mabd_real* eta);

/// w += dq (x) (0, y)/2; backwards dq += the transpose (tangent_acceleration.c).
void mabd_tangent_spin(bool back, mabd_vec3 y, mabd_real* w, mabd_real* dq);
/// dq += s H(q)'phi/2; backwards phi += s H dq/2 (tangent_solve.c).
void mabd_tangent_turn(bool back, mabd_real s, mabd_quat q, mabd_real* dq, mabd_real* phi);
