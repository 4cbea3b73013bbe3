// SPDX-License-Identifier: Apache-2.0
// Stability of steps that are explicit in the geometric stiffness of joints (stability.c).
#pragma once

#include "math/sym3.h"
#include "model/model_data.h"
#include "rigid/row_jacobian.h"

/// Most halvings of a step for stability: 4096 parts.
#define MABD_RIGID_STABILITY_DEPTH_MAX 12

/// What resists the motion of one body, as far as a step takes it at its start.
typedef struct mabd_rigid_stability {
    mabd_sym3 S;      // stiffness of forces against turns [N m], principal frame
    mabd_real spring; // sum of k J M^-1 J' of springs, both sides [1/s^2]
} mabd_rigid_stability;

/// Return the stability of a body without forces.
MABD_FN mabd_rigid_stability mabd_rigid_stability_none(void) {
    mabd_rigid_stability s = {{0, 0, 0, 0, 0, 0}, 0};
    return s;
}
/// Add a force F [N] on the body at its point X [m], both in the principal frame.
MABD_FN void mabd_rigid_stability_add_force(mabd_rigid_stability* s, mabd_vec3 X, mabd_vec3 F) {
    const mabd_real trace = mabd_v3_dot(F, X);
    s->S.xx += trace - X.x * F.x, s->S.yy += trace - X.y * F.y, s->S.zz += trace - X.z * F.z;
    s->S.xy -= (X.x * F.y + X.y * F.x) / 2, s->S.xz -= (X.x * F.z + X.z * F.x) / 2;
    s->S.yz -= (X.y * F.z + X.z * F.y) / 2;
}
/// Add a spring of a row of a joint [N/m] or [N m/rad]. compliance: J M^-1 J' of the row over both
/// of its sides [1/kg] or [1/(kg m^2)].
MABD_FN void mabd_rigid_stability_add_spring(mabd_rigid_stability* s, mabd_real stiffness,
                                             mabd_real compliance) {
    s->spring += stiffness * compliance;
}

/// Return J M^-1 J' of one side of a row on a body of a class [1/kg] or [1/(kg m^2)].
mabd_real mabd_rigid_stability_compliance(const mabd_model_class* c, mabd_rigid_wrench w);
/// Return an upper bound of the square of the highest rate of a body of a class [1/s^2], at least
/// 0.
mabd_real mabd_rigid_stability_rate2(const mabd_rigid_stability* s, const mabd_model_class* c);
/// Return an upper bound of mabd_rigid_stability_rate2 without eigenvalues: the Frobenius norm of
/// J^-1/2 S J^-1/2.
mabd_real mabd_rigid_stability_bound2(const mabd_rigid_stability* s, const mabd_model_class* c);
/// Return the least d, 0 to MABD_RIGID_STABILITY_DEPTH_MAX, for which parts h/2^d of a step [s] are
/// stable: rate2 [1/s^2], spin of the body [rad/s].
int32_t mabd_rigid_stability_depth(mabd_real h, mabd_real rate2, mabd_real spin);
