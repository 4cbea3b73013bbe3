// SPDX-License-Identifier: Apache-2.0
// Bodies that whirl about a pivot (affine/element/orbit.h), at 10 ms without gravity.
//
// Closed forms: a rod on a ball joint at its end, started as a rigid body about it, whirls at a
// constant rate w, and the joint carries m w^2 l/2. A chain that starts as a rigid body about its
// pivot stays straight and keeps its rate. Without the correction BDF2 damps the paths of the
// centres. A chain that hangs on nothing has no correction and keeps its momentum.

#include "support/rig.h"

#include <string.h>

#define LENGTH 1.0
#define WIDTH  0.05

// A straight chain of rods from a pivot at the origin, whirling about z.
static mabd_model* whirling(int links, double rate, bool pinned) {
    mabd_scene* scene = rig_scene(0);
    const double length = LENGTH / links;
    int32_t last = MABD_WORLD;
    for (int i = 0; i < links; i++) {
        const mabd_real size[3] = {(mabd_real)length, WIDTH / 2, WIDTH / 2};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)((i + 0.5) * length);
        body.velocity[1] = (mabd_real)(rate * (i + 0.5) * length);
        body.angular_velocity[2] = (mabd_real)rate;
        const int32_t id = rig_add_body(scene, &body);
        if (i > 0 || pinned) {
            rig_add_joint(scene, MABD_JOINT_BALL, last, id, (mabd_real)(i * length), 0);
        }
        last = id;
    }
    return rig_model(scene);
}

// Rate left after a time, as a part of that at the start, from the kinetic energy.
static double rate_left(const mabd_model* model, bool orbit, double seconds, double* above) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.affine.orbit = orbit;
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).kinetic;
    double now = start, most = 0;
    for (int i = 0; i < (int)lround(seconds / 0.01); i++) {
        rig_step(sim);
        now = mabd_sim_measure(sim).kinetic;
        most = fmax(most, now / start - 1);
    }
    mabd_sim_destroy(sim);
    if (above) *above = most;
    return sqrt(now / start);
}

Test(orbit, a_whirling_rod_keeps_its_rate) {
    const double rates[2] = {10, 30}, least[2] = {0.9999, 0.998};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = whirling(1, rates[i], true);
        double above;
        const double with = rate_left(model, true, 10, &above);
        const double without = rate_left(model, false, 10, NULL);
        printf("rod at %g rad/s, 10 s: %.5f of its rate left, without correction %.3f; first steps "
               "%.1e of the energy above the start\n",
               rates[i], with, without, above);
        cr_expect(with > least[i] && with < 1, "%g rad/s: %g", rates[i], with);
        cr_expect(without < with, "%g rad/s: %g without", rates[i], without);
        cr_expect(above < 1e-4, "%g rad/s: %g above the start", rates[i], above);
        mabd_model_destroy(model);
    }
}

// The loss is that of the first steps, before the accelerations are known: from one second on the
// rate is constant.
Test(orbit, a_whirling_rod_loses_its_rate_in_the_first_steps_only) {
    mabd_model* model = whirling(1, 30, true);
    const double one = rate_left(model, true, 1, NULL), ten = rate_left(model, true, 10, NULL);
    cr_expect(fabs(ten / one - 1) < 1e-3, "%g after 1 s, %g after 10 s", one, ten);
    mabd_model_destroy(model);
}

// SDIRK2 over the whole first step left up to 28 % too much energy.
Test(orbit, the_first_steps_gain_no_energy) {
    for (int links = 1; links <= 8; links++) {
        for (int rate = 10; rate <= 100; rate += 30) {
            mabd_model* model = whirling(links, rate, true);
            double above;
            rate_left(model, true, 0.2, &above);
            cr_expect(above < 1e-4, "%d links at %d rad/s: %g", links, rate, above);
            mabd_model_destroy(model);
        }
    }
}

Test(orbit, the_pivot_carries_the_centripetal_force) {
    mabd_model* model = whirling(1, 30, true);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real wrench[6], w[3];
    rig_run(sim, 300);
    mabd_sim_get_joint_forces(sim, wrench);
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    const double mass = 1000 * LENGTH * WIDTH * WIDTH / 4;
    const double expected = mass * w[2] * w[2] * LENGTH / 2;
    const double force = sqrt(wrench[0] * wrench[0] + wrench[1] * wrench[1]);
    printf("pivot: %.4f of %.4f N\n", force, expected);
    cr_expect(fabs(force / expected - 1) < 1e-4, "%g of %g N", force, expected);
    rig_destroy(sim, model);
}

Test(orbit, a_whirling_chain_keeps_its_rate) {
    mabd_model* model = whirling(10, 20, true);
    const double with = rate_left(model, true, 10, NULL);
    const double without = rate_left(model, false, 10, NULL);
    printf("chain of 10 at 20 rad/s, 10 s: %.5f of its rate left, without correction %.3f\n", with,
           without);
    cr_expect(with > 0.999 && with < 1, "%g", with);
    cr_expect(without < 0.9, "%g", without);
    mabd_model_destroy(model);
}

Test(orbit, a_floating_chain_keeps_its_momentum) {
    mabd_model* model = whirling(10, 8, false);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double linear = 0, angular = 0;
    for (int i = 0; i < 1000; i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        linear = fmax(linear, rig_distance(now.linear_momentum, start.linear_momentum));
        angular = fmax(angular, rig_distance(now.angular_momentum, start.angular_momentum));
    }
    linear /= rig_norm(start.linear_momentum), angular /= rig_norm(start.angular_momentum);
    printf("floating chain of 10, 10 s: momentum changes by %.1e, angular momentum by %.1e\n",
           linear, angular);
    cr_expect(linear < 1e-10, "%g", linear);
    cr_expect(angular < 1e-2, "%g", angular);
    rig_destroy(sim, model);
}

// A state that is saved before the first step, or set, starts as the model does.
Test(orbit, a_restored_and_a_set_start_are_divided_too) {
    mabd_model* model = whirling(2, 20, true);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def);
    mabd_real x[3][6], q[8], v[6], w[6];
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    cr_assert(state != NULL);
    mabd_sim_save(sim, state);
    mabd_sim_get_state(sim, x[0], q, v, w);
    for (int i = 0; i < 3; i++) {
        if (i == 1) cr_assert(mabd_sim_restore(other, state, size, NULL) == MABD_OK);
        if (i == 2) cr_assert(mabd_sim_set_state(other, x[0], q, v, w, NULL) == MABD_OK);
        mabd_sim* run = i == 0 ? sim : other;
        rig_run(run, 1);
        mabd_real after[6];
        mabd_sim_get_state(run, after, NULL, NULL, NULL);
        if (i == 0) memcpy(x[1], after, sizeof after);
        for (int k = 0; k < 6; k++) {
            cr_expect(fabs(after[k] - x[1][k]) < (i == 2 ? 1e-13 : 1e-300), "%d: %g", i,
                      after[k] - x[1][k]);
        }
    }
    free(state);
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

// The switch changes the motion, the number of threads does not.
Test(orbit, off_is_the_step_without_correction) {
    mabd_model* model = whirling(3, 5, true);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_real with[2][9], without[9];
    for (int i = 0; i < 3; i++) {
        def.affine.orbit = i < 2, def.threads = 1 + i;
        mabd_sim* sim = rig_sim(model, &def);
        rig_run(sim, 50);
        mabd_sim_get_state(sim, i < 2 ? with[i] : without, NULL, NULL, NULL);
        mabd_sim_destroy(sim);
    }
    cr_expect(memcmp(with[0], with[1], sizeof without) == 0, "threads");
    cr_expect(memcmp(with[0], without, sizeof without) != 0, "the switch changes nothing");
    mabd_model_destroy(model);
}
