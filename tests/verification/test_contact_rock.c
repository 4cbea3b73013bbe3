// SPDX-License-Identifier: Apache-2.0
// A rod laid across a fixed cylinder rocks. Rotated by phi it has rolled by R phi along its
// underside, which is r below its axis, R the radius of the cylinder:
//
//       \___
//   ____/\  \___      height of its centre   y = (R + r) cos(phi) + R phi sin(phi)
//      (   )          y'' = R - r at phi = 0; inertia about the point of contact m r^2 + I
//
//   (I + m r^2) phi'' = -m g (R - r) phi
//
// For R > r it returns, with a period that a contact represented by a fixed plane cannot reproduce.

#include "support/contact_rig.h"

#define PI     3.14159265358979323846
#define LENGTH 0.3
#define RADIUS 0.01
#define ROUND  0.1 // radius of the cylinder

typedef struct rocker {
    mabd_model* model;
    mabd_sim* sim;
    int32_t rod;
} rocker;

// The cylinder lies along y, the rod along x, rotated by `tilt` and rolled accordingly. A force
// that rises to `press` in 0.2 s acts at its centre, downwards [N].
static rocker rocker_make(double tilt, double press, double h) {
    rocker k;
    mabd_real along_y[4], along_x[4], turn[4];
    contact_turn(1, 0, 0, PI / 2, along_y);
    contact_turn(0, 1, 0, PI / 2, along_x);
    contact_turn(0, 1, 0, tilt, turn);
    contact_body round = {.shape = MABD_SHAPE_CYLINDER, .size = {ROUND, 0.2}, .friction = 2};
    contact_body rod = {
        .shape = MABD_SHAPE_CAPSULE, .size = {RADIUS, LENGTH}, .mass = 0.2, .friction = 2};
    for (int i = 0; i < 4; i++) round.rotation[i] = along_y[i];
    contact_product(turn, along_x, rod.rotation);
    rod.position[0] = (ROUND + RADIUS) * sin(tilt) - ROUND * tilt * cos(tilt);
    rod.position[2] = (ROUND + RADIUS) * cos(tilt) + ROUND * tilt * sin(tilt);
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    k.rod = contact_add(scene, &rod);
    contact_add(scene, &round);
    const mabd_force_def force = {
        .body = k.rod,
        .force = {0, 0, -1},
        .signal = {.kind = MABD_SIGNAL_RAMP, .end = 0.2, .value_end = press}};
    mabd_error error = {0};
    if (press > 0) rig_check(mabd_scene_add_force(scene, &force, &error), &error, "force");
    k.model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    k.sim = rig_sim(k.model, &def);
    return k;
}

static double tilt_of(const rocker* k) {
    mabd_real q[8], end[3];
    const mabd_real z[3] = {0, 0, 1};
    mabd_sim_get_state(k->sim, NULL, q, NULL, NULL);
    contact_rotate(q + 4 * k->rod, z, end);
    return -end[2];
}

// Return the time of half a period, from one passage through level to the next, by linear
// interpolation.
static double half_period(rocker* k) {
    double before = tilt_of(k), first = -1;
    const double h = 0.002;
    for (int i = 1; i < 2000; i++) {
        contact_step(k->sim);
        const double now = tilt_of(k);
        if (before * now < 0) {
            const double at = (i - now / (now - before)) * h;
            if (first >= 0) return at - first;
            first = at;
        }
        before = now;
    }
    return INFINITY;
}

Test(contact_rock, a_rod_across_a_cylinder_rocks_in_time) {
    rocker k = rocker_make(0.05, 0, 0.002);
    const mabd_mass mass = mabd_model_body_mass(k.model, k.rod);
    const double m = (double)mass.mass,
                 turning = fmax((double)mass.principal[0], (double)mass.principal[2]);
    const double rate =
        sqrt(m * CONTACT_GRAVITY * (ROUND - RADIUS) / (turning + m * RADIUS * RADIUS));
    const double expected = PI / rate, found = half_period(&k);
    printf("half a period %.4f s, expected %.4f s\n", found, expected);
    cr_expect(lt(dbl, fabs(found / expected - 1), 0.01));
    rig_destroy(k.sim, k.model);
}

// Pressed down by F instead of its weight it rocks with sqrt(F (R - r)/(I + m r^2)), here 3.5 rad
// per step: each solve must predict the motion of the contact point, or the next one undoes it.
Test(contact_rock, pressed_hard_it_stays_on_with_large_steps) {
    rocker k = rocker_make(0.1, 2000, 0.01);
    contact_watch watch = contact_watch_start(k.sim);
    int iterations = 0;
    for (int i = 0; i < 100; i++) {
        iterations += contact_watch_step(&watch, k.sim).iterations;
        cr_assert(lt(dbl, fabs(tilt_of(&k)), 0.12), "step %d", i);
    }
    printf("pressed: %.2f solves a step, tilt %.1e at the end\n", iterations / 100.0, tilt_of(&k));
    cr_expect(lt(int, iterations, 300));
    cr_expect(lt(dbl, fabs(tilt_of(&k)), 1e-3));
    cr_expect(eq(int, watch.unconverged, 0));
    cr_expect(eq(int, watch.retries, 0));
    rig_destroy(k.sim, k.model);
}
