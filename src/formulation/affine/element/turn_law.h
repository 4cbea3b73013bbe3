// SPDX-License-Identifier: Apache-2.0
// Rolling and spinning friction of one contact.
//
// Bodies that touch resist turning over each other: with the turn y of b over a in the step, y_t
// across the normal n and y_n along it, and the normal force N
//
//   torque on b   m_t = -mu_r N y_t/|y_t|,   m_n = -mu_s N y_n/|y_n|       where they turn
//                 |m_t| <= mu_r N,  |m_n| <= mu_s N                        where they do not
//
// which is the derivative of a convex energy of y. Below the bound m = -y/c with the compliance
// c = MABD_TURN_SOFTNESS x own, own: of both bodies by themselves. A solve uses the secant,
// m = -k y, whose parabola touches the energy from above: so each solve lowers the energy, and a
// torque against y takes energy whatever k is. The next k is that of the point of the law on the
// falling line on which a single pair of bodies would move through (y, m), |y + own m| =
// |y| - own |m| (the resolvent of joint/axis_law.h): it is exact for a single pair, and finds at
// once that a body stops.
#pragma once

#include "formulation/affine/contact/contact.h"
#include "formulation/affine/element/contact_law.h"

/// Secant of the law with the bound `most` [N m] for a turn of size `turn` [rad] under a torque of
/// size `torque` [N m]; own: compliance of the pair [rad/(N m)]. [N m/rad]
MABD_FN mabd_real mabd_affine_turn_secant(mabd_real most, mabd_real turn, mabd_real torque,
                                          mabd_real own) {
    const mabd_real c = MABD_TURN_SOFTNESS * own, z = turn + own * torque;
    if (!(most > 0)) return 0;
    return z <= (c + own) * most ? 1 / c : most / (z - own * most);
}

/// Choose the secants of a contact from its turn and torque with the normal force N; *off gets how
/// far the torques are off their law, relative to the bounds.
MABD_FN void mabd_affine_turn_choose(mabd_affine_contact* p, mabd_vec3 turn, mabd_real N,
                                     mabd_real* off) {
    const mabd_real most[2] = {p->rolling * N, p->spinning * N}, along = mabd_v3_dot(p->n, turn);
    const mabd_real size[2] = {mabd_v3_norm(mabd_v3_axpy(-along, p->n, turn)),
                               (mabd_real)fabs(along)};
    *off = 0;
    for (int k = 0; k < 2; k++) {
        const mabd_real torque = p->stiff[k] * size[k];
        const mabd_real law = size[k] > MABD_TURN_SOFTNESS * p->own_turn[k] * most[k]
                                  ? most[k]
                                  : size[k] / (MABD_TURN_SOFTNESS * p->own_turn[k]);
        if (!(p->own_turn[k] > 0)) continue; // neither body turns
        if (most[k] > 0 && (mabd_real)fabs(torque - law) > *off * most[k]) {
            *off = (mabd_real)fabs(torque - law) / most[k];
        }
        p->stiff[k] = mabd_affine_turn_secant(most[k], size[k], torque, p->own_turn[k]);
    }
}

/// True if a contact has torques.
MABD_FN bool mabd_affine_turn_acts(const mabd_affine_contact* p) {
    return p->stiff[0] > 0 || p->stiff[1] > 0;
}

/// Compute the rows of the torques of a contact: directions about which b turns over a, turns at
/// the reference [rad], compliances [rad/(N m)]. Returns their number.
MABD_FN int mabd_affine_turn_rows(const mabd_affine_contact* p, mabd_affine_law_row rows[3]) {
    const mabd_vec3 axes[3] = {p->n, p->t1, p->t2};
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const mabd_real stiff = p->stiff[k == 0];
        if (!(stiff > 0)) continue;
        const mabd_affine_law_row row = {axes[k], mabd_v3_dot(axes[k], p->turn), 1 / stiff};
        rows[count++] = row;
    }
    return count;
}

/// Torque on b where it has turned over a by `more` from the reference, world [N m].
MABD_FN mabd_vec3 mabd_affine_turn_torque(const mabd_affine_contact* p, mabd_vec3 more) {
    const mabd_vec3 turn = mabd_v3_add(p->turn, more);
    const mabd_real along = mabd_v3_dot(p->n, turn);
    const mabd_vec3 across = mabd_v3_axpy(-along, p->n, turn);
    return mabd_v3_axpy(-p->stiff[1] * along, p->n, mabd_v3_scale(-p->stiff[0], across));
}

/// Rotation of a body to first order under an increment d of its coordinates in its frame [rad].
MABD_FN mabd_vec3 mabd_affine_turn_of(const mabd_vec12* d) {
    return mabd_v3((d->d2.z - d->d3.y) / 2, (d->d3.x - d->d1.z) / 2, (d->d1.y - d->d2.x) / 2);
}
