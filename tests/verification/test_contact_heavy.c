// SPDX-License-Identifier: Apache-2.0
// Heavy bodies on light ones: a box of up to 1000 t stands on one of 1 kg, one of 10 t also on two,
// and sinks in by less than a hundredth of the light one, at steps of 10 and 1 ms; where one does
// not, a warning names the pair.

#include "support/rig.h"

#include <string.h>

#define SIDE 0.1

// A heavy box on `light` boxes of 1 kg that stand on each other.
static mabd_model* tower(double ratio, int light) {
    mabd_error error = {0};
    const mabd_real size[3] = {SIDE, SIDE, SIDE};
    mabd_scene* scene = rig_scene(-9.81);
    mabd_contact_def contact = mabd_default_contact_def();
    contact.enabled = true;
    rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    const mabd_geom ground = mabd_geom_make(MABD_SHAPE_PLANE, NULL, 0),
                    box = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.motion = MABD_MOTION_FIXED, body.geom_count = 1, body.geoms = &ground;
    rig_add_body(scene, &body);
    body.motion = MABD_MOTION_DYNAMIC, body.geoms = &box;
    for (int i = 0; i <= light; i++) {
        body.mass = i < light ? 1 : ratio;
        body.position[2] = SIDE * (i + 0.5);
        rig_add_body(scene, &body);
    }
    return rig_model(scene);
}

static void stand(double ratio, int light, double h) {
    mabd_model* model = tower(ratio, light);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double deepest = 0, most = 0;
    mabd_real x[3 * 4];
    while (mabd_sim_time(sim) < 1 - h / 2) {
        deepest = fmax(deepest, rig_step(sim).penetration);
        most = fmax(most, mabd_sim_measure(sim).energy - start);
    }
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    const double sunk = SIDE * (light + 0.5) - x[3 * (light + 1) + 2];
    printf("%g : 1 on %d, h %g ms: sunk %.2e m, deepest overlap %.2e m, energy at most %+.1e J\n",
           ratio, light, 1e3 * h, sunk, deepest, most);
    cr_expect(lt(dbl, fabs(sunk), 0.01 * SIDE));
    cr_expect(lt(dbl, deepest, 0.01 * SIDE));
    if (ratio < 1e5) cr_expect(lt(dbl, most, 1e-9 * start));
    cr_expect(eq(i32, mabd_sim_warnings(sim, 0, NULL), 0));
    rig_destroy(sim, model);
}

Test(contact_heavy, heavy_bodies_stand_on_light_ones) {
    static const double ratios[] = {100, 1e4, 1e6};
    for (int k = 0; k < 3; k++) {
        stand(ratios[k], 1, 0.01);
        stand(ratios[k], 1, 0.001);
        if (k < 2) stand(ratios[k], 2, 0.01);
    }
}

Test(contact_heavy, what_sinks_in_is_a_warning_with_the_pair) {
    mabd_model* model = tower(1e6, 2);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    double deepest = 0;
    mabd_warning warning = {0};
    for (int i = 0; i < 100 && mabd_sim_warnings(sim, 1, &warning) == 0; i++) {
        deepest = fmax(deepest, rig_step(sim).penetration);
    }
    printf("step %d: %s\n", (int)warning.step, warning.text);
    cr_assert(eq(i32, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect(lt(dbl, 0.01 * SIDE, deepest));
    cr_expect(warning.body == 1 || warning.body == 2);
    cr_expect(strstr(warning.text, "carries body 3, 1e+06 times its mass") != NULL, "%s",
              warning.text);
    rig_destroy(sim, model);
}
