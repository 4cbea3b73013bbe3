// SPDX-License-Identifier: Apache-2.0
// What forces on a set of bodies do to them, through the joints: one structured solve with the factors that are there.
//
//   y = H^-1 f,   K mu = J y,   d = y - H^-1 J' mu
#pragma once

#include "formulation/affine/element/assembly.h"

/// Rows of the joints on the set's bodies, at this reference: before all others. MABD_ERR_MEMORY.
mabd_status mabd_affine_response_open(mabd_affine_sim* sim, mabd_affine_body_set* set);
/// Compute H^-1 f of a body, with its eliminated contacts.
mabd_vec12 mabd_affine_body_solve(const mabd_affine_sim* sim, int32_t body, mabd_vec12 f);
/// y (bodies of the set): forces in, H^-1 f out; d gets the response. In the frames of the bodies. Overwrites lambda of the
/// set's components.
void mabd_affine_response(mabd_affine_sim* sim, const mabd_affine_body_set* set, mabd_vec12* y,
                          mabd_vec12* d);
/// d = y - H^-1 J' lambda of what was solved last; y is that of assemble (q_new).
void mabd_affine_response_read(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_vec12* d);
/// Rows of the set's components.
int64_t mabd_affine_response_rows(const mabd_affine_sim* sim, const mabd_affine_body_set* set);
/// Copy their right-hand sides to `kept`.
void mabd_affine_response_keep(const mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_real* kept);
/// Forces that are found: y = H^-1 f is added to q_new, J y to the right-hand sides in `kept`, and the components are
/// solved with them.
void mabd_affine_response_finish(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                                 mabd_vec12* y, mabd_real* kept);

/// y += a force (world) at X of a body of the set, in its frame; y by place.
MABD_FN void mabd_affine_response_push(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                       mabd_vec3 force, mabd_vec12* y) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_vec12* at = &y[sim->contacts->by_body.place[body]];
    *at = mabd_vec12_axpy(1, mabd_vec12_at(X, mabd_m3_tmul(R, force)), *at);
}
/// How X of a body of the set moves with d (by place), world.
MABD_FN mabd_vec3 mabd_affine_response_move(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                            const mabd_vec12* d) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    return mabd_m3_mul(R, mabd_vec12_move(&d[sim->contacts->by_body.place[body]], X));
}
