// SPDX-License-Identifier: Apache-2.0
// Random chains that are thrown on the ground under redmax: impacts of several boxes at once,
// pulled by ball joints and hinges. Contacts give no energy, nothing sinks in, and no step fails.

#include "support/random_scene.h"
#include "support/rig.h"

#include <stdlib.h>

/// Scenes of a law; the environment variable MABD_SCENES asks for more of them.
#define SCENES 20

// Boxes on ball joints and hinges in a row above the ground, all at 3 m/s downwards.
static mabd_model* thrown_chain(uint64_t seed) {
    char text[4096];
    uint64_t state = seed;
    int n = snprintf(text, sizeof text,
                     "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": "
                     "[{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true}");
    for (int i = 0; i < 4; i++) {
        const double a = 0.15 + 0.05 * random_real(&state), b = 0.1 + 0.05 * random_real(&state);
        n += snprintf(text + n, sizeof text - n,
                      ", {\"name\": \"%d\", \"shape\": \"box\", \"size\": [%g, %g, 0.1], "
                      "\"position\": [%g, %g, %g], \"velocity\": [0, 0, -3]}",
                      i, a, b, 0.3 * i, 0.1 * random_real(&state), 0.4 + 0.2 * random_real(&state));
    }
    n += snprintf(text + n, sizeof text - n, "], \"joints\": [");
    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - n,
                      "%s{\"type\": \"%s\", \"a\": \"%d\", \"b\": \"%d\", \"anchor\": "
                      "[%g, 0, 0.4], \"axis\": [0, 1, %g]}",
                      i ? ", " : "", random_real(&state) > 0 ? "ball" : "hinge", i, i + 1,
                      0.3 * i + 0.15, (double)random_real(&state));
    }
    snprintf(text + n, sizeof text - n, "]}");
    return rig_text_model(text);
}

typedef struct thrown_result {
    double gained, lowest; // energy above the start [J], height of a centre [m]
    int failed;            // 1 = a step ended by an error
} thrown_result;

static thrown_result throw_chain(uint64_t seed, mabd_contact_problem law) {
    mabd_model* model = thrown_chain(seed);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.005);
    thrown_result out = {.lowest = 1};
    mabd_error error = {0};
    mabd_real x[15];
    def.formulation = MABD_FORMULATION_REDMAX, def.redmax.contacts = law;
    mabd_sim* sim = rig_sim(model, &def);
    const double start = (double)mabd_sim_measure(sim).energy;
    for (int i = 0; i < 80 && !out.failed; i++) {
        out.failed = mabd_sim_step(sim, NULL, &error) != MABD_OK;
        out.gained = fmax(out.gained, (double)mabd_sim_measure(sim).energy - start);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        for (int k = 1; k < 5; k++) out.lowest = fmin(out.lowest, (double)x[3 * k + 2]);
    }
    cr_expect(eq(int, out.failed, 0), "seed %d: %s", (int)seed, error.text);
    cr_expect(lt(dbl, out.gained, 1e-3 * start), "seed %d: %g J", (int)seed, out.gained);
    cr_expect(lt(dbl, 0.02, out.lowest), "seed %d: %g m", (int)seed, out.lowest);
    rig_destroy(sim, model);
    return out;
}

static void throw_chains(mabd_contact_problem law) {
    double gained = 0, lowest = 1;
    int failed = 0;
    const char* wanted = getenv("MABD_SCENES");
    const int scenes = wanted ? atoi(wanted) : SCENES;
    for (uint64_t seed = 1; seed <= (uint64_t)scenes; seed++) {
        const thrown_result own = throw_chain(seed, law);
        gained = fmax(gained, own.gained), lowest = fmin(lowest, own.lowest);
        failed += own.failed;
    }
    printf("%d scenes: gained at most %.1e J, lowest %.4f m, failed %d\n", scenes, gained, lowest,
           failed);
}

Test(redmax_thrown, chains_gain_no_energy_with_coulombs_law) {
    throw_chains(MABD_CONTACT_PROBLEM_STAGGERED);
}

Test(redmax_thrown, chains_gain_no_energy_with_one_convex_problem) {
    throw_chains(MABD_CONTACT_PROBLEM_ONE_QP);
}
