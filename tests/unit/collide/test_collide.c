// SPDX-License-Identifier: Apache-2.0
// Tests for src/collide: contact points from poses, and their identity from call to call. Expected
// points are corners and centres of the shapes, computed here from the poses alone.
#include "collide/collide.h"

#include "math/quat.h"

#include "support/contact_rig.h"

#define MARGIN ((mabd_real)0.02)

// Poses of all bodies of a model and what is found there. With it the test moves bodies at will.
typedef struct bench {
    mabd_model* model;
    mabd_collide* collide;
    mabd_real start[12 * 4], end[12 * 4];
} bench;

static bench open_bench(mabd_scene* scene) {
    bench b = {.model = rig_model(scene)};
    const mabd_allocator allocator = mabd_default_allocator();
    cr_assert(eq(int, mabd_collide_create(b.model, &allocator, &b.collide), MABD_OK));
    for (int32_t i = 0; i < b.model->body_count; i++) {
        mabd_real v[12];
        mabd_model_to_affine(&b.model->classes[b.model->body_class[i]], &b.model->start[i],
                             b.start + 12 * i, v);
    }
    memcpy(b.end, b.start, sizeof b.end);
    return b;
}

static void close_bench(bench* b) {
    mabd_collide_destroy(b->collide);
    mabd_model_destroy(b->model);
}

static mabd_collide_motion motion_of(const bench* b) {
    const mabd_collide_motion motion = {
        .start = b->start, .end = b->end, .predicted = true, .margin = MARGIN};
    return motion;
}

// Points of the one pair that there must be.
static int32_t find(bench* b, mabd_collide_pair* pair, mabd_collide_point* points) {
    const mabd_collide_motion motion = motion_of(b);
    cr_assert(eq(int, mabd_collide_find_pairs(b->collide, &motion), MABD_OK));
    cr_assert(eq(i64, b->collide->pair_count, 1));
    return mabd_collide_find_points(b->collide, &motion, 0, pair, points);
}

static mabd_vec3 world(const mabd_real* poses, int32_t body, mabd_vec3 X) {
    const mabd_real* q = poses + 12 * body;
    return mabd_v3_add(mabd_m3_mul(mabd_m3_load(q), X), mabd_v3_load(q + 9));
}

// Turn a body at the end pose about a world axis through a point, then shift it.
static void move_body(bench* b, int32_t body, mabd_mat3 turn, mabd_vec3 about, mabd_vec3 shift) {
    mabd_real* q = b->end + 12 * body;
    const mabd_mat3 R = mabd_m3_product(turn, mabd_m3_load(q));
    const mabd_vec3 arm = mabd_v3_sub(mabd_v3_load(q + 9), about);
    const mabd_vec3 t = mabd_v3_add(mabd_v3_add(about, mabd_m3_mul(turn, arm)), shift);
    mabd_v3_store(R.c1, q), mabd_v3_store(R.c2, q + 3), mabd_v3_store(R.c3, q + 6);
    mabd_v3_store(t, q + 9);
}

static mabd_mat3 turn_about(double x, double y, double z, double angle) {
    mabd_real q[4];
    contact_turn(x, y, z, angle, q);
    return mabd_q_matrix(mabd_q_load(q));
}

// ---- a box on a plane --------------------------------------------------------------------------

static const mabd_real edges[3] = {0.4, 0.6, 0.2};

// Body 0 is the plane z <= 0, body 1 the box, 1 mm inside.
static bench box_on_plane(void) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add_ground(scene, 0.5);
    contact_body box = {.shape = MABD_SHAPE_BOX, .mass = 3, .friction = 0.5};
    memcpy(box.size, edges, sizeof edges);
    box.position[2] = edges[2] / 2 - (mabd_real)1e-3;
    contact_add(scene, &box);
    return open_bench(scene);
}

// Number 0 .. 7 of the corner of the box that a point of body 1 is, found by where it was at the
// start pose, in which the box stands along the world axes.
static int corner_of(const bench* b, mabd_vec3 X) {
    const mabd_vec3 at = world(b->start, 1, X);
    cr_expect(epsilon_eq(dbl, fabs(at.x), edges[0] / 2, 1e-12));
    cr_expect(epsilon_eq(dbl, fabs(at.y), edges[1] / 2, 1e-12));
    const double z = at.z + 1e-3 - edges[2] / 2;
    cr_expect(epsilon_eq(dbl, fabs(z), edges[2] / 2, 1e-12));
    return (at.x > 0) + 2 * (at.y > 0) + 4 * (z > 0);
}

Test(collide, a_box_on_a_plane_touches_with_its_lower_corners) {
    bench b = box_on_plane();
    mabd_collide_pair pair;
    mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
    const int32_t count = find(&b, &pair, points);
    cr_assert(eq(i32, count, 4));
    cr_expect(eq(i32, pair.a, 0));
    cr_expect(eq(i32, pair.b, 1), "b moves");
    cr_expect(epsilon_eq(dbl, pair.surface.friction, 0.5, 1e-15));
    unsigned corners = 0;
    for (int32_t k = 0; k < count; k++) {
        corners |= 1u << corner_of(&b, points[k].Xb);
        cr_expect(epsilon_eq(dbl, points[k].distance, -1e-3, 1e-14));
        cr_expect(epsilon_eq(dbl, points[k].normal.z, 1, 1e-14));
        const mabd_vec3 on_plane = world(b.end, 0, points[k].Xa);
        cr_expect(epsilon_eq(dbl, on_plane.z, 0, 1e-14));
    }
    cr_expect(eq(u32, corners, 15));
    close_bench(&b);
}

typedef struct record {
    mabd_collide_identity identity;
    int corner;
} record;

// The box slides, turns about the vertical and rocks over its edges: of every point that the last
// call had the same corner must be found, whatever order the points come in.
Test(collide, identities_follow_a_box_that_moves) {
    bench b = box_on_plane();
    record known[MABD_CONTACT_MAX_POINTS];
    int32_t known_count = 0, matched = 0, fewest = 8;
    for (int step = 0; step < 200; step++) {
        mabd_collide_pair pair;
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        memcpy(b.end, b.start, sizeof b.end);
        const double rock = 0.1 * sin(0.2 * step), turn = 0.03 * step;
        move_body(&b, 1, turn_about(1, 0, 0, rock), mabd_v3(0, 0, 0),
                  mabd_v3(0, 0, edges[1] / 2 * (mabd_real)sin(fabs(rock))));
        move_body(&b, 1, turn_about(0, 0, 1, turn), mabd_v3(0, 0, 0),
                  mabd_v3((mabd_real)0.01 * step, 0, 0));
        const int32_t count = find(&b, &pair, points);
        cr_assert(lt(i32, 0, count), "step %d", step);
        if (count < fewest) fewest = count;
        mabd_collide_known list = {.data = known, .stride = sizeof *known, .count = known_count};
        const int32_t candidates = mabd_collide_match_pair(&list, pair.key);
        cr_expect(eq(i32, candidates, known_count));
        record next[MABD_CONTACT_MAX_POINTS];
        uint32_t taken = 0;
        for (int32_t k = 0; k < count; k++) {
            next[k] = (record){{pair.key, points[k].Xb}, corner_of(&b, points[k].Xb)};
            bool was_known = false;
            for (int32_t i = 0; i < known_count; i++)
                was_known |= known[i].corner == next[k].corner;
            if (!was_known) continue;
            const int32_t match =
                mabd_collide_match_nearest(&list, candidates, points[k].Xb, &taken);
            cr_assert(ge(i32, match, 0));
            cr_expect(eq(int, known[match].corner, next[k].corner), "step %d", step);
            matched++;
        }
        memcpy(known, next, sizeof known);
        known_count = count;
    }
    cr_expect(lt(i32, fewest, 4), "corners have left");
    cr_expect(lt(i32, 400, matched));
    close_bench(&b);
}

// ---- spheres -----------------------------------------------------------------------------------

static bench two_spheres(bool light_first, double gap) {
    mabd_scene* scene = contact_scene(0);
    const double reach = 0.3 + 0.2 + gap;
    contact_body light = {.shape = MABD_SHAPE_SPHERE, .size = {0.2}, .mass = 1};
    contact_body heavy = {.shape = MABD_SHAPE_SPHERE, .size = {0.3}, .mass = 10};
    light.position[0] = (mabd_real)(0.6 * reach), light.position[1] = (mabd_real)(0.8 * reach);
    contact_add(scene, light_first ? &light : &heavy);
    contact_add(scene, light_first ? &heavy : &light);
    return open_bench(scene);
}

Test(collide, two_spheres_touch_between_their_centres) {
    const double gaps[] = {-0.01, 0.01};
    for (int i = 0; i < 4; i++) {
        bench b = two_spheres(i % 2, gaps[i / 2]);
        mabd_collide_pair pair;
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        cr_assert(eq(i32, find(&b, &pair, points), 1));
        cr_expect(eq(i32, pair.b, i % 2 ? 0 : 1), "b is the lighter one");
        cr_expect(eq(i32, pair.key.i, 0));
        cr_expect(eq(i32, pair.key.j, 1));
        cr_expect(epsilon_eq(dbl, points[0].distance, gaps[i / 2], 1e-14));
        cr_expect(epsilon_eq(dbl, points[0].normal.x, 0.6, 1e-14));
        cr_expect(epsilon_eq(dbl, points[0].normal.y, 0.8, 1e-14));
        const mabd_vec3 on_a = world(b.end, pair.a, points[0].Xa);
        cr_expect(epsilon_eq(dbl, on_a.x, 0.6 * 0.3, 1e-14));
        cr_expect(epsilon_eq(dbl, on_a.y, 0.8 * 0.3, 1e-14));
        close_bench(&b);
    }
}

Test(collide, spheres_beyond_the_margin_have_no_points) {
    bench b = two_spheres(false, 1.01 * MARGIN);
    mabd_collide_pair pair;
    mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
    const mabd_collide_motion motion = motion_of(&b);
    cr_assert(eq(int, mabd_collide_find_pairs(b.collide, &motion), MABD_OK));
    for (int64_t i = 0; i < b.collide->pair_count; i++) {
        cr_expect(eq(i32, mabd_collide_find_points(b.collide, &motion, i, &pair, points), 0));
    }
    close_bench(&b);
}

// A sphere of radius 0.1 falls from 1 m above a plate 20 mm thick to 1 m below it in one step. At
// the end pose it is beyond the plate; the point must be that of the start, with the normal up and
// the distance of the surfaces along it: -1 - 0.1 - 0.01.
Test(collide, a_fast_sphere_does_not_pass_a_thin_plate) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    const contact_body plate = {.shape = MABD_SHAPE_BOX, .size = {2, 2, 0.02}};
    contact_body sphere = {.shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1};
    sphere.position[2] = 1;
    contact_add(scene, &plate);
    contact_add(scene, &sphere);
    bench b = open_bench(scene);
    move_body(&b, 1, mabd_m3_identity(), mabd_v3(0, 0, 0), mabd_v3(0, 0, -2));
    mabd_collide_pair pair;
    mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
    cr_assert(eq(i32, find(&b, &pair, points), 1));
    cr_expect(epsilon_eq(dbl, points[0].normal.z, 1, 1e-14));
    cr_expect(epsilon_eq(dbl, points[0].distance, -1.11, 1e-14));
    const mabd_collide_motion motion = motion_of(&b);
    const mabd_vec3 moved =
        mabd_collide_displacement(&motion, pair.a, points[0].Xa, pair.b, points[0].Xb);
    cr_expect(epsilon_eq(dbl, moved.z, -2, 1e-14));
    close_bench(&b);
}

// ---- the rest ----------------------------------------------------------------------------------

// Poses with a stretch of 1 % are those of their rotations.
Test(collide, overlap_leaves_strain_out) {
    bench b = two_spheres(false, -0.01);
    mabd_real depth;
    int32_t a, c;
    for (int k = 0; k < 9; k++) b.start[k] *= (mabd_real)1.01, b.start[12 + k] *= (mabd_real)1.01;
    cr_assert(eq(int, mabd_collide_overlap(b.collide, b.start, &depth, &a, &c), MABD_OK));
    cr_expect(epsilon_eq(dbl, depth, 0.01, 1e-14));
    cr_expect(eq(i32, a, 0));
    cr_expect(eq(i32, c, 1));
    close_bench(&b);
}

Test(collide, names_the_body_whose_pose_is_no_number) {
    bench b = two_spheres(false, 0);
    const mabd_collide_motion motion = motion_of(&b);
    b.end[12 + 9] = (mabd_real)NAN;
    cr_expect(eq(int, mabd_collide_find_pairs(b.collide, &motion), MABD_ERR_DIVERGED));
    cr_expect(eq(i32, b.collide->bad_body, 1));
    close_bench(&b);
}

Test(collide, bytes_are_those_that_were_announced) {
    bench b = box_on_plane();
    cr_expect(eq(sz, mabd_collide_bytes(b.collide), mabd_collide_bytes_for(b.model)));
    close_bench(&b);
}

// ---- matching ----------------------------------------------------------------------------------

Test(match, walks_pairs_and_takes_each_record_once) {
    const mabd_collide_identity known[] = {
        {{0, 1}, {0, 0, 0}}, {{0, 1}, {1, 0, 0}}, {{0, 4}, {2, 0, 0}}, {{3, 4}, {3, 0, 0}}};
    mabd_collide_known list = {.data = known, .stride = sizeof *known, .count = 4};
    uint32_t taken = 0;
    cr_expect(eq(i32, mabd_collide_match_pair(&list, (mabd_collide_key){0, 1}), 2));
    cr_expect(eq(i32, mabd_collide_match_nearest(&list, 2, mabd_v3(0.6, 0, 0), &taken), 1));
    cr_expect(eq(i32, mabd_collide_match_nearest(&list, 2, mabd_v3(0.9, 0, 0), &taken), 0));
    cr_expect(eq(i32, mabd_collide_match_nearest(&list, 2, mabd_v3(0, 0, 0), &taken), -1));
    cr_expect(eq(i32, mabd_collide_match_pair(&list, (mabd_collide_key){0, 3}), 0));
    cr_expect(eq(i32, mabd_collide_match_pair(&list, (mabd_collide_key){3, 4}), 1));
    taken = 0;
    cr_expect(eq(i32, mabd_collide_match_nearest(&list, 1, mabd_v3(0, 0, 0), &taken), 3));
    cr_expect(eq(i32, mabd_collide_match_pair(&list, (mabd_collide_key){9, 10}), 0));
}
