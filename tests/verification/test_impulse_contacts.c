// SPDX-License-Identifier: Apache-2.0
// Contacts of the impulse formulation: friction, rebound, stacks, the law of contacts, warm start.
//
// Where [SI] taken literally is wrong, the literal form stands here in a few lines beside the right
// result, and is seen to miss it.

#include "formulation/impulse/impulse_contact.h"
#include "support/impulse_rig.h"

#define G 9.81

static int32_t add_floor(mabd_scene* scene, double friction, double restitution) {
    const mabd_real flat[3] = {0};
    mabd_geom plane = mabd_geom_make(MABD_SHAPE_PLANE, flat, 0);
    mabd_body_def floor = mabd_default_body_def();
    plane.friction = (mabd_real)friction, plane.restitution = (mabd_real)restitution;
    floor.motion = MABD_MOTION_FIXED;
    floor.geom_count = 1, floor.geoms = &plane;
    return rig_add_body(scene, &floor);
}

static void enable(mabd_scene* scene) {
    mabd_error error = {0};
    mabd_contact_def contact = mabd_default_contact_def();
    contact.enabled = true;
    rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
}

static int32_t add_box(mabd_scene* scene, double x, double z, double friction, double vx,
                       double vy) {
    const mabd_real size[3] = {(mabd_real)0.2, (mabd_real)0.2, (mabd_real)0.2};
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    geom.friction = (mabd_real)friction;
    body.geom_count = 1, body.geoms = &geom;
    body.position[0] = (mabd_real)x, body.position[2] = (mabd_real)z;
    body.velocity[0] = (mabd_real)vx, body.velocity[1] = (mabd_real)vy;
    return rig_add_body(scene, &body);
}

// ---- friction ----------------------------------------------------------------------------------

// Distance that a box slides from v0 at an angle to its sides.
static double slides(double v0, double mu, double angle, double h) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    add_floor(scene, mu, 0);
    add_box(scene, 0, 0.1, mu, v0 * cos(angle), v0 * sin(angle));
    enable(scene);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = impulse_def(h, 4, 4, 2);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[6];
    for (int i = 0; i < (int)(1.5 * v0 / (mu * G) / h); i++) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    rig_destroy(sim, model);
    return hypot(x[3], x[4]);
}

// [SI eq. 33]: two rows clamped one by one, each to mu times the weight.
static double slides_literally(double v0, double mu, double angle, double h) {
    double v[2] = {v0 * cos(angle), v0 * sin(angle)}, way = 0;
    for (int i = 0; i < 100000 && hypot(v[0], v[1]) > 0; i++) {
        for (int k = 0; k < 2; k++) v[k] -= fmax(-mu * G * h, fmin(mu * G * h, v[k]));
        way += h * hypot(v[0], v[1]);
    }
    return way;
}

Test(impulse_contacts, a_box_slides_as_far_in_every_direction) {
    const double v0 = 2, mu = 0.3, expected = v0 * v0 / (2 * mu * G), h = 0.01;
    const double turn[3] = {0, 0.392699081698724, 0.785398163397448};
    double way[3];
    for (int k = 0; k < 3; k++) way[k] = slides(v0, mu, turn[k], h);
    printf("slides %.6f, %.6f, %.6f m of %.6f; literally %.6f m at 45 degrees\n", way[0], way[1],
           way[2], expected, slides_literally(v0, mu, turn[2], h));
    for (int k = 0; k < 3; k++) {
        cr_expect(lt(dbl, fabs(way[k] - way[0]), 1e-6));
        cr_expect(lt(dbl, fabs(way[k] - expected), v0 * h / 2 + 0.01 * expected));
    }
    cr_expect(lt(dbl, slides_literally(v0, mu, turn[2], h), 0.75 * expected));
}

// ---- rebound -----------------------------------------------------------------------------------

static mabd_model* ball_model(double e) {
    const mabd_real size[3] = {(mabd_real)0.1, 0, 0};
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    geom.restitution = (mabd_real)e;
    body.geom_count = 1, body.geoms = &geom;
    body.position[2] = (mabd_real)1.1;
    add_floor(scene, 0, e);
    rig_add_body(scene, &body);
    enable(scene);
    return rig_model(scene);
}

// Height of the first rebound of a ball that falls by 1 m; *end gets its height after 5 s.
static double rebound(double e, double h, double* most, double* end) {
    mabd_model* model = ball_model(e);
    const mabd_sim_def def = impulse_def(h, 4, 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    double top = 0;
    bool up = false, again = false;
    *most = 0;
    for (int i = 0; i < (int)(5 / h); i++) {
        mabd_real x[6], v[6];
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        if (v[5] > 0) up = true;
        if (up && v[5] < 0 && top > 0.05) again = true;
        if (up && !again) top = fmax(top, x[5] - 0.1);
        if (up) *most = fmax(*most, x[5] - 0.1);
        *end = x[5] - 0.1;
    }
    rig_destroy(sim, model);
    return top;
}

// [SI eq. 40, 41]: Baumgarte's term and restitution in one row, beta = 0.2, speculative points.
static double rebound_literally(double e, double h) {
    double z = 1, v = 0, top = 0;
    for (int i = 0; i < (int)(5 / h); i++) {
        v -= G * h;
        const double bias = (z < 0 ? 0.2 / h * z : 0) + e * v;
        if (z < 0.001 && v + bias < 0) v = -bias;
        z += h * v;
        if (v > 0) top = fmax(top, z);
    }
    return top;
}

Test(impulse_contacts, a_ball_rises_to_the_square_of_its_restitution) {
    for (double e = 0.8; e <= 1; e += 0.2) {
        double error[3], most, end;
        for (int k = 0; k < 3; k++) {
            const double h = ldexp(0.01, -k), height = rebound(e, h, &most, &end);
            error[k] = fabs(height - e * e);
            printf("e %.1f, h %5.2f ms: rises to %.4f m, never above %.4f m; literally %.3f m\n", e,
                   1e3 * h, height, most, rebound_literally(e, h));
            cr_expect(lt(dbl, most, 1 + 1e-9));
        }
        // the speed of approach is known up to g h: e^2 v h of height, times where in a step the
        // ball arrives
        for (int k = 0; k < 3; k++) {
            cr_expect(lt(dbl, error[k], 1.3 * e * e * sqrt(2 * G) * ldexp(0.01, -k)));
        }
    }
    cr_expect(lt(dbl, 1.05, rebound_literally(1, 0.01)));
}

Test(impulse_contacts, a_ball_comes_to_rest) {
    double most, end;
    cr_expect(lt(dbl, rebound(0, 0.01, &most, &end), 1e-3));
    cr_expect(lt(dbl, most, 1e-3));
    rebound(0.5, 0.01, &most, &end);
    cr_expect(lt(dbl, fabs(end), 5e-4), "%g", end);
}

// ---- stacks ------------------------------------------------------------------------------------

// Stack n boxes for `time`, the floor before or after them in the scene; *sunk gets how far the top
// has come down. Returns how far a box has moved aside.
static double stand(int n, bool floor_last, const mabd_sim_def* def, double time, double* sunk) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    if (!floor_last) add_floor(scene, 0.5, 0);
    for (int k = 0; k < n; k++) add_box(scene, 0, 0.1 + 0.2 * k, 0.5, 0, 0);
    if (floor_last) add_floor(scene, 0.5, 0);
    enable(scene);
    mabd_model* model = rig_model(scene);
    mabd_sim* sim = rig_sim(model, def);
    mabd_real* x = calloc(3 * (size_t)(n + 1), sizeof *x);
    while (mabd_sim_time(sim) < time - 1e-9) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    const mabd_real* boxes = floor_last ? x : x + 3;
    double aside = 0;
    for (int k = 0; k < n; k++) aside = fmax(aside, hypot(boxes[3 * k], boxes[3 * k + 1]));
    *sunk = 0.1 + 0.2 * (n - 1) - boxes[3 * n - 1];
    free(x);
    rig_destroy(sim, model);
    return aside;
}

Test(impulse_contacts, ten_boxes_stand_for_a_minute) {
    double sunk;
    const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
    const double aside = stand(10, false, &def, 60, &sunk);
    printf("10 boxes, 60 s: %.2g m aside, top %.2g m down\n", aside, sunk);
    cr_expect(lt(dbl, aside, 0.02));
    cr_expect(lt(dbl, sunk, 0.03));
}

// The order of bodies is that of a sweep. If sweeps with errors all go one way, this stack gains
// energy from the first second on and falls after about ten.
Test(impulse_contacts, ten_boxes_stand_on_a_floor_that_comes_last) {
    double sunk;
    const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
    const double aside = stand(10, true, &def, 30, &sunk);
    printf("10 boxes on the last body, 30 s: %.2g m aside, top %.2g m down\n", aside, sunk);
    cr_expect(lt(dbl, aside, 0.02));
    cr_expect(lt(dbl, fabs(sunk), 0.03));
}

Test(impulse_contacts, forty_boxes_stand) {
    double sunk;
    const mabd_sim_def def = impulse_def(0.01, 8, 4, 4);
    const double aside = stand(40, false, &def, 10, &sunk);
    printf("40 boxes, 10 s: %.2g m aside, top %.2g m down\n", aside, sunk);
    cr_expect(lt(dbl, aside, 0.1)); // half a box
    cr_expect(lt(dbl, sunk, 0.1));
}

// ---- the law -----------------------------------------------------------------------------------

// A sheared stack in one substep with many sweeps: 0 <= n.V + b, l >= 0, one of them zero; friction
// inside the disk, and opposite to the slip where it slips.
Test(impulse_contacts, obey_the_law_where_sweeps_converge) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    add_floor(scene, 0.5, 0);
    for (int k = 0; k < 5; k++) add_box(scene, 0, 0.1 + 0.2 * k, 0.5, k % 2 ? 0.3 : -0.3, 0.1 * k);
    enable(scene);
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = impulse_def(0.01, 1, 5000, 0);
    def.impulse.correction = MABD_CORRECTION_NONE;
    mabd_impulse_sim* sim = impulse_inside(model, def);
    mabd_error error = {0};
    double worst = 0;
    rig_check(mabd_impulse_step(sim, 0, NULL, &error), &error, "step");
    const mabd_impulse_contacts* c = sim->contacts;
    cr_assert(ge(int, c->points.count, 20));
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[m->a], &sim->lines[m->b]);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            const mabd_vec3 rate = mabd_impulse_point_rate(p, &V);
            // distance has moved by h n.V: it was positive or zero before
            const double before = p->distance - 0.01 * mabd_v3_dot(p->normal, rate);
            const double free = mabd_v3_dot(p->normal, rate) + fmax(before, 0) / 0.01;
            const double u1 = mabd_v3_dot(p->t1, rate), u2 = mabd_v3_dot(p->t2, rate);
            const double most = m->friction * p->l, size = hypot(p->l1, p->l2);
            worst = fmax(worst, fmax(-free, fmin(free, p->l)));
            worst = fmax(worst, size - most);
            if (size < most * (1 - 1e-6)) worst = fmax(worst, hypot(u1, u2));
            worst = fmax(worst, fabs(u1 * p->l2 - u2 * p->l1) / (most + 1e-3));
            worst = fmax(worst, (u1 * p->l1 + u2 * p->l2) / (most + 1e-3));
        }
    }
    printf("law of contacts: largest violation %.1e\n", worst);
    cr_expect(lt(dbl, worst, 1e-9));
    impulse_inside_destroy(sim);
    mabd_model_destroy(model);
}

// ---- warm start --------------------------------------------------------------------------------

// Sweeps of a step of a stack at rest until none changes an impulse by more than 1e-6 of the
// largest, with the impulses of the step before or without.
static int sweeps_needed(bool warm) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    add_floor(scene, 0.5, 0);
    for (int k = 0; k < 5; k++) add_box(scene, 0, 0.1 + 0.2 * k, 0.5, 0, 0);
    enable(scene);
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = impulse_def(0.01, 1, 200, 0);
    mabd_impulse_sim* sim = impulse_inside(model, def);
    mabd_error error = {0};
    mabd_step_info info;
    int sweeps = 1;
    for (int i = 0; i < 100; i++) {
        rig_check(mabd_impulse_step(sim, 0.01 * i, &info, &error), &error, "step");
    }
    const size_t size = mabd_impulse_state_size(sim);
    void* state = malloc(size);
    mabd_impulse_save(sim, state);
    for (; sweeps < 60; sweeps++) {
        rig_check(mabd_impulse_restore(sim, state, size, 1), &error, "restore");
        if (!warm) sim->contacts->kept.count = 0;
        sim->def.impulse.sweeps = sweeps;
        rig_check(mabd_impulse_step(sim, 1, &info, &error), &error, "step");
        if (info.impulse.impulse_change < 1e-6) break;
    }
    free(state);
    impulse_inside_destroy(sim);
    mabd_model_destroy(model);
    return sweeps;
}

Test(impulse_contacts, warm_starts_take_a_tenth_of_the_sweeps) {
    const int warm = sweeps_needed(true), cold = sweeps_needed(false);
    printf("sweeps to 1e-6: warm %d, cold %d, at most 60 tried\n", warm, cold);
    cr_expect(le(int, 10 * warm, cold));
}

// ---- states ------------------------------------------------------------------------------------

// A run that is saved and restored in another simulation continues with the same bits: impulses of
// contacts are part of the state.
Test(impulse_contacts, a_restored_state_continues_with_the_same_bits) {
    mabd_model* model = rig_file_model("scenes/stack.json", NULL, NULL);
    const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
    mabd_sim *one = rig_sim(model, &def), *two = rig_sim(model, &def);
    mabd_error error = {0};
    for (int i = 0; i < 50; i++) rig_step(one);
    const size_t size = mabd_sim_state_size(one);
    void* state = malloc(size);
    mabd_sim_save(one, state);
    rig_check(mabd_sim_restore(two, state, size, &error), &error, "restore");
    for (int i = 0; i < 50; i++) rig_step(one), rig_step(two);
    cr_expect(eq(dbl, rig_apart(model, one, two), 0));
    const mabd_measure a = mabd_sim_measure(one), b = mabd_sim_measure(two);
    cr_expect(memcmp(&a, &b, sizeof a) == 0);
    free(state);
    mabd_sim_destroy(two);
    rig_destroy(one, model);
}

// ---- energy ------------------------------------------------------------------------------------

// A box of 8 kg that slides from 2 m/s to rest: friction takes m v^2/2. A ball that falls by 1 m
// and bounces with e = 0.5: impacts take what is gone, m g (1 m - height).
Test(impulse_contacts, the_books_tell_friction_and_impacts) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    add_floor(scene, 0.3, 0);
    add_box(scene, 0, 0.1, 0.3, 2, 0);
    enable(scene);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = impulse_def(0.01, 4, 4, 2);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 150; i++) rig_step(sim);
    mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    printf("friction %.3f J of 16, impacts %.3f, integrator %.3f\n", (double)b.friction,
           (double)b.impacts, (double)b.integrator);
    cr_expect(lt(dbl, fabs(b.friction - 16), 0.3));
    cr_expect(lt(dbl, fabs(b.impacts), 0.1));
    rig_destroy(sim, model);

    model = ball_model(0.5);
    sim = rig_sim(model, &def);
    const double gone = mabd_sim_measure(sim).gravity;
    for (int i = 0; i < 500; i++) rig_step(sim);
    b = mabd_sim_get_energy_balance(sim);
    printf("impacts %.4f J, gravity %.4f J\n", (double)b.impacts, (double)b.gravity);
    cr_expect(lt(dbl, fabs(b.impacts + b.gravity), 0.05 * fabs(b.gravity)));
    cr_expect(lt(dbl, 0, gone));
    rig_destroy(sim, model);
}

// A hundred mixed shapes fall into a pile, which comes to rest.
Test(impulse_contacts, a_pile_comes_to_rest) {
    mabd_model* model = rig_file_model("scenes/pile-mixed.json", NULL, NULL);
    const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    double kinetic = 0;
    for (int i = 0; i < 300; i++) {
        rig_step(sim);
        if (i % 10 == 0) kinetic = fmax(kinetic, mabd_sim_measure(sim).kinetic);
    }
    const double end = mabd_sim_measure(sim).kinetic;
    printf("pile: kinetic energy at most %.3g J, after 3 s %.2g J\n", kinetic, end);
    cr_expect(lt(dbl, end, 1e-3 * kinetic));
    rig_destroy(sim, model);
}
