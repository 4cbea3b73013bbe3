// SPDX-License-Identifier: Apache-2.0
// Independent references: ordinary differential equations of rigid bodies in their classical
// coordinates, integrated by the fourth-order Runge-Kutta method. No code of the library is used.
#pragma once

/// Compute the derivative dy (n) of the state y (n).
typedef void (*reference_rate)(const void* context, const double* y, double* dy);

#define REFERENCE_MAX 14 // largest n

/// Advance y (n) by `steps` steps of h [s].
void reference_rk4(reference_rate rate, const void* context, int n, double h, long steps,
                   double* y);

/// A rigid body about a point: its centre of mass (free), or a point held fixed (top). Body axes
/// are principal axes at that point.
typedef struct reference_top {
    double inertia[3]; // principal moments about the point [kg m^2]
    double weight[3];  // mass x gravity, world [N]
    double arm[3];     // from the point to the centre of mass, body axes [m]
} reference_top;

/// Compute the rate of y = quaternion w x y z (body to world), angular velocity in body axes
/// [rad/s], by Euler's equations:
///   I w' = (I w) x w + arm x R' weight,   q' = q (0, w) / 2
void reference_top_rate(const void* top, const double* y, double* dy);

/// Two rods in a plane, the first hinged to the world, the second to the end of the first.
typedef struct reference_double_pendulum {
    double mass[2];
    double center[2];  // from a rod's hinge to its centre of mass [m]
    double inertia[2]; // about the centre of mass [kg m^2]
    double length;     // from hinge to hinge [m]
    double gravity;    // [m/s^2]
} reference_double_pendulum;

/// Compute the rate of y = angles of both rods from straight down [rad], their rates [rad/s], by
/// Lagrange's equations.
void reference_double_pendulum_rate(const void* pendulum, const double* y, double* dy);

/// Convert a body vector to the world: q v q*. q w x y z of unit length.
void reference_rotate(const double* q, const double* v, double* world);
/// Convert a world vector to the body frame.
void reference_unrotate(const double* q, const double* v, double* body);
