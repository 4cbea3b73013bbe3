// SPDX-License-Identifier: Apache-2.0
// Predict and relinearize: the reference at which the step is linearised. The reference is rigid,
// so strain is zero there and the linear solve returns the whole stress (linearising at q^n instead
// inflates bodies by (omega h)^2/2).
//
// The guess, of second order, is that of affine/element/body_inertia.h.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/element/body_inertia.h"

#include "math/quat.h"
#include "scene/signal.h"

#include <string.h>

void MABD_STAGE(predict_body)(mabd_affine_sim* sim, int32_t body) {
    mabd_affine_stage_predict_body(sim, body);
    MABD_STAGE_END();
}

// Value of a prescribed position at the end of the solve (affine/jumps.c).
static mabd_real script_value(const mabd_affine_sim* sim, const mabd_signal* signal) {
    const mabd_real lead = sim->step.lead, end = sim->step.time_end;
    return sim->is_stage && sim->restarts ? mabd_signal_stage(signal, end - lead, lead)
                                          : mabd_signal_value(signal, end);
}

// Set the pose of a scripted body at the end of the step.
static void pose_script(mabd_affine_sim* sim, const mabd_model_script* script) {
    const mabd_model* m = sim->model;
    const mabd_real way = script->translation ? script_value(sim, script->translation) : 0;
    const mabd_real angle = script->angle ? script_value(sim, script->angle) : 0;
    const mabd_model_start start = mabd_model_script_pose(m, script, way, angle);
    mabd_real rates[12], *q = sim->q_new + 12 * (size_t)script->body;
    mabd_model_to_affine(&m->classes[m->body_class[script->body]], &start, q, rates);
    memcpy(sim->ref + 12 * (size_t)script->body, q, 12 * sizeof(mabd_real));
}

// Predict a pack in lanes, or one by one if its bodies are of different classes or use
// different schemes.
static void predict_lanes(mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, pack->body[0]);
    bool alike = true;
    for (int32_t l = 1; l < pack->count; l++) {
        alike &= mabd_affine_block_of(sim, pack->body[l]) == block;
    }
    if (alike) {
        MABD_STAGE(predict_pack)(sim, pack, false);
        return;
    }
    for (int32_t l = 0; l < pack->count; l++) mabd_affine_stage_predict_body(sim, pack->body[l]);
}

// MABD_LANES links of a segment as a pack.
static mabd_affine_pack pack_of_segment(int32_t first) {
    mabd_affine_pack pack = {.count = MABD_LANES};
    for (int32_t l = 0; l < MABD_LANES; l++) pack.body[l] = first + l;
    return pack;
}

void MABD_STAGE(predict)(mabd_affine_sim* sim, bool packs_too, const mabd_affine_tile* tile) {
    const mabd_model* m = sim->model;
    const mabd_affine_packs* packs = sim->packs;
    mabd_affine_contacts* contacts = sim->contacts;
    for (int32_t i = tile->body_first; i < tile->body_last; i++) {
        if (contacts) contacts->by_body.euler[i] = contacts->by_body.euler_steps[i] > 0;
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) mabd_affine_stage_hold_body(sim, i);
    }
    for (int32_t p = tile->pack_first; p < tile->pack_last && packs_too; p++) {
        predict_lanes(sim, &packs->packs[p]);
    }
    for (int32_t i = tile->body_first; i < tile->body_last && packs_too && tile->segment >= 0;
         i += MABD_LANES) {
        const mabd_affine_pack pack = pack_of_segment(i);
        predict_lanes(sim, &pack);
    }
    for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
        mabd_affine_stage_predict_body(sim, packs->unpacked[i]);
    }
    MABD_STAGE_END();
}

void MABD_STAGE(predict_halo)(mabd_affine_sim* sim, int32_t first, int32_t last) {
    for (int32_t i = first; i < last; i += MABD_LANES) {
        mabd_affine_pack pack = {.count = last - i < MABD_LANES ? last - i : MABD_LANES};
        for (int32_t l = 0; l < MABD_LANES; l++) {
            pack.body[l] = sim->packs->halo[l < pack.count ? i + l : last - 1];
        }
        predict_lanes(sim, &pack);
    }
    MABD_STAGE_END();
}

void MABD_STAGE(predict_rest)(mabd_affine_sim* sim) {
    for (int32_t i = 0; i < sim->model->script_count; i++) {
        pose_script(sim, &sim->model->scripts[i]);
    }
    for (size_t i = 0; i < sim->sizes.coordinates; i++) {
        sim->x_ref[i] = mabd_affine_step_coordinate(&sim->step, sim->x[i], sim->xd[i]);
    }
    for (size_t i = 0; i < sim->sizes.axes; i++) sim->axes[i].known = false;
}

int32_t MABD_STAGE(relinearize)(mabd_affine_sim* sim, const mabd_affine_tile* tile) {
    const mabd_affine_packs* packs = sim->packs;
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const int32_t bad = MABD_STAGE(relinearize_pack)(sim, &packs->packs[p]);
        if (bad >= 0) return bad;
    }
    for (int32_t i = tile->body_first; i < tile->body_last && tile->segment >= 0; i += MABD_LANES) {
        const mabd_affine_pack pack = pack_of_segment(i);
        const int32_t bad = MABD_STAGE(relinearize_pack)(sim, &pack);
        if (bad >= 0) return bad;
    }
    for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
        if (!mabd_affine_stage_relinearize_body(sim, packs->unpacked[i])) return packs->unpacked[i];
    }
    MABD_STAGE_END();
    return -1;
}
