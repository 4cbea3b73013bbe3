// SPDX-License-Identifier: Apache-2.0
// Rows of maximal coordinates: they are the relative twist without the free axes of the joint, and
// their bias is the second derivative of their values.
#include "formulation/redmax/maximal_bias.h"
#include "math/frame_exp.h"
#include "support/rigid_rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// ---- dropped rows ------------------------------------------------------------------------------

// Write a row of derivatives by (dc, phi) of a and of b (12).
static void write_row(const mabd_rigid_row* J, double* out) {
    const mabd_vec3 parts[4] = {J->a.f, J->a.t, J->b.f, J->b.t};
    for (int k = 0; k < 4; k++) mabd_v3_store(parts[k], out + 3 * k);
}

// Row k of the twist of b relative to a in the axes of the joint on a, at the point of the joint on
// b [RM eq. 1.84]: k 0..2 angular, 3..5 linear. By (dc, phi) of both.
static void twist_row(const mabd_joint_view* v, int k, double* out) {
    const mabd_vec3 n = mabd_m3_mul(v->Aa, mabd_m3_column(&v->Fa, k % 3));
    const mabd_vec3 none = mabd_v3(0, 0, 0);
    const mabd_vec3 at = mabd_v3_add(v->tb, mabd_m3_mul(v->Ab, v->Xb));
    const mabd_mat3 R[2] = {v->Aa, v->Ab};
    const mabd_vec3 arm[2] = {mabd_v3_sub(at, v->ta), mabd_v3_sub(at, v->tb)};
    for (int side = 0; side < 2; side++) { // v + R w x arm, or R w, along n
        const mabd_vec3 turn = k < 3 ? n : mabd_v3_cross(arm[side], n);
        const double sign = side ? 1 : -1;
        mabd_v3_store(mabd_v3_scale(sign, k < 3 ? none : n), out + 6 * side);
        mabd_v3_store(mabd_v3_scale(sign, mabd_m3_tmul(R[side], turn)), out + 6 * side + 3);
    }
}

// Make x (12) orthogonal to the orthonormal rows of `basis` (n). Returns what is left of its size.
static double remove_span(int n, double (*basis)[12], double* x) {
    double before = 0, after = 0;
    for (int i = 0; i < 12; i++) before += x[i] * x[i];
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < n; k++) {
            double dot = 0;
            for (int i = 0; i < 12; i++) dot += basis[k][i] * x[i];
            for (int i = 0; i < 12; i++) x[i] -= dot * basis[k][i];
        }
    }
    for (int i = 0; i < 12; i++) after += x[i] * x[i];
    return sqrt(after / before);
}

// Axes of the twist that a type leaves free.
static bool is_free(mabd_joint type, int axis) {
    mabd_row row;
    return mabd_joint_coordinate(type, (mabd_axis)(axis < 3 ? MABD_AXIS_RX + axis : axis - 3),
                                 &row);
}

Test(maximal_rows, are_those_of_the_relative_twist_without_its_free_axes) {
    uint64_t state = 12;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        if (type == MABD_JOINT_UNIVERSAL) continue; // its locked axis is of neither body
        for (int i = 0; i < 20; i++) {
            const rigid_case c = draw_rigid_case((mabd_joint)type, RIGID_CLOSED, &state);
            double basis[6][12];
            int n = 0;
            for (int k = 0; k < 6; k++) {
                if (is_free((mabd_joint)type, k)) continue;
                twist_row(&c.v, k, basis[n]);
                cr_expect(lt(dbl, 1e-2, remove_span(n, basis, basis[n])));
                double size = 0;
                for (int p = 0; p < 12; p++) size += basis[n][p] * basis[n][p];
                for (int p = 0; p < 12; p++) basis[n][p] /= sqrt(size);
                n++;
            }
            cr_assert(eq(int, n, c.rigid), "%s", mabd_joint_name((mabd_joint)type));
            const mabd_rigid_joint at = mabd_rigid_joint_at(&c.v, c.rigid, c.rows, c.near);
            for (int r = 0; r < c.rigid; r++) {
                const mabd_rigid_row J = mabd_rigid_row_jacobian(&at, c.rows + r);
                double row[12];
                write_row(&J, row);
                cr_expect(lt(dbl, remove_span(n, basis, row), 1e-12), "%s, row %d",
                          mabd_joint_name((mabd_joint)type), r);
            }
        }
    }
}

// ---- bias --------------------------------------------------------------------------------------

// Value of a row after both bodies have moved by their twists for a time t.
static double value_after(const rigid_case* c, int r, const mabd_spatial* V, double t) {
    mabd_joint_view v = c->v;
    const mabd_frame a = mabd_frame_exp(mabd_sp_scale(t, V[0]));
    const mabd_frame b = mabd_frame_exp(mabd_sp_scale(t, V[1]));
    v.ta = mabd_v3_add(v.ta, mabd_m3_mul(v.Aa, a.p)), v.Aa = mabd_m3_product(v.Aa, a.R);
    v.tb = mabd_v3_add(v.tb, mabd_m3_mul(v.Ab, b.p)), v.Ab = mabd_m3_product(v.Ab, b.R);
    return value_at(&v, c->rows + r);
}

Test(maximal_rows, bias_is_the_second_derivative_of_the_value) {
    uint64_t state = 5;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const rigid_case c = draw_rigid_case((mabd_joint)type, RIGID_FAR, &state);
        const mabd_spatial V[2] = {mabd_sp(draw_vec3(&state, 2), draw_vec3(&state, 2)),
                                   mabd_sp(draw_vec3(&state, 2), draw_vec3(&state, 2))};
        for (int r = 0; r < c.rigid; r++) {
            const double h = 5e-3; // (-f2 + 16 f1 - 30 f0 + 16 f-1 - f-2)/12 h^2
            const double weight[5] = {-1, 16, -30, 16, -1};
            double slope = 0;
            for (int k = -2; k <= 2; k++) slope += weight[k + 2] * value_after(&c, r, V, k * h);
            slope /= 12 * h * h;
            const double bias = mabd_maximal_bias(&c.v, c.rows + r, V[0], V[1]);
            cr_expect(lt(dbl, fabs(bias - slope), 1e-6 * (1 + fabs(bias))), "%s, row %d: %g, %g",
                      mabd_joint_name((mabd_joint)type), r, bias, slope);
        }
    }
}
