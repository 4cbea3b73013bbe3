// SPDX-License-Identifier: Apache-2.0
// The symmetric Newton.
//
//   | A  -J' | |dx|   |r|        A = L L' per body: the symmetric part of bh^2 (A - G), definite
//   | J   c  | |l | = |s|        K l = s - J A^-1 r,   K = J A^-1 J' + c,   dx = A^-1 (r + J'l)
//
// K is positive definite. It has a block per joint, and one per pair of joints that share a body: a
// dual system of topology/plan.h, which the solvers of dual/ factor as chains, trees or graphs. A
// body with many joints is a junction, whose 6 freedoms z = A^-1 J'l are unknowns as well:
//
//   | K'  J | |l|   |s - J A^-1 r|      K' without the share of the junction
//   | J' -A | |z| = |     0      |
//
// With y = L^-1 j for every row j of J on a body, all products of the body are those of its y:
//
//   D += y_i'y_i,  U += y_i'y_j,  J A^-1 r = y'(L^-1 r),  dx = L'^-1 (L^-1 r + sum y l)
//
// The residual is that of the exact Newton, and so are its stopping rule and its solution; the
// iteration converges linearly, with the rate of what was left out: the skew part of A - G and the
// blocks of G between two bodies. 20 links of ball joints at 20 rad/s, h = 10 ms: 6 iterations
// instead of 3 [VQ does not have it].

#include "formulation/quaternion/symmetric.h"

#include "formulation/quaternion/quaternion_layout.h"
#include "formulation/quaternion/symmetric_turns.h"
#include "rigid/component_dual.h"
#include "rigid/definite.h"

#include <math.h>
#include <string.h>

/// Least eigenvalue of the matrix of a body relative to its inertia. Rows may hold a body in the
/// directions in which it is not stiff; a small value costs iterations where they do not.
#define LEAST_STIFFNESS ((mabd_real)0.1)
/// Goal of iterative solvers relative to the Newton tolerance, and their budget.
#define GOAL_PART           ((mabd_real)0.1)
#define GOAL_MAX_ITERATIONS 2000

typedef struct mabd_quaternion_dual {
    mabd_plan* plan;           // its components are parts, or parts of parts that motors connect
    const mabd_dual_ops** ops; // (components), null = no rows
    void** solvers;            // (components)
    int32_t* body_part;        // (bodies) -1 = does not move by forces
    int32_t* part_first;       // (parts + 1) of its components in the list
    int32_t* components;       // by part
    size_t* side_block;        // (sides) of its rows in Y
    mabd_real *D, *U;          // of K
    mabd_real* L;              // (bodies x 36) factor of A, reciprocal diagonal
    mabd_real* Y;              // L^-1 J' by sides: a row of 6 for each row of the joint
    mabd_real* z;              // (bodies x 6)
    mabd_real *b, *x;          // (rows of the plan)
    void* memory;
    size_t memory_size, solver_bytes;
} mabd_quaternion_dual;

// ---- the matrix --------------------------------------------------------------------------------

// Write the inertia of a body on its 6 freedoms.
static void inertia_of(const mabd_model* m, int32_t body, mabd_real* out) {
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    for (int k = 0; k < 6; k++) out[k] = k < 3 ? c->material.mass : c->principal[k - 3];
}

void mabd_quaternion_make_symmetric(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        mabd_real* S = sim->D + sim->slot_block[s->part->slot_first + i];
        mabd_real m[6];
        for (int r = 0; r < 6; r++) {
            for (int k = 0; k < r; k++) {
                S[6 * r + k] = S[6 * k + r] = (S[6 * r + k] + S[6 * k + r]) / 2;
            }
        }
        inertia_of(sim->model, sim->bodies[s->part->body_first + i], m);
        mabd_rigid_raise(m, LEAST_STIFFNESS, S);
    }
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const size_t block = sim->joints[s->part->joint_first + i].block_ab;
        if (block == SIZE_MAX) continue;
        memset(sim->U + block, 0, 36 * sizeof *sim->U);
        memset(sim->lower + block, 0, 36 * sizeof *sim->lower);
    }
    if (sim->dual) mabd_quaternion_store_turns(s);
}

// ---- bodies ------------------------------------------------------------------------------------

// A = L L', 6 x 6, L with the reciprocals of its diagonal. False if A is not positive definite.
static bool factor_body(const mabd_real* A, mabd_real* L) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            mabd_real sum = A[6 * i + j];
            for (int k = 0; k < j; k++) sum -= L[6 * i + k] * L[6 * j + k];
            L[6 * i + j] = i == j ? 1 / (mabd_real)sqrt(sum) : sum * L[7 * j];
            if (i == j && !(sum > 0)) return false;
        }
    }
    return true;
}

// x <- L^-1 x
static void solve_lower(const mabd_real* L, mabd_real* x) {
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[6 * i + k] * x[k];
        x[i] *= L[7 * i];
    }
}

// x <- L'^-1 x
static void solve_upper(const mabd_real* L, mabd_real* x) {
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++) x[i] -= L[6 * k + i] * x[k];
        x[i] *= L[7 * i];
    }
}

static mabd_real dot6(const mabd_real* x, const mabd_real* y) {
    return ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3])) +
           (x[4] * y[4] + x[5] * y[5]);
}

// The joint of a slot of the plan, null for a junction.
static const mabd_quaternion_joint* joint_of(const mabd_quaternion_sim* sim, int32_t slot) {
    const int32_t joint = sim->dual->plan->slot_joint[slot];
    return joint < 0 ? NULL : &sim->joints[sim->joint_place[joint]];
}

// y = L^-1 j of the rows of a side.
static void reduce_side(const mabd_quaternion_sim* sim, const mabd_plan_side* side,
                        const mabd_real* L, mabd_real* Y) {
    const mabd_quaternion_joint* j = joint_of(sim, side->slot);
    const mabd_real* J = sim->lower + (side->is_b ? j->block_b : j->block_a);
    memcpy(Y, J, 6 * (size_t)j->width * sizeof *Y);
    for (int32_t r = 0; r < j->width; r++) solve_lower(L, Y + 6 * r);
}

// block (w x v) += y_i'y_j
static void add_products(int32_t w, int32_t v, const mabd_real* yi, const mabd_real* yj,
                         mabd_real* block) {
    for (int32_t r = 0; r < w; r++) {
        for (int32_t k = 0; k < v; k++) block[r * v + k] += dot6(yi + 6 * r, yj + 6 * k);
    }
}

// Write -A and J of a junction: J before its slot, J' after it.
static void assemble_junction(const mabd_quaternion_sim* sim, int32_t body, const mabd_real* A) {
    const mabd_quaternion_dual* d = sim->dual;
    const mabd_plan* plan = d->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t own = plan->early[body];
    mabd_real* D = d->D + plan->slot_block[sides[own].slot];
    for (int i = 0; i < 36; i++) D[i] = -A[i];
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const bool before = pair->j == own;
        if (!before && pair->i != own) continue; // filled by the elimination
        const mabd_plan_side* side = &sides[before ? pair->i : pair->j];
        const mabd_quaternion_joint* j = joint_of(sim, side->slot);
        const mabd_real* J = sim->lower + (side->is_b ? j->block_b : j->block_a);
        mabd_real* U = d->U + plan->edge_block[pair->edge];
        for (int32_t i = 0; i < 6 * j->width; i++) {
            U[before ? i : i % 6 * j->width + i / 6] = J[i];
        }
    }
}

// Factor A of a body and add its share of K. False if A is not definite.
static bool assemble_body(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                          int32_t body) {
    const mabd_quaternion_dual* d = sim->dual;
    const mabd_plan* plan = d->plan;
    const mabd_real* A = sim->D + sim->slot_block[part->slot_first + sim->body_slot[body]];
    mabd_real* L = d->L + 36 * (size_t)body;
    if (!factor_body(A, L)) return false;
    const int32_t first = plan->side_start[body], count = plan->side_start[body + 1] - first;
    const bool junction = plan->early[body] >= 0;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_side* side = &plan->sides[first + i];
        mabd_real* Y = d->Y + d->side_block[first + i];
        if (side->is_b < 0) continue;
        reduce_side(sim, side, L, Y);
        const int32_t w = plan->slot_width[side->slot];
        if (!junction) add_products(w, w, Y, Y, d->D + plan->slot_block[side->slot]);
    }
    if (junction) {
        assemble_junction(sim, body, A);
        return true;
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair* pair = &plan->pairs[k];
        const int32_t i = first + pair->i, j = first + pair->j;
        add_products(plan->slot_width[plan->sides[i].slot], plan->slot_width[plan->sides[j].slot],
                     d->Y + d->side_block[i], d->Y + d->side_block[j],
                     d->U + plan->edge_block[pair->edge]);
    }
    return true;
}

// ---- components --------------------------------------------------------------------------------

// Set K of a component to the compliance of its rows.
static void clear_component(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                            const mabd_plan_component* c) {
    const mabd_quaternion_dual* d = sim->dual;
    const mabd_plan* plan = d->plan;
    const size_t U = plan->edge_block[c->edge_first];
    memset(d->U + U, 0, (plan->edge_block[c->edge_first + c->edge_count] - U) * sizeof *d->U);
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const mabd_quaternion_joint* j = joint_of(sim, slot);
        const size_t count = plan->slot_block[slot + 1] - plan->slot_block[slot];
        if (!j) continue;
        memcpy(d->D + plan->slot_block[slot], sim->D + sim->slot_block[part->slot_first + j->slot],
               count * sizeof *d->D);
    }
}

// *bad: slot of the part.
static mabd_status factor_component(const mabd_quaternion_solve* s, int32_t component,
                                    int32_t* bad) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_quaternion_dual* d = sim->dual;
    const mabd_plan_component* c = &d->plan->components[component];
    int32_t failed = 0;
    clear_component(sim, s->part, c);
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = d->plan->component_bodies[c->body_first + i];
        if (assemble_body(sim, s->part, body)) continue;
        *bad = sim->body_slot[body];
        return MABD_ERR_SINGULAR;
    }
    if (!d->ops[component]) return MABD_OK;
    const mabd_dual_system system = mabd_rigid_dual_system(d->plan, component, d->D, d->U);
    const mabd_status status = d->ops[component]->factor(d->solvers[component], &system, &failed);
    if (status == MABD_OK) return MABD_OK;
    const mabd_quaternion_joint* j = joint_of(sim, c->slot_first + failed);
    *bad = j ? j->slot : sim->body_slot[-1 - d->plan->slot_joint[c->slot_first + failed]];
    return status;
}

mabd_status mabd_quaternion_dual_factor(const mabd_quaternion_solve* s, int32_t* bad) {
    const mabd_quaternion_dual* d = s->sim->dual;
    const ptrdiff_t part = s->part - s->sim->parts;
    for (int32_t i = d->part_first[part]; i < d->part_first[part + 1]; i++) {
        MABD_TRY(factor_component(s, d->components[i], bad));
    }
    return MABD_OK;
}

// x <- K^-1 b of a component.
static void solve_dual(const mabd_quaternion_solve* s, int32_t component) {
    const mabd_quaternion_dual* d = s->sim->dual;
    const mabd_dual_ops* ops = d->ops[component];
    const mabd_dual_system system = mabd_rigid_dual_system(d->plan, component, d->D, d->U);
    mabd_real *b = d->b + system.row_offset, *x = d->x + system.row_offset;
    const size_t bytes = (size_t)system.row_count * sizeof *x;
    if (!ops->iterate) {
        memcpy(x, b, bytes);
        ops->solve(d->solvers[component], &system, x);
        return;
    }
    const mabd_dual_goal goal = {GOAL_PART * s->sim->def.quaternion.newton_tolerance,
                                 GOAL_MAX_ITERATIONS};
    mabd_dual_report report = {0, 0};
    memset(x, 0, bytes);
    ops->iterate(d->solvers[component], &system, &goal, b, x, &report);
    s->report->dual_iterations += report.iterations;
    if (report.residual > s->report->dual_residual) s->report->dual_residual = report.residual;
}

// Rows of the joint of a slot in a vector of unknowns of the part.
static mabd_real* rows_of(const mabd_quaternion_part* part, const mabd_quaternion_joint* j,
                          mabd_real* x) {
    return x + 6 * (size_t)part->body_count + (j->row - part->row_first);
}

// b -= y'z of the sides of a body, or z += y x.
static void add_sides(const mabd_quaternion_dual* d, int32_t body, bool back) {
    const mabd_plan* plan = d->plan;
    mabd_real* z = d->z + 6 * (size_t)body;
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        const mabd_real* Y = d->Y + d->side_block[i];
        const int32_t row = plan->slot_row[side->slot];
        if (side->is_b < 0) continue;
        for (int32_t r = 0; r < plan->slot_width[side->slot]; r++, Y += 6) {
            if (!back) d->b[row + r] -= dot6(Y, z);
            for (int k = 0; back && k < 6; k++) z[k] += Y[k] * d->x[row + r];
        }
    }
}

static void solve_component(const mabd_quaternion_solve* s, int32_t component, mabd_real* x) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_dual* d = sim->dual;
    const mabd_plan_component* c = &d->plan->components[component];
    const int32_t* bodies = d->plan->component_bodies + c->body_first;
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const mabd_quaternion_joint* j = joint_of(sim, slot);
        const size_t bytes = (size_t)d->plan->slot_width[slot] * sizeof *x;
        mabd_real* b = d->b + d->plan->slot_row[slot];
        if (j) memcpy(b, rows_of(s->part, j, x), bytes);
        if (!j) memset(b, 0, bytes);
    }
    for (int32_t i = 0; i < c->body_count; i++) {
        mabd_real* z = d->z + 6 * (size_t)bodies[i];
        memcpy(z, x + 6 * (size_t)sim->body_slot[bodies[i]], 6 * sizeof *z);
        solve_lower(d->L + 36 * (size_t)bodies[i], z);
        add_sides(d, bodies[i], false);
    }
    if (d->ops[component]) solve_dual(s, component);
    for (int32_t i = 0; i < c->body_count; i++) {
        mabd_real* z = d->z + 6 * (size_t)bodies[i];
        add_sides(d, bodies[i], true);
        solve_upper(d->L + 36 * (size_t)bodies[i], z);
        memcpy(x + 6 * (size_t)sim->body_slot[bodies[i]], z, 6 * sizeof *z);
    }
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const mabd_quaternion_joint* j = joint_of(sim, slot);
        if (!j) continue;
        memcpy(rows_of(s->part, j, x), d->x + d->plan->slot_row[slot],
               (size_t)j->width * sizeof *x);
    }
}

void mabd_quaternion_dual_solve(const mabd_quaternion_solve* s, mabd_real* x) {
    const mabd_quaternion_dual* d = s->sim->dual;
    const ptrdiff_t part = s->part - s->sim->parts;
    for (int32_t i = d->part_first[part]; i < d->part_first[part + 1]; i++) {
        solve_component(s, d->components[i], x);
    }
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_plan(mabd_quaternion_sim* sim) {
    const size_t joints = (size_t)sim->model->joint_count;
    int32_t* width = mabd_alloc(&sim->allocator, mabd_bytes(joints, sizeof *width));
    if (!width) return MABD_ERR_MEMORY;
    for (size_t i = 0; i < joints; i++) {
        const int32_t place = sim->joint_place[i];
        width[i] = place < 0 ? 0 : sim->joints[place].width;
    }
    const mabd_status status =
        mabd_rigid_plan_build(&sim->allocator, sim->model, width, &sim->dual->plan);
    mabd_free(&sim->allocator, width, mabd_bytes(joints, sizeof *width));
    return status;
}

// Offsets of the rows of sides in Y; returns its size.
static size_t place_sides(const mabd_plan* plan, size_t* side_block) {
    size_t size = 0;
    for (int32_t i = 0; i < plan->side_start[plan->body_count]; i++) {
        const mabd_plan_side* side = &plan->sides[i];
        if (side_block) side_block[i] = size;
        if (side->is_b >= 0) size += 6 * (size_t)plan->slot_width[side->slot];
    }
    return size;
}

#define TAKE(field, n) d->field = mabd_arena_take(arena, (n), sizeof *d->field)

static void lay_out(const mabd_quaternion_sim* sim, mabd_quaternion_dual* d, mabd_arena* arena) {
    const mabd_plan* plan = d->plan;
    const size_t bodies = (size_t)plan->body_count, components = (size_t)plan->component_count;
    const size_t rows = (size_t)plan->row_count;
    TAKE(ops, components);
    TAKE(solvers, components);
    TAKE(body_part, bodies);
    TAKE(part_first, (size_t)sim->part_count + 1);
    TAKE(components, components);
    TAKE(side_block, (size_t)plan->side_start[bodies]);
    TAKE(D, plan->slot_block[plan->slot_count]);
    TAKE(U, plan->edge_block[plan->edge_count]);
    TAKE(L, 36 * bodies);
    TAKE(Y, place_sides(plan, NULL));
    TAKE(z, 6 * bodies);
    TAKE(b, rows);
    TAKE(x, rows);
}

static int32_t part_of_component(const mabd_quaternion_dual* d, int32_t component) {
    return d->body_part[d->plan->component_bodies[d->plan->components[component].body_first]];
}

// List the components of each part, by index.
static void list_components(const mabd_quaternion_sim* sim, mabd_quaternion_dual* d) {
    const mabd_plan* plan = d->plan;
    for (int32_t i = 0; i < plan->body_count; i++) d->body_part[i] = -1;
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_quaternion_part* part = &sim->parts[p];
        for (int32_t i = 0; i < part->body_count; i++) {
            d->body_part[sim->bodies[part->body_first + i]] = p;
        }
    }
    for (int32_t i = 0; i < plan->component_count; i++) {
        d->part_first[part_of_component(d, i) + 1]++;
    }
    for (int32_t p = 0; p < sim->part_count; p++) d->part_first[p + 1] += d->part_first[p];
    for (int32_t i = 0; i < plan->component_count; i++) {
        d->components[d->part_first[part_of_component(d, i)]++] = i;
    }
    for (int32_t p = sim->part_count; p > 0; p--) d->part_first[p] = d->part_first[p - 1];
    d->part_first[0] = 0;
}

static mabd_status create_solvers(mabd_quaternion_sim* sim) {
    mabd_quaternion_dual* d = sim->dual;
    for (int32_t i = 0; i < d->plan->component_count; i++) {
        const mabd_plan_component* c = &d->plan->components[i];
        const mabd_dual_system system = mabd_rigid_dual_system(d->plan, i, d->D, d->U);
        const mabd_dual_ops* direct = mabd_rigid_direct_dual(c);
        const bool ask = sim->def.dual == MABD_DUAL_AUTO && mabd_rigid_may_be_too_large(c);
        const size_t bytes = ask ? direct->bytes_for(&sim->allocator, &system) : 0;
        const mabd_dual_ops* ops = mabd_rigid_select_dual(c, sim->def.dual, bytes);
        if (!ops) continue;
        MABD_TRY(ops->create(&sim->allocator, &system, &d->solvers[i]));
        d->ops[i] = ops;
        d->solver_bytes += ops->bytes(d->solvers[i]);
    }
    return MABD_OK;
}

mabd_status mabd_quaternion_dual_create(mabd_quaternion_sim* sim) {
    mabd_arena arena = {0};
    mabd_quaternion_dual* d = sim->dual = mabd_alloc(&sim->allocator, sizeof *d);
    if (!d) return MABD_ERR_MEMORY;
    MABD_TRY(build_plan(sim));
    lay_out(sim, d, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    d->memory = arena.memory, d->memory_size = arena.size;
    lay_out(sim, d, &arena);
    place_sides(d->plan, d->side_block);
    list_components(sim, d);
    return create_solvers(sim);
}

void mabd_quaternion_dual_destroy(mabd_quaternion_sim* sim) {
    mabd_quaternion_dual* d = sim->dual;
    if (!d) return;
    for (int32_t i = 0; d->memory && i < d->plan->component_count; i++) {
        if (d->ops[i]) d->ops[i]->destroy(&sim->allocator, d->solvers[i]);
    }
    mabd_plan_destroy(d->plan);
    mabd_free(&sim->allocator, d->memory, d->memory_size);
    mabd_free(&sim->allocator, d, sizeof *d);
    sim->dual = NULL;
}

size_t mabd_quaternion_dual_bytes(const mabd_quaternion_sim* sim) {
    const mabd_quaternion_dual* d = sim->dual;
    return d ? sizeof *d + d->plan->bytes + d->memory_size + d->solver_bytes : 0;
}

// ---- components of a part ----------------------------------------------------------------------

bool mabd_quaternion_dual_iterates(const mabd_quaternion_sim* sim,
                                   const mabd_quaternion_part* part) {
    const mabd_quaternion_dual* d = sim->dual;
    const ptrdiff_t p = part - sim->parts;
    for (int32_t i = d->part_first[p]; i < d->part_first[p + 1]; i++) {
        const mabd_dual_ops* ops = d->ops[d->components[i]];
        if (ops && ops->iterate) return true;
    }
    return false;
}

void mabd_quaternion_dual_restart(const mabd_quaternion_sim* sim,
                                  const mabd_quaternion_part* part) {
    const mabd_quaternion_dual* d = sim->dual;
    const ptrdiff_t p = part - sim->parts;
    for (int32_t i = d->part_first[p]; i < d->part_first[p + 1]; i++) {
        const mabd_dual_ops* ops = d->ops[d->components[i]];
        if (ops && ops->restart) ops->restart(d->solvers[d->components[i]]);
    }
}

void mabd_quaternion_dual_name(const mabd_quaternion_sim* sim, mabd_sim_plan* plan) {
    const mabd_quaternion_dual* d = sim->dual;
    for (int32_t i = 0; i < d->plan->component_count; i++) {
        if (!d->ops[i]) continue;
        mabd_rigid_add_solver_name(plan->solvers[d->plan->components[i].kind], d->ops[i]->name);
    }
}
