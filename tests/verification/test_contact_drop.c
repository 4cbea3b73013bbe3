// SPDX-License-Identifier: Apache-2.0
// Bodies that fall on the ground: where they come to rest, how high they rebound, and that impacts
// only dissipate energy.

#include "support/contact_rig.h"

// ---- boxes -------------------------------------------------------------------------------------

static const mabd_real edges[3] = {0.3, 0.2, 0.1};

// A box whose lowest corner is 1 m above the ground. Without restitution it comes to rest on a
// side. The energy exchanged is m g 1 m; a millionth of that is a fall by a micrometre, the
// compliance of contacts at rest.
static void drop_box(const mabd_real rotation[4], double h) {
    contact_body box = {.shape = MABD_SHAPE_BOX,
                        .size = {edges[0], edges[1], edges[2]},
                        .mass = 3,
                        .friction = 0.5};
    for (int i = 0; i < 4; i++) box.rotation[i] = rotation[i];
    const mabd_real origin[3] = {0};
    box.position[2] = 1 - contact_lowest_corner(origin, rotation, edges);
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &box);
    contact_add_ground(scene, 0.5);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    contact_watch watch = contact_watch_start(sim);
    while (mabd_sim_time(sim) < 4) contact_watch_step(&watch, sim);
    mabd_real p[6], q[8], v[6], w[6];
    mabd_sim_get_state(sim, p, q, v, w);
    const double height = contact_lowest_corner(p, q, edges);
    const double play = 3 * CONTACT_GRAVITY;
    printf(
        "box turned (%g %g %g %g), h %g ms: deepest %.2e m, at rest %.2e m, speed %.1e m/s, %.1e "
        "rad/s, energy gained %.1e, %d retries, %d steps not converged\n",
        rotation[0], rotation[1], rotation[2], rotation[3], 1e3 * h, watch.depth, height,
        rig_norm(v), rig_norm(w), watch.gained / play, watch.retries, watch.unconverged);
    cr_expect(lt(dbl, watch.depth, 1e-3));
    cr_expect(lt(dbl, fabs(height), 1e-4));
    cr_expect(lt(dbl, rig_norm(v), 1e-4));
    cr_expect(lt(dbl, rig_norm(w), 1e-3));
    cr_expect(lt(dbl, watch.gained, CONTACT_SOFTNESS * play));
    cr_expect(eq(int, watch.unconverged, 0));
    // on a side: its centre is half an edge above the ground
    double off = INFINITY;
    for (int i = 0; i < 3; i++) off = fmin(off, fabs(p[2] - edges[i] / 2));
    cr_expect(lt(dbl, off, 1e-4), "middle at %g m", (double)p[2]);
    rig_destroy(sim, model);
}

Test(contact_drop, a_level_box_comes_to_rest_on_the_ground) {
    const mabd_real level[4] = {1, 0, 0, 0};
    drop_box(level, 0.01);
    drop_box(level, 0.003);
}

Test(contact_drop, a_box_on_its_edge_comes_to_rest_on_the_ground) {
    mabd_real turned[4];
    contact_turn(0, 1, 0, 0.5, turned);
    drop_box(turned, 0.01);
    drop_box(turned, 0.003);
}

Test(contact_drop, a_box_on_its_corner_comes_to_rest_on_the_ground) {
    mabd_real turned[4];
    for (int k = 0; k < 3; k++) {
        contact_turn(0.48, 0.6, 0.64, 0.7 + 0.9 * k, turned);
        drop_box(turned, 0.01);
    }
    drop_box(turned, 0.003);
}

// ---- balls -------------------------------------------------------------------------------------
// Young's modulus of the balls is so large that an impact leaves almost nothing in their
// oscillations: these have omega = sqrt(E/rho)/R = 1e5/s, and receive at most 1/(omega h)^2 = 4e-4
// of the energy in a step of 0.5 ms.

#define BALL_RADIUS 0.1

typedef struct bounces {
    double rebound[8]; // heights of the first ones
    int count;
    double end;    // energy over the ground at the last impact but one, over the first
    double gained; // largest rise of the energy above the lowest before, over the first
    double depth;
} bounces;

static mabd_sim* drop_ball(double e, double h, mabd_model** model) {
    const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                               .size = {BALL_RADIUS},
                               .mass = 2,
                               .young = 1e11,
                               .friction = 0.5,
                               .restitution = e,
                               .position = {0, 0, 1 + BALL_RADIUS}};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &ball);
    contact_add_ground(scene, 0.5);
    *model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    return rig_sim(*model, &def);
}

static bounces bounce(double e, double h, double duration) {
    bounces b = {0};
    mabd_model* model;
    mabd_sim* sim = drop_ball(e, h, &model);
    contact_watch watch = contact_watch_start(sim);
    const double play = 2 * CONTACT_GRAVITY, bottom = play * BALL_RADIUS;
    double before = 1, highest = 0;
    bool up = false;
    while (mabd_sim_time(sim) < duration) {
        contact_watch_step(&watch, sim);
        mabd_real p[6], v[6];
        mabd_sim_get_state(sim, p, NULL, v, NULL);
        const double z = p[2] - BALL_RADIUS;
        if (v[2] > 0) up = true, highest = fmax(highest, z);
        if (up && v[2] <= 0 && b.count < 8) b.rebound[b.count++] = fmax(highest, z);
        if (v[2] <= 0) up = false, highest = 0;
        before = (mabd_sim_measure(sim).energy - bottom) / play;
    }
    b.end = before;
    b.gained = watch.gained / play;
    b.depth = watch.depth;
    cr_expect(eq(int, watch.unconverged, 0));
    rig_destroy(sim, model);
    return b;
}

// Rows hold at the ends of steps, so an impact is up to h late or early: its speed v = sqrt(2 g h0)
// is off by g h at most, the height by 2 g h/v = 0.9 % at h = 2 ms from 1 m. Without restitution
// the ball must not leave the ground by more than the compliance of contacts.
Test(contact_drop, a_ball_rebounds_to_the_square_of_its_restitution) {
    const double restitution[] = {1, 0.8, 0.5, 0};
    for (int k = 0; k < 4; k++) {
        const double e = restitution[k], h = 0.002;
        const bounces b = bounce(e, h, 1.5);
        printf("restitution %g: %d rebounds, the first %.6g of %.6g m, energy gained %.1e, deepest "
               "%.2e m\n",
               e, b.count, b.rebound[0], e * e, b.gained, b.depth);
        cr_expect(lt(dbl, fabs(b.rebound[0] - e * e), e > 0 ? 0.02 * e * e : 1e-4));
        cr_expect(lt(dbl, b.gained, 1e-6));
        cr_expect(lt(dbl, b.depth, 1e-3));
    }
}

Test(contact_drop, a_ball_with_restitution_0_stays_on_the_ground) {
    mabd_model* model;
    mabd_sim* sim = drop_ball(0, 0.01, &model);
    while (mabd_sim_time(sim) < 3) {
        contact_step(sim);
        mabd_real p[6];
        mabd_sim_get_state(sim, p, NULL, NULL, NULL);
        if (mabd_sim_time(sim) < sqrt(2 / CONTACT_GRAVITY) + 0.02) continue;
        cr_assert(lt(dbl, fabs(p[2] - BALL_RADIUS), 1e-4), "t = %g", mabd_sim_time(sim));
    }
    rig_destroy(sim, model);
}

// Impacts with restitution 1 lose no energy except through the time of the impact: at h = 0.5 ms
// the error is 0.2 % each way, alternating in sign. At any step size, none gains energy.
Test(contact_drop, a_ball_with_restitution_1_keeps_its_energy) {
    const bounces b = bounce(1, 0.0005, 4.4);
    printf("restitution 1: %d rebounds, energy at the end %.6g, gained %.1e\n", b.count, b.end,
           b.gained);
    cr_expect(ge(int, b.count, 4));
    cr_expect(lt(dbl, fabs(b.end - 1), 0.01));
    const double steps[] = {0.0005, 0.002, 0.01, 1 / 30.};
    for (int k = 0; k < 4; k++) {
        const bounces other = bounce(1, steps[k], 3);
        printf("h %g ms: rebounds %.4f %.4f %.4f m, energy gained %.1e\n", 1e3 * steps[k],
               other.rebound[0], other.rebound[1], other.rebound[2], other.gained);
        cr_expect(lt(dbl, other.gained, 1e-6));
    }
}
