// SPDX-License-Identifier: Apache-2.0
// Copies of one robot as one problem: each carries another load, and a controller outside of the
// library sets the targets of all servos every 20 ms.
// usage: batch [SCENE.json], from the root of the repository: scenes/arm.json is the default.
#include <mabd/mabd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COPIES = 32, STEPS = 100, HOLD = 2 }; // a target is held for HOLD steps of 10 ms

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

// One copy: the scene file with a load of its own [kg].
static mabd_status add_copy(mabd_scene* batch, const char* path, double load) {
    char text[32];
    snprintf(text, sizeof text, "%g", load);
    const mabd_setting setting = {"load", text};
    mabd_scene* copy = NULL;
    mabd_status status = mabd_scene_create(NULL, &copy);
    if (status == MABD_OK) status = mabd_scene_load(copy, path, 1, &setting, &error);
    if (status == MABD_OK) status = mabd_scene_add_copy(batch, copy, &error);
    mabd_scene_destroy(copy);
    return status;
}

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "scenes/arm.json";
    mabd_scene* batch = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    if (mabd_scene_create(NULL, &batch) != MABD_OK) return 1;
    for (int c = 0; c < COPIES; c++) {
        if (add_copy(batch, path, 0.5 + 0.1 * c) != MABD_OK) return fail();
    }
    const mabd_sim_def def = mabd_default_sim_def();
    if (mabd_model_build(batch, NULL, &model, &error) != MABD_OK) return fail();
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail();

    const int controls = mabd_model_control_count(model);
    mabd_real* x = calloc((size_t)(COPIES * controls), sizeof *x); // (copies x controls)
    mabd_real* target = calloc((size_t)(COPIES * controls), sizeof *target);
    if (!x || !target) return 1;
    for (int step = 0; step < STEPS; step++) {
        if (step % HOLD == 0) {
            mabd_sim_get_controls(sim, x, NULL); // what a policy would look at
            const mabd_real wave = sin(2 * mabd_sim_time(sim));
            for (int i = 0; i < COPIES * controls; i++) target[i] = 0.9 * x[i] + 0.02 * wave;
            if (mabd_sim_set_targets(sim, 0, COPIES, NULL, target, &error) != MABD_OK)
                return fail();
        }
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) return fail();
    }
    mabd_sim_get_controls(sim, x, NULL);
    printf("%d copies, %d controls each; control 1: %.4f rad with the lightest load, %.4f rad with "
           "the "
           "heaviest\n",
           COPIES, controls, x[1], x[(COPIES - 1) * controls + 1]);

    free(x);
    free(target);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(batch);
    return 0;
}
