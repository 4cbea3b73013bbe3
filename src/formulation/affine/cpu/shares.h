// SPDX-License-Identifier: Apache-2.0
// Where the sides of a pack write their shares of the dual system, lane by lane.
#pragma once

#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/element/side_share.h"

/// Find the place of one lane of a side with `width` rows.
MABD_FN mabd_affine_side_place mabd_affine_pack_place(const mabd_affine_sim* sim,
                                                      const mabd_affine_pack_side* side,
                                                      int32_t width, int lane) {
    mabd_affine_side_place to;
    to.mode = (mabd_affine_side_mode)side->mode[lane];
    const bool deferred = to.mode == MABD_SIDE_DEFERRED;
    to.D = (deferred ? sim->shares->values : sim->D) + side->block[lane];
    to.rhs = deferred ? to.D + width * width : sim->lambda + side->row[lane];
    return to;
}

/// Write the share of a side with three point rows only. in: block (9) by rows, right-hand side
/// (3).
MABD_FN void mabd_affine_write_share(const mabd_affine_sim* sim, int32_t side,
                                     const mabd_affine_side_place* to, const mabd_real* in) {
    if (to->mode == MABD_SIDE_ADD) {
        for (int k = 0; k < 9; k++) to->D[k] += in[k];
        for (int k = 0; k < 3; k++) to->rhs[k] += in[9 + k];
        return;
    }
    for (int k = 0; k < 9; k++) to->D[k] = in[k];
    for (int k = 0; k < 3; k++) to->rhs[k] = in[9 + k];
    if (to->mode == MABD_SIDE_GROUND) mabd_affine_add_ground(sim, side, to->rhs);
}

/// Order of the entries of a share with three point rows: lanes of a mabd_sym3 and a right-hand
/// side.
static const int mabd_affine_side_order[12] = {0, 3, 4, 3, 1, 5, 4, 5, 2, 6, 7, 8};
/// Order of the entries of a 3 x 3 block by rows.
static const int mabd_affine_pair_order[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8};
