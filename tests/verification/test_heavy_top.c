// SPDX-License-Identifier: Apache-2.0
// The heavy top of scenes/heavy-top.json: a disc of 0.3 m on a stem, its tip on a ball joint,
// spinning at 10 rad/s, tilted by 5 degrees and released. Its axis precesses about the vertical and
// nutates. With the moments about the tip (I1, I1, I3), weight m g at a distance l:
//
//   I w' = (I w) x w + l e3 x R' m g        RK4 at 1e-4 s, moments from the textbook formulas
//
// Compared at common times over two seconds: the tilt of the axis (nutation) and its azimuth
// (precession, unwrapped). Tolerance: BDF2 is of second order, the largest error of either must
// fall with an order of 1.8 or more.

#include "support/reference.h"
#include "support/rig.h"

#define DURATION 2.0
#define SAMPLES  100
#define H        0.01

static const double tilt = 5 * 0.017453292519943295;

static reference_top top(void) {
    const double pi = acos(-1), r = 0.3, d = 0.04, s = 0.01, l = 0.2, arm = 0.1;
    const double disc = 1000 * pi * r * r * d, stem = 1000 * pi * s * s * l, mass = disc + stem;
    const double along = (disc * r * r + stem * s * s) / 2;
    const double across =
        disc * (3 * r * r + d * d) / 12 + stem * (3 * s * s + l * l) / 12 + mass * arm * arm;
    const reference_top t = {
        .inertia = {across, across, along}, .weight = {0, 0, -9.81 * mass}, .arm = {0, 0, arm}};
    return t;
}

typedef struct motion {
    double tilt[SAMPLES + 1], azimuth[SAMPLES + 1]; // [rad]
} motion;

static void sample(motion* m, int i, const double* q) {
    const double pi = acos(-1), up[3] = {0, 0, 1};
    double axis[3];
    reference_rotate(q, up, axis);
    m->tilt[i] = atan2(hypot(axis[0], axis[1]), axis[2]);
    m->azimuth[i] = atan2(axis[1], axis[0]);
    if (i > 0) m->azimuth[i] += 2 * pi * round((m->azimuth[i - 1] - m->azimuth[i]) / (2 * pi));
}

static void reference_motion(motion* m) {
    const reference_top t = top();
    const double h = 1e-4;
    double y[7] = {cos(tilt / 2), 0, sin(tilt / 2), 0, 0, 0, 10};
    for (int i = 0; i <= SAMPLES; i++) {
        sample(m, i, y);
        reference_rk4(reference_top_rate, &t, 7, h, lround(DURATION / SAMPLES / h), y);
    }
}

static void simulated_motion(const mabd_model* model, mabd_preset preset, int halvings, motion* m) {
    const mabd_sim_def def = rig_def(preset, ldexp(H, -halvings));
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i <= SAMPLES; i++) {
        mabd_real q[4];
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        sample(m, i, q);
        rig_run(sim, (int)lround(DURATION / SAMPLES / def.h));
    }
    mabd_sim_destroy(sim);
}

static void check_motion(mabd_preset preset) {
    mabd_model* model = rig_file_model("scenes/heavy-top.json", NULL, NULL);
    motion expected, found;
    double nutation[4], precession[4], low = tilt, high = 0;
    reference_motion(&expected);
    for (int i = 0; i <= SAMPLES; i++) {
        low = fmin(low, expected.tilt[i]);
        high = fmax(high, expected.tilt[i]);
    }
    printf("tilt %.3f to %.3f rad, azimuth to %.3f rad\n", low, high, expected.azimuth[SAMPLES]);
    for (int k = 0; k < 4; k++) {
        nutation[k] = precession[k] = 0;
        simulated_motion(model, preset, k, &found);
        for (int i = 0; i <= SAMPLES; i++) {
            nutation[k] = fmax(nutation[k], fabs(found.tilt[i] - expected.tilt[i]));
            precession[k] = fmax(precession[k], fabs(found.azimuth[i] - expected.azimuth[i]));
        }
    }
    double order = rig_order("nutation", H, 4, nutation);
    cr_expect(order >= 1.8, "nutation: order %g", order);
    order = rig_order("precession", H, 4, precession);
    cr_expect(order >= 1.8, "precession: order %g", order);
    mabd_model_destroy(model);
}

Test(heavy_top, precesses_and_nutates_as_eulers_equations_say_with_the_exact_preset) {
    check_motion(MABD_PRESET_EXACT);
}

Test(heavy_top, precesses_and_nutates_as_eulers_equations_say_with_the_default_preset) {
    check_motion(MABD_PRESET_BALANCED);
}
