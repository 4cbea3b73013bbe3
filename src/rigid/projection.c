// SPDX-License-Identifier: Apache-2.0
#include "rigid/projection.h"

#include "dual/block_analysis.h"
#include "rigid/component_dual.h"
#include "rigid/refine.h"
#include "scene/signal.h"

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

// Conjugate gradients: their residual, relative to the right-hand side, and their iterations.
#define ITERATE_TOLERANCE      ((mabd_real)1e-3)
#define ITERATE_MAX_ITERATIONS 2000

// ---- memory ------------------------------------------------------------------------------------

static size_t row_count(const mabd_rigid_projection* p) {
    return (size_t)p->m->plan->row_count;
}
static size_t diagonal_bytes(const mabd_rigid_projection* p) {
    return mabd_bytes(p->m->plan->slot_block[p->m->plan->slot_count], sizeof *p->D);
}
static size_t edge_bytes(const mabd_rigid_projection* p) {
    return mabd_bytes(p->m->plan->edge_block[p->m->plan->edge_count], sizeof *p->U);
}
static size_t twist_bytes(const mabd_rigid_projection* p) {
    return mabd_bytes((size_t)p->m->body_count, sizeof *p->twists);
}

mabd_status mabd_rigid_projection_create(mabd_rigid_projection* p) {
    p->component = -1;
    p->rows = mabd_alloc(p->allocator, mabd_bytes(row_count(p), sizeof *p->rows));
    p->work = mabd_alloc(p->allocator, mabd_bytes(2 * row_count(p), sizeof *p->work));
    p->J = mabd_alloc(p->allocator, mabd_bytes(row_count(p), sizeof *p->J));
    p->D = mabd_alloc(p->allocator, diagonal_bytes(p));
    p->U = mabd_alloc(p->allocator, edge_bytes(p));
    p->twists = mabd_alloc(p->allocator, twist_bytes(p));
    if (!p->rows || !p->work || !p->J || !p->D || !p->U || !p->twists) return MABD_ERR_MEMORY;
    return mabd_pool_create(p->allocator, p->threads > 1 ? p->threads : 1, &p->pool);
}

static void drop_solver(mabd_rigid_projection* p) {
    if (p->solver) p->ops->destroy(p->allocator, p->solver);
    p->ops = NULL, p->solver = NULL, p->component = -1;
}

void mabd_rigid_projection_destroy(mabd_rigid_projection* p) {
    drop_solver(p);
    mabd_pool_destroy(p->pool);
    mabd_free(p->allocator, p->rows, mabd_bytes(row_count(p), sizeof *p->rows));
    mabd_free(p->allocator, p->work, mabd_bytes(2 * row_count(p), sizeof *p->work));
    mabd_free(p->allocator, p->J, mabd_bytes(row_count(p), sizeof *p->J));
    mabd_free(p->allocator, p->D, diagonal_bytes(p));
    mabd_free(p->allocator, p->U, edge_bytes(p));
    mabd_free(p->allocator, p->twists, twist_bytes(p));
    p->rows = p->work = p->D = p->U = NULL, p->J = NULL, p->twists = NULL, p->pool = NULL;
}

// ---- rows --------------------------------------------------------------------------------------

bool mabd_rigid_servo_target(const mabd_rigid_projection* p, const mabd_model_joint* joint,
                             int32_t control, mabd_real* target) {
    const mabd_control* c = &p->m->row_sets[joint->row_set].control[control];
    const bool drives = c->law && c->drive && !c->drive_rate && !(c->drive_gain > 0) &&
                        !(c->drive_damping > 0) && !(c->max_force < (mabd_real)INFINITY);
    if (!c->rigid && !drives) return false;
    const mabd_signal* signal = c->rigid ? c->servo : c->drive;
    const size_t k = (size_t)(joint->coordinate + control);
    *target = signal ? mabd_signal_value(signal, p->time) : 0;
    if (p->targets && !isnan(p->targets[k])) *target = p->targets[k];
    return true;
}

// The rigid servos of a joint: which controls are held, and their targets; 0 for others. Returns
// how many are held.
static int32_t find_held(const mabd_rigid_projection* p, const mabd_model_joint* joint, bool* held,
                         mabd_real* targets) {
    const mabd_row_set* set = &p->m->row_sets[joint->row_set];
    int32_t count = 0;
    for (int32_t r = 0; r < set->control_count; r++) {
        targets[r] = 0;
        held[r] = p->servos && mabd_rigid_servo_target(p, joint, r, &targets[r]);
        count += held[r];
    }
    return count;
}

static mabd_real larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

// Largest magnitude of n values.
static mabd_real largest_of(size_t n, const mabd_real* a) {
    mabd_real worst = 0;
    for (size_t i = 0; i < n; i++) worst = larger(worst, (mabd_real)fabs(a[i]));
    return worst;
}

mabd_real mabd_rigid_joint_errors(const mabd_rigid_projection* p, int32_t index, mabd_real* C) {
    const mabd_model_joint* joint = &p->m->joints[index];
    const mabd_row_set* set = &p->m->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(p->m, joint, p->poses);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    const int32_t rigid = set->rigid_count, count = set->control_count;
    mabd_real targets[MABD_JOINT_MAX_ROWS], x[MABD_JOINT_MAX_ROWS];
    bool held[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < rigid; r++) C[r] = mabd_row_value(&view, &set->rigid[r], gap);
    memset(C + rigid, 0, (size_t)count * sizeof *C);
    if (find_held(p, joint, held, targets) > 0) {
        mabd_joint_coordinates(&view, count, set->control_row, targets, x);
        for (int32_t r = 0; r < count; r++) C[rigid + r] = held[r] ? x[r] - targets[r] : 0;
    }
    return largest_of((size_t)(rigid + count), C);
}

// Compute J of the rows of a joint (width of its slot); rows that are not held are 0.
static void joint_rows(const mabd_rigid_projection* p, int32_t index, mabd_rigid_row* J) {
    const mabd_model_joint* joint = &p->m->joints[index];
    const mabd_row_set* set = &p->m->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(p->m, joint, p->poses);
    const int32_t count = set->control_count;
    mabd_real C[MABD_JOINT_MAX_ROWS], targets[MABD_JOINT_MAX_ROWS];
    bool held[MABD_JOINT_MAX_ROWS];
    mabd_rigid_joint_rows(&view, set->rigid_count, set->rigid, NULL, C, J);
    J += set->rigid_count;
    if (find_held(p, joint, held, targets) > 0) {
        mabd_rigid_joint_rows(&view, count, set->control_row, targets, C, J);
    }
    for (int32_t r = 0; r < count; r++) {
        if (!held[r]) memset(&J[r], 0, sizeof J[r]);
    }
}

mabd_real mabd_rigid_joint_rates(const mabd_rigid_projection* p, int32_t index,
                                 const mabd_rigid_twist* u, mabd_real* rates) {
    const mabd_model_joint* joint = &p->m->joints[index];
    const mabd_row_set* set = &p->m->row_sets[joint->row_set];
    const int32_t count = set->rigid_count + set->control_count;
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    joint_rows(p, index, J);
    for (int32_t r = 0; r < count; r++) {
        rates[r] = mabd_rigid_row_rate(&J[r], u[joint->a], u[joint->b]);
    }
    return largest_of((size_t)count, rates);
}

mabd_real mabd_rigid_component_error(const mabd_rigid_projection* p, int32_t component) {
    const mabd_plan_component* c = &p->m->plan->components[component];
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], worst = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t joint = p->m->plan->slot_joint[s];
        if (joint >= 0) worst = larger(worst, mabd_rigid_joint_errors(p, joint, C));
    }
    return worst;
}

// A slot: its joint, negative for those of a junction, and its rows.
typedef struct slot_rows {
    int32_t joint, first, width;
} slot_rows;

static slot_rows slot_of(const mabd_plan* plan, int32_t slot) {
    const slot_rows rows = {plan->slot_joint[slot], plan->slot_row[slot], plan->slot_width[slot]};
    return rows;
}

// Fill the rows of a component with the rates of its joints at twists u, or with their errors if u
// is null. Returns the largest.
static mabd_real fill_component(const mabd_rigid_projection* p, int32_t component,
                                const mabd_rigid_twist* u) {
    const mabd_plan_component* c = &p->m->plan->components[component];
    mabd_real worst = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const slot_rows slot = slot_of(p->m->plan, s);
        mabd_real* row = p->rows + slot.first;
        if (slot.joint < 0) {
            memset(row, 0, (size_t)slot.width * sizeof *row);
        } else {
            worst = larger(worst, u ? mabd_rigid_joint_rates(p, slot.joint, u, row)
                                    : mabd_rigid_joint_errors(p, slot.joint, row));
        }
    }
    return worst;
}

mabd_real mabd_rigid_projection_errors(const mabd_rigid_projection* p, int32_t component) {
    return fill_component(p, component, NULL);
}

mabd_real mabd_rigid_projection_rates(const mabd_rigid_projection* p, int32_t component,
                                      const mabd_rigid_twist* u) {
    return fill_component(p, component, u);
}

// ---- the matrix --------------------------------------------------------------------------------

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

// J of row r of a side.
static mabd_rigid_wrench side_row(const mabd_rigid_projection* p, const mabd_plan_side* side,
                                  int32_t r) {
    const mabd_rigid_row* J = p->J + p->m->plan->slot_row[side->slot] + r;
    return side->is_b ? J->b : J->a;
}

// Add J M^-1 J' of a side to D (the share of a junction is in its own slots), and its part of S.
static void add_diagonal(const mabd_rigid_projection* p, int32_t body, const mabd_plan_side* side,
                         bool junction, mabd_real shift) {
    const mabd_plan* plan = p->m->plan;
    const int32_t width = plan->slot_width[side->slot];
    mabd_real* D = p->D + plan->slot_block[side->slot];
    for (int32_t r = 0; r < width; r++) {
        const mabd_rigid_wrench own = side_row(p, side, r);
        const mabd_rigid_twist y = mabd_rigid_accelerate(class_of(p->m, body), own);
        D[r * width + r] += shift * mabd_rigid_power(own, y);
        for (int32_t k = 0; k < width && !junction; k++) {
            D[r * width + k] += mabd_rigid_power(side_row(p, side, k), y);
        }
    }
}

// U += J_i M^-1 J_j'
static void add_pair(const mabd_rigid_projection* p, int32_t body, const mabd_plan_pair* pair,
                     const mabd_plan_side* sides) {
    const mabd_plan* plan = p->m->plan;
    const mabd_plan_side *i = &sides[pair->i], *j = &sides[pair->j];
    const int32_t height = plan->slot_width[i->slot], width = plan->slot_width[j->slot];
    mabd_real* U = p->U + plan->edge_block[pair->edge];
    for (int32_t r = 0; r < height; r++) {
        const mabd_rigid_twist y = mabd_rigid_accelerate(class_of(p->m, body), side_row(p, i, r));
        for (int32_t k = 0; k < width; k++) {
            U[r * width + k] += mabd_rigid_power(side_row(p, j, k), y);
        }
    }
}

// Write J between the slot of a joint and the first slot of a junction, or J' if the joint comes
// later.
static void couple_with_junction(const mabd_rigid_projection* p, const mabd_plan_pair* pair,
                                 const mabd_plan_side* sides) {
    const mabd_plan* plan = p->m->plan;
    const bool before = sides[pair->i].is_b >= 0;
    const mabd_plan_side* side = &sides[before ? pair->i : pair->j];
    const int32_t width = plan->slot_width[side->slot], n = MABD_PLAN_SLOT_ROWS;
    mabd_real* U = p->U + plan->edge_block[pair->edge];
    for (int32_t r = 0; r < width; r++) {
        const mabd_rigid_wrench w = side_row(p, side, r);
        const mabd_real J[MABD_PLAN_SLOT_ROWS] = {w.f.x, w.f.y, w.f.z, w.t.x, w.t.y, w.t.z};
        for (int32_t k = 0; k < n; k++) U[before ? r * n + k : k * width + r] = J[k];
    }
}

// Write -M to the first slot of a junction and the negative identity to the second.
static void fill_junction(const mabd_rigid_projection* p, int32_t body, int32_t first) {
    const mabd_plan* plan = p->m->plan;
    const mabd_model_class* c = class_of(p->m, body);
    const int32_t n = MABD_PLAN_SLOT_ROWS;
    mabd_real *D1 = p->D + plan->slot_block[first], *D2 = p->D + plan->slot_block[first + 1];
    for (int32_t k = 0; k < n; k++) {
        D1[k * n + k] = -(k < 3 ? c->material.mass : c->principal[k - 3]);
        D2[k * n + k] = -1;
    }
}

static void assemble_junction(const mabd_rigid_projection* p, int32_t body) {
    const mabd_plan* plan = p->m->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t own = plan->early[body];
    fill_junction(p, body, sides[own].slot);
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const bool with = pair->i == own || pair->j == own;
        if (with && (sides[pair->i].is_b >= 0 || sides[pair->j].is_b >= 0)) {
            couple_with_junction(p, pair, sides);
        }
    }
}

static void assemble_body(const mabd_rigid_projection* p, int32_t body, mabd_real shift) {
    const mabd_plan* plan = p->m->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const bool junction = plan->early[body] >= 0;
    for (int32_t i = 0; i < count; i++) {
        if (sides[i].is_b >= 0) add_diagonal(p, body, &sides[i], junction, shift);
    }
    if (junction) {
        assemble_junction(p, body);
        return;
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        add_pair(p, body, &plan->pairs[k], sides);
    }
}

// Set the diagonal to 1 for rows that are not held or have no effect on any body. Held rows between
// junctions have their part of S there, since components with junctions are factored with a shift.
static void fill_empty_rows(const mabd_rigid_projection* p, const mabd_plan_component* c) {
    const mabd_plan* plan = p->m->plan;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t width = plan->slot_width[s];
        mabd_real* D = p->D + plan->slot_block[s];
        if (plan->slot_joint[s] < 0) continue;
        for (int32_t r = 0; r < width; r++) {
            if (D[r * width + r] == 0) D[r * width + r] = 1;
        }
    }
}

static void assemble(const mabd_rigid_projection* p, const mabd_plan_component* c,
                     mabd_real shift) {
    const mabd_plan* plan = p->m->plan;
    const size_t first = plan->slot_block[c->slot_first], edge = plan->edge_block[c->edge_first];
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        if (plan->slot_joint[s] >= 0) joint_rows(p, plan->slot_joint[s], p->J + plan->slot_row[s]);
    }
    memset(p->D + first, 0,
           (plan->slot_block[c->slot_first + c->slot_count] - first) * sizeof(mabd_real));
    memset(p->U + edge, 0,
           (plan->edge_block[c->edge_first + c->edge_count] - edge) * sizeof(mabd_real));
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        assemble_body(p, plan->component_bodies[i], shift);
    }
    fill_empty_rows(p, c);
}

// ---- solving -----------------------------------------------------------------------------------

// Compute M^-1 J' x of a body; x by row of the plan.
static mabd_rigid_twist response(const mabd_rigid_projection* p, int32_t body, const mabd_real* x) {
    const mabd_plan* plan = p->m->plan;
    mabd_rigid_wrench f = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_plan_side* side = &plan->sides[s];
        const slot_rows slot = slot_of(plan, side->slot);
        for (int32_t r = 0; side->is_b >= 0 && r < slot.width; r++) {
            const mabd_rigid_wrench own = side_row(p, side, r);
            f.f = mabd_v3_axpy(x[slot.first + r], own.f, f.f);
            f.t = mabd_v3_axpy(x[slot.first + r], own.t, f.t);
        }
    }
    return mabd_rigid_accelerate(class_of(p->m, body), f);
}

// One component during its solve. Vectors are by row of the plan.
typedef struct solve_work {
    const mabd_rigid_projection* p;
    const mabd_plan_component* c;
    mabd_dual_system system;
    size_t first, count; // its rows
} solve_work;

// y = K x
static void multiply(const solve_work* w, const mabd_real* x, mabd_real* y) {
    const mabd_rigid_projection* p = w->p;
    const mabd_plan* plan = p->m->plan;
    memset(y + w->first, 0, w->count * sizeof *y);
    for (int32_t i = w->c->body_first; i < w->c->body_first + w->c->body_count; i++) {
        const int32_t body = plan->component_bodies[i];
        const mabd_rigid_twist u = response(p, body, x);
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const mabd_plan_side* side = &plan->sides[s];
            const slot_rows slot = slot_of(plan, side->slot);
            for (int32_t r = 0; side->is_b >= 0 && r < slot.width; r++) {
                y[slot.first + r] += mabd_rigid_power(side_row(p, side, r), u);
            }
        }
    }
}

// x <- (K + S)^-1 x of the rows of a component, 0 in the rows of junctions
static void precondition(void* context, mabd_real* x) {
    const solve_work* w = context;
    const mabd_plan* plan = w->p->m->plan;
    w->p->ops->solve(w->p->solver, &w->system, x);
    for (int32_t s = w->c->slot_first;
         w->c->junction_count > 0 && s < w->c->slot_first + w->c->slot_count; s++) {
        const slot_rows slot = slot_of(plan, s);
        if (slot.joint < 0) {
            memset(x + (size_t)slot.first - w->first, 0, (size_t)slot.width * sizeof *x);
        }
    }
}

static void multiply_rows(void* context, const mabd_real* x, mabd_real* y) {
    const solve_work* w = context;
    multiply(w, x - w->first, y - w->first);
}

static mabd_real largest_row(void* context, const mabd_real* x) {
    return largest_of(((const solve_work*)context)->count, x);
}

// Solve K x = b; x: right-hand side in, solution out.
static void refine(solve_work* w, mabd_real* x) {
    const size_t rows = row_count(w->p), first = w->first;
    mabd_real *b = w->p->work, *rest = b + rows;
    const mabd_rigid_system system = {w->count, w, precondition, multiply_rows, largest_row};
    memcpy(b + first, x + first, w->count * sizeof *b);
    const mabd_real size = largest_of(w->count, b + first);
    const mabd_rigid_refinement until = {REFINE_TOLERANCE * size, size, REFINE_LEAST_FALL,
                                         size > 0 ? REFINE_MAX_ITERATIONS : 0};
    mabd_rigid_refine(&system, &until, b + first, x + first, rest + first);
}

static void iterate(const solve_work* w, mabd_real* x) {
    mabd_real *b = x + w->first, *solution = w->p->work + w->first;
    const mabd_dual_goal goal = {ITERATE_TOLERANCE * largest_of(w->count, b),
                                 ITERATE_MAX_ITERATIONS};
    mabd_dual_report report;
    memset(solution, 0, w->count * sizeof *solution);
    w->p->ops->iterate(w->p->solver, &w->system, &goal, b, solution, &report);
    memcpy(b, solution, w->count * sizeof *b);
}

// Create the solver of a component: direct, unless its factor would be too large.
static mabd_status make_solver(mabd_rigid_projection* p, int32_t component,
                               const mabd_dual_system* system) {
    const mabd_plan_component* c = &p->m->plan->components[component];
    mabd_dual_block_analysis analysis = {.symbolic = NULL};
    if (p->component == component) return MABD_OK;
    drop_solver(p);
    const mabd_dual_ops* direct = mabd_rigid_direct_dual(c);
    size_t bytes = 0;
    if (direct->create_from) {
        MABD_TRY(mabd_dual_block_prepare(p->allocator, system, &analysis));
        bytes = direct->bytes_from(system, analysis.symbolic);
    }
    p->ops = mabd_rigid_select_dual(c, MABD_DUAL_AUTO, bytes);
    if (p->ops != direct) {
        mabd_dual_block_symbolic_destroy(p->allocator, analysis.symbolic);
        analysis.symbolic = NULL;
    }
    MABD_TRY(analysis.symbolic
                 ? p->ops->create_from(p->allocator, system, analysis.symbolic, &p->solver)
                 : p->ops->create(p->allocator, system, &p->solver));
    p->component = component;
    return MABD_OK;
}

mabd_status mabd_rigid_projection_solve(mabd_rigid_projection* p, int32_t component) {
    const mabd_plan_component* c = &p->m->plan->components[component];
    solve_work w = {.p = p, .c = c};
    int32_t bad = 0;
    if (c->slot_count == 0) return MABD_OK;
    w.system = mabd_rigid_dual_system(p->m->plan, component, p->D, p->U);
    w.first = (size_t)w.system.row_offset, w.count = (size_t)w.system.row_count;
    MABD_TRY(make_solver(p, component, &w.system));
    w.system.pool = p->ops->shares_work ? p->pool : NULL;
    // a tree with one joint to the ground has no redundant rows
    const bool redundant = c->loops > 0 || c->ground_count > 1 || c->junction_count > 0;
    assemble(p, c, redundant ? SHIFT : 0);
    if (p->ops->restart) p->ops->restart(p->solver);
    MABD_TRY(p->ops->factor(p->solver, &w.system, &bad));
    if (p->ops->iterate) {
        iterate(&w, p->rows);
    } else {
        refine(&w, p->rows);
    }
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = p->m->plan->component_bodies[i];
        const mabd_rigid_twist u = response(p, body, p->rows);
        p->twists[body].v = mabd_v3_scale(-1, u.v), p->twists[body].w = mabd_v3_scale(-1, u.w);
    }
    return MABD_OK;
}
