// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation through loops and couplings against differences of fourth
// order: linkages in space without redundant rows, whose cut joints have point, slide and cross
// rows, by every kind of parameter; a four-bar in a plane, whose rows are redundant; rows on
// scripted bodies; couplings; the projections of the start and of steps through all of them.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
    MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
#define METHODS (sizeof methods / sizeof methods[0])

// Check derivatives at values moved by about `offset` scales.
static void compare(const char* name, const mabd_model* model, gradient_rig* rig,
                    mabd_real offset) {
    mabd_real p[GRADIENT_MAX];
    gradient_rig_values(rig, model, offset, p);
    for (int32_t i = 0; i < rig->def.parameter_count; i++) {
        p[i] += offset * rig->parameters[i].scale * sin(i) / 2;
    }
    gradient_rig_expect_derivatives(name, model, rig, p);
}

static void add_terms(gradient_rig* rig, int32_t force) {
    const int64_t end = rig->def.steps;
    gradient_rig_motion_terms(rig);
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_ANGULAR, 1, 0, 3);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
    for (int32_t j = 0; j < force; j++) {
        t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, j, end - 1, end);
        t->axis = j % 6, t->weight = 1e-3, t->target[0] = j - 2;
    }
}

// ---- linkages in space -------------------------------------------------------------------------

// A hinge at the world and three joints of a type between skew axes: one freedom, no row too many.
static mabd_model* skew_linkage(const char* second, const char* third, const char* last,
                                const char* base) {
    char text[4096];
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"crank\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002], \"center\": [0.02, 0.03, -0.01], \"position\": [0.2, 0, 0.1],"
        " \"angular_velocity\": [0.2, 1.5, 0.3]},"
        " {\"name\": \"rod\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003], \"center\": [-0.01, 0.02, 0.03], \"position\": [0.6, 0.3, 0.2], \"drag\": 0.3,"
        " \"angular_velocity\": [0.5, 1, 0.8], \"velocity\": [0.2, 0, -0.4]},"
        " {\"name\": \"lever\", \"mass\": 0.9, \"inertia\": [0.03, 0.02, 0.025],"
        " \"center\": [0.02, 0.01, 0], \"position\": [0.9, 0.1, -0.2]}%s],"
        " \"forces\": [{\"body\": \"rod\", \"point\": [0.1, 0, 0.05], \"force\": [0.4, 0.2, 0.3]}],"
        " \"joints\": ["
        " {\"type\": \"hinge\", \"a\": \"%s\", \"b\": \"crank\", \"anchor\": [0, 0, 0],"
        "  \"axis\": [0, 1, 0.2], \"axes\": {\"rx\": {\"stiffness\": 3, \"damping\": 0.1,"
        "  \"armature\": 0.05, \"motor\": 0.4}}},"
        " {\"type\": \"%s\", \"a\": \"crank\", \"b\": \"rod\", \"anchor\": [0.4, 0.1, 0.1],"
        "  \"axis\": [0.6, 0, 0.8], \"axis2\": [0, 1, 0]},"
        " {\"type\": \"%s\", \"a\": \"lever\", \"b\": \"rod\", \"anchor\": [0.8, 0.3, 0],"
        "  \"axis\": [0, 0.8, 0.6], \"axis2\": [1, 0, 0]},"
        " {\"type\": \"%s\", \"a\": \"%s\", \"b\": \"lever\", \"anchor\": [0.9, -0.1, -0.3],"
        "  \"axis\": [0.8, 0.6, 0.3]}], \"start\": {\"close\": true}}",
        base, base[0] ? "sled" : "world", second, third, last, base[0] ? "sled" : "world");
    return rig_text_model(text);
}

#define SLED                                                                                       \
    ", {\"name\": \"sled\", \"mass\": 1, \"inertia\": [1, 1, 1], \"script\": {\"direction\": "     \
    "[1, 0, 0], \"axis\": [0, 0, 1], \"angle\": {\"sine\": {\"amplitude\": 0.2, "                  \
    "\"frequency\": 2}}, \"translation\": {\"sine\": {\"amplitude\": 0.1, \"frequency\": 2}}}}"

static void add_bodies(gradient_rig* rig) {
    gradient_rig_three(rig, MABD_PARAMETER_START_ROTATION, 1, 0.05);
    gradient_rig_three(rig, MABD_PARAMETER_START_POSITION, 2, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_START_VELOCITY, 1, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_START_ANGULAR, 2, 0.2);
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 1, 0.01);
    gradient_rig_three(rig, MABD_PARAMETER_GRAVITY, 0, 0.5);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 2, 0)->scale = 0.1;
    for (int k = 1; k < 6; k += 2) {
        gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 1, k)->scale = 0.002;
    }
    gradient_rig_axis(rig, MABD_PARAMETER_STIFFNESS, 0, MABD_AXIS_RX, 0.1);
    gradient_rig_axis(rig, MABD_PARAMETER_REST, 0, MABD_AXIS_RX, 0.1);
    gradient_rig_axis(rig, MABD_PARAMETER_DAMPING, 0, MABD_AXIS_RX, 0.01);
    gradient_rig_axis(rig, MABD_PARAMETER_ARMATURE, 0, MABD_AXIS_RX, 0.005);
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, 0, 0);
    p->first = 3, p->last = 6;
    p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 1, 1);
    p->first = 2, p->last = 5;
}

// One component of each place of each joint; `axes`: those with axes, as bits.
static void add_places(gradient_rig* rig, int axes, bool coordinate) {
    static const mabd_parameter_kind kinds[] = {MABD_PARAMETER_ANCHOR_A, MABD_PARAMETER_ANCHOR_B,
                                                MABD_PARAMETER_AXIS_A, MABD_PARAMETER_AXIS_B};
    for (int32_t j = 0; j < 4; j++) {
        for (int k = 0; k < 4 && (k < 2 || axes >> j & 1); k++) {
            for (int n = 0; n < 2; n++) {
                gradient_rig_add(rig, kinds[k], j, (j + k + n) % 3)->scale = 0.02;
            }
        }
    }
    gradient_rig_axis(rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.2);
    if (coordinate) gradient_rig_axis(rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 0.05);
}

Test(redmax_gradient_loops, linkages_in_space) {
    static const struct {
        const char *name, *second, *third, *last, *base;
        int axes;
    } cases[] = {{"slides and turns", "cylindrical", "cylindrical", "cylindrical", "", 15},
                 {"turns", "universal", "universal", "cylindrical", "", 15},
                 {"points", "ball", "universal", "hinge", "", 13},
                 {"on a script", "cylindrical", "cylindrical", "cylindrical", SLED, 15}};
    for (size_t c = 0; c < 4; c++) {
        mabd_model* model =
            skew_linkage(cases[c].second, cases[c].third, cases[c].last, cases[c].base);
        for (size_t i = 0; i < METHODS; i++) {
            const bool bodies = i == c || i == c + 4, places = i == (c + 1) % 6;
            if (!bodies && !places) continue;
            gradient_rig a = gradient_rig_redmax(methods[i], 0.01, 8),
                         b = gradient_rig_redmax(methods[i], 0.01, 8);
            add_bodies(&a), add_terms(&a, 4);
            add_places(&b, cases[c].axes, i % 2), add_terms(&b, 4);
            if (bodies) compare(cases[c].name, model, &a, i % 2 ? 0.1 : 0);
            if (places) compare("   places", model, &b, i % 2 ? 0.1 : 0);
        }
        mabd_model_destroy(model);
    }
}

// ---- redundant rows ----------------------------------------------------------------------------

// A four-bar of hinges in a plane, bodies off it, with springs; drive: of its crank.
static mabd_model* four_bar(const char* drive) {
    char text[2560];
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             "{\"name\": \"crank\", \"mass\": 0.4, \"inertia\": [0.02, 0.03, 0.02, 0.001, 0.002,"
             " 0.001], \"center\": [0, 0.05, 0], \"position\": [0, 0, 0.15],"
             " \"angular_velocity\": [0, 2, 0]},"
             "{\"name\": \"coupler\", \"mass\": 1.1, \"inertia\": [0.02, 0.09, 0.08, 0.003, 0.001, "
             "-0.002],"
             " \"center\": [0.1, -0.08, 0.02], \"position\": [0.5, 0, 0.45],"
             " \"rotation\": {\"axis\": [0, 1, 0], \"angle\": -0.2914567944778671}},"
             "{\"name\": \"rocker\", \"mass\": 0.7, \"inertia\": [0.03, 0.04, 0.02],"
             " \"position\": [1, 0, 0.3]}], \"joints\": ["
             "{\"type\": \"hinge\", \"b\": \"crank\", \"axis\": [0, 1, 0], \"axes\": {%s}},"
             "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"coupler\", \"anchor\": [0, 0, 0.3],"
             " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 2, \"damping\": 0.1}}},"
             "{\"type\": \"hinge\", \"a\": \"coupler\", \"b\": \"rocker\", \"anchor\": [1, 0, 0.6],"
             " \"axis\": [0, 1, 0]},"
             "{\"type\": \"hinge\", \"b\": \"rocker\", \"anchor\": [1, 0, 0],"
             " \"axis\": [0, 1, 0]}], \"start\": {\"close\": true}}",
             drive);
    return rig_text_model(text);
}

// Lengths of the bars in their plane.
static void add_lengths(gradient_rig* rig) {
    for (int32_t j = 0; j < 4; j++) {
        gradient_rig_add(rig, MABD_PARAMETER_ANCHOR_A, j, 0)->scale = 0.01;
        gradient_rig_add(rig, MABD_PARAMETER_ANCHOR_B, j, 2)->scale = 0.01;
    }
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.05;
    gradient_rig_add(rig, MABD_PARAMETER_CENTER, 1, 1)->scale = 0.02;
    gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.005;
    gradient_rig_add(rig, MABD_PARAMETER_GRAVITY, 0, 1);
}

Test(redmax_gradient_loops, a_four_bar_in_a_plane) {
    mabd_model* free = four_bar("\"rx\": {\"stiffness\": 1, \"motor\": 0.5}");
    mabd_model* driven = four_bar("\"rx\": {\"servo\": {\"sine\": {\"amplitude\": 0.2,"
                                  " \"frequency\": 2}}, \"servo_rigid\": true}");
    for (size_t i = 0; i < METHODS; i++) {
        gradient_rig a = gradient_rig_redmax(methods[i], 0.01, 10),
                     b = gradient_rig_redmax(methods[i], 0.01, 10);
        const bool rk45 = methods[i] == MABD_INTEGRATOR_RK45;
        add_lengths(&a), add_terms(&a, 0);
        a.def.term_count -= rk45; // forces that redundant rows share
        gradient_rig_axis(&a, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.1);
        gradient_rig_axis(&a, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 0.1);
        compare("four-bar", free, &a, i % 2 ? 0.3 : 0);
        if (rk45) continue; // has no prescribed motion
        add_lengths(&b), add_terms(&b, 0);
        for (int k = 0; k < 3; k++) { // targets of the servo
            mabd_parameter* p = gradient_rig_add(&b, MABD_PARAMETER_CONTROL, 0, 0);
            p->first = 2 + 3 * k, p->last = 4 + 3 * k, p->scale = 0.01;
        }
        compare("driven four-bar", driven, &b, 0);
    }
    mabd_model_destroy(free), mabd_model_destroy(driven);
}

// Friction of a hinge beside rows that are redundant, and a stop that the crank runs into.
// Twenty four-bars in series: their 160 borders are eliminated along the tree.
Test(redmax_gradient_loops, many_loops_along_the_tree) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_four_bar_chain_def chain = mabd_default_four_bar_chain_def();
    chain.segments = 20, chain.length = (mabd_real)0.2;
    rig_check(mabd_generate_four_bar_chain(scene, &chain, &error), &error, "chain");
    mabd_model* model = rig_model(scene);
    for (size_t i = 0; i < 2; i++) {
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 4);
        gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 0)->scale = 5;
        gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 2)->scale = 5;
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.4;
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, 42, 0)->scale = 0.4;
        gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 21, 0)->scale = 0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 60, 1)->scale = 0.01;
        mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 79, 2, 4);
        t->point[0] = 0.1, t->target[2] = -0.3, t->target[0] = 1;
        t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 40, 4, 4);
        t->target[0] = 1, t->weight = 0.1;
        compare("four-bars in series", model, &rig, 0);
    }
    mabd_model_destroy(model);
}

Test(redmax_gradient_loops, laws_of_a_four_bar_in_a_plane) {
    mabd_model* slides = four_bar("\"rx\": {\"friction\": 0.3, \"armature\": 0.02}");
    mabd_model* stops = four_bar("\"rx\": {\"lower\": -0.01, \"upper\": 0.01}");
    for (size_t i = 0; i < 3; i++) {
        gradient_rig a = gradient_rig_redmax(methods[i], 0.01, 10), b = a;
        add_lengths(&a), add_terms(&a, 0);
        gradient_rig_axis(&a, MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 0.02);
        gradient_rig_axis(&a, MABD_PARAMETER_ARMATURE, 0, MABD_AXIS_RX, 0.002);
        gradient_rig_expect_branches("friction of a four-bar", slides, &a, 0.01, false);
        add_lengths(&b), add_terms(&b, 0);
        gradient_rig_expect_branches("stop of a four-bar", stops, &b, 0.001, true);
    }
    mabd_model_destroy(slides), mabd_model_destroy(stops);
}

// Stages leave redundant rows out: the others have forces of their own. Accelerations have all
// rows, and forces that these share have no derivatives.
Test(redmax_gradient_loops, forces_of_redundant_rows) {
    mabd_model* model = four_bar("\"rx\": {\"stiffness\": 1}");
    for (size_t i = 0; i < 3; i++) {
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 6);
        add_lengths(&rig);
        gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 3, 5, 6)->axis = -1;
        compare("forces", model, &rig, 0);
    }
    mabd_error error = {0};
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_SEMI_IMPLICIT, 0.01, 6);
    add_lengths(&rig);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 3, 5, 6);
    t->axis = 1, t->target[0] = 1;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    cr_expect(mabd_gradient_run(g, p, own, NULL, &error) == MABD_ERR_UNAVAILABLE);
    cr_expect(strstr(error.text, "redundant rows") != NULL, "%s", error.text);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

// ---- couplings ---------------------------------------------------------------------------------

// Three hinges that turn in concert, and a ball behind them.
static mabd_model* coupled(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"first\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002], \"center\": [0.02, 0.03, -0.01], \"position\": [0.2, 0, 0]},"
        " {\"name\": \"second\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
        "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.6, 0, 0]},"
        " {\"name\": \"third\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [1, 0, 0]},"
        " {\"name\": \"bob\", \"mass\": 0.3, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [1.3, 0.1, 0], \"angular_velocity\": [1, 2, -1]}],"
        " \"joints\": [{\"name\": \"A\", \"type\": \"hinge\", \"b\": \"first\", \"anchor\": [0, 0, "
        "0],"
        "  \"axis\": [0, 1, 0]},"
        " {\"name\": \"B\", \"type\": \"hinge\", \"a\": \"second\", \"b\": \"first\", \"anchor\": "
        "[0.4, 0, 0],"
        "  \"axis\": [0, 1, 0.3]},"
        " {\"name\": \"C\", \"type\": \"hinge\", \"a\": \"second\", \"b\": \"third\", \"anchor\": "
        "[0.8, 0, 0],"
        "  \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 2, \"damping\": 0.1}}},"
        " {\"type\": \"ball\", \"a\": \"third\", \"b\": \"bob\", \"anchor\": [1.2, 0, 0],"
        "  \"axes\": {\"ry\": {\"stiffness\": 2, \"damping\": 0.05, \"armature\": 0.02}}}],"
        " \"couplings\": [{\"axes\": ["
        "  {\"joint\": \"A\", \"axis\": \"rx\", \"ratio\": 1},"
        "  {\"joint\": \"B\", \"axis\": \"rx\", \"ratio\": 0.7}]},"
        "  {\"axes\": [{\"joint\": \"B\", \"axis\": \"rx\", \"ratio\": 1},"
        "  {\"joint\": \"C\", \"axis\": \"rx\", \"ratio\": -2}]}], \"start\": {\"close\": true}}");
}

static void add_coupled(gradient_rig* rig) {
    gradient_rig_three(rig, MABD_PARAMETER_START_ROTATION, 1, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_START_ANGULAR, 3, 0.2);
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 1, 0.01);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_A, 1, 0.02);
    gradient_rig_three(rig, MABD_PARAMETER_AXIS_B, 2, 0.02);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 2, 0)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_GRAVITY, 0, 0);
    gradient_rig_axis(rig, MABD_PARAMETER_STIFFNESS, 2, MABD_AXIS_RX, 0.1);
    gradient_rig_axis(rig, MABD_PARAMETER_ARMATURE, 3, MABD_AXIS_RY, 0.005);
    gradient_rig_axis(rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.1);
}

Test(redmax_gradient_loops, couplings) {
    mabd_model* model = coupled();
    for (size_t i = 0; i < METHODS; i++) {
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 10);
        add_coupled(&rig), add_terms(&rig, 3);
        compare("couplings", model, &rig, i % 2 ? 0.1 : 0);
    }
    mabd_model_destroy(model);
}

// ---- tapes and memory --------------------------------------------------------------------------

Test(redmax_gradient_loops, checkpoints_give_the_same_bits) {
    mabd_model* model = skew_linkage("ball", "universal", "hinge", "");
    for (size_t i = 0; i < METHODS; i++) {
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 60);
        add_bodies(&rig), add_terms(&rig, 4);
        gradient_rig_expect_same_bits(&rig, model, 0.1);
    }
    mabd_model_destroy(model);
}

Test(redmax_gradient_loops, bytes) {
    mabd_model* model =
        rig_text_model("{\"bodies\": [{\"name\": \"gate\", \"mass\": 1, \"inertia\": [1, 1, 1],"
                       " \"position\": [0.5, 0, 0.5]}], \"joints\": ["
                       " {\"type\": \"ball\", \"b\": \"gate\", \"anchor\": [0, 0, 0]},"
                       " {\"type\": \"ball\", \"b\": \"gate\", \"anchor\": [0, 0, 1]}]}");
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_SDIRK2, 0.01, 10);
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 0, 1);
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 0, 0);
    gradient_rig_term(&rig, MABD_LOSS_POINT, 0, 10, 10);
    gradient_rig_expect_bytes(&rig, model);
    mabd_model_destroy(model);
}

// Steps in parts: with few iterations and a small tolerance some are.
Test(redmax_gradient_loops, steps_in_parts) {
    mabd_model* model = skew_linkage("cylindrical", "cylindrical", "cylindrical", "");
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_gradient_info info;
    mabd_error error = {0};
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, 0.03, 6);
    rig.sim.max_iterations = 3, rig.sim.redmax.newton_tolerance = 1e-11;
    rig.sim.max_halvings = 4;
    add_places(&rig, 15, true), add_terms(&rig, 3);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    cr_expect(info.non_smooth > 0, "%d", info.non_smooth);
    const double worst = gradient_rig_compare(&rig, g, p, 0.001, false);
    const double forward = gradient_rig_forward_error(&rig, model, p);
    printf("%d steps in parts: error %.1e, forward %.1e\n", info.non_smooth, worst, forward);
    cr_expect(worst < 1e-6);
    cr_expect(forward < 1e-10);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}
