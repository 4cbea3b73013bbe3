// SPDX-License-Identifier: Apache-2.0
// Collisions in free flight. Contact forces act on both bodies at one point, so
//
//   m1 v1 + m2 v2                                    linear momentum
//   x1 x m1 v1 + x2 x m2 v2 + I1 w1 + I2 w2          angular momentum
//
// are constant, along the normal n the speed after the impact is -e times the speed before, and
// kinetic energy does not grow. Bodies are stiff (see test_contact_drop.c).

#include "support/contact_rig.h"

#define RADIUS 0.1
#define YOUNG  1e11

typedef struct blow_case {
    double mass[2];
    double offset; // offset of the two lines of flight, over the sum of the radii
    double restitution, friction;
    bool box; // the second body is a box
} blow_case;

typedef struct blow_state {
    mabd_real x[6], v[6], w[6];
    mabd_measure measure;
} blow_state;

static blow_state blow_look(const mabd_sim* sim) {
    blow_state s = {.measure = mabd_sim_measure(sim)};
    mabd_sim_get_state(sim, s.x, NULL, s.v, s.w);
    return s;
}

static void blow_bodies(const blow_case* c, contact_body body[2]) {
    for (int i = 0; i < 2; i++) {
        body[i] = (contact_body){.shape = MABD_SHAPE_SPHERE,
                                 .size = {RADIUS},
                                 .mass = c->mass[i],
                                 .young = YOUNG,
                                 .friction = c->friction,
                                 .restitution = c->restitution,
                                 .position = {i == 0 ? -0.2 : 0.2, 0, 0.05},
                                 .velocity = {i == 0 ? 1.5 : -0.7, 0.2, 0.1}};
    }
    body[0].position[1] = 2 * RADIUS * c->offset;
    if (!c->box) return;
    body[1].shape = MABD_SHAPE_BOX;
    body[1].size[0] = 0.2, body[1].size[1] = 0.5, body[1].size[2] = 0.3;
}

/// Return the speed of point x of the second body relative to the first one, along n. For a ball
/// this is the speed of its centre.
static double closing(const blow_state* s, const mabd_real x[3], const mabd_real n[3]) {
    mabd_real u[2][3];
    for (int i = 0; i < 2; i++) {
        const mabd_real *c = s->x + 3 * i, *v = s->v + 3 * i, *w = s->w + 3 * i;
        const mabd_real r[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
        u[i][0] = v[0] + w[1] * r[2] - w[2] * r[1];
        u[i][1] = v[1] + w[2] * r[0] - w[0] * r[2];
        u[i][2] = v[2] + w[0] * r[1] - w[1] * r[0];
    }
    double speed = 0;
    for (int i = 0; i < 3; i++) speed += n[i] * (u[1][i] - u[0][i]);
    return speed;
}

/// Compute normal and point of the impact from the shapes: line of centres, or the side x = const
/// of the box.
static void blow_place(const blow_case* c, const blow_state* s, mabd_real x[3], mabd_real n[3]) {
    const double distance = rig_distance(s->x, s->x + 3);
    for (int i = 0; i < 3; i++) {
        n[i] = c->box ? i == 0 : (s->x[3 + i] - s->x[i]) / distance;
        x[i] = s->x[i] + RADIUS * n[i];
    }
}

// Linear momentum is exact to round-off. So is angular momentum if the contact is taken at the
// positions at the start of the step; taken at its end, x+ = x + h v+, implicit Euler leaves sum x+
// x m v+ - sum x x m v = h sum m v+ x v = h J x (v1 - v2) with the impulse J, |J| <= (1 + e) v m1
// m2/(m1 + m2): `angular` is the allowed error, over that. The normal speed is measured with the
// normal of the impact's step, in which the line of centres rotates by up to v h / 2 R = 0.4 % at h
// = 0.5 ms. Kinetic energy: BDF2 needs a step or two to reach a rotation omega, with a relative
// error of (omega h)^2; and contacts are springs of 1e-3 of the softness of the bodies, which
// return 1e-3 of the speed, 1e-6 of the energy.
static void check_blow(const blow_case* c, double angular_bound) {
    contact_body body[2];
    blow_bodies(c, body);
    mabd_scene* scene = contact_scene(0);
    contact_add(scene, &body[0]);
    contact_add(scene, &body[1]);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.0005);
    mabd_sim* sim = rig_sim(model, &def);
    const blow_state start = blow_look(sim);
    contact_watch watch = contact_watch_start(sim);
    blow_state before = start, after;
    mabd_real x[3], n[3];
    int left = 6; // steps after the impact
    double lowest = start.measure.kinetic, gained = 0;
    for (int i = 0; i < 400 && left > 0; i++) {
        const mabd_step_info info = contact_watch_step(&watch, sim);
        after = blow_look(sim);
        gained = fmax(gained, after.measure.kinetic - lowest);
        lowest = fmin(lowest, after.measure.kinetic);
        if (left == 6 && info.contacts == 0) before = after;
        if (left == 6 && info.contacts > 0) blow_place(c, &after, x, n);
        if (left < 6 || info.contacts > 0) left--;
    }
    cr_assert(eq(int, left, 0), "they do not meet");
    const double v = 2.2, reduced = c->mass[0] * c->mass[1] / (c->mass[0] + c->mass[1]);
    const double first_order =
        (double)def.h * (1 + c->restitution) * (1 + c->friction) * v * v * reduced;
    const double push = c->mass[0] * 1.5 + c->mass[1] * 0.7;
    const double linear =
        rig_distance(after.measure.linear_momentum, start.measure.linear_momentum) / push;
    const double angular =
        rig_distance(after.measure.angular_momentum, start.measure.angular_momentum);
    const double first = closing(&before, x, n), last = closing(&after, x, n);
    printf("masses %g %g, offset %g, e %g, mu %g%s: momentum %.1e, angular %.1e, speed %.5f of "
           "%.5f, energy %.4f -> %.4f gained %.1e\n",
           c->mass[0], c->mass[1], c->offset, c->restitution, c->friction, c->box ? ", box" : "",
           linear, angular / (push * 2 * RADIUS), last, -c->restitution * first,
           (double)start.measure.kinetic, (double)after.measure.kinetic,
           gained / start.measure.kinetic);
    cr_expect(lt(dbl, linear, 1e-9));
    cr_expect(lt(dbl, angular, 1e-9 * push * 2 * RADIUS + angular_bound * first_order));
    // the normal rotates by v h/R while they touch
    const double turned = v * (double)def.h / RADIUS;
    cr_expect(lt(dbl, fabs(last + c->restitution * first), (0.01 + turned) * fabs(first)));
    const double turn = fmax(rig_norm(after.w), rig_norm(after.w + 3)) * (double)def.h;
    cr_expect(lt(dbl, gained, (CONTACT_SOFTNESS + turn * turn) * start.measure.kinetic));
    cr_expect(eq(int, watch.unconverged, 0));
    rig_destroy(sim, model);
}

static const double restitutions[] = {0, 0.5, 1};

static void check_blows(double m1, double m2, double offset, double friction, bool box,
                        double angular_bound) {
    for (int k = 0; k < 3; k++) {
        const blow_case c = {.mass = {m1, m2},
                             .offset = offset,
                             .restitution = restitutions[k],
                             .friction = friction,
                             .box = box};
        check_blow(&c, angular_bound);
    }
}

Test(contact_collision, equal_balls_head_on) {
    check_blows(2, 2, 0, 0, false, 0);
    check_blows(2, 2, 0, 0.4, false, 0);
}

Test(contact_collision, unequal_balls_head_on) {
    check_blows(2, 7, 0, 0, false, 0);
    check_blows(200, 1, 0, 0.4, false, 0);
}

Test(contact_collision, oblique_balls_without_friction) {
    check_blows(2, 2, 0.5, 0, false, 1);
    check_blows(2, 7, 0.7, 0, false, 1);
}

Test(contact_collision, oblique_balls_with_friction) {
    check_blows(2, 2, 0.5, 0.3, false, 1);
    check_blows(2, 7, 0.7, 0.8, false, 1);
}

Test(contact_collision, a_box_hit_off_its_middle) {
    check_blows(2, 5, 0.8, 0, true, 1);
    check_blows(2, 5, 0.8, 0.5, true, 1);
    check_blows(5, 2, -0.4, 0.5, true, 1);
}
