// SPDX-License-Identifier: Apache-2.0
// Segments of links whose joints have rows that depend on both bodies, of one row set and frame
// (affine/cpu/segment.h): hinges and similar joints. Rows need the references of the previous and
// the next link, so links are opened one ahead. At the ends of lanes these links belong to other
// lanes or tiles: they are in the halo (affine/cpu/pack.h), whose references are predicted before
// all tiles.
//
// Link k begins joint k + 1, also where it is a cut, if the modes of its sides say so.

#include "formulation/affine/cpu/segment.h"

// One of three links in memory: the previous, the current, the next.
typedef struct row_link {
    mabd_affine_pack_work w;
    mabd_lanes r[12], G[6], strain[6];
} row_link;

// ---- assemble ----

static void open_link(mabd_affine_sim* sim, const mabd_affine_segment* segment, int32_t k,
                      const mabd_real* stress, bool predict, row_link* link) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, segment->body);
    const int64_t ahead = (int64_t)segment->body + MABD_SEGMENT_BODIES + MABD_LANES * k;
    mabd_lanes S[6];
    int32_t body[MABD_LANES];
    mabd_affine_segment_bodies(segment, k, body);
    mabd_affine_segment_prefetch_history(sim, block, false, ahead);
    mabd_affine_segment_prefetch_history(sim, block, true, ahead);
    MABD_STAGE(open_lanes)
    (sim, body, MABD_LANES, mabd_affine_segment_halo(segment, k), stress, predict, link->w.ref,
     link->r, S, link->G);
    mabd_affine_segment_prefetch_rows(6, stress, ahead);
    MABD_STAGE(lanes_own_strain)(block, S, link->strain);
}

// Open the bodies before the first links or after the last ones. The strain of a body that does not
// move is that of a link times zero.
static void open_end(const mabd_affine_sim* sim, const mabd_affine_segment* segment,
                     const mabd_affine_segment_end* end, const mabd_real* stress, row_link* link) {
    mabd_lanes S[6];
    int32_t row[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        row[l] = end->soft.at[l] > 0 ? end->body[l] : segment->body;
    }
    mabd_lanes_load(12, sim->ref, end->body, link->w.ref);
    mabd_lanes_load(6, stress, row, S);
    MABD_STAGE(lanes_strain)(&end->soft, &end->share, S, link->strain);
}

// Find the ends of both joints of link k.
static void find_ends(const mabd_affine_sim* sim, const mabd_affine_segment* segment, int32_t k,
                      const mabd_lanes* const* ref, const mabd_lanes* F,
                      mabd_affine_joint_ends* ends) {
    const int32_t index = (int32_t)(segment - sim->packs->segments);
    const mabd_lanes* X = mabd_affine_segment_X(sim, index, k);
    ends[0].here = ends[1].here = ref[1];
    ends[0].there = ref[0], ends[1].there = ref[2];
    ends[0].X = X, ends[0].Y = X - 3;
    ends[1].X = X + 3, ends[1].Y = X + 6;
    ends[0].F = ends[1].F = F;
    ends[0].is_b = segment->sign[0] > 0, ends[1].is_b = segment->sign[1] > 0;
}

static void eliminate_4(mabd_real k, const mabd_lanes* MABD_RESTRICT from,
                        const mabd_lanes* MABD_RESTRICT to, const mabd_lanes* MABD_RESTRICT U,
                        mabd_affine_segment_front* MABD_RESTRICT front,
                        mabd_lanes* MABD_RESTRICT saved) {
    mabd_affine_segment_eliminate(4, k, from, to, U, front, saved);
}
static void eliminate_5(mabd_real k, const mabd_lanes* MABD_RESTRICT from,
                        const mabd_lanes* MABD_RESTRICT to, const mabd_lanes* MABD_RESTRICT U,
                        mabd_affine_segment_front* MABD_RESTRICT front,
                        mabd_lanes* MABD_RESTRICT saved) {
    mabd_affine_segment_eliminate(5, k, from, to, U, front, saved);
}
static void eliminate_6(mabd_real k, const mabd_lanes* MABD_RESTRICT from,
                        const mabd_lanes* MABD_RESTRICT to, const mabd_lanes* MABD_RESTRICT U,
                        mabd_affine_segment_front* MABD_RESTRICT front,
                        mabd_lanes* MABD_RESTRICT saved) {
    mabd_affine_segment_eliminate(6, k, from, to, U, front, saved);
}

// Eliminate link k with blocks `from`, `to` and U.
static void eliminate(const mabd_affine_sim* sim, const mabd_affine_segment* segment, int32_t k,
                      const mabd_lanes* from, const mabd_lanes* to, const mabd_lanes* U,
                      mabd_affine_segment_front* front) {
    if (k == 0) {
        mabd_affine_segment_begin(segment->width, from, to, U, front);
        return;
    }
    mabd_lanes* saved = mabd_affine_segment_saved(sim, segment, k);
    switch (segment->width) {
    case 4:
        eliminate_4((mabd_real)k, from, to, U, front, saved);
        break;
    case 5:
        eliminate_5((mabd_real)k, from, to, U, front, saved);
        break;
    default:
        eliminate_6((mabd_real)k, from, to, U, front, saved);
        break;
    }
}

// b += C
static void add_values(int32_t count, const mabd_lanes* MABD_RESTRICT C,
                       mabd_lanes* MABD_RESTRICT b) {
    for (int32_t i = 0; i < count; i++) {
        MABD_EACH_LANE(l) b[i].at[l] += C[i].at[l];
    }
}

static bool begins_joint(uint8_t mode) {
    return mode == MABD_SIDE_FIRST || mode == MABD_SIDE_GROUND;
}

void MABD_STAGE(assemble_row_segment)(mabd_affine_sim* sim, int32_t index, const mabd_real* stress,
                                      bool predict) {
    mabd_affine_segment* segment = &sim->packs->segments[index];
    const mabd_model* m = sim->model;
    const mabd_row_set* set = &m->row_sets[segment->row_set];
    const mabd_affine_block* block = mabd_affine_block_of(sim, segment->body);
    const int32_t w = segment->width, n = MABD_SEGMENT_SYMMETRIC(w);
    mabd_lanes from[MABD_SEGMENT_SIDE], to[MABD_SEGMENT_SIDE],
        U[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS];
    mabd_lanes C0[MABD_SEGMENT_ROWS], F[18];
    row_link links[3];
    mabd_affine_pack_side side[2];
    mabd_affine_joint_ends ends[2];
    mabd_affine_segment_front front;
    mabd_affine_segment_signs(segment, side);
    mabd_lanes_fill(18, (const mabd_real*)m->frames, segment->frame, F);
    open_end(sim, segment, &segment->before, stress, &links[2]);
    open_link(sim, segment, 0, stress, predict, &links[0]);
    for (int32_t k = 0; k < MABD_SEGMENT_LINKS; k++) {
        row_link *last = &links[(k + 2) % 3], *here = &links[k % 3], *next = &links[(k + 1) % 3];
        const mabd_lanes* ref[3] = {last->w.ref, here->w.ref, next->w.ref};
        const bool begins[2] = {k == 0 && begins_joint(segment->before.side.mode[0]), true};
        const int64_t ahead = (int64_t)segment->body + MABD_SEGMENT_BODIES + MABD_LANES * k;
        int32_t body[MABD_LANES];
        if (k + 1 < MABD_SEGMENT_LINKS) {
            open_link(sim, segment, k + 1, stress, predict, next);
        } else {
            open_end(sim, segment, &segment->after, stress, next);
        }
        MABD_STAGE(lanes_solve)(block, here->G, here->r, here->w.Z, here->w.y);
        mabd_affine_segment_bodies(segment, k, body);
        mabd_affine_segment_prefetch_rows(12, sim->q_new, ahead);
        mabd_affine_segment_prefetch_rows(6, sim->geometric, ahead);
        mabd_lanes_store(6, here->w.Z, body, MABD_LANES, sim->geometric);
        mabd_lanes_store(12, here->w.y, body, MABD_LANES, sim->q_new);
        mabd_affine_segment_sides(sim, index, k, side);
        find_ends(sim, segment, k, ref, F, ends);
        ends[0].e = ends[1].e = here->strain;
        ends[0].f = last->strain, ends[1].f = next->strain;
        mabd_affine_segment_prefetch_rows(12, sim->ref, ahead);
        mabd_affine_segment_prefetch(6, mabd_affine_segment_X(sim, index + 1, k));
        MABD_STAGE(lanes_row_link)(set, block, &here->w, side, ends, begins, from, to, U);
        if (k + 1 < MABD_SEGMENT_LINKS) add_values(w, to + n + w, to + n);
        for (int32_t i = 0; i < w && k == 0; i++) C0[i] = from[n + w + i];
        mabd_affine_segment_prefetch(
            MABD_SEGMENT_SAVED(w),
            mabd_affine_segment_saved(sim, segment, k + MABD_PREFETCH_JOINTS));
        mabd_affine_segment_prefetch_cuts(sim, segment, k);
        eliminate(sim, segment, k, from, to, U, &front);
    }
    MABD_STAGE(leave_cuts)(sim, segment, &front, C0, to + n + w);
}

// ---- update ----

static void back_4(const mabd_lanes* MABD_RESTRICT saved, const mabd_lanes* MABD_RESTRICT cut,
                   const mabd_lanes* MABD_RESTRICT next, mabd_lanes* MABD_RESTRICT lambda) {
    mabd_affine_segment_back(4, saved, cut, next, lambda);
}
static void back_5(const mabd_lanes* MABD_RESTRICT saved, const mabd_lanes* MABD_RESTRICT cut,
                   const mabd_lanes* MABD_RESTRICT next, mabd_lanes* MABD_RESTRICT lambda) {
    mabd_affine_segment_back(5, saved, cut, next, lambda);
}
static void back_6(const mabd_lanes* MABD_RESTRICT saved, const mabd_lanes* MABD_RESTRICT cut,
                   const mabd_lanes* MABD_RESTRICT next, mabd_lanes* MABD_RESTRICT lambda) {
    mabd_affine_segment_back(6, saved, cut, next, lambda);
}

static void back(int32_t w, const mabd_lanes* saved, const mabd_lanes* cut, const mabd_lanes* next,
                 mabd_lanes* lambda) {
    switch (w) {
    case 4:
        back_4(saved, cut, next, lambda);
        break;
    case 5:
        back_5(saved, cut, next, lambda);
        break;
    default:
        back_6(saved, cut, next, lambda);
        break;
    }
}

static void watch(mabd_real k, const mabd_affine_moved_lanes* MABD_RESTRICT moved,
                  mabd_affine_segment_motion* MABD_RESTRICT w) {
    MABD_EACH_LANE(l) mabd_affine_segment_watch(k, moved, w, l);
}

static void load_link(const mabd_affine_sim* sim, const mabd_affine_segment* segment, int32_t k,
                      mabd_lanes* ref) {
    int32_t body[MABD_LANES];
    mabd_affine_segment_bodies(segment, k, body);
    mabd_lanes_load(12, sim->ref, k < 0 ? segment->before.body : body, ref);
}

void MABD_STAGE(update_row_segment)(mabd_affine_sim* sim, int32_t index,
                                    mabd_affine_motion_report* report) {
    const mabd_affine_segment* segment = &sim->packs->segments[index];
    const mabd_affine_segment* next_segment = mabd_affine_segment_next(sim, segment);
    const mabd_model* m = sim->model;
    const mabd_row_set* set = &m->row_sets[segment->row_set];
    const mabd_affine_block* block = mabd_affine_block_of(sim, segment->body);
    const int32_t w = segment->width;
    mabd_lanes cut[MABD_SEGMENT_ROWS], lambda[2][MABD_SEGMENT_ROWS], refs[3][12], F[18];
    mabd_lanes Z[6], y[12], f[12];
    mabd_affine_pack_side side[2];
    mabd_affine_joint_ends ends[2];
    mabd_affine_moved_lanes moved;
    mabd_affine_segment_motion worst = {0};
    mabd_affine_segment_signs(segment, side);
    mabd_lanes_fill(18, (const mabd_real*)m->frames, segment->frame, F);
    MABD_EACH_LANE(l) worst.rotation.at[l] = worst.broken.at[l] = -1;
    mabd_affine_segment_load(w, sim, segment, 0, cut);
    mabd_affine_segment_load(w, sim, segment, MABD_SEGMENT_LINKS, lambda[1]);
    mabd_lanes_load(12, sim->ref, segment->after.body, refs[MABD_SEGMENT_LINKS % 3]);
    load_link(sim, segment, MABD_SEGMENT_LINKS - 1, refs[(MABD_SEGMENT_LINKS - 1) % 3]);
    const mabd_real* rows = sim->lambda + m->plan->slot_row[segment->slot];
    for (int32_t k = MABD_SEGMENT_LINKS - 1; k >= 0; k--) {
        const mabd_lanes* ref[3] = {refs[(k + 2) % 3], refs[k % 3], refs[(k + 1) % 3]};
        const int64_t ahead = (int64_t)segment->body + MABD_SEGMENT_BODIES + MABD_LANES * k;
        int32_t body[MABD_LANES];
        mabd_affine_segment_bodies(segment, k, body);
        load_link(sim, segment, k - 1, refs[(k + 2) % 3]);
        mabd_affine_segment_prefetch(
            MABD_SEGMENT_SAVED(w), mabd_affine_segment_saved_before(sim, segment, next_segment, k));
        if (k > 0) {
            back(w, mabd_affine_segment_saved(sim, segment, k), cut, lambda[1], lambda[0]);
            mabd_affine_segment_store(w, sim, segment, k, lambda[0]);
        } else {
            for (int i = 0; i < w; i++) lambda[0][i] = cut[i];
        }
        mabd_affine_segment_prefetch_rows(12, sim->ref, ahead);
        mabd_lanes_load(6, sim->geometric, body, Z);
        mabd_lanes_load(12, sim->q_new, body, y);
        mabd_affine_segment_prefetch_rows(12, sim->q_new, ahead);
        for (int i = 0; i < 12; i++) {
            MABD_EACH_LANE(l) f[i].at[l] = 0;
        }
        mabd_affine_segment_sides(sim, index, k, side);
        find_ends(sim, segment, k, ref, F, ends);
        MABD_STAGE(lanes_pull_rows)(set, &side[0], &ends[0], lambda[0], f);
        mabd_affine_segment_prefetch_rows(6, sim->stress_new, ahead);
        mabd_affine_segment_prefetch_rows(6, sim->geometric, ahead);
        MABD_STAGE(lanes_pull_rows)(set, &side[1], &ends[1], lambda[1], f);
        mabd_affine_segment_prefetch_rows(w, rows, ahead - segment->body);
        mabd_affine_segment_prefetch(6, mabd_affine_segment_X(sim, index + 1, k));
        if (!block->soft) mabd_affine_segment_prefetch_rows(4, sim->spin_step, ahead);
        MABD_STAGE(lanes_move)(block, ref[1], Z, y, f, &moved);
        watch((mabd_real)k, &moved, &worst);
        MABD_STAGE(store_moved)(sim, body, MABD_LANES, Z, &moved);
        for (int i = 0; i < w; i++) lambda[1][i] = lambda[0][i];
    }
    MABD_STAGE(report_segment)(segment, &worst, report);
}
