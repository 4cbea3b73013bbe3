// SPDX-License-Identifier: Apache-2.0
#include "scene/spline_value.h"

int32_t mabd_piece_value_count(const mabd_joint_piece* piece) {
    if (piece->type == MABD_JOINT_SPLINE_CURVE) return 6 * piece->rows;
    return piece->type == MABD_JOINT_SPLINE_SURFACE ? MABD_AXIS_COUNT * piece->rows * piece->columns
                                                    : 0;
}

void mabd_piece_surface_by_value(const mabd_joint_piece* piece, int32_t value, const mabd_real* q,
                                 mabd_real f[4][4]) {
    mabd_real u[2], a[4][4], b[4][4];
    const int m = value / piece->columns -
                  mabd_spline_segment(q[0], mabd_piece_segments(piece, 0), false, &u[0]);
    const int n = value % piece->columns -
                  mabd_spline_segment(q[1], mabd_piece_segments(piece, 1), false, &u[1]);
    mabd_spline_weights(u[0], a);
    mabd_spline_weights(u[1], b);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const bool inside = m >= 0 && m < 4 && n >= 0 && n < 4 && i + j < 4;
            f[i][j] = inside ? a[m][i] * b[n][j] : 0;
        }
    }
}
