// SPDX-License-Identifier: Apache-2.0
// The law of one contact in a block: its force where the point has moved to, and the rows of the piece it stands on.
#pragma once

#include "formulation/affine/contact/contact.h"

/// A row that is held: force -(gap + direction . move)/compliance along direction.
typedef struct mabd_affine_law_row {
    mabd_vec3 direction;  // unit, world
    mabd_real gap;        // [m]
    mabd_real compliance; // [m/N]
} mabd_affine_law_row;

/// Rows of the piece of a contact; returns how many. What a slipping one pushes besides is mabd_affine_law_push.
MABD_FN int mabd_affine_law_rows(const mabd_affine_contact* p, mabd_real softness,
                                 mabd_affine_law_row rows[3]) {
    mabd_affine_law_row* row = rows;
    if (p->pressed) *row++ = (mabd_affine_law_row){p->n, p->gap, softness * p->own_n};
    if (p->friction_state == MABD_FRICTION_STICK) {
        const mabd_real compliance = softness * p->own_t;
        *row++ = (mabd_affine_law_row){p->t1, p->slip1 + p->stick_offset1, compliance};
        *row++ = (mabd_affine_law_row){p->t2, p->slip2 + p->stick_offset2, compliance};
    } else if (p->friction_state == MABD_FRICTION_SLIP && p->bound > 0 && p->slip_length > 0) {
        // across the slip its bound turns: the derivative of bound s/|s|
        row->direction = mabd_v3_cross(p->n, p->slip_direction);
        row->gap = (p->slip1 + p->stick_offset1) * mabd_v3_dot(p->t1, row->direction) +
                   (p->slip2 + p->stick_offset2) * mabd_v3_dot(p->t2, row->direction);
        row->compliance = p->slip_length / p->bound;
        row++;
    }
    return (int)(row - rows);
}

/// What a contact that slips pushes on b, whatever it moves [N].
MABD_FN mabd_vec3 mabd_affine_law_push(const mabd_affine_contact* p) {
    if (p->friction_state != MABD_FRICTION_SLIP) return mabd_v3(0, 0, 0);
    return mabd_v3_scale(-p->bound, p->slip_direction);
}

/// Force on b of the piece, where b has moved over a by `move` from the reference [N].
MABD_FN mabd_vec3 mabd_affine_law_linear(const mabd_affine_contact* p, mabd_real softness,
                                         mabd_vec3 move) {
    mabd_affine_law_row rows[3];
    mabd_vec3 force = mabd_affine_law_push(p);
    const int count = mabd_affine_law_rows(p, softness, rows);
    for (int k = 0; k < count; k++) {
        const mabd_real g = rows[k].gap + mabd_v3_dot(rows[k].direction, move);
        force = mabd_v3_axpy(-g / rows[k].compliance, rows[k].direction, force);
    }
    return force;
}

/// s + lean of a contact that has moved, world [m].
MABD_FN mabd_vec3 mabd_affine_law_slip(const mabd_affine_contact* p, mabd_vec3 move) {
    const mabd_real s1 = p->slip1 + p->stick_offset1 + mabd_v3_dot(p->t1, move);
    const mabd_real s2 = p->slip2 + p->stick_offset2 + mabd_v3_dot(p->t2, move);
    return mabd_v3_axpy(s2, p->t2, mabd_v3_scale(s1, p->t1));
}

/// Force on b by the law, with the bound of friction that the contact has [N]. While the bound stands, friction does not ask
/// whether the contact presses: that would be a jump, and no energy would have this force.
MABD_FN mabd_vec3 mabd_affine_law_force(const mabd_affine_contact* p, mabd_real softness,
                                        mabd_vec3 move) {
    const mabd_real g = p->gap + mabd_v3_dot(p->n, move);
    const mabd_vec3 s = mabd_affine_law_slip(p, move);
    const mabd_real way = mabd_v3_norm(s), c = softness * p->own_t;
    const mabd_real stiffness = way > c * p->bound ? p->bound / way : 1 / c;
    const mabd_real normal = g < 0 ? -g / (softness * p->own_n) : 0;
    return mabd_v3_axpy(normal, p->n, mabd_v3_scale(-stiffness, s));
}
