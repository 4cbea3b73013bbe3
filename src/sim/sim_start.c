// SPDX-License-Identifier: Apache-2.0
// Start states: that of the model, before a formulation is created, and those that a program sets.
// All formulations get states that the joints allow (rigid/start.h).

#include "sim/sim_start.h"

#include "base/error.h"
#include "math/quat.h"
#include "rigid/start.h"

#include <math.h>
#include <string.h>

// ---- the start of a simulation -----------------------------------------------------------------

static mabd_rigid_start start_of(const mabd_sim* sim) {
    const mabd_rigid_start start = {.model = sim->model,
                                    .allocator = &sim->allocator,
                                    .time = mabd_sim_time(sim),
                                    .step = sim->steps,
                                    .threads = sim->def.threads,
                                    .close = sim->model->close_joints,
                                    .exact = sim->ops->exact_start};
    return start;
}

mabd_status mabd_sim_start(mabd_sim* sim, mabd_warnings* warnings, mabd_error* error) {
    mabd_rigid_start start = start_of(sim);
    start.state = sim->model->start;
    start.pose = true;
    const mabd_status status = mabd_rigid_start_settle(&start, warnings, error);
    sim->start = start.result;
    return status;
}

void mabd_sim_start_end(mabd_sim* sim) {
    mabd_rigid_start_free(sim->model, &sim->allocator, sim->start);
    sim->start = NULL;
}

size_t mabd_sim_start_bytes(const mabd_sim* sim) {
    return sim->start ? mabd_rigid_start_bytes(sim->model) : 0;
}

// ---- states that are set -----------------------------------------------------------------------

/// Arrays of a state in user frames; null = unchanged.
typedef struct user_state {
    const mabd_real *positions, *quaternions, *velocities, *angular;
} user_state;

/// Memory of one call.
typedef struct state_work {
    mabd_arena arena;
    mabd_real *x, *q, *v, *w;     // of the current state, as mabd_sim_get_state writes them
    mabd_model_start *now, *next; // (bodies)
    mabd_real *near, *targets;    // (coordinates)
} state_work;

static void lay_out(const mabd_model* m, state_work* w) {
    const size_t n = (size_t)m->body_count, k = (size_t)m->coordinate_count;
    w->x = mabd_arena_take(&w->arena, 3 * n, sizeof *w->x);
    w->q = mabd_arena_take(&w->arena, 4 * n, sizeof *w->q);
    w->v = mabd_arena_take(&w->arena, 3 * n, sizeof *w->v);
    w->w = mabd_arena_take(&w->arena, 3 * n, sizeof *w->w);
    w->now = mabd_arena_take(&w->arena, n, sizeof *w->now);
    w->next = mabd_arena_take(&w->arena, n, sizeof *w->next);
    w->near = mabd_arena_take(&w->arena, k, sizeof *w->near);
    w->targets = mabd_arena_take(&w->arena, k, sizeof *w->targets);
}

static bool is_finite(const mabd_real* values, size_t at, int count) {
    bool finite = true;
    for (int k = 0; values && k < count; k++) {
        finite &= isfinite(values[at * (size_t)count + (size_t)k]) != 0;
    }
    return finite;
}

// The part of a state that is not a number or no rotation; null = all is good.
static const char* find_bad(const user_state* user, size_t i) {
    if (!is_finite(user->positions, i, 3)) return "position is not finite, that";
    if (!is_finite(user->quaternions, i, 4) ||
        (user->quaternions && !(mabd_q_norm(mabd_q_load(user->quaternions + 4 * i)) > 0))) {
        return "quaternion is no rotation, that";
    }
    if (!is_finite(user->velocities, i, 3)) return "velocity is not finite, that";
    if (!is_finite(user->angular, i, 3)) return "angular velocity is not finite, that";
    return NULL;
}

static void copy_body(const user_state* from, size_t i, mabd_model_start* to) {
    if (from->positions) memcpy(to->position, from->positions + 3 * i, sizeof to->position);
    if (from->quaternions) memcpy(to->rotation, from->quaternions + 4 * i, sizeof to->rotation);
    if (from->velocities) memcpy(to->velocity, from->velocities + 3 * i, sizeof to->velocity);
    if (from->angular) {
        memcpy(to->angular_velocity, from->angular + 3 * i, sizeof to->angular_velocity);
    }
}

// Read the current state, and write the state to set.
static mabd_status place_bodies(const mabd_sim* sim, const user_state* user, state_work* w,
                                mabd_error* error) {
    const user_state current = {w->x, w->q, w->v, w->w};
    sim->ops->get_state(sim->self, w->x, w->q, w->v, w->w);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_model_start* next = &w->next[i];
        copy_body(&current, (size_t)i, &w->now[i]);
        *next = w->now[i];
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const char* bad = find_bad(user, (size_t)i);
        if (bad) {
            char label[160];
            return mabd_fail_at(error, MABD_ERR_INPUT, i, -1, 0, "set_state: the %s of %s", bad,
                                mabd_model_body_label(sim->model, i, label, sizeof label));
        }
        copy_body(user, (size_t)i, next);
        if (user->quaternions) {
            mabd_q_store(mabd_q_normalize(mabd_q_load(next->rotation)), next->rotation);
        }
    }
    return MABD_OK;
}

// Read the coordinates of axes with stops.
static void read_coordinates(const mabd_sim* sim, mabd_real* near) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; m->laws && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        mabd_real x[MABD_AXIS_COUNT];
        if (!set->laws || joint->coordinate < 0) continue;
        sim->ops->get_joint_coordinates(sim->self, i, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_row* row = &set->control_row[r];
            const int first = row->kind == MABD_ROW_SLIDE ? MABD_AXIS_TX : MABD_AXIS_RX;
            near[joint->coordinate + r] = x[first + row->axis];
        }
    }
}

// Read the targets that a program has set; NaN for others.
static void read_targets(const mabd_sim* sim, mabd_real* targets) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->coordinate_count; i++) targets[i] = (mabd_real)NAN;
    for (int32_t copy = 0; sim->ops->get_target && copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++) {
            const mabd_copy_control* own = &m->controls[k];
            const mabd_model_joint* joint = &m->joints[copy * m->copy_joints + own->joint];
            mabd_real target;
            if (own->kind == MABD_CONTROL_FORCE) continue;
            if (!sim->ops->get_target(sim->self, copy, k, &target)) continue;
            targets[joint->coordinate + own->row] = target;
        }
    }
}

static mabd_status set_state(mabd_sim* sim, const user_state* user, state_work* w,
                             mabd_error* error) {
    const bool moved = user->positions || user->quaternions;
    mabd_rigid_start start = start_of(sim);
    MABD_TRY(place_bodies(sim, user, w, error));
    read_coordinates(sim, w->near);
    read_targets(sim, w->targets);
    start.state = w->next, start.now = w->now, start.near = w->near, start.targets = w->targets;
    start.pose = start.stops = moved;
    MABD_TRY(mabd_rigid_start_settle(&start, sim->ops->warnings(sim->self), error));
    const mabd_status status = sim->ops->set_state(
        sim->self, start.time, start.result ? start.result : w->next, moved, error);
    mabd_rigid_start_free(sim->model, &sim->allocator, start.result);
    return status;
}

mabd_status mabd_sim_set_state(mabd_sim* sim, const mabd_real* positions,
                               const mabd_real* quaternions, const mabd_real* velocities,
                               const mabd_real* angular, mabd_error* error) {
    const user_state user = {positions, quaternions, velocities, angular};
    state_work w = {.arena = {0}};
    if (!sim) return mabd_fail(error, MABD_ERR_ARG, "set_state: no simulation");
    if (!positions && !quaternions && !velocities && !angular) return MABD_OK;
    lay_out(sim->model, &w);
    if (mabd_arena_allocate(&sim->allocator, &w.arena) != MABD_OK) {
        return mabd_fail_memory(error, "setting a state");
    }
    lay_out(sim->model, &w);
    const mabd_status status = set_state(sim, &user, &w, error);
    mabd_free(&sim->allocator, w.arena.memory, w.arena.size);
    return status;
}
