// SPDX-License-Identifier: Apache-2.0
// The exact matrix of a substep over the rows of the joints,
//
//   K dl = -r + G1 A^-1 d,   K = G1 A^-1 G0' + c,   dV = A^-1 (G0' dl - d)
//
// with G0 the rows at the start, G1 = (rows at the end)(I, E), A = diag(m + drag, dLp/dw). Its
// pattern is that of the plan; its numbers are not symmetric, but near to those of the symmetric
// matrix G0 M^-1 G0' + c, so any order of elimination has pivots. Rows that may depend on each
// other get a shift of 1e-8 of their diagonal, whose effect is removed by refinement with the same
// factor (rigid/refine.h). A junction has the unknown z = A^-1 G0'l:
//
//   | c   G1 | |l|
//   | G0' -A | |z|
//
// Islands with contacts, stops and boxes use the matrix over bodies and rows (system.c).

#include "formulation/variational/variational_exact.h"

#include "formulation/variational/variational_body.h"
#include "rigid/component_dual.h"
#include "rigid/mobility.h"
#include "rigid/refine.h"

#include <math.h>
#include <string.h>

/// Shift of rows that may depend on each other, relative to G M^-1 G'.
#define SHIFT ((mabd_real)1e-8)
/// Refinement of shifted rows: solves, size of the residual relative to the right-hand side that is
/// enough, ratio of residuals that is no progress.
#define REFINE_MAX  3
#define REFINE_GOAL ((mabd_real)1e-15)
#define REFINE_FALL ((mabd_real)0.9)

// ---- memory ------------------------------------------------------------------------------------

#define TAKE(field, n) e->field = mabd_arena_take(arena, (n), sizeof *e->field)

// Write the first row of each side to `side`, which may be null; returns the number of rows.
static size_t place_sides(const mabd_plan* plan, size_t* side) {
    size_t rows = 0;
    for (int32_t i = 0; i < plan->side_start[plan->body_count]; i++) {
        if (side) side[i] = rows;
        if (plan->sides[i].is_b >= 0) rows += (size_t)plan->slot_width[plan->sides[i].slot];
    }
    return rows;
}

static void lay_out(const mabd_variational_sim* sim, mabd_variational_exact* e, mabd_arena* arena) {
    const mabd_plan* plan = sim->plan;
    const size_t rows = (size_t)plan->row_count;
    TAKE(lu, (size_t)plan->component_count);
    TAKE(lower, plan->edge_block[plan->edge_count]);
    TAKE(side, (size_t)plan->side_start[plan->body_count]);
    TAKE(Y, 6 * place_sides(plan, NULL));
    TAKE(inverse, (size_t)plan->body_count);
    TAKE(x, rows);
    TAKE(b, rows);
    TAKE(rest, rows);
}

mabd_status mabd_variational_exact_create(const mabd_variational_sim* sim,
                                          mabd_variational_exact** out) {
    mabd_arena arena = {0};
    *out = NULL;
    mabd_variational_exact* e = mabd_alloc(&sim->allocator, sizeof *e);
    if (!e) return MABD_ERR_MEMORY;
    lay_out(sim, e, &arena);
    if (mabd_arena_allocate(&sim->allocator, &arena) != MABD_OK) {
        mabd_free(&sim->allocator, e, sizeof *e);
        return MABD_ERR_MEMORY;
    }
    lay_out(sim, e, &arena);
    e->memory = arena.memory, e->memory_size = arena.size;
    place_sides(sim->plan, e->side);
    *out = e;
    return MABD_OK;
}

static mabd_dual_lu_system system_of(const mabd_variational_sim* sim,
                                     const mabd_variational_exact* e, int32_t component) {
    const mabd_dual_lu_system system = {
        mabd_rigid_dual_system(sim->plan, component, sim->D, sim->U), e->lower};
    return system;
}

mabd_status mabd_variational_exact_add(const mabd_variational_sim* sim, mabd_variational_exact* e,
                                       int32_t component) {
    const mabd_dual_lu_system system = system_of(sim, e, component);
    MABD_TRY(mabd_dual_lu_create(&sim->allocator, &system, NULL, &e->lu[component]));
    e->lu_bytes += mabd_dual_lu_bytes(e->lu[component]);
    return MABD_OK;
}

void mabd_variational_exact_destroy(const mabd_variational_sim* sim, mabd_variational_exact* e) {
    if (!e) return;
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        mabd_dual_lu_destroy(&sim->allocator, e->lu[i]);
    }
    mabd_free(&sim->allocator, e->memory, e->memory_size);
    mabd_free(&sim->allocator, e, sizeof *e);
}

size_t mabd_variational_exact_bytes(const mabd_variational_exact* e) {
    return e ? sizeof *e + e->memory_size + e->lu_bytes : 0;
}

// ---- the matrix --------------------------------------------------------------------------------

static mabd_mat3 inverse3(mabd_mat3 M) {
    const mabd_vec3 x = mabd_v3_cross(M.c2, M.c3), y = mabd_v3_cross(M.c3, M.c1);
    const mabd_real over = 1 / mabd_v3_dot(M.c1, x);
    const mabd_mat3 rows = mabd_m3(x, y, mabd_v3_cross(M.c1, M.c2));
    return mabd_variational_scale(over, mabd_m3_transpose(rows));
}

// A^-1 f
static mabd_rigid_twist accelerate(const mabd_variational_sim* sim, int32_t body,
                                   mabd_rigid_wrench f) {
    const mabd_real mass = mabd_variational_class(sim, body)->material.mass;
    mabd_rigid_twist u;
    u.v = mabd_v3_scale(1 / (mass + sim->motion[body].drag), f.f);
    u.w = mabd_m3_mul(sim->exact->inverse[body], f.t);
    return u;
}

static mabd_rigid_wrench start_row(const mabd_variational_sim* sim, const mabd_plan_side* side,
                                   int32_t r) {
    const mabd_rigid_row* G = &sim->G[sim->plan->slot_row[side->slot] + r];
    return side->is_b ? G->b : G->a;
}

static mabd_rigid_wrench end_row(const mabd_variational_sim* sim, const mabd_plan_side* side,
                                 int32_t r) {
    const mabd_rigid_row* G = &sim->next_G[sim->plan->slot_row[side->slot] + r];
    return side->is_b ? G->b : G->a;
}

static mabd_rigid_twist load_twist(const mabd_real* y) {
    const mabd_rigid_twist u = {mabd_v3_load(y), mabd_v3_load(y + 3)};
    return u;
}

// block (rows of i) x (rows of j) += G1_i Y_j
static void add_product(const mabd_variational_sim* sim, int32_t i, int32_t j, mabd_real* block) {
    const mabd_plan* plan = sim->plan;
    const mabd_plan_side *si = &plan->sides[i], *sj = &plan->sides[j];
    const int32_t height = plan->slot_width[si->slot], width = plan->slot_width[sj->slot];
    const mabd_real* Y = sim->exact->Y + 6 * sim->exact->side[j];
    for (int32_t r = 0; r < height; r++) {
        const mabd_rigid_wrench G = end_row(sim, si, r);
        for (int32_t k = 0; k < width; k++) {
            block[r * width + k] += mabd_rigid_power(G, load_twist(Y + 6 * k));
        }
    }
}

static void store_wrench(mabd_rigid_wrench w, mabd_real* out, int32_t stride) {
    const mabd_real all[6] = {w.f.x, w.f.y, w.f.z, w.t.x, w.t.y, w.t.z};
    for (int32_t k = 0; k < 6; k++) out[k * stride] = all[k];
}

// Write -A of a junction, and G1 and G0' between its slot and those of its joints that are
// eliminated with it; others are filled by the elimination.
static void assemble_junction(const mabd_variational_solve* s, int32_t body) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_plan* plan = sim->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t own = plan->early[body];
    const mabd_model_class* c = mabd_variational_class(sim, body);
    const mabd_mat3 L = mabd_variational_slope(c->principal, sim->motion[body].V.w, s->h);
    mabd_real* D = sim->D + plan->slot_block[sides[own].slot];
    for (int32_t k = 0; k < 3; k++) {
        const mabd_vec3 column = mabd_m3_column(&L, k);
        D[7 * k] = -(c->material.mass + sim->motion[body].drag);
        D[21 + k] = -column.x, D[27 + k] = -column.y, D[33 + k] = -column.z;
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const bool before = pair->j == own;
        if (!before && pair->i != own) continue;
        const mabd_plan_side* side = &sides[before ? pair->i : pair->j];
        const int32_t n = plan->slot_width[side->slot];
        mabd_real *U = sim->U + plan->edge_block[pair->edge],
                  *lower = sim->exact->lower + plan->edge_block[pair->edge];
        for (int32_t r = 0; r < n; r++) {
            // rows of the joint: G1, n x 6; columns of the joint: G0', 6 x n
            store_wrench(end_row(sim, side, r), (before ? U : lower) + 6 * r, 1);
            store_wrench(start_row(sim, side, r), (before ? lower : U) + r, n);
        }
    }
}

static void assemble_body(const mabd_variational_solve* s, int32_t body) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_plan* plan = sim->plan;
    const mabd_model_class* c = mabd_variational_class(sim, body);
    const int32_t first = plan->side_start[body], end = plan->side_start[body + 1];
    sim->exact->inverse[body] =
        inverse3(mabd_variational_slope(c->principal, sim->motion[body].V.w, s->h));
    if (plan->early[body] >= 0) {
        assemble_junction(s, body);
        return;
    }
    for (int32_t i = first; i < end; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        mabd_real* Y = sim->exact->Y + 6 * sim->exact->side[i];
        for (int32_t r = 0; r < plan->slot_width[side->slot]; r++, Y += 6) {
            const mabd_rigid_twist y = accelerate(sim, body, start_row(sim, side, r));
            mabd_v3_store(y.v, Y), mabd_v3_store(y.w, Y + 3);
        }
        add_product(sim, i, i, sim->D + plan->slot_block[side->slot]);
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const size_t block = plan->edge_block[pair->edge];
        add_product(sim, first + pair->i, first + pair->j, sim->U + block);
        add_product(sim, first + pair->j, first + pair->i, sim->exact->lower + block);
    }
}

static mabd_real shift_of(const mabd_variational_solve* s, const mabd_variational_row* row) {
    const bool shifts = s->island->shifted && row->kind == MABD_VARIATIONAL_HELD;
    return shifts ? SHIFT * row->own : 0;
}

static void assemble(const mabd_variational_solve* s, int32_t component) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_plan* plan = sim->plan;
    const mabd_plan_component* c = &plan->components[component];
    const int32_t end = c->slot_first + c->slot_count;
    const size_t D = plan->slot_block[c->slot_first], U = plan->edge_block[c->edge_first];
    const size_t edges = plan->edge_block[c->edge_first + c->edge_count] - U;
    memset(sim->D + D, 0, (plan->slot_block[end] - D) * sizeof *sim->D);
    memset(sim->U + U, 0, edges * sizeof *sim->U);
    memset(sim->exact->lower + U, 0, edges * sizeof *sim->U);
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        assemble_body(s, plan->component_bodies[i]);
    }
    for (int32_t slot = c->slot_first; slot < end; slot++) {
        const int32_t n = plan->slot_width[slot];
        for (int32_t r = 0; plan->slot_joint[slot] >= 0 && r < n; r++) {
            const mabd_variational_row* row = &sim->rows[plan->slot_row[slot] + r];
            sim->D[plan->slot_block[slot] + (size_t)(r * n + r)] += row->c + shift_of(s, row);
        }
    }
}

mabd_status mabd_variational_exact_factor(const mabd_variational_solve* s, int32_t* body,
                                          int32_t* joint) {
    const mabd_variational_sim* sim = s->sim;
    *body = *joint = -1;
    for (int32_t i = 0; i < s->island->component_count; i++) {
        const int32_t c = s->island->components[i];
        mabd_dual_lu_report report;
        assemble(s, c);
        if (!sim->exact->lu[c]) continue;
        const mabd_dual_lu_system system = system_of(sim, sim->exact, c);
        const mabd_status status = mabd_dual_lu_factor(sim->exact->lu[c], &system, &report);
        if (status == MABD_OK) continue;
        const int32_t bad = sim->plan->slot_joint[sim->plan->components[c].slot_first + report.bad];
        *(bad < 0 ? body : joint) = bad < 0 ? -1 - bad : bad;
        return status;
    }
    return MABD_OK;
}

// ---- solution ----------------------------------------------------------------------------------

/// One component during its solve.
typedef struct exact_work {
    const mabd_variational_solve* s;
    const mabd_plan_component* c;
    mabd_dual_lu* lu;
    size_t first, count; // its rows
} exact_work;

// A^-1 (G0'x + f) of a body, x by row of the plan.
static mabd_rigid_twist response(const mabd_variational_sim* sim, int32_t body, const mabd_real* x,
                                 mabd_rigid_wrench f) {
    const mabd_plan* plan = sim->plan;
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        const int32_t first = plan->slot_row[side->slot];
        for (int32_t r = 0; side->is_b >= 0 && r < plan->slot_width[side->slot]; r++) {
            const mabd_rigid_wrench G = start_row(sim, side, r);
            f.f = mabd_v3_axpy(x[first + r], G.f, f.f);
            f.t = mabd_v3_axpy(x[first + r], G.t, f.t);
        }
    }
    return accelerate(sim, body, f);
}

// y += G1 u of a body.
static void add_rates(const mabd_variational_sim* sim, int32_t body, mabd_rigid_twist u,
                      mabd_real* y) {
    const mabd_plan* plan = sim->plan;
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        const int32_t first = plan->slot_row[side->slot];
        for (int32_t r = 0; side->is_b >= 0 && r < plan->slot_width[side->slot]; r++) {
            y[first + r] += mabd_rigid_power(end_row(sim, side, r), u);
        }
    }
}

static const int32_t* bodies_of(const exact_work* w) {
    return w->s->sim->plan->component_bodies + w->c->body_first;
}

// Vectors of a component are by row of the plan, less its first row.
static void apply(void* context, mabd_real* x) {
    const exact_work* w = context;
    const mabd_plan* plan = w->s->sim->plan;
    mabd_dual_lu_solve(w->lu, x);
    for (int32_t s = w->c->slot_first;
         w->c->junction_count > 0 && s < w->c->slot_first + w->c->slot_count; s++) {
        const size_t width = (size_t)plan->slot_width[s];
        if (plan->slot_joint[s] >= 0) continue;
        memset(x + (size_t)plan->slot_row[s] - w->first, 0, width * sizeof *x);
    }
}

static void multiply(void* context, const mabd_real* x, mabd_real* y) {
    const exact_work* w = context;
    const mabd_variational_sim* sim = w->s->sim;
    const mabd_rigid_wrench none = {{0, 0, 0}, {0, 0, 0}};
    for (size_t r = 0; r < w->count; r++) y[r] = sim->rows[w->first + r].c * x[r];
    for (int32_t i = 0; i < w->c->body_count; i++) {
        const int32_t body = bodies_of(w)[i];
        add_rates(sim, body, response(sim, body, x - w->first, none), y - w->first);
    }
}

static mabd_real size_of(void* context, const mabd_real* x) {
    const exact_work* w = context;
    mabd_real most = 0;
    for (size_t i = 0; i < w->count; i++) {
        const mabd_real size = (mabd_real)fabs(x[i]);
        if (size > most) most = size;
    }
    return most;
}

// -r + G1 A^-1 d of the rows of joints, 0 of junctions.
static void write_right_side(const exact_work* w, mabd_real* b) {
    const mabd_variational_sim* sim = w->s->sim;
    const mabd_plan* plan = sim->plan;
    for (int32_t i = 0; i < w->c->body_count; i++) {
        const int32_t body = bodies_of(w)[i];
        add_rates(sim, body, accelerate(sim, body, sim->motion[body].d), b);
    }
    for (int32_t slot = w->c->slot_first; slot < w->c->slot_first + w->c->slot_count; slot++) {
        for (int32_t r = plan->slot_row[slot];
             plan->slot_joint[slot] >= 0 && r < plan->slot_row[slot + 1]; r++) {
            b[r] -= sim->rows[r].r;
        }
    }
}

static void solve_component(exact_work* w) {
    const mabd_variational_sim* sim = w->s->sim;
    mabd_variational_exact* e = sim->exact;
    mabd_real *x = e->x + w->first, *b = e->b + w->first, *rest = e->rest + w->first;
    memset(b, 0, w->count * sizeof *b);
    write_right_side(w, e->b);
    if (w->s->island->shifted) {
        const mabd_rigid_system refined = {w->count, w, apply, multiply, size_of};
        const mabd_real size = size_of(w, b);
        const mabd_rigid_refinement until = {REFINE_GOAL * size, size, REFINE_FALL,
                                             size > 0 ? REFINE_MAX : 0};
        mabd_rigid_refine(&refined, &until, b, x, rest);
    } else {
        memcpy(x, b, w->count * sizeof *x);
        if (w->lu) apply(w, x);
    }
    memcpy(sim->change + w->first, x, w->count * sizeof *x);
    for (int32_t i = 0; i < w->c->body_count; i++) {
        const int32_t body = bodies_of(w)[i];
        mabd_variational_motion* motion = &sim->motion[body];
        const mabd_rigid_wrench minus = {mabd_v3_scale(-1, motion->d.f),
                                         mabd_v3_scale(-1, motion->d.t)};
        motion->change = response(sim, body, e->x, minus);
    }
}

void mabd_variational_exact_solve(const mabd_variational_solve* s) {
    const mabd_plan* plan = s->sim->plan;
    for (int32_t i = 0; i < s->island->component_count; i++) {
        const int32_t index = s->island->components[i];
        const mabd_plan_component* c = &plan->components[index];
        const size_t first = (size_t)plan->slot_row[c->slot_first];
        const size_t end = (size_t)plan->slot_row[c->slot_first + c->slot_count];
        exact_work w = {s, c, s->sim->exact->lu[index], first, end - first};
        solve_component(&w);
    }
}
