// SPDX-License-Identifier: Apache-2.0
// The start state, states that are set, states as bytes. All are states that the joints allow
// (rigid/start.h).

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_contact.h"
#include "rigid/frames.h"

#include <string.h>

static void place_body(mabd_impulse_sim* sim, int32_t body, const mabd_model_start* state,
                       bool moved) {
    const mabd_model* m = sim->model;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_rigid_state s = mabd_rigid_from_user(c, state);
    mabd_impulse_line* line = &sim->lines[body];
    if (moved) sim->c[body] = s.c, sim->q[body] = s.q;
    mabd_v3_store(s.v, line->v), mabd_v3_store(s.omega, line->w);
}

static void place_bodies(mabd_impulse_sim* sim, const mabd_model_start* state, bool moved) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (sim->lines[i].moves > 0) place_body(sim, i, &state[i], moved);
    }
    mabd_impulse_set_poses(sim, sim->time);
}

static void forget_impulses(mabd_impulse_sim* sim) {
    memset(sim->lambda, 0, (size_t)sim->row_count * sizeof *sim->lambda);
    memset(sim->axis_impulse, 0, (size_t)sim->axis_count * sizeof *sim->axis_impulse);
    sim->part = 0;
    if (sim->blocks) mabd_impulse_blocks_write(sim);
    if (!sim->contacts) return;
    sim->contacts->kept.count = sim->contacts->points.count = sim->contacts->manifolds.count = 0;
}

// Bodies that do not move by forces, and the world.
static void place_others(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) {
        mabd_impulse_line* line = &sim->lines[i];
        memset(line, 0, sizeof *line);
        sim->q[i] = mabd_q(1, 0, 0, 0), sim->c[i] = mabd_v3(0, 0, 0);
        if (i == m->body_count) continue;
        place_body(sim, i, &sim->start[i], true);
        if (m->body_motion[i] == MABD_MOTION_DYNAMIC) {
            line->moves = 1;
            line->inverse_mass = 1 / m->classes[m->body_class[i]].material.mass;
        } else {
            memset(line, 0, sizeof *line);
        }
    }
}

mabd_status mabd_impulse_start(void* self, mabd_error* error) {
    mabd_impulse_sim* sim = self;
    (void)error;
    sim->time = 0;
    place_others(sim);
    sim->size2 = mabd_impulse_largest_size2(sim);
    memset(sim->x, 0, 2 * (size_t)sim->model->coordinate_count * sizeof *sim->x);
    memset(sim->times, 0, sizeof sim->times);
    mabd_rigid_inputs_clear(&sim->inputs);
    mabd_impulse_set_poses(sim, 0);
    mabd_impulse_read_coordinates(sim);
    forget_impulses(sim);
    sim->depth = 0, sim->given = 0;
    sim->carrier_count = 0, sim->carrying = sim->steady = false;
    mabd_impulse_watch_stability(sim);
    const mabd_measure start = mabd_impulse_measure(sim);
    mabd_rigid_books_open(&sim->books, &start);
    return MABD_OK;
}

mabd_status mabd_impulse_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                   bool moved, mabd_error* error) {
    mabd_impulse_sim* sim = self;
    (void)error;
    sim->time = time;
    const mabd_measure before = mabd_impulse_measure(sim);
    place_bodies(sim, state, moved);
    mabd_impulse_read_coordinates(sim);
    forget_impulses(sim);
    mabd_impulse_watch_stability(sim);
    const mabd_measure after = mabd_impulse_measure(sim);
    mabd_rigid_books_carry(&sim->books, &before, &after);
    return MABD_OK;
}

// ---- before a step -----------------------------------------------------------------------------

static void copy_step(mabd_impulse_sim* sim, bool back) {
    const size_t bodies = (size_t)sim->model->body_count + 1, real = sizeof(mabd_real);
    const struct {
        void *now, *last;
        size_t bytes;
    } arrays[] = {
        {sim->lines, sim->last_lines, bodies * sizeof *sim->lines},
        {sim->q, sim->last_q, bodies * sizeof *sim->q},
        {sim->c, sim->last_c, bodies * sizeof *sim->c},
        {sim->x, sim->last_x, 2 * (size_t)sim->model->coordinate_count * real},
        {sim->lambda, sim->last_lambda, (size_t)sim->row_count * real},
        {sim->axis_impulse, sim->last_axis_impulse, (size_t)sim->axis_count * real},
        {&sim->part, &sim->last_part, real},
        {&sim->books, &sim->last_books, sizeof sim->books},
        {&sim->given, &sim->last_given, real},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        memcpy(back ? arrays[i].now : arrays[i].last, back ? arrays[i].last : arrays[i].now,
               arrays[i].bytes);
    }
}

void mabd_impulse_keep(mabd_impulse_sim* sim) {
    copy_step(sim, false);
}

void mabd_impulse_undo(mabd_impulse_sim* sim) {
    copy_step(sim, true);
    if (sim->blocks) mabd_impulse_blocks_write(sim);
    mabd_impulse_set_poses(sim, sim->time);
}

// ---- states as bytes ---------------------------------------------------------------------------

// Visit every array of a state. A change of this order raises state_version.
static void visit(void* self, mabd_rigid_cursor* at) {
    mabd_impulse_sim* sim = self;
    const size_t bodies = (size_t)sim->model->body_count, real = sizeof(mabd_real);
    mabd_rigid_visit(at, sim->lines, bodies * sizeof *sim->lines);
    mabd_rigid_visit(at, sim->q, bodies * sizeof *sim->q);
    mabd_rigid_visit(at, sim->c, bodies * sizeof *sim->c);
    mabd_rigid_visit(at, sim->x, 2 * (size_t)sim->model->coordinate_count * real);
    mabd_rigid_visit(at, sim->lambda, (size_t)sim->row_count * real);
    mabd_rigid_visit(at, sim->axis_impulse, (size_t)sim->axis_count * real);
    mabd_rigid_visit(at, &sim->part, real);
    mabd_rigid_visit(at, &sim->depth, sizeof sim->depth);
    mabd_rigid_inputs_visit(&sim->inputs, at);
    mabd_rigid_visit(at, &sim->books, sizeof sim->books);
    mabd_rigid_visit(at, &sim->given, real);
    if (!sim->contacts) return;
    const mabd_list* kept = &sim->contacts->kept;
    mabd_rigid_visit(at, kept->data, (size_t)kept->count * sizeof(mabd_impulse_kept));
}

// A saved state begins with the number of contact points that it keeps.
static int64_t kept_count(const mabd_impulse_sim* sim) {
    return sim->contacts ? sim->contacts->kept.count : 0;
}

size_t mabd_impulse_state_size(const void* self) {
    return sizeof(int64_t) + mabd_rigid_state_size((void*)self, visit);
}

void mabd_impulse_save(const void* self, void* buffer) {
    const int64_t count = kept_count(self);
    memcpy(buffer, &count, sizeof count);
    mabd_rigid_save((void*)self, visit, (char*)buffer + sizeof count);
}

// Make room for the kept points of a saved state, whose size must be that of a state with them.
static mabd_status make_room(mabd_impulse_sim* sim, int64_t count, size_t size) {
    const size_t own = mabd_impulse_state_size(sim), element = sizeof(mabd_impulse_kept);
    const size_t rest = own - (size_t)kept_count(sim) * element;
    if (count < 0 || count > INT32_MAX || (count > 0 && !sim->contacts)) return MABD_ERR_INPUT;
    if (size != rest + (size_t)count * element) return MABD_ERR_INPUT;
    if (!sim->contacts) return MABD_OK;
    mabd_list* kept = &sim->contacts->kept;
    const int64_t more = count - kept->count;
    if (more > 0) MABD_TRY(mabd_list_reserve(&sim->allocator, kept, element, more));
    kept->count = (int32_t)count;
    sim->contacts->points.count = sim->contacts->manifolds.count = 0;
    return MABD_OK;
}

mabd_status mabd_impulse_restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_impulse_sim* sim = self;
    int64_t count;
    if (size < sizeof count) return MABD_ERR_INPUT;
    memcpy(&count, buffer, sizeof count);
    MABD_TRY(make_room(sim, count, size));
    MABD_TRY(
        mabd_rigid_restore(self, visit, (const char*)buffer + sizeof count, size - sizeof count));
    sim->time = time;
    mabd_impulse_set_poses(sim, time);
    if (sim->blocks) mabd_impulse_blocks_write(sim);
    return MABD_OK;
}
