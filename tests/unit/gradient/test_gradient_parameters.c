// SPDX-License-Identifier: Apache-2.0
// Values and units of parameters, and refusals of parameters and loss terms that a model does not
// have. The oracle of a value is the number in the text of the scene.
#include "gradient/loss_term.h"
#include "support/rig.h"

#include <stdlib.h>

// A lever on a hinge with a spring, a servo block on a slide, a fixed stone. The frame of the pin
// is given on each body and 0.3 rad away from its zero; the lever turns at 2 rad/s.
static const char* const text =
    "{\"gravity\": [0.5, -1, -9], \"bodies\": ["
    "{\"name\": \"lever\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.25, 0.01, 0.02, -0.03],"
    " \"center\": [0.1, 0.2, 0.3], \"position\": [0, 0, 0], \"rotation\": {\"axis\": [0, 0, 1],"
    " \"angle\": 0.3}, \"angular_velocity\": [0, 0, 2]},"
    "{\"name\": \"block\", \"shape\": \"box\", \"size\": [1, 1, 1], \"mass\": 3,"
    " \"position\": [5, 6, 7], \"velocity\": [0.25, 0, 0]},"
    "{\"name\": \"stone\", \"shape\": \"box\", \"size\": [1, 1, 1], \"fixed\": true,"
    " \"position\": [0, 0, 20]}],"
    "\"joints\": ["
    "{\"name\": \"pin\", \"type\": \"hinge\", \"b\": \"lever\", \"anchor_a\": [0, 0, 0],"
    " \"anchor_b\": [0, 0, 0], \"axis_a\": [0, 0, 1], \"axis_b\": [0, 0, 1],"
    " \"axes\": {\"rx\": {\"stiffness\": 40, \"rest\": 0.1, \"damping\": 0.5, \"armature\": 0.02,"
    " \"friction\": 0.75,"
    " \"motor\": {\"ramp\": {\"from\": 1, \"to\": 2, \"start\": 0, \"end\": 1}}}}},"
    "{\"name\": \"rail\", \"type\": \"prismatic\", \"b\": \"block\", \"anchor\": [4.5, 6, 7],"
    " \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"servo\": 0.125, \"servo_stiffness\": 7}}},"
    "{\"name\": \"tie\", \"type\": \"ball\", \"a\": \"stone\", \"b\": \"block\","
    " \"anchor\": [5, 6, 8]}]}";

static mabd_model* load(void) {
    mabd_error error = {0};
    mabd_scene* scene;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error), &error, "load");
    return rig_model(scene);
}

static mabd_parameter make(mabd_parameter_kind kind, int32_t index, int32_t axis, int32_t part) {
    mabd_parameter p = mabd_default_parameter(kind);
    p.index = index, p.axis = axis, p.component = part;
    return p;
}

Test(gradient_parameters, values_and_units_are_those_of_the_scene) {
    const struct {
        mabd_parameter_kind kind;
        int32_t index, axis, component;
        double value;
        const char* unit;
    } cases[] = {
        {MABD_PARAMETER_START_POSITION, 1, 0, 2, 7, "m"},
        {MABD_PARAMETER_START_ROTATION, 0, 0, 2, 0, "rad"},
        {MABD_PARAMETER_START_VELOCITY, 1, 0, 0, 0.25, "m/s"},
        {MABD_PARAMETER_START_ANGULAR, 0, 0, 2, 2, "rad/s"},
        {MABD_PARAMETER_START_VELOCITY, -1, 0, 0, 0, "m/s"},
        {MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 0, 0.3, "rad"},
        {MABD_PARAMETER_COORDINATE, 1, MABD_AXIS_TX, 0, 0, "m"},
        {MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0, 2, "rad/s"},
        {MABD_PARAMETER_RATE, 1, MABD_AXIS_TX, 0, 0.25, "m/s"},
        {MABD_PARAMETER_MASS, 0, 0, 0, 2, "kg"},
        {MABD_PARAMETER_CENTER, 0, 0, 1, 0.2, "m"},
        {MABD_PARAMETER_INERTIA, 0, 0, 0, 0.1, "kg m^2"},
        {MABD_PARAMETER_INERTIA, 0, 0, 3, 0.01, "kg m^2"},
        {MABD_PARAMETER_INERTIA, 0, 0, 5, -0.03, "kg m^2"},
        {MABD_PARAMETER_ANCHOR_A, 1, 0, 0, 4.5, "m"},
        {MABD_PARAMETER_ANCHOR_B, 1, 0, 0, -0.5, "m"},
        {MABD_PARAMETER_AXIS_A, 0, 0, 1, 0, "rad"},
        {MABD_PARAMETER_STIFFNESS, 0, MABD_AXIS_RX, 0, 40, "N m/rad"},
        {MABD_PARAMETER_REST, 0, MABD_AXIS_RX, 0, 0.1, "rad"},
        {MABD_PARAMETER_DAMPING, 0, MABD_AXIS_RX, 0, 0.5, "N m s/rad"},
        {MABD_PARAMETER_ARMATURE, 0, MABD_AXIS_RX, 0, 0.02, "kg m^2"},
        {MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 0, 0.75, "N m"},
        {MABD_PARAMETER_STIFFNESS, 1, MABD_AXIS_TX, 0, 0, "N/m"},
        {MABD_PARAMETER_GRAVITY, 0, 0, 0, 0.5, "m/s^2"},
        {MABD_PARAMETER_CONTROL, 0, 0, 0, 1.25, "N m"}, // the ramp at 5 h = 0.25 s
        {MABD_PARAMETER_CONTROL, 1, 0, 0, 0.125, "m"},
        {MABD_PARAMETER_FORCE, 1, 0, 2, 0, "N"},
        {MABD_PARAMETER_FORCE, 1, 0, 3, 0, "N m"},
    };
    mabd_model* model = load();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mabd_parameter p = make(cases[i].kind, cases[i].index, cases[i].axis, cases[i].component);
        p.first = p.last = 5;
        const double value = (double)mabd_parameter_value(model, (mabd_real)0.05, &p);
        cr_expect(fabs(value - cases[i].value) < 1e-14, "%s: %g", mabd_parameter_kind_name(p.kind),
                  value);
        cr_expect_str_eq(mabd_parameter_unit(model, &p), cases[i].unit);
    }
    mabd_model_destroy(model);
}

static void expect_refused(const mabd_model* model, mabd_parameter p, const char* part) {
    mabd_error error = {0};
    const mabd_status status = mabd_parameter_check(model, 10, &p, &error);
    cr_expect_eq(status, MABD_ERR_INPUT);
    cr_expect(strstr(error.text, part) != NULL, "'%s' lacks '%s'", error.text, part);
}

Test(gradient_parameters, what_a_model_lacks_is_refused_by_name) {
    mabd_model* model = load();
    expect_refused(model, make(MABD_PARAMETER_MASS, 2, 0, 0), "'stone' is fixed");
    expect_refused(model, make(MABD_PARAMETER_MASS, -1, 0, 0), "no body -1");
    expect_refused(model, make(MABD_PARAMETER_START_VELOCITY, 3, 0, 0), "no body 3");
    expect_refused(model, make(MABD_PARAMETER_START_VELOCITY, 0, 0, 3), "component 3");
    expect_refused(model, make(MABD_PARAMETER_ANCHOR_A, 3, 0, 0), "no joint 3");
    expect_refused(model, make(MABD_PARAMETER_RATE, 0, MABD_AXIS_TX, 0), "no free axis tx");
    expect_refused(model, make(MABD_PARAMETER_RATE, 0, 9, 0), "no free axis of that number");
    expect_refused(model, make(MABD_PARAMETER_STIFFNESS, 2, MABD_AXIS_RY, 0), "no spring");
    expect_refused(model, make(MABD_PARAMETER_CONTROL, 2, 0, 0), "no control 2; the scene has 2");
    expect_refused(model, make(MABD_PARAMETER_SPLINE, 0, 0, 0), "spline");
    expect_refused(model, make(MABD_PARAMETER_SPRING, 0, 0, 0), "no spring 0");
    expect_refused(model, make(MABD_PARAMETER_GROUND, 0, 0, 0), "no ground");
    expect_refused(model, make(MABD_PARAMETER_COUNT, 0, 0, 0), "no kind");
    mabd_parameter p = make(MABD_PARAMETER_CONTROL, 0, 0, 0);
    p.last = 11;
    expect_refused(model, p, "steps 1 .. 11");
    p.first = 0, p.last = 1;
    expect_refused(model, p, "steps 0 .. 1");
    p = make(MABD_PARAMETER_MASS, 0, 0, 0);
    p.lower = 2, p.upper = 1;
    expect_refused(model, p, "lower bound 2");
    p.lower = (mabd_real)NAN;
    expect_refused(model, p, "lower bound nan");
    p.lower = 0, p.scale = 0;
    expect_refused(model, p, "scale");
    cr_expect(isnan(mabd_parameter_value(model, 1, &p)));
    cr_expect_str_eq(mabd_parameter_unit(model, &p), "");
    mabd_model_destroy(model);
}

static mabd_loss_term term_of(mabd_loss_kind kind, int32_t index, int32_t axis) {
    mabd_loss_term term = mabd_default_loss_term(kind);
    term.index = index, term.axis = axis, term.first = term.last = 1;
    return term;
}

static void expect_term_refused(const mabd_model* model, mabd_loss_term term, const char* part) {
    mabd_error error = {0};
    const mabd_status status = mabd_loss_term_check(model, 10, 2, false, &term, &error);
    cr_expect_eq(status, MABD_ERR_INPUT);
    cr_expect(strstr(error.text, part) != NULL, "'%s' lacks '%s'", error.text, part);
}

Test(gradient_parameters, terms_that_a_model_lacks_are_refused_by_name) {
    mabd_model* model = load();
    mabd_error error = {0};
    const mabd_loss_term good[] = {
        term_of(MABD_LOSS_POINT, 2, 0),    term_of(MABD_LOSS_COORDINATE, 0, MABD_AXIS_RX),
        term_of(MABD_LOSS_ROTATION, 0, 0), term_of(MABD_LOSS_JOINT_FORCE, 2, -1),
        term_of(MABD_LOSS_ENERGY, 0, 0),   term_of(MABD_LOSS_CONTROL_EFFORT, 1, MABD_AXIS_TX),
        term_of(MABD_LOSS_PARAMETER, 1, 0)};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        rig_check(mabd_loss_term_check(model, 10, 2, false, &good[i], &error), &error, "term");
    }
    expect_term_refused(model, term_of(MABD_LOSS_POINT, 3, 0), "no body 3");
    expect_term_refused(model, term_of(MABD_LOSS_RATE, 3, 0), "no joint 3");
    expect_term_refused(model, term_of(MABD_LOSS_RATE, 0, MABD_AXIS_RY), "no free axis");
    expect_term_refused(model, term_of(MABD_LOSS_CONTROL_EFFORT, 2, MABD_AXIS_RX), "no servo");
    expect_term_refused(model, term_of(MABD_LOSS_PARAMETER, 2, 0), "no parameter 2");
    expect_term_refused(model, term_of(MABD_LOSS_USER, 0, 0), "user_fn");
    expect_term_refused(model, term_of(MABD_LOSS_COUNT, 0, 0), "no kind");
    mabd_loss_term term = term_of(MABD_LOSS_JOINT_FORCE, 0, 0);
    term.first = 0;
    expect_term_refused(model, term, "states 0 .. 1 are not within 1 .. 10");
    term = term_of(MABD_LOSS_POINT, 0, 0);
    term.last = 11;
    expect_term_refused(model, term, "states 1 .. 11");
    term = term_of(MABD_LOSS_POINT, 0, 0);
    term.weight = (mabd_real)INFINITY;
    expect_term_refused(model, term, "weight");
    term.weight = 1, term.target[2] = (mabd_real)NAN;
    expect_term_refused(model, term, "finite");
    term = term_of(MABD_LOSS_ROTATION, 0, 0);
    term.target[1] = 1;
    expect_term_refused(model, term, "unit quaternion");
    mabd_model_destroy(model);
}
