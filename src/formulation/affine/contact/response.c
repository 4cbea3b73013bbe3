// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/contact/response.h"

#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/assembly.h"

#include <string.h>

mabd_vec12 mabd_affine_body_solve(const mabd_affine_sim* sim, int32_t body, mabd_vec12 f) {
    const mabd_sym3 Z = mabd_sym3_load(sim->geometric + 6 * (size_t)body);
    mabd_vec12 y = mabd_affine_block_solve(mabd_affine_block_of(sim, body), Z, f);
    mabd_affine_subtract_eliminated(sim, body, f, &y);
    return y;
}

// Copy the right-hand sides of the components of a set from or to `saved`, packed there, or clear
// them.
typedef enum copy_mode { TO_SAVED, FROM_SAVED, CLEAR } copy_mode;

static void copy_sides(const mabd_affine_sim* sim, const mabd_affine_body_set* set, copy_mode mode,
                       mabd_real* saved) {
    const int32_t* components = set->components.data;
    for (int32_t i = 0; i < set->components.count; i++) {
        const mabd_dual_system system = mabd_affine_dual_system(sim, components[i]);
        if (system.row_count == 0) continue;
        mabd_real* rows = sim->lambda + system.row_offset;
        const size_t bytes = (size_t)system.row_count * sizeof *rows;
        if (mode == CLEAR) {
            memset(rows, 0, bytes);
            continue;
        }
        memcpy(mode == TO_SAVED ? saved : rows, mode == TO_SAVED ? rows : saved, bytes);
        saved += system.row_count;
    }
}

static void solve_components(mabd_affine_sim* sim, const mabd_affine_body_set* set) {
    const int32_t* components = set->components.data;
    for (int32_t i = 0; i < set->components.count; i++) mabd_affine_solve_again(sim, components[i]);
}

// ---- rows of joints ----------------------------------------------------------------------------

static int32_t count_sides(const mabd_affine_sim* sim, const mabd_affine_body_set* set) {
    const int32_t *bodies = set->bodies.data, *start = sim->model->plan->side_start;
    int32_t sides = 0;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        sides += start[bodies[i] + 1] - start[bodies[i]];
    }
    return sides;
}

mabd_status mabd_affine_response_open(mabd_affine_sim* sim, mabd_affine_body_set* set) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_allocator* allocator = &sim->contacts->allocator;
    const int32_t* bodies = set->bodies.data;
    const int64_t sides = count_sides(sim, set);
    set->sides.count = set->rows.count = 0;
    MABD_TRY(mabd_list_reserve(allocator, &set->sides, sizeof(mabd_affine_body_side), sides));
    MABD_TRY(
        mabd_list_reserve(allocator, &set->rows, sizeof(mabd_vec12), MABD_PLAN_SLOT_ROWS * sides));
    for (int32_t i = 0; i < set->bodies.count; i++) {
        for (int32_t s = plan->side_start[bodies[i]]; s < plan->side_start[bodies[i] + 1]; s++) {
            if (plan->sides[s].is_b < 0) continue;
            mabd_vec12* rows = (mabd_vec12*)set->rows.data + set->rows.count;
            mabd_affine_body_side* side =
                (mabd_affine_body_side*)set->sides.data + set->sides.count++;
            side->place = i;
            side->row = plan->slot_row[plan->sides[s].slot];
            side->count = mabd_affine_joint_rows(sim, bodies[i], s, rows);
            set->rows.count += side->count;
        }
    }
    return MABD_OK;
}

// y = H^-1 f, right-hand sides += J y
static void add_rows(mabd_affine_sim* sim, const mabd_affine_body_set* set, mabd_vec12* y) {
    const int32_t* bodies = set->bodies.data;
    const mabd_affine_body_side* side = set->sides.data;
    const mabd_vec12* J = set->rows.data;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        y[i] = mabd_affine_body_solve(sim, bodies[i], y[i]);
    }
    for (int32_t s = 0; s < set->sides.count; s++, side++) {
        mabd_real* rows = sim->lambda + side->row;
        for (int32_t k = 0; k < side->count; k++) rows[k] += mabd_vec12_dot(*J++, y[side->place]);
    }
}

// d = y - H^-1 J' lambda
static void subtract_joints(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                            const mabd_vec12* y, mabd_vec12* d) {
    const int32_t* bodies = set->bodies.data;
    const mabd_affine_body_side* side = set->sides.data;
    const mabd_vec12* J = set->rows.data;
    const mabd_affine_body_side* end = side + set->sides.count;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        mabd_vec12 f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (; side < end && side->place == i; side++) {
            const mabd_real* lambda = sim->lambda + side->row;
            for (int32_t k = 0; k < side->count; k++) f = mabd_vec12_axpy(lambda[k], *J++, f);
        }
        const bool junction = sim->body_kind[bodies[i]] == MABD_BODY_JUNCTION;
        const mabd_vec12 pull = junction ? mabd_affine_junction_freedoms(sim, bodies[i])
                                         : mabd_affine_body_solve(sim, bodies[i], f);
        d[i] = mabd_vec12_axpy(-1, pull, y[i]);
    }
}

// ---- responses ---------------------------------------------------------------------------------

void mabd_affine_response(mabd_affine_sim* sim, const mabd_affine_body_set* set, mabd_vec12* y,
                          mabd_vec12* d) {
    copy_sides(sim, set, CLEAR, NULL);
    add_rows(sim, set, y);
    solve_components(sim, set);
    subtract_joints(sim, set, y, d);
}

void mabd_affine_response_read(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_vec12* d) {
    const int32_t* bodies = set->bodies.data;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        d[i] = mabd_vec12_load(sim->q_new + 12 * (size_t)bodies[i]);
    }
    subtract_joints(sim, set, d, d);
}

int64_t mabd_affine_response_rows(const mabd_affine_sim* sim, const mabd_affine_body_set* set) {
    const int32_t* components = set->components.data;
    int64_t rows = 0;
    for (int32_t i = 0; i < set->components.count; i++) {
        rows += mabd_affine_dual_system(sim, components[i]).row_count;
    }
    return rows;
}

void mabd_affine_response_save(const mabd_affine_sim* sim, const mabd_affine_body_set* set,
                               mabd_real* saved) {
    copy_sides(sim, set, TO_SAVED, saved);
}

void mabd_affine_response_finish(mabd_affine_sim* sim, const mabd_affine_body_set* set,
                                 mabd_vec12* y, mabd_real* saved) {
    const int32_t* bodies = set->bodies.data;
    copy_sides(sim, set, FROM_SAVED, saved);
    add_rows(sim, set, y);
    solve_components(sim, set);
    for (int32_t i = 0; i < set->bodies.count; i++) {
        mabd_real* q = sim->q_new + 12 * (size_t)bodies[i];
        mabd_vec12_store(mabd_vec12_axpy(1, y[i], mabd_vec12_load(q)), q);
    }
}
