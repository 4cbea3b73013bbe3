// SPDX-License-Identifier: Apache-2.0
// Turn of a body or a joint over one step: logarithm and exponential of rotations without branches,
// arcs or tables, so that loops over lanes become vectors (math/lanes.h). The only function of libm
// is sqrt.
//
// A rotation by the angle p about a unit axis has the rotation vector y = p axis.
//
// log   s = 2 sin(p) axis from the skew part of Q, r = 2 + 2 cos(p) from its trace,
//         t = s/(r + sqrt(r^2 + s.s)) = tan(p/4) axis
//         y = 4 t atan(|t|)/|t|,   a polynomial in t.t <= 1
//       Error: the rounding of Q, below 1e-15 (relative to y) for p <= 3 rad; towards pi it grows
//       as 1e-16/(pi - p), because the skew part vanishes. For p = pi the result is finite and
//       has no meaning.
//
// exp   z = |y/4|^2, c = cos(|y|/4) and s = sin(|y|/4)/(|y|/4) as Taylor polynomials in z. The
//       quaternion (c, s y/4) is squared; the matrix of (w, v) = (c^2 - s^2 z, c s y/2) is
//         Q = I + 2 (w [v] + [v]^2) / (c^2 + s^2 z)^2,   [v] x = v x x.
//       The division keeps Q a rotation for any y. Error of an entry below 2e-15 for |y| <= 2 pi:
//       the first omitted terms are 2e-16 of s and 2e-17 of c. Beyond that, Q is a rotation by
//       another angle about the same axis.
#pragma once

#include "math/so3.h"

/// Compute atan(t)/t from z = t^2 in [0, 1]: a polynomial of degree 21, interpolated at the 22
/// Chebyshev points, as four sums of every fourth power, which a processor computes at the same
/// time. Its error is below 1e-16, and that of its rounding below 3e-16.
MABD_HOT mabd_real mabd_turn_arc(mabd_real z) {
    const mabd_real z2 = z * z, z4 = z2 * z2;
    mabd_real a = (mabd_real)9.978410811953032e-05;
    a = a * z4 + (mabd_real)0.011122014669752633;
    a = a * z4 + (mabd_real)0.038129809754225044;
    a = a * z4 + (mabd_real)0.05881647236717415;
    a = a * z4 + (mabd_real)0.11111111080383854;
    a = a * z4 + (mabd_real)1.0;
    mabd_real b = (mabd_real)-8.26799581733715e-06;
    b = b * z4 - (mabd_real)0.005484778971809356;
    b = b * z4 - (mabd_real)0.03264116292977077;
    b = b * z4 - (mabd_real)0.05259103789485882;
    b = b * z4 - (mabd_real)0.09090908440338843;
    b = b * z4 - (mabd_real)0.3333333333333325;
    mabd_real c = (mabd_real)0.002090633535263676;
    c = c * z4 + (mabd_real)0.0259471057039563;
    c = c * z4 + (mabd_real)0.0474370596643217;
    c = c * z4 + (mabd_real)0.07692298432985685;
    c = c * z4 + (mabd_real)0.19999999999986157;
    mabd_real d = (mabd_real)-0.0005727925781292097;
    d = d * z4 - (mabd_real)0.018386836817918875;
    d = d * z4 - (mabd_real)0.042828645702794474;
    d = d * z4 - (mabd_real)0.06666572806289763;
    d = d * z4 - (mabd_real)0.14285714284820428;
    return (a + z * b) + z2 * (c + z * d);
}

/// Compute the rotation vector y of a rotation matrix [rad], angle in [0, pi). Accurate to 1e-15 up
/// to 3 rad.
MABD_HOT mabd_vec3 mabd_turn_log(mabd_mat3 Q) {
    const mabd_vec3 s = mabd_so3_two_sines(Q);
    const mabd_real r = 2 + mabd_so3_two_cosines(Q);
    // the small number keeps the result finite for half a turn
    const mabd_real below = r + (mabd_real)sqrt(r * r + mabd_v3_dot(s, s)) + (mabd_real)1e-18;
    const mabd_vec3 t = mabd_v3_scale(1 / below, s);
    const mabd_real z = mabd_v3_dot(t, t);
    return mabd_v3_scale(4 * mabd_turn_arc(z), t);
}

/// Compute sin(x)/x from z = x^2, to round-off for |x| <= pi/2.
MABD_HOT mabd_real mabd_turn_sine(mabd_real z) {
    const mabd_real z2 = z * z;
    mabd_real even = (mabd_real)2.8114572543455206e-15;
    even = even * z2 + (mabd_real)1.6059043836821613e-10;
    even = even * z2 + (mabd_real)2.7557319223985893e-06;
    even = even * z2 + (mabd_real)8.3333333333333332e-03;
    even = even * z2 + 1;
    mabd_real odd = (mabd_real)-8.2206352466243297e-18;
    odd = odd * z2 - (mabd_real)7.6471637318198164e-13;
    odd = odd * z2 - (mabd_real)2.5052108385441720e-08;
    odd = odd * z2 - (mabd_real)1.9841269841269841e-04;
    odd = odd * z2 - (mabd_real)0.16666666666666666;
    return even + z * odd;
}

/// Compute cos(x) from z = x^2, to round-off for |x| <= pi/2.
MABD_HOT mabd_real mabd_turn_cosine(mabd_real z) {
    const mabd_real z2 = z * z;
    mabd_real even = (mabd_real)4.1103176233121648e-19;
    even = even * z2 + (mabd_real)4.7794773323873853e-14;
    even = even * z2 + (mabd_real)2.0876756987868100e-09;
    even = even * z2 + (mabd_real)2.4801587301587302e-05;
    even = even * z2 + (mabd_real)4.1666666666666664e-02;
    even = even * z2 + 1;
    mabd_real odd = (mabd_real)-1.5619206968586225e-16;
    odd = odd * z2 - (mabd_real)1.1470745597729725e-11;
    odd = odd * z2 - (mabd_real)2.7557319223985888e-07;
    odd = odd * z2 - (mabd_real)1.3888888888888889e-03;
    odd = odd * z2 - (mabd_real)0.5;
    return even + z * odd;
}

/// Compute the rotation matrix of a rotation vector y [rad]: a rotation for any finite y, accurate
/// to 2e-15 up to a whole turn.
MABD_HOT mabd_mat3 mabd_turn_exp(mabd_vec3 y) {
    const mabd_real z = (mabd_real)0.0625 * mabd_v3_dot(y, y);
    const mabd_real c = mabd_turn_cosine(z), s = mabd_turn_sine(z);
    const mabd_real w = c * c - s * s * z, norm = c * c + s * s * z;
    const mabd_vec3 v = mabd_v3_scale((mabd_real)0.5 * c * s, y);
    const mabd_real k = 2 / (norm * norm);
    const mabd_vec3 kv = mabd_v3_scale(k, v), a = mabd_v3_scale(w, kv);
    const mabd_real xy = kv.x * v.y, xz = kv.x * v.z, yz = kv.y * v.z;
    const mabd_real xx = kv.x * v.x, yy = kv.y * v.y, zz = kv.z * v.z;
    return mabd_m3(mabd_v3(1 - (yy + zz), xy + a.z, xz - a.y),
                   mabd_v3(xy - a.z, 1 - (xx + zz), yz + a.x),
                   mabd_v3(xz + a.y, yz - a.x, 1 - (xx + yy)));
}
