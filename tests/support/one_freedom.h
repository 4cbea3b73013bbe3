// SPDX-License-Identifier: Apache-2.0
// The motion of a mechanism of one freedom p in the x-z plane, from the places of its bodies:
//
//   I(p) p'' + I'(p) p'^2/2 + V'(p) = 0,   I = sum m |dc/dp|^2 + J (da/dp)^2,   V = sum m g z
//
// with centres c and angles a of the bodies, derivatives by differences of fourth order, integrated
// by RK4 with steps of 0.1 ms.
#pragma once

#include "support/rig.h"

#define ONE_FREEDOM_BODIES 8

/// Write x, z and the angle from +x to +z of each body at p.
typedef void one_freedom_place(double p, double out[][3]);

typedef struct one_freedom {
    int bodies;
    double mass[ONE_FREEDOM_BODIES], moment[ONE_FREEDOM_BODIES]; // [kg], [kg m^2]
    double gravity;                                              // [m/s^2], along -z
    one_freedom_place* at;
} one_freedom;

/// Add a bar of a square section and 1000 kg/m^3 to the bodies [m].
static inline void one_freedom_bar(one_freedom* m, double length, double width) {
    const double mass = 1000 * length * width * width;
    m->mass[m->bodies] = mass;
    m->moment[m->bodies++] = mass * (length * length + width * width) / 12;
}

static const double one_freedom_step = 1e-3;
static const double one_freedom_places[4] = {-2, -1, 1, 2}, one_freedom_weights[4] = {1, -8, 8, -1};

static inline double one_freedom_inertia(const one_freedom* m, double p) {
    double d[ONE_FREEDOM_BODIES][3] = {{0}}, middle[ONE_FREEDOM_BODIES][3], sum = 0;
    m->at(p, middle);
    for (int k = 0; k < 4; k++) {
        double at[ONE_FREEDOM_BODIES][3];
        m->at(p + one_freedom_places[k] * one_freedom_step, at);
        for (int i = 0; i < 3 * m->bodies; i++) { // angles without whole turns
            const double way = at[i / 3][i % 3] - middle[i / 3][i % 3];
            const double own = i % 3 == 2 ? remainder(way, 2 * acos(-1)) : way;
            d[i / 3][i % 3] += one_freedom_weights[k] * own;
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        sum += m->mass[i] * (d[i][0] * d[i][0] + d[i][1] * d[i][1]);
        sum += m->moment[i] * d[i][2] * d[i][2];
    }
    return sum / (144 * one_freedom_step * one_freedom_step);
}

static inline double one_freedom_potential(const one_freedom* m, double p) {
    double at[ONE_FREEDOM_BODIES][3], sum = 0;
    m->at(p, at);
    for (int i = 0; i < m->bodies; i++) sum += m->mass[i] * m->gravity * at[i][1];
    return sum;
}

static inline double one_freedom_acceleration(const one_freedom* m, double p, double rate) {
    double dI = 0, dV = 0;
    for (int k = 0; k < 4; k++) {
        const double at = p + one_freedom_places[k] * one_freedom_step;
        dI += one_freedom_weights[k] * one_freedom_inertia(m, at) / (12 * one_freedom_step);
        dV += one_freedom_weights[k] * one_freedom_potential(m, at) / (12 * one_freedom_step);
    }
    return -(dI * rate * rate / 2 + dV) / one_freedom_inertia(m, p);
}

/// Advance p and its rate w by `seconds`.
static inline void one_freedom_run(const one_freedom* m, double seconds, double* p, double* w) {
    const double h = 1e-4;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double a1 = one_freedom_acceleration(m, *p, *w), w2 = *w + h / 2 * a1;
        const double a2 = one_freedom_acceleration(m, *p + h / 2 * *w, w2), w3 = *w + h / 2 * a2;
        const double a3 = one_freedom_acceleration(m, *p + h / 2 * w2, w3), w4 = *w + h * a3;
        const double a4 = one_freedom_acceleration(m, *p + h * w3, w4);
        *p += h / 6 * (*w + 2 * w2 + 2 * w3 + w4);
        *w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
}

// ---- orders ------------------------------------------------------------------------------------

/// Least and largest orders of angle and rate of an integrator.
typedef struct one_freedom_bound {
    mabd_integrator integrator;
    double pose[2], rate[2];
} one_freedom_bound;

/// Read p, its rate from body 0: a crank that hangs at the origin.
static inline void one_freedom_read(const mabd_sim* sim, double* p, double* w) {
    mabd_real x[3 * ONE_FREEDOM_BODIES], angular[3 * ONE_FREEDOM_BODIES];
    mabd_sim_get_state(sim, x, NULL, NULL, angular);
    *p = atan2(x[2], x[0]), *w = -angular[1];
}

static inline void one_freedom_expect(const char* what, const one_freedom_bound* b, double h,
                                      const double* errors, const double* range) {
    char label[64];
    snprintf(label, sizeof label, "%s %s", mabd_integrator_name(b->integrator), what);
    rig_order(label, h, 4, errors);
    for (int k = 1; k < 4; k++) {
        const double order = log2(errors[k - 1] / errors[k]);
        cr_expect(order > range[0] && order < range[1], "%s: order %g", label, order);
    }
}

/// Compare the orders of integrators (count) of a formulation at steps h, h/2, h/4, h/8 with their
/// bounds, after `seconds`. Returns the largest gap [m] and angle error [rad] of all steps. The
/// model is destroyed.
static inline double one_freedom_orders(const one_freedom* m, mabd_model* model,
                                        mabd_formulation formulation, double h, double seconds,
                                        size_t count, const one_freedom_bound* bounds) {
    double p = 0, w = 0, gap = 0;
    for (size_t i = 0; i < count; i++) {
        double pose[4], rate[4];
        for (int k = 0; k < 4; k++) {
            mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)ldexp(h, -k));
            def.formulation = formulation;
            def.integrator = bounds[i].integrator;
            mabd_sim* sim = rig_sim(model, &def);
            if (i == 0 && k == 0) {
                one_freedom_read(sim, &p, &w);
                one_freedom_run(m, seconds, &p, &w);
            }
            double angle, speed;
            const int steps = (int)lround(seconds / (double)def.h);
            for (int n = 0; n < steps; n++) {
                const mabd_step_info info = rig_step(sim);
                gap = fmax(gap, fmax(info.gap, info.angle_error));
            }
            one_freedom_read(sim, &angle, &speed);
            pose[k] = fabs(remainder(angle - p, 2 * acos(-1))), rate[k] = fabs(speed - w);
            mabd_sim_destroy(sim);
        }
        one_freedom_expect("angle", &bounds[i], h, pose, bounds[i].pose);
        one_freedom_expect("rate", &bounds[i], h, rate, bounds[i].rate);
    }
    mabd_model_destroy(model);
    return gap;
}

// ---- the four-bar ------------------------------------------------------------------------------

static const double four_bar_lengths[3] = {0.3, 0.8, 0.6}, four_bar_ground = 0.8;

/// Places of crank, coupler and rocker, by the loop of two circles.
static inline void four_bar_place(double p, double out[][3]) {
    const double a = four_bar_lengths[0], b = four_bar_lengths[1], c = four_bar_lengths[2];
    const double bx = a * cos(p), bz = a * sin(p), ex = four_bar_ground - bx, ez = -bz;
    const double e = hypot(ex, ez), u = (e * e + b * b - c * c) / (2 * e), v = sqrt(b * b - u * u);
    const double cx = bx + (u * ex - v * ez) / e, cz = bz + (u * ez + v * ex) / e;
    const double near[3][2] = {{0, 0}, {bx, bz}, {four_bar_ground, 0}};
    const double far[3][2] = {{bx, bz}, {cx, cz}, {cx, cz}};
    for (int i = 0; i < 3; i++) {
        out[i][0] = (near[i][0] + far[i][0]) / 2, out[i][1] = (near[i][1] + far[i][1]) / 2;
        out[i][2] = atan2(far[i][1] - near[i][1], far[i][0] - near[i][0]);
    }
}

/// The four-bar of the generator's default, with gravity.
static inline one_freedom four_bar_mechanism(void) {
    one_freedom m = {.gravity = 9.81, .at = four_bar_place};
    for (int i = 0; i < 3; i++) one_freedom_bar(&m, four_bar_lengths[i], 0.03);
    return m;
}

/// Build the four-bar, which runs free.
static inline mabd_model* four_bar_model(void) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_four_bar_def four_bar = mabd_default_four_bar_def();
    four_bar.driven = false;
    rig_check(mabd_generate_four_bar(scene, &four_bar, &error), &error, "four-bar");
    return rig_model(scene);
}
