// SPDX-License-Identifier: Apache-2.0
#include "rigid/projection.h"

#include "dual/block_analysis.h"
#include "rigid/component_dual.h"
#include "rigid/mobility.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

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

// ---- solving -----------------------------------------------------------------------------------

// Solve K x = b by conjugate gradients; x: right-hand side in, solution out.
static void iterate(const mabd_rigid_projection* p, const mabd_dual_system* system, mabd_real* x) {
    mabd_real *b = x + system->row_offset, *solution = p->work + system->row_offset;
    const size_t count = (size_t)system->row_count;
    const mabd_dual_goal goal = {ITERATE_TOLERANCE * largest_of(count, b), ITERATE_MAX_ITERATIONS};
    mabd_dual_report report;
    memset(solution, 0, count * sizeof *solution);
    p->ops->iterate(p->solver, system, &goal, b, solution, &report);
    memcpy(b, solution, count * sizeof *b);
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
    const mabd_plan* plan = p->m->plan;
    const mabd_plan_component* c = &plan->components[component];
    const mabd_rigid_mobility K = {p->m, plan, p->J, NULL, p->D, p->U};
    int32_t bad = 0;
    if (c->slot_count == 0) return MABD_OK;
    mabd_dual_system system = mabd_rigid_dual_system(plan, component, p->D, p->U);
    MABD_TRY(make_solver(p, component, &system));
    system.pool = p->ops->shares_work ? p->pool : NULL;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        if (plan->slot_joint[s] >= 0) joint_rows(p, plan->slot_joint[s], p->J + plan->slot_row[s]);
    }
    mabd_rigid_mobility_assemble(&K, component);
    if (p->ops->restart) p->ops->restart(p->solver);
    MABD_TRY(p->ops->factor(p->solver, &system, &bad));
    if (p->ops->iterate) {
        iterate(p, &system, p->rows);
    } else {
        mabd_rigid_mobility_solve(&K, component, p->ops, p->solver, &system, p->rows, p->work);
    }
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = plan->component_bodies[i];
        const mabd_rigid_twist u = mabd_rigid_mobility_response(&K, body, p->rows);
        p->twists[body].v = mabd_v3_scale(-1, u.v), p->twists[body].w = mabd_v3_scale(-1, u.w);
    }
    return MABD_OK;
}
