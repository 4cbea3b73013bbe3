// SPDX-License-Identifier: Apache-2.0
// Motion and residual of links with three freedoms in the sweeps of lean parts: part of
// lean_text.h.
//
// Slides along x y z have S_k = (0, sign e_k). A ball in the chart that is centred at the rotation
// C of the start of the step, R = C exp([q]), has S_k = (J e_k, 0) (math/ball_chart.h). Its dampers
// D and armature I act on w = J v and alpha = J a + J' v; the tree may reach it from either side if
// they are equal about all axes, since both sides see opposite torques.
//
// The coefficients a and b of J as functions of s = q'q, and their derivatives, are series: without
// branches, so that lanes give the bits of one part. With c = sin/sqrt(s) = 1 - b s, dc/ds =
// (cos - c)/(2s) and cos = 1 - a s,
//
//   a = 3 b + 2 s b1     a1 = 5 b1 + 2 s b2     a2 = 7 b2 + 2 s b3
//
// 12 terms are exact to round-off up to a turn of 2.5, beyond which no step ends (newton.c).
#pragma once

#include "formulation/redmax/lean_base_text.h"

enum { LEAN(CHART) = MABD_LEAN_CHART, LEAN(TERMS) = 12 };

/// Of a ball at an iterate: MABD_LEAN_CHART reals.
typedef struct LEAN(ball) {
    LEAN_REAL J[9]; // columns
    LEAN_REAL a, a1, a2, b, b1, b2;
    LEAN_REAL alpha[3]; // J a + J' v
} LEAN(ball);

MABD_HOT LEAN_REAL LEAN(dot)(const LEAN_REAL* a, const LEAN_REAL* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Columns of M = column row' + [turn] + diagonal 1.
MABD_HOT void LEAN(put_sum)(const LEAN_REAL* column, const LEAN_REAL* row, const LEAN_REAL* turn,
                            LEAN_REAL diagonal, LEAN_REAL* M) {
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) M[3 * k + j] = column[j] * row[k];
        M[4 * k] += diagonal;
    }
    M[1] += turn[2], M[2] -= turn[1];
    M[3] -= turn[2], M[5] += turn[0];
    M[6] += turn[1], M[7] -= turn[0];
}

MABD_HOT void LEAN(chart_at)(const LEAN_REAL* q, LEAN(ball) * x) {
    const LEAN_REAL zero = {0}, s = LEAN(dot)(q, q);
    mabd_real c[LEAN(TERMS)], factorial = 6;
    for (int k = 0; k < LEAN(TERMS); k++) {
        c[k] = 1 / factorial;
        factorial *= -(mabd_real)((2 * k + 4) * (2 * k + 5));
    }
    LEAN_REAL f[4] = {zero, zero, zero, zero};
    for (int k = LEAN(TERMS) - 1; k >= 0; k--) {
        f[0] = f[0] * s + c[k];
        if (k >= 1) f[1] = f[1] * s + (mabd_real)k * c[k];
        if (k >= 2) f[2] = f[2] * s + (mabd_real)(k * (k - 1)) * c[k];
        if (k >= 3) f[3] = f[3] * s + (mabd_real)(k * (k - 1) * (k - 2)) * c[k];
    }
    x->b = f[0], x->b1 = f[1], x->b2 = f[2];
    x->a = f[0] * (mabd_real)3 + s * f[1] * (mabd_real)2;
    x->a1 = f[1] * (mabd_real)5 + s * f[2] * (mabd_real)2;
    x->a2 = f[2] * (mabd_real)7 + s * f[3] * (mabd_real)2;
    LEAN_REAL column[3], turn[3]; // J = b q q' - [a q] + (1 - b s) 1
    for (int j = 0; j < 3; j++) column[j] = x->b * q[j], turn[j] = -x->a * q[j];
    LEAN(put_sum)(column, q, turn, (zero + (mabd_real)1) - x->b * s, x->J);
}

// out = A B, columns
MABD_HOT void LEAN(product)(const LEAN_REAL* A, const LEAN_REAL* B, LEAN_REAL* out) {
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            out[3 * k + j] = A[j] * B[3 * k] + A[3 + j] * B[3 * k + 1] + A[6 + j] * B[3 * k + 2];
        }
    }
}

// Rotation of a frame behind a ball: rest C exp([q]).
MABD_HOT void LEAN(place_ball)(const LEAN_REAL* rest, const LEAN_REAL* center, const LEAN_REAL* q,
                               const LEAN(ball) * x, LEAN_REAL* E) {
    const LEAN_REAL zero = {0}, one = zero + (mabd_real)1, two = zero + (mabd_real)2;
    const LEAN_REAL w = center[0], i = center[1], j = center[2], k = center[3];
    const LEAN_REAL C[9] = {
        one - two * (j * j + k * k), two * (i * j + w * k),       two * (i * k - w * j),
        two * (i * j - w * k),       one - two * (i * i + k * k), two * (j * k + w * i),
        two * (i * k + w * j),       two * (j * k - w * i),       one - two * (i * i + j * j)};
    LEAN_REAL column[3], turn[3], Q[9], at[9]; // exp([q]) = a q q' + [(1 - b s) q] + (1 - a s) 1
    const LEAN_REAL s = LEAN(dot)(q, q), sinc = one - x->b * s;
    for (int c = 0; c < 3; c++) column[c] = x->a * q[c], turn[c] = sinc * q[c];
    LEAN(put_sum)(column, q, turn, one - x->a * s, Q);
    LEAN(product)(rest, C, at);
    LEAN(product)(at, Q, E);
    for (int c = 0; c < 3; c++) E[9 + c] = rest[9 + c];
}

// Write S v and alpha, without V and A.
MABD_HOT void LEAN(turn_ball)(const LEAN_REAL* q, const LEAN_REAL* v, const LEAN_REAL* a,
                              LEAN(ball) * x, LEAN_REAL* w) {
    const LEAN_REAL V = LEAN(dot)(q, v), two = (LEAN_REAL){0} + (mabd_real)2;
    LEAN_REAL p[3], r[3], vp[3], own[3];
    LEAN(cross)(q, v, p);
    LEAN(cross)(q, p, r);
    LEAN(cross)(v, p, vp);
    LEAN(turn)(x->J, v, w);
    LEAN(turn)(x->J, a, own);
    const LEAN_REAL by_p = two * x->a1 * V, by_r = two * x->b1 * V;
    for (int j = 0; j < 3; j++) {
        x->alpha[j] = own[j] + (by_r * r[j] - by_p * p[j] + x->b * vp[j]);
    }
}

MABD_HOT LEAN(ball) * LEAN(ball_of)(const LEAN(tree) * t, const mabd_lean_link* link) {
    return (LEAN(ball)*)(void*)(t->chart + LEAN(CHART) * (size_t)link->ball);
}

// ---- a link with three freedoms ----------------------------------------------------------------

// S'F
MABD_HOT void LEAN(through)(const LEAN(tree) * t, const mabd_lean_link* link, const LEAN_REAL* F,
                            LEAN_REAL* out) {
    if (link->ball >= 0) {
        LEAN(turn_back)(LEAN(ball_of)(t, link)->J, F, out);
    } else {
        for (int j = 0; j < 3; j++) out[j] = F[3 + j] * link->sign;
    }
}

MABD_HOT void LEAN(place_triple)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL *rest = LEAN(constant)(&t->rest, i), *q = t->q + link->freedom;
    LEAN_REAL *E = t->E + 12 * (size_t)i, way[3];
    if (link->ball >= 0) {
        LEAN(ball)* x = LEAN(ball_of)(t, link);
        LEAN(chart_at)(q, x);
        LEAN(place_ball)(rest, t->center + 4 * (size_t)link->ball, q, x, E);
        return;
    }
    LEAN(turn)(rest, q, way);
    for (int j = 0; j < 9; j++) E[j] = rest[j];
    for (int j = 0; j < 3; j++) E[9 + j] = rest[9 + j] + way[j] * link->sign;
}

// Add the motion of the freedoms to V and A, which are those of the parent.
MABD_HOT void LEAN(move_triple)(const LEAN(tree) * t, int32_t i, LEAN_REAL* V, LEAN_REAL* A) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL *q = t->q + link->freedom, *v = t->v + link->freedom, *a = t->a + link->freedom;
    LEAN_REAL *Sv = t->Sv + 6 * (size_t)i, turn[3], push[3];
    if (link->ball >= 0) {
        LEAN(ball)* x = LEAN(ball_of)(t, link);
        LEAN(turn_ball)(q, v, a, x, Sv);
        for (int j = 0; j < 3; j++) V[j] += Sv[j];
        LEAN(cross)(V, Sv, turn);
        LEAN(cross)(V + 3, Sv, push);
        for (int j = 0; j < 3; j++) A[j] += x->alpha[j] + turn[j], A[3 + j] += push[j];
        return;
    }
    for (int j = 0; j < 3; j++) Sv[3 + j] = v[j] * link->sign, V[3 + j] += Sv[3 + j];
    LEAN(cross)(V, Sv + 3, push);
    for (int j = 0; j < 3; j++) A[3 + j] += a[j] * link->sign + push[j];
}

// Moment of the dampers and the armature of a ball: -y of tau = J'y.
MABD_HOT void LEAN(hold_ball)(const LEAN(tree) * t, int32_t i, LEAN_REAL* y) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL *w = t->Sv + 6 * (size_t)i, *alpha = LEAN(ball_of)(t, link)->alpha;
    for (int j = 0; j < 3; j++) {
        const LEAN_REAL* law = LEAN(constant)(&t->law, link->freedom + j);
        y[j] = law[1] * w[j] + law[2] * alpha[j];
    }
}

MABD_HOT void LEAN(residual_triple)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL* F = t->F + 6 * (size_t)i;
    LEAN_REAL sum[6], out[3];
    for (int j = 0; j < 6; j++) sum[j] = F[j];
    if (link->ball >= 0) {
        LEAN(hold_ball)(t, i, out);
        for (int j = 0; j < 3; j++) sum[j] += out[j];
    }
    LEAN(through)(t, link, sum, out);
    for (int32_t j = 0, k = link->freedom; j < 3; j++, k++) {
        const LEAN_REAL* law = LEAN(constant)(&t->law, k);
        t->r[k] = out[j];
        if (link->ball >= 0) continue;
        t->r[k] -= t->base[k] - law[0] * t->q[k] - law[1] * t->v[k] - law[2] * t->a[k];
    }
}
