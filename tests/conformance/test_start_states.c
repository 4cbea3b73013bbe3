// SPDX-License-Identifier: Apache-2.0
// Start states in every formulation that is built: open joints are refused or closed in the mass
// metric, velocities against joints are projected, rigid servos off their targets are warnings, and
// states that are set obey the same rules. Oracles are closed forms of two balls of 1 and 3 kg
// whose centres a ball joint holds together, and of a crank on a hinge.
#include "mabd/mabd.h"
#include "support/rig.h"

#include <string.h>

#define PAIR(start, light)                                                                         \
    "{\"gravity\": [0, 0, 0]," start "\"bodies\": ["                                               \
    "{\"name\": \"light\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 1" light "},"         \
    "{\"name\": \"heavy\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 3}],"                 \
    "\"joints\": [{\"name\": \"knot\", \"type\": \"ball\", \"a\": \"light\", \"b\": \"heavy\","    \
    " \"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0]}]}"
#define CLOSE "\"start\": {\"close\": true},"

static mabd_sim_def def_of(int formulation) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.formulation = (mabd_formulation)formulation;
    return def;
}

static bool is_built(int formulation) {
    return mabd_formulation_get_info((mabd_formulation)formulation).built;
}

// The first warning of a simulation holds `text`.
static void expect_warning(const mabd_sim* sim, int formulation, const char* text) {
    mabd_warning warning = {0};
    const char* name = mabd_formulation_name((mabd_formulation)formulation);
    cr_assert(ge(int, mabd_sim_warnings(sim, 1, &warning), 1), "%s lacks: %s", name, text);
    cr_expect_not_null(strstr(warning.text, text), "%s: %s", name, warning.text);
}

Test(start_states, an_open_joint_is_refused_by_name_and_size) {
    mabd_model* model = rig_text_model(PAIR("", ", \"position\": [0, 0.4, 0]"));
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        mabd_error error = {0};
        mabd_sim* sim;
        if (!is_built(k)) continue;
        cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
        cr_expect(eq(int, error.joint, 0));
        cr_expect_not_null(strstr(error.text, "joint 'knot' is open by 0.4 m at the start"), "%s",
                           error.text);
    }
    mabd_model_destroy(model);
}

// The centre of mass stays: the light ball moves by 3/4 of the gap. A reset returns there.
Test(start_states, bodies_close_a_joint_by_their_mass_ratio) {
    mabd_model* model = rig_text_model(PAIR(CLOSE, ", \"position\": [0, 0.4, 0]"));
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        mabd_real x[6];
        if (!is_built(k)) continue;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 2; i++) {
            mabd_sim_get_state(sim, x, NULL, NULL, NULL);
            cr_expect(epsilon_eq(dbl, x[1], 0.1, 1e-12));
            cr_expect(epsilon_eq(dbl, x[4], 0.1, 1e-12));
            rig_step(sim);
            mabd_sim_reset(sim);
        }
        expect_warning(sim, k, "bodies moved by at most 0.3 m (body 'light')");
        cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), 1), "a reset adds no warning");
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// 1 kg at 4 m/s joined to 3 kg at rest: both move at 1 m/s, with 2 J of the 8 J.
Test(start_states, velocities_against_a_joint_are_projected) {
    mabd_model* model = rig_text_model(PAIR("", ", \"velocity\": [4, 0, 0]"));
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        mabd_real v[6];
        if (!is_built(k)) continue;
        mabd_sim* sim = rig_sim(model, &def);
        mabd_sim_get_state(sim, NULL, NULL, v, NULL);
        cr_expect(epsilon_eq(dbl, v[0], 1, 1e-12));
        cr_expect(epsilon_eq(dbl, v[3], 1, 1e-12));
        cr_expect(epsilon_eq(dbl, mabd_sim_measure(sim).kinetic, 2, 1e-12));
        expect_warning(sim, k, "6 J of 8 J of kinetic energy taken out");
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// The same by set_state, and a state with an open joint leaves all as it was.
Test(start_states, states_that_are_set_obey_the_same_rules) {
    mabd_model* model = rig_text_model(PAIR("", ""));
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        const mabd_real fast[6] = {4, 0, 0, 0, 0, 0}, open[6] = {0.2, 0, 0, 0, 0, 0};
        mabd_real v[6], x[6];
        mabd_error error = {0};
        if (!is_built(k)) continue;
        mabd_sim* sim = rig_sim(model, &def);
        rig_check(mabd_sim_set_state(sim, NULL, NULL, fast, NULL, &error), &error, "velocities");
        expect_warning(sim, k, "6 J of 8 J of kinetic energy taken out");
        cr_expect(eq(int, mabd_sim_set_state(sim, open, NULL, NULL, NULL, &error), MABD_ERR_INPUT));
        cr_expect_not_null(strstr(error.text, "'knot' is open by 0.2 m in the state to set"), "%s",
                           error.text);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        cr_expect(epsilon_eq(dbl, v[0], 1, 1e-12));
        cr_expect(epsilon_eq(dbl, x[0], 0, 1e-15));
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        cr_expect(epsilon_eq(dbl, x[0], 0.01, 1e-12));
        cr_expect(epsilon_eq(dbl, x[3], 0.01, 1e-12));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// A target that a program has set counts, not the signal.
Test(start_states, a_rigid_servo_off_its_target_is_a_warning) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"crank\", \"shape\": \"box\","
        " \"size\": [1, 0.1, 0.1], \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"pin\","
        " \"type\": \"hinge\", \"b\": \"crank\", \"axis\": [0, 1, 0],"
        " \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_rigid\": true}}}]}");
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        const mabd_real target = 0, x[3] = {0.5, 0, 0}, q[4] = {1, 0, 0, 0};
        mabd_error error = {0};
        if (!is_built(k)) continue;
        mabd_sim* sim = rig_sim(model, &def);
        expect_warning(sim, k, "joint 'pin': rx is 0.2 rad off the target of its rigid servo");
        const int32_t before = mabd_sim_warnings(sim, 0, NULL);
        rig_check(mabd_sim_set_state(sim, x, q, NULL, NULL, &error), &error, "off the signal");
        cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), before + 1));
        rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &target, &error), &error, "target");
        rig_check(mabd_sim_set_state(sim, x, q, NULL, NULL, &error), &error, "on the target");
        cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), before + 1));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Joints open by 1e-7 m are accepted; formulations whose rows hold to round-off close them.
Test(start_states, rigid_formulations_start_closed_to_round_off) {
    mabd_model* model = rig_text_model(PAIR("", ", \"position\": [0, 1e-7, 0]"));
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_sim_def def = def_of(k);
        if (!is_built(k)) continue;
        mabd_sim* sim = rig_sim(model, &def);
        const double gap = mabd_sim_measure(sim).gap;
        cr_expect(k == MABD_FORMULATION_AFFINE ? gap > 0.9e-7 : gap < 1e-15, "%s: %g",
                  mabd_formulation_name((mabd_formulation)k), gap);
        cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), 0));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}
