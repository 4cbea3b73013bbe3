// SPDX-License-Identifier: Apache-2.0
// Sweeps of sequential impulses in lanes (impulse_packs.h): 8 items at a time, in vectors as wide
// as the registers of the instruction set.
//
// A pack is 8 items that share no body. Lines of bodies are turned into lanes, the items are
// updated, the lines are turned back. Lanes do not interact, every sum has one order: an item gets
// the bits that it would get alone.

#include "formulation/impulse/impulse_sweep.h"

#include "formulation/impulse/wide3.h"

// Velocities of both sides of the items.
typedef struct sides {
    wide3 va, wa, vb, wb;
} sides;

MABD_HOT sides load_sides(const mabd_lanes* a, const mabd_lanes* b, int c) {
    const sides u = {load3(a, c), load3(a + 3, c), load3(b, c), load3(b + 3, c)};
    return u;
}
MABD_HOT void store_sides(const sides* u, mabd_lanes* a, mabd_lanes* b, int c) {
    store3(u->va, a, c), store3(u->wa, a + 3, c), store3(u->vb, b, c), store3(u->wb, b + 3, c);
}

// What is found on the way: [0] the largest change, [1] the largest impulse.
MABD_HOT void note(const mabd_impulse_pass* s, mabd_wide dp, mabd_wide p, mabd_lanes* found,
                   int c) {
    if (!s->measure) return;
    AT(found, 0) = larger(size_of(dp), AT(found, 0));
    AT(found, 1) = larger(size_of(p), AT(found, 1));
}

// ---- blocks of joints --------------------------------------------------------------------------

// Impulses of n rows from their rates e: dp = -mass K^-1 (e + b) - leak p, or ratio p.
MABD_HOT void update(int n, bool firm, const mabd_impulse_job* job, const mabd_impulse_places* at,
                     mabd_lanes* d, int c, mabd_wide* e, mabd_wide* dp, mabd_lanes* found) {
    const mabd_impulse_pass* s = job->sweep;
    const mabd_real mass = firm ? 1 : s->joint.mass, leak = firm ? 0 : s->joint.leak;
    const int give = s->relax ? at->keep : at->give;
    if (job->task == MABD_IMPULSE_WARM) {
        MABD_UNROLL
        for (int i = 0; i < n; i++) dp[i] = AT(d, at->p + i) = s->ratio * AT(d, at->p + i);
        return;
    }
    if (!s->relax) {
        MABD_UNROLL
        for (int i = 0; i < n; i++) e[i] += AT(d, at->bias + i);
    } else if (firm) {
        MABD_UNROLL
        for (int i = 0; i < n; i++) e[i] += AT(d, at->hold + i);
    }
    if (firm) {
        MABD_UNROLL
        for (int i = 0; i < n; i++) e[i] += AT(d, give + i) * AT(d, at->p + i);
    }
    MABD_UNROLL
    for (int i = 0; i < n; i++) {
        const mabd_wide p = AT(d, at->p + i);
        mabd_wide sum = AT(d, at->inverse + i * (i + 1) / 2) * e[0];
        MABD_UNROLL
        for (int j = 1; j < n; j++) {
            const int high = i > j ? i : j, low = i > j ? j : i;
            sum += AT(d, at->inverse + high * (high + 1) / 2 + low) * e[j];
        }
        dp[i] = -(mass * sum) - leak * p;
        AT(d, at->p + i) = p + dp[i];
        note(s, dp[i], p + dp[i], found, c);
    }
}

MABD_HOT void ball(const mabd_impulse_job* job, mabd_lanes* d, mabd_lanes* a, mabd_lanes* b, int c,
                   mabd_lanes* found) {
    const mabd_impulse_places at = mabd_impulse_places_of(MABD_IMPULSE_BALL);
    const wide3 ra = load3(d + 4, c), rb = load3(d + 7, c);
    sides u = load_sides(a, b, c);
    const wide3 rate = sub3(add3(u.vb, cross3(u.wb, rb)), add3(u.va, cross3(u.wa, ra)));
    mabd_wide e[3] = {rate.x, rate.y, rate.z}, dp[3];
    update(3, false, job, &at, d, c, e, dp, found);
    const wide3 p = {dp[0], dp[1], dp[2]};
    u.va = axpy3(-AT(d, 0), p, u.va), u.vb = axpy3(AT(d, 1), p, u.vb);
    u.wa = axpy3(AT(d, 2), cross3(p, ra), u.wa), u.wb = axpy3(AT(d, 3), cross3(rb, p), u.wb);
    store_sides(&u, a, b, c);
}

// S x of a symmetric matrix at q.
MABD_HOT wide3 sym_product(const mabd_lanes* q, wide3 x, int c) {
    const wide3 d = load3(q, c), o = load3(q + 3, c); // xx yy zz, xy xz yz
    const wide3 y = {d.x * x.x + o.x * x.y + o.y * x.z, o.x * x.x + d.y * x.y + o.z * x.z,
                     o.y * x.x + o.z * x.y + d.z * x.z};
    return y;
}
// V += M^-1 of a force p on b, -p on a, and torques; d: masses and inertias of both sides
MABD_HOT void push(const mabd_lanes* d, wide3 p, wide3 on_a, wide3 on_b, sides* u, int c) {
    u->va = axpy3(-AT((mabd_lanes*)d, 0), p, u->va), u->vb = axpy3(AT((mabd_lanes*)d, 1), p, u->vb);
    u->wa = add3(u->wa, sym_product(d + 2, on_a, c));
    u->wb = add3(u->wb, sym_product(d + 8, on_b, c));
}

// 3 point rows and k rows of turns.
MABD_HOT void point(int k, const mabd_impulse_job* job, mabd_lanes* d, mabd_lanes* a, mabd_lanes* b,
                    int c, mabd_lanes* found) {
    const mabd_impulse_places at =
        mabd_impulse_places_of((mabd_impulse_pack_kind)(MABD_IMPULSE_POINT0 + k));
    const mabd_lanes* turns = d + MABD_IMPULSE_SIDES + 6;
    const wide3 ra = load3(d + MABD_IMPULSE_SIDES, c), rb = load3(d + MABD_IMPULSE_SIDES + 3, c);
    sides u = load_sides(a, b, c);
    const wide3 w = sub3(u.wb, u.wa);
    const wide3 rate = sub3(add3(u.vb, cross3(u.wb, rb)), add3(u.va, cross3(u.wa, ra)));
    mabd_wide e[MABD_BLOCK_MAX] = {rate.x, rate.y, rate.z}, dp[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int i = 0; i < k; i++) e[3 + i] = dot3(load3(turns + 3 * i, c), w);
    update(3 + k, false, job, &at, d, c, e, dp, found);
    const wide3 p = {dp[0], dp[1], dp[2]};
    wide3 on_a = cross3(p, ra), on_b = cross3(rb, p);
    MABD_UNROLL
    for (int i = 0; i < k; i++) {
        const wide3 t = scale3(dp[3 + i], load3(turns + 3 * i, c));
        on_a = sub3(on_a, t), on_b = add3(on_b, t);
    }
    push(d, p, on_a, on_b, &u, c);
    store_sides(&u, a, b, c);
}

// J V of a row: f ta tb at q.
MABD_HOT mabd_wide row_rate(const mabd_lanes* q, const sides* u, int c) {
    return dot3(load3(q, c), sub3(u->vb, u->va)) +
           (dot3(load3(q + 3, c), u->wa) + dot3(load3(q + 6, c), u->wb));
}

// n rows of any kind.
MABD_HOT void rows(int n, bool firm, const mabd_impulse_job* job, mabd_lanes* d, mabd_lanes* a,
                   mabd_lanes* b, int c, mabd_lanes* found) {
    const mabd_impulse_places at = mabd_impulse_places_of(
        (mabd_impulse_pack_kind)((firm ? MABD_IMPULSE_FIRM1 : MABD_IMPULSE_ROWS1) + n - 1));
    const mabd_lanes* row = d + MABD_IMPULSE_SIDES;
    sides u = load_sides(a, b, c);
    mabd_wide e[MABD_IMPULSE_MAX_ROWS], dp[MABD_IMPULSE_MAX_ROWS];
    MABD_UNROLL
    for (int i = 0; i < n; i++) e[i] = row_rate(row + MABD_IMPULSE_ROW * i, &u, c);
    update(n, firm, job, &at, d, c, e, dp, found);
    wide3 p[3];
    MABD_UNROLL
    for (int k = 0; k < 3; k++) p[k] = scale3(dp[0], load3(row + 3 * k, c));
    MABD_UNROLL
    for (int i = 1; i < n; i++) {
        MABD_UNROLL
        for (int k = 0; k < 3; k++) {
            p[k] = axpy3(dp[i], load3(row + MABD_IMPULSE_ROW * i + 3 * k, c), p[k]);
        }
    }
    push(d, p[0], p[1], p[2], &u, c);
    store_sides(&u, a, b, c);
}

// ---- packs -------------------------------------------------------------------------------------

// 8 items of one kind of joints.
#define EACH_PART for (int c = 0; c < MABD_LANES; c += MABD_WIDE)
#define POINT(k)                                                                                   \
    case MABD_IMPULSE_POINT##k:                                                                    \
        EACH_PART point(k, job, d, a, b, c, found);                                                \
        break
#define ROWS(n)                                                                                    \
    case MABD_IMPULSE_ROWS##n:                                                                     \
        EACH_PART rows(n, false, job, d, a, b, c, found);                                          \
        break
#define FIRM(n)                                                                                    \
    case MABD_IMPULSE_FIRM##n:                                                                     \
        EACH_PART rows(n, true, job, d, a, b, c, found);                                           \
        break

static void joint_pack(const mabd_impulse_job* job, mabd_impulse_pack_kind kind,
                       mabd_lanes* MABD_RESTRICT d, mabd_lanes* MABD_RESTRICT a,
                       mabd_lanes* MABD_RESTRICT b, mabd_lanes* MABD_RESTRICT found) {
    switch (kind) {
        POINT(0);
        POINT(1);
        POINT(2);
        POINT(3);
        ROWS(1);
        ROWS(2);
        ROWS(3);
        ROWS(4);
        ROWS(5);
        ROWS(6);
        FIRM(1);
        FIRM(2);
        FIRM(3);
        FIRM(4);
        FIRM(5);
        FIRM(6);
    default: // MABD_IMPULSE_BALL
        EACH_PART ball(job, d, a, b, c, found);
        break;
    }
}

// Lines of one side of a pack: to be read, and to be written. Lanes without an item read zeros;
// lines of bodies that do not move are not written.
typedef struct pack_lines {
    const mabd_real* from[MABD_LANES];
    mabd_real* to[MABD_LANES];
} pack_lines;

static void find_lines(const int32_t* body, mabd_impulse_line* lines, mabd_impulse_spare* spare,
                       pack_lines* at) {
    for (int l = 0; l < MABD_LANES; l++) {
        mabd_impulse_line* line = body[l] >= 0 ? &lines[body[l]] : &spare->empty;
        at->from[l] = line->v;
        at->to[l] = line->moves > 0 ? line->v : spare->unused.v;
    }
}

static void fetch(const mabd_impulse_packs* packs, mabd_impulse_line* lines, int32_t pack) {
    for (int side = 0; side < 2; side++) {
        for (int l = 0; l < MABD_LANES; l++) {
            const int32_t body = packs->body[pack][side][l];
            if (body >= 0) __builtin_prefetch(&lines[body], 1);
        }
    }
}

static void run_pack(const mabd_impulse_job* job, int32_t pack, mabd_impulse_spare* spare,
                     mabd_lanes* found) {
    const mabd_impulse_packs* packs = job->packs;
    mabd_lanes a[MABD_LANES], b[MABD_LANES], *d = packs->data + packs->first[pack];
    pack_lines la, lb;
    find_lines(packs->body[pack][0], job->lines, spare, &la);
    find_lines(packs->body[pack][1], job->lines, spare, &lb);
    mabd_lanes_gather_at_once(MABD_LANES, la.from, a);
    mabd_lanes_gather_at_once(MABD_LANES, lb.from, b);
    joint_pack(job, (mabd_impulse_pack_kind)packs->order.pack_kind[pack], d, a, b, found);
    mabd_lanes_scatter(a, la.to);
    mabd_lanes_scatter(b, lb.to);
}

static mabd_impulse_change run(const mabd_impulse_job* job, int32_t first, int32_t last,
                               mabd_impulse_spare* spare) {
    mabd_lanes found[2];
    mabd_impulse_change change = {0, 0};
    for (int l = 0; l < MABD_LANES; l++) found[0].at[l] = found[1].at[l] = 0;
    for (int32_t k = 0; k < last - first; k++) {
        const int32_t step = job->sweep->backwards ? -1 : 1;
        const int32_t pack = job->sweep->backwards ? last - 1 - k : first + k;
        if (k + 2 < last - first) fetch(job->packs, job->lines, pack + 2 * step);
        run_pack(job, pack, spare, found);
    }
    for (int l = 0; l < MABD_LANES; l++) {
        if (found[0].at[l] > change.change) change.change = found[0].at[l];
        if (found[1].at[l] > change.largest) change.largest = found[1].at[l];
    }
    return change;
}

extern const mabd_impulse_lanes MABD_IMPULSE_ISA(lanes);
const mabd_impulse_lanes MABD_IMPULSE_ISA(lanes) = {MABD_IMPULSE_ISA(place), MABD_IMPULSE_ISA(gaps),
                                                    run, MABD_IMPULSE_ISA(bodies)};
