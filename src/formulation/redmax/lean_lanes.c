// SPDX-License-Identifier: Apache-2.0
// Newton's method on equal lean parts, one in each lane: newton.c for parts without rows and
// springs. Parts keep their own iteration: one that has converged moves no more, and its results
// are written when it does. One that fails, or whose search does, is left to newton.c, which gives
// what it would have given anyway. The others get the bits of newton.c, because every sum over a
// part has its order. Axes with stops, limited drives and friction move from branch to branch in
// each part by itself (axes.c); then all lanes are evaluated again, and the others get what they
// had.

#include "formulation/redmax/redmax_lanes.h"

#include "base/clock.h"
#include "formulation/redmax/redmax_axes.h"
#include "math/lanes.h"
#include "math/wide.h"

#include <math.h>
#include <string.h>

#define LEAN_REAL            mabd_wide
#define LEAN_COUNT           MABD_WIDE
#define LEAN_PAD             3
#define LEAN_PART            mabd_wide
#define LEAN_PARTS           3
#define LEAN_PUT(p, x, y, z) ((p)[0] = (x), (p)[1] = (y), (p)[2] = (z))
#define LEAN_WHERE(c, x, y)  mabd_wide_where(c, x, y)
#define LEAN(name)           lanes_##name
#include "formulation/redmax/lean_text.h"

/// Arrays of lanes: a tree, its constants, and vectors of the iteration.
typedef struct lanes_work {
    lanes_tree t;
    mabd_wide gamma, alpha;                   // alpha: part of the step
    const mabd_redmax_solve* s;               // MABD_WIDE of them
    mabd_wide *rest, *inertia, *law, *length; // links x 12, 13, freedoms x MABD_LEAN_LAW, 1
    mabd_wide *hold, *scale;                  // freedoms: of held ones; weights in the merit
    mabd_wide *rows, *reaction;               // freedoms: of H; forces that hold them
    mabd_wide* center;                        // balls x 4
    mabd_wide *q_b, *v_b, *trial, *step, *weight;
    mabd_lean_lane_state* state;
    mabd_real phi[MABD_WIDE_MOST], size[MABD_WIDE_MOST];
    int32_t links, freedoms, balls;
    int width; // parts in lanes
    int32_t bad[MABD_WIDE_MOST];
    int32_t changes[MABD_WIDE_MOST]; // of branches at this iterate
    bool active[MABD_WIDE_MOST];     // still moves
} lanes_work;

static void lay_out(lanes_work* w, const mabd_lean_size* size, mabd_arena* arena) {
    const size_t l = (size_t)size->links, f = (size_t)size->freedoms, balls = (size_t)size->balls;
    const size_t width = sizeof(mabd_wide);
    w->links = size->links, w->freedoms = size->freedoms, w->balls = size->balls;
    mabd_wide** by_freedom[] = {&w->t.q,     &w->t.v,     &w->t.a,     &w->t.r,    &w->t.base,
                                &w->t.stiff, &w->t.upper, &w->t.u,     &w->q_b,    &w->v_b,
                                &w->trial,   &w->step,    &w->weight,  &w->length, &w->hold,
                                &w->scale,   &w->rows,    &w->reaction};
    for (size_t k = 0; k < sizeof by_freedom / sizeof *by_freedom; k++) {
        *by_freedom[k] = mabd_arena_take(arena, f, width);
    }
    mabd_wide** by_link[] = {&w->t.V, &w->t.A, &w->t.F, &w->t.XV, &w->t.XA, &w->t.Sv};
    for (size_t k = 0; k < sizeof by_link / sizeof *by_link; k++) {
        *by_link[k] = mabd_arena_take(arena, 6 * l, width);
    }
    w->rest = mabd_arena_take(arena, 12 * l, width);
    w->inertia = mabd_arena_take(arena, 13 * l, width);
    w->law = mabd_arena_take(arena, MABD_LEAN_LAW * f, width);
    w->t.E = mabd_arena_take(arena, 12 * l, width);
    w->t.up = mabd_arena_take(arena, 12 * l, width);
    w->t.x = mabd_arena_take(arena, 12 * l, width);
    w->t.B = mabd_arena_take(arena, 12 * f, width);
    w->t.K = mabd_arena_take(arena, 12 * f, width);
    w->t.G = mabd_arena_take(arena, 6 * f, width);
    w->t.D = mabd_arena_take(arena, 3 * f, width);
    w->t.chart = mabd_arena_take(arena, MABD_LEAN_CHART * balls, width);
    w->center = mabd_arena_take(arena, 4 * balls, width);
    w->t.N = mabd_arena_take(arena, MABD_LEAN_SLOT * (size_t)size->slots, width);
    w->t.rest = (lanes_constants){w->rest, 12 * width};
    w->t.inertia = (lanes_constants){w->inertia, 13 * width};
    w->t.law = (lanes_constants){w->law, MABD_LEAN_LAW * width};
    w->t.column = 12;
    w->t.center = w->center;
}

static size_t bytes(const mabd_lean_size* size) {
    lanes_work w;
    mabd_arena arena = {0};
    lay_out(&w, size, &arena);
    return arena.used;
}

// ---- into lanes and back -----------------------------------------------------------------------

static void load(mabd_wide* to, int lane, const mabd_real* from, size_t n) {
    mabd_real* at = (mabd_real*)to + lane;
    for (size_t k = 0; k < n; k++) at[MABD_WIDE * k] = from[k];
}

static void store(const mabd_wide* from, int lane, mabd_real* to, size_t n) {
    const mabd_real* at = (const mabd_real*)from + lane;
    for (size_t k = 0; k < n; k++) to[k] = at[MABD_WIDE * k];
}

// Load the laws of a ruled part that are in force at the rates of its lane.
static void load_laws(lanes_work* w, int lane, bool slope) {
    const mabd_redmax_solve* s = &w->s[lane];
    const size_t first = (size_t)s->part->freedom_first;
    for (size_t k = 0; k < (size_t)w->freedoms; k++) {
        const mabd_redmax_freedom* f = &s->sim->freedoms[first + k];
        const mabd_real v = ((const mabd_real*)&w->t.v[k])[lane];
        const mabd_real q = ((const mabd_real*)&w->t.q[k])[lane];
        const mabd_real hold = f->prescribed ? q : f->hold;
        mabd_real law[MABD_LEAN_LAW];
        const mabd_real base = mabd_redmax_lean_law(s, (int32_t)(first + k), v, slope, law);
        load(w->law + MABD_LEAN_LAW * k, lane, law, MABD_LEAN_LAW);
        load(w->t.base + k, lane, &base, 1);
        load(w->hold + k, lane, &hold, 1);
    }
}

static void load_part(lanes_work* w, int lane) {
    const mabd_redmax_solve* s = &w->s[lane];
    const mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, n = (size_t)w->freedoms;
    for (int32_t i = 0; i < w->links; i++) {
        const mabd_redmax_link* link = &sim->links[s->part->link_first + i];
        load(w->rest + 12 * (size_t)i, lane, (const mabd_real*)&link->rest, 12);
        load(w->inertia + 13 * (size_t)i, lane, (const mabd_real*)&link->M, 13);
    }
    for (size_t k = 0; k < n; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[first + k];
        const mabd_real base = s->force[first + k] + s->motor[first + k] + f->push;
        load(w->law + MABD_LEAN_LAW * k, lane, &f->k, 3);
        load(w->length + k, lane, &f->length, 1);
        load(w->t.base + k, lane, &base, 1);
    }
    const mabd_real* turn = s->from_node->turn + 4 * (size_t)s->part->structure.ball_first;
    load(w->center, lane, turn, 4 * (size_t)w->balls);
    load(w->t.q, lane, sim->q + first, n);
    load(w->q_b, lane, sim->q_b + first, n);
    load(w->v_b, lane, sim->v_b + first, n);
    for (int j = 0; j < 3; j++) {
        const mabd_real fall = -sim->model->gravity[j];
        load(&w->t.fall[j], lane, &fall, 1);
    }
    load(&w->gamma, lane, &s->gamma, 1);
}

// Write the solution of a part: q to sim->trial, the rest to where newton.c has it.
static void store_part(const lanes_work* w, int lane) {
    const mabd_redmax_solve* s = &w->s[lane];
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, n = (size_t)w->freedoms;
    const size_t link = (size_t)s->part->link_first, links = (size_t)w->links;
    store(w->t.q, lane, sim->trial + first, n);
    store(w->t.v, lane, sim->v + first, n);
    store(w->t.a, lane, sim->a + first, n);
    store(w->t.r, lane, sim->r + first, n);
    store(w->t.F, lane, (mabd_real*)(sim->F + link), 6 * links);
    store(w->t.E, lane, (mabd_real*)(sim->E + link), 12 * links);
    store(w->t.V, lane, (mabd_real*)(sim->V + link), 6 * links);
}

// ---- iteration ---------------------------------------------------------------------------------

static void set_rates(lanes_work* w) {
    for (int32_t k = 0; k < w->freedoms; k++) {
        w->t.v[k] = (w->t.q[k] - w->q_b[k]) / w->gamma;
        w->t.a[k] = (w->t.v[k] - w->v_b[k]) / w->gamma;
    }
}

static void evaluate(lanes_work* w) {
    const double clock = mabd_clock();
    set_rates(w);
    for (int l = 0; l < w->width; l++) {
        if (w->t.ruled && w->s[l].part->frictions) load_laws(w, l, false);
    }
    lanes_residual_down(&w->t, 0, w->links);
    lanes_residual_up(&w->t, 0, w->links);
    for (int32_t k = 0; k < w->freedoms; k++) {
        w->rows[k] = w->t.r[k];
        if (!w->t.ruled) continue;
        const mabd_wide zero = {0};
        w->rows[k] =
            mabd_wide_where(lanes_free_of(&w->t, k) > zero, w->t.r[k], w->t.q[k] - w->hold[k]);
    }
    w->s[0].report->seconds[MABD_REDMAX_RESIDUAL] += mabd_clock() - clock;
}

// Factor, and solve for minus the rows.
static void find_step(lanes_work* w) {
    const mabd_wide one = (mabd_wide){0} + (mabd_real)1, inverse = one / w->gamma;
    const lanes_weights weights = {one, inverse, one / (w->gamma * w->gamma)};
    const double clock = mabd_clock();
    for (int l = 0; l < MABD_WIDE; l++) w->bad[l] = -1;
    for (int l = 0; l < w->width; l++) {
        if (w->t.ruled && w->s[l].part->frictions) load_laws(w, l, true);
    }
    lanes_factor_up(&w->t, &weights, 0, w->links, w->bad);
    const double factored = mabd_clock();
    w->s[0].report->seconds[MABD_REDMAX_FACTOR] += factored - clock;
    for (int32_t k = 0; k < w->freedoms; k++) w->step[k] = -w->rows[k];
    lanes_clear_up(&w->t, 0, w->links);
    lanes_solve_up(&w->t, w->step, 0, w->links);
    lanes_solve_down(&w->t, w->step, 0, w->links);
    w->s[0].report->seconds[MABD_REDMAX_SOLVE] += mabd_clock() - factored;
}

static void set_weights(lanes_work* w) {
    for (int32_t k = 0; k < w->freedoms; k++) {
        const mabd_real* pivot = (const mabd_real*)&w->t.stiff[k];
        mabd_real* weight = (mabd_real*)&w->weight[k];
        for (int l = 0; l < MABD_WIDE; l++) {
            const mabd_redmax_solve* s = &w->s[l];
            const bool prescribed = s->sim->freedoms[s->part->freedom_first + k].prescribed;
            weight[l] = prescribed ? 0 : 1 / (mabd_real)fabs(pivot[l]);
        }
    }
}

// Weights of the rows in the merit: those of held axes are rows of coordinates.
static void set_scale(lanes_work* w) {
    memcpy(w->scale, w->weight, (size_t)w->freedoms * sizeof *w->scale);
    for (int32_t k = 0; w->t.ruled && k < w->freedoms; k++) {
        mabd_real* scale = (mabd_real*)&w->scale[k];
        for (int l = 0; l < MABD_WIDE; l++) {
            const mabd_redmax_solve* s = &w->s[l];
            const mabd_redmax_freedom* f = &s->sim->freedoms[s->part->freedom_first + k];
            if (f->held && !f->prescribed) scale[l] = 1 / scale[l];
        }
    }
}

static mabd_wide merit(const lanes_work* w) {
    mabd_wide sum = {0};
    for (int32_t k = 0; k < w->freedoms; k++) sum += w->rows[k] * w->rows[k] * w->scale[k];
    return sum;
}

static void measure_step(lanes_work* w) {
    for (int l = 0; l < MABD_WIDE; l++) w->size[l] = 0;
    for (int32_t k = 0; k < w->freedoms; k++) {
        const mabd_real *step = (const mabd_real*)&w->step[k],
                        *length = (const mabd_real*)&w->length[k];
        for (int l = 0; l < MABD_WIDE; l++) {
            const mabd_real size = (mabd_real)fabs(step[l]) / length[l];
            if (!(size <= w->size[l])) w->size[l] = size;
        }
    }
}

static void move(lanes_work* w) {
    for (int32_t k = 0; k < w->freedoms; k++) w->t.q[k] = w->trial[k] + w->alpha * w->step[k];
    evaluate(w);
}

static void leave(lanes_work* w, int lane) {
    w->active[lane] = false;
    w->state[lane] = MABD_LEAN_LANE_LEFT;
}

// Move all parts by their steps, shortened until their merits decline; parts in `last` fully.
static void search(lanes_work* w, const bool* last) {
    mabd_real* alpha = (mabd_real*)&w->alpha;
    bool done[MABD_WIDE_MOST], all = false;
    for (int l = 0; l < MABD_WIDE; l++) {
        done[l] = last[l] || !w->active[l];
        alpha[l] = !last[l] && w->size[l] > MABD_NEWTON_STEP_LIMIT
                       ? MABD_NEWTON_STEP_LIMIT / w->size[l]
                       : 1;
    }
    memcpy(w->trial, w->t.q, (size_t)w->freedoms * sizeof *w->trial);
    for (int i = 0; !all && i <= MABD_NEWTON_SEARCH_MAX; i++) {
        move(w);
        const mabd_wide now = merit(w);
        const mabd_real* phi = (const mabd_real*)&now;
        all = true;
        for (int l = 0; l < MABD_WIDE; l++) {
            if (done[l]) continue;
            if (phi[l] <= w->phi[l] * (1 - MABD_NEWTON_DECLINE * alpha[l])) {
                w->phi[l] = phi[l], done[l] = true;
                continue;
            }
            const bool lifts = w->s[l].part->law_count == 0; // lifted iterates are next (newton.c)
            if (i == 0 && lifts && w->size[l] >= MABD_NEWTON_NOISE) {
                leave(w, l);
                done[l] = true;
                continue;
            }
            w->s[l].report->line_searches++;
            alpha[l] /= 2, all = false;
        }
    }
    for (int l = 0; l < MABD_WIDE; l++) {
        if (!done[l]) leave(w, l);
        if (!last[l] || !w->active[l]) continue;
        store_part(w, l);
        w->active[l] = false, w->state[l] = MABD_LEAN_LANE_SOLVED;
    }
}

// Move the axes of a part to the branches that its step is on; true if some was on another one.
static bool move_part(lanes_work* w, int lane) {
    const mabd_redmax_solve* s = &w->s[lane];
    const size_t first = (size_t)s->part->freedom_first, n = (size_t)w->freedoms;
    int32_t link;
    store(w->t.q, lane, s->sim->q + first, n);
    store(w->t.r, lane, s->sim->r + first, n);
    store(w->step, lane, s->sim->step + first, n);
    store(w->reaction, lane, s->sim->reaction + first, n);
    if (!mabd_redmax_move_axes_by(s, w->changes[lane] == 0, &link)) return false;
    if (++w->changes[lane] > MABD_NEWTON_BRANCH_CHANGES * s->sim->def.max_iterations) {
        leave(w, lane);
        return false;
    }
    load_laws(w, lane, false);
    return true;
}

// Move the axes of all parts, and solve again; false if none has moved.
static bool move_axes(lanes_work* w) {
    bool moved[MABD_WIDE_MOST] = {false}, some = false;
    lanes_react(&w->t, w->step, w->reaction, 0, w->links);
    for (int l = 0; l < w->width; l++) {
        if (w->active[l] && w->s[l].part->law_count > 0) moved[l] = move_part(w, l);
        some |= moved[l];
    }
    if (!some) return false;
    evaluate(w);
    find_step(w);
    for (int l = 0; l < w->width; l++) {
        if (!moved[l]) continue;
        w->s[l].report->iterations++;
        if (w->bad[l] >= 0) leave(w, l);
    }
    return true;
}

// One iteration; returns true if a part still moves.
static bool iterate(lanes_work* w, int32_t i) {
    bool last[MABD_WIDE_MOST] = {false}, some = false;
    find_step(w);
    for (int l = 0; l < MABD_WIDE; l++) {
        w->changes[l] = 0;
        if (!w->active[l]) continue;
        w->s[l].report->iterations++;
        if (w->bad[l] >= 0) leave(w, l);
    }
    while (w->t.ruled && move_axes(w)) continue;
    measure_step(w);
    if (i == 0) set_weights(w);
    set_scale(w);
    const mabd_wide now = merit(w);
    for (int l = 0; l < MABD_WIDE; l++) {
        if (!w->active[l]) continue;
        if (i == 0 || w->s[l].part->law_count > 0) w->phi[l] = ((const mabd_real*)&now)[l];
        if (!isfinite(w->size[l]) || !isfinite(w->phi[l])) leave(w, l);
        last[l] = w->active[l] && w->size[l] <= w->s[l].sim->def.redmax.newton_tolerance;
    }
    search(w, last);
    for (int l = 0; l < MABD_WIDE; l++) some |= w->active[l];
    return some;
}

static void newton(const mabd_redmax_solve* s, int count, const mabd_lean_size* size, void* memory,
                   mabd_lean_lane_state* state) {
    const mabd_redmax_part* part = s->part;
    lanes_work w = {.s = s, .state = state, .width = count};
    mabd_arena arena = {.memory = memory, .size = SIZE_MAX};
    lay_out(&w, size, &arena);
    w.t.links = s->sim->lean + part->link_first;
    for (int l = 0; l < MABD_WIDE; l++) {
        if (l < count) mabd_redmax_start_axes(&s[l]);
        load_part(&w, l);
        w.active[l] = l < count;
    }
    w.t.ruled = part->structure.ruled;
    set_rates(&w);
    for (int l = 0; w.t.ruled && l < MABD_WIDE; l++) load_laws(&w, l, false);
    evaluate(&w);
    for (int32_t i = 0; i < s->sim->def.max_iterations; i++) {
        if (!iterate(&w, i)) return;
    }
    for (int l = 0; l < count; l++) {
        if (w.active[l]) leave(&w, l);
    }
}

#define TABLE_OF_(isa) mabd_lean_lanes_##isa
#define TABLE_OF(isa)  TABLE_OF_(isa)
extern const mabd_lean_lanes_table TABLE_OF(MABD_ISA);
const mabd_lean_lanes_table TABLE_OF(MABD_ISA) = {MABD_WIDE, bytes, newton};
