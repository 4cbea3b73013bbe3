// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/json_generators_contact.c and the shipped scenes that touch
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
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

Test(generate_json_contact, the_huge_pulley_has_the_links_asked_for) {
    const scene_case huge = {"pulley-huge", {{0}}, 0, 0, 0};
    mabd_scene* scene = load(&huge);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 1076748 + 7 + 2 * 636));
    cr_assert(ge(i32, mabd_scene_find_body(scene, "pulley/link/1076747"), 0));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "pulley/link/1076748"), -1));
    mabd_scene_destroy(scene);
}

// ---- JSON --------------------------------------------------------------------------------------

// Same bodies and joints, same surfaces and drives.
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
