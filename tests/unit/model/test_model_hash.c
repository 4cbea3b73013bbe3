// SPDX-License-Identifier: Apache-2.0
// Tests for src/model/model_hash.c: every identity field of model/fields.def changes the hash, no
// derived one does, and the list misses no member of a record.
#include "model/build.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Every record occurs: wind, forces, scripts, tables, motors, servos, stops, pairs, a height field,
// springs, nodes, ground, couplings.
static const char SCENE[] =
    "{\"wind\": {\"direction\": [1, 0, 0], \"strength\": {\"sine\": {\"amplitude\": 2,"
    "  \"frequency\": 1}}},"
    " \"contact\": {\"compliance\": 1e-4},"
    " \"pairs\": [{\"bodies\": [\"a\", \"c\"], \"friction\": 0.3},"
    "  {\"exclude\": [\"c\", \"ground\", \"b\"]}],"
    " \"bodies\": ["
    "  {\"name\": \"ground\", \"shape\": \"height-field\", \"columns\": 2, \"rows\": 2,"
    "   \"cell\": [1, 1], \"heights\": [0, 0.1, 0.2, 0.3], \"fixed\": true},"
    "  {\"name\": \"a\", \"shape\": \"box\", \"size\": [0.1, 0.2, 0.3], \"position\": [0, 0, 2]},"
    "  {\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\": [1, 0, 2]},"
    "  {\"name\": \"c\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [3, 0, 2],"
    "   \"script\": {\"direction\": [1, 0, 0], \"translation\": {\"table\": {\"times\": [0, 1, 2],"
    "   \"values\": [0, 1, 0]}}, \"axis\": [0, 0, 1], \"angle\": 0.5}}],"
    " \"joints\": ["
    "  {\"name\": \"h\", \"type\": \"hinge\", \"a\": \"a\", \"b\": \"b\","
    "   \"anchor\": [0.5, 0, 2],"
    "   \"axis\": [0, 0, 1], \"axes\": {\"rx\": {\"servo\": 0.1, \"servo_stiffness\": 3,"
    "   \"max_force\": 2, \"lower\": -1, \"upper\": 1, \"motor\": 0.2, \"stiffness\": 1}}},"
    "  {\"name\": \"p\", \"type\": \"prismatic\", \"a\": \"b\", \"b\": \"c\","
    "   \"anchor\": [2, 0, 2],"
    "   \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"servo\": 0.1, \"servo_stiffness\": 3}}},"
    "  {\"type\": \"spline-curve\", \"b\": \"a\", \"frames\": [{}, {\"position\": [1, 0, 0]},"
    "   {\"position\": [2, 0, 0]}, {\"position\": [2, 1, 0]}]}],"
    " \"nodes\": [{\"name\": \"n\", \"position\": [0, 0, 5]}],"
    " \"springs\": [{\"points\": [{\"body\": \"n\"}, {\"body\": \"a\"}], \"stiffness\": 3}],"
    " \"ground\": {\"points\": [{\"body\": \"a\"}]},"
    " \"couplings\": [{\"axes\": [{\"joint\": \"h\", \"axis\": \"rx\"},"
    "  {\"joint\": \"p\", \"axis\": \"tx\"}]}],"
    " \"forces\": [{\"body\": \"a\", \"force\": [1, 0, 0], \"signal\": {\"ramp\": {\"to\": 1,"
    "  \"end\": 2}}}]}";

static mabd_model* build_text(const char* text) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error), MABD_OK),
              "%d:%d: %s", (int)error.line, (int)error.column, error.text);
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    mabd_scene_destroy(scene);
    return model;
}

// ---- each field in turn ------------------------------------------------------------------------

#define LINES 512 // of fields.def
static const mabd_model* m;
static uint64_t before;
static int checked[LINES]; // by line of fields.def: how often the field was changed

enum { IDENTITY, DERIVED };

static void expect(int role, const char* name, int line) {
    const bool changed = mabd_model_compute_hash(m) != before;
    cr_expect(eq(int, changed, role == IDENTITY), "%s", name);
    checked[line]++;
}

static void flip(const void* member, int role, const char* name, int line) {
    unsigned char* byte = (unsigned char*)(uintptr_t)member; // the model is on the heap
    *byte ^= 1;
    expect(role, name, line);
    *byte ^= 1;
}

static void decrement(const int32_t* member, int role, const char* name, int line) {
    int32_t* count = (int32_t*)(uintptr_t)member;
    if (*count == 0) return;
    --*count;
    expect(role, name, line);
    ++*count;
}

static void remove_pointer(const void* member, int role, const char* name, int line) {
    void** pointer = (void**)(uintptr_t)member;
    void* original = *pointer;
    if (!original) return;
    *pointer = NULL;
    expect(role, name, line);
    *pointer = original;
}

static void check_signal(const mabd_signal* p);
static void check_class(const mabd_model_class* p);
static void check_joint(const mabd_model_joint* p);
static void check_piece(const mabd_joint_piece* p);
static void check_row_set(const mabd_row_set* p);
static void check_row(const mabd_row* p);
static void check_control(const mabd_control* p);
static void check_motor(const mabd_motor* p);
static void check_force(const mabd_model_force* p);
static void check_spring(const mabd_model_spring* p);
static void check_point(const mabd_model_point* p);
static void check_script(const mabd_model_script* p);
static void check_collider(const mabd_model_collider* p);
static void check_height_field(const mabd_height_field* p);
static void check_pair(const mabd_model_pair* p);

#define CHECK_VALUE(name, count, role)  flip(&p->name, role, #name, __LINE__);
#define CHECK_COUNT(name, count, role)  decrement(&p->name, role, #name, __LINE__);
#define CHECK_OPAQUE(name, count, role) checked[__LINE__]++;
#define CHECK_ARRAY(name, count, role)                                                             \
    if (role == IDENTITY && (count) > 0) flip(p->name, role, #name, __LINE__);
#define CHECK_SIGNAL(name, count, role)                                                            \
    remove_pointer(&p->name, role, #name, __LINE__);                                               \
    if (p->name) check_signal(p->name);
#define CHECK_RECORD(record)  INSIDE_##record
#define CHECK_RECORDS(record) EACH_##record
#define CHECK_POINTER(record) BEHIND_##record
#define EACH(record, name, count)                                                                  \
    for (int32_t i = 0; i < (count); i++, checked[__LINE__]++) check_##record(&p->name[i]);
#define EACH_class(name, count, role)    EACH(class, name, count)
#define EACH_joint(name, count, role)    EACH(joint, name, count)
#define EACH_piece(name, count, role)    EACH(piece, name, count)
#define EACH_row_set(name, count, role)  EACH(row_set, name, count)
#define EACH_row(name, count, role)      EACH(row, name, count)
#define EACH_control(name, count, role)  EACH(control, name, count)
#define EACH_motor(name, count, role)    EACH(motor, name, count)
#define EACH_force(name, count, role)    EACH(force, name, count)
#define EACH_spring(name, count, role)   EACH(spring, name, count)
#define EACH_point(name, count, role)    EACH(point, name, count)
#define EACH_script(name, count, role)   EACH(script, name, count)
#define EACH_collider(name, count, role) EACH(collider, name, count)
#define EACH_pair(name, count, role)     EACH(pair, name, count)
#define INSIDE_row(name, count, role)    check_row(&p->name), checked[__LINE__]++;
#define BEHIND_height_field(name, count, role)                                                     \
    remove_pointer(&p->name, role, #name, __LINE__);                                               \
    if (p->name) check_height_field(p->name);

#define CHECK_FIELD(kind, name, count, role, unit, meaning) CHECK_##kind(name, count, role)

static void check_signal(const mabd_signal* p) {
#define SIGNAL_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_class(const mabd_model_class* p) {
#define CLASS_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_joint(const mabd_model_joint* p) {
#define JOINT_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_piece(const mabd_joint_piece* p) {
#define PIECE_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_row_set(const mabd_row_set* p) {
#define ROW_SET_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_row(const mabd_row* p) {
#define ROW_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_control(const mabd_control* p) {
#define CONTROL_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_motor(const mabd_motor* p) {
#define MOTOR_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_force(const mabd_model_force* p) {
#define FORCE_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_spring(const mabd_model_spring* p) {
#define SPRING_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_point(const mabd_model_point* p) {
#define POINT_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_script(const mabd_model_script* p) {
#define SCRIPT_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_collider(const mabd_model_collider* p) {
#define COLLIDER_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_height_field(const mabd_height_field* p) {
#define HEIGHT_FIELD_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_pair(const mabd_model_pair* p) {
#define PAIR_FIELD CHECK_FIELD
#include "model/fields.def"
}
static void check_model(const mabd_model* p) {
#define MODEL_FIELD(kind, name, count, capacity, role, unit, meaning)                              \
    CHECK_FIELD(kind, name, count, role, unit, meaning)
#include "model/fields.def"
}

#define EXPECT_CHECKED(kind, name, count, role, unit, meaning)                                     \
    if (role == IDENTITY) cr_expect(checked[__LINE__] > 0, "%s is nowhere in the scene", #name);

static void expect_all_checked(void){
#define MODEL_FIELD(kind, name, count, capacity, role, unit, meaning)                              \
    EXPECT_CHECKED(kind, name, count, role, unit, meaning)
#define SIGNAL_FIELD       EXPECT_CHECKED
#define CLASS_FIELD        EXPECT_CHECKED
#define JOINT_FIELD        EXPECT_CHECKED
#define PIECE_FIELD        EXPECT_CHECKED
#define ROW_SET_FIELD      EXPECT_CHECKED
#define ROW_FIELD          EXPECT_CHECKED
#define CONTROL_FIELD      EXPECT_CHECKED
#define MOTOR_FIELD        EXPECT_CHECKED
#define FORCE_FIELD        EXPECT_CHECKED
#define SPRING_FIELD       EXPECT_CHECKED
#define POINT_FIELD        EXPECT_CHECKED
#define SCRIPT_FIELD       EXPECT_CHECKED
#define COLLIDER_FIELD     EXPECT_CHECKED
#define HEIGHT_FIELD_FIELD EXPECT_CHECKED
#define PAIR_FIELD         EXPECT_CHECKED
#include "model/fields.def"
}

Test(model_hash, covers_every_identity_field_and_no_derived_one) {
    mabd_model* model = build_text(SCENE);
    m = model;
    before = mabd_model_compute_hash(model);
    cr_expect(eq(u64, before, mabd_model_hash(model)));
    check_model(model);
    cr_expect(eq(u64, mabd_model_compute_hash(model), before)); // everything is back
    expect_all_checked();
    mabd_model_destroy(model);
}

// ---- completeness ------------------------------------------------------------------------------

typedef struct extent {
    size_t from, to;
} extent;

static int compare(const void* a, const void* b) {
    const extent *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

// Bytes between listed members are padding, which is narrower than a number or a pointer.
static void expect_no_gap(extent* extents, size_t count, size_t size, const char* record) {
    size_t end = 0;
    qsort(extents, count, sizeof *extents, compare);
    for (size_t i = 0; i <= count; i++) {
        const size_t from = i < count ? extents[i].from : size;
        cr_expect(le(sz, from, end + 7), "%s: %zu bytes at %zu are not in fields.def", record,
                  from - end, end);
        if (i < count && extents[i].to > end) end = extents[i].to;
    }
}

#define EXTENT(kind, name, count, role, unit, meaning)                                             \
    {offsetof(RECORD, name), offsetof(RECORD, name) + sizeof((RECORD*)NULL)->name},
#define EXPECT_NO_GAP(record)                                                                      \
    expect_no_gap(extents, sizeof extents / sizeof *extents, sizeof(RECORD), record)

Test(model_hash, fields_of_the_model_are_all_listed) {
#define RECORD mabd_model
    extent extents[] = {
#define MODEL_FIELD(kind, name, count, capacity, role, unit, meaning)                              \
    EXTENT(kind, name, count, role, unit, meaning)
#include "model/fields.def"
    };
    EXPECT_NO_GAP("mabd_model");
#undef RECORD
}

Test(model_hash, fields_of_controls_are_all_listed) {
#define RECORD mabd_control
    extent extents[] = {
#define CONTROL_FIELD EXTENT
#include "model/fields.def"
    };
    EXPECT_NO_GAP("mabd_control");
#undef RECORD
}

Test(model_hash, fields_of_row_sets_are_all_listed) {
#define RECORD mabd_row_set
    extent extents[] = {
#define ROW_SET_FIELD EXTENT
#include "model/fields.def"
    };
    EXPECT_NO_GAP("mabd_row_set");
#undef RECORD
}

Test(model_hash, fields_of_forces_and_scripts_are_all_listed) {
#define RECORD mabd_model_force
    {
        extent extents[] = {
#define FORCE_FIELD EXTENT
#include "model/fields.def"
        };
        EXPECT_NO_GAP("mabd_model_force");
    }
#undef RECORD
#define RECORD mabd_model_script
    {
        extent extents[] = {
#define SCRIPT_FIELD EXTENT
#include "model/fields.def"
        };
        EXPECT_NO_GAP("mabd_model_script");
    }
#undef RECORD
}

// ---- scenes ------------------------------------------------------------------------------------

static uint64_t hash_of(const char* text) {
    mabd_model* model = build_text(text);
    const uint64_t hash = mabd_model_hash(model);
    mabd_model_destroy(model);
    return hash;
}

static char* replace(const char* text, const char* what, const char* by) {
    const char* at = strstr(text, what);
    char* result = malloc(strlen(text) + strlen(by) + 1);
    cr_assert(at != NULL, "%s", what);
    memcpy(result, text, (size_t)(at - text));
    strcpy(result + (at - text), by);
    strcat(result, at + strlen(what));
    return result;
}

// Two scenes that differ in a script or in a motor are two models.
Test(model_hash, distinguishes_scripts_and_motor_axes) {
    const struct {
        const char *what, *by;
    } changes[] = {
        {"\"angle\": 0.5", "\"angle\": 0.6"},
        {"\"values\": [0, 1, 0]", "\"values\": [0, 1, 1]"},
        {"\"direction\": [1, 0, 0], \"translation\"", "\"direction\": [0, 1, 0], \"translation\""},
        {"\"motor\": 0.2", "\"motor\": 0.3"},
        {"\"motor\": 0.2", "\"motor\": {\"steps\": {\"times\": [0], \"values\": [0.2]}}"},
    };
    const uint64_t hash = hash_of(SCENE);
    cr_expect(eq(u64, hash, hash_of(SCENE)));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char* text = replace(SCENE, changes[i].what, changes[i].by);
        cr_expect(ne(u64, hash_of(text), hash), "%s", changes[i].what);
        free(text);
    }
    const char* free_joint =
        "{\"bodies\": [{\"name\": \"a\", \"shape\": \"sphere\", \"radius\": 1}],"
        " \"joints\": [{\"type\": \"free\", \"a\": \"world\", \"b\": \"a\","
        " \"axes\": {\"tx\": {\"motor\": 1}}}]}";
    char* renamed = replace(free_joint, "\"bodies\"", "\"name\": \"other\", \"bodies\"");
    cr_expect(eq(u64, hash_of(free_joint), hash_of(renamed)));
    free(renamed);
    char* turned = replace(free_joint, "\"tx\"", "\"ty\"");
    cr_expect(ne(u64, hash_of(free_joint), hash_of(turned)));
    free(turned);
}
