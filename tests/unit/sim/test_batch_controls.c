// SPDX-License-Identifier: Apache-2.0
// Tests for targets of copies (src/formulation/affine/targets.c, src/sim/batch.c), names and
// refusals of batches. A target set through the API must act like the same number in the scene: the
// oracle is scenes with that number, simulated alone.
#include "mabd/mabd.h"
#include "support/counting_allocator.h"
#include "support/plain_sim.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS    50
#define COPIES   5
#define CONTROLS 4

// A servo, a motor beside a spring, a motor alone and a rigid servo, all constant.
static const char* const mechanism =
    "{\"name\": \"levers\", \"params\": {"
    "\"mass\": {\"default\": 1, \"unit\": \"kg\", \"meaning\": \"m\"},"
    "\"a\": {\"default\": 0.1, \"unit\": \"rad\", \"meaning\": \"a\"},"
    "\"b\": {\"default\": 0.2, \"unit\": \"N m\", \"meaning\": \"b\"},"
    "\"c\": {\"default\": -0.1, \"unit\": \"N m\", \"meaning\": \"c\"},"
    "\"d\": {\"default\": 0, \"unit\": \"m\", \"meaning\": \"d\"},"
    "\"push\": {\"default\": 0, \"unit\": \"N\", \"meaning\": \"p\"}},"
    "\"bodies\": ["
    "{\"name\": \"one\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.2, 0, 0], "
    "\"mass\": \"=mass\"},"
    "{\"name\": \"two\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.6, 0, 0]},"
    "{\"name\": \"three\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [1, 0, 0]},"
    "{\"name\": \"four\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [1.2, 0, "
    "0]}],"
    "\"forces\": [{\"body\": \"two\", \"force\": [0, 0, \"=push\"]}],"
    "\"joints\": ["
    "{\"name\": \"first\", \"type\": \"hinge\", \"b\": \"one\", \"axis\": [0, 1, 0],"
    " \"axes\": {\"rx\": {\"servo\": \"=a\", \"servo_stiffness\": 50, \"servo_damping\": 2}}},"
    "{\"name\": \"second\", \"type\": \"hinge\", \"a\": \"one\", \"b\": \"two\", \"anchor\": [0.4, "
    "0, 0], \"axis\": [0, 1, 0],"
    " \"axes\": {\"rx\": {\"stiffness\": 20, \"damping\": 1, \"motor\": \"=b\"}}},"
    "{\"name\": \"third\", \"type\": \"hinge\", \"a\": \"two\", \"b\": \"three\", \"anchor\": "
    "[0.8, 0, 0], \"axis\": [0, 1, 0],"
    " \"axes\": {\"rx\": {\"motor\": \"=c\"}}},"
    "{\"name\": \"fourth\", \"type\": \"prismatic\", \"a\": \"three\", \"b\": \"four\", "
    "\"anchor\": [1.2, 0, 0],"
    " \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"servo\": \"=d\", \"servo_rigid\": true}}}]}";
#define BODIES 4

static const char* const names[CONTROLS] = {"a", "b", "c", "d"};
static const double usual[CONTROLS] = {0.1, 0.2, -0.1, 0};

static double mass_of(int32_t copy) {
    return 0.5 + 0.3 * copy;
}
static double target_of(int32_t copy, int32_t control) {
    return usual[control] + 0.02 * (copy + 1) * (control == 3 ? 0.1 : control + 1);
}

// Make the scene of a copy with the numbers of `values` (CONTROLS) in it, null = the default ones.
static mabd_scene* make_scene(int32_t copy, const double* values, const char* more,
                              const char* value) {
    mabd_setting settings[CONTROLS + 2];
    char texts[CONTROLS + 1][40];
    int32_t count = 0;
    for (; count < CONTROLS; count++) {
        snprintf(texts[count], sizeof texts[count], "%.17g", (values ? values : usual)[count]);
        settings[count] = (mabd_setting){names[count], texts[count]};
    }
    snprintf(texts[count], sizeof texts[count], "%.17g", mass_of(copy));
    settings[count] = (mabd_setting){"mass", texts[count]};
    count++;
    if (more) settings[count++] = (mabd_setting){more, value};
    return plain_scene(mechanism, count, settings);
}

static mabd_model* build_batch(void) {
    mabd_error error = {0};
    mabd_scene* batch;
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int32_t c = 0; c < COPIES; c++) {
        mabd_scene* copy = make_scene(c, NULL, NULL, NULL);
        cr_assert(eq(int, mabd_scene_add_copy(batch, copy, &error), MABD_OK), "%s", error.text);
        mabd_scene_destroy(copy);
    }
    return plain_build(batch);
}

static void set_all(mabd_sim* sim) {
    mabd_error error = {0};
    mabd_real values[COPIES * CONTROLS];
    for (int32_t c = 0; c < COPIES; c++) {
        for (int32_t k = 0; k < CONTROLS; k++) values[c * CONTROLS + k] = target_of(c, k);
    }
    cr_assert(eq(int, mabd_sim_set_targets(sim, 0, COPIES, NULL, values, &error), MABD_OK), "%s",
              error.text);
}

typedef struct poses {
    mabd_real position[COPIES * BODIES * 3], rotation[COPIES * BODIES * 4],
        velocity[COPIES * BODIES * 3], angular[COPIES * BODIES * 3];
} poses;

static poses* poses_of(const mabd_sim* sim) {
    poses* p = calloc(1, sizeof *p);
    mabd_sim_get_state(sim, p->position, p->rotation, p->velocity, p->angular);
    return p;
}

// Compare copy c of the batch with a simulation alone, bit for bit.
static void expect_copy(const mabd_sim* batch, int32_t c, const mabd_sim* alone) {
    poses *all = poses_of(batch), *one = poses_of(alone);
    const size_t n = BODIES * sizeof(mabd_real);
    cr_expect(eq(int, memcmp(all->position + 3 * BODIES * c, one->position, 3 * n), 0), "copy %d",
              (int)c);
    cr_expect(eq(int, memcmp(all->rotation + 4 * BODIES * c, one->rotation, 4 * n), 0), "copy %d",
              (int)c);
    cr_expect(eq(int, memcmp(all->velocity + 3 * BODIES * c, one->velocity, 3 * n), 0), "copy %d",
              (int)c);
    cr_expect(eq(int, memcmp(all->angular + 3 * BODIES * c, one->angular, 3 * n), 0), "copy %d",
              (int)c);
    free(all);
    free(one);
}

// Compare every copy of a batch after STEPS with its scene with these numbers; `targeted`: those of
// target_of.
static void expect_scenes(const mabd_sim* batch, const bool* targeted) {
    for (int32_t c = 0; c < COPIES; c++) {
        double values[CONTROLS];
        for (int32_t k = 0; k < CONTROLS; k++) {
            values[k] = targeted[k] ? target_of(c, k) : usual[k];
        }
        mabd_model* model = plain_build(make_scene(c, values, NULL, NULL));
        mabd_sim* alone = plain_start(model, NULL);
        plain_advance(alone, STEPS);
        expect_copy(batch, c, alone);
        mabd_sim_destroy(alone);
        mabd_model_destroy(model);
    }
}

Test(batch_controls, targets_do_what_the_same_numbers_in_the_scene_do) {
    mabd_model* model = build_batch();
    mabd_sim* sim = plain_start(model, NULL);
    set_all(sim);
    plain_advance(sim, STEPS);
    expect_scenes(sim, (const bool[CONTROLS]){true, true, true, true});
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch_controls, some_targets_may_be_set_and_others_left) {
    const bool which[CONTROLS] = {false, true, false, true};
    mabd_error error = {0};
    mabd_model* model = build_batch();
    mabd_sim* sim = plain_start(model, NULL);
    for (int32_t c = 0; c < COPIES; c++) { // copy by copy; values that are not set are not read
        mabd_real values[CONTROLS];
        for (int32_t k = 0; k < CONTROLS; k++) values[k] = which[k] ? target_of(c, k) : NAN;
        cr_assert(eq(int, mabd_sim_set_targets(sim, c, 1, which, values, &error), MABD_OK));
    }
    plain_advance(sim, STEPS);
    expect_scenes(sim, which);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch_controls, cleared_targets_leave_the_signals_of_the_scene) {
    mabd_error error = {0};
    mabd_model* model = build_batch();
    mabd_sim* sim = plain_start(model, NULL);
    plain_advance(sim, 10);
    set_all(sim);
    cr_assert(eq(int, mabd_sim_clear_targets(sim, 0, COPIES, &error), MABD_OK));
    plain_advance(sim, STEPS - 10);
    expect_scenes(sim, (const bool[CONTROLS]){false});
    set_all(sim);
    plain_advance(sim, 1);
    mabd_sim_reset(sim);
    plain_advance(sim, STEPS);
    expect_scenes(sim, (const bool[CONTROLS]){false});
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch_controls, targets_are_saved_and_restored) {
    mabd_error error = {0};
    mabd_model* model = build_batch();
    mabd_sim *sim = plain_start(model, NULL), *resumed = plain_start(model, NULL);
    set_all(sim);
    plain_advance(sim, 20);
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    mabd_sim_save(sim, state);
    cr_assert(eq(int, mabd_sim_restore(resumed, state, size, &error), MABD_OK), "%s", error.text);
    plain_advance(resumed, STEPS - 20);
    expect_scenes(resumed, (const bool[CONTROLS]){true, true, true, true});
    free(state);
    mabd_sim_destroy(resumed);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch_controls, are_listed_with_axis_kind_and_unit) {
    mabd_model* model = build_batch();
    static const struct {
        int32_t joint;
        mabd_axis axis;
        const char *kind, *unit;
    } expected[CONTROLS] = {{0, MABD_AXIS_RX, "position", "rad"},
                            {1, MABD_AXIS_RX, "force", "N m"},
                            {2, MABD_AXIS_RX, "force", "N m"},
                            {3, MABD_AXIS_TX, "position", "m"}};
    cr_assert(eq(int, mabd_model_control_count(model), CONTROLS));
    for (int32_t k = 0; k < CONTROLS; k++) {
        const mabd_control_info info = mabd_model_control(model, k);
        cr_expect(eq(int, info.joint, expected[k].joint));
        cr_expect(eq(int, info.axis, expected[k].axis));
        cr_expect(eq(str, (char*)mabd_control_name(info.kind), (char*)expected[k].kind));
        cr_expect(eq(str, (char*)info.unit, (char*)expected[k].unit));
    }
    mabd_model_destroy(model);
    model = plain_build(make_scene(0, NULL, NULL, NULL));
    cr_expect(eq(int, mabd_model_control_count(model), CONTROLS));
    cr_expect(eq(int, mabd_model_copy_count(model), 0));
    mabd_model_destroy(model);
}

// Coordinates are those of mabd_sim_get_joint_coordinates. Rates of axes with rows follow the
// formula of BDF2 over the last coordinates, x' = (3 x - 4 x1 + x2)/(2 h); the rate of the motor
// without rows follows from the angular velocities of its bodies, which are each off by h^2 w^3/3
// at most, the error of that formula for a rotating matrix.
Test(batch_controls, coordinates_and_rates_are_those_of_the_joints) {
    mabd_model* model = build_batch();
    mabd_sim* sim = plain_start(model, NULL);
    const double h = mabd_sim_get_def(sim).h;
    mabd_real x[3][COPIES * CONTROLS], rate[COPIES * CONTROLS], all[MABD_AXIS_COUNT];
    set_all(sim);
    plain_advance(sim, STEPS);
    for (int i = 2; i >= 0; i--) {
        plain_advance(sim, 1);
        mabd_sim_get_controls(sim, x[i], rate);
    }
    poses* p = poses_of(sim);
    for (int32_t c = 0; c < COPIES; c++) {
        for (int32_t k = 0; k < CONTROLS; k++) {
            const int32_t at = c * CONTROLS + k;
            mabd_sim_get_joint_coordinates(sim, at, all);
            cr_expect(epsilon_eq(dbl, x[0][at], all[k == 3 ? MABD_AXIS_TX : MABD_AXIS_RX], 1e-12));
            const double bdf2 = (3 * x[0][at] - 4 * x[1][at] + x[2][at]) / (2 * h);
            if (k != 2) {
                cr_expect(epsilon_eq(dbl, rate[at], bdf2, 1e-10));
                continue;
            }
            const double a = p->angular[3 * (BODIES * c + 1) + 1];
            const double b = p->angular[3 * (BODIES * c + 2) + 1];
            const double off = h * h * (fabs(a * a * a) + fabs(b * b * b)) / 3;
            cr_expect(epsilon_eq(dbl, rate[at], b - a, off));
            cr_expect(lt(dbl, 10 * off, fabs(b - a)), "nothing turns");
        }
    }
    free(p);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch_controls, names_begin_with_the_copy) {
    mabd_model* model = build_batch();
    char text[64];
    cr_expect(
        eq(str, (char*)mabd_model_body_name(model, 3 * BODIES + 1, text, sizeof text), "3/two"));
    cr_expect(
        eq(str, (char*)mabd_model_joint_name(model, 4 * CONTROLS, text, sizeof text), "4/first"));
    cr_expect(eq(int, mabd_model_find_body(model, "3/two"), 3 * BODIES + 1));
    cr_expect(eq(int, mabd_model_find_joint(model, "0/fourth"), 3));
    static const char* const none[] = {"two", "5/two", "03/two", "3/", "/two", "-1/two", "3/2/two"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cr_expect(eq(int, mabd_model_find_body(model, none[i]), -1), "%s", none[i]);
    }
    mabd_model_destroy(model);
}

Test(batch_controls, refuses_targets_that_make_no_sense) {
    mabd_error error = {0};
    mabd_model* model = build_batch();
    mabd_sim* sim = plain_start(model, NULL);
    mabd_real values[COPIES * CONTROLS] = {0};
    values[2 * CONTROLS + 1] = INFINITY;
    cr_expect(eq(int, mabd_sim_set_targets(sim, 0, COPIES, NULL, values, &error), MABD_ERR_ARG));
    cr_expect(ne(ptr, strstr(error.text, "copy 2, joint 'second'"), NULL), "%s", error.text);
    cr_expect(eq(int, mabd_sim_set_targets(sim, 3, 3, NULL, values, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_set_targets(sim, -1, 1, NULL, values, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_clear_targets(sim, 0, COPIES + 1, &error), MABD_ERR_ARG));
    plain_advance(sim, STEPS); // no target was set
    expect_scenes(sim, (const bool[CONTROLS]){false});
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// One copy gets a force that is far too large: the error names it, and all copies keep the state
// before the step.
Test(batch_controls, a_copy_that_fails_is_named) {
    mabd_error error = {0};
    mabd_scene* batch;
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int32_t c = 0; c < COPIES; c++) {
        mabd_scene* copy = make_scene(c, NULL, "push", c == 3 ? "1e200" : "0");
        cr_assert(eq(int, mabd_scene_add_copy(batch, copy, &error), MABD_OK));
        mabd_scene_destroy(copy);
    }
    mabd_model* model = plain_build(batch);
    mabd_sim* sim = plain_start(model, NULL);
    poses* before = poses_of(sim);
    cr_expect(ne(int, mabd_sim_step(sim, NULL, &error), MABD_OK));
    cr_expect(ne(ptr, strstr(error.text, "copy 3, body '"), NULL), "%s", error.text);
    cr_expect(eq(int, error.body / BODIES, 3));
    poses* after = poses_of(sim);
    cr_expect(eq(int, memcmp(before, after, sizeof *before), 0));
    free(before);
    free(after);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// ---- refusals ----------------------------------------------------------------------------------

static mabd_scene* load_text(const char* text) {
    mabd_error error = {0};
    mabd_scene* scene;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error), MABD_OK),
              "%s", error.text);
    return scene;
}

#define CUBE                        "\"shape\": \"box\", \"size\": [1, 1, 1]"
#define BODY(more)                  "{\"name\": \"rod\", " CUBE more "}"
#define PIN(type)                   "\"name\": \"pin\", \"type\": \"" type "\""
#define JOINT(type, more)           "{" PIN(type) ", \"b\": \"rod\"" more "}"
#define SCENE(bodies, joints, more) "{\"bodies\": [" bodies "], \"joints\": [" joints "]" more "}"

Test(batch_controls, refuses_copies_that_are_not_alike) {
    static const struct {
        const char *scene, *message;
    } cases[] = {
        {SCENE(BODY("") ", {" CUBE "}", JOINT("hinge", ""), ""),
         "copy 1: the number of bodies is not as in the first copy"},
        {SCENE(BODY(""), JOINT("hinge", "") ", {\"type\": \"ball\", \"b\": \"rod\"}", ""),
         "copy 1: the number of joints is not as in the first copy"},
        {SCENE("{\"name\": \"rod\", \"shape\": \"sphere\", \"radius\": 1}", JOINT("hinge", ""), ""),
         "copy 1: body 'rod' has geoms of another shape than in the first copy"},
        {SCENE(BODY(""), JOINT("ball", ""), ""),
         "copy 1: joint 0 pin has another type than in the first copy"},
        {SCENE(BODY(""),
               "{\"name\": \"pin\", \"type\": \"hinge\", \"a\": \"rod\", \"b\": \"world\"}", ""),
         "copy 1: joint 0 pin has other bodies than in the first copy"},
        {SCENE(BODY(""), JOINT("hinge", ""), ", \"gravity\": [0, 0, -1]"),
         "copy 1: gravity is not as in the first copy"},
        {SCENE(BODY(""), JOINT("hinge", ""), ", \"contact\": {\"enabled\": true}"),
         "copy 1: how geoms touch is not as in the first copy"},
    };
    mabd_scene *batch, *first = load_text(SCENE(BODY(""), JOINT("hinge", ""), ""));
    mabd_error error = {0};
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    cr_assert(eq(int, mabd_scene_add_copy(batch, first, &error), MABD_OK));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mabd_scene* other = load_text(cases[i].scene);
        cr_expect(eq(int, mabd_scene_add_copy(batch, other, &error), MABD_ERR_INPUT));
        cr_expect(eq(str, error.text, (char*)cases[i].message));
        cr_expect(eq(int, mabd_scene_copy_count(batch), 1));
        mabd_scene_destroy(other);
    }
    cr_expect(eq(int, mabd_scene_add_copy(batch, batch, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_add_copy(first, batch, &error), MABD_ERR_ARG));
    mabd_scene_destroy(first);
    mabd_scene_destroy(batch);
}

Test(batch_controls, refuses_axes_that_are_not_alike) {
    mabd_scene* scenes[2] = {
        load_text(SCENE(BODY(""), JOINT("hinge", ", \"axes\": {\"rx\": {\"motor\": 1}}"), "")),
        load_text(SCENE(BODY(""), JOINT("hinge", ", \"axes\": {\"rx\": {\"stiffness\": 1}}"), ""))};
    mabd_error error = {0};
    mabd_scene* batch;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int i = 0; i < 2; i++) {
        cr_assert(eq(int, mabd_scene_add_copy(batch, scenes[i], &error), MABD_OK));
    }
    cr_expect(eq(int, mabd_model_build(batch, NULL, &model, &error), MABD_ERR_INPUT));
    cr_expect(eq(str, error.text,
                 "copy 1, joint 'pin': what acts on its axes is not as in the first copy"));
    for (int i = 0; i < 2; i++) mabd_scene_destroy(scenes[i]);
    mabd_scene_destroy(batch);
}

Test(batch_controls, a_scene_of_copies_takes_copies_only) {
    mabd_scene *batch, *copy = make_scene(0, NULL, NULL, NULL);
    mabd_error error = {0};
    mabd_body_def body = mabd_default_body_def();
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_pair_def pair = {.a = 0, .b = 1, .excluded = true};
    mabd_force_def force = {0};
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    cr_assert(eq(int, mabd_scene_add_copy(batch, copy, &error), MABD_OK));
    cr_expect(eq(int, mabd_scene_add_body(batch, &body, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_add_joint(batch, &joint, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_add_force(batch, &force, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_scene_set_pair(batch, &pair, &error), MABD_ERR_ARG));
    mabd_scene* own = make_scene(0, NULL, NULL, NULL);
    cr_expect(eq(int, mabd_scene_add_copy(own, copy, &error), MABD_ERR_ARG));
    mabd_scene_destroy(own);
    mabd_scene_destroy(copy);
    mabd_scene_destroy(batch);
}

// Every allocation fails in turn: nothing leaks, and the scene holds as many copies as before.
Test(batch_controls, lack_of_memory_leaves_the_copies_there_were) {
    mabd_scene* copy = make_scene(1, NULL, NULL, NULL);
    for (int64_t fail = 0;; fail++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_error error = {0};
        mabd_scene* batch;
        cr_assert(eq(int, mabd_scene_create(&allocator, &batch), MABD_OK));
        counter.fail_at = counter.calls + fail;
        mabd_status status = MABD_OK;
        int32_t added = 0;
        for (int i = 0; i < 9 && status == MABD_OK; i++) {
            status = mabd_scene_add_copy(batch, copy, &error);
            added += status == MABD_OK;
        }
        cr_assert(eq(int, mabd_scene_copy_count(batch), added));
        cr_assert(eq(int, mabd_scene_body_count(batch), added* BODIES));
        mabd_scene_destroy(batch);
        cr_assert(eq(i64, counter.live_blocks, 0));
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
    }
    mabd_scene_destroy(copy);
}
