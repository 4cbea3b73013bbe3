// SPDX-License-Identifier: Apache-2.0
// The layout of joint states: which joints of a mechanism carry its freedoms, in which order, and
// how many numbers each of them takes. Expected numbers are counted by hand.
#include "mabd/batch.h"
#include "mabd/model.h"
#include "support/joint_rig.h"
#include "support/rig.h"

#define BODY(name) "{\"name\": \"" name "\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]}"

typedef struct expected_entry {
    int32_t joint, body;
    bool reversed;
    int32_t positions, velocities;
} expected_entry;

static void expect_layout(const mabd_model* model, int n, const expected_entry* expected,
                          int32_t cuts) {
    mabd_joint_layout entries[16] = {{0}};
    mabd_joint_layout_info info;
    mabd_error error = {0};
    int32_t positions = 0, velocities = 0;
    rig_check(mabd_model_joint_layout(model, 16, entries, &info, &error), &error, "layout");
    cr_assert(eq(i32, info.entries, n));
    for (int i = 0; i < n; i++) {
        const mabd_joint_layout* e = &entries[i];
        cr_expect(eq(i32, e->joint, expected[i].joint), "entry %d", i);
        cr_expect(eq(i32, e->body, expected[i].body), "entry %d", i);
        cr_expect(eq(int, e->reversed, expected[i].reversed), "entry %d", i);
        cr_expect(eq(i32, e->position_first, positions), "entry %d", i);
        cr_expect(eq(i32, e->position_count, expected[i].positions), "entry %d", i);
        cr_expect(eq(i32, e->velocity_first, velocities), "entry %d", i);
        cr_expect(eq(i32, e->velocity_count, expected[i].velocities), "entry %d", i);
        positions += expected[i].positions, velocities += expected[i].velocities;
    }
    cr_expect(eq(i32, info.positions, positions));
    cr_expect(eq(i32, info.velocities, velocities));
    cr_expect(eq(i32, info.cut_joints, cuts));
}

// A hinge from the ground, a ball from b to a, a free joint without controls (no joint of a tree),
// a free body, a free joint with a spring.
static const char* const mixed = "{\"bodies\": [" BODY("0") "," BODY("1") "," BODY("2") "," BODY(
    "3") "],"
         "\"joints\": [{\"type\": \"ball\", \"a\": \"1\", \"b\": \"0\"},"
         "{\"type\": \"free\", \"b\": \"2\"},"
         "{\"type\": \"hinge\", \"b\": \"0\"},"
         "{\"type\": \"free\", \"b\": \"3\", \"axes\": {\"tx\": {\"stiffness\": 1}}}]}";

Test(joint_layout, joints_in_the_order_of_the_scene_then_free_bodies) {
    mabd_model* model = rig_text_model(mixed);
    const expected_entry expected[] = {
        {0, 1, true, 4, 3}, {2, 0, false, 1, 1}, {3, 3, false, 7, 6}, {-1, 2, false, 7, 6}};
    expect_layout(model, 4, expected, 0);
    mabd_model_destroy(model);
}

Test(joint_layout, every_type_has_its_freedoms) {
    static const int positions[MABD_JOINT_COUNT] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 7, 4, 6};
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const bool turns = joint_is_free((mabd_joint)type, 4) && joint_is_free((mabd_joint)type, 5);
        if (type == MABD_JOINT_FREE) continue; // without controls it is no joint of a tree
        char text[300];
        snprintf(text, sizeof text,
                 "{\"bodies\": [" BODY("0") "], \"joints\": [{\"type\": \"%s\", \"b\": \"0\"}]}",
                 mabd_joint_name((mabd_joint)type));
        mabd_model* model = rig_text_model(text);
        const expected_entry expected = {0, 0, false, positions[type], positions[type] - turns};
        expect_layout(model, 1, &expected, 0);
        mabd_model_destroy(model);
    }
}

// A four-bar closed through the ground: three hinges carry it and the joint with the fewest rows,
// the slot, is cut.
Test(joint_layout, cut_joints_have_the_fewest_rows) {
    mabd_model* model = rig_text_model("{\"bodies\": [" BODY("0") "," BODY("1") "," BODY(
        "2") "],"
             "\"joints\": [{\"type\": \"hinge\", \"b\": \"0\"},"
             "{\"type\": \"slot\", \"a\": \"0\", \"b\": \"1\"},"
             "{\"type\": \"hinge\", \"a\": \"1\", \"b\": \"2\"},"
             "{\"type\": \"hinge\", \"b\": \"2\"}]}");
    const expected_entry expected[] = {
        {0, 0, false, 1, 1}, {2, 1, true, 1, 1}, {3, 2, false, 1, 1}};
    expect_layout(model, 3, expected, 1);
    mabd_model_destroy(model);
}

Test(joint_layout, copies_have_that_of_the_first) {
    mabd_error error = {0};
    mabd_scene *one, *all;
    rig_check(mabd_scene_create(NULL, &one), &error, "scene");
    rig_check(mabd_scene_create(NULL, &all), &error, "scene");
    rig_check(mabd_scene_load_text(one, mixed, strlen(mixed), 0, NULL, &error), &error, "text");
    for (int k = 0; k < 3; k++) {
        rig_check(mabd_scene_add_copy(all, one, &error), &error, "copy");
    }
    mabd_scene_destroy(one);
    mabd_model* model = rig_model(all);
    const expected_entry expected[] = {
        {0, 1, true, 4, 3}, {2, 0, false, 1, 1}, {3, 3, false, 7, 6}, {-1, 2, false, 7, 6}};
    expect_layout(model, 4, expected, 0);
    mabd_model_destroy(model);
}

Test(joint_layout, a_node_has_a_position_alone) {
    mabd_model* model = rig_text_model("{\"bodies\": [" BODY(
        "0") "], \"nodes\": [{\"name\": \"n\", \"mass\": 2, \"position\": [1, 0, 0]}]}");
    const expected_entry expected[] = {{-1, 0, false, 7, 6}, {-1, 1, false, 3, 3}};
    expect_layout(model, 2, expected, 0);
    mabd_model_destroy(model);
}

Test(joint_layout, sizes_without_entries_and_null_arguments) {
    mabd_model* model = rig_text_model(mixed);
    mabd_joint_layout_info info;
    mabd_joint_layout entry = {.joint = -7};
    mabd_error error = {0};
    cr_expect(eq(int, mabd_model_joint_layout(model, 0, NULL, &info, &error), MABD_OK));
    cr_expect(eq(i32, info.positions, 19));
    cr_expect(eq(i32, info.velocities, 16));
    cr_expect(eq(int, mabd_model_joint_layout(model, 1, &entry, &info, &error), MABD_OK));
    cr_expect(eq(i32, entry.joint, 0));
    cr_expect(eq(i32, info.entries, 4));
    cr_expect(eq(int, mabd_model_joint_layout(NULL, 0, NULL, &info, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_model_joint_layout(model, 1, NULL, &info, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_model_joint_layout(model, 0, NULL, NULL, &error), MABD_ERR_ARG));
    mabd_model_destroy(model);
}
