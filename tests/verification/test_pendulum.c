// SPDX-License-Identifier: Apache-2.0
// A physical pendulum: a rod of 1 x 0.04 x 0.04 m, hinged at its end, released level. With I its
// moment about the hinge, c = 1/2 m, w^2 = m g c / I, k = sin(45 deg):
//
//   angle below level   theta(t) = pi/2 - 2 asin(k sn(K(k) - w t, k))                 [MABD eq. 60]
//   joint force         along the rod, to the hinge   m g sin(theta) + m c theta'^2
//                       across it, upwards            m g cos(theta) (1 - m c^2 / I)
//   with theta'^2 = 2 w^2 sin(theta).
//
// Tolerance: BDF2 is of second order, angle and force must converge with an order of 1.8 or more.
// The force is a second difference of positions: the first step leaves an error of
// order h in it that BDF2's second root reduces by 1/3 per step, so the force is compared from t =
// 0.2 s on (20 steps of the coarsest run). At 1e9 Pa the rod stretches by up to 1.2e-5 and swings
// slower by as much: 7e-5 rad after 2 s, a physical effect that the reference does not contain.
// Here young is 1e12 Pa.

#include "support/elliptic.h"
#include "support/reference.h"
#include "support/rig.h"

#define DURATION 2.0
#define SAMPLES  100
#define H        0.01
#define SETTLED  10 // samples, 0.2 s

static const double gravity = 9.81, half = 0.5;

typedef struct rod {
    double mass, inertia, rate; // rate: w of small swings [rad/s]
} rod;

static rod make_rod(void) {
    rod r = {.mass = 1000 * 1 * 0.04 * 0.04};
    r.inertia = r.mass * (1 + 0.04 * 0.04) / 12 + r.mass * half * half;
    r.rate = sqrt(r.mass * gravity * half / r.inertia);
    return r;
}

static double angle_at(const rod* r, double time) {
    const double k = sqrt(0.5);
    return acos(-1) / 2 - 2 * asin(k * elliptic_sn(elliptic_k(k) - r->rate * time, k));
}

// Compute the force on the rod, world x and z; the rod points along (cos, 0, -sin) of theta.
static void force_at(const rod* r, double theta, double* force) {
    const double speed2 = 2 * r->rate * r->rate * sin(theta);
    const double along = r->mass * (gravity * sin(theta) + half * speed2);
    const double across = r->mass * gravity * cos(theta) * (1 - r->mass * half * half / r->inertia);
    force[0] = -along * cos(theta) + across * sin(theta);
    force[1] = along * sin(theta) + across * cos(theta);
}

typedef struct errors {
    double angle, force, magnitude; // largest over the samples; forces relative to the weight
} errors;

static double measure_angle(const mabd_sim* sim) {
    mabd_real q[4], axis[3];
    const double x[3] = {1, 0, 0};
    mabd_sim_get_state(sim, NULL, q, NULL, NULL);
    reference_rotate(q, x, axis);
    cr_expect(fabs(axis[1]) < 1e-12, "out of the plane by %g", axis[1]);
    return atan2(-axis[2], axis[0]);
}

static errors run(const mabd_model* model, const mabd_sim_def* def) {
    const rod r = make_rod();
    const double weight = r.mass * gravity;
    mabd_sim* sim = rig_sim(model, def);
    errors worst = {0, 0, 0};
    for (int i = 1; i <= SAMPLES; i++) {
        mabd_real found[6];
        double expected[2];
        rig_run(sim, (int)lround(DURATION / SAMPLES / def->h));
        const double theta = angle_at(&r, i * DURATION / SAMPLES);
        double miss = measure_angle(sim) - theta;
        miss -= 2 * acos(-1) * round(miss / (2 * acos(-1)));
        worst.angle = fmax(worst.angle, fabs(miss));
        if (i < SETTLED) continue;
        force_at(&r, theta, expected);
        mabd_sim_get_joint_forces(sim, found);
        const double error = hypot(found[0] - expected[0], found[2] - expected[1]);
        const double size = rig_norm(found) - hypot(expected[0], expected[1]);
        worst.force = fmax(worst.force, error / weight);
        worst.magnitude = fmax(worst.magnitude, fabs(size) / weight);
        cr_expect(fabs(found[1]) < 1e-9 * weight, "force across the plane");
    }
    mabd_sim_destroy(sim);
    return worst;
}

static mabd_model* pendulum_model(void) {
    mabd_scene* scene = rig_scene(-gravity);
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, rig_add_rod(scene, 0, 1, 0.04, 1e12), 0, 0);
    return rig_model(scene);
}

static void check_convergence(mabd_preset preset) {
    mabd_model* model = pendulum_model();
    double angle[4], force[4], magnitude[4];
    for (int k = 0; k < 4; k++) {
        const mabd_sim_def def = rig_def(preset, ldexp(H, -k));
        const errors e = run(model, &def);
        angle[k] = e.angle;
        force[k] = e.force;
        magnitude[k] = e.magnitude;
    }
    double order = rig_order("angle", H, 4, angle);
    cr_expect(order >= 1.8, "angle: order %g", order);
    order = rig_order("joint force", H, 4, force);
    cr_expect(order >= 1.8, "force: order %g", order);
    order = rig_order("joint force magnitude", H, 4, magnitude);
    cr_expect(order >= 1.8, "force magnitude: order %g", order);
    mabd_model_destroy(model);
}

Test(pendulum, swings_as_the_elliptic_integral_says_with_the_exact_preset) {
    check_convergence(MABD_PRESET_EXACT);
}

Test(pendulum, swings_as_the_elliptic_integral_says_with_the_default_preset) {
    check_convergence(MABD_PRESET_BALANCED);
}
