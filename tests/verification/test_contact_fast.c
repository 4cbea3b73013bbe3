// SPDX-License-Identifier: Apache-2.0
// Bodies that move by many times their thickness in a step do not pass through others, and bodies
// that overlap at the start separate slowly.

#include "support/contact_rig.h"

#include <string.h>

// ---- walls -------------------------------------------------------------------------------------
// A capsule 1 cm thick at 20 m/s moves 20 cm in a step of 10 ms. Shots start at distances that
// differ by a ninth of that, so in some of them the whole wall lies between the ends of a step.

#define SHOT_RADIUS 0.005
#define SHOT_LENGTH 0.08
#define SHOTS       9

typedef struct shot_case {
    mabd_real rotation[4]; // rotation of the capsule, from along z
    double start;          // x of its centre
    double aside;          // y of its centre
} shot_case;

static contact_body shot_body(const shot_case* c) {
    contact_body shot = {.shape = MABD_SHAPE_CAPSULE,
                         .size = {SHOT_RADIUS, SHOT_LENGTH},
                         .mass = 0.01,
                         .friction = 0.5,
                         .position = {c->start, c->aside, 0},
                         .velocity = {20, 0, 0}};
    memcpy(shot.rotation, c->rotation, sizeof shot.rotation);
    return shot;
}

/// Make shot k, with three orientations: across, with its end first, and oblique.
static shot_case shot_make(int k) {
    shot_case c = {.rotation = {1, 0, 0, 0}, .start = -0.5 - 0.2 * (k / 3) / SHOTS};
    if (k % 3 == 1) contact_turn(0, 1, 0, 1.5707963267948966, c.rotation);
    if (k % 3 == 2) contact_turn(0.6, 0.8, 0, 0.7, c.rotation);
    return c;
}

/// Return the largest x of the axis of the capsule.
static double shot_front(const mabd_sim* sim, int32_t body) {
    mabd_real p[9], q[12], w[3];
    const mabd_real half[3] = {0, 0, SHOT_LENGTH / 2};
    mabd_sim_get_state(sim, p, q, NULL, NULL);
    contact_rotate(q + 4 * body, half, w);
    return p[3 * body] + fabs(w[0]);
}

/// Shoot at a fixed body with its side at x = 0: no capsule reaches the other side, no axis passes
/// that side, and overlaps are below half its radius.
static void check_shots(const contact_body* target) {
    double deepest = 0, front = -INFINITY, gained = 0;
    int inside = 0, through = 0;
    for (int k = 0; k < 3 * SHOTS; k++) {
        const shot_case c = shot_make(k);
        const contact_body shot = shot_body(&c);
        mabd_scene* scene = contact_scene(0);
        contact_add(scene, &shot);
        contact_add(scene, target);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        contact_watch watch = contact_watch_start(sim);
        double farthest = -INFINITY;
        for (int i = 0; i < 40; i++) {
            contact_watch_step(&watch, sim);
            farthest = fmax(farthest, shot_front(sim, 0));
        }
        front = fmax(front, farthest);
        inside += farthest > 0;
        through += shot_front(sim, 0) > 0;
        deepest = fmax(deepest, watch.depth);
        gained = fmax(gained, watch.gained / 2); // of 2 J
        rig_destroy(sim, model);
    }
    printf(
        "%d shots: front at %.5f m at most, %d inside, %d through, deepest %.2e m, energy gained "
        "%.1e\n",
        3 * SHOTS, front, inside, through, deepest, gained);
    cr_expect(eq(int, through, 0));
    cr_expect(eq(int, inside, 0));
    cr_expect(lt(dbl, deepest, SHOT_RADIUS / 2));
    cr_expect(lt(dbl, gained, CONTACT_SOFTNESS));
}

Test(contact_fast, a_capsule_does_not_pass_a_thin_wall) {
    const contact_body wall = {
        .shape = MABD_SHAPE_BOX, .size = {0.01, 2, 2}, .friction = 0.5, .position = {0.005, 0, 0}};
    check_shots(&wall);
}

Test(contact_fast, a_capsule_does_not_pass_a_plane) {
    contact_body wall = {.shape = MABD_SHAPE_PLANE, .friction = 0.5};
    contact_turn(0, 1, 0, -1.5707963267948966, wall.rotation); // z -> -x
    check_shots(&wall);
}

// Round bodies deflect shots, so only shots at the middle of a long cylinder stay in front of it.
Test(contact_fast, a_capsule_does_not_pass_a_cylinder) {
    const double radius[] = {0.3, 0.05};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < SHOTS; k++) {
            const shot_case c = {.rotation = {0.70710678118654757, 0.70710678118654757, 0, 0},
                                 .start = -0.6 - 0.2 * k / SHOTS};
            const contact_body shot = shot_body(&c); // along y, across the cylinder
            const contact_body cylinder = {
                .shape = MABD_SHAPE_CYLINDER, .size = {radius[i], 1}, .friction = 0.5};
            mabd_scene* scene = contact_scene(0);
            contact_add(scene, &shot);
            contact_add(scene, &cylinder);
            mabd_model* model = rig_model(scene);
            const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
            mabd_sim* sim = rig_sim(model, &def);
            contact_watch watch = contact_watch_start(sim);
            for (int step = 0; step < 40; step++) {
                contact_watch_step(&watch, sim);
                mabd_real p[6];
                mabd_sim_get_state(sim, p, NULL, NULL, NULL);
                cr_assert(lt(dbl, p[0], -radius[i]), "radius %g, shot %d, step %d", radius[i], k,
                          step);
            }
            cr_expect(lt(dbl, watch.depth, SHOT_RADIUS / 2));
            rig_destroy(sim, model);
        }
    }
}

// ---- a chain -----------------------------------------------------------------------------------
// A capsule along z hits the middle of a chain of links 2 cm thick along y, attached at both ends.
// A link and the capsule cross: the capsule may drag the chain along, but stays on its side.

#define LINKS 11

static mabd_model* chain_model(double start, double aside) {
    mabd_error error = {0};
    mabd_scene* scene = contact_scene(0);
    int32_t last = MABD_WORLD;
    for (int i = 0; i <= LINKS; i++) {
        const double y = 0.1 * (i - LINKS / 2.0);
        int32_t body = MABD_WORLD;
        if (i < LINKS) {
            contact_body link = {.shape = MABD_SHAPE_CAPSULE,
                                 .size = {0.01, 0.1},
                                 .mass = 0.05,
                                 .young = 1e9, // the taut chain gives way by its stretch
                                 .friction = 0.5,
                                 .position = {0, y + 0.05, 0}};
            contact_turn(1, 0, 0, 1.5707963267948966, link.rotation);
            body = contact_add(scene, &link);
        }
        mabd_joint_def joint = mabd_default_joint_def();
        joint.a = last, joint.b = body;
        if (body == MABD_WORLD) joint.a = MABD_WORLD, joint.b = last;
        joint.anchor[1] = y;
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
        last = body;
    }
    const shot_case c = {.rotation = {1, 0, 0, 0}, .start = start, .aside = aside};
    contact_body shot = shot_body(&c);
    shot.young = 1e9;
    contact_add(scene, &shot);
    return rig_model(scene);
}

Test(contact_fast, a_capsule_does_not_pass_a_chain) {
    double deepest = 0, closest = INFINITY, gained = 0;
    int through = 0;
    for (int k = 0; k < SHOTS; k++) {
        mabd_model* model = chain_model(-0.5 - 0.2 * k / SHOTS, 0.02 * (k % 3));
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        contact_watch watch = contact_watch_start(sim);
        double least = INFINITY;
        for (int i = 0; i < 50; i++) {
            contact_watch_step(&watch, sim);
            mabd_real p[3 * (LINKS + 1)];
            mabd_sim_get_state(sim, p, NULL, NULL, NULL);
            // the two links next to it in y: the chain between their centres
            const mabd_real* shot = p + 3 * LINKS;
            for (int j = 0; j + 1 < LINKS; j++) {
                const mabd_real *a = p + 3 * j, *b = a + 3;
                if (shot[1] < a[1] || shot[1] >= b[1]) continue;
                const double t = (shot[1] - a[1]) / (b[1] - a[1]);
                const double gap = a[0] + t * (b[0] - a[0]) - shot[0];
                least = fmin(least, gap);
            }
        }
        closest = fmin(closest, least);
        through += least < 0;
        deepest = fmax(deepest, watch.depth);
        gained = fmax(gained, watch.gained / 2);
        cr_expect(lt(dbl, watch.gap, 1e-7));
        rig_destroy(sim, model);
    }
    printf("chain: %d of %d through; capsule %.4f m before it at least, deepest %.2e m, energy "
           "gained %.1e\n",
           through, SHOTS, closest, deepest, gained);
    cr_expect(eq(int, through, 0));
    cr_expect(lt(dbl, deepest, 0.005)); // half the radius of a link
    // relative to the impact energy: waves in the links, by BDF2
    cr_expect(lt(dbl, gained, 0.005));
}

// ---- overlaps at the start ---------------------------------------------------------------------

/// Two distant pairs that overlap, the second one deeper. Depths are computed by hand.
typedef struct overlap_case {
    const char* what;
    contact_body a, b;
    double depth;
} overlap_case;

static const overlap_case overlaps[] = {
    {"balls",
     {.shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 2, .friction = 0.5},
     {.shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 2, .position = {0.19, 0, 0}},
     0.01},
    {"boxes",
     {.shape = MABD_SHAPE_BOX, .size = {0.2, 0.3, 0.3}, .mass = 2, .friction = 0.5},
     {.shape = MABD_SHAPE_BOX, .size = {0.2, 0.2, 0.2}, .mass = 3, .position = {0.188, 0, 0}},
     0.012},
    {"crossed capsules",
     {.shape = MABD_SHAPE_CAPSULE, .size = {0.02, 0.2}, .mass = 1, .friction = 0.5},
     {.shape = MABD_SHAPE_CAPSULE,
      .size = {0.03, 0.2},
      .mass = 1,
      .position = {0.04, 0, 0},
      .rotation = {0.70710678118654757, 0.70710678118654757, 0, 0}},
     0.01},
    {"ball in a fixed box",
     {.shape = MABD_SHAPE_BOX, .size = {0.2, 1, 1}, .friction = 0.5},
     {.shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1, .position = {0.185, 0, 0}},
     0.015},
};

Test(contact_fast, overlaps_at_the_start_are_reported_and_come_apart_slowly) {
    for (size_t k = 0; k < sizeof overlaps / sizeof *overlaps; k++) {
        const overlap_case* c = &overlaps[k];
        const contact_body left = {
            .shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1, .position = {0, 5, 0}};
        const contact_body right = {
            .shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1, .position = {0.196, 5, 0}};
        mabd_scene* scene = contact_scene(0);
        contact_add(scene, &left);
        contact_add(scene, &right);
        contact_add(scene, &c->a);
        contact_add(scene, &c->b);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real depth;
        int32_t a, b;
        cr_assert(eq(int, mabd_sim_overlap(sim, &depth, &a, &b), MABD_OK));
        cr_expect(lt(dbl, fabs(depth - c->depth), 1e-9), "%s: %g m", c->what, (double)depth);
        cr_expect(eq(int, a < b ? a : b, 2), "%s", c->what);
        cr_expect(eq(int, a < b ? b : a, 3), "%s", c->what);
        double fastest = 0, spin = 0;
        for (int i = 0; i < 200; i++) {
            rig_step(sim);
            mabd_real v[12], w[12];
            mabd_sim_get_state(sim, NULL, NULL, v, w);
            for (int j = 0; j < 4; j++) fastest = fmax(fastest, rig_norm(v + 3 * j));
            for (int j = 0; j < 4; j++) spin = fmax(spin, rig_norm(w + 3 * j));
        }
        const double left_over = contact_depth(sim);
        printf("%s: overlap %.4g m, then %.2e m; speed at most %.4f m/s, %.1e rad/s\n", c->what,
               (double)depth, left_over, fastest, spin);
        cr_expect(lt(dbl, fastest, 0.1), "%s", c->what);
        cr_expect(lt(dbl, left_over, 1e-6), "%s", c->what);
        rig_destroy(sim, model);
    }
}

// A box 1 cm deep in the ground rises and rests.
Test(contact_fast, a_box_in_the_ground_rises_and_rests) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    const contact_body box = {.shape = MABD_SHAPE_BOX,
                              .size = {0.2, 0.2, 0.2},
                              .mass = 5,
                              .friction = 0.5,
                              .position = {0, 0, 0.09}};
    contact_add(scene, &box);
    contact_add_ground(scene, 0.5);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(lt(dbl, fabs(contact_depth(sim) - 0.01), 1e-9));
    double fastest = 0;
    mabd_real p[6], v[6];
    for (int i = 0; i < 200; i++) {
        contact_step(sim);
        mabd_sim_get_state(sim, p, NULL, v, NULL);
        fastest = fmax(fastest, rig_norm(v));
    }
    printf("box in the ground: rises with %.4f m/s at most, rests at %.2e m\n", fastest,
           p[2] - 0.1);
    cr_expect(lt(dbl, fastest, 0.1));
    cr_expect(lt(dbl, fabs(p[2] - 0.1), 1e-4));
    cr_expect(lt(dbl, rig_norm(v), 1e-4));
    rig_destroy(sim, model);
}
