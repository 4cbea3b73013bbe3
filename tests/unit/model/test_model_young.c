// SPDX-License-Identifier: Apache-2.0
// Young's modulus of every body of a model: its own, else that of its generator, else that of the
// scene, else 2e11 Pa. The oracle is E = mu (3 lambda + 2 mu)/(lambda + mu) of the Lame constants
// in the model.
#include "mabd/batch.h"
#include "mabd/generate.h"
#include "mabd/model.h"
#include "model/model_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static mabd_error error;

static mabd_scene* empty(void) {
    mabd_scene* scene = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    return scene;
}

static mabd_scene* load_set(const char* text, const char* value) {
    mabd_scene* scene = empty();
    const mabd_setting setting = {"young", value};
    const mabd_status status =
        mabd_scene_load_text(scene, text, strlen(text), value ? 1 : 0, &setting, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    return scene;
}

static mabd_model* build(const mabd_scene* scene) {
    mabd_model* model = NULL;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    return model;
}

static double young_of(const mabd_model* model, int32_t body) {
    const mabd_body_material* m = &model->classes[model->body_class[body]].material;
    return m->mu * (3 * m->lambda + 2 * m->mu) / (m->lambda + m->mu);
}

// Build the model and expect these moduli (count) of its bodies.
static void expect_young(const mabd_scene* scene, int32_t count, const double* expected) {
    mabd_model* model = build(scene);
    cr_assert(eq(i32, model->body_count, count));
    for (int32_t i = 0; i < count; i++) {
        cr_expect(fabs(young_of(model, i) - expected[i]) < 1e-12 * expected[i],
                  "body %d: %g Pa, expected %g", (int)i, young_of(model, i), expected[i]);
    }
    mabd_model_destroy(model);
}

static int32_t add_ball(mabd_scene* scene, double young, mabd_motion motion) {
    const mabd_real radius[1] = {0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, radius, 1000);
    mabd_body_def def = mabd_default_body_def();
    int32_t id = -1;
    def.geom_count = 1, def.geoms = &geom, def.young = young, def.motion = motion;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, &id, &error), MABD_OK), "%s", error.text);
    return id;
}

#define BALL(more)        "{\"shape\": \"sphere\", \"radius\": 0.1" more "}"
#define CHAIN(name, more) "{\"type\": \"chain\", \"name\": \"" name "\", \"links\": 1" more "}"
#define OWN(top)                                                                                   \
    "{" top "\"generators\": [" CHAIN("a", "") "," CHAIN(                                          \
        "b", ", \"young\": 3e9") "],"                                                              \
                                 " \"bodies\": [" BALL("") "," BALL(", \"young\": 5e6") "]}"

Test(model_young, of_a_body_then_of_its_generator_then_of_the_scene_then_of_steel) {
    mabd_scene* steel = load_set(OWN(""), NULL);
    expect_young(steel, 4, (const double[]){2e11, 3e9, 2e11, 5e6});
    mabd_scene* soft = load_set(OWN("\"young\": 1e7, "), NULL);
    expect_young(soft, 4, (const double[]){1e7, 3e9, 1e7, 5e6});
    mabd_scene_destroy(steel), mabd_scene_destroy(soft);
}

Test(model_young, of_the_scene_may_be_a_param) {
    mabd_scene* scene = load_set("{\"young\": \"=2*young\", \"params\": {\"young\": {\"default\":"
                                 " 1e9}}, \"bodies\": [" BALL("") "]}",
                                 "4e9");
    expect_young(scene, 1, (const double[]){8e9});
    mabd_scene_destroy(scene);
}

Test(model_young, of_the_scene_reaches_bodies_of_all_generators_with_a_material) {
    const char* text = "{\"young\": 7e9, \"generators\": ["
                       "{\"type\": \"net\", \"rows\": 2, \"columns\": 2, \"pinned\": \"none\"},"
                       "{\"type\": \"four-bar\"}, {\"type\": \"double-four-bar\", \"loops\": 1},"
                       "{\"type\": \"four-bar-chain\", \"segments\": 1},"
                       "{\"type\": \"ragdoll\"}, {\"type\": \"pile\"},"
                       "{\"type\": \"branching\"}, {\"type\": \"jansen\"}]}";
    mabd_scene* scene = load_set(text, NULL);
    mabd_model* model = build(scene);
    for (int32_t i = 0; i < model->body_count; i++) {
        if (model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        cr_expect(fabs(young_of(model, i) - 7e9) < 1, "body %d: %g Pa", (int)i, young_of(model, i));
    }
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}

Test(model_young, of_the_scene_is_in_the_hash) {
    mabd_scene *a = load_set(OWN(""), NULL), *b = load_set(OWN("\"young\": 1e7, "), NULL);
    mabd_model *one = build(a), *other = build(b);
    cr_expect(ne(u64, mabd_model_hash(one), mabd_model_hash(other)));
    mabd_model_destroy(one), mabd_model_destroy(other);
    mabd_scene_destroy(a), mabd_scene_destroy(b);
}

Test(model_young, that_is_set_counts_for_bodies_before_and_after_it) {
    mabd_scene* scene = empty();
    add_ball(scene, 0, MABD_MOTION_DYNAMIC);
    cr_assert(eq(int, mabd_scene_set_young(scene, 1e8, &error), MABD_OK));
    add_ball(scene, 0, MABD_MOTION_DYNAMIC);
    expect_young(scene, 2, (const double[]){1e8, 1e8});
    cr_assert(eq(int, mabd_scene_set_young(scene, 1e10, NULL), MABD_OK));
    expect_young(scene, 2, (const double[]){1e10, 1e10});
    cr_expect(eq(i32, mabd_scene_warnings(scene, 0, NULL), 0));
    mabd_scene_destroy(scene);
}

Test(model_young, that_is_set_and_reaches_no_moving_body_is_a_warning) {
    mabd_scene* scene = empty();
    mabd_warning warning;
    cr_assert(eq(int, mabd_scene_set_young(scene, 1e8, &error), MABD_OK)); // no bodies yet
    cr_expect(eq(i32, mabd_scene_warnings(scene, 0, NULL), 0));
    add_ball(scene, 5e6, MABD_MOTION_DYNAMIC);
    add_ball(scene, 0, MABD_MOTION_FIXED);
    cr_assert(eq(int, mabd_scene_set_young(scene, 2e8, &error), MABD_OK));
    cr_assert(eq(i32, mabd_scene_warnings(scene, 1, &warning), 1));
    cr_expect(strstr(warning.text, "young 2e+08 Pa reaches no body") != NULL, "%s", warning.text);
    mabd_scene_destroy(scene);
}

Test(model_young, that_is_no_modulus_is_refused_and_changes_nothing) {
    static const struct {
        double value;
        const char* text;
    } cases[] = {{0, "scene: young must be positive, not 0"},
                 {-1e9, "scene: young must be positive, not -1e+09"},
                 {INFINITY, "scene: young is not a finite number"},
                 {NAN, "scene: young is not a finite number"}};
    mabd_scene* scene = empty();
    add_ball(scene, 0, MABD_MOTION_DYNAMIC);
    for (int i = 0; i < 4; i++) {
        cr_expect(eq(int, mabd_scene_set_young(scene, cases[i].value, &error), MABD_ERR_INPUT));
        cr_expect(eq(str, error.text, (char*)cases[i].text));
    }
    cr_expect(eq(int, mabd_scene_set_young(NULL, 1, &error), MABD_ERR_ARG));
    expect_young(scene, 1, (const double[]){2e11});
    mabd_scene_destroy(scene);
}

Test(model_young, of_copies_is_that_of_their_own_scene) {
    mabd_scene *batch = empty(), *a = load_set(OWN("\"young\": 1e7, "), NULL),
               *b = load_set(OWN(""), NULL);
    cr_assert(eq(int, mabd_scene_add_copy(batch, a, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_scene_add_copy(batch, b, &error), MABD_OK), "%s", error.text);
    expect_young(batch, 8, (const double[]){1e7, 3e9, 1e7, 5e6, 2e11, 3e9, 2e11, 5e6});
    mabd_scene_destroy(batch), mabd_scene_destroy(a), mabd_scene_destroy(b);
}
