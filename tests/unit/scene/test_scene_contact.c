// SPDX-License-Identifier: Apache-2.0
// Tests for the contact data of a scene: src/scene/builder_contact.c, json_contact.c, json_geom.c
// and the surfaces and shapes of geoms in check.c and store.c. Refused scene files: tests/broken.
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mabd_scene* scene;
static mabd_error error;

static void setup(void) {
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
}

static void teardown(void) {
    mabd_scene_destroy(scene);
}

TestSuite(scene_contact, .init = setup, .fini = teardown);

static const mabd_geom* geom_at(int32_t i) {
    return (const mabd_geom*)scene->geoms.data + i;
}

static mabd_status add(const mabd_geom* geom, mabd_motion motion) {
    mabd_body_def def = mabd_default_body_def();
    def.motion = motion;
    def.geom_count = 1, def.geoms = geom;
    return mabd_scene_add_body(scene, &def, NULL, &error);
}

static void load(const char* text) {
    const mabd_status status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
}

static const double bowl_size[3] = {0.5, 0.02, 0}, one[3] = {1, 1, 1};
static const double hills[6] = {0, 0.1, 0.2, 0.3, 0.4, -0.5};
static const mabd_height_field field = {
    .columns = 3, .rows = 2, .dx = 0.5, .dy = 0.25, .heights = hills};

static mabd_geom field_geom(const mabd_height_field* of) {
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_HEIGHT_FIELD, NULL, 0);
    geom.field = of;
    return geom;
}

// ---- builder -----------------------------------------------------------------------------------

Test(scene_contact, defaults) {
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, one, 1000);
    cr_assert(eq(dbl, geom.friction, 0.5));
    cr_assert(eq(dbl, geom.restitution, 0));
    cr_assert(eq(u32, geom.category, 1));
    cr_assert(eq(u32, geom.mask, UINT32_MAX));
    cr_assert(zero(ptr, (void*)geom.field));
    const mabd_contact_def contact = mabd_default_contact_def();
    cr_assert(not(contact.enabled));
    cr_assert(not(contact.neighbours));
    cr_assert(eq(dbl, contact.margin, 0));
    cr_assert(eq(dbl, contact.compliance, 1e-3));
    cr_assert(not(scene->contact.enabled));
    cr_assert(eq(dbl, scene->contact.compliance, 1e-3));
    const mabd_material material = mabd_default_material();
    cr_assert(eq(dbl, material.friction, geom.friction));
    cr_assert(eq(dbl, material.restitution, geom.restitution));
    cr_assert(eq(u32, material.category, geom.category));
    cr_assert(eq(u32, material.mask, geom.mask));
}

Test(scene_contact, surroundings_have_neither_mass_nor_volume) {
    const mabd_geom geoms[3] = {mabd_geom_make(MABD_SHAPE_PLANE, NULL, 1000),
                                mabd_geom_make(MABD_SHAPE_BOWL, bowl_size, 1000),
                                field_geom(&field)};
    for (int i = 0; i < 3; i++) {
        cr_assert(eq(dbl, geoms[i].density, 0));
        cr_assert(eq(dbl, mabd_geom_volume(&geoms[i]), 0));
        cr_assert(
            eq(int, add(&geoms[i], i == 1 ? MABD_MOTION_SCRIPTED : MABD_MOTION_FIXED), MABD_OK),
            "%s", error.text);
        cr_assert(eq(dbl, mabd_scene_class_inertia(scene, i).mass, 0));
    }
    cr_assert(eq(dbl, geom_at(1)->size[1], 0.02));
    // beside a box they contribute nothing
    const mabd_geom both[2] = {mabd_geom_make(MABD_SHAPE_BOX, one, 1000), geoms[1]};
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_FIXED;
    def.geom_count = 2, def.geoms = both;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    const mabd_inertia inertia = mabd_scene_class_inertia(scene, 3);
    cr_assert(eq(dbl, inertia.mass, 1000));
    cr_assert(eq(dbl, inertia.volume, 1));
    cr_assert(epsilon_eq(dbl, inertia.tensor[0], 1000.0 / 6, 1e-10));
}

Test(scene_contact, a_height_field_is_copied_and_shared) {
    double heights[6];
    memcpy(heights, hills, sizeof heights);
    mabd_height_field mine = field;
    mine.heights = heights;
    mabd_geom geom = field_geom(&mine);
    cr_assert(eq(int, add(&geom, MABD_MOTION_FIXED), MABD_OK), "%s", error.text);
    geom.field = &field; // the same numbers at another place
    cr_assert(eq(int, add(&geom, MABD_MOTION_FIXED), MABD_OK));
    cr_assert(eq(i32, scene->classes.count, 1));
    cr_assert(eq(i32, scene->fields.count, 1));
    const mabd_height_field* stored = geom_at(0)->field;
    cr_assert(stored != &mine && stored->heights != heights);
    heights[5] = 99;
    mine.columns = 77;
    cr_assert(eq(i32, stored->columns, 3));
    cr_assert(eq(dbl, stored->dy, 0.25));
    cr_assert(eq(dbl, stored->heights[5], -0.5));
    mine.columns = 3;
    geom.field = &mine; // one height differs
    cr_assert(eq(int, add(&geom, MABD_MOTION_FIXED), MABD_OK));
    cr_assert(eq(i32, scene->classes.count, 2));
    cr_assert(eq(i32, scene->fields.count, 2));
}

Test(scene_contact, surfaces_tell_classes_apart) {
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, one, 1000);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 5; i++) {
            mabd_geom other = geom;
            if (i == 1) other.friction = 0.3;
            if (i == 2) other.restitution = 0.3;
            if (i == 3) other.category = 2;
            if (i == 4) other.mask = 2;
            cr_assert(eq(int, add(&other, MABD_MOTION_DYNAMIC), MABD_OK));
        }
        cr_assert(eq(i32, scene->classes.count, 5));
    }
    cr_assert(eq(dbl, geom_at(1)->friction, 0.3));
    cr_assert(eq(dbl, geom_at(2)->restitution, 0.3));
    cr_assert(eq(u32, geom_at(3)->category, 2));
    cr_assert(eq(u32, geom_at(4)->mask, 2));
}

Test(scene_contact, settings_and_pairs_are_stored_in_order) {
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, one, 1000);
    for (int i = 0; i < 3; i++) cr_assert(eq(int, add(&geom, MABD_MOTION_DYNAMIC), MABD_OK));
    mabd_contact_def def = mabd_default_contact_def();
    def.enabled = def.neighbours = true;
    def.margin = 0.01, def.compliance = 0;
    cr_assert(eq(int, mabd_scene_set_contact(scene, &def, &error), MABD_OK));
    cr_assert(scene->contact.enabled && scene->contact.neighbours);
    cr_assert(eq(dbl, scene->contact.margin, 0.01));
    cr_assert(eq(dbl, scene->contact.compliance, 0));
    const mabd_pair_def first = {.a = 2, .b = 0, .friction_given = true, .friction = 0.1};
    const mabd_pair_def second = {.a = 0, .b = 1, .excluded = true};
    cr_assert(eq(int, mabd_scene_set_pair(scene, &first, &error), MABD_OK));
    cr_assert(eq(int, mabd_scene_set_pair(scene, &second, &error), MABD_OK));
    const mabd_pair_def* pairs = scene->pairs.data;
    cr_assert(eq(i32, scene->pairs.count, 2));
    cr_assert(pairs[0].a == 2 && pairs[0].friction == 0.1 && pairs[1].excluded);
}

static void refuse_group(int32_t n, const int32_t* bodies, mabd_status status, const char* text) {
    cr_expect(eq(int, mabd_scene_exclude(scene, n, bodies, &error), status), "%s", error.text);
    cr_expect_not_null(strstr(error.text, text), "%s", error.text);
    cr_expect(eq(i32, scene->members.count, 0));
}

Test(scene_contact, groups_that_make_no_sense_are_refused) {
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, one, 1000);
    for (int i = 0; i < 4; i++) cr_assert(eq(int, add(&geom, MABD_MOTION_DYNAMIC), MABD_OK));
    const int32_t twice[] = {3, 1, 0, 1}, world[] = {0, MABD_WORLD, 2}, missing[] = {0, 1, 4};
    refuse_group(4, twice, MABD_ERR_INPUT, "it pairs body 1 with itself");
    cr_expect(eq(i32, error.body, 1));
    refuse_group(3, world, MABD_ERR_INPUT, "the world has no geoms");
    refuse_group(3, missing, MABD_ERR_INPUT, "body 4 does not exist");
    refuse_group(1, twice, MABD_ERR_ARG, "two bodies or more, not 1");
    refuse_group(2, NULL, MABD_ERR_ARG, "null");
    cr_expect(eq(int, mabd_scene_exclude(scene, 2, twice, &error), MABD_OK));
    cr_expect(eq(i32, scene->pairs.count, 1), "two bodies are a pair");
}

Test(scene_contact, a_body_that_is_refused_leaves_no_height_field) {
    const mabd_geom geom = field_geom(&field);
    mabd_body_def def = mabd_default_body_def();
    def.name = "hills";
    def.motion = MABD_MOTION_FIXED;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    def.geom_count = 1, def.geoms = &geom;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_ERR_INPUT));
    cr_assert(eq(i32, scene->fields.count, 0));
    cr_assert(eq(i32, scene->geoms.count, 0));
    def.name = "other hills";
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(i32, scene->fields.count, 1));
}

// ---- refusals ----------------------------------------------------------------------------------

static void refused(mabd_status status, const char* text) {
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", text);
    cr_expect(eq(str, error.text, (char*)text));
    memset(&error, 0, sizeof error);
}

/// A ball with one number changed.
static void refuse_geom(void (*change)(mabd_geom* geom), const char* text) {
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, one, 1000);
    change(&geom);
    refused(add(&geom, MABD_MOTION_DYNAMIC), text);
    cr_expect(eq(i32, scene->geoms.count, 0));
}

static void sticky(mabd_geom* geom) {
    geom->friction = -0.1;
}
static void unsure(mabd_geom* geom) {
    geom->friction = NAN;
}
static void lively(mabd_geom* geom) {
    geom->restitution = 1.5;
}
static void dead(mabd_geom* geom) {
    geom->restitution = -1;
}
static void unclear(mabd_geom* geom) {
    geom->restitution = NAN;
}
static void nothing(mabd_geom* geom) {
    geom->category = 0;
}

Test(scene_contact, surfaces_that_are_refused) {
    refuse_geom(sticky, "body 0: geom 0: friction must not be negative, not -0.1");
    refuse_geom(unsure, "body 0: geom 0: friction is not a finite number");
    refuse_geom(lively, "body 0: geom 0: restitution must be between 0 and 1, not 1.5");
    refuse_geom(dead, "body 0: geom 0: restitution must not be negative, not -1");
    refuse_geom(unclear, "body 0: geom 0: restitution is not a finite number");
    refuse_geom(nothing,
                "body 0: geom 0: category needs at least one bit (mask 0 touches nothing)");
    mabd_geom silent = mabd_geom_make(MABD_SHAPE_SPHERE, one, 1000);
    silent.mask = 0;
    cr_assert(eq(int, add(&silent, MABD_MOTION_DYNAMIC), MABD_OK), "mask 0 is allowed");
}

Test(scene_contact, surroundings_that_are_refused) {
    mabd_geom plane = mabd_geom_make(MABD_SHAPE_PLANE, NULL, 0);
    refused(add(&plane, MABD_MOTION_DYNAMIC),
            "body 0: geom 0: a plane has no mass: its body must be fixed or scripted");
    mabd_geom bowl = mabd_geom_make(MABD_SHAPE_BOWL, bowl_size, 0);
    refused(add(&bowl, MABD_MOTION_DYNAMIC),
            "body 0: geom 0: a bowl has no mass: its body must be fixed or scripted");
    bowl.size[1] = 0;
    refused(add(&bowl, MABD_MOTION_FIXED), "body 0: geom 0: thickness must be positive, not 0");
    bowl.size[0] = NAN;
    refused(add(&bowl, MABD_MOTION_FIXED), "body 0: geom 0: radius is not a finite number");
    plane.shape = (mabd_shape)MABD_SHAPE_COUNT;
    refused(add(&plane, MABD_MOTION_FIXED), "body 0: geom 0: unknown shape 7");
}

Test(scene_contact, height_fields_that_are_refused) {
    double heights[6];
    memcpy(heights, hills, sizeof heights);
    mabd_height_field mine = field;
    mine.heights = heights;
    mabd_geom geom = field_geom(NULL);
    refused(add(&geom, MABD_MOTION_FIXED), "body 0: geom 0: a height field without heights");
    geom.field = &mine;
    refused(add(&geom, MABD_MOTION_DYNAMIC),
            "body 0: geom 0: a height-field has no mass: its body must be fixed or scripted");
    mine.rows = 1;
    refused(add(&geom, MABD_MOTION_FIXED),
            "body 0: geom 0: a height field needs 2 x 2 nodes or more, not 3 x 1");
    mine.rows = 100000, mine.columns = 100000;
    refused(add(&geom, MABD_MOTION_FIXED),
            "body 0: geom 0: a height field has at most 16777216 nodes, not 10000000000");
    mine.rows = 2, mine.columns = 3, mine.dy = 0;
    refused(add(&geom, MABD_MOTION_FIXED), "body 0: geom 0: cell size y must be positive, not 0");
    mine.dy = INFINITY;
    refused(add(&geom, MABD_MOTION_FIXED), "body 0: geom 0: cell size y is not a finite number");
    mine.dy = 1, heights[5] = NAN;
    refused(add(&geom, MABD_MOTION_FIXED), "body 0: geom 0: a height is not a finite number");
    cr_assert(eq(i32, scene->fields.count, 0));
}

Test(scene_contact, settings_that_are_refused) {
    mabd_contact_def def = mabd_default_contact_def();
    def.margin = -1;
    refused(mabd_scene_set_contact(scene, &def, &error),
            "contact: margin must not be negative, not -1");
    def.margin = 0, def.compliance = NAN;
    refused(mabd_scene_set_contact(scene, &def, &error),
            "contact: compliance is not a finite number");
    def.compliance = 1.5;
    refused(mabd_scene_set_contact(scene, &def, &error),
            "contact: compliance must be between 0 and 1, not 1.5");
    const mabd_contact_def blank = {.enabled = true};
    cr_assert(eq(int, mabd_scene_set_contact(scene, &blank, &error), MABD_ERR_ARG));
    cr_assert(not(scene->contact.enabled));
}

static void refuse_pair(mabd_pair_def def, const char* text) {
    refused(mabd_scene_set_pair(scene, &def, &error), text);
    cr_expect(eq(i32, scene->pairs.count, 0));
}

Test(scene_contact, pairs_that_are_refused) {
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, one, 1000);
    for (int i = 0; i < 2; i++) cr_assert(eq(int, add(&geom, MABD_MOTION_DYNAMIC), MABD_OK));
    refuse_pair((mabd_pair_def){.a = 0, .b = 2}, "pair: body 2 does not exist (the scene has 2)");
    refuse_pair((mabd_pair_def){.a = -2, .b = 1}, "pair: body -2 does not exist (the scene has 2)");
    refuse_pair((mabd_pair_def){.a = 0, .b = MABD_WORLD},
                "pair: the world has no geoms that could touch");
    refuse_pair((mabd_pair_def){.a = 1, .b = 1}, "pair: it pairs body 1 with itself");
    refuse_pair((mabd_pair_def){.a = 0, .b = 1, .excluded = true, .friction_given = true},
                "pair: a pair that never touches has no friction or restitution");
    refuse_pair((mabd_pair_def){.a = 0, .b = 1, .friction_given = true, .friction = -1},
                "pair: friction must not be negative, not -1");
    refuse_pair((mabd_pair_def){.a = 0, .b = 1, .restitution_given = true, .restitution = 2},
                "pair: restitution must be between 0 and 1, not 2");
    const mabd_pair_def ignored = {.a = 0, .b = 1, .friction = -1, .restitution = NAN};
    cr_assert(eq(int, mabd_scene_set_pair(scene, &ignored, &error), MABD_OK), "not given");
}

// ---- JSON --------------------------------------------------------------------------------------

Test(scene_contact, json_shapes_and_surfaces) {
    load("{\"params\": {\"mu\": {\"default\": 0.3}}, \"bodies\": ["
         "{\"shape\": \"plane\", \"fixed\": true, \"friction\": \"=2*mu\", \"category\": 6},"
         "{\"shape\": \"bowl\", \"radius\": 2, \"thickness\": 0.1, \"fixed\": true},"
         "{\"friction\": 0.1, \"restitution\": 0.2, \"mask\": 4294967295, \"shapes\": ["
         "{\"shape\": \"sphere\", \"radius\": 1, \"friction\": 0, \"mask\": 0},"
         "{\"shape\": \"box\", \"size\": [1, 2, 3], \"restitution\": 1}]}]}");
    cr_expect(eq(int, geom_at(0)->shape, MABD_SHAPE_PLANE));
    cr_expect(eq(dbl, geom_at(0)->friction, 0.6));
    cr_expect(eq(u32, geom_at(0)->category, 6));
    cr_expect(eq(u32, geom_at(0)->mask, UINT32_MAX));
    cr_expect(eq(int, geom_at(1)->shape, MABD_SHAPE_BOWL));
    cr_expect(eq(dbl, geom_at(1)->size[0], 2));
    cr_expect(eq(dbl, geom_at(1)->size[1], 0.1));
    cr_expect(eq(dbl, geom_at(1)->friction, 0.5));
    cr_expect(eq(dbl, geom_at(2)->friction, 0));
    cr_expect(eq(dbl, geom_at(2)->restitution, 0.2));
    cr_expect(eq(u32, geom_at(2)->mask, 0));
    cr_expect(eq(dbl, geom_at(3)->friction, 0.1));
    cr_expect(eq(dbl, geom_at(3)->restitution, 1));
    cr_expect(eq(u32, geom_at(3)->mask, UINT32_MAX));
    cr_expect(eq(dbl, geom_at(3)->density, 1000));
    cr_expect(not(scene->contact.enabled));
}

#define FIELD(heights)                                                                             \
    "{\"shape\": \"height-field\", \"columns\": 3, \"rows\": 2, \"cell\": [0.5, 2], "              \
    "\"fixed\": true, \"heights\": " heights "}"

Test(scene_contact, json_heights_as_numbers_and_as_an_expression) {
    // x = -0.5, 0, 0.5; y = -1, 1; they hide a param of the same name, others are visible
    load("{\"params\": {\"x\": {\"default\": 7}, \"h\": {\"default\": 10}}, \"bodies\": [" FIELD(
        "[-10.5, -10, -9.5, 9.5, 10, 10.5]") "," FIELD("\"=x+h*y\"") "]}");
    cr_expect(eq(i32, scene->bodies.count, 2));
    cr_expect(eq(i32, scene->classes.count, 1), "both have the same heights");
    const mabd_height_field* stored = geom_at(0)->field;
    cr_expect(eq(i32, stored->columns, 3));
    cr_expect(eq(i32, stored->rows, 2));
    cr_expect(eq(dbl, stored->dx, 0.5));
    cr_expect(eq(dbl, stored->dy, 2));
    cr_expect(eq(dbl, stored->heights[0], -10.5));
    cr_expect(eq(dbl, stored->heights[5], 10.5));
}

Test(scene_contact, json_settings_and_pairs) {
    load("{\"contact\": {\"margin\": 0.02, \"neighbours\": true}, \"pairs\": ["
         "{\"bodies\": [\"chain/2\", \"floor\"], \"friction\": 0.1},"
         "{\"bodies\": [\"chain/0\", \"floor\"], \"restitution\": 0.9},"
         "{\"exclude\": [\"chain/0\", \"chain/1\", \"chain/3\"]}],"
         "\"generators\": [{\"type\": \"chain\", \"links\": 4}],"
         "\"bodies\": [{\"name\": \"floor\", \"shape\": \"plane\", \"fixed\": true}]}");
    cr_expect(scene->contact.enabled && scene->contact.neighbours);
    cr_expect(eq(dbl, scene->contact.margin, 0.02));
    cr_expect(eq(dbl, scene->contact.compliance, 1e-3));
    const mabd_pair_def* pairs = scene->pairs.data;
    const int32_t floor_body = mabd_scene_find_body(scene, "floor");
    cr_assert(eq(i32, scene->pairs.count, 2));
    cr_expect(pairs[0].a == 2 && pairs[0].b == floor_body);
    cr_expect(pairs[0].friction_given && pairs[0].friction == 0.1 && !pairs[0].restitution_given);
    cr_expect(pairs[1].restitution_given && pairs[1].restitution == 0.9 &&
              !pairs[1].friction_given);
    const mabd_scene_member* members = scene->members.data;
    cr_assert(eq(i32, scene->members.count, 3));
    cr_expect(members[0].body == 0 && members[1].body == 1 && members[2].body == 3);
    for (int i = 0; i < 3; i++) cr_expect(members[i].group == 0 && members[i].after == 2);
}

Test(scene_contact, json_contacts_can_be_turned_off) {
    load("{\"params\": {\"on\": {\"default\": 0}}, \"contact\": {\"enabled\": \"=on\"}}");
    cr_expect(not(scene->contact.enabled));
}

Test(scene_contact, every_generator_of_a_material_passes_its_surface_on) {
    static const char* const types[] = {
        "chain",           "net",          "tree",      "ring",     "four-bar",
        "jansen",          "scissor-ring", "branching", "backbone", "star",
        "hoberman-sphere", "joint-grid",   "pile-mixed"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"generators\": [{\"type\": \"%s\", \"friction\": 0.25, \"restitution\": 0.75, "
                 "\"category\": 4, \"mask\": 3}]}",
                 types[i]);
        teardown(), setup();
        load(text);
        cr_expect(lt(i32, 0, scene->geoms.count));
        for (int32_t k = 0; k < scene->geoms.count; k++) {
            const mabd_geom* geom = geom_at(k);
            cr_expect(geom->friction == 0.25 && geom->restitution == 0.75 && geom->category == 4 &&
                          geom->mask == 3,
                      "%s, geom %d", types[i], (int)k);
        }
    }
}

// ---- memory ------------------------------------------------------------------------------------

static const char everything[] =
    "{\"contact\": {}, \"pairs\": [{\"exclude\": [\"a\", \"b\"]}], \"bodies\": [" FIELD(
        "\"=x*y\"") "," FIELD("[1, 2, 3, 4, 5, 6]") ", {\"name\": \"a\", \"shape\": \"sphere\", "
                                                    "\"radius\": 1},"
                                                    "{\"name\": \"b\", \"shape\": \"sphere\", "
                                                    "\"radius\": 1}]}";

Test(scene_contact, every_allocation_failing_in_turn_leaks_nothing) {
    int64_t needed = -1;
    for (int64_t fail_at = 0; needed < 0; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_scene* made = NULL;
        mabd_status status = mabd_scene_create(&allocator, &made);
        if (status == MABD_OK) {
            status = mabd_scene_load_text(made, everything, strlen(everything), 0, NULL, &error);
        }
        if (status == MABD_OK) {
            needed = counter.calls;
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY), "call %d: %s", (int)fail_at, error.text);
        }
        mabd_scene_destroy(made);
        cr_assert(eq(i64, counter.live_blocks, 0), "call %d", (int)fail_at);
        cr_assert(eq(i64, counter.wrong_frees, 0));
    }
    cr_assert(lt(i64, 15, needed));
}
