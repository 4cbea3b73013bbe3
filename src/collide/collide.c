// SPDX-License-Identifier: Apache-2.0
#include "collide/collide.h"

#include "contact/bounds.h"
#include "math/polar.h"

#include <math.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

// Geoms of bodies first .. last - 1, and how many of them are planes.
static int32_t count_geoms(const mabd_model* m, int32_t first, int32_t last, int32_t* planes) {
    int32_t geoms = 0;
    *planes = 0;
    for (int32_t body = first; body < last; body++) {
        int32_t count;
        const mabd_model_collider* colliders = mabd_model_colliders(m, body, &count);
        geoms += count;
        for (int32_t k = 0; k < count; k++) {
            *planes += colliders[k].shape.kind == MABD_COLLIDER_PLANE;
        }
    }
    return geoms;
}

// Geoms of all bodies, and of the copy with the most; a model without copies counts as one copy.
static void count_all(mabd_collide* c, const mabd_model* m) {
    c->copy_count = m->copy_count > 0 ? m->copy_count : 1;
    c->copy_bodies = m->body_count / c->copy_count;
    c->geom_count = c->plane_count = c->copy_geoms = 0;
    for (int32_t i = 0; i < c->copy_count; i++) {
        int32_t planes;
        const int32_t first = i * c->copy_bodies;
        const int32_t geoms = count_geoms(m, first, first + c->copy_bodies, &planes);
        c->geom_count += geoms, c->plane_count += planes;
        if (geoms > c->copy_geoms) c->copy_geoms = geoms;
    }
}

static void lay_out(mabd_collide* c, mabd_arena* arena) {
    const size_t geoms = (size_t)c->geom_count, copies = (size_t)c->copy_count + 1;
    c->collider = mabd_arena_take(arena, geoms, sizeof *c->collider);
    c->geoms = mabd_arena_take(arena, geoms, sizeof *c->geoms);
    c->boxes = mabd_arena_take(arena, geoms, sizeof *c->boxes);
    c->planes = mabd_arena_take(arena, (size_t)c->plane_count, sizeof *c->planes);
    c->geom_first = mabd_arena_take(arena, copies, sizeof *c->geom_first);
    c->plane_first = mabd_arena_take(arena, copies, sizeof *c->plane_first);
    c->thickness = mabd_arena_take(arena, geoms, sizeof *c->thickness);
    c->reach = mabd_arena_take(arena, geoms, sizeof *c->reach);
}

static void fill_geom(mabd_collide* c, int32_t geom, int32_t body, const mabd_model_collider* on) {
    mabd_broad_geom* to = &c->geoms[geom];
    c->collider[geom] = on;
    to->body = body;
    to->category = on->category;
    to->mask = on->mask;
    to->moving = c->model->body_motion[body] == MABD_MOTION_DYNAMIC;
    c->thickness[geom] = mabd_collider_thickness(&on->shape);
    if (to->moving && c->thickness[geom] < c->thin) c->thin = c->thickness[geom];
    c->reach[geom] = mabd_collider_reach(&on->shape) + mabd_v3_norm(on->pose.position);
}

static void fill_geoms(mabd_collide* c) {
    int32_t geom = 0, plane = 0;
    c->thin = (mabd_real)INFINITY;
    for (int32_t body = 0; body < c->model->body_count; body++) {
        const int32_t copy = body / c->copy_bodies;
        int32_t count;
        const mabd_model_collider* colliders = mabd_model_colliders(c->model, body, &count);
        if (body % c->copy_bodies == 0) c->geom_first[copy] = geom, c->plane_first[copy] = plane;
        for (int32_t k = 0; k < count; k++, geom++) {
            fill_geom(c, geom, body, &colliders[k]);
            if (colliders[k].shape.kind != MABD_COLLIDER_PLANE) continue;
            c->planes[plane++].geom = geom - c->geom_first[copy];
        }
    }
    c->geom_first[c->copy_count] = geom, c->plane_first[c->copy_count] = plane;
}

// The broad phase handles one copy at a time.
static mabd_broad_def broad_def(const mabd_model* m, const mabd_collide* c) {
    mabd_broad_def def = {.geom_capacity = c->copy_geoms, .body_count = m->body_count};
    def.exclusion_count = m->contact.exclusion_count;
    def.exclusions = (const int32_t(*)[2])m->contact.exclusions;
    def.member_count = m->contact.member_count;
    def.members = (const int32_t(*)[2])m->contact.members;
    def.exception_count = m->contact.exception_count;
    def.exceptions = (const int32_t(*)[2])m->contact.exceptions;
    return def;
}

static mabd_status fill(mabd_collide* c) {
    mabd_arena arena = {0};
    lay_out(c, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    c->memory = mabd_alloc(&c->allocator, arena.used);
    if (!c->memory) return MABD_ERR_MEMORY;
    c->memory_size = arena.used;
    arena = (mabd_arena){.memory = c->memory, .size = arena.used};
    lay_out(c, &arena);
    fill_geoms(c);
    const mabd_broad_def def = broad_def(c->model, c);
    return mabd_broad_create(&c->allocator, &def, &c->broad);
}

mabd_status mabd_collide_create(const mabd_model* m, const mabd_allocator* allocator,
                                mabd_collide** out) {
    *out = NULL;
    mabd_collide* c = mabd_alloc(allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->model = m;
    c->allocator = *allocator;
    count_all(c, m);
    if (fill(c) != MABD_OK) {
        mabd_collide_destroy(c);
        return MABD_ERR_MEMORY;
    }
    *out = c;
    return MABD_OK;
}

void mabd_collide_destroy(mabd_collide* c) {
    if (!c) return;
    const mabd_allocator allocator = c->allocator;
    mabd_broad_destroy(c->broad);
    mabd_list_free(&allocator, &c->found, sizeof(mabd_broad_pair));
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

size_t mabd_collide_bytes(const mabd_collide* c) {
    return sizeof *c + c->memory_size + mabd_broad_bytes(c->broad) +
           mabd_bytes((size_t)c->found.capacity, sizeof(mabd_broad_pair));
}

size_t mabd_collide_bytes_for(const mabd_model* m) {
    mabd_collide c = {.model = m};
    mabd_arena arena = {0};
    count_all(&c, m);
    lay_out(&c, &arena);
    const mabd_broad_def def = broad_def(m, &c);
    const size_t broad = mabd_broad_bytes_for(&def);
    if (arena.used == SIZE_MAX || broad == SIZE_MAX) return SIZE_MAX;
    return arena.used + broad + sizeof c;
}

// ---- poses -------------------------------------------------------------------------------------

static mabd_vec3 point_of(const mabd_real* poses, int32_t body, mabd_vec3 X) {
    poses += 12 * (size_t)body;
    return mabd_v3_add(mabd_m3_mul(mabd_m3_load(poses), X), mabd_v3_load(poses + 9));
}

static mabd_vec3 local_of(const mabd_real* poses, int32_t body, mabd_vec3 x) {
    poses += 12 * (size_t)body;
    return mabd_m3_tmul(mabd_m3_load(poses), mabd_v3_sub(x, mabd_v3_load(poses + 9)));
}

// Pose of a geom; strained: the rotation of the body is the polar part of its matrix.
static mabd_pose pose_of(const mabd_collide* c, int32_t geom, const mabd_real* poses,
                         bool strained) {
    const mabd_model_collider* collider = c->collider[geom];
    poses += 12 * (size_t)c->geoms[geom].body;
    mabd_mat3 R = mabd_m3_load(poses);
    if (strained) {
        const mabd_mat3 A = R;
        R = mabd_m3_identity();
        mabd_polar(A, &R);
    }
    mabd_pose pose;
    pose.rotation = mabd_m3_product(R, collider->pose.rotation);
    pose.position = mabd_v3_add(mabd_m3_mul(R, collider->pose.position), mabd_v3_load(poses + 9));
    return pose;
}

mabd_pose mabd_collide_end_pose(const mabd_collide* c, const mabd_collide_motion* motion,
                                int32_t geom) {
    return pose_of(c, geom, motion->end, false);
}

static mabd_pose start_pose(const mabd_collide* c, const mabd_collide_motion* motion,
                            int32_t geom) {
    return pose_of(c, geom, motion->start, motion->strained);
}

mabd_vec3 mabd_collide_displacement(const mabd_collide_motion* motion, int32_t a, mabd_vec3 Xa,
                                    int32_t b, mabd_vec3 Xb) {
    const mabd_vec3 of_b =
        mabd_v3_sub(point_of(motion->end, b, Xb), point_of(motion->start, b, Xb));
    const mabd_vec3 of_a =
        mabd_v3_sub(point_of(motion->end, a, Xa), point_of(motion->start, a, Xa));
    return mabd_v3_sub(of_b, of_a);
}

// Upper bound of the displacement of any point of a geom from start to end [m].
static mabd_real most_displacement(const mabd_collide* c, const mabd_collide_motion* motion,
                                   int32_t geom) {
    const size_t at = 12 * (size_t)c->geoms[geom].body;
    const mabd_real *from = motion->start + at, *to = motion->end + at;
    mabd_real turn = 0, shift = 0;
    for (int k = 0; k < 9; k++) turn += (to[k] - from[k]) * (to[k] - from[k]);
    for (int k = 9; k < 12; k++) shift += (to[k] - from[k]) * (to[k] - from[k]);
    return (mabd_real)sqrt(shift) + c->reach[geom] * (mabd_real)sqrt(turn);
}

// ---- pairs -------------------------------------------------------------------------------------

static void join_boxes(mabd_broad_box* box, const mabd_broad_box* other) {
    for (int k = 0; k < 3; k++) {
        if (other->lo[k] < box->lo[k]) box->lo[k] = other->lo[k];
        if (other->hi[k] > box->hi[k]) box->hi[k] = other->hi[k];
    }
}

// Box of a geom at a pose; of a plane its half space too, planes in the order of their geoms.
static void fill_box(mabd_collide* c, int32_t geom, const mabd_pose* pose, mabd_real margin,
                     int32_t* plane) {
    const mabd_collider* shape = &c->collider[geom]->shape;
    c->boxes[geom] = mabd_collider_box(shape, pose, margin / 2);
    if (shape->kind != MABD_COLLIDER_PLANE) return;
    mabd_broad_plane* half_space = &c->planes[(*plane)++];
    mabd_v3_store(pose->rotation.c3, half_space->normal);
    half_space->offset = mabd_v3_dot(pose->rotation.c3, pose->position) + margin;
}

// Boxes at the end of the motion; of geoms that move by more than half their thickness around both
// ends.
static void fill_boxes(mabd_collide* c, const mabd_collide_motion* motion) {
    int32_t plane = 0;
    for (int32_t i = 0; i < c->geom_count; i++) {
        const mabd_pose pose = mabd_collide_end_pose(c, motion, i);
        fill_box(c, i, &pose, motion->margin, &plane);
        if (!(most_displacement(c, motion, i) > c->thickness[i] / 2)) continue;
        const mabd_pose start = start_pose(c, motion, i);
        const mabd_broad_box box =
            mabd_collider_box(&c->collider[i]->shape, &start, motion->margin / 2);
        join_boxes(&c->boxes[i], &box);
    }
}

// Pairs of one copy, geoms counted from its first.
static mabd_status find_copy(mabd_collide* c, int32_t copy, mabd_broad_result* result) {
    const int32_t geom = c->geom_first[copy], plane = c->plane_first[copy];
    const mabd_broad_input input = {c->geom_first[copy + 1] - geom,
                                    c->plane_first[copy + 1] - plane, c->geoms + geom,
                                    c->boxes + geom, c->planes + plane};
    mabd_status status = mabd_broad_update(c->broad, &input, result, NULL);
    if (status == MABD_ERR_MEMORY) {
        MABD_TRY(mabd_broad_reserve(c->broad, result->count + result->count / 2));
        status = mabd_broad_update(c->broad, &input, result, NULL);
    }
    if (status != MABD_ERR_ARG) return status;
    c->bad_body = c->geoms[geom + result->bad_geom].body; // a box that is no number
    return MABD_ERR_DIVERGED;
}

// Copy by copy: geoms of different copies are no pairs even where they share a place, and the broad
// phase never sees them together.
static mabd_status pair_boxes(mabd_collide* c) {
    mabd_broad_result result;
    c->pair_count = c->found.count = 0;
    for (int32_t copy = 0; copy < c->copy_count; copy++) {
        const int32_t first = c->geom_first[copy];
        MABD_TRY(find_copy(c, copy, &result));
        if (c->copy_count == 1) {
            c->pairs = result.pairs, c->pair_count = result.count;
            return MABD_OK;
        }
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->found, sizeof *c->pairs, result.count));
        mabd_broad_pair* to = (mabd_broad_pair*)c->found.data + c->found.count;
        for (int64_t k = 0; k < result.count; k++) {
            to[k].i = first + result.pairs[k].i, to[k].j = first + result.pairs[k].j;
        }
        c->found.count += (int32_t)result.count;
    }
    c->pairs = c->found.data, c->pair_count = c->found.count;
    return MABD_OK;
}

mabd_status mabd_collide_find_pairs(mabd_collide* c, const mabd_collide_motion* motion) {
    fill_boxes(c, motion);
    return pair_boxes(c);
}

// ---- points ------------------------------------------------------------------------------------

static mabd_real mass_of(const mabd_model* m, int32_t body) {
    return m->classes[m->body_class[body]].material.mass;
}

static mabd_collide_pair view_pair(const mabd_collide* c, const mabd_broad_pair* pair) {
    const mabd_model* m = c->model;
    const mabd_broad_geom *i = &c->geoms[pair->i], *j = &c->geoms[pair->j];
    const bool turned = !j->moving || (i->moving && mass_of(m, i->body) < mass_of(m, j->body));
    mabd_collide_pair view = {.g = turned ? pair->j : pair->i, .h = turned ? pair->i : pair->j};
    view.a = c->geoms[view.g].body, view.b = c->geoms[view.h].body;
    view.key.i = pair->i, view.key.j = pair->j;
    view.surface = mabd_model_surface(m, view.a, c->collider[view.g], view.b, c->collider[view.h]);
    return view;
}

static int32_t narrow(const mabd_collide* c, const mabd_collide_pair* pair, const mabd_pose* pa,
                      const mabd_pose* pb, mabd_real margin, mabd_contact_point* out) {
    return mabd_narrow(&c->collider[pair->g]->shape, pa, &c->collider[pair->h]->shape, pb, margin,
                       out);
}

// Points at the start pose, if the pair comes closer in the step by more than half its thickness;
// else 0.
static int32_t points_at_start(const mabd_collide* c, const mabd_collide_motion* motion,
                               const mabd_collide_pair* pair, mabd_contact_point* out) {
    const mabd_real thin = (mabd_real)fmin(c->thickness[pair->g], c->thickness[pair->h]) / 2;
    const mabd_real most =
        most_displacement(c, motion, pair->g) + most_displacement(c, motion, pair->h);
    if (!(most > thin)) return 0;
    const mabd_pose pa = start_pose(c, motion, pair->g), pb = start_pose(c, motion, pair->h);
    const int32_t count = narrow(c, pair, &pa, &pb, motion->margin + most, out);
    mabd_real closer = 0;
    for (int32_t k = 0; k < count; k++) {
        const mabd_vec3 Xa = local_of(motion->start, pair->a, out[k].on_a),
                        Xb = local_of(motion->start, pair->b, out[k].on_b);
        const mabd_vec3 between =
            mabd_v3_sub(point_of(motion->end, pair->b, Xb), point_of(motion->end, pair->a, Xa));
        const mabd_real approach = out[k].distance - mabd_v3_dot(out[k].normal, between);
        if (approach > closer) closer = approach;
    }
    return closer > thin ? count : 0;
}

// A pair that rebounds is found as far as it may have come.
static int32_t points_at_end(const mabd_collide* c, const mabd_collide_motion* motion,
                             const mabd_collide_pair* pair, mabd_contact_point* out) {
    const mabd_pose pa = mabd_collide_end_pose(c, motion, pair->g),
                    pb = mabd_collide_end_pose(c, motion, pair->h);
    mabd_real margin = motion->margin;
    if (pair->surface.restitution > 0) {
        margin += most_displacement(c, motion, pair->g) + most_displacement(c, motion, pair->h);
    }
    return narrow(c, pair, &pa, &pb, margin, out);
}

// A prediction may have fast bodies beyond each other, so points at the start pose decide. An
// iterate has better points, unless they are on the other side. Returns their number; *poses gets
// the poses that they were found at.
static int32_t choose_points(const mabd_collide* c, const mabd_collide_motion* motion,
                             const mabd_collide_pair* pair, mabd_contact_point* out,
                             const mabd_real** poses) {
    mabd_contact_point start[MABD_CONTACT_MAX_POINTS];
    const int32_t count = points_at_start(c, motion, pair, start);
    *poses = motion->end;
    if (count == 0 || !motion->predicted) {
        const int32_t at_end = points_at_end(c, motion, pair, out);
        if (count == 0) return at_end;
        if (at_end > 0 && mabd_v3_dot(start[0].normal, out[0].normal) > 0) return at_end;
    }
    memcpy(out, start, (size_t)count * sizeof *out);
    *poses = motion->start;
    return count;
}

int32_t mabd_collide_find_points(const mabd_collide* c, const mabd_collide_motion* motion,
                                 int64_t i, mabd_collide_pair* pair,
                                 mabd_collide_point points[MABD_CONTACT_MAX_POINTS]) {
    mabd_contact_point found[MABD_CONTACT_MAX_POINTS];
    const mabd_real* poses;
    *pair = view_pair(c, &c->pairs[i]);
    const int32_t count = choose_points(c, motion, pair, found, &poses);
    for (int32_t k = 0; k < count; k++) {
        mabd_collide_point* p = &points[k];
        p->Xa = local_of(poses, pair->a, found[k].on_a);
        p->Xb = local_of(poses, pair->b, found[k].on_b);
        p->normal = found[k].normal;
        p->distance = found[k].distance;
        p->feature = found[k].feature;
        if (poses == motion->end) continue;
        const mabd_vec3 moved = mabd_collide_displacement(motion, pair->a, p->Xa, pair->b, p->Xb);
        p->distance += mabd_v3_dot(p->normal, moved);
    }
    return count;
}

// ---- overlap of a state ------------------------------------------------------------------------

mabd_status mabd_collide_overlap(mabd_collide* c, const mabd_real* q, mabd_real* depth, int32_t* a,
                                 int32_t* b) {
    int32_t plane = 0;
    *depth = 0, *a = *b = -1;
    for (int32_t i = 0; i < c->geom_count; i++) {
        const mabd_pose pose = pose_of(c, i, q, true);
        fill_box(c, i, &pose, 0, &plane);
    }
    MABD_TRY(pair_boxes(c));
    for (int64_t i = 0; i < c->pair_count; i++) {
        const mabd_collide_pair pair = {.g = c->pairs[i].i, .h = c->pairs[i].j};
        mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
        const mabd_pose pa = pose_of(c, pair.g, q, true), pb = pose_of(c, pair.h, q, true);
        const int32_t count = narrow(c, &pair, &pa, &pb, 0, points);
        for (int32_t k = 0; k < count; k++) {
            if (!(-points[k].distance > *depth)) continue;
            *depth = -points[k].distance;
            *a = c->geoms[pair.g].body, *b = c->geoms[pair.h].body;
        }
    }
    c->pair_count = 0; // the next step finds its own
    return MABD_OK;
}
