// SPDX-License-Identifier: Apache-2.0
// W of contacts between small components. A force on one body moves all bodies that are jointed to
// it,
//
//   A^-1 = H^-1 - H^-1 J' K^-1 J H^-1
//
// so for the directions j of a side of a contact, with u = H^-1 j of its one body,
//
//   W_st = j_s . u_t [same body]  -  (J u_s) . K^-1 (J u_t) [same component]
//
// is the share of two sides s and t, and a block of W is the sum over the sides of its two
// contacts. A direction takes one solve of a body and one of the dual system of its component; the
// rest is products of vectors. One half of W is computed, the other is its mirror image.

#include "formulation/affine/contact/delassus.h"

#include "formulation/affine/contact/response.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/assembly.h"

#include <string.h>

typedef struct matrix_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_affine_contact_blocks* blocks;
    int32_t count; // contacts
} matrix_work;

static mabd_affine_contact_side* side_at(const matrix_work* w, int32_t i) {
    return (mabd_affine_contact_side*)w->blocks->sides.data + i;
}

static const mabd_affine_contact* contact_at(const matrix_work* w, int32_t k, bool* turns) {
    return mabd_affine_contacts_at(w->c, mabd_affine_row_entry(w->c, k, turns));
}

static int32_t component_of(const matrix_work* w, const mabd_affine_contact_side* side) {
    return w->c->by_body.component[((const int32_t*)w->c->rows.bodies.bodies.data)[side->place]];
}

// ---- sides -------------------------------------------------------------------------------------

// First joint of each body of the set, and the first of its rows.
static void list_joints(const matrix_work* w) {
    const mabd_affine_body_set* set = &w->c->rows.bodies;
    const mabd_affine_body_side* side = set->sides.data;
    int32_t *first = w->blocks->joints.data, joint = 0, row = 0;
    for (int32_t i = 0; i <= set->bodies.count; i++) {
        first[2 * i] = joint, first[2 * i + 1] = row;
        for (; joint < set->sides.count && side[joint].place == i; joint++)
            row += side[joint].count;
    }
}

static void add_side(const matrix_work* w, int32_t contact, bool is_b) {
    bool turns;
    const mabd_affine_contact* p = contact_at(w, contact, &turns);
    const int32_t body = is_b ? p->b : p->a, component = w->c->by_body.component[body];
    const mabd_mat3 R = mabd_m3_load(w->sim->ref + 12 * (size_t)body);
    const mabd_vec3 world[3] = {p->n, p->t1, p->t2};
    const mabd_dual_system system = mabd_affine_dual_system(w->sim, component);
    mabd_list* duals = &w->blocks->duals;
    mabd_affine_contact_side* side = side_at(w, w->blocks->sides.count);
    const mabd_real length = turns ? mabd_affine_turn_lever(w->c) : 1, sign = is_b ? 1 : -1;
    side->contact = contact;
    side->turns = turns;
    side->place = w->c->by_body.place[body];
    side->X = is_b ? p->Xb : p->Xa;
    for (int k = 0; k < 3; k++) {
        side->along[k] = mabd_m3_tmul(R, mabd_v3_scale(sign * length, world[k]));
    }
    side->row_count = w->sim->duals[component] ? system.row_count : 0;
    side->duals = duals->count;
    duals->count += 6 * side->row_count;
    side->next = w->c->by_component.side[component];
    w->c->by_component.side[component] = w->blocks->sides.count++;
}

// Force k of a side on the coordinates of its body.
static mabd_vec12 force_of(const mabd_affine_contact_side* side, int k) {
    return side->turns ? mabd_vec12_torque(side->along[k]) : mabd_vec12_at(side->X, side->along[k]);
}

// u, J u and K^-1 J u of a side.
static void compute_response(const matrix_work* w, mabd_affine_contact_side* side) {
    mabd_affine_sim* sim = w->sim;
    const mabd_affine_body_set* set = &w->c->rows.bodies;
    const int32_t component = component_of(w, side), n = side->row_count;
    const int32_t body = ((const int32_t*)set->bodies.data)[side->place];
    const int32_t* first = (const int32_t*)w->blocks->joints.data + 2 * side->place;
    const int32_t offset = mabd_affine_dual_system(sim, component).row_offset;
    mabd_real *pull = (mabd_real*)w->blocks->duals.data + side->duals, *solved = pull + 3 * n;
    for (int k = 0; k < 3; k++, pull += n, solved += n) {
        side->u[k] = mabd_affine_body_solve(sim, body, force_of(side, k));
        if (n == 0) continue;
        const mabd_vec12* J = (const mabd_vec12*)set->rows.data + first[1];
        memset(pull, 0, (size_t)n * sizeof *pull);
        for (int32_t s = first[0]; s < first[2]; s++) {
            const mabd_affine_body_side* joint = (const mabd_affine_body_side*)set->sides.data + s;
            mabd_real* rows = pull + (joint->row - offset);
            for (int32_t r = 0; r < joint->count; r++) rows[r] += mabd_vec12_dot(*J++, side->u[k]);
        }
        memcpy(sim->lambda + offset, pull, (size_t)n * sizeof *pull);
        mabd_affine_solve_again(sim, component);
        memcpy(solved, sim->lambda + offset, (size_t)n * sizeof *solved);
    }
}

// ---- blocks ------------------------------------------------------------------------------------

// B += share of sides s and t
static void add_share(const matrix_work* w, const mabd_affine_contact_side* s,
                      const mabd_affine_contact_side* t, mabd_real B[9]) {
    if (s->place == t->place) {
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 move =
                s->turns ? mabd_affine_turn_of(&t->u[k]) : mabd_vec12_move(&t->u[k], s->X);
            for (int r = 0; r < 3; r++) B[3 * r + k] += mabd_v3_dot(s->along[r], move);
        }
    }
    const int32_t n = s->row_count;
    const mabd_real* pull = (const mabd_real*)w->blocks->duals.data + s->duals;
    const mabd_real* solved = (const mabd_real*)w->blocks->duals.data + t->duals + 3 * n;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            mabd_real sum = 0;
            for (int32_t i = 0; i < n; i++) sum += pull[r * n + i] * solved[k * n + i];
            B[3 * r + k] -= sum;
        }
    }
}

// Count the blocks of each row: one for each side that shares a component with a side of the
// contact.
static int64_t count_blocks(const matrix_work* w, bool lay_out) {
    int32_t *start = w->blocks->start.data, *end = w->blocks->end.data;
    int64_t blocks = 0;
    if (lay_out) memset(start, 0, (size_t)w->count * sizeof *start);
    const int32_t* components = w->c->rows.bodies.components.data;
    for (int32_t i = 0; i < w->c->rows.bodies.components.count; i++) {
        int32_t sides = 0;
        const int32_t first = w->c->by_component.side[components[i]];
        for (int32_t s = first; s >= 0; s = side_at(w, s)->next) sides++;
        for (int32_t s = first; lay_out && s >= 0; s = side_at(w, s)->next) {
            start[side_at(w, s)->contact] += sides;
        }
        blocks += (int64_t)sides * sides;
    }
    for (int32_t k = 0, at = 0; lay_out && k < w->count; k++) {
        const int32_t room = start[k];
        start[k] = end[k] = at;
        at += room;
    }
    return blocks;
}

static mabd_real* block_at(const matrix_work* w, int32_t k) {
    return (mabd_real*)w->blocks->block.data + 9 * (size_t)k;
}

// The block of contact j in the row of i <= j.
static mabd_real* block_of(const matrix_work* w, int32_t i, int32_t j) {
    int32_t *start = w->blocks->start.data, *end = w->blocks->end.data;
    int32_t *column = w->blocks->column.data, *place = w->blocks->place.data;
    const int32_t old = place[j];
    if (old >= start[i] && old < end[i] && column[old] == j) return block_at(w, old);
    place[j] = end[i]++;
    column[place[j]] = j;
    memset(block_at(w, place[j]), 0, 9 * sizeof(mabd_real));
    return block_at(w, place[j]);
}

// Copy the blocks of row i right of the diagonal, transposed, to the rows below.
static void mirror(const matrix_work* w, int32_t i, int32_t from) {
    int32_t *column = w->blocks->column.data, *end = w->blocks->end.data;
    for (int32_t k = from; k < end[i]; k++) {
        const int32_t j = column[k];
        if (j == i) continue;
        const int32_t to = end[j]++;
        const mabd_real* B = block_at(w, k);
        mabd_real* C = block_at(w, to);
        column[to] = i;
        for (int r = 0; r < 3; r++) {
            for (int q = 0; q < 3; q++) C[3 * r + q] = B[3 * q + r];
        }
    }
}

// sides: those of one contact, of which there are two at most, follow each other.
static void fill_blocks(const matrix_work* w) {
    const int32_t* end = w->blocks->end.data;
    for (int32_t s = 0; s < w->blocks->sides.count;) {
        const int32_t i = side_at(w, s)->contact, from = end[i];
        for (; s < w->blocks->sides.count && side_at(w, s)->contact == i; s++) {
            const mabd_affine_contact_side* side = side_at(w, s);
            for (int32_t t = w->c->by_component.side[component_of(w, side)]; t >= 0;
                 t = side_at(w, t)->next) {
                const mabd_affine_contact_side* other = side_at(w, t);
                if (other->contact < i) break; // the list of sides has falling contacts
                add_share(w, side, other, block_of(w, i, other->contact));
            }
        }
        mirror(w, i, from);
    }
}

// ---- assembly ----------------------------------------------------------------------------------

static mabd_status reserve_sides(const matrix_work* w) {
    const mabd_allocator* allocator = &w->c->allocator;
    mabd_affine_contact_blocks* blocks = w->blocks;
    const int64_t count = w->count;
    int64_t duals = 0;
    for (int32_t k = 0; k < w->count; k++) {
        bool turns;
        const mabd_affine_contact* p = contact_at(w, k, &turns);
        duals += mabd_affine_dual_system(w->sim, w->c->by_body.component[p->b]).row_count;
        if (p->moving)
            duals += mabd_affine_dual_system(w->sim, w->c->by_body.component[p->a]).row_count;
    }
    const int64_t joints = 2 * (int64_t)w->c->rows.bodies.bodies.count + 2;
    MABD_TRY(mabd_list_reserve(allocator, &blocks->joints, sizeof(int32_t), joints));
    MABD_TRY(mabd_list_reserve(allocator, &blocks->duals, sizeof(mabd_real), 6 * duals));
    MABD_TRY(mabd_list_reserve(allocator, &blocks->start, sizeof(int32_t), count));
    MABD_TRY(mabd_list_reserve(allocator, &blocks->end, sizeof(int32_t), count));
    MABD_TRY(mabd_list_reserve(allocator, &blocks->place, sizeof(int32_t), count));
    return mabd_list_reserve(allocator, &blocks->sides, sizeof(mabd_affine_contact_side),
                             2 * count);
}

static void find_sides(const matrix_work* w) {
    const int32_t* components = w->c->rows.bodies.components.data;
    for (int32_t i = 0; i < w->c->rows.bodies.components.count; i++)
        w->c->by_component.side[components[i]] = -1;
    for (int32_t k = 0; k < w->count; k++) {
        bool turns;
        add_side(w, k, true);
        if (contact_at(w, k, &turns)->moving) add_side(w, k, false);
    }
}

mabd_status mabd_affine_delassus_build(mabd_affine_sim* sim, int32_t count) {
    mabd_affine_contact_blocks* blocks = &sim->contacts->rows.blocks;
    const matrix_work w = {.sim = sim, .c = sim->contacts, .blocks = blocks, .count = count};
    blocks->sides.count = blocks->duals.count = blocks->joints.count = 0;
    blocks->start.count = blocks->end.count = blocks->place.count = 0;
    blocks->column.count = blocks->block.count = 0;
    MABD_TRY(reserve_sides(&w));
    find_sides(&w);
    const int64_t room = count_blocks(&w, false);
    MABD_TRY(mabd_list_reserve(&w.c->allocator, &blocks->column, sizeof(int32_t), room));
    MABD_TRY(mabd_list_reserve(&w.c->allocator, &blocks->block, sizeof(mabd_real), 9 * room));
    count_blocks(&w, true);
    list_joints(&w);
    for (int32_t s = 0; s < blocks->sides.count; s++) compute_response(&w, side_at(&w, s));
    memset(blocks->place.data, 0, (size_t)count * sizeof(int32_t));
    fill_blocks(&w);
    return MABD_OK;
}

mabd_cone_matrix mabd_affine_delassus_of(const mabd_affine_contacts* c,
                                         const mabd_affine_contact_range* range) {
    const mabd_affine_contact_blocks* blocks = &c->rows.blocks;
    const mabd_cone_matrix matrix = {.count = range->count,
                                     .first = range->first,
                                     .start = (const int32_t*)blocks->start.data + range->first,
                                     .end = (const int32_t*)blocks->end.data + range->first,
                                     .column = blocks->column.data,
                                     .block = blocks->block.data};
    return matrix;
}
