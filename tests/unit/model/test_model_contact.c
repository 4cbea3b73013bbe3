// SPDX-License-Identifier: Apache-2.0
// Tests for src/model/contacts.c: colliders in the model's frames, pairs and exclusions; a model
// without contacts is unchanged.
#include "mabd/batch.h"
#include "mabd/generate.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "support/counting_allocator.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static mabd_scene* scene;
static mabd_model* model;
static mabd_error error;

static void setup(void) {
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
}

static void teardown(void) {
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}

TestSuite(model_contact, .init = setup, .fini = teardown);

static void enable(bool neighbours) {
    mabd_contact_def def = mabd_default_contact_def();
    def.enabled = true, def.neighbours = neighbours, def.margin = 0.125;
    cr_assert(eq(int, mabd_scene_set_contact(scene, &def, &error), MABD_OK));
}

static void build(void) {
    mabd_model_destroy(model);
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
}

static void add_balls(int32_t n) {
    const mabd_real size[3] = {0.1, 0, 0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 1, def.geoms = &geom;
    for (int32_t i = 0; i < n; i++) {
        def.position[0] = i;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
}

static void add_joint(int32_t a, int32_t b) {
    mabd_joint_def def = mabd_default_joint_def();
    def.a = a, def.b = b;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
}

static void set_pair(mabd_pair_def def) {
    cr_assert(eq(int, mabd_scene_set_pair(scene, &def, &error), MABD_OK), "%s", error.text);
}

// ---- frames ------------------------------------------------------------------------------------

static void draw_geom(uint64_t* state, int32_t k, mabd_geom* geom) {
    static const mabd_shape shapes[] = {MABD_SHAPE_BOX, MABD_SHAPE_CAPSULE, MABD_SHAPE_CYLINDER,
                                        MABD_SHAPE_SPHERE};
    mabd_real size[3];
    for (int i = 0; i < 3; i++) size[i] = 0.3 + 0.2 * draw_real(state);
    *geom = mabd_geom_make(shapes[k % 4], size, 500 + 400 * draw_real(state));
    mabd_v3_store(draw_vec3(state, 1), geom->position);
    mabd_q_store(mabd_q_from_matrix(draw_rotation(state)), geom->rotation);
    geom->friction = fabs(draw_real(state)), geom->restitution = fabs(draw_real(state));
    geom->category = 1u << k % 32, geom->mask = ~geom->category;
}

// Compare the start pose of a body in the scene, x + R (p + Q X), with q = (A, t) of the model and
// the collider's own pose, A (P + S X) + t.
Test(model_contact, colliders_stand_where_the_scene_puts_their_geoms) {
    enum { BODIES = 50, GEOMS = 3 };
    uint64_t state = 5;
    mabd_geom geoms[BODIES][GEOMS];
    mabd_body_def def = mabd_default_body_def();
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < GEOMS; k++) draw_geom(&state, i + k, &geoms[i][k]);
        def.geom_count = GEOMS, def.geoms = geoms[i];
        def.motion = i % 5 == 4 ? MABD_MOTION_FIXED : MABD_MOTION_DYNAMIC;
        mabd_v3_store(draw_vec3(&state, 5), def.position);
        mabd_q_store(mabd_q_from_matrix(draw_rotation(&state)), def.rotation);
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK), "%s",
                  error.text);
    }
    enable(false);
    build();
    for (int32_t i = 0; i < BODIES; i++) {
        int32_t count;
        const mabd_model_collider* colliders = mabd_model_colliders(model, i, &count);
        const mabd_model_start* start = &model->start[i];
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(start->rotation));
        mabd_real q[12], v[12];
        mabd_model_to_affine(&model->classes[model->body_class[i]], start, q, v);
        const mabd_pose body = {mabd_v3_load(q + 9), mabd_m3_load(q)};
        cr_assert(eq(i32, count, GEOMS));
        for (int k = 0; k < GEOMS; k++) {
            const mabd_geom* geom = &geoms[i][k];
            const mabd_vec3 X = draw_vec3(&state, 1);
            const mabd_vec3 local = mabd_v3_add(mabd_v3_load(geom->position),
                                                mabd_q_rotate(mabd_q_load(geom->rotation), X));
            const mabd_vec3 wanted =
                mabd_v3_add(mabd_v3_load(start->position), mabd_m3_mul(R, local));
            const mabd_vec3 found = mabd_pose_point(&body, mabd_pose_point(&colliders[k].pose, X));
            cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(found, wanted)), 1e-13));
            cr_expect(eq(dbl, colliders[k].friction, geom->friction));
            cr_expect(eq(dbl, colliders[k].restitution, geom->restitution));
            cr_expect(eq(u32, colliders[k].category, geom->category));
            cr_expect(eq(u32, colliders[k].mask, geom->mask));
            cr_expect(eq(dbl, colliders[k].shape.size[0], geom->size[0]));
        }
    }
}

Test(model_contact, kinds_fields_and_masks) {
    static const mabd_collider_kind kinds[] = {MABD_COLLIDER_BOX,         MABD_COLLIDER_SPHERE,
                                               MABD_COLLIDER_CAPSULE,     MABD_COLLIDER_CYLINDER,
                                               MABD_COLLIDER_PLANE,       MABD_COLLIDER_BOWL,
                                               MABD_COLLIDER_HEIGHT_FIELD};
    const mabd_real size[3] = {0.5, 0.25, 0.125}, heights[4] = {1, 2, 3, 4};
    const mabd_height_field field = {2, 2, 0.5, 0.25, heights};
    mabd_geom geoms[MABD_SHAPE_COUNT + 1];
    for (int i = 0; i < MABD_SHAPE_COUNT; i++) {
        geoms[i] = mabd_geom_make((mabd_shape)i, size, 1000);
    }
    geoms[MABD_SHAPE_HEIGHT_FIELD].field = &field;
    geoms[MABD_SHAPE_COUNT] = geoms[0];
    geoms[MABD_SHAPE_COUNT].mask = 0;
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_FIXED;
    def.geom_count = MABD_SHAPE_COUNT + 1, def.geoms = geoms;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK), "%s", error.text);
    def.geom_count = 0;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    add_balls(1);
    enable(false);
    build();
    mabd_scene_destroy(scene), scene = NULL; // the model has its own copies

    int32_t count;
    const mabd_model_collider* found = mabd_model_colliders(model, 0, &count);
    cr_assert(eq(i32, count, MABD_SHAPE_COUNT), "mask 0 makes no collider");
    for (int i = 0; i < count; i++) {
        cr_expect(eq(int, found[i].shape.kind, kinds[i]));
        const bool has_field = found[i].shape.field != NULL;
        cr_expect(has_field == (i == MABD_SHAPE_HEIGHT_FIELD));
    }
    cr_expect(eq(dbl, found[MABD_SHAPE_BOWL].shape.size[1], 0.25));
    const mabd_height_field* stored = found[MABD_SHAPE_HEIGHT_FIELD].shape.field;
    cr_expect(stored == model->fields && stored->heights == model->heights);
    cr_expect(stored->columns == 2 && stored->dy == 0.25 && stored->heights[3] == 4);
    mabd_model_colliders(model, 1, &count);
    cr_expect(eq(i32, count, 0));
    mabd_model_colliders(model, 2, &count);
    cr_expect(eq(i32, count, 1));
    const mabd_model_info info = mabd_model_get_info(model);
    cr_expect(info.contacts);
    cr_expect(eq(i32, info.colliders, MABD_SHAPE_COUNT + 1));
    cr_expect(eq(i32, info.geoms[MABD_SHAPE_BOX], 2));
    cr_expect(eq(i32, info.geoms[MABD_SHAPE_SPHERE], 2));
    cr_expect(eq(i32, info.geoms[MABD_SHAPE_HEIGHT_FIELD], 1));
}

// ---- pairs -------------------------------------------------------------------------------------

static bool is_excluded(int32_t a, int32_t b) {
    int found = 0;
    for (int32_t i = 0; i < model->contact.exclusion_count; i++) {
        const int32_t* pair = model->contact.exclusions[i];
        found += (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
    }
    return found > 0;
}

Test(model_contact, jointed_bodies_touch_only_if_the_scene_says_so) {
    add_balls(5);
    add_joint(0, 1);
    add_joint(2, 1);
    add_joint(MABD_WORLD, 3); // the world has no geoms
    add_joint(3, 4);
    set_pair((mabd_pair_def){.a = 4, .b = 3, .friction_given = true, .friction = 0.1});
    set_pair((mabd_pair_def){.a = 0, .b = 4, .excluded = true});
    enable(false);
    build();
    cr_expect(eq(i32, model->contact.exclusion_count, 3));
    cr_expect(is_excluded(0, 1) && is_excluded(1, 2) && is_excluded(0, 4));
    cr_expect(not(is_excluded(3, 4)), "the pair is set apart");
    cr_expect(eq(i32, mabd_model_get_info(model).excluded_pairs, 3));
    enable(true);
    build();
    cr_expect(eq(i32, model->contact.exclusion_count, 1));
    cr_expect(is_excluded(0, 4));
}

static void exclude(int32_t n, const int32_t* bodies) {
    cr_assert(eq(int, mabd_scene_exclude(scene, n, bodies, &error), MABD_OK), "%s", error.text);
}

static bool has_pair(int32_t count, int32_t (*pairs)[2], int32_t a, int32_t b) {
    for (int32_t i = 0; i < count; i++) {
        if (pairs[i][0] == a && pairs[i][1] == b) return true;
        if (pairs[i][0] == b && pairs[i][1] == a) return true;
    }
    return false;
}

// Random pairs and groups, in random order: the last one that names two bodies applies.
Test(model_contact, the_last_pair_or_group_of_two_bodies_applies) {
    enum { N = 12, CALLS = 40 };
    uint64_t seed = 7;
    bool excluded[N][N] = {{0}}, paired[N][N] = {{0}};
    add_balls(N);
    for (int call = 0; call < CALLS; call++) {
        int32_t bodies[N], n = 0;
        for (int32_t i = 0; i < N; i++) {
            if (draw_real(&seed) > 0.4) bodies[n++] = i;
        }
        if (n < 3) continue;
        const double kind = draw_real(&seed); // -1 .. 1
        const bool group = kind<-0.6, apart = kind> 0.4;
        const int32_t named = group ? n : 2;
        if (group) {
            exclude(n, bodies);
        } else {
            set_pair((mabd_pair_def){
                .a = bodies[n - 1], .b = bodies[1], .excluded = apart, .friction_given = !apart});
            bodies[0] = bodies[n - 1];
        }
        for (int32_t i = 0; i < named; i++) {
            for (int32_t k = 0; k < named; k++) {
                excluded[bodies[i]][bodies[k]] = group || apart;
                paired[bodies[i]][bodies[k]] = !group;
            }
        }
    }
    enable(false);
    build();
    const mabd_model_contact* c = &model->contact;
    for (int32_t a = 0; a < N; a++) {
        for (int32_t b = 0; b < a; b++) {
            bool grouped = false;
            for (int32_t i = 0; i < c->member_count; i++) {
                for (int32_t k = 0; k < c->member_count; k++) {
                    const int32_t *on_a = c->members[i], *on_b = c->members[k];
                    grouped |= on_a[0] == a && on_b[0] == b && on_a[1] == on_b[1];
                }
            }
            const bool off = is_excluded(a, b) ||
                             (grouped && !has_pair(c->exception_count, c->exceptions, a, b));
            cr_expect(eq(int, off, excluded[a][b]), "%d and %d", (int)a, (int)b);
            int32_t pairs = 0;
            for (int32_t i = 0; i < c->pair_count; i++) {
                pairs += c->pairs[i].a == b && c->pairs[i].b == a;
            }
            cr_expect(eq(i32, pairs, paired[a][b]), "%d and %d", (int)a, (int)b);
        }
    }
}

// 20,000 names: a list of pairs would have 200 million entries.
Test(model_contact, memory_of_a_group_grows_with_its_bodies) {
    enum { N = 20000 };
    static int32_t bodies[N];
    add_balls(N);
    enable(false);
    build();
    const size_t bytes = model->memory_size;
    for (int32_t i = 0; i < N; i++) bodies[i] = N - 1 - i;
    exclude(N, bodies);
    build();
    cr_expect(eq(sz, model->memory_size - bytes, N * sizeof(int32_t[2])));
    cr_expect(eq(i32, mabd_model_get_info(model).excluded_groups, 1));
    cr_expect(eq(i32, mabd_model_get_info(model).grouped_bodies, N));
}

// Groups of copies stay apart: bodies of two copies share none.
Test(model_contact, groups_of_copies_are_their_own) {
    const int32_t bodies[] = {0, 2, 1};
    mabd_scene* batch;
    add_balls(4);
    exclude(3, bodies);
    set_pair((mabd_pair_def){.a = 2, .b = 1, .friction_given = true});
    enable(false);
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int i = 0; i < 3; i++) {
        cr_assert(eq(int, mabd_scene_add_copy(batch, scene, &error), MABD_OK), "%s", error.text);
    }
    cr_assert(eq(int, mabd_model_build(batch, NULL, &model, &error), MABD_OK), "%s", error.text);
    const mabd_model_contact* c = &model->contact;
    cr_assert(eq(i32, c->member_count, 9));
    cr_assert(eq(i32, c->exception_count, 3));
    for (int32_t i = 0; i < 9; i++) {
        cr_expect(c->members[i][0] == i / 3 * 4 + i % 3 && c->members[i][1] == i / 3);
    }
    for (int32_t i = 0; i < 3; i++) {
        cr_expect(has_pair(c->exception_count, c->exceptions, 4 * i + 1, 4 * i + 2));
    }
    mabd_scene_destroy(batch);
}

static void expect_surface(int32_t a, int32_t b, double friction, double restitution) {
    int32_t count;
    const mabd_model_collider* on_a = mabd_model_colliders(model, a, &count);
    const mabd_model_collider* on_b = mabd_model_colliders(model, b, &count);
    const mabd_model_surfaces of = mabd_model_surface(model, a, on_a, b, on_b);
    cr_expect(epsilon_eq(dbl, of.friction, friction, 1e-15), "bodies %d, %d", (int)a, (int)b);
    cr_expect(eq(dbl, of.restitution, restitution), "bodies %d, %d", (int)a, (int)b);
}

Test(model_contact, pairs_of_bodies_beat_their_surfaces) {
    enum { N = 40 };
    const mabd_real size[3] = {0.1, 0, 0};
    mabd_body_def def = mabd_default_body_def();
    for (int i = 0; i < N; i++) {
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
        geom.friction = 0.01 * i, geom.restitution = 0.02 * i;
        def.geom_count = 1, def.geoms = &geom;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
    // every third pair excluded, unsorted, most of them twice
    for (int turn = 0; turn < 2; turn++) {
        for (int32_t k = 0; k < N * N; k++) {
            const int32_t at = k * 1103 % (N * N), a = at / N, b = at % N; // 1103 is prime to N
            if (a <= b || (a + b) % 3 != 0 || (turn == 1 && a % 7 == 0)) continue;
            mabd_pair_def pair = {.a = turn ? a : b, .b = turn ? b : a};
            pair.friction_given = a % 2 == 0, pair.friction = turn + 0.001 * at;
            pair.restitution_given = b % 2 == 0, pair.restitution = turn ? 0.5 : 0.25;
            set_pair(pair);
        }
    }
    enable(false);
    build();
    int32_t expected = 0;
    for (int32_t a = 0; a < N; a++) {
        for (int32_t b = 0; b < a; b++) {
            const bool apart = (a + b) % 3 == 0;
            const double turn = a % 7 == 0 ? 0 : 1, mean = sqrt(0.01 * a * 0.01 * b);
            const double mu = apart && a % 2 == 0 ? turn + 0.001 * (a * N + b) : mean;
            const double e = apart && b % 2 == 0 ? (turn ? 0.5 : 0.25) : 0.02 * a;
            expect_surface(a, b, mu, e);
            expect_surface(b, a, mu, e);
            expected += apart;
        }
    }
    cr_expect(eq(i32, model->contact.pair_count, expected));
    for (int32_t i = 1; i < expected; i++) {
        const mabd_model_pair *before = &model->contact.pairs[i - 1], *pair = before + 1;
        cr_assert(before->a < pair->a || (before->a == pair->a && before->b < pair->b));
    }
}

// ---- nothing without contacts ------------------------------------------------------------------

Test(model_contact, contacts_that_are_off_store_nothing) {
    add_balls(4);
    add_joint(0, 1);
    build();
    const size_t bytes = model->memory_size;
    const uint64_t hash = mabd_model_get_info(model).hash;
    set_pair((mabd_pair_def){.a = 2, .b = 3, .excluded = true});
    mabd_contact_def def = mabd_default_contact_def();
    def.margin = 1, def.neighbours = true;
    cr_assert(eq(int, mabd_scene_set_contact(scene, &def, &error), MABD_OK));
    build();
    cr_expect(eq(sz, model->memory_size, bytes));
    cr_expect(eq(u64, mabd_model_get_info(model).hash, hash));
    const mabd_model_contact none = {0};
    cr_expect(eq(int, memcmp(&model->contact, &none, sizeof none), 0));
    int32_t count = 7;
    cr_expect(zero(ptr, (void*)mabd_model_colliders(model, 0, &count)));
    cr_expect(eq(i32, count, 0));
    enable(false);
    build();
    cr_expect(lt(sz, bytes, model->memory_size));
    cr_expect(ne(u64, mabd_model_get_info(model).hash, hash));
}

Test(model_contact, everything_that_touches_is_in_the_hash) {
    add_balls(3);
    const mabd_real heights[4] = {1, 2, 3, 4}, other[4] = {1, 2, 3, 5};
    uint64_t seen[8];
    for (int i = 0; i < 8; i++) {
        teardown(), setup(), model = NULL;
        const mabd_height_field field = {2, 2, 1, 1, i == 1 ? other : heights};
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_HEIGHT_FIELD, NULL, 0);
        geom.field = &field;
        if (i == 2) geom.friction = 0.25;
        if (i == 3) geom.mask = 3;
        mabd_body_def def = mabd_default_body_def();
        def.motion = MABD_MOTION_FIXED;
        def.geom_count = 1, def.geoms = &geom;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
        add_balls(2);
        mabd_contact_def contact = mabd_default_contact_def();
        contact.enabled = true;
        if (i == 4) contact.margin = 0.5;
        if (i == 5) contact.compliance = 0.5;
        cr_assert(eq(int, mabd_scene_set_contact(scene, &contact, &error), MABD_OK));
        if (i == 6) set_pair((mabd_pair_def){.a = 1, .b = 2, .excluded = true});
        if (i == 7) set_pair((mabd_pair_def){.a = 1, .b = 2, .friction_given = true});
        build();
        seen[i] = mabd_model_get_info(model).hash;
        for (int k = 0; k < i; k++) cr_expect(ne(u64, seen[k], seen[i]), "%d and %d", k, i);
    }
}

// The hash of a model without contacts does not depend on the machine. Sizes are powers of two, so
// no function of the C library affects it.
Test(model_contact, hash_is_the_same_on_every_machine) {
    if (sizeof(mabd_real) != sizeof(double)) cr_skip_test("of double numbers");
    const mabd_real size[3] = {0.5, 0.25, 0.125};
    const mabd_geom geoms[2] = {mabd_geom_make(MABD_SHAPE_BOX, size, 1024),
                                mabd_geom_make(MABD_SHAPE_SPHERE, size, 512)};
    mabd_body_def def = mabd_default_body_def();
    def.young = (mabd_real)1e9;
    for (int i = 0; i < 4; i++) {
        def.position[0] = i, def.velocity[1] = 0.5;
        def.geom_count = 1, def.geoms = &geoms[i % 2];
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
    add_joint(MABD_WORLD, 0);
    add_joint(0, 1);
    add_joint(1, 2);
    build();
    cr_expect(eq(u64, mabd_model_get_info(model).hash, UINT64_C(0xffd15b3d0ab0d668)));
}

// ---- memory ------------------------------------------------------------------------------------

Test(model_contact, every_allocation_failing_in_turn_leaks_nothing) {
    const mabd_real heights[4] = {1, 2, 3, 4};
    const mabd_height_field field = {2, 2, 1, 1, heights};
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_HEIGHT_FIELD, NULL, 0);
    geom.field = &field;
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_FIXED;
    def.geom_count = 1, def.geoms = &geom;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    add_balls(3);
    add_joint(1, 2);
    const int32_t group[] = {1, 2, 3};
    exclude(3, group);
    set_pair((mabd_pair_def){.a = 1, .b = 3, .excluded = true});
    enable(false);
    int64_t needed = -1;
    for (int64_t fail_at = 0; needed < 0; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* made = NULL;
        const mabd_status status = mabd_model_build(scene, &allocator, &made, &error);
        if (status == MABD_OK) {
            needed = counter.calls;
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
            cr_assert(zero(ptr, made));
        }
        mabd_model_destroy(made);
        cr_assert(eq(i64, counter.live_blocks, 0), "call %d", (int)fail_at);
        cr_assert(eq(i64, counter.wrong_frees, 0));
    }
    cr_assert(lt(i64, 4, needed));
}

// Models with and without contacts can be simulated; contacts take the memory that the plan counts.
Test(model_contact, simulations_with_and_without_contacts_are_created) {
    const mabd_sim_def def = mabd_default_sim_def();
    size_t held[2], planned[2];
    add_balls(2);
    for (int on = 0; on < 2; on++) {
        mabd_sim* sim = NULL;
        if (on) enable(false);
        build();
        cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
        mabd_sim_plan plan;
        cr_assert(eq(int, mabd_sim_get_plan(model, &def, &plan, &error), MABD_OK));
        held[on] = mabd_sim_bytes(sim), planned[on] = plan.bytes_sim;
        cr_expect(on ? plan.bytes_per_contact > 0 : plan.bytes_per_contact == 0);
        mabd_sim_destroy(sim);
    }
    cr_expect(lt(sz, held[0], held[1]));
    cr_expect(eq(sz, held[1] - held[0], planned[1] - planned[0]));
}
