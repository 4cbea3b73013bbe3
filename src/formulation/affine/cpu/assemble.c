// SPDX-License-Identifier: Apache-2.0
// Assemble: y = H^-1 r of every body, and its share of the dual system K lambda = J y + C.
//
//   r = M (q_hat - q_ref)/bh^2 + external forces    no elastic force: no strain at the reference
//   D(j)    = sum over the bodies of joint j of J H^-1 J', + c of compliant rows
//   U(i,j)  = J_i H^-1 J_j' of the body that carries both
//   b(j)    = C(ref) + sum J y
//
// Bodies are processed tile by tile, in packs (pack_balls.c, pack_rows.c) or one by one; the first
// side of a joint writes its blocks, the second adds (affine/cpu/pack.h). One by one, a body whose
// joints are all balls takes the shorter path (affine/element/assemble_balls.h); all others build
// their rows (affine/element/assemble_rows.h).

#include "formulation/affine/element/assemble.h"
#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/cpu/segment.h"

#include "math/block.h"

// Select the stress that determines the geometric stiffness.
static const mabd_real* choose_stress(const mabd_affine_sim* sim, mabd_affine_pass pass) {
    if (pass == MABD_PASS_FIRST) return sim->stress;
    return pass == MABD_PASS_AGAIN && sim->sizes.held > 0 ? sim->stress_held : sim->stress_new;
}

void MABD_STAGE(push_body)(const mabd_affine_sim* sim, int32_t body, mabd_mat3 R, mabd_vec12* r) {
    mabd_affine_stage_push_body(sim, body, R, r);
}

int32_t MABD_STAGE(joint_rows)(mabd_affine_sim* sim, int32_t body, int32_t side, mabd_vec12* rows) {
    const int32_t count = mabd_affine_stage_joint_rows(sim, body, side, rows);
    MABD_STAGE_END();
    return count;
}

// ---- tiles ----

// Lanes share one block: bodies with contacts, or of different schemes in this solve, are processed
// one by one.
bool MABD_STAGE(fits_lanes)(const mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    if (!sim->contacts) return true;
    const bool euler = mabd_affine_is_euler(sim, pack->body[0]);
    for (int32_t l = 0; l < pack->count; l++) {
        if (sim->contacts->by_body.head[pack->body[l]] >= 0) return false;
        if (mabd_affine_is_euler(sim, pack->body[l]) != euler) return false;
    }
    return true;
}

static void assemble_singly(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                            mabd_affine_pass pass, const mabd_real* stress, int32_t thread) {
    for (int32_t l = 0; l < pack->count; l++) {
        if (pass == MABD_PASS_AGAIN && mabd_affine_stage_is_saved(sim, pack->body[l])) {
            mabd_affine_stage_assemble_saved(sim, pack->body[l]);
        } else {
            mabd_affine_stage_assemble_body(sim, pack->body[l], stress, thread);
        }
    }
}

static void start_joints(mabd_affine_sim* sim, const mabd_real* stress, int32_t body) {
    mabd_affine_stage_start_joints(sim, stress, body);
    if (sim->sizes.turns > 0) mabd_affine_stage_start_turns(sim, stress, body);
}

void MABD_STAGE(start)(mabd_affine_sim* sim, mabd_affine_pass pass, const mabd_affine_tile* tile) {
    const mabd_affine_packs* packs = sim->packs;
    const mabd_real* stress = choose_stress(sim, pass);
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const mabd_affine_pack* pack = &packs->packs[p]; // lanes begin joints during assembly
        if (pack->kind == MABD_BODY_SIMPLE || MABD_STAGE(fits_lanes)(sim, pack)) continue;
        for (int32_t l = 0; l < pack->count; l++) {
            start_joints(sim, stress, pack->body[l]);
        }
    }
    for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
        start_joints(sim, stress, packs->unpacked[i]);
    }
    for (int32_t i = tile->group_first; i < tile->group_last; i++) {
        MABD_STAGE(start_group)(sim, &packs->groups[i]);
    }
    MABD_STAGE_END();
}

MABD_HOT void prefetch_row(size_t columns, const mabd_real* base, int32_t body) {
    const mabd_real* row = base + columns * (size_t)body;
    MABD_PREFETCH_FAR(row);
    MABD_PREFETCH_FAR(row + columns - 1);
}

// Prefetch the bodies of a pack while the previous pack is processed.
MABD_HOT void prefetch_bodies(const mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    const bool soft = mabd_affine_block_of(sim, pack->body[0])->soft;
    const mabd_real* arrays[4] = {sim->q, sim->q1, sim->v, sim->v1};
    for (int32_t l = 0; l < pack->count; l++) {
        prefetch_row(12, sim->ref, pack->body[l]);
        for (int k = 0; k < 4 && soft; k++) prefetch_row(12, arrays[k], pack->body[l]);
        if (soft) continue;
        prefetch_row(MABD_SPIN_REALS, sim->spin, pack->body[l]);
        prefetch_row(MABD_CENTER_REALS, sim->center, pack->body[l]);
    }
}

void MABD_STAGE(assemble)(mabd_affine_sim* sim, mabd_affine_pass pass, bool predict,
                          const mabd_affine_tile* tile, int32_t thread) {
    const mabd_affine_packs* packs = sim->packs;
    const mabd_real* stress = choose_stress(sim, pass);
    if (tile->segment >= 0 && packs->segments[tile->segment].kind == MABD_BODY_SIMPLE) {
        MABD_STAGE(assemble_segment)(sim, tile->segment, stress, predict);
    } else if (tile->segment >= 0) {
        MABD_STAGE(assemble_row_segment)(sim, tile->segment, stress, predict);
    }
    if (predict && tile->looks) { // rows also read references of later packs
        for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
            if (p + 1 < tile->pack_last) prefetch_bodies(sim, &packs->packs[p + 1]);
            MABD_STAGE(predict_pack)(sim, &packs->packs[p], true);
        }
        predict = false;
    }
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const mabd_affine_pack* pack = &packs->packs[p];
        if (p + 1 < tile->pack_last && pack->kind != MABD_BODY_SPRUNG) {
            prefetch_bodies(sim, pack + 1);
        }
        const bool saved =
            pack->kind == MABD_BODY_SIMPLE && pass == MABD_PASS_AGAIN && sim->sizes.held > 0;
        if (saved || !MABD_STAGE(fits_lanes)(sim, pack)) {
            assemble_singly(sim, pack, pass, stress, thread);
        } else if (pack->kind == MABD_BODY_SPRUNG) {
            MABD_STAGE(assemble_spring_pack)(sim, pack, stress, predict);
        } else {
            MABD_STAGE(assemble_pack)(sim, pack, stress, predict);
        }
    }
    for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
        mabd_affine_stage_assemble_body(sim, packs->unpacked[i], stress, thread);
    }
    MABD_STAGE_END();
}
