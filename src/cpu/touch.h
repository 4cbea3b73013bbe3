// SPDX-License-Identifier: Apache-2.0
// The law of one contact in a block: its force where the point has moved to, and the rows of the piece it stands on.
#pragma once

#include "cpu/contacts.h"

/// A row that is held: force -(gap + direction . move)/compliance along direction.
typedef struct mabd_touch_row {
    mabd_vec3 direction;  // unit, world
    mabd_real gap;        // [m]
    mabd_real compliance; // [m/N]
} mabd_touch_row;

/// Rows of the piece of a contact; returns how many. What a slipping one pushes besides is mabd_touch_push.
MABD_FN int mabd_touch_rows(const mabd_contact* p, mabd_real softness, mabd_touch_row rows[3]) {
    if (p->touch == MABD_TOUCH_OPEN) return 0;
    rows[0].direction = p->n, rows[0].gap = p->gap, rows[0].compliance = softness * p->own_n;
    if (p->touch == MABD_TOUCH_STICK) {
        rows[1].direction = p->t1, rows[1].gap = p->slip1 + p->lean1;
        rows[2].direction = p->t2, rows[2].gap = p->slip2 + p->lean2;
        rows[1].compliance = rows[2].compliance = softness * p->own_t;
        return 3;
    }
    if (!(p->bound > 0) || !(p->far > 0)) return 1;
    // across the slip its bound turns: the derivative of bound s/|s|
    rows[1].direction = mabd_v3_cross(p->n, p->along);
    rows[1].gap = (p->slip1 + p->lean1) * mabd_v3_dot(p->t1, rows[1].direction) +
                  (p->slip2 + p->lean2) * mabd_v3_dot(p->t2, rows[1].direction);
    rows[1].compliance = p->far / p->bound;
    return 2;
}

/// What a contact that slips pushes on b, whatever it moves [N].
MABD_FN mabd_vec3 mabd_touch_push(const mabd_contact* p) {
    if (p->touch != MABD_TOUCH_SLIP) return mabd_v3(0, 0, 0);
    return mabd_v3_scale(-p->bound, p->along);
}

/// Force on b of the piece, where b has moved over a by `move` from the reference [N].
MABD_FN mabd_vec3 mabd_touch_linear(const mabd_contact* p, mabd_real softness, mabd_vec3 move) {
    mabd_touch_row rows[3];
    mabd_vec3 force = mabd_touch_push(p);
    const int count = mabd_touch_rows(p, softness, rows);
    for (int k = 0; k < count; k++) {
        const mabd_real g = rows[k].gap + mabd_v3_dot(rows[k].direction, move);
        force = mabd_v3_axpy(-g / rows[k].compliance, rows[k].direction, force);
    }
    return force;
}

/// s + lean of a contact that has moved, world [m].
MABD_FN mabd_vec3 mabd_touch_slip(const mabd_contact* p, mabd_vec3 move) {
    const mabd_real s1 = p->slip1 + p->lean1 + mabd_v3_dot(p->t1, move);
    const mabd_real s2 = p->slip2 + p->lean2 + mabd_v3_dot(p->t2, move);
    return mabd_v3_axpy(s2, p->t2, mabd_v3_scale(s1, p->t1));
}

/// Force on b by the law, with the bound of friction that the contact has [N].
MABD_FN mabd_vec3 mabd_touch_force(const mabd_contact* p, mabd_real softness, mabd_vec3 move) {
    const mabd_real g = p->gap + mabd_v3_dot(p->n, move);
    if (!(g < 0)) return mabd_v3(0, 0, 0);
    const mabd_vec3 s = mabd_touch_slip(p, move);
    const mabd_real way = mabd_v3_norm(s), c = softness * p->own_t;
    const mabd_real stiffness = way > c * p->bound ? p->bound / way : 1 / c;
    return mabd_v3_axpy(-g / (softness * p->own_n), p->n, mabd_v3_scale(-stiffness, s));
}
