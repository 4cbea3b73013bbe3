// SPDX-License-Identifier: Apache-2.0
// A rod hinged at one end is released level, through the installed headers and library. Its centre
// accelerates by 3/4 g at first, so after one step of h its velocity lies between 0 and g h,
// downwards.

#include <mabd/mabd.h>

#include <stdio.h>
#include <string.h>

static const char scene_text[] =
    "{\"bodies\": [{\"name\": \"rod\", \"shape\": \"box\", \"size\": [1, 0.04, 0.04],"
    " \"position\": [0.5, 0, 0]}],"
    " \"joints\": [{\"name\": \"pivot\", \"type\": \"ball\", \"a\": \"world\", \"b\": \"rod\","
    " \"anchor\": [0, 0, 0]}]}";

int main(void) {
    mabd_error error;
    memset(&error, 0, sizeof error);
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    const mabd_sim_def def = mabd_default_sim_def();
    mabd_status status = mabd_scene_create(NULL, &scene);
    if (status == MABD_OK)
        status = mabd_scene_load_text(scene, scene_text, strlen(scene_text), 0, NULL, &error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, &model, &error);
    if (status == MABD_OK) status = mabd_sim_create(model, &def, &sim, &error);
    if (status == MABD_OK) status = mabd_sim_step(sim, NULL, &error);
    mabd_real velocity[3] = {0, 0, 0};
    if (status == MABD_OK) mabd_sim_get_state(sim, NULL, NULL, velocity, NULL);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    const mabd_real most = (mabd_real)9.82 * def.h;
    if (status != MABD_OK || !(velocity[2] < 0) || velocity[2] < -most) {
        fprintf(stderr, "status %d, velocity %g m/s: %s\n", (int)status, (double)velocity[2],
                error.text);
        return 1;
    }
    printf("mabd %s: velocity %g m/s after one step\n", MABD_VERSION_TEXT, (double)velocity[2]);
    return 0;
}
