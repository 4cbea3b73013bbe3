// SPDX-License-Identifier: Apache-2.0
// Shared parts of the contact tests: scenes of a few plain bodies, and measures by the public API
// alone.
#pragma once

#include "support/rig.h"

/// Fraction of an impact's energy that a contact may return as a spring: the default softness of
/// contacts (mabd_default_contact_def).
#define CONTACT_SOFTNESS 1e-3
#define CONTACT_GRAVITY  9.81

static inline mabd_scene* contact_scene(mabd_real gravity) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_contact_def contact = mabd_default_contact_def();
    contact.enabled = true;
    rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    return scene;
}

/// One body with one geom at its origin.
typedef struct contact_body {
    mabd_shape shape;
    mabd_real size[3];
    mabd_real mass;  // [kg]; 0: fixed
    mabd_real young; // [Pa]; 0: default
    mabd_real friction, restitution;
    mabd_real position[3], rotation[4]; // rotation all 0: none
    mabd_real velocity[3], angular[3];
} contact_body;

static inline int32_t contact_add(mabd_scene* scene, const contact_body* c) {
    mabd_geom geom = mabd_geom_make(c->shape, c->size, 1000);
    geom.friction = c->friction;
    geom.restitution = c->restitution;
    mabd_body_def body = mabd_default_body_def();
    body.motion = c->mass > 0 ? MABD_MOTION_DYNAMIC : MABD_MOTION_FIXED;
    body.mass = c->mass;
    if (c->young > 0) body.young = c->young;
    body.geom_count = 1;
    body.geoms = &geom;
    const bool turned = c->rotation[0] * c->rotation[0] + rig_norm(c->rotation + 1) > 0;
    for (int i = 0; i < 4 && turned; i++) body.rotation[i] = c->rotation[i];
    for (int i = 0; i < 3; i++) {
        body.position[i] = c->position[i];
        body.velocity[i] = c->velocity[i];
        body.angular_velocity[i] = c->angular[i];
    }
    return rig_add_body(scene, &body);
}

/// Add the ground z <= 0.
static inline int32_t contact_add_ground(mabd_scene* scene, double friction) {
    const contact_body ground = {.shape = MABD_SHAPE_PLANE, .friction = friction};
    return contact_add(scene, &ground);
}

// ---- quaternions -------------------------------------------------------------------------------

/// Return the quaternion of a rotation by `angle` about a unit axis.
static inline void contact_turn(double x, double y, double z, double angle, mabd_real q[4]) {
    const double s = sin(angle / 2);
    q[0] = cos(angle / 2), q[1] = s * x, q[2] = s * y, q[3] = s * z;
}

/// c = a b
static inline void contact_product(const mabd_real a[4], const mabd_real b[4], mabd_real c[4]) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/// w = R(q) v
static inline void contact_rotate(const mabd_real q[4], const mabd_real v[3], mabd_real w[3]) {
    const mabd_real u[3] = {q[2] * v[2] - q[3] * v[1], q[3] * v[0] - q[1] * v[2],
                            q[1] * v[1] - q[2] * v[0]};
    w[0] = v[0] + 2 * (q[0] * u[0] + q[2] * u[2] - q[3] * u[1]);
    w[1] = v[1] + 2 * (q[0] * u[1] + q[3] * u[0] - q[1] * u[2]);
    w[2] = v[2] + 2 * (q[0] * u[2] + q[1] * u[1] - q[2] * u[0]);
}

// ---- measures ----------------------------------------------------------------------------------

/// Return the height of the lowest corner of a box with edges `size`.
static inline double contact_lowest_corner(const mabd_real p[3], const mabd_real q[4],
                                           const mabd_real size[3]) {
    double lowest = INFINITY;
    for (int k = 0; k < 8; k++) {
        const mabd_real corner[3] = {size[0] / 2 * (k & 1 ? 1 : -1), size[1] / 2 * (k & 2 ? 1 : -1),
                                     size[2] / 2 * (k & 4 ? 1 : -1)};
        mabd_real w[3];
        contact_rotate(q, corner, w);
        lowest = fmin(lowest, p[2] + w[2]);
    }
    return lowest;
}

/// Return the deepest overlap of the shapes [m], 0 = none.
static inline double contact_depth(const mabd_sim* sim) {
    mabd_real depth = 0;
    int32_t a, b;
    cr_assert(eq(int, mabd_sim_overlap(sim, &depth, &a, &b), MABD_OK));
    return depth;
}

/// Make a step, which must meet its tolerances.
static inline mabd_step_info contact_step(mabd_sim* sim) {
    const mabd_step_info info = rig_step(sim);
    cr_assert(info.converged, "t = %g: %d iterations, contacts off by %g m",
              (double)mabd_sim_time(sim), (int)info.iterations, (double)info.contact_residual);
    return info;
}

/// Extreme values over a run.
typedef struct contact_watch {
    double lowest;     // lowest energy so far [J]
    double gained;     // largest rise above the lowest energy before [J]
    double depth;      // deepest overlap, by the shapes and by step reports [m]
    double gap, angle; // largest joint error [m], [rad]
    int steps, retries, unconverged;
} contact_watch;

static inline contact_watch contact_watch_start(const mabd_sim* sim) {
    return (contact_watch){.lowest = mabd_sim_measure(sim).energy};
}

/// Make one step and record its values.
static inline mabd_step_info contact_watch_step(contact_watch* watch, mabd_sim* sim) {
    const mabd_step_info info = rig_step(sim);
    const mabd_measure now = mabd_sim_measure(sim);
    watch->gained = fmax(watch->gained, now.energy - watch->lowest);
    watch->lowest = fmin(watch->lowest, now.energy);
    watch->depth = fmax(watch->depth, fmax(contact_depth(sim), info.penetration));
    watch->gap = fmax(watch->gap, now.gap);
    watch->angle = fmax(watch->angle, now.angle_error);
    watch->retries += info.retries;
    watch->unconverged += !info.converged;
    watch->steps++;
    return info;
}
