// SPDX-License-Identifier: Apache-2.0
// Packs of bodies whose joints are balls, or balls with springs on the rotation vector
// (affine/cpu/pack.h): assemble and update, all lanes at once. The mathematics is that of
// affine/element/assemble_springs.h,
//
//            3              3                          V_i = s_i R V(X_i) / 2
//   D, U  | s_i s_j R c R'  V_i N_j        | 3         N_i = s_i R' n
//         | (V_j N_i)'      N_i' S N_j / 4 | 3
//   b     | s (t + R (X + D X + tau)), N' T y / 2 |    n: axes of the joint, world (pack_turns.c)
//
// without its lower or right part where a joint is a ball. Of symmetric blocks in D only one
// triangle is computed. The first side of a joint adds the compliance of the springs. The force J'
// lambda of springs is a torque, s n lambda in the world, which is rotated to the body once for all
// joints.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/limits.h"

#include "math/block.h"

/// Bodies of a pack while their joints are assembled.
typedef struct spring_bodies {
    mabd_lanes ref[12]; // rigid reference
    mabd_lanes Z[6];    // affine/element/affine_body.h
    mabd_lanes S[6];    // compliance of the rotation
    mabd_lanes y[12];   // r, then H^-1 r
} spring_bodies;

/// Data of a side that pairs need.
typedef struct spring_side {
    mabd_lanes V[9], N[9];
} spring_side;

// Reals of a block of a side and its right-hand side: 36 + 6, or 9 + 3, padded to whole squares.
#define SIDE_REALS 44

typedef struct spring_blocks {
    alignas(64) mabd_real at[MABD_PACK_SIDES][MABD_LANES][SIDE_REALS];
} spring_blocks;

// ---- memory ----
// A pack reads and writes some twenty streams, more than the hardware prefetcher follows. Data of a
// later pack is prefetched into the second-level cache while this one is processed, a few cache
// lines at a time; prefetching all lines at once takes as long as no prefetch. Its sides, which
// hold the places of its blocks, are prefetched earlier still.

static const mabd_affine_pack* pack_ahead(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                          int32_t by) {
    const mabd_affine_packs* packs = sim->packs;
    const bool is_there = pack - packs->packs + by < packs->pack_count;
    return is_there && pack[by].kind == MABD_BODY_SPRUNG ? pack + by : NULL;
}

static void prefetch_rows(int columns, const mabd_real* base, const mabd_affine_pack* pack) {
    for (int32_t l = 0; pack && l < pack->count; l++) {
        const mabd_real* row = base + (size_t)columns * (size_t)pack->body[l];
        MABD_PREFETCH_FAR(row);
        if (columns > 8) MABD_PREFETCH_FAR(row + columns - 1);
    }
}

// Prefetch the state of a pack, in two parts. block: of the current one.
static void prefetch_history(const mabd_affine_sim* sim, const mabd_affine_block* block,
                             bool second, const mabd_affine_pack* pack) {
    if (block->soft) {
        prefetch_rows(12, second ? sim->v : sim->q, pack);
        prefetch_rows(12, second ? sim->v1 : sim->q1, pack);
    } else if (second) {
        prefetch_rows(MABD_CENTER_REALS, sim->center, pack);
    } else {
        prefetch_rows(MABD_SPIN_REALS, sim->spin, pack);
        prefetch_rows(4, sim->spin_ref, pack);
    }
}

static void prefetch_block(const mabd_real* block) {
    for (int k = 0; k < 36; k += 8) MABD_PREFETCH_FAR(block + k);
}

static void prefetch_axes(const mabd_affine_sim* sim, const mabd_affine_pack_side* side, int l) {
    const mabd_real* axes = sim->turn_axes + 3 * (size_t)side->spring[l];
    MABD_PREFETCH_FAR(axes);
    MABD_PREFETCH_FAR(axes + 8);
}

// Prefetch side i for assembly: blocks, unless the other side has them in the cache, right-hand
// sides, axes.
static void prefetch_side(const mabd_affine_sim* sim, const mabd_affine_pack* pack, int32_t i) {
    if (!pack || i >= pack->side_count) return;
    const mabd_affine_pack_side* side = sim->packs->sides + pack->side_first + i;
    for (int32_t l = 0; l < pack->count && side->width == 6; l++) {
        const mabd_affine_side_place to = mabd_affine_pack_place(sim, side, 6, l);
        if (to.mode != MABD_SIDE_ADD) prefetch_block(to.D);
        MABD_PREFETCH_FAR(to.rhs);
        prefetch_axes(sim, side, l);
    }
}

// Prefetch side i for update: multipliers and axes.
static void prefetch_pull(const mabd_affine_sim* sim, const mabd_affine_pack* pack, int32_t i) {
    if (!pack || i >= pack->side_count) return;
    const mabd_affine_pack_side* side = sim->packs->sides + pack->side_first + i;
    for (int32_t l = 0; l < pack->count && side->width == 6; l++) {
        MABD_PREFETCH_FAR(sim->lambda + side->row[l]);
        prefetch_axes(sim, side, l);
    }
}

static void prefetch_pair(const mabd_affine_sim* sim, const mabd_affine_pack* pack, int32_t i) {
    if (!pack || 2 * i >= pack->side_count * (pack->side_count - 1)) return;
    const mabd_affine_pack_pair* pair = sim->packs->pairs + pack->pair_first + i;
    for (int32_t l = 0; l < pack->count; l++) prefetch_block(sim->U + pair->block[l]);
}

static void prefetch_places(const mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    if (!pack) return;
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const size_t bytes = (size_t)pack->side_count * sizeof *sides;
    for (size_t k = 0; k < bytes; k += 64) MABD_PREFETCH_FAR((uintptr_t)sides + k);
}

// ---- bodies ----

// Compute Z, S and r. inertia (12): r without drag; wind: drag times wind [N]; t_b: w q + w1 q1,
// the origin of the velocity in the drag.
static void open_bodies(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 wind,
                        const mabd_lanes* MABD_RESTRICT G, const mabd_lanes* MABD_RESTRICT inertia,
                        const mabd_lanes* MABD_RESTRICT t_b, spring_bodies* MABD_RESTRICT w) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_vec12 ref = mabd_lane_vec12(w->ref, l);
        const mabd_sym3 Z = mabd_affine_block_woodbury(&b, mabd_lane_s3(G, l));
        mabd_vec12 r = mabd_lane_vec12(inertia, l);
        const mabd_vec3 drag =
            mabd_v3_axpy(b.drag_rate, mabd_v3_sub(mabd_lane_v3(t_b, l), ref.tau), wind);
        r.tau = mabd_v3_add(r.tau, mabd_m3_tmul(mabd_m3(ref.d1, ref.d2, ref.d3), drag));
        mabd_lane_put_s3(Z, w->Z, l);
        mabd_lane_put_s3(mabd_affine_block_turn_compliance(&b, Z), w->S, l);
        mabd_lane_put_vec12(r, w->y, l);
    }
}

static void solve_bodies(const mabd_affine_block* MABD_RESTRICT block,
                         const mabd_lanes* MABD_RESTRICT Z, mabd_lanes* MABD_RESTRICT y) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_vec12 r = mabd_lane_vec12(y, l);
        mabd_lane_put_vec12(mabd_affine_block_solve(&b, mabd_lane_s3(Z, l), r), y, l);
    }
}

static void find_start(const mabd_affine_sim* sim, const mabd_affine_pack* pack, mabd_lanes* t_b) {
    const mabd_affine_step_scale s = *mabd_affine_scale(sim, pack->body[0]);
    const mabd_real *q[MABD_LANES], *q1[MABD_LANES];
    mabd_lanes t[4], t1[4]; // an entry of A, then t
    for (int l = 0; l < MABD_LANES; l++) {
        q[l] = sim->q + 12 * (size_t)pack->body[l] + 8;
        q1[l] = sim->q1 + 12 * (size_t)pack->body[l] + 8;
    }
    mabd_lanes_gather(4, q, t);
    mabd_lanes_gather(4, q1, t1);
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) t_b[k].at[l] = s.w * t[k + 1].at[l] + s.w1 * t1[k + 1].at[l];
    }
}

static void find_bodies(mabd_affine_sim* sim, const mabd_affine_pack* pack, const mabd_lanes* G,
                        const mabd_lanes* inertia, spring_bodies* w) {
    const mabd_model* m = sim->model;
    const mabd_affine_block* block = mabd_affine_block_of(sim, pack->body[0]);
    const mabd_body_material* material = &m->classes[pack->body_class].material;
    const mabd_vec3 wind = mabd_v3_scale(material->drag, sim->step.wind);
    mabd_lanes t_b[3];
    find_start(sim, pack, t_b);
    open_bodies(block, wind, G, inertia, t_b, w);
    for (int l = 0; l < MABD_LANES && (m->force_count > 0 || sim->sizes.motor_only > 0); l++) {
        mabd_vec12 r = mabd_lane_vec12(w->y, l);
        MABD_STAGE(push_body)(sim, pack->body[l], mabd_lane_m3(w->ref, l), &r);
        mabd_lane_put_vec12(r, w->y, l);
    }
    solve_bodies(block, w->Z, w->y);
}

// ---- sides ----
// Lanes of a side: 0 point, point (xx yy zz xy xz yz), 6 point, vector by columns, 15 vector,
// vector, 21 right-hand side.

static const int ball_order[12] = {0, 3, 4, 3, 1, 5, 4, 5, 2, 21, 22, 23};
static const int spring_order[SIDE_REALS] = {
    0,  3,  4, 6,  9,  12, 3,  1,  5,  7,  10, 13, 4,  5,  2,  8,  11, 14, 6,  7,  8,  15,
    18, 19, 9, 10, 11, 18, 16, 20, 12, 13, 14, 19, 20, 17, 21, 22, 23, 24, 25, 26, 26, 26};

static void compute_points(const mabd_affine_block* MABD_RESTRICT block,
                           const spring_bodies* MABD_RESTRICT w,
                           const mabd_affine_pack_side* MABD_RESTRICT side,
                           mabd_lanes* MABD_RESTRICT V, mabd_lanes* MABD_RESTRICT out) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_vec12 y = mabd_lane_vec12(w->y, l);
        const mabd_mat3 R = mabd_lane_m3(w->ref, l);
        const mabd_real s = side->sign.at[l], h = (mabd_real)0.5 * s;
        const mabd_affine_attachment x =
            mabd_affine_block_attach(&b, mabd_lane_s3(w->Z, l), mabd_lane_v3(side->X, l));
        const mabd_mat3 turn = mabd_m3_product(R, mabd_affine_block_point_turn(&b, &x));
        const mabd_vec3 end = mabd_vec12_end(R, mabd_lane_v3(w->ref + 9, l), &y, x.X);
        mabd_lane_put_s3(mabd_sym3_rotate(R, mabd_affine_block_self_compliance(&b, &x)), out, l);
        mabd_lane_put_v3(mabd_v3_scale(s, end), out + 21, l);
        mabd_lane_put_v3(mabd_v3_scale(h, turn.c1), V, l);
        mabd_lane_put_v3(mabd_v3_scale(h, turn.c2), V + 3, l);
        mabd_lane_put_v3(mabd_v3_scale(h, turn.c3), V + 6, l);
    }
}

// Compute the spring rows of a side. n: axes of the joint, world.
static void compute_springs(const spring_bodies* MABD_RESTRICT w,
                            const mabd_lanes* MABD_RESTRICT sign, const mabd_lanes* MABD_RESTRICT n,
                            const mabd_lanes* MABD_RESTRICT V, mabd_lanes* MABD_RESTRICT N,
                            mabd_lanes* MABD_RESTRICT out) {
    const mabd_real quarter = (mabd_real)0.25, half = (mabd_real)0.5;
    MABD_EACH_LANE(l) {
        const mabd_mat3 turned = mabd_m3_tproduct(mabd_lane_m3(w->ref, l), mabd_lane_m3(n, l));
        const mabd_real s = sign->at[l];
        const mabd_mat3 A = mabd_m3(mabd_v3_scale(s, turned.c1), mabd_v3_scale(s, turned.c2),
                                    mabd_v3_scale(s, turned.c3));
        const mabd_vec3 rotation = mabd_vec12_rotation(mabd_lane_vec12(w->y, l));
        const mabd_sym3 vv = mabd_sym3_rotate(mabd_m3_transpose(A), mabd_lane_s3(w->S, l));
        mabd_lane_put_m3(A, N, l);
        mabd_lane_put_m3(mabd_m3_product(mabd_lane_m3(V, l), A), out + 6, l);
        mabd_lane_put_v3(mabd_v3_scale(quarter, mabd_v3(vv.xx, vv.yy, vv.zz)), out + 15, l);
        mabd_lane_put_v3(mabd_v3_scale(quarter, mabd_v3(vv.xy, vv.xz, vv.yz)), out + 18, l);
        mabd_lane_put_v3(mabd_v3_scale(half, mabd_m3_tmul(A, rotation)), out + 24, l);
    }
}

static void load_axes(const mabd_affine_sim* sim, const mabd_affine_pack_side* side,
                      mabd_lanes* n) {
    const mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = sim->turn_axes + 3 * (size_t)side->spring[l];
    mabd_lanes_gather(9, p, n);
}

static void compute_side(const mabd_affine_sim* sim, const mabd_affine_block* block,
                         const spring_bodies* w, const mabd_affine_pack_side* side,
                         spring_side* own, mabd_real (*block_at)[SIDE_REALS]) {
    mabd_lanes out[27], n[9];
    mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = block_at[l];
    compute_points(block, w, side, own->V, out);
    if (side->width == 3) {
        mabd_lanes_turn(12, out, ball_order, p);
        return;
    }
    load_axes(sim, side, n);
    compute_springs(w, &side->sign, n, own->V, own->N, out);
    mabd_lanes_turn(SIDE_REALS, out, spring_order, p);
}

// Store a block of `width` rows and its right-hand side.
MABD_HOT void store_block(int width, const mabd_affine_sim* sim, const mabd_affine_pack_side* side,
                          int l, const mabd_affine_side_place* to, const mabd_real* in) {
    const int reals = width * width;
    const bool first = to->mode == MABD_SIDE_FIRST || to->mode == MABD_SIDE_GROUND;
    if (to->mode == MABD_SIDE_ADD) {
        mabd_reals_add(reals, in, to->D);
        mabd_reals_add(width, in + reals, to->rhs);
        return;
    }
    mabd_reals_copy(reals, in, to->D);
    // only now: loading a quad right after a single number was stored to it stalls
    if (width == 6 && first)
        mabd_affine_add_compliance(sim, side->row_set[l], side->spring[l], to->D);
    mabd_reals_copy(3, in + reals, to->rhs);
    if (width == 3) return;
    if (first) {
        mabd_reals_add(3, in + reals + 3, to->rhs + 3);
    } else {
        mabd_reals_copy(3, in + reals + 3, to->rhs + 3);
    }
}

// Store lane by lane: a body of a pack may add to the joint of the previous body.
static void store_sides(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                        const mabd_affine_pack_side* sides, spring_blocks* blocks) {
    for (int l = 0; l < pack->count; l++) {
        for (int32_t i = 0; i < pack->side_count; i++) {
            const mabd_affine_side_place to =
                mabd_affine_pack_place(sim, &sides[i], sides[i].width, l);
            if (sides[i].width == 3) {
                store_block(3, sim, &sides[i], l, &to, blocks->at[i][l]);
            } else {
                store_block(6, sim, &sides[i], l, &to, blocks->at[i][l]);
            }
            if (to.mode != MABD_SIDE_GROUND) continue;
            mabd_affine_add_ground(sim, sim->model->plan->side_start[pack->body[l]] + i, to.rhs);
        }
    }
}

// ---- pairs ----
// Lanes of a pair: 0 point, point, 9 point, vector, 18 (vector, point)', 27 vector, vector; each by
// columns.

static const int pair_order[4][36] = {
    {0, 3, 6, 1, 4, 7, 2, 5, 8, 8, 8, 8},
    {0, 3, 6, 9, 12, 15, 1, 4, 7, 10, 13, 16, 2, 5, 8, 11, 14, 17, 17, 17},
    {0, 3, 6, 1, 4, 7, 2, 5, 8, 18, 19, 20, 21, 22, 23, 24, 25, 26, 26, 26},
    {0,  3,  6,  9,  12, 15, 1,  4,  7,  10, 13, 16, 2,  5,  8,  11, 14, 17,
     18, 19, 20, 27, 30, 33, 21, 22, 23, 28, 31, 34, 24, 25, 26, 29, 32, 35}};

static void pair_points(const mabd_affine_block* MABD_RESTRICT block,
                        const spring_bodies* MABD_RESTRICT w,
                        const mabd_affine_pack_side* MABD_RESTRICT from,
                        const mabd_affine_pack_side* MABD_RESTRICT to,
                        mabd_lanes* MABD_RESTRICT U) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_sym3 Z = mabd_lane_s3(w->Z, l);
        const mabd_mat3 R = mabd_lane_m3(w->ref, l);
        const mabd_affine_attachment x = mabd_affine_block_attach(&b, Z, mabd_lane_v3(from->X, l));
        const mabd_affine_attachment y = mabd_affine_block_attach(&b, Z, mabd_lane_v3(to->X, l));
        const mabd_mat3 c = mabd_affine_block_compliance(&b, &x, &y);
        const mabd_mat3 C = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
        const mabd_real s = from->sign.at[l] * to->sign.at[l];
        mabd_lane_put_v3(mabd_v3_scale(s, C.c1), U, l);
        mabd_lane_put_v3(mabd_v3_scale(s, C.c2), U + 3, l);
        mabd_lane_put_v3(mabd_v3_scale(s, C.c3), U + 6, l);
    }
}

// V N
static void pair_mixed(const mabd_lanes* MABD_RESTRICT V, const mabd_lanes* MABD_RESTRICT N,
                       mabd_lanes* MABD_RESTRICT U) {
    MABD_EACH_LANE(l) {
        mabd_lane_put_m3(mabd_m3_product(mabd_lane_m3(V, l), mabd_lane_m3(N, l)), U, l);
    }
}

// N' S M / 4
static void pair_springs(const mabd_lanes* MABD_RESTRICT S, const mabd_lanes* MABD_RESTRICT N,
                         const mabd_lanes* MABD_RESTRICT M, mabd_lanes* MABD_RESTRICT U) {
    const mabd_real quarter = (mabd_real)0.25;
    MABD_EACH_LANE(l) {
        const mabd_mat3 m = mabd_lane_m3(M, l);
        mabd_sym3 s = mabd_lane_s3(S, l);
        s.xx *= quarter, s.yy *= quarter, s.zz *= quarter;
        s.xy *= quarter, s.xz *= quarter, s.yz *= quarter;
        const mabd_mat3 SM =
            mabd_m3(mabd_sym3_mul(s, m.c1), mabd_sym3_mul(s, m.c2), mabd_sym3_mul(s, m.c3));
        mabd_lane_put_m3(mabd_m3_tproduct(mabd_lane_m3(N, l), SM), U, l);
    }
}

// Store `count` reals of each lane.
MABD_HOT void store_pair(int count, mabd_affine_sim* sim, const mabd_affine_pack* pack,
                         const mabd_affine_pack_pair* pair, const mabd_lanes* U, const int* order) {
    alignas(64) mabd_real turned[MABD_LANES][36];
    mabd_real* p[MABD_LANES];
    const bool straight = count == 36 && pack->count == MABD_LANES && !sim->shared_edges;
    for (int l = 0; l < MABD_LANES; l++) p[l] = straight ? sim->U + pair->block[l] : turned[l];
    mabd_lanes_turn((count + 3) / 4 * 4, U, order, p);
    for (int l = 0; l < pack->count && !straight; l++) {
        if (sim->shared_edges) {
            mabd_reals_add(count, turned[l], sim->U + pair->block[l]);
        } else {
            mabd_reals_copy(count, turned[l], sim->U + pair->block[l]);
        }
    }
}

static void add_pair(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                     const mabd_affine_block* block, const spring_bodies* w, int32_t i, int32_t j,
                     const spring_side* own, const mabd_affine_pack_pair* pair) {
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const bool from = sides[i].width > 3, to = sides[j].width > 3;
    mabd_lanes U[36];
    pair_points(block, w, &sides[i], &sides[j], U);
    if (to) pair_mixed(own[i].V, own[j].N, U + 9);
    if (from) pair_mixed(own[j].V, own[i].N, U + 18);
    if (from && to) {
        pair_springs(w->S, own[i].N, own[j].N, U + 27);
        store_pair(36, sim, pack, pair, U, pair_order[3]);
    } else if (from || to) {
        store_pair(18, sim, pack, pair, U, pair_order[from ? 2 : 1]);
    } else {
        store_pair(9, sim, pack, pair, U, pair_order[0]);
    }
}

void MABD_STAGE(assemble_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                      const mabd_real* stress, bool predict) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, pack->body[0]);
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const mabd_affine_pack_pair* pair = sim->packs->pairs + pack->pair_first;
    mabd_lanes r[12], S[6], G[6];
    spring_bodies w;
    spring_side own[MABD_PACK_SIDES];
    spring_blocks blocks;
    const mabd_affine_pack* next = pack_ahead(sim, pack, MABD_PREFETCH_PACKS);
    prefetch_history(sim, block, false, next);
    MABD_STAGE(open_lanes)
    (sim, pack->body, pack->count, pack->halo, stress, predict, w.ref, r, S, G);
    prefetch_history(sim, block, true, next);
    find_bodies(sim, pack, G, r, &w);
    prefetch_rows(12, sim->ref, next), prefetch_rows(6, stress, next);
    for (int32_t i = 0; i < pack->side_count; i++) {
        compute_side(sim, block, &w, &sides[i], &own[i], blocks.at[i]);
        prefetch_side(sim, next, i);
    }
    prefetch_rows(12, sim->q_new, next), prefetch_rows(6, sim->geometric, next);
    store_sides(sim, pack, sides, &blocks);
    prefetch_places(sim, pack_ahead(sim, pack, 2 * MABD_PREFETCH_PACKS));
    for (int32_t i = 0, k = 0; i < pack->side_count; i++) {
        for (int32_t j = i + 1; j < pack->side_count; j++, k++) {
            prefetch_pair(sim, next, k);
            add_pair(sim, pack, block, &w, i, j, own, &pair[k]);
        }
    }
    mabd_lanes_store(6, w.Z, pack->body, pack->count, sim->geometric);
    mabd_lanes_store(12, w.y, pack->body, pack->count, sim->q_new);
}

// ---- update ----

// torque += s n lambda, world
static void add_torque(const mabd_lanes* MABD_RESTRICT sign, const mabd_lanes* MABD_RESTRICT n,
                       const mabd_lanes* MABD_RESTRICT lambda, mabd_lanes* MABD_RESTRICT torque) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 t = mabd_m3_mul(mabd_lane_m3(n, l), mabd_lane_v3(lambda, l));
        mabd_lane_put_v3(mabd_v3_axpy(sign->at[l], t, mabd_lane_v3(torque, l)), torque, l);
    }
}

// f += T' R' torque / 2
static void turn_torque(const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT torque,
                        mabd_lanes* MABD_RESTRICT f) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 t = mabd_m3_tmul(mabd_lane_m3(ref, l), mabd_lane_v3(torque, l));
        const mabd_vec12 turn = mabd_vec12_torque(t);
        mabd_lane_put_vec12(mabd_vec12_axpy(1, turn, mabd_lane_vec12(f, l)), f, l);
    }
}

static void load_multipliers(const mabd_affine_sim* sim, const mabd_affine_pack_side* side,
                             mabd_lanes* lambda) {
    const mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = sim->lambda + side->row[l];
    if (side->width == 6) {
        mabd_lanes_gather(6, p, lambda);
        return;
    }
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) lambda[k].at[l] = p[l][k];
    }
}

void MABD_STAGE(update_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    mabd_affine_motion_report* report) {
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const mabd_affine_pack* next = pack_ahead(sim, pack, MABD_PREFETCH_PACKS);
    mabd_lanes ref[12], f[12], lambda[6], n[9], torque[3];
    prefetch_rows(12, sim->ref, next), prefetch_rows(6, sim->geometric, next);
    mabd_lanes_load(12, sim->ref, pack->body, ref);
    for (int k = 0; k < 12; k++) {
        MABD_EACH_LANE(l) f[k].at[l] = 0;
    }
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) torque[k].at[l] = 0;
    }
    for (int32_t i = 0; i < pack->side_count; i++) {
        prefetch_pull(sim, next, i);
        load_multipliers(sim, &sides[i], lambda);
        MABD_STAGE(lanes_pull)(ref, &sides[i], lambda, f);
        if (sides[i].width == 3) continue;
        load_axes(sim, &sides[i], n);
        add_torque(&sides[i].sign, n, lambda + 3, torque);
    }
    prefetch_rows(12, sim->q_new, next), prefetch_rows(6, sim->stress_new, next);
    turn_torque(ref, torque, f);
    prefetch_places(sim, pack_ahead(sim, pack, 2 * MABD_PREFETCH_PACKS));
    MABD_STAGE(move_pack)(sim, pack, ref, f, report);
}
