// SPDX-License-Identifier: Apache-2.0
#include "rigid/mobility.h"

#include "rigid/refine.h"

#include <math.h>
#include <string.h>

// S over diag(K). Forces of redundant rows are known up to round-off over this number; the
// refinement removes its effect on the other rows.
#define SHIFT ((mabd_real)1e-8)

// Refinement: iterations; the residual, relative to the right-hand side, at which it ends; the
// ratio of residuals that counts as no progress: the remaining residual is in redundant rows that
// contradict each other.
#define REFINE_MAX_ITERATIONS 100
#define REFINE_TOLERANCE      ((mabd_real)1e-13)
#define REFINE_LEAST_FALL     ((mabd_real)0.9)

bool mabd_rigid_may_be_redundant(const mabd_plan_component* c) {
    return c->loops > 0 || c->ground_count > 1 || c->junction_count > 0;
}

// ---- the matrix --------------------------------------------------------------------------------

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

// J of row r of a side.
static mabd_rigid_wrench side_row(const mabd_rigid_mobility* s, const mabd_plan_side* side,
                                  int32_t r) {
    const mabd_rigid_row* J = s->J + s->plan->slot_row[side->slot] + r;
    return side->is_b ? J->b : J->a;
}

// Add J M^-1 J' of a side to D (the share of a junction is in its own slots), and its part of S.
static void add_diagonal(const mabd_rigid_mobility* s, int32_t body, const mabd_plan_side* side,
                         bool junction, mabd_real shift) {
    const mabd_plan* plan = s->plan;
    const int32_t width = plan->slot_width[side->slot];
    mabd_real* D = s->D + plan->slot_block[side->slot];
    for (int32_t r = 0; r < width; r++) {
        const mabd_rigid_wrench own = side_row(s, side, r);
        const mabd_rigid_twist y = mabd_rigid_accelerate(class_of(s->m, body), own);
        D[r * width + r] += shift * mabd_rigid_power(own, y);
        for (int32_t k = 0; k < width && !junction; k++) {
            D[r * width + k] += mabd_rigid_power(side_row(s, side, k), y);
        }
    }
}

// U += J_i M^-1 J_j'
static void add_pair(const mabd_rigid_mobility* s, int32_t body, const mabd_plan_pair* pair,
                     const mabd_plan_side* sides) {
    const mabd_plan* plan = s->plan;
    const mabd_plan_side *i = &sides[pair->i], *j = &sides[pair->j];
    const int32_t height = plan->slot_width[i->slot], width = plan->slot_width[j->slot];
    mabd_real* U = s->U + plan->edge_block[pair->edge];
    for (int32_t r = 0; r < height; r++) {
        const mabd_rigid_twist y = mabd_rigid_accelerate(class_of(s->m, body), side_row(s, i, r));
        for (int32_t k = 0; k < width; k++) {
            U[r * width + k] += mabd_rigid_power(side_row(s, j, k), y);
        }
    }
}

// Write J between the slot of a joint and the first slot of a junction, or J' if the joint comes
// later.
static void couple_with_junction(const mabd_rigid_mobility* s, const mabd_plan_pair* pair,
                                 const mabd_plan_side* sides) {
    const mabd_plan* plan = s->plan;
    const bool before = sides[pair->i].is_b >= 0;
    const mabd_plan_side* side = &sides[before ? pair->i : pair->j];
    const int32_t width = plan->slot_width[side->slot], n = MABD_PLAN_SLOT_ROWS;
    mabd_real* U = s->U + plan->edge_block[pair->edge];
    for (int32_t r = 0; r < width; r++) {
        const mabd_rigid_wrench w = side_row(s, side, r);
        const mabd_real J[MABD_PLAN_SLOT_ROWS] = {w.f.x, w.f.y, w.f.z, w.t.x, w.t.y, w.t.z};
        for (int32_t k = 0; k < n; k++) U[before ? r * n + k : k * width + r] = J[k];
    }
}

// Write -M to the first slot of a junction and the negative identity to a second one.
static void fill_junction(const mabd_rigid_mobility* s, int32_t body, int32_t first) {
    const mabd_plan* plan = s->plan;
    const mabd_model_class* c = class_of(s->m, body);
    const int32_t n = MABD_PLAN_SLOT_ROWS;
    mabd_real* D = s->D + plan->slot_block[first];
    for (int32_t k = 0; k < n; k++) {
        D[k * n + k] = -(k < 3 ? c->material.mass : c->principal[k - 3]);
    }
    if (plan->junction_slots < 2) return;
    D = s->D + plan->slot_block[first + 1];
    for (int32_t k = 0; k < n; k++) D[k * n + k] = -1;
}

static void assemble_junction(const mabd_rigid_mobility* s, int32_t body) {
    const mabd_plan* plan = s->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t own = plan->early[body];
    fill_junction(s, body, sides[own].slot);
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const bool with = pair->i == own || pair->j == own;
        if (with && (sides[pair->i].is_b >= 0 || sides[pair->j].is_b >= 0)) {
            couple_with_junction(s, pair, sides);
        }
    }
}

static void assemble_body(const mabd_rigid_mobility* s, int32_t body, mabd_real shift) {
    const mabd_plan* plan = s->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const bool junction = plan->early[body] >= 0;
    for (int32_t i = 0; i < count; i++) {
        if (sides[i].is_b >= 0) add_diagonal(s, body, &sides[i], junction, shift);
    }
    if (junction) {
        assemble_junction(s, body);
        return;
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        add_pair(s, body, &plan->pairs[k], sides);
    }
}

// Add the compliances of rows, and set the diagonal to 1 for rows that have no effect on any body.
// Held rows between junctions have their part of S there, since components with junctions are
// factored with a shift.
static void fill_rows(const mabd_rigid_mobility* s, const mabd_plan_component* c) {
    const mabd_plan* plan = s->plan;
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const int32_t width = plan->slot_width[slot];
        mabd_real* D = s->D + plan->slot_block[slot];
        if (plan->slot_joint[slot] < 0) continue;
        for (int32_t r = 0; r < width; r++) {
            if (s->compliance) D[r * width + r] += s->compliance[plan->slot_row[slot] + r];
            if (D[r * width + r] == 0) D[r * width + r] = 1;
        }
    }
}

void mabd_rigid_mobility_assemble(const mabd_rigid_mobility* s, int32_t component) {
    const mabd_plan* plan = s->plan;
    const mabd_plan_component* c = &plan->components[component];
    const size_t first = plan->slot_block[c->slot_first], edge = plan->edge_block[c->edge_first];
    const mabd_real shift = mabd_rigid_may_be_redundant(c) ? SHIFT : 0;
    memset(s->D + first, 0,
           (plan->slot_block[c->slot_first + c->slot_count] - first) * sizeof(mabd_real));
    memset(s->U + edge, 0,
           (plan->edge_block[c->edge_first + c->edge_count] - edge) * sizeof(mabd_real));
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        assemble_body(s, plan->component_bodies[i], shift);
    }
    fill_rows(s, c);
}

// ---- solving -----------------------------------------------------------------------------------

mabd_rigid_twist mabd_rigid_mobility_response(const mabd_rigid_mobility* s, int32_t body,
                                              const mabd_real* x) {
    const mabd_plan* plan = s->plan;
    mabd_rigid_wrench f = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        const int32_t first = plan->slot_row[side->slot], width = plan->slot_width[side->slot];
        for (int32_t r = 0; side->is_b >= 0 && r < width; r++) {
            const mabd_rigid_wrench own = side_row(s, side, r);
            f.f = mabd_v3_axpy(x[first + r], own.f, f.f);
            f.t = mabd_v3_axpy(x[first + r], own.t, f.t);
        }
    }
    return mabd_rigid_accelerate(class_of(s->m, body), f);
}

// One component during its solve. Vectors are by row of the plan.
typedef struct solve_work {
    const mabd_rigid_mobility* s;
    const mabd_plan_component* c;
    const mabd_dual_ops* ops;
    void* solver;
    const mabd_dual_system* system;
    size_t first, count; // its rows
} solve_work;

// y = K x
static void multiply(const solve_work* w, const mabd_real* x, mabd_real* y) {
    const mabd_rigid_mobility* s = w->s;
    const mabd_plan* plan = s->plan;
    for (size_t r = w->first; r < w->first + w->count; r++) {
        y[r] = s->compliance ? s->compliance[r] * x[r] : 0;
    }
    for (int32_t i = w->c->body_first; i < w->c->body_first + w->c->body_count; i++) {
        const int32_t body = plan->component_bodies[i];
        const mabd_rigid_twist u = mabd_rigid_mobility_response(s, body, x);
        for (int32_t k = plan->side_start[body]; k < plan->side_start[body + 1]; k++) {
            const mabd_plan_side* side = &plan->sides[k];
            const int32_t first = plan->slot_row[side->slot], width = plan->slot_width[side->slot];
            for (int32_t r = 0; side->is_b >= 0 && r < width; r++) {
                y[first + r] += mabd_rigid_power(side_row(s, side, r), u);
            }
        }
    }
}

// x <- (K + S)^-1 x of the rows of a component, 0 in the rows of junctions
static void precondition(void* context, mabd_real* x) {
    const solve_work* w = context;
    const mabd_plan* plan = w->s->plan;
    w->ops->solve(w->solver, w->system, x);
    for (int32_t s = w->c->slot_first;
         w->c->junction_count > 0 && s < w->c->slot_first + w->c->slot_count; s++) {
        if (plan->slot_joint[s] < 0) {
            memset(x + (size_t)plan->slot_row[s] - w->first, 0,
                   (size_t)plan->slot_width[s] * sizeof *x);
        }
    }
}

static void multiply_rows(void* context, const mabd_real* x, mabd_real* y) {
    const solve_work* w = context;
    multiply(w, x - w->first, y - w->first);
}

static mabd_real largest_of(size_t n, const mabd_real* a) {
    mabd_real worst = 0;
    for (size_t i = 0; i < n; i++) {
        const mabd_real size = (mabd_real)fabs(a[i]);
        if (size > worst) worst = size;
    }
    return worst;
}

static mabd_real largest_row(void* context, const mabd_real* x) {
    return largest_of(((const solve_work*)context)->count, x);
}

void mabd_rigid_mobility_solve(const mabd_rigid_mobility* k, int32_t component,
                               const mabd_dual_ops* ops, void* solver,
                               const mabd_dual_system* system, mabd_real* x, mabd_real* work) {
    solve_work w = {k,
                    &k->plan->components[component],
                    ops,
                    solver,
                    system,
                    (size_t)system->row_offset,
                    (size_t)system->row_count};
    mabd_real *b = work + w.first, *rest = b + k->plan->row_count;
    const mabd_rigid_system refined = {w.count, &w, precondition, multiply_rows, largest_row};
    memcpy(b, x + w.first, w.count * sizeof *b);
    const mabd_real size = largest_of(w.count, b);
    const mabd_rigid_refinement until = {REFINE_TOLERANCE * size, size, REFINE_LEAST_FALL,
                                         size > 0 ? REFINE_MAX_ITERATIONS : 0};
    mabd_rigid_refine(&refined, &until, b, x + w.first, rest);
}
