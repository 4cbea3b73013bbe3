// SPDX-License-Identifier: Apache-2.0
// Derivatives of impacts (tangent_impact.c).
#pragma once

#include "formulation/quaternion/tangent_joint.h"

/// Rows of a joint in an impact.
typedef enum mabd_impact_row {
    MABD_IMPACT_HELD,  // its rate is taken away
    MABD_IMPACT_ARMED, // its armature resists
    MABD_IMPACT_FREE,  // its force is too weak
} mabd_impact_row;
/// Kind of row r of a joint.
mabd_impact_row mabd_tangent_impact_row(const mabd_quaternion_point* p,
                                        const mabd_tangent_joint* at, int32_t r);

/// Take the impact at the end of a solve again, from `node`, the node before it, which is kept;
/// scratch: the same node, becomes the one after it. Branches are those in sim->axes. Leaves the
/// factor of the point.
mabd_status mabd_tangent_enter_impact(mabd_quaternion_gradient* g, const mabd_quaternion_solve* s,
                                      const mabd_quaternion_node* node,
                                      mabd_quaternion_node* scratch, mabd_quaternion_point* p,
                                      mabd_error* error);
/// F += F_in of an impact by pose and velocity.
void mabd_tangent_impact(const mabd_quaternion_point* p, bool back, mabd_real* F, mabd_real* xi,
                         mabd_real* eta);
/// Turn the tangents of the node before an impact into those after it, with the tangents dy of the
/// jump; backwards the bars of the node after it into those before it, dy, xi and eta.
void mabd_tangent_impact_end(const mabd_quaternion_point* p, bool back, mabd_quaternion_node node,
                             mabd_real* dy, mabd_real* xi, mabd_real* eta);

/// Derivative of row r of F by a move of the joint frame, as mabd_tangent_moved; m: motion of the
/// point.
mabd_real mabd_tangent_impact_moved(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                                    int32_t r, const mabd_tangent_motion* m, int side,
                                    mabd_vec3 shift, mabd_vec3 turn);
/// The same of the rate of control k in the node.
mabd_real mabd_tangent_impact_rate_moved(const mabd_quaternion_point* p,
                                         const mabd_tangent_joint* at, int32_t k,
                                         const mabd_tangent_motion* m, int side, mabd_vec3 shift,
                                         mabd_vec3 turn);
