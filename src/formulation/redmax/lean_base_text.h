// SPDX-License-Identifier: Apache-2.0
// Types and small sums of the sweeps of lean parts: part of lean_text.h.
//
// One source for one part, and for equal parts in lanes. It is included after these, or without
// them for one part:
//
//   LEAN_REAL     a real, or a vector with one real of each part
//   LEAN_COUNT    parts: reals in LEAN_REAL
//   LEAN_PART     one row of N, or three of them and one that is not used
//   LEAN_PARTS    parts of three rows: 3 or 1
//   LEAN_PAD      reals of three rows: 3 or 4
//   LEAN_PUT(p, x, y, z)   write three rows
//   LEAN_WHERE(c, x, y)    x where c, a comparison of reals, holds, else y
//   LEAN(name)    the names of this inclusion
#pragma once

#include "formulation/redmax/lean.h"
#include "math/lanes.h"

#ifndef LEAN
#define LEAN_REAL            mabd_real
#define LEAN_COUNT           1
#define LEAN_PAD             4
#define LEAN_PART            mabd_quad
#define LEAN_PARTS           1
#define LEAN_PUT(p, x, y, z) (*(p) = (mabd_quad){x, y, z, 0})
#define LEAN_WHERE(c, x, y)  ((c) ? (x) : (y))
#define LEAN(name)           plain_##name
#endif

enum { LEAN(ROWS) = 2 * LEAN_PAD, LEAN(WIDTH) = 2 * LEAN_PARTS, LEAN(BLOCK) = 12 * 2 * LEAN_PARTS };

/// Constants are `step` bytes apart: rows of links or freedoms, or of lanes.
typedef struct LEAN(constants) {
    const void* at;
    size_t step;
} LEAN(constants);

/// A part, or equal parts in lanes; arrays begin with its first link and freedom.
typedef struct LEAN(tree) {
    const mabd_lean_link* links;
    LEAN(constants) rest;                // R by columns, p: 12
    LEAN(constants) inertia;             // m, m c, Io by columns: 13
    LEAN(constants) law;                 // k, d, I: 3; of a ruled part MABD_LEAN_LAW
    bool ruled;                          // (lean.h)
    LEAN_REAL fall[3];                   // -g
    LEAN_REAL *q, *v, *a, *r, *base;     // freedoms; tau = base - k q - d v - I a
    LEAN_REAL* E;                        // links x 12
    LEAN_REAL *V, *A, *F, *XV, *XA, *Sv; // links x 6
    LEAN_PART* N;                        // slots
    LEAN_REAL *B, *K, *G;                // freedoms x column, 12, 6
    LEAN_REAL* D;                        // freedoms x 3: pivot; of three L^-1 P
    LEAN_REAL *upper, *stiff;            // freedoms: of three U01, U02, U12; pivots
    size_t column;
    const LEAN_REAL* center; // balls x 4: rotations at the start of the step
    LEAN_REAL* chart;        // balls x MABD_LEAN_CHART
    LEAN_REAL *up, *x;       // links x 12
    LEAN_REAL* u;            // freedoms
} LEAN(tree);

/// The weights of H = wq dr/dq + wv dr/dv + wa dr/da.
typedef struct LEAN(weights) {
    LEAN_REAL q, v, a;
} LEAN(weights);

MABD_HOT const LEAN_REAL* LEAN(constant)(const LEAN(constants) * c, int32_t i) {
    return (const LEAN_REAL*)(const void*)((const char*)c->at + c->step * (size_t)i);
}

// 1, or 0 of a held freedom.
MABD_HOT LEAN_REAL LEAN(free_of)(const LEAN(tree) * t, int32_t freedom) {
    LEAN_REAL one = {0};
    if (t->ruled) return LEAN(constant)(&t->law, freedom)[3];
    one += (mabd_real)1;
    return one;
}

// ---- small sums --------------------------------------------------------------------------------

// Sine and cosine by odd and even polynomials on a quarter turn (those of fdlibm) after reduction
// by three parts of pi/2: without branches, so that lanes give the bits of one part.
MABD_HOT void LEAN(sine)(const LEAN_REAL* angle, LEAN_REAL* sine, LEAN_REAL* cosine) {
    const mabd_real whole = (mabd_real)6755399441055744.0; // 1.5 * 2^52
    const LEAN_REAL n = (*angle * (mabd_real)0.63661977236758134308 + whole) - whole;
    const LEAN_REAL r = ((*angle - n * (mabd_real)1.57079632673412561417e+00) -
                         n * (mabd_real)6.07710050630396597660e-11) -
                        n * (mabd_real)2.02226624879595063154e-21;
    const LEAN_REAL z = r * r;
    LEAN_REAL p = z * (mabd_real)1.58969099521155010221e-10 - (mabd_real)2.50507602534068634195e-08;
    p = p * z + (mabd_real)2.75573137070700676789e-06;
    p = p * z - (mabd_real)1.98412698298579493134e-04;
    p = p * z + (mabd_real)8.33333333332248946124e-03;
    p = p * z - (mabd_real)1.66666666666666324348e-01;
    const LEAN_REAL s = r + (z * r) * p;
    p = z * (mabd_real)-1.13596475577881948265e-11 + (mabd_real)2.08757232129817482790e-09;
    p = p * z - (mabd_real)2.75573143513906633035e-07;
    p = p * z + (mabd_real)2.48015872894767294178e-05;
    p = p * z - (mabd_real)1.38888888888741095749e-03;
    p = p * z + (mabd_real)4.16666666666666019037e-02;
    const LEAN_REAL c = ((z * z) * p - z * (mabd_real)0.5) + (mabd_real)1;
    // half = floor(n/2), quarter = n mod 2; four = floor(n/4), odd half turns change both signs
    const LEAN_REAL half = ((n * (mabd_real)0.5 - (mabd_real)0.25) + whole) - whole;
    const LEAN_REAL quarter = n - half * (mabd_real)2;
    const LEAN_REAL four = ((half * (mabd_real)0.5 - (mabd_real)0.25) + whole) - whole;
    const LEAN_REAL sign = (mabd_real)1 - (half - four * (mabd_real)2) * (mabd_real)2;
    const LEAN_REAL even = (mabd_real)1 - quarter;
    *sine = sign * (s * even + c * quarter);
    *cosine = sign * (c * even - s * quarter);
}

// out = R x, or += if `adds`
MABD_HOT void LEAN(turn)(const LEAN_REAL* E, const LEAN_REAL* x, LEAN_REAL* out) {
    for (int j = 0; j < 3; j++) out[j] = E[j] * x[0] + E[3 + j] * x[1] + E[6 + j] * x[2];
}
// out = R' x
MABD_HOT void LEAN(turn_back)(const LEAN_REAL* E, const LEAN_REAL* x, LEAN_REAL* out) {
    for (int j = 0; j < 3; j++) {
        out[j] = E[3 * j] * x[0] + E[3 * j + 1] * x[1] + E[3 * j + 2] * x[2];
    }
}
// out = a x b
MABD_HOT void LEAN(cross)(const LEAN_REAL* a, const LEAN_REAL* b, LEAN_REAL* out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// X V: a twist of the parent in the child
MABD_HOT void LEAN(to_child)(const LEAN_REAL* E, const LEAN_REAL* V, LEAN_REAL* out) {
    LEAN_REAL arm[3];
    LEAN(cross)(E + 9, V, arm);
    for (int j = 0; j < 3; j++) arm[j] = V[3 + j] - arm[j];
    LEAN(turn_back)(E, V, out);
    LEAN(turn_back)(E, arm, out + 3);
}
// out += X'F: a wrench of the child in the parent
MABD_HOT void LEAN(add_to_parent)(const LEAN_REAL* E, const LEAN_REAL* F, LEAN_REAL* out) {
    LEAN_REAL m[3], f[3], arm[3];
    LEAN(turn)(E, F, m);
    LEAN(turn)(E, F + 3, f);
    LEAN(cross)(E + 9, f, arm);
    for (int j = 0; j < 3; j++) out[j] += m[j] + arm[j], out[3 + j] += f[j];
}
// M V
MABD_HOT void LEAN(momentum)(const LEAN_REAL* M, const LEAN_REAL* V, LEAN_REAL* out) {
    LEAN_REAL m[3], f[3];
    LEAN(cross)(M + 1, V + 3, m);
    LEAN(cross)(M + 1, V, f);
    for (int j = 0; j < 3; j++) {
        out[j] = M[4 + j] * V[0] + M[7 + j] * V[1] + M[10 + j] * V[2] + m[j];
        out[3 + j] = M[0] * V[3 + j] - f[j];
    }
}

// out += s ad(V) e_axis
MABD_HOT void LEAN(add_unit_cross)(const LEAN_REAL* V, int axis, LEAN_REAL s, LEAN_REAL* out) {
    const int k = axis % 3, l = (k + 1) % 3, m = (k + 2) % 3;
    if (axis < 3) {
        out[l] += s * V[m], out[m] -= s * V[l];
        out[3 + l] += s * V[3 + m], out[3 + m] -= s * V[3 + l];
    } else {
        out[3 + l] += s * V[m], out[3 + m] -= s * V[l];
    }
}
// out -= s ad(e_axis)' F
MABD_HOT void LEAN(subtract_unit_wrench)(const LEAN_REAL* F, int axis, LEAN_REAL s,
                                         LEAN_REAL* out) {
    const int k = axis % 3, l = (k + 1) % 3, m = (k + 2) % 3;
    if (axis < 3) {
        out[l] -= s * F[m], out[m] += s * F[l];
        out[3 + l] -= s * F[3 + m], out[3 + m] += s * F[3 + l];
    } else {
        out[l] -= s * F[3 + m], out[m] += s * F[3 + l];
    }
}

// ---- N -----------------------------------------------------------------------------------------
// 12 columns of LEAN_WIDTH parts, first those of the moment, then those of the force.

// What motion along an axis adds to N T.
MABD_HOT void LEAN(transfer_rate)(int axis, LEAN_REAL rate, LEAN_PART* MABD_RESTRICT N) {
    enum { W = LEAN(WIDTH) };
    const int k = axis % 3, l = (k + 1) % 3, m = (k + 2) % 3;
    const int from = axis < 3 ? 6 : 9;
    for (int r = 0; r < W; r++) {
        N[W * l + r] -= N[W * (from + m) + r] * rate;
        N[W * m + r] += N[W * (from + l) + r] * rate;
        if (axis >= 3) continue;
        N[W * (3 + l) + r] -= N[W * (9 + m) + r] * rate;
        N[W * (3 + m) + r] += N[W * (9 + l) + r] * rate;
    }
}

// N T, in place.
MABD_HOT void LEAN(transfer)(const LEAN_REAL* MABD_RESTRICT E, const mabd_lean_link* link,
                             const LEAN_REAL* Sv, LEAN_PART* MABD_RESTRICT N) {
    enum { W = LEAN(WIDTH) };
    for (int a = link->axis; a < link->axis + link->count; a++) LEAN(transfer_rate)(a, Sv[a], N);
    for (int b = 0; b < 12; b += 6) {
        LEAN_PART* MABD_RESTRICT at = N + W * b;
        for (int r = 0; r < W; r++) {
            const LEAN_PART m0 = at[r], m1 = at[W + r], m2 = at[2 * W + r];
            const LEAN_PART f0 = at[3 * W + r], f1 = at[4 * W + r], f2 = at[5 * W + r];
            const LEAN_PART x = f0 * E[0] + f1 * E[3] + f2 * E[6];
            const LEAN_PART y = f0 * E[1] + f1 * E[4] + f2 * E[7];
            const LEAN_PART z = f0 * E[2] + f1 * E[5] + f2 * E[8];
            at[r] = m0 * E[0] + m1 * E[3] + m2 * E[6] + (z * E[10] - y * E[11]);
            at[W + r] = m0 * E[1] + m1 * E[4] + m2 * E[7] + (x * E[11] - z * E[9]);
            at[2 * W + r] = m0 * E[2] + m1 * E[5] + m2 * E[8] + (y * E[9] - x * E[10]);
            at[3 * W + r] = x, at[4 * W + r] = y, at[5 * W + r] = z;
        }
    }
}

// Note the first link of each part whose pivot vanishes in the terms that it sums; their squares.
MABD_HOT void LEAN(judge)(const LEAN_REAL* D, const LEAN_REAL* terms, int32_t i, int32_t* bad) {
    const LEAN_REAL margin = *D * *D - *terms * (mabd_real)MABD_LEAN_PIVOT;
    for (int l = 0; l < LEAN_COUNT; l++) {
        if (!(((const mabd_real*)&margin)[l] > 0) && bad[l] < 0) bad[l] = i;
    }
}
