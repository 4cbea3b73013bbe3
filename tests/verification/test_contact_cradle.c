// SPDX-License-Identifier: Apache-2.0
// Impacts that pass on: rows of equal elastic balls, touching or with gaps. As many leave as come
// in, with their speed; momentum stays to round-off and the energy is never above that of the
// start. Unequal balls in a row pass on impacts one after the other: speeds of the textbook.

#include "support/rig.h"

#define BALLS 5

// `in` of five balls of 0.1 m come with 1 m/s, gaps between them and the others of `gap`.
static mabd_model* row(int in, double gap, const double* masses, double e) {
    mabd_error error = {0};
    const mabd_real size[3] = {0.1, 0, 0};
    mabd_scene* scene = rig_scene(0);
    mabd_contact_def contact = mabd_default_contact_def();
    contact.enabled = true;
    rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    for (int i = 0; i < BALLS; i++) {
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
        mabd_body_def body = mabd_default_body_def();
        geom.restitution = e;
        body.geom_count = 1, body.geoms = &geom;
        body.mass = masses ? masses[i] : 1;
        body.young = 1e13; // vibrations take the part 1/(omega h)^2 of the energy
        body.position[0] = i < in ? 0.2 * i - 0.053 : 0.2 * i + gap * (i - in);
        body.velocity[0] = i < in ? 1 : 0;
        rig_add_body(scene, &body);
    }
    return rig_model(scene);
}

// Run to 0.2 s; v (BALLS) gets the speeds.
static void run(const mabd_model* model, double h, double* v) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double most = 0, momentum = 0;
    while (mabd_sim_time(sim) < 0.2 - h / 2) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        most = fmax(most, now.energy - start.energy);
        momentum = fmax(momentum, rig_distance(now.linear_momentum, start.linear_momentum));
    }
    mabd_real speeds[3 * BALLS];
    mabd_sim_get_state(sim, NULL, NULL, speeds, NULL);
    printf("h %4g ms:", 1e3 * h);
    for (int i = 0; i < BALLS; i++) printf(" %10.7f", v[i] = speeds[3 * i]);
    printf(" m/s; energy %+.1e J, at most %+.1e, momentum %.1e\n",
           (double)(mabd_sim_measure(sim).energy - start.energy), most, momentum);
    cr_expect(lt(dbl, most, 1e-12 * start.energy));
    cr_expect(lt(dbl, momentum, 1e-11 * rig_norm(start.linear_momentum)));
    mabd_sim_destroy(sim);
}

static void pass_through(int in, double gap) {
    static const double steps[] = {1e-2, 1e-3, 2e-4};
    for (int k = 0; k < 3; k++) {
        mabd_model* model = row(in, gap, NULL, 1);
        double v[BALLS];
        run(model, steps[k], v);
        for (int i = 0; i < BALLS; i++) {
            cr_expect(lt(dbl, fabs(v[i] - (i >= BALLS - in)), 1e-3), "ball %d, h %g ms", i,
                      1e3 * steps[k]);
        }
        mabd_model_destroy(model);
    }
}

Test(contact_cradle, one_ball_in_one_out) {
    pass_through(1, 0);
}

Test(contact_cradle, two_balls_in_two_out) {
    pass_through(2, 0);
}

Test(contact_cradle, gaps_change_nothing) {
    pass_through(1, 1e-3);
    pass_through(1, 5e-3);
    pass_through(2, 1e-3);
}

// A ball of mass m that hits one of mass M at rest keeps (m - M)/(m + M) of its speed and gives it
// 2 m/(m + M). Along falling masses no ball is hit twice.
Test(contact_cradle, unequal_balls_pass_on_impacts_one_after_the_other) {
    static const double masses[BALLS] = {5, 4, 3, 2, 1}, steps[] = {1e-2, 1e-3};
    for (int k = 0; k < 2; k++) {
        mabd_model* model = row(1, 0, masses, 1);
        double v[BALLS], speed = 1;
        run(model, steps[k], v);
        for (int i = 0; i < BALLS; i++) {
            const double m = masses[i], next = i + 1 < BALLS ? masses[i + 1] : 0;
            const double left = i + 1 < BALLS ? (m - next) / (m + next) * speed : speed;
            cr_expect(lt(dbl, fabs(v[i] - left), 2e-3), "ball %d: %g of %g m/s", i, v[i], left);
            speed *= 2 * m / (m + next);
        }
        mabd_model_destroy(model);
    }
}

// The cradle of scenes/: after the first impact the last ball swings as high as the first one came
// from, and the three between them hang still.
Test(contact_cradle, a_cradle_swings_from_side_to_side) {
    mabd_model* model = rig_file_model("scenes/newtons-cradle.json", NULL, NULL);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.002);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    mabd_real x[3 * BALLS], from[3 * BALLS];
    double high = 0, most = 0, swung = 0;
    mabd_sim_get_state(sim, from, NULL, NULL, NULL);
    for (int i = 0; i < 500; i++) { // the period is 2.0 s
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        most = fmax(most, mabd_sim_measure(sim).energy - start);
        high = fmax(high, x[3 * (BALLS - 1) + 2] - from[3 * (BALLS - 1) + 2]);
        for (int k = 1; k < BALLS - 1; k++) swung = fmax(swung, fabs(x[3 * k] - from[3 * k]));
    }
    const double fall = from[2] - from[3 * (BALLS - 1) + 2];
    printf("last ball rises %.5f m of %.5f, those between move by %.2e m, energy at most %+.1e J\n",
           high, fall, swung, most);
    cr_expect(lt(dbl, fabs(high - fall), 0.03 * fall));
    cr_expect(lt(dbl, swung, 0.01));
    cr_expect(lt(dbl, most, 1e-9 * start));
    rig_destroy(sim, model);
}
