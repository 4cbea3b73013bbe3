// SPDX-License-Identifier: Apache-2.0
// The mechanisms of scenes/: scissor ring, four-bar chain and Strandbeest move by their kinematics
// with all joints closed; the willow stays upright.
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void body_position(const mabd_sim* sim, const char* name, mabd_real* position,
                          mabd_real* quaternion) {
    const mabd_model* model = mabd_sim_model(sim);
    const int32_t n = mabd_model_body_count(model), body = mabd_model_find_body(model, name);
    cr_assert(body >= 0, "%s", name);
    mabd_real* state = malloc((size_t)n * 13 * sizeof *state);
    cr_assert(state != NULL);
    mabd_real *p = state, *q = p + 3 * n, *v = q + 4 * n, *w = v + 3 * n;
    mabd_sim_get_state(sim, p, q, v, w);
    memcpy(position, p + 3 * body, 3 * sizeof *p);
    memcpy(quaternion, q + 4 * body, 4 * sizeof *q);
    free(state);
}

/// Make one step; it must converge with closed joints.
static void step_closed(mabd_sim* sim) {
    const mabd_step_info info = rig_step(sim);
    cr_assert(info.converged);
    const mabd_measure measure = mabd_sim_measure(sim);
    cr_assert(measure.gap < 1e-9, "gap %g", (double)measure.gap);
    cr_assert(measure.angle_error < 1e-6, "angle error %g", (double)measure.angle_error);
}

// The middle hinges are at radius arm cos(phi) / sin(pi / units), phi = 0.7 + 0.5 sin(pi t): one
// servo opens and closes the whole ring. The bars are of steel: those of the scene, 200 times
// softer, shear by 1e-4 under the servo's torque. 43 of its 181 rows are redundant and K is
// singular; the rows still close to the tolerance of the preset, 1e-12.
Test(mechanisms, scissor_ring_opens_and_closes) {
    mabd_error error = {0};
    mabd_scissor_ring_def ring = mabd_default_scissor_ring_def();
    ring.name = "ring", ring.material.young = 2e11;
    mabd_scene* scene = rig_scene(0);
    rig_check(mabd_generate_scissor_ring(scene, &ring, &error), &error, "ring");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    double least = 1e9, most = 0, worst = 0;
    for (int i = 1; i <= 200; i++) {
        step_closed(sim);
        const double phi = 0.7 + 0.5 * sin(2 * pi * 0.5 * 0.01 * i);
        const double expected = 0.2 * cos(phi) / sin(pi / 12);
        mabd_real a[3], b[3], q[4];
        body_position(sim, "ring/a/2", a, q);
        body_position(sim, "ring/a/8", b, q); // opposite
        const double radius = rig_distance(a, b) / 2;
        worst = fmax(worst, fabs(radius - expected));
        least = fmin(least, radius), most = fmax(most, radius);
    }
    printf("scissor ring: radius %.3f .. %.3f m, off by at most %.2e m\n", least, most, worst);
    cr_assert(most > 2 * least);
    cr_assert(worst < 1e-6, "%g", worst);
    rig_destroy(sim, model);
}

// Without the servo, the kinetic energy of the ring is constant: nothing jams.
Test(mechanisms, free_scissor_ring_keeps_moving) {
    mabd_error error = {0};
    mabd_scissor_ring_def ring = mabd_default_scissor_ring_def();
    ring.driven = false, ring.speed = 0.2, ring.angle = 0.6;
    mabd_scene* scene = rig_scene(0);
    rig_check(mabd_generate_scissor_ring(scene, &ring, &error), &error, "ring");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).kinetic;
    for (int i = 0; i < 200; i++) step_closed(sim);
    const double end = mabd_sim_measure(sim).kinetic;
    printf("free scissor ring: kinetic energy %.6g J -> %.6g J\n", start, end);
    cr_assert(fabs(end / start - 1) < 1e-2, "%g", end / start);
    rig_destroy(sim, model);
}

Test(mechanisms, four_bar_chain_falls_and_folds) {
    mabd_model* model = rig_file_model("scenes/four-bar-chain.json", NULL, NULL);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real start[3], end[3], q[4];
    body_position(sim, "chain/segment9/2", start, q);
    double turned = 0;
    for (int i = 0; i < 200; i++) {
        step_closed(sim);
        mabd_real coordinates[6];
        mabd_sim_get_joint_coordinates(sim, mabd_model_find_joint(model, "chain/segment4/2"),
                                       coordinates);
        turned = fmax(turned, fabs(coordinates[MABD_AXIS_RX]));
    }
    body_position(sim, "chain/segment9/2", end, q);
    printf("four-bar chain: the end moved %.2f m, segment 4 opened by up to %.2f rad\n",
           rig_distance(start, end), turned);
    cr_assert(start[2] - end[2] > 4);
    cr_assert(turned > 0.1);
    const mabd_measure measure = mabd_sim_measure(sim); // energy 0 at the start
    printf("four-bar chain: energy %.3g J, %.4g J of it kinetic\n", (double)measure.energy,
           (double)measure.kinetic);
    cr_assert(measure.energy < 1e-6 && measure.energy > -0.01 * measure.kinetic);
    rig_destroy(sim, model);
}

// ---- a rhombus at its change point -------------------------------------------------------------
//
// Four equal bars, hinged to the world in one corner. While it is a rhombus, opposite bars are
// parallel and two angles above x describe it: a of the upper near and lower far bar, b of the
// other two. With I about the centres, A = 2 I + 3/2 m l^2, B = m l^2, G = 2 m g l,
//
//   A a" + B cos(a - b) b" = -B sin(a - b) b'^2 - G cos(a)
//   A b" + B cos(a - b) a" = +B sin(a - b) a'^2 - G cos(b)
//
// which is also regular at a = b, where all bars are in line. The joints are not: there the upper
// and the lower half could also fold to the same side, and forces across a - b keep them apart.

typedef struct rhombus {
    double y[4]; // a, b and their rates
} rhombus;

static rhombus rhombus_rates(rhombus r) {
    const double inertia = (1 + 0.06 * 0.06) / 12, A = 2 * inertia + 1.5, G = 2 * 9.81;
    const double a = r.y[0], b = r.y[1], u = r.y[2], v = r.y[3];
    const double c = cos(a - b), s = sin(a - b), det = A * A - c * c;
    const double f = -s * v * v - G * cos(a), g = s * u * u - G * cos(b);
    const rhombus rates = {{u, v, (A * f - c * g) / det, (A * g - c * f) / det}};
    return rates;
}

static rhombus rhombus_add(rhombus r, double h, rhombus rates) {
    for (int k = 0; k < 4; k++) r.y[k] += h * rates.y[k];
    return r;
}

/// Return a - b after `time`, by RK4 from a square at rest.
static double rhombus_opening(double time) {
    const int steps = 2000;
    const double h = time / steps;
    rhombus r = {{pi / 4, -pi / 4, 0, 0}};
    for (int i = 0; i < steps; i++) {
        const rhombus k1 = rhombus_rates(r), k2 = rhombus_rates(rhombus_add(r, h / 2, k1));
        const rhombus k3 = rhombus_rates(rhombus_add(r, h / 2, k2));
        const rhombus k4 = rhombus_rates(rhombus_add(r, h, k3));
        r = rhombus_add(rhombus_add(r, h / 6, k1), h / 3, k2);
        r = rhombus_add(rhombus_add(r, h / 3, k3), h / 6, k4);
    }
    return r.y[0] - r.y[1];
}

static mabd_model* rhombus_model(mabd_real young) {
    mabd_error error = {0};
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    def.segments = 1, def.width = 0.06, def.young = young;
    mabd_scene* scene = rig_scene(-9.81);
    rig_check(mabd_generate_four_bar_chain(scene, &def, &error), &error, "rhombus");
    return rig_model(scene);
}

// It passes the change point twice, at 0.596 s and 1.126 s, and continues like the rigid one.
Test(mechanisms, rhombus_passes_its_change_point) {
    mabd_model* model = rhombus_model(1e11);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.0005);
    const int32_t corner = mabd_model_find_joint(model, "four-bar-chain/segment0/1");
    mabd_sim* sim = rig_sim(model, &def);
    cr_assert(corner >= 0);
    for (int i = 1; i <= AMOUNT(3000, 1500); i++) {
        step_closed(sim);
        if (i % 500 != 0) continue;
        mabd_real coordinates[6];
        mabd_sim_get_joint_coordinates(sim, corner, coordinates);
        const double opening = pi / 2 - coordinates[MABD_AXIS_RX];
        const double expected = rhombus_opening(0.0005 * i);
        printf("rhombus at %.2f s: open by %.6f rad, rigid %.6f rad\n", 0.0005 * i, opening,
               expected);
        cr_expect(fabs(opening - expected) < 2e-3);
    }
    rig_destroy(sim, model);
}

// Larger steps lose vibration of the bars there, which BDF2 damps: once it is resolved, energy is
// constant.
Test(mechanisms, rhombus_loses_nothing_but_vibration) {
    mabd_model* model = rhombus_model(1e8);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.00005);
    mabd_sim* sim = rig_sim(model, &def);
    double most = 0;
    for (int i = 0; i < AMOUNT(26000, 2600); i++) {
        rig_step(sim);
        if (i % 100 == 0) most = fmax(most, mabd_sim_measure(sim).kinetic);
    }
    const mabd_measure measure = mabd_sim_measure(sim); // energy 0 at the start
    printf("rhombus of 1e8 Pa: %.2e of the energy lost\n", -measure.energy / most);
    cr_expect(fabs(measure.energy) < 5e-4 * most);
    rig_destroy(sim, model);
}

// The path of a foot in one turn is closed, and flat below: while the foot is in the lowest eighth
// of its height, it covers most of its stride.
Test(mechanisms, strandbeest_foot_walks_on_a_flat_path) {
    enum { STEPS = 210 }; // in one turn
    mabd_model* model = rig_file_model("scenes/strandbeest.json", "pairs", "1");
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 2 * pi / 3 / STEPS);
    mabd_sim* sim = rig_sim(model, &def);
    int32_t count = 0;
    const int32_t lower = mabd_model_find_body(model, "beest/leg0/lower");
    const mabd_geom* geom = mabd_model_body_geoms(model, lower, &count) + 1; // D to the foot
    cr_assert(count == 3);
    const double corner[2] = {2 * geom->position[0], 2 * geom->position[2]};
    double x[STEPS + 1], z[STEPS + 1], left = 1e9, right = -1e9, low = 1e9, high = -1e9;
    for (int i = 0; i <= STEPS; i++) {
        mabd_real p[3], q[4];
        if (i > 0) step_closed(sim);
        body_position(sim, "beest/leg0/lower", p, q);
        const double angle = -2 * atan2(q[2], q[0]); // about -y
        x[i] = p[0] + corner[0] * cos(angle) - corner[1] * sin(angle);
        z[i] = p[2] + corner[0] * sin(angle) + corner[1] * cos(angle);
        left = fmin(left, x[i]), right = fmax(right, x[i]);
        low = fmin(low, z[i]), high = fmax(high, z[i]);
    }
    double near = 1e9, far = -1e9;
    for (int i = 0; i <= STEPS; i++) {
        if (z[i] > low + (high - low) / 8) continue;
        near = fmin(near, x[i]), far = fmax(far, x[i]);
    }
    printf("strandbeest: stride %.3f m, step height %.3f m, flat over %.0f %%\n", right - left,
           high - low, 100 * (far - near) / (right - left));
    cr_assert(hypot(x[STEPS] - x[0], z[STEPS] - z[0]) < 1e-3, "path not closed: %g",
              hypot(x[STEPS] - x[0], z[STEPS] - z[0]));
    cr_assert(right - left > 0.6 && right - left < 0.9, "stride %g", right - left);
    cr_assert(high - low > 0.15 && high - low < 0.35, "height %g", high - low);
    const double flat = (far - near) / (right - left);
    cr_assert(flat > 0.7, "flat over %g", flat);
    rig_destroy(sim, model);
}

// Without wind the willow sags slightly under its weight, sways and stays upright; dampers
// dissipate energy, nothing adds any.
Test(mechanisms, willow_stands) {
    mabd_model* model = rig_file_model("scenes/willow.json", "wind", "0");
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    mabd_real before[3], after[3], q[4];
    const char* top = "willow/level0/segment7/0";
    body_position(sim, top, before, q);
    double highest = -1e30;
    for (int i = 0; i < AMOUNT(100, 20); i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.gap < 1e-9);
        if (i % 20 == 19) highest = fmax(highest, mabd_sim_measure(sim).energy);
    }
    body_position(sim, top, after, q);
    const mabd_measure end = mabd_sim_measure(sim);
    printf("willow: potential %.1f J -> %.1f J, top moved %.4f m\n", (double)start.gravity,
           (double)end.gravity, rig_distance(before, after));
    cr_assert(highest <= start.energy);
    cr_assert(end.gravity > 0.95 * start.gravity);
    cr_assert(rig_distance(before, after) < 0.05);
    rig_destroy(sim, model);
}
