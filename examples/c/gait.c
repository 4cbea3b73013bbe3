// SPDX-License-Identifier: Apache-2.0
// A robot on four legs learns to trot by random search, in the variational formulation ([VI]
// algorithm 7): the copies of a batch try parameters of the gait near the best ones, and the next
// batch is biased in the direction that led farther.
// usage: gait [EPISODES [SECONDS [COPIES]]], from the root of the repository.
#include <mabd/mabd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 4, COPIES_MAX = 100, TRUNK = 1, BODIES = 14 };

// Parameters of scenes/variational/gait.json, a stand, and how far a search looks at first.
static const char* const names[PARAMETERS] = {"frequency", "swing", "lift", "phase"};
static const double stand[PARAMETERS] = {1.5, 0, 0, 0}, reach[PARAMETERS] = {1.5, 0.3, 0.3, 1.5};

typedef struct gait {
    double at[PARAMETERS];
    double way; // along x [m], 0 = not tried
} gait;

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// Uniform in [-1, 1].
static double draw(void) {
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static void add_copy(mabd_scene* batch, const gait* g) {
    char text[PARAMETERS][32];
    mabd_setting settings[PARAMETERS];
    mabd_scene* copy = NULL;
    for (int k = 0; k < PARAMETERS; k++) {
        snprintf(text[k], sizeof text[k], "%.17g", g->at[k]);
        settings[k] = (mabd_setting){names[k], text[k]};
    }
    if (mabd_scene_create(NULL, &copy) != MABD_OK) exit(1);
    if (mabd_scene_load(copy, "scenes/variational/gait.json", PARAMETERS, settings, &error) !=
            MABD_OK ||
        mabd_scene_add_copy(batch, copy, &error) != MABD_OK) {
        fail();
    }
    mabd_scene_destroy(copy);
}

// Walk with each gait for some seconds: sets the ways.
static void walk(gait* gaits, int count, double seconds) {
    mabd_scene* batch = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    mabd_sim_def def = mabd_default_sim_def();
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    def.h = (mabd_real)0.001;
    if (mabd_scene_create(NULL, &batch) != MABD_OK) exit(1);
    for (int c = 0; c < count; c++) add_copy(batch, &gaits[c]);
    if (mabd_model_build(batch, NULL, &model, &error) != MABD_OK) fail();
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) fail();
    for (long i = 0; i < lround(seconds / def.h); i++) {
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) fail();
    }
    mabd_real* x = calloc((size_t)(3 * BODIES * count), sizeof *x);
    if (!x) exit(1);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    for (int c = 0; c < count; c++) gaits[c].way = (double)x[3 * (BODIES * c + TRUNK)];
    free(x);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(batch);
}

int main(int argc, char** argv) {
    const int episodes = argc > 1 ? atoi(argv[1]) : 100, most = argc > 3 ? atoi(argv[3]) : 10;
    const double seconds = argc > 2 ? atof(argv[2]) : 10;
    const int copies = most < COPIES_MAX ? most : COPIES_MAX;
    gait best = {.way = 0}, gaits[COPIES_MAX];
    double bias[PARAMETERS] = {0}, explore = 1;
    if (episodes < 1 || copies < 1 || !(seconds > 0)) return 2;
    memcpy(best.at, stand, sizeof stand);
    for (int tried = 0; tried < episodes; tried += copies) {
        const int count = episodes - tried < copies ? episodes - tried : copies;
        const gait before = best;
        for (int c = 0; c < count; c++) {
            for (int k = 0; k < PARAMETERS; k++) {
                gaits[c].at[k] = best.at[k] + explore * reach[k] * draw() + c % 2 * bias[k];
            }
        }
        walk(gaits, count, seconds);
        for (int c = 0; c < count; c++) {
            if (gaits[c].way > best.way) best = gaits[c];
        }
        const int better = best.way > before.way;
        for (int k = 0; k < PARAMETERS; k++) {
            bias[k] = better ? (best.at[k] - before.at[k]) / 2 : 0;
        }
        explore *= better ? 0.9 : 0.7;
        printf("%3d episodes: %.2f m, frequency %.3f, swing %.3f, lift %.3f, phase %.3f\n",
               tried + count, best.way, best.at[0], best.at[1], best.at[2], best.at[3]);
        fflush(stdout);
    }
    printf("the best of %d gaits walks %.2f m in %g s\n", episodes, best.way, seconds);
    return 0;
}
