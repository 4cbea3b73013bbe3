// SPDX-License-Identifier: Apache-2.0
// Loads that pull the bodies of a tree to a start state, so that the projections of that state onto
// the joints are residuals of the tree (start_pull.c).
#pragma once

#include "formulation/redmax/redmax_data.h"

typedef struct mabd_redmax_pull {
    bool velocities;        // pull velocities, which stand in sim->a; else poses
    const mabd_real* poses; // (bodies x 7) centre, principal rotation
    const mabd_real* rates; // (bodies x 6) of the centre, angular; world
    mabd_vec3 spin;         // of all bodies as one, world (mabd_rigid_common_spin)
} mabd_redmax_pull;

/// Part of the mass of the body that a link carries which is that of the link: 1 unless the body is
/// cut (cuts.c).
mabd_real mabd_redmax_share(const mabd_redmax_sim* sim, const mabd_redmax_link* link);
/// Load on a link, link frame.
mabd_spatial mabd_redmax_pull_load(const mabd_redmax_solve* s, int32_t link);
/// Subtract the derivative of the load by the pose from N (6 x 18).
void mabd_redmax_pull_derivatives(const mabd_redmax_solve* s, int32_t link, mabd_real* N);
/// Change of the load by one unit of mass, or by a change dI of the inertia (principal frame; null:
/// of mass), of a body that is whole; link frame.
mabd_spatial mabd_redmax_pull_by_inertia(const mabd_redmax_solve* s, int32_t link,
                                         const mabd_mat3* dI);
/// Change of the load of velocities by a change of the spin of all bodies as one; link frame.
mabd_spatial mabd_redmax_pull_by_spin(const mabd_redmax_solve* s, int32_t link, mabd_vec3 spin);
/// out (6, link frame) += the change of the load by that of the state it pulls to, placed (12) as
/// in rigid/user_change.h.
void mabd_redmax_pass_pull(const mabd_redmax_solve* s, int32_t link, bool back, mabd_real* out,
                           mabd_real* placed);
