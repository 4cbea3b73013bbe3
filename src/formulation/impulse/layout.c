// SPDX-License-Identifier: Apache-2.0
// Order of the sweeps and memory of a simulation in the impulse formulation: one arena, laid out
// twice.

#include "formulation/impulse/impulse_sim.h"

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

static bool is_ball(const mabd_row_set* set) {
    return set->rigid_count == 3 && set->rigid[0].kind == MABD_ROW_POINT &&
           mabd_impulse_block_width(set) == 3;
}

static void count_rows(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        const mabd_row_set* set = set_of(sim->model, i);
        if (!has_rows(sim->model, i)) continue;
        const int32_t width = mabd_impulse_block_width(set);
        sim->joint_count++;
        sim->row_count += width;
        sim->block_reals += width * width;
        if (!is_ball(set)) sim->jacobian_count += width;
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
    TAKE(body_force, bodies);
    TAKE(last_lines, bodies);
    TAKE(last_q, bodies);
    TAKE(last_c, bodies);
    TAKE(last_x, 2 * (size_t)m->coordinate_count);
    TAKE(last_lambda, rows);
    TAKE(last_axis_impulse, axes);
    TAKE(poses, bodies);
    TAKE(inertia, bodies);
    TAKE(spin, bodies);
    TAKE(shift, bodies);
    TAKE(load, bodies);
    TAKE(arms, joints);
    TAKE(J, (size_t)sim->jacobian_count);
    TAKE(L, (size_t)sim->block_reals);
    TAKE(bias, rows);
    TAKE(hold, rows);
    TAKE(give, rows);
    TAKE(axes, axes);
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

/// Arrays of mabd_impulse_prepare, by joint with rows.
typedef struct order_work {
    int32_t *model, *a, *b, *key, *order; // (joints)
    uint32_t* taken;                      // (bodies)
} order_work;

static void take_work(const mabd_impulse_sim* sim, order_work* w, mabd_arena* arena) {
    const size_t n = (size_t)sim->joint_count;
    int32_t** arrays[] = {&w->model, &w->a, &w->b, &w->key, &w->order};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = mabd_arena_take(arena, n, sizeof(int32_t));
    }
    w->taken = mabd_arena_take(arena, (size_t)sim->model->body_count, sizeof *w->taken);
}

// Write the order of the joints with rows to w->order, and sim->first.
static void sort_joints(mabd_impulse_sim* sim, order_work* w) {
    const mabd_model* m = sim->model;
    int32_t n = 0;
    for (int32_t i = 0; i < m->joint_count; i++) {
        sim->joint_place[i] = -1;
        if (!has_rows(m, i)) continue;
        const mabd_model_joint* own = &m->joints[i];
        w->model[n] = i;
        w->a[n] = moves(m, own->a) ? own->a : -1;
        w->b[n++] = moves(m, own->b) ? own->b : -1;
    }
    mabd_color_edges(n, w->a, w->b, m->body_count, w->taken, w->key);
    for (int32_t i = 0; i < n; i++) {
        const int32_t color = w->key[i];
        w->key[i] = 2 * color;
        if (color < MABD_COLOR_MOST && !is_ball(set_of(m, w->model[i]))) w->key[i]++;
        if (color >= sim->colors) sim->colors = color + 1;
    }
    mabd_color_sort(n, w->key, MABD_IMPULSE_KEYS, sim->first, w->order);
}

static void number_joints(mabd_impulse_sim* sim, const order_work* w) {
    mabd_impulse_joint next = {0};
    int32_t jacobian = 0;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const int32_t joint = w->model[w->order[i]];
        const mabd_model_joint* own = &sim->model->joints[joint];
        const mabd_row_set* set = set_of(sim->model, joint);
        next.a = own->a, next.b = own->b, next.joint = joint;
        next.width = mabd_impulse_block_width(set);
        next.axis_count = mabd_impulse_axis_rows(set);
        next.jacobian = is_ball(set) ? -1 : jacobian;
        next.firm = next.width > set->rigid_count;
        int32_t turns = 0;
        for (int32_t r = 0; r < set->rigid_count; r++) {
            turns += set->rigid[r].kind == MABD_ROW_CROSS;
        }
        next.locked = turns == 3;
        sim->joints[i] = next;
        sim->joint_place[joint] = i;
        next.row += next.width, next.axis += next.axis_count;
        next.block += next.width * next.width;
        if (next.jacobian >= 0) jacobian += next.width;
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

static mabd_status set_order(mabd_impulse_sim* sim) {
    order_work work;
    mabd_arena arena = {0};
    take_work(sim, &work, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    take_work(sim, &work, &arena);
    sort_joints(sim, &work);
    number_joints(sim, &work);
    mabd_free(&sim->allocator, arena.memory, arena.size);
    return MABD_OK;
}

mabd_status mabd_impulse_prepare(mabd_impulse_sim* sim) {
    count_rows(sim);
    MABD_TRY(take_memory(sim));
    map_bodies(sim);
    MABD_TRY(set_order(sim));
    mabd_impulse_number_axes(sim);
    return mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool);
}

void mabd_impulse_release(mabd_impulse_sim* sim) {
    mabd_pool_destroy(sim->pool);
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    sim->memory = NULL;
}
