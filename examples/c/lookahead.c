// SPDX-License-Identifier: Apache-2.0
// Save a state, try something, go back: the same pendulum chain continued twice from one moment
// gives the same bits twice.
// usage: lookahead [SCENE.json], from the root of the repository: scenes/chain.json is the default.
#include <mabd/mabd.h>

#include <stdio.h>
#include <stdlib.h>

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

static mabd_status advance(mabd_sim* sim, int steps) {
    mabd_status status = MABD_OK;
    for (int i = 0; status == MABD_OK && i < steps; i++) status = mabd_sim_step(sim, NULL, &error);
    return status;
}

int main(int argc, char** argv) {
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    if (mabd_scene_create(NULL, &scene) != MABD_OK) return 1;
    if (mabd_scene_load(scene, argc > 1 ? argv[1] : "scenes/chain.json", 0, NULL, &error) !=
        MABD_OK) {
        return fail();
    }
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail();
    const mabd_sim_def def = mabd_default_sim_def();
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail();

    if (advance(sim, 50) != MABD_OK) return fail();
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    if (!state) return 1;
    mabd_sim_save(sim, state);

    if (advance(sim, 50) != MABD_OK) return fail();
    const mabd_measure first = mabd_sim_measure(sim);
    if (mabd_sim_restore(sim, state, size, &error) != MABD_OK) return fail();
    if (advance(sim, 50) != MABD_OK) return fail();
    const mabd_measure second = mabd_sim_measure(sim);
    printf("state of %zu bytes; energy %.17g J and %.17g J: %s\n", size, first.energy,
           second.energy, first.energy == second.energy ? "the same bits" : "different");

    free(state);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return first.energy == second.energy ? 0 : 1;
}
