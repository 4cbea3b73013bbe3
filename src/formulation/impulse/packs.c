// SPDX-License-Identifier: Apache-2.0
// Blocks of joints in lanes (impulse_packs.h): which joint lies where, and its numbers.

#include "formulation/impulse/impulse_blocks.h"

#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sweep.h"
#include "math/block.h"

#include <math.h>
#include <string.h>

#define TAKE(field, n) field = mabd_arena_take(arena, (n), sizeof *(field))

// ---- kinds -------------------------------------------------------------------------------------

static const mabd_row_set* set_of(const mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    return &sim->model->row_sets[sim->model->joints[j->joint].row_set];
}

static bool moves(const mabd_impulse_sim* sim, int32_t body) {
    return sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// True if the moments of a body are equal to round-off, or it does not move.
static bool is_round(const mabd_impulse_sim* sim, int32_t body) {
    if (!moves(sim, body)) return true;
    const mabd_real* I = sim->model->classes[sim->model->body_class[body]].principal;
    return I[0] == I[1] && I[1] == I[2];
}

static mabd_impulse_pack_kind kind_of(const mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const mabd_row_set* set = set_of(sim, j);
    if (j->firm) return (mabd_impulse_pack_kind)(MABD_IMPULSE_FIRM1 + j->width - 1);
    if (j->width < 3 || set->rigid[0].kind != MABD_ROW_POINT) {
        return (mabd_impulse_pack_kind)(MABD_IMPULSE_ROWS1 + j->width - 1);
    }
    if (j->width == 3 && is_round(sim, j->a) && is_round(sim, j->b)) return MABD_IMPULSE_BALL;
    return (mabd_impulse_pack_kind)(MABD_IMPULSE_POINT0 + j->width - 3);
}

// ---- memory ------------------------------------------------------------------------------------

static int32_t count_items(const mabd_impulse_sim* sim) {
    int32_t n = 0;
    for (int32_t i = 0; i < sim->joint_count; i++) n += sim->joints[i].width > 0;
    return n;
}

// Arrays by item.
static void lay_out_order(mabd_impulse_blocks* b, int32_t n, mabd_arena* arena) {
    mabd_impulse_order* o = &b->packs.order;
    const size_t tiles = (size_t)mabd_impulse_tiles(n);
    TAKE(b->joint, (size_t)n);
    TAKE(o->color, (size_t)n);
    TAKE(o->place, (size_t)n);
    TAKE(o->phase_first, tiles + 1);
    TAKE(o->tile, tiles);
    TAKE(o->tile_pack, tiles + 1);
    TAKE(b->change, tiles);
}

// Arrays by pack, but their numbers.
static void lay_out_packs(mabd_impulse_blocks* b, mabd_arena* arena) {
    mabd_impulse_packs* p = &b->packs;
    const size_t n = (size_t)p->order.pack_count;
    TAKE(p->order.pack_kind, n);
    TAKE(p->order.pack_item, MABD_LANES * n);
    TAKE(p->body, n);
    TAKE(p->first, n + 1);
    TAKE(p->arm, n + 1);
}

/// Arrays of create.
typedef struct items_work {
    mabd_impulse_item* items;
    uint32_t* marks; // (bodies)
} items_work;

static void lay_out_work(const mabd_impulse_sim* sim, int32_t n, items_work* w, mabd_arena* arena) {
    TAKE(w->items, (size_t)n);
    TAKE(w->marks, (size_t)sim->model->body_count);
}

static void set_items(mabd_impulse_sim* sim, mabd_impulse_item* items) {
    int32_t n = 0;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        if (j->width == 0) continue;
        const mabd_impulse_item item = {moves(sim, j->a) ? j->a : -1, moves(sim, j->b) ? j->b : -1,
                                        (int32_t)kind_of(sim, j)};
        sim->blocks->joint[n] = i;
        items[n++] = item;
    }
}

// Take memory for the order and color the joints.
static mabd_status set_order(mabd_impulse_sim* sim, int32_t n, items_work* w) {
    mabd_impulse_blocks* b = sim->blocks;
    lay_out_order(b, n, &b->by_item);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &b->by_item));
    lay_out_order(b, n, &b->by_item);
    set_items(sim, w->items);
    mabd_impulse_order_color(n, w->items, sim->model->body_count, w->marks, &b->packs.order);
    return MABD_OK;
}

static bool has_arms(int kind) {
    return kind == MABD_IMPULSE_BALL || kind == MABD_IMPULSE_POINT0;
}

// Offsets of the numbers of packs.
static void set_offsets(mabd_impulse_packs* p) {
    size_t at = 0, arm = 0;
    for (int32_t k = 0; k < p->order.pack_count; k++) {
        const mabd_impulse_pack_kind kind = (mabd_impulse_pack_kind)p->order.pack_kind[k];
        p->first[k] = at, p->arm[k] = arm;
        at += (size_t)mabd_impulse_places_of(kind).count;
        arm += has_arms((int)kind) ? 6 : 0;
    }
    p->first[p->order.pack_count] = at, p->arm[p->order.pack_count] = arm;
}

static void lay_out_numbers(mabd_impulse_blocks* b, int32_t threads, mabd_arena* arena) {
    mabd_impulse_packs* p = &b->packs;
    const int32_t n = p->order.pack_count;
    TAKE(p->data, n > 0 ? p->first[n] : 0);
    TAKE(p->arms, n > 0 ? p->arm[n] : 0);
    TAKE(b->spare, (size_t)threads);
}

// Anchors of a ball joint, in its lane; masses and inertias that never change.
static void put_constants(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, int32_t place) {
    const mabd_impulse_packs* p = &sim->blocks->packs;
    const int32_t pack = place / MABD_LANES, lane = place % MABD_LANES;
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    mabd_lanes *d = p->data + p->first[pack], *X = p->arms + p->arm[pack];
    const int32_t side[2] = {j->a, j->b};
    for (int k = 0; k < 2; k++) {
        p->body[pack][k][lane] = side[k];
        if (!moves(sim, side[k])) continue;
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[side[k]]];
        d[k].at[lane] = 1 / c->material.mass;
        if (p->order.pack_kind[pack] == MABD_IMPULSE_BALL) d[2 + k].at[lane] = 1 / c->principal[0];
    }
    if (!has_arms(p->order.pack_kind[pack])) return;
    mabd_lane_put_v3(mabd_v3_load(own->Xa), X, lane);
    mabd_lane_put_v3(mabd_v3_load(own->Xb), X + 3, lane);
}

// Arrays by pack, once the items are colored.
static mabd_status set_packs(mabd_impulse_sim* sim, const mabd_impulse_item* items) {
    mabd_impulse_blocks* b = sim->blocks;
    mabd_impulse_packs* p = &b->packs;
    lay_out_packs(b, &b->by_pack);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &b->by_pack));
    lay_out_packs(b, &b->by_pack);
    mabd_impulse_order_pack(items, &p->order);
    set_offsets(p);
    lay_out_numbers(b, sim->def.threads, &b->numbers);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &b->numbers));
    lay_out_numbers(b, sim->def.threads, &b->numbers);
    memset(p->body, -1, (size_t)p->order.pack_count * sizeof *p->body);
    for (int32_t i = 0; i < p->order.item_count; i++) {
        put_constants(sim, &sim->joints[b->joint[i]], p->order.place[i]);
    }
    return MABD_OK;
}

mabd_status mabd_impulse_blocks_create(mabd_impulse_sim* sim) {
    const int32_t n = count_items(sim);
    items_work work;
    mabd_arena arena = {0};
    sim->blocks = mabd_alloc(&sim->allocator, sizeof *sim->blocks);
    if (!sim->blocks) return MABD_ERR_MEMORY;
    lay_out_work(sim, n, &work, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    lay_out_work(sim, n, &work, &arena);
    mabd_status status = set_order(sim, n, &work);
    if (!status) status = set_packs(sim, work.items);
    mabd_free(&sim->allocator, arena.memory, arena.size);
    return status;
}

void mabd_impulse_blocks_destroy(mabd_impulse_sim* sim) {
    mabd_impulse_blocks* b = sim->blocks;
    if (!b) return;
    mabd_free(&sim->allocator, b->by_item.memory, b->by_item.size);
    mabd_free(&sim->allocator, b->by_pack.memory, b->by_pack.size);
    mabd_free(&sim->allocator, b->numbers.memory, b->numbers.size);
    mabd_free(&sim->allocator, b, sizeof *b);
    sim->blocks = NULL;
}

size_t mabd_impulse_blocks_bytes(const mabd_impulse_sim* sim) {
    const mabd_impulse_blocks* b = sim->blocks;
    return mabd_bytes(1, sizeof *b) + b->by_item.size + b->by_pack.size + b->numbers.size;
}

// ---- rows --------------------------------------------------------------------------------------

// Write the inverse of K (n x n) to its lanes, as a lower triangle. A K that is not positive
// definite gets a part of its diagonal.
static void put_inverse(int n, const mabd_real* K, mabd_lanes* to, int lane) {
    mabd_real L[MABD_IMPULSE_MAX_ROWS * MABD_IMPULSE_MAX_ROWS], x[MABD_IMPULSE_MAX_ROWS];
    const size_t bytes = (size_t)(n * n) * sizeof *L;
    memcpy(L, K, bytes);
    if (!mabd_block_ldl(n, L)) {
        memcpy(L, K, bytes);
        for (int i = 0; i < n; i++) L[i * n + i] += MABD_IMPULSE_BLOCK_SHIFT * K[i * n + i];
        mabd_block_ldl(n, L);
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) x[i] = i == k;
        mabd_block_solve_l(n, L, x), mabd_block_solve_d(n, L, x), mabd_block_solve_lt(n, L, x);
        for (int i = k; i < n; i++) to[i * (i + 1) / 2 + k].at[lane] = x[i];
    }
}

static void put_inertia(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_lanes* d,
                        int lane) {
    mabd_lane_put_s3(sim->inertia[j->a], d + 2, lane);
    mabd_lane_put_s3(sim->inertia[j->b], d + 8, lane);
}

static void put_rows(mabd_impulse_pack_kind kind, int n, const mabd_impulse_row* J, mabd_lanes* q,
                     int lane) {
    for (int r = 0; r < n && kind > MABD_IMPULSE_POINT3; r++, q += MABD_IMPULSE_ROW) {
        mabd_lane_put_v3(J[r].f, q, lane);
        mabd_lane_put_v3(J[r].ta, q + 3, lane), mabd_lane_put_v3(J[r].tb, q + 6, lane);
    }
    for (int r = 3; r < n && kind <= MABD_IMPULSE_POINT3; r++) {
        mabd_lane_put_v3(J[r].tb, q + 6 + 3 * (r - 3), lane);
    }
}

// Arms of point rows: both forces act at the anchor of b (rows.c).
static void put_arms(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_lanes* q,
                     int lane) {
    const mabd_rigid_pose *a = &sim->poses[j->a], *b = &sim->poses[j->b];
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const mabd_vec3 arm = mabd_m3_mul(b->R, mabd_v3_load(own->Xb));
    mabd_lane_put_v3(mabd_v3_sub(mabd_v3_add(b->c, arm), a->c), q, lane);
    mabd_lane_put_v3(arm, q + 3, lane);
}

// Compute the rows of one joint.
static void place_joint(mabd_impulse_sim* sim, const mabd_impulse_joint* j, int32_t place) {
    const mabd_impulse_packs* p = &sim->blocks->packs;
    const int32_t pack = place / MABD_LANES, lane = place % MABD_LANES;
    const mabd_impulse_pack_kind kind = (mabd_impulse_pack_kind)p->order.pack_kind[pack];
    const mabd_impulse_places at = mabd_impulse_places_of(kind);
    mabd_lanes* d = p->data + p->first[pack];
    mabd_real K[MABD_IMPULSE_MAX_ROWS * MABD_IMPULSE_MAX_ROWS];
    mabd_impulse_block block;
    mabd_impulse_set_block(sim, j, sim->soft.rate, &block);
    put_inertia(sim, j, d, lane);
    if (kind <= MABD_IMPULSE_POINT3) put_arms(sim, j, d + MABD_IMPULSE_SIDES, lane);
    put_rows(kind, at.rows, block.J, d + MABD_IMPULSE_SIDES, lane);
    for (int r = 0; r < at.rows; r++) {
        for (int k = 0; k < at.rows; k++) {
            K[r * at.rows + k] =
                k > r ? 0 : mabd_impulse_compliance(sim, j->a, j->b, &block.J[r], &block.J[k]);
        }
        d[at.bias + r].at[lane] = block.bias[r];
        if (kind < MABD_IMPULSE_FIRM1) continue;
        // rigid rows give way as others do, by e = K leak/mass, but not in relaxations: with rigid
        // rows that end errors an arm of seven servos gained energy without bound
        mabd_real* own = &K[r * at.rows + r];
        const mabd_real soft = *own * sim->soft.leak / sim->soft.mass;
        const mabd_real give = block.give[r] > 0 ? block.give[r] : soft;
        *own += give;
        d[at.hold + r].at[lane] = block.hold[r], d[at.give + r].at[lane] = give;
        d[at.keep + r].at[lane] = block.give[r];
    }
    put_inverse(at.rows, K, d + at.inverse, lane);
}

// Rows of the packs of a tile.
typedef struct place_job {
    mabd_impulse_sim* sim;
    mabd_impulse_placing place;
} place_job;

static void place_tile(void* context, int32_t tile, int32_t thread) {
    const place_job* job = context;
    const mabd_impulse_blocks* b = job->sim->blocks;
    const mabd_impulse_order* o = &b->packs.order;
    (void)thread;
    for (int32_t k = o->tile_pack[tile]; k < o->tile_pack[tile + 1]; k++) {
        if (has_arms(o->pack_kind[k])) {
            job->sim->lanes->place(&job->place, k);
            continue;
        }
        for (int32_t l = MABD_LANES * k; l < MABD_LANES * (k + 1); l++) {
            const int32_t item = o->pack_item[l];
            if (item >= 0) place_joint(job->sim, &job->sim->joints[b->joint[item]], l);
        }
    }
}

static bool any_shift(const mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_vec3 g = sim->shift[i];
        if (g.x != 0 || g.y != 0 || g.z != 0) return true;
    }
    return false;
}

// ---- errors ------------------------------------------------------------------------------------

bool mabd_impulse_blocks_measure(const mabd_impulse_sim* sim, int32_t joint) {
    const int32_t place = sim->joint_place[joint];
    if (!sim->blocks || place < 0 || sim->joints[place].width == 0) return false;
    return has_arms((int)kind_of(sim, &sim->joints[place]));
}

mabd_real mabd_impulse_blocks_gap(const mabd_impulse_sim* sim, int32_t* joint) {
    const mabd_impulse_blocks* b = sim->blocks;
    const mabd_impulse_order* o = &b->packs.order;
    const mabd_impulse_placing place = {
        &b->packs, sim->poses, NULL, NULL, false, false, false, sim->model->body_count, 0};
    mabd_real most = -1;
    for (int32_t k = 0; k < o->pack_count; k++) {
        mabd_lanes gaps;
        if (!has_arms(o->pack_kind[k])) continue;
        sim->lanes->gaps(&place, k, &gaps);
        for (int l = 0; l < MABD_LANES; l++) {
            const int32_t item = o->pack_item[MABD_LANES * k + l];
            if (item < 0 || !(gaps.at[l] > most)) continue;
            most = gaps.at[l], *joint = sim->joints[b->joint[item]].joint;
        }
    }
    return most > 0 ? (mabd_real)sqrt(most) : most;
}

// ---- all rows ----------------------------------------------------------------------------------

void mabd_impulse_blocks_place(mabd_impulse_sim* sim) {
    place_job job = {sim,
                     {&sim->blocks->packs, sim->poses, sim->inertia, sim->shift, any_shift(sim),
                      sim->carrying, sim->keep_rows, sim->model->body_count, sim->soft.rate}};
    mabd_pool_run(sim->pool, sim->blocks->packs.order.tile_count, place_tile, &job);
}

// ---- impulses ----------------------------------------------------------------------------------

mabd_impulse_change mabd_impulse_blocks_run(mabd_impulse_sim* sim, mabd_impulse_task task,
                                            mabd_real ratio, bool relax, bool backwards) {
    const mabd_impulse_soft rigid = {0, 1, 0};
    mabd_impulse_pass sweep = {0};
    sweep.joint = relax ? rigid : sim->soft, sweep.ratio = ratio;
    sweep.relax = relax, sweep.backwards = backwards, sweep.measure = task != MABD_IMPULSE_WARM;
    const mabd_impulse_job job = {&sim->blocks->packs, sim->lines, sim->blocks->spare, &sweep, task,
                                  sim->blocks->change};
    return mabd_impulse_run(&job, sim->lanes, sim->pool);
}

// Copy impulses between packs and sim->lambda.
static void copy_impulses(mabd_impulse_sim* sim, bool to_packs) {
    const mabd_impulse_packs* p = &sim->blocks->packs;
    for (int32_t i = 0; i < p->order.item_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[sim->blocks->joint[i]];
        const int32_t pack = p->order.place[i] / MABD_LANES, lane = p->order.place[i] % MABD_LANES;
        const mabd_impulse_pack_kind kind = (mabd_impulse_pack_kind)p->order.pack_kind[pack];
        mabd_lanes* at = p->data + p->first[pack] + mabd_impulse_places_of(kind).p;
        for (int32_t r = 0; r < j->width; r++) {
            if (to_packs) {
                at[r].at[lane] = sim->lambda[j->row + r];
            } else {
                sim->lambda[j->row + r] = at[r].at[lane];
            }
        }
    }
}

void mabd_impulse_blocks_read(mabd_impulse_sim* sim) {
    copy_impulses(sim, false);
}

void mabd_impulse_blocks_write(mabd_impulse_sim* sim) {
    copy_impulses(sim, true);
}
