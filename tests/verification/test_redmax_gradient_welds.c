// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation through loops whose joints all have something on their axes,
// so that a body is cut in place of a joint: every kind of parameter, on the body that is cut and
// on the joint behind the cut, against differences of fourth order and forward mode; stops and
// friction there; the linearisation of a step.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
    MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
#define METHODS (sizeof methods / sizeof methods[0])

// A linkage of crank, rod and lever in space; types and axes of its last three joints.
static mabd_model* linkage(const char* const* types, const char* const* axes, bool reversed) {
    char text[4096];
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        "{\"name\": \"crank\", \"mass\": 0.6, \"inertia\": [0.02, 0.03, 0.025, 0.002, 0.001, "
        "0.001],"
        " \"center\": [0.02, 0.05, 0.01], \"position\": [0.2, 0, 0],"
        " \"angular_velocity\": [0, 2, 0.4]},"
        "{\"name\": \"rod\", \"mass\": 0.9, \"inertia\": [0.02, 0.05, 0.06, 0.003, 0.001, -0.002],"
        " \"center\": [-0.02, 0.03, 0.02], \"position\": [0.6, 0.2, 0.05]},"
        "{\"name\": \"lever\", \"mass\": 0.7, \"inertia\": [0.03, 0.04, 0.02, 0.001, 0, 0.002],"
        " \"center\": [0.02, 0.01, 0], \"position\": [0.9, 0.1, -0.2]}],"
        " \"forces\": [{\"body\": \"rod\", \"point\": [0.1, 0, 0.05], \"force\": [0.4, 0.2, 0.3]}],"
        " \"joints\": ["
        " {\"type\": \"hinge\", \"b\": \"crank\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0.2],"
        "  \"axes\": {\"rx\": {\"stiffness\": 3, \"damping\": 0.1, \"armature\": 0.05}}},"
        " {\"type\": \"%s\", \"a\": \"crank\", \"b\": \"rod\", \"anchor\": [0.4, 0.1, 0.1],"
        "  \"axis\": [0.6, 0, 0.8], \"axis2\": [0, 1, 0], \"axes\": {%s}},"
        " {\"type\": \"%s\", \"a\": \"lever\", \"b\": \"rod\", \"anchor\": [0.8, 0.3, 0],"
        "  \"axis\": [0, 0.8, 0.6], \"axis2\": [1, 0, 0], \"axes\": {%s}},"
        " {\"type\": \"%s\", %s \"lever\", \"anchor\": [0.9, -0.1, -0.3],"
        "  \"axis\": [0.8, 0.6, 0.3], \"axes\": {%s}}], \"start\": {\"close\": true}}",
        types[0], axes[0], types[1], axes[1], types[2],
        reversed ? "\"b\": \"world\", \"a\":" : "\"a\": \"world\", \"b\":", axes[2]);
    return rig_text_model(text);
}

#define TURN "\"rx\": {\"stiffness\": 2, \"rest\": 0.1, \"damping\": 0.05, \"armature\": 0.01}"
#define SLIDE                                                                                      \
    "\"tx\": {\"stiffness\": 20, \"rest\": 0.01, \"damping\": 0.3, \"armature\": 0.1, "            \
    "\"friction\": 0.2, \"friction_speed\": 0.5}"

// forces: the weight of those of joints, whose round-off is that of coordinates over h^2.
static void add_terms(gradient_rig* rig, mabd_real forces) {
    const int64_t end = rig->def.steps;
    gradient_rig_motion_terms(rig);
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
    for (int j = 0; j < 4; j++) {
        t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, j, end - 1, end);
        t->axis = -1, t->weight = forces;
    }
}

static void add_bodies(gradient_rig* rig) {
    for (int32_t body = 0; body < 3; body++) {
        gradient_rig_three(rig, MABD_PARAMETER_CENTER, body, 0.01);
        gradient_rig_add(rig, MABD_PARAMETER_MASS, body, 0)->scale = 0.1;
        for (int k = 1; k < 6; k += 2) {
            gradient_rig_add(rig, MABD_PARAMETER_INERTIA, body, k)->scale = 0.002;
        }
        gradient_rig_add(rig, MABD_PARAMETER_START_ROTATION, body, body)->scale = 0.02;
        gradient_rig_add(rig, MABD_PARAMETER_START_POSITION, body, body)->scale = 0.02;
        gradient_rig_add(rig, MABD_PARAMETER_START_VELOCITY, body, 2 - body)->scale = 0.1;
        gradient_rig_add(rig, MABD_PARAMETER_START_ANGULAR, body, body)->scale = 0.2;
    }
    gradient_rig_three(rig, MABD_PARAMETER_GRAVITY, 0, 0.5);
    gradient_rig_three(rig, MABD_PARAMETER_START_ANGULAR, -1, 0.1);
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 2, 1);
    p->first = 2, p->last = 5;
}

static void add_places(gradient_rig* rig) {
    static const mabd_parameter_kind places[] = {MABD_PARAMETER_ANCHOR_A, MABD_PARAMETER_ANCHOR_B,
                                                 MABD_PARAMETER_AXIS_A, MABD_PARAMETER_AXIS_B};
    for (int32_t j = 0; j < 4; j++) {
        for (int k = 0; k < 4; k++) {
            for (int n = 0; n < 2; n++) {
                gradient_rig_add(rig, places[k], j, (j + k + n) % 3)->scale = 0.02;
            }
        }
    }
}

static void add_axes(gradient_rig* rig, int32_t joint, mabd_axis axis) {
    static const mabd_parameter_kind kinds[] = {MABD_PARAMETER_STIFFNESS, MABD_PARAMETER_REST,
                                                MABD_PARAMETER_DAMPING, MABD_PARAMETER_ARMATURE};
    static const mabd_real scales[] = {0.1, 0.05, 0.02, 0.002};
    for (int k = 0; k < 4; k++) gradient_rig_axis(rig, kinds[k], joint, axis, scales[k]);
}

static gradient_rig rig_of(mabd_integrator method, int64_t steps) {
    gradient_rig rig = gradient_rig_redmax(method, 0.005, steps);
    rig.sim.redmax.newton_tolerance = 1e-13;
    if (method != MABD_INTEGRATOR_RK45) return rig;
    rig.sim.h = 0.002, rig.sim.redmax.newton_tolerance = 1e-11;
    return rig;
}

Test(redmax_gradient_welds, linkages_in_space) {
    static const char* const cylinders[] = {"cylindrical", "cylindrical", "cylindrical"};
    static const char* const acting[] = {TURN ", " SLIDE, TURN ", " SLIDE, TURN ", " SLIDE};
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        mabd_model* model = linkage(cylinders, acting, i % 2);
        gradient_rig bodies = rig_of(methods[i], 6);
        gradient_rig places = bodies;
        mabd_real p[GRADIENT_MAX];
        add_bodies(&bodies), add_terms(&bodies, 1e-5);
        gradient_rig_values(&bodies, model, i % 2 ? 0.1 : 0, p);
        gradient_rig_expect_derivatives("bodies", model, &bodies, p);
        add_places(&places), add_terms(&places, 1e-5);
        for (int32_t j = 1; j < 4; j++) {
            add_axes(&places, j, MABD_AXIS_TX), add_axes(&places, j, MABD_AXIS_RX);
            gradient_rig_axis(&places, MABD_PARAMETER_FRICTION, j, MABD_AXIS_TX, 0.02);
        }
        gradient_rig_axis(&places, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.1);
        gradient_rig_values(&places, model, i % 2 ? 0 : 0.1, p);
        gradient_rig_expect_derivatives("places and axes", model, &places, p);
        mabd_model_destroy(model);
    }
}

// ---- laws behind the cut, other joints, one step -----------------------------------------------

#define DRY  "\"rx\": {\"friction\": 0.05, \"damping\": 0.05}"
#define SOFT "\"tx\": {\"stiffness\": 20, \"damping\": 0.3}"
#define STOP "\"tx\": {\"lower\": -0.004, \"upper\": 0.004, \"damping\": 0.3}"

// Dry friction, a stop, and a servo of limited force on joints of a loop: all joints have laws, so
// that one of them is behind the cut.
Test(redmax_gradient_welds, laws) {
    static const char* const types[] = {"cylindrical", "cylindrical", "cylindrical"};
    static const char* const dry[] = {DRY ", " SOFT, DRY ", " SOFT, DRY ", " SOFT};
    static const char* const stops[] = {DRY ", " STOP, DRY ", " STOP, DRY ", " STOP};
    for (size_t i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            mabd_model* model = linkage(types, k ? stops : dry, i % 2);
            gradient_rig rig = rig_of(methods[i], 8);
            add_bodies(&rig), add_terms(&rig, 1e-6);
            for (int32_t j = 1; j < 4; j++) {
                gradient_rig_axis(&rig, MABD_PARAMETER_FRICTION, j, MABD_AXIS_RX, 0.005);
            }
            gradient_rig_expect_branches(k ? "stops" : "dry friction", model, &rig, 0.002, true);
            mabd_model_destroy(model);
        }
    }
}

// Joints with balls and slots behind the cut, in charts that move and with springs on them.
Test(redmax_gradient_welds, balls) {
    static const char* const types[] = {"ball", "universal", "hinge"};
    static const char* const acting[] = {
        "\"ry\": {\"stiffness\": 2, \"rest\": 0.1, \"damping\": 0.05}", TURN, TURN};
    for (size_t i = 0; i < AMOUNT(METHODS, 1); i++) {
        mabd_model* model = linkage(types, acting, i % 2);
        gradient_rig rig = rig_of(methods[i], 6);
        mabd_real p[GRADIENT_MAX];
        add_bodies(&rig), add_terms(&rig, 1e-5);
        gradient_rig_values(&rig, model, 0.1, p);
        gradient_rig_expect_derivatives("balls", model, &rig, p);
        mabd_model_destroy(model);
    }
}
