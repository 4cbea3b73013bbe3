// SPDX-License-Identifier: Apache-2.0
// Linear maps that are written once and applied in both directions: forward with changes, or
// transposed with *bars*, derivatives of a loss by the same quantities.
#pragma once

#include "math/mat3.h"

/// y (rows) += s M x (columns), M row-major; backwards x += s M' y.
MABD_FN void mabd_pass(bool back, mabd_real s, const mabd_real* M, int rows, int columns,
                       mabd_real* y, mabd_real* x) {
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < columns; k++) {
            if (back) {
                x[k] += s * M[i * columns + k] * y[i];
            } else {
                y[i] += s * M[i * columns + k] * x[k];
            }
        }
    }
}
/// y += s x of n reals; backwards x += s y.
MABD_FN void mabd_pass_scaled(bool back, mabd_real s, int n, mabd_real* y, mabd_real* x) {
    for (int i = 0; i < n; i++) {
        if (back) {
            x[i] += s * y[i];
        } else {
            y[i] += s * x[i];
        }
    }
}
/// y += s M x of 3 reals; backwards x += s M' y.
MABD_FN void mabd_pass_m3(bool back, mabd_real s, mabd_mat3 M, mabd_real* y, mabd_real* x) {
    if (back) {
        mabd_v3_store(mabd_v3_axpy(s, mabd_m3_tmul(M, mabd_v3_load(y)), mabd_v3_load(x)), x);
    } else {
        mabd_v3_store(mabd_v3_axpy(s, mabd_m3_mul(M, mabd_v3_load(x)), mabd_v3_load(y)), y);
    }
}
/// y += a . x (n reals), y a single real; backwards x += a y. a null: nothing.
MABD_FN void mabd_pass_dot(bool back, const mabd_real* a, int n, mabd_real* y, mabd_real* x) {
    mabd_pass(back, 1, a, 1, n, y, x);
}
