// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of a symmetric 3x3 matrix by cyclic Jacobi rotations:
//   S = V diag(values) V'
// One rotation in the plane (p, q) makes s_pq zero:
//   theta = (s_qq - s_pp) / (2 s_pq),  t = sign(theta) / (|theta| + sqrt(theta^2 + 1)),
//   c = 1 / sqrt(t^2 + 1),  s = t c
// An off-diagonal entry counts as zero when |s_pq| <= eps sqrt|s_pp s_qq|: relative to its own row
// and column, so small moments keep their digits beside large ones. Convergence is quadratic; four
// to six sweeps are usual.
#pragma once

#include "math/mat3.h"

/// Compute a <- P' a P and v <- v P with the rotation P in the plane (p, q), p < q, that makes
/// a[p][q] zero. Requires a[p][q] != 0.
MABD_FN void mabd_jacobi_rotate(mabd_real a[3][3], mabd_real v[3][3], int p, int q) {
    mabd_real apq = a[p][q], theta = (a[q][q] - a[p][p]) / (2 * apq);
    mabd_real t = 1 / ((mabd_real)fabs(theta) + (mabd_real)sqrt(theta * theta + 1));
    if (theta < 0) t = -t;
    mabd_real c = 1 / (mabd_real)sqrt(t * t + 1), s = t * c;

    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    a[p][q] = a[q][p] = 0;
    int r = 3 - p - q;
    mabd_real arp = a[r][p], arq = a[r][q];
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
    for (int k = 0; k < 3; k++) {
        mabd_real vkp = v[k][p], vkq = v[k][q];
        v[k][p] = c * vkp - s * vkq;
        v[k][q] = s * vkp + c * vkq;
    }
}

/// Do one sweep over the three off-diagonal entries; return false if all of them were already zero.
MABD_FN bool mabd_jacobi_sweep(mabd_real a[3][3], mabd_real v[3][3]) {
    const mabd_real eps = (mabd_real)1e-17;
    bool rotated = false;
    for (int p = 0; p < 2; p++) {
        for (int q = p + 1; q < 3; q++) {
            mabd_real bound = eps * (mabd_real)(sqrt(fabs(a[p][p])) * sqrt(fabs(a[q][q])));
            if (!((mabd_real)fabs(a[p][q]) > bound)) {
                a[p][q] = a[q][p] = 0;
                continue;
            }
            mabd_jacobi_rotate(a, v, p, q);
            rotated = true;
        }
    }
    return rotated;
}

/// Compute eigenvalues and eigenvectors of s (6): xx yy zz xy xz yz, finite. values (3):
/// eigenvalues in descending order. vectors: the columns are the unit eigenvectors in that order,
/// right-handed. Equal eigenvalues keep the order of the axes, so a diagonal matrix that is already
/// sorted gives the identity.
MABD_FN void mabd_sym3_eigen(const mabd_real* s, mabd_real* values, mabd_mat3* vectors) {
    mabd_real a[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
    mabd_real v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 30; sweep++) {
        if (!mabd_jacobi_sweep(a, v)) break;
    }

    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++) {
        for (int j = i; j > 0 && a[order[j]][order[j]] > a[order[j - 1]][order[j - 1]]; j--) {
            int swap = order[j];
            order[j] = order[j - 1], order[j - 1] = swap;
        }
    }
    mabd_vec3 columns[3];
    for (int i = 0; i < 3; i++) {
        int k = order[i];
        values[i] = a[k][k];
        columns[i] = mabd_v3(v[0][k], v[1][k], v[2][k]);
    }
    *vectors = mabd_m3(columns[0], columns[1], columns[2]);
    if (mabd_m3_det(*vectors) < 0) vectors->c3 = mabd_v3_scale(-1, vectors->c3);
}
