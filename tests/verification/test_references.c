// SPDX-License-Identifier: Apache-2.0
// The references of the verification tests against known properties.
//
//   K(0) = pi/2, K(sin 45 deg) = Gamma(1/4)^2 / (4 sqrt(pi)) = 1.85407467730137...
//   sn(u, 0) = sin u, sn(K, k) = 1, sn(u + 2K) = -sn(u), sn(K/2, k) = 1/sqrt(1 + k')
//   constants of motion: energy and, for a top, vertical angular momentum; RK4's error is O(h^4)

#include "support/elliptic.h"
#include "support/reference.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

Test(references, complete_elliptic_integral_at_known_moduli) {
    cr_expect(fabs(elliptic_k(0) - acos(-1) / 2) < 1e-15);
    const double gamma = tgamma(0.25);
    cr_expect(fabs(elliptic_k(sqrt(0.5)) - gamma * gamma / (4 * sqrt(acos(-1)))) < 1e-14);
}

Test(references, jacobi_sine_identities) {
    const double moduli[] = {0, 0.1, sqrt(0.5), 0.9, 0.999};
    for (int i = 0; i < 5; i++) {
        const double k = moduli[i], K = elliptic_k(k);
        cr_expect(fabs(elliptic_sn(K, k) - 1) < 1e-14);
        cr_expect(fabs(elliptic_sn(K / 2, k) - 1 / sqrt(1 + sqrt(1 - k * k))) < 1e-13);
        cr_expect(fabs(elliptic_sn(0.3, k) + elliptic_sn(0.3 + 2 * K, k)) < 1e-13);
        cr_expect(fabs(elliptic_sn(-2.5, k) + elliptic_sn(2.5, k)) < 1e-15);
    }
    cr_expect(fabs(elliptic_sn(0.7, 0) - sin(0.7)) < 1e-15);
}

// Compute energy and vertical angular momentum of a top.
static void top_constants(const reference_top* top, const double* y, double* constants) {
    const double momentum[3] = {top->inertia[0] * y[4], top->inertia[1] * y[5],
                                top->inertia[2] * y[6]};
    double world[3], arm[3];
    reference_rotate(y, momentum, world);
    reference_rotate(y, top->arm, arm);
    constants[0] = (momentum[0] * y[4] + momentum[1] * y[5] + momentum[2] * y[6]) / 2 -
                   (arm[0] * top->weight[0] + arm[1] * top->weight[1] + arm[2] * top->weight[2]);
    constants[1] = world[2];
}

Test(references, top_keeps_energy_and_vertical_angular_momentum) {
    const reference_top top = {{2, 3, 1}, {0, 0, -5}, {0.1, 0.2, 0.4}};
    double y[7] = {1, 0, 0, 0, 1, -2, 6}, start[2], end[2];
    top_constants(&top, y, start);
    reference_rk4(reference_top_rate, &top, 7, 1e-3, 2000, y);
    top_constants(&top, y, end);
    cr_expect(fabs(end[0] - start[0]) < 1e-9, "energy %g", end[0] - start[0]);
    cr_expect(fabs(end[1] - start[1]) < 1e-9, "momentum %g", end[1] - start[1]);
    cr_expect(fabs(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3] - 1) < 1e-9);
    cr_expect(fabs(y[0] - 1) > 0.1); // it has moved
}

// Compute kinetic and potential energy from the positions of both centres of mass.
static double pendulum_energy(const reference_double_pendulum* p, const double* y) {
    const double vx = p->length * cos(y[0]) * y[2] + p->center[1] * cos(y[1]) * y[3];
    const double vz = p->length * sin(y[0]) * y[2] + p->center[1] * sin(y[1]) * y[3];
    const double z1 = -p->center[0] * cos(y[0]);
    const double z2 = -p->length * cos(y[0]) - p->center[1] * cos(y[1]);
    return (p->mass[0] * pow(p->center[0] * y[2], 2) + p->inertia[0] * y[2] * y[2] +
            p->mass[1] * (vx * vx + vz * vz) + p->inertia[1] * y[3] * y[3]) /
               2 +
           p->gravity * (p->mass[0] * z1 + p->mass[1] * z2);
}

Test(references, double_pendulum_keeps_energy) {
    const reference_double_pendulum p = {{1, 2}, {0.4, 0.3}, {0.1, 0.2}, 0.9, 9.81};
    double y[4] = {1.5, 2, 0.3, -1};
    const double start = pendulum_energy(&p, y);
    reference_rk4(reference_double_pendulum_rate, &p, 4, 1e-3, 2000, y);
    cr_expect(fabs(pendulum_energy(&p, y) - start) < 1e-8, "%g", pendulum_energy(&p, y) - start);
}

// A double pendulum without its second mass is the pendulum of the elliptic integral.
Test(references, pendulum_by_runge_kutta_is_the_one_by_elliptic_integral) {
    const reference_double_pendulum p = {{2, 1e-12}, {0.5, 0.1}, {0.2, 1e-12}, 1, 9.81};
    const double k = sqrt(0.5), rate = sqrt(2 * 9.81 * 0.5 / (0.2 + 2 * 0.25));
    double y[4] = {acos(-1) / 2, 0, 0, 0};
    reference_rk4(reference_double_pendulum_rate, &p, 4, 1e-4, 7000, y);
    const double expected = 2 * asin(k * elliptic_sn(elliptic_k(k) - rate * 0.7, k));
    cr_expect(fabs(y[0] - expected) < 1e-10, "%.15g, not %.15g", y[0], expected);
}
