// SPDX-License-Identifier: Apache-2.0
// A step that takes the forces of joints along the rows at its start is explicit in the geometric
// stiffness of the joints. A force F that is constant in the world, at the point X of a body, has
// the torque X x R'F; a turn phi of the body changes it by X x ([R'F] phi), so against turns it has
// the stiffness
//
//   -d torque/d phi = (F.X) I - F X',   symmetric part  S = (F.X) I - (X F' + F X')/2
//
// (X and F in the principal frame; the skew part does no work). In the metric of the moments J the
// turns have the rates w^2 = eigenvalues of J^-1/2 S J^-1/2. A rod of mass m and length l under
// tension T, pulled at both ends: S = T l across it, J = m l^2/12, so w^2 = 12 T/(m l). A spring k
// on a row adds k J M^-1 J'.
//
// Explicit steps, leapfrog among them, are stable for h w < 2 and gain energy without bound beyond.
// The bound here is h w <= 1, which leaves room for bodies that move together. The turn of a step
// is bounded as well: h |omega| <= 1/2. A step that is not stable is divided in 2^d equal parts.
//
// d must be sticky: a caller lets it grow in a run and never fall. Parts that follow the motion up
// and down are stable too, but each change of h ends the exact conservation that symplectic steps
// have, always towards less energy: a whip lost 2 to 42 % of it.

#include "rigid/stability.h"

#include "math/eigen3.h"

#include <math.h>

/// Largest h w and h |omega| of a part of a step.
#define RATE_MAX ((mabd_real)1)
#define TURN_MAX ((mabd_real)0.5)

mabd_real mabd_rigid_stability_compliance(const mabd_model_class* c, mabd_rigid_wrench w) {
    const mabd_real* J = c->principal;
    return mabd_v3_dot(w.f, w.f) / c->material.mass + w.t.x * w.t.x / J[0] + w.t.y * w.t.y / J[1] +
           w.t.z * w.t.z / J[2];
}

mabd_real mabd_rigid_stability_rate2(const mabd_rigid_stability* s, const mabd_model_class* c) {
    mabd_real e[3], values[3], scaled[6];
    mabd_mat3 vectors;
    for (int k = 0; k < 3; k++) e[k] = 1 / (mabd_real)sqrt(c->principal[k]);
    scaled[0] = s->S.xx * e[0] * e[0], scaled[1] = s->S.yy * e[1] * e[1];
    scaled[2] = s->S.zz * e[2] * e[2], scaled[3] = s->S.xy * e[0] * e[1];
    scaled[4] = s->S.xz * e[0] * e[2], scaled[5] = s->S.yz * e[1] * e[2];
    mabd_sym3_eigen(scaled, values, &vectors);
    mabd_real most = 0;
    for (int k = 0; k < 3; k++) {
        if (values[k] > most) most = values[k];
    }
    return most + s->spring;
}

mabd_real mabd_rigid_stability_bound2(const mabd_rigid_stability* s, const mabd_model_class* c) {
    const mabd_real* J = c->principal;
    const mabd_sym3* S = &s->S;
    const mabd_real x = S->xx / J[0], y = S->yy / J[1], z = S->zz / J[2];
    const mabd_real others = S->xy * S->xy / (J[0] * J[1]) + S->xz * S->xz / (J[0] * J[2]) +
                             S->yz * S->yz / (J[1] * J[2]);
    return (mabd_real)sqrt(x * x + y * y + z * z + 2 * others) + s->spring;
}

int32_t mabd_rigid_stability_depth(mabd_real h, mabd_real rate2, mabd_real spin) {
    const mabd_real rate = h * (mabd_real)sqrt(rate2) / RATE_MAX, turn = h * spin / TURN_MAX;
    mabd_real parts = rate > turn ? rate : turn;
    int32_t depth = 0;
    while (depth < MABD_RIGID_STABILITY_DEPTH_MAX && parts > 1) parts /= 2, depth++;
    return depth;
}
