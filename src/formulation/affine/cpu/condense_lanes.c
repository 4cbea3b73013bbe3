// SPDX-License-Identifier: Apache-2.0
// Runs of untouched slots of chains with contacts (affine/cpu/condense_chain.c), 8 in lanes: the
// elimination of segments (affine/cpu/segment.h), on blocks of the dual system instead of those
// of bodies. A lane that has ended continues with unit blocks.

#include "formulation/affine/cpu/condense_chain.h"
#include "formulation/affine/cpu/segment.h"

typedef mabd_affine_condensed_group condensed_group;

// The edge between a slot of a chain and the next one.
static const mabd_real* edge_after(const mabd_affine_sim* sim, const mabd_plan_component* c,
                                   int32_t slot) {
    return sim->U + sim->model->plan->edge_block[c->edge_first + slot - c->slot_first];
}

// The blocks of slot k of all lanes: block and right-hand side, and the edge after it.
typedef struct run_blocks {
    const mabd_real *D[MABD_LANES], *U[MABD_LANES], *x[MABD_LANES];
} run_blocks;

#define MABD_CONDENSED_UNIT (MABD_BLOCK_MAX * MABD_BLOCK_MAX)
static const mabd_real unit[MABD_BLOCK_MAX + 1][MABD_CONDENSED_UNIT] = {
    [3] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
    [4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
    [5] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1},
    [6] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
           0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1}};
static const mabd_real zero[MABD_CONDENSED_UNIT] = {0};

static void find_blocks(const mabd_affine_sim* sim, const mabd_plan_component* c,
                        const condensed_group* group, int32_t k, run_blocks* out) {
    const mabd_plan* plan = sim->model->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t slot = group->first[l] + k;
        const bool ended = k >= group->count[l];
        out->D[l] = ended ? unit[group->width] : sim->D + plan->slot_block[slot];
        out->x[l] = ended ? zero : sim->lambda + plan->slot_row[slot];
        out->U[l] = ended ? zero : edge_after(sim, c, slot);
    }
}

// Transpose `count` reals of every lane, fewer than 4 one by one.
MABD_BLOCK_FN void gather(int count, const mabd_real* const* from, mabd_lanes* to) {
    if (count >= 4) {
        mabd_lanes_gather(count, from, to);
        return;
    }
    for (int k = 0; k < count; k++) {
        for (int l = 0; l < MABD_LANES; l++) to[k].at[l] = from[l][k];
    }
}

// from: block and right-hand side as of a side; U by rows.
MABD_BLOCK_FN void load_blocks(int w, const run_blocks* blocks, mabd_lanes* from, mabd_lanes* U) {
    const int n = MABD_SEGMENT_SYMMETRIC(w);
    mabd_lanes D[MABD_BLOCK_MAX * MABD_BLOCK_MAX];
    gather(w * w, blocks->D, D);
    gather(w * w, blocks->U, U);
    gather(w, blocks->x, from + n);
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j <= i; j++) from[mabd_affine_segment_at(w, i, j)] = D[i * w + j];
    }
}

// Add what the run of a lane leaves to the kept slots around it.
MABD_BLOCK_FN void deliver(int w, const mabd_affine_sim* sim,
                           const mabd_affine_condensed_component* o, const condensed_group* group,
                           const mabd_affine_segment_front* front, int l) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    const size_t left = (size_t)(o->slot_first + group->left[l]);
    const size_t *block = (const size_t*)d->block.data + left,
                 *edge = (const size_t*)d->edge.data + left;
    const int32_t* row = (const int32_t*)d->row.data + left;
    mabd_real* base = d->base.data;
    mabd_real *D0 = base + o->D + block[0], *D = base + o->D + block[1], *U = base + o->U + edge[0];
    mabd_real *x0 = base + o->x + row[0], *x = base + o->x + row[1];
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) {
            const int at = mabd_affine_segment_at(w, i, j);
            D0[i * w + j] += front->S0[at].at[l], D[i * w + j] += front->S[at].at[l];
            U[i * w + j] = front->F[i * w + j].at[l];
        }
        x0[i] += front->c0[i].at[l], x[i] += front->b[i].at[l];
    }
}

MABD_BLOCK_FN void eliminate_runs(int w, mabd_affine_sim* sim,
                                  const mabd_affine_condensed_component* o,
                                  condensed_group* group) {
    const mabd_plan_component* c = &sim->model->plan->components[o->component];
    mabd_lanes* saved = (mabd_lanes*)sim->contacts->condensed.saved.data + group->saved;
    mabd_lanes from[MABD_SEGMENT_SIDE], to[MABD_SEGMENT_SIDE] = {{{0}}};
    mabd_lanes U[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS];
    mabd_affine_segment_front front;
    run_blocks blocks;
    const mabd_real* before[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        before[l] = l < group->lane_count ? edge_after(sim, c, group->first[l] - 1) : zero;
    }
    gather(w * w, before, U);
    mabd_affine_segment_begin(w, to, to, U, &front);
    MABD_EACH_LANE(l) front.bad.at[l] = MABD_SEGMENT_LINKS;
    for (int32_t k = 0; k < group->length; k++, saved += MABD_SEGMENT_SAVED(w)) {
        find_blocks(sim, c, group, k, &blocks);
        load_blocks(w, &blocks, from, U);
        mabd_affine_segment_eliminate(w, (mabd_real)k, from, to, U, &front, saved);
        for (int l = 0; l < group->lane_count; l++) {
            if (k + 1 == group->count[l]) deliver(w, sim, o, group, &front, l);
        }
    }
    group->bad = -1;
    for (int l = group->lane_count - 1; l >= 0; l--) {
        const int32_t bad = (int32_t)front.bad.at[l];
        if (bad < group->count[l]) group->bad = group->first[l] + bad;
    }
}

MABD_BLOCK_FN void solve_runs(int w, mabd_affine_sim* sim, const condensed_group* group) {
    const int32_t* rows = sim->model->plan->slot_row;
    const mabd_lanes* saved = (const mabd_lanes*)sim->contacts->condensed.saved.data +
                              group->saved + (size_t)group->length * (size_t)MABD_SEGMENT_SAVED(w);
    const mabd_real *left[MABD_LANES], *right[MABD_LANES];
    mabd_lanes cut[MABD_SEGMENT_ROWS], next[MABD_SEGMENT_ROWS], lambda[MABD_SEGMENT_ROWS];
    for (int l = 0; l < MABD_LANES; l++) {
        const bool used = l < group->lane_count;
        left[l] = used ? sim->lambda + rows[group->first[l] - 1] : zero;
        right[l] = used ? sim->lambda + rows[group->first[l] + group->count[l]] : zero;
    }
    gather(w, left, cut);
    gather(w, right, next);
    for (int32_t k = group->length - 1; k >= 0; k--) {
        saved -= MABD_SEGMENT_SAVED(w);
        mabd_affine_segment_back(w, saved, cut, next, lambda);
        for (int l = 0; l < MABD_LANES && k < group->count[l]; l++) {
            mabd_real* to = sim->lambda + rows[group->first[l] + k];
            for (int i = 0; i < w; i++) to[i] = next[i].at[l] = lambda[i].at[l];
        }
    }
}

void MABD_STAGE(eliminate_runs)(mabd_affine_sim* sim, const mabd_affine_condensed_component* o,
                                mabd_affine_condensed_group* group) {
    switch (group->width) {
    case 3:
        eliminate_runs(3, sim, o, group);
        break;
    case 4:
        eliminate_runs(4, sim, o, group);
        break;
    case 5:
        eliminate_runs(5, sim, o, group);
        break;
    default:
        eliminate_runs(6, sim, o, group);
        break;
    }
    MABD_STAGE_END();
}

void MABD_STAGE(solve_runs)(mabd_affine_sim* sim, const mabd_affine_condensed_group* group) {
    switch (group->width) {
    case 3:
        solve_runs(3, sim, group);
        break;
    case 4:
        solve_runs(4, sim, group);
        break;
    case 5:
        solve_runs(5, sim, group);
        break;
    default:
        solve_runs(6, sim, group);
        break;
    }
    MABD_STAGE_END();
}
