// SPDX-License-Identifier: Apache-2.0
// Motion of bodies in lanes: rotations by series, and free rotation by the midpoint rule.

#include "formulation/impulse/impulse_spin.h"
#include "math/frame_exp.h"
#include "support/draw.h"

#include <criterion/criterion.h>

// Rotations by at most 1 rad from series, against sine and cosine.
Test(impulse_bodies, small_rotations_are_exact) {
    uint64_t state = 3;
    for (int i = 0; i < 2000; i++) {
        const mabd_vec3 v = mabd_v3_scale(draw_real(&state), draw_direction(&state));
        const mabd_quat a = mabd_q_exp_small(v), b = mabd_q_exp(v);
        const mabd_real off[] = {a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z};
        for (int k = 0; k < 4; k++) cr_assert_float_eq(off[k], 0, 3e-16);
    }
    cr_assert_eq(mabd_q_exp_small(mabd_v3(0, 0, 0)).w, 1);
}

// I (w1 - w0) + h wm x I wm = h tau: the residual in the test's own words; energy without torque.
Test(impulse_bodies, free_rotation_solves_the_midpoint_rule) {
    uint64_t state = 5;
    for (int i = 0; i < 500; i++) {
        const mabd_vec3 I = {2 + draw_real(&state), 2 + draw_real(&state), 2 + draw_real(&state)};
        const mabd_vec3 w0 = draw_vec3(&state, 10);
        const mabd_vec3 tau = i % 2 ? draw_vec3(&state, 5) : mabd_v3(0, 0, 0);
        const mabd_real h = (mabd_real)0.005;
        const mabd_impulse_spin s = mabd_impulse_free_spin(I, w0, tau, h);
        const mabd_vec3 m = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(w0, s.end));
        const mabd_vec3 Im = {I.x * m.x, I.y * m.y, I.z * m.z};
        const mabd_vec3 dw = mabd_v3_sub(s.end, w0), g = mabd_v3_cross(m, Im);
        cr_assert_float_eq(I.x * dw.x + h * g.x, h * tau.x, 1e-13);
        cr_assert_float_eq(I.y * dw.y + h * g.y, h * tau.y, 1e-13);
        cr_assert_float_eq(I.z * dw.z + h * g.z, h * tau.z, 1e-13);
        if (i % 2) continue;
        const mabd_real before = I.x * w0.x * w0.x + I.y * w0.y * w0.y + I.z * w0.z * w0.z;
        const mabd_real after =
            I.x * s.end.x * s.end.x + I.y * s.end.y * s.end.y + I.z * s.end.z * s.end.z;
        cr_assert_float_eq(after / before, 1, 1e-14);
    }
}

// A body that turns by many turns in a substep is moved by its torque alone.
Test(impulse_bodies, a_body_that_turns_too_fast_keeps_its_velocity) {
    const mabd_vec3 I = {1, 2, 2.9}, w0 = {3e4, -2e4, 5e4};
    const mabd_impulse_spin s = mabd_impulse_free_spin(I, w0, mabd_v3(0, 0, 0), (mabd_real)0.01);
    cr_assert_float_eq(mabd_v3_norm(mabd_v3_sub(s.end, w0)), 0, 1e-9);
}
