// SPDX-License-Identifier: Apache-2.0
// Joints solved exactly: all rows of a mechanism at once. With velocities V before and
// V + M^-1 J' p after, rows end with J V + b + c p = 0 if
//
//   (J M^-1 J' + c) p = -(J V + b)
//
// K = J M^-1 J' + c is symmetric, positive definite and has the pattern of the plan of the joints:
// it is factored once a substep by the dual solvers (rigid/mobility.h), in time linear in the links
// of chains and trees, and solved after each sweep of the rows that are left, those with bounds:
// contacts, stops, limited drives, friction of axes. Springs, dampers, servos and armature without
// a bound are rows with a compliance c, their `give` (rows.c). Rigid rows have no part of their
// error in b: project.c takes that away. A component whose rows may depend on each other is
// factored with a shift and refined (rigid/mobility.h); one that is singular all the same gets
// 1e-10 of its diagonal and is refined as well.

#include "formulation/impulse/impulse_direct.h"

#include "base/error.h"
#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_limits.h"

#include <math.h>
#include <string.h>

#define TAKE(field, n) d->field = mabd_arena_take(arena, (n), sizeof *d->field)

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_plan(mabd_impulse_sim* sim) {
    const size_t bytes = mabd_bytes((size_t)sim->model->joint_count, sizeof(int32_t));
    int32_t* width = mabd_alloc(&sim->allocator, bytes);
    if (!width) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        width[sim->joints[i].joint] = sim->joints[i].width;
    }
    const mabd_status status =
        mabd_rigid_plan_build(&sim->allocator, sim->model, width, &sim->direct->plan);
    mabd_free(&sim->allocator, width, bytes);
    return status;
}

static void lay_out(mabd_impulse_sim* sim, mabd_arena* arena) {
    mabd_impulse_direct* d = sim->direct;
    const size_t rows = (size_t)d->plan->row_count, bodies = (size_t)sim->model->body_count;
    const size_t components = (size_t)d->plan->component_count;
    TAKE(ops, components);
    TAKE(solver, components);
    TAKE(D, d->plan->slot_block[d->plan->slot_count]);
    TAKE(U, d->plan->edge_block[d->plan->edge_count]);
    TAKE(rows, rows);
    TAKE(J, rows);
    TAKE(give, rows);
    TAKE(x, rows);
    TAKE(work, 2 * rows);
    TAKE(loose, components);
    TAKE(bad, components);
    TAKE(change, components);
    TAKE(largest, components);
    TAKE(refused, components);
    TAKE(way, bodies);
    TAKE(kept_q, bodies);
    TAKE(kept_c, bodies);
}

static mabd_status create_solvers(mabd_impulse_sim* sim) {
    mabd_impulse_direct* d = sim->direct;
    for (int32_t i = 0; i < d->plan->component_count; i++) {
        const mabd_dual_system system = mabd_rigid_dual_system(d->plan, i, d->D, d->U);
        d->ops[i] = mabd_rigid_direct_dual(&d->plan->components[i]);
        d->bad[i] = -1;
        if (!d->ops[i]) continue;
        MABD_TRY(d->ops[i]->create(&sim->allocator, &system, &d->solver[i]));
        d->solver_bytes += d->ops[i]->bytes(d->solver[i]);
    }
    return MABD_OK;
}

mabd_status mabd_impulse_direct_create(mabd_impulse_sim* sim) {
    sim->direct = mabd_alloc(&sim->allocator, sizeof *sim->direct);
    if (!sim->direct) return MABD_ERR_MEMORY;
    mabd_arena* arena = &sim->direct->arena;
    MABD_TRY(build_plan(sim));
    lay_out(sim, arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, arena));
    lay_out(sim, arena);
    return create_solvers(sim);
}

void mabd_impulse_direct_destroy(mabd_impulse_sim* sim) {
    mabd_impulse_direct* d = sim->direct;
    if (!d) return;
    for (int32_t i = 0; d->arena.memory && i < d->plan->component_count; i++) {
        if (d->ops[i]) d->ops[i]->destroy(&sim->allocator, d->solver[i]);
    }
    mabd_free(&sim->allocator, d->arena.memory, d->arena.size);
    mabd_plan_destroy(d->plan);
    mabd_free(&sim->allocator, d, sizeof *d);
    sim->direct = NULL;
}

size_t mabd_impulse_direct_bytes(const mabd_impulse_sim* sim) {
    const mabd_impulse_direct* d = sim->direct;
    return d ? mabd_bytes(1, sizeof *d) + d->arena.size + d->plan->bytes + d->solver_bytes : 0;
}

// ---- components --------------------------------------------------------------------------------

// Work on all components.
typedef struct component_job {
    mabd_impulse_sim* sim;
    mabd_impulse_component_fn* act;
} component_job;

static void do_component(void* context, int32_t part, int32_t thread) {
    const component_job* job = context;
    (void)thread;
    if (job->sim->direct->ops[part]) job->act(job->sim, part, NULL);
}

void mabd_impulse_each_component(mabd_impulse_sim* sim, mabd_impulse_component_fn* act) {
    component_job job = {sim, act};
    const int32_t count = sim->direct->plan->component_count;
    if (count >= mabd_pool_threads(sim->pool)) {
        mabd_pool_run(sim->pool, count, do_component, &job);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        if (sim->direct->ops[i]) act(sim, i, sim->pool);
    }
}

static mabd_rigid_mobility mobility_of(const mabd_impulse_sim* sim) {
    const mabd_impulse_direct* d = sim->direct;
    const mabd_rigid_mobility k = {sim->model, d->plan, d->J, d->give, d->D, d->U};
    return k;
}

static mabd_dual_system system_of(const mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    const mabd_impulse_direct* d = sim->direct;
    mabd_dual_system system = mabd_rigid_dual_system(d->plan, component, d->D, d->U);
    system.pool = pool;
    return system;
}

void mabd_impulse_direct_put(mabd_impulse_sim* sim, int32_t a, int32_t b, const mabd_impulse_row* J,
                             mabd_real give, int32_t row) {
    mabd_rigid_row* to = &sim->direct->J[row];
    to->a.f = mabd_v3_scale(-1, J->f), to->b.f = J->f;
    to->a.t = mabd_m3_tmul(sim->poses[a].R, J->ta);
    to->b.t = mabd_m3_tmul(sim->poses[b].R, J->tb);
    sim->direct->give[row] = give;
}

// Add a part of its diagonal to K.
static void soften(const mabd_impulse_direct* d, const mabd_plan_component* c) {
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        mabd_real* D = d->D + d->plan->slot_block[s];
        const int32_t w = d->plan->slot_width[s];
        for (int32_t r = 0; r < w; r++) D[r * w + r] += MABD_IMPULSE_BLOCK_SHIFT * D[r * w + r];
    }
}

void mabd_impulse_direct_reduce(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    mabd_impulse_direct* d = sim->direct;
    const mabd_plan_component* c = &d->plan->components[component];
    const mabd_rigid_mobility k = mobility_of(sim);
    const mabd_dual_system system = system_of(sim, component, pool);
    d->loose[component] = mabd_rigid_may_be_redundant(c);
    for (int attempt = 0; attempt < 2; attempt++) {
        int32_t bad = -1;
        mabd_rigid_mobility_assemble(&k, component);
        if (attempt > 0) soften(d, c);
        d->bad[component] = -1;
        if (d->ops[component]->factor(d->solver[component], &system, &bad) == MABD_OK) return;
        d->bad[component] = c->slot_first + bad, d->loose[component] = true;
    }
}

void mabd_impulse_direct_apply(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    mabd_impulse_direct* d = sim->direct;
    const mabd_rigid_mobility k = mobility_of(sim);
    const mabd_dual_system system = system_of(sim, component, pool);
    if (d->loose[component]) {
        mabd_rigid_mobility_solve(&k, component, d->ops[component], d->solver[component], &system,
                                  d->x, d->work);
    } else {
        d->ops[component]->solve(d->solver[component], &system, d->x + system.row_offset);
    }
}

mabd_status mabd_impulse_direct_check(mabd_impulse_sim* sim, mabd_error* error) {
    const mabd_impulse_direct* d = sim->direct;
    char label[160];
    for (int32_t i = 0; i < d->plan->component_count; i++) {
        if (d->bad[i] < 0) continue;
        const int32_t joint = d->plan->slot_joint[d->bad[i]];
        if (joint < 0) return mabd_fail(error, MABD_ERR_SINGULAR, "the rows of a junction");
        mabd_model_joint_label(sim->model, joint, label, sizeof label);
        return mabd_fail_at(error, MABD_ERR_SINGULAR, -1, joint, sim->from,
                            "the rows of the joints are singular at %s (t = %g s)", label,
                            (double)sim->from);
    }
    return MABD_OK;
}

// ---- rows --------------------------------------------------------------------------------------

static void set_rows(mabd_impulse_sim* sim, const mabd_impulse_joint* j, int32_t first) {
    mabd_impulse_block block;
    mabd_impulse_set_block(sim, j, 0, &block);
    for (int32_t r = 0; r < j->width; r++) {
        const mabd_impulse_direct_row row = {block.J[r], block.bias[r], block.hold[r],
                                             block.give[r], 0};
        sim->direct->rows[first + r] = row;
        mabd_impulse_direct_put(sim, j->a, j->b, &row.J, row.give, first + r);
    }
}

static void factor_component(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    const mabd_plan* plan = sim->direct->plan;
    const mabd_plan_component* c = &plan->components[component];
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        if (plan->slot_joint[s] < 0) continue;
        set_rows(sim, &sim->joints[sim->joint_place[plan->slot_joint[s]]], plan->slot_row[s]);
    }
    mabd_impulse_direct_reduce(sim, component, pool);
}

mabd_status mabd_impulse_direct_factor(mabd_impulse_sim* sim, mabd_error* error) {
    mabd_impulse_each_component(sim, factor_component);
    return mabd_impulse_direct_check(sim, error);
}

// ---- solve -------------------------------------------------------------------------------------

// Write what the rows of a component are to change by.
static void set_rates(mabd_impulse_sim* sim, const mabd_plan_component* c, bool relax) {
    mabd_impulse_direct* d = sim->direct;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t first = d->plan->slot_row[s], joint = d->plan->slot_joint[s];
        if (joint < 0) {
            memset(d->x + first, 0, (size_t)d->plan->slot_width[s] * sizeof *d->x);
            continue;
        }
        const mabd_impulse_joint* j = &sim->joints[sim->joint_place[joint]];
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[j->a], &sim->lines[j->b]);
        for (int32_t r = first; r < first + d->plan->slot_width[s]; r++) {
            const mabd_impulse_direct_row* row = &d->rows[r];
            d->x[r] = -(mabd_impulse_rate(&row->J, &V) + (relax ? row->hold : row->bias) +
                        row->give * row->impulse);
        }
    }
}

static void add_impulses(mabd_impulse_direct* d, int32_t component) {
    const mabd_plan_component* c = &d->plan->components[component];
    mabd_real change = 0, largest = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        if (d->plan->slot_joint[s] < 0) continue;
        for (int32_t r = d->plan->slot_row[s]; r < d->plan->slot_row[s + 1]; r++) {
            d->rows[r].impulse += d->x[r];
            change = (mabd_real)fmax(change, fabs(d->x[r]));
            largest = (mabd_real)fmax(largest, fabs(d->rows[r].impulse));
        }
    }
    d->change[component] = change, d->largest[component] = largest;
}

static void push_bodies(mabd_impulse_sim* sim, const mabd_plan_component* c) {
    const mabd_impulse_direct* d = sim->direct;
    const mabd_rigid_mobility k = mobility_of(sim);
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = d->plan->component_bodies[i];
        const mabd_rigid_twist u = mabd_rigid_mobility_response(&k, body, d->x);
        mabd_impulse_line* line = &sim->lines[body];
        const mabd_vec3 w = mabd_m3_mul(sim->poses[body].R, u.w);
        mabd_v3_store(mabd_v3_add(mabd_v3_load(line->v), u.v), line->v);
        mabd_v3_store(mabd_v3_add(mabd_v3_load(line->w), w), line->w);
    }
}

static void solve_component(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool, bool relax) {
    const mabd_plan_component* c = &sim->direct->plan->components[component];
    set_rates(sim, c, relax);
    mabd_impulse_direct_apply(sim, component, pool);
    add_impulses(sim->direct, component);
    push_bodies(sim, c);
}
static void solve_rows(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    solve_component(sim, component, pool, false);
}
static void relax_rows(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    solve_component(sim, component, pool, true);
}

void mabd_impulse_direct_solve(mabd_impulse_sim* sim, bool relax) {
    const mabd_impulse_direct* d = sim->direct;
    mabd_impulse_each_component(sim, relax ? relax_rows : solve_rows);
    for (int32_t i = 0; i < d->plan->component_count; i++) {
        sim->change = (mabd_real)fmax(sim->change, d->change[i]);
        sim->largest = (mabd_real)fmax(sim->largest, d->largest[i]);
    }
}

void mabd_impulse_direct_keep(mabd_impulse_sim* sim) {
    const mabd_impulse_direct* d = sim->direct;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        const int32_t slot = d->plan->joint_slot[j->joint];
        for (int32_t r = 0; r < j->width; r++) {
            sim->lambda[j->row + r] = d->rows[d->plan->slot_row[slot] + r].impulse;
        }
    }
}
