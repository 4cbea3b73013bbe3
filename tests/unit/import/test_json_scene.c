// SPDX-License-Identifier: Apache-2.0
// Tests for src/import/json/json_load.c and its parts: every field of a scene file is read and
// found in the scene.
#include "mabd/model.h"
#include "scene/scene_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE 1e-15

static mabd_scene* load_with(const char* text, int32_t count, const mabd_setting* settings) {
    mabd_scene* scene = NULL;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    mabd_status status = mabd_scene_load_text(scene, text, strlen(text), count, settings, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    return scene;
}

static mabd_scene* load(const char* text) {
    return load_with(text, 0, NULL);
}

// Load and expect a failure whose message contains `part`, at a place (0 = none).
static void fails_with(const char* text, int32_t count, const mabd_setting* settings, int line,
                       int column, const char* part) {
    mabd_scene* scene = NULL;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    mabd_status status = mabd_scene_load_text(scene, text, strlen(text), count, settings, &error);
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", text);
    cr_expect(eq(int, error.status, MABD_ERR_INPUT));
    cr_expect(eq(i32, error.line, line), "line: %s", error.text);
    cr_expect(eq(i32, error.column, column), "column: %s", error.text);
    cr_expect(strstr(error.text, part) != NULL, "'%s' lacks '%s'", error.text, part);
    mabd_scene_destroy(scene);
}

static const mabd_scene_body* body_at(const mabd_scene* scene, int32_t i) {
    cr_assert(lt(i32, i, scene->bodies.count));
    return (const mabd_scene_body*)scene->bodies.data + i;
}

static const mabd_scene_class* class_of(const mabd_scene* scene, int32_t body) {
    return (const mabd_scene_class*)scene->classes.data + body_at(scene, body)->class_index;
}

static const mabd_geom* geom_of(const mabd_scene* scene, int32_t body, int32_t i) {
    cr_assert(lt(i32, i, class_of(scene, body)->geom_count));
    return (const mabd_geom*)scene->geoms.data + class_of(scene, body)->geom_first + i;
}

static const mabd_scene_joint* joint_at(const mabd_scene* scene, int32_t i) {
    cr_assert(lt(i32, i, scene->joints.count));
    return (const mabd_scene_joint*)scene->joints.data + i;
}

static const mabd_axis_def* axis_of(const mabd_scene* scene, int32_t joint, mabd_axis axis) {
    int32_t set = joint_at(scene, joint)->axes;
    cr_assert(ge(i32, set, 0));
    const mabd_scene_axes* axes = (const mabd_scene_axes*)scene->axes.data + set;
    return axes->used[axis] ? &axes->axis[axis] : NULL;
}

static void same(int n, const mabd_real* found, const mabd_real* expected) {
    for (int i = 0; i < n; i++) {
        cr_expect(epsilon_eq(dbl, found[i], expected[i], TOLERANCE), "component %d", i);
    }
}
#define SAME(found, ...)                                                                           \
    same((int)(sizeof((mabd_real[]){__VA_ARGS__}) / sizeof(mabd_real)), found,                     \
         (mabd_real[]){__VA_ARGS__})

// ---- top level ---------------------------------------------------------------------------------

Test(json_scene, an_empty_object_is_the_default_scene) {
    mabd_scene* scene = load(" {} ");
    cr_expect(eq(str, scene->name, ""));
    SAME(scene->gravity, 0, 0, -9.81);
    SAME(scene->wind_direction, 0, 0, 0);
    cr_expect(eq(dbl, scene->h, 0));
    cr_expect(eq(dbl, scene->duration, 0));
    cr_expect(eq(i32, scene->bodies.count, 0));
    cr_expect(eq(i32, mabd_scene_param_count(scene), 0));
    cr_expect(eq(str, (char*)mabd_scene_text(scene), " {} "));
    mabd_scene_destroy(scene);
}

Test(json_scene, name_time_gravity_wind) {
    mabd_scene* scene = load("{\"name\": \"test\", \"time\": {\"h\": 0.005, \"duration\": 3},"
                             "\"gravity\": [1, 2, -3.5],"
                             "\"wind\": {\"direction\": [0, 3, 4], \"strength\": 12}}");
    cr_expect(eq(str, scene->name, "test"));
    cr_expect(eq(dbl, scene->h, 0.005));
    cr_expect(eq(dbl, scene->duration, 3));
    SAME(scene->gravity, 1, 2, -3.5);
    SAME(scene->wind_direction, 0, 0.6, 0.8);
    cr_expect(eq(int, scene->wind_strength.kind, MABD_SIGNAL_CONSTANT));
    cr_expect(eq(dbl, scene->wind_strength.value, 12));
    mabd_scene_destroy(scene);
}

// ---- bodies ------------------------------------------------------------------------------------

Test(json_scene, the_four_shapes) {
    mabd_scene* scene = load("{\"bodies\": ["
                             "{\"shape\": \"box\", \"size\": [1, 2, 3]},"
                             "{\"shape\": \"sphere\", \"radius\": 4, \"density\": 10},"
                             "{\"shape\": \"capsule\", \"radius\": 5, \"length\": 6},"
                             "{\"shape\": \"cylinder\", \"radius\": 7, \"length\": 8}]}");
    static const mabd_shape shapes[] = {MABD_SHAPE_BOX, MABD_SHAPE_SPHERE, MABD_SHAPE_CAPSULE,
                                        MABD_SHAPE_CYLINDER};
    static const mabd_real sizes[4][3] = {{1, 2, 3}, {4, 0, 0}, {5, 6, 0}, {7, 8, 0}};
    for (int32_t i = 0; i < 4; i++) {
        const mabd_geom* geom = geom_of(scene, i, 0);
        cr_expect(eq(int, geom->shape, shapes[i]));
        same(3, geom->size, sizes[i]);
        SAME(geom->position, 0, 0, 0);
        SAME(geom->rotation, 1, 0, 0, 0);
        cr_expect(eq(dbl, geom->density, i == 1 ? 10 : 1000));
        cr_expect(eq(i32, class_of(scene, i)->geom_count, 1));
    }
    mabd_scene_destroy(scene);
}

Test(json_scene, a_body_of_several_shapes) {
    mabd_scene* scene = load(
        "{\"bodies\": [{\"density\": 500, \"shapes\": ["
        "{\"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [1, 2, 3]},"
        "{\"shape\": \"sphere\", \"radius\": 2, \"density\": 70, \"rotation\": [0, 0, 2, 0]}]}]}");
    cr_assert(eq(i32, class_of(scene, 0)->geom_count, 2));
    SAME(geom_of(scene, 0, 0)->position, 1, 2, 3);
    cr_expect(eq(dbl, geom_of(scene, 0, 0)->density, 500));
    cr_expect(eq(int, geom_of(scene, 0, 1)->shape, MABD_SHAPE_SPHERE));
    SAME(geom_of(scene, 0, 1)->rotation, 0, 0, 1, 0);
    cr_expect(eq(dbl, geom_of(scene, 0, 1)->density, 70));
    mabd_scene_destroy(scene);
}

Test(json_scene, mass_inertia_and_center) {
    mabd_scene* scene = load("{\"bodies\": ["
                             "{\"mass\": 2, \"inertia\": [3, 4, 5], \"center\": [1, 2, 3]},"
                             "{\"mass\": 2, \"inertia\": [3, 4, 5, 0.1, 0.2, 0.3]},"
                             "{\"mass\": 9, \"shape\": \"sphere\", \"radius\": 1}]}");
    cr_expect(class_of(scene, 0)->inertia_given);
    cr_expect(eq(dbl, class_of(scene, 0)->mass, 2));
    SAME(class_of(scene, 0)->inertia, 3, 4, 5, 0, 0, 0);
    SAME(class_of(scene, 0)->center, 1, 2, 3);
    SAME(class_of(scene, 1)->inertia, 3, 4, 5, 0.1, 0.2, 0.3);
    SAME(class_of(scene, 1)->center, 0, 0, 0);
    cr_expect(not(class_of(scene, 2)->inertia_given));
    cr_expect(eq(dbl, class_of(scene, 2)->mass, 9));
    mabd_scene_destroy(scene);
}

Test(json_scene, material_drag_pose_and_velocity) {
    mabd_scene* scene =
        load("{\"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 1,"
             "\"young\": 2e8, \"poisson\": 0.4, \"drag\": 0.7, \"position\": [1, 2, 3],"
             "\"rotation\": {\"axis\": [0, 0, 5], \"degrees\": 90},"
             "\"velocity\": [4, 5, 6], \"angular_velocity\": [7, 8, 9]},"
             "{\"shape\": \"sphere\", \"radius\": 1}]}");
    const mabd_scene_body* body = body_at(scene, 0);
    cr_expect(eq(i32, mabd_scene_find_body(scene, "b"), 0));
    cr_expect(eq(dbl, class_of(scene, 0)->young, 2e8));
    cr_expect(eq(dbl, class_of(scene, 0)->poisson, 0.4));
    cr_expect(eq(dbl, class_of(scene, 0)->drag, 0.7));
    SAME(body->position, 1, 2, 3);
    SAME(body->rotation, sqrt(0.5), 0, 0, sqrt(0.5));
    SAME(body->velocity, 4, 5, 6);
    SAME(body->angular_velocity, 7, 8, 9);
    cr_expect(eq(int, body->motion, MABD_MOTION_DYNAMIC));
    cr_expect(eq(dbl, class_of(scene, 1)->young, 0)); // of the scene
    cr_expect(eq(dbl, class_of(scene, 1)->poisson, 0.3));
    cr_expect(eq(dbl, class_of(scene, 1)->drag, 0));
    mabd_scene_destroy(scene);
}

Test(json_scene, rotations_in_radians_and_as_quaternions_of_any_length) {
    mabd_scene* scene =
        load("{\"bodies\": ["
             "{\"shape\": \"sphere\", \"radius\": 1, \"rotation\": {\"axis\": [2, 0, 0], "
             "\"angle\": \"=pi\"}},"
             "{\"shape\": \"sphere\", \"radius\": 1, \"rotation\": [1e200, 1e200, 0, 0]}]}");
    SAME(body_at(scene, 0)->rotation, 0, 1, 0, 0);
    SAME(body_at(scene, 1)->rotation, sqrt(0.5), sqrt(0.5), 0, 0);
    mabd_scene_destroy(scene);
}

Test(json_scene, fixed_and_scripted_bodies) {
    mabd_scene* scene =
        load("{\"bodies\": ["
             "{\"shape\": \"sphere\", \"radius\": 1, \"fixed\": true},"
             "{\"shape\": \"sphere\", \"radius\": 1, \"script\": {\"direction\": [0, 0, 2],"
             "\"translation\": {\"ramp\": {\"from\": 1, \"to\": 2, \"start\": 3, \"end\": 4}},"
             "\"axis\": [0, 1, 0], \"angle\": {\"sine\": {\"offset\": 5, \"amplitude\": 6,"
             "\"frequency\": 7, \"phase\": 8}}}},"
             "{\"shape\": \"sphere\", \"radius\": 1, \"fixed\": false}]}");
    cr_expect(eq(int, body_at(scene, 0)->motion, MABD_MOTION_FIXED));
    cr_expect(eq(int, body_at(scene, 1)->motion, MABD_MOTION_SCRIPTED));
    cr_expect(eq(int, body_at(scene, 2)->motion, MABD_MOTION_DYNAMIC));
    const mabd_script* script = (const mabd_script*)scene->scripts.data + body_at(scene, 1)->script;
    SAME(script->direction, 0, 0, 2);
    SAME(script->axis, 0, 1, 0);
    cr_expect(eq(int, script->translation.kind, MABD_SIGNAL_RAMP));
    SAME(&script->translation.value, 1);
    SAME(&script->translation.value_end, 2);
    SAME(&script->translation.start, 3, 4);
    cr_expect(eq(int, script->angle.kind, MABD_SIGNAL_SINE));
    SAME(&script->angle.value, 5, 6, 7, 8);
    mabd_scene_destroy(scene);
}

// ---- joints ------------------------------------------------------------------------------------

#define TWO_BODIES                                                                                 \
    "{\"bodies\": [{\"name\": \"p\", \"shape\": \"sphere\", \"radius\": 1},"                       \
    "{\"name\": \"q\", \"shape\": \"sphere\", \"radius\": 1, \"position\": [0, 0, 4]}],"           \
    "\"joints\": ["

Test(json_scene, a_joint_in_world_coordinates) {
    mabd_scene* scene = load(TWO_BODIES "{\"name\": \"j\", \"type\": \"hinge\", \"a\": \"p\", "
                                        "\"b\": \"q\", \"anchor\": [1, 2, 3], \"axis\": [0, 0, 2],"
                                        "\"axis2\": [3, 0, 1]}]}");
    const mabd_scene_joint* joint = joint_at(scene, 0);
    cr_expect(eq(i32, mabd_scene_find_joint(scene, "j"), 0));
    cr_expect(eq(int, joint->type, MABD_JOINT_HINGE));
    cr_expect(eq(i32, joint->a, 0));
    cr_expect(eq(i32, joint->b, 1));
    cr_expect(eq(i32, joint->axes, -1));
    SAME(joint->anchor_a, 1, 2, 3);
    SAME(joint->anchor_b, 1, 2, -1);
    // x -> z, y -> x, z -> y: a third of a turn about (1, 1, 1), backwards
    SAME(joint->frame_a, 0.5, -0.5, -0.5, -0.5);
    SAME(joint->frame_b, 0.5, -0.5, -0.5, -0.5);
    mabd_scene_destroy(scene);
}

Test(json_scene, a_joint_in_body_coordinates) {
    mabd_scene* scene =
        load(TWO_BODIES
             "{\"type\": \"universal\", \"a\": \"p\", \"b\": \"q\","
             "\"anchor_a\": [1, 2, 3], \"axis_a\": [0, 0, 2], \"axis2_a\": [3, 0, 1],"
             "\"anchor_b\": [4, 5, 6], \"frame_b\": {\"axis\": [1, 0, 0], \"degrees\": 180}}]}");
    const mabd_scene_joint* joint = joint_at(scene, 0);
    SAME(joint->anchor_a, 1, 2, 3);
    SAME(joint->frame_a, 0.5, -0.5, -0.5, -0.5);
    SAME(joint->anchor_b, 4, 5, 6);
    SAME(joint->frame_b, 0, 1, 0, 0);
    mabd_scene_destroy(scene);
}

Test(json_scene, the_world_is_side_a_by_default) {
    mabd_scene* scene = load(TWO_BODIES "{\"type\": \"ball\", \"b\": \"q\"},"
                                        "{\"type\": \"ball\", \"a\": \"q\", \"b\": \"world\"},"
                                        "{\"type\": \"ball\", \"a\": \"world\", \"b\": \"p\"}]}");
    cr_expect(eq(i32, joint_at(scene, 0)->a, MABD_WORLD));
    cr_expect(eq(i32, joint_at(scene, 0)->b, 1));
    SAME(joint_at(scene, 0)->anchor_a, 0, 0, 0);
    SAME(joint_at(scene, 0)->anchor_b, 0, 0, -4);
    cr_expect(eq(i32, joint_at(scene, 1)->b, MABD_WORLD));
    cr_expect(eq(i32, joint_at(scene, 2)->a, MABD_WORLD));
    mabd_scene_destroy(scene);
}

Test(json_scene, all_fourteen_types_by_name) {
    static const char* const names[] = {
#define X(name, text, translations, rotations) text,
        MABD_JOINT_LIST(X)
#undef X
    };
    for (int i = 0; i < MABD_JOINT_COUNT; i++) {
        char text[512];
        snprintf(text, sizeof text, TWO_BODIES "{\"type\": \"%s\", \"b\": \"q\"}]}", names[i]);
        mabd_scene* scene = load(text);
        cr_expect(eq(int, joint_at(scene, 0)->type, i));
        mabd_scene_destroy(scene);
    }
}

Test(json_scene, what_acts_on_the_axes_of_a_joint) {
    mabd_scene* scene = load(
        TWO_BODIES "{\"type\": \"cylindrical\", \"b\": \"q\", \"axes\": {"
                   "\"tx\": {\"stiffness\": 1, \"rest\": -2, \"damping\": 3, \"armature\": 4},"
                   "\"rx\": {\"servo\": {\"table\": {\"times\": [0, 1, 3], \"values\": [5, 6, 7]}},"
                   "\"servo_stiffness\": 8, \"servo_damping\": 9, \"motor\": 10}}},"
                   "{\"type\": \"hinge\", \"b\": \"p\", \"axes\": {"
                   "\"rx\": {\"servo\": 0.5, \"servo_rigid\": true}}}]}");
    const mabd_axis_def* tx = axis_of(scene, 0, MABD_AXIS_TX);
    const mabd_axis_def* rx = axis_of(scene, 0, MABD_AXIS_RX);
    cr_assert(tx != NULL);
    cr_assert(rx != NULL);
    cr_expect(axis_of(scene, 0, MABD_AXIS_TY) == NULL);
    SAME(&tx->stiffness, 1, -2, 3, 4);
    cr_expect(eq(int, tx->servo.kind, MABD_SIGNAL_NONE));
    cr_expect(eq(int, tx->motor.kind, MABD_SIGNAL_NONE));
    cr_expect(eq(int, rx->servo.kind, MABD_SIGNAL_TABLE));
    cr_assert(eq(i32, rx->servo.point_count, 3));
    SAME(rx->servo.times, 0, 1, 3);
    SAME(rx->servo.values, 5, 6, 7);
    cr_expect(not(rx->servo_rigid));
    SAME(&rx->servo_stiffness, 8, 9);
    cr_expect(eq(int, rx->motor.kind, MABD_SIGNAL_CONSTANT));
    cr_expect(eq(dbl, rx->motor.value, 10));
    const mabd_axis_def* rigid = axis_of(scene, 1, MABD_AXIS_RX);
    cr_assert(rigid != NULL);
    cr_expect(rigid->servo_rigid);
    cr_expect(eq(dbl, rigid->servo.value, 0.5));
    mabd_scene_destroy(scene);
}

Test(json_scene, steps_have_times_and_values) {
    mabd_scene* scene =
        load(TWO_BODIES "{\"type\": \"hinge\", \"b\": \"q\", \"axes\": {\"rx\": {"
                        "\"motor_velocity\": {\"steps\": {\"times\": [0.02, 0.04], "
                        "\"values\": [5, -6]}}, \"max_force\": 7}}},"
                        "{\"type\": \"hinge\", \"b\": \"p\", \"axes\": {\"rx\": {"
                        "\"servo_rigid\": true, \"max_force\": 9,"
                        "\"servo\": {\"steps\": {\"times\": [1], \"values\": [2]}}}}}]}");
    const mabd_signal* rate = &axis_of(scene, 0, MABD_AXIS_RX)->motor_velocity;
    cr_expect(eq(int, rate->kind, MABD_SIGNAL_STEPS));
    cr_assert(eq(i32, rate->point_count, 2));
    SAME(rate->times, 0.02, 0.04);
    SAME(rate->values, 5, -6);
    // a rigid servo that yields may jump
    cr_expect(eq(int, axis_of(scene, 1, MABD_AXIS_RX)->servo.kind, MABD_SIGNAL_STEPS));
    mabd_scene_destroy(scene);
}

Test(json_scene, stops_drives_and_friction) {
    mabd_scene* scene =
        load(TWO_BODIES "{\"type\": \"cylindrical\", \"b\": \"q\", \"axes\": {"
                        "\"tx\": {\"lower\": -1, \"upper\": 2, \"friction\": 3},"
                        "\"rx\": {\"motor_velocity\": {\"sine\": {\"amplitude\": 2, "
                        "\"frequency\": 1}}, \"max_force\": 7, \"upper\": 4}}},"
                        "{\"type\": \"hinge\", \"b\": \"p\", \"axes\": {\"rx\": {"
                        "\"servo\": 0.5, \"servo_rigid\": true, \"max_force\": 9}}}]}");
    const mabd_axis_def* tx = axis_of(scene, 0, MABD_AXIS_TX);
    const mabd_axis_def* rx = axis_of(scene, 0, MABD_AXIS_RX);
    const mabd_axis_def* servo = axis_of(scene, 1, MABD_AXIS_RX);
    cr_assert(tx && rx && servo);
    cr_expect(tx->limited);
    SAME(&tx->lower, -1, 2);
    cr_expect(eq(dbl, tx->friction, 3));
    cr_expect(eq(dbl, tx->max_force, 0));
    cr_expect(rx->limited && isinf(rx->lower) && rx->lower < 0);
    cr_expect(eq(dbl, rx->upper, 4));
    cr_expect(eq(dbl, rx->max_force, 7));
    cr_expect(eq(int, rx->motor_velocity.kind, MABD_SIGNAL_SINE));
    cr_expect(not(servo->limited));
    cr_expect(eq(dbl, servo->max_force, 9));
    mabd_scene_destroy(scene);
}

// ---- forces ------------------------------------------------------------------------------------

Test(json_scene, forces) {
    mabd_scene* scene =
        load("{\"bodies\": [{\"name\": \"p\", \"shape\": \"sphere\", \"radius\": 1}], \"forces\": ["
             "{\"body\": \"p\", \"point\": [1, 2, 3], \"force\": [4, 5, 6], \"torque\": [7, 8, 9],"
             "\"frame\": \"body\", \"signal\": {\"sine\": {\"amplitude\": 2, \"frequency\": 3}}},"
             "{\"body\": \"p\", \"torque\": [0, 0, 1]}]}");
    cr_assert(eq(i32, scene->forces.count, 2));
    const mabd_force_def* forces = (const mabd_force_def*)scene->forces.data;
    cr_expect(eq(i32, forces[0].body, 0));
    SAME(forces[0].point, 1, 2, 3);
    SAME(forces[0].force, 4, 5, 6);
    SAME(forces[0].torque, 7, 8, 9);
    cr_expect(forces[0].body_frame);
    cr_expect(eq(int, forces[0].signal.kind, MABD_SIGNAL_SINE));
    SAME(&forces[0].signal.value, 0, 2, 3, 0);
    cr_expect(not(forces[1].body_frame));
    SAME(forces[1].force, 0, 0, 0);
    SAME(forces[1].torque, 0, 0, 1);
    mabd_scene_destroy(scene);
}

// ---- order -------------------------------------------------------------------------------------

Test(json_scene, explicit_joints_may_name_generated_bodies) {
    mabd_scene* scene =
        load("{\"forces\": [{\"body\": \"c/1\", \"force\": [1, 0, 0]}],"
             "\"joints\": [{\"type\": \"fixed\", \"a\": \"c/2\", \"b\": \"tip\"}],"
             "\"bodies\": [{\"name\": \"tip\", \"shape\": \"sphere\", \"radius\": 1}],"
             "\"generators\": [{\"type\": \"chain\", \"name\": \"c\", \"links\": 3}]}");
    cr_expect(eq(i32, mabd_scene_find_body(scene, "c/2"), 2));
    cr_expect(eq(i32, mabd_scene_find_body(scene, "tip"), 3));
    const mabd_scene_joint* joint = joint_at(scene, scene->joints.count - 1);
    cr_expect(eq(i32, joint->a, 2));
    cr_expect(eq(i32, joint->b, 3));
    cr_expect(eq(i32, ((const mabd_force_def*)scene->forces.data)->body, 1));
    mabd_scene_destroy(scene);
}

Test(json_scene, the_example_at_the_head_of_the_format_document_loads) {
    FILE* file = fopen(MABD_SOURCE_DIR "/docs/guide/scene-format.md", "r");
    cr_assert(file != NULL);
    static char text[16384];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char* start = strstr(text, "```json\n");
    cr_assert(start != NULL);
    start += strlen("```json\n");
    char* end = strstr(start, "```");
    cr_assert(end != NULL);
    *end = '\0';
    mabd_setting setting = {"length", "2"};
    mabd_scene* scene = load_with(start, 1, &setting);
    cr_expect(eq(str, scene->name, "two pendulums"));
    SAME(body_at(scene, 1)->position, 3, 0, 0);
    SAME(joint_at(scene, 1)->anchor_a, 1, 0, 0);
    mabd_scene_destroy(scene);
}

Test(json_scene, the_example_of_contacts_in_the_format_document_loads) {
    FILE* file = fopen(MABD_SOURCE_DIR "/docs/guide/scene-format.md", "r");
    cr_assert(file != NULL);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char* start = strstr(strstr(text, "\n## Contacts"), "```json\n");
    cr_assert(start != NULL);
    start += strlen("```json\n");
    *strstr(start, "```") = '\0';
    mabd_scene* scene = load(start);
    cr_expect(scene->contact.enabled && scene->contact.compliance == 1e-4);
    cr_expect(eq(i32, scene->pairs.count, 2));
    cr_expect(eq(i32, geom_of(scene, 0, 0)->field->columns, 41));
    mabd_scene_destroy(scene);
}

// ---- params and settings -----------------------------------------------------------------------

#define PARAMS                                                                                     \
    "{\"params\": {"                                                                               \
    "\"links\": {\"default\": 100, \"unit\": \"1\", \"meaning\": \"number of links\"},"            \
    "\"joint\": {\"default\": \"ball\", \"choices\": [\"ball\", \"hinge\"]},"                      \
    "\"side\": {\"default\": 2, \"choices\": [1, 2, 3.5]}, \"free\": {\"default\": \"x\"}},"       \
    "\"gravity\": [\"=links\", \"=-2*side\", \"=links/side\"],"                                    \
    "\"bodies\": [{\"name\": \"=free\", \"shape\": \"sphere\", \"radius\": 1, \"fixed\": "         \
    "\"=side-2\"}],"                                                                               \
    "\"joints\": [{\"type\": \"=joint\", \"b\": \"=free\"}]}"

Test(json_scene, params_have_defaults_units_and_meanings) {
    mabd_scene* scene = load(PARAMS);
    cr_assert(eq(i32, mabd_scene_param_count(scene), 4));
    mabd_param links = mabd_scene_param(scene, 0), joint = mabd_scene_param(scene, 1);
    cr_expect(eq(str, (char*)links.name, "links"));
    cr_expect(eq(str, (char*)links.value, "100"));
    cr_expect(eq(str, (char*)links.fallback, "100"));
    cr_expect(eq(str, (char*)links.unit, "1"));
    cr_expect(eq(str, (char*)links.meaning, "number of links"));
    cr_expect(eq(str, (char*)joint.value, "ball"));
    cr_expect(eq(str, (char*)joint.unit, ""));
    SAME(scene->gravity, 100, -4, 50);
    cr_expect(eq(i32, mabd_scene_find_body(scene, "x"), 0));
    cr_expect(eq(int, joint_at(scene, 0)->type, MABD_JOINT_BALL));
    mabd_scene_destroy(scene);
}

Test(json_scene, settings_change_params) {
    mabd_setting settings[] = {
        {"links", "7"}, {"joint", "hinge"}, {"free", "7"}, {"side", "2.0"}, {"links", "1e6"}};
    mabd_scene* scene = load_with(PARAMS, 5, settings);
    SAME(scene->gravity, 1e6, -4, 5e5);
    cr_expect(eq(int, joint_at(scene, 0)->type, MABD_JOINT_HINGE));
    cr_expect(eq(i32, mabd_scene_find_body(scene, "7"), 0));
    cr_expect(eq(str, (char*)mabd_scene_param(scene, 0).value, "1e6"));
    cr_expect(eq(str, (char*)mabd_scene_param(scene, 0).fallback, "100"));
    cr_expect(eq(str, (char*)mabd_scene_param(scene, 1).value, "hinge"));
    mabd_scene_destroy(scene);
}

Test(json_scene, wrong_settings_have_a_message_and_no_place) {
    static const struct {
        mabd_setting setting;
        const char* part;
    } cases[] = {
        {{"link", "7"}, "--set link=7: the scene declares no such param; it has links, joint"},
        {{"links", "many"}, "--set links=many: expected a number"},
        {{"links", ""}, "expected a number"},
        {{"links", "7x"}, "expected a number"},
        {{"links", "nan"}, "expected a number"},
        {{"links", "inf"}, "expected a number"},
        {{"links", "1e999"}, "expected a number"},
        {{"joint", "slot"}, "--set joint=slot: expected one of ball, hinge"},
        {{"joint", "5"}, "expected one of ball, hinge"},
        {{"side", "3"}, "expected one of 1, 2, 3.5"},
        {{"a\nb", "c\td\xFF"}, "--set a\\nb=c\\td?:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fails_with(PARAMS, 1, &cases[i].setting, 0, 0, cases[i].part);
    }
    mabd_setting any = {"links", "1"};
    fails_with("{}", 1, &any, 0, 0, "it has none");
}

Test(json_scene, a_value_set_on_the_command_line_fails_where_it_is_used) {
    mabd_setting side = {"side", "1"};
    fails_with(PARAMS, 1, &side, 1, (int)(strstr(PARAMS, "\"=side-2") - PARAMS) + 1,
               "must give 0 or 1");
}

// ---- texts, files, memory ----------------------------------------------------------------------

Test(json_scene, texts_that_are_no_scenes) {
    fails_with("", 0, NULL, 1, 1, "empty");
    fails_with(" \n\t\n", 0, NULL, 1, 1, "empty");
    fails_with("[]", 0, NULL, 1, 1, "expected an object, found an array of 0");
    fails_with("7", 0, NULL, 1, 1, "'[' or '{' expected");
    fails_with("{\"name\": \"\xFF\"}", 0, NULL, 1, 11, "unable to decode byte 0xff");
    fails_with("\xEF\xBB\xBF{}", 0, NULL, 1, 1, "byte order mark");
    fails_with("{} {}", 0, NULL, 1, 4, "end of file expected");
    fails_with("{\"h\": 1e999}", 0, NULL, 1, 7, "real number overflow");
}

Test(json_scene, a_zero_byte_is_refused) {
    mabd_scene* scene = NULL;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_expect(eq(int, mabd_scene_load_text(scene, "{\n \0}", 5, 0, NULL, &error), MABD_ERR_INPUT));
    cr_expect(eq(i32, error.line, 2));
    cr_expect(eq(i32, error.column, 2));
    mabd_scene_destroy(scene);
}

Test(json_scene, deep_nesting_is_refused) {
    static char deep[2000001];
    memset(deep, '[', 2000000);
    memcpy(deep, "{\"bodies\":", 10);
    fails_with(deep, 0, NULL, 1, 2058, "maximum parsing depth reached");
}

Test(json_scene, a_text_need_not_end_in_a_zero) {
    char text[4] = {'{', '}', 'x', 'y'};
    mabd_scene* scene = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_expect(eq(int, mabd_scene_load_text(scene, text, 2, 0, NULL, NULL), MABD_OK));
    cr_expect(eq(str, (char*)mabd_scene_text(scene), "{}"));
    mabd_scene_destroy(scene);
}

Test(json_scene, wrong_arguments) {
    mabd_scene* scene = load(TWO_BODIES "]}");
    mabd_setting nothing = {NULL, NULL};
    cr_expect(eq(int, mabd_scene_load_text(scene, "{}", 2, 0, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_load_text(NULL, "{}", 2, 0, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_load_text(scene, NULL, 2, 0, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_load_text(scene, "{}", 2, 1, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_load_text(scene, "{}", 2, 1, &nothing, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_load(scene, NULL, 0, NULL, NULL), MABD_ERR_ARG));
    mabd_scene_destroy(scene);
}

static mabd_status load_file(const char* path, mabd_error* error) {
    mabd_scene* scene = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    mabd_status status = mabd_scene_load(scene, path, 0, NULL, error);
    mabd_scene_destroy(scene);
    return status;
}

Test(json_scene, files_that_cannot_be_read) {
    mabd_error error = {0};
    cr_expect(eq(int, load_file("/nonexistent/scene.json", &error), MABD_ERR_IO));
    cr_expect(eq(str, error.text, "cannot open: No such file or directory"));
    cr_expect(eq(int, load_file("/", &error), MABD_ERR_IO));
    cr_expect(eq(str, error.text, "cannot read: a directory"));
    cr_expect(eq(int, load_file("/dev/null", &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "empty") != NULL);
}

Test(json_scene, a_file_beyond_a_gigabyte_is_refused_unread) {
    char path[] = "/tmp/mabd-test-XXXXXX";
    int file = mkstemp(path);
    cr_assert(ge(int, file, 0));
    cr_assert(eq(int, ftruncate(file, ((off_t)1 << 30) + 1), 0));
    mabd_error error = {0};
    cr_expect(eq(int, load_file(path, &error), MABD_ERR_INPUT));
    cr_expect(eq(str, error.text, "the scene is larger than 1 GB"));
    close(file);
    unlink(path);
}

Test(json_scene, a_file_is_read_whole) {
    char path[] = "/tmp/mabd-test-XXXXXX";
    int file = mkstemp(path);
    cr_assert(ge(int, file, 0));
    static char text[300001];
    memset(text, ' ', 300000);
    memcpy(text, "{\"name\":", 8);
    memcpy(text + 300000 - 7, "\"far\" }", 7);
    cr_assert(eq(int, (int)write(file, text, 300000), 300000));
    close(file);
    mabd_scene* scene = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_expect(eq(int, mabd_scene_load(scene, path, 0, NULL, NULL), MABD_OK));
    cr_expect(eq(str, scene->name, "far"));
    cr_expect(eq(sz, strlen(mabd_scene_text(scene)), 300000));
    mabd_scene_destroy(scene);
    unlink(path);
}

// A scene that takes every kind of allocation.
#define RICH_SCENE                                                                                 \
    "{\"name\": \"a scene with a rather long name\", \"params\": {\"n\": {\"default\": 1},"        \
    "\"t\": {\"default\": \"text\", \"choices\": [\"text\", \"other\"]}},"                         \
    "\"wind\": {\"direction\": [1, 0, 0], \"strength\": {\"table\": {\"times\": [0, 1], "          \
    "\"values\": [1.0000000000000002, 2]}}},"                                                      \
    "\"bodies\": [{\"name\": \"p\", \"shapes\": [{\"shape\": \"box\", \"size\": [1, 1, 1]},"       \
    "{\"shape\": \"sphere\", \"radius\": 1}]}],"                                                   \
    "\"joints\": [{\"type\": \"hinge\", \"b\": \"p\", \"axes\": {\"rx\": {\"motor\": {\"table\": " \
    "{\"times\": [0], \"values\": [1]}}}}}],"                                                      \
    "\"forces\": [{\"body\": \"p\", \"force\": [1, 0, 0]}]}"

/// Number of requests that succeed; every later one fails.
static int64_t requests_left;
static int64_t blocks_live;

static void* limited_malloc(size_t bytes) {
    if (requests_left <= 0) return NULL;
    requests_left--;
    blocks_live++;
    return malloc(bytes);
}

static void limited_free(void* memory) {
    if (memory) blocks_live--;
    free(memory);
}

static void* limited_alloc(void* context, size_t bytes) {
    (void)context;
    if (requests_left <= 0) return NULL;
    requests_left--;
    blocks_live++;
    return aligned_alloc(MABD_ALIGNMENT, bytes);
}

static void limited_release(void* context, void* memory, size_t bytes) {
    (void)context, (void)bytes;
    limited_free(memory);
}

// Load the rich scene with `limit` requests allowed; return true if it succeeded.
static bool load_limited(int64_t limit) {
    mabd_allocator allocator = {limited_alloc, limited_release, NULL};
    mabd_setting setting = {"t", "other"};
    mabd_scene* scene = NULL;
    mabd_error error = {0};
    requests_left = limit;
    mabd_status status = mabd_scene_create(&allocator, &scene);
    if (status == MABD_OK) {
        status = mabd_scene_load_text(scene, RICH_SCENE, strlen(RICH_SCENE), 1, &setting, &error);
        if (status != MABD_OK) cr_expect(eq(int, error.status, MABD_ERR_MEMORY));
    }
    mabd_scene_destroy(scene);
    cr_expect(eq(i64, blocks_live, 0), "limit %ld", (long)limit);
    if (status != MABD_OK) {
        cr_expect(eq(int, status, MABD_ERR_MEMORY), "limit %ld: %s", (long)limit, error.text);
    }
    return status == MABD_OK;
}

// The parser's memory and the library's are both counted.
Test(json_scene, running_out_of_memory_anywhere_is_reported_and_leaks_nothing) {
    json_set_alloc_funcs(limited_malloc, limited_free);
    int64_t limit = 0;
    while (limit < 10000 && !load_limited(limit)) limit++;
    cr_expect(lt(i64, 50, limit));
    cr_expect(lt(i64, limit, 10000));
}

Test(json_scene, messages_are_one_line_of_valid_text) {
    fails_with("{\"bodies\": [{\"na\\nme\": 1}]}", 0, NULL, 1, 14, "unknown field 'na\\nme'");
    char text[2000] = "{\"joints\": [{\"type\": \"ball\", \"b\": \"";
    for (int i = 0; i < 200; i++) strcat(text, "\xE2\x82\xAC");
    strcat(text, "\"}]}");
    fails_with(text, 0, NULL, 1, 35, "there is no body named");
}
