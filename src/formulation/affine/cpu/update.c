// SPDX-License-Identifier: Apache-2.0
// Update: the new state of every body,
//
//   dq = y - H^-1 J' lambda,  A = R (I + D),  t = t_ref + R tau,  stress = C : sym(D)
//
// and, at the end of a step, rates and history.

#include "formulation/affine/element/update.h"
#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/cpu/segment.h"

void MABD_STAGE(update)(mabd_affine_sim* sim, const mabd_affine_tile* tile,
                        mabd_affine_motion_report* report) {
    const mabd_affine_packs* packs = sim->packs;
    if (tile->segment >= 0) {
        mabd_affine_joint_error* open = &packs->inner_errors[tile - packs->tiles];
        const mabd_affine_joint_error none = {0, 0, 0, -1};
        *open = none;
        if (packs->segments[tile->segment].kind == MABD_BODY_SIMPLE) {
            MABD_STAGE(update_segment)(sim, tile->segment, report, open);
        } else {
            MABD_STAGE(update_row_segment)(sim, tile->segment, report);
        }
    }
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const mabd_affine_pack* pack = &packs->packs[p];
        if (!MABD_STAGE(fits_lanes)(sim, pack)) {
            for (int32_t l = 0; l < pack->count; l++)
                mabd_affine_stage_update_body(sim, pack->body[l], report);
        } else if (pack->kind == MABD_BODY_SPRUNG) {
            MABD_STAGE(update_spring_pack)(sim, pack, report);
        } else {
            MABD_STAGE(update_pack)(sim, pack, report);
        }
    }
    for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
        mabd_affine_stage_update_body(sim, packs->unpacked[i], report);
    }
    MABD_STAGE_END();
}

// Compute x and x' of the controlled coordinates of ungrouped joints first .. last - 1, at q_new.
void MABD_STAGE(finish_coordinates)(mabd_affine_sim* sim, bool keep_history, int32_t first,
                                    int32_t last) {
    for (int32_t i = first; i < last; i++) {
        mabd_affine_stage_finish_joint(sim, keep_history, sim->packs->ungrouped[i]);
    }
}

// Rates of bodies that are all soft: v = (q_new - q_b)/bh of every coordinate.
static void finish_soft(const mabd_affine_sim* sim, int32_t first, int32_t last, mabd_real* v) {
    const mabd_real rate = 1 / sim->step.beta_h, w = sim->step.w, w1 = sim->step.w1;
    const mabd_real *q = sim->q, *q1 = sim->q1, *q_new = sim->q_new;
    for (size_t k = 12 * (size_t)first; k < 12 * (size_t)last; k++) {
        v[k] = mabd_affine_step_rate(rate, w, w1, q_new[k], q[k], q1[k]);
    }
}

void MABD_STAGE(finish)(mabd_affine_sim* sim, bool keep_history, const mabd_affine_tile* tile) {
    // if history advances, rates overwrite v1, which is no longer needed
    mabd_real* v = keep_history ? sim->v : sim->v1;
    if (sim->sizes.spins == 0 && !sim->contacts) {
        finish_soft(sim, tile->body_first, tile->body_last, v);
    } else {
        MABD_STAGE(finish_bodies)(sim, keep_history, tile->body_first, tile->body_last, v);
    }
    for (int32_t i = tile->group_first; i < tile->group_last; i++) {
        MABD_STAGE(finish_group)(sim, keep_history, &sim->packs->groups[i]);
    }
    MABD_STAGE_END();
}
