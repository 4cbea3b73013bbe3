// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes.
//
// A part takes its step without contacts first. Points are found where it would end
// (collide/collide.h); parts that have some take the step by implicit Euler, so that their rates
// are those of the whole step, and from there forces move them by
//
//   dq = H^-1 N'l      g = W l + rest,   W = N H^-1 N'
//
// H of the stage with loops closed, N the rows of gap and slips of all contacts (contact_forces.c
// has the laws). Rows are linear in the motion from the end pose, so a point rests at the surface,
// not at a rate of zero that drifts. ([RM] has rates, N v >= 0; eq. 1.99 with the wrong sign of the
// forces lets a body that falls at 3 m/s leave at 6 m/s downwards, eq. 2.121 and 2.125 have the
// bounds of friction without a magnitude.)
//
//   rest_n   distance of the surfaces at the end pose, but
//            overlapping bodies part by no more than PUSH_SPEED h in a step
//            an impact with restitution e asks for the displacement e h v, v the speed of approach
//   rest_t   displacement of b over a in the step, along the tangents
//
// A part with contacts has no history in the next step.

#include "formulation/redmax/redmax_contact.h"

#include "contact/points.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Distance up to which points are found: falls in a step from rest, and at least [m].
#define MARGIN_FALLS 4
#define MARGIN_LEAST ((mabd_real)1e-3)
/// Speed at which overlapping bodies part [m/s].
#define PUSH_SPEED ((mabd_real)0.05)
/// Part of the bound from which friction counts as slipping.
#define SLIPS_PART ((mabd_real)1e-6)

// ---- memory ------------------------------------------------------------------------------------

static void lay_out(mabd_redmax_contacts* c, const mabd_redmax_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count;
    c->from = mabd_arena_take(arena, 12 * bodies, sizeof *c->from);
    c->to = mabd_arena_take(arena, 12 * bodies, sizeof *c->to);
    c->velocity = mabd_arena_take(arena, 2 * bodies, sizeof *c->velocity);
    c->touches = mabd_arena_take(arena, (size_t)sim->part_count, sizeof *c->touches);
    c->poses = mabd_arena_take(arena, (size_t)sim->part_count, sizeof *c->poses);
    c->solves = mabd_arena_take(arena, (size_t)sim->part_count, sizeof *c->solves);
}

mabd_status mabd_redmax_contacts_create(mabd_redmax_sim* sim) {
    mabd_arena arena = {0};
    if (!sim->model->contact.enabled) return MABD_OK;
    mabd_redmax_contacts* c = sim->contacts = mabd_alloc(&sim->allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = sim->allocator;
    lay_out(c, sim, &arena);
    MABD_TRY(mabd_arena_allocate(&c->allocator, &arena));
    c->memory = arena.memory, c->memory_size = arena.size;
    lay_out(c, sim, &arena);
    return mabd_collide_create(sim->model, &c->allocator, &c->geometry);
}

void mabd_redmax_contacts_destroy(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    if (!c) return;
    mabd_collide_destroy(c->geometry);
    mabd_list_free(&c->allocator, &c->points, sizeof(mabd_redmax_contact));
    mabd_list_free(&c->allocator, &c->reals, sizeof(mabd_real));
    mabd_list_free(&c->allocator, &c->columns, sizeof(int32_t));
    mabd_list_free(&c->allocator, &c->start, sizeof(int32_t));
    mabd_free(&c->allocator, c->memory, c->memory_size);
    mabd_free(&sim->allocator, c, sizeof *c);
    sim->contacts = NULL;
}

size_t mabd_redmax_contacts_bytes(const mabd_redmax_sim* sim) {
    const mabd_redmax_contacts* c = sim->contacts;
    if (!c) return 0;
    return mabd_bytes(1, sizeof *c) + c->memory_size + mabd_collide_bytes(c->geometry) +
           mabd_bytes((size_t)c->points.capacity, sizeof(mabd_redmax_contact)) +
           mabd_bytes((size_t)c->reals.capacity, sizeof(mabd_real)) +
           mabd_bytes((size_t)c->columns.capacity, sizeof(int32_t)) +
           mabd_bytes((size_t)c->start.capacity, sizeof(int32_t));
}

// ---- poses -------------------------------------------------------------------------------------

// Place all links at a node.
static void place(mabd_redmax_sim* sim, const mabd_redmax_node* node, mabd_real time) {
    sim->placed = false;
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_solve s = {
            .sim = sim, .part = &sim->parts[p], .from_node = node, .time = time};
        mabd_redmax_load_node(&s, node);
        mabd_redmax_velocities(&s);
    }
}

// Write the poses (12 per body) of a node, and velocities if there is room for them.
static void write_poses(mabd_redmax_sim* sim, const mabd_redmax_node* node, mabd_real time,
                        mabd_real* poses, mabd_vec3* velocity) {
    place(sim, node, time);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const bool moves = sim->body_link[i] >= 0;
        const mabd_rigid_state s =
            moves ? mabd_redmax_body(sim, i) : mabd_redmax_ground_state(sim, i, time);
        mabd_m3_store(mabd_q_matrix(s.q), poses + 12 * (size_t)i);
        mabd_v3_store(s.c, poses + 12 * (size_t)i + 9);
        if (velocity) velocity[2 * i] = s.v, velocity[2 * i + 1] = s.omega;
    }
}

// ---- rows --------------------------------------------------------------------------------------

static mabd_vec3 point_of(const mabd_real* pose, mabd_vec3 X) {
    return mabd_v3_add(mabd_m3_mul(mabd_m3_load(pose), X), mabd_v3_load(pose + 9));
}

// Velocity of a point of a body at the start of the step.
static mabd_vec3 start_velocity(const mabd_redmax_contacts* c, int32_t body, mabd_vec3 X) {
    const mabd_vec3 arm = mabd_m3_mul(mabd_m3_load(c->from + 12 * (size_t)body), X);
    return mabd_v3_add(c->velocity[2 * body], mabd_v3_cross(c->velocity[2 * body + 1], arm));
}

static void set_rest(const mabd_redmax_sim* sim, const mabd_collide_motion* motion,
                     const mabd_collide_pair* pair, const mabd_collide_point* at,
                     mabd_redmax_contact* p) {
    const mabd_redmax_contacts* c = sim->contacts;
    const mabd_real h = sim->def.h;
    const mabd_vec3 way = mabd_collide_displacement(motion, pair->a, at->Xa, pair->b, at->Xb);
    const mabd_real u = mabd_v3_dot(p->axis[0], way), start = at->distance - u;
    const mabd_real limited = u - PUSH_SPEED * h;
    p->rest[0] = at->distance > limited ? at->distance : limited;
    p->rest[1] = mabd_v3_dot(p->axis[1], way), p->rest[2] = mabd_v3_dot(p->axis[2], way);
    const mabd_vec3 v =
        mabd_v3_sub(start_velocity(c, pair->b, at->Xb), start_velocity(c, pair->a, at->Xa));
    const mabd_real approach = -mabd_v3_dot(p->axis[0], v);
    const mabd_real g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const bool hits = start < h * approach && approach > 2 * g * h; // else it comes to rest
    const mabd_real wanted = u - h * pair->restitution * approach;
    if (hits && pair->restitution > 0 && wanted < p->rest[0]) p->rest[0] = wanted;
}

// Wrenches of unit forces at a world point x on the link of a side.
static void set_side(const mabd_redmax_sim* sim, int side, mabd_vec3 x, mabd_redmax_contact* p) {
    const int32_t link = p->link[side] = sim->body_link[p->body[side]];
    p->part[side] = -1;
    if (link < 0) return;
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_part* part = &sim->parts[i];
        if (link >= part->link_first && link < part->link_first + part->link_count) {
            p->part[side] = i;
        }
    }
    const mabd_frame* W = &sim->world[link];
    const mabd_vec3 arm = mabd_m3_tmul(W->R, mabd_v3_sub(x, W->p));
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 l = mabd_m3_tmul(W->R, mabd_v3_scale(side ? 1 : -1, p->axis[k]));
        p->row[side][k] = mabd_sp(mabd_v3_cross(arm, l), l);
    }
}

static void add_point(const mabd_redmax_sim* sim, const mabd_collide_motion* motion,
                      const mabd_collide_pair* pair, const mabd_collide_point* at) {
    mabd_redmax_contacts* c = sim->contacts;
    mabd_redmax_contact* p = (mabd_redmax_contact*)c->points.data + c->points.count++;
    memset(p, 0, sizeof *p);
    p->body[0] = pair->a, p->body[1] = pair->b, p->Xb = at->Xb;
    p->axis[0] = at->normal, p->axis[1] = mabd_across(at->normal);
    p->axis[2] = mabd_v3_cross(p->axis[0], p->axis[1]);
    p->friction = pair->friction, p->distance = at->distance;
    set_rest(sim, motion, pair, at, p);
    set_side(sim, 0, point_of(motion->end + 12 * (size_t)pair->a, at->Xa), p);
    set_side(sim, 1, point_of(motion->end + 12 * (size_t)pair->b, at->Xb), p);
    for (int i = 0; i < 2; i++) {
        if (p->part[i] >= 0) c->touches[p->part[i]] = true;
    }
}

static mabd_real margin_of(const mabd_redmax_sim* sim) {
    const mabd_real h = sim->def.h, g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const mabd_real falls = MARGIN_FALLS * g * h * h;
    if (sim->model->contact.margin > 0) return sim->model->contact.margin;
    return falls > MARGIN_LEAST ? falls : MARGIN_LEAST;
}

mabd_status mabd_redmax_find_contacts(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = true, .margin = margin_of(sim)};
    c->points.count = 0;
    memset(c->touches, 0, (size_t)sim->part_count * sizeof *c->touches);
    write_poses(sim, &sim->now, sim->time, c->from, c->velocity);
    write_poses(sim, &sim->next, sim->time + sim->def.h, c->to, NULL);
    MABD_TRY(mabd_collide_find_pairs(c->geometry, &motion));
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        mabd_collide_pair pair;
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        const int32_t n = mabd_collide_find_points(c->geometry, &motion, i, &pair, points);
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->points, sizeof(mabd_redmax_contact), n));
        for (int32_t k = 0; k < n; k++) add_point(sim, &motion, &pair, &points[k]);
    }
    return MABD_OK;
}

// ---- parts -------------------------------------------------------------------------------------

// The stage of implicit Euler of a part, in charts that are centred at `next`.
static mabd_redmax_solve stage_of(mabd_redmax_sim* sim, int32_t index) {
    mabd_redmax_solve s = {.sim = sim,
                           .part = &sim->parts[index],
                           .report = &sim->reports[index],
                           .from = sim->time,
                           .h = sim->def.h,
                           .time = sim->time + sim->def.h,
                           .gamma = sim->def.h,
                           .force = sim->force,
                           .motor = sim->motor,
                           .from_node = &sim->next};
    mabd_redmax_set_inputs(&s);
    mabd_redmax_load_node(&s, &sim->next);
    for (int32_t i = s.part->link_first; i < s.part->link_first + s.part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind == MABD_PRIMITIVE_BALL) {
            mabd_redmax_chart_past(link, &sim->next, &sim->now, sim->q_b, sim->v_b);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sim->q_b[k] = sim->now.q[k], sim->v_b[k] = sim->now.v[k];
        }
    }
    return s;
}

static mabd_status factor_stage(mabd_redmax_solve* s) {
    int32_t link;
    s->part->poses = true; // rows are read from the variations of poses
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    MABD_TRY(mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link));
    return s->part->border_count > 0 ? mabd_redmax_border_factor(s) : MABD_OK;
}

// Collect the forces of contacts on a part: as rows of H, and as wrenches on its links.
static void add_forces(mabd_redmax_sim* sim, int32_t part, mabd_real* b) {
    const mabd_redmax_contact* points = sim->contacts->points.data;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        for (int side = 0; side < 2; side++) {
            if (points[i].part[side] != part) continue;
            mabd_spatial F = mabd_sp_zero();
            for (int k = 0; k < 3; k++) {
                F = mabd_sp_axpy(points[i].force[k], points[i].row[side][k], F);
            }
            const int32_t link = points[i].link[side];
            mabd_redmax_pull_wrench(sim, link, F, b);
            sim->push[link] = mabd_sp_add(sim->push[link], F);
        }
    }
}

// Move a part by the forces of its contacts, and compute its wrenches with them.
static mabd_status move_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const int32_t first = s->part->freedom_first, end = first + s->part->freedom_count;
    memset(sim->step + first, 0, (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        sim->push[i] = mabd_sp_zero();
    }
    add_forces(sim, index, sim->step);
    mabd_redmax_respond(s, sim->step);
    for (int32_t k = first; k < end; k++) sim->q[k] += sim->step[k];
    for (int32_t r = 0; r < s->part->row_count; r++) { // forces of loops with the contacts
        sim->loops.force[s->part->row_first + r] += sim->loops.y[s->part->border_first + r];
    }
    mabd_redmax_rates(s);
    s->part->pushed = true;
    mabd_redmax_residual(s);
    s->part->pushed = false;
    if (s->part->row_count > 0) MABD_TRY(mabd_redmax_close_loops(s));
    mabd_redmax_store_node(s, &sim->next);
    return MABD_OK;
}

static void count_contacts(const mabd_redmax_contacts* c, mabd_step_info* info) {
    const mabd_redmax_contact* points = c->points.data;
    info->contact_points = c->points.count;
    for (int32_t i = 0; i < c->points.count; i++) {
        info->contacts += points[i].force[0] > 0;
        if (-points[i].end > info->penetration) info->penetration = -points[i].end;
    }
}

mabd_status mabd_redmax_close_contacts(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    mabd_status status = MABD_OK;
    mabd_redmax_solve* solves = c->solves;
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        if (!c->touches[i]) continue;
        *bad = i, c->poses[i] = sim->parts[i].poses;
        solves[i] = stage_of(sim, i);
        status = factor_stage(&solves[i]);
    }
    if (status == MABD_OK) {
        status = mabd_redmax_contact_forces(sim, solves, info);
        if (status != MABD_OK) sim->reports[*bad].reason = "the forces of contacts diverge near";
    }
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        if (status == MABD_OK) *bad = i, status = move_part(sim, &solves[i], i);
        sim->parts[i].poses = c->poses[i];
        sim->parts[i].history_after = false;
    }
    count_contacts(c, info);
    return status;
}

// ---- results -----------------------------------------------------------------------------------

int32_t mabd_redmax_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    const mabd_redmax_sim* sim = self;
    const mabd_redmax_contacts* c = sim->contacts;
    int32_t count = 0;
    if (!c) return 0;
    mabd_redmax_place_now(sim);
    for (int32_t i = 0; i < c->points.count; i++) {
        const mabd_redmax_contact* p = (const mabd_redmax_contact*)c->points.data + i;
        if (!(p->force[0] > 0) || count++ >= capacity) continue;
        mabd_contact_info* out = &contacts[count - 1];
        const mabd_rigid_state b = mabd_redmax_body(sim, p->body[1]);
        mabd_vec3 force = mabd_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) force = mabd_v3_axpy(p->force[k], p->axis[k], force);
        out->a = p->body[0], out->b = p->body[1];
        mabd_v3_store(mabd_v3_add(b.c, mabd_q_rotate(b.q, p->Xb)), out->point);
        mabd_v3_store(p->axis[0], out->normal);
        mabd_v3_store(force, out->force);
        out->distance = p->end;
        out->slips =
            hypot(p->force[1], p->force[2]) >= p->friction * p->force[0] * (1 - SLIPS_PART);
    }
    return count;
}

mabd_status mabd_redmax_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    mabd_redmax_sim* sim = (mabd_redmax_sim*)self; // its state does not change
    *depth = 0, *a = *b = -1;
    if (!sim->contacts) return MABD_OK;
    write_poses(sim, &sim->now, sim->time, sim->contacts->to, NULL);
    return mabd_collide_overlap(sim->contacts->geometry, sim->contacts->to, depth, a, b);
}
