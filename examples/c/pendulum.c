// SPDX-License-Identifier: Apache-2.0
// A pendulum from builder calls: a rod on a hinge, released level.

#include <mabd/mabd.h>

#include <stdio.h>

static int fail(const mabd_error* error) {
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

int main(void) {
    mabd_error error = {0};
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    if (mabd_scene_create(NULL, &scene) != MABD_OK) return 1;

    const mabd_real size[3] = {1.0, 0.1, 0.1}; // a rod along x [m]
    const mabd_geom rod = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1;
    body.geoms = &rod;
    body.position[0] = 0.5; // its centre: one end is at the origin
    int32_t id = 0;
    if (mabd_scene_add_body(scene, &body, &id, &error) != MABD_OK) return fail(&error);

    mabd_joint_def pivot = mabd_default_joint_def(); // to the world, at the origin
    const mabd_real y[3] = {0, 1, 0};
    pivot.type = MABD_JOINT_HINGE; // turns about the x axis of its frame
    pivot.b = id;
    mabd_frame_from_axes(y, NULL, pivot.frame);
    if (mabd_scene_add_joint(scene, &pivot, NULL, &error) != MABD_OK) return fail(&error);

    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail(&error);
    mabd_scene_destroy(scene);

    mabd_sim_def def = mabd_default_sim_def(); // BDF2, h = 10 ms
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail(&error);
    for (int step = 0; step < 100; step++) {
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) return fail(&error);
    }
    mabd_real position[3];
    mabd_sim_get_state(sim, position, NULL, NULL, NULL);
    mabd_measure measure = mabd_sim_measure(sim);
    printf("t = %.2f s  x = %.4f m  z = %.4f m  energy = %.4f J  gap = %.1e m\n",
           mabd_sim_time(sim), position[0], position[2], measure.energy, measure.gap);

    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    return 0;
}
