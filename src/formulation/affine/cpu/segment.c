// SPDX-License-Identifier: Apache-2.0
// Segments of links with ball joints, and functions shared with segments of other joints
// (segment_rows.c). Multipliers, update and check are one pass over the bodies.

#include "formulation/affine/cpu/segment.h"

// ---- the cuts ----

// Add one side of a cut, for one lane: block S, right-hand side b, and C if the side begins the
// joint.
MABD_BLOCK_FN void add_share(int w, const mabd_affine_side_place* to, const mabd_lanes* S,
                             const mabd_lanes* b, const mabd_lanes* C, int l) {
    const bool add = to->mode == MABD_SIDE_ADD;
    const bool begins = to->mode == MABD_SIDE_FIRST || to->mode == MABD_SIDE_GROUND;
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j < w; j++) {
            const mabd_real s = S[mabd_affine_segment_at(w, i, j)].at[l];
            to->D[i * w + j] = add ? to->D[i * w + j] + s : s;
        }
        const mabd_real c = begins && C ? C[i].at[l] : 0;
        to->rhs[i] = (add ? to->rhs[i] : c) + b[i].at[l];
    }
}

MABD_BLOCK_FN void leave(int w, mabd_affine_sim* sim, mabd_affine_segment* segment,
                         const mabd_affine_segment_front* front, const mabd_lanes* before,
                         const mabd_lanes* after) {
    mabd_lanes b0[MABD_SEGMENT_ROWS];
    for (int k = 0; k < w; k++) {
        MABD_EACH_LANE(l) b0[k].at[l] = front->b0[k].at[l] + front->c0[k].at[l];
    }
    // a lane adds to the cut that the previous lane has begun
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_affine_side_place first =
            mabd_affine_pack_place(sim, &segment->before.side, w, l);
        const mabd_affine_side_place last = mabd_affine_pack_place(sim, &segment->after.side, w, l);
        mabd_real* U = sim->U + segment->edge[l];
        add_share(w, &first, front->S0, b0, before, l);
        add_share(w, &last, front->S, front->b, after, l);
        MABD_UNROLL
        for (int k = 0; k < w * w; k++) U[k] = front->F[k].at[l];
    }
}

// Add the ground point of balls to the ground; joints with rows have it in C.
static void add_grounds(const mabd_affine_sim* sim, const mabd_affine_segment* segment) {
    const int32_t* start = sim->model->plan->side_start;
    const mabd_affine_side_place first = mabd_affine_pack_place(sim, &segment->before.side, 3, 0);
    const mabd_affine_side_place last =
        mabd_affine_pack_place(sim, &segment->after.side, 3, MABD_LANES - 1);
    if (first.mode == MABD_SIDE_GROUND)
        mabd_affine_add_ground(sim, start[segment->body], first.rhs);
    if (last.mode == MABD_SIDE_GROUND) {
        mabd_affine_add_ground(sim, start[segment->body + MABD_SEGMENT_BODIES - 1] + 1, last.rhs);
    }
}

void MABD_STAGE(leave_cuts)(mabd_affine_sim* sim, mabd_affine_segment* segment,
                            const mabd_affine_segment_front* front, const mabd_lanes* before,
                            const mabd_lanes* after) {
    switch (segment->width) {
    case 3:
        leave(3, sim, segment, front, NULL, NULL);
        add_grounds(sim, segment);
        break;
    case 4:
        leave(4, sim, segment, front, before, after);
        break;
    case 5:
        leave(5, sim, segment, front, before, after);
        break;
    default:
        leave(6, sim, segment, front, before, after);
        break;
    }
    segment->bad = -1;
    for (int l = MABD_LANES - 1; l >= 0; l--) {
        const int32_t bad = (int32_t)front->bad.at[l];
        if (bad < MABD_SEGMENT_LINKS) segment->bad = segment->slot + MABD_SEGMENT_LINKS * l + bad;
    }
}

void MABD_STAGE(report_segment)(const mabd_affine_segment* segment,
                                const mabd_affine_segment_motion* w,
                                mabd_affine_motion_report* report) {
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t first = segment->body + MABD_SEGMENT_LINKS * l;
        const int32_t broken = (int32_t)w->broken.at[l];
        if (broken >= 0 && report->broken_body < 0) report->broken_body = first + broken;
        if (w->rotation.at[l] > report->rotation) {
            report->rotation = w->rotation.at[l];
            report->rotated_body = first + (int32_t)w->rotated.at[l];
        }
    }
}

// ---- balls ----

static void eliminate(mabd_real k, const mabd_lanes* MABD_RESTRICT from,
                      const mabd_lanes* MABD_RESTRICT to, const mabd_lanes* MABD_RESTRICT U,
                      mabd_affine_segment_front* MABD_RESTRICT front,
                      mabd_lanes* MABD_RESTRICT saved) {
    mabd_affine_segment_eliminate(3, k, from, to, U, front, saved);
}

void MABD_STAGE(assemble_segment)(mabd_affine_sim* sim, int32_t index, const mabd_real* stress,
                                  bool predict) {
    mabd_affine_segment* segment = &sim->packs->segments[index];
    const mabd_affine_block* block = mabd_affine_block_of(sim, segment->body);
    mabd_lanes r[12], S[6], G[6], from[9], to[9], U[9];
    mabd_affine_pack_side side[2];
    mabd_affine_pack_work w;
    mabd_affine_segment_front front;
    mabd_affine_segment_signs(segment, side);
    const int64_t next = (int64_t)segment->body + MABD_SEGMENT_BODIES;
    for (int32_t k = 0; k < MABD_SEGMENT_LINKS; k++) {
        int32_t body[MABD_LANES];
        mabd_affine_segment_bodies(segment, k, body);
        const int64_t ahead = next + MABD_LANES * k; // prefetch a few cache lines per round
        mabd_affine_segment_prefetch_history(sim, block, false, ahead);
        MABD_STAGE(open_lanes)
        (sim, body, MABD_LANES, mabd_affine_segment_halo(segment, k), stress, predict, w.ref, r, S,
         G);
        mabd_affine_segment_prefetch_history(sim, block, true, ahead);
        mabd_affine_segment_sides(sim, index, k, side);
        mabd_affine_segment_prefetch_rows(6, stress, ahead);
        mabd_affine_segment_prefetch_rows(12, sim->ref, ahead);
        mabd_affine_segment_prefetch(6, mabd_affine_segment_X(sim, index + 1, k));
        MABD_STAGE(lanes_link)(block, G, r, &side[0], &side[1], &w, from, to, U);
        mabd_affine_segment_prefetch_rows(12, sim->q_new, ahead);
        mabd_affine_segment_prefetch_rows(6, sim->geometric, ahead);
        mabd_lanes_store(6, w.Z, body, MABD_LANES, sim->geometric);
        mabd_lanes_store(12, w.y, body, MABD_LANES, sim->q_new);
        if (k == 0) {
            mabd_affine_segment_begin(3, from, to, U, &front);
        } else {
            eliminate((mabd_real)k, from, to, U, &front,
                      mabd_affine_segment_saved(sim, segment, k));
        }
        mabd_affine_segment_prefetch(
            MABD_SEGMENT_SAVED(3),
            mabd_affine_segment_saved(sim, segment, k + MABD_PREFETCH_JOINTS));
        mabd_affine_segment_prefetch_cuts(sim, segment, k);
    }
    MABD_STAGE(leave_cuts)(sim, segment, &front, NULL, NULL);
}

static void back(const mabd_lanes* MABD_RESTRICT saved, const mabd_lanes* MABD_RESTRICT cut,
                 const mabd_lanes* MABD_RESTRICT next, mabd_lanes* MABD_RESTRICT lambda) {
    mabd_affine_segment_back(3, saved, cut, next, lambda);
}

// Per lane: the largest squared values of all bodies and joints, and where.
typedef struct segment_worst {
    mabd_affine_segment_motion motion;
    mabd_lanes gap, open;
    mabd_lanes end[3];  // end of body k + 1 at joint k + 1
    mabd_lanes here[3]; // end of body k at joint k + 1
    mabd_lanes last[3]; // end of the last body, at the cut of the next lane
} segment_worst;

static void watch(mabd_real k, const mabd_affine_pack_side* MABD_RESTRICT side,
                  const mabd_affine_moved_lanes* MABD_RESTRICT moved,
                  segment_worst* MABD_RESTRICT w) {
    const mabd_real inside = k < MABD_SEGMENT_LINKS - 1 ? 1 : 0;
    MABD_EACH_LANE(l) {
        const mabd_mat3 A = mabd_lane_m3(moved->q, l);
        const mabd_vec3 t = mabd_lane_v3(moved->q + 9, l);
        const mabd_vec3 here = mabd_v3_add(mabd_m3_mul(A, mabd_lane_v3(side[1].X, l)), t);
        const mabd_vec3 gap = mabd_v3_sub(here, mabd_lane_v3(w->end, l));
        mabd_lane_put_v3(here, w->here, l);
        const mabd_real square = inside * mabd_v3_dot(gap, gap);
        const bool wider = square >= w->gap.at[l];
        w->gap.at[l] = wider ? square : w->gap.at[l];
        w->open.at[l] = wider ? k + 1 : w->open.at[l];
        mabd_affine_segment_watch(k, moved, &w->motion, l);
        const mabd_vec3 end = mabd_v3_add(mabd_m3_mul(A, mabd_lane_v3(side[0].X, l)), t);
        mabd_lane_put_v3(end, w->end, l);
    }
}

static void add_gap(mabd_real square, int32_t joint, mabd_affine_joint_error* open) {
    const mabd_affine_joint_error one = {(mabd_real)sqrt(square), 0, 0, joint};
    mabd_affine_joint_error_add(open, &one);
}

static void report_gaps(const mabd_affine_sim* sim, const mabd_affine_segment* segment,
                        const segment_worst* w, mabd_affine_joint_error* open) {
    const mabd_plan* plan = sim->model->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t first = MABD_SEGMENT_LINKS * l, joint = (int32_t)w->open.at[l];
        add_gap(w->gap.at[l], plan->slot_joint[segment->slot + first + joint], open);
        if (l + 1 == MABD_LANES) continue; // the next cut belongs to the next segment
        const mabd_vec3 gap = mabd_v3_sub(mabd_lane_v3(w->last, l), mabd_lane_v3(w->end, l + 1));
        add_gap(mabd_v3_dot(gap, gap), plan->slot_joint[segment->slot + first + MABD_SEGMENT_LINKS],
                open);
    }
}

void MABD_STAGE(update_segment)(mabd_affine_sim* sim, int32_t index,
                                mabd_affine_motion_report* report, mabd_affine_joint_error* open) {
    const mabd_affine_segment* segment = &sim->packs->segments[index];
    const mabd_affine_block* block = mabd_affine_block_of(sim, segment->body);
    const mabd_affine_segment* next_segment = mabd_affine_segment_next(sim, segment);
    mabd_lanes cut[3], lambda[2][3], ref[12], Z[6], y[12], f[12];
    mabd_affine_pack_side side[2];
    mabd_affine_moved_lanes moved;
    segment_worst worst = {0};
    mabd_affine_segment_signs(segment, side);
    MABD_EACH_LANE(l) {
        worst.motion.rotation.at[l] = worst.motion.broken.at[l] = worst.gap.at[l] = -1;
    }
    mabd_affine_segment_load(3, sim, segment, 0, cut);
    mabd_affine_segment_load(3, sim, segment, MABD_SEGMENT_LINKS, lambda[1]);
    const mabd_real* rows = sim->lambda + sim->model->plan->slot_row[segment->slot];
    const int64_t next = (int64_t)segment->body + MABD_SEGMENT_BODIES;
    for (int32_t k = MABD_SEGMENT_LINKS - 1; k >= 0; k--) {
        int32_t body[MABD_LANES];
        mabd_affine_segment_bodies(segment, k, body);
        const int64_t ahead = next + MABD_LANES * k;
        mabd_affine_segment_prefetch(
            MABD_SEGMENT_SAVED(3), mabd_affine_segment_saved_before(sim, segment, next_segment, k));
        if (k > 0) {
            back(mabd_affine_segment_saved(sim, segment, k), cut, lambda[1], lambda[0]);
            mabd_affine_segment_store(3, sim, segment, k, lambda[0]);
        } else {
            for (int i = 0; i < 3; i++) lambda[0][i] = cut[i];
        }
        mabd_affine_segment_prefetch_rows(12, sim->ref, ahead);
        mabd_lanes_load(12, sim->ref, body, ref);
        mabd_lanes_load(6, sim->geometric, body, Z);
        mabd_lanes_load(12, sim->q_new, body, y);
        mabd_affine_segment_prefetch_rows(12, sim->q_new, ahead);
        for (int i = 0; i < 12; i++) {
            MABD_EACH_LANE(l) f[i].at[l] = 0;
        }
        mabd_affine_segment_sides(sim, index, k, side);
        MABD_STAGE(lanes_pull)(ref, &side[0], lambda[0], f);
        MABD_STAGE(lanes_pull)(ref, &side[1], lambda[1], f);
        mabd_affine_segment_prefetch_rows(6, sim->stress_new, ahead);
        mabd_affine_segment_prefetch_rows(6, sim->geometric, ahead);
        if (!block->soft) mabd_affine_segment_prefetch_rows(4, sim->spin_step, ahead);
        MABD_STAGE(lanes_move)(block, ref, Z, y, f, &moved);
        mabd_affine_segment_prefetch_rows(3, rows, ahead - segment->body);
        mabd_affine_segment_prefetch(6, mabd_affine_segment_X(sim, index + 1, k));
        watch((mabd_real)k, side, &moved, &worst);
        for (int i = 0; i < 3 && k == MABD_SEGMENT_LINKS - 1; i++) worst.last[i] = worst.here[i];
        MABD_STAGE(store_moved)(sim, body, MABD_LANES, Z, &moved);
        for (int i = 0; i < 3; i++) lambda[1][i] = lambda[0][i];
    }
    MABD_STAGE(report_segment)(segment, &worst.motion, report);
    report_gaps(sim, segment, &worst, open);
}
