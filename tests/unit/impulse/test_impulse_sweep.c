// SPDX-License-Identifier: Apache-2.0
// Updates of sequential impulses in lanes, against the same laws written with dense rows: J (12) of
// (v_a, w_a, v_b, w_b) and M^-1 as 6 x 6 blocks.

#include "formulation/impulse/impulse_sweep.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define BODIES 16
#define MOST   200

// 8 items: item l is on bodies l and l + 8.
typedef struct rig {
    mabd_impulse_packs packs;
    mabd_impulse_line lines[BODIES];
    mabd_impulse_spare spare;
    mabd_impulse_pass sweep;
    int32_t body[1][2][MABD_LANES], tile_pack[2];
    size_t first[2];
    uint8_t kind;
    mabd_lanes data[MOST];
} rig;

static rig* start(rig* g, uint8_t kind, uint64_t* draw) {
    memset(g, 0, sizeof *g);
    g->kind = kind;
    g->packs.order.pack_kind = &g->kind, g->packs.order.pack_count = 1;
    g->packs.body = g->body, g->packs.first = g->first, g->packs.data = g->data;
    for (int l = 0; l < MABD_LANES; l++) g->body[0][0][l] = l, g->body[0][1][l] = l + 8;
    for (int i = 0; i < BODIES; i++) {
        mabd_v3_store(draw_vec3(draw, 1), g->lines[i].v);
        mabd_v3_store(draw_vec3(draw, 1), g->lines[i].w);
        g->lines[i].inverse_mass = 1 + draw_real(draw) / 2, g->lines[i].moves = 1;
    }
    g->sweep.joint = (mabd_impulse_soft){20, 0.8, 0.1};
    g->sweep.ratio = 0.9, g->sweep.measure = true;
    return g;
}

static mabd_impulse_change run(rig* g, mabd_impulse_task task, int32_t isa) {
    const mabd_impulse_job job = {&g->packs, g->lines, &g->spare, &g->sweep, task, NULL};
    return mabd_impulse_lanes_of(isa)->run(&job, 0, 1, &g->spare);
}

// Copy a rig and run a task on the copy.
static void run_copy(const rig* before, mabd_impulse_task task, rig* after) {
    memcpy(after, before, sizeof *after);
    after->packs.order.pack_kind = &after->kind;
    after->packs.body = after->body, after->packs.first = after->first;
    after->packs.data = after->data;
    run(after, task, 0);
}

// ---- dense rows --------------------------------------------------------------------------------

typedef struct dense {
    mabd_real J[12], v[12], W[12][12]; // V, M^-1
} dense;

static void put(mabd_real* at, mabd_vec3 x) {
    mabd_v3_store(x, at);
}

static void load_bodies(const rig* g, int l, dense* d) {
    memcpy(d->v, g->lines[l].v, 6 * sizeof(mabd_real));
    memcpy(d->v + 6, g->lines[l + 8].v, 6 * sizeof(mabd_real));
}

// M^-1 from the head of an item: 1/ma 1/mb Ia^-1 Ib^-1.
static void load_inertia(const mabd_lanes* head, int l, dense* d) {
    memset(d->W, 0, sizeof d->W);
    for (int side = 0; side < 2; side++) {
        const mabd_lanes* I = head + 2 + 6 * side;
        const mabd_real m = head[side].at[l];
        const mabd_real S[3][3] = {{I[0].at[l], I[3].at[l], I[4].at[l]},
                                   {I[3].at[l], I[1].at[l], I[5].at[l]},
                                   {I[4].at[l], I[5].at[l], I[2].at[l]}};
        for (int i = 0; i < 3; i++) {
            d->W[6 * side + i][6 * side + i] = m;
            for (int k = 0; k < 3; k++) d->W[6 * side + 3 + i][6 * side + 3 + k] = S[i][k];
        }
    }
}

static void load_row(const mabd_lanes* q, int l, dense* d) {
    const mabd_vec3 f = mabd_lane_v3(q, l);
    put(d->J, mabd_v3_scale(-1, f)), put(d->J + 3, mabd_lane_v3(q + 3, l));
    put(d->J + 6, f), put(d->J + 9, mabd_lane_v3(q + 6, l));
}

static mabd_real rate(const dense* d) {
    mabd_real sum = 0;
    for (int k = 0; k < 12; k++) sum += d->J[k] * d->v[k];
    return sum;
}
static void push(dense* d, mabd_real p) {
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 12; k++) d->v[i] += d->W[i][k] * d->J[k] * p;
    }
}

static void expect_bodies(const rig* g, int l, const dense* d) {
    for (int k = 0; k < 12; k++) {
        const mabd_impulse_line* line = &g->lines[k < 6 ? l : l + 8];
        const mabd_real is = k % 6 < 3 ? line->v[k % 3] : line->w[k % 3];
        cr_assert_float_eq(is, d->v[k], 1e-13, "lane %d, velocity %d: %.17g, expected %.17g", l, k,
                           is, d->v[k]);
    }
}

static mabd_real positive(uint64_t* draw) {
    return (mabd_real)1.5 + draw_real(draw);
}

static void draw_head(mabd_lanes* d, uint64_t* draw) {
    for (int l = 0; l < MABD_LANES; l++) {
        d[0].at[l] = positive(draw), d[1].at[l] = positive(draw);
        for (int k = 2; k < MABD_IMPULSE_SIDES; k++) {
            d[k].at[l] = (k - 2) % 6 < 3 ? positive(draw) : (mabd_real)0.3 * draw_real(draw);
        }
    }
}

static void draw_reals(mabd_lanes* d, int count, uint64_t* draw) {
    for (int k = 0; k < count; k++) {
        for (int l = 0; l < MABD_LANES; l++) d[k].at[l] = draw_real(draw);
    }
}

// ---- blocks of joints --------------------------------------------------------------------------

// Row r of an item of a kind.
static void block_row(const rig* g, int r, int l, dense* d) {
    const mabd_lanes* at = g->data + (g->kind == MABD_IMPULSE_BALL ? 4 : MABD_IMPULSE_SIDES);
    if (g->kind >= MABD_IMPULSE_ROWS1) {
        load_row(at + MABD_IMPULSE_ROW * r, l, d);
        return;
    }
    memset(d->J, 0, sizeof d->J);
    if (r < 3) {
        const mabd_vec3 e = mabd_v3(r == 0, r == 1, r == 2);
        put(d->J, mabd_v3_scale(-1, e)), put(d->J + 6, e);
        put(d->J + 3, mabd_v3_cross(e, mabd_lane_v3(at, l)));
        put(d->J + 9, mabd_v3_cross(mabd_lane_v3(at + 3, l), e));
    } else {
        const mabd_vec3 u = mabd_lane_v3(at + 6 + 3 * (r - 3), l);
        put(d->J + 3, mabd_v3_scale(-1, u)), put(d->J + 9, u);
    }
}

static void expect_block(const rig* before, const rig* after, mabd_impulse_task task) {
    const mabd_impulse_places at = mabd_impulse_places_of((mabd_impulse_pack_kind)before->kind);
    const bool firm = before->kind >= MABD_IMPULSE_FIRM1, relax = before->sweep.relax;
    const mabd_impulse_soft soft = firm ? (mabd_impulse_soft){0, 1, 0} : before->sweep.joint;
    for (int l = 0; l < MABD_LANES; l++) {
        dense d;
        mabd_real e[MABD_IMPULSE_MAX_ROWS], dp[MABD_IMPULSE_MAX_ROWS];
        load_bodies(before, l, &d), load_inertia(before->data, l, &d);
        if (before->kind == MABD_IMPULSE_BALL) {
            memset(d.W, 0, sizeof d.W);
            for (int k = 0; k < 12; k++)
                d.W[k][k] = before->data[k / 6 + (k % 6 < 3 ? 0 : 2)].at[l];
        }
        for (int r = 0; r < at.rows; r++) {
            block_row(before, r, l, &d);
            e[r] = rate(&d);
            if (!relax) e[r] += before->data[at.bias + r].at[l];
            if (relax && firm) e[r] += before->data[at.hold + r].at[l];
            const int give = relax ? at.keep : at.give;
            if (firm) e[r] += before->data[give + r].at[l] * before->data[at.p + r].at[l];
        }
        for (int r = 0; r < at.rows; r++) {
            const mabd_real p = before->data[at.p + r].at[l];
            mabd_real sum = 0;
            for (int k = 0; k < at.rows; k++) {
                const int i = r > k ? r : k, j = r > k ? k : r;
                sum += before->data[at.inverse + i * (i + 1) / 2 + j].at[l] * e[k];
            }
            dp[r] = task == MABD_IMPULSE_WARM ? before->sweep.ratio * p
                                              : -soft.mass * sum - soft.leak * p;
            const mabd_real next = task == MABD_IMPULSE_WARM ? dp[r] : p + dp[r];
            cr_assert_float_eq(after->data[at.p + r].at[l], next, 1e-13,
                               "kind %d, task %d, row %d: %g, expected %g", before->kind, task, r,
                               after->data[at.p + r].at[l], next);
        }
        for (int r = 0; r < at.rows; r++) block_row(before, r, l, &d), push(&d, dp[r]);
        expect_bodies(after, l, &d);
    }
}

Test(impulse_sweep, blocks_of_joints_follow_the_update_of_dense_rows) {
    uint64_t draw = 3;
    for (int kind = 0; kind < MABD_IMPULSE_KIND_COUNT; kind++) {
        for (int mode = 0; mode < 3; mode++) {
            rig before, after;
            start(&before, (uint8_t)kind, &draw);
            draw_reals(before.data, mabd_impulse_places_of((mabd_impulse_pack_kind)kind).count,
                       &draw);
            draw_head(before.data, &draw);
            if (kind == MABD_IMPULSE_BALL) draw_reals(before.data + 4, 20, &draw);
            before.sweep.relax = mode == 1;
            const mabd_impulse_task task = mode == 2 ? MABD_IMPULSE_WARM : MABD_IMPULSE_SOLVE;
            run_copy(&before, task, &after);
            expect_block(&before, &after, task);
        }
    }
}

// ---- same bits ---------------------------------------------------------------------------------

// One pack of a kind on an instruction set, or its items one by one in lane 0.
static void run_bits(uint8_t kind, mabd_impulse_task task, int32_t isa, bool single, rig* g) {
    uint64_t draw = 11;
    start(g, kind, &draw);
    draw_reals(g->data, mabd_impulse_places_of((mabd_impulse_pack_kind)kind).count, &draw);
    if (!single) {
        run(g, task, isa);
        return;
    }
    const rig all = *g;
    for (int l = 0; l < MABD_LANES; l++) {
        for (int k = 0; k < MOST; k++) {
            for (int m = 0; m < MABD_LANES; m++) g->data[k].at[m] = m ? 0 : all.data[k].at[l];
        }
        for (int m = 0; m < MABD_LANES; m++) {
            g->body[0][0][m] = m ? -1 : l, g->body[0][1][m] = m ? -1 : l + 8;
        }
        run(g, task, isa);
    }
}

Test(impulse_sweep, an_item_has_the_same_bits_alone_and_on_every_instruction_set) {
    for (int kind = 0; kind < MABD_IMPULSE_KIND_COUNT; kind++) {
        for (int task = MABD_IMPULSE_SOLVE; task <= MABD_IMPULSE_WARM; task++) {
            rig base, other;
            run_bits((uint8_t)kind, (mabd_impulse_task)task, 0, false, &base);
            for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
                for (int single = 0; single < 2; single++) {
                    run_bits((uint8_t)kind, (mabd_impulse_task)task, isa, single, &other);
                    cr_assert_eq(memcmp(base.lines, other.lines, sizeof base.lines), 0,
                                 "kind %d, task %d, %s", kind, task, mabd_isa_name(isa));
                }
            }
        }
    }
}

// A body that does not move is read and not written, whatever its row would do to it.
Test(impulse_sweep, lines_of_bodies_that_do_not_move_stay) {
    uint64_t draw = 13;
    rig g;
    start(&g, MABD_IMPULSE_POINT2, &draw);
    draw_reals(g.data, mabd_impulse_places_of(MABD_IMPULSE_POINT2).count, &draw);
    for (int i = 8; i < BODIES; i++) g.lines[i].moves = 0;
    const rig before = g;
    run(&g, MABD_IMPULSE_SOLVE, 0);
    cr_assert_eq(memcmp(before.lines + 8, g.lines + 8, 8 * sizeof *g.lines), 0);
    cr_assert_neq(memcmp(before.lines, g.lines, 8 * sizeof *g.lines), 0);
}
