// SPDX-License-Identifier: Apache-2.0
#include "formulation/redmax/redmax_lanes.h"

#include "base/isa.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_sim.h"
#include "math/wide.h"

#include <string.h>

#define DECLARE(isa) extern const mabd_lean_lanes_table mabd_lean_lanes_##isa;
#define POINTER(isa) &mabd_lean_lanes_##isa,
MABD_ISA_EACH(DECLARE)

static const mabd_lean_lanes_table* table_of(int32_t isa) {
    static const mabd_lean_lanes_table* const tables[] = {MABD_ISA_EACH(POINTER)};
    return tables[isa];
}

// ---- packs -------------------------------------------------------------------------------------

// Order of parts by structure: equal parts are equal here.
static int compare(const mabd_redmax_sim* sim, int32_t a, int32_t b) {
    const mabd_redmax_part *p = &sim->parts[a], *q = &sim->parts[b];
    if (p->link_count != q->link_count) return p->link_count < q->link_count ? -1 : 1;
    const mabd_lean_link *x = sim->lean + p->link_first, *y = sim->lean + q->link_first;
    for (int32_t i = 0; i < p->link_count; i++) {
        if (x[i].parent != y[i].parent) return x[i].parent < y[i].parent ? -1 : 1;
        if (x[i].axis != y[i].axis) return x[i].axis < y[i].axis ? -1 : 1;
        if (x[i].count != y[i].count) return x[i].count < y[i].count ? -1 : 1;
        if (x[i].sign != y[i].sign) return x[i].sign < y[i].sign ? -1 : 1;
        if (x[i].body != y[i].body) return x[i].body < y[i].body ? -1 : 1;
    }
    if (p->structure.ruled != q->structure.ruled) return q->structure.ruled ? -1 : 1;
    return 0;
}

static bool is_packed(const mabd_redmax_part* part) {
    return part->structure.lean && !part->structure.divided_links && part->freedom_count > 0;
}

// Merge two sorted runs of parts; equal ones keep their order.
static void merge(const mabd_redmax_sim* sim, const int32_t* from, int32_t a, int32_t b,
                  int32_t end, int32_t* to) {
    int32_t i = a, k = b;
    for (int32_t n = a; n < end; n++) {
        const bool left = k >= end || (i < b && compare(sim, from[i], from[k]) <= 0);
        to[n] = left ? from[i++] : from[k++];
    }
}

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

// Parts that may be packed, equal ones next to each other, in `parts`; `work` is as long.
static int32_t sort_parts(const mabd_redmax_sim* sim, int32_t* parts, int32_t* work) {
    int32_t n = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (is_packed(&sim->parts[i])) parts[n++] = i;
    }
    for (int32_t run = 1; run < n; run *= 2) {
        for (int32_t a = 0; a < n; a += 2 * run) {
            merge(sim, parts, a, smaller(a + run, n), smaller(a + 2 * run, n), work);
        }
        memcpy(parts, work, (size_t)n * sizeof *parts);
    }
    return n;
}

// Divide sorted parts into packs; null packs: count them. A part that is like no other goes alone.
static int32_t find_packs(mabd_redmax_sim* sim, int32_t n, mabd_lean_pack* packs) {
    const int32_t width = sim->lanes->width;
    int32_t count = 0;
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && end - i < width; end++) {
            if (compare(sim, sim->pack_parts[i], sim->pack_parts[end]) != 0) break;
        }
        if (end - i < 2) continue;
        if (packs) packs[count] = (mabd_lean_pack){i, end - i};
        for (int32_t k = i; k < end; k++) sim->parts[sim->pack_parts[k]].structure.pack = count;
        count++;
    }
    return count;
}

static mabd_lean_size size_of(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    int32_t most = -1;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        if (sim->lean[i].slot > most) most = sim->lean[i].slot;
    }
    const mabd_lean_size size = {part->link_count, part->freedom_count, part->structure.ball_count,
                                 most + 1};
    return size;
}

static mabd_status take_memory(mabd_redmax_sim* sim) {
    const size_t packs = (size_t)sim->pack_count;
    mabd_arena arena = {0};
    sim->lane_bytes = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_part* part = &sim->parts[i];
        if (part->structure.pack < 0) continue;
        const mabd_lean_size size = size_of(sim, part);
        const size_t own = sim->lanes->bytes(&size);
        if (own > sim->lane_bytes) sim->lane_bytes = own;
    }
    for (int pass = 0; pass < 2; pass++) {
        sim->packs = mabd_arena_take(&arena, packs, sizeof *sim->packs);
        sim->lane_laws =
            mabd_arena_take(&arena, packs > 0 ? MABD_REDMAX_STAGES * (size_t)sim->law_count : 0,
                            sizeof *sim->lane_laws);
        sim->lane_work =
            mabd_arena_take(&arena, packs > 0 ? (size_t)sim->def.threads : 0, sim->lane_bytes);
        if (pass == 0 && packs == 0) return MABD_OK;
        if (pass == 0) MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    }
    sim->pack_memory = arena.memory, sim->pack_size = arena.size;
    return MABD_OK;
}

mabd_status mabd_redmax_lanes_create(mabd_redmax_sim* sim, int32_t isa) {
    const size_t bytes = mabd_bytes((size_t)sim->part_count, sizeof(int32_t));
    int32_t* work = mabd_alloc(&sim->allocator, bytes);
    if (!work) return MABD_ERR_MEMORY;
    sim->lanes = table_of(isa);
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].structure.pack = -1;
    const int32_t n = sort_parts(sim, sim->pack_parts, work);
    sim->pack_count = find_packs(sim, n, NULL);
    const mabd_status status = take_memory(sim);
    if (status == MABD_OK) find_packs(sim, n, sim->packs);
    mabd_free(&sim->allocator, work, bytes);
    return status;
}

void mabd_redmax_lanes_destroy(mabd_redmax_sim* sim) {
    mabd_free(&sim->allocator, sim->pack_memory, sim->pack_size);
    sim->pack_memory = NULL;
}

size_t mabd_redmax_lanes_bytes(const mabd_redmax_sim* sim) {
    return sim->pack_size;
}

// ---- steps -------------------------------------------------------------------------------------

// Prepare a stage of a part, with its first guess.
static void enter_stage(mabd_redmax_solve* s, mabd_integrator method, int number) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    mabd_redmax_set_stage(s, method, number);
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        sim->q[k] = sim->q_b[k] + s->gamma * sim->v_b[k];
    }
    mabd_redmax_follow(s);
}

// Prepare the first stage of the step of a part, if it takes it by this method and lanes solve it.
static bool prepare(mabd_redmax_sim* sim, int32_t index, mabd_integrator method,
                    mabd_redmax_solve* s) {
    mabd_redmax_part* part = &sim->parts[index];
    if (mabd_redmax_step_method(sim, part) != method) return false;
    *s = mabd_redmax_begin_step(sim, index);
    if (!mabd_redmax_may_sweep(s) || sim->inputs.has_applied) return false;
    mabd_redmax_begin_branches(s, sim->time);
    enter_stage(s, method, 0);
    return true;
}

// Laws of all parts where a stage ended.
static mabd_redmax_law* laws_of(const mabd_redmax_sim* sim, int32_t stage) {
    return sim->lane_laws + (size_t)stage * (size_t)sim->law_count;
}

static void keep_laws(const mabd_redmax_sim* sim, const mabd_redmax_part* part, int32_t stage) {
    if (part->law_count == 0) return;
    memcpy(laws_of(sim, stage) + part->law_first, sim->laws + part->law_first,
           (size_t)part->law_count * sizeof *sim->laws);
}

// Solve a stage of `count` parts, and leave those in s that are solved; returns their number.
static int solve_stage(mabd_redmax_sim* sim, mabd_redmax_solve* s, int count, int32_t thread) {
    mabd_lean_lane_state state[MABD_WIDE_MOST];
    char* memory = (char*)sim->lane_work + sim->lane_bytes * (size_t)thread;
    int solved = 0;
    for (int l = count; l < sim->lanes->width; l++) s[l] = s[0];
    const mabd_lean_size size = size_of(sim, s[0].part);
    sim->lanes->newton(s, count, &size, memory, state);
    for (int l = 0; l < count; l++) {
        mabd_redmax_part* part = s[l].part;
        mabd_redmax_report* report = s[l].report;
        for (int k = 0; k < MABD_REDMAX_STAGE_COUNT; k++) {
            part->lane_seconds[k] += report->seconds[k];
        }
        if (state[l] == MABD_LEAN_LANE_SOLVED) {
            part->lane_iterations[part->lane_solved] = report->iterations;
            part->lane_searches[part->lane_solved] = report->line_searches;
            keep_laws(sim, part, part->lane_solved++);
            s[solved++] = s[l];
        }
        *report = (mabd_redmax_report){0};
    }
    return solved;
}

// Prepare the second stage of sdirk2 of a part whose first one is solved.
static void enter_second(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first;
    const size_t bytes = (size_t)s->part->freedom_count * sizeof *sim->q;
    memcpy(sim->stage_q + first, sim->trial + first, bytes);
    enter_stage(s, MABD_INTEGRATOR_SDIRK2, 1);
}

// Solve the stages of those parts of a pack that take a step by a method.
static void solve_together(mabd_redmax_sim* sim, const mabd_lean_pack* pack, mabd_integrator method,
                           int32_t thread) {
    mabd_redmax_solve s[MABD_WIDE_MOST];
    int count = 0;
    for (int32_t k = pack->first; k < pack->first + pack->count; k++) {
        count += prepare(sim, sim->pack_parts[k], method, &s[count]);
    }
    if (count < 2) return;
    count = solve_stage(sim, s, count, thread);
    if (method != MABD_INTEGRATOR_SDIRK2) return;
    for (int l = 0; l < count; l++) enter_second(&s[l]);
    if (count >= 2) solve_stage(sim, s, count, thread);
}

void mabd_redmax_solve_pack(mabd_redmax_sim* sim, int32_t index, int32_t thread) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                              MABD_INTEGRATOR_SDIRK2};
    const mabd_lean_pack* pack = &sim->packs[index];
    for (int32_t k = pack->first; k < pack->first + pack->count; k++) {
        mabd_redmax_part* part = &sim->parts[sim->pack_parts[k]];
        part->lane_solved = part->lane_taken = 0;
        memset(part->lane_seconds, 0, sizeof part->lane_seconds);
    }
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
        solve_together(sim, pack, methods[k], thread);
    }
}

bool mabd_redmax_take_lane(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_redmax_part* part = s->part;
    const size_t first = (size_t)part->freedom_first;
    if (part->lane_taken >= part->lane_solved) return false;
    const int32_t stage = part->lane_taken++;
    const bool begins = stage == 0 && part->taken == MABD_INTEGRATOR_SDIRK2;
    memcpy(sim->q + first, (begins ? sim->stage_q : sim->trial) + first,
           (size_t)part->freedom_count * sizeof *sim->q);
    mabd_redmax_rates(s);
    if (part->law_count > 0) mabd_redmax_restore_laws(s, laws_of(sim, stage));
    // forces of the first stage that are booked (works.c)
    if (begins && (part->law_count > 0 || part->driven)) mabd_redmax_residual_of_links(s);
    s->report->iterations += part->lane_iterations[stage];
    s->report->line_searches += part->lane_searches[stage];
    return true;
}
