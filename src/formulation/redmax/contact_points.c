// SPDX-License-Identifier: Apache-2.0
// Points where shapes touch in a step, whatever coordinates their bodies move in.
//
// Points are found where the step would end without contacts (collide/collide.h). Rows are linear
// in the motion from there, so a point rests at the surface, not at a rate of zero that drifts.
// ([RM] has rates, N v >= 0; eq. 1.99 with the wrong sign of the forces lets a body that falls at
// 3 m/s leave at 6 m/s downwards, eq. 2.121 and 2.125 have the bounds of friction without a
// magnitude.)
//
//   rest_n   distance of the surfaces at the end pose, but
//            overlapping bodies part by no more than PUSH_SPEED h in a step
//            an impact with restitution e asks for the displacement e h v, v the speed of approach
//   rest_t   displacement of b over a in the step, along the tangents

#include "contact/points.h"
#include "formulation/redmax/redmax_contact.h"

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

static void lay_out(mabd_redmax_contacts* c, mabd_arena* arena) {
    const size_t bodies = (size_t)c->model->body_count;
    c->from = mabd_arena_take(arena, 12 * bodies, sizeof *c->from);
    c->to = mabd_arena_take(arena, 12 * bodies, sizeof *c->to);
    c->velocity = mabd_arena_take(arena, 2 * bodies, sizeof *c->velocity);
    c->touches = mabd_arena_take(arena, (size_t)c->part_count, sizeof *c->touches);
    c->weighed = mabd_arena_take(arena, bodies, sizeof *c->weighed);
}

mabd_status mabd_redmax_contacts_create(const mabd_model* model, mabd_real h, int32_t part_count,
                                        const mabd_allocator* allocator,
                                        mabd_redmax_contacts** out) {
    mabd_arena arena = {0};
    *out = NULL;
    if (!model->contact.enabled) return MABD_OK;
    mabd_redmax_contacts* c = *out = mabd_alloc(allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = *allocator, c->model = model, c->h = h, c->part_count = part_count;
    lay_out(c, &arena);
    MABD_TRY(mabd_arena_allocate(&c->allocator, &arena));
    c->memory = arena.memory, c->memory_size = arena.size;
    lay_out(c, &arena);
    return mabd_collide_create(model, &c->allocator, &c->geometry);
}

void mabd_redmax_contacts_destroy(mabd_redmax_contacts* c) {
    if (!c) return;
    const mabd_allocator allocator = c->allocator;
    mabd_collide_destroy(c->geometry);
    mabd_list_free(&allocator, &c->points, sizeof(mabd_redmax_contact));
    mabd_list_free(&allocator, &c->reals, sizeof(mabd_real));
    mabd_list_free(&allocator, &c->columns, sizeof(int32_t));
    mabd_list_free(&allocator, &c->responses, MABD_RESPONSES * sizeof(mabd_real));
    mabd_list_free(&allocator, &c->start, sizeof(int32_t));
    mabd_list_free(&allocator, &c->dense, sizeof(mabd_real));
    mabd_list_free(&allocator, &c->chosen, sizeof(int32_t));
    mabd_list_free(&allocator, &c->taken, sizeof(bool));
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

size_t mabd_redmax_contacts_bytes(const mabd_redmax_contacts* c) {
    if (!c) return 0;
    return mabd_bytes(1, sizeof *c) + c->memory_size + mabd_collide_bytes(c->geometry) +
           mabd_bytes((size_t)c->points.capacity, sizeof(mabd_redmax_contact)) +
           mabd_bytes((size_t)c->reals.capacity, sizeof(mabd_real)) +
           mabd_bytes((size_t)c->columns.capacity, sizeof(int32_t)) +
           mabd_bytes((size_t)c->responses.capacity, MABD_RESPONSES * sizeof(mabd_real)) +
           mabd_bytes((size_t)c->start.capacity, sizeof(int32_t)) +
           mabd_bytes((size_t)c->dense.capacity, sizeof(mabd_real)) +
           mabd_bytes((size_t)c->chosen.capacity, sizeof(int32_t)) +
           mabd_bytes((size_t)c->taken.capacity, sizeof(bool));
}

// ---- points ------------------------------------------------------------------------------------

void mabd_redmax_contact_pose(mabd_mat3 R, mabd_vec3 center, int32_t body, mabd_real* poses) {
    mabd_m3_store(R, poses + 12 * (size_t)body);
    mabd_v3_store(center, poses + 12 * (size_t)body + 9);
}

static mabd_vec3 point_of(const mabd_real* pose, mabd_vec3 X) {
    return mabd_v3_add(mabd_m3_mul(mabd_m3_load(pose), X), mabd_v3_load(pose + 9));
}

mabd_vec3 mabd_redmax_start_velocity(const mabd_redmax_contacts* c, int32_t body, mabd_vec3 X) {
    const mabd_vec3 arm = mabd_m3_mul(mabd_m3_load(c->from + 12 * (size_t)body), X);
    return mabd_v3_add(c->velocity[2 * body], mabd_v3_cross(c->velocity[2 * body + 1], arm));
}

static void set_rest(const mabd_redmax_contacts* c, const mabd_collide_motion* motion,
                     const mabd_collide_pair* pair, const mabd_collide_point* at,
                     mabd_redmax_contact* p) {
    const mabd_real h = c->h;
    const mabd_vec3 way = mabd_collide_displacement(motion, pair->a, at->Xa, pair->b, at->Xb);
    const mabd_real u = mabd_v3_dot(p->axis[0], way), start = at->distance - u;
    const mabd_real limited = u - PUSH_SPEED * h;
    p->rest[0] = at->distance > limited ? at->distance : limited;
    p->rest[1] = mabd_v3_dot(p->axis[1], way), p->rest[2] = mabd_v3_dot(p->axis[2], way);
    const mabd_vec3 v = mabd_v3_sub(mabd_redmax_start_velocity(c, pair->b, at->Xb),
                                    mabd_redmax_start_velocity(c, pair->a, at->Xa));
    const mabd_real approach = -mabd_v3_dot(p->axis[0], v);
    const mabd_real g = mabd_v3_norm(mabd_v3_load(c->model->gravity));
    const bool hits = start < h * approach && approach > 2 * g * h; // else it comes to rest
    const mabd_real wanted = u - h * pair->surface.restitution * approach;
    if (hits && pair->surface.restitution > 0 && wanted < p->rest[0]) p->rest[0] = wanted;
}

// Curvature of the surface of a geom at a point x of it, in the tangents of a contact.
static mabd_curvature curvature_at(const mabd_redmax_contacts* c, const mabd_collide_motion* motion,
                                   int32_t geom, mabd_vec3 x, const mabd_redmax_contact* p) {
    const mabd_pose pose = mabd_collide_end_pose(c->geometry, motion, geom);
    return mabd_collider_curvature(&c->geometry->collider[geom]->shape, mabd_pose_local(&pose, x),
                                   mabd_m3_tmul(pose.rotation, p->axis[1]),
                                   mabd_m3_tmul(pose.rotation, p->axis[2]));
}

static void add_point(mabd_redmax_contacts* c, const mabd_redmax_contact_host* host,
                      const mabd_collide_motion* motion, const mabd_collide_pair* pair,
                      const mabd_collide_point* at) {
    mabd_redmax_contact* p = (mabd_redmax_contact*)c->points.data + c->points.count++;
    memset(p, 0, sizeof *p);
    p->body[0] = pair->a, p->body[1] = pair->b;
    p->X[0] = at->Xa, p->X[1] = at->Xb;
    p->axis[0] = at->normal, p->axis[1] = mabd_across(at->normal);
    p->axis[2] = mabd_v3_cross(p->axis[0], p->axis[1]);
    p->friction = pair->surface.friction, p->distance = at->distance;
    set_rest(c, motion, pair, at, p);
    memcpy(p->start, p->rest, sizeof p->start);
    for (int i = 0; i < 2; i++) {
        p->at[i] = point_of(motion->end + 12 * (size_t)p->body[i], p->X[i]);
        p->bent[i] = curvature_at(c, motion, i ? pair->h : pair->g, p->at[i], p);
        host->set_side(host->self, i, p->at[i], p);
    }
}

static mabd_real margin_of(const mabd_redmax_contacts* c) {
    const mabd_real h = c->h, g = mabd_v3_norm(mabd_v3_load(c->model->gravity));
    const mabd_real falls = MARGIN_FALLS * g * h * h;
    if (c->model->contact.margin > 0) return c->model->contact.margin;
    return falls > MARGIN_LEAST ? falls : MARGIN_LEAST;
}

mabd_status mabd_redmax_add_points(mabd_redmax_contacts* c, const mabd_redmax_contact_host* host) {
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = true, .margin = margin_of(c) + c->opening};
    MABD_TRY(mabd_collide_find_pairs(c->geometry, &motion));
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        mabd_collide_pair pair;
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        const int32_t n = mabd_collide_find_points(c->geometry, &motion, i, &pair, points);
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->points, sizeof(mabd_redmax_contact), n));
        for (int32_t k = 0; k < n; k++) add_point(c, host, &motion, &pair, &points[k]);
    }
    return MABD_OK;
}

mabd_status mabd_redmax_find_points(mabd_redmax_contacts* c, const mabd_redmax_contact_host* host) {
    c->points.count = 0, c->opening = 0;
    memset(c->touches, 0, (size_t)c->part_count * sizeof *c->touches);
    MABD_TRY(mabd_redmax_add_points(c, host));
    for (int32_t i = 0; i < c->points.count; i++) {
        const mabd_redmax_contact* p = (const mabd_redmax_contact*)c->points.data + i;
        for (int side = 0; side < 2; side++) {
            if (p->part[side] >= 0) c->touches[p->part[side]] = true;
        }
    }
    return MABD_OK;
}

// ---- results -----------------------------------------------------------------------------------

mabd_spatial mabd_redmax_contact_wrench(const mabd_redmax_contact* contact, int side) {
    mabd_spatial F = mabd_sp_zero();
    for (int k = 0; k < 3; k++) F = mabd_sp_axpy(contact->force[k], contact->row[side][k], F);
    return F;
}

void mabd_redmax_count_contacts(const mabd_redmax_contacts* c, mabd_step_info* info) {
    const mabd_redmax_contact* points = c->points.data;
    info->contact_points = c->points.count;
    for (int32_t i = 0; i < c->points.count; i++) {
        info->contacts += points[i].force[0] > 0;
        if (-points[i].end > info->penetration) info->penetration = -points[i].end;
    }
}

int32_t mabd_redmax_list_contacts(const mabd_redmax_contacts* c,
                                  mabd_rigid_state (*body)(const void* self, int32_t body),
                                  const void* self, int32_t capacity, mabd_contact_info* contacts) {
    int32_t count = 0;
    for (int32_t i = 0; c && i < c->points.count; i++) {
        const mabd_redmax_contact* p = (const mabd_redmax_contact*)c->points.data + i;
        if (!(p->force[0] > 0) || count++ >= capacity) continue;
        mabd_contact_info* out = &contacts[count - 1];
        const mabd_rigid_state b = body(self, p->body[1]);
        mabd_vec3 force = mabd_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) force = mabd_v3_axpy(p->force[k], p->axis[k], force);
        out->a = p->body[0], out->b = p->body[1];
        mabd_v3_store(mabd_v3_add(b.c, mabd_q_rotate(b.q, p->X[1])), out->point);
        mabd_v3_store(p->axis[0], out->normal);
        mabd_v3_store(force, out->force);
        out->distance = p->end;
        out->slips =
            hypot(p->force[1], p->force[2]) >= p->friction * p->force[0] * (1 - SLIPS_PART);
    }
    return count;
}
