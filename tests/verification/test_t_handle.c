// SPDX-License-Identifier: Apache-2.0
// The T-handle of scenes/t-handle.json: two cylinders, spinning at 3 rad/s about the stem, its
// intermediate axis, with a small disturbance about the cross bar. Euler's equations,
//
//   I1 w1' = (I2 - I3) w2 w3   and cyclic,
//
// make it flip repeatedly; a flip is a change of sign of w1, the body-frame spin about the stem.
// Reference: RK4 at 1e-5 s, inertia from the textbook formulas for cylinders.
//
// Tolerance: BDF2 is of second order, so the error of a flip time must fall with an order of 1.8 or
// more. Flips are found by linear interpolation between steps; w1 is nearly linear through zero
// there: its error is below h^2/8 max|w1''| / |w1'|, also of second order.
//
// With the scene's disturbance of 0.01 rad/s the energy is within 1e-5 of the motion that never
// flips, and the time to the next flip depends on the logarithm of that distance: only the first
// flip is compared there. With 0.3 rad/s the distance is 1e-2 and three flips are compared.

#include "support/reference.h"
#include "support/rig.h"

#include <stdlib.h>

#define MAX_FLIPS 3

// Moments about stem (x), cross bar (y) and normal (z): cross bar along y at x = -0.01, stem along
// x at x = 0.02, radius 0.01 both; the masses 0.1 and 0.05 (x density x area) balance at x = 0.
static reference_top handle(void) {
    const double area = 1000 * acos(-1) * 0.01 * 0.01, bar = 0.1 * area, stem = 0.05 * area;
    const double r2 = 0.01 * 0.01;
    const double bar_across = bar * (3 * r2 + 0.1 * 0.1) / 12, bar_along = bar * r2 / 2;
    const double stem_across = stem * (3 * r2 + 0.05 * 0.05) / 12, stem_along = stem * r2 / 2;
    const double shift = bar * 0.01 * 0.01 + stem * 0.02 * 0.02;
    const reference_top top = {.inertia = {bar_across + stem_along, bar_along + stem_across + shift,
                                           bar_across + stem_across + shift}};
    return top;
}

// Times at which the sampled w1 changes sign, and their number.
typedef struct flips {
    double last, times[MAX_FLIPS];
    int count, wanted;
} flips;

static void watch(flips* f, double time, double h, double w) {
    if (f->count < f->wanted && f->last * w < 0)
        f->times[f->count++] = time - h * w / (w - f->last);
    f->last = w;
}

static flips reference_flips(double disturbance, int wanted) {
    const reference_top top = handle();
    const double h = 1e-5;
    double y[7] = {1, 0, 0, 0, 3, disturbance, 0};
    flips found = {.last = 3, .wanted = wanted};
    for (long i = 1; found.count < wanted && i < 2000000; i++) {
        reference_rk4(reference_top_rate, &top, 7, h, 1, y);
        watch(&found, (double)i * h, h, y[4]);
    }
    cr_assert(found.count == wanted);
    return found;
}

static flips simulated_flips(const mabd_model* model, const mabd_sim_def* def,
                             const flips* expected) {
    const double h = def->h, end = expected->times[expected->wanted - 1] + 0.5;
    mabd_sim* sim = rig_sim(model, def);
    flips found = {.last = 3, .wanted = expected->wanted};
    for (int i = 1; i * h < end; i++) {
        mabd_real q[4], angular[3], w[3];
        rig_run(sim, 1);
        mabd_sim_get_state(sim, NULL, q, NULL, angular);
        reference_unrotate(q, angular, w);
        watch(&found, i * h, h, w[0]);
    }
    mabd_sim_destroy(sim);
    cr_assert(found.count == found.wanted, "%d flips", found.count);
    return found;
}

static void check_flips(mabd_preset preset, const char* disturbance, int wanted) {
    enum { sizes = 4 };
    const double h = 0.01;
    mabd_model* model = rig_file_model("scenes/t-handle.json", "disturbance", disturbance);
    const flips expected = reference_flips(atof(disturbance), wanted);
    double errors[MAX_FLIPS][sizes];
    for (int k = 0; k < sizes; k++) {
        const mabd_sim_def def = rig_def(preset, ldexp(h, -k));
        const flips found = simulated_flips(model, &def, &expected);
        for (int i = 0; i < wanted; i++) errors[i][k] = fabs(found.times[i] - expected.times[i]);
    }
    for (int i = 0; i < wanted; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s: flip at %.4f s", mabd_preset_name(preset),
                 expected.times[i]);
        // second order: with BDF2 on the coordinates up to 630/s
        const double factor = rig_square_bound(what, h, sizes, errors[i]);
        cr_expect(factor < 12, "%g/s", factor);
    }
    mabd_model_destroy(model);
}

Test(t_handle, flips_when_eulers_equations_say_with_the_exact_preset) {
    check_flips(MABD_PRESET_EXACT, "0.01", 1);
    check_flips(MABD_PRESET_EXACT, "0.3", MAX_FLIPS);
}

Test(t_handle, flips_when_eulers_equations_say_with_the_default_preset) {
    check_flips(MABD_PRESET_BALANCED, "0.01", 1);
    check_flips(MABD_PRESET_BALANCED, "0.3", MAX_FLIPS);
}

Test(t_handle, moments_are_those_of_two_cylinders) {
    mabd_model* model = rig_file_model("scenes/t-handle.json", NULL, NULL);
    const mabd_mass mass = mabd_model_body_mass(model, 0);
    const reference_top top = handle();
    double found[3] = {mass.principal[0], mass.principal[1], mass.principal[2]};
    for (int k = 0; k < 3; k++) { // x is the middle one
        const double expected = top.inertia[k];
        double nearest = INFINITY;
        for (int i = 0; i < 3; i++) nearest = fmin(nearest, fabs(found[i] / expected - 1));
        cr_expect(nearest < 1e-14, "moment %d: %g", k, nearest);
    }
    cr_expect(top.inertia[1] < top.inertia[0] && top.inertia[0] < top.inertia[2]);
    mabd_model_destroy(model);
}
