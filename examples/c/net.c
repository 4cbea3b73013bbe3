// SPDX-License-Identifier: Apache-2.0
// Load a scene file, simulate it for one second and print what the joints and the energy did.
// usage: net [SCENE.json], from the root of the repository: scenes/net.json is the default.

// [readme
#include <mabd/mabd.h>
#include <stdio.h>

int main(int argc, char** argv) {
    const mabd_setting size[] = {{"rows", "20"}, {"columns", "20"}};
    mabd_sim_def def = mabd_default_sim_def(); // affine bodies, BDF2, h = 10 ms
    mabd_error error = {0};
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    mabd_status status = mabd_scene_create(NULL, &scene);
    if (!status)
        status = mabd_scene_load(scene, argc > 1 ? argv[1] : "scenes/net.json", 2, size, &error);
    if (!status) status = mabd_model_build(scene, NULL, &model, &error);
    if (!status) status = mabd_sim_create(model, &def, &sim, &error);
    for (int i = 0; !status && i < 100; i++) status = mabd_sim_step(sim, NULL, &error);
    if (status) return fprintf(stderr, "%s\n", error.text), 1;
    const mabd_measure m = mabd_sim_measure(sim);
    printf("t = %.2f s: largest joint gap %.1e m, energy %.3f J\n", mabd_sim_time(sim), m.gap,
           m.energy);
    // readme]
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return 0;
}
