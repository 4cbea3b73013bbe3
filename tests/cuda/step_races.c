// SPDX-License-Identifier: Apache-2.0
// Steps on a device, for ThreadSanitizer to look at: every kernel of the stages, on mechanisms whose bodies are of several kinds. Ends
// with 0 whatever it says.
#include "support/random_scene.h"

#include "mabd/mabd.h"

#include <stdio.h>

static int fail(const mabd_error* error) {
    fprintf(stderr, "step_races: %s\n", error->text);
    return 1;
}

static int step(random_pattern pattern, int32_t bodies) {
    const random_scene_def scene_def = {.seed = 4,
                                        .pattern = pattern,
                                        .bodies = bodies,
                                        .grounded = true,
                                        .controls = true,
                                        .mass_range = 3};
    mabd_sim_def def = mabd_default_sim_def();
    mabd_scene* scene = random_scene(&scene_def);
    mabd_error error = {0};
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    def.backend = MABD_BACKEND_EXECUTOR;
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail(&error);
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail(&error);
    if (mabd_sim_step(sim, NULL, &error) != MABD_OK) return fail(&error);
    const mabd_measure measure = mabd_sim_measure(sim);
    printf("%d bodies, gap %g m\n", (int)mabd_model_body_count(model), (double)measure.gap);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return 0;
}

int main(void) {
    return step(RANDOM_TREE, 24) | step(RANDOM_STAR, 20) | step(RANDOM_LOOPS, 16) |
           step(RANDOM_NET, 18);
}
