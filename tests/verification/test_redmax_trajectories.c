// SPDX-License-Identifier: Apache-2.0
// Each joint type in both directions, and balls in charts of their own: a second of motion at 1 ms
// in redmax against the quaternion formulation, which has rows and no coordinates. A
// bead on a closed curve against its equation of motion, which is integrated here.

#include "math/vec3.h"
#include "support/rig.h"
#include "support/sanitized.h"

#define G 9.81

static mabd_sim_def def_of(mabd_formulation formulation, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = formulation;
    def.integrator =
        formulation == MABD_FORMULATION_REDMAX ? MABD_INTEGRATOR_SDIRK2 : MABD_INTEGRATOR_TRBDF2;
    return def;
}

// ---- joints ------------------------------------------------------------------------------------

// Springs on the slides of a type, so that bodies stay near.
static void write_springs(mabd_joint type, char* out, size_t size) {
    static const char* const slides[MABD_JOINT_COUNT] = {
#define X(name, text, translations, rotations) translations,
        MABD_JOINT_LIST(X)
#undef X
    };
    size_t at = 0;
    for (const char* c = slides[type]; *c; c++) {
        at += (size_t)snprintf(out + at, size - at, "%s\"t%c\": {\"stiffness\": 600}",
                               at > 0 ? ", " : "", *c);
    }
    if (at == 0) out[0] = 0;
}

// A base on a hinge at the world, an arm on the joint; side 1: given from the arm to the base.
static mabd_model* arm_on(mabd_joint type, mabd_joint_chart chart, int side) {
    char springs[400], text[2400];
    write_springs(type, springs, sizeof springs);
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"base\", \"shape\": \"box\", "
             "\"size\": [0.5, 0.1, 0.2], \"density\": 500, \"position\": [0.25, 0, 0]}, {\"name\": "
             "\"arm\", \"shape\": \"box\", \"size\": [0.4, 0.15, 0.1], \"density\": 500, "
             "\"position\": [0.7, 0.05, 0], \"angular_velocity\": [1, 0.5, 2]}], \"start\": "
             "{\"close\": true}, \"joints\": [{\"type\": \"hinge\", \"b\": \"base\", \"axis\": [0, "
             "1, 0]}, {\"type\": \"%s\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.5, 0, 0], "
             "\"axis\": [0.6, 0, 0.8], \"axis2\": [0, 1, 0], \"chart\": \"%s\", \"axes\": {%s}}]}",
             mabd_joint_name(type), side ? "arm" : "base", side ? "base" : "arm",
             mabd_joint_chart_name(chart), springs);
    return rig_text_model(text);
}

// Largest distance of the two formulations over a second, in positions and rotations.
static double distance_of(mabd_joint type, mabd_joint_chart chart, int side) {
    mabd_model* model = arm_on(type, chart, side);
    const mabd_sim_def a = def_of(MABD_FORMULATION_REDMAX, 0.001);
    const mabd_sim_def b = def_of(MABD_FORMULATION_QUATERNION, 0.001);
    mabd_sim *one = rig_sim(model, &a), *two = rig_sim(model, &b);
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        mabd_real p[8], q[8];
        rig_step(one), rig_step(two);
        if (i % 20 != 19) continue;
        worst = fmax(worst, rig_apart(model, one, two));
        mabd_sim_get_state(one, NULL, p, NULL, NULL), mabd_sim_get_state(two, NULL, q, NULL, NULL);
        for (int k = 0; k < 8; k += 4) {
            double cosine = 0;
            for (int j = 0; j < 4; j++) cosine += p[k + j] * q[k + j];
            for (int j = 0; j < 4; j++) {
                const double sign = cosine < 0 ? -1 : 1;
                worst = fmax(worst, fabs(p[k + j] - sign * q[k + j]));
            }
        }
    }
    mabd_sim_destroy(two);
    rig_destroy(one, model);
    return worst;
}

Test(redmax_trajectories, of_every_joint_in_both_directions_are_those_of_quaternions) {
    for (int type = 0; type < MABD_JOINT_COUNT; type += AMOUNT(1, 3)) {
        for (int side = 0; side < 2; side++) {
            const double apart = distance_of((mabd_joint)type, MABD_CHART_LOCAL, side);
            printf("%-14s %d  %.1e\n", mabd_joint_name((mabd_joint)type), side, apart);
            cr_expect(lt(dbl, apart, 1e-4), "%s %d", mabd_joint_name((mabd_joint)type), side);
        }
    }
}

Test(redmax_trajectories, of_charted_balls_in_both_directions_are_those_of_quaternions) {
    for (int chart = MABD_CHART_EXPONENTIAL; chart < MABD_CHART_XYX; chart += AMOUNT(1, 4)) {
        const mabd_joint type = chart % 2 ? MABD_JOINT_BALL : MABD_JOINT_SLOT;
        const double apart = distance_of(type, (mabd_joint_chart)chart, chart / 2 % 2);
        const char* name = mabd_joint_chart_name((mabd_joint_chart)chart);
        printf("%-14s %.1e\n", name, apart);
        cr_expect(lt(dbl, apart, 1e-4), "%s", name);
    }
}

// ---- a bead on a loop --------------------------------------------------------------------------

#define POINTS 12
static void control(int i, double* x) {
    const double a = 2 * MABD_PI * (i % POINTS) / POINTS;
    x[0] = 1.2 * cos(a), x[1] = 0.8 * sin(a), x[2] = 0.3 * sin(2 * a) + 0.2 * cos(a);
}

// Position and derivatives by q of the uniform cubic B-spline of the control points.
static void loop_at(double q, double* x, double* d, double* dd) {
    const int s = (int)floor(q);
    const double u = q - s, v = 1 - u;
    const double B[4] = {v * v * v / 6, (3 * u * u * u - 6 * u * u + 4) / 6,
                         (-3 * u * u * u + 3 * u * u + 3 * u + 1) / 6, u * u * u / 6};
    const double B1[4] = {-v * v / 2, (3 * u * u - 4 * u) / 2, (-3 * u * u + 2 * u + 1) / 2,
                          u * u / 2};
    const double B2[4] = {v, 3 * u - 2, 1 - 3 * u, u};
    for (int k = 0; k < 3; k++) x[k] = d[k] = dd[k] = 0;
    for (int j = 0; j < 4; j++) {
        double c[3];
        control(s + j, c);
        for (int k = 0; k < 3; k++)
            x[k] += B[j] * c[k], d[k] += B1[j] * c[k], dd[k] += B2[j] * c[k];
    }
}

// p'.p' q'' + p'.p'' q'^2 + g z' = 0: s'' = -g dz/ds along the arc length s.
static double bend(double q, double v) {
    double x[3], d[3], dd[3], mass = 0, by_v = 0;
    loop_at(q, x, d, dd);
    for (int k = 0; k < 3; k++) mass += d[k] * d[k], by_v += d[k] * dd[k];
    return -(by_v * v * v + G * d[2]) / mass;
}
static void integrate(double* q, double* v, double time, int steps) {
    const double h = time / steps;
    for (int i = 0; i < steps; i++) {
        const double a1 = bend(*q, *v), v2 = *v + h / 2 * a1;
        const double a2 = bend(*q + h / 2 * *v, v2), v3 = *v + h / 2 * a2;
        const double a3 = bend(*q + h / 2 * v2, v3), v4 = *v + h * a3;
        const double a4 = bend(*q + h * v3, v4);
        *q += h / 6 * (*v + 2 * v2 + 2 * v3 + v4);
        *v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
}

static mabd_model* bead(double rate) {
    char text[4000];
    double x[3], d[3], dd[3];
    loop_at(1, x, d, dd);
    int at =
        sprintf(text,
                "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": "
                "\"sphere\", \"radius\": 0.1, \"mass\": 2, \"position\": [%.17g, %.17g, "
                "%.17g], \"velocity\": [%.17g, %.17g, %.17g]}], \"joints\": [{\"type\": "
                "\"spline-curve\", \"b\": \"b\", \"closed\": true, \"start\": 1, \"frames\": [",
                x[0], x[1], x[2], rate * d[0], rate * d[1], rate * d[2]);
    for (int i = 0; i < POINTS; i++) {
        control(i, x);
        at += sprintf(text + at, "%s{\"position\": [%.17g, %.17g, %.17g]}", i ? ", " : "", x[0],
                      x[1], x[2]);
    }
    sprintf(text + at, "]}]}");
    return rig_text_model(text);
}

// The place of the bead after a second; *energy gets the error of the energy.
static double place_of(const mabd_model* model, const mabd_sim_def* def, double* energy) {
    mabd_sim* sim = rig_sim(model, def);
    const mabd_measure before = mabd_sim_measure(sim);
    mabd_real x[MABD_AXIS_COUNT];
    while (mabd_sim_time(sim) < 1 - def->h / 2) rig_step(sim);
    const mabd_measure after = mabd_sim_measure(sim);
    mabd_sim_get_joint_coordinates(sim, 0, x);
    *energy = fabs(after.kinetic + after.gravity - before.kinetic - before.gravity);
    mabd_sim_destroy(sim);
    return x[0];
}

Test(redmax_trajectories, of_a_bead_on_a_loop_is_that_along_the_arc_length) {
    double q = 1, v = 6, errors[3], energies[3], energy;
    integrate(&q, &v, 1, 20000);
    mabd_model* model = bead(6);
    for (int i = 0; i < 3; i++) {
        const mabd_sim_def def = def_of(MABD_FORMULATION_REDMAX, ldexp(0.002, -i));
        errors[i] = fabs(place_of(model, &def, &energies[i]) - q);
    }
    cr_expect(lt(dbl, 1 + POINTS / 3, q));
    cr_expect(lt(dbl, 1.85, rig_order("bead on a loop", 0.002, 3, errors)));
    cr_expect(lt(dbl, 1.7, rig_order("its energy", 0.002, 3, energies)));
    mabd_sim_def def = def_of(MABD_FORMULATION_REDMAX, 0.01);
    def.integrator = MABD_INTEGRATOR_RK45, def.redmax.newton_tolerance = (mabd_real)1e-12;
    const double error = fabs(place_of(model, &def, &energy) - q);
    printf("by rk45: place %.1e, energy %.1e J\n", error, energy);
    cr_expect(lt(dbl, error, 1e-8));
    cr_expect(lt(dbl, energy, 1e-8));
    mabd_model_destroy(model);
}
