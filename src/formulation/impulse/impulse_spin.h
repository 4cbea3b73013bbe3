// SPDX-License-Identifier: Apache-2.0
// Free rotation of a body over a substep by the implicit midpoint rule, in its principal frame:
//
//   I (w1 - w0) + h wm x I wm = h tau,   wm = (w0 + w1)/2
//
// by Newton's method with its whole matrix, I + h/2 ([wm] I - [I wm]). A body that turns too fast
// for the substep, so that the iteration does not end at a solution, is moved by its torque alone.
// One text for a body and for lanes of bodies (bodies_lanes.c).
#pragma once

#include "formulation/impulse/impulse_data.h"
#include "formulation/impulse/impulse_limits.h"
#include "math/block.h"

/// Solve M x = y by Cramer's rule.
MABD_HOT mabd_vec3 mabd_impulse_solve3(mabd_mat3 M, mabd_vec3 y) {
    const mabd_vec3 n = mabd_v3_cross(M.c2, M.c3);
    const mabd_real over = 1 / mabd_v3_dot(M.c1, n);
    return mabd_v3(over * mabd_v3_dot(y, n), over * mabd_v3_dot(M.c1, mabd_v3_cross(y, M.c3)),
                   over * mabd_v3_dot(M.c1, mabd_v3_cross(M.c2, y)));
}
/// diag(I) x
MABD_HOT mabd_vec3 mabd_impulse_times(mabd_vec3 I, mabd_vec3 x) {
    return mabd_v3(I.x * x.x, I.y * x.y, I.z * x.z);
}
/// I (w1 - w0) + h wm x I wm - h tau
MABD_HOT mabd_vec3 mabd_impulse_spin_residual(mabd_vec3 I, const mabd_impulse_spin* s,
                                              mabd_vec3 tau, mabd_real h) {
    const mabd_vec3 Im = mabd_impulse_times(I, s->mean);
    const mabd_vec3 torque = mabd_v3_sub(tau, mabd_v3_cross(s->mean, Im));
    return mabd_v3_axpy(-h, torque, mabd_impulse_times(I, mabd_v3_sub(s->end, s->start)));
}
/// Set w1, and wm with it.
MABD_HOT void mabd_impulse_spin_end(mabd_impulse_spin* s, mabd_vec3 end) {
    s->end = end;
    s->mean = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(s->start, end));
}
/// Rotate a free body for h [s] from the angular velocity w0 under the torque tau. I: principal
/// moments.
MABD_HOT mabd_impulse_spin mabd_impulse_free_spin(mabd_vec3 I, mabd_vec3 w0, mabd_vec3 tau,
                                                  mabd_real h) {
    const mabd_real half = h / 2;
    mabd_impulse_spin s = {w0, w0, w0};
    MABD_UNROLL
    for (int k = 0; k < MABD_IMPULSE_SPIN_ITERATIONS; k++) {
        const mabd_vec3 off = mabd_impulse_spin_residual(I, &s, tau, h), m = s.mean;
        // I + h/2 ([m] I - [I m])
        const mabd_mat3 M =
            mabd_m3(mabd_v3(I.x, half * (I.x - I.z) * m.z, half * (I.y - I.x) * m.y),
                    mabd_v3(half * (I.z - I.y) * m.z, I.y, half * (I.y - I.x) * m.x),
                    mabd_v3(half * (I.z - I.y) * m.y, half * (I.x - I.z) * m.x, I.z));
        mabd_impulse_spin_end(&s, mabd_v3_sub(s.end, mabd_impulse_solve3(M, off)));
    }
    const mabd_real off = mabd_v3_norm(mabd_impulse_spin_residual(I, &s, tau, h));
    const mabd_real size = mabd_v3_norm(mabd_impulse_times(I, w0)) + h * mabd_v3_norm(tau);
    const bool good = off <= MABD_IMPULSE_SPIN_RESIDUAL * size;
    mabd_impulse_spin_end(&s, mabd_v3(good ? s.end.x : w0.x + h * tau.x / I.x,
                                      good ? s.end.y : w0.y + h * tau.y / I.y,
                                      good ? s.end.z : w0.z + h * tau.z / I.z));
    return s;
}
