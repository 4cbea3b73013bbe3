// SPDX-License-Identifier: Apache-2.0
// Rotation nearest to a 3x3 matrix: A = R S, S symmetric positive definite.
//
//   far    X <- (z X + X^-T / z) / 2,  z = sqrt(|X^-T| / |X|)        scaled Newton, quadratic
//   near   X <- X (I - E/2 + 3/8 E^2),  E = X'X - I                  Newton-Schulz, cubic
//
// Near means |E| < 1/4, where Newton-Schulz contracts. A cubic step that starts below 1e-5 leaves
// 5/16 |E|^3, a quadratic one below 3e-8 leaves 3/4 |E|^2: both are round-off. A body under
// ordinary load costs one step.
#pragma once

#include "math/mat3.h"

/// Compute E = X'X - I as (xx yy zz xy xz yz); return |E|^2, NaN if X is not finite.
MABD_FN mabd_real mabd_polar_error(mabd_mat3 X, mabd_real* E) {
    E[0] = mabd_v3_dot(X.c1, X.c1) - 1, E[1] = mabd_v3_dot(X.c2, X.c2) - 1;
    E[2] = mabd_v3_dot(X.c3, X.c3) - 1, E[3] = mabd_v3_dot(X.c1, X.c2);
    E[4] = mabd_v3_dot(X.c1, X.c3), E[5] = mabd_v3_dot(X.c2, X.c3);
    return (E[0] * E[0] + E[1] * E[1] + E[2] * E[2]) +
           2 * (E[3] * E[3] + E[4] * E[4] + E[5] * E[5]);
}

/// Compute X (I - E/2), the second-order step.
MABD_FN mabd_mat3 mabd_polar_last(mabd_mat3 X, const mabd_real* E) {
    const mabd_real a = (mabd_real)-0.5;
    return mabd_m3(mabd_v3_axpy(a, mabd_m3_mul(X, mabd_v3(E[0], E[3], E[4])), X.c1),
                   mabd_v3_axpy(a, mabd_m3_mul(X, mabd_v3(E[3], E[1], E[5])), X.c2),
                   mabd_v3_axpy(a, mabd_m3_mul(X, mabd_v3(E[4], E[5], E[2])), X.c3));
}

/// Compute X (I - E/2 + 3/8 E^2).
MABD_FN mabd_mat3 mabd_polar_schulz(mabd_mat3 X, const mabd_real* E) {
    const mabd_real a = (mabd_real)0.5, c = (mabd_real)0.375;
    const mabd_real xx = E[0], yy = E[1], zz = E[2], xy = E[3], xz = E[4], yz = E[5];
    const mabd_real p11 = 1 - a * xx + c * (xx * xx + xy * xy + xz * xz);
    const mabd_real p22 = 1 - a * yy + c * (xy * xy + yy * yy + yz * yz);
    const mabd_real p33 = 1 - a * zz + c * (xz * xz + yz * yz + zz * zz);
    const mabd_real p12 = -a * xy + c * (xx * xy + xy * yy + xz * yz);
    const mabd_real p13 = -a * xz + c * (xx * xz + xy * yz + xz * zz);
    const mabd_real p23 = -a * yz + c * (xy * xz + yy * yz + yz * zz);
    return mabd_m3(mabd_m3_mul(X, mabd_v3(p11, p12, p13)), mabd_m3_mul(X, mabd_v3(p12, p22, p23)),
                   mabd_m3_mul(X, mabd_v3(p13, p23, p33)));
}

/// Do one scaled Newton step; return false if X is singular, mirrored or not finite.
MABD_FN bool mabd_polar_newton(mabd_mat3* X) {
    mabd_vec3 i1 = mabd_v3_cross(X->c2, X->c3), i2 = mabd_v3_cross(X->c3, X->c1),
              i3 = mabd_v3_cross(X->c1, X->c2);
    mabd_real det = mabd_v3_dot(X->c1, i1);
    mabd_real n = mabd_v3_dot(X->c1, X->c1) + mabd_v3_dot(X->c2, X->c2) + mabd_v3_dot(X->c3, X->c3);
    mabd_real m = mabd_v3_dot(i1, i1) + mabd_v3_dot(i2, i2) + mabd_v3_dot(i3, i3);
    if (!(det > 0) || !(n < (mabd_real)1e30)) return false;
    mabd_real z = (mabd_real)sqrt(sqrt(m / n) / det); // sqrt(|X^-T| / |X|)
    mabd_real s = (mabd_real)0.5 * z, t = (mabd_real)0.5 / (z * det);
    X->c1 = mabd_v3_axpy(t, i1, mabd_v3_scale(s, X->c1));
    X->c2 = mabd_v3_axpy(t, i2, mabd_v3_scale(s, X->c2));
    X->c3 = mabd_v3_axpy(t, i3, mabd_v3_scale(s, X->c3));
    return true;
}

/// Compute the rotation *R nearest to A. Returns false and leaves *R unchanged if A has none (det
/// <= 0 or not finite).
MABD_FN bool mabd_polar(mabd_mat3 A, mabd_mat3* R) {
    mabd_mat3 X = A;
    mabd_real E[6];
    if (!(mabd_m3_det(A) > 0)) return false; // mirrored matrices are orthogonal too
    for (int i = 0; i < 40; i++) {
        const mabd_real error = mabd_polar_error(X, E); // squared
        if (error < (mabd_real)1e-15) {
            *R = mabd_polar_last(X, E);
            return true;
        }
        if (error < (mabd_real)0.0625) {
            X = mabd_polar_schulz(X, E);
            if (error < (mabd_real)1e-10) {
                *R = X;
                return true;
            }
        } else if (!mabd_polar_newton(&X)) {
            return false;
        }
    }
    return false;
}
