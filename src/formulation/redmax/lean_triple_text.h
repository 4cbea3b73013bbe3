// SPDX-License-Identifier: Apache-2.0
// Elimination of links with three freedoms in the sweeps of lean parts: part of lean_text.h. D has
// a factor with partial pivoting whose exchanges are choices, so that lanes give the bits of one
// part.
//
// The derivatives of J are sums of columns times rows: with V = q'v, p = q x v, r = q x p,
//
//   dJ(.) v  = (-2 a1 p + 2 b1 r - b v) q' + [a v - b p] + b V 1
//   dJ(v) .  = [-2 a1 V q - a v] + 2 b1 V (q q' - s 1) + b (q v' + v q' - 2 V 1)
//   d/dq (dJ(v) v) = (4 V (b2 r - a2 p) + 2 b1 (v x p - V v)) q' + (2 b1 r - 2 a1 p - b v) v'
//                  + 2 V [a1 v - b1 p] + (2 b1 V^2 + b v'v) 1
//   d/dq (J'm) = (2 a1 q x m + 2 b1 q x (q x m) - b m) q' - [a m + b q x m] + b (q'm) 1
#pragma once

#include "formulation/redmax/lean_ball_text.h"

/// Columns of the derivatives of J: dJ(.) v, J' + dJ(.) v, and what is left of A by q.
typedef struct LEAN(slopes) {
    LEAN_REAL by_v[9], rate[9], rest[9];
} LEAN(slopes);

MABD_HOT void LEAN(slope_ball)(const LEAN(ball) * x, const LEAN_REAL* q, const LEAN_REAL* v,
                               const LEAN_REAL* a, LEAN(slopes) * out) {
    const LEAN_REAL zero = {0}, two = zero + (mabd_real)2, none[3] = {zero, zero, zero};
    const LEAN_REAL s = LEAN(dot)(q, q), V = LEAN(dot)(q, v), A = LEAN(dot)(q, a);
    const LEAN_REAL a1 = two * x->a1, b1 = two * x->b1;
    LEAN_REAL p[3], r[3], vp[3], c[3], d[3], turn[3], M[9];
    LEAN(cross)(q, v, p);
    LEAN(cross)(q, p, r);
    LEAN(cross)(v, p, vp);
    for (int j = 0; j < 3; j++) {
        d[j] = b1 * r[j] - a1 * p[j] - x->b * v[j];
        turn[j] = x->a * v[j] - x->b * p[j];
    }
    LEAN(put_sum)(d, q, turn, x->b * V, out->by_v);
    for (int j = 0; j < 3; j++) {
        c[j] = b1 * V * q[j] + x->b * v[j];
        turn[j] = -(a1 * V * q[j] + x->a * v[j]);
    }
    LEAN(put_sum)(c, q, turn, -(b1 * V * s + two * x->b * V), out->rate);
    for (int j = 0; j < 3; j++) c[j] = x->b * q[j];
    LEAN(put_sum)(c, v, none, zero, M);
    for (int k = 0; k < 9; k++) out->rate[k] += M[k] + out->by_v[k];
    const LEAN_REAL V2 = two * two * V; // d/dq (dJ(v) v)
    for (int j = 0; j < 3; j++) {
        c[j] = V2 * (x->b2 * r[j] - x->a2 * p[j]) + b1 * (vp[j] - V * v[j]);
        turn[j] = V * (a1 * v[j] - b1 * p[j]);
    }
    LEAN(put_sum)(c, q, turn, b1 * V * V + x->b * LEAN(dot)(v, v), out->rest);
    LEAN(put_sum)(d, v, none, zero, M);
    for (int k = 0; k < 9; k++) out->rest[k] += M[k];
    LEAN(cross)(q, a, p);
    LEAN(cross)(q, p, r);
    for (int j = 0; j < 3; j++) { // dJ(.) a
        c[j] = b1 * r[j] - a1 * p[j] - x->b * a[j];
        turn[j] = x->a * a[j] - x->b * p[j];
    }
    LEAN(put_sum)(c, q, turn, x->b * A, M);
    for (int k = 0; k < 9; k++) out->rest[k] += M[k];
}

// Columns of d/dq (J'm).
MABD_HOT void LEAN(moment_slope)(const LEAN(ball) * x, const LEAN_REAL* q, const LEAN_REAL* m,
                                 LEAN_REAL* M) {
    const LEAN_REAL two = (LEAN_REAL){0} + (mabd_real)2;
    LEAN_REAL p[3], r[3], c[3], turn[3];
    LEAN(cross)(q, m, p);
    LEAN(cross)(q, p, r);
    for (int j = 0; j < 3; j++) {
        c[j] = two * x->a1 * p[j] + two * x->b1 * r[j] - x->b * m[j];
        turn[j] = -(x->a * m[j] + x->b * p[j]);
    }
    LEAN(put_sum)(c, q, turn, x->b * LEAN(dot)(q, m), M);
}

// ---- its elimination ---------------------------------------------------------------------------

// Columns B of a ball, and what its freedoms add to its residual themselves, W (columns).
MABD_HOT void LEAN(write_ball)(const LEAN(tree) * t, int32_t i, const LEAN(weights) * w,
                               LEAN_REAL* B, LEAN_REAL* W) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN(ball)* x = LEAN(ball_of)(t, link);
    const LEAN_REAL *q = t->q + link->freedom, *Sv = t->Sv + 6 * (size_t)i;
    const LEAN_REAL *XV = t->XV + 6 * (size_t)i, *XA = t->XA + 6 * (size_t)i;
    LEAN(slopes) d;
    LEAN_REAL m[3], law[6], M[9];
    LEAN(slope_ball)(x, q, t->v + link->freedom, t->a + link->freedom, &d);
    LEAN(hold_ball)(t, i, m);
    for (int j = 0; j < 3; j++) {
        const LEAN_REAL* own = LEAN(constant)(&t->law, link->freedom + j);
        m[j] += t->F[6 * (size_t)i + (size_t)j], law[j] = own[1], law[3 + j] = own[2];
    }
    LEAN(moment_slope)(x, q, m, M);
    for (int k = 0; k < 3; k++) {
        const LEAN_REAL *J = x->J + 3 * k, *by_v = d.by_v + 3 * k;
        LEAN_REAL *to = B + t->column * (size_t)k, turn[3], push[3], again[3], held[3];
        LEAN_REAL dV[6], dA[6];
        LEAN(cross)(XV, J, turn);
        LEAN(cross)(XV + 3, J, push);
        LEAN(cross)(XA, J, dA);
        LEAN(cross)(XA + 3, J, dA + 3);
        LEAN(cross)(Sv, turn, again);
        for (int j = 0; j < 3; j++) dA[j] -= again[j];
        LEAN(cross)(Sv, push, again);
        for (int j = 0; j < 3; j++) dA[3 + j] -= again[j];
        LEAN(cross)(XV, by_v, again);
        for (int j = 0; j < 3; j++) dA[j] += again[j];
        LEAN(cross)(XV + 3, by_v, again);
        for (int j = 0; j < 3; j++) {
            const LEAN_REAL v = w->v * J[j] + w->q * by_v[j];
            const LEAN_REAL a = w->a * J[j] + w->v * d.rate[3 * k + j] + w->q * d.rest[3 * k + j];
            dA[3 + j] += again[j];
            dV[j] = w->q * turn[j], dV[3 + j] = w->q * push[j];
            to[j] = v + dV[j], to[3 + j] = dV[3 + j];
            to[6 + j] = a + (w->v * turn[j] + w->q * dA[j]);
            to[9 + j] = w->v * push[j] + w->q * dA[3 + j];
            held[j] = law[j] * v + law[3 + j] * a;
        }
        LEAN(turn_back)(x->J, held, W + 3 * k);
        for (int j = 0; j < 3; j++) W[3 * k + j] += w->q * M[3 * k + j];
    }
}

// The same of slides.
MABD_HOT void LEAN(write_slides)(const LEAN(tree) * t, int32_t i, const LEAN(weights) * w,
                                 LEAN_REAL* B, LEAN_REAL* W) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL zero = {0}, sign = zero + link->sign;
    for (int k = 0; k < 3; k++) {
        const LEAN_REAL* law = LEAN(constant)(&t->law, link->freedom + k);
        LEAN_REAL *to = B + t->column * (size_t)k, turn[6], push[6];
        for (int j = 0; j < 6; j++) turn[j] = push[j] = zero;
        LEAN(add_unit_cross)(t->XV + 6 * (size_t)i, 3 + k, sign, turn);
        LEAN(add_unit_cross)(t->XA + 6 * (size_t)i, 3 + k, sign, push);
        for (int j = 0; j < 3; j++) {
            to[j] = to[6 + j] = zero;
            to[3 + j] = w->q * turn[3 + j];
            to[9 + j] = w->v * turn[3 + j] + w->q * push[3 + j];
            W[3 * k + j] = zero;
        }
        to[3 + k] += w->v * link->sign, to[9 + k] += w->a * link->sign;
        W[4 * k] = w->q * law[0] + w->v * law[1] + w->a * law[2];
    }
}

/// P D = L U: rows of L^-1 P, which is as small as L, and the upper part of U.
typedef struct LEAN(lu) {
    LEAN_REAL lower[9], upper[3]; // U01, U02, U12
    LEAN_REAL pivot[3];
} LEAN(lu);

// Exchange rows of D and of L^-1 P if the entry of `b` in column c is the larger one.
MABD_HOT void LEAN(exchange)(int c, LEAN_REAL* a, LEAN_REAL* b, LEAN_REAL* la, LEAN_REAL* lb) {
    const LEAN_REAL here = a[c] * a[c], there = b[c] * b[c];
    for (int j = 0; j < 3; j++) {
        const LEAN_REAL x = a[j], y = b[j], lx = la[j], ly = lb[j];
        a[j] = LEAN_WHERE(there > here, y, x), b[j] = LEAN_WHERE(there > here, x, y);
        la[j] = LEAN_WHERE(there > here, ly, lx), lb[j] = LEAN_WHERE(there > here, lx, ly);
    }
}

// Factor D (rows, used up).
MABD_HOT void LEAN(lu_factor)(LEAN_REAL* D, LEAN(lu) * x) {
    const LEAN_REAL zero = {0}, one = zero + (mabd_real)1;
    LEAN_REAL *a = D, *b = D + 3, *c = D + 6;
    LEAN_REAL *la = x->lower, *lb = x->lower + 3, *lc = x->lower + 6;
    for (int k = 0; k < 9; k++) x->lower[k] = k % 4 == 0 ? one : zero;
    LEAN(exchange)(0, a, b, la, lb);
    LEAN(exchange)(0, a, c, la, lc);
    const LEAN_REAL fb = b[0] / a[0], fc = c[0] / a[0];
    for (int j = 0; j < 3; j++) {
        b[j] -= fb * a[j], c[j] -= fc * a[j];
        lb[j] -= fb * la[j], lc[j] -= fc * la[j];
    }
    LEAN(exchange)(1, b, c, lb, lc);
    const LEAN_REAL f = c[1] / b[1];
    for (int j = 0; j < 3; j++) lc[j] -= f * lb[j];
    x->upper[0] = a[1], x->upper[1] = a[2], x->upper[2] = b[2];
    x->pivot[0] = a[0], x->pivot[1] = b[1], x->pivot[2] = c[2] - f * b[2];
}

// out = D^-1 y, from the factor and the inverse pivots; an inverse of D would lose digits where its
// pivots differ much.
MABD_HOT void LEAN(lu_solve)(const LEAN_REAL* lower, const LEAN_REAL* upper,
                             const LEAN_REAL* inverse, const LEAN_REAL* y, LEAN_REAL* out) {
    LEAN_REAL z[3];
    for (int j = 0; j < 3; j++) {
        z[j] = lower[3 * j] * y[0] + lower[3 * j + 1] * y[1] + lower[3 * j + 2] * y[2];
    }
    out[2] = z[2] * inverse[2];
    out[1] = (z[1] - upper[2] * out[2]) * inverse[1];
    out[0] = (z[0] - upper[0] * out[1] - upper[1] * out[2]) * inverse[0];
}

// N B of three columns.
MABD_HOT void LEAN(times_columns)(const LEAN_PART* MABD_RESTRICT N, const LEAN_REAL* B,
                                  size_t column, LEAN_PART* G) {
    enum { W = LEAN(WIDTH) };
    const LEAN_REAL *x = B, *y = B + column, *z = B + 2 * column;
    for (int r = 0; r < W; r++) {
        LEAN_PART a = N[r] * x[0], b = N[r] * y[0], d = N[r] * z[0];
        for (int c = 1; c < 12; c++) {
            const LEAN_PART n = N[W * c + r];
            a += n * x[c], b += n * y[c], d += n * z[c];
        }
        G[r] = a, G[W + r] = b, G[2 * W + r] = d;
    }
}

// Pivots, G and K of a link with three freedoms; N -> N T - G K.
MABD_HOT void LEAN(eliminate_triple)(const LEAN(tree) * t, int32_t i, const LEAN(weights) * w,
                                     LEAN_PART* MABD_RESTRICT N, int32_t* bad) {
    enum { P = LEAN_PARTS, W = LEAN(WIDTH) };
    const mabd_lean_link* link = &t->links[i];
    const size_t k = (size_t)link->freedom;
    const LEAN_REAL* F = t->F + 6 * (size_t)i;
    LEAN_REAL *B = t->B + t->column * k, *K = t->K + 12 * k, *to = t->G + 6 * k;
    LEAN_REAL own[9], D[9], inverse[3], terms = {0};
    LEAN(lu) lu;
    LEAN_PART G[3 * W];
    if (link->ball >= 0) {
        LEAN(write_ball)(t, i, w, B, own);
    } else {
        LEAN(write_slides)(t, i, w, B, own);
    }
    LEAN(times_columns)(N, B, t->column, G);
    for (int c = 0; c < 3; c++) {
        LEAN_REAL g[6], through[3], m[3], f[3];
        for (int j = 0; j < 6; j++) {
            g[j] = ((const LEAN_REAL*)(G + W * c))[j % 3 + j / 3 * LEAN_PAD];
            terms += g[j] * g[j];
        }
        LEAN(through)(t, link, g, through);
        for (int j = 0; j < 3; j++) {
            D[3 * j + c] = through[j] + own[3 * c + j];
            terms += own[3 * c + j] * own[3 * c + j];
        }
        if (link->ball >= 0) { // G = N B - wq adF(F) S
            const LEAN_REAL* J = LEAN(ball_of)(t, link)->J + 3 * c;
            LEAN(cross)(F, J, m);
            LEAN(cross)(F + 3, J, f);
            for (int j = 0; j < 3; j++) g[j] -= w->q * m[j], g[3 + j] -= w->q * f[j];
        } else {
            LEAN(subtract_unit_wrench)(F, 3 + c, w->q * link->sign, g);
        }
        for (int j = 0; j < 6; j++) to[6 * c + j] = g[j];
        LEAN_PUT(G + W * c, g[0], g[1], g[2]);
        LEAN_PUT(G + W * c + P, g[3], g[4], g[5]);
    }
    LEAN(lu_factor)(D, &lu);
    for (size_t j = 0; j < 3; j++) {
        LEAN(judge)(&lu.pivot[j], &terms, i, bad);
        t->stiff[k + j] = lu.pivot[j], t->upper[k + j] = lu.upper[j];
        for (size_t c = 0; c < 3; c++) t->D[3 * (k + j) + c] = lu.lower[3 * j + c];
        inverse[j] = ((LEAN_REAL){0} + (mabd_real)1) / lu.pivot[j];
    }
    if (link->parent < 0) return;
    LEAN(transfer)(t->E + 12 * (size_t)i, link, t->Sv + 6 * (size_t)i, N);
    for (int c = 0; c < 12; c++) {
        LEAN_REAL column[6], y[3], x[3];
        for (int j = 0; j < 6; j++) {
            column[j] = ((const LEAN_REAL*)(N + W * c))[j % 3 + j / 3 * LEAN_PAD];
        }
        LEAN(through)(t, link, column, y);
        LEAN(lu_solve)(lu.lower, lu.upper, inverse, y, x);
        for (int j = 0; j < 3; j++) K[12 * j + c] = x[j];
        for (int r = 0; r < W; r++) {
            N[W * c + r] -= G[r] * x[0] + G[W + r] * x[1] + G[2 * W + r] * x[2];
        }
    }
}

// ---- its solve ---------------------------------------------------------------------------------

// u = D^-1 (b - S'n)
MABD_HOT void LEAN(solve_triple)(const LEAN(tree) * t, const mabd_lean_link* link,
                                 const LEAN_REAL* b, const LEAN_REAL* n) {
    const size_t k = (size_t)link->freedom;
    const LEAN_REAL one = (LEAN_REAL){0} + (mabd_real)1;
    LEAN_REAL y[3], inverse[3];
    LEAN(through)(t, link, n, y);
    for (size_t j = 0; j < 3; j++) {
        y[j] = b[k + j] - y[j];
        inverse[j] = one / t->stiff[k + j];
    }
    LEAN(lu_solve)(t->D + 3 * k, t->upper + k, inverse, y, t->u + k);
}

// out += S z
MABD_HOT void LEAN(add_triple)(const LEAN(tree) * t, const mabd_lean_link* link, const LEAN_REAL* z,
                               LEAN_REAL* out) {
    if (link->ball >= 0) {
        LEAN_REAL w[3];
        LEAN(turn)(LEAN(ball_of)(t, link)->J, z, w);
        for (int j = 0; j < 3; j++) out[j] += w[j];
    } else {
        for (int j = 0; j < 3; j++) out[3 + j] += z[j] * link->sign;
    }
}

// z = D^-T (u + G'n), n -= S z. With D^-1 = U^-1 L^-1 P, D^-T is (L^-1 P)' U^-T.
MABD_HOT void LEAN(back_triple)(const LEAN(tree) * t, const mabd_lean_link* link, LEAN_REAL* z,
                                LEAN_REAL* n) {
    const size_t k = (size_t)link->freedom;
    const LEAN_REAL *lower = t->D + 3 * k, *upper = t->upper + k, *pivot = t->stiff + k;
    LEAN_REAL y[3], back[3];
    for (size_t j = 0; j < 3; j++) {
        const LEAN_REAL* G = t->G + 6 * (k + j);
        y[j] = t->u[k + j];
        for (int c = 0; c < 6; c++) y[j] += G[c] * n[c];
    }
    y[0] = y[0] / pivot[0];
    y[1] = (y[1] - upper[0] * y[0]) / pivot[1];
    y[2] = (y[2] - upper[1] * y[0] - upper[2] * y[1]) / pivot[2];
    for (int c = 0; c < 3; c++) {
        z[k + (size_t)c] = lower[c] * y[0] + lower[3 + c] * y[1] + lower[6 + c] * y[2];
        back[c] = -z[k + (size_t)c];
    }
    LEAN(add_triple)(t, link, back, n);
}
