// SPDX-License-Identifier: Apache-2.0
// What forces on a set of bodies do to them, through the joints: one structured solve with the factors that are there.
//
//   y = H^-1 f,   K mu = J y,   d = y - H^-1 J' mu
#pragma once

#include "cpu/assemble.h"

/// Rows of the joints on the set's bodies, at this reference: before all others. MABD_ERR_MEMORY.
mabd_status mabd_respond_open(mabd_cpu_sim* sim, mabd_body_set* set);
/// y (bodies of the set): forces in, H^-1 f out; d gets the response. In the frames of the bodies. Overwrites lambda of the
/// set's components.
void mabd_respond(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* y, mabd_affine* d);
/// d = y - H^-1 J' lambda of what was solved last; y is that of assemble (q_new).
void mabd_respond_read(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* d);
/// Rows of the set's components.
int64_t mabd_respond_rows(const mabd_cpu_sim* sim, const mabd_body_set* set);
/// Copy their right-hand sides to `kept`.
void mabd_respond_keep(const mabd_cpu_sim* sim, const mabd_body_set* set, mabd_real* kept);
/// Forces that are found: y = H^-1 f is added to q_new, J y to the right-hand sides in `kept`, and the components are
/// solved with them.
void mabd_respond_finish(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* y,
                         mabd_real* kept);

/// y += a force (world) at X of a body of the set, in its frame; y by place.
MABD_FN void mabd_respond_push(const mabd_cpu_sim* sim, int32_t body, mabd_vec3 X, mabd_vec3 force,
                               mabd_affine* y) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_affine* at = &y[sim->contacts->place[body]];
    *at = mabd_affine_axpy(1, mabd_affine_at(X, mabd_m3_tmul(R, force)), *at);
}
/// How X of a body of the set moves with d (by place), world.
MABD_FN mabd_vec3 mabd_respond_move(const mabd_cpu_sim* sim, int32_t body, mabd_vec3 X,
                                    const mabd_affine* d) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    return mabd_m3_mul(R, mabd_affine_move(&d[sim->contacts->place[body]], X));
}
