// SPDX-License-Identifier: Apache-2.0
// Tests for src/rigid/body_residual.h
//
// Oracles: F4 of [VQ eq. 10] by its 3 x 4 matrices G and H, and fourth-order differences over
// (dc, phi) with velocities and accelerations that follow from a history.
#include "rigid/body_residual.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define DRAWS 200

static const mabd_vec3 unit_vector[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static mabd_quat draw_quat(uint64_t* state, mabd_real size) {
    const mabd_vec3 v = draw_vec3(state, size);
    return mabd_q(size * draw_real(state), v.x, v.y, v.z);
}

// A body with history, loads and bh = 0.3 .. 0.7 s: all terms of A have one order of magnitude.
typedef struct body_case {
    mabd_rigid_inertia body;
    mabd_vec3 c, c_p, v_p, gravity;
    mabd_quat q, q_p, w_p;
    mabd_vec3 torque, X, force, Y, turning, turning_torque, wind;
    mabd_real drag, bh;
} body_case;

static body_case draw_body(uint64_t* state) {
    body_case b;
    b.body.mass = 1.5 + draw_real(state);
    b.body.J = mabd_v3_add(mabd_v3(2, 2, 2), draw_vec3(state, 1));
    b.bh = 0.5 + 0.2 * draw_real(state);
    b.c = draw_vec3(state, 1), b.c_p = draw_vec3(state, 1), b.v_p = draw_vec3(state, 3);
    b.gravity = draw_vec3(state, 10);
    b.q = mabd_q_normalize(draw_quat(state, 1));
    b.q_p = mabd_q_normalize(draw_quat(state, 1)), b.w_p = draw_quat(state, 2);
    b.torque = draw_vec3(state, 3), b.X = draw_vec3(state, 1), b.force = draw_vec3(state, 3);
    b.Y = draw_vec3(state, 1), b.turning = draw_vec3(state, 3);
    b.turning_torque = draw_vec3(state, 3), b.wind = draw_vec3(state, 3);
    b.drag = 1 + draw_real(state);
    return b;
}

static mabd_quat rate(mabd_quat x, mabd_quat p, mabd_real bh) {
    return mabd_q((x.w - p.w) / bh, (x.x - p.x) / bh, (x.y - p.y) / bh, (x.z - p.z) / bh);
}

static mabd_rigid_motion motion_of(const body_case* b) {
    mabd_rigid_motion s;
    s.q = b->q, s.w = rate(b->q, b->q_p, b->bh), s.dw = rate(s.w, b->w_p, b->bh);
    s.v = mabd_v3_scale(1 / b->bh, mabd_v3_sub(b->c, b->c_p));
    s.dv = mabd_v3_scale(1 / b->bh, mabd_v3_sub(s.v, b->v_p));
    return s;
}

static mabd_rigid_balance balance_of(const body_case* b) {
    const mabd_rigid_motion s = motion_of(b);
    const mabd_mat3 R = mabd_q_matrix(b->q);
    mabd_rigid_balance r = mabd_rigid_body_balance(&b->body, &s, b->gravity, b->bh);
    mabd_rigid_add_torque(R, b->torque, &r);
    mabd_rigid_add_force(R, b->X, b->force, &r);
    mabd_rigid_add_turning(R, b->Y, b->turning, b->turning_torque, &r);
    mabd_rigid_add_drag(b->drag, b->wind, &s, b->bh, &r);
    return r;
}

// ---- F3 and F4 by matrices ---------------------------------------------------------------------
// G and H of [VQ Tab. 1] with columns in the order w x y z.

static void paper_g(mabd_quat q, mabd_real G[3][4]) {
    const mabd_real m[3][4] = {
        {-q.x, q.w, -q.z, q.y}, {-q.y, q.z, q.w, -q.x}, {-q.z, -q.y, q.x, q.w}};
    memcpy(G, m, sizeof m);
}

static void paper_h(mabd_quat q, mabd_real H[3][4]) {
    const mabd_real m[3][4] = {
        {-q.x, q.w, q.z, -q.y}, {-q.y, -q.z, q.w, q.x}, {-q.z, q.y, -q.x, q.w}};
    memcpy(H, m, sizeof m);
}

static void multiply(mabd_real M[3][4], mabd_quat u, mabd_real* y) {
    for (int i = 0; i < 3; i++) {
        y[i] = M[i][0] * u.w + M[i][1] * u.x + M[i][2] * u.y + M[i][3] * u.z;
    }
}

// y (3) = G(q) H(u)' x
static void multiply_gh(mabd_quat q, mabd_quat u, const mabd_real* x, mabd_real* y) {
    mabd_real G[3][4], H[3][4], z[4];
    paper_g(q, G), paper_h(u, H);
    for (int k = 0; k < 4; k++) z[k] = H[0][k] * x[0] + H[1][k] * x[1] + H[2][k] * x[2];
    multiply(G, mabd_q(z[0], z[1], z[2], z[3]), y);
}

// F4 = 2 R J H(q) dw + 4 G(q) H(w)' J H(q) w - tau, R = G H', tau about the centre, world
static void paper_f4(const body_case* b, mabd_vec3 tau, mabd_real* F4) {
    const mabd_rigid_motion s = motion_of(b);
    const mabd_real J[3] = {b->body.J.x, b->body.J.y, b->body.J.z}, t[3] = {tau.x, tau.y, tau.z};
    mabd_real H[3][4], x[3], y[3], first[3], second[3];
    paper_h(s.q, H);
    multiply(H, s.dw, x), multiply(H, s.w, y);
    for (int k = 0; k < 3; k++) x[k] *= J[k], y[k] *= J[k];
    multiply_gh(s.q, s.q, x, first), multiply_gh(s.q, s.w, y, second);
    for (int k = 0; k < 3; k++) F4[k] = 2 * first[k] + 4 * second[k] - t[k];
}

// All loads as torques about the centre, world.
static mabd_vec3 torque_of(const body_case* b) {
    const mabd_mat3 R = mabd_q_matrix(b->q);
    const mabd_vec3 arm = mabd_m3_mul(R, b->X), turned = mabd_m3_mul(R, b->turning);
    mabd_vec3 t = mabd_v3_add(b->torque, mabd_v3_cross(arm, b->force));
    t = mabd_v3_add(t, mabd_v3_cross(mabd_m3_mul(R, b->Y), turned));
    return mabd_v3_add(t, mabd_m3_mul(R, b->turning_torque));
}

Test(body_residual, the_torque_balance_is_that_of_the_paper_in_the_body_frame) {
    uint64_t state = 1;
    mabd_real worst = 0;
    for (int n = 0; n < DRAWS; n++) {
        const body_case b = draw_body(&state);
        mabd_real F4[3];
        paper_f4(&b, torque_of(&b), F4);
        const mabd_vec3 world = mabd_m3_mul(mabd_q_matrix(b.q), balance_of(&b).t);
        const mabd_real miss = mabd_v3_norm(mabd_v3_sub(world, mabd_v3_load(F4)));
        worst = fmax(worst, miss / fmax(1, mabd_v3_norm(world)));
    }
    printf("F4: %.1e relative\n", worst);
    cr_assert(le(dbl, worst, 1e-13));
}

Test(body_residual, the_force_balance_is_mass_times_acceleration_minus_loads) {
    uint64_t state = 2;
    for (int n = 0; n < DRAWS; n++) {
        const body_case b = draw_body(&state);
        const mabd_rigid_motion s = motion_of(&b);
        mabd_vec3 F3 = mabd_v3_scale(b.body.mass, s.dv);
        F3 = mabd_v3_axpy(-b.body.mass, b.gravity, mabd_v3_sub(F3, b.force));
        F3 = mabd_v3_sub(F3, mabd_q_rotate(b.q, b.turning));
        F3 = mabd_v3_axpy(-b.drag, mabd_v3_sub(b.wind, s.v), F3);
        cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(F3, balance_of(&b).f)), 1e-13));
    }
}

// A torque-free spin with q on the unit sphere and w tangent: J om' + om x J om is E_t.
Test(body_residual, the_torque_balance_is_eulers_equation_on_the_exact_motion) {
    uint64_t state = 3;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_vec3 om = draw_vec3(&state, 3), al = draw_vec3(&state, 3);
        const mabd_rigid_inertia body = {1, mabd_v3_add(mabd_v3(2, 2, 2), draw_vec3(&state, 1))};
        mabd_rigid_motion s = {.q = mabd_q_normalize(draw_quat(&state, 1))};
        // q' = q (0, om)/2, q'' = q (0, al)/2 - |om|^2/4 q
        s.w = mabd_rigid_h_tmul(s.q, mabd_v3_scale(0.5, om));
        s.dw = mabd_rigid_h_tmul(s.q, mabd_v3_scale(0.5, al));
        const mabd_real k = mabd_v3_dot(om, om) / 4;
        s.dw =
            mabd_q(s.dw.w - k * s.q.w, s.dw.x - k * s.q.x, s.dw.y - k * s.q.y, s.dw.z - k * s.q.z);
        const mabd_vec3 J = body.J, L = mabd_v3(J.x * om.x, J.y * om.y, J.z * om.z);
        const mabd_vec3 euler =
            mabd_v3_add(mabd_v3(J.x * al.x, J.y * al.y, J.z * al.z), mabd_v3_cross(om, L));
        const mabd_vec3 t = mabd_rigid_body_balance(&body, &s, mabd_v3(0, 0, 0), 0.1).t;
        cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(t, euler)), 1e-13));
    }
}

// ---- derivatives -------------------------------------------------------------------------------

// The case after the increment s of unknown k: dc, then phi, by the exact exponential.
static body_case moved(const body_case* b, int k, mabd_real s) {
    body_case out = *b;
    if (k < 3)
        out.c = mabd_v3_axpy(s, unit_vector[k], b->c);
    else
        out.q = mabd_q_product(b->q, mabd_q_axis_angle(unit_vector[k - 3], s));
    return out;
}

Test(body_residual, blocks_are_derivatives_of_the_residual_with_all_loads) {
    const mabd_real step = 1e-3, at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    uint64_t state = 4;
    mabd_real worst = 0;
    for (int n = 0; n < DRAWS; n++) {
        const body_case b = draw_body(&state);
        mabd_real A[36] = {0};
        const mabd_rigid_balance r = balance_of(&b);
        mabd_rigid_add_balance(&r, 1, A);
        for (int k = 0; k < 6; k++) {
            mabd_real slope[6] = {0};
            for (int p = 0; p < 4; p++) {
                const body_case there = moved(&b, k, at[p] * step);
                const mabd_rigid_balance e = balance_of(&there);
                const mabd_real E[6] = {e.f.x, e.f.y, e.f.z, e.t.x, e.t.y, e.t.z};
                for (int i = 0; i < 6; i++) slope[i] += weight[p] * E[i] / (12 * step);
            }
            for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(slope[i] - A[6 * i + k]));
        }
    }
    printf("A against differences: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-8));
}

static mabd_real quat_entry(mabd_quat q, int k) {
    return k == 0 ? q.w : k == 1 ? q.x : k == 2 ? q.y : q.z;
}

static mabd_quat quat_moved(mabd_quat q, int k, mabd_real s) {
    return mabd_q(q.w + s * (k == 0), q.x + s * (k == 1), q.y + s * (k == 2), q.z + s * (k == 3));
}

// E_t is linear in dw and quadratic in w: a central difference of any step is exact.
Test(body_residual, derivatives_by_rates_are_those_of_the_residual) {
    uint64_t state = 5;
    mabd_real worst = 0;
    for (int n = 0; n < DRAWS; n++) {
        const body_case b = draw_body(&state);
        const mabd_rigid_motion s = motion_of(&b);
        mabd_real E_a[12], E_v[12];
        mabd_rigid_by_acceleration(b.body.J, s.q, E_a);
        mabd_rigid_by_velocity(b.body.J, s.q, s.w, E_v);
        for (int k = 0; k < 8; k++) {
            mabd_vec3 t[2];
            for (int side = 0; side < 2; side++) {
                mabd_rigid_motion m = s;
                mabd_quat* u = k < 4 ? &m.dw : &m.w;
                *u = quat_moved(*u, k % 4, side ? 0.5 : -0.5);
                t[side] = mabd_rigid_body_balance(&b.body, &m, b.gravity, b.bh).t;
            }
            const mabd_vec3 slope = mabd_v3_sub(t[1], t[0]);
            const mabd_real* E = k < 4 ? E_a : E_v;
            const mabd_vec3 found = mabd_v3(E[k % 4], E[4 + k % 4], E[8 + k % 4]);
            worst = fmax(worst, mabd_v3_norm(mabd_v3_sub(slope, found)));
        }
    }
    printf("E_a, E_v: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-12));
}

Test(body_residual, h_is_the_matrix_of_the_paper_and_turns_keep_length_and_sign) {
    uint64_t state = 6;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_quat q = mabd_q_normalize(draw_quat(&state, 1)), u = draw_quat(&state, 1);
        const mabd_vec3 y = draw_vec3(&state, 1);
        mabd_real H[3][4], x[3];
        paper_h(q, H);
        multiply(H, u, x);
        cr_assert(
            le(dbl, mabd_v3_norm(mabd_v3_sub(mabd_rigid_h_mul(q, u), mabd_v3_load(x))), 1e-15));
        const mabd_quat back = mabd_rigid_h_tmul(q, y);
        for (int k = 0; k < 4; k++) {
            const mabd_real sum = H[0][k] * y.x + H[1][k] * y.y + H[2][k] * y.z;
            cr_assert(le(dbl, fabs(quat_entry(back, k) - sum), 1e-15));
        }
        const mabd_quat p = mabd_rigid_turn(q, y);
        cr_assert(le(dbl, fabs(mabd_q_norm(p) - 1), 1e-15));
        cr_assert(lt(dbl, 0, mabd_rigid_q_dot(p, q)));
        // to first order a turn by phi is R exp([phi]); its error falls as |phi|^3
        const mabd_vec3 phi = mabd_v3_scale(1e-3, y);
        const mabd_mat3 R = mabd_m3_product(
            mabd_q_matrix(q), turn(mabd_v3_scale(1 / mabd_v3_norm(y), y), mabd_v3_norm(phi)));
        const mabd_mat3 miss = mabd_m3_axpy(-1, mabd_q_matrix(mabd_rigid_turn(q, phi)), R);
        cr_assert(le(dbl, mabd_v3_norm(miss.c1) + mabd_v3_norm(miss.c2), 1e-9));
    }
}
