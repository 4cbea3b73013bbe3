// SPDX-License-Identifier: Apache-2.0
// The stability estimate of rigid bodies against closed forms and differences of torques.
#include "math/so3.h"
#include "rigid/stability.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static mabd_model_class rod_class(mabd_real mass, mabd_real length) {
    mabd_model_class c = {0};
    c.material.mass = mass;
    c.principal[0] = mass * length * length / 1000;
    c.principal[1] = c.principal[2] = mass * length * length / 12;
    return c;
}

// w^2 = 12 T/(m l); a rod that is pushed together with the same force has none.
Test(stability, a_rod_under_tension_has_the_rate_of_its_closed_form) {
    const mabd_real m = 2, l = (mabd_real)0.5, T = 30;
    const mabd_model_class c = rod_class(m, l);
    for (int sign = -1; sign <= 1; sign += 2) {
        mabd_rigid_stability s = mabd_rigid_stability_none();
        mabd_rigid_stability_add_force(&s, mabd_v3(l / 2, 0, 0), mabd_v3(sign * T, 0, 0));
        mabd_rigid_stability_add_force(&s, mabd_v3(-l / 2, 0, 0), mabd_v3(-sign * T, 0, 0));
        const double rate2 = mabd_rigid_stability_rate2(&s, &c);
        const double expected = sign > 0 ? 12 * T / (m * l) : 0;
        cr_expect(le(dbl, fabs(rate2 - expected), 1e-12 * (1 + expected)), "%g", rate2);
    }
}

// v' J^1/2 S J^1/2 v against -v . d torque by central differences, the torque X x R'F of a constant
// F, for turns along each axis and pairs of them: S is the symmetric part.
Test(stability, the_stiffness_is_the_derivative_of_the_torque) {
    uint64_t state = 11;
    const mabd_vec3 X = mabd_v3(draw_real(&state), draw_real(&state), draw_real(&state));
    const mabd_vec3 F = mabd_v3(draw_real(&state), draw_real(&state), draw_real(&state));
    mabd_rigid_stability s = mabd_rigid_stability_none();
    mabd_rigid_stability_add_force(&s, X, F);
    for (int i = 0; i < 20; i++) {
        const double e = 1e-5;
        const mabd_vec3 v = mabd_v3(draw_real(&state), draw_real(&state), draw_real(&state));
        const mabd_mat3 up = mabd_q_matrix(mabd_q_exp(mabd_v3_scale((mabd_real)e, v)));
        const mabd_vec3 more = mabd_v3_cross(X, mabd_m3_tmul(up, F));
        const mabd_vec3 less = mabd_v3_cross(X, mabd_m3_mul(up, F));
        const double by = -mabd_v3_dot(v, mabd_v3_sub(more, less)) / (2 * e);
        cr_expect(le(dbl, fabs(by - mabd_v3_dot(v, mabd_sym3_mul(s.S, v))), 1e-9));
    }
}

// A spring between two bodies of 2 kg and 3 kg along a line: w^2 = k (1/2 + 1/3).
Test(stability, springs_add_the_square_of_their_rate) {
    const mabd_model_class a = rod_class(2, 1), b = rod_class(3, 1);
    const mabd_rigid_wrench along = {mabd_v3(0, 0, 1), mabd_v3(0, 0, 0)};
    mabd_rigid_stability s = mabd_rigid_stability_none();
    mabd_rigid_stability_add_spring(&s, 100,
                                    mabd_rigid_stability_compliance(&a, along) +
                                        mabd_rigid_stability_compliance(&b, along));
    cr_expect(le(dbl, fabs(mabd_rigid_stability_rate2(&s, &a) - 500.0 / 6), 1e-12));
}

Test(stability, the_depth_is_the_least_that_bounds_rate_and_turn) {
    cr_expect(eq(int, mabd_rigid_stability_depth((mabd_real)0.01, 0, 0), 0));
    cr_expect(eq(int, mabd_rigid_stability_depth((mabd_real)0.01, 9999, 0), 0));
    cr_expect(eq(int, mabd_rigid_stability_depth((mabd_real)0.01, 10100, 0), 1));
    cr_expect(eq(int, mabd_rigid_stability_depth((mabd_real)0.01, 90000, 0), 2));
    cr_expect(eq(int, mabd_rigid_stability_depth((mabd_real)0.01, 0, 190), 2));
    cr_expect(
        eq(int, mabd_rigid_stability_depth(1, (mabd_real)1e30, 0), MABD_RIGID_STABILITY_DEPTH_MAX));
}
