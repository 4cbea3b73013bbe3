// SPDX-License-Identifier: Apache-2.0
// Loss files (src/gradient/loss_file.c): what they mean, bad input with its place, damaged files,
// and allocations that fail.
#include "fuzz/mutate.h"
#include "mabd/gradient.h"
#include "support/counting_allocator.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define H     0.125
#define STEPS 16 // 2 s

static const char* const scene_text =
    "{\"bodies\": ["
    "{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 2,"
    " \"velocity\": [1, 2, 3]},"
    "{\"name\": \"arm\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1], \"position\": [5, 0, 0]},"
    "{\"name\": \"wall\", \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [0, 9, 0],"
    " \"fixed\": true}],"
    "\"joints\": ["
    "{\"name\": \"elbow\", \"type\": \"hinge\", \"b\": \"arm\", \"anchor\": [4.5, 0, 0],"
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 3, \"motor\": 0.5,"
    " \"servo\": 0.1, \"servo_stiffness\": 4}}}]}";

static mabd_model* model_of(const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load_text(scene, scene_text, strlen(scene_text), 0, NULL, &error), &error,
              "load");
    rig_check(mabd_model_build(scene, allocator, &model, &error), &error, "model");
    mabd_scene_destroy(scene);
    return model;
}

static mabd_status load(const mabd_model* model, const char* text, mabd_loss** loss,
                        mabd_error* error) {
    return mabd_loss_load_text(model, (mabd_real)H, STEPS, text, strlen(text), loss, error);
}

static const char* const good =
    "{\"name\": \"aim\", \"run\": {\"anything\": 1},\n"
    " \"parameters\": [\n"
    "  {\"of\": \"start-velocity\", \"name\": \"ball\", \"component\": \"z\", \"lower\": -5,"
    " \"upper\": 5, \"scale\": 2},\n"
    "  {\"of\": \"start-position\", \"name\": \"ball\", \"value\": [7, 8, 9], \"lower\": 0},\n"
    "  {\"of\": \"start-angular\", \"component\": \"y\"},\n"
    "  {\"of\": \"control\", \"name\": \"elbow\", \"axis\": \"rx\", \"control\": \"force\","
    " \"from\": 0.5, \"to\": 1.75, \"pieces\": 3},\n"
    "  {\"of\": \"stiffness\", \"name\": \"elbow\", \"axis\": \"rx\"},\n"
    "  {\"of\": \"inertia\", \"name\": \"arm\", \"component\": \"xz\"},\n"
    "  {\"of\": \"gravity\", \"component\": \"z\"}],\n"
    " \"terms\": [\n"
    "  {\"type\": \"point\", \"name\": \"ball\", \"point\": [0, 0, 0.1], \"at\": 1.5,"
    " \"target\": [1, 2, 3], \"weight\": 4},\n"
    "  {\"type\": \"rotation\", \"name\": \"arm\", \"target\": {\"axis\": [0, 0, 2],"
    " \"degrees\": 180}},\n"
    "  {\"type\": \"joint-force\", \"name\": \"elbow\", \"to\": 1},\n"
    "  {\"type\": \"coordinate\", \"name\": \"elbow\", \"axis\": \"rx\", \"from\": 0.25,"
    " \"to\": 0.5, \"target\": 0.75},\n"
    "  {\"type\": \"parameter\", \"index\": 4, \"target\": -1}]}";

static void expect_parameters(const mabd_gradient_def* def, const mabd_real* values) {
    const mabd_parameter* p = def->parameters;
    cr_assert_eq(def->parameter_count, 11);
    cr_expect(p[0].kind == MABD_PARAMETER_START_VELOCITY && p[0].index == 0 && p[0].component == 2);
    cr_expect(p[0].lower == -5 && p[0].upper == 5 && p[0].scale == 2 && values[0] == 3);
    for (int k = 0; k < 3; k++) {
        cr_expect(p[1 + k].component == k && values[1 + k] == 7 + k && p[1 + k].lower == 0);
    }
    cr_expect(p[4].index == -1 && p[4].component == 1 && values[4] == 0);
    const int64_t first[] = {5, 8, 11}, last[] = {7, 10, 14}; // steps 5 .. 14 in three pieces
    for (int k = 0; k < 3; k++) {
        cr_expect(p[5 + k].kind == MABD_PARAMETER_CONTROL && p[5 + k].index == 1);
        cr_expect(p[5 + k].first == first[k] && p[5 + k].last == last[k], "%d .. %d",
                  (int)p[5 + k].first, (int)p[5 + k].last);
        cr_expect_eq(values[5 + k], 0.5);
    }
    cr_expect(p[8].axis == MABD_AXIS_RX && values[8] == 3);
    cr_expect(p[9].component == 4 && values[9] == 0);
    cr_expect(p[10].kind == MABD_PARAMETER_GRAVITY && p[10].component == 2);
}

Test(loss_file, names_and_seconds_become_indices_and_steps) {
    mabd_model* model = model_of(NULL);
    mabd_loss* loss;
    mabd_error error = {0};
    rig_check(load(model, good, &loss, &error), &error, "loss");
    const mabd_gradient_def def = mabd_loss_gradient_def(loss);
    cr_assert(def.steps == STEPS && def.term_count == 5);
    cr_expect_eq(def.cookie, mabd_default_gradient_def().cookie);
    expect_parameters(&def, mabd_loss_values(loss));
    const int32_t entries[] = {0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 6};
    for (int i = 0; i < 11; i++) cr_expect_eq(mabd_loss_entry(loss, i), entries[i]);
    const mabd_loss_term* t = def.terms;
    cr_expect(t[0].kind == MABD_LOSS_POINT && t[0].first == 12 && t[0].last == 12);
    cr_expect(t[0].target[2] == 3 && t[0].weight == 4 && t[0].point[2] == (mabd_real)0.1);
    cr_expect(t[1].index == 1 && t[1].first == 16 && t[1].last == 16 && t[1].weight == 1);
    cr_expect(fabs(t[1].target[0]) < 1e-15 && fabs(t[1].target[3] - 1) < 1e-15);
    cr_expect(t[2].axis == -1 && t[2].first == 1 && t[2].last == 8);
    cr_expect(t[3].first == 2 && t[3].last == 4 && t[3].target[0] == 0.75);
    cr_expect(t[4].kind == MABD_LOSS_PARAMETER && t[4].index == 4 && t[4].target[0] == -1);
    mabd_loss_destroy(loss);
    mabd_model_destroy(model);
}

// Each file is wrong in one way; the place is that of the value, or of the entry.
static const struct {
    const char* text;
    int32_t line, column;
    const char* part;
} broken[] = {
    {"", 1, 1, "expected a loss"},
    {"[]", 1, 1, "expected an object"},
    {"{}", 1, 1, "a loss needs 'terms'"},
    {"{\"terms\": [],\n \"weights\": 1}", 2, 2, "unknown field 'weights'"},
    {"{\"terms\": {}}", 1, 11, "expected an array"},
    {"{\"terms\": [\n {\"name\": \"ball\"}]}", 2, 2, "a term needs 'type'"},
    {"{\"terms\": [{\"type\": \"pose\"}]}", 1, 21, "type: expected one of point"},
    {"{\"terms\": [{\"type\": \"user\"}]}", 1, 12, "function of a program"},
    {"{\"terms\": [{\"type\": \"point\"}]}", 1, 12, "it needs 'name'"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"bal\"}]}", 1, 38, "no body named 'bal'"},
    {"{\"terms\": [{\"type\": \"rate\", \"name\": \"ball\"}]}", 1, 37, "no joint named 'ball'"},
    {"{\"terms\": [{\"type\": \"rate\", \"name\": \"elbow\"}]}", 1, 12, "rate needs 'axis'"},
    {"{\"terms\": [{\"type\": \"rate\", \"name\": \"elbow\", \"axis\": \"tx\"}]}", 1, 12,
     "no free axis tx"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"at\": 2.125}]}", 1, 52,
     "2.125 s is after the end of the run, 2 s"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"at\": -1}]}", 1, 52,
     "before the start"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"at\": 0.3}]}", 1, 52,
     "0.3 s is not a whole number of steps of 0.125 s"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"at\": 1, \"to\": 2}]}", 1, 52,
     "not both"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"from\": 1, \"to\": 0.5}]}", 1, 12,
     "states 8 .. 4"},
    {"{\"terms\": [{\"type\": \"joint-force\", \"name\": \"elbow\", \"at\": 0}]}", 1, 12,
     "states 0 .. 0"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"target\": [1, 2]}]}", 1, 56,
     "an array of 3 numbers"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"weight\": -1}]}", 1, 56,
     "weight must be >= 0"},
    {"{\"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"weight\": 1e999}]}", 1, 56,
     "overflow"},
    {"{\"terms\": [{\"type\": \"angular\", \"name\": \"ball\", \"point\": [0, 0, 0]}]}", 1, 57,
     "'point' has no meaning for 'angular'"},
    {"{\"terms\": [{\"type\": \"energy\", \"name\": \"ball\"}]}", 1, 39, "'name' has no meaning"},
    {"{\"terms\": [{\"type\": \"energy\", \"axis\": \"rx\"}]}", 1, 39, "'axis' has no meaning"},
    {"{\"terms\": [{\"type\": \"energy\", \"index\": 1}]}", 1, 40, "'index' has no meaning"},
    {"{\"terms\": [{\"type\": \"parameter\", \"index\": 0}]}", 1, 12, "no parameter 0"},
    {"{\"terms\": [], \"parameters\": [{\"name\": \"ball\"}]}", 1, 30, "a parameter needs 'of'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"wight\"}]}", 1, 37, "of: expected one of"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"bell\"}]}", 1, 53,
     "no body named 'bell'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\"}]}", 1, 30, "it needs 'name'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"wall\"}]}", 1, 30,
     "'wall' is fixed"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"spring\"}]}", 1, 30, "there is no spring 0"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"ground\"}]}", 1, 30, "the scene has no ground"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"ball\","
     " \"lower\": 3, \"upper\": 1}]}",
     1, 30, "lower bound 3 is above the upper one, 1"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"ball\", \"scale\": 0}]}", 1,
     30, "scale must be > 0"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"ball\", \"value\": [1, 2]}]}",
     1, 70, "value: expected a number or 1 of them, got 2"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"ball\","
     " \"component\": \"x\"}]}",
     1, 74, "'component' has no meaning"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"mass\", \"name\": \"ball\", \"from\": 1}]}", 1,
     69, "'from' has no meaning"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"rate\", \"name\": \"elbow\"}]}", 1, 30,
     "rate needs 'axis'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"control\", \"name\": \"elbow\","
     " \"axis\": \"rx\"}]}",
     1, 30, "an axis with two drives needs 'control'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"control\", \"name\": \"elbow\","
     " \"axis\": \"ry\"}]}",
     1, 30, "no servo or motor on axis ry"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"force\", \"name\": \"ball\", \"from\": 1,"
     " \"to\": 1}]}",
     1, 30, "'from' is not before 'to'"},
    {"{\"terms\": [], \"parameters\": [{\"of\": \"force\", \"name\": \"ball\","
     " \"pieces\": 17}]}",
     1, 30, "17 pieces of 16 steps"},
};

Test(loss_file, bad_input_has_its_place) {
    mabd_model* model = model_of(NULL);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        mabd_loss* loss;
        mabd_error error = {0};
        cr_expect_eq(load(model, broken[i].text, &loss, &error), MABD_ERR_INPUT, "%s",
                     broken[i].text);
        cr_expect_null(loss);
        cr_expect(error.line == broken[i].line && error.column == broken[i].column, "%s: %d:%d: %s",
                  broken[i].text, (int)error.line, (int)error.column, error.text);
        cr_expect(strstr(error.text, broken[i].part) != NULL, "%s: %s", broken[i].text, error.text);
    }
    mabd_model_destroy(model);
}

Test(loss_file, arguments_and_files_are_checked) {
    mabd_model* model = model_of(NULL);
    mabd_loss* loss;
    mabd_error error = {0};
    cr_expect_eq(
        mabd_loss_load(model, (mabd_real)H, STEPS, "/nonexistent/loss.json", &loss, &error),
        MABD_ERR_IO);
    cr_expect_eq(mabd_loss_load(NULL, (mabd_real)H, STEPS, "x", &loss, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_loss_load(model, 0, STEPS, "x", &loss, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_loss_load(model, (mabd_real)H, 0, "x", &loss, &error), MABD_ERR_ARG);
    mabd_loss_destroy(NULL);
    mabd_model_destroy(model);
}

Test(loss_file, damaged_files_never_crash_or_leak) {
    counting_allocator counter = {.fail_at = -1};
    mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = model_of(&allocator);
    const int64_t blocks = counter.live_blocks;
    const size_t room = 4 * strlen(good);
    const int rounds = AMOUNT(20000, 2000);
    uint64_t state = 7;
    int loaded = 0;
    for (int round = 0; round < rounds; round++) {
        char* text = malloc(room);
        size_t size = strlen(good);
        memcpy(text, good, size);
        for (uint32_t i = mutate_draw(&state) % 3; i < 3; i++) {
            size = mutate(text, size, room, &state);
        }
        char* exact = malloc(size ? size : 1); // a read beyond the end is detected
        memcpy(exact, text, size);
        free(text);
        mabd_loss* loss;
        mabd_error error = {0};
        const mabd_status status =
            mabd_loss_load_text(model, (mabd_real)H, STEPS, exact, size, &loss, &error);
        free(exact);
        loaded += status == MABD_OK;
        cr_assert(status == MABD_OK || status == MABD_ERR_INPUT, "round %d: %s", round, error.text);
        cr_assert(status == MABD_OK || (error.line >= 1 && error.column >= 1 && error.text[0]),
                  "round %d: '%s'", round, error.text);
        mabd_loss_destroy(loss);
        cr_assert_eq(counter.live_blocks, blocks, "round %d leaks", round);
    }
    cr_expect(loaded > rounds / 20, "%d of %d", loaded, rounds);
    mabd_model_destroy(model);
}

Test(loss_file, every_allocation_may_fail) {
    counting_allocator counter = {.fail_at = -1};
    mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = model_of(&allocator);
    const int64_t blocks = counter.live_blocks, calls = counter.calls;
    mabd_loss* loss;
    mabd_error error = {0};
    rig_check(load(model, good, &loss, &error), &error, "loss");
    const int64_t needed = counter.calls - calls;
    mabd_loss_destroy(loss);
    cr_assert(needed > 4);
    for (int64_t i = 0; i < needed; i++) {
        counter.fail_at = counter.calls + i;
        cr_expect_eq(load(model, good, &loss, &error), MABD_ERR_MEMORY);
        cr_expect(loss == NULL && counter.live_blocks == blocks);
    }
    counter.fail_at = -1;
    mabd_model_destroy(model);
}
