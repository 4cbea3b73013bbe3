// SPDX-License-Identifier: Apache-2.0
// Memory and state of contacts and of bounds of axes, and the search at the start of a step.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_system.h"

#include <math.h>
#include <string.h>

/// Distance up to which points are found: falls in a step from rest, and at least [m].
#define MARGIN_FALLS 4
#define MARGIN_LEAST ((mabd_real)1e-3)

#define TAKE(field, n) c->field = mabd_arena_take(arena, (n), sizeof *c->field)

// ---- memory ------------------------------------------------------------------------------------

static int32_t count_bounds(const mabd_variational_sim* sim, int32_t* stops) {
    int32_t count = 0;
    *stops = 0;
    for (int32_t i = 0; i < sim->island_count; i++) {
        for (int32_t k = 0; k < sim->islands[i].joint_count; k++) {
            int32_t own;
            count += mabd_variational_list_bounds(sim, sim->islands[i].joints[k], NULL, &own);
            *stops += own;
        }
    }
    return count;
}

static void lay_out_joined(struct mabd_variational_joined* c, const mabd_variational_sim* sim,
                           mabd_arena* arena) {
    if (!sim->model->contact.enabled) return;
    TAKE(islands, (size_t)sim->island_count);
    TAKE(bodies, (size_t)sim->model->body_count);
    TAKE(joints, (size_t)sim->model->joint_count);
    TAKE(components, (size_t)sim->plan->component_count);
    TAKE(springs, (size_t)sim->model->spring_count);
}

static void lay_out(mabd_variational_contacts* c, const mabd_variational_sim* sim,
                    mabd_arena* arena) {
    const size_t islands = (size_t)sim->island_count;
    const size_t poses = c->geometry ? 12 * (size_t)sim->model->body_count : 0;
    TAKE(from, poses);
    TAKE(to, poses);
    TAKE(bounds, (size_t)c->bound_count);
    TAKE(bound_first, islands + 1);
    TAKE(axis_bound, c->bound_count > 0 ? 4 * (size_t)sim->model->coordinate_count : 0);
    TAKE(bound, (size_t)c->bound_count);
    TAKE(next_bound, (size_t)c->bound_count);
    TAKE(groups, islands);
    TAKE(joined, islands);
    TAKE(work, islands);
    TAKE(count, islands);
    TAKE(velocity, (size_t)sim->model->body_count);
    TAKE(push, (size_t)sim->model->body_count);
    lay_out_joined(&c->now, sim, arena);
    lay_out_joined(&c->before, sim, arena);
}

static void fill_bounds(mabd_variational_contacts* c, const mabd_variational_sim* sim) {
    int32_t count = 0, stops;
    for (int32_t i = 0; i < sim->island_count; i++) {
        c->bound_first[i] = count;
        for (int32_t k = 0; k < sim->islands[i].joint_count; k++) {
            count += mabd_variational_list_bounds(sim, sim->islands[i].joints[k], c->bounds + count,
                                                  &stops);
        }
    }
    c->bound_first[sim->island_count] = count;
    for (int32_t i = 0; count > 0 && i < 4 * sim->model->coordinate_count; i++) {
        c->axis_bound[i] = -1;
    }
    for (int32_t i = 0; i < count; i++) {
        const mabd_variational_bound* bound = &c->bounds[i];
        const int32_t k = sim->model->joints[bound->joint].coordinate + bound->control;
        c->axis_bound[4 * (size_t)k + (size_t)bound->kind] = i;
    }
}

static bool has_scripted_shapes(const mabd_variational_sim* sim) {
    bool has = false;
    for (int32_t i = 0; i < sim->model->script_count; i++) {
        int32_t count;
        (void)mabd_model_colliders(sim->model, sim->model->scripts[i].body, &count);
        has |= count > 0;
    }
    return has;
}

static mabd_real margin_of(const mabd_variational_sim* sim) {
    const mabd_real h = sim->def.h, g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const mabd_real falls = MARGIN_FALLS * g * h * h;
    if (sim->model->contact.margin > 0) return sim->model->contact.margin;
    return falls > MARGIN_LEAST ? falls : MARGIN_LEAST;
}

mabd_status mabd_variational_contacts_create(mabd_variational_sim* sim) {
    int32_t stops;
    const int32_t bounds = count_bounds(sim, &stops);
    mabd_arena arena = {0};
    if (bounds == 0 && !sim->model->contact.enabled) return MABD_OK;
    mabd_variational_contacts* c = sim->contacts = mabd_alloc(&sim->allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = sim->allocator, c->bound_count = bounds, c->stop_count = stops;
    c->margin = margin_of(sim), c->scripts = has_scripted_shapes(sim);
    if (sim->model->contact.enabled) {
        MABD_TRY(mabd_collide_create(sim->model, &c->allocator, &c->geometry));
    }
    lay_out(c, sim, &arena);
    MABD_TRY(mabd_arena_allocate(&c->allocator, &arena));
    c->memory = arena.memory, c->memory_size = arena.size;
    lay_out(c, sim, &arena);
    fill_bounds(c, sim);
    return MABD_OK;
}

void mabd_variational_contacts_destroy(mabd_variational_contacts* c) {
    if (!c) return;
    const mabd_allocator allocator = c->allocator;
    mabd_variational_drop_systems(c);
    mabd_collide_destroy(c->geometry);
    mabd_list_free(&allocator, &c->meetings, sizeof(mabd_variational_meeting));
    mabd_list_free(&allocator, &c->order, sizeof(int32_t));
    mabd_list_free(&allocator, &c->touches, sizeof(mabd_variational_touch));
    mabd_list_free(&allocator, &c->barriers, sizeof(mabd_barrier_contact));
    mabd_list_free(&allocator, &c->drives, sizeof(mabd_variational_drive));
    mabd_list_free(&allocator, &c->boxes, sizeof(mabd_barrier_box));
    mabd_list_free(&allocator, &c->known, sizeof(mabd_variational_known));
    mabd_list_free(&allocator, &c->next_known, sizeof(mabd_variational_known));
    mabd_list_free(&allocator, &c->forced, sizeof(mabd_collide_key));
    mabd_list_free(&allocator, &c->pairs, sizeof(mabd_variational_pair));
    mabd_list_free(&allocator, &c->pressed, sizeof(mabd_rigid_pressed));
    mabd_list_free(&allocator, &c->press_work, sizeof(mabd_real));
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

static size_t list_bytes(const mabd_list* list, size_t element) {
    return mabd_bytes((size_t)list->capacity, element);
}

size_t mabd_variational_contacts_bytes(const mabd_variational_contacts* c) {
    if (!c) return 0;
    return mabd_bytes(1, sizeof *c) + c->memory_size + c->system_bytes +
           (c->geometry ? mabd_collide_bytes(c->geometry) : 0) +
           list_bytes(&c->meetings, sizeof(mabd_variational_meeting)) +
           list_bytes(&c->order, sizeof(int32_t)) +
           list_bytes(&c->touches, sizeof(mabd_variational_touch)) +
           list_bytes(&c->barriers, sizeof(mabd_barrier_contact)) +
           list_bytes(&c->drives, sizeof(mabd_variational_drive)) +
           list_bytes(&c->boxes, sizeof(mabd_barrier_box)) +
           list_bytes(&c->known, sizeof(mabd_variational_known)) +
           list_bytes(&c->next_known, sizeof(mabd_variational_known)) +
           list_bytes(&c->forced, sizeof(mabd_collide_key)) +
           list_bytes(&c->pairs, sizeof(mabd_variational_pair)) +
           list_bytes(&c->pressed, sizeof(mabd_rigid_pressed)) +
           list_bytes(&c->press_work, sizeof(mabd_real));
}

// ---- the search --------------------------------------------------------------------------------

// Forces of a pair in the last step.
static void recall_pair(mabd_variational_meeting* m, mabd_collide_known* known) {
    const mabd_variational_known* all = known->data;
    int32_t count = mabd_collide_match_pair(known, m->key);
    if (count > MABD_CONTACT_MAX_POINTS) count = MABD_CONTACT_MAX_POINTS;
    m->memory_count = count;
    for (int32_t k = 0; k < count; k++) m->memory[k] = all[known->place + k].memory;
}

static bool is_forced(const mabd_variational_contacts* c, mabd_collide_key key) {
    const mabd_collide_key* keys = c->forced.data;
    bool found = false;
    for (int32_t i = 0; i < c->forced.count && !found; i++) {
        found = mabd_collide_compare(keys[i], key) == 0;
    }
    return found;
}

// Pairs that have points in the motion of the step, and those that were missed.
static mabd_status find_meetings(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = true, .margin = c->margin};
    mabd_collide_known known = {c->known.data, sizeof(mabd_variational_known), c->known.count, 0};
    mabd_collide_motion wide = motion;
    c->meetings.count = 0;
    wide.margin += 2 * c->reach;
    MABD_TRY(mabd_collide_find_pairs(c->geometry, &wide));
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        mabd_collide_pair pair;
        if (mabd_collide_find_points(c->geometry, &motion, i, &pair, points) == 0 &&
            !is_forced(c, pair.key)) {
            continue;
        }
        MABD_TRY(
            mabd_list_reserve(&c->allocator, &c->meetings, sizeof(mabd_variational_meeting), 1));
        mabd_variational_meeting* m =
            (mabd_variational_meeting*)c->meetings.data + c->meetings.count++;
        m->key = pair.key, m->pair = i, m->a = pair.a, m->b = pair.b, m->first = m->count = 0;
        recall_pair(m, &known);
    }
    return MABD_OK;
}

mabd_status mabd_variational_find_contacts(mabd_variational_sim* sim, bool again, int32_t* body) {
    mabd_variational_contacts* c = sim->contacts;
    *body = -1;
    if (!c) return MABD_OK;
    if (!again) c->forced.count = 0, c->reach = 0;
    memcpy(c->next_bound, c->bound, (size_t)c->bound_count * sizeof *c->bound);
    if (c->geometry) {
        mabd_variational_predict(sim, sim->now, NULL, sim->model->body_count, sim->time,
                                 sim->def.h);
        const mabd_status status = find_meetings(sim);
        *body = c->geometry->bad_body;
        if (status != MABD_OK) return status;
    }
    return mabd_variational_join_islands(sim);
}

// Poses at the end of the step into c->to; returns the largest distance from those predicted.
static mabd_real take_end(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    mabd_real most = 0;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_real *to = c->to + 12 * (size_t)i, shift = 0, turn = 0, now[12];
        if (!mabd_variational_moves(sim, i)) continue;
        mabd_m3_store(mabd_q_matrix(sim->next[i].q), now);
        mabd_v3_store(sim->next[i].c, now + 9);
        for (int k = 0; k < 9; k++) turn += (now[k] - to[k]) * (now[k] - to[k]);
        for (int k = 9; k < 12; k++) shift += (now[k] - to[k]) * (now[k] - to[k]);
        const mabd_real way = (mabd_real)sqrt(shift) + 2 * sim->reach[i] * (mabd_real)sqrt(turn);
        if (way > most) most = way;
        memcpy(to, now, sizeof now);
    }
    return most;
}

static mabd_real overlap_of(const mabd_variational_contacts* c, const mabd_collide_motion* motion,
                            int64_t i, mabd_collide_pair* pair) {
    mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
    const int32_t count = mabd_collide_find_points(c->geometry, motion, i, pair, points);
    mabd_real deepest = 0;
    for (int32_t k = 0; k < count; k++) {
        if (-points[k].distance > deepest) deepest = -points[k].distance;
    }
    return deepest;
}

mabd_status mabd_variational_find_missed(mabd_variational_sim* sim, mabd_real* missed) {
    mabd_variational_contacts* c = sim->contacts;
    *missed = 0;
    if (!c || !c->geometry) return MABD_OK;
    const mabd_variational_meeting* meetings = c->meetings.data;
    mabd_variational_predict(sim, sim->now, NULL, sim->model->body_count, sim->time, sim->def.h);
    const mabd_real reach = take_end(sim);
    const mabd_collide_motion motion = {.start = c->from, .end = c->to};
    int32_t place = 0;
    MABD_TRY(mabd_collide_find_pairs(c->geometry, &motion));
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        mabd_collide_pair pair;
        const mabd_broad_pair* own = &c->geometry->pairs[i];
        const mabd_collide_key key = {own->i, own->j};
        while (place < c->meetings.count && mabd_collide_compare(meetings[place].key, key) < 0) {
            place++;
        }
        if (place < c->meetings.count && mabd_collide_compare(meetings[place].key, key) == 0) {
            continue;
        }
        const mabd_real depth = overlap_of(c, &motion, i, &pair);
        if (!(depth > sim->def.contact_tolerance)) continue;
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->forced, sizeof key, 1));
        ((mabd_collide_key*)c->forced.data)[c->forced.count++] = key;
        if (depth > *missed) *missed = depth;
    }
    if (*missed > 0 && reach > c->reach) c->reach = reach;
    return MABD_OK;
}

// ---- state -------------------------------------------------------------------------------------

static void keep_point(const mabd_variational_contacts* c, const mabd_variational_meeting* m,
                       mabd_real h, int32_t i, mabd_variational_known* to) {
    const mabd_variational_touch* t = (const mabd_variational_touch*)c->touches.data + i;
    const mabd_barrier_contact* p = (const mabd_barrier_contact*)c->barriers.data + i;
    memset(to, 0, sizeof *to);
    to->memory.id.key = m->key, to->memory.id.X = t->X[1];
    to->memory.gamma = p->gamma, to->memory.psi = p->psi;
    to->a = t->a, to->b = t->b;
    memcpy(to->X, t->X, sizeof to->X), memcpy(to->axis, t->axis, sizeof to->axis);
    if (p->c > 0) mabd_barrier_friction(p, to->friction);
    to->bound = p->c * p->gamma, to->weight = p->weight, to->h = h;
    to->distance = t->bounces ? t->start : p->phi + t->allowed;
}

mabd_status mabd_variational_reserve_known(mabd_variational_contacts* c) {
    const int64_t most = (int64_t)c->meetings.count * MABD_CONTACT_MAX_POINTS;
    c->next_known.count = 0;
    MABD_TRY(
        mabd_list_reserve(&c->allocator, &c->next_known, sizeof(mabd_variational_known), most));
    return mabd_variational_reserve_press(c, most);
}

void mabd_variational_keep_contacts(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    if (!c) return;
    const mabd_variational_meeting* meetings = c->meetings.data;
    mabd_variational_known* to = c->next_known.data;
    memcpy(c->bound, c->next_bound, (size_t)c->bound_count * sizeof *c->bound);
    for (int32_t i = 0; i < c->meetings.count; i++) {
        // momenta of a start lack no impulse: the first node of a run has half of them
        const bool begins = !sim->begun && meetings[i].h >= sim->def.h &&
                            sim->def.integrator != MABD_INTEGRATOR_SYMPLECTIC_EULER;
        const mabd_real h = begins ? 2 * meetings[i].h : meetings[i].h;
        for (int32_t k = 0; k < meetings[i].count; k++) {
            keep_point(c, &meetings[i], h, meetings[i].first + k, to + c->next_known.count++);
        }
    }
    const mabd_list known = c->known;
    c->known = c->next_known, c->next_known = known;
}

void mabd_variational_reset_contacts(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    if (!c) return;
    c->known.count = 0;
    memset(c->bound, 0, (size_t)c->bound_count * sizeof *c->bound);
}

// ---- states as bytes ---------------------------------------------------------------------------

size_t mabd_variational_contacts_state_size(const mabd_variational_contacts* c) {
    if (!c) return 0;
    return sizeof(int64_t) + (size_t)c->bound_count * sizeof *c->bound +
           (size_t)c->known.count * sizeof(mabd_variational_known);
}

void mabd_variational_save_contacts(const mabd_variational_contacts* c, void* buffer) {
    if (!c) return;
    unsigned char* to = buffer;
    const int64_t count = c->known.count;
    const size_t bounds = (size_t)c->bound_count * sizeof *c->bound;
    memcpy(to, &count, sizeof count);
    memcpy(to + sizeof count, c->bound, bounds);
    if (count == 0) return;
    memcpy(to + sizeof count + bounds, c->known.data,
           (size_t)count * sizeof(mabd_variational_known));
}

mabd_status mabd_variational_restore_contacts(mabd_variational_contacts* c, const void* buffer,
                                              size_t size, bool check) {
    if (!c) return size == 0 ? MABD_OK : MABD_ERR_INPUT;
    const unsigned char* from = buffer;
    const size_t bounds = (size_t)c->bound_count * sizeof *c->bound,
                 head = sizeof(int64_t) + bounds;
    int64_t count;
    if (size < head) return MABD_ERR_INPUT;
    memcpy(&count, from, sizeof count);
    const size_t points = (size - head) / sizeof(mabd_variational_known);
    if (count < 0 || (uint64_t)count != points || count > INT32_MAX ||
        (size - head) % sizeof(mabd_variational_known) != 0) {
        return MABD_ERR_INPUT;
    }
    if (check) {
        const int32_t more = (int32_t)count - c->known.count;
        MABD_TRY(mabd_variational_reserve_press(c, count));
        return more <= 0 ? MABD_OK
                         : mabd_list_reserve(&c->allocator, &c->known,
                                             sizeof(mabd_variational_known), more);
    }
    memcpy(c->bound, from + sizeof count, bounds);
    c->known.count = (int32_t)count;
    if (count > 0) memcpy(c->known.data, from + head, size - head);
    return MABD_OK;
}
