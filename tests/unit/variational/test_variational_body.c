// SPDX-License-Identifier: Apache-2.0
// One body in a step of the variational formulation: momenta on both sides of the step, and the
// derivatives by its angular velocity, against the identity of the free body and central
// differences.
#include "formulation/variational/variational_body.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const mabd_real moments[3] = {0.3, 0.7, 0.9};
static const mabd_real h = 0.05;

static mabd_vec3 some_spin(int i) {
    return mabd_v3(3 + i, -5 + 2 * i, 7 - 3 * i);
}

// R0 Lp = R1 Lm: a free body keeps its angular momentum.
Test(variational_body, a_step_carries_angular_momentum_to_its_end) {
    for (int i = 0; i < 8; i++) {
        const mabd_vec3 w = some_spin(i);
        const mabd_quat q = mabd_q_normalize(mabd_q(0.3, 0.1 * i, -0.5, 0.4));
        const mabd_mat3 R0 = mabd_q_matrix(q), R1 = mabd_q_matrix(mabd_variational_rotate(q, w, h));
        const mabd_vec3 before = mabd_m3_mul(R0, mabd_variational_momentum(moments, w, h, 1));
        const mabd_vec3 after = mabd_m3_mul(R1, mabd_variational_momentum(moments, w, h, -1));
        cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(before, after)), 1e-14 * mabd_v3_norm(before)));
    }
}

// Largest difference between column k of M and (f(w + e) - f(w - e))/2e, relative.
static double column_error(mabd_mat3 M, int k, mabd_vec3 plus, mabd_vec3 minus, double e) {
    const mabd_vec3 slope = mabd_v3_scale(1 / (2 * e), mabd_v3_sub(plus, minus));
    const mabd_vec3 column = mabd_m3_column(&M, k);
    return mabd_v3_norm(mabd_v3_sub(column, slope)) / (1e-3 + mabd_v3_norm(column));
}

static mabd_vec3 nudge(mabd_vec3 w, int k, double e) {
    const mabd_real d[3] = {k == 0 ? e : 0, k == 1 ? e : 0, k == 2 ? e : 0};
    return mabd_v3_add(w, mabd_v3_load(d));
}

Test(variational_body, derivatives_by_the_spin_are_those_of_differences) {
    const double e = 1e-5;
    for (int i = 0; i < 8; i++) {
        const mabd_vec3 w = some_spin(i);
        const mabd_mat3 L = mabd_variational_slope(moments, w, h), E = mabd_variational_turn(w, h);
        const mabd_quat q = mabd_q(1, 0, 0, 0), end = mabd_variational_rotate(q, w, h);
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 up = nudge(w, k, e), down = nudge(w, k, -e);
            cr_expect(lt(dbl,
                         column_error(L, k, mabd_variational_momentum(moments, up, h, 1),
                                      mabd_variational_momentum(moments, down, h, 1), e),
                         1e-7));
            // turn of the end in its own frame, per h: 2 vec(end* end')/h
            const mabd_quat to = mabd_q_conjugate(end);
            const mabd_quat a = mabd_q_product(to, mabd_variational_rotate(q, up, h));
            const mabd_quat b = mabd_q_product(to, mabd_variational_rotate(q, down, h));
            cr_expect(lt(dbl,
                         column_error(E, k, mabd_v3(2 * a.x / h, 2 * a.y / h, 2 * a.z / h),
                                      mabd_v3(2 * b.x / h, 2 * b.y / h, 2 * b.z / h), e),
                         1e-7));
        }
    }
}
