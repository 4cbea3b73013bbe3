// SPDX-License-Identifier: Apache-2.0
#include "scene/joint_piece.h"

#include <string.h>

static bool is_curve(const mabd_joint_piece* piece) {
    return piece->type == MABD_JOINT_SPLINE_CURVE;
}
static bool is_surface(const mabd_joint_piece* piece) {
    return piece->type == MABD_JOINT_SPLINE_SURFACE;
}

int mabd_piece_freedoms(const mabd_joint_piece* piece, int* quaternions) {
    static const char* const axes[][2] = {
#define X(name, text, translations, rotations) {translations, rotations},
        MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
    };
    const size_t turns = strlen(axes[piece->type][1]);
    *quaternions = turns == 3;
    if (is_curve(piece)) return 1;
    if (is_surface(piece)) return 2;
    return (int)(strlen(axes[piece->type][0]) + turns);
}

int mabd_piece_segments(const mabd_joint_piece* piece, int k) {
    if (is_curve(piece)) return piece->closed ? piece->rows : piece->rows - 3;
    return (k == 0 ? piece->rows : piece->columns) - 3;
}

bool mabd_piece_is_beyond(const mabd_joint_piece* piece, int k, mabd_real q) {
    return !piece->closed && !(q >= 0 && q <= (mabd_real)mabd_piece_segments(piece, k));
}

// Frame i of a curve.
static mabd_frame control_frame(const mabd_joint_piece* piece, const mabd_real* values, int i) {
    const mabd_real* at = values + piece->first + 7 * (size_t)(i % piece->rows);
    const mabd_frame C = {mabd_q_matrix(mabd_q_load(at + 3)), mabd_v3_load(at)};
    return C;
}

mabd_curve_segment mabd_piece_curve(const mabd_joint_piece* piece, const mabd_real* values,
                                    mabd_real q) {
    mabd_curve_segment out;
    const int s = mabd_spline_segment(q, mabd_piece_segments(piece, 0), piece->closed, &out.u);
    mabd_frame last = control_frame(piece, values, s);
    out.C = last;
    for (int k = 0; k < 3; k++) {
        const mabd_frame next = control_frame(piece, values, s + k + 1);
        const mabd_frame back = mabd_frame_inverse(&last);
        const mabd_frame step = mabd_frame_product(&back, &next);
        out.D[k] = mabd_frame_log(&step);
        last = next;
    }
    return out;
}

void mabd_piece_surface(const mabd_joint_piece* piece, const mabd_real* values, int k,
                        const mabd_real* q, mabd_real f[4][4]) {
    mabd_real u[2], a[4][4], b[4][4];
    const int row = mabd_spline_segment(q[0], mabd_piece_segments(piece, 0), false, &u[0]);
    const int column = mabd_spline_segment(q[1], mabd_piece_segments(piece, 1), false, &u[1]);
    const size_t columns = (size_t)piece->columns;
    const mabd_real* c = values + piece->first + (size_t)k * (size_t)piece->rows * columns +
                         (size_t)row * columns + (size_t)column;
    mabd_spline_weights(u[0], a);
    mabd_spline_weights(u[1], b);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; i + j < 4; j++) {
            f[i][j] = 0;
            for (size_t m = 0; m < 4; m++) {
                for (size_t n = 0; n < 4; n++) f[i][j] += a[m][i] * b[n][j] * c[m * columns + n];
            }
        }
    }
}

static mabd_frame curve_frame(const mabd_joint_piece* piece, const mabd_real* values) {
    const mabd_curve_segment c = mabd_piece_curve(piece, values, piece->start[0]);
    mabd_frame E = c.C;
    mabd_real B[3][4];
    mabd_spline_cumulative(c.u, B);
    for (int k = 0; k < 3; k++) {
        const mabd_frame step = mabd_frame_exp(mabd_sp_scale(B[k][0], c.D[k]));
        E = mabd_frame_product(&E, &step);
    }
    return E;
}

static mabd_frame surface_frame(const mabd_joint_piece* piece, const mabd_real* values) {
    mabd_frame E = {mabd_m3_identity(), mabd_v3(0, 0, 0)};
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        mabd_real f[4][4], e[6] = {0};
        mabd_piece_surface(piece, values, k, piece->start, f);
        e[(k + 3) % 6] = f[0][0]; // slides are the linear part
        const mabd_frame step = mabd_frame_exp(mabd_sp_load(e));
        E = mabd_frame_product(&E, &step);
    }
    return E;
}

mabd_frame mabd_piece_start_frame(const mabd_joint_piece* piece, const mabd_real* values) {
    const mabd_frame own = {mabd_q_matrix(mabd_q_load(piece->rotation)),
                            mabd_v3_load(piece->position)};
    if (!is_curve(piece) && !is_surface(piece)) return own;
    const mabd_frame Q =
        is_curve(piece) ? curve_frame(piece, values) : surface_frame(piece, values);
    return mabd_frame_product(&own, &Q);
}
