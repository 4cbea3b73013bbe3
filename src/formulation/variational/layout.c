// SPDX-License-Identifier: Apache-2.0
// Islands and memory of a simulation in the variational formulation: one arena, laid out twice, and
// the solvers of the components.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_exact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_system.h"
#include "model/first_force.h"
#include "rigid/component_dual.h"
#include "rigid/mobility.h"
#include "rigid/stability.h"

#include <math.h>
#include <string.h>

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (n), sizeof *sim->field)

// ---- islands -----------------------------------------------------------------------------------

static bool is_dynamic(const mabd_model* m, int32_t body) {
    return body < m->body_count && m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// True if a joint holds or drives a body that moves by forces.
static bool acts(const mabd_model* m, int32_t index) {
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    return set->rigid_count + set->control_count + set->motor_count > 0 &&
           (is_dynamic(m, joint->a) || is_dynamic(m, joint->b));
}

int32_t mabd_variational_root(int32_t* root, int32_t body) {
    while (root[body] != body) {
        root[body] = root[root[body]];
        body = root[body];
    }
    return body;
}

void mabd_variational_unite(int32_t* root, int32_t a, int32_t b) {
    a = mabd_variational_root(root, a), b = mabd_variational_root(root, b);
    if (a < b) root[b] = a;
    if (b < a) root[a] = b;
}

// First point of a spring on a body that moves, by forces or a script; -1 = none. Islands that a
// scripted body connects by springs are one, so that its pose at a time belongs to one island.
static int32_t anchor_of(const mabd_model* m, const mabd_model_spring* spring) {
    for (int32_t k = 0; k < spring->count; k++) {
        const int32_t body = m->spring_points[spring->first + k].body;
        if (body < m->body_count && m->body_motion[body] != MABD_MOTION_FIXED) return body;
    }
    return -1;
}

// root[i]: the lowest body of the island of i.
static void join_bodies(const mabd_model* m, int32_t* root) {
    for (int32_t i = 0; i < m->body_count; i++) root[i] = i;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        if (!acts(m, i) || !is_dynamic(m, joint->a) || !is_dynamic(m, joint->b)) continue;
        mabd_variational_unite(root, joint->a, joint->b);
    }
    for (int32_t i = 0; i < m->spring_count; i++) {
        const int32_t first = anchor_of(m, &m->springs[i]);
        for (int32_t k = 0; first >= 0 && k < m->springs[i].count; k++) {
            const int32_t body = m->spring_points[m->springs[i].first + k].body;
            if (body == m->body_count || m->body_motion[body] == MABD_MOTION_FIXED) continue;
            mabd_variational_unite(root, first, body);
        }
    }
    for (int32_t i = 0; i < m->body_count; i++) root[i] = mabd_variational_root(root, i);
}

// Number the islands by their lowest dynamic body; returns their number. work (bodies): roots in,
// numbers by root out.
static int32_t number_islands(const mabd_model* m, const int32_t* root, int32_t* number,
                              int32_t* island) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->body_count; i++) number[i] = -1;
    for (int32_t i = 0; i < m->body_count; i++) {
        island[i] = -1;
        if (!is_dynamic(m, i)) continue;
        if (number[root[i]] < 0) number[root[i]] = count++;
        island[i] = number[root[i]];
    }
    return count;
}

static int32_t island_of_joint(const mabd_variational_sim* sim, int32_t joint) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    return sim->body_island[is_dynamic(sim->model, j->a) ? j->a : j->b];
}

static int32_t island_of_component(const mabd_variational_sim* sim, int32_t component) {
    return sim
        ->body_island[sim->plan->component_bodies[sim->plan->components[component].body_first]];
}

static int32_t island_of_spring(const mabd_variational_sim* sim, int32_t spring) {
    const mabd_model_spring* own = &sim->model->springs[spring];
    for (int32_t k = 0; k < own->count; k++) {
        const int32_t body = sim->model->spring_points[own->first + k].body;
        if (is_dynamic(sim->model, body)) return sim->body_island[body];
    }
    return -1;
}

/// Island of entry i of a list, -1 = none.
typedef int32_t island_of(const mabd_variational_sim* sim, int32_t i);

static int32_t island_of_body(const mabd_variational_sim* sim, int32_t body) {
    return sim->body_island[body];
}
static int32_t island_of_acting(const mabd_variational_sim* sim, int32_t joint) {
    return acts(sim->model, joint) ? island_of_joint(sim, joint) : -1;
}

// Sort 0 .. n - 1 by island into list; first (islands + 1).
static void sort_by_island(const mabd_variational_sim* sim, int32_t n, island_of* of, int32_t* list,
                           int32_t* first) {
    memset(first, 0, ((size_t)sim->island_count + 1) * sizeof *first);
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = of(sim, i);
        if (k >= 0) first[k + 1]++;
    }
    for (int32_t k = 0; k < sim->island_count; k++) first[k + 1] += first[k];
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = of(sim, i);
        if (k >= 0) list[first[k]++] = i;
    }
    for (int32_t k = sim->island_count; k > 0; k--) first[k] = first[k - 1];
    first[0] = 0;
}

static void list_islands(mabd_variational_sim* sim, int32_t* first) {
    const mabd_model* m = sim->model;
    sort_by_island(sim, m->body_count, island_of_body, sim->bodies, first);
    for (int32_t k = 0; k < sim->island_count; k++) {
        sim->islands[k].first = k;
        sim->islands[k].bodies = sim->bodies + first[k];
        sim->islands[k].body_count = first[k + 1] - first[k];
        for (int32_t i = first[k]; i < first[k + 1]; i++) {
            sim->body_slot[sim->bodies[i]] = i - first[k];
        }
    }
    sort_by_island(sim, m->joint_count, island_of_acting, sim->joints, first);
    for (int32_t k = 0; k < sim->island_count; k++) {
        sim->islands[k].joints = sim->joints + first[k];
        sim->islands[k].joint_count = first[k + 1] - first[k];
    }
    sort_by_island(sim, sim->plan->component_count, island_of_component, sim->components, first);
    for (int32_t k = 0; k < sim->island_count; k++) {
        sim->islands[k].components = sim->components + first[k];
        sim->islands[k].component_count = first[k + 1] - first[k];
    }
    sort_by_island(sim, m->spring_count, island_of_spring, sim->springs, first);
    for (int32_t k = 0; k < sim->island_count; k++) {
        sim->islands[k].springs = sim->springs + first[k];
        sim->islands[k].spring_count = first[k + 1] - first[k];
    }
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_plan(mabd_variational_sim* sim) {
    const mabd_model* m = sim->model;
    const size_t bytes = mabd_bytes((size_t)m->joint_count, sizeof(int32_t));
    int32_t* width = mabd_alloc(&sim->allocator, bytes);
    if (!width) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        width[i] = acts(m, i) ? set->rigid_count + set->control_count : 0;
    }
    const mabd_status status = mabd_rigid_plan_build(&sim->allocator, m, width, &sim->plan);
    mabd_free(&sim->allocator, width, bytes);
    return status;
}

// State first, so that its bytes are known.
static size_t lay_out_state(mabd_variational_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count, rows = (size_t)sim->plan->row_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    TAKE(now, bodies);
    TAKE(axis, coordinates);
    TAKE(lambda, rows);
    TAKE(depth, (size_t)sim->island_count);
    mabd_rigid_inputs_lay_out(&sim->inputs, sim->model, arena);
    return arena->used;
}

static void lay_out_lists(mabd_variational_sim* sim, mabd_arena* arena) {
    const mabd_plan* plan = sim->plan;
    const size_t bodies = (size_t)sim->model->body_count;
    TAKE(islands, (size_t)sim->island_count);
    TAKE(reports, (size_t)sim->island_count);
    TAKE(bodies, bodies);
    TAKE(joints, (size_t)sim->model->joint_count);
    TAKE(components, (size_t)plan->component_count);
    TAKE(springs, (size_t)sim->model->spring_count);
    TAKE(body_island, bodies + 1);
    TAKE(body_slot, bodies);
    TAKE(body_script, bodies + 1);
    TAKE(body_force, bodies + 1);
    TAKE(reach, bodies);
    TAKE(ops, (size_t)plan->component_count);
    TAKE(solvers, (size_t)plan->component_count);
    TAKE(D, plan->slot_block[plan->slot_count]);
    TAKE(U, plan->edge_block[plan->edge_count]);
    mabd_rigid_inputs_number(&sim->inputs, arena);
}

static void lay_out_work(mabd_variational_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count, rows = (size_t)sim->plan->row_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    TAKE(next, bodies);
    TAKE(next_axis, coordinates);
    TAKE(next_lambda, rows);
    TAKE(motion, bodies);
    TAKE(rows, rows);
    TAKE(G, rows);
    TAKE(next_G, rows);
    TAKE(compliance, rows);
    TAKE(from, bodies + 1);
    TAKE(to, bodies + 1);
    TAKE(twist, bodies + 1);
    TAKE(load, bodies + 1);
    TAKE(impulse, rows);
    TAKE(base, rows);
    TAKE(change, rows);
    TAKE(b, rows);
    TAKE(work, 2 * rows);
    TAKE(input, sim->inputs.count);
    TAKE(mean_lambda, rows);
    TAKE(x0, coordinates);
    TAKE(x1, coordinates);
    TAKE(stability, bodies);
    TAKE(velocity, bodies + 1);
    TAKE(last_velocity, bodies + 1);
    TAKE(share, rows);
    TAKE(last_share, rows);
    TAKE(mean_force, coordinates);
}

static size_t lay_out(mabd_variational_sim* sim, mabd_arena* arena) {
    const size_t state = lay_out_state(sim, arena);
    lay_out_lists(sim, arena);
    lay_out_work(sim, arena);
    return state;
}

static void map_bodies(mabd_variational_sim* sim, const int32_t* island) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_script[i] = -1;
    for (int32_t i = 0; i < m->script_count; i++) sim->body_script[m->scripts[i].body] = i;
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_force[i] = mabd_model_first_force(m, i);
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_real sum = c->principal[0] + c->principal[1] + c->principal[2];
        sim->body_island[i] = island[i];
        sim->reach[i] = (mabd_real)sqrt(sum / (2 * c->material.mass));
    }
    sim->body_island[m->body_count] = -1;
    for (int32_t i = 0; i < m->spring_count; i++) {
        sim->damped_springs |= m->springs[i].damping > 0;
    }
}

// ---- solvers -----------------------------------------------------------------------------------

static mabd_status create_solvers(mabd_variational_sim* sim) {
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[i];
        const mabd_dual_system system = mabd_rigid_dual_system(sim->plan, i, sim->D, sim->U);
        const mabd_dual_ops* direct = mabd_rigid_direct_dual(c);
        const bool ask = sim->def.dual == MABD_DUAL_AUTO && mabd_rigid_may_be_too_large(c);
        const size_t bytes = ask ? direct->bytes_for(&sim->allocator, &system) : 0;
        const mabd_dual_ops* ops = mabd_rigid_select_dual(c, sim->def.dual, bytes);
        if (!ops) continue;
        MABD_TRY(ops->create(&sim->allocator, &system, &sim->solvers[i]));
        sim->ops[i] = ops;
        sim->solver_bytes += ops->bytes(sim->solvers[i]);
    }
    return MABD_OK;
}

// True if some body or axis of an island has what the frozen matrix leaves out: drag, laws.
static bool needs_exact(const mabd_variational_sim* sim, const mabd_variational_island* island) {
    bool needs = false;
    for (int32_t i = 0; i < island->body_count && !needs; i++) {
        needs = mabd_variational_class(sim, island->bodies[i])->material.drag > 0;
    }
    for (int32_t i = 0; i < island->joint_count && !needs; i++) {
        needs = mabd_variational_set(sim, island->joints[i])->laws;
    }
    return needs;
}

// True if contacts or bounds of axes need the exact matrix of an island.
static bool meets(const mabd_variational_sim* sim, const mabd_variational_island* island) {
    const mabd_variational_contacts* c = sim->contacts;
    if (c && c->bound_first[island->first] < c->bound_first[island->first + 1]) return true;
    for (int32_t i = 0; c && i < island->body_count; i++) {
        int32_t count;
        (void)mabd_model_colliders(sim->model, island->bodies[i], &count);
        if (count > 0) return true;
    }
    return false;
}

// Choose the matrix of each island: exact with cycles, whose rows may depend on each other and
// whose dead points the frozen one does not pass.
static mabd_status create_systems(mabd_variational_sim* sim) {
    for (int32_t k = 0; k < sim->island_count; k++) {
        mabd_variational_island* island = &sim->islands[k];
        for (int32_t i = 0; i < island->component_count; i++) {
            const mabd_plan_component* c = &sim->plan->components[island->components[i]];
            island->shifted |= mabd_rigid_may_be_redundant(c);
            island->has_rows |= c->slot_count > 0;
        }
        const mabd_newton newton = sim->def.variational.newton;
        island->exact = island->has_rows && (newton == MABD_NEWTON_EXACT || island->shifted);
        island->exact |= needs_exact(sim, island);
        island->exact &= newton != MABD_NEWTON_FROZEN;
        if (meets(sim, island)) {
            MABD_TRY(mabd_variational_give_system(sim, island));
            sim->solver_bytes += mabd_variational_system_bytes(island->system);
        }
        if (!island->exact || !island->has_rows) continue;
        if (!sim->exact) MABD_TRY(mabd_variational_exact_create(sim, &sim->exact));
        for (int32_t i = 0; i < island->component_count; i++) {
            const int32_t c = island->components[i];
            if (!sim->ops[c]) continue;
            MABD_TRY(mabd_variational_exact_add(sim, sim->exact, c));
        }
    }
    return MABD_OK;
}

mabd_status mabd_variational_prepare(mabd_variational_sim* sim) {
    const size_t n = 3 * (size_t)sim->model->body_count + 1;
    const size_t list = (size_t)sim->model->body_count + 2;
    const size_t bytes = mabd_bytes(n + list, sizeof(int32_t));
    mabd_arena arena = {0};
    MABD_TRY(build_plan(sim));
    int32_t* work = mabd_alloc(&sim->allocator, bytes);
    if (!work) return MABD_ERR_MEMORY;
    int32_t *root = work, *number = root + sim->model->body_count;
    int32_t *island = number + sim->model->body_count, *first = work + n;
    join_bodies(sim->model, root);
    sim->island_count = number_islands(sim->model, root, number, island);
    sim->state_bytes = lay_out(sim, &arena);
    mabd_status status = mabd_arena_allocate(&sim->allocator, &arena);
    if (status == MABD_OK) {
        lay_out(sim, &arena);
        sim->memory = arena.memory, sim->memory_size = arena.size;
        map_bodies(sim, island);
        list_islands(sim, first);
        status = create_solvers(sim);
        if (status == MABD_OK) status = mabd_variational_contacts_create(sim);
        if (status == MABD_OK) status = create_systems(sim);
    }
    mabd_free(&sim->allocator, work, bytes);
    if (status != MABD_OK) return status;
    return mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool);
}

void mabd_variational_release(mabd_variational_sim* sim) {
    mabd_pool_destroy(sim->pool);
    mabd_variational_contacts_destroy(sim->contacts);
    sim->contacts = NULL;
    for (int32_t i = 0; sim->memory && i < sim->plan->component_count; i++) {
        if (sim->ops[i]) sim->ops[i]->destroy(&sim->allocator, sim->solvers[i]);
    }
    for (int32_t i = 0; sim->memory && i < sim->island_count; i++) {
        mabd_variational_system_destroy(&sim->allocator, sim->islands[i].system);
    }
    mabd_variational_exact_destroy(sim, sim->exact);
    sim->exact = NULL;
    mabd_plan_destroy(sim->plan);
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    sim->memory = NULL, sim->plan = NULL, sim->pool = NULL;
}

void mabd_variational_memory(const mabd_variational_sim* sim, size_t* bytes) {
    bytes[MABD_MEMORY_STATE] = sim->state_bytes;
    bytes[MABD_MEMORY_WORKSPACE] = sim->memory_size - sim->state_bytes + mabd_bytes(1, sizeof *sim);
    bytes[MABD_MEMORY_CONTACTS] = mabd_variational_contacts_bytes(sim->contacts);
    bytes[MABD_MEMORY_DUAL] =
        sim->plan->bytes + sim->solver_bytes + mabd_variational_exact_bytes(sim->exact);
}
