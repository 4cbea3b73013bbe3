// SPDX-License-Identifier: Apache-2.0
// Order of the sweeps and memory of a simulation in the impulse formulation: one arena, laid out
// twice.

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_direct.h"

#include <string.h>

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (n), sizeof *sim->field)

static const mabd_row_set* set_of(const mabd_model* m, int32_t joint) {
    return &m->row_sets[m->joints[joint].row_set];
}

static bool moves(const mabd_model* m, int32_t body) {
    return m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// Joints whose rows move some body.
static bool has_rows(const mabd_model* m, int32_t joint) {
    const mabd_model_joint* own = &m->joints[joint];
    const mabd_row_set* set = set_of(m, joint);
    if (!moves(m, own->a) && !moves(m, own->b)) return false;
    return mabd_impulse_block_width(set) + mabd_impulse_axis_rows(set) > 0;
}

static void count_rows(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        const mabd_row_set* set = set_of(sim->model, i);
        if (!has_rows(sim->model, i)) continue;
        const int32_t width = mabd_impulse_block_width(set);
        sim->joint_count++;
        sim->row_count += width;
        sim->axis_count += mabd_impulse_axis_rows(set);
    }
}

// ---- memory ------------------------------------------------------------------------------------

static size_t lay_out_state(mabd_impulse_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count + 1;
    TAKE(lines, bodies);
    TAKE(q, bodies);
    TAKE(c, bodies);
    TAKE(x, 2 * (size_t)sim->model->coordinate_count);
    TAKE(lambda, (size_t)sim->row_count);
    TAKE(axis_impulse, (size_t)sim->axis_count);
    mabd_rigid_inputs_lay_out(&sim->inputs, sim->model, arena);
    return arena->used;
}

static size_t lay_out(mabd_impulse_sim* sim, mabd_arena* arena) {
    const mabd_model* m = sim->model;
    const size_t bodies = (size_t)m->body_count + 1, joints = (size_t)sim->joint_count;
    const size_t rows = (size_t)sim->row_count, axes = (size_t)sim->axis_count;
    const size_t state = lay_out_state(sim, arena);
    mabd_rigid_inputs_number(&sim->inputs, arena);
    TAKE(joints, joints);
    TAKE(joint_place, (size_t)m->joint_count);
    TAKE(body_script, bodies);
    TAKE(moving, MABD_LANES * (size_t)sim->pack_count);
    TAKE(round, (size_t)sim->pack_count);
    TAKE(made, 8 * bodies);
    TAKE(body_force, bodies);
    TAKE(last_lines, bodies);
    TAKE(last_q, bodies);
    TAKE(last_c, bodies);
    TAKE(last_x, 2 * (size_t)m->coordinate_count);
    TAKE(last_lambda, rows);
    TAKE(last_axis_impulse, axes);
    TAKE(poses, bodies);
    TAKE(begin_lines, bodies);
    TAKE(inertia, bodies);
    TAKE(spin, bodies);
    TAKE(shift, bodies);
    TAKE(load, bodies);
    TAKE(axes, axes);
    TAKE(stability, bodies);
    TAKE(carried, bodies);
    TAKE(carriers, bodies);
    TAKE(axis_work, (size_t)m->coordinate_count);
    return state;
}

static mabd_status take_memory(mabd_impulse_sim* sim) {
    mabd_arena arena = {0};
    sim->state_bytes = lay_out(sim, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    sim->memory = arena.memory, sim->memory_size = arena.size;
    lay_out(sim, &arena);
    return MABD_OK;
}

// ---- order -------------------------------------------------------------------------------------

static void number_joints(mabd_impulse_sim* sim) {
    mabd_impulse_joint next = {0};
    for (int32_t i = 0, place = 0; i < sim->model->joint_count; i++) {
        const mabd_model_joint* own = &sim->model->joints[i];
        const mabd_row_set* set = set_of(sim->model, i);
        sim->joint_place[i] = -1;
        if (!has_rows(sim->model, i)) continue;
        next.a = own->a, next.b = own->b, next.joint = i;
        next.width = mabd_impulse_block_width(set);
        next.axis_count = mabd_impulse_axis_rows(set);
        next.firm = next.width > set->rigid_count;
        sim->firm |= next.firm;
        int32_t turns = 0;
        for (int32_t r = 0; r < set->rigid_count; r++) {
            turns += set->rigid[r].kind == MABD_ROW_CROSS;
        }
        next.locked = turns == 3;
        sim->joint_place[i] = place;
        sim->joints[place++] = next;
        next.row += next.width, next.axis += next.axis_count;
    }
}

static void map_bodies(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_script[i] = -1;
    for (int32_t i = 0; i < m->script_count; i++) sim->body_script[m->scripts[i].body] = i;
    for (int32_t i = 0, at = 0; i <= m->body_count; i++) { // forces are sorted by body
        while (at < m->force_count && m->forces[at].body < i) at++;
        sim->body_force[i] = at;
    }
}

static void count_packs(mabd_impulse_sim* sim) {
    int32_t n = 0;
    for (int32_t i = 0; i < sim->model->body_count; i++) n += moves(sim->model, i);
    sim->pack_count = (n + MABD_LANES - 1) / MABD_LANES;
}

// Packs of the bodies that move by forces; the last body fills the last pack.
static void pack_bodies(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    int32_t n = 0;
    for (int32_t k = 0; k < sim->pack_count; k++) sim->round[k] = true;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!moves(m, i)) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_real *I = c->principal, made[] = {c->material.mass, c->material.drag};
        memcpy(sim->made + 8 * (size_t)i, made, sizeof made);
        memcpy(sim->made + 8 * (size_t)i + 2, I, 3 * sizeof *I);
        sim->round[n / MABD_LANES] &= I[0] == I[1] && I[1] == I[2];
        sim->moving[n++] = i;
    }
    for (int32_t k = n; k < MABD_LANES * sim->pack_count; k++) sim->moving[k] = sim->moving[n - 1];
}

mabd_status mabd_impulse_prepare(mabd_impulse_sim* sim) {
    count_rows(sim);
    count_packs(sim);
    sim->lanes = mabd_impulse_lanes_of(mabd_isa_count() - 1);
    MABD_TRY(take_memory(sim));
    map_bodies(sim);
    pack_bodies(sim);
    number_joints(sim);
    mabd_impulse_number_axes(sim);
    MABD_TRY(mabd_impulse_contacts_create(sim->model, &sim->allocator, &sim->contacts));
    MABD_TRY(mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool));
    if (sim->def.impulse.joints == MABD_IMPULSE_JOINTS_DIRECT) {
        return mabd_impulse_direct_create(sim);
    }
    return mabd_impulse_blocks_create(sim);
}

void mabd_impulse_release(mabd_impulse_sim* sim) {
    mabd_impulse_blocks_destroy(sim);
    mabd_impulse_direct_destroy(sim);
    mabd_pool_destroy(sim->pool);
    mabd_impulse_contacts_destroy(sim->contacts);
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    sim->memory = NULL;
}
