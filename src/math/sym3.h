// SPDX-License-Identifier: Apache-2.0
// Symmetric 3x3 matrices, by value.
//
// mabd_sym3_positive clamps negative eigenvalues: it computes f(G) with f(x) = max(x, 0) by
// Newton's interpolation at the eigenvalues e1 >= e2 >= e3, without eigenvectors:
//
//   f(G) = f(e1) I + f[e1,e2] (G - e1) + f[e1,e2,e3] (G - e1)(G - e2)
//   e1 = q + 2 p c(r),  e3 = q - 2 p c(-r)
//   q = tr(G)/3,  6 p^2 = |G - q|^2,  2 r = det((G - q)/p)
//   c(r) = cos(acos(r)/3) = cos(2/3 acos u),  u = sqrt((1 + r)/2)
//
// The divided differences of f lose no digits: where signs differ, denominators are sums. c is
// analytic in u on [0, 1]; a polynomial of degree 15, interpolated at Chebyshev points, has an
// error of 7e-15. Two eigenvalues within sqrt(eps) p of each other are known to sqrt(eps) p only,
// so callers that need a positive result check it and fall back to mabd_sym3_clamp, which uses
// Jacobi rotations.
#pragma once

#include "math/eigen3.h"

/// A symmetric 3x3 matrix, stored as xx yy zz xy xz yz.
typedef struct mabd_sym3 {
    mabd_real xx, yy, zz, xy, xz, yz;
} mabd_sym3;

MABD_FN mabd_sym3 mabd_sym3_load(const mabd_real* p) {
    mabd_sym3 s;
    s.xx = p[0], s.yy = p[1], s.zz = p[2], s.xy = p[3], s.xz = p[4], s.yz = p[5];
    return s;
}
MABD_FN void mabd_sym3_store(mabd_sym3 s, mabd_real* p) {
    p[0] = s.xx, p[1] = s.yy, p[2] = s.zz, p[3] = s.xy, p[4] = s.xz, p[5] = s.yz;
}
/// S x
MABD_FN mabd_vec3 mabd_sym3_mul(mabd_sym3 s, mabd_vec3 x) {
    return mabd_v3(s.xx * x.x + s.xy * x.y + s.xz * x.z, s.xy * x.x + s.yy * x.y + s.yz * x.z,
                   s.xz * x.x + s.yz * x.y + s.zz * x.z);
}

/// R S R'
MABD_FN mabd_sym3 mabd_sym3_rotate(mabd_mat3 R, mabd_sym3 S) {
    // rows of R S
    const mabd_vec3 r1 = mabd_v3(R.c1.x, R.c2.x, R.c3.x), r2 = mabd_v3(R.c1.y, R.c2.y, R.c3.y),
                    r3 = mabd_v3(R.c1.z, R.c2.z, R.c3.z);
    const mabd_vec3 t1 = mabd_sym3_mul(S, r1), t2 = mabd_sym3_mul(S, r2), t3 = mabd_sym3_mul(S, r3);
    mabd_sym3 out;
    out.xx = mabd_v3_dot(t1, r1), out.xy = mabd_v3_dot(t1, r2), out.xz = mabd_v3_dot(t1, r3);
    out.yy = mabd_v3_dot(t2, r2), out.yz = mabd_v3_dot(t2, r3), out.zz = mabd_v3_dot(t3, r3);
    return out;
}

/// Compute the inverse of a positive definite matrix by its cofactors.
MABD_HOT mabd_sym3 mabd_sym3_inverse(mabd_sym3 m) {
    mabd_sym3 c;
    c.xx = m.yy * m.zz - m.yz * m.yz, c.xy = m.xz * m.yz - m.xy * m.zz;
    c.xz = m.xy * m.yz - m.xz * m.yy, c.yy = m.xx * m.zz - m.xz * m.xz;
    c.yz = m.xy * m.xz - m.xx * m.yz, c.zz = m.xx * m.yy - m.xy * m.xy;
    const mabd_real scale = 1 / (m.xx * c.xx + m.xy * c.xy + m.xz * c.xz);
    c.xx *= scale, c.yy *= scale, c.zz *= scale, c.xy *= scale, c.xz *= scale, c.yz *= scale;
    return c;
}

/// Set the negative eigenvalues of G to zero, by Jacobi rotations.
MABD_FN mabd_sym3 mabd_sym3_clamp(mabd_sym3 G) {
    mabd_real s[6], values[3];
    mabd_mat3 V;
    mabd_sym3_store(G, s);
    mabd_sym3_eigen(s, values, &V);
    mabd_sym3 out;
    out.xx = out.yy = out.zz = out.xy = out.xz = out.yz = 0;
    const mabd_vec3 column[3] = {V.c1, V.c2, V.c3};
    for (int k = 0; k < 3; k++) {
        mabd_real e = values[k] > 0 ? values[k] : 0;
        mabd_vec3 v = column[k];
        out.xx += e * v.x * v.x, out.yy += e * v.y * v.y, out.zz += e * v.z * v.z;
        out.xy += e * v.x * v.y, out.xz += e * v.x * v.z, out.yz += e * v.y * v.z;
    }
    return out;
}

/// Compute cos(acos(2 u^2 - 1)/3), 0 <= u <= 1.
MABD_HOT mabd_real mabd_third_cosine(mabd_real u) {
    mabd_real c = (mabd_real)1.6840798339836843e-05;
    c = c * u - (mabd_real)0.00015425694291050363;
    c = c * u + (mabd_real)0.00066762461648365212;
    c = c * u - (mabd_real)0.0018389155831255988;
    c = c * u + (mabd_real)0.0036912026322573066;
    c = c * u - (mabd_real)0.0059209996385766253;
    c = c * u + (mabd_real)0.008209146896930546;
    c = c * u - (mabd_real)0.010550248345813997;
    c = c * u + (mabd_real)0.013293041113790259;
    c = c * u - (mabd_real)0.017055565944752826;
    c = c * u + (mabd_real)0.022866248978971111;
    c = c * u - (mabd_real)0.032921624935559883;
    c = c * u + (mabd_real)0.053458347977806624;
    c = c * u - (mabd_real)0.11111111080995631;
    c = c * u + (mabd_real)0.57735026918611321;
    return c * u + (mabd_real)0.50000000000000688;
}

/// Compute the divided difference f[a, b] of f(x) = max(x, 0), a >= b.
MABD_HOT mabd_real mabd_positive_slope(mabd_real a, mabd_real b) {
    const mabd_real mixed = a / (a - b);
    return b >= 0 ? 1 : a <= 0 ? 0 : mixed;
}

/// Set the negative eigenvalues of G to zero without branches; less accurate than mabd_sym3_clamp
/// where two eigenvalues nearly agree.
MABD_HOT mabd_sym3 mabd_sym3_positive(mabd_sym3 G) {
    const mabd_real q = (G.xx + G.yy + G.zz) / 3;
    mabd_sym3 M = G;
    M.xx -= q, M.yy -= q, M.zz -= q;
    const mabd_real square =
        M.xx * M.xx + M.yy * M.yy + M.zz * M.zz + 2 * (M.xy * M.xy + M.xz * M.xz + M.yz * M.yz);
    const mabd_real p = (mabd_real)sqrt(square / 6), cube = p * p * p;
    const mabd_real det = M.xx * (M.yy * M.zz - M.yz * M.yz) - M.xy * (M.xy * M.zz - M.yz * M.xz) +
                          M.xz * (M.xy * M.yz - M.yy * M.xz);
    const mabd_real raw = cube > 0 ? det / (2 * cube) : 0;
    const mabd_real low = raw < -1 ? -1 : raw, r = low > 1 ? 1 : low;
    const mabd_real e1 = q + 2 * p * mabd_third_cosine((mabd_real)sqrt((1 + r) / 2));
    const mabd_real e3 = q - 2 * p * mabd_third_cosine((mabd_real)sqrt((1 - r) / 2));
    const mabd_real e2 = 3 * q - e1 - e3;
    const mabd_real d12 = mabd_positive_slope(e1, e2), d23 = mabd_positive_slope(e2, e3);
    const mabd_real second = (d12 - d23) / (e1 - e3), d = e1 > 0 && e3 < 0 ? second : 0;
    // (G - e1)(G - e2) = (G - e1)^2 + (e1 - e2)(G - e1)
    const mabd_real a = e1 > 0 ? e1 : 0, b = d12 + d * (e1 - e2);
    M = G;
    M.xx -= e1, M.yy -= e1, M.zz -= e1;
    mabd_sym3 out;
    out.xx = a + b * M.xx + d * (M.xx * M.xx + M.xy * M.xy + M.xz * M.xz);
    out.yy = a + b * M.yy + d * (M.xy * M.xy + M.yy * M.yy + M.yz * M.yz);
    out.zz = a + b * M.zz + d * (M.xz * M.xz + M.yz * M.yz + M.zz * M.zz);
    out.xy = b * M.xy + d * (M.xx * M.xy + M.xy * M.yy + M.xz * M.yz);
    out.xz = b * M.xz + d * (M.xx * M.xz + M.xy * M.yz + M.xz * M.zz);
    out.yz = b * M.yz + d * (M.xy * M.xz + M.yy * M.yz + M.yz * M.zz);
    return out;
}
