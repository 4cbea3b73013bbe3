// SPDX-License-Identifier: Apache-2.0
// Explicit methods of the redmax formulation: accelerations by one sweep with the mass matrix.
#pragma once

#include "formulation/redmax/redmax_data.h"

/// Load s->from_node and find the accelerations there, with the factored mass matrix (explicit.c).
mabd_status mabd_redmax_semi_implicit_slope(mabd_redmax_solve* s);
/// Load s->from_node with accelerations that are known (explicit.c).
void mabd_redmax_semi_implicit_load(const mabd_redmax_solve* s, const mabd_real* a);
/// Return to the motion of mabd_redmax_semi_implicit_slope, whose accelerations (freedoms) and
/// forces of rows are known, with the factored mass matrix (explicit.c).
mabd_status mabd_redmax_semi_implicit_return(mabd_redmax_solve* s, const mabd_real* a,
                                             const mabd_real* force);
/// Advance a part from s->from_node by s->h, with the accelerations in sim->end_q:
/// v' = v + h a(q, v), q' = q + h v' (explicit.c).
mabd_status mabd_redmax_semi_implicit(mabd_redmax_solve* s);
/// Advance a part from s->from_node by s->h by the Dormand-Prince pair in steps whose estimated
/// error is at most newton_tolerance, relative to 1 + the size of each value (explicit.c).
/// MABD_ERR_DIVERGED: a step became too small.
mabd_status mabd_redmax_rk45(mabd_redmax_solve* s);

/// Slopes of a part of a step by rk45: the last one is that of its end, for the error alone.
#define MABD_REDMAX_RK45_STAGES 7
/// Where a step by rk45 has come to.
typedef struct mabd_redmax_rk45_place {
    mabd_real end;         // of the last part, from the start of the step [s]
    mabd_real next;        // size that is tried next [s]
    mabd_real begin, size; // of the last part [s]
    bool ends;             // it ends the step
} mabd_redmax_rk45_place;
/// Take the next part of a step from s->from_node, at whose charts the solve is: its end becomes
/// the iterate (explicit.c). MABD_ERR_DIVERGED as above.
mabd_status mabd_redmax_rk45_part(mabd_redmax_solve* s, mabd_redmax_rk45_place* at);
/// Let the next part begin where the last one ended, in sim->base (explicit.c).
void mabd_redmax_rk45_go_on(mabd_redmax_solve* s);
/// Set the iterate of stage i, and its inputs, of a part of size h that begins at `begin` [s] after
/// the start of the step, from the slopes before it (explicit.c).
void mabd_redmax_rk45_stage(mabd_redmax_solve* s, mabd_real begin, mabd_real h, int i);
/// Weight of slope j in the iterate of stage i (explicit.c).
mabd_real mabd_redmax_rk45_weight(int i, int j);
/// Slope i (q', v') of freedom k in the last part (explicit.c).
mabd_real* mabd_redmax_rk45_slope(const mabd_redmax_sim* sim, int32_t k, int i);
