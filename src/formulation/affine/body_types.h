// SPDX-License-Identifier: Apache-2.0
// Types of one affine body: increments and forces, its constant block, an attachment point. The
// mathematics and the symbols are in affine/element/affine_body.h.
#pragma once

#include "math/mat3.h"

/// An increment or a force (D, tau) in the body frame, or affine coordinates, as 4 columns.
typedef struct mabd_vec12 {
    mabd_vec3 d1, d2, d3, tau;
} mabd_vec12;

/// Load 12 reals, column by column.
MABD_FN mabd_vec12 mabd_vec12_load(const mabd_real* p) {
    mabd_vec12 a;
    a.d1 = mabd_v3_load(p), a.d2 = mabd_v3_load(p + 3), a.d3 = mabd_v3_load(p + 6);
    a.tau = mabd_v3_load(p + 9);
    return a;
}
/// Store 12 reals, column by column.
MABD_FN void mabd_vec12_store(mabd_vec12 a, mabd_real* p) {
    mabd_v3_store(a.d1, p), mabd_v3_store(a.d2, p + 3), mabd_v3_store(a.d3, p + 6);
    mabd_v3_store(a.tau, p + 9);
}

/// Reals of a row of sim->spin: p, o, o1, d, torque (affine/element/spin.h).
#define MABD_SPIN_REALS 16
/// Reals of a row of sim->center: t, t1, v, v1 (affine/element/body_inertia.h).
#define MABD_CENTER_REALS 12
/// Marks of a row of sim->spin_ref: its rates are damped, its corrections are in sim->spin_flow.
#define MABD_SPIN_DAMPED 1
#define MABD_SPIN_FLOWS  2

/// Constants of a class of bodies for one beta h. Pairs are numbered by their rotation axis:
/// pair 1 = (D23, D32), pair 2 = (D31, D13), pair 3 = (D12, D21), written (p, q): w_k = q - p.
typedef struct mabd_affine_block {
    mabd_real sm[3];                        // s_k / (bh)^2
    mabd_real mm;                           // m / (bh)^2
    mabd_real drag_rate;                    // drag / (bh)
    mabd_real inv_t;                        // inverse of the scalar on tau
    mabd_real b11, b22, b33, b12, b13, b23; // inverse of the 3x3 block
    mabd_real pp[3], qq[3], pq[3];          // inverses of the 2x2 blocks
    mabd_real tp[3], tq[3];                 // H^-1 T': the entries at p and q
    mabd_real c[3];                         // diagonal of C = T H^-1 T'
    mabd_real margin[3];                    // 1 / (10 c): by this much G may be negative
    mabd_real quarter_volume;               // V / 4
    mabd_real two_mu, lambda;
    mabd_real J[3];        // principal moments [kg m^2]
    int32_t light;         // light axis (affine/element/spin.h), -1 = none
    mabd_real on_light[3]; // 1 for the light axis, else 0
    bool soft;             // strain is not quasi-static: BDF2 on A itself
    bool even;             // equal moments: no nutation
} mabd_affine_block;

/// An attachment point X of a body with P(X) = J(X) H^-1 T' and W(X) = Z P(X)', J(X) y = D X + tau.
///
///          |   0    q2 X3  p3 X2 |
///   P(X) = | p1 X3    0    q3 X1 |   with p, q = tp, tq
///          | q1 X2  p2 X1    0   |
typedef struct mabd_affine_attachment {
    mabd_vec3 X;
    mabd_real p12, p13, p21, p23, p31, p32; // P(X)
    mabd_mat3 W;                            // Z P(X)'
} mabd_affine_attachment;
