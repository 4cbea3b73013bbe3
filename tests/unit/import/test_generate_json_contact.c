// SPDX-License-Identifier: Apache-2.0
// Tests for src/import/json/json_generators.c: generators with contacts, and their shipped scenes
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/line_segments.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-12;

// ---- shipped scenes ----------------------------------------------------------------------------

typedef struct scene_case {
    const char* file;
    mabd_setting settings[4];
    int32_t setting_count, bodies, joints;
} scene_case;

static mabd_scene* load(const scene_case* s) {
    char path[4096];
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, s->file);
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load(scene, path, s->setting_count, s->settings, &error);
    cr_assert(eq(int, status, MABD_OK), "%s:%d:%d: %s", path, error.line, error.column, error.text);
    return scene;
}

Test(generate_json_contact, shipped_scenes_load_with_their_parameters) {
    static const scene_case cases[] = {
        // links + sheaves + ends; joints between links, at ends and axles
        {"atwood", {{0}}, 0, 76 + 1 + 2, 75 + 1 + 2},
        {"atwood", {{"left", "3"}, {"right", "4"}, {"fixed", "1"}, {"load", "0"}}, 4, 25, 23},
        {"tackle", {{0}}, 0, 234 + 4 + 2, 233 + 4 + 3},
        {"tackle", {{"pulleys", "1"}}, 1, 122 + 2 + 2, 121 + 2 + 3},
        {"winch", {{0}}, 0, 80 + 2, 79 + 3},
        {"pulley", {{0}}, 0, 1500 + 7 + 2, 1499 + 7 + 2},
        {"pulley-huge", {{"strands", "2"}}, 1, 2 * 1693 + 7 + 4, 2 * 1692 + 4},
        {"falling-joints", {{0}}, 0, 1441, 720},
        {"falling-joints", {{"pairs", "5"}, {"shape", "box"}}, 2, 11, 5},
        {"net-cylinder", {{0}}, 0, 1161, 1520},
        {"net-cylinder", {{"rows", "3"}, {"columns", "4"}}, 2, 30, 34},
        // hubs and rods of the net, bodies of the figures; joints of rods, corners, figures
        {"ragdolls", {{0}}, 0, 1160 + 297, 2 * 760 + 4 + 270},
        {"ragdolls", {{"copies", "2"}, {"hubs", "3"}}, 2, 9 + 12 + 22, 24 + 4 + 20},
        {"stack", {{0}}, 0, 11, 0},
        {"incline", {{0}}, 0, 2, 0},
        {"bounce", {{0}}, 0, 5, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const scene_case* s = &cases[c];
        mabd_scene* scene = load(s);
        cr_assert(eq(i32, mabd_scene_body_count(scene), s->bodies), "%s", s->file);
        cr_assert(eq(i32, mabd_scene_joint_count(scene), s->joints), "%s", s->file);
        cr_assert(lt(dbl, scene_opening(scene), tolerance), "%s", s->file);
        cr_assert(scene->h > 0 && scene->duration > 0 && scene->contact.enabled, "%s", s->file);
        cr_assert(eq(str, scene->name, (char*)s->file));
        for (int32_t i = 0; i < mabd_scene_param_count(scene); i++) {
            cr_assert(lt(sz, 0, strlen(mabd_scene_param(scene, i).meaning)), "%s", s->file);
        }
        cr_assert(eq(i32, scene_wrong_names(scene), 0), "%s", s->file);
        mabd_scene_destroy(scene);
    }
}

Test(generate_json_contact, the_huge_pulley_has_the_requested_links) {
    const scene_case huge = {"pulley-huge", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&huge);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 1076748 + 7 + 2 * 636));
    cr_assert(ge(i32, mabd_scene_find_body(scene, "pulley/link/1076747"), 0));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "pulley/link/1076748"), -1));
    mabd_scene_destroy(scene);
}

// Box i of the stack begins where box i - 1 ends, the first one on the ground.
Test(generate_json_contact, boxes_of_the_stack_touch) {
    const scene_case stack = {"stack", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&stack);
    for (int32_t i = 0; i < 10; i++) {
        const mabd_geom* box = scene_geom(scene, i + 1);
        cr_assert(box->shape == MABD_SHAPE_BOX && box->size[2] == 0.2 && box->friction == 0.5);
        const double z = scene_body(scene, i + 1)->position[2];
        cr_assert(lt(dbl, fabs(z - 0.1 - 0.2 * i), tolerance));
    }
    mabd_scene_destroy(scene);
}

// n . p - 0.05 = 0: half the height of the block above the plane, whose normal is its own z axis.
Test(generate_json_contact, the_block_lies_on_the_incline) {
    static const char* const angles[] = {"0", "20", "45"};
    for (int i = 0; i < 3; i++) {
        const scene_case incline = {
            "incline", {{"angle", angles[i]}, {"friction", "0.7"}}, 2, 0, 0};
        mabd_scene* scene = load(&incline);
        const double ez[3] = {0, 0, 1}, *p = scene_body(scene, 1)->position;
        double normal[3], own[3];
        vector_rotate(scene_body(scene, 0)->rotation, ez, normal);
        vector_rotate(scene_body(scene, 1)->rotation, ez, own);
        const double height = normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2];
        cr_assert(lt(dbl, fabs(height - 0.05), tolerance));
        for (int k = 0; k < 3; k++) cr_assert(lt(dbl, fabs(normal[k] - own[k]), tolerance));
        const double tilt = strtod(angles[i], NULL) * acos(-1.0) / 180;
        cr_assert(lt(dbl, fabs(normal[0] - sin(tilt)), tolerance));
        cr_assert(scene_geom(scene, 0)->friction == 0.7 && scene_geom(scene, 1)->friction == 0.7);
        mabd_scene_destroy(scene);
    }
}

// The net is level above the cylinder, whose middle is under that of the net, along y.
Test(generate_json_contact, the_net_starts_above_the_cylinder) {
    const scene_case net = {"net-cylinder", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&net);
    const int32_t cylinder = mabd_scene_find_body(scene, "cylinder");
    double from[3], to[3], middle[3] = {0};
    scene_segment(scene, cylinder, from, to);
    cr_assert(lt(dbl, hypot(from[0] - to[0], from[2] - to[2]), tolerance));
    const double top = from[2] + scene_geom(scene, cylinder)->size[0];
    for (int32_t i = 0; i < cylinder; i++) {
        for (int k = 0; k < 3; k++) middle[k] += scene_body(scene, i)->position[k] / cylinder;
        cr_assert(lt(dbl, top + 0.015, scene_body(scene, i)->position[2]));
    }
    cr_assert(lt(dbl, fabs(middle[0] - from[0]), 1e-10));
    cr_assert(lt(dbl, fabs(middle[1] - (from[1] + to[1]) / 2), 1e-10));
    mabd_scene_destroy(scene);
}

// No figure reaches down to the net, and all are above it.
Test(generate_json_contact, the_ragdolls_start_above_the_net) {
    const scene_case ragdolls = {"ragdolls", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&ragdolls);
    const int32_t first = mabd_scene_find_body(scene, "ragdoll/pelvis/0");
    const double top = scene_body(scene, 0)->position[2] + 0.03, edge = 0.1 * 19;
    for (int32_t i = first; i < mabd_scene_body_count(scene); i++) {
        double ends[2][3];
        scene_segment(scene, i, ends[0], ends[1]);
        for (int e = 0; e < 2; e++) {
            cr_assert(lt(dbl, top + 0.05, ends[e][2]), "body %d", i);
            cr_assert(fabs(ends[e][0]) < edge && fabs(ends[e][1]) < edge, "body %d", i);
        }
    }
    mabd_scene_destroy(scene);
}

// Pairs above the rim lie within its circle, so that they fall into the bowl; lower ones are inside
// it.
Test(generate_json_contact, the_bowl_is_under_the_falling_joints) {
    const scene_case falling = {"falling-joints", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&falling);
    const double radius = scene_geom(scene, 1440)->size[0];
    for (int32_t i = 0; i < 1440; i++) {
        double ends[2][3];
        scene_segment(scene, i, ends[0], ends[1]);
        for (int e = 0; e < 2; e++) {
            if (ends[e][2] > 0) ends[e][2] = 0;
            cr_assert(lt(dbl, vector_norm(ends[e]) + 0.03, radius), "link %d", i);
        }
    }
    mabd_scene_destroy(scene);
}

// ---- JSON --------------------------------------------------------------------------------------

// Expect the same bodies, joints, surfaces and drives.
static void check_twins(const mabd_scene* scene, const mabd_scene* twin) {
    cr_assert(eq(i32, mabd_scene_body_count(scene), mabd_scene_body_count(twin)));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), mabd_scene_joint_count(twin)));
    cr_assert(eq(u64, scene_hash(scene), scene_hash(twin)));
    cr_assert(eq(i32, scene->geoms.count, twin->geoms.count));
    for (int32_t i = 0; i < scene->geoms.count; i++) {
        const mabd_geom* a = (const mabd_geom*)scene->geoms.data + i;
        const mabd_geom* b = (const mabd_geom*)twin->geoms.data + i;
        cr_assert(a->friction == b->friction && a->restitution == b->restitution);
        cr_assert(a->category == b->category && a->mask == b->mask);
    }
    cr_assert(eq(i32, scene->scripts.count, twin->scripts.count));
    for (int32_t i = 0; i < scene->scripts.count; i++) {
        const mabd_script* a = (const mabd_script*)scene->scripts.data + i;
        const mabd_script* b = (const mabd_script*)twin->scripts.data + i;
        cr_assert(a->angle.value == b->angle.value && a->axis[1] == b->axis[1]);
    }
    cr_assert(eq(i32, scene->axes.count, twin->axes.count));
    for (int32_t i = 0; i < scene->axes.count * MABD_AXIS_COUNT; i++) {
        const int set = i / MABD_AXIS_COUNT, k = i % MABD_AXIS_COUNT;
        const mabd_axis_def* a = &((const mabd_scene_axes*)scene->axes.data)[set].axis[k];
        const mabd_axis_def* b = &((const mabd_scene_axes*)twin->axes.data)[set].axis[k];
        cr_assert(a->motor_velocity.value == b->motor_velocity.value);
        cr_assert(a->max_force == b->max_force && a->limited == b->limited);
        cr_assert(a->lower == b->lower && a->upper == b->upper);
    }
}

static mabd_scene* read_text(const char* text) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    return scene;
}

#define WOOD                                                                                       \
    " \"density\": 500, \"young\": 2e9, \"poisson\": 0.2, \"friction\": 0.3,"                      \
    " \"restitution\": 0.1, \"category\": 16, \"mask\": 5"

static mabd_material wood(void) {
    return (mabd_material){500, 2e9, 0.2, 0.3, 0.1, 16, 5};
}

Test(generate_json_contact, pulley_reads_every_field) {
    mabd_scene *scene = read_text(
                   "{\"generators\": ["
                   "{\"type\": \"pulley\", \"name\": \"a\", \"arrangement\": \"tackle\","
                   " \"pulleys\": 2, \"radius\": 0.2, \"width\": 0.1, \"sheave_mass\": 3,"
                   " \"wrapped\": 9, \"link_radius\": 0.02, \"left\": 4, \"inner\": 5,"
                   " \"right\": 6, \"self\": true, \"end_mask\": 3, \"load\": 7, \"counter\": 8,"
                   " \"speed\": 2, \"max_torque\": 11, \"driven\": 3, \"strands\": 2,"
                   " \"spacing\": 0.4, \"position\": [1, 2, 3]," WOOD "},"
                   "{\"type\": \"pulley\", \"pulleys\": 2, \"angle\": 3},"
                   "{\"type\": \"pulley\", \"name\": \"c\", \"fixed\": true},"
                   "{\"type\": \"pulley\", \"name\": \"d\", \"arrangement\": \"winch\","
                   " \"torque\": 5}]}"),
               *twin = new_scene();
    mabd_pulley_def def = mabd_default_pulley_def();
    def.name = "a", def.arrangement = MABD_PULLEY_TACKLE, def.pulleys = 2, def.radius = 0.2;
    def.width = 0.1, def.sheave_mass = 3, def.wrapped = 9, def.link_radius = 0.02, def.left = 4;
    def.inner = 5, def.right = 6, def.self = true, def.end_mask = 3, def.load = 7, def.counter = 8;
    def.speed = mabd_signal_constant(2), def.max_torque = 11, def.driven = 3, def.strands = 2;
    def.spacing = 0.4, def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    def.material = wood();
    cr_assert(eq(int, mabd_generate_pulley(twin, &def, NULL), MABD_OK));
    def = mabd_default_pulley_def();
    def.pulleys = 2, def.angle = mabd_signal_constant(3);
    cr_assert(eq(int, mabd_generate_pulley(twin, &def, NULL), MABD_OK));
    def = mabd_default_pulley_def();
    def.name = "c", def.fixed = true;
    cr_assert(eq(int, mabd_generate_pulley(twin, &def, NULL), MABD_OK));
    def = mabd_default_pulley_def();
    def.name = "d", def.arrangement = MABD_PULLEY_WINCH, def.torque = mabd_signal_constant(5);
    cr_assert(eq(int, mabd_generate_pulley(twin, &def, NULL), MABD_OK));
    check_twins(scene, twin);
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}

Test(generate_json_contact, pile_reads_every_field) {
    mabd_scene *scene = read_text(
                   "{\"generators\": ["
                   "{\"type\": \"pile\", \"name\": \"a\", \"pairs\": 11, \"columns\": 2,"
                   " \"rows\": 3, \"spacing\": 0.7, \"seed\": 5, \"shape\": \"box\","
                   " \"length\": 0.2, \"radius\": 0.05, \"joints\": [\"planar\", \"hinge\"],"
                   " \"slide\": 0.01, \"bend\": 0.5, \"position\": [1, 2, 3]," WOOD "},"
                   "{\"type\": \"pile\"}]}"),
               *twin = new_scene();
    mabd_pile_def def = mabd_default_pile_def();
    def.name = "a", def.pairs = 11, def.columns = 2, def.rows = 3, def.spacing = 0.7, def.seed = 5;
    def.shape = MABD_SHAPE_BOX, def.length = 0.2, def.radius = 0.05, def.joint_count = 2;
    def.joints[0] = MABD_JOINT_PLANAR, def.joints[1] = MABD_JOINT_HINGE, def.slide = 0.01;
    def.bend = 0.5, def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    def.material = wood();
    cr_assert(eq(int, mabd_generate_pile(twin, &def, NULL), MABD_OK));
    def = mabd_default_pile_def();
    cr_assert(eq(int, mabd_generate_pile(twin, &def, NULL), MABD_OK));
    check_twins(scene, twin);
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}

Test(generate_json_contact, ragdoll_reads_every_field) {
    mabd_scene *scene = read_text(
                   "{\"generators\": ["
                   "{\"type\": \"ragdoll\", \"name\": \"a\", \"copies\": 5, \"columns\": 2,"
                   " \"rows\": 1, \"spacing\": 3, \"height\": 1.5, \"seed\": 5,"
                   " \"position\": [1, 2, 3]," WOOD "},"
                   "{\"type\": \"ragdoll\"}]}"),
               *twin = new_scene();
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.name = "a", def.copies = 5, def.columns = 2, def.rows = 1, def.spacing = 3;
    def.height = 1.5, def.seed = 5, def.material = wood();
    def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    cr_assert(eq(int, mabd_generate_ragdoll(twin, &def, NULL), MABD_OK));
    def = mabd_default_ragdoll_def();
    cr_assert(eq(int, mabd_generate_ragdoll(twin, &def, NULL), MABD_OK));
    check_twins(scene, twin);
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}
