// SPDX-License-Identifier: Apache-2.0
// One body during assembly: its block, its reference and the contact rows eliminated in its block.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/affine_body.h"

/// One body while its share of the dual system is computed. Passed by pointer: a copy as an
/// argument would stall until all its parts have reached the cache.
typedef struct mabd_affine_assembly {
    const mabd_affine_block* block;
    mabd_sym3 G, Z;               // affine/element/affine_body.h
    mabd_mat3 R;                  // of the reference
    mabd_vec12 y;                 // H^-1 r
    int32_t eliminated_count;     // eliminated contact rows (affine/element/eliminate.h)
    const mabd_vec12* eliminated; // (eliminated_count) u/sqrt(s)
    mabd_vec3 t;                  // of the reference
} mabd_affine_assembly;

/// Subtract eliminated rows: y <- y - sum of (u u'/s) r over the rows u/sqrt(s) (count).
MABD_FN void mabd_affine_eliminate_subtract(int32_t count, const mabd_vec12* rows, mabd_vec12 r,
                                            mabd_vec12* y) {
    for (int32_t k = 0; k < count; k++) {
        *y = mabd_vec12_axpy(-mabd_vec12_dot(rows[k], r), rows[k], *y);
    }
}

/// Subtract the rows that the last assemble eliminated in the block of a body: y <- y - sum of (u
/// u'/s) r
MABD_FN void mabd_affine_subtract_eliminated(const mabd_affine_sim* sim, int32_t body, mabd_vec12 r,
                                             mabd_vec12* y) {
    const mabd_affine_contacts* c = sim->contacts;
    if (!c || c->by_body.head[body] < 0) return;
    const mabd_vec12* rows =
        (const mabd_vec12*)c->by_body.eliminated.data + c->by_body.row_first[body];
    mabd_affine_eliminate_subtract(c->by_body.row_count[body], rows, r, y);
}

/// Compute H^-1 r of a body during assembly, eliminated rows included.
MABD_FN mabd_vec12 mabd_affine_assembly_solve(const mabd_affine_assembly* own, mabd_vec12 r) {
    mabd_vec12 y = mabd_affine_block_solve(own->block, own->Z, r);
    mabd_affine_eliminate_subtract(own->eliminated_count, own->eliminated, r, &y);
    return y;
}

/// Subtract the effect of eliminated rows on the compliance between two points: c <- c - sum of
/// J(X) (u u'/s) J(Y)'
MABD_FN void mabd_affine_eliminate_soften(const mabd_affine_assembly* own, mabd_vec3 X, mabd_vec3 Y,
                                          mabd_mat3* c) {
    for (int32_t k = 0; k < own->eliminated_count; k++) {
        const mabd_vec3 x = mabd_vec12_move(&own->eliminated[k], X),
                        y = mabd_vec12_move(&own->eliminated[k], Y);
        c->c1 = mabd_v3_axpy(-y.x, x, c->c1);
        c->c2 = mabd_v3_axpy(-y.y, x, c->c2);
        c->c3 = mabd_v3_axpy(-y.z, x, c->c3);
    }
}

/// Subtract the effect of eliminated rows on the compliance of one point: c <- c - sum of J(X) (u
/// u'/s) J(X)'
MABD_FN void mabd_affine_eliminate_soften_self(const mabd_affine_assembly* own, mabd_vec3 X,
                                               mabd_sym3* c) {
    for (int32_t k = 0; k < own->eliminated_count; k++) {
        const mabd_vec3 x = mabd_vec12_move(&own->eliminated[k], X);
        c->xx -= x.x * x.x, c->yy -= x.y * x.y, c->zz -= x.z * x.z;
        c->xy -= x.x * x.y, c->xz -= x.x * x.z, c->yz -= x.y * x.z;
    }
}
