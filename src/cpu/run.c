// SPDX-License-Identifier: Apache-2.0
// Runs of a long chain (cpu/pack.h): equal links with ball joints, 8 pieces of MABD_RUN_LINKS of them in lanes.
//
// One long chain is one long dependency: joint by joint, each elimination waits for the one before. So it is cut at
// every MABD_RUN_LINKS-th joint. Between two cuts, joint k = 1 .. n - 1 of a piece is eliminated with its block S_k, the block U_k
// to the next joint, and the block F_k that elimination makes to the cut 0 before the piece:
//
//   cut 0 --- 1 --- 2 --- ... --- n - 1 --- cut n                  U_0 is F_1: body 0 couples the cut with joint 1
//
//   Z_k = S_k^-1 U_k          Y_k = S_k^-1 F_k'           h_k = S_k^-1 b_k
//   S_k+1 = D_k+1 - U_k' Z_k  F_k+1 = -F_k Z_k            b_k+1 -= U_k' h_k
//   S_0 -= F_k Y_k                                        b_0 -= F_k h_k
//
// What is left is a chain of the cuts, with blocks S_0, S_n and F_n of every piece: it is shorter by MABD_RUN_LINKS and solved as any
// other (cpu/outer.c). Back from there
//
//   lambda_k = h_k - Y_k lambda_0 - Z_k lambda_k+1
//
// Pieces do not depend on each other: eight go in the lanes of a run, and runs go to threads. The cuts are where the
// model says, so bits do not depend on either. Prediction, blocks and elimination are one pass over the bodies; so are
// multipliers, update and check. The blocks of joints inside a run never leave the registers.

#include "cpu/assemble.h"

#include "math/block.h"

// ---- elimination ---------------------------------------------------------------------------------------

// S = L d L', with 1/d.
typedef struct factor3 {
    mabd_real r1, r2, r3, l21, l31, l32;
} factor3;

MABD_HOT factor3 factor(mabd_sym3 S) {
    factor3 f;
    f.r1 = 1 / S.xx;
    f.l21 = S.xy * f.r1, f.l31 = S.xz * f.r1;
    f.r2 = 1 / (S.yy - f.l21 * S.xy);
    const mabd_real m = S.yz - f.l31 * S.xy;
    f.l32 = m * f.r2;
    f.r3 = 1 / ((S.zz - f.l31 * S.xz) - f.l32 * m);
    return f;
}

MABD_HOT mabd_vec3 solve(const factor3* f, mabd_vec3 b) {
    const mabd_real y = b.y - f->l21 * b.x, z = (b.z - f->l31 * b.x) - f->l32 * y;
    mabd_vec3 x;
    x.z = z * f->r3;
    x.y = y * f->r2 - f->l32 * x.z;
    x.x = (b.x * f->r1 - f->l31 * x.z) - f->l21 * x.y;
    return x;
}

MABD_HOT mabd_mat3 solve_columns(const factor3* f, mabd_mat3 B) {
    return mabd_m3(solve(f, B.c1), solve(f, B.c2), solve(f, B.c3));
}

// S - A' B, which is symmetric
MABD_HOT mabd_sym3 reduce(mabd_sym3 S, mabd_mat3 A, mabd_mat3 B) {
    S.xx -= mabd_v3_dot(A.c1, B.c1), S.yy -= mabd_v3_dot(A.c2, B.c2);
    S.zz -= mabd_v3_dot(A.c3, B.c3), S.xy -= mabd_v3_dot(A.c1, B.c2);
    S.xz -= mabd_v3_dot(A.c1, B.c3), S.yz -= mabd_v3_dot(A.c2, B.c3);
    return S;
}

// Where elimination has come to, all pieces.
typedef struct run_front {
    mabd_lanes S[6],
        b[3];        // of the next joint: the share of the body before it, less what is eliminated
    mabd_lanes F[9]; // to it from the cut before, transposed: column k is of row k of the cut
    mabd_lanes S0[6], b0[3];
    mabd_lanes c0
        [3]; // what elimination takes off b0: small beside a place in a long chain, so added at the end
    mabd_lanes bad; // first joint whose pivot is not positive, as a number; n = none
} run_front;

// Joint k: `from`, `to` and U are of body k, block (6) and right-hand side (3) of its joints k and k + 1.
static void eliminate(mabd_real k, const mabd_lanes* MABD_RESTRICT from,
                      const mabd_lanes* MABD_RESTRICT to, const mabd_lanes* MABD_RESTRICT rows,
                      run_front* MABD_RESTRICT w, mabd_lanes* MABD_RESTRICT kept) {
    MABD_EACH_LANE(l) {
        mabd_sym3 S = mabd_lane_s3(w->S, l);
        const mabd_sym3 D = mabd_lane_s3(from, l);
        S.xx += D.xx, S.yy += D.yy, S.zz += D.zz, S.xy += D.xy, S.xz += D.xz, S.yz += D.yz;
        const mabd_vec3 b = mabd_v3_add(mabd_lane_v3(w->b, l), mabd_lane_v3(from + 6, l));
        const mabd_mat3 U = mabd_m3_transpose(mabd_lane_m3(rows, l)), F = mabd_lane_m3(w->F, l);
        const factor3 f = factor(S);
        const mabd_mat3 Z = solve_columns(&f, U), Y = solve_columns(&f, F);
        const mabd_vec3 h = solve(&f, b);
        const mabd_real least = f.r1 < f.r2 ? f.r1 : f.r2, most = f.r1 + f.r2 + f.r3;
        const bool good = (least > 0) & (f.r3 > 0) & (most < (mabd_real)INFINITY);
        w->bad.at[l] = good | (w->bad.at[l] < k) ? w->bad.at[l] : k;
        mabd_lane_put_m3(Z, kept, l);
        mabd_lane_put_m3(Y, kept + 9, l);
        mabd_lane_put_v3(h, kept + 18, l);
        mabd_lane_put_s3(reduce(mabd_lane_s3(to, l), U, Z), w->S, l);
        mabd_lane_put_v3(mabd_v3_sub(mabd_lane_v3(to + 6, l), mabd_m3_tmul(U, h)), w->b, l);
        mabd_lane_put_s3(reduce(mabd_lane_s3(w->S0, l), F, Y), w->S0, l);
        mabd_lane_put_v3(mabd_v3_sub(mabd_lane_v3(w->c0, l), mabd_m3_tmul(F, h)), w->c0, l);
        const mabd_mat3 G = mabd_m3_tproduct(Z, F); // F_k+1' = -Z' F_k'
        mabd_lane_put_v3(mabd_v3_scale(-1, G.c1), w->F, l);
        mabd_lane_put_v3(mabd_v3_scale(-1, G.c2), w->F + 3, l);
        mabd_lane_put_v3(mabd_v3_scale(-1, G.c3), w->F + 6, l);
    }
}

// Body 0: joint 0 is the cut.
static void begin(const mabd_lanes* from, const mabd_lanes* to, const mabd_lanes* U, run_front* w) {
    for (int k = 0; k < 6; k++) w->S0[k] = from[k], w->S[k] = to[k];
    for (int k = 0; k < 3; k++) w->b0[k] = from[6 + k], w->b[k] = to[6 + k];
    for (int k = 0; k < 9; k++) w->F[k] = U[k]; // rows of U are columns of F'
    MABD_EACH_LANE(l) {
        w->c0[0].at[l] = w->c0[1].at[l] = w->c0[2].at[l] = 0;
        w->bad.at[l] = MABD_RUN_LINKS;
    }
}

// ---- the cuts --------------------------------------------------------------------------------------------

static void add_share(mabd_cpu_sim* sim, int32_t side, const mabd_real* in) {
    const mabd_side_place to = mabd_cpu_place(sim, side);
    mabd_cpu_put_share(sim, side, &to, in);
}

// Shares of both cuts of every piece, and the block between them in the place of its first body's.
static void leave_cuts(mabd_cpu_sim* sim, mabd_run* run, const run_front* w) {
    const mabd_plan* plan = sim->model->plan;
    mabd_lanes left[9], right[9];
    mabd_lane_blocks before, after, F;
    for (int k = 0; k < 6; k++) left[k] = w->S0[k], right[k] = w->S[k];
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) left[6 + k].at[l] = w->b0[k].at[l] + w->c0[k].at[l];
        right[6 + k] = w->b[k];
    }
    mabd_lanes_turn_block(left, mabd_side_order, &before);
    mabd_lanes_turn_block(right, mabd_side_order, &after);
    mabd_lanes_turn_block(w->F, mabd_pair_order, &F);
    run->bad = -1;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t first = run->body + MABD_RUN_LINKS * l, last = first + MABD_RUN_LINKS - 1;
        add_share(sim, plan->side_start[first], before.at[l]);
        add_share(sim, plan->side_start[last] + 1, after.at[l]);
        mabd_real* U = sim->U + plan->edge_block[plan->pairs[plan->pair_start[first]].edge];
        for (int k = 0; k < 9; k++) U[k] = F.at[l][k];
        const int32_t bad = (int32_t)w->bad.at[l];
        if (bad < MABD_RUN_LINKS && run->bad < 0) run->bad = run->slot + MABD_RUN_LINKS * l + bad;
    }
}

// ---- both ways -------------------------------------------------------------------------------------------

// Body k of every piece.
static void find_bodies(const mabd_run* run, int32_t k, int32_t* body) {
    for (int l = 0; l < MABD_LANES; l++) body[l] = run->body + MABD_RUN_LINKS * l + k;
}

// Ask for a part of the next or last run, which most likely is this thread's next tile: the rows of as many bodies as one
// round goes over, one after the other as the memory likes them. They wait in the second level of the cache.
MABD_HOT void prefetch_rows(int columns, const mabd_real* base, int64_t body) {
    const uintptr_t row = (uintptr_t)columns * sizeof *base;
    const uintptr_t at = (uintptr_t)base + (uintptr_t)body * row;
    for (uintptr_t k = 0; k < MABD_LANES * row; k += 64) MABD_PREFETCH_FAR(at + k);
}

MABD_HOT void prefetch_lanes(int count, const mabd_lanes* at) {
    for (int k = 0; k < count; k++) MABD_PREFETCH_FAR((uintptr_t)at + 64 * (uintptr_t)k);
}

static const mabd_lanes* X_of(const mabd_cpu_sim* sim, int32_t run, int32_t k) {
    return sim->packs->run_X + 6 * ((size_t)run * MABD_RUN_LINKS + (size_t)k);
}
static mabd_lanes* kept_of(const mabd_cpu_sim* sim, int32_t run, int32_t k) {
    return sim->packs->kept +
           ((size_t)run * (MABD_RUN_LINKS - 1) + (size_t)(k - 1)) * MABD_RUN_KEPT;
}

// Joints of body k.
static void find_sides(const mabd_cpu_sim* sim, int32_t run, int32_t k, mabd_pack_side* side) {
    const mabd_lanes* X = X_of(sim, run, k);
    for (int i = 0; i < 3; i++) side[0].X[i] = X[i], side[1].X[i] = X[3 + i];
}
static void find_signs(const mabd_run* run, mabd_pack_side* side) {
    MABD_EACH_LANE(l) side[0].sign.at[l] = run->sign[0], side[1].sign.at[l] = run->sign[1];
}

void MABD_STAGE(assemble_run)(mabd_cpu_sim* sim, int32_t index, const mabd_real* stress,
                              bool predict) {
    mabd_run* run = &sim->packs->runs[index];
    const mabd_model* m = sim->model;
    const mabd_body_block* block = mabd_cpu_block(sim, run->body);
    const mabd_real mass = m->classes[m->body_class[run->body]].material.mass;
    const mabd_vec3 weight = mabd_v3_scale(mass, mabd_v3_load(m->gravity));
    mabd_lanes q_hat[12], guess[12], S[6], G[6], from[9], to[9], U[9];
    mabd_pack_side side[2];
    mabd_pack_work w;
    run_front front;
    find_signs(run, side);
    const int64_t next = (int64_t)run->body + MABD_RUN_BODIES;
    for (int32_t k = 0; k < MABD_RUN_LINKS; k++) {
        int32_t body[MABD_LANES];
        find_bodies(run, k, body);
        const int64_t ahead = next + MABD_LANES * k; // a few lines between two pieces of work
        prefetch_rows(12, sim->q, ahead);
        prefetch_rows(12, sim->q1, ahead);
        MABD_STAGE(lanes_target)(sim, body, q_hat, guess);
        prefetch_rows(12, sim->v, ahead);
        prefetch_rows(12, sim->v1, ahead);
        if (predict) {
            MABD_STAGE(lanes_reference)(sim, body, guess, w.ref);
            const uint8_t border = k == 0                    ? run->border[0]
                                   : k == MABD_RUN_LINKS - 1 ? run->border[1]
                                                             : 0;
            MABD_STAGE(store_references)(sim, w.ref, body, MABD_LANES, border);
        } else {
            mabd_lanes_load(12, sim->ref, body, w.ref);
        }
        prefetch_rows(6, stress, ahead);
        mabd_lanes_load(6, stress, body, S);
        MABD_STAGE(lanes_geometric)(block, S, G);
        find_sides(sim, index, k, side);
        prefetch_rows(12, sim->ref, ahead);
        prefetch_lanes(6, X_of(sim, index + 1, k));
        MABD_STAGE(lanes_link)(block, weight, G, q_hat, &side[0], &side[1], &w, from, to, U);
        prefetch_rows(12, sim->q_new, ahead);
        prefetch_rows(6, sim->geometric, ahead);
        mabd_lanes_store(6, w.Z, body, MABD_LANES, sim->geometric);
        mabd_lanes_store(12, w.y, body, MABD_LANES, sim->q_new);
        if (k == 0) {
            begin(from, to, U, &front);
        } else {
            eliminate((mabd_real)k, from, to, U, &front, kept_of(sim, index, k));
        }
        prefetch_lanes(MABD_RUN_KEPT, kept_of(sim, index + 1, k + 1));
    }
    leave_cuts(sim, run, &front);
}

static void back(const mabd_lanes* MABD_RESTRICT kept, const mabd_lanes* MABD_RESTRICT cut,
                 const mabd_lanes* MABD_RESTRICT next, mabd_lanes* MABD_RESTRICT lambda) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 far = mabd_m3_mul(mabd_lane_m3(kept + 9, l), mabd_lane_v3(cut, l));
        const mabd_vec3 near = mabd_m3_mul(mabd_lane_m3(kept, l), mabd_lane_v3(next, l));
        const mabd_vec3 h = mabd_lane_v3(kept + 18, l);
        mabd_lane_put_v3(mabd_v3_sub(mabd_v3_sub(h, far), near), lambda, l);
    }
}

// Multipliers of joint k of all pieces.
static void load_rows(const mabd_cpu_sim* sim, const mabd_run* run, int32_t k, mabd_lanes* to) {
    const int32_t row = sim->model->plan->slot_row[run->slot] + 3 * k;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_real* from = sim->lambda + row + 3 * MABD_RUN_LINKS * l;
        to[0].at[l] = from[0], to[1].at[l] = from[1], to[2].at[l] = from[2];
    }
}
static void store_rows(mabd_cpu_sim* sim, const mabd_run* run, int32_t k, const mabd_lanes* from) {
    const int32_t row = sim->model->plan->slot_row[run->slot] + 3 * k;
    for (int l = 0; l < MABD_LANES; l++) {
        mabd_real* to = sim->lambda + row + 3 * MABD_RUN_LINKS * l;
        to[0] = from[0].at[l], to[1] = from[1].at[l], to[2] = from[2].at[l];
    }
}

// The largest of all bodies and joints of a piece, squared, and where.
typedef struct run_worst {
    mabd_lanes twist, twisted, broken, gap, open; // broken: the first, -1 = none
    mabd_lanes end[3];                            // the end of body k + 1 at joint k + 1
    mabd_lanes here[3];                           // that of body k there
    mabd_lanes last[3];                           // that of the last body, at the next piece's cut
} run_worst;

static void watch(mabd_real k, const mabd_pack_side* MABD_RESTRICT side,
                  const mabd_moved_lanes* MABD_RESTRICT moved, run_worst* MABD_RESTRICT w) {
    const mabd_real inside = k < MABD_RUN_LINKS - 1 ? 1 : 0;
    MABD_EACH_LANE(l) {
        const mabd_mat3 A = mabd_lane_m3(moved->q, l);
        const mabd_vec3 t = mabd_lane_v3(moved->q + 9, l);
        const mabd_vec3 here = mabd_v3_add(mabd_m3_mul(A, mabd_lane_v3(side[1].X, l)), t);
        const mabd_vec3 gap = mabd_v3_sub(here, mabd_lane_v3(w->end, l));
        mabd_lane_put_v3(here, w->here, l);
        const mabd_real square = inside * mabd_v3_dot(gap, gap), twist = moved->twist.at[l];
        const bool more = twist >= w->twist.at[l], wider = square >= w->gap.at[l];
        w->twist.at[l] = more ? twist : w->twist.at[l];
        w->twisted.at[l] = more ? k : w->twisted.at[l];
        w->gap.at[l] = wider ? square : w->gap.at[l];
        w->open.at[l] = wider ? k + 1 : w->open.at[l];
        w->broken.at[l] = moved->size.at[l] < (mabd_real)1e30 ? w->broken.at[l] : k;
        const mabd_vec3 end = mabd_v3_add(mabd_m3_mul(A, mabd_lane_v3(side[0].X, l)), t);
        mabd_lane_put_v3(end, w->end, l);
    }
}

static void add_gap(mabd_real square, int32_t joint, mabd_opening* open) {
    const mabd_opening one = {(mabd_real)sqrt(square), 0, 0, joint};
    mabd_opening_add(open, &one);
}

static void report_worst(const mabd_cpu_sim* sim, const mabd_run* run, const run_worst* w,
                         mabd_motion_report* report, mabd_opening* open) {
    const mabd_plan* plan = sim->model->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t first = MABD_RUN_LINKS * l;
        const int32_t broken = (int32_t)w->broken.at[l], joint = (int32_t)w->open.at[l];
        if (broken >= 0 && report->broken_body < 0) {
            report->broken_body = run->body + first + broken;
        }
        if (w->twist.at[l] > report->twist) {
            report->twist = w->twist.at[l];
            report->twisted_body = run->body + first + (int32_t)w->twisted.at[l];
        }
        add_gap(w->gap.at[l], plan->slot_joint[run->slot + first + joint], open);
        if (l + 1 == MABD_LANES) continue; // the next cut is one of the next run
        const mabd_vec3 gap = mabd_v3_sub(mabd_lane_v3(w->last, l), mabd_lane_v3(w->end, l + 1));
        add_gap(mabd_v3_dot(gap, gap), plan->slot_joint[run->slot + first + MABD_RUN_LINKS], open);
    }
}

void MABD_STAGE(update_run)(mabd_cpu_sim* sim, int32_t index, mabd_motion_report* report,
                            mabd_opening* open) {
    const mabd_run* run = &sim->packs->runs[index];
    const mabd_body_block* block = mabd_cpu_block(sim, run->body);
    mabd_lanes cut[3], lambda[2][3], ref[12], Z[6], y[12], f[12];
    mabd_pack_side side[2];
    mabd_moved_lanes moved;
    run_worst worst = {0};
    find_signs(run, side);
    MABD_EACH_LANE(l) worst.twist.at[l] = worst.gap.at[l] = worst.broken.at[l] = -1;
    load_rows(sim, run, 0, cut);
    load_rows(sim, run, MABD_RUN_LINKS, lambda[1]);
    const mabd_real* rows = sim->lambda + sim->model->plan->slot_row[run->slot];
    const int64_t next = (int64_t)run->body + MABD_RUN_BODIES;
    for (int32_t k = MABD_RUN_LINKS - 1; k >= 0; k--) {
        int32_t body[MABD_LANES];
        find_bodies(run, k, body);
        const int64_t ahead = next + MABD_LANES * k;
        prefetch_lanes(MABD_RUN_KEPT, kept_of(sim, index + 1, k + 1));
        if (k > 0) {
            back(kept_of(sim, index, k), cut, lambda[1], lambda[0]);
            store_rows(sim, run, k, lambda[0]);
        } else {
            for (int i = 0; i < 3; i++) lambda[0][i] = cut[i];
        }
        prefetch_rows(12, sim->ref, ahead);
        mabd_lanes_load(12, sim->ref, body, ref);
        mabd_lanes_load(6, sim->geometric, body, Z);
        mabd_lanes_load(12, sim->q_new, body, y);
        prefetch_rows(12, sim->q_new, ahead);
        for (int i = 0; i < 12; i++) {
            MABD_EACH_LANE(l) f[i].at[l] = 0;
        }
        find_sides(sim, index, k, side);
        MABD_STAGE(lanes_pull)(ref, &side[0], lambda[0], f);
        MABD_STAGE(lanes_pull)(ref, &side[1], lambda[1], f);
        prefetch_rows(6, sim->stress_new, ahead);
        prefetch_rows(6, sim->geometric, ahead);
        MABD_STAGE(lanes_move)(block, ref, Z, y, f, &moved);
        prefetch_rows(3, rows, ahead - run->body);
        prefetch_lanes(6, X_of(sim, index + 1, k));
        watch((mabd_real)k, side, &moved, &worst);
        for (int i = 0; i < 3 && k == MABD_RUN_LINKS - 1; i++) worst.last[i] = worst.here[i];
        mabd_lanes_store(12, moved.q, body, MABD_LANES, sim->q_new);
        mabd_lanes_store(6, moved.stress, body, MABD_LANES, sim->stress_new);
        for (int i = 0; i < 3; i++) lambda[1][i] = lambda[0][i];
    }
    report_worst(sim, run, &worst, report, open);
}
