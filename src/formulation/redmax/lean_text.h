// SPDX-License-Identifier: Apache-2.0
// The sweeps of a lean part (lean.h): motion.c and factor.c where every link has one turn or slide
// along an axis of its frame, or none, or three of them (lean_triple_text.h), and variations have
// 12 reals. It is included after the macros of lean_base_text.h, or without them for one part.
//
// S = sign e_a has one entry, so products with it pick entries, and cross products with it two of
// them. With x = sign q' and U = unit_cross(V) := ad(V) e_a:
//
//   A = X A_p + S a + x U(V)        dV = sign U(X V_p)
//   B = ( wv S + wq dV ; wa S + wv dV + wq (sign U(X A_p) + x U(dV)) )
//
// because V - S q' = X V_p and ad(S q') dV = -x U(dV). N is stored by columns, each as moment
// (LEAN_PAD reals) and force (LEAN_PAD), so N T is sums of columns, and X'N of parts of a column.
//
// A held freedom has the row dq = b: D = 1, and its K = S'N T is left out of N and of solves, but
// kept, because the force that holds it changes by D dq + S'n + K x_p.
//
// N of a link is only there between its first child and its parent: in a slot of a few for a part.
// Sums have the order of links, whatever the ranges that threads work on: a child adds to its
// parent after all links behind the child are done.
#pragma once

#include "formulation/redmax/lean_triple_text.h"

// ---- residual ----------------------------------------------------------------------------------

MABD_HOT void LEAN(place)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL* MABD_RESTRICT rest = LEAN(constant)(&t->rest, i);
    LEAN_REAL* MABD_RESTRICT E = t->E + 12 * (size_t)i;
    if (link->count == 3) {
        LEAN(place_triple)(t, i);
        return;
    }
    if (link->axis < 0) {
        for (int j = 0; j < 12; j++) E[j] = rest[j];
        return;
    }
    const int k = link->axis % 3, l = (k + 1) % 3, m = (k + 2) % 3;
    const LEAN_REAL way = t->q[link->freedom] * link->sign;
    if (link->axis >= 3) {
        for (int j = 0; j < 9; j++) E[j] = rest[j];
        for (int j = 0; j < 3; j++) E[9 + j] = rest[9 + j] + rest[3 * k + j] * way;
        return;
    }
    LEAN_REAL s, c;
    LEAN(sine)(&way, &s, &c);
    for (int j = 0; j < 3; j++) {
        E[3 * k + j] = rest[3 * k + j];
        E[3 * l + j] = c * rest[3 * l + j] + s * rest[3 * m + j];
        E[3 * m + j] = c * rest[3 * m + j] - s * rest[3 * l + j];
        E[9 + j] = rest[9 + j];
    }
}

MABD_HOT void LEAN(move)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL* E = t->E + 12 * (size_t)i;
    LEAN_REAL *V = t->V + 6 * (size_t)i, *A = t->A + 6 * (size_t)i;
    LEAN_REAL *XV = t->XV + 6 * (size_t)i, *XA = t->XA + 6 * (size_t)i;
    if (link->parent < 0) {
        for (int j = 0; j < 6; j++) XV[j] = (LEAN_REAL){0};
        for (int j = 0; j < 3; j++) XA[j] = XV[j];
        LEAN(turn_back)(E, t->fall, XA + 3);
    } else {
        LEAN(to_child)(E, t->V + 6 * (size_t)link->parent, XV);
        LEAN(to_child)(E, t->A + 6 * (size_t)link->parent, XA);
    }
    for (int j = 0; j < 6; j++) V[j] = XV[j], A[j] = XA[j];
    if (link->count == 3) LEAN(move_triple)(t, i, V, A);
    if (link->count != 1) return;
    const LEAN_REAL rate = t->v[link->freedom] * link->sign;
    t->Sv[6 * (size_t)i + (size_t)link->axis] = rate;
    V[link->axis] += rate;
    A[link->axis] += t->a[link->freedom] * link->sign;
    LEAN(add_unit_cross)(V, link->axis, rate, A);
}

// Wrench that the motion of a link itself needs.
MABD_HOT void LEAN(write_wrench)(const LEAN(tree) * t, int32_t i) {
    const LEAN_REAL *M = LEAN(constant)(&t->inertia, i), *V = t->V + 6 * (size_t)i;
    LEAN_REAL *F = t->F + 6 * (size_t)i, h[6], m[3], f[3], l[3];
    LEAN(momentum)(M, V, h);
    LEAN(momentum)(M, t->A + 6 * (size_t)i, F);
    LEAN(cross)(V, h, m);
    LEAN(cross)(V + 3, h + 3, l);
    LEAN(cross)(V, h + 3, f);
    for (int j = 0; j < 3; j++) F[j] += m[j] + l[j], F[3 + j] += f[j];
}

MABD_FN void LEAN(residual_down)(const LEAN(tree) * t, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) {
        LEAN(place)(t, i);
        LEAN(move)(t, i);
        LEAN(write_wrench)(t, i);
    }
}

MABD_FN void LEAN(residual_push)(const LEAN(tree) * t, int32_t i) {
    const int32_t parent = t->links[i].parent;
    LEAN(add_to_parent)(t->E + 12 * (size_t)i, t->F + 6 * (size_t)i, t->F + 6 * (size_t)parent);
}

MABD_FN void LEAN(residual_up)(const LEAN(tree) * t, int32_t from, int32_t to) {
    for (int32_t i = to - 1; i >= from; i--) {
        const mabd_lean_link* link = &t->links[i];
        const int32_t k = link->freedom;
        if (link->count == 3) LEAN(residual_triple)(t, i);
        if (link->count == 1) {
            const LEAN_REAL* law = LEAN(constant)(&t->law, k);
            const LEAN_REAL tau =
                t->base[k] - law[0] * t->q[k] - law[1] * t->v[k] - law[2] * t->a[k];
            t->r[k] = t->F[6 * (size_t)i + (size_t)link->axis] * link->sign - tau;
        }
        if (link->parent >= from) LEAN(residual_push)(t, i);
    }
}

// ---- factor ------------------------------------------------------------------------------------
// Columns of [x].
MABD_HOT void LEAN(skew)(const LEAN_REAL* x, LEAN_PART* out) {
    const LEAN_REAL zero = {0};
    LEAN_PUT(out, zero, x[2], -x[1]);
    LEAN_PUT(out + LEAN_PARTS, -x[2], zero, x[0]);
    LEAN_PUT(out + 2 * LEAN_PARTS, x[1], -x[0], zero);
}

// Add [ [w]I - [v][mc] - [p]   [w][mc] + m [v] - [f]   I    [mc];
//       -[w][mc] - [f]         m [w]                  -[mc]  m  ]   with (p, f) = M V, V = (w, v)
// by columns c: that of [a][b] is a x (b x e_c).
MABD_HOT void LEAN(add_inertia)(const LEAN_REAL* M, const LEAN_REAL* V, LEAN_PART* N) {
    enum { P = LEAN_PARTS, W = LEAN(WIDTH) };
    const LEAN_REAL *mc = M + 1, *Io = M + 4, m = M[0], zero = {0};
    LEAN_REAL h[6];
    LEAN_PART w[3 * P], v[3 * P], arm[3 * P], p[3 * P], f[3 * P], own[3 * P], one[3 * P];
    LEAN(momentum)(M, V, h);
    LEAN(skew)(V, w);
    LEAN(skew)(V + 3, v);
    LEAN(skew)(mc, arm);
    LEAN(skew)(h, p);
    LEAN(skew)(h + 3, f);
    LEAN_PUT(one, m, zero, zero);
    LEAN_PUT(one + P, zero, m, zero);
    LEAN_PUT(one + 2 * P, zero, zero, m);
    for (int c = 0; c < 3; c++) {
        LEAN_PUT(own + P * c, Io[3 * c], Io[3 * c + 1], Io[3 * c + 2]);
    }
    for (int c = 0; c < 3; c++) {
        const int k = (c + 1) % 3, l = (c + 2) % 3;
        LEAN_PART* at = N + W * c;
        for (int j = 0; j < P; j++) {
            const LEAN_PART turn = w[P * k + j] * mc[l] - w[P * l + j] * mc[k];
            const LEAN_PART push = v[P * k + j] * mc[l] - v[P * l + j] * mc[k];
            const LEAN_PART spin =
                w[j] * Io[3 * c] + w[P + j] * Io[3 * c + 1] + w[2 * P + j] * Io[3 * c + 2];
            at[j] += spin - push - p[P * c + j];
            at[P + j] -= turn + f[P * c + j];
            at[3 * W + j] += turn + v[P * c + j] * m - f[P * c + j];
            at[3 * W + P + j] += w[P * c + j] * m;
            at[6 * W + j] += own[P * c + j];
            at[6 * W + P + j] -= arm[P * c + j];
            at[9 * W + j] += arm[P * c + j];
            at[9 * W + P + j] += one[P * c + j];
        }
    }
}

MABD_HOT void LEAN(write_column)(const LEAN(tree) * t, int32_t i, const LEAN(weights) * w,
                                 LEAN_REAL* B) {
    const mabd_lean_link* link = &t->links[i];
    const int a = link->axis;
    const LEAN_REAL zero = {0}, sign = zero + link->sign;
    const LEAN_REAL rate = t->Sv[6 * (size_t)i + (size_t)a];
    LEAN_REAL dV[6], dA[6];
    for (int j = 0; j < 6; j++) dV[j] = dA[j] = zero;
    LEAN(add_unit_cross)(t->XV + 6 * (size_t)i, a, sign, dV);
    LEAN(add_unit_cross)(t->XA + 6 * (size_t)i, a, sign, dA);
    LEAN(add_unit_cross)(dV, a, rate, dA);
    for (int j = 0; j < 6; j++) {
        B[j] = w->q * dV[j];
        B[6 + j] = w->v * dV[j] + w->q * dA[j];
    }
    B[a] += w->v * link->sign;
    B[6 + a] += w->a * link->sign;
}

// N of the parent += X'N, or = if this link is the first one to add.
MABD_HOT void LEAN(lift)(const LEAN_REAL* MABD_RESTRICT E, bool opens,
                         const LEAN_PART* MABD_RESTRICT N, LEAN_PART* MABD_RESTRICT Np) {
    enum { P = LEAN_PARTS, W = LEAN(WIDTH) };
    LEAN_PART R[3 * P], T[3 * P]; // R and [p] R by columns
    for (int k = 0; k < 3; k++) {
        LEAN_REAL turned[3];
        LEAN(cross)(E + 9, E + 3 * k, turned);
        LEAN_PUT(R + P * k, E[3 * k], E[3 * k + 1], E[3 * k + 2]);
        LEAN_PUT(T + P * k, turned[0], turned[1], turned[2]);
    }
    for (int c = 0; c < 12; c++) {
        const LEAN_REAL* at = (const LEAN_REAL*)(N + W * c);
        const LEAN_REAL m0 = at[0], m1 = at[1], m2 = at[2];
        const LEAN_REAL f0 = at[LEAN_PAD], f1 = at[LEAN_PAD + 1], f2 = at[LEAN_PAD + 2];
        LEAN_PART* MABD_RESTRICT to = Np + W * c;
        for (int j = 0; j < P; j++) {
            const LEAN_PART moment = R[j] * m0 + R[P + j] * m1 + R[2 * P + j] * m2 + T[j] * f0 +
                                     T[P + j] * f1 + T[2 * P + j] * f2;
            const LEAN_PART force = R[j] * f0 + R[P + j] * f1 + R[2 * P + j] * f2;
            if (opens) {
                to[j] = moment, to[P + j] = force;
            } else {
                to[j] += moment, to[P + j] += force;
            }
        }
    }
}

// Pivot, G and K of a link with a freedom; N -> N T - G K.
MABD_HOT void LEAN(eliminate)(const LEAN(tree) * t, int32_t i, const LEAN(weights) * w,
                              LEAN_PART* MABD_RESTRICT N, int32_t* bad) {
    enum { P = LEAN_PARTS, W = LEAN(WIDTH) };
    const mabd_lean_link* link = &t->links[i];
    const size_t k = (size_t)link->freedom;
    const int row = link->axis % 3 + link->axis / 3 * LEAN_PAD;
    const LEAN_REAL* law = LEAN(constant)(&t->law, link->freedom);
    LEAN_REAL *B = t->B + t->column * k, *K = t->K + 12 * k, *to = t->G + 6 * k, g[6];
    LEAN_PART G[W];
    LEAN(write_column)(t, i, w, B);
    for (int r = 0; r < W; r++) {
        LEAN_PART even = N[r] * B[0], odd = N[W + r] * B[1];
        for (int c = 2; c < 12; c += 2) {
            even += N[W * c + r] * B[c], odd += N[W * (c + 1) + r] * B[c + 1];
        }
        G[r] = even + odd;
    }
    for (int j = 0; j < 6; j++) g[j] = ((const LEAN_REAL*)G)[j % 3 + j / 3 * LEAN_PAD];
    const LEAN_REAL own = w->q * law[0] + w->v * law[1] + w->a * law[2];
    const LEAN_REAL D = g[link->axis] * link->sign + own;
    const LEAN_REAL none = {0}, free = LEAN(free_of)(t, link->freedom);
    const LEAN_REAL pivot = LEAN_WHERE(free > none, D, none + (mabd_real)1);
    LEAN_REAL terms = own * own;
    for (int r = 0; r < 6; r++) terms += g[r] * g[r];
    terms *= free;
    LEAN(judge)(&pivot, &terms, i, bad);
    LEAN(subtract_unit_wrench)(t->F + 6 * (size_t)i, link->axis, w->q * link->sign, g);
    for (int j = 0; j < 6; j++) to[j] = g[j];
    t->D[3 * k] = pivot, t->stiff[k] = D;
    if (link->parent < 0) return;
    LEAN_PUT(G, g[0], g[1], g[2]);
    LEAN_PUT(G + P, g[3], g[4], g[5]);
    LEAN(transfer)(t->E + 12 * (size_t)i, link, t->Sv + 6 * (size_t)i, N);
    const LEAN_REAL inverse = link->sign / pivot;
    for (int c = 0; c < 12; c++) {
        LEAN_REAL factor = inverse * ((const LEAN_REAL*)(N + W * c))[row];
        K[c] = factor;
        factor *= free;
        for (int r = 0; r < W; r++) N[W * c + r] -= G[r] * factor;
    }
}

MABD_HOT LEAN_PART* LEAN(slot)(const LEAN(tree) * t, int32_t i) {
    return t->N + MABD_LEAN_SLOT / LEAN_PAD * LEAN_PARTS * (size_t)t->links[i].slot;
}

MABD_FN void LEAN(factor_push)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    LEAN(lift)
    (t->E + 12 * (size_t)i, link->opens, LEAN(slot)(t, i), LEAN(slot)(t, link->parent));
}

MABD_FN void LEAN(factor_up)(const LEAN(tree) * t, const LEAN(weights) * w, int32_t from,
                             int32_t to, int32_t* bad) {
    for (int32_t i = to - 1; i >= from; i--) {
        const mabd_lean_link* link = &t->links[i];
        LEAN_PART* N = LEAN(slot)(t, i);
        if (link->leaf) {
            for (int k = 0; k < LEAN(BLOCK); k++) N[k] = (LEAN_PART){0};
        }
        if (link->body) LEAN(add_inertia)(LEAN(constant)(&t->inertia, i), t->V + 6 * (size_t)i, N);
        if (link->count == 3) {
            LEAN(eliminate_triple)(t, i, w, N, bad);
        } else if (link->count == 1) {
            LEAN(eliminate)(t, i, w, N, bad);
        } else if (link->parent >= 0) {
            LEAN(transfer)(t->E + 12 * (size_t)i, link, NULL, N);
        }
        if (link->parent >= from) LEAN(factor_push)(t, i);
    }
}

// ---- solves ------------------------------------------------------------------------------------

// What a link hands to its parent: X'(n + G u).
MABD_FN void LEAN(solve_push)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    LEAN_REAL sum[6];
    for (int j = 0; j < 6; j++) sum[j] = t->up[12 * (size_t)i + (size_t)j];
    for (int32_t k = link->freedom; k < link->freedom + link->count; k++) {
        const LEAN_REAL *G = t->G + 6 * (size_t)k, u = t->u[k];
        for (int j = 0; j < 6; j++) sum[j] += G[j] * u;
    }
    LEAN(add_to_parent)(t->E + 12 * (size_t)i, sum, t->up + 12 * (size_t)link->parent);
}

MABD_FN void LEAN(solve_up)(const LEAN(tree) * t, const LEAN_REAL* b, int32_t from, int32_t to) {
    for (int32_t i = to - 1; i >= from; i--) {
        const mabd_lean_link* link = &t->links[i];
        const size_t k = (size_t)link->freedom;
        if (link->count == 3) LEAN(solve_triple)(t, link, b, t->up + 12 * (size_t)i);
        if (link->count == 1) {
            const LEAN_REAL n = t->up[12 * (size_t)i + (size_t)link->axis] * link->sign;
            t->u[k] = (b[k] - n * LEAN(free_of)(t, link->freedom)) / t->D[3 * k];
        }
        if (link->parent >= from) LEAN(solve_push)(t, i);
    }
}

// Clear what children add to.
MABD_FN void LEAN(clear_up)(const LEAN(tree) * t, int32_t from, int32_t to) {
    memset(t->up + 12 * (size_t)from, 0, 12 * (size_t)(to - from) * sizeof *t->up);
}

MABD_FN void LEAN(solve_down)(const LEAN(tree) * t, LEAN_REAL* dq, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) {
        const mabd_lean_link* link = &t->links[i];
        const LEAN_REAL* E = t->E + 12 * (size_t)i;
        LEAN_REAL x[12], *out = t->x + 12 * (size_t)i;
        const LEAN_REAL none = {0};
        if (link->parent >= 0) {
            const LEAN_REAL* x_p = t->x + 12 * (size_t)link->parent;
            LEAN(to_child)(E, x_p, x);
            LEAN(to_child)(E, x_p + 6, x + 6);
        } else {
            for (int j = 0; j < 12; j++) x[j] = none;
        }
        for (int a = link->axis; a < link->axis + link->count; a++) {
            LEAN(add_unit_cross)(x, a, t->Sv[6 * (size_t)i + (size_t)a], x + 6);
        }
        for (int32_t f = link->freedom; f < link->freedom + link->count; f++) {
            const size_t k = (size_t)f;
            const LEAN_REAL* B = t->B + t->column * k;
            LEAN_REAL step = t->u[k];
            if (link->parent >= 0) {
                const LEAN_REAL *K = t->K + 12 * k, *x_p = t->x + 12 * (size_t)link->parent;
                LEAN_REAL even = K[0] * x_p[0], odd = K[1] * x_p[1];
                for (int c = 2; c < 12; c += 2) even += K[c] * x_p[c], odd += K[c + 1] * x_p[c + 1];
                step -= (even + odd) * LEAN(free_of)(t, f);
            }
            for (int j = 0; j < 12; j++) x[j] += B[j] * step;
            dq[k] = step;
        }
        for (int j = 0; j < 12; j++) out[j] = x[j];
    }
}

// What a solution dq adds to the residual of a held freedom.
MABD_FN void LEAN(react)(const LEAN(tree) * t, const LEAN_REAL* dq, LEAN_REAL* y, int32_t from,
                         int32_t to) {
    for (int32_t i = from; i < to; i++) {
        const mabd_lean_link* link = &t->links[i];
        const size_t k = (size_t)link->freedom;
        if (link->count != 1) continue;
        const LEAN_REAL n = t->up[12 * (size_t)i + (size_t)link->axis] * link->sign;
        y[k] = t->stiff[k] * dq[k] + n;
        if (link->parent < 0) continue;
        const LEAN_REAL *K = t->K + 12 * k, *x_p = t->x + 12 * (size_t)link->parent;
        LEAN_REAL even = K[0] * x_p[0], odd = K[1] * x_p[1];
        for (int c = 2; c < 12; c += 2) even += K[c] * x_p[c], odd += K[c + 1] * x_p[c + 1];
        y[k] += even + odd;
    }
}

// ---- transposed solve --------------------------------------------------------------------------

// x_p += T'x
MABD_HOT void LEAN(transfer_back)(const LEAN(tree) * t, int32_t i, const LEAN_REAL* own,
                                  LEAN_REAL* x_p) {
    const mabd_lean_link* link = &t->links[i];
    const LEAN_REAL* E = t->E + 12 * (size_t)i;
    LEAN_REAL x[6];
    for (int j = 0; j < 6; j++) x[j] = own[j];
    for (int a = link->axis; a < link->axis + link->count; a++) {
        LEAN(subtract_unit_wrench)(own + 6, a, t->Sv[6 * (size_t)i + (size_t)a], x);
    }
    LEAN(add_to_parent)(E, x, x_p);
    LEAN(add_to_parent)(E, own + 6, x_p + 6);
}

// x_p += T'x - K'u
MABD_FN void LEAN(back_push)(const LEAN(tree) * t, int32_t i) {
    const mabd_lean_link* link = &t->links[i];
    LEAN_REAL* x_p = t->up + 12 * (size_t)link->parent;
    LEAN(transfer_back)(t, i, t->up + 12 * (size_t)i, x_p);
    for (int32_t k = link->freedom; k < link->freedom + link->count; k++) {
        const LEAN_REAL *K = t->K + 12 * (size_t)k, u = t->u[k] * LEAN(free_of)(t, k);
        for (int c = 0; c < 12; c++) x_p[c] -= K[c] * u;
    }
}

MABD_FN void LEAN(back_up)(const LEAN(tree) * t, const LEAN_REAL* y, int32_t from, int32_t to) {
    for (int32_t i = to - 1; i >= from; i--) {
        const mabd_lean_link* link = &t->links[i];
        const LEAN_REAL* x = t->up + 12 * (size_t)i;
        for (int32_t k = link->freedom; k < link->freedom + link->count; k++) {
            const LEAN_REAL* B = t->B + t->column * (size_t)k;
            LEAN_REAL even = B[0] * x[0], odd = B[1] * x[1];
            for (int c = 2; c < 12; c += 2) even += B[c] * x[c], odd += B[c + 1] * x[c + 1];
            t->u[k] = y[k] + (even + odd);
        }
        if (link->parent >= from) LEAN(back_push)(t, i);
    }
}

MABD_FN void LEAN(back_down)(const LEAN(tree) * t, LEAN_REAL* z, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) { // x: n of factor.c
        const mabd_lean_link* link = &t->links[i];
        const size_t k = (size_t)link->freedom;
        LEAN_REAL n[6], *out = t->x + 12 * (size_t)i;
        if (link->parent >= 0) {
            LEAN(to_child)(t->E + 12 * (size_t)i, t->x + 12 * (size_t)link->parent, n);
        } else {
            for (int j = 0; j < 6; j++) n[j] = (LEAN_REAL){0};
        }
        if (link->count == 3) LEAN(back_triple)(t, link, z, n);
        if (link->count == 1) {
            const LEAN_REAL* G = t->G + 6 * k;
            LEAN_REAL sum = t->u[k];
            for (int j = 0; j < 6; j++) sum += G[j] * n[j];
            z[k] = sum / t->D[3 * k];
            n[link->axis] -= z[k] * link->sign * LEAN(free_of)(t, link->freedom);
        }
        for (int j = 0; j < 6; j++) out[j] = n[j];
    }
}
