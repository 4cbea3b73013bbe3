// SPDX-License-Identifier: Apache-2.0
// Contacts of a body with fixed, scripted and heavy bodies, eliminated in its block
// (affine/contact/contact.h). Rows are eliminated one after the other, each with H^-1 as reduced by
// the previous ones.

#pragma once

#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/turn_law.h"

// Work space of a body while its rows are eliminated.
typedef struct mabd_affine_eliminate_work {
    const mabd_affine_assembly* own;
    mabd_vec12* rows; // u/sqrt(s)
    mabd_vec12* hard; // j/sqrt(c), for junctions only
    int32_t count;
    mabd_vec12 y;
} mabd_affine_eliminate_work;

// Eliminate one row j with its gap [m] and compliance [m/N].
MABD_FN void mabd_affine_eliminate_row(mabd_affine_eliminate_work* w, mabd_vec12 j, mabd_real gap,
                                       mabd_real compliance) {
    mabd_vec12 u = mabd_affine_block_solve(w->own->block, w->own->Z, j);
    mabd_affine_eliminate_subtract(w->count, w->rows, j, &u);
    mabd_real bend = mabd_vec12_dot(j, u);
    if (!(bend > 0)) bend = 0; // negative by round-off if the previous rows leave no compliance
    const mabd_real s = compliance + bend, scale = 1 / (mabd_real)sqrt(s);
    const mabd_vec12 none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    w->y = mabd_vec12_axpy(-(mabd_vec12_dot(j, w->y) + gap) / s, u, w->y);
    w->rows[w->count] = mabd_vec12_axpy(scale, u, none);
    if (w->hard) w->hard[w->count] = mabd_vec12_axpy(1 / (mabd_real)sqrt(compliance), j, none);
    w->count++;
}

// eliminate_first returns the first place of the rows of a body: the next free one, or on a device
// the one that the host has assigned. eliminate_end stores their number.
#ifdef MABD_KERNEL_SOURCE
MABD_FN int32_t mabd_affine_eliminate_first(const mabd_affine_contacts* c, int32_t body) {
    return c->by_body.row_first[body];
}
MABD_FN void mabd_affine_eliminate_end(const mabd_affine_contacts* c, int32_t body, int32_t count,
                                       int32_t stored) {
    c->by_body.row_count[body] = count;
    (void)stored;
}
#else
MABD_FN int32_t mabd_affine_eliminate_first(const mabd_affine_contacts* c, int32_t body) {
    return c->by_body.row_first[body] = c->by_body.eliminated.count;
}
MABD_FN void mabd_affine_eliminate_end(mabd_affine_contacts* c, int32_t body, int32_t count,
                                       int32_t stored) {
    c->by_body.row_count[body] = count;
    c->by_body.eliminated.count += stored;
}
#endif

// Add the constant forces of the slipping contacts of a body to r, body frame. Returns the number
// of contacts that may have rows.
MABD_FN int32_t mabd_affine_eliminate_push(const mabd_affine_contacts* c, int32_t body, mabd_mat3 R,
                                           mabd_vec12* r) {
    const int32_t* next = (const int32_t*)c->by_body.next.data;
    int32_t active = 0;
    for (int32_t i = c->by_body.head[body]; i >= 0; i = next[i]) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        active += p->pressed || p->friction_state != MABD_FRICTION_NONE || p->stiffness > 0 ||
                  mabd_affine_turn_acts(p);
        if (p->friction_state != MABD_FRICTION_SLIP) continue;
        const mabd_vec3 push = mabd_m3_tmul(R, mabd_affine_law_push(p));
        *r = mabd_vec12_axpy(1, mabd_vec12_at(p->Xb, push), *r);
    }
    return active;
}

// Eliminate the rows of `active` contacts of a body, from y without them.
MABD_FN void mabd_affine_eliminate_rows(mabd_affine_sim* sim, int32_t body, int32_t active,
                                        mabd_vec12 y, mabd_affine_assembly* own) {
    mabd_affine_contacts* c = sim->contacts;
    const int32_t* next = (const int32_t*)c->by_body.next.data;
    const mabd_real softness = mabd_affine_contact_softness(sim->model);
    const bool junction = sim->body_kind[body] == MABD_BODY_JUNCTION;
    mabd_affine_eliminate_work w;
    w.own = own;
    w.rows = (mabd_vec12*)c->by_body.eliminated.data + mabd_affine_eliminate_first(c, body);
    w.hard = junction ? w.rows + mabd_affine_most_rows(sim->model) / 2 * active : NULL;
    w.count = 0;
    w.y = y;
    for (int32_t i = c->by_body.head[body]; i >= 0 && active > 0; i = next[i]) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        mabd_affine_law_row rows[3];
        const int count = mabd_affine_law_rows(p, softness, rows);
        for (int k = 0; k < count; k++) {
            const mabd_vec3 direction = mabd_m3_tmul(own->R, rows[k].direction);
            mabd_affine_eliminate_row(&w, mabd_vec12_at(p->Xb, direction), rows[k].gap,
                                      rows[k].compliance);
        }
        const int turns = mabd_affine_turn_rows(p, rows);
        for (int k = 0; k < turns; k++) {
            const mabd_vec3 axis = mabd_m3_tmul(own->R, rows[k].direction);
            mabd_affine_eliminate_row(&w, mabd_vec12_torque(axis), rows[k].gap, rows[k].compliance);
        }
        if (!(p->stiffness > 0)) continue;
        const mabd_vec3 rock = mabd_m3_tmul(own->R, p->roll_axis);
        mabd_affine_eliminate_row(&w, mabd_vec12_torque(rock), 0, 1 / p->stiffness);
    }
    for (int32_t k = 0; junction && k < w.count; k++) w.rows[w.count + k] = w.hard[k];
    mabd_affine_eliminate_end(c, body, w.count, junction ? 2 * w.count : w.count);
    own->eliminated_count = w.count;
    own->eliminated = w.rows;
    own->y = w.y;
}

/// Compute own->y = H^-1 r with the rows of the body's contacts with fixed bodies eliminated. The
/// rows are stored in own->eliminated; forces of slipping contacts are added to r.
MABD_CALL void mabd_affine_stage_eliminate_contacts(mabd_affine_sim* sim, int32_t body,
                                                    mabd_vec12* r, mabd_affine_assembly* own) {
    const int32_t active = mabd_affine_eliminate_push(sim->contacts, body, own->R, r);
    mabd_affine_eliminate_rows(sim, body, active, mabd_affine_block_solve(own->block, own->Z, *r),
                               own);
}
