// SPDX-License-Identifier: Apache-2.0
// Frames, twists and their exponentials: the examples that [RM sec. 1.3 to 1.5] print with four
// digits, and exp(log) of frames, also beside the identity and half a turn.
#include "math/frame_exp.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define DIGITS 5e-5 // of printed numbers

// A frame from its upper three rows.
static mabd_frame frame_of(const double* rows) {
    mabd_frame E;
    E.R = mabd_m3(mabd_v3(rows[0], rows[4], rows[8]), mabd_v3(rows[1], rows[5], rows[9]),
                  mabd_v3(rows[2], rows[6], rows[10]));
    E.p = mabd_v3(rows[3], rows[7], rows[11]);
    return E;
}

static double size_of(mabd_vec3 x) {
    return fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
}

// Largest difference of two matrices.
static double apart(mabd_mat3 A, mabd_mat3 B) {
    const mabd_mat3 D = mabd_m3_axpy(-1, B, A);
    return fmax(size_of(D.c1), fmax(size_of(D.c2), size_of(D.c3)));
}

static mabd_frame moved(const mabd_frame* E, mabd_real t, mabd_spatial V) {
    const mabd_frame D = mabd_frame_exp(mabd_sp_scale(t, V));
    return mabd_frame_product(E, &D);
}

// ---- printed -----------------------------------------------------------------------------------

// The printed rotation turns by 3.086 rad: there the logarithm multiplies round-off by 60.
Test(frame_exp, agrees_with_the_printed_exponential_and_logarithm) {
    const double rows[12] = {-0.7372, -0.2659, 0.6211, 0.6877,  -0.1676, -0.8186,
                             -0.5493, 0.3886,  0.6545, -0.5091, 0.5589,  0.9371};
    const mabd_spatial phi =
        mabd_sp(mabd_v3(1.1157, -0.9257, 2.7242), mabd_v3(1.3245, -0.6727, 0.3156));
    const mabd_frame E = frame_of(rows), out = mabd_frame_exp(phi);
    const mabd_spatial back = mabd_frame_log(&E);
    printf("exp %.1e, log %.1e\n", fmax(apart(out.R, E.R), size_of(mabd_v3_sub(out.p, E.p))),
           fmax(size_of(mabd_v3_sub(back.w, phi.w)), size_of(mabd_v3_sub(back.v, phi.v))));
    cr_expect(lt(dbl, fabs(mabd_v3_norm(phi.w) - 3.086), 5e-4));
    cr_expect(lt(dbl, apart(out.R, E.R), 2 * DIGITS)); // of both sides
    cr_expect(lt(dbl, size_of(mabd_v3_sub(out.p, E.p)), 2 * DIGITS));
    cr_expect(lt(dbl, size_of(mabd_v3_sub(back.w, phi.w)), 2e-3));
    cr_expect(lt(dbl, size_of(mabd_v3_sub(back.v, phi.v)), 2e-3));
}

// E' = E [phi], which the printed example takes as a difference over 1e-8.
Test(frame_exp, agrees_with_the_printed_rate_of_a_frame) {
    const double rows[12] = {-0.9227, -0.3845, -0.0274, -0.5020, 0.2865, -0.6364,
                             -0.7162, 0.4564,  0.2579,  -0.6687, 0.6973, -1.5617};
    const double rates[12] = {-0.2751, 0.7470, -1.2181, 0.8533,  0.3944, -0.1388,
                              0.2811,  0.2439, -1.4221, -0.2974, 0.2408, 0.1054};
    const mabd_spatial phi =
        mabd_sp(mabd_v3(-0.1285, 1.2666, 0.8058), mabd_v3(-0.6903, -0.5538, -0.1246));
    const mabd_frame E = frame_of(rows), wanted = frame_of(rates);
    const double h = 1e-5; // central: the error is h^2 |phi|^3/6
    const mabd_frame on = moved(&E, h, phi), off = moved(&E, -h, phi);
    const mabd_mat3 D = mabd_m3_axpy(-1, off.R, on.R), zero = mabd_m3_axpy(-1, D, D);
    const mabd_mat3 rate = mabd_m3_axpy(1 / (2 * h), D, zero);
    const mabd_vec3 speed = mabd_v3_scale(1 / (2 * h), mabd_v3_sub(on.p, off.p));
    printf("rates %.1e\n", fmax(apart(rate, wanted.R), size_of(mabd_v3_sub(speed, wanted.p))));
    cr_expect(lt(dbl, apart(rate, wanted.R), 2 * DIGITS)); // products of printed numbers
    cr_expect(lt(dbl, size_of(mabd_v3_sub(speed, wanted.p)), 2 * DIGITS));
}

// [RM sec. 1.4, 1.5]: the twist of an unrotated body at (1, 0, 0) that spins about y, in the world;
// speeds of the point (1, 0, 0) of a body that slides along x, and of one that turns about z.
Test(frame_exp, adjoint_and_point_velocities_of_the_examples) {
    const mabd_frame E = {mabd_m3_identity(), {1, 0, 0}}, back = mabd_frame_inverse(&E);
    const mabd_spatial V = mabd_frame_to_child(&back, mabd_sp(mabd_v3(0, 1, 0), mabd_v3(0, 0, 0)));
    cr_expect(eq(dbl, size_of(mabd_v3_sub(V.w, mabd_v3(0, 1, 0))), 0));
    cr_expect(eq(dbl, size_of(mabd_v3_sub(V.v, mabd_v3(0, 0, 1))), 0));
    const mabd_vec3 x = mabd_v3(1, 0, 0), w = mabd_v3(0, 0, 1);
    const mabd_frame on = mabd_frame_exp(mabd_sp(mabd_v3_scale(1e-6, w), mabd_v3(0, 0, 0)));
    const mabd_vec3 way = mabd_v3_sub(mabd_m3_mul(on.R, x), x);
    cr_expect(lt(dbl, size_of(mabd_v3_sub(mabd_v3_scale(1e6, way), mabd_v3(0, 1, 0))), 1e-6));
    const mabd_frame slid = mabd_frame_exp(mabd_sp(mabd_v3(0, 0, 0), x));
    cr_expect(eq(dbl, size_of(mabd_v3_sub(slid.p, x)), 0));
}

// A' = A ad(phi), by differences of adjoints along E exp(t phi) [RM eq. 1.19, 1.20].
Test(frame_exp, rate_of_the_adjoint_is_the_adjoint_of_ad) {
    uint64_t state = 4;
    for (int i = 0; i < 50; i++) {
        const mabd_frame E = {draw_rotation(&state), draw_vec3(&state, 1)};
        const mabd_spatial phi = mabd_sp(draw_vec3(&state, 1), draw_vec3(&state, 1));
        const mabd_spatial U = mabd_sp(draw_vec3(&state, 1), draw_vec3(&state, 1));
        const double h = 1e-4;
        mabd_spatial value[5];
        for (int k = -2; k <= 2; k++) {
            const mabd_frame at = moved(&E, k * h, phi), back = mabd_frame_inverse(&at);
            value[k + 2] = mabd_frame_to_child(&back, U); // A U
        }
        const mabd_spatial near = mabd_sp_sub(value[3], value[1]);
        const mabd_spatial far = mabd_sp_sub(value[4], value[0]);
        const mabd_spatial slope =
            mabd_sp_scale(1 / (12 * h), mabd_sp_sub(mabd_sp_scale(8, near), far));
        const mabd_frame back = mabd_frame_inverse(&E);
        const mabd_spatial wanted = mabd_frame_to_child(&back, mabd_sp_cross(phi, U));
        const mabd_spatial error = mabd_sp_sub(slope, wanted);
        cr_expect(lt(dbl, fmax(size_of(error.w), size_of(error.v)), 1e-10));
    }
}

// ---- round trips -------------------------------------------------------------------------------

Test(frame_exp, undoes_the_logarithm_at_all_angles) {
    uint64_t state = 9;
    const double special[] = {0, 1e-12, 1e-8, 1e-4, MABD_PI / 2, MABD_PI - 1e-4, MABD_PI - 1e-9};
    const int count = sizeof special / sizeof special[0];
    double worst = 0;
    for (int i = 0; i < 10000; i++) {
        const double angle =
            i % 10 == 0 ? special[i / 10 % count] : MABD_PI * fabs(draw_real(&state));
        const mabd_spatial D =
            mabd_sp(mabd_v3_scale(angle, draw_direction(&state)), draw_vec3(&state, 2));
        const mabd_frame E = mabd_frame_exp(D);
        const mabd_frame again = mabd_frame_exp(mabd_frame_log(&E));
        const double error =
            fmax(apart(again.R, E.R), size_of(mabd_v3_sub(again.p, E.p)) / (1 + size_of(E.p)));
        worst = fmax(worst, error);
        cr_expect(lt(dbl, error, 1e-12), "angle %.12g: %g", angle, error);
    }
    printf("exp(log): %.1e\n", worst);
}
