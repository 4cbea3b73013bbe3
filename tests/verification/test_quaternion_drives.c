// SPDX-License-Identifier: Apache-2.0
// Drives of the quaternion formulation that share a loop. The crank and the rocker of a four-bar
// are driven by position; the angle of the rocker that goes with that of the crank is the
// intersection of two circles, in the test's own code. In concert all rows stay closed, and the
// power of the two drives is the rate of the energy. Out of concert a step must fail by the name of
// a drive and leave the state as it was.

#include "support/rig.h"

#include <stdlib.h>

#define STEPS 60
#define STEP  0.005

static const double crank = 0.3, coupler = 0.8, rocker = 0.6, ground = 0.8, pi = 3.14159265358979;

static double crank_angle(double t) {
    return pi / 3 + 2 * t + 4 * t * t; // begins at 2 rad/s
}

// Angle of the rocker at an angle of the crank: |C - B| = coupler, |C - D| = rocker, C above BD.
static double rocker_angle(double theta, double* bx, double* bz) {
    *bx = crank * cos(theta), *bz = crank * sin(theta);
    const double x = ground - *bx, z = -*bz, d = sqrt(x * x + z * z);
    const double along = (coupler * coupler - rocker * rocker + d * d) / (2 * d);
    const double up = sqrt(coupler * coupler - along * along);
    const double cx = *bx + (along * x - up * z) / d, cz = *bz + (along * z + up * x) / d;
    return atan2(cz, cx - ground);
}

static size_t add_table(char* text, size_t size, bool is_rocker, double off, int from) {
    double x, z;
    const double start = crank_angle(0), first = rocker_angle(start, &x, &z);
    size_t n = (size_t)snprintf(text, size, "{\"table\": {\"times\": [");
    for (int k = 0; k <= STEPS; k++) {
        n += (size_t)snprintf(text + n, size - n, "%s%.17g", k ? ", " : "", k * STEP);
    }
    n += (size_t)snprintf(text + n, size - n, "], \"values\": [");
    for (int k = 0; k <= STEPS; k++) {
        const double theta = crank_angle(k * STEP);
        double value = theta - start;
        if (is_rocker) value = rocker_angle(theta, &x, &z) - first + (k >= from ? off : 0);
        n += (size_t)snprintf(text + n, size - n, "%s%.17g", k ? ", " : "", value);
    }
    return n + (size_t)snprintf(text + n, size - n, "]}}");
}

// A bar from (x0, z0) to (x1, z1).
static size_t add_bar(char* text, size_t size, const char* name, double x0, double z0, double x1,
                      double z1) {
    return (size_t)snprintf(text, size,
                            "{\"name\": \"%s\", \"shape\": \"box\", \"size\": [%.17g, 0.03, 0.04],"
                            " \"position\": [%.17g, 0, %.17g], \"rotation\": {\"axis\": [0, -1, 0],"
                            " \"angle\": %.17g}}",
                            name, hypot(x1 - x0, z1 - z0), (x0 + x1) / 2, (z0 + z1) / 2,
                            atan2(z1 - z0, x1 - x0));
}

// The four-bar with both drives; the target of the rocker is `off` [rad] out of concert from step
// `from` on. weight: of the torques of the drives.
static mabd_model* four_bar(double off, int from, double weight) {
    static char text[16384];
    double x, z;
    const double psi = rocker_angle(crank_angle(0), &x, &z);
    const double cx = ground + rocker * cos(psi), cz = rocker * sin(psi);
    size_t n = (size_t)snprintf(text, sizeof text, "{\"name\": \"four-bar\", \"bodies\": [");
    n += add_bar(text + n, sizeof text - n, "crank", 0, 0, x, z);
    n += (size_t)snprintf(text + n, sizeof text - n, ", ");
    n += add_bar(text + n, sizeof text - n, "coupler", x, z, cx, cz);
    n += (size_t)snprintf(text + n, sizeof text - n, ", ");
    n += add_bar(text + n, sizeof text - n, "rocker", ground, 0, cx, cz);
    const char* const hinge = "\"type\": \"hinge\", \"axis\": [0, -1, 0], \"anchor\"";
    n +=
        (size_t)snprintf(text + n, sizeof text - n,
                         "], \"joints\": [{\"b\": \"coupler\", \"a\": \"crank\", %s: [%.17g, 0,"
                         " %.17g]}, {\"a\": \"coupler\", \"b\": \"rocker\", %s: [%.17g, 0, %.17g]}",
                         hinge, x, z, hinge, cx, cz);
    for (int k = 0; k < 2; k++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              ", {\"name\": \"drive-%s\", \"b\": \"%s\", %s: [%.17g, 0, 0],"
                              " \"axes\": {\"rx\": {\"weight\": %g, \"servo_rigid\": true,"
                              " \"servo\": ",
                              k ? "rocker" : "crank", k ? "rocker" : "crank", hinge,
                              k ? ground : 0.0, weight);
        n += add_table(text + n, sizeof text - n, k != 0, off, from);
        n += (size_t)snprintf(text + n, sizeof text - n, "}}}");
    }
    snprintf(text + n, sizeof text - n, "]}");
    return rig_text_model(text);
}

static mabd_sim_def drive_def(void) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)STEP);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.quaternion.bdf2_start = MABD_INTEGRATOR_EULER; // between steps tables are not in concert
    return def;
}

/// Torques of both drives and energies over a run.
typedef struct drive_run {
    double torque[2][STEPS + 1], energy[STEPS + 1];
    double gap, off; // largest error of rows [m], [rad], and of targets [rad]
} drive_run;

static void run(double weight, drive_run* out) {
    const mabd_sim_def def = drive_def();
    mabd_model* model = four_bar(0, 0, weight);
    mabd_sim* sim = rig_sim(model, &def);
    double x, z;
    const double first = rocker_angle(crank_angle(0), &x, &z);
    out->gap = out->off = 0;
    for (int k = 1; k <= STEPS; k++) {
        mabd_real forces[24], coordinate[6];
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        out->gap = fmax(out->gap, fmax((double)now.gap, (double)now.angle_error));
        out->energy[k] = (double)now.energy;
        mabd_sim_get_joint_forces(sim, forces);
        for (int d = 0; d < 2; d++) {
            const double theta = crank_angle(k * STEP);
            const double x_d = d ? rocker_angle(theta, &x, &z) - first : theta - crank_angle(0);
            out->torque[d][k] = -(double)forces[6 * (2 + d) + 4]; // about -y
            mabd_sim_get_joint_coordinates(sim, 2 + d, coordinate);
            out->off = fmax(out->off, fabs((double)coordinate[3] - x_d));
        }
    }
    rig_destroy(sim, model);
}

static double mean_square(const drive_run* r) {
    double sum = 0;
    for (int k = 3; k <= STEPS; k++) {
        for (int d = 0; d < 2; d++) sum += r->torque[d][k] * r->torque[d][k];
    }
    return sum / (2 * (STEPS - 2));
}

Test(quaternion_drives, in_concert_close_all_rows_and_weights_share_the_load) {
    static drive_run equal, weighted;
    run(1, &equal);
    run(1e5, &weighted);
    printf("rows %.1e, targets %.1e; rms torque %.3g N m with equal weights, %.3g with 1e5\n",
           equal.gap, equal.off, sqrt(mean_square(&equal)), sqrt(mean_square(&weighted)));
    cr_expect(equal.gap < 1e-10 && weighted.gap < 1e-10, "%g, %g", equal.gap, weighted.gap);
    cr_expect(equal.off < 1e-10 && weighted.off < 1e-10, "%g, %g", equal.off, weighted.off);
    cr_expect(sqrt(mean_square(&equal)) > 1.2 * sqrt(mean_square(&weighted)));
    // power = rate of the energy, to O(h^2)
    double most = 0, largest = 0, difference = 0;
    for (int k = 4; k < STEPS; k++) {
        double x, z, power[2] = {0, 0};
        const double later = crank_angle((k + 1) * STEP), before = crank_angle((k - 1) * STEP);
        const double rates[2] = {later - before,
                                 rocker_angle(later, &x, &z) - rocker_angle(before, &x, &z)};
        for (int d = 0; d < 2; d++) {
            power[0] += equal.torque[d][k] * rates[d] / (2 * STEP);
            power[1] += weighted.torque[d][k] * rates[d] / (2 * STEP);
        }
        const double rate = (equal.energy[k + 1] - equal.energy[k - 1]) / (2 * STEP);
        most = fmax(most, fabs(power[0] - rate)), largest = fmax(largest, fabs(rate));
        difference = fmax(difference, fabs(power[0] - power[1]));
    }
    printf("power off by %.2e of %.3g W, between weights %.1e\n", most, largest, difference);
    cr_expect(most < 0.01 * largest, "%g of %g W", most, largest);
    cr_expect(difference < 1e-4 * largest, "%g W", difference); // rates are differences of poses
}

// 1 mm at the end of the rocker.
Test(quaternion_drives, out_of_concert_fail_by_name_and_keep_the_state) {
    const mabd_sim_def def = drive_def();
    const int good = 10;
    mabd_model* model = four_bar(1e-3 / rocker, good + 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[2][21];
    mabd_error error = {0};
    for (int k = 0; k < good; k++) rig_step(sim);
    mabd_sim_get_state(sim, x[0], x[0] + 9, NULL, NULL);
    for (int k = 0; k < 2; k++) {
        cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_ERR_DIVERGED));
        cr_expect(error.joint == 2 || error.joint == 3, "joint %d", (int)error.joint);
        cr_expect(strstr(error.text, "drive-") && strstr(error.text, "rigid servo"), "%s",
                  error.text);
        // the two drives share 1.67e-3 rad
        const double off = atof(error.text);
        cr_expect(off > 1e-5 && off < 1e-3 / rocker, "%g rad", off);
    }
    printf("%s\n", error.text);
    mabd_sim_get_state(sim, x[1], x[1] + 9, NULL, NULL);
    cr_expect(memcmp(x[0], x[1], sizeof x[0]) == 0, "a failed step keeps the state");
    cr_expect(eq(i64, mabd_sim_step_count(sim), good));
    rig_destroy(sim, model);
}

// A target at t = 0 that the loop does not allow is an error of the definition, with joint and
// opening; one that it allows is a warning, and the first step moves there.
Test(quaternion_drives, targets_out_of_reach_at_the_start_are_refused) {
    const mabd_sim_def def = drive_def();
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    mabd_model* model = four_bar(1e-3 / rocker, 0, 1);
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_INPUT));
    printf("%s\n", error.text);
    cr_expect(eq(i32, error.joint, 3));
    cr_expect(strstr(error.text, "drive-rocker") && strstr(error.text, "0.001667 rad"), "%s",
              error.text);
    mabd_model_destroy(model);
    model = rig_text_model("{\"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1,"
                           " \"position\": [1, 0, 0]}], \"joints\": [{\"name\": \"arm\","
                           " \"type\": \"hinge\", \"b\": \"b\", \"axis\": [0, 1, 0], \"axes\":"
                           " {\"rx\": {\"servo\": 0.01, \"servo_rigid\": true}}}]}");
    sim = rig_sim(model, &def);
    mabd_warning warning;
    cr_assert(eq(i32, mabd_sim_warnings(sim, 1, &warning), 1));
    cr_expect(strstr(warning.text, "0.01 rad off the target") != NULL, "%s", warning.text);
    mabd_real x[6];
    rig_step(sim);
    mabd_sim_get_joint_coordinates(sim, 0, x);
    cr_expect(fabs((double)x[3] - 0.01) < 1e-10, "%g", (double)x[3]);
    rig_destroy(sim, model);
}
