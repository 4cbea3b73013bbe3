// SPDX-License-Identifier: Apache-2.0
// A block on a slope: Coulomb's law.
//
//   tan(theta) < mu    it sticks
//   tan(theta) > mu    s'' = g (sin(theta) - mu cos(theta))
//
// The slope is a plane, or the upper side of a fixed box, and descends in any direction.

#include "support/contact_rig.h"

#define DEGREE 0.017453292519943295

typedef struct slope_case {
    double angle, azimuth; // slope [rad]: inclination and direction of descent
    double friction;
    double block_turn; // rotation of the block about the normal [rad]
    bool box;          // else a plane
} slope_case;

typedef struct slope {
    mabd_model* model;
    mabd_sim* sim;
    mabd_real start[3];
    mabd_real down[3], normal[3]; // unit
} slope;

static slope slope_make(const slope_case* c, mabd_preset preset, double h) {
    slope s;
    mabd_real tilt[4], azimuth[4], frame[4], turn[4];
    const mabd_real x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
    contact_turn(0, 1, 0, c->angle, tilt); // x points down the slope
    contact_turn(0, 0, 1, c->azimuth, azimuth);
    contact_turn(0, 0, 1, c->block_turn, turn);
    contact_product(azimuth, tilt, frame);
    contact_rotate(frame, x, s.down);
    contact_rotate(frame, z, s.normal);
    contact_body ground = {.shape = MABD_SHAPE_PLANE, .friction = c->friction};
    if (c->box) {
        ground.shape = MABD_SHAPE_BOX;
        ground.size[0] = 12, ground.size[1] = 4, ground.size[2] = 0.5;
        for (int i = 0; i < 3; i++) ground.position[i] = -0.25 * s.normal[i];
    }
    for (int i = 0; i < 4; i++) ground.rotation[i] = frame[i];
    contact_body block = {
        .shape = MABD_SHAPE_BOX, .size = {0.2, 0.16, 0.06}, .mass = 2, .friction = c->friction};
    contact_product(frame, turn, block.rotation);
    for (int i = 0; i < 3; i++) block.position[i] = 0.03 * s.normal[i];
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &block);
    contact_add(scene, &ground);
    s.model = rig_model(scene);
    const mabd_sim_def def = rig_def(preset, h);
    s.sim = rig_sim(s.model, &def);
    for (int i = 0; i < 3; i++) s.start[i] = block.position[i];
    return s;
}

static double dot(const mabd_real* a, const mabd_real* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Compute the displacement of the block from its start.
static void slope_way(const slope* s, mabd_real way[3]) {
    mabd_real p[6];
    mabd_sim_get_state(s->sim, p, NULL, NULL, NULL);
    for (int i = 0; i < 3; i++) way[i] = p[i] - s->start[i];
}

static double slope_speed(const slope* s) {
    mabd_real v[6];
    mabd_sim_get_state(s->sim, NULL, NULL, v, NULL);
    return dot(v, s->down);
}

static const double azimuths[] = {0, 37 * DEGREE, 90 * DEGREE, 200 * DEGREE};
static const double frictions[] = {0.3, 0.5, 0.8};

Test(contact_slope, a_block_sticks_just_below_the_angle_of_friction) {
    double worst = 0;
    for (int k = 0; k < 24; k++) {
        const double mu = frictions[k / 8];
        const slope_case c = {.angle = atan(mu) - 0.2 * DEGREE,
                              .azimuth = azimuths[k % 4],
                              .friction = mu,
                              .block_turn = k % 3 * 0.4,
                              .box = k / 4 % 2};
        slope s = slope_make(&c, MABD_PRESET_BALANCED, 0.01);
        for (int i = 0; i < 200; i++) {
            mabd_real way[3];
            contact_step(s.sim);
            slope_way(&s, way);
            worst = fmax(worst, rig_norm(way));
            cr_assert(lt(dbl, rig_norm(way), 1e-4), "mu %g, azimuth %g, box %d, step %d", mu,
                      c.azimuth, c.box, i);
        }
        rig_destroy(s.sim, s.model);
    }
    printf("stuck blocks moved by %.2e m at most\n", worst);
}

// Close to the friction angle the two forces nearly cancel: 10 % of s'' is 1e-3 of the friction.
static void check_slip(mabd_preset preset) {
    double worst = 0;
    for (int k = 0; k < 24; k++) {
        const double mu = frictions[k / 8];
        const slope_case c = {.angle = atan(mu) + 0.2 * DEGREE,
                              .azimuth = azimuths[k % 4],
                              .friction = mu,
                              .block_turn = k % 3 * 0.4,
                              .box = k / 4 % 2};
        slope s = slope_make(&c, preset, 0.01);
        mabd_real way[3];
        for (int i = 0; i < 200; i++) contact_step(s.sim);
        slope_way(&s, way);
        const double expected = 0.5 * CONTACT_GRAVITY * (sin(c.angle) - mu * cos(c.angle)) * 4;
        worst = fmax(worst, fabs(dot(way, s.down) / expected - 1));
        cr_expect(lt(dbl, fabs(dot(way, s.down) / expected - 1), 0.1),
                  "mu %g, azimuth %g, box %d, block turned by %g: %g of %g m", mu, c.azimuth, c.box,
                  c.block_turn, dot(way, s.down), expected);
        rig_destroy(s.sim, s.model);
    }
    printf("%s: ways of slipping blocks are off by %.2e at most\n", mabd_preset_name(preset),
           worst);
}

Test(contact_slope, a_block_slips_just_above_the_angle_of_friction) {
    check_slip(MABD_PRESET_BALANCED);
}

Test(contact_slope, a_block_slips_just_above_the_angle_of_friction_exact) {
    check_slip(MABD_PRESET_EXACT);
}

// Constant acceleration is exact for BDF2 and for Euler's velocities: 1 % is the tolerance of the
// friction law. The block moves along a straight line, and its corners stay on the slope: lateral
// forces would cause a displacement across it.
static void check_slide(double angle, double mu, double tolerance) {
    double worst = 0, across = 0;
    for (int k = 0; k < 8; k++) {
        const slope_case c = {.angle = angle,
                              .azimuth = azimuths[k % 4],
                              .friction = mu,
                              .block_turn = k % 3 * 0.4,
                              .box = k / 4};
        slope s = slope_make(&c, MABD_PRESET_BALANCED, 0.01);
        double first = 0;
        for (int i = 0; i < 100; i++) {
            contact_step(s.sim);
            if (i == 19) first = slope_speed(&s);
        }
        const double rate = (slope_speed(&s) - first) / 0.8;
        const double expected = CONTACT_GRAVITY * (sin(angle) - mu * cos(angle));
        mabd_real way[3];
        slope_way(&s, way);
        const double along = dot(way, s.down);
        for (int i = 0; i < 3; i++) way[i] -= along * s.down[i];
        worst = fmax(worst, fabs(rate / expected - 1));
        across = fmax(across, rig_norm(way));
        cr_expect(lt(dbl, fabs(rate / expected - 1), tolerance),
                  "mu %g, azimuth %g, box %d: %g of %g m/s^2", mu, c.azimuth, c.box, rate,
                  expected);
        cr_expect(lt(dbl, rig_norm(way), 1e-3 * along), "mu %g, azimuth %g, box %d", mu, c.azimuth,
                  c.box);
        rig_destroy(s.sim, s.model);
    }
    printf("slope %g rad, mu %g: acceleration off by %.2e, %.2e m beside its line\n", angle, mu,
           worst, across);
}

Test(contact_slope, a_sliding_block_has_the_acceleration_of_coulombs_law) {
    check_slide(30 * DEGREE, 0.3, 0.01);
    check_slide(40 * DEGREE, 0.5, 0.01);
    check_slide(50 * DEGREE, 0.8, 0.01);
}

Test(contact_slope, without_friction_a_block_slides_with_g_sine) {
    check_slide(5 * DEGREE, 0, 1e-3);
    check_slide(30 * DEGREE, 0, 1e-3);
}
