// SPDX-License-Identifier: Apache-2.0
// Memory of a simulation in the quaternion formulation: one arena, laid out twice, and one factor
// per part.

#include "formulation/quaternion/quaternion_layout.h"

#include "formulation/quaternion/body_graph.h"
#include "formulation/quaternion/constrained.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/pattern.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/symmetric.h"

#include <string.h>

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (n), sizeof *sim->field)

static void take_node(mabd_quaternion_node* node, size_t bodies, size_t coordinates,
                      mabd_arena* arena) {
    node->body = mabd_arena_take(arena, bodies * MABD_NODE_REALS, sizeof *node->body);
    node->x = mabd_arena_take(arena, 2 * coordinates, sizeof *node->x);
}

// State first, so that its bytes are known.
static size_t lay_out_state(mabd_quaternion_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count, rows = (size_t)sim->row_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    take_node(&sim->now, bodies, coordinates, arena);
    take_node(&sim->last, bodies, coordinates, arena);
    take_node(&sim->slope, bodies, coordinates, arena);
    TAKE(lambda, rows);
    TAKE(dropped, rows);
    mabd_rigid_inputs_lay_out(&sim->inputs, sim->model, arena);
    TAKE(branch, coordinates);
    return arena->used;
}

static void lay_out_pattern(mabd_quaternion_sim* sim, const mabd_quaternion_counts* n,
                            mabd_arena* arena) {
    const size_t all = (size_t)sim->model->body_count, joints = (size_t)n->joints;
    const size_t slots = (size_t)n->bodies + joints, edges = 3 * joints;
    TAKE(parts, (size_t)n->parts);
    TAKE(reports, (size_t)n->parts);
    TAKE(joints, joints);
    TAKE(bodies, (size_t)n->bodies);
    TAKE(joint_place, (size_t)sim->model->joint_count);
    TAKE(body_slot, all + 1);
    TAKE(body_script, all + 1);
    TAKE(body_force, all + 1);
    mabd_rigid_inputs_number(&sim->inputs, arena);
    TAKE(width, slots);
    TAKE(slot_row, slots);
    TAKE(order, slots);
    TAKE(late, slots);
    TAKE(slot_block, slots);
    TAKE(edge_from, edges);
    TAKE(edge_to, edges);
    TAKE(edge_block, edges);
    TAKE(D, n->diagonal_reals);
    TAKE(U, n->edge_reals);
    TAKE(lower, n->edge_reals);
}

static void lay_out_work(mabd_quaternion_sim* sim, const mabd_quaternion_counts* n,
                         mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count, rows = (size_t)n->rows;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    const size_t unknowns = 6 * (size_t)n->bodies + rows;
    mabd_quaternion_node* nodes[] = {&sim->base, &sim->stage, &sim->past, &sim->next,
                                     &sim->next_slope};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        take_node(nodes[i], bodies, coordinates, arena);
    }
    TAKE(next_lambda, rows);
    TAKE(last_dropped, rows);
    TAKE(stage_lambda, rows);
    TAKE(start_lambda, rows);
    TAKE(mean_lambda, rows);
    TAKE(stage_branch, coordinates);
    TAKE(pose, 7 * bodies);
    TAKE(trial, 7 * bodies);
    TAKE(y, unknowns);
    TAKE(rhs, unknowns);
    TAKE(rest, unknowns);
    TAKE(residual, unknowns);
    TAKE(multiplier, rows);
    TAKE(trial_multiplier, rows);
    TAKE(row_x, rows);
    TAKE(input, sim->inputs.count);
    TAKE(force_lambda, rows);
    TAKE(axes, coordinates);
}

static size_t lay_out(mabd_quaternion_sim* sim, const mabd_quaternion_counts* n,
                      mabd_arena* arena) {
    const size_t state = lay_out_state(sim, arena);
    lay_out_pattern(sim, n, arena);
    lay_out_work(sim, n, arena);
    return state;
}

static mabd_status take_memory(mabd_quaternion_sim* sim, const mabd_quaternion_counts* n) {
    mabd_arena arena = {0};
    sim->part_count = n->parts, sim->body_count = n->bodies, sim->joint_count = n->joints;
    sim->row_count = n->rows;
    sim->unknown_count = 6 * (size_t)n->bodies + (size_t)n->rows;
    sim->diagonal_reals = n->diagonal_reals, sim->edge_reals = n->edge_reals;
    sim->state_bytes = lay_out(sim, n, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    lay_out(sim, n, &arena);
    sim->memory = arena.memory, sim->memory_size = arena.size;
    return MABD_OK;
}

static void map_bodies(mabd_quaternion_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_script[i] = -1;
    for (int32_t i = 0; i < m->script_count; i++) sim->body_script[m->scripts[i].body] = i;
    for (int32_t i = 0, at = 0; i <= m->body_count; i++) { // forces are sorted by body
        while (at < m->force_count && m->forces[at].body < i) at++;
        sim->body_force[i] = at;
    }
}

mabd_dual_lu_system mabd_quaternion_system(const mabd_quaternion_sim* sim,
                                           const mabd_quaternion_part* part) {
    const mabd_dual_system blocks = {
        .slot_count = part->slot_count,
        .edge_count = part->edge_count,
        .row_count = 6 * part->body_count + part->row_count,
        .width = sim->width + part->slot_first,
        .row = sim->slot_row + part->slot_first,
        .block = sim->slot_block + part->slot_first,
        .from = sim->edge_from + part->edge_first,
        .to = sim->edge_to + part->edge_first,
        .edge_block = sim->edge_block + part->edge_first,
        .D = sim->D,
        .U = sim->U,
    };
    return (mabd_dual_lu_system){.blocks = blocks, .lower = sim->lower};
}

// Replace the factor of a part by one in an order (null: the cheapest one; late: in which joints
// follow a body).
static mabd_status create_factor(mabd_quaternion_sim* sim, mabd_quaternion_part* part,
                                 const int32_t* order, bool late) {
    mabd_dual_lu_system system = mabd_quaternion_system(sim, part);
    if (late) system.blocks.late = sim->late + part->slot_first;
    if (part->lu) {
        sim->lu_bytes -= mabd_dual_lu_bytes(part->lu);
        mabd_dual_lu_destroy(&sim->allocator, part->lu);
        part->lu = NULL;
    }
    MABD_TRY(mabd_dual_lu_create(&sim->allocator, &system, order, &part->lu));
    sim->lu_bytes += mabd_dual_lu_bytes(part->lu);
    return MABD_OK;
}

// Create what a part needs besides its factor: the graph of its bodies, for multipliers of
// redundant rows or if its rows may determine its poses, and the analysis of rows left out.
static mabd_status create_extras(mabd_quaternion_sim* sim, mabd_quaternion_part* part) {
    const mabd_quaternion_def* def = &sim->def.quaternion;
    const bool constrained =
        def->solver != MABD_SOLVER_GENERAL && mabd_quaternion_may_be_constrained(sim, part);
    const bool least = part->redundant && def->multipliers == MABD_MULTIPLIERS_LEAST_NORM;
    if (constrained || least) {
        MABD_TRY(mabd_body_graph_create(sim, part, &part->graph));
    }
    if (part->redundant && def->redundancy == MABD_REDUNDANCY_ELIMINATE) {
        MABD_TRY(mabd_elimination_create(sim, part, true, &part->elimination));
    }
    sim->lu_bytes += mabd_body_graph_bytes(part->graph) + mabd_elimination_bytes(part->elimination);
    return MABD_OK;
}

// Create the factors, unless the symmetric Newton has its own: in an order without fill if there is
// one; else in one where joints follow their bodies; if rows are redundant, in the cheapest one,
// whose pivots may be those of the shift.
static mabd_status create_factors(mabd_quaternion_sim* sim, int32_t* work, bool* done) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_part* part = &sim->parts[p];
        int32_t* order = sim->order + part->slot_first;
        const bool tree = sim->dual || mabd_quaternion_leaf_order(sim, part, work, done, order);
        if (!sim->dual) MABD_TRY(create_factor(sim, part, tree ? order : NULL, true));
        mabd_quaternion_judge_rows(sim, p);
        if (part->redundant && !tree) MABD_TRY(create_factor(sim, part, NULL, false));
        MABD_TRY(create_extras(sim, part));
    }
    return MABD_OK;
}

mabd_status mabd_quaternion_prepare(mabd_quaternion_sim* sim) {
    const mabd_model* m = sim->model;
    const size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
    const size_t work_bytes = mabd_bytes(5 * bodies + 3 * joints + 1, sizeof(int32_t));
    const size_t done_bytes = mabd_bytes(joints + 1, sizeof(bool));
    int32_t* work = mabd_alloc(&sim->allocator, work_bytes);
    bool* done = mabd_alloc(&sim->allocator, done_bytes);
    mabd_status status = work && done ? MABD_OK : MABD_ERR_MEMORY;
    if (status == MABD_OK) {
        const mabd_quaternion_counts n = mabd_quaternion_count(m, work);
        status = take_memory(sim, &n);
    }
    if (status == MABD_OK) {
        map_bodies(sim);
        mabd_quaternion_fill_pattern(sim, work, work + bodies);
        mabd_quaternion_mark_laws(sim);
        mabd_quaternion_place_bodies(sim);
        const bool dual = sim->def.quaternion.newton == MABD_NEWTON_SYMMETRIC;
        if (dual) status = mabd_quaternion_dual_create(sim);
        if (status == MABD_OK) status = create_factors(sim, work, done);
    }
    if (status == MABD_OK) status = mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool);
    mabd_free(&sim->allocator, work, work_bytes);
    mabd_free(&sim->allocator, done, done_bytes);
    return status;
}

void mabd_quaternion_release(mabd_quaternion_sim* sim) {
    mabd_pool_destroy(sim->pool);
    mabd_quaternion_dual_destroy(sim);
    for (int32_t p = 0; sim->memory && p < sim->part_count; p++) {
        mabd_dual_lu_destroy(&sim->allocator, sim->parts[p].lu);
        mabd_body_graph_destroy(&sim->allocator, sim->parts[p].graph);
        mabd_elimination_destroy(&sim->allocator, sim->parts[p].elimination);
    }
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    sim->memory = NULL;
}

void mabd_quaternion_memory(const mabd_quaternion_sim* sim, size_t* bytes) {
    bytes[MABD_MEMORY_STATE] = sim->state_bytes;
    bytes[MABD_MEMORY_WORKSPACE] = sim->memory_size - sim->state_bytes + mabd_bytes(1, sizeof *sim);
    bytes[MABD_MEMORY_CONTACTS] = 0;
    bytes[MABD_MEMORY_DUAL] = sim->lu_bytes + mabd_quaternion_dual_bytes(sim);
}
