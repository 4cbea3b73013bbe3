// SPDX-License-Identifier: Apache-2.0
// Jumps of forces in scenes with contacts (src/formulation/affine/step.c): bodies at rest stay at
// rest, bodies that were hit take the two solves of SDIRK2 as two parts of the step.

#include "support/rig.h"

// A box on the floor, pushed by a force that jumps between less than friction holds: it stays, with
// its weight on the floor, as under a constant force.
Test(jumps_contact, a_box_that_rests_stays_at_rest) {
    static const char* const scene =
        "{\"contact\": {}, \"time\": {\"h\": 0.005},"
        " \"bodies\": [{\"name\": \"floor\", \"shape\": \"plane\", \"fixed\": true, \"friction\": "
        "0.5},"
        " {\"name\": \"box\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"mass\": 8,"
        "  \"position\": [0, 0, 0.1], \"friction\": 0.5}],"
        " \"forces\": [{\"body\": \"box\", \"force\": [30, 0, 0],"
        "  \"signal\": {\"steps\": {\"times\": [0.1, 0.12, 0.14, 0.16, 0.2],"
        "  \"values\": [0, 1, -1, 0.5, -1]}}}]}";
    mabd_model* model = rig_text_model(scene);
    for (int k = 0; k < 2; k++) {
        mabd_sim_def def =
            rig_def(MABD_PRESET_EXACT, k == 0 ? 0.005 : 0.0037); // the second: inside
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real at[6], speed[6];
        double fastest = 0, farthest = 0;
        while (mabd_sim_time(sim) < 0.5) {
            rig_step(sim);
            mabd_sim_get_state(sim, at, NULL, speed, NULL);
            fastest = fmax(fastest, rig_norm(speed + 3));
            farthest = fmax(farthest, fmax(fabs(at[3]), fabs(at[5] - 0.1)));
        }
        printf("box at rest: at most %.1e m/s, %.1e m\n", fastest, farthest);
        cr_expect(lt(dbl, farthest, 1e-5));
        cr_expect(lt(dbl, fastest, 2e-3));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Height of a ball that bounces, while the force on another body jumps before every step or never.
static void bounce(bool jumps, int steps, mabd_real* heights) {
    enum { POINTS = 128 };
    char times[8 * POINTS] = "", values[8 * POINTS] = "", scene[32 * POINTS];
    for (int i = 0; i < POINTS; i++) {
        snprintf(times + strlen(times), 8, "%s%.2f", i ? "," : "", 0.01 * i);
        snprintf(values + strlen(values), 8, "%s%d", i ? "," : "", jumps ? i % 2 : 0);
    }
    snprintf(scene, sizeof scene,
             "{\"contact\": {}, \"bodies\": ["
             "{\"shape\": \"plane\", \"fixed\": true, \"restitution\": 0.8},"
             "{\"shape\": \"sphere\", \"radius\": 0.1, \"position\": [0, 0, 0.6]},"
             "{\"name\": \"other\", \"shape\": \"sphere\", \"radius\": 0.1,"
             " \"position\": [5, 0, 9]}], \"forces\": [{\"body\": \"other\","
             " \"force\": [1, 0, 0], \"signal\": {\"steps\": {\"times\": [%s],"
             " \"values\": [%s]}}}]}",
             times, values);
    mabd_model* model = rig_text_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < steps; i++) {
        mabd_real position[9];
        rig_step(sim);
        mabd_sim_get_state(sim, position, NULL, NULL, NULL);
        heights[i] = position[5];
    }
    rig_destroy(sim, model);
}

// Height at time t: falls by 0.5 m, comes back with 0.8 of its speed.
static double exact_height(double t) {
    const double g = 9.81, hit = sqrt(2 * 0.5 / g), v = 0.8 * g * hit;
    return t < hit ? 0.6 - g * t * t / 2 : 0.1 + v * (t - hit) - g * (t - hit) * (t - hit) / 2;
}

// A ball that was hit takes the two solves of SDIRK2 as parts of the step and moves on for h, no
// longer: it bounces about as exactly as without jumps elsewhere. In the two steps after the impact
// it would else be 3 cm too far each.
Test(jumps_contact, a_ball_bounces_as_without_jumps) {
    enum { STEPS = 80 };
    mabd_real heights[2][STEPS];
    double worst[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        bounce(k == 1, STEPS, heights[k]);
        for (int i = 0; i < STEPS; i++) {
            worst[k] = fmax(worst[k], fabs(heights[k][i] - exact_height(0.01 * (i + 1))));
        }
    }
    printf("bounce: off by %.2e m, with jumps by %.2e m\n", worst[0], worst[1]);
    cr_expect(lt(dbl, worst[1], worst[0]));
}
