// SPDX-License-Identifier: Apache-2.0
// Record a run as HDF5; `mabd render OUT.h5 -o OUT.png` draws it, h5py reads it.
// usage: record OUT.h5 [SCENE.json], from the root of the repository; the default scene is
// scenes/pendulum.json.
#include <mabd/mabd.h>

#include <stdio.h>

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

int main(int argc, char** argv) {
    if (argc < 2) return fprintf(stderr, "usage: record OUT.h5 [SCENE.json]\n"), 2;
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    mabd_recorder* recorder = NULL;
    const char* path = argc > 2 ? argv[2] : "scenes/pendulum.json";
    if (mabd_scene_create(NULL, &scene) != MABD_OK) return 1;
    if (mabd_scene_load(scene, path, 0, NULL, &error) != MABD_OK) return fail();
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail();
    const mabd_sim_def def = mabd_default_sim_def();
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail();
    const mabd_record_def record = {.scene_text = mabd_scene_text(scene), .command = "record"};
    if (mabd_recorder_create(argv[1], sim, &record, &recorder, &error) != MABD_OK) return fail();
    for (int step = 0; step < 60; step++) {
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) return fail();
        if (mabd_recorder_append(recorder, sim, &error) != MABD_OK) return fail();
    }
    if (mabd_recorder_close(recorder, &error) != MABD_OK) return fail();
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    printf("60 frames in %s\n", argv[1]);
    return 0;
}
