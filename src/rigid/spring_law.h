// SPDX-License-Identifier: Apache-2.0
// Springs along a line through points: from a first one over others, on which they slide without
// friction, to a last one. With the segments D_s = p_(s+1) - p_s, l_s = |D_s|, e_s = D_s/l_s,
//
//   l = sum l_s     l' = sum e_s.D_s'     T = T(l, l')     F_s = T e_s on p_s, -F_s on p_(s+1)
//
// The laws of mabd_spring_def, with the rest length L:
//
//   linear   T = k (l - L) + d l'
//   strain   T = (k (l - L) + d l')/L
//   cable    as strain while l > L and T > 0, else 0
#pragma once

#include "math/vec3.h"
#include "model/model_data.h"

/// Lengths below this part of the rest length have no direction: a spring does not pull there.
#define MABD_RIGID_SPRING_SHORTEST ((mabd_real)1e-12)

/// A point of a spring: place [m] and velocity [m/s], world.
typedef struct mabd_rigid_spring_end {
    mabd_vec3 p, u;
} mabd_rigid_spring_end;

/// A segment: its ends, direction e (0 without a length), D' and length.
typedef struct mabd_rigid_spring_segment {
    mabd_rigid_spring_end a, b;
    mabd_vec3 e, rate;
    mabd_real length;
} mabd_rigid_spring_segment;

/// Tension [N] and its derivatives by length [N/m] and rate of length [N s/m].
typedef struct mabd_rigid_spring_tension {
    mabd_real T, by_length, by_rate;
} mabd_rigid_spring_tension;

/// Return the segment of a spring between two of its points that follow each other.
MABD_FN mabd_rigid_spring_segment mabd_rigid_spring_segment_of(const mabd_model_spring* own,
                                                               mabd_rigid_spring_end a,
                                                               mabd_rigid_spring_end b) {
    mabd_rigid_spring_segment out;
    out.a = a, out.b = b;
    const mabd_vec3 D = mabd_v3_sub(b.p, a.p);
    out.length = mabd_v3_norm(D);
    const bool there = out.length > MABD_RIGID_SPRING_SHORTEST * own->length;
    out.e = mabd_v3_scale(there ? 1 / out.length : 0, D);
    out.rate = mabd_v3_sub(b.u, a.u);
    return out;
}

/// Return the factor of a law: 1, or 1/L of springs by strain.
MABD_FN mabd_real mabd_rigid_spring_over(const mabd_model_spring* own) {
    return own->law == MABD_SPRING_LINEAR ? 1 : 1 / own->length;
}

/// Compute the tension at a length [m] and its rate [m/s].
MABD_FN mabd_rigid_spring_tension mabd_rigid_spring_tension_of(const mabd_model_spring* own,
                                                               mabd_real length, mabd_real rate) {
    const mabd_real over = mabd_rigid_spring_over(own), stretch = length - own->length;
    mabd_rigid_spring_tension t;
    t.T = over * (own->stiffness * stretch + own->damping * rate);
    t.by_length = over * own->stiffness;
    t.by_rate = over * own->damping;
    const bool slack = own->law == MABD_SPRING_CABLE && (!(stretch > 0) || !(t.T > 0));
    if (slack) t.T = t.by_length = t.by_rate = 0;
    return t;
}

/// Compute the tension without damping at a length: the derivative of the energy [N].
MABD_FN mabd_real mabd_rigid_spring_elastic(const mabd_model_spring* own, mabd_real length) {
    const mabd_real stretch = length - own->length;
    if (own->law == MABD_SPRING_CABLE && !(stretch > 0)) return 0;
    return mabd_rigid_spring_over(own) * own->stiffness * stretch;
}

/// Compute the energy at a length [J].
MABD_FN mabd_real mabd_rigid_spring_energy_of(const mabd_model_spring* own, mabd_real length) {
    const mabd_real stretch = length - own->length;
    if (own->law == MABD_SPRING_CABLE && !(stretch > 0)) return 0;
    return mabd_rigid_spring_over(own) * own->stiffness * stretch * stretch / 2;
}
