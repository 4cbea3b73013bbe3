// SPDX-License-Identifier: Apache-2.0
// Predict and relinearize one body (affine/cpu/predict.c).
#pragma once

#include "formulation/affine/data.h"

#include "math/polar.h"

#include <string.h>

/// Compute the reference of one moving body.
MABD_FN void mabd_affine_stage_predict_body(mabd_affine_sim* sim, int32_t index) {
    const size_t at = 12 * (size_t)index;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, index);
    mabd_real guess[12];
    for (size_t k = 0; k < 12; k++) {
        guess[k] = mabd_affine_step_guess(step, sim->q[at + k], sim->v[at + k], sim->v1[at + k]);
    }
    mabd_mat3 R = mabd_m3_identity();
    // without a rotation in the prediction, use that of the state
    if (!mabd_polar(mabd_m3_load(guess), &R)) mabd_polar(mabd_m3_load(sim->q + at), &R);
    mabd_m3_store(R, sim->ref + at);
    memcpy(sim->ref + at + 9, guess + 9, 3 * sizeof(mabd_real));
}

/// Set the reference and new state of a body that does not move.
MABD_FN void mabd_affine_stage_hold_body(mabd_affine_sim* sim, int32_t index) {
    const size_t at = 12 * (size_t)index, bytes = 12 * sizeof(mabd_real);
    memcpy(sim->q_new + at, sim->q + at, bytes);
    memcpy(sim->ref + at, sim->q + at, bytes);
}

/// Move the reference of a body to q_new. False if A_new has no rotation.
MABD_FN bool mabd_affine_stage_relinearize_body(mabd_affine_sim* sim, int32_t body) {
    const mabd_real* q = sim->q_new + 12 * (size_t)body;
    mabd_real* ref = sim->ref + 12 * (size_t)body;
    mabd_mat3 R;
    if (!mabd_polar(mabd_m3_load(q), &R)) return false;
    mabd_m3_store(R, ref);
    memcpy(ref + 9, q + 9, 3 * sizeof(mabd_real));
    return true;
}
