// SPDX-License-Identifier: Apache-2.0
// Charts of balls in the redmax formulation: a tumbling body against Euler's equations in all of
// them and in both directions, with springs and stops on its axes, in composites, over switches;
// saved, set, as copies, on threads; ignored elsewhere; bad input with its place.

#include "support/redmax_case.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define CHARTS MABD_JOINT_CHART_COUNT

static mabd_sim_def redmax(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    return def;
}

static bool is_proper(int chart) {
    return chart >= MABD_CHART_XYX;
}

// Frames of a ball on a and b in whose start pose a chart is in its middle: for two axes b is
// turned by 90 degrees about the one between.
static void write_frames(int chart, char* out, size_t size) {
    const char* name = mabd_joint_chart_name((mabd_joint_chart)chart);
    double q[4] = {1, 0, 0, 0};
    if (is_proper(chart)) q[0] = sqrt(0.5), q[1 + name[1] - 'X'] = sqrt(0.5);
    snprintf(out, size,
             "\"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0], \"frame_a\": "
             "[1, 0, 0, 0], \"frame_b\": [%.17g, %.17g, %.17g, %.17g]",
             q[0], q[1], q[2], q[3]);
}

// A body without weight on a ball at its centre, spinning about its axis of middle inertia.
static mabd_model* tumbling(int chart, bool reversed) {
    char frames[400], text[1200];
    write_frames(chart, frames, sizeof frames);
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": "
             "[0.02, 0.03, 0.04], \"angular_velocity\": [0.1, 10, 0.1]}], \"joints\": [{\"type\": "
             "\"ball\", \"a\": \"%s\", \"b\": \"%s\", \"chart\": \"%s\", %s}]}",
             reversed ? "b" : "world", reversed ? "world" : "b",
             mabd_joint_chart_name((mabd_joint_chart)chart), frames);
    return rig_text_model(text);
}

// ---- Euler's equations -------------------------------------------------------------------------

typedef struct euler_state {
    mabd_quat q;
    mabd_vec3 w;
} euler_state;

static euler_state slope(euler_state s) {
    const double J[3] = {0.02, 0.03, 0.04};
    const mabd_vec3 w = s.w;
    const mabd_quat spin = mabd_q(0, w.x / 2, w.y / 2, w.z / 2);
    const euler_state d = {mabd_q_product(s.q, spin),
                           mabd_v3((mabd_real)((J[1] - J[2]) / J[0] * w.y * w.z),
                                   (mabd_real)((J[2] - J[0]) / J[1] * w.z * w.x),
                                   (mabd_real)((J[0] - J[1]) / J[2] * w.x * w.y))};
    return d;
}
static euler_state add(euler_state s, double h, euler_state d) {
    const mabd_real k = (mabd_real)h;
    s.q = mabd_q(s.q.w + k * d.q.w, s.q.x + k * d.q.x, s.q.y + k * d.q.y, s.q.z + k * d.q.z);
    s.w = mabd_v3_axpy(k, d.w, s.w);
    return s;
}
// The exact state after `time`, by the classical Runge-Kutta method.
static euler_state tumble(double time) {
    euler_state s = {mabd_q(1, 0, 0, 0), mabd_v3((mabd_real)0.1, 10, (mabd_real)0.1)};
    const int n = 20000;
    const double h = time / n;
    for (int i = 0; i < n; i++) {
        const euler_state a = slope(s), b = slope(add(s, h / 2, a)), c = slope(add(s, h / 2, b));
        const euler_state d = slope(add(s, h, c));
        s = add(add(add(add(s, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
    }
    return s;
}

// Angle between two orientations.
static double turned(mabd_quat a, mabd_quat b) {
    return 2 * (double)mabd_v3_norm(mabd_q_log(mabd_q_product(mabd_q_conjugate(a), b)));
}

static double error_of(int chart, bool reversed, mabd_integrator method, double h, double time,
                       int* switches) {
    mabd_model* model = tumbling(chart, reversed);
    mabd_sim_def def = redmax(h);
    def.integrator = method;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real q[4];
    *switches = 0;
    while (mabd_sim_time(sim) < time - h / 2) {
        *switches += rig_step(sim).redmax.chart_switches;
    }
    mabd_sim_get_state(sim, NULL, q, NULL, NULL);
    const double error = turned(mabd_q_load(q), tumble(time).q);
    rig_destroy(sim, model);
    return error;
}

// Largest error over h^2, in h^2; printed as the table of docs/theory/formulations/redmax.md.
Test(redmax_charts, tumbling_body_meets_eulers_equations_at_second_order_in_all_of_them) {
    for (int chart = 0; chart < CHARTS; chart++) {
        const char* name = mabd_joint_chart_name((mabd_joint_chart)chart);
        double errors[3];
        int switches[3];
        for (int i = 0; i < 3; i++) {
            errors[i] = error_of(chart, chart % 2 == 1, MABD_INTEGRATOR_BDF2, ldexp(0.01, -i), 2,
                                 &switches[i]);
        }
        printf("%-12s errors %.4f %.4f %.4f, switches %d\n", name, errors[0], errors[1], errors[2],
               switches[2]);
        cr_expect(lt(dbl, 3.7, errors[1] / errors[2]), "%s", name); // 4 at second order
        cr_expect(lt(dbl, errors[2], 0.06), "%s", name);
    }
}

// With the history in the old coordinates bdf2 would see a turn of 2 pi in a step, and repeat it.
Test(redmax_charts, switches_carry_the_history) {
    mabd_model* model = tumbling(MABD_CHART_EXPONENTIAL, false);
    const mabd_sim_def def = redmax(0.0025);
    mabd_sim* sim = rig_sim(model, &def);
    int switches = 0, retries = 0;
    for (int i = 0; i < 800; i++) {
        const mabd_step_info info = rig_step(sim);
        switches += info.redmax.chart_switches, retries += info.retries;
    }
    cr_expect(eq(i32, switches, 3));
    cr_expect(eq(i32, retries, 0));
    rig_destroy(sim, model);
}

// Orders of the other methods, over switches; rk45 meets its tolerance.
Test(redmax_charts, every_method_has_its_order) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_SDIRK2,
                                              MABD_INTEGRATOR_SEMI_IMPLICIT,
                                              MABD_INTEGRATOR_LINEAR_IMPLICIT};
    static const double orders[] = {1, 2, 1, 1};
    static const int charts[] = {MABD_CHART_EXPONENTIAL, MABD_CHART_ZXY, MABD_CHART_YZY};
    for (int i = 0; i < 12; i++) {
        const mabd_integrator method = methods[i % 4];
        const int chart = charts[i / 4];
        double errors[3];
        int switches;
        for (int k = 0; k < 3; k++) {
            errors[k] = error_of(chart, i % 2 == 0, method, ldexp(0.00125, -k), 0.4, &switches);
        }
        cr_expect(lt(dbl, orders[i % 4] - 0.15,
                     rig_order(mabd_integrator_name(method), 0.00125, 3, errors)),
                  "chart %d", chart);
    }
    for (int i = 0; i < 3; i++) {
        int switches;
        const double error = error_of(charts[i], false, MABD_INTEGRATOR_RK45, 0.05, 1, &switches);
        cr_expect(lt(dbl, error, 1e-7), "chart %d: %.1e", charts[i], error);
    }
}

static void run(mabd_sim* sim, int steps) {
    for (int i = 0; i < steps; i++) rig_step(sim);
}

// ---- laws, loops, composites -------------------------------------------------------------------

// A rod on a ball with `axes`, a bob on a slot at its end, in charts; reversed: given from the
// child to the parent.
static mabd_model* rods(const char* chart, bool reversed, const char* axes) {
    char text[2400];
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"name\": \"rod\", \"shape\": \"box\", \"size\": [0.6, 0.1, 0.2], "
        "\"position\": [0.3, 0, 0], \"mass\": 2, \"angular_velocity\": [5, 1, 1]}, {\"name\": "
        "\"bob\", \"shape\": \"box\", \"size\": [0.2, 0.1, 0.3], \"position\": [0.7, 0, 0], "
        "\"mass\": 0.5, \"angular_velocity\": [1, 9, 2]}], \"start\": {\"close\": true}, "
        "\"joints\": [{\"type\": \"ball\", \"a\": \"%s\", \"b\": \"%s\", \"chart\": \"%s\", "
        "\"axes\": {%s}}, {\"type\": \"slot\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.6, "
        "0, 0], \"axis\": [0, 0, 1], \"axes\": {\"tx\": {\"stiffness\": 200}}, \"chart\": "
        "\"%s\"}]}",
        reversed ? "rod" : "world", reversed ? "world" : "rod", chart, axes,
        reversed ? "bob" : "rod", reversed ? "rod" : "bob", chart);
    return rig_text_model(text);
}

// Distance of the states of two models after `time`, relative to nothing.
static double apart_after(mabd_model* a, mabd_model* b, double h, double time, int* switches) {
    const mabd_sim_def def = redmax(h);
    mabd_sim *one = rig_sim(a, &def), *two = rig_sim(b, &def);
    while (mabd_sim_time(one) < time - h / 2) {
        *switches += rig_step(one).redmax.chart_switches;
        rig_step(two);
    }
    const double apart = rig_apart(a, one, two);
    mabd_sim_destroy(two), mabd_model_destroy(b);
    rig_destroy(one, a);
    return apart;
}

// The same motion in other coordinates: the difference is that of two discretisations. With stops
// both are of first order.
static void expect_same(const char* chart, const char* axes, double time, double order) {
    for (int reversed = 0; reversed < 2; reversed++) {
        double errors[3];
        int switches = 0;
        for (int i = 0; i < 3; i++) {
            errors[i] = apart_after(rods(chart, reversed, axes), rods("local", reversed, axes),
                                    ldexp(0.002, -i), time, &switches);
        }
        cr_expect(lt(dbl, order, rig_order(chart, 0.002, 3, errors)), "%s", axes);
    }
}

Test(redmax_charts, springs_dampers_and_drives_on_their_axes_act_as_in_local_charts) {
    static const char laws[] =
        "\"rx\": {\"stiffness\": 3, \"rest\": 0.2, \"damping\": 0.05}, \"ry\": {\"armature\": "
        "0.02, \"motor\": 0.5}, \"rz\": {\"servo\": {\"sine\": {\"amplitude\": 0.4, \"frequency\": "
        "1}}, \"servo_stiffness\": 20, \"servo_damping\": 0.3}";
    expect_same("exponential", laws, 0.6, 1.7);
    expect_same("XYZ", laws, 0.6, 1.7);
    expect_same("YXZ", laws, 0.6, 1.7);
}

// The start jumps to the rate of the servo, and stops are met, by steps of implicit Euler.
Test(redmax_charts, rigid_servos_and_stops_on_their_axes_act_as_in_local_charts) {
    expect_same("ZYX",
                "\"ry\": {\"servo_rigid\": true, \"servo\": {\"ramp\": {\"from\": 0, \"to\": "
                "0.5, \"start\": 0, \"end\": 0.5}}}",
                0.4, 0.9);
    expect_same("exponential", "\"ry\": {\"upper\": 0.3}, \"rz\": {\"friction\": 0.4}", 0.3, 0.7);
}

// A composite with a ball in it.
Test(redmax_charts, balls_within_composites_have_them_too) {
    static const char joint[] =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.3, 0.1, 0.2], \"position\": [0.4, 0.1, 0], \"mass\": 1, \"angular_velocity\": [1, 6, "
        "2]}], \"start\": {\"close\": true}, \"joints\": [{\"type\": \"composite\", \"b\": \"b\", "
        "\"joints\": [{\"type\": \"hinge\"}, {\"type\": \"ball\", \"anchor\": [0, 0.2, 0], "
        "\"chart\": \"%s\"}]}]}";
    for (int k = 0; k < 2; k++) {
        double errors[3];
        int switches = 0;
        for (int i = 0; i < 3; i++) {
            char text[1000], local[1000];
            snprintf(text, sizeof text, joint, k ? "exponential" : "ZXY");
            snprintf(local, sizeof local, joint, "local");
            errors[i] = apart_after(rig_text_model(text), rig_text_model(local), ldexp(0.001, -i),
                                    0.3, &switches);
        }
        cr_expect(lt(dbl, 1.7, rig_order("composite", 0.001, 3, errors)));
    }
}

// Two bodies that two balls and a slot close to a loop: a chart in the tree, none at the cut.
Test(redmax_charts, loops_close_in_them) {
    double errors[3];
    int switches = 0;
    for (int i = 0; i < 3; i++) {
        mabd_model* models[2];
        for (int k = 0; k < 2; k++) {
            char text[1600];
            const char* name = k ? "local" : "XYZ";
            snprintf(text, sizeof text,
                     "{\"bodies\": [{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.4, 0.1, "
                     "0.1], \"position\": [0.2, 0, 0], \"mass\": 1, \"velocity\": [0, 0.5, 2]}, "
                     "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.4, 0.2, 0.1], "
                     "\"position\": [0.6, 0, 0], \"mass\": 1, \"angular_velocity\": [3, 0, 0]}], "
                     "\"start\": {\"close\": true}, \"joints\": [{\"type\": \"ball\", \"b\": \"a\","
                     " \"chart\": \"%s\"}, {\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", "
                     "\"anchor\": [0.4, 0, 0], \"chart\": \"%s\"}, {\"type\": \"slot\", \"b\": "
                     "\"b\", \"anchor\": [0.8, 0, 0], \"axis\": [1, 0, 0.3]}]}",
                     name, name);
            models[k] = rig_text_model(text);
        }
        errors[i] = apart_after(models[0], models[1], ldexp(0.002, -i), 0.4, &switches);
    }
    cr_expect(lt(dbl, 1.7, rig_order("loop", 0.002, 3, errors)));
}

// ---- states ------------------------------------------------------------------------------------

// Twelve copies of one tumbling body, each in its chart: among others, on threads and after a
// restore they have the bits that they have alone.
Test(redmax_charts, same_bits_on_threads_after_a_restore_and_alone) {
    mabd_error error = {0};
    char text[12000], frames[400];
    int at = sprintf(text, "{\"gravity\": [0, 0, 0], \"bodies\": [");
    for (int c = 0; c < CHARTS; c++) {
        at += sprintf(text + at,
                      "%s{\"name\": \"b%d\", \"mass\": 1, \"inertia\": [0.02, 0.03, 0.04], "
                      "\"angular_velocity\": [0.1, 10, 0.1]}",
                      c ? ", " : "", c);
    }
    at += sprintf(text + at, "], \"joints\": [");
    for (int c = 0; c < CHARTS; c++) {
        write_frames(c, frames, sizeof frames);
        at += sprintf(text + at, "%s{\"type\": \"ball\", \"b\": \"b%d\", \"chart\": \"%s\", %s}",
                      c ? ", " : "", c, mabd_joint_chart_name((mabd_joint_chart)c), frames);
    }
    sprintf(text + at, "]}");
    mabd_model* model = rig_text_model(text);
    mabd_real q[3][4 * CHARTS];
    for (int t = 0; t < 3; t++) {
        mabd_sim_def def = redmax(0.01);
        def.threads = 1 << t;
        mabd_sim* sim = rig_sim(model, &def);
        run(sim, 60);
        const size_t size = mabd_sim_state_size(sim);
        void* state = malloc(size);
        mabd_sim_save(sim, state);
        run(sim, 20 * t);
        rig_check(mabd_sim_restore(sim, state, size, &error), &error, "restore");
        run(sim, 60);
        mabd_sim_get_state(sim, NULL, q[t], NULL, NULL);
        cr_expect(memcmp(q[0], q[t], sizeof q[0]) == 0, "%d threads", 1 << t);
        free(state);
        mabd_sim_destroy(sim);
    }
    for (int c = 0; c < CHARTS; c += 5) {
        mabd_model* single = tumbling(c, false);
        const mabd_sim_def def = redmax(0.01);
        mabd_sim* sim = rig_sim(single, &def);
        mabd_real alone[4];
        run(sim, 120);
        mabd_sim_get_state(sim, NULL, alone, NULL, NULL);
        cr_expect(memcmp(alone, q[0] + 4 * c, sizeof alone) == 0, "chart %d", c);
        rig_destroy(sim, single);
    }
    mabd_model_destroy(model);
}

// A state in which a chart is singular is taken up by another one in the next step.
Test(redmax_charts, states_are_set_where_the_chart_is_singular) {
    mabd_model* model = tumbling(MABD_CHART_XYZ, false);
    const mabd_sim_def def = redmax(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_real flat[4] = {(mabd_real)sqrt(0.5), 0, (mabd_real)sqrt(0.5), 0};
    const mabd_real spin[3] = {1, 2, 3};
    mabd_real q[4], w[3];
    run(sim, 5);
    rig_check(mabd_sim_set_state(sim, NULL, flat, NULL, spin, &error), &error, "set");
    mabd_sim_get_state(sim, NULL, q, NULL, w);
    for (int k = 0; k < 4; k++) cr_expect(lt(dbl, fabs(q[k] - flat[k]), 1e-14));
    for (int k = 0; k < 3; k++) cr_expect(lt(dbl, fabs(w[k] - spin[k]), 1e-13));
    cr_expect(eq(i32, rig_step(sim).redmax.chart_switches, 1));
    rig_destroy(sim, model);
}

// ---- elsewhere ---------------------------------------------------------------------------------

Test(redmax_charts, other_formulations_ignore_them) {
    static const mabd_formulation others[] = {MABD_FORMULATION_AFFINE, MABD_FORMULATION_QUATERNION};
    for (int i = 0; i < 2; i++) {
        mabd_model *a = rods("XYZ", i, ""), *b = rods("local", i, "");
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.005);
        def.formulation = others[i];
        mabd_sim *one = rig_sim(a, &def), *two = rig_sim(b, &def);
        run(one, 20), run(two, 20);
        cr_expect(lt(dbl, rig_apart(a, one, two), 1e-12));
        cr_expect(eq(i32, mabd_model_get_info(a).charted_joints, 2));
        cr_expect(mabd_model_hash(a) != mabd_model_hash(b));
        mabd_sim_destroy(two), mabd_model_destroy(b);
        rig_destroy(one, a);
    }
}

Test(redmax_charts, one_that_is_singular_in_the_start_pose_is_refused_by_name) {
    mabd_model* model = rods("ZXZ", false, "");
    const mabd_sim_def def = redmax(0.01);
    mabd_error error = {0};
    mabd_sim* sim;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "the chart 'ZXZ' of joint 0") != NULL, "%s", error.text);
    cr_expect(strstr(error.text, "is singular in the start pose") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}

Test(redmax_charts, have_names) {
    for (int i = 0; i < CHARTS; i++) {
        cr_expect(eq(int, mabd_joint_chart_find(mabd_joint_chart_name((mabd_joint_chart)i)), i));
    }
    cr_expect(eq(int, mabd_joint_chart_find("XXZ"), -1));
    cr_expect(eq(int, mabd_joint_chart_find(NULL), -1));
    cr_expect(eq(str, (char*)mabd_joint_chart_name(MABD_JOINT_CHART_COUNT), "unknown"));
}
