// SPDX-License-Identifier: Apache-2.0
// Small articulated scenes with contacts: joints stay closed, bodies neither sink in nor escape,
// and energy only falls.

#include "support/contact_rig.h"

#include <stdlib.h>

/// Build the model of a scene file of the source tree with settings.
static mabd_model* scene_model(const char* name, int32_t count, const mabd_setting* settings) {
    mabd_error error = {0};
    mabd_scene* scene;
    char path[1024];
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, name);
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, path, count, settings, &error), &error, path);
    return rig_model(scene);
}

static void tell(const char* what, const contact_watch* watch, double play) {
    printf(
        "%s: joints open by %.1e m, %.1e rad, deepest %.2e m, energy gained %.1e, %d of %d steps "
        "not converged, %d retries\n",
        what, watch->gap, watch->angle, watch->depth, watch->gained / play, watch->unconverged,
        watch->steps, watch->retries);
}

// A net falls on a cylinder, 30 steps per second: 3 cm per step at the impact, rods are 2 cm thick.
// 1 cm of overlap is the radius of a rod: beyond that its axis is inside. Energy exchanged: m g 1
// m.
Test(contact_scenes, a_net_over_a_cylinder_stays_closed_and_outside) {
    const mabd_setting settings[] = {{"rows", "10"}, {"columns", "10"}};
    mabd_model* model = scene_model("net-cylinder", 2, settings);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 1 / 30.);
    mabd_sim* sim = rig_sim(model, &def);
    double mass = 0;
    for (int32_t i = 0; i < mabd_model_body_count(model); i++) {
        if (mabd_model_body_motion(model, i) == MABD_MOTION_DYNAMIC) {
            mass += mabd_model_body_mass(model, i).mass;
        }
    }
    contact_watch watch = contact_watch_start(sim);
    int touching = 0;
    for (int i = 0; i < 30; i++) touching += contact_watch_step(&watch, sim).contacts > 0;
    tell("net", &watch, mass * CONTACT_GRAVITY);
    cr_expect(lt(int, 10, touching));
    cr_expect(lt(dbl, watch.gap, 1e-7));
    cr_expect(lt(dbl, watch.angle, 1e-7));
    cr_expect(lt(dbl, watch.depth, 0.01));
    rig_destroy(sim, model);
}

// 60 pairs fall from the level of the rim into a bowl of radius 1.5 m: inside means |x| < 1.5 m
// below the rim.
Test(contact_scenes, a_pile_stays_in_its_bowl_and_only_loses_energy) {
    const mabd_setting settings[] = {{"pairs", "60"}};
    mabd_model* model = scene_model("falling-joints", 1, settings);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const int32_t count = mabd_model_body_count(model), bowl = mabd_model_find_body(model, "bowl");
    double mass = 0;
    for (int32_t i = 0; i < count; i++) {
        if (i != bowl) mass += mabd_model_body_mass(model, i).mass;
    }
    mabd_real p[3 * 128];
    cr_assert(le(int, count, 128));
    contact_watch watch = contact_watch_start(sim);
    int most = 0;
    for (int i = 0; i < 100; i++) {
        const int solves = contact_watch_step(&watch, sim).iterations;
        if (solves > most) most = solves;
        mabd_sim_get_state(sim, p, NULL, NULL, NULL);
        for (int32_t j = 0; j < count; j++) {
            if (j == bowl) continue;
            cr_assert(lt(dbl, rig_norm(p + 3 * j), 1.5), "step %d, body %d", i, (int)j);
        }
    }
    tell("pile", &watch, mass * CONTACT_GRAVITY * 1.5);
    printf("pile: %d solves in a step at most\n", most);
    cr_expect(lt(int, most, 200));       // sliders that cycled between stops took 445
    cr_expect(lt(dbl, watch.gap, 1e-4)); // allowed for a step that used up its budget
    cr_expect(lt(dbl, watch.angle, 1e-4));
    cr_expect(lt(dbl, watch.depth, 0.01));
    cr_expect(lt(dbl, watch.gained, 1e-6 * mass * CONTACT_GRAVITY * 1.5));
    rig_destroy(sim, model);
}

// The pulley of the scene without its drive and with shorter runs: 40 kg sink, 30 kg rise. Links
// touch and leave the sheaves continually, one in 40 ms: each of these small impacts may return the
// energy of a contact's spring.
Test(contact_scenes, a_chain_over_sheaves_only_loses_energy) {
    const mabd_setting settings[] = {{"torque", "0"}, {"left", "40"}, {"inner", "20"},
                                     {"right", "20"}, {"load", "40"}, {"counter", "30"}};
    mabd_model* model = scene_model("pulley", 6, settings);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    contact_watch watch = contact_watch_start(sim);
    for (int i = 0; i < 60; i++) contact_watch_step(&watch, sim);
    const mabd_measure end = mabd_sim_measure(sim);
    const double play = end.kinetic;
    printf("pulley: %.3f J of %.3f J lost\n", start - (double)end.energy, play);
    tell("pulley", &watch, play);
    cr_expect(lt(dbl, 10, play));
    cr_expect(lt(dbl, watch.gap, 1e-7));
    cr_expect(lt(dbl, watch.depth, 1e-3));
    cr_expect(lt(dbl, watch.gained, CONTACT_SOFTNESS * play));
    cr_expect(eq(int, watch.unconverged + watch.retries, 0));
    rig_destroy(sim, model);
}
