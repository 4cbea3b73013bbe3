// SPDX-License-Identifier: Apache-2.0
// Orders of the integrators of the quaternion formulation on a passive four-bar of hinges, whose
// three redundant rows are kept, against the equation of its one freedom, the angle p of the crank:
//
//   I(p) p'' + I'(p) p'^2/2 + V'(p) = 0,   I = sum m |dc/dp|^2 + J (da/dp)^2,   V = sum m g z
//
// with centres c and angles a of the bars from the loop of two circles, derivatives by differences
// of fourth order, integrated here by RK4 with steps of 0.1 ms. Lengths and masses are those of the
// generator's default.

#include "support/rig.h"

#define BARS 3
static const double gravity = 9.81, width = 0.03, density = 1000;
static const double lengths[BARS] = {0.3, 0.8, 0.6}, ground = 0.8;
static const double start_angle = 3.14159265358979323846 / 3, seconds = 0.4;

// ---- the reference -----------------------------------------------------------------------------

// Centre and angle (3) of each bar at a crank angle, from +x to +z.
static void loop_at(double p, double out[BARS][3]) {
    const double a = lengths[0], b = lengths[1], c = lengths[2];
    const double bx = a * cos(p), bz = a * sin(p), ex = ground - bx, ez = -bz;
    const double e = hypot(ex, ez), u = (e * e + b * b - c * c) / (2 * e), v = sqrt(b * b - u * u);
    const double cx = bx + (u * ex - v * ez) / e, cz = bz + (u * ez + v * ex) / e;
    const double near[BARS][2] = {{0, 0}, {bx, bz}, {ground, 0}};
    const double far[BARS][2] = {{bx, bz}, {cx, cz}, {cx, cz}};
    for (int i = 0; i < BARS; i++) {
        out[i][0] = (near[i][0] + far[i][0]) / 2, out[i][1] = (near[i][1] + far[i][1]) / 2;
        out[i][2] = atan2(far[i][1] - near[i][1], far[i][0] - near[i][0]);
    }
}

static const double places[4] = {-2, -1, 1, 2}, weights[4] = {1, -8, 8, -1}; // over 12 steps

static double inertia_at(double p) {
    const double step = 1e-3;
    double d[BARS][3] = {{0}}, middle[BARS][3], sum = 0;
    loop_at(p, middle);
    for (int k = 0; k < 4; k++) {
        double at[BARS][3];
        loop_at(p + places[k] * step, at);
        for (int i = 0; i < 3 * BARS; i++) { // angles without whole turns
            const double way = at[i / 3][i % 3] - middle[i / 3][i % 3];
            d[i / 3][i % 3] += weights[k] * (i % 3 == 2 ? remainder(way, 2 * acos(-1)) : way);
        }
    }
    for (int i = 0; i < BARS; i++) {
        const double mass = density * lengths[i] * width * width;
        const double J = mass * (lengths[i] * lengths[i] + width * width) / 12;
        sum += mass * (d[i][0] * d[i][0] + d[i][1] * d[i][1]) + J * d[i][2] * d[i][2];
    }
    return sum / (144 * step * step);
}

static double potential_at(double p) {
    double at[BARS][3], sum = 0;
    loop_at(p, at);
    for (int i = 0; i < BARS; i++) sum += density * lengths[i] * width * width * gravity * at[i][1];
    return sum;
}

static double acceleration_at(double p, double rate) {
    const double step = 1e-3;
    double dI = 0, dV = 0;
    for (int k = 0; k < 4; k++) {
        dI += weights[k] * inertia_at(p + places[k] * step) / (12 * step);
        dV += weights[k] * potential_at(p + places[k] * step) / (12 * step);
    }
    return -(dI * rate * rate / 2 + dV) / inertia_at(p);
}

static void reference(double* p, double* w) {
    const double h = 1e-4;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double a1 = acceleration_at(*p, *w), w2 = *w + h / 2 * a1;
        const double a2 = acceleration_at(*p + h / 2 * *w, w2), w3 = *w + h / 2 * a2;
        const double a3 = acceleration_at(*p + h / 2 * w2, w3), w4 = *w + h * a3;
        const double a4 = acceleration_at(*p + h * w3, w4);
        *p += h / 6 * (*w + 2 * w2 + 2 * w3 + w4);
        *w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
}

// ---- the simulation ----------------------------------------------------------------------------

static void read_crank(const mabd_sim* sim, double* p, double* w) {
    mabd_real x[3 * BARS], angular[3 * BARS];
    mabd_sim_get_state(sim, x, NULL, NULL, angular);
    *p = atan2(x[2], x[0]), *w = -angular[1];
}

typedef struct bound {
    mabd_integrator integrator;
    double pose[2], rate[2]; // least and largest order
} bound;

static const bound bounds[] = {
    {MABD_INTEGRATOR_EULER, {0.8, 1.1}, {0.8, 1.1}},
    {MABD_INTEGRATOR_BDF2, {1.9, 2.1}, {1.9, 2.1}},
    {MABD_INTEGRATOR_TRBDF2, {1.9, 2.1}, {1.9, 2.1}},
    {MABD_INTEGRATOR_SDIRK2, {0.9, 1.1}, {0.9, 1.1}},
    {MABD_INTEGRATOR_PARESCHI_RUSSO, {1.85, 2.1}, {0.8, 1.2}},
};

static void expect_orders(const char* what, const bound* b, const double* errors,
                          const double* range) {
    char label[64];
    snprintf(label, sizeof label, "%s %s", mabd_integrator_name(b->integrator), what);
    rig_order(label, 0.002, 4, errors);
    for (int k = 1; k < 4; k++) {
        const double order = log2(errors[k - 1] / errors[k]);
        cr_expect(order > range[0] && order < range[1], "%s: order %g", label, order);
    }
}

Test(quaternion_four_bar, orders_of_the_integrators) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_four_bar_def four_bar = mabd_default_four_bar_def();
    four_bar.driven = false;
    rig_check(mabd_generate_four_bar(scene, &four_bar, &error), &error, "four-bar");
    mabd_model* model = rig_model(scene);
    double p = 0, w = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        double pose[4], rate[4];
        for (int k = 0; k < 4; k++) {
            mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)(0.002 / (1 << k)));
            def.formulation = MABD_FORMULATION_QUATERNION;
            def.integrator = bounds[i].integrator;
            mabd_sim* sim = rig_sim(model, &def);
            if (i == 0 && k == 0) {
                read_crank(sim, &p, &w);
                cr_assert(lt(dbl, fabs(p - start_angle), 1e-12));
                reference(&p, &w);
            }
            double angle, speed;
            for (int n = 0; n < (int)lround(seconds / (double)def.h); n++) rig_step(sim);
            read_crank(sim, &angle, &speed);
            pose[k] = fabs(remainder(angle - p, 2 * acos(-1))), rate[k] = fabs(speed - w);
            mabd_sim_destroy(sim);
        }
        expect_orders("angle", &bounds[i], pose, bounds[i].pose);
        expect_orders("rate", &bounds[i], rate, bounds[i].rate);
    }
    mabd_model_destroy(model);
}
