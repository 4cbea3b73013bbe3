// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/projection.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/joint_jacobian.h"

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

// Iterative dual solvers: their residual, relative to the right-hand side, and their iterations.
#define ITERATE_TOLERANCE      ((mabd_real)1e-3)
#define ITERATE_MAX_ITERATIONS 2000

static size_t work_bytes(const mabd_affine_projection* p) {
    return mabd_bytes(3 * p->sim->sizes.rows, sizeof *p->work);
}
static size_t twist_bytes(const mabd_affine_projection* p) {
    return mabd_bytes(p->sim->sizes.bodies, sizeof *p->twists);
}

mabd_status mabd_affine_projection_create(mabd_affine_projection* p) {
    p->work = mabd_alloc(p->allocator, work_bytes(p));
    p->twists = mabd_alloc(p->allocator, twist_bytes(p));
    return p->work && p->twists ? MABD_OK : MABD_ERR_MEMORY;
}

void mabd_affine_projection_destroy(mabd_affine_projection* p) {
    mabd_free(p->allocator, p->work, work_bytes(p));
    mabd_free(p->allocator, p->twists, twist_bytes(p));
    p->work = NULL, p->twists = NULL;
}

bool mabd_affine_rigid_servo(const mabd_affine_sim* sim, int32_t row_set, int32_t row,
                             mabd_real* target) {
    const mabd_control* c = &sim->model->row_sets[row_set].control[row];
    const mabd_affine_control_value* value =
        sim->controls + (size_t)row_set * MABD_JOINT_MAX_ROWS + row;
    *target = c->rigid ? value->target : value->drive;
    return c->rigid || (c->law && c->drive && !c->drive_rate && !(c->drive_gain > 0) &&
                        !(c->drive_damping > 0) && !(c->max_force < (mabd_real)INFINITY));
}

// ---- twists ----

mabd_affine_twist mabd_affine_twist_of(const mabd_real* q, const mabd_real* v) {
    const mabd_mat3 R = mabd_m3_load(q), rates = mabd_m3_load(v);
    mabd_vec3 w = mabd_v3_add(mabd_v3_cross(R.c1, rates.c1), mabd_v3_cross(R.c2, rates.c2));
    w = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(w, mabd_v3_cross(R.c3, rates.c3)));
    const mabd_affine_twist u = {mabd_m3_tmul(R, mabd_v3_load(v + 9)), mabd_m3_tmul(R, w)};
    return u;
}

void mabd_affine_twist_rates(const mabd_real* q, mabd_affine_twist u, mabd_real* v) {
    const mabd_mat3 R = mabd_m3_load(q);
    const mabd_vec3 w = mabd_m3_mul(R, u.w);
    mabd_v3_store(mabd_v3_cross(w, R.c1), v);
    mabd_v3_store(mabd_v3_cross(w, R.c2), v + 3);
    mabd_v3_store(mabd_v3_cross(w, R.c3), v + 6);
    mabd_v3_store(mabd_m3_mul(R, u.v), v + 9);
}

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

mabd_real mabd_affine_twist_energy(const mabd_model* m, int32_t body, mabd_affine_twist u) {
    const mabd_model_class* c = class_of(m, body);
    const mabd_real* I = c->principal;
    return (c->material.mass * mabd_v3_dot(u.v, u.v) + I[0] * u.w.x * u.w.x + I[1] * u.w.y * u.w.y +
            I[2] * u.w.z * u.w.z) /
           2;
}

static mabd_real dot(mabd_affine_twist a, mabd_affine_twist b) {
    return mabd_v3_dot(a.v, b.v) + mabd_v3_dot(a.w, b.w);
}

// Compute M^-1 f of a body.
static mabd_affine_twist accelerate(const mabd_model* m, int32_t body, mabd_affine_twist f) {
    const mabd_model_class* c = class_of(m, body);
    const mabd_real* I = c->principal;
    const mabd_affine_twist u = {mabd_v3_scale(1 / c->material.mass, f.v),
                                 mabd_v3(f.w.x / I[0], f.w.y / I[1], f.w.z / I[2])};
    return u;
}

// ---- rows ----

// Compute J of a row on one side. D = R'dA is the skew matrix of the rotation, so d1, d2, d3 act by
// their moment.
static mabd_affine_twist row_of(const mabd_joint_view* view, const mabd_row* row, mabd_vec3 gap,
                                int is_b) {
    const mabd_vec12 J = mabd_affine_row_jacobian(view, row, gap, is_b);
    const mabd_affine_twist twist = {J.tau, mabd_vec12_rotation(J)};
    return twist;
}

// Compute J of the rows of a joint on one side (width of its slot); rows that are not held are 0.
static void side_rows(const mabd_affine_projection* p, int32_t index, int is_b,
                      mabd_affine_twist* rows) {
    const mabd_model_joint* joint = &p->sim->model->joints[index];
    const mabd_row_set* set = &p->sim->model->row_sets[joint->row_set];
    const mabd_affine_twist none = {{0, 0, 0}, {0, 0, 0}};
    mabd_joint_view view;
    mabd_real target;
    mabd_affine_view(p->sim, joint, p->q, &view);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        rows[r] = row_of(&view, &set->rigid[r], gap, is_b);
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const bool held = p->servos && mabd_affine_rigid_servo(p->sim, joint->row_set, r, &target);
        rows[set->rigid_count + r] = held ? row_of(&view, &set->control_row[r], gap, is_b) : none;
    }
}

// The slots of a component, one at a time: its joint, -1 for those of a junction, and its rows.
typedef struct slot_rows {
    int32_t joint, first, width;
} slot_rows;

static slot_rows slot_of(const mabd_plan* plan, int32_t slot) {
    const slot_rows rows = {plan->slot_joint[slot], plan->slot_row[slot], plan->slot_width[slot]};
    return rows;
}

static mabd_real larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

static mabd_real joint_errors(const mabd_affine_projection* p, int32_t index, mabd_real* C) {
    const mabd_model_joint* joint = &p->sim->model->joints[index];
    const mabd_row_set* set = &p->sim->model->row_sets[joint->row_set];
    mabd_real worst = 0, target, x;
    mabd_joint_view view;
    mabd_affine_view(p->sim, joint, p->q, &view);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        C[r] = mabd_row_value(&view, &set->rigid[r], gap);
        worst = larger(worst, (mabd_real)fabs(C[r]));
    }
    C += set->rigid_count;
    for (int32_t r = 0; r < set->control_count; r++) {
        C[r] = 0;
        if (!p->servos || !mabd_affine_rigid_servo(p->sim, joint->row_set, r, &target)) continue;
        mabd_joint_coordinates(&view, 1, &set->control_row[r], &target, &x);
        C[r] = x - target;
        worst = larger(worst, (mabd_real)fabs(C[r]));
    }
    return worst;
}

static mabd_real joint_rates(const mabd_affine_projection* p, int32_t index, const mabd_real* v,
                             mabd_real* rates) {
    const mabd_model* m = p->sim->model;
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const int32_t count = set->rigid_count + set->control_count;
    mabd_real worst = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const size_t body = (size_t)(is_b ? joint->b : joint->a);
        mabd_affine_twist rows[MABD_JOINT_MAX_ROWS];
        if (body == p->sim->sizes.bodies) continue;
        const mabd_affine_twist u = mabd_affine_twist_of(p->q + 12 * body, v + 12 * body);
        side_rows(p, index, is_b, rows);
        for (int32_t r = 0; r < count; r++) rates[r] += dot(rows[r], u);
    }
    for (int32_t r = 0; r < count; r++) worst = larger(worst, (mabd_real)fabs(rates[r]));
    return worst;
}

// Fill the rows of a component with the rates of its joints at velocities v, or with their errors
// if v is null. Returns the largest.
static mabd_real fill_component(const mabd_affine_projection* p, int32_t component,
                                const mabd_real* v) {
    const mabd_plan* plan = p->sim->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    mabd_real worst = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const slot_rows rows = slot_of(plan, s);
        mabd_real* row = p->sim->lambda_last + rows.first;
        memset(row, 0, (size_t)rows.width * sizeof *row);
        if (rows.joint < 0) continue;
        worst = larger(worst,
                       v ? joint_rates(p, rows.joint, v, row) : joint_errors(p, rows.joint, row));
    }
    return worst;
}

mabd_real mabd_affine_projection_errors(const mabd_affine_projection* p, int32_t component) {
    return fill_component(p, component, NULL);
}

mabd_real mabd_affine_projection_rates(const mabd_affine_projection* p, int32_t component,
                                       const mabd_real* v) {
    return fill_component(p, component, v);
}

// ---- the matrix ----

// Add J M^-1 J' of a side to D (the share of a junction is in its own slots), and its part of S.
static void add_diagonal(const mabd_affine_projection* p, int32_t body, int32_t slot, bool junction,
                         mabd_real shift, const mabd_affine_twist* rows) {
    const mabd_plan* plan = p->sim->model->plan;
    const int32_t width = plan->slot_width[slot];
    mabd_real* D = p->sim->D + plan->slot_block[slot];
    for (int32_t r = 0; r < width; r++) {
        const mabd_affine_twist y = accelerate(p->sim->model, body, rows[r]);
        D[r * width + r] += shift * dot(rows[r], y);
        for (int32_t k = 0; k < width && !junction; k++) D[r * width + k] += dot(y, rows[k]);
    }
}

// U += J_i M^-1 J_j'
static void add_pair(const mabd_affine_projection* p, int32_t body, const mabd_plan_pair* pair,
                     const mabd_plan_side* sides) {
    const mabd_plan* plan = p->sim->model->plan;
    const mabd_plan_side *i = &sides[pair->i], *j = &sides[pair->j];
    const int32_t height = plan->slot_width[i->slot], width = plan->slot_width[j->slot];
    mabd_real* U = p->sim->U + plan->edge_block[pair->edge];
    mabd_affine_twist from[MABD_JOINT_MAX_ROWS], to[MABD_JOINT_MAX_ROWS];
    side_rows(p, plan->slot_joint[i->slot], i->is_b, from);
    side_rows(p, plan->slot_joint[j->slot], j->is_b, to);
    for (int32_t r = 0; r < height; r++) {
        const mabd_affine_twist y = accelerate(p->sim->model, body, from[r]);
        for (int32_t k = 0; k < width; k++) U[r * width + k] += dot(y, to[k]);
    }
}

// Write J between the slot of a joint and the first slot of a junction, or J' if the joint comes
// later.
static void couple_with_junction(const mabd_affine_projection* p, const mabd_plan_pair* pair,
                                 const mabd_plan_side* sides) {
    const mabd_plan* plan = p->sim->model->plan;
    const bool before = sides[pair->i].is_b >= 0;
    const mabd_plan_side* side = &sides[before ? pair->i : pair->j];
    const int32_t width = plan->slot_width[side->slot], n = MABD_PLAN_SLOT_ROWS;
    mabd_real* U = p->sim->U + plan->edge_block[pair->edge];
    mabd_affine_twist rows[MABD_JOINT_MAX_ROWS];
    side_rows(p, plan->slot_joint[side->slot], side->is_b, rows);
    for (int32_t r = 0; r < width; r++) {
        const mabd_real J[MABD_PLAN_SLOT_ROWS] = {rows[r].v.x, rows[r].v.y, rows[r].v.z,
                                                  rows[r].w.x, rows[r].w.y, rows[r].w.z};
        for (int32_t k = 0; k < n; k++) U[before ? r * n + k : k * width + r] = J[k];
    }
}

// Write -M to the first slot of a junction and the negative identity to the second.
static void fill_junction(const mabd_affine_projection* p, int32_t body, int32_t first) {
    const mabd_plan* plan = p->sim->model->plan;
    const mabd_model_class* c = class_of(p->sim->model, body);
    const int32_t n = MABD_PLAN_SLOT_ROWS;
    mabd_real *D1 = p->sim->D + plan->slot_block[first],
              *D2 = p->sim->D + plan->slot_block[first + 1];
    for (int32_t k = 0; k < n; k++) {
        D1[k * n + k] = -(k < 3 ? c->material.mass : c->principal[k - 3]);
        D2[k * n + k] = -1;
    }
}

static void assemble_junction(const mabd_affine_projection* p, int32_t body) {
    const mabd_plan* plan = p->sim->model->plan;
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

static void assemble_body(const mabd_affine_projection* p, int32_t body, mabd_real shift) {
    const mabd_plan* plan = p->sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const bool junction = plan->early[body] >= 0;
    for (int32_t i = 0; i < count; i++) {
        mabd_affine_twist rows[MABD_JOINT_MAX_ROWS];
        if (sides[i].is_b < 0) continue;
        side_rows(p, plan->slot_joint[sides[i].slot], sides[i].is_b, rows);
        add_diagonal(p, body, sides[i].slot, junction, shift, rows);
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
static void fill_empty_rows(const mabd_affine_projection* p, const mabd_plan_component* c) {
    const mabd_plan* plan = p->sim->model->plan;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t width = plan->slot_width[s];
        mabd_real* D = p->sim->D + plan->slot_block[s];
        if (plan->slot_joint[s] < 0) continue;
        for (int32_t r = 0; r < width; r++) {
            if (D[r * width + r] == 0) D[r * width + r] = 1;
        }
    }
}

static void assemble(const mabd_affine_projection* p, const mabd_plan_component* c,
                     mabd_real shift) {
    const mabd_plan* plan = p->sim->model->plan;
    const size_t first = plan->slot_block[c->slot_first], edge = plan->edge_block[c->edge_first];
    memset(p->sim->D + first, 0,
           (plan->slot_block[c->slot_first + c->slot_count] - first) * sizeof(mabd_real));
    memset(p->sim->U + edge, 0,
           (plan->edge_block[c->edge_first + c->edge_count] - edge) * sizeof(mabd_real));
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        assemble_body(p, plan->component_bodies[i], shift);
    }
    fill_empty_rows(p, c);
}

// ---- solving ----

// Compute M^-1 J' x of a body; x by row of the plan.
static mabd_affine_twist response(const mabd_affine_projection* p, int32_t body,
                                  const mabd_real* x) {
    const mabd_plan* plan = p->sim->model->plan;
    mabd_affine_twist f = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_plan_side* side = &plan->sides[s];
        const slot_rows slot = slot_of(plan, side->slot);
        mabd_affine_twist rows[MABD_JOINT_MAX_ROWS];
        if (side->is_b < 0) continue;
        side_rows(p, slot.joint, side->is_b, rows);
        for (int32_t r = 0; r < slot.width; r++) {
            f.v = mabd_v3_axpy(x[slot.first + r], rows[r].v, f.v);
            f.w = mabd_v3_axpy(x[slot.first + r], rows[r].w, f.w);
        }
    }
    return accelerate(p->sim->model, body, f);
}

// One component during its solve. Vectors are by row of the plan.
typedef struct solve_work {
    const mabd_affine_projection* p;
    const mabd_plan_component* c;
    const mabd_dual_ops* ops;
    void* solver;
    mabd_dual_system system;
    size_t first, count; // its rows
} solve_work;

// y = K x
static void multiply(const solve_work* w, const mabd_real* x, mabd_real* y) {
    const mabd_affine_projection* p = w->p;
    const mabd_plan* plan = p->sim->model->plan;
    memset(y + w->first, 0, w->count * sizeof *y);
    for (int32_t i = w->c->body_first; i < w->c->body_first + w->c->body_count; i++) {
        const int32_t body = plan->component_bodies[i];
        const mabd_affine_twist u = response(p, body, x);
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const mabd_plan_side* side = &plan->sides[s];
            const slot_rows slot = slot_of(plan, side->slot);
            mabd_affine_twist rows[MABD_JOINT_MAX_ROWS];
            if (side->is_b < 0) continue;
            side_rows(p, slot.joint, side->is_b, rows);
            for (int32_t r = 0; r < slot.width; r++) y[slot.first + r] += dot(rows[r], u);
        }
    }
}

// z = (K + S)^-1 r, 0 in the rows of junctions
static void precondition(const solve_work* w, const mabd_real* r, mabd_real* z) {
    const mabd_plan* plan = w->p->sim->model->plan;
    memcpy(z + w->first, r + w->first, w->count * sizeof *z);
    w->ops->solve(w->solver, &w->system, z + w->first);
    for (int32_t s = w->c->slot_first;
         w->c->junction_count > 0 && s < w->c->slot_first + w->c->slot_count; s++) {
        const slot_rows slot = slot_of(plan, s);
        if (slot.joint < 0) memset(z + slot.first, 0, (size_t)slot.width * sizeof *z);
    }
}

static mabd_real largest(const solve_work* w, const mabd_real* a) {
    mabd_real worst = 0;
    for (size_t i = w->first; i < w->first + w->count; i++) {
        worst = larger(worst, (mabd_real)fabs(a[i]));
    }
    return worst;
}

// Refine x += (K + S)^-1 (b - K x) while the residual falls; x: right-hand side in, solution out.
static void refine(const solve_work* w, mabd_real* x) {
    const size_t rows = w->p->sim->sizes.rows, first = w->first, last = first + w->count;
    mabd_real *b = w->p->work, *r = b + rows, *z = r + rows;
    memcpy(b + first, x + first, w->count * sizeof *b);
    memcpy(r + first, x + first, w->count * sizeof *r);
    memset(x + first, 0, w->count * sizeof *x);
    const mabd_real goal = REFINE_TOLERANCE * largest(w, b);
    mabd_real left = (mabd_real)INFINITY;
    for (int k = 0; k < REFINE_MAX_ITERATIONS; k++) {
        const mabd_real now = largest(w, r);
        if (!(now > goal) || now > REFINE_LEAST_FALL * left) return;
        left = now;
        precondition(w, r, z);
        for (size_t i = first; i < last; i++) x[i] += z[i];
        multiply(w, x, r);
        for (size_t i = first; i < last; i++) r[i] = b[i] - r[i];
    }
}

static void iterate(const solve_work* w, mabd_real* x) {
    mabd_real *b = x + w->first, *solution = w->p->work + w->first;
    const mabd_dual_goal goal = {ITERATE_TOLERANCE * largest(w, x), ITERATE_MAX_ITERATIONS};
    mabd_dual_report report;
    memset(solution, 0, w->count * sizeof *solution);
    w->ops->iterate(w->solver, &w->system, &goal, b, solution, &report);
    memcpy(b, solution, w->count * sizeof *b);
}

mabd_status mabd_affine_projection_solve(const mabd_affine_projection* p, int32_t component) {
    mabd_affine_sim* sim = p->sim;
    const mabd_plan_component* c = &sim->model->plan->components[component];
    const mabd_dual_ops* ops = sim->duals[component];
    int32_t bad = 0;
    if (!ops) return MABD_OK;
    MABD_TRY(mabd_affine_make_solver(sim, p->allocator, component));
    solve_work w = {.p = p, .c = c, .ops = ops, .solver = sim->solvers[component]};
    w.system = mabd_affine_dual_system(sim, component);
    w.system.pool = ops->shares_work ? sim->pool : NULL;
    w.first = (size_t)w.system.row_offset, w.count = (size_t)w.system.row_count;
    // a tree with one joint to the ground has no redundant rows
    const bool redundant = c->loops > 0 || c->ground_count > 1 || c->junction_count > 0;
    assemble(p, c, redundant ? SHIFT : 0);
    if (ops->restart) ops->restart(w.solver);
    MABD_TRY(ops->factor(w.solver, &w.system, &bad));
    if (ops->iterate) {
        iterate(&w, sim->lambda_last);
    } else {
        refine(&w, sim->lambda_last);
    }
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = sim->model->plan->component_bodies[i];
        const mabd_affine_twist u = response(p, body, sim->lambda_last);
        p->twists[body].v = mabd_v3_scale(-1, u.v), p->twists[body].w = mabd_v3_scale(-1, u.w);
    }
    return MABD_OK;
}
