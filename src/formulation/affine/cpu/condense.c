// SPDX-License-Identifier: Apache-2.0
// Between the rounds of the search for eliminated contacts at one reference only H^-1 and y of the
// touched bodies change. With the eliminated rows u/sqrt(s) of a body as the columns of E
// (affine/element/eliminate.h) and y0 without them, its share of the dual system is
//
//   J H^-1 J' - (J E)(J E)',   J y = J y0 + J (y - y0)
//
// so a reference is assembled once without contacts, and a round subtracts squares from the blocks
// of the joints of touched bodies. Number the slots of a component as B, those of touched bodies,
// and F, the others:
//
//   S = K_BB - K_BF K_FF^-1 K_FB,   c = b_B - K_BF K_FF^-1 b_F        once at a reference
//   (S - (J E)(J E)') lambda_B = c + J (y - y0)                       a round
//   lambda_F = K_FF^-1 (b_F - K_FB lambda_B)                          after the last round
//
// Chains do this (condense_chain.c), and so do solvers with rounds (dual/dual.h): nets. Of other
// components the whole system is copied, factored and solved in a round. Components without touched
// bodies are solved in the first round only. A round moves touched bodies; the line search needs no
// others. All other bodies move after the last round: their motion is linear in lambda_B, so the
// best point of the search needs lambda_B only.
//
// The pattern is made at the first reference of a solve and kept while later references touch none
// but its bodies. It depends on the contacts of this solve only, so the bits of a run do not depend
// on where it was resumed.

#include "formulation/affine/cpu/condense.h"

#include "formulation/affine/cpu/condense_chain.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/eliminate.h"
#include "formulation/affine/element/update.h"

#include <string.h>

typedef mabd_affine_condensed_body condensed_body;
typedef mabd_affine_condensed_side condensed_side;
typedef mabd_affine_condensed_component condensed_component;

static condensed_body* body_at(const mabd_affine_contacts* c, int32_t i) {
    return (condensed_body*)c->condensed.bodies.data + i;
}
static condensed_component* component_at(const mabd_affine_contacts* c, int32_t i) {
    return (condensed_component*)c->condensed.components.data + i;
}
static int32_t* indices(const mabd_list* list) {
    return list->data;
}

// ---- the pattern -------------------------------------------------------------------------------

// Contacts that are rows, and axes with force laws, need the response of whole components.
static bool may_condense(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    const int32_t* touched = indices(&c->by_body.touched);
    if (sim->sizes.axes > 0 || sim->sizes.by_copy > 0) return false;
    if (c->rows.contacts.count + c->support.contacts.count > 0) return false;
    for (int32_t i = 0; i < c->by_body.touched.count; i++) {
        if (sim->body_kind[touched[i]] == MABD_BODY_JUNCTION) return false;
    }
    return true;
}

static bool is_known(const mabd_affine_contacts* c) {
    const int32_t* touched = indices(&c->by_body.touched);
    for (int32_t i = 0; i < c->by_body.touched.count; i++) {
        if (indices(&c->condensed.of_body)[touched[i]] < 0) return false;
    }
    return true;
}

// Lists that map `count` items to places, -1 = none.
static mabd_status open_map(mabd_affine_contacts* c, mabd_list* map, int32_t count) {
    if (map->count == count) return MABD_OK;
    MABD_TRY(mabd_list_reserve(&c->allocator, map, sizeof(int32_t), count));
    map->count = count;
    for (int32_t i = 0; i < count; i++) indices(map)[i] = -1;
    return MABD_OK;
}

static void forget(mabd_affine_contacts* c) {
    mabd_affine_condensed* d = &c->condensed;
    const condensed_side* sides = d->sides.data;
    for (int32_t i = 0; i < d->bodies.count; i++) indices(&d->of_body)[body_at(c, i)->body] = -1;
    for (int32_t i = 0; i < d->sides.count; i++) indices(&d->of_slot)[sides[i].slot] = -1;
    for (int32_t i = 0; i < d->slots.count; i++) {
        indices(&d->of_slot)[indices(&d->slots)[i]] = -1;
    }
    for (int32_t i = 0; i < d->components.count; i++) {
        indices(&d->of_component)[component_at(c, i)->component] = -1;
    }
    d->bodies.count = d->sides.count = d->rows.count = d->shares.count = d->components.count = 0;
    d->groups.count = 0;
    d->slots.count = d->width.count = d->row.count = d->block.count = d->edge.count = 0;
    d->base.count = d->work.count = d->low.count = d->saved.count = d->runs.count = 0;
}

static void add_sides(const mabd_plan* plan, mabd_affine_condensed* d, condensed_body* b) {
    b->side_first = d->sides.count, b->row_first = d->rows.count;
    b->share = (size_t)d->shares.count;
    for (int32_t s = plan->side_start[b->body]; s < plan->side_start[b->body + 1]; s++) {
        const condensed_side side = {plan->sides[s].slot, d->rows.count,
                                     plan->slot_width[plan->sides[s].slot]};
        ((condensed_side*)d->sides.data)[d->sides.count++] = side;
        d->rows.count += side.count;
        d->shares.count += side.count * side.count + side.count;
        indices(&d->of_slot)[side.slot] = 0;
    }
    b->side_count = d->sides.count - b->side_first, b->row_count = d->rows.count - b->row_first;
    for (int32_t p = plan->pair_start[b->body]; p < plan->pair_start[b->body + 1]; p++) {
        const condensed_side* sides = (const condensed_side*)d->sides.data + b->side_first;
        d->shares.count += sides[plan->pairs[p].i].count * sides[plan->pairs[p].j].count;
    }
}

// Make room for the sides and rows of all touched bodies.
static mabd_status reserve_sides(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    mabd_affine_condensed* d = &c->condensed;
    const int32_t *touched = indices(&c->by_body.touched), *start = sim->model->plan->side_start;
    const int32_t* pair = sim->model->plan->pair_start;
    int64_t sides = 0, pairs = 0;
    for (int32_t i = 0; i < c->by_body.touched.count; i++) {
        sides += start[touched[i] + 1] - start[touched[i]];
        pairs += pair[touched[i] + 1] - pair[touched[i]];
    }
    const int64_t block = MABD_PLAN_SLOT_ROWS * MABD_PLAN_SLOT_ROWS;
    const int64_t shares = (block + MABD_PLAN_SLOT_ROWS) * sides + block * pairs;
    const int64_t rows = MABD_PLAN_SLOT_ROWS * sides, bodies = c->by_body.touched.count;
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->bodies, sizeof(condensed_body), bodies));
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->components, sizeof(condensed_component), bodies));
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->sides, sizeof(condensed_side), sides));
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->rows, sizeof(mabd_vec12), rows));
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->shares, sizeof(mabd_real), shares));
    return mabd_list_reserve(&c->allocator, &d->turned, sizeof(mabd_real), rows);
}

// List the touched bodies and their components.
static void list_bodies(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    mabd_affine_condensed* d = &c->condensed;
    mabd_list_sort(&c->by_body.touched);
    for (int32_t i = 0; i < c->by_body.touched.count; i++) {
        condensed_body* b = body_at(c, d->bodies.count++);
        memset(b, 0, sizeof *b);
        b->body = indices(&c->by_body.touched)[i];
        indices(&d->of_body)[b->body] = i;
        add_sides(sim->model->plan, d, b);
    }
    for (int32_t i = d->bodies.count - 1; i >= 0; i--) { // lists by component rise
        condensed_body* b = body_at(c, i);
        const int32_t component = c->by_body.component[b->body];
        b->next = -1;
        if (!sim->duals[component]) continue;
        if (indices(&d->of_component)[component] < 0) {
            const condensed_component one = {.component = component,
                                             .body = -1,
                                             .chain = sim->duals[component] == &mabd_dual_chain};
            indices(&d->of_component)[component] = d->components.count;
            *component_at(c, d->components.count++) = one;
        }
        condensed_component* o = mabd_affine_condensed_of(c, component);
        b->next = o->body, o->body = i;
    }
}

// Places of the blocks, edges and rows of a component in the plan.
typedef struct system_range {
    size_t D, D_count, U, U_count;
    int32_t row, row_count;
} system_range;

static system_range range_of(const mabd_affine_sim* sim, int32_t component) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    const int32_t slot_last = c->slot_first + c->slot_count;
    system_range r = {.D = plan->slot_block[c->slot_first],
                      .U = plan->edge_block[c->edge_first],
                      .row = plan->slot_row[c->slot_first]};
    r.D_count = plan->slot_block[slot_last] - r.D;
    r.U_count = plan->edge_block[c->edge_first + c->edge_count] - r.U;
    r.row_count = plan->slot_row[slot_last] - r.row;
    return r;
}

// Give the components that are no chains room for a copy of their systems.
static mabd_status reserve_copies(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    mabd_affine_condensed* d = &c->condensed;
    size_t end = (size_t)d->work.count, low = (size_t)d->low.count;
    for (int32_t i = 0; i < d->components.count; i++) {
        condensed_component* o = component_at(c, i);
        if (o->chain) continue;
        const system_range r = range_of(sim, o->component);
        o->D = end, o->U = o->D + r.D_count, o->x = o->U + r.U_count;
        o->end = end = o->x + (size_t)r.row_count;
        o->low = low, low += (size_t)r.row_count;
    }
    d->base.count = 0, d->low.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->base, sizeof(mabd_real), (int64_t)end));
    MABD_TRY(mabd_list_reserve(&c->allocator, &d->low, sizeof(mabd_real), (int64_t)low));
    const int64_t work = d->work.count, saved = d->saved.count;
    d->work.count = d->saved.count = 0;
    MABD_TRY(
        mabd_list_reserve(&c->allocator, &d->saved, sizeof(mabd_affine_condensed_lanes), saved));
    return mabd_list_reserve(&c->allocator, &d->work, sizeof(mabd_real), work);
}

// Tell a solver with rounds the touched slots of its component.
static mabd_status touch_solver(mabd_affine_sim* sim, condensed_component* o) {
    mabd_affine_contacts* c = sim->contacts;
    const mabd_plan_component* component = &sim->model->plan->components[o->component];
    const mabd_dual_rounds* rounds = sim->duals[o->component]->rounds;
    mabd_list* touched = &c->condensed.touched;
    o->rounds = rounds != NULL;
    if (!rounds) return MABD_OK;
    touched->count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, touched, sizeof(uint8_t), component->slot_count));
    for (int32_t s = 0; s < component->slot_count; s++) {
        ((uint8_t*)touched->data)[s] =
            indices(&c->condensed.of_slot)[component->slot_first + s] >= 0;
    }
    return rounds->touch(&c->allocator, sim->solvers[o->component], touched->data);
}

static mabd_status make_pattern(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    mabd_affine_condensed* d = &c->condensed;
    MABD_TRY(open_map(c, &d->of_body, sim->model->body_count));
    MABD_TRY(open_map(c, &d->of_component, sim->model->plan->component_count));
    MABD_TRY(open_map(c, &d->of_slot, sim->model->plan->slot_count));
    forget(c);
    MABD_TRY(reserve_sides(sim));
    list_bodies(sim);
    for (int32_t i = 0; i < d->components.count; i++) {
        condensed_component* o = component_at(c, i);
        MABD_TRY(o->chain ? mabd_affine_condense_chain_plan(sim, o) : touch_solver(sim, o));
    }
    return reserve_copies(sim);
}

mabd_status mabd_affine_condense_plan(mabd_affine_sim* sim, bool first) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return MABD_OK;
    const bool was_on = c->condensed.on && !first;
    c->condensed.on = false;
    if (!may_condense(sim)) return MABD_OK;
    if (!was_on || !is_known(c)) MABD_TRY(make_pattern(sim));
    c->condensed.branches.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->condensed.branches,
                               sizeof(mabd_affine_condensed_branch), c->list.current.count));
    c->condensed.on = true;
    return MABD_OK;
}

// ---- a reference -------------------------------------------------------------------------------

void mabd_affine_condense_hide(mabd_affine_sim* sim, bool hide) {
    mabd_affine_contacts* c = sim->contacts;
    int32_t* head = c->by_body.head;
    for (int32_t i = 0; i < c->condensed.bodies.count; i++) {
        condensed_body* b = body_at(c, i);
        if (hide) {
            b->head = head[b->body], head[b->body] = -1;
        } else {
            head[b->body] = b->head;
        }
    }
}

void mabd_affine_condense_open(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    mabd_affine_condensed* d = &c->condensed;
    const int32_t most = mabd_affine_most_rows(sim->model) / 2; // no junctions here
    int32_t place = 0;
    for (int32_t i = 0; i < d->bodies.count; i++) {
        condensed_body* b = body_at(c, i);
        mabd_vec12* rows = (mabd_vec12*)d->rows.data + b->row_first;
        const int32_t first = sim->model->plan->side_start[b->body];
        const int32_t* next = indices(&c->by_body.next);
        b->eliminated = place;
        for (int32_t k = c->by_body.head[b->body]; k >= 0; k = next[k]) place += most;
        b->base = mabd_vec12_load(sim->q_new + 12 * (size_t)b->body);
        for (int32_t s = 0; s < b->side_count; s++) {
            rows += mabd_affine_joint_rows(sim, b->body, first + s, rows);
        }
    }
    for (int32_t i = 0; i < d->components.count; i++) {
        condensed_component* o = component_at(c, i);
        o->known = false;
        o->rounds = !o->chain && sim->duals[o->component]->rounds;
    }
    d->rounds = 0;
}

// ---- a round -----------------------------------------------------------------------------------

// K (m x n) += a b'
static void add_product(int32_t m, int32_t n, const mabd_real* a, const mabd_real* b,
                        mabd_real* K) {
    if (m == 3 && n == 3) { // balls: a length that the compiler knows
        for (int32_t k = 0; k < 9; k++) K[k] += a[k / 3] * b[k % 3];
        return;
    }
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) K[i * n + j] += a[i] * b[j];
    }
}

// Add the square of one eliminated row of a body to its share.
static void add_square(const mabd_affine_sim* sim, const condensed_body* b, const mabd_vec12* row) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    const mabd_plan* plan = sim->model->plan;
    const mabd_vec12* J = d->rows.data;
    const condensed_side* sides = (const condensed_side*)d->sides.data + b->side_first;
    mabd_real *a = d->turned.data, *share = (mabd_real*)d->shares.data + b->share;
    for (int32_t r = b->row_first; r < b->row_first + b->row_count; r++) {
        a[r] = mabd_vec12_dot(J[r], *row);
    }
    for (int32_t s = 0; s < b->side_count; s++) {
        const int32_t w = sides[s].count;
        add_product(w, w, a + sides[s].first, a + sides[s].first, share);
        share += w * w + w;
    }
    for (int32_t p = plan->pair_start[b->body]; p < plan->pair_start[b->body + 1]; p++) {
        const condensed_side *i = &sides[plan->pairs[p].i], *j = &sides[plan->pairs[p].j];
        add_product(i->count, j->count, a + i->first, a + j->first, share);
        share += i->count * j->count;
    }
}

// Compute what the contacts of a body subtract from its dual system.
static void compute_share(const mabd_affine_sim* sim, const condensed_body* b) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_affine_condensed* d = &c->condensed;
    const mabd_vec12 *J = d->rows.data,
                     *rows = (const mabd_vec12*)c->by_body.eliminated.data + b->eliminated;
    const size_t next = b + 1 < (const condensed_body*)d->bodies.data + d->bodies.count
                            ? b[1].share
                            : (size_t)d->shares.count;
    mabd_real* share = (mabd_real*)d->shares.data + b->share;
    if (next > b->share) memset(share, 0, (next - b->share) * sizeof *share);
    for (int32_t k = 0; k < c->by_body.row_count[b->body]; k++) add_square(sim, b, &rows[k]);
    const mabd_vec12 change = mabd_vec12_axpy(-1, b->y, b->base);
    const condensed_side* side = (const condensed_side*)d->sides.data + b->side_first;
    for (int32_t s = 0; s < b->side_count; s++, side++) {
        share += side->count * side->count;
        for (int32_t r = 0; r < side->count; r++) {
            *share++ = mabd_vec12_dot(J[side->first + r], change);
        }
    }
}

static mabd_affine_condensed_branch branch_of(const mabd_affine_contact* p) {
    const bool slips = p->friction_state == MABD_FRICTION_SLIP;
    const mabd_vec3 along = slips ? p->slip_direction : mabd_v3(0, 0, 0);
    const mabd_affine_condensed_branch branch = {
        {p->pressed ? 1 : 0, (mabd_real)p->friction_state, p->stiffness, slips ? p->bound : 0,
         slips ? p->slip_length : 0, along.x, along.y, along.z}};
    return branch;
}

// True if a contact of a body has another branch than in the last round.
static bool has_changed(const mabd_affine_contacts* c, const condensed_body* b) {
    const int32_t* next = indices(&c->by_body.next);
    mabd_affine_condensed_branch* last = c->condensed.branches.data;
    bool changed = c->condensed.rounds == 1;
    for (int32_t i = c->by_body.head[b->body]; i >= 0; i = next[i]) {
        const mabd_affine_condensed_branch now = branch_of(mabd_affine_contacts_at(c, i));
        changed |= memcmp(&now, &last[i], sizeof now) != 0;
        last[i] = now;
    }
    return changed;
}

// Eliminate the contacts of a body in its block.
static void eliminate(mabd_affine_sim* sim, condensed_body* b) {
    mabd_affine_contacts* c = sim->contacts;
    const size_t at = (size_t)b->body;
    mabd_affine_assembly own;
    memset(&own, 0, sizeof own);
    own.block = mabd_affine_block_of(sim, b->body);
    own.Z = mabd_sym3_load(sim->geometric + 6 * at);
    own.R = mabd_m3_load(sim->ref + 12 * at);
    mabd_vec12 push = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, y = b->base;
    const int32_t active = mabd_affine_eliminate_push(c, b->body, own.R, &push);
    if (mabd_vec12_dot(push, push) > 0) {
        y = mabd_vec12_axpy(1, mabd_affine_block_solve(own.block, own.Z, push), y);
    }
    c->by_body.eliminated.count = b->eliminated;
    mabd_affine_eliminate_rows(sim, b->body, active, y, &own);
    b->y = own.y;
}

void mabd_affine_condense_round(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    c->condensed.rounds++;
    for (int32_t i = 0; i < c->condensed.bodies.count; i++) {
        condensed_body* b = body_at(c, i);
        if (has_changed(c, b)) {
            eliminate(sim, b);
            compute_share(sim, b);
        }
        mabd_vec12_store(b->y, sim->q_new + 12 * (size_t)b->body);
    }
}

mabd_affine_condensed_part mabd_affine_condense_part(const mabd_affine_sim* sim,
                                                     int32_t component) {
    const mabd_affine_contacts* c = sim->contacts;
    if (!c || !c->condensed.on) return MABD_CONDENSED_NOT;
    const condensed_component* o = mabd_affine_condensed_of(c, component);
    if (!o) return c->condensed.rounds > 1 ? MABD_CONDENSED_DONE : MABD_CONDENSED_NOT;
    return o->chain    ? MABD_CONDENSED_CHAIN
           : o->rounds ? MABD_CONDENSED_SOLVER
                       : MABD_CONDENSED_COPY;
}

// ---- the dual system ---------------------------------------------------------------------------

// Where the joints of touched bodies of a component have their blocks, edges and rows.
static mabd_real* block_of(const mabd_affine_sim* sim, const condensed_component* o, int32_t slot) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    if (!o->chain) return sim->D + sim->model->plan->slot_block[slot];
    const int32_t at = o->slot_first + indices(&d->of_slot)[slot];
    return (mabd_real*)d->work.data + o->D + ((const size_t*)d->block.data)[at];
}
static mabd_real* rhs_of(const mabd_affine_sim* sim, const condensed_component* o, int32_t slot) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    if (!o->chain) return sim->lambda + sim->model->plan->slot_row[slot];
    const int32_t at = o->slot_first + indices(&d->of_slot)[slot];
    return (mabd_real*)d->work.data + o->x + indices(&d->row)[at];
}
// The edge of a pair of joints on one body; slot: the first of its joints.
static mabd_real* edge_of(const mabd_affine_sim* sim, const condensed_component* o, int32_t edge,
                          int32_t slot) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    if (!o->chain) return sim->U + sim->model->plan->edge_block[edge];
    const int32_t at = o->slot_first + indices(&d->of_slot)[slot];
    return (mabd_real*)d->work.data + o->U + ((const size_t*)d->edge.data)[at];
}

// Subtract `count` reals. Returns the next ones.
static const mabd_real* subtract(int32_t count, const mabd_real* share, mabd_real* K) {
    if (count == 9) { // balls
        for (int32_t k = 0; k < 9; k++) K[k] -= share[k];
        return share + 9;
    }
    for (int32_t k = 0; k < count; k++) K[k] -= share[k];
    return share + count;
}

void mabd_affine_condense_subtract(mabd_affine_sim* sim, const condensed_component* o) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_affine_condensed* d = &c->condensed;
    const mabd_plan* plan = sim->model->plan;
    for (int32_t i = o->body; i >= 0; i = body_at(c, i)->next) {
        const condensed_body* b = body_at(c, i);
        const condensed_side* sides = (const condensed_side*)d->sides.data + b->side_first;
        const mabd_real* share = (const mabd_real*)d->shares.data + b->share;
        for (int32_t s = 0; s < b->side_count; s++) {
            const int32_t w = sides[s].count;
            share = subtract(w * w, share, block_of(sim, o, sides[s].slot));
            share = subtract(w, share, rhs_of(sim, o, sides[s].slot));
        }
        for (int32_t p = plan->pair_start[b->body]; p < plan->pair_start[b->body + 1]; p++) {
            const condensed_side *j = &sides[plan->pairs[p].i], *k = &sides[plan->pairs[p].j];
            share =
                subtract(j->count * k->count, share, edge_of(sim, o, plan->pairs[p].edge, j->slot));
        }
    }
}

static void copy(mabd_real* to, const mabd_real* from, size_t count) {
    memcpy(to, from, count * sizeof *to);
}

// Copy the blocks and edges of touched bodies from the base.
static void restore_touched(const mabd_affine_sim* sim, const condensed_component* o) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_plan* plan = sim->model->plan;
    const system_range r = range_of(sim, o->component);
    const mabd_real *D = (const mabd_real*)c->condensed.base.data + o->D - r.D,
                    *U = (const mabd_real*)c->condensed.base.data + o->U - r.U;
    for (int32_t i = o->body; i >= 0; i = body_at(c, i)->next) {
        const int32_t body = body_at(c, i)->body;
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const size_t at = plan->slot_block[plan->sides[s].slot],
                         end = plan->slot_block[plan->sides[s].slot + 1];
            copy(sim->D + at, D + at, end - at);
        }
        for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
            const size_t at = plan->edge_block[plan->pairs[p].edge],
                         end = plan->edge_block[plan->pairs[p].edge + 1];
            copy(sim->U + at, U + at, end - at);
        }
    }
}

mabd_status mabd_affine_condense_factor(mabd_affine_sim* sim, int32_t component,
                                        const mabd_dual_system* system, int32_t* bad) {
    condensed_component* o = mabd_affine_condensed_of(sim->contacts, component);
    const mabd_dual_rounds* rounds = sim->duals[component]->rounds;
    const bool first = !o->known;
    mabd_affine_condense_restore(sim, component);
    const mabd_status status = first ? rounds->begin(sim->solvers[component], system,
                                                     sim->lambda + system->row_offset, bad)
                                     : rounds->factor(sim->solvers[component], system, bad);
    o->rounds = status == MABD_OK; // a softened system is another one in every slot
    return status;
}

void mabd_affine_condense_restore(mabd_affine_sim* sim, int32_t component) {
    const mabd_affine_contacts* c = sim->contacts;
    condensed_component* o = mabd_affine_condensed_of(c, component);
    const system_range r = range_of(sim, component);
    mabd_real* base = c->condensed.base.data;
    mabd_real *D = sim->D + r.D, *U = sim->U + r.U, *x = sim->lambda + r.row;
    if (o->known && o->rounds) {
        restore_touched(sim, o);
        copy(x, base + o->x, (size_t)r.row_count);
    } else if (o->known) {
        copy(D, base + o->D, r.D_count), copy(U, base + o->U, r.U_count);
        copy(x, base + o->x, (size_t)r.row_count);
    } else {
        copy(base + o->D, D, r.D_count), copy(base + o->U, U, r.U_count);
        copy(base + o->x, x, (size_t)r.row_count);
    }
    o->known = true;
    mabd_affine_condense_subtract(sim, o);
}

// ---- the end of a round ------------------------------------------------------------------------

mabd_affine_motion_report mabd_affine_condense_update(mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_affine_motion_report report = {-1, -1, -1, NULL};
    for (int32_t i = 0; i < c->condensed.bodies.count; i++) {
        mabd_affine_stage_update_body(sim, body_at(c, i)->body, &report);
    }
    report.rotation = report.rotation > 0 ? (mabd_real)sqrt(report.rotation) / 2 : 0;
    return report;
}

static void complete_chain(void* context, int32_t i, int32_t thread) {
    mabd_affine_sim* sim = context;
    const condensed_component* o = component_at(sim->contacts, i);
    (void)thread;
    if (o->chain) mabd_affine_condense_chain_complete(sim, o);
    if (!o->rounds) return;
    mabd_dual_system system = mabd_affine_dual_system(sim, o->component);
    sim->duals[o->component]->rounds->complete(sim->solvers[o->component], &system,
                                               sim->lambda + system.row_offset);
}

mabd_affine_motion_report mabd_affine_condense_complete(mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_pool_run(sim->pool, c->condensed.components.count, complete_chain, sim);
    for (int32_t i = 0; i < c->condensed.bodies.count; i++) {
        const condensed_body* b = body_at(c, i);
        mabd_vec12_store(b->y, sim->q_new + 12 * (size_t)b->body);
    }
    return mabd_affine_update(sim);
}

// ---- the best point of the search --------------------------------------------------------------

static const mabd_affine_contact_line* line_of(const mabd_affine_contacts* c, int32_t component) {
    if (!c->by_component.met[component]) return NULL;
    return &c->by_component.line[c->by_component.group[component]];
}

// low <- low + t (x - low)
static void move(size_t count, mabd_real t, const mabd_real* x, mabd_real* low) {
    for (size_t k = 0; k < count; k++) low[k] = t == 1 ? x[k] : low[k] + t * (x[k] - low[k]);
}

// Multipliers of the kept slots of a chain, or of all slots of another component.
static mabd_real* solution_of(const mabd_affine_sim* sim, const condensed_component* o) {
    if (o->chain) return (mabd_real*)sim->contacts->condensed.work.data + o->x;
    return sim->lambda + range_of(sim, o->component).row;
}

void mabd_affine_condense_move_best(mabd_affine_sim* sim, bool whole) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_affine_condensed* d = &c->condensed;
    for (int32_t i = 0; i < d->bodies.count; i++) {
        const int32_t body = body_at(c, i)->body;
        const size_t at = 12 * (size_t)body;
        const mabd_affine_contact_line* line = line_of(c, c->by_body.component[body]);
        if (line) move(12, whole ? 1 : line->t, sim->q_new + at, sim->q_low + at);
    }
    for (int32_t i = 0; i < d->components.count; i++) {
        const condensed_component* o = component_at(c, i);
        const mabd_affine_contact_line* line = line_of(c, o->component);
        if (!line) continue;
        move(o->end - o->x, whole ? 1 : line->t, solution_of(sim, o),
             (mabd_real*)d->low.data + o->low);
    }
}

void mabd_affine_condense_accept_best(mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_affine_condensed* d = &c->condensed;
    for (int32_t i = 0; i < d->components.count; i++) {
        const condensed_component* o = component_at(c, i);
        const mabd_affine_contact_line* line = line_of(c, o->component);
        if (!line || !line->open) continue;
        copy(solution_of(sim, o), (const mabd_real*)d->low.data + o->low, o->end - o->x);
        if (o->chain) mabd_affine_condense_chain_scatter(sim, o);
    }
    mabd_affine_condense_complete(sim);
}
