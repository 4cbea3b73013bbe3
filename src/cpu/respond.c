// SPDX-License-Identifier: Apache-2.0
#include "cpu/respond.h"

#include "cpu/assemble.h"

#include <string.h>

mabd_affine mabd_cpu_body_solve(const mabd_cpu_sim* sim, int32_t body, mabd_affine f) {
    const mabd_sym3 Z = mabd_sym3_load(sim->geometric + 6 * (size_t)body);
    mabd_affine y = mabd_body_block_solve(mabd_cpu_block(sim, body), Z, f);
    mabd_cpu_subtract_touches(sim, body, f, &y);
    return y;
}

// Right-hand sides of the set's components, from or to `kept` as if they followed each other there.
typedef enum copy_way { TO_KEPT, FROM_KEPT, CLEAR } copy_way;

static void copy_sides(const mabd_cpu_sim* sim, const mabd_body_set* set, copy_way way,
                       mabd_real* kept) {
    const int32_t* components = set->components.data;
    for (int32_t i = 0; i < set->components.count; i++) {
        const mabd_dual_system system = mabd_cpu_system(sim, components[i]);
        if (system.row_count == 0) continue;
        mabd_real* rows = sim->lambda + system.row_offset;
        const size_t bytes = (size_t)system.row_count * sizeof *rows;
        if (way == CLEAR) {
            memset(rows, 0, bytes);
            continue;
        }
        memcpy(way == TO_KEPT ? kept : rows, way == TO_KEPT ? rows : kept, bytes);
        kept += system.row_count;
    }
}

static void solve_components(mabd_cpu_sim* sim, const mabd_body_set* set) {
    const int32_t* components = set->components.data;
    for (int32_t i = 0; i < set->components.count; i++) mabd_cpu_solve_again(sim, components[i]);
}

// ---- rows of joints --------------------------------------------------------------------------------

static int32_t count_sides(const mabd_cpu_sim* sim, const mabd_body_set* set) {
    const int32_t *bodies = set->bodies.data, *start = sim->model->plan->side_start;
    int32_t sides = 0;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        sides += start[bodies[i] + 1] - start[bodies[i]];
    }
    return sides;
}

mabd_status mabd_respond_open(mabd_cpu_sim* sim, mabd_body_set* set) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_allocator* allocator = &sim->contacts->allocator;
    const int32_t* bodies = set->bodies.data;
    const int64_t sides = count_sides(sim, set);
    set->sides.count = set->rows.count = 0;
    MABD_TRY(mabd_list_reserve(allocator, &set->sides, sizeof(mabd_body_side), sides));
    MABD_TRY(
        mabd_list_reserve(allocator, &set->rows, sizeof(mabd_affine), MABD_PLAN_SLOT_ROWS * sides));
    for (int32_t i = 0; i < set->bodies.count; i++) {
        for (int32_t s = plan->side_start[bodies[i]]; s < plan->side_start[bodies[i] + 1]; s++) {
            if (plan->sides[s].is_b < 0) continue;
            mabd_affine* rows = (mabd_affine*)set->rows.data + set->rows.count;
            mabd_body_side* side = (mabd_body_side*)set->sides.data + set->sides.count++;
            side->place = i;
            side->row = plan->slot_row[plan->sides[s].slot];
            side->count = mabd_cpu_joint_rows(sim, bodies[i], s, rows);
            set->rows.count += side->count;
        }
    }
    return MABD_OK;
}

// y = H^-1 f, right-hand sides += J y
static void add_rows(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* y) {
    const int32_t* bodies = set->bodies.data;
    const mabd_body_side* side = set->sides.data;
    const mabd_affine* J = set->rows.data;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        y[i] = mabd_cpu_body_solve(sim, bodies[i], y[i]);
    }
    for (int32_t s = 0; s < set->sides.count; s++, side++) {
        mabd_real* rows = sim->lambda + side->row;
        for (int32_t k = 0; k < side->count; k++) rows[k] += mabd_affine_dot(*J++, y[side->place]);
    }
}

// d = y - H^-1 J' lambda
static void let_go(mabd_cpu_sim* sim, const mabd_body_set* set, const mabd_affine* y,
                   mabd_affine* d) {
    const int32_t* bodies = set->bodies.data;
    const mabd_body_side* side = set->sides.data;
    const mabd_affine* J = set->rows.data;
    const mabd_body_side* end = side + set->sides.count;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        mabd_affine f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (; side < end && side->place == i; side++) {
            const mabd_real* lambda = sim->lambda + side->row;
            for (int32_t k = 0; k < side->count; k++) f = mabd_affine_axpy(lambda[k], *J++, f);
        }
        const bool hub = sim->body_kind[bodies[i]] == MABD_BODY_HUB;
        const mabd_affine pull =
            hub ? mabd_cpu_hub_freedoms(sim, bodies[i]) : mabd_cpu_body_solve(sim, bodies[i], f);
        d[i] = mabd_affine_axpy(-1, pull, y[i]);
    }
}

// ---- responses -------------------------------------------------------------------------------------

void mabd_respond(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* y, mabd_affine* d) {
    copy_sides(sim, set, CLEAR, NULL);
    add_rows(sim, set, y);
    solve_components(sim, set);
    let_go(sim, set, y, d);
}

void mabd_respond_read(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* d) {
    const int32_t* bodies = set->bodies.data;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        d[i] = mabd_affine_load(sim->q_new + 12 * (size_t)bodies[i]);
    }
    let_go(sim, set, d, d);
}

int64_t mabd_respond_rows(const mabd_cpu_sim* sim, const mabd_body_set* set) {
    const int32_t* components = set->components.data;
    int64_t rows = 0;
    for (int32_t i = 0; i < set->components.count; i++) {
        rows += mabd_cpu_system(sim, components[i]).row_count;
    }
    return rows;
}

void mabd_respond_keep(const mabd_cpu_sim* sim, const mabd_body_set* set, mabd_real* kept) {
    copy_sides(sim, set, TO_KEPT, kept);
}

void mabd_respond_finish(mabd_cpu_sim* sim, const mabd_body_set* set, mabd_affine* y,
                         mabd_real* kept) {
    const int32_t* bodies = set->bodies.data;
    copy_sides(sim, set, FROM_KEPT, kept);
    add_rows(sim, set, y);
    solve_components(sim, set);
    for (int32_t i = 0; i < set->bodies.count; i++) {
        mabd_real* q = sim->q_new + 12 * (size_t)bodies[i];
        mabd_affine_store(mabd_affine_axpy(1, y[i], mabd_affine_load(q)), q);
    }
}
