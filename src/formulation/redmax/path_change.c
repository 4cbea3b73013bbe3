// SPDX-License-Identifier: Apache-2.0
// Derivatives of spline curves and surfaces by their control values (path.h).
//
// A control value changes the functions f of the factors exp(D f) of a surface, or the twists D of
// those of a curve. With primes for changes, X = D f and the twist e of the factor, in its frame
// behind it,
//
//   e = Jr(X) D' f + D f'      Jr(X) y = sum_n (-ad X)^n y/(n+1)!      A' x = -ad(e) A x
//   xi'   <- A xi' + e
//   S_i'  <- D' f_i + D f_i' + A S_i' + A' S_i
//   S_ij' <- D' f_ij + D f_ij' + A S_ij' + A' S_ij - f_j' ad(D) A S_i - f_j ad(D') A S_i
//            - f_j ad(D) (A S_i' + A' S_i)
//
// The twists of a curve are D = log(C^-1 C+) of its frames, Jr(D) D' = c+ - Ad(exp(-D)) c for
// twists c, c+ of the frames in themselves. From its end, with C = Q:
//
//   xi'  <- -Ad(C) xi'     Z_i' = -Ad(C) (S_i' + ad(xi') S_i)
//   Z_ij' = -Ad(C) ((S_ij + ad(S_j) S_i)' + ad(xi') (S_ij + ad(S_j) S_i))

#include "formulation/redmax/path.h"

#include "dual/dense_lu.h"
#include "scene/spline_value.h"

#include <string.h>

/// Terms of Jr for twists that turn by less than half a turn.
#define SERIES 40

/// A factor exp(D f) and its change.
typedef struct factor_change {
    mabd_spatial D, dD;
    mabd_real f, f1[2], f2[2][2];    // f and its derivatives
    mabd_real df, df1[2], df2[2][2]; // their changes
} factor_change;

/// Columns and their changes behind the factors so far.
typedef struct path_state {
    mabd_frame Q;
    mabd_spatial S[2], dS[2][2];
    mabd_redmax_path_change by;
} path_state;

static mabd_spatial right_factor(mabd_spatial X, mabd_spatial y) {
    mabd_spatial sum = y, term = y;
    for (int n = 1; n < SERIES; n++) {
        term = mabd_sp_scale((mabd_real)-1 / (mabd_real)(n + 1), mabd_sp_cross(X, term));
        sum = mabd_sp_add(sum, term);
    }
    return sum;
}

// y with Jr(X) y = b
static mabd_spatial right_factor_solve(mabd_spatial X, mabd_spatial b) {
    mabd_real A[36], x[6], scale[6];
    int32_t pivot[6], bad;
    for (int k = 0; k < 6; k++) {
        mabd_real e[6] = {0}, column[6];
        e[k] = 1;
        mabd_sp_store(right_factor(X, mabd_sp_load(e)), column);
        for (int i = 0; i < 6; i++) A[6 * i + k] = column[i];
    }
    mabd_sp_store(b, x);
    if (mabd_dense_lu_factor(6, A, pivot, scale, &bad)) mabd_dense_lu_solve(6, A, pivot, x);
    return mabd_sp_load(x);
}

static void multiply(const factor_change* c, int n, path_state* s) {
    const mabd_frame E = mabd_frame_exp(mabd_sp_scale(c->f, c->D));
    const mabd_spatial turned = right_factor(mabd_sp_scale(c->f, c->D), mabd_sp_scale(c->f, c->dD));
    const mabd_spatial e = mabd_sp_axpy(c->df, c->D, turned);
    mabd_spatial AS[2], dAS[2]; // A S_i and its change
    s->by.xi = mabd_sp_add(mabd_frame_to_child(&E, s->by.xi), e);
    for (int i = 0; i < n; i++) {
        AS[i] = mabd_frame_to_child(&E, s->S[i]);
        dAS[i] = mabd_sp_sub(mabd_frame_to_child(&E, s->by.S[i]), mabd_sp_cross(e, AS[i]));
        s->S[i] = mabd_sp_axpy(c->f1[i], c->D, AS[i]);
        s->by.S[i] = mabd_sp_axpy(c->df1[i], c->D, mabd_sp_axpy(c->f1[i], c->dD, dAS[i]));
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const mabd_spatial bent = mabd_frame_to_child(&E, s->dS[i][j]);
            mabd_spatial x = mabd_sp_axpy(c->f2[i][j], c->D, bent);
            s->dS[i][j] = mabd_sp_axpy(-c->f1[j], mabd_sp_cross(c->D, AS[i]), x);
            x = mabd_sp_sub(mabd_frame_to_child(&E, s->by.dS[i][j]), mabd_sp_cross(e, bent));
            x = mabd_sp_axpy(c->df2[i][j], c->D, mabd_sp_axpy(c->f2[i][j], c->dD, x));
            x = mabd_sp_axpy(-c->df1[j], mabd_sp_cross(c->D, AS[i]), x);
            x = mabd_sp_axpy(-c->f1[j], mabd_sp_cross(c->dD, AS[i]), x);
            s->by.dS[i][j] = mabd_sp_axpy(-c->f1[j], mabd_sp_cross(c->D, dAS[i]), x);
        }
    }
    s->Q = mabd_frame_product(&s->Q, &E);
}

// ---- curves ------------------------------------------------------------------------------------

// Twist of frame `at` of a curve, in itself, by the value.
static mabd_spatial frame_twist(const mabd_joint_piece* piece, const mabd_real* values, int at,
                                int32_t value, mabd_vec3 turn) {
    const mabd_real* C = values + piece->first + 7 * (size_t)(at % piece->rows);
    const int k = value % 6;
    if (at % piece->rows != value / 6) return mabd_sp_zero();
    if (k >= 3) return mabd_sp(turn, mabd_v3(0, 0, 0));
    const mabd_quat back = mabd_q_conjugate(mabd_q_load(C + 3));
    return mabd_sp(mabd_v3(0, 0, 0), mabd_q_rotate(back, mabd_v3(k == 0, k == 1, k == 2)));
}

static void curve_by_value(const mabd_joint_piece* piece, const mabd_real* values, mabd_real q,
                           int32_t value, mabd_vec3 turn, path_state* s) {
    const mabd_curve_segment c = mabd_piece_curve(piece, values, q);
    const int at =
        mabd_spline_segment(q, mabd_piece_segments(piece, 0), piece->closed, &(mabd_real){0});
    mabd_real B[3][4];
    mabd_spatial last = frame_twist(piece, values, at, value, turn);
    mabd_spline_cumulative(c.u, B);
    s->Q = c.C, s->by.xi = last;
    for (int k = 0; k < 3; k++) {
        const mabd_frame E = mabd_frame_exp(c.D[k]);
        const mabd_spatial next = frame_twist(piece, values, at + k + 1, value, turn);
        const mabd_spatial step = mabd_sp_sub(next, mabd_frame_to_child(&E, last));
        const factor_change factor = {.D = c.D[k],
                                      .dD = right_factor_solve(c.D[k], step),
                                      .f = B[k][0],
                                      .f1 = {B[k][1]},
                                      .f2 = {{B[k][2]}}};
        multiply(&factor, 1, s);
        last = next;
    }
}

// ---- surfaces ----------------------------------------------------------------------------------

static void surface_by_value(const mabd_joint_piece* piece, const mabd_real* values,
                             const mabd_real* q, int32_t value, path_state* s) {
    const int32_t count = piece->rows * piece->columns;
    for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
        mabd_real f[4][4], df[4][4] = {{0}}, e[6] = {0};
        factor_change factor = {.dD = mabd_sp_zero()};
        mabd_piece_surface(piece, values, axis, q, f);
        if (value / count == axis) mabd_piece_surface_by_value(piece, value % count, q, df);
        e[(axis + 3) % 6] = 1; // slides are the linear part
        factor.D = mabd_sp_load(e), factor.f = f[0][0], factor.df = df[0][0];
        for (int i = 0; i < 2; i++) { // f[m][n] has m derivatives by q1, n by q2
            factor.f1[i] = f[!i][i], factor.df1[i] = df[!i][i];
            for (int j = 0; j < 2; j++) {
                factor.f2[i][j] = f[!i + !j][i + j], factor.df2[i][j] = df[!i + !j][i + j];
            }
        }
        multiply(&factor, 2, s);
    }
}

// ---- the whole ---------------------------------------------------------------------------------

static void turn_round(int n, path_state* s) {
    const mabd_frame back = mabd_frame_inverse(&s->Q); // Ad(Q) x = to_child of the inverse
    const path_state own = *s;
    const mabd_spatial xi = own.by.xi;
    s->by.xi = mabd_sp_scale(-1, mabd_frame_to_child(&back, xi));
    for (int i = 0; i < n; i++) {
        mabd_spatial x = mabd_sp_add(own.by.S[i], mabd_sp_cross(xi, own.S[i]));
        s->by.S[i] = mabd_sp_scale(-1, mabd_frame_to_child(&back, x));
        for (int j = 0; j < n; j++) {
            const mabd_spatial first = mabd_sp_add(own.dS[i][j], mabd_sp_cross(own.S[j], own.S[i]));
            x = mabd_sp_add(own.by.dS[i][j], mabd_sp_cross(own.by.S[j], own.S[i]));
            x = mabd_sp_add(x, mabd_sp_cross(own.S[j], own.by.S[i]));
            x = mabd_sp_add(x, mabd_sp_cross(xi, first));
            s->by.dS[i][j] = mabd_sp_scale(-1, mabd_frame_to_child(&back, x));
        }
    }
}

mabd_redmax_path_change mabd_redmax_path_by_value(const mabd_joint_piece* piece,
                                                  const mabd_real* values, const mabd_real* q,
                                                  bool reversed, int32_t value, mabd_vec3 turn) {
    const bool curve = piece->type == MABD_JOINT_SPLINE_CURVE;
    path_state s;
    memset(&s, 0, sizeof s);
    s.Q.R = mabd_m3_identity();
    if (curve) {
        curve_by_value(piece, values, q[0], value, turn, &s);
    } else {
        surface_by_value(piece, values, q, value, &s);
    }
    if (reversed) turn_round(curve ? 1 : 2, &s);
    return s.by;
}
