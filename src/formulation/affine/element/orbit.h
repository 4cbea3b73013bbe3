// SPDX-License-Identifier: Apache-2.0
// Path of the centre of a body that turns about something else, as a rod about its end.
//
// BDF2 on t damps a centre that whirls: on a vector that turns by z per step, t' loses about
// |z|^4/2 of itself in each. The acceleration a of such a centre turns too. From the accelerations
// at the state and one step ago, and the angular velocity w of the body (world), the rate at which
// a turns is
//
//   z/h = f w,   f = clamp( (a - a1).(w x m) / (h |w x m|^2), 0, 1 ),   m = (a + a1)/2.
//
// f is the part of the body's rotation that its acceleration takes part in: 0 in free flight,
// rolling, sliding and at rest, where the step stays BDF2, 1 for a whirling rod.
//
// If a goes on turning by z per step, the motion through the state is known, and so is the error of
// BDF2 on it. With E(z) = exp([z]), P(z) = (E - 1)/[z],
//
//   cv = F a,  ct = h [z]^-1 F a,  F = E(z) - (3 P(z) - P(-z))/2
//      = (s1 - 2 s2) [z] + (s2 - s3) [z]^2,   s1 = sin|z|/|z|, s2 = (1 - cos|z|)/|z|^2,
//                                             s3 = (|z| - sin|z|)/|z|^3
//   t'' = (t' - t'_b)/bh + cv,   t' = (t - t_b)/bh + ct.
//
// Series in x = |z|^2: (s1 - 2 s2)/x = -1/12 + x/180 - x^2/6720 + ..., s2 - s3 = 1/3 - x/30 + ...
// F a is about |z|^2/3 of a.
//
// The correction is explicit and has no proof of stability. A change of ct acts on t'' with 3/(2h),
// so f, which follows from t'' of the last two steps, is filtered: without the filter the forces of
// a driven four-bar alternated from step to step. Besides, |z| is bounded, and an acceleration
// that changed otherwise than by turning has less of it, or none (the end of a whip): without this
// bound, one of 300 random mechanisms gained 1.6e-3 of its kinetic energy in 5 s, and a whip of
// 1e9 Pa took 18 % more iterations.
//
// A body that turns by less than 1e-4 rad per step has no correction, and costs nothing.
//
// The corrections of a component do not add up to zero, so only components that hang on the ground,
// a fixed or a scripted body have them: the momentum of all others is conserved.
#pragma once

#include "formulation/affine/element/spin.h"

/// Corrections of BDF2 on the path of a centre, world.
typedef struct mabd_orbit {
    mabd_vec3 cv, ct; // [m/s^2], [m/s]
    mabd_real f;      // part of the rotation that the acceleration takes part in
} mabd_orbit;

/// Values of f where it is not known: nothing is, the acceleration at the state is, that of one
/// step ago too. They rise by 1 with each step.
#define MABD_ORBIT_UNKNOWN   (-3)
#define MABD_ORBIT_ONE_STEP  (-2)
#define MABD_ORBIT_TWO_STEPS (-1)

/// Limit a number to [0, 1].
MABD_HOT mabd_real mabd_orbit_clamp(mabd_real x) {
    const mabd_real y = x > 0 ? x : 0;
    return y < 1 ? y : 1;
}

/// True if a body with the angular velocity o [rad/s] turns far enough in h seconds for a
/// correction.
MABD_HOT bool mabd_orbit_is_fast(mabd_real h, mabd_vec3 o) {
    return h * h * mabd_v3_dot(o, o) > MABD_ORBIT_SLOW_RAD2;
}

/// Compute f of the file head. w: angular velocity of the body, world [rad/s]; a, a1: accelerations
/// at the state and h seconds ago [m/s^2]; before: f of the last step.
MABD_HOT mabd_real mabd_orbit_part(mabd_real h, mabd_vec3 w, mabd_vec3 a, mabd_vec3 a1,
                                   mabd_real before) {
    const mabd_vec3 turned = mabd_v3_cross(w, mabd_v3_scale((mabd_real)0.5, mabd_v3_add(a, a1)));
    // the small number makes 0 of 0/0
    const mabd_real all = h * mabd_v3_dot(turned, turned) + MABD_ORBIT_TINY;
    const mabd_real now = mabd_orbit_clamp(mabd_v3_dot(mabd_v3_sub(a, a1), turned) / all);
    return before < 0 ? now : before + MABD_ORBIT_FILTER * (now - before);
}

/// Compute the rotation z of an acceleration per step of h seconds [rad] from its part f.
MABD_HOT mabd_vec3 mabd_orbit_rotation(mabd_real h, mabd_vec3 w, mabd_vec3 a, mabd_vec3 a1,
                                       mabd_real f) {
    mabd_vec3 z = mabd_v3_scale(h * f, w);
    const mabd_real square = mabd_v3_dot(z, z), most = MABD_ORBIT_MAX_RAD * MABD_ORBIT_MAX_RAD;
    const mabd_real part =
        square > most ? MABD_ORBIT_MAX_RAD / (mabd_real)sqrt(square) : (mabd_real)1;
    z = mabd_v3_scale(part, z);
    const mabd_vec3 mean = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(a, a1));
    const mabd_vec3 rest = mabd_v3_sub(mabd_v3_sub(a, a1), mabd_v3_cross(z, mean));
    const mabd_real unsteady = mabd_v3_dot(rest, rest) / (mabd_v3_dot(a, a) + MABD_ORBIT_TINY);
    const mabd_real miss =
        mabd_orbit_clamp((unsteady - MABD_ORBIT_STEADY_SQUARE) /
                         (MABD_ORBIT_UNSTEADY_SQUARE - MABD_ORBIT_STEADY_SQUARE));
    const mabd_real fast = mabd_orbit_clamp((h * h * mabd_v3_dot(w, w) - MABD_ORBIT_SLOW_RAD2) /
                                            (MABD_ORBIT_FAST_RAD2 - MABD_ORBIT_SLOW_RAD2));
    return mabd_v3_scale(fast * (1 - miss), z);
}

/// Compute the corrections of a centre whose acceleration a turns by z in a step of h seconds.
MABD_HOT mabd_orbit mabd_orbit_correction(mabd_real h, mabd_vec3 z, mabd_vec3 a) {
    const mabd_real x = mabd_v3_dot(z, z);
    const mabd_real p =
        (mabd_real)-1 / 12 +
        x * ((mabd_real)1 / 180 + x * ((mabd_real)-1 / 6720 + x * ((mabd_real)1 / 453600)));
    const mabd_real q =
        (mabd_real)1 / 3 +
        x * ((mabd_real)-1 / 30 + x * ((mabd_real)1 / 840 + x * ((mabd_real)-1 / 45360)));
    const mabd_vec3 once = mabd_v3_cross(z, a), twice = mabd_v3_cross(z, once);
    mabd_orbit out;
    out.f = 0;
    out.cv = mabd_v3_axpy(q, twice, mabd_v3_scale(p * x, once));
    out.ct = mabd_v3_scale(h, mabd_v3_axpy(q, once, mabd_v3_scale(-p, twice)));
    return out;
}
