// SPDX-License-Identifier: Apache-2.0
// Memory of a simulation in the redmax formulation: one arena, laid out twice.

#include "formulation/redmax/redmax_sim.h"

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_tree.h"

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (n), sizeof *sim->field)

static void take_node(mabd_redmax_node* node, const mabd_redmax_counts* n, mabd_arena* arena) {
    node->q = mabd_arena_take(arena, (size_t)n->freedoms, sizeof *node->q);
    node->v = mabd_arena_take(arena, (size_t)n->freedoms, sizeof *node->v);
    node->turn = mabd_arena_take(arena, 4 * (size_t)n->balls, sizeof *node->turn);
    node->theta = mabd_arena_take(arena, 3 * (size_t)n->balls, sizeof *node->theta);
    node->chart = mabd_arena_take(arena, (size_t)n->balls, sizeof *node->chart);
}

static void lay_out_state(mabd_redmax_sim* sim, const mabd_redmax_counts* n, mabd_arena* arena) {
    take_node(&sim->now, n, arena);
    take_node(&sim->last, n, arena);
    TAKE(wrench, 6 * (size_t)n->links);
    TAKE(branch, (size_t)n->laws);
    TAKE(loops.lambda, (size_t)n->rows);
    mabd_rigid_inputs_lay_out(&sim->inputs, sim->model, arena);
}

static void lay_out_tree(mabd_redmax_sim* sim, const mabd_redmax_counts* n, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count;
    const size_t joints = (size_t)sim->model->joint_count;
    TAKE(parts, (size_t)n->parts);
    TAKE(reports, (size_t)n->parts);
    TAKE(pack_parts, (size_t)n->parts);
    TAKE(links, (size_t)n->links);
    TAKE(freedoms, (size_t)n->freedoms);
    TAKE(laws, (size_t)n->laws);
    TAKE(body_link, bodies + 1);
    TAKE(body_script, bodies + 1);
    TAKE(body_force, bodies + 1);
    TAKE(joint_link, joints);
    mabd_rigid_inputs_number(&sim->inputs, arena);
}

static void lay_out_work(mabd_redmax_sim* sim, const mabd_redmax_counts* n, mabd_arena* arena) {
    const size_t freedoms = (size_t)n->freedoms, links = (size_t)n->links;
    const bool rk45 = sim->def.integrator == MABD_INTEGRATOR_RK45;
    mabd_real** vectors[] = {
        &sim->q,           &sim->v,          &sim->a,           &sim->q_b,   &sim->v_b,
        &sim->q_m,         &sim->v_m,        &sim->trial,       &sim->step,  &sim->r,
        &sim->rows,        &sim->weight,     &sim->force,       &sim->motor, &sim->guard_force,
        &sim->guard_motor, &sim->mean_force, &sim->stage_force, &sim->u,     &sim->stiff,
        &sim->reaction,    &sim->stage_q,    &sim->end_q};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = mabd_arena_take(arena, freedoms, sizeof **vectors[i]);
    }
    TAKE(mean_friction, freedoms);
    TAKE(stage_friction, freedoms);
    take_node(&sim->next, n, arena);
    take_node(&sim->base, n, arena);
    TAKE(before, (size_t)sim->model->body_count);
    TAKE(rk, rk45 ? 14 * freedoms : 0);
    TAKE(stage_branch, (size_t)n->laws);
    TAKE(base_branch, (size_t)n->laws);
    TAKE(start_q, n->charts > 0 ? freedoms : 0);
    TAKE(start_v, n->charts > 0 ? freedoms : 0);
    TAKE(start_chart, n->charts > 0 ? (size_t)n->balls : 0);
    TAKE(balls, (size_t)n->balls);
    TAKE(paths, (size_t)n->paths);
    TAKE(E, links);
    TAKE(world, links);
    TAKE(V, links);
    TAKE(A, links);
    TAKE(F, links);
    TAKE(XV, links);
    TAKE(XA, links);
    TAKE(Sv, links);
    TAKE(S, freedoms);
    TAKE(left, sim->model->pins ? freedoms : 0);
    TAKE(lean, links);
    TAKE(lean_chart, MABD_LEAN_CHART * (size_t)n->balls);
    TAKE(base_force, freedoms);
    TAKE(lean_law, MABD_LEAN_LAW * freedoms);
    TAKE(push, sim->model->contact.enabled ? links : 0);
    TAKE(contact_wrench, sim->model->contact.enabled ? links : 0);
    TAKE(contact_r, sim->model->contact.enabled ? freedoms : 0);
    TAKE(contact_rows, sim->model->contact.enabled ? freedoms : 0);
    TAKE(contact_way, sim->model->contact.enabled ? freedoms : 0);
    TAKE(contact_solves, sim->model->contact.enabled ? (size_t)n->parts : 0);
    TAKE(contact_poses, sim->model->contact.enabled ? (size_t)n->parts : 0);
    mabd_redmax_lay_out_loops(&sim->loops, n, arena);
    mabd_redmax_lay_out_springs(sim, n, arena);
}

static void lay_out_factor(mabd_redmax_sim* sim, const mabd_redmax_counts* n, mabd_arena* arena) {
    const size_t freedoms = (size_t)n->freedoms, links = (size_t)n->links;
    TAKE(up, MABD_VARIATION * links);
    TAKE(x, MABD_VARIATION * links);
    TAKE(defect, MABD_VARIATION * links);
    TAKE(lift, 6 * links);
    TAKE(G, freedoms);
    TAKE(B, MABD_VARIATION * freedoms);
    TAKE(K, MABD_VARIATION * freedoms);
    TAKE(D, 3 * freedoms);
    TAKE(pivot, freedoms);
    TAKE(lean_upper, freedoms);
}

static void lay_out(mabd_redmax_sim* sim, const mabd_redmax_counts* n, mabd_arena* arena) {
    lay_out_state(sim, n, arena);
    sim->state_bytes = arena->used;
    lay_out_tree(sim, n, arena);
    lay_out_work(sim, n, arena);
    sim->factor_bytes = arena->used;
    lay_out_factor(sim, n, arena);
    sim->factor_bytes = arena->used - sim->factor_bytes;
}

static mabd_status build(mabd_redmax_sim* sim, const mabd_joint_tree* graph) {
    const mabd_redmax_counts n = mabd_redmax_count(sim->model, graph);
    mabd_arena arena = {0};
    sim->part_count = n.parts, sim->link_count = n.links, sim->freedom_count = n.freedoms;
    sim->ball_count = n.balls, sim->path_count = n.paths, sim->law_count = n.laws;
    lay_out(sim, &n, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    lay_out(sim, &n, &arena);
    sim->memory = arena.memory, sim->memory_size = arena.size;
    mabd_redmax_fill(sim, graph);
    MABD_TRY(mabd_redmax_lean_create(sim));
    MABD_TRY(mabd_redmax_bundles_create(sim, MABD_REDMAX_DENSE_BORDERS));
    MABD_TRY(mabd_redmax_contacts_create(sim->model, sim->def.h, sim->part_count, &sim->allocator,
                                         &sim->contacts));
    sim->whole_h = sim->def.h;
    if (sim->contacts) {
        sim->kept_bytes = mabd_redmax_state_size(sim);
        sim->kept_state = mabd_alloc(&sim->allocator, sim->kept_bytes);
        if (!sim->kept_state) return MABD_ERR_MEMORY;
    }
    return mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool);
}

mabd_status mabd_redmax_prepare(mabd_redmax_sim* sim) {
    mabd_joint_tree graph;
    MABD_TRY(mabd_joint_tree_init(&sim->allocator, sim->model, &graph));
    mabd_redmax_count_springs(sim->model, &graph.tree);
    const mabd_status status = build(sim, &graph);
    mabd_joint_tree_free(&sim->allocator, &graph);
    return status;
}

void mabd_redmax_release(mabd_redmax_sim* sim) {
    mabd_pool_destroy(sim->pool);
    mabd_redmax_contacts_destroy(sim->contacts);
    sim->contacts = NULL;
    mabd_free(&sim->allocator, sim->kept_state, sim->kept_bytes);
    sim->kept_state = NULL;
    mabd_redmax_bundles_destroy(sim);
    mabd_redmax_lean_destroy(sim);
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    sim->memory = NULL;
}

void mabd_redmax_memory(const mabd_redmax_sim* sim, size_t* bytes) {
    bytes[MABD_MEMORY_STATE] = sim->state_bytes;
    bytes[MABD_MEMORY_WORKSPACE] =
        sim->memory_size - sim->state_bytes - sim->factor_bytes + mabd_bytes(1, sizeof *sim);
    bytes[MABD_MEMORY_CONTACTS] =
        mabd_redmax_contacts_bytes(sim->contacts) + mabd_bytes(sim->kept_bytes, 1);
    bytes[MABD_MEMORY_DUAL] =
        sim->factor_bytes + mabd_redmax_lean_bytes(sim) + mabd_redmax_bundles_bytes(sim);
}
