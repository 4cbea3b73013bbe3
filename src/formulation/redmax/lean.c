// SPDX-License-Identifier: Apache-2.0
#include "formulation/redmax/redmax_lanes.h"

#include "base/isa.h"
#include "formulation/redmax/redmax_pins.h"

#include <string.h>

/// Links of a part from which it is divided, and the most links of a task, at least and as a part
/// of all.
#define DIVIDED_LINKS 2048
#define TASK_LINKS    256
#define TASK_SHARE    32
/// Links of a task on average, below which a part stays in one piece.
#define TASK_MEAN 64

#define DECLARE(isa) extern const mabd_lean_table mabd_lean_table_##isa;
#define POINTER(isa) &mabd_lean_table_##isa,
MABD_ISA_EACH(DECLARE)

const mabd_lean_table* mabd_lean_table_of(int32_t isa) {
    static const mabd_lean_table* const tables[] = {MABD_ISA_EACH(POINTER)};
    return tables[isa];
}

// ---- structure ---------------------------------------------------------------------------------

// Index of the only nonzero entry of a unit screw axis, and its sign; -1 = another one.
static int8_t axis_of(mabd_spatial S, mabd_real* sign) {
    mabd_real e[6];
    int8_t at = -1;
    mabd_sp_store(S, e);
    for (int8_t k = 0; k < 6; k++) {
        if (e[k] == 0) continue;
        if (at >= 0 || (e[k] != 1 && e[k] != -1)) return -1;
        at = k;
    }
    *sign = at < 0 ? 0 : e[at];
    return at;
}

// A ball with nothing but dampers and armature, about its link's axes or any.
static bool is_lean_ball(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    const mabd_redmax_freedom* f = &sim->freedoms[link->first];
    if (link->chart != MABD_CHART_LOCAL) return false;
    for (int k = 0; k < 3; k++) {
        if (f[k].k != 0 || f[k].engine) return false;
        if (f[k].control && (f[k].control->gain != 0 || f[k].control->offset != 0)) return false;
        if (link->reversed && (f[k].d != f[0].d || f[k].I != f[0].I)) return false;
    }
    return true;
}

// True if the law of a freedom of a link differs from solve to solve, or holds it.
static bool is_ruled_link(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    bool ruled = false;
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[k];
        ruled |= f->law >= 0 || f->prescribed || (f->control && f->control->friction > 0);
    }
    return ruled;
}

static bool is_lean_link(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    mabd_real sign;
    if (link->loop >= 0 || link->spring >= 0 || link->drag > 0) return false;
    if (link->body >= 0 && sim->body_force[link->body] < sim->body_force[link->body + 1])
        return false;
    if (link->kind != MABD_PRIMITIVE_SCREW && is_ruled_link(sim, link)) return false;
    switch (link->kind) {
    case MABD_PRIMITIVE_FIXED:
    case MABD_PRIMITIVE_TRANSLATION:
        return true;
    case MABD_PRIMITIVE_SCREW:
        return axis_of(link->S, &sign) >= 0;
    case MABD_PRIMITIVE_BALL:
        return is_lean_ball(sim, link);
    default:
        return false;
    }
}

static bool is_lean_part(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    if (part->cut_count + part->spring_count + part->coupling_count > 0 || part->poses ||
        part->pins || sim->model->ground_count > 0) {
        return false;
    }
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        if (!is_lean_link(sim, &sim->links[i])) return false;
    }
    return true;
}

// Axes of a link of a lean part.
static void fill_axes(const mabd_redmax_link* link, mabd_lean_link* own) {
    own->count = (int8_t)link->count;
    if (link->kind == MABD_PRIMITIVE_SCREW) own->axis = axis_of(link->S, &own->sign);
    if (link->kind == MABD_PRIMITIVE_BALL) own->axis = 0, own->sign = 1;
    if (link->kind == MABD_PRIMITIVE_TRANSLATION) own->axis = 3, own->sign = link->S.v.x;
}

static void fill_links(mabd_redmax_sim* sim, mabd_redmax_part* part) {
    int32_t balls = 0;
    part->structure.plain = part->structure.lean, part->structure.ruled = false;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_lean_link* own = &sim->lean[i];
        *own = (mabd_lean_link){.parent = link->parent < 0 ? -1 : link->parent - part->link_first,
                                .freedom = link->first - part->freedom_first,
                                .ball = link->ball >= 0 ? balls++ : -1,
                                .axis = -1,
                                .leaf = true,
                                .body = link->M.mass > 0};
        if (part->structure.lean) fill_axes(link, own);
        part->structure.ruled |= part->structure.lean && is_ruled_link(sim, link);
        part->structure.plain &= own->count < 3;
        if (link->kind == MABD_PRIMITIVE_SCREW) sim->S[link->first] = link->S; // (works.c)
        if (own->ball == 0) part->structure.ball_first = link->ball;
    }
    part->structure.ball_count = balls;
    part->structure.plain &= !part->structure.ruled;
    mabd_lean_link* links = sim->lean + part->link_first;
    for (int32_t i = part->link_count - 1; i >= 0; i--) {
        if (links[i].parent < 0) continue;
        links[i].opens = links[links[i].parent].leaf;
        links[links[i].parent].leaf = false;
    }
}

// ---- ranges ------------------------------------------------------------------------------------

/// Work on one part.
typedef struct range_work {
    const mabd_lean_link* links;
    int32_t count, most;
    int32_t* size;           // of subtrees
    mabd_lean_range* ranges; // null = count them
} range_work;

static void add_range(const range_work* w, int32_t index, int32_t from, int32_t to, bool task) {
    if (w->ranges) w->ranges[index] = (mabd_lean_range){from, to, task, -1, {0, 0}};
}

// Divide a part; returns the number of ranges, and that of tasks.
static int32_t divide(const range_work* w, int32_t* tasks) {
    int32_t n = 0, from = 0;
    *tasks = 0;
    for (int32_t i = 0; i < w->count; i++) w->size[i] = 1;
    for (int32_t i = w->count - 1; i >= 0; i--) {
        if (w->links[i].parent >= 0) w->size[w->links[i].parent] += w->size[i];
    }
    for (int32_t i = 0; i < w->count;) {
        if (w->size[i] > w->most) {
            i++;
            continue;
        }
        if (i > from) add_range(w, n++, from, i, false);
        add_range(w, n++, i, i + w->size[i], true), ++*tasks;
        i += w->size[i], from = i;
    }
    if (w->count > from) add_range(w, n++, from, w->count, false);
    return n;
}

// Ranges of a part, whose first one is `first` of all; null ranges: count them.
static int32_t divide_part(const mabd_redmax_sim* sim, mabd_redmax_part* part, int32_t* size,
                           mabd_lean_range* ranges) {
    range_work w = {sim->lean + part->link_first, part->link_count, TASK_LINKS, size, NULL};
    if (part->link_count / TASK_SHARE > w.most) w.most = part->link_count / TASK_SHARE;
    int32_t tasks = 0, n = 0;
    if (part->structure.lean && part->link_count >= DIVIDED_LINKS) n = divide(&w, &tasks);
    part->structure.divided_links = tasks > 1 && part->link_count / tasks >= TASK_MEAN;
    w.ranges = ranges;
    if (part->structure.divided_links) return ranges ? divide(&w, &tasks) : n;
    add_range(&w, 0, 0, part->link_count, false);
    return 1;
}

// ---- slots -------------------------------------------------------------------------------------

// Give each link of a range a slot, which it keeps until its parent has one. `spare` (links) holds
// the slots that are free. Returns the number of slots in use so far, `used` of them before.
static int32_t assign_slots(mabd_lean_link* links, int32_t from, int32_t to, int32_t used,
                            int32_t* spare) {
    int32_t free = 0;
    for (int32_t i = to - 1; i >= from; i--) {
        if (links[i].leaf) links[i].slot = free > 0 ? spare[--free] : used++;
        const int32_t parent = links[i].parent;
        if (parent < from) continue; // a root, or that of a task
        if (links[i].opens) links[parent].slot = free > 0 ? spare[--free] : used++;
        spare[free++] = links[i].slot;
    }
    return used;
}

// Slots of links that are in no task: one each, there are few of them.
static int32_t assign_trunk(mabd_lean_link* links, const mabd_lean_range* range, int32_t used) {
    for (int32_t i = range->from; i < range->to; i++) links[i].slot = used++;
    return used;
}

static int32_t assign_part(mabd_redmax_sim* sim, const mabd_redmax_part* part, int32_t* spare) {
    mabd_lean_link* links = sim->lean + part->link_first;
    int32_t used = 0;
    for (int32_t k = part->structure.range_first;
         k < part->structure.range_first + part->structure.range_count; k++) {
        const mabd_lean_range* range = &sim->ranges[k];
        used = part->structure.divided_links && !range->task
                   ? assign_trunk(links, range, used)
                   : assign_slots(links, range->from, range->to, used, spare);
    }
    return used;
}

// ---- memory ------------------------------------------------------------------------------------

// Number of ranges of all parts.
static int32_t count_ranges(mabd_redmax_sim* sim, int32_t* work) {
    int32_t ranges = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        mabd_redmax_part* part = &sim->parts[i];
        part->structure.lean = is_lean_part(sim, part);
        fill_links(sim, part);
        part->structure.range_first = ranges;
        part->structure.range_count = divide_part(sim, part, work, NULL);
        ranges += part->structure.range_count;
    }
    return ranges;
}

// Fill structure, ranges and slots. `work`: an index for each link.
static mabd_status fill_structure(mabd_redmax_sim* sim, int32_t* work) {
    int32_t slots = 0;
    sim->range_size = mabd_bytes((size_t)count_ranges(sim, work), sizeof *sim->ranges);
    sim->ranges = mabd_alloc(&sim->allocator, sim->range_size);
    if (!sim->ranges) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < sim->part_count; i++) {
        mabd_redmax_part* part = &sim->parts[i];
        divide_part(sim, part, work, sim->ranges + part->structure.range_first);
        part->structure.slot_first = slots;
        slots += assign_part(sim, part, work);
    }
    sim->N_size = mabd_bytes(MABD_LEAN_SLOT * (size_t)slots, sizeof *sim->N);
    sim->N = mabd_alloc(&sim->allocator, sim->N_size);
    return sim->N ? MABD_OK : MABD_ERR_MEMORY;
}

mabd_status mabd_redmax_lean_create(mabd_redmax_sim* sim) {
    const size_t bytes = (size_t)sim->link_count * sizeof(int32_t);
    int32_t* work = mabd_alloc(&sim->allocator, bytes);
    if (!work) return MABD_ERR_MEMORY;
    sim->sweeps = mabd_lean_table_of(mabd_isa_count() - 1);
    mabd_status status = fill_structure(sim, work);
    if (status == MABD_OK) status = mabd_redmax_lanes_create(sim, mabd_isa_count() - 1);
    mabd_free(&sim->allocator, work, bytes);
    return status;
}

void mabd_redmax_lean_destroy(mabd_redmax_sim* sim) {
    mabd_redmax_lanes_destroy(sim);
    mabd_free(&sim->allocator, sim->N, sim->N_size);
    mabd_free(&sim->allocator, sim->ranges, sim->range_size);
    sim->N = NULL, sim->ranges = NULL;
}

size_t mabd_redmax_lean_bytes(const mabd_redmax_sim* sim) {
    return sim->N_size + sim->range_size + mabd_redmax_lanes_bytes(sim);
}

// ---- sweeps ------------------------------------------------------------------------------------

static void do_task(void* context, int32_t index, int32_t thread) {
    const mabd_lean_sweep* sweep = context;
    const mabd_redmax_sim* sim = sweep->s->sim;
    mabd_lean_range* range = &sim->ranges[sweep->s->part->structure.range_first + index];
    (void)thread;
    range->bad = -1;
    if (range->task) sim->sweeps->links(sweep, range->from, range->to, &range->bad);
}

static void do_tasks(mabd_lean_sweep* sweep) {
    mabd_pool_run(sweep->s->sim->pool, sweep->s->part->structure.range_count, do_task, sweep);
}

// The links between tasks and ground.
static void do_others(mabd_lean_sweep* sweep, bool up) {
    const mabd_redmax_sim* sim = sweep->s->sim;
    const mabd_redmax_part* part = sweep->s->part;
    const mabd_lean_link* links = sim->lean + part->link_first;
    for (int32_t k = 0; k < part->structure.range_count; k++) {
        mabd_lean_range* range = &sim->ranges[part->structure.range_first +
                                              (up ? part->structure.range_count - 1 - k : k)];
        if (!up && !range->task) sim->sweeps->links(sweep, range->from, range->to, &range->bad);
        if (!up) continue;
        if (range->task) {
            if (links[range->from].parent >= 0) sim->sweeps->push(sweep, range->from);
            continue;
        }
        for (int32_t i = range->to - 1; i >= range->from; i--) {
            sim->sweeps->links(sweep, i, i + 1, &range->bad);
            if (links[i].parent >= 0) sim->sweeps->push(sweep, i);
        }
    }
}

static void run(mabd_lean_sweep* sweep, bool up) {
    const mabd_redmax_sim* sim = sweep->s->sim;
    const mabd_redmax_part* part = sweep->s->part;
    if (!part->structure.divided_links) {
        mabd_lean_range* range = &sim->ranges[part->structure.range_first];
        range->bad = -1;
        sim->sweeps->links(sweep, range->from, range->to, &range->bad);
    } else if (up) {
        do_tasks(sweep);
        do_others(sweep, true);
    } else {
        do_others(sweep, false);
        do_tasks(sweep);
    }
}

/// A work on the ranges of a part.
typedef struct range_job {
    const mabd_redmax_solve* s;
    mabd_lean_work work;
    void* context;
    bool tasks; // these, or the others
} range_job;

static void do_range(void* context, int32_t index, int32_t thread) {
    const range_job* job = context;
    const int32_t first = job->s->part->link_first;
    mabd_lean_range* range = &job->s->sim->ranges[job->s->part->structure.range_first + index];
    (void)thread;
    if (range->task != job->tasks) return;
    range->sum[0] = range->sum[1] = 0;
    job->work(job->s, job->context, first + range->from, first + range->to, range->sum);
}

void mabd_redmax_each_range(const mabd_redmax_solve* s, mabd_lean_work work, void* context,
                            mabd_real total[2]) {
    const mabd_redmax_structure* own = &s->part->structure;
    range_job job = {s, work, context, false};
    total[0] = total[1] = 0;
    if (!own->divided_links) {
        work(s, context, s->part->link_first, s->part->link_first + s->part->link_count, total);
        return;
    }
    for (int32_t k = 0; k < own->range_count; k++) do_range(&job, k, 0);
    job.tasks = true;
    mabd_pool_run(s->sim->pool, own->range_count, do_range, &job);
    for (int32_t k = own->range_first; k < own->range_first + own->range_count; k++) {
        for (int j = 0; j < 2; j++) total[j] += s->sim->ranges[k].sum[j];
    }
}

mabd_real mabd_redmax_lean_law(const mabd_redmax_solve* s, int32_t freedom, mabd_real v, bool slope,
                               mabd_real* law) {
    const mabd_redmax_freedom* f = &s->sim->freedoms[freedom];
    mabd_real by_rate = 0;
    for (int k = 0; k < MABD_LEAN_LAW; k++) law[k] = 0;
    if (f->prescribed) return 0; // r is all that holds it
    const mabd_real base = s->motor[freedom] + mabd_redmax_friction(f, v, &by_rate);
    if (f->held) return base; // r is the force of the law
    law[0] = f->k, law[1] = slope ? f->d + by_rate : f->d, law[2] = f->I, law[3] = 1;
    return base + s->force[freedom] + f->push;
}

// Set the laws of a ruled part that are in force.
static void set_laws(const mabd_redmax_solve* s, bool slope) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; s->part->structure.ruled && k < end; k++) {
        sim->base_force[k] =
            mabd_redmax_lean_law(s, k, sim->v[k], slope, sim->lean_law + MABD_LEAN_LAW * (size_t)k);
    }
}

void mabd_redmax_lean_residual(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_lean_sweep sweep = {.s = s, .phase = MABD_LEAN_RESIDUAL_DOWN};
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; !s->part->structure.ruled && k < end; k++) {
        sim->base_force[k] = s->force[k] + s->motor[k] + sim->freedoms[k].push;
    }
    set_laws(s, false);
    s->part->structure.swept = true;
    run(&sweep, false);
    sweep.phase = MABD_LEAN_RESIDUAL_UP;
    run(&sweep, true);
}

mabd_status mabd_redmax_lean_factor(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                    int32_t* link) {
    mabd_lean_sweep sweep = {.s = s, .phase = MABD_LEAN_FACTOR, .w = w};
    set_laws(s, true);
    run(&sweep, true);
    *link = -1;
    for (int32_t k = s->part->structure.range_first;
         k < s->part->structure.range_first + s->part->structure.range_count; k++) {
        const int32_t bad = s->sim->ranges[k].bad;
        if (bad >= 0 && s->part->link_first + bad > *link) *link = s->part->link_first + bad;
    }
    return *link < 0 ? MABD_OK : MABD_ERR_SINGULAR;
}

static void solve(const mabd_redmax_solve* s, mabd_lean_phase up, mabd_lean_phase down,
                  const mabd_real* in, mabd_real* out) {
    mabd_lean_sweep sweep = {.s = s, .phase = MABD_LEAN_CLEAR, .in = in, .out = out};
    run(&sweep, false);
    sweep.phase = up;
    run(&sweep, true);
    sweep.phase = down;
    run(&sweep, false);
}

void mabd_redmax_lean_apply(const mabd_redmax_solve* s, const mabd_real* b, mabd_real* x) {
    solve(s, MABD_LEAN_SOLVE_UP, MABD_LEAN_SOLVE_DOWN, b, x);
}

void mabd_redmax_lean_react(const mabd_redmax_solve* s, const mabd_real* x, mabd_real* y) {
    mabd_lean_sweep sweep = {.s = s, .phase = MABD_LEAN_REACT, .in = x, .out = y};
    run(&sweep, false);
}

void mabd_redmax_lean_apply_transposed(const mabd_redmax_solve* s, const mabd_real* y,
                                       mabd_real* z) {
    solve(s, MABD_LEAN_BACK_UP, MABD_LEAN_BACK_DOWN, y, z);
}

void mabd_redmax_lean_pull_rates(const mabd_redmax_solve* s, const mabd_real* z, mabd_real* v,
                                 mabd_real* a) {
    mabd_lean_sweep sweep = {.s = s, .phase = MABD_LEAN_PULL_DOWN, .in = z, .out = v, .more = a};
    run(&sweep, false);
    sweep.phase = MABD_LEAN_PULL_UP;
    run(&sweep, true);
}
