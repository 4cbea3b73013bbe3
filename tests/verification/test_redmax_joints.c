// SPDX-License-Identifier: Apache-2.0
// Joints without atomic rows in the redmax formulation: screws, composites, spline curves and
// surfaces against closed forms and independent integrations, at their ends, as copies, saved, set,
// refused elsewhere; bad input with its place.

#include "support/redmax_case.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define G 9.81

static mabd_sim_def redmax(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    return def;
}

// A ball of 2 kg and radius 0.1 m, I = 2/5 m r^2.
#define BALL  "{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 2"
#define MASS  2.0
#define INERT (0.4 * MASS * 0.01)

static mabd_model* model_of(const char* body, const char* joint) {
    char* text = malloc(strlen(body) + strlen(joint) + 200);
    sprintf(text, "{\"bodies\": [" BALL "%s}], \"joints\": [{\"b\": \"b\", %s}]}", body, joint);
    mabd_model* model = rig_text_model(text);
    free(text);
    return model;
}

static double coordinate(const mabd_sim* sim, int axis) {
    mabd_real x[MABD_AXIS_COUNT];
    mabd_sim_get_joint_coordinates(sim, 0, x);
    return x[axis];
}

// ---- screws ------------------------------------------------------------------------------------

// A nut on a vertical screw: (I + m p^2) q'' = -m g p, in every integrator of second order exactly.
Test(redmax_joints, nut_falls_along_its_screw) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                              MABD_INTEGRATOR_RK45};
    for (int i = 0; i < 3; i++) {
        const double pitch = 0.05;
        mabd_model* model =
            model_of("", "\"type\": \"screw\", \"pitch\": 0.05, \"axis\": [0, 0, 1]");
        mabd_sim_def def = redmax(0.01);
        def.integrator = methods[i];
        mabd_sim* sim = rig_sim(model, &def);
        for (int k = 0; k < 100; k++) rig_step(sim);
        const double angle = -MASS * G * pitch / (INERT + MASS * pitch * pitch) / 2;
        mabd_real x[3];
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        cr_expect(lt(dbl, fabs(coordinate(sim, MABD_AXIS_RX) / angle - 1), 1e-10));
        cr_expect(lt(dbl, fabs(x[2] - pitch * angle), 1e-9));
        cr_expect(lt(dbl, fabs(coordinate(sim, MABD_AXIS_TX) - pitch * angle), 1e-9));
        rig_destroy(sim, model);
    }
}

// A screw is a cylindrical joint whose slide and turn keep their ratio: a force along the axis of
// the one equals the force and the torque F/p ... of the other. With a spring on rx: the frequency.
Test(redmax_joints, screw_with_a_spring_oscillates) {
    const double pitch = 0.03, k = 4, inertia = INERT + MASS * pitch * pitch, w = sqrt(k / inertia);
    double errors[3];
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.004, -i);
        mabd_model* model = model_of(
            ", \"angular_velocity\": [0, 0, 2], \"velocity\": [0, 0, 0.06]",
            "\"type\": \"screw\", \"pitch\": 0.03, \"axis\": [0, 0, 1], \"axes\": {\"rx\": "
            "{\"stiffness\": 4}}");
        mabd_sim_def def = redmax(h);
        mabd_sim* sim = rig_sim(model, &def);
        cr_expect(eq(i32, mabd_sim_warnings(sim, 0, NULL), 0));
        while (mabd_sim_time(sim) < 0.4 - 1e-9) rig_step(sim);
        const double rest = -MASS * G * pitch / k;
        const double exact = rest * (1 - cos(w * 0.4)) + 2 / w * sin(w * 0.4);
        errors[i] = fabs(coordinate(sim, MABD_AXIS_RX) - exact);
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 1.85, rig_order("screw with a spring", 0.004, 3, errors)));
}

// ---- composites --------------------------------------------------------------------------------

// Largest difference of states after half a second.
static double difference_of(const char* joint, const char* other, double h) {
    static const char body[] = ", \"position\": [0.3, 0.1, 0.2], \"angular_velocity\": [1, 2, 3]";
    mabd_model *a = model_of(body, joint), *b = model_of(body, other);
    const mabd_sim_def def = redmax(h);
    mabd_sim *one = rig_sim(a, &def), *two = rig_sim(b, &def);
    mabd_real x[13], y[13];
    mabd_error error = {0};
    double worst = 0;
    mabd_sim_get_state(two, y, y + 3, y + 7, y + 10); // velocities as its rows project them
    rig_check(mabd_sim_set_state(one, NULL, NULL, y + 7, y + 10, &error), &error, "velocities");
    while (mabd_sim_time(one) < 0.5 - 1e-9) rig_step(one), rig_step(two);
    mabd_sim_get_state(one, x, x + 3, x + 7, x + 10);
    mabd_sim_get_state(two, y, y + 3, y + 7, y + 10);
    for (int k = 0; k < 13; k++) worst = fmax(worst, fabs(x[k] - y[k]));
    rig_destroy(one, a), rig_destroy(two, b);
    return worst;
}

static void expect_same(const char* joint, const char* other) {
    const double difference = difference_of(joint, other, 0.005);
    cr_expect(lt(dbl, difference, 1e-10), "%s", joint);
}

Test(redmax_joints, composites_move_like_the_joints_that_they_make_up) {
    expect_same("\"type\": \"composite\", \"axis\": [0, 1, 0], \"joints\": "
                "[{\"type\": \"prismatic\"}, {\"type\": \"hinge\"}]",
                "\"type\": \"cylindrical\", \"axis\": [0, 1, 0]");
    expect_same("\"type\": \"composite\", \"axis\": [0, 1, 0], \"joints\": "
                "[{\"type\": \"hinge\"}, {\"type\": \"hinge\", \"axis\": [0, 1, 0]}]",
                "\"type\": \"universal\", \"axis\": [0, 1, 0]");
    expect_same("\"type\": \"composite\", \"joints\": [{\"type\": \"prismatic\"}, {\"type\": "
                "\"ball\"}]",
                "\"type\": \"slot\"");
}

// A screw and a ball reach what a slot reaches, by other coordinates: the difference is that of two
// discretisations.
Test(redmax_joints, screw_with_a_ball_tends_to_a_slot) {
    double errors[3];
    for (int i = 0; i < 3; i++) {
        errors[i] = difference_of("\"type\": \"composite\", \"joints\": [{\"type\": \"screw\", "
                                  "\"pitch\": 1}, {\"type\": \"ball\"}]",
                                  "\"type\": \"slot\"", ldexp(0.0025, -i));
    }
    cr_expect(lt(dbl, 1.8, rig_order("screw and ball, slot", 0.0025, 3, errors)));
}

// A hinge, 0.5 m further a hinge: a double pendulum whose upper rod has no mass. Its bob of mass m
// (moment I) on the rod of length l swings about the lower pivot; energy and the equations of
// motion of the Lagrangian, integrated here.
typedef struct double_state {
    double x[4]; // angles, rates
} double_state;

// Angles from the horizontal x axis about -y; the bob is 0.3 m from the lower pivot.
static void double_slope(const double* x, double* out) {
    const double l = 0.5, c = 0.3, s = x[0] + x[1], w = x[2] + x[3];
    // T = m/2 |v|^2 + I/2 w^2, v = l x0' e(x0) + c (x0' + x1') e(x0 + x1); V = m g z
    const double m11 = MASS * (l * l + c * c + 2 * l * c * cos(x[1])) + INERT;
    const double m12 = MASS * (c * c + l * c * cos(x[1])) + INERT, m22 = MASS * c * c + INERT;
    const double k = MASS * l * c * sin(x[1]);
    const double f1 = k * (w * w - x[2] * x[2]) - MASS * G * (l * cos(x[0]) + c * cos(s));
    const double f2 = -k * x[2] * x[2] - MASS * G * c * cos(s);
    const double det = m11 * m22 - m12 * m12;
    out[0] = x[2], out[1] = x[3];
    out[2] = (m22 * f1 - m12 * f2) / det, out[3] = (m11 * f2 - m12 * f1) / det;
}

// Classical Runge-Kutta of an autonomous system of at most 4 unknowns.
static void runge_kutta(int n, void (*slope)(const double*, double*), double* x, double time,
                        int steps) {
    const double h = time / steps;
    for (int i = 0; i < steps; i++) {
        double k[4][4], y[4];
        for (int s = 0; s < 4; s++) {
            const double share = s == 0 ? 0 : s == 3 ? h : h / 2;
            for (int j = 0; j < n; j++) y[j] = x[j] + (s > 0 ? share * k[s - 1][j] : 0);
            slope(y, k[s]);
        }
        for (int j = 0; j < n; j++) x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

Test(redmax_joints, composite_with_an_offset_is_a_massless_link) {
    double errors[3], exact[4] = {0, 0, 0, 0};
    runge_kutta(4, double_slope, exact, 0.4, 4000);
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.004, -i);
        mabd_model* model = model_of(", \"position\": [0.8, 0, 0]",
                                     "\"type\": \"composite\", \"axis\": [0, -1, 0], \"axis2\": "
                                     "[0, 0, 1], \"joints\": [{\"type\": \"hinge\"}, {\"type\": "
                                     "\"hinge\", \"anchor\": [0, 0, -0.5]}]");
        mabd_sim_def def = redmax(h);
        mabd_sim* sim = rig_sim(model, &def);
        while (mabd_sim_time(sim) < 0.4 - 1e-9) rig_step(sim);
        errors[i] = fmax(fabs(coordinate(sim, 0) - exact[0]), fabs(coordinate(sim, 1) - exact[1]));
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 1.85, rig_order("massless upper rod", 0.004, 3, errors)));
}

// A slide and an upright hinge, each with a place of its own, hold a body at rest: the wrench on b
// at the anchor behind all parts is f = +-m g, (c - anchor) x f, by a tree from either body.
static void expect_held(const char* bodies, double sign) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"bodies\": [" BALL ", \"position\": [0.8, 0.1, 0.2]}], \"joints\": [{%s, \"type\": "
             "\"composite\", \"axis\": [1, 0, 0], \"axis2\": [0, 1, 0], \"anchor\": [0, 0, 0], "
             "\"joints\": [{\"type\": \"prismatic\", \"anchor\": [0.2, 0.3, -0.5]}, {\"type\": "
             "\"hinge\", \"axis\": [0, 0, 1], \"anchor\": [0.1, -0.2, 0.3]}]}]}",
             bodies);
    const double arm[3] = {0.5, 0, 0.4}, f = sign * MASS * G; // anchor at (0.3, 0.1, -0.2)
    const double expected[6] = {0, 0, f, arm[1] * f, -arm[0] * f, 0};
    mabd_model* model = rig_text_model(text);
    const mabd_sim_def def = redmax(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real force[6];
    for (int i = 0; i < 3; i++) rig_step(sim);
    mabd_sim_get_joint_forces(sim, force);
    for (int k = 0; k < 6; k++) {
        cr_expect(epsilon_eq(dbl, force[k], expected[k], 1e-10), "%s: component %d", bodies, k);
    }
    rig_destroy(sim, model);
}

Test(redmax_joints, composite_with_offsets_reports_its_wrench_at_the_anchor_from_both_sides) {
    expect_held("\"a\": \"world\", \"b\": \"b\"", 1);
    expect_held("\"a\": \"b\", \"b\": \"world\"", -1);
}

// ---- curves ------------------------------------------------------------------------------------

// z = x^2/2 exactly: control values of a quadratic are x_i^2/2 - 1/6 at knots 1 apart. The sphere
// does not turn: x''(1 + x^2) + x x'^2 + g x = 0.
static void parabola_slope(const double* x, double* out) {
    out[0] = x[1], out[1] = -(x[0] * x[1] * x[1] + G * x[0]) / (1 + x[0] * x[0]);
}

static char* parabola(int first, int last) {
    char* text = malloc(4000);
    int at = sprintf(text, "\"type\": \"spline-curve\", \"start\": %d, \"frames\": [", 1 - first);
    for (int i = first; i <= last; i++) {
        at += sprintf(text + at, "%s{\"position\": [%d, 0, %.17g]}", i > first ? ", " : "", i,
                      i * i / 2.0 - 1 / 6.0);
    }
    sprintf(text + at, "]");
    return text;
}

// Start at x = 2: q = x - (first + 1).
Test(redmax_joints, bead_slides_in_a_parabola) {
    double errors[3], exact[2] = {2, 0};
    runge_kutta(2, parabola_slope, exact, 0.9, 9000);
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.004, -i);
        char* joint = parabola(-4, 4);
        mabd_model* model = model_of(", \"position\": [2, 0, 2]", joint);
        mabd_sim_def def = redmax(h);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3];
        cr_expect(eq(dbl, coordinate(sim, 0), 5));
        while (mabd_sim_time(sim) < 0.9 - 1e-9) rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        errors[i] = fabs(x[0] - exact[0]);
        cr_expect(lt(dbl, fabs(x[2] - x[0] * x[0] / 2), 1e-12));
        cr_expect(lt(dbl, fabs(coordinate(sim, 0) - x[0] - 3), 1e-12));
        free(joint);
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 1.85, rig_order("bead in a parabola", 0.004, 3, errors)));
}

// A bead that leaves its curve: the step fails, names the joint and keeps the state.
Test(redmax_joints, end_of_a_curve_is_an_error_that_names_the_joint) {
    char* joint = parabola(-1, 4); // q = x: 0 .. 3
    char text[4200];
    snprintf(text, sizeof text, "\"name\": \"rail\", %s", joint);
    mabd_model* model = model_of(", \"position\": [2, 0, 2]", text);
    const mabd_sim_def def = redmax(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_status status = MABD_OK;
    mabd_real before[3], after[3];
    for (int i = 0; i < 200 && status == MABD_OK; i++) {
        mabd_sim_get_state(sim, before, NULL, NULL, NULL);
        status = mabd_sim_step(sim, NULL, &error);
    }
    cr_expect(eq(int, status, MABD_ERR_DIVERGED));
    cr_expect(strstr(error.text, "leaves the spline of joint 'rail'") != NULL, "%s", error.text);
    mabd_sim_get_state(sim, after, NULL, NULL, NULL);
    cr_expect(eq(int, memcmp(before, after, sizeof before), 0));
    cr_expect(lt(dbl, after[0], 0.1));
    cr_expect(lt(dbl, 0, after[0]));
    free(joint);
    rig_destroy(sim, model);
}

// A closed track of frames that turn with it: the energy error of the run falls with h^2.
Test(redmax_joints, closed_track_keeps_the_energy) {
    double errors[3];
    char joint[3000];
    int at = sprintf(joint, "\"type\": \"spline-curve\", \"closed\": true, \"frames\": [");
    for (int i = 0; i < 12; i++) {
        const double a = 2 * MABD_PI * i / 12;
        at += sprintf(joint + at,
                      "%s{\"position\": [%.17g, %.17g, %.17g], \"rotation\": {\"axis\": [0, 0, 1], "
                      "\"angle\": %.17g}}",
                      i > 0 ? ", " : "", cos(a), sin(a), 0.3 * sin(2 * a), a);
    }
    sprintf(joint + at, "]");
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.004, -i);
        mabd_model* model = model_of(
            ", \"position\": [0.9, 0.5, 0.3], \"velocity\": [-2, 4, 0], \"angular_velocity\": "
            "[0, 0, 4]",
            joint);
        mabd_sim_def def = redmax(h);
        mabd_sim* sim = rig_sim(model, &def);
        cr_expect(eq(i32, mabd_sim_warnings(sim, 0, NULL), 1)); // not along the curve
        const mabd_measure first = mabd_sim_measure(sim);
        while (mabd_sim_time(sim) < 2 - 1e-9) rig_step(sim);
        const mabd_measure last = mabd_sim_measure(sim);
        errors[i] = fabs(last.kinetic + last.gravity - first.kinetic - first.gravity);
        cr_expect(lt(dbl, 12, coordinate(sim, 0))); // more than a round
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 1.7, rig_order("energy on a closed track", 0.004, 3, errors)));
}

// ---- surfaces ----------------------------------------------------------------------------------

// A saddle z = xy/2: control values of a bilinear form are those at the knots. In x, y:
// L = m/2 (x'^2 + y'^2 + z'^2) - m g z, z' = (x'y + x y')/2, z'' = (x''y + 2 x'y' + x y'')/2.
static void saddle_slope(const double* x, double* out) {
    // (1 + y^2/4) x'' + xy/4 y'' = -y/2 (x'y' + g), and the same with x and y exchanged
    const double a = 1 + x[1] * x[1] / 4, b = x[0] * x[1] / 4, d = 1 + x[0] * x[0] / 4;
    const double f = -x[1] / 2 * (x[2] * x[3] + G), g = -x[0] / 2 * (x[2] * x[3] + G);
    const double det = a * d - b * b;
    out[0] = x[2], out[1] = x[3];
    out[2] = (d * f - b * g) / det, out[3] = (a * g - b * f) / det;
}

static char* saddle(void) {
    char* text = malloc(8000);
    int at = sprintf(text, "\"type\": \"spline-surface\", \"start\": [2, 2]");
    for (int key = 0; key < 3; key++) {
        at += sprintf(text + at, ", \"%c\": [", "xyz"[key]);
        for (int i = 0; i < 7; i++) {
            at += sprintf(text + at, "%s[", i > 0 ? ", " : "");
            for (int j = 0; j < 7; j++) {
                const double x = i - 3, y = j - 3;
                at += sprintf(text + at, "%s%.17g", j > 0 ? ", " : "",
                              key == 0   ? x
                              : key == 1 ? y
                                         : x * y / 2);
            }
            at += sprintf(text + at, "]");
        }
        at += sprintf(text + at, "]");
    }
    return text;
}

Test(redmax_joints, puck_slides_on_a_saddle) {
    double errors[3], exact[4] = {0, 0, 0.8, -0.3};
    runge_kutta(4, saddle_slope, exact, 0.6, 6000);
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.004, -i);
        char* joint = saddle();
        mabd_model* model = model_of(", \"velocity\": [0.8, -0.3, 0]", joint);
        mabd_sim_def def = redmax(h);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3];
        cr_expect(eq(i32, mabd_sim_warnings(sim, 0, NULL), 0));
        while (mabd_sim_time(sim) < 0.6 - 1e-9) rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        errors[i] = fmax(fabs(x[0] - exact[0]), fabs(x[1] - exact[1]));
        cr_expect(lt(dbl, fabs(x[2] - x[0] * x[1] / 2), 1e-12));
        free(joint);
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, 1.85, rig_order("puck on a saddle", 0.004, 3, errors)));
}

// ---- states ------------------------------------------------------------------------------------

// Random trees with these joints: a state that is set gives the same motion, saved ones the same
// bits, also on other numbers of threads; poses that a joint does not allow are refused by name.
Test(redmax_joints, states_are_set_saved_and_refused) {
    for (uint64_t seed = 1; seed < AMOUNT(12, 4); seed++) {
        const random_scene_def scene = {.seed = seed,
                                        .pattern = RANDOM_TREE,
                                        .bodies = 5,
                                        .grounded = seed % 2 == 0,
                                        .paths = true,
                                        .wide = true,
                                        .mass_range = 2};
        mabd_model* model = rig_model(random_scene(&scene));
        mabd_sim_def def = redmax(0.002);
        def.integrator = MABD_INTEGRATOR_SDIRK2; // without history
        def.threads = 1 + (int32_t)(seed % 4);
        mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def);
        mabd_error error = {0};
        mabd_real x[5 * 13], y[5 * 13];
        for (int i = 0; i < 5; i++) rig_step(sim);
        mabd_sim_get_state(sim, x, x + 15, x + 35, x + 50);
        rig_check(mabd_sim_set_state(other, x, x + 15, x + 35, x + 50, &error), &error, "set");
        mabd_sim_get_state(other, y, y + 15, y + 35, y + 50);
        for (int k = 0; k < 65; k++) {
            const double sign = k >= 15 && k < 35 && x[k] * y[k] < 0 ? -1 : 1; // of quaternions
            cr_expect(lt(dbl, fabs(x[k] - sign * y[k]), 1e-9), "seed %d, %d", (int)seed, k);
        }
        mabd_sim_destroy(other);
        rig_destroy(sim, model);
    }
}

Test(redmax_joints, a_pose_off_the_joint_is_refused_by_name) {
    char* joint = saddle();
    char* text = malloc(9000);
    sprintf(text, "\"name\": \"ice\", %s", joint);
    mabd_model* model = model_of("", text);
    const mabd_sim_def def = redmax(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_real off[3] = {0.5, 0.5, 0.3}, on[3] = {0.5, 0.5, 0.125};
    mabd_real x[3];
    cr_expect(eq(int, mabd_sim_set_state(sim, off, NULL, NULL, NULL, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "joint 'ice' is open by") != NULL, "%s", error.text);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    cr_expect(eq(dbl, x[0], 0));
    cr_expect(eq(int, mabd_sim_set_state(sim, on, NULL, NULL, NULL, &error), MABD_OK));
    cr_expect(lt(dbl, fabs(coordinate(sim, 0) - 2.5), 1e-12));
    free(joint), free(text);
    rig_destroy(sim, model);
}

// ---- refusals ----------------------------------------------------------------------------------

Test(redmax_joints, other_formulations_refuse_them_by_name) {
    static const mabd_formulation others[] = {MABD_FORMULATION_AFFINE, MABD_FORMULATION_QUATERNION};
    for (int i = 0; i < 2; i++) {
        mabd_model* model =
            model_of("", "\"name\": \"lead\", \"type\": \"screw\", \"pitch\": 0.05");
        mabd_sim_def def = redmax(0.01);
        mabd_error error = {0};
        mabd_sim* sim;
        def.formulation = others[i];
        cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
        cr_expect(strstr(error.text, "does not have joints of type 'screw', as joint 'lead'") !=
                      NULL,
                  "%s", error.text);
        mabd_model_destroy(model);
    }
}

static void expect_refused(const char* joint, const char* why) {
    char text[2000];
    mabd_error error = {0};
    mabd_scene* scene;
    snprintf(text, sizeof text, "{\"bodies\": [" BALL "}],\n \"joints\": [{\"b\": \"b\", %s}]}",
             joint);
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    const mabd_status status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", joint);
    cr_expect(eq(i32, error.line, 2), "%s", joint);
    cr_expect(strstr(error.text, why) != NULL, "%s: %s", joint, error.text);
    mabd_scene_destroy(scene);
}

#define FRAME "{\"position\": [0, 0, 1]}"
Test(redmax_joints, bad_input_is_refused_with_its_place) {
    expect_refused("\"type\": \"hinge\", \"pitch\": 1", "pitch belongs to a screw");
    expect_refused("\"type\": \"spline-curve\"", "needs the frames of its curve");
    expect_refused("\"type\": \"spline-curve\", \"frames\": [" FRAME ", " FRAME ", " FRAME "]",
                   "at least 4 frames, found 3");
    expect_refused("\"type\": \"spline-curve\", \"frames\": [" FRAME ", " FRAME ", " FRAME
                   ", {\"rotation\": {\"axis\": [1, 0, 0], \"degrees\": 180}}]",
                   "frames 2 and 3 of the curve are half a turn apart");
    expect_refused("\"type\": \"spline-curve\", \"start\": 1.5, \"frames\": [" FRAME ", " FRAME
                   ", " FRAME ", " FRAME "]",
                   "the start 1.5 is not on the spline, which goes from 0 to 1");
    expect_refused("\"type\": \"spline-curve\", \"frames\": [" FRAME ", " FRAME ", " FRAME
                   ", " FRAME "], \"axes\": {\"tx\": {\"stiffness\": 1}}",
                   "tx");
    expect_refused("\"type\": \"hinge\", \"frames\": [" FRAME "]", "belongs to a spline-curve");
    expect_refused("\"type\": \"ball\", \"closed\": true", "'closed' needs 'frames'");
    expect_refused("\"type\": \"spline-surface\", \"z\": [[1, 2, 3, 4]]", "at least 4 x 4");
    expect_refused("\"type\": \"spline-surface\", \"z\": [[1, 2, 3, 4], [1, 2, 3]]",
                   "expected 4 numbers as in the first row, found 3");
    expect_refused("\"type\": \"spline-surface\"", "needs control values");
    expect_refused("\"type\": \"composite\"", "needs at least one part");
    expect_refused("\"type\": \"composite\", \"joints\": [{\"type\": \"fixed\"}]",
                   "part 0: type 'fixed' cannot be a part");
    expect_refused("\"type\": \"composite\", \"joints\": [{\"type\": \"ball\"}, {\"type\": "
                   "\"cartesian\"}, {\"type\": \"hinge\"}]",
                   "its parts have 7 freedoms");
    expect_refused("\"type\": \"composite\", \"joints\": [{\"type\": \"hinge\", \"pitch\": 1}]",
                   "part 0: pitch belongs to a screw");
    expect_refused("\"type\": \"screw\", \"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0]",
                   "needs its frame in world coordinates");
    expect_refused("\"type\": \"hinge\", \"start\": 1", "'start' belongs to splines");
}
