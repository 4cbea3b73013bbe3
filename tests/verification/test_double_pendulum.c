// SPDX-License-Identifier: Apache-2.0
// A double pendulum: two rods of 1 x 0.04 x 0.04 m on hinges, released level. Reference: Lagrange's
// equations in the two angles (support/reference.c), RK4 at 1e-4 s.
//
// Compared at common times over 1.5 s, before small errors grow in the chaotic motion: the largest
// error of the two angles. Tolerance: BDF2 is of second order, the observed order must be 1.8 or
// more. Young's modulus is 1e12 Pa: at 1e9 Pa the rods stretch by 1e-5 and the motion differs by
// 3e-4 rad, a physical effect that the reference does not contain.

#include "support/reference.h"
#include "support/rig.h"

#define DURATION 1.5
#define SAMPLES  150
#define H        0.005

// Compute the angles of the reference from straight down; the rods start along +x: pi/2.
static void reference_angles(double (*angles)[2]) {
    const double mass = 1000 * 0.04 * 0.04, inertia = mass * (1 + 0.04 * 0.04) / 12, h = 1e-4;
    const reference_double_pendulum p = {
        .mass = {mass, mass},
        .center = {0.5, 0.5},
        .inertia = {inertia, inertia},
        .length = 1,
        .gravity = 9.81,
    };
    double y[4] = {acos(-1) / 2, acos(-1) / 2, 0, 0};
    for (int i = 0; i <= SAMPLES; i++) {
        angles[i][0] = y[0];
        angles[i][1] = y[1];
        reference_rk4(reference_double_pendulum_rate, &p, 4, h, lround(DURATION / SAMPLES / h), y);
    }
}

static double largest_error(const mabd_model* model, const mabd_sim_def* def,
                            double (*expected)[2]) {
    mabd_sim* sim = rig_sim(model, def);
    const double x[3] = {1, 0, 0};
    double worst = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        mabd_real q[8];
        if (i > 0) rig_run(sim, (int)lround(DURATION / SAMPLES / def->h));
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        for (int k = 0; k < 2; k++) {
            double axis[3];
            reference_rotate(q + 4 * k, x, axis);
            const double miss = atan2(axis[0], -axis[2]) - expected[i][k];
            worst = fmax(worst, fabs(remainder(miss, 2 * acos(-1))));
        }
    }
    mabd_sim_destroy(sim);
    return worst;
}

static mabd_model* pendulum_model(void) {
    mabd_scene* scene = rig_scene(-9.81);
    const int32_t upper = rig_add_rod(scene, 0, 1, 0.04, 1e12);
    const int32_t lower = rig_add_rod(scene, 1, 1, 0.04, 1e12);
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, upper, 0, 0);
    rig_add_joint(scene, MABD_JOINT_HINGE, upper, lower, 1, 0);
    return rig_model(scene);
}

static void check_convergence(mabd_preset preset) {
    mabd_model* model = pendulum_model();
    double expected[SAMPLES + 1][2], errors[4];
    reference_angles(expected);
    for (int k = 0; k < 4; k++) {
        const mabd_sim_def def = rig_def(preset, ldexp(H, -k));
        errors[k] = largest_error(model, &def, expected);
    }
    const double order = rig_order(mabd_preset_name(preset), H, 4, errors);
    cr_expect(order >= 1.8, "order %g", order);
    mabd_model_destroy(model);
}

Test(double_pendulum, converges_with_second_order_with_the_exact_preset) {
    check_convergence(MABD_PRESET_EXACT);
}

Test(double_pendulum, converges_with_second_order_with_the_default_preset) {
    check_convergence(MABD_PRESET_BALANCED);
}
