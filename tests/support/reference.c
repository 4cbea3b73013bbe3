// SPDX-License-Identifier: Apache-2.0
// Rates of the reference systems and the classical Runge-Kutta method.
//
// Double pendulum, angles a, b from straight down, d = a - b:
//
//   | I1 + m1 c1^2 + m2 l^2   m2 l c2 cos d | a''    -m2 l c2 sin d b'^2 - (m1 c1 + m2 l) g sin a
//   | m2 l c2 cos d           I2 + m2 c2^2  | b''  =  m2 l c2 sin d a'^2 - m2 c2 g sin b

#include "support/reference.h"

#include <math.h>

void reference_rk4(reference_rate rate, const void* context, int n, double h, long steps,
                   double* y) {
    double k1[REFERENCE_MAX], k2[REFERENCE_MAX], k3[REFERENCE_MAX], k4[REFERENCE_MAX];
    double at[REFERENCE_MAX];
    for (long step = 0; step < steps; step++) {
        rate(context, y, k1);
        for (int i = 0; i < n; i++) at[i] = y[i] + h / 2 * k1[i];
        rate(context, at, k2);
        for (int i = 0; i < n; i++) at[i] = y[i] + h / 2 * k2[i];
        rate(context, at, k3);
        for (int i = 0; i < n; i++) at[i] = y[i] + h * k3[i];
        rate(context, at, k4);
        for (int i = 0; i < n; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
}

static void cross(const double* a, const double* b, double* c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

// v + 2 u x (u x v + w v), u the vector part and w the scalar part of q
static void rotate(double w, const double* u, const double* v, double* out) {
    double inner[3], outer[3];
    cross(u, v, inner);
    for (int k = 0; k < 3; k++) inner[k] += w * v[k];
    cross(u, inner, outer);
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * outer[k];
}

void reference_rotate(const double* q, const double* v, double* world) {
    rotate(q[0], q + 1, v, world);
}

void reference_unrotate(const double* q, const double* v, double* body) {
    rotate(-q[0], q + 1, v, body);
}

void reference_top_rate(const void* context, const double* y, double* dy) {
    const reference_top* top = context;
    const double *q = y, *w = y + 4, *I = top->inertia;
    double force[3], torque[3];
    reference_unrotate(q, top->weight, force);
    cross(top->arm, force, torque);
    dy[0] = -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]) / 2;
    dy[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2;
    dy[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2;
    dy[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2;
    dy[4] = ((I[1] - I[2]) * w[1] * w[2] + torque[0]) / I[0];
    dy[5] = ((I[2] - I[0]) * w[2] * w[0] + torque[1]) / I[1];
    dy[6] = ((I[0] - I[1]) * w[0] * w[1] + torque[2]) / I[2];
}

void reference_double_pendulum_rate(const void* context, const double* y, double* dy) {
    const reference_double_pendulum* p = context;
    const double m1 = p->mass[0], m2 = p->mass[1], c1 = p->center[0], c2 = p->center[1];
    const double s = m2 * p->length * c2 * sin(y[0] - y[1]);
    const double M11 = p->inertia[0] + m1 * c1 * c1 + m2 * p->length * p->length;
    const double M12 = m2 * p->length * c2 * cos(y[0] - y[1]);
    const double M22 = p->inertia[1] + m2 * c2 * c2;
    const double f1 = -s * y[3] * y[3] - (m1 * c1 + m2 * p->length) * p->gravity * sin(y[0]);
    const double f2 = s * y[2] * y[2] - m2 * c2 * p->gravity * sin(y[1]);
    const double det = M11 * M22 - M12 * M12;
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (M22 * f1 - M12 * f2) / det;
    dy[3] = (M11 * f2 - M12 * f1) / det;
}
