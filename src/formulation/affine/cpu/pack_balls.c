// SPDX-License-Identifier: Apache-2.0
// Packs of bodies whose joints are all balls (affine/cpu/pack.h): assemble and update, all
// lanes at once. The mathematics is that of affine/element/{assemble_balls,update}.h;
// blocks are those of affine/element/affine_body.h,
//
//   D(j) += R c(X, X) R',   U(i, j) = s_i s_j R c(X_i, X_j) R',   b(j) += s (t + R (X + D X + tau))
//
// The right-hand side of a joint is P_b - P_a as predicted by inertia alone: each side adds its own
// point, s = +1 for b.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/element/body_inertia.h"

#include "math/block.h"

// ---- assemble: bodies ----

static void find_geometric(const mabd_affine_block* MABD_RESTRICT b,
                           const mabd_lanes* MABD_RESTRICT stress, mabd_lanes* MABD_RESTRICT G,
                           mabd_lanes* MABD_RESTRICT safe) {
    MABD_EACH_LANE(l) {
        const mabd_sym3 g = mabd_affine_block_stiffness(b, mabd_lane_s3(stress, l));
        safe->at[l] = mabd_affine_geometric_is_safe(b, g) ? 1 : 0;
        mabd_lane_put_s3(g, G, l);
    }
}

static void find_positive(const mabd_affine_block* MABD_RESTRICT block,
                          const mabd_lanes* MABD_RESTRICT G, mabd_lanes* MABD_RESTRICT positive,
                          mabd_lanes* MABD_RESTRICT safe) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_sym3 g = mabd_sym3_positive(mabd_lane_s3(G, l));
        safe->at[l] = mabd_affine_geometric_is_safe(&b, g) ? 1 : 0;
        mabd_lane_put_s3(g, positive, l);
    }
}

// Clamp the lanes that are not safe, in the same way as mabd_affine_block_geometric.
static void clamp_lanes(const mabd_affine_block* block, const mabd_lanes* safe, mabd_lanes* G) {
    mabd_lanes positive[6], well;
    bool all = true;
    for (int l = 0; l < MABD_LANES; l++) all &= safe->at[l] > 0;
    if (all) return;
    find_positive(block, G, positive, &well);
    for (int l = 0; l < MABD_LANES; l++) {
        if (safe->at[l] > 0) continue;
        const mabd_sym3 g =
            well.at[l] > 0 ? mabd_lane_s3(positive, l) : mabd_sym3_clamp(mabd_lane_s3(G, l));
        mabd_lane_put_s3(g, G, l);
    }
}

void MABD_STAGE(lanes_geometric)(const mabd_affine_block* block, const mabd_lanes* stress,
                                 mabd_lanes* G) {
    mabd_lanes safe;
    find_geometric(block, stress, G, &safe);
    clamp_lanes(block, &safe, G);
}

void MABD_STAGE(lanes_solve)(const mabd_affine_block* MABD_RESTRICT b,
                             const mabd_lanes* MABD_RESTRICT G, const mabd_lanes* MABD_RESTRICT r,
                             mabd_lanes* MABD_RESTRICT Z, mabd_lanes* MABD_RESTRICT y) {
    MABD_EACH_LANE(l) {
        const mabd_sym3 z = mabd_affine_block_woodbury(b, mabd_lane_s3(G, l));
        mabd_lane_put_s3(z, Z, l);
        mabd_lane_put_vec12(mabd_affine_block_solve(b, z, mabd_lane_vec12(r, l)), y, l);
    }
}

// ---- assemble: joints ----

// R c(X, X) R' (6), s (t + R (X + D X + tau)) (3)
MABD_HOT void put_side(const mabd_affine_block* b, mabd_mat3 R, mabd_vec3 t, const mabd_vec12* y,
                       const mabd_affine_attachment* x, mabd_real sign, mabd_lanes* out, int l) {
    mabd_lane_put_s3(mabd_sym3_rotate(R, mabd_affine_block_self_compliance(b, x)), out, l);
    mabd_lane_put_v3(mabd_v3_scale(sign, mabd_vec12_end(R, t, y, x->X)), out + 6, l);
}

// s R c(X, Y) R' by rows (9)
MABD_HOT void put_pair(const mabd_affine_block* b, mabd_mat3 R, const mabd_affine_attachment* x,
                       const mabd_affine_attachment* y, mabd_real s, mabd_lanes* U, int l) {
    const mabd_mat3 c = mabd_affine_block_compliance(b, x, y);
    const mabd_mat3 C = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
    U[0].at[l] = s * C.c1.x, U[1].at[l] = s * C.c2.x, U[2].at[l] = s * C.c3.x;
    U[3].at[l] = s * C.c1.y, U[4].at[l] = s * C.c2.y, U[5].at[l] = s * C.c3.y;
    U[6].at[l] = s * C.c1.z, U[7].at[l] = s * C.c2.z, U[8].at[l] = s * C.c3.z;
}

void MABD_STAGE(pack_side)(const mabd_affine_block* MABD_RESTRICT b,
                           const mabd_affine_pack_work* MABD_RESTRICT w,
                           const mabd_affine_pack_side* MABD_RESTRICT side,
                           mabd_lanes* MABD_RESTRICT out) {
    MABD_EACH_LANE(l) {
        const mabd_vec12 y = mabd_lane_vec12(w->y, l);
        const mabd_affine_attachment x =
            mabd_affine_block_attach(b, mabd_lane_s3(w->Z, l), mabd_lane_v3(side->X, l));
        put_side(b, mabd_lane_m3(w->ref, l), mabd_lane_v3(w->ref + 9, l), &y, &x, side->sign.at[l],
                 out, l);
    }
}

void MABD_STAGE(pack_pair)(const mabd_affine_block* MABD_RESTRICT b,
                           const mabd_affine_pack_work* MABD_RESTRICT w,
                           const mabd_affine_pack_side* MABD_RESTRICT from,
                           const mabd_affine_pack_side* MABD_RESTRICT to,
                           mabd_lanes* MABD_RESTRICT U) {
    MABD_EACH_LANE(l) {
        const mabd_sym3 Z = mabd_lane_s3(w->Z, l);
        const mabd_affine_attachment x = mabd_affine_block_attach(b, Z, mabd_lane_v3(from->X, l));
        const mabd_affine_attachment y = mabd_affine_block_attach(b, Z, mabd_lane_v3(to->X, l));
        put_pair(b, mabd_lane_m3(w->ref, l), &x, &y, from->sign.at[l] * to->sign.at[l], U, l);
    }
}

// Bodies with two joints, the most frequent case: pack_side, pack_pair and lanes_solve in one loop.
void MABD_STAGE(lanes_link)(const mabd_affine_block* MABD_RESTRICT block,
                            const mabd_lanes* MABD_RESTRICT G, const mabd_lanes* MABD_RESTRICT r,
                            const mabd_affine_pack_side* MABD_RESTRICT from,
                            const mabd_affine_pack_side* MABD_RESTRICT to,
                            mabd_affine_pack_work* MABD_RESTRICT w,
                            mabd_lanes* MABD_RESTRICT out_from, mabd_lanes* MABD_RESTRICT out_to,
                            mabd_lanes* MABD_RESTRICT U) {
    const mabd_affine_block b = *block; // through a pointer, compilers do not vectorise this loop
    MABD_EACH_LANE(l) {
        const mabd_vec12 ref = mabd_lane_vec12(w->ref, l);
        const mabd_mat3 R = mabd_m3(ref.d1, ref.d2, ref.d3);
        const mabd_sym3 Z = mabd_affine_block_woodbury(&b, mabd_lane_s3(G, l));
        const mabd_vec12 y = mabd_affine_block_solve(&b, Z, mabd_lane_vec12(r, l));
        mabd_lane_put_s3(Z, w->Z, l);
        mabd_lane_put_vec12(y, w->y, l);
        const mabd_vec3 X = mabd_lane_v3(from->X, l), Y = mabd_lane_v3(to->X, l);
        const mabd_real s = from->sign.at[l], t = to->sign.at[l];
        const mabd_affine_attachment x = mabd_affine_block_attach(&b, Z, X);
        const mabd_affine_attachment z = mabd_affine_block_attach(&b, Z, Y);
        put_side(&b, R, ref.tau, &y, &x, s, out_from, l);
        put_side(&b, R, ref.tau, &y, &z, t, out_to, l);
        put_pair(&b, R, &x, &z, s * t, U, l);
    }
}

static void store_side(mabd_affine_sim* sim, const mabd_affine_pack* pack, int32_t place, int l,
                       const mabd_real* in) {
    const mabd_affine_pack_side* side = sim->packs->sides + pack->side_first + place;
    const mabd_affine_side_place to = mabd_affine_pack_place(sim, side, 3, l);
    mabd_affine_write_share(sim, sim->model->plan->side_start[pack->body[l]] + place, &to, in);
}

static void store_pair(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                       const mabd_affine_pack_pair* pair, const mabd_affine_lane_blocks* U) {
    for (int l = 0; l < pack->count; l++) {
        mabd_real* to = sim->U + pair->block[l];
        if (sim->shared_edges) {
            for (int k = 0; k < 9; k++) to[k] += U->at[l][k];
        } else {
            for (int k = 0; k < 9; k++) to[k] = U->at[l][k];
        }
    }
}

// Transposed blocks of a pack: those of its sides and, if it has two, the one between them.
typedef struct pack_blocks {
    mabd_affine_lane_blocks side[MABD_PACK_SIDES], U;
} pack_blocks;

// Store sides lane by lane: a body of a pack may add to the joint of the previous body.
static void store_sides(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                        const pack_blocks* blocks) {
    for (int l = 0; l < pack->count; l++) {
        for (int32_t i = 0; i < pack->side_count; i++) {
            store_side(sim, pack, i, l, blocks->side[i].at[l]);
        }
    }
}

static void assemble_link(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                          const mabd_affine_block* block, const mabd_lanes* G, const mabd_lanes* r,
                          mabd_affine_pack_work* w, pack_blocks* blocks) {
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    mabd_lanes from[9], to[9], U[9];
    MABD_STAGE(lanes_link)(block, G, r, &sides[0], &sides[1], w, from, to, U);
    mabd_lanes_turn_block(from, mabd_affine_side_order, &blocks->side[0]);
    mabd_lanes_turn_block(to, mabd_affine_side_order, &blocks->side[1]);
    mabd_lanes_turn_block(U, mabd_affine_pair_order, &blocks->U);
    store_sides(sim, pack, blocks);
    store_pair(sim, pack, sim->packs->pairs + pack->pair_first, &blocks->U);
}

static void assemble_any(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                         const mabd_affine_block* block, const mabd_lanes* G, const mabd_lanes* r,
                         mabd_affine_pack_work* w, pack_blocks* blocks) {
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const mabd_affine_pack_pair* pair = sim->packs->pairs + pack->pair_first;
    mabd_lanes lanes[9];
    blocks->U.at[0][0] = 0; // avoids a warning: the side count is not 0 where blocks are read
    MABD_STAGE(lanes_solve)(block, G, r, w->Z, w->y);
    if (pack->side_count < 1) return;
    for (int32_t i = 0; i < pack->side_count; i++) {
        MABD_STAGE(pack_side)(block, w, &sides[i], lanes);
        mabd_lanes_turn_block(lanes, mabd_affine_side_order, &blocks->side[i]);
    }
    store_sides(sim, pack, blocks);
    for (int32_t i = 0; i < pack->side_count; i++) {
        for (int32_t j = i + 1; j < pack->side_count; j++) {
            MABD_STAGE(pack_pair)(block, w, &sides[i], &sides[j], lanes);
            mabd_lanes_turn_block(lanes, mabd_affine_pair_order, &blocks->U);
            store_pair(sim, pack, pair++, &blocks->U);
        }
    }
}

// Save data for further solves at this reference (affine/element/assemble_balls.h): y, then the
// blocks of sides and pairs.
static void save_pack(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                      const mabd_affine_pack_work* w, const pack_blocks* blocks) {
    for (int l = 0; l < pack->count; l++) {
        mabd_real* saved = sim->saved + MABD_SAVED_REALS * (size_t)pack->body[l];
        mabd_vec12_store(mabd_lane_vec12(w->y, l), saved);
        saved += 12;
        for (int32_t i = 0; i < pack->side_count; i++) {
            for (int k = 0; k < 9; k++) *saved++ = blocks->side[i].at[l][k];
        }
        for (int k = 0; k < 9 && pack->side_count == 2; k++) *saved++ = blocks->U.at[l][k];
    }
}

void MABD_STAGE(assemble_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                               const mabd_real* stress, bool predict) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, pack->body[0]);
    mabd_lanes r[12], S[6], G[6];
    mabd_affine_pack_work w;
    pack_blocks blocks;
    MABD_STAGE(open_lanes)
    (sim, pack->body, pack->count, pack->halo, stress, predict, w.ref, r, S, G);
    if (pack->kind == MABD_BODY_ROWS) {
        MABD_STAGE(lanes_solve)(block, G, r, w.Z, w.y);
        MABD_STAGE(assemble_pack_rows)(sim, pack, stress, S, &w);
    } else if (pack->side_count == 2) {
        assemble_link(sim, pack, block, G, r, &w, &blocks);
    } else {
        assemble_any(sim, pack, block, G, r, &w, &blocks);
    }
    mabd_lanes_store(6, w.Z, pack->body, pack->count, sim->geometric);
    mabd_lanes_store(12, w.y, pack->body, pack->count, sim->q_new);
    const bool keeps =
        sim->sizes.held > 0 && !sim->contacts->condensed.on && pack->kind == MABD_BODY_SIMPLE;
    if (keeps && pack->side_count <= MABD_SAVED_SIDES) save_pack(sim, pack, &w, &blocks);
}

// ---- update ----

// f += J' lambda of one joint: s (X, 1) R' lambda
void MABD_STAGE(lanes_pull)(const mabd_lanes* MABD_RESTRICT ref,
                            const mabd_affine_pack_side* MABD_RESTRICT side,
                            const mabd_lanes* MABD_RESTRICT lambda, mabd_lanes* MABD_RESTRICT f) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 n = mabd_m3_tmul(mabd_lane_m3(ref, l), mabd_lane_v3(lambda, l));
        const mabd_vec12 pull =
            mabd_vec12_at(mabd_lane_v3(side->X, l), mabd_v3_scale(side->sign.at[l], n));
        mabd_lane_put_vec12(mabd_vec12_axpy(1, pull, mabd_lane_vec12(f, l)), f, l);
    }
}

void MABD_STAGE(lanes_move)(const mabd_affine_block* MABD_RESTRICT b,
                            const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT Z,
                            const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT f,
                            mabd_affine_moved_lanes* MABD_RESTRICT out) {
    MABD_EACH_LANE(l) {
        const mabd_vec12 moved =
            mabd_affine_block_solve(b, mabd_lane_s3(Z, l), mabd_lane_vec12(f, l));
        const mabd_vec12 d = mabd_vec12_axpy(-1, moved, mabd_lane_vec12(y, l));
        const mabd_vec3 w = mabd_vec12_rotation(d);
        mabd_lane_put_s3(mabd_affine_block_stress(b, d), out->stress, l);
        mabd_lane_put_vec12(mabd_vec12_place(mabd_lane_vec12(ref, l), d), out->q, l);
        mabd_vec3 a, u;
        mabd_spin_small(mabd_m3(d.d1, d.d2, d.d3), &a, &u);
        mabd_lane_put_v3(u, out->step, l), mabd_lane_put_v3(a, out->skew, l);
        out->rotation.at[l] = mabd_v3_dot(w, w);
        out->size.at[l] = mabd_vec12_dot(d, d);
    }
}

static void find_light(const mabd_affine_block* MABD_RESTRICT block, mabd_real bh,
                       const mabd_lanes* MABD_RESTRICT Z, const mabd_lanes* MABD_RESTRICT skew,
                       const mabd_lanes* MABD_RESTRICT on, mabd_lanes* MABD_RESTRICT light) {
    const mabd_affine_block b = *block;
    const int32_t k = b.light;
    MABD_EACH_LANE(l) {
        const mabd_vec3 a = mabd_lane_v3(skew, l);
        const mabd_vec3 Gw = mabd_spin_stiff(b.c, mabd_lane_s3(Z, l), mabd_v3_scale(2, a));
        const mabd_real rate = mabd_spin_light(bh, b.J, k, a, Gw);
        light->at[l] = on->at[l] > 0 ? rate : 0;
    }
}

bool MABD_STAGE(lanes_light)(const mabd_affine_sim* sim, const int32_t* body, mabd_lanes* on) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    bool any = false;
    for (int l = 0; l < MABD_LANES; l++) {
        const bool light = mabd_affine_has_light(sim, body[l], block);
        on->at[l] = light ? 1 : 0;
        any |= light;
    }
    return any;
}

void MABD_STAGE(store_moved)(mabd_affine_sim* sim, const int32_t* body, int32_t count,
                             const mabd_lanes* Z, mabd_affine_moved_lanes* moved) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    mabd_lanes on;
    mabd_lanes_store(12, moved->q, body, count, sim->q_new);
    mabd_lanes_store(6, moved->stress, body, count, sim->stress_new);
    if (block->soft) return;
    if (MABD_STAGE(lanes_light)(sim, body, &on)) {
        find_light(block, mabd_affine_scale(sim, body[0])->beta_h, Z, moved->skew, &on,
                   &moved->step[3]);
    } else {
        MABD_EACH_LANE(l) moved->step[3].at[l] = 0;
    }
    mabd_lanes_store(4, moved->step, body, count, sim->spin_step);
}

// Add the forces of all joints of a pack: f += J' lambda
static void pull_balls(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                       const mabd_lanes* ref, mabd_lanes* f) {
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    mabd_lanes lambda[3];
    for (int32_t i = 0; i < pack->side_count; i++) {
        for (int k = 0; k < 3; k++) {
            const mabd_real* from = sim->lambda + k;
            MABD_EACH_LANE(l) lambda[k].at[l] = from[sides[i].row[l]];
        }
        MABD_STAGE(lanes_pull)(ref, &sides[i], lambda, f);
    }
}

void MABD_STAGE(move_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_lanes* ref, const mabd_lanes* f,
                           mabd_affine_motion_report* report) {
    mabd_lanes Z[6], y[12];
    mabd_affine_moved_lanes moved;
    mabd_lanes_load(6, sim->geometric, pack->body, Z);
    mabd_lanes_load(12, sim->q_new, pack->body, y);
    MABD_STAGE(lanes_move)(mabd_affine_block_of(sim, pack->body[0]), ref, Z, y, f, &moved);
    MABD_STAGE(store_moved)(sim, pack->body, pack->count, Z, &moved);
    for (int l = 0; l < pack->count; l++) {
        mabd_affine_report_motion(report, pack->body[l], moved.rotation.at[l], moved.size.at[l]);
    }
}

void MABD_STAGE(update_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                             mabd_affine_motion_report* report) {
    mabd_lanes ref[12], f[12];
    mabd_lanes_load(12, sim->ref, pack->body, ref);
    for (int k = 0; k < 12; k++) {
        MABD_EACH_LANE(l) f[k].at[l] = 0;
    }
    if (pack->kind == MABD_BODY_ROWS) {
        MABD_STAGE(pull_pack_rows)(sim, pack, ref, f);
    } else {
        pull_balls(sim, pack, ref, f);
    }
    MABD_STAGE(move_pack)(sim, pack, ref, f, report);
}
