// SPDX-License-Identifier: Apache-2.0
// Contact points of a step: search, impulses of the last step, order of the sweeps.
//
// Points are those where the bodies would be after the step with the velocities at its start
// (collide/collide.h); a pair that comes close too fast for that has those of the start. Rows are
// linear in the motion and hold the distance, so nothing passes (speculative contact).
//
// Impulses are matched by the pair of geoms and the nearest point on body b, not by the number of
// the feature: faces of equal boxes change between corners and cuts, and a stack of ten then lost a
// fifth of its impulses in half a second and fell.

#include "contact/points.h"
#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "math/frame_exp.h"
#include "math/lanes.h"

#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

static void lay_out(mabd_impulse_contacts* c, mabd_arena* arena) {
    const size_t bodies = (size_t)c->model->body_count;
    c->from = mabd_arena_take(arena, 12 * bodies, sizeof *c->from);
    c->to = mabd_arena_take(arena, 12 * bodies, sizeof *c->to);
    c->marks = mabd_arena_take(arena, bodies, sizeof *c->marks);
}

mabd_status mabd_impulse_contacts_create(const mabd_model* model, const mabd_allocator* allocator,
                                         mabd_impulse_contacts** out) {
    mabd_arena arena = {0};
    *out = NULL;
    if (!model->contact.enabled) return MABD_OK;
    mabd_impulse_contacts* c = *out = mabd_alloc(allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = *allocator, c->model = model;
    lay_out(c, &arena);
    MABD_TRY(mabd_arena_allocate(&c->allocator, &arena));
    c->memory = arena.memory, c->memory_size = arena.size;
    lay_out(c, &arena);
    return mabd_collide_create(model, &c->allocator, &c->geometry);
}

/// The lists of contacts and the sizes of their elements.
typedef struct contact_list {
    mabd_list* list;
    size_t element;
} contact_list;
#define LISTS 12

static void list_all(mabd_impulse_contacts* c, contact_list lists[LISTS]) {
    const contact_list all[LISTS] = {
        {&c->points, sizeof(mabd_impulse_point)},
        {&c->manifolds, sizeof(mabd_impulse_manifold)},
        {&c->kept, sizeof(mabd_impulse_kept)},
        {&c->next_kept, sizeof(mabd_impulse_kept)},
        {&c->items, sizeof(mabd_impulse_item)},
        {&c->color, sizeof(uint8_t)},
        {&c->pack_kind, sizeof(uint8_t)},
        {&c->phase_first, sizeof(int32_t)},
        {&c->tile, sizeof(int32_t)},
        {&c->tile_pack, sizeof(int32_t)},
        {&c->pack_item, sizeof(int32_t)},
        {&c->place, sizeof(int32_t)},
    };
    memcpy(lists, all, sizeof all);
}

void mabd_impulse_contacts_destroy(mabd_impulse_contacts* c) {
    contact_list lists[LISTS];
    if (!c) return;
    const mabd_allocator allocator = c->allocator;
    mabd_collide_destroy(c->geometry);
    list_all(c, lists);
    for (int i = 0; i < LISTS; i++) mabd_list_free(&allocator, lists[i].list, lists[i].element);
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

size_t mabd_impulse_contacts_bytes(const mabd_impulse_contacts* c) {
    contact_list lists[LISTS];
    if (!c) return 0;
    size_t bytes = mabd_bytes(1, sizeof *c) + c->memory_size + mabd_collide_bytes(c->geometry);
    list_all((mabd_impulse_contacts*)c, lists);
    for (int i = 0; i < LISTS; i++) {
        bytes += mabd_bytes((size_t)lists[i].list->capacity, lists[i].element);
    }
    return bytes;
}

// ---- poses -------------------------------------------------------------------------------------

static void write_pose(mabd_mat3 R, mabd_vec3 center, int32_t body, mabd_real* poses) {
    mabd_m3_store(R, poses + 12 * (size_t)body);
    mabd_v3_store(center, poses + 12 * (size_t)body + 9);
}

void mabd_impulse_write_poses(const mabd_impulse_sim* sim, mabd_real* poses) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        write_pose(sim->poses[i].R, sim->poses[i].c, i, poses);
    }
}

// Poses after the step with the velocities at its start.
static void predict(const mabd_impulse_sim* sim, mabd_real* poses) {
    const mabd_real h = sim->def.h;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_impulse_line* line = &sim->lines[i];
        const mabd_quat turn = mabd_q_exp(mabd_v3_scale(h, mabd_v3_load(line->w)));
        const mabd_vec3 c = mabd_v3_axpy(h, mabd_v3_load(line->v), sim->poses[i].c);
        write_pose(mabd_m3_product(mabd_q_matrix(turn), sim->poses[i].R), c, i, poses);
    }
}

// ---- points ------------------------------------------------------------------------------------

static void set_tangents(mabd_impulse_point* p) {
    p->t1 = mabd_across(p->normal);
    p->t2 = mabd_v3_cross(p->normal, p->t1);
}

// Take the impulses of the point of the last step nearest to p, if its pair had points.
static void take_impulses(mabd_collide_known* known, int32_t count, uint32_t* taken,
                          mabd_impulse_point* p) {
    const int32_t k = mabd_collide_match_nearest(known, count, p->Xb, taken);
    if (k < 0) return;
    const mabd_impulse_kept* kept = (const mabd_impulse_kept*)known->data + k;
    p->l = kept->normal;
    p->l1 = mabd_v3_dot(kept->friction, p->t1), p->l2 = mabd_v3_dot(kept->friction, p->t2);
}

// Rate of the distance of a point, at the poses of sim.
static mabd_real approach_of(const mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                             const mabd_impulse_point* p) {
    const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[m->a], &sim->lines[m->b]);
    const mabd_vec3 ra = mabd_m3_mul(sim->poses[m->a].R, p->Xa);
    const mabd_vec3 rb = mabd_m3_mul(sim->poses[m->b].R, p->Xb);
    const mabd_vec3 of_a = mabd_v3_add(V.va, mabd_v3_cross(V.wa, ra));
    const mabd_vec3 of_b = mabd_v3_add(V.vb, mabd_v3_cross(V.wb, rb));
    return mabd_v3_dot(p->normal, mabd_v3_sub(of_b, of_a));
}

static mabd_status add_pair(mabd_impulse_sim* sim, const mabd_collide_motion* motion, int64_t pair,
                            mabd_collide_known* known) {
    mabd_impulse_contacts* c = sim->contacts;
    mabd_collide_pair found;
    mabd_collide_point at[MABD_CONTACT_MAX_POINTS];
    const int32_t n = mabd_collide_find_points(c->geometry, motion, pair, &found, at);
    if (n == 0) return MABD_OK;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->points, sizeof(mabd_impulse_point), n));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->manifolds, sizeof(mabd_impulse_manifold), 1));
    mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, c->manifolds.count++);
    const mabd_impulse_manifold made = {found.a,
                                        found.b,
                                        c->points.count,
                                        n,
                                        found.key,
                                        found.surface.friction,
                                        found.surface.restitution};
    *m = made;
    const int32_t count = mabd_collide_match_pair(known, found.key);
    uint32_t taken = 0;
    for (int32_t k = 0; k < n; k++) {
        mabd_impulse_point* p = mabd_impulse_point_at(c, c->points.count++);
        memset(p, 0, sizeof *p);
        p->Xa = at[k].Xa, p->Xb = at[k].Xb, p->normal = at[k].normal;
        set_tangents(p);
        take_impulses(known, count, &taken, p);
        p->approach = approach_of(sim, m, p);
    }
    return MABD_OK;
}

static mabd_real margin_of(const mabd_impulse_sim* sim) {
    const mabd_real h = sim->def.h, g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const mabd_real falls = MABD_IMPULSE_MARGIN_FALLS * g * h * h;
    if (sim->model->contact.margin > 0) return sim->model->contact.margin;
    return falls > MABD_IMPULSE_MARGIN_LEAST ? falls : MABD_IMPULSE_MARGIN_LEAST;
}

// ---- order -------------------------------------------------------------------------------------

static mabd_status reserve(mabd_impulse_contacts* c, mabd_list* list, size_t element, int32_t n) {
    list->count = 0;
    return mabd_list_reserve(&c->allocator, list, element, n);
}

static mabd_status color_manifolds(mabd_impulse_contacts* c) {
    const int32_t n = c->manifolds.count, tiles = mabd_impulse_tiles(n);
    MABD_TRY(reserve(c, &c->items, sizeof(mabd_impulse_item), n));
    MABD_TRY(reserve(c, &c->color, sizeof(uint8_t), n));
    MABD_TRY(reserve(c, &c->phase_first, sizeof(int32_t), tiles + 1));
    MABD_TRY(reserve(c, &c->tile, sizeof(int32_t), tiles));
    MABD_TRY(reserve(c, &c->tile_pack, sizeof(int32_t), tiles + 1));
    mabd_impulse_item* items = c->items.data;
    const uint8_t* motion = c->model->body_motion;
    for (int32_t i = 0; i < n; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        items[i].a = motion[m->a] == MABD_MOTION_DYNAMIC ? m->a : -1;
        items[i].b = motion[m->b] == MABD_MOTION_DYNAMIC ? m->b : -1;
        items[i].kind = m->count;
    }
    c->order.levels = true;
    c->order.color = c->color.data, c->order.phase_first = c->phase_first.data;
    c->order.tile = c->tile.data, c->order.tile_pack = c->tile_pack.data;
    mabd_impulse_order_color(n, items, c->model->body_count, c->marks, &c->order);
    return MABD_OK;
}

static mabd_status sort_manifolds(mabd_impulse_contacts* c) {
    memset(&c->order, 0, sizeof c->order);
    if (c->manifolds.count == 0) return MABD_OK;
    MABD_TRY(color_manifolds(c));
    MABD_TRY(reserve(c, &c->pack_kind, sizeof(uint8_t), c->order.pack_count));
    MABD_TRY(reserve(c, &c->pack_item, sizeof(int32_t), MABD_LANES * c->order.pack_count));
    MABD_TRY(reserve(c, &c->place, sizeof(int32_t), c->manifolds.count));
    c->order.pack_kind = c->pack_kind.data, c->order.pack_item = c->pack_item.data;
    c->order.place = c->place.data;
    mabd_impulse_order_pack(c->items.data, &c->order);
    return MABD_OK;
}

mabd_status mabd_impulse_find_contacts(mabd_impulse_sim* sim) {
    mabd_impulse_contacts* c = sim->contacts;
    mabd_collide_known known = {c->kept.data, sizeof(mabd_impulse_kept), c->kept.count, 0};
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = true, .margin = margin_of(sim)};
    c->points.count = c->manifolds.count = 0;
    mabd_impulse_write_poses(sim, c->from);
    predict(sim, c->to);
    MABD_TRY(mabd_collide_find_pairs(c->geometry, &motion));
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        MABD_TRY(add_pair(sim, &motion, i, &known));
    }
    return sort_manifolds(c);
}

mabd_status mabd_impulse_keep_contacts(mabd_impulse_sim* sim) {
    mabd_impulse_contacts* c = sim->contacts;
    c->next_kept.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->next_kept, sizeof(mabd_impulse_kept),
                               c->points.count));
    mabd_impulse_kept* to = c->next_kept.data;
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            mabd_impulse_kept* kept = &to[c->next_kept.count++];
            memset(kept, 0, sizeof *kept);
            kept->id.key = m->key, kept->id.X = p->Xb, kept->normal = p->l;
            kept->friction = mabd_v3_axpy(p->l2, p->t2, mabd_v3_scale(p->l1, p->t1));
        }
    }
    const mabd_list last = c->kept;
    c->kept = c->next_kept, c->next_kept = last;
    return MABD_OK;
}
