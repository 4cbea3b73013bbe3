// SPDX-License-Identifier: Apache-2.0
// An arm of 7 hinges with stiff servos whose targets are held for 20 ms: what a policy does. Sizes,
// masses and gains are about those of an industrial arm that carries 14 kg.
#pragma once

#include "mabd/batch.h"
#include "support/rig.h"

#include <stdlib.h>

#define ARM_JOINTS 7
/// Radius of the sphere in the middle of a link [m].
#define ARM_RADIUS 0.015
/// Time for which targets are held [s], and number of such times.
#define ARM_HOLD    0.02
#define ARM_PERIODS 25
/// Largest distance of a target from the start pose [rad].
#define ARM_SWING 0.5
/// Gains of the servos [N m/rad], [N m s/rad].
#define ARM_GAIN    2000
#define ARM_DAMPING 200
/// Inertia of the motors behind their gears [kg m^2].
#define ARM_ARMATURE 0.1

/// One link: height of its joint, length, mass, inertia about its centre; the axis is z or y.
typedef struct arm_link {
    double z, length, mass, inertia[3];
    bool y;
} arm_link;

static const arm_link arm_links[ARM_JOINTS] = {
    {0.16, 0.20, 5.8, {0.033, 0.033, 0.012}, false}, {0.36, 0.20, 6.3, {0.031, 0.030, 0.011}, true},
    {0.56, 0.22, 3.5, {0.025, 0.024, 0.008}, false}, {0.78, 0.18, 3.5, {0.017, 0.016, 0.006}, true},
    {0.96, 0.22, 3.5, {0.010, 0.009, 0.004}, false}, {1.18, 0.08, 1.8, {0.005, 0.005, 0.004}, true},
    {1.26, 0.04, 1.2, {0.001, 0.001, 0.001}, false},
};

/// Target of joint k in period i [rad]: numbers without a pattern, the same in every run.
static inline double arm_target(int period, int k) {
    const double x = sin(12.9898 * (period + 1) + 78.233 * (k + 1)) * 43758.5453;
    return ARM_SWING * (2 * (x - floor(x)) - 1);
}

/// Write the times, later by `delay`, and targets of joint k into times and values (ARM_PERIODS
/// each).
static inline mabd_signal arm_steps(int k, double delay, mabd_real* times, mabd_real* values) {
    for (int i = 0; i < ARM_PERIODS; i++) {
        times[i] = ARM_HOLD * i + (i > 0 ? delay : 0), values[i] = arm_target(i, k);
    }
    return (mabd_signal){
        .kind = MABD_SIGNAL_STEPS, .point_count = ARM_PERIODS, .times = times, .values = values};
}

/// What an arm has besides its servos.
typedef struct arm_case {
    bool steps;       // targets are signals, else constant 0
    double delay;     // of these signals [s]
    double max_force; // of the servos [N m], 0 = none
    double wall;      // distance of a wall from the arm, with contacts; 0 = no contacts [m]
    double mass;      // factor of all masses, 0 = 1
} arm_case;

static inline int32_t arm_add_link(mabd_scene* scene, const arm_case* c, int k) {
    const arm_link* link = &arm_links[k];
    const mabd_real size[3] = {ARM_RADIUS};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
    const double factor = c->mass > 0 ? c->mass : 1;
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.young = 1e13; // as imported robots have: links do not give way
    body.mass = factor * link->mass, body.inertia_given = true;
    for (int i = 0; i < 3; i++) body.inertia[i] = factor * link->inertia[i];
    body.position[2] = link->z + link->length / 2;
    return rig_add_body(scene, &body);
}

// Add a wall across x, beside the upper half of the arm.
static inline void arm_add_wall(mabd_scene* scene, double x) {
    const mabd_real size[3] = {0.2, 2, 0.8};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.motion = MABD_MOTION_FIXED;
    body.position[0] = x + ARM_RADIUS + 0.1, body.position[2] = 1.2;
    rig_add_body(scene, &body);
}

static inline mabd_scene* arm_scene(const arm_case* c) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_error error = {0};
    int32_t last = MABD_WORLD;
    for (int k = 0; k < ARM_JOINTS; k++) {
        const mabd_real along[3] = {0, arm_links[k].y, !arm_links[k].y};
        mabd_real times[ARM_PERIODS], values[ARM_PERIODS];
        const mabd_axis_def axis = {.servo = c->steps ? arm_steps(k, c->delay, times, values)
                                                      : mabd_signal_constant(0),
                                    .servo_stiffness = ARM_GAIN,
                                    .servo_damping = ARM_DAMPING,
                                    .armature = ARM_ARMATURE,
                                    .max_force = c->max_force};
        mabd_joint_def def = mabd_default_joint_def();
        def.type = MABD_JOINT_HINGE, def.a = last, def.b = last = arm_add_link(scene, c, k);
        def.anchor[2] = arm_links[k].z;
        cr_assert(mabd_frame_from_axes(along, NULL, def.frame));
        def.axes[MABD_AXIS_RX] = &axis;
        rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
    }
    if (c->wall > 0) {
        mabd_contact_def contact = mabd_default_contact_def();
        arm_add_wall(scene, c->wall);
        contact.enabled = true;
        rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    }
    return scene;
}

/// Set the targets of period i of copies first .. first + count - 1.
static inline void arm_set(mabd_sim* sim, int32_t first, int32_t count, int period) {
    mabd_error error = {0};
    mabd_real* values = malloc(sizeof *values * ARM_JOINTS * (size_t)count);
    for (int32_t i = 0; i < ARM_JOINTS * count; i++) {
        values[i] = arm_target(period, i % ARM_JOINTS);
    }
    rig_check(mabd_sim_set_targets(sim, first, count, NULL, values, &error), &error, "targets");
    free(values);
}

/// Run the arm with steps of h and write its joint angles at the end of every period into path
/// (ARM_PERIODS x ARM_JOINTS) [rad]. outside: targets are set from outside.
static inline void arm_run(const mabd_model* model, mabd_integrator integrator, double h,
                           bool outside, mabd_real* path) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    const int steps = (int)lround(ARM_HOLD / h);
    for (int i = 0; i < ARM_PERIODS; i++) {
        if (outside) arm_set(sim, 0, 1, i);
        for (int s = 0; s < steps; s++) rig_step(sim);
        mabd_sim_get_controls(sim, path + ARM_JOINTS * i, NULL);
    }
    mabd_sim_destroy(sim);
}

/// Return the largest difference of two paths [rad].
static inline double arm_error(const mabd_real* a, const mabd_real* b) {
    double worst = 0;
    for (int i = 0; i < ARM_PERIODS * ARM_JOINTS; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}
