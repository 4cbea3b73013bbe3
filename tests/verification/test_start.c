// SPDX-License-Identifier: Apache-2.0
// Start states (src/formulation/affine/start.c): open joints, closing in the mass metric,
// velocities against joints, servos off their targets. Oracles are closed forms of one and two
// bodies.
#include "mabd/mabd.h"
#include "support/rig.h"

#include <string.h>

static mabd_model* text_model(const char* text) {
    mabd_error error = {0};
    mabd_scene* scene;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error), &error, text);
    return rig_model(scene);
}

// Two balls of 1 and 3 kg, a ball joint between their centres, 0.4 m apart.
#define PAIR(start)                                                                                \
    "{\"gravity\": [0, 0, 0]," start "\"bodies\": ["                                               \
    "{\"name\": \"light\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 1},"                  \
    "{\"name\": \"heavy\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 3,"                   \
    " \"position\": [0.4, 0, 0]}], \"joints\": [{\"name\": \"knot\", \"type\": \"ball\","          \
    " \"a\": \"light\", \"b\": \"heavy\", \"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0]}]}"

Test(start, an_open_joint_is_an_error_with_its_name_and_opening) {
    mabd_model* model = text_model(PAIR(""));
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_error error = {0};
    mabd_sim* sim;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, error.joint, 0));
    cr_expect_not_null(strstr(error.text, "joint 'knot' is open by 0.4 m"), "%s", error.text);
    mabd_model_destroy(model);
}

// The centre of mass is fixed: the light ball moves by 3/4 of the gap, the heavy one by 1/4.
Test(start, bodies_close_a_joint_by_their_mass_ratio) {
    mabd_model* model = text_model(PAIR("\"start\": {\"close\": true},"));
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[6];
    mabd_warning warning;
    for (int i = 0; i < 2; i++) {
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        cr_expect(epsilon_eq(dbl, x[0], 0.3, 1e-12));
        cr_expect(epsilon_eq(dbl, x[3], 0.3, 1e-12));
        rig_step(sim);
        mabd_sim_reset(sim); // returns to the closed pose
    }
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect_not_null(strstr(warning.text, "at most 0.3 m (body 'light')"), "%s", warning.text);
    cr_expect(eq(int, warning.body, 0));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// A rod on a hinge at its end, started with v across it and no spin: omega = m l v/(m l^2 + I), so
// that m v^2/2 - (m l v)^2/(2 (m l^2 + I)) is removed.
Test(start, velocities_of_a_pendulum_are_projected) {
    mabd_scene* scene = rig_scene(0);
    const mabd_real size[3] = {1, 0.1, 0.1}, v = 2, l = 0.5;
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom, body.position[0] = l, body.velocity[2] = v;
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, rig_add_body(scene, &body), 0, 0);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_real m = 10, inertia = m * (1 + 0.01) / 12, whole = m * l * l + inertia;
    const mabd_real left = m * l * v * m * l * v / whole / 2;
    mabd_real w[3];
    mabd_warning warning;
    char taken[64];
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    cr_expect(epsilon_eq(dbl, w[1], -m * l * v / whole, 1e-12));
    cr_expect(epsilon_eq(dbl, mabd_sim_measure(sim).kinetic, left, 1e-10));
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    snprintf(taken, sizeof taken, "%.4g J of %.4g J", m * v * v / 2 - left, m * v * v / 2);
    cr_expect_not_null(strstr(warning.text, taken), "%s: %s", taken, warning.text);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

#define CRANK(axis)                                                                                \
    "{\"bodies\": [{\"name\": \"crank\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1],"             \
    " \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"pin\", \"type\": \"hinge\","          \
    " \"b\": \"crank\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": {" axis "}}}]}"

Test(start, a_rigid_servo_off_its_target_is_a_warning_or_an_error) {
    mabd_model* model = text_model(CRANK("\"servo\": 0.2, \"servo_rigid\": true"));
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_warning warning;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect_not_null(strstr(warning.text, "joint 'pin': rx is 0.2 rad off"), "%s", warning.text);
    cr_expect(eq(int, mabd_sim_warnings(NULL, 0, NULL), 0));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    model =
        text_model(CRANK("\"servo\": 0.2, \"servo_rigid\": true, \"lower\": -0.1, \"upper\": 0.1"));
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
    cr_expect_not_null(strstr(error.text, "0.1 rad above the upper stop"), "%s", error.text);
    mabd_model_destroy(model);
}
