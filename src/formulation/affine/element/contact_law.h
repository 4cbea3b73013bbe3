// SPDX-License-Identifier: Apache-2.0
// The force law of one eliminated contact, and the rows of its current branch.
#pragma once

#include "formulation/affine/contact/contact.h"

/// A row that holds: force -(gap + direction . move)/compliance along direction.
typedef struct mabd_affine_law_row {
    mabd_vec3 direction;  // unit, world
    mabd_real gap;        // [m]
    mabd_real compliance; // [m/N]
} mabd_affine_law_row;

/// Compute the rows of the branch of a contact. Returns their number. A slipping contact has the
/// constant force mabd_affine_law_push besides.
MABD_FN int mabd_affine_law_rows(const mabd_affine_contact* p, mabd_real softness,
                                 mabd_affine_law_row rows[3]) {
    mabd_affine_law_row* row = rows;
    if (p->pressed) {
        const mabd_affine_law_row normal = {p->n, p->gap, softness * p->own_n};
        *row++ = normal;
    }
    if (p->friction_state == MABD_FRICTION_STICK) {
        const mabd_real compliance = softness * p->own_t;
        const mabd_affine_law_row first = {p->t1, p->slip1 + p->stick_offset1, compliance};
        const mabd_affine_law_row second = {p->t2, p->slip2 + p->stick_offset2, compliance};
        *row++ = first, *row++ = second;
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

/// Constant part of the force of a slipping contact on b [N].
MABD_FN mabd_vec3 mabd_affine_law_push(const mabd_affine_contact* p) {
    if (p->friction_state != MABD_FRICTION_SLIP) return mabd_v3(0, 0, 0);
    return mabd_v3_scale(-p->bound, p->slip_direction);
}

/// Force on b by the current branch, where b has moved over a by `move` from the reference [N].
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

/// Slip with stick offset, s + s0, of a contact that has moved, world [m].
MABD_FN mabd_vec3 mabd_affine_law_slip(const mabd_affine_contact* p, mabd_vec3 move) {
    const mabd_real s1 = p->slip1 + p->stick_offset1 + mabd_v3_dot(p->t1, move);
    const mabd_real s2 = p->slip2 + p->stick_offset2 + mabd_v3_dot(p->t2, move);
    return mabd_v3_axpy(s2, p->t2, mabd_v3_scale(s1, p->t1));
}

/// Force on b by the law with the current bound of friction [N]. With a fixed bound, friction does
/// not depend on whether the contact presses: that would be a jump, and the force would have no
/// energy.
MABD_FN mabd_vec3 mabd_affine_law_force(const mabd_affine_contact* p, mabd_real softness,
                                        mabd_vec3 move) {
    const mabd_real g = p->gap + mabd_v3_dot(p->n, move);
    const mabd_vec3 s = mabd_affine_law_slip(p, move);
    const mabd_real slip = mabd_v3_norm(s), c = softness * p->own_t;
    const mabd_real stiffness = slip > c * p->bound ? p->bound / slip : 1 / c;
    const mabd_real normal = g < 0 ? -g / (softness * p->own_n) : 0;
    return mabd_v3_axpy(normal, p->n, mabd_v3_scale(-stiffness, s));
}
