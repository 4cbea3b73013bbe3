// SPDX-License-Identifier: Apache-2.0
#include "formulation/redmax/path.h"

#include <string.h>

/// A factor exp(D f) and the derivatives of f by the coordinates.
typedef struct path_factor {
    mabd_spatial D;
    mabd_real f, f1[2], f2[2][2], f3[2][2][2];
} path_factor;

// -s ad(D) x
static mabd_spatial minus_cross(mabd_real s, mabd_spatial D, mabd_spatial x) {
    return mabd_sp_scale(-s, mabd_sp_cross(D, x));
}

static void multiply(const path_factor* c, int n, mabd_frame* Q, mabd_redmax_path* path) {
    const mabd_frame E = mabd_frame_exp(mabd_sp_scale(c->f, c->D));
    mabd_redmax_path old; // A applied
    for (int i = 0; i < n; i++) {
        old.S[i] = mabd_frame_to_child(&E, path->S[i]);
        path->S[i] = mabd_sp_axpy(c->f1[i], c->D, old.S[i]);
        for (int j = 0; j < n; j++) old.dS[i][j] = mabd_frame_to_child(&E, path->dS[i][j]);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            mabd_spatial first = mabd_sp_axpy(c->f2[i][j], c->D, old.dS[i][j]);
            path->dS[i][j] = mabd_sp_add(first, minus_cross(c->f1[j], c->D, old.S[i]));
            for (int k = 0; k < n; k++) {
                mabd_spatial x = mabd_frame_to_child(&E, path->d2S[i][j][k]);
                x = mabd_sp_axpy(c->f3[i][j][k], c->D, x);
                x = mabd_sp_add(x, minus_cross(c->f1[k], c->D, old.dS[i][j]));
                x = mabd_sp_add(x, minus_cross(c->f1[j], c->D, old.dS[i][k]));
                x = mabd_sp_add(x, minus_cross(c->f2[j][k], c->D, old.S[i]));
                const mabd_spatial twice = mabd_sp_cross(c->D, mabd_sp_cross(c->D, old.S[i]));
                path->d2S[i][j][k] = mabd_sp_axpy(c->f1[j] * c->f1[k], twice, x);
            }
        }
    }
    *Q = mabd_frame_product(Q, &E);
}

static mabd_frame curve_at(const mabd_joint_piece* piece, const mabd_real* values, mabd_real q,
                           mabd_redmax_path* path) {
    const mabd_curve_segment c = mabd_piece_curve(piece, values, q);
    mabd_frame Q = c.C;
    mabd_real B[3][4];
    mabd_spline_cumulative(c.u, B);
    for (int k = 0; k < 3; k++) {
        const path_factor factor = {
            .D = c.D[k], .f = B[k][0], .f1 = {B[k][1]}, .f2 = {{B[k][2]}}, .f3 = {{{B[k][3]}}}};
        multiply(&factor, 1, &Q, path);
    }
    return Q;
}

static mabd_frame surface_at(const mabd_joint_piece* piece, const mabd_real* values,
                             const mabd_real* q, mabd_redmax_path* path) {
    mabd_frame Q = {mabd_m3_identity(), mabd_v3(0, 0, 0)};
    for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
        mabd_real f[4][4], e[6] = {0};
        path_factor factor;
        mabd_piece_surface(piece, values, axis, q, f);
        e[(axis + 3) % 6] = 1; // slides are the linear part
        factor.D = mabd_sp_load(e), factor.f = f[0][0];
        for (int i = 0; i < 2; i++) { // f[m][n] has m derivatives by q1, n by q2
            factor.f1[i] = f[!i][i];
            for (int j = 0; j < 2; j++) {
                factor.f2[i][j] = f[!i + !j][i + j];
                for (int k = 0; k < 2; k++) factor.f3[i][j][k] = f[!i + !j + !k][i + j + k];
            }
        }
        multiply(&factor, 2, &Q, path);
    }
    return Q;
}

// Columns of Q^-1 from those of Q.
static void turn_round(const mabd_frame* Q, int n, mabd_redmax_path* path) {
    const mabd_frame back = mabd_frame_inverse(Q); // Ad(Q) x = to_child of the inverse
    const mabd_redmax_path s = *path;
    for (int i = 0; i < n; i++) {
        path->S[i] = mabd_sp_scale(-1, mabd_frame_to_child(&back, s.S[i]));
        for (int j = 0; j < n; j++) {
            const mabd_spatial first = mabd_sp_add(s.dS[i][j], mabd_sp_cross(s.S[j], s.S[i]));
            path->dS[i][j] = mabd_sp_scale(-1, mabd_frame_to_child(&back, first));
            for (int k = 0; k < n; k++) {
                mabd_spatial x = mabd_sp_add(s.d2S[i][j][k], mabd_sp_cross(s.S[j], s.dS[i][k]));
                x = mabd_sp_add(x, mabd_sp_cross(s.dS[j][k], s.S[i]));
                x = mabd_sp_add(x, mabd_sp_cross(s.S[k], first));
                path->d2S[i][j][k] = mabd_sp_scale(-1, mabd_frame_to_child(&back, x));
            }
        }
    }
}

mabd_frame mabd_redmax_path_at(const mabd_joint_piece* piece, const mabd_real* values,
                               const mabd_real* q, bool reversed, mabd_redmax_path* path) {
    const bool curve = piece->type == MABD_JOINT_SPLINE_CURVE;
    memset(path, 0, sizeof *path);
    const mabd_frame Q =
        curve ? curve_at(piece, values, q[0], path) : surface_at(piece, values, q, path);
    if (!reversed) return Q;
    turn_round(&Q, curve ? 1 : 2, path);
    return mabd_frame_inverse(&Q);
}

void mabd_redmax_path_rates(mabd_redmax_path* path, int n, const mabd_real* v, const mabd_real* a) {
    for (int k = 0; k < n; k++) {
        path->by_v[k] = path->rest[k] = path->rate[k] = mabd_sp_zero();
        for (int i = 0; i < n; i++) {
            path->by_v[k] = mabd_sp_axpy(v[i], path->dS[i][k], path->by_v[k]);
            path->rest[k] = mabd_sp_axpy(a[i], path->dS[i][k], path->rest[k]);
            path->rate[k] = mabd_sp_axpy(v[i], path->dS[k][i], path->rate[k]);
            for (int j = 0; j < n; j++) {
                path->rest[k] = mabd_sp_axpy(v[i] * v[j], path->d2S[i][j][k], path->rest[k]);
            }
        }
    }
}
