// SPDX-License-Identifier: Apache-2.0
// One rod on a hinge or a slide with controls on its axis, for the tests of stops, drives and
// friction.
#pragma once

#include "support/rig.h"

#define AXIS_LENGTH 1.0
#define AXIS_WIDTH  0.1
#define AXIS_MASS   (1000 * AXIS_LENGTH * AXIS_WIDTH * AXIS_WIDTH)

/// Return the moment of inertia of the rod about the hinge at its end [kg m^2].
static inline double axis_inertia(void) {
    return AXIS_MASS * ((AXIS_LENGTH * AXIS_LENGTH + AXIS_WIDTH * AXIS_WIDTH) / 12 +
                        AXIS_LENGTH * AXIS_LENGTH / 4);
}

/// A rod along x from the origin, on a joint to the world there: a hinge about y (a positive
/// rotation lowers the rod), or a slide along x. `rate` is its initial speed.
typedef struct axis_case {
    mabd_axis_def axis;
    double gravity; // along z [m/s^2]
    double rate;    // [rad/s], [m/s]
    bool slide;
} axis_case;

/// Add a joint about y, or along x, with the given controls.
static inline void axis_add_joint(mabd_scene* scene, bool slide, int32_t a, int32_t b, double x,
                                  const mabd_axis_def* axis) {
    mabd_error error = {0};
    mabd_joint_def def = mabd_default_joint_def();
    const mabd_real y[3] = {0, 1, 0};
    def.type = slide ? MABD_JOINT_PRISMATIC : MABD_JOINT_HINGE;
    def.a = a, def.b = b;
    def.anchor[0] = x;
    if (!slide) cr_assert(mabd_frame_from_axes(y, NULL, def.frame));
    def.axes[slide ? MABD_AXIS_TX : MABD_AXIS_RX] = axis;
    rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
}

static inline mabd_model* axis_model(const axis_case* c) {
    mabd_scene* scene = rig_scene(c->gravity);
    const mabd_real size[3] = {AXIS_LENGTH, AXIS_WIDTH, AXIS_WIDTH};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1;
    body.geoms = &geom;
    body.young = 1e10;
    body.position[0] = AXIS_LENGTH / 2;
    body.angular_velocity[1] = c->slide ? 0 : c->rate;
    body.velocity[c->slide ? 0 : 2] = c->slide ? c->rate : -c->rate * AXIS_LENGTH / 2;
    axis_add_joint(scene, c->slide, MABD_WORLD, rig_add_body(scene, &body), 0, &c->axis);
    return rig_model(scene);
}

/// Formulation of the running test.
static mabd_formulation axis_formulation = MABD_FORMULATION_AFFINE;

/// Define a test of formulations whose laws hold to round-off: it runs once in each.
#define AXIS_TEST_EXACT(suite, name)                                                               \
    static void name(void);                                                                        \
    Test(suite, name) {                                                                            \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_of_rigid_bodies) {                                                          \
        axis_formulation = MABD_FORMULATION_QUATERNION;                                            \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_of_joint_coordinates) {                                                     \
        axis_formulation = MABD_FORMULATION_REDMAX;                                                \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

/// Define a test of formulations with laws, also of one whose laws hold to the end of a barrier.
#define AXIS_TEST(suite, name)                                                                     \
    static void name(void);                                                                        \
    Test(suite, name##_of_momenta) {                                                               \
        axis_formulation = MABD_FORMULATION_VARIATIONAL;                                           \
        name();                                                                                    \
    }                                                                                              \
    AXIS_TEST_EXACT(suite, name)

static inline mabd_sim_def axis_def(mabd_preset preset, double h) {
    mabd_sim_def def = rig_def(preset, (mabd_real)h);
    def.formulation = axis_formulation;
    return def;
}

/// Return the coordinate of the first joint.
static inline double axis_x(const mabd_sim* sim, const axis_case* c) {
    mabd_real x[MABD_AXIS_COUNT];
    mabd_sim_get_joint_coordinates(sim, 0, x);
    return x[c->slide ? MABD_AXIS_TX : MABD_AXIS_RX];
}

/// Return the force or torque of the first joint along or about its axis, motors included.
static inline double axis_force(const mabd_sim* sim, const axis_case* c) {
    mabd_real wrench[6];
    mabd_sim_get_joint_forces(sim, wrench);
    return wrench[c->slide ? 0 : 4];
}

/// Return the rate of the first joint's coordinate.
static inline double axis_rate(const mabd_sim* sim, const axis_case* c) {
    mabd_real velocity[3], angular[3];
    mabd_sim_get_state(sim, NULL, NULL, velocity, angular);
    return c->slide ? velocity[0] : angular[1];
}

/// Make one step, which must converge without a retry and close its rows to 1e-9.
static inline mabd_step_info axis_step(mabd_sim* sim) {
    const mabd_step_info info = rig_step(sim);
    cr_assert(info.converged && info.retries == 0, "t = %g: rotation %g, %d iterations, %d retries",
              (double)mabd_sim_time(sim), (double)info.affine.rotation, (int)info.iterations,
              (int)info.retries);
    cr_assert(info.gap < 1e-9 && info.angle_error < 1e-9, "t = %g: gap %g, angle %g",
              (double)mabd_sim_time(sim), (double)info.gap, (double)info.angle_error);
    return info;
}

/// Step sizes of every case [s].
static const double axis_steps[] = {0.01, 0.001};
