// SPDX-License-Identifier: Apache-2.0
// Every formulation of the library over the scenes that it declares it can simulate: joints stay
// closed, energies and momenta obey their laws, closed forms hold, formulations agree with each
// other, and scenes beyond its features are refused by name. A new formulation adds a line to
// `trials`.
#include "support/rig.h"

#include <string.h>

#define G 9.81

/// Allowed errors of a formulation, all with the preset exact.
typedef struct trial {
    mabd_formulation formulation;
    double gap;      // joint error after every step [m], [rad]
    double energy;   // drift over a run, relative to the kinetic energy reached
    double momentum; // relative error of linear momentum
    double fall;     // error of the closed form of free fall [m]
    double weight;   // relative error of the contact forces on a body at rest
    double poses;    // distance from the first formulation in a common scene [m]
} trial;
static const trial trials[] = {
    {MABD_FORMULATION_AFFINE, 1e-9, 5e-4, 1e-12, 1e-12, 1e-3, 0},
};
#define TRIALS ((int)(sizeof trials / sizeof trials[0]))

static mabd_sim_def def_of(const trial* t, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = t->formulation;
    return def;
}

// ---- the table ---------------------------------------------------------------------------------

Test(formulations, every_one_that_is_built_has_a_line) {
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)k);
        int lines = 0;
        for (int i = 0; i < TRIALS; i++) lines += trials[i].formulation == (mabd_formulation)k;
        cr_expect(eq(int, lines, info.built), "%s", info.name);
        cr_expect(eq(int, mabd_formulation_find(info.name), k));
        if (!info.built) continue;
        cr_expect(info.paper_name[0] != '\0' && info.integrators != 0, "%s", info.name);
        cr_expect(info.backends & 1U << MABD_BACKEND_CPU, "%s", info.name);
        cr_expect(info.stage_count > 0 && info.stage_count <= MABD_MAX_STAGES, "%s", info.name);
        cr_expect(info.stages[info.stage_count] == NULL, "%s", info.name);
    }
}

Test(formulations, those_that_are_not_built_are_refused_by_name) {
    mabd_model* model = rig_file_model("scenes/pendulum.json", NULL, NULL);
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)k);
        mabd_error error = {0};
        mabd_sim* sim = NULL;
        mabd_sim_def def = mabd_default_sim_def();
        if (info.built) continue;
        def.formulation = (mabd_formulation)k;
        cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
        cr_expect(sim == NULL && strstr(error.text, info.name), "%s", error.text);
    }
    mabd_model_destroy(model);
}

// ---- scenes and features -----------------------------------------------------------------------

// Features according to the scene file, not to what the library detects in it.
static const struct {
    const char* path;
    uint32_t needs;
    bool conservative;
} scenes[] = {
    {"scenes/pendulum.json", 0, true},
    {"scenes/double-pendulum.json", 0, true},
    {"scenes/chain.json", 0, true},
    {"scenes/tree.json", 0, false},
    {"scenes/t-handle.json", 0, true},
    {"scenes/heavy-top.json", 0, true},
    {"scenes/ring.json", MABD_CAN_LOOPS, true},
    {"scenes/net.json", MABD_CAN_LOOPS, true},
    {"scenes/stack.json", MABD_CAN_CONTACTS, false},
    {"scenes/bounce.json", MABD_CAN_CONTACTS, false},
};
#define SCENES ((int)(sizeof scenes / sizeof scenes[0]))

static void expect_refused(const trial* t, const mabd_model* model, const char* path) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE), "%s",
              path);
    cr_expect(strstr(error.text, mabd_formulation_name(t->formulation)) != NULL, "%s", error.text);
}

static void expect_physics(const trial* t, const mabd_model* model, int scene) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gap = 0, kinetic = start.kinetic;
    for (int i = 0; i < 100; i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, fmax(now.gap, now.angle_error));
        kinetic = fmax(kinetic, now.kinetic);
    }
    const double drift = (mabd_sim_measure(sim).energy - start.energy) / kinetic;
    printf("%-12s %-28s gap %.1e, energy drift %+.1e\n", mabd_formulation_name(t->formulation),
           scenes[scene].path, gap, drift);
    cr_expect(le(dbl, gap, t->gap), "%s", scenes[scene].path);
    if (scenes[scene].conservative) cr_expect(le(dbl, fabs(drift), t->energy));
    mabd_sim_destroy(sim);
}

Test(formulations, each_simulates_the_scenes_within_its_features_and_refuses_the_others) {
    for (int k = 0; k < SCENES; k++) {
        mabd_model* model = rig_file_model(scenes[k].path, NULL, NULL);
        for (int i = 0; i < TRIALS; i++) {
            const uint32_t can = mabd_formulation_get_info(trials[i].formulation).can;
            if (scenes[k].needs & ~can) {
                expect_refused(&trials[i], model, scenes[k].path);
            } else {
                expect_physics(&trials[i], model, k);
            }
        }
        mabd_model_destroy(model);
    }
}

// ---- closed forms ------------------------------------------------------------------------------

static mabd_model* falling_box(bool ground) {
    mabd_error error = {0};
    const mabd_real size[3] = {(mabd_real)0.2, (mabd_real)0.2, (mabd_real)0.2}, flat[3] = {0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    const mabd_geom plane = mabd_geom_make(MABD_SHAPE_PLANE, flat, 0);
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.position[2] = (mabd_real)0.1;
    if (!ground) body.velocity[0] = 2, body.angular_velocity[1] = 3;
    rig_add_body(scene, &body);
    if (ground) {
        mabd_body_def floor = mabd_default_body_def();
        mabd_contact_def contact = mabd_default_contact_def();
        floor.motion = MABD_MOTION_FIXED;
        floor.geom_count = 1, floor.geoms = &plane;
        rig_add_body(scene, &floor);
        contact.enabled = true;
        rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    }
    return rig_model(scene);
}

// z = z0 - g t^2 / 2, x = x0 + 2 t, p = m (2, 0, -g t) with m = 8 kg, for a box that spins.
Test(formulations, free_fall_follows_the_parabola) {
    for (int i = 0; i < TRIALS; i++) {
        mabd_model* model = falling_box(false);
        const mabd_sim_def def = def_of(&trials[i], 1e-2);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3];
        for (int k = 0; k < 100; k++) rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        const mabd_real p[3] = {16, 0, (mabd_real)(-8 * G)};
        const mabd_measure measure = mabd_sim_measure(sim);
        const char* name = mabd_formulation_name(trials[i].formulation);
        cr_expect(le(dbl, fabs(x[2] - (0.1 - G / 2)), trials[i].fall), "%s", name);
        cr_expect(le(dbl, fabs(x[0] - 2), trials[i].fall), "%s", name);
        cr_expect(
            le(dbl, rig_distance(measure.linear_momentum, p), trials[i].momentum * rig_norm(p)),
            "%s", name);
        rig_destroy(sim, model);
    }
}

// Contact forces on a box of 8 kg at rest carry its weight.
Test(formulations, contact_forces_carry_the_weight) {
    for (int i = 0; i < TRIALS; i++) {
        if (!(mabd_formulation_get_info(trials[i].formulation).can & MABD_CAN_CONTACTS)) continue;
        mabd_model* model = falling_box(true);
        const mabd_sim_def def = def_of(&trials[i], 1e-2);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_contact_info contacts[16];
        double force = 0;
        for (int k = 0; k < 100; k++) rig_step(sim);
        const int32_t count = mabd_sim_get_contacts(sim, 16, contacts);
        for (int32_t k = 0; k < count && k < 16; k++) force += fabs(contacts[k].force[2]);
        cr_expect(le(dbl, fabs(force / (8 * G) - 1), trials[i].weight), "%g N, %d contacts", force,
                  (int)count);
        rig_destroy(sim, model);
    }
}

// ---- agreement ---------------------------------------------------------------------------------

#define LINKS 4

static void swing(const trial* t, const mabd_model* model, mabd_real* positions) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    for (int k = 0; k < 300; k++) rig_step(sim);
    mabd_sim_get_state(sim, positions, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
}

Test(formulations, agree_on_a_swinging_chain) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = LINKS;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-G);
    mabd_real first[3 * LINKS], other[3 * LINKS];
    swing(&trials[0], model, first);
    cr_expect(first[3 * LINKS - 1] < -0.05); // the last link has fallen
    for (int i = 1; i < TRIALS; i++) {
        swing(&trials[i], model, other);
        for (int k = 0; k < LINKS; k++) {
            cr_expect(le(dbl, rig_distance(first + 3 * k, other + 3 * k), trials[i].poses), "%s",
                      mabd_formulation_name(trials[i].formulation));
        }
    }
    mabd_model_destroy(model);
}
