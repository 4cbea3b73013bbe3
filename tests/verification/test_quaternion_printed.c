// SPDX-License-Identifier: Apache-2.0
// Position actuators of [VQ Tab. 7] whose printed rows are open at the pose that they should hold.
//
// Universal joint at angles p_x (about x of the base B) and p_y (about y of the follower F): with
// B = I the pose is F = Rx(p_x) Ry(p_y). The row of p_x,
//
//   printed   (F_y cos p_x - F_z sin p_x) . B_z  =  sin p_x cos p_x (1 - cos p_y)
//   right     F_y . (B_z cos p_x - B_y sin p_x)  =  0.
//
// Free joint at the rotation F = R(p): the rows compare the axes of B with those of F R(p) as
// printed, which is R(p) R(p), and with those of F R(p)' as it must be, which is I.
//
// The simulated pose has to be the closed form, and the printed rows have to be open there: with
// them in the code the pose would be another one.

#include "support/rig.h"

// Product of quaternions w x y z.
static void product(const double* a, const double* b, double* c) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// Axis k of the rotation q.
static void axis_of(const double* q, int k, double* axis) {
    double x[4] = {0, 0, 0, 0}, t[4], y[4];
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    x[1 + k] = 1;
    product(q, x, t);
    product(t, back, y);
    for (int i = 0; i < 3; i++) axis[i] = y[1 + i];
}

// Quaternion of a rotation vector.
static void quaternion_of(const double* p, double* q) {
    const double angle = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    q[0] = cos(angle / 2);
    for (int k = 0; k < 3; k++) q[1 + k] = sin(angle / 2) * p[k] / angle;
}

// Run a body that a joint to the world drives for 0.2 s; q and x get its pose.
static void driven_pose(const char* type, const char* axes, double* q, double* x) {
    char text[2048];
    mabd_real place[3], rotation[4];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": "
             "[0.1, 0.12, 0.15]}], \"joints\": [{\"type\": \"%s\", \"a\": \"world\", \"b\": \"b\","
             " \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0], \"axis2\": [0, 1, 0], \"axes\": {%s}}]}",
             type, axes);
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_QUATERNION;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 20; i++) rig_step(sim);
    mabd_sim_get_state(sim, place, rotation, NULL, NULL);
    for (int k = 0; k < 4; k++) q[k] = rotation[k];
    for (int k = 0; k < 3; k++) x[k] = place[k];
    rig_destroy(sim, model);
}

static double apart(const double* a, const double* b) {
    double minus = 0, plus = 0;
    for (int k = 0; k < 4; k++) {
        minus += (a[k] - b[k]) * (a[k] - b[k]), plus += (a[k] + b[k]) * (a[k] + b[k]);
    }
    return sqrt(fmin(minus, plus));
}

#define RAMP(axis, to)                                                                             \
    "\"" axis "\": {\"servo\": {\"ramp\": {\"to\": " to ", \"end\": 0.1}}, \"servo_rigid\": true}"

Test(quaternion_printed, the_universal_joint_holds_both_angles) {
    const double px = 0.5, py = 0.4, qx[4] = {cos(px / 2), sin(px / 2), 0, 0},
                 qy[4] = {cos(py / 2), 0, sin(py / 2), 0};
    double q[4], x[3], exact[4], fy[3], fz[3];
    driven_pose("universal", RAMP("rx", "0.5") ", " RAMP("ry", "0.4"), q, x);
    product(qx, qy, exact);
    cr_expect(apart(q, exact) < 1e-11, "%g", apart(q, exact));
    axis_of(q, 1, fy);
    axis_of(q, 2, fz);
    const double printed = fy[2] * cos(px) - fz[2] * sin(px);
    const double right = fy[2] * cos(px) - fy[1] * sin(px);
    cr_expect(fabs(right) < 1e-11, "%g", right);
    cr_expect(fabs(printed - sin(px) * cos(px) * (1 - cos(py))) < 1e-10, "%g", printed);
    cr_expect(fabs(printed) > 3e-2, "%g", printed);
}

Test(quaternion_printed, the_free_joint_holds_six_targets) {
    const double p[3] = {0.3, -0.4, 0.5}, target[3] = {0.1, 0.2, -0.3};
    double q[4], x[3], exact[4], back[4], axes[4], y[3];
    driven_pose("free",
                RAMP("tx", "0.1") ", " RAMP("ty", "0.2") ", " RAMP("tz", "-0.3") ", " RAMP(
                    "rx", "0.3") ", " RAMP("ry", "-0.4") ", " RAMP("rz", "0.5"),
                q, x);
    quaternion_of(p, exact);
    for (int k = 0; k < 3; k++) cr_expect(fabs(x[k] - target[k]) < 1e-11, "%d: %g", k, x[k]);
    cr_expect(apart(q, exact) < 1e-11, "%g", apart(q, exact));
    for (int k = 0; k < 4; k++) back[k] = k == 0 ? exact[k] : -exact[k];
    double right = 0, printed = 0; // largest of the three rows: axis k + 1 of F', axis k + 2 of B
    for (int k = 0; k < 3; k++) {
        product(q, back, axes); // F R(p)'
        axis_of(axes, (k + 1) % 3, y);
        right = fmax(right, fabs(y[(k + 2) % 3]));
        product(q, exact, axes); // F R(p)
        axis_of(axes, (k + 1) % 3, y);
        printed = fmax(printed, fabs(y[(k + 2) % 3]));
    }
    cr_expect(right < 1e-11, "%g", right);
    cr_expect(printed > 0.4, "%g", printed);
}
