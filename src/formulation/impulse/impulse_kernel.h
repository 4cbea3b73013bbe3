// SPDX-License-Identifier: Apache-2.0
// One joint in a sweep [SI eq. 16-23]: the impulses of its block that end the rates of its rows,
//
//   dl = mass K^-1 (-(J V + b)) - leak l,   K = J M^-1 J',   V += M^-1 J' dl
//
// with mass 1 and leak 0 for rigid rows (impulse_data.h). The order of the operations is that of
// the lanes as well, so that both give the same bits.
#pragma once

#include "formulation/impulse/impulse_data.h"

/// Velocities of the two bodies of a row, world.
typedef struct mabd_impulse_pair {
    mabd_vec3 va, wa, vb, wb;
} mabd_impulse_pair;

MABD_FN mabd_impulse_pair mabd_impulse_load(const mabd_impulse_line* a,
                                            const mabd_impulse_line* b) {
    mabd_impulse_pair V;
    V.va = mabd_v3_load(a->v), V.wa = mabd_v3_load(a->w);
    V.vb = mabd_v3_load(b->v), V.wb = mabd_v3_load(b->w);
    return V;
}
/// Write the velocities of the bodies that move by forces: others may be shared by threads.
MABD_FN void mabd_impulse_store(const mabd_impulse_pair* V, mabd_impulse_line* a,
                                mabd_impulse_line* b) {
    if (a->moves > 0) mabd_v3_store(V->va, a->v), mabd_v3_store(V->wa, a->w);
    if (b->moves > 0) mabd_v3_store(V->vb, b->v), mabd_v3_store(V->wb, b->w);
}

/// Compute the rate J V of a row.
MABD_FN mabd_real mabd_impulse_rate(const mabd_impulse_row* J, const mabd_impulse_pair* V) {
    return mabd_v3_dot(J->f, mabd_v3_sub(V->vb, V->va)) + mabd_v3_dot(J->ta, V->wa) +
           mabd_v3_dot(J->tb, V->wb);
}
/// Apply an impulse p on b, -p on a, and angular impulses.
MABD_FN void mabd_impulse_push(mabd_impulse_pair* V, mabd_real over_ma, const mabd_sym3* Ia,
                               mabd_real over_mb, const mabd_sym3* Ib, mabd_vec3 p, mabd_vec3 on_a,
                               mabd_vec3 on_b) {
    V->va = mabd_v3_axpy(-over_ma, p, V->va);
    V->vb = mabd_v3_axpy(over_mb, p, V->vb);
    V->wa = mabd_v3_add(V->wa, mabd_sym3_mul(*Ia, on_a));
    V->wb = mabd_v3_add(V->wb, mabd_sym3_mul(*Ib, on_b));
}
