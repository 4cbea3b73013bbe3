// SPDX-License-Identifier: Apache-2.0
// Read the forces of contacts: three boxes on a plane. At rest the plane carries their weight.
#include <mabd/mabd.h>

#include <stdio.h>

enum { BOXES = 3 };

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

static const char text[] =
    "{\"contact\": {\"enabled\": true},"
    " \"bodies\": [{\"name\": \"ground\", \"fixed\": true, \"shape\": \"plane\"},"
    "  {\"name\": \"low\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.1], \"position\": [0, 0, "
    "0.05], \"mass\": 2},"
    "  {\"name\": \"mid\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.1], \"position\": [0, 0, "
    "0.15], \"mass\": 2},"
    "  {\"name\": \"top\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.1], \"position\": [0, 0, "
    "0.25], \"mass\": 2}]}";

int main(void) {
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    if (mabd_scene_create(NULL, &scene) != MABD_OK) return 1;
    if (mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error) != MABD_OK)
        return fail();
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail();
    const mabd_sim_def def = mabd_default_sim_def();
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail();
    for (int step = 0; step < 100; step++) {
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) return fail();
    }

    mabd_contact_info contacts[64];
    const int count = mabd_sim_get_contacts(sim, 64, contacts);
    mabd_real on_ground = 0;
    for (int i = 0; i < count && i < 64; i++) {
        if (contacts[i].a == 0) on_ground += contacts[i].force[2]; // body 0 is the ground
    }
    printf("%d contact points; the ground carries %.3f N, the boxes weigh %.3f N\n", count,
           on_ground, BOXES * 2 * 9.81);

    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return 0;
}
