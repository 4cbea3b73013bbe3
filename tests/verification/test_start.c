// SPDX-License-Identifier: Apache-2.0
// Start states (src/rigid/start.c): open joints, closing in the mass metric,
// velocities against joints, servos off their targets. Oracles are closed forms of one and two
// bodies.
#include "mabd/mabd.h"
#include "support/rig.h"

#include <string.h>

// Two balls of 1 and 3 kg, a ball joint between their centres, 0.4 m apart.
#define PAIR(start)                                                                                \
    "{\"gravity\": [0, 0, 0]," start "\"bodies\": ["                                               \
    "{\"name\": \"light\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 1},"                  \
    "{\"name\": \"heavy\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 3,"                   \
    " \"position\": [0.4, 0, 0]}], \"joints\": [{\"name\": \"knot\", \"type\": \"ball\","          \
    " \"a\": \"light\", \"b\": \"heavy\", \"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0]}]}"

Test(start, an_open_joint_is_an_error_with_its_name_and_size) {
    mabd_model* model = rig_text_model(PAIR(""));
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
    mabd_model* model = rig_text_model(PAIR("\"start\": {\"close\": true},"));
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

// Add a rod of 10 kg and 1 m on a hinge at its end x, with velocity v across it and no spin.
static void add_rod(mabd_scene* scene, mabd_real x, mabd_real v) {
    const mabd_real size[3] = {1, 0.1, 0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.position[0] = x + (mabd_real)0.5, body.velocity[2] = v;
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, rig_add_body(scene, &body), x, 0);
}

// A rod on a hinge at its end, started with v across it and no spin: omega = m l v/(m l^2 + I), so
// that m v^2/2 - (m l v)^2/(2 (m l^2 + I)) is removed.
Test(start, velocities_of_a_pendulum_are_projected) {
    mabd_scene* scene = rig_scene(0);
    const mabd_real v = 2, l = 0.5;
    add_rod(scene, 0, v);
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

// Each rod loses the same part of its energy, I/(m l^2 + I): the warning has the sum over all rods
// and the joint of the fastest.
Test(start, the_warning_sums_the_energy_of_all_components_and_names_the_fastest_joint) {
    const mabd_real v[3] = {1, 3, 2}, m = 10, inertia = m * (1 + 0.01) / 12;
    mabd_scene* scene = rig_scene(0);
    for (int i = 0; i < 3; i++) add_rod(scene, (mabd_real)(2 * i), v[i]);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_real before = m * (1 + 9 + 4) / 2, taken = before * inertia / (m / 4 + inertia);
    mabd_warning warning;
    char text[96];
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    snprintf(text, sizeof text, "%.4g J of %.4g J of kinetic energy taken out", taken, before);
    cr_expect_not_null(strstr(warning.text, text), "%s: %s", text, warning.text);
    cr_expect_not_null(strstr(warning.text, "at most 3 m/s"), "%s", warning.text);
    cr_expect(eq(int, warning.joint, 1));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// 3 kg at rest on a carriage that a script moves at 2 m/s start at this speed, with 6 J.
Test(start, the_warning_reports_energy_that_a_script_adds) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"carriage\", \"script\":"
        " {\"direction\": [1, 0, 0], \"translation\": {\"ramp\": {\"to\": 2, \"end\": 1}}}},"
        " {\"name\": \"load\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"mass\": 3}],"
        " \"joints\": [{\"type\": \"fixed\", \"a\": \"carriage\", \"b\": \"load\"}]}");
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_warning warning;
    cr_expect(epsilon_eq(dbl, mabd_sim_measure(sim).kinetic, 6, 1e-12));
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect_not_null(strstr(warning.text, "projected: 6 J of 0 J of kinetic energy added"), "%s",
                       warning.text);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

#define CRANK(axis)                                                                                \
    "{\"bodies\": [{\"name\": \"crank\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1],"             \
    " \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"pin\", \"type\": \"hinge\","          \
    " \"b\": \"crank\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": {" axis "}}}]}"

Test(start, a_rigid_servo_off_its_target_is_a_warning_or_an_error) {
    mabd_model* model = rig_text_model(CRANK("\"servo\": 0.2, \"servo_rigid\": true"));
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_warning warning;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect_not_null(strstr(warning.text, "joint 'pin': rx is 0.2 rad off"), "%s", warning.text);
    cr_expect(eq(int, mabd_sim_warnings(NULL, 0, NULL), 0));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    model = rig_text_model(
        CRANK("\"servo\": 0.2, \"servo_rigid\": true, \"lower\": -0.1, \"upper\": 0.1"));
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
    cr_expect_not_null(strstr(error.text, "0.1 rad above the upper stop"), "%s", error.text);
    mabd_model_destroy(model);
}

// Four boxes in a row that move as one, v = v0 + w x r: the rates of the joints are round-off.
// `slip` is added to the velocity of the last box [m/s].
static mabd_sim* start_row(bool jointed, double slip, mabd_model** model) {
    static const mabd_joint types[3] = {MABD_JOINT_HINGE, MABD_JOINT_BALL, MABD_JOINT_UNIVERSAL};
    const mabd_real size[3] = {0.3, 0.1, 0.2}, w[3] = {0.7, -1.3, 2.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_scene* scene = rig_scene(0);
    for (int i = 0; i < 4; i++) {
        mabd_body_def body = mabd_default_body_def();
        const mabd_real x = 0.1 + 0.3 * i, v[3] = {0.3, -0.4 + w[2] * x, 1.1 - w[1] * x};
        body.geom_count = 1, body.geoms = &geom, body.position[0] = x;
        memcpy(body.velocity, v, sizeof v), memcpy(body.angular_velocity, w, sizeof w);
        if (i == 3) body.velocity[0] += slip;
        rig_add_body(scene, &body);
        if (jointed && i > 0) rig_add_joint(scene, types[i - 1], i - 1, i, x - 0.15, 0);
    }
    *model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    return rig_sim(*model, &def);
}

// Bodies without joints have the velocities of the scene. Slips below 1e-6 m/s are kept, too.
Test(start, velocities_that_joints_allow_keep_their_bits) {
    static const double slips[] = {0, 5e-7, 1e-4};
    for (int k = 0; k < 3; k++) {
        mabd_model *model, *other;
        mabd_sim* sim = start_row(true, slips[k], &model);
        mabd_sim* loose = start_row(false, slips[k], &other);
        mabd_real v[12], w[12], given_v[12], given_w[12];
        mabd_sim_get_state(sim, NULL, NULL, v, w);
        mabd_sim_get_state(loose, NULL, NULL, given_v, given_w);
        const bool unchanged =
            memcmp(v, given_v, sizeof v) == 0 && memcmp(w, given_w, sizeof w) == 0;
        cr_expect(eq(int, unchanged, slips[k] < 1e-6), "slip %g m/s", slips[k]);
        cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), slips[k] < 1e-6 ? 0 : 1));
        rig_destroy(sim, model), rig_destroy(loose, other);
    }
}

// A swinging chain whose last link is moved by 1 mm along its hinge axis: refused, and the
// simulation steps to the same bits as one that was never asked.
Test(start, a_state_with_a_joint_open_by_1_mm_is_refused_whole) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 3, chain.joint = MABD_JOINT_HINGE;
    mabd_model* model = rig_chain_model(&chain, -9.81);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim *sim = rig_sim(model, &def), *twin = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_real x[9], q[12], v[9] = {0}, w[9] = {0};
    char name[64], expected[128], state[2][8192];
    const size_t size = mabd_sim_state_size(sim);
    cr_assert(le(sz, size, sizeof state[0]));
    for (int i = 0; i < 20; i++) rig_step(sim), rig_step(twin);
    mabd_sim_get_state(sim, x, q, NULL, NULL);
    x[3 * 2 + 1] += 1e-3;
    cr_expect(eq(int, mabd_sim_set_state(sim, x, q, v, w, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, error.joint, 2));
    mabd_model_joint_name(model, 2, name, sizeof name);
    snprintf(expected, sizeof expected, "joint '%s' is open by 0.001 m", name);
    cr_expect_not_null(strstr(error.text, expected), "expected %s: %s", expected, error.text);
    for (int i = 0; i < 2; i++) {
        mabd_sim_save(sim, state[0]), mabd_sim_save(twin, state[1]);
        cr_expect(eq(int, memcmp(state[0], state[1], size), 0), "%d steps later", i);
        rig_step(sim), rig_step(twin);
    }
    mabd_sim_destroy(twin);
    rig_destroy(sim, model);
}
