// SPDX-License-Identifier: Apache-2.0
// Response of a set of bodies to forces, through the joints: one structured solve with the current
// factors.
//
//   y = H^-1 f,   K mu = J y,   d = y - H^-1 J' mu
#pragma once

#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/turn_law.h"

/// Compute the rows of the joints on the bodies of a set, at this reference. Before all functions
/// below. MABD_ERR_MEMORY.
mabd_status mabd_affine_response_open(mabd_affine_sim* sim, mabd_affine_body_set* set);
/// Compute H^-1 f of a body, with its eliminated contacts.
mabd_vec12 mabd_affine_body_solve(const mabd_affine_sim* sim, int32_t body, mabd_vec12 f);
/// Compute the response d to forces. y (bodies of the set): forces in, H^-1 f out. Both in the
/// frames of the bodies. Overwrites lambda of the components of the set.
void mabd_affine_response(mabd_affine_sim* sim, const mabd_affine_body_set* set, mabd_vec12* y,
                          mabd_vec12* d);
/// Compute d = y - H^-1 J' lambda of the last solve, with y of assemble (q_new).
void mabd_affine_response_read(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_vec12* d);
/// Number of rows of the components of a set.
int64_t mabd_affine_response_rows(const mabd_affine_sim* sim, const mabd_affine_body_set* set);
/// Copy the right-hand sides of the components of a set to `saved`.
void mabd_affine_response_save(const mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_real* saved);
/// Apply final forces y: add H^-1 f to q_new and J H^-1 f to the right-hand sides in `saved`, and
/// solve the components with them.
void mabd_affine_response_finish(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                                 mabd_vec12* y, mabd_real* saved);

/// Add a force (world) at point X of a body of a set to y, by place in the set, in the frame of the
/// body.
MABD_FN void mabd_affine_response_push(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                       mabd_vec3 force, mabd_vec12* y) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_vec12* at = &y[sim->contacts->by_body.place[body]];
    *at = mabd_vec12_axpy(1, mabd_vec12_at(X, mabd_m3_tmul(R, force)), *at);
}
/// Displacement of point X of a body of a set under d, by place in the set; world.
MABD_FN mabd_vec3 mabd_affine_response_move(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                            const mabd_vec12* d) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    return mabd_m3_mul(R, mabd_vec12_move(&d[sim->contacts->by_body.place[body]], X));
}
/// Add a torque (world) on a body of a set to y, by place in the set, in the frame of the body.
MABD_FN void mabd_affine_response_twist(const mabd_affine_sim* sim, int32_t body, mabd_vec3 torque,
                                        mabd_vec12* y) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_vec12* at = &y[sim->contacts->by_body.place[body]];
    *at = mabd_vec12_axpy(1, mabd_vec12_torque(mabd_m3_tmul(R, torque)), *at);
}
/// Rotation of a body of a set under d, by place in the set; world [rad].
MABD_FN mabd_vec3 mabd_affine_response_turn(const mabd_affine_sim* sim, int32_t body,
                                            const mabd_vec12* d) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    return mabd_m3_mul(R, mabd_affine_turn_of(&d[sim->contacts->by_body.place[body]]));
}
