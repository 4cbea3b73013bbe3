// SPDX-License-Identifier: Apache-2.0
// Bodies whose joints are all balls: their blocks are R c(X, Y) R' with the 3 x 3 compliance of
// affine/element/affine_body.h between two attachment points, computed several at a time.

#pragma once

#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/side_share.h"

#include "math/block.h"

// Blocks of one body are collected until there are MABD_BALLS_LANES of them, so that the compiler
// vectorises the loop over them.
#ifdef MABD_ON_DEVICE
#define MABD_BALLS_LANES 1 // threads of the device are the lanes
#else
#define MABD_BALLS_LANES 4
#endif

// Blocks of one body that are computed together.
typedef struct mabd_affine_balls_block_batch {
    mabd_real X[3][MABD_BALLS_LANES], Y[3][MABD_BALLS_LANES]; // the two points of a block
    mabd_real K[9][MABD_BALLS_LANES];                         // R c(X, Y) R', by rows
    mabd_real sign[MABD_BALLS_LANES];
    bool first[MABD_BALLS_LANES];    // write, do not add
    bool diagonal[MABD_BALLS_LANES]; // X = Y: symmetric to the last bit
    mabd_real* to[MABD_BALLS_LANES];
    mabd_real* saved; // next place where blocks are saved; null = not saved
    int32_t count;
} mabd_affine_balls_block_batch;

// Compute the blocks K of a batch.
MABD_FN void mabd_affine_balls_compute_blocks(const mabd_affine_assembly* MABD_RESTRICT own,
                                              mabd_affine_balls_block_batch* MABD_RESTRICT w) {
    const mabd_affine_block* MABD_RESTRICT b = own->block;
    const mabd_sym3 Z = own->Z;
    const mabd_mat3 R = own->R;
    for (int l = 0; l < MABD_BALLS_LANES; l++) {
        const mabd_affine_attachment x =
            mabd_affine_block_attach(b, Z, mabd_v3(w->X[0][l], w->X[1][l], w->X[2][l]));
        const mabd_affine_attachment y =
            mabd_affine_block_attach(b, Z, mabd_v3(w->Y[0][l], w->Y[1][l], w->Y[2][l]));
        mabd_mat3 c = mabd_affine_block_compliance(b, &x, &y);
        mabd_affine_eliminate_soften(own, x.X, y.X, &c);
        const mabd_mat3 C = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
        const mabd_real s = w->sign[l];
        w->K[0][l] = s * C.c1.x, w->K[1][l] = s * C.c2.x, w->K[2][l] = s * C.c3.x;
        w->K[3][l] = s * C.c1.y, w->K[4][l] = s * C.c2.y, w->K[5][l] = s * C.c3.y;
        w->K[6][l] = s * C.c1.z, w->K[7][l] = s * C.c2.z, w->K[8][l] = s * C.c3.z;
    }
}

// Compute the blocks of a batch, write them to their places, and empty the batch.
MABD_FN void mabd_affine_balls_flush_blocks(const mabd_affine_assembly* own,
                                            mabd_affine_balls_block_batch* w) {
    if (w->count < 1) return;
    for (int l = w->count; l < MABD_BALLS_LANES; l++) { // unused lanes repeat the first block
        for (int k = 0; k < 3; k++) w->X[k][l] = w->X[k][0], w->Y[k][l] = w->Y[k][0];
        w->sign[l] = w->sign[0];
    }
    mabd_affine_balls_compute_blocks(own, w);
    for (int l = 0; l < MABD_BALLS_LANES && l < w->count; l++) {
        mabd_real* to = w->to[l];
        if (w->diagonal[l]) {
            w->K[3][l] = w->K[1][l], w->K[6][l] = w->K[2][l], w->K[7][l] = w->K[5][l];
        }
        if (w->first[l]) {
            for (int k = 0; k < 9; k++) to[k] = w->K[k][l];
        } else {
            for (int k = 0; k < 9; k++) to[k] += w->K[k][l];
        }
        for (int k = 0; w->saved && k < 9; k++) *w->saved++ = w->K[k][l];
    }
    w->count = 0;
}

// Queue the block sign R c(X, Y) R', which is set in or added to its place with the whole batch.
MABD_FN void mabd_affine_balls_add_block(const mabd_affine_assembly* own,
                                         mabd_affine_balls_block_batch* w, mabd_vec3 X, mabd_vec3 Y,
                                         bool diagonal, mabd_real sign, bool first, mabd_real* to) {
    const int l = w->count++;
    w->X[0][l] = X.x, w->X[1][l] = X.y, w->X[2][l] = X.z;
    w->Y[0][l] = Y.x, w->Y[1][l] = Y.y, w->Y[2][l] = Y.z;
    w->sign[l] = sign, w->diagonal[l] = diagonal;
    w->first[l] = first, w->to[l] = to;
    if (w->count == MABD_BALLS_LANES) mabd_affine_balls_flush_blocks(own, w);
}

// Add s (t + R (X + D X + tau)) of one side; both sides give the predicted P_b - P_a.
MABD_FN void mabd_affine_balls_add_point_rhs(const mabd_affine_sim* sim, int32_t side,
                                             const mabd_affine_side_place* to, mabd_mat3 R,
                                             mabd_vec3 X, const mabd_vec12* y) {
    const mabd_plan_side* at = &sim->model->plan->sides[side];
    const int32_t joint = sim->model->plan->slot_joint[at->slot];
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_real* t = sim->ref + 12 * (size_t)(at->is_b ? j->b : j->a) + 9;
    const mabd_vec3 end = mabd_vec12_end(R, mabd_v3_load(t), y, X);
    const mabd_vec3 before = to->mode == MABD_SIDE_ADD ? mabd_v3_load(to->rhs) : mabd_v3(0, 0, 0);
    mabd_v3_store(mabd_v3_axpy(at->is_b ? 1 : -1, end, before), to->rhs);
    if (to->mode == MABD_SIDE_GROUND) mabd_affine_add_ground(sim, side, to->rhs);
}

// ---- bodies without contacts ----
// While contacts of other bodies change, y and the blocks of such a body do not change.

/// True if assemble_balls saves y and blocks of a body; assemble_saved then writes them again at
/// the same reference.
MABD_FN bool mabd_affine_stage_is_saved(const mabd_affine_sim* sim, int32_t body) {
    const int32_t* start = sim->model->plan->side_start;
    return sim->sizes.held > 0 && !sim->contacts->condensed.on &&
           sim->contacts->by_body.head[body] < 0 && sim->body_kind[body] == MABD_BODY_SIMPLE &&
           start[body + 1] - start[body] <= MABD_SAVED_SIDES;
}

// Save y. Returns the place for the blocks; null if the body is not saved.
MABD_FN mabd_real* mabd_affine_balls_save_y(mabd_affine_sim* sim, int32_t body,
                                            const mabd_vec12* y) {
    if (!mabd_affine_stage_is_saved(sim, body)) return NULL;
    mabd_real* saved = sim->saved + MABD_SAVED_REALS * (size_t)body;
    mabd_vec12_store(*y, saved);
    return saved + 12;
}

// Set or add one saved block (9). Returns the next one.
MABD_FN const mabd_real* mabd_affine_balls_add_saved(const mabd_real* K, bool first,
                                                     mabd_real* to) {
    for (int k = 0; k < 9; k++) to[k] = first ? K[k] : to[k] + K[k];
    return K + 9;
}

/// Write the saved y, blocks and right-hand sides of a body again, at the same reference.
MABD_FN void mabd_affine_stage_assemble_saved(mabd_affine_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_real* K = sim->saved + MABD_SAVED_REALS * (size_t)body;
    const mabd_vec12 y = mabd_vec12_load(K);
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_vec12_store(y, sim->q_new + 12 * (size_t)body);
    K += 12;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[plan->sides[s].slot]];
        const mabd_affine_side_place to = mabd_affine_place_of_side(sim, s);
        const mabd_vec3 X = mabd_v3_load(plan->sides[s].is_b ? joint->Xb : joint->Xa);
        K = mabd_affine_balls_add_saved(K, to.mode != MABD_SIDE_ADD, to.D);
        mabd_affine_balls_add_point_rhs(sim, s, &to, R, X, &y);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        K = mabd_affine_balls_add_saved(K, !sim->shared_edges,
                                        sim->U + plan->edge_block[plan->pairs[p].edge]);
    }
}

// ---- all bodies ----

/// Assemble blocks and right-hand sides of a body whose joints are all balls.
MABD_FN void mabd_affine_stage_assemble_balls(mabd_affine_sim* sim, int32_t body,
                                              const mabd_affine_assembly* own, mabd_vec3* points) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t start = plan->side_start[body];
    const mabd_plan_side* sides = plan->sides + start;
    const int32_t side_count = plan->side_start[body + 1] - start;
    mabd_affine_balls_block_batch batch;
    batch.count = 0;
    // avoids a warning: only entries that were set are read
    for (int l = 0; l < MABD_BALLS_LANES; l++) {
        batch.first[l] = batch.diagonal[l] = false;
        batch.to[l] = NULL;
    }
    batch.saved = mabd_affine_balls_save_y(sim, body, &own->y);
    for (int32_t i = 0; i < side_count; i++) {
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[sides[i].slot]];
        const mabd_affine_side_place to = mabd_affine_place_of_side(sim, start + i);
        const mabd_vec3 X = points[i] = mabd_v3_load(sides[i].is_b ? joint->Xb : joint->Xa);
        mabd_affine_balls_add_block(own, &batch, X, X, true, 1, to.mode != MABD_SIDE_ADD, to.D);
        mabd_affine_balls_add_point_rhs(sim, start + i, &to, own->R, X, &own->y);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const mabd_real sign = sides[pair->i].is_b == sides[pair->j].is_b ? 1 : -1;
        mabd_affine_balls_add_block(own, &batch, points[pair->i], points[pair->j], false, sign,
                                    !sim->shared_edges, sim->U + plan->edge_block[pair->edge]);
    }
    mabd_affine_balls_flush_blocks(own, &batch);
}
