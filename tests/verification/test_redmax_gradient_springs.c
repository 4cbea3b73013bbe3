// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation through springs between points, via points, cables, nodes and
// the penalty ground, against differences of fourth order: by all components of springs and ground,
// by bodies, joint frames and start states; energies; forward mode; tapes and memory; copies.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
    MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
#define METHODS (sizeof methods / sizeof methods[0])

// A flying body and a jointed one behind it, one on a hinge at the world, a node, a sled that a
// script moves; springs of all laws: to the world, to the sled, between parts, over a body between.
static const char* const sprung_text =
    "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
    " {\"name\": \"trunk\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
    "  \"center\": [0.02, 0.03, -0.01], \"position\": [0, 0, 0.5],"
    "  \"angular_velocity\": [0.3, 1.5, -0.4], \"drag\": 0.2},"
    " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, -0.003],"
    "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.5, 0.1, 0.5],"
    "  \"angular_velocity\": [0.3, 2.5, -0.4]},"
    " {\"name\": \"lever\", \"mass\": 0.4, \"inertia\": [0.01, 0.02, 0.015],"
    "  \"center\": [0.01, 0, 0], \"position\": [1, 0.4, 0.6]},"
    " {\"name\": \"sled\", \"mass\": 1, \"inertia\": [1, 1, 1],"
    "  \"script\": {\"direction\": [1, 0, 0], \"translation\": {\"sine\":"
    "   {\"amplitude\": 0.1, \"frequency\": 2}}}}],"
    " \"nodes\": [{\"name\": \"knot\", \"position\": [0.3, 0.4, 0.2], \"mass\": 0.1,"
    "  \"velocity\": [0.5, 0, 0.2]}],"
    " \"joints\": ["
    " {\"type\": \"hinge\", \"a\": \"trunk\", \"b\": \"arm\", \"anchor\": [0.25, 0, 0.5],"
    "  \"axis\": [0, 1, 0]},"
    " {\"type\": \"universal\", \"b\": \"lever\", \"anchor\": [1, 0.2, 0.6],"
    "  \"axis\": [0, 0.6, 0.8], \"axis2\": [1, 0, 0]}],"
    " \"springs\": ["
    " {\"points\": [{\"body\": \"trunk\", \"point\": [0, 0.1, 0.1]}, {\"body\": \"world\", "
    "\"point\": [0, 0, 1.2]}],"
    "  \"stiffness\": 30, \"damping\": 0.7, \"length\": 0.5},"
    " {\"points\": [{\"body\": \"arm\", \"point\": [0.1, 0, 0.1]},"
    "  {\"body\": \"lever\", \"point\": [0, 0.1, 0]}],"
    "  \"stiffness\": 20, \"damping\": 0.5, \"length\": 0.4, \"law\": \"strain\"},"
    " {\"points\": [{\"body\": \"knot\"}, {\"body\": \"trunk\", \"point\": [0.1, 0.1, 0]},"
    "  {\"body\": \"lever\", \"point\": [0, 0, -0.1]}],"
    "  \"stiffness\": 15, \"damping\": 0.4, \"length\": 0.6, \"law\": \"cable\"},"
    " {\"points\": [{\"body\": \"sled\", \"point\": [0, 0.1, 0]}, {\"body\": \"knot\"}],"
    "  \"stiffness\": 25, \"damping\": 0.3, \"length\": 0.3}],"
    " \"start\": {\"close\": true}}";

static void compare(const char* name, const mabd_model* model, gradient_rig* rig,
                    mabd_real offset) {
    mabd_real p[GRADIENT_MAX];
    gradient_rig_values(rig, model, offset, p);
    gradient_rig_expect_derivatives(name, model, rig, p);
}

static void add_terms(gradient_rig* rig, int32_t bodies) {
    const int64_t end = rig->def.steps;
    for (int32_t i = 0; i < bodies; i++) {
        mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, i, end / 2, end);
        t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
        t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, i, end, end);
        t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    }
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
}

static void add_springs(gradient_rig* rig) {
    for (int32_t i = 0; i < 4; i++) {
        gradient_rig_add(rig, MABD_PARAMETER_SPRING, i, 0)->scale = 1;
        gradient_rig_add(rig, MABD_PARAMETER_SPRING, i, 1)->scale = 0.1;
        gradient_rig_add(rig, MABD_PARAMETER_SPRING, i, 2)->scale = 0.02;
    }
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 0, 0.01);
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 1, 0.01);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_B, 0, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_A, 1, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_AXIS_A, 1, 0.03);
    gradient_rig_three(rig, MABD_PARAMETER_AXIS_B, 0, 0.03);
    gradient_rig_three(rig, MABD_PARAMETER_START_POSITION, 4, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_START_VELOCITY, 4, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_START_ANGULAR, 0, 0.2);
    gradient_rig_three(rig, MABD_PARAMETER_GRAVITY, 0, 0.5);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 4, 0)->scale = 0.01;
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 2, 0)->scale = 0.05;
    gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 0, 4)->scale = 0.002;
    gradient_rig_add(rig, MABD_PARAMETER_START_ROTATION, 2, 1)->scale = 0.05;
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 1, 1);
    p->first = 2, p->last = 5;
}

Test(redmax_gradient_springs, springs_and_nodes) {
    mabd_model* model = rig_text_model(sprung_text);
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        if (methods[i] == MABD_INTEGRATOR_RK45) continue; // has no scripts
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 10);
        add_springs(&rig), add_terms(&rig, 5);
        gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 1, 9, 10)->weight = 1e-4;
        compare("springs", model, &rig, i % 2 ? 0.1 : 0);
    }
    mabd_model_destroy(model);
}

// ---- ground ------------------------------------------------------------------------------------

// A tilted ground with a box that slides, and one that is pressed down by its arm and sticks.
static mabd_model* grounded(void) {
    return rig_text_model(
        "{\"bodies\": ["
        " {\"name\": \"box\", \"mass\": 1.5, \"inertia\": [0.03, 0.04, 0.05, 0.002, 0.001, 0.003],"
        "  \"center\": [0.01, 0.02, 0], \"position\": [0.002, 0, 0.0984], \"velocity\": [2, 0.3, "
        "-0.04],"
        "  \"rotation\": {\"axis\": [0, 1, 0], \"angle\": 0.02}},"
        " {\"name\": \"foot\", \"mass\": 0.8, \"inertia\": [0.02, 0.03, 0.02],"
        "  \"position\": [0.5, 0.6, 0.088]}],"
        " \"joints\": [{\"type\": \"slot\", \"b\": \"foot\", \"anchor\": [0.5, 0.6, 0.5],"
        "  \"axis\": [0, 0.1, 1], \"axes\": {\"tx\": {\"stiffness\": 50, \"rest\": -0.2}}}],"
        " \"ground\": {\"normal\": [0.02, 0, 1], \"stiffness\": 3000, \"damping\": 30,"
        "  \"tangent\": 60, \"friction\": 0.3, \"points\": ["
        "  {\"body\": \"box\", \"point\": [0.2, 0.1, -0.1]},"
        "  {\"body\": \"box\", \"point\": [-0.2, 0.1, -0.1]},"
        "  {\"body\": \"box\", \"point\": [0, -0.2, -0.1]},"
        "  {\"body\": \"foot\", \"point\": [0, 0, -0.1]}]},"
        " \"start\": {\"close\": true}}");
}

static void add_ground(gradient_rig* rig) {
    static const mabd_real scales[4] = {50, 1, 2, 0.02};
    for (int k = 0; k < 4; k++) {
        gradient_rig_add(rig, MABD_PARAMETER_GROUND, 0, k)->scale = scales[k];
    }
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 0, 0.005);
    gradient_rig_three(rig, MABD_PARAMETER_START_VELOCITY, 0, 0.05);
    gradient_rig_three(rig, MABD_PARAMETER_START_ROTATION, 0, 0.002);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_B, 0, 0.002);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.02;
    gradient_rig_add(rig, MABD_PARAMETER_GRAVITY, 0, 2)->scale = 0.1;
    gradient_rig_axis(rig, MABD_PARAMETER_REST, 0, MABD_AXIS_TX, 0.01);
}

Test(redmax_gradient_springs, ground) {
    mabd_model* model = grounded();
    for (size_t i = 0; i < METHODS; i++) {
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.005, 12);
        add_ground(&rig), add_terms(&rig, 2);
        compare("ground", model, &rig, i % 2 ? 0.1 : 0);
    }
    mabd_model_destroy(model);
}

// ---- tapes, memory, copies ---------------------------------------------------------------------

Test(redmax_gradient_springs, checkpoints_give_the_same_bits) {
    mabd_model* model = rig_text_model(sprung_text);
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, 0.01, 60);
    add_springs(&rig), add_terms(&rig, 5);
    gradient_rig_expect_same_bits(&rig, model, 0.1);
    mabd_model_destroy(model);
}

// Two bodies on a spring, one on a hinge at the world; mass of the other one.
static const char* const pair_text =
    "{\"bodies\": [{\"name\": \"arm\", \"mass\": 1, \"inertia\": [1, 1, 1],"
    " \"position\": [0.5, 0, 0]}, {\"name\": \"bob\", \"mass\": %d, \"inertia\": [1, 1, 1],"
    " \"position\": [1.5, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"arm\","
    " \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]}], \"springs\": [{\"points\": ["
    " {\"body\": \"arm\", \"point\": [0.5, 0, 0]}, {\"body\": \"bob\"}], \"stiffness\": 40,"
    " \"damping\": 1, \"length\": 0.4}]}";

static gradient_rig pair_rig(void) {
    return gradient_rig_redmax(MABD_INTEGRATOR_SDIRK2, 0.01, 12);
}

static void add_pair(gradient_rig* rig, int32_t copy) {
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 2 * copy, 0);
    for (int k = 0; k < 3; k++) gradient_rig_add(rig, MABD_PARAMETER_SPRING, copy, k);
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, 2 * copy + 1, 12, 12);
    t->target[2] = 1, t->point[1] = 0.3;
}

Test(redmax_gradient_springs, bytes) {
    char text[800];
    snprintf(text, sizeof text, pair_text, 1);
    mabd_model* model = rig_text_model(text);
    gradient_rig rig = pair_rig();
    add_pair(&rig, 0);
    gradient_rig_expect_bytes(&rig, model);
    mabd_model_destroy(model);
}

Test(redmax_gradient_springs, copies_of_a_batch) {
    char one[800], two[800];
    const char* const texts[2] = {one, two};
    mabd_real both[GRADIENT_MAX];
    snprintf(one, sizeof one, pair_text, 1), snprintf(two, sizeof two, pair_text, 2);
    const gradient_rig empty = pair_rig();
    gradient_rig_expect_copies(&empty, texts, add_pair, both);
    cr_expect(fabs(both[0]) > 1e-6 && fabs(both[3]) > 1e-6);
}
