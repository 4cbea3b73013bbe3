// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/element/affine_body.h, against dense matrices computed from the
// definitions:
//
//   H = M/(bh)^2 + drag/(bh) on t + K + T'GT            (12 x 12), in more than double precision
//   K    second differences of V (mu e:e + lambda/2 tr(e)^2), e = sym(D)
//   G    V W:(W S), W = skew(D), S the stress
//
// H is badly conditioned (V mu against s/(bh)^2: up to 1e13), but its structured inverse is not:
// every entry is a sum without cancellation, with a relative error of 1e-13.
#include "formulation/affine/element/affine_body.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#if LDBL_MANT_DIG < 100 && defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

typedef struct dense {
    wide m[12][12]; // D column by column, then tau
} dense;

typedef struct material_case {
    double size[3]; // box [m]
    double young, poisson, drag, bh;
} material_case;

static const material_case cases[] = {
    {{0.1, 0.05, 0.02}, 1e3, 0.3, 0, 0.01},       {{0.1, 0.05, 0.02}, 1e6, 0.3, 0.7, 0.01},
    {{0.1, 0.05, 0.02}, 1e9, 0.3, 0, 0.01},       {{0.1, 0.05, 0.02}, 1e12, 0.3, 5, 0.01},
    {{0.1, 0.05, 0.02}, 1e9, 0, 0, 0.001},        {{0.1, 0.05, 0.02}, 1e9, 0.49, 0, 0.001},
    {{1, 0.01, 0.001}, 1e9, 0.3, 0, 0.01},        {{1, 0.01, 0.001}, 1e12, 0.3, 0, 0.01},
    {{1, 1, 0.001}, 1e11, 0.3, 0, 0.001},         {{10, 0.001, 0.001}, 1e12, 0.45, 0, 0.0001},
    {{0.001, 0.001, 0.001}, 1e9, 0.3, 1e-6, 0.1}, {{10, 20, 30}, 1e3, 0.2, 0, 1},
};
#define CASES (sizeof cases / sizeof cases[0])

static mabd_body_material material_of(const material_case* c) {
    const double* l = c->size;
    mabd_body_material m = {.drag = c->drag, .volume = l[0] * l[1] * l[2]};
    m.mass = 1000 * m.volume;
    for (int k = 0; k < 3; k++) m.s[k] = m.mass * l[k] * l[k] / 12;
    m.mu = c->young / (2 * (1 + c->poisson));
    m.lambda = c->young * c->poisson / ((1 + c->poisson) * (1 - 2 * c->poisson));
    return m;
}

// ---- dense oracle ------------------------------------------------------------------------------

// Twice V (mu e:e + lambda/2 tr(e)^2) of D (3 x 3, column by column).
static wide elastic(const mabd_body_material* m, const wide* D) {
    wide square = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const wide e = (D[3 * i + j] + D[3 * j + i]) / 2;
            square += e * e;
        }
    }
    const wide trace = D[0] + D[4] + D[8];
    return (wide)m->volume * (2 * (wide)m->mu * square + (wide)m->lambda * trace * trace);
}

// V W : (W S), W = (D - D')/2
static wide geometric(const mabd_body_material* m, const wide* D, const double S[3][3]) {
    wide sum = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                const wide Wij = (D[3 * j + i] - D[3 * i + j]) / 2;
                const wide Wik = (D[3 * k + i] - D[3 * i + k]) / 2;
                sum += Wij * Wik * (wide)S[k][j];
            }
        }
    }
    return (wide)m->volume * sum;
}

static wide quadratic(const mabd_body_material* m, const wide* D, const double S[3][3]) {
    return elastic(m, D) + geometric(m, D, S);
}

// S: stress, or zeros for no geometric term.
static dense dense_of(const mabd_body_material* m, double bh, const double S[3][3]) {
    dense H = {0};
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) { // polarisation: Q(e_i + e_j) - Q(e_i) - Q(e_j) = 2 K_ij
            wide ei[9] = {0}, ej[9] = {0}, both[9] = {0};
            ei[i] = 1, ej[j] = 1;
            both[i] += 1, both[j] += 1;
            H.m[i][j] = (quadratic(m, both, S) - quadratic(m, ei, S) - quadratic(m, ej, S)) / 2;
        }
        H.m[i][i] += (wide)m->s[i / 3] / ((wide)bh * bh);
    }
    for (int i = 9; i < 12; i++) H.m[i][i] = (wide)m->mass / ((wide)bh * bh) + (wide)m->drag / bh;
    return H;
}

// H = L D L' in place; false if a pivot is not positive.
static bool factor(dense* H) {
    for (int k = 0; k < 12; k++) {
        if (!(H->m[k][k] > 0)) return false;
        for (int i = k + 1; i < 12; i++) {
            const wide l = H->m[i][k] / H->m[k][k];
            for (int j = k + 1; j <= i; j++) H->m[i][j] -= l * H->m[j][k];
        }
        for (int i = k + 1; i < 12; i++) H->m[i][k] /= H->m[k][k];
    }
    return true;
}

static dense invert(dense H) {
    dense inverse = {0};
    cr_assert(factor(&H));
    for (int c = 0; c < 12; c++) {
        wide x[12] = {0};
        x[c] = 1;
        for (int i = 0; i < 12; i++) {
            for (int j = 0; j < i; j++) x[i] -= H.m[i][j] * x[j];
        }
        for (int i = 0; i < 12; i++) x[i] /= H.m[i][i];
        for (int i = 11; i >= 0; i--) {
            for (int j = i + 1; j < 12; j++) x[i] -= H.m[j][i] * x[j];
        }
        for (int i = 0; i < 12; i++) inverse.m[i][c] = x[i];
    }
    return inverse;
}

static mabd_vec12 unit_affine(int k) {
    mabd_vec3 c[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    c[k / 3] = mabd_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    const mabd_vec12 r = {c[0], c[1], c[2], c[3]};
    return r;
}

static void affine_entries(mabd_vec12 y, double* out) {
    mabd_v3_store(y.d1, out), mabd_v3_store(y.d2, out + 3), mabd_v3_store(y.d3, out + 6);
    mabd_v3_store(y.tau, out + 9);
}

static double distance(double found, wide expected) {
    return fabs((double)(found - expected));
}

// ---- H^-1 --------------------------------------------------------------------------------------

static const double no_stress[3][3] = {{0}};

Test(affine, the_inverse_is_that_of_the_dense_matrix_entry_by_entry) {
    double worst = 0;
    for (size_t n = 0; n < CASES; n++) {
        const mabd_body_material m = material_of(&cases[n]);
        const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
        const dense inverse = invert(dense_of(&m, cases[n].bh, no_stress));
        for (int c = 0; c < 12; c++) {
            double y[12];
            affine_entries(mabd_affine_block_apply(&b, unit_affine(c)), y);
            for (int r = 0; r < 12; r++) {
                // entries that are zero by structure are zero; the oracle leaves 1e-30 of its
                // largest entry
                const double size = fabs((double)inverse.m[r][c]);
                if (y[r] == 0) {
                    cr_assert(le(dbl, size, 1e-25 * (double)inverse.m[c][c]));
                } else {
                    worst = fmax(worst, distance(y[r], inverse.m[r][c]) / size);
                }
            }
        }
    }
    printf("inverse: %.1e of each entry\n", worst);
    cr_assert(le(dbl, worst, 1e-13));
}

// Draw a stress that changes the rotation block by a fraction `share` of C^-1 where it is least, in
// a random frame.
static void draw_stress(uint64_t* state, const mabd_affine_block* b, double share, double S[3][3]) {
    const double c = fmax(b->c[0], fmax(b->c[1], b->c[2]));
    const double size = share / (c * b->quarter_volume);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) S[i][j] = S[j][i] = size * draw_real(state);
    }
}

static mabd_sym3 sym_of(const double S[3][3]) {
    const mabd_sym3 s = {S[0][0], S[1][1], S[2][2], S[0][1], S[0][2], S[1][2]};
    return s;
}

// Draw a tension in a random frame: G is positive, nothing is clamped.
static void draw_tension(uint64_t* state, const mabd_affine_block* b, double share,
                         double S[3][3]) {
    double raw[3][3];
    draw_stress(state, b, 1, raw);
    const double size = share / (b->c[0] * b->quarter_volume);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            S[i][j] = 0;
            for (int k = 0; k < 3; k++) S[i][j] += raw[i][k] * raw[j][k];
        }
    }
    const double norm = S[0][0] + S[1][1] + S[2][2];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) S[i][j] *= size / norm;
    }
}

static double solve_error(const mabd_affine_block* b, mabd_sym3 Z, const dense* inverse) {
    double worst = 0;
    for (int c = 0; c < 12; c++) {
        double y[12];
        affine_entries(mabd_affine_block_solve(b, Z, unit_affine(c)), y);
        for (int r = 0; r < 12; r++) {
            const double size = sqrt((double)(inverse->m[r][r] * inverse->m[c][c]));
            worst = fmax(worst, distance(y[r], inverse->m[r][c]) / size);
        }
    }
    return worst;
}

// Woodbury's formula subtracts nearly equal terms in H^-1: a share of 1e3 leaves 1e-3 of the
// rotation block.
Test(affine, woodbury_adds_the_geometric_term_under_tension) {
    uint64_t state = 1;
    for (int decade = -6; decade <= 3; decade++) {
        double worst = 0;
        for (size_t n = 0; n < CASES; n++) {
            const mabd_body_material m = material_of(&cases[n]);
            const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
            double S[3][3];
            draw_tension(&state, &b, pow(10, decade), S);
            const dense inverse = invert(dense_of(&m, cases[n].bh, (const double(*)[3])S));
            const mabd_sym3 Z = mabd_affine_block_woodbury(
                &b, mabd_affine_block_geometric(&b, sym_of((const double(*)[3])S)));
            worst = fmax(worst, solve_error(&b, Z, &inverse));
        }
        printf("geometric term 1e%+d: %.1e\n", decade, worst);
        cr_assert(le(dbl, worst, 1e-13 * fmax(1, pow(10, decade))));
    }
}

// Compression up to the limit where G must be clamped (G + diag(1/c)/10 > 0).
Test(affine, woodbury_adds_the_geometric_term_under_mild_compression) {
    uint64_t state = 2;
    int used = 0;
    double worst = 0;
    for (int i = 0; i < 20; i++) {
        for (size_t n = 0; n < CASES; n++) {
            const mabd_body_material m = material_of(&cases[n]);
            const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
            double S[3][3];
            draw_stress(&state, &b, 0.03, S);
            const dense inverse = invert(dense_of(&m, cases[n].bh, (const double(*)[3])S));
            const mabd_sym3 s = sym_of((const double(*)[3])S);
            const mabd_sym3 Z = mabd_affine_block_woodbury(&b, mabd_affine_block_geometric(&b, s));
            if (s.xx + s.yy + s.zz >= 0) continue;
            worst = fmax(worst, solve_error(&b, Z, &inverse));
            used++;
        }
    }
    printf("compression: %.1e\n", worst);
    cr_assert(lt(int, 50, used));
    cr_assert(le(dbl, worst, 1e-13));
}

// ---- a clamp keeps the sum positive ------------------------------------------------------------

static dense solve_matrix(const mabd_affine_block* b, mabd_sym3 Z) {
    dense out;
    for (int c = 0; c < 12; c++) {
        double y[12];
        affine_entries(mabd_affine_block_solve(b, Z, unit_affine(c)), y);
        for (int r = 0; r < 12; r++) out.m[r][c] = y[r];
    }
    return out;
}

Test(affine, the_inverse_stays_symmetric_positive_definite_whatever_the_stress) {
    uint64_t state = 3;
    int clamped = 0;
    for (int decade = -4; decade <= 4; decade++) {
        for (size_t n = 0; n < CASES; n++) {
            const mabd_body_material m = material_of(&cases[n]);
            const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
            double S[3][3];
            draw_stress(&state, &b, pow(10, decade), S);
            const mabd_sym3 Z = mabd_affine_block_woodbury(
                &b, mabd_affine_block_geometric(&b, sym_of((const double(*)[3])S)));
            dense A = solve_matrix(&b, Z);
            double asymmetry = 0;
            for (int i = 0; i < 12; i++) {
                for (int j = 0; j < i; j++) {
                    const double size = sqrt((double)(A.m[i][i] * A.m[j][j]));
                    asymmetry = fmax(asymmetry, fabs((double)(A.m[i][j] - A.m[j][i])) / size);
                }
            }
            cr_assert(le(dbl, asymmetry, 1e-11), "case %d, 1e%d: %g", (int)n, decade, asymmetry);
            // scaled to a unit diagonal, and increased by the round-off of its entries
            for (int i = 0; i < 12; i++) A.m[i][i] *= 1 + (wide)1e-11;
            cr_assert(factor(&A), "case %d, stress of 1e%d", (int)n, decade);
            // not clamped where the exact sum is far from singular; clamped where it is not
            // positive
            dense exact = dense_of(&m, cases[n].bh, (const double(*)[3])S);
            clamped += !factor(&exact);
        }
    }
    cr_assert(lt(int, 10, clamped));
}

// Compare with Jacobi eigenvectors; two or three equal eigenvalues cost digits, but at most half of
// them.
Test(affine, the_clamp_without_eigenvectors_is_the_positive_part) {
    uint64_t state = 9;
    double worst = 0, worst_equal = 0;
    for (int n = 0; n < 20000; n++) {
        const bool equal = n % 4 == 0;
        const double size = pow(10, 6 * draw_real(&state));
        double e[3] = {draw_real(&state), draw_real(&state), draw_real(&state)};
        if (equal) e[1] = e[0];
        if (n % 64 == 0) e[2] = e[0];
        mabd_real x[3], V[3][3] = {{0}};
        for (int k = 0; k < 3; k++) x[k] = draw_real(&state);
        const mabd_real square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 1e-3;
        for (int i = 0; i < 3; i++) { // a mirror serves as well as a rotation
            for (int k = 0; k < 3; k++) V[i][k] = (i == k) - 2 * x[i] * x[k] / square;
        }
        mabd_sym3 G = {0, 0, 0, 0, 0, 0};
        for (int k = 0; k < 3; k++) {
            G.xx += size * e[k] * V[0][k] * V[0][k], G.yy += size * e[k] * V[1][k] * V[1][k];
            G.zz += size * e[k] * V[2][k] * V[2][k], G.xy += size * e[k] * V[0][k] * V[1][k];
            G.xz += size * e[k] * V[0][k] * V[2][k], G.yz += size * e[k] * V[1][k] * V[2][k];
        }
        mabd_real a[6], b[6];
        mabd_sym3_store(mabd_sym3_positive(G), a), mabd_sym3_store(mabd_sym3_clamp(G), b);
        double miss = 0;
        for (int k = 0; k < 6; k++) miss = fmax(miss, fabs(a[k] - b[k]) / size);
        if (equal)
            worst_equal = fmax(worst_equal, miss);
        else
            worst = fmax(worst, miss);
    }
    printf("clamp: %.1e, with equal eigenvalues %.1e\n", worst, worst_equal);
    cr_assert(lt(dbl, worst, 1e-8));
    cr_assert(lt(dbl, worst_equal, 1e-7));
}

// ---- G is the second derivative of the energy --------------------------------------------------

// V (mu e:e + lambda/2 tr(e)^2) at A = I + e + t W, strain sqrt(A'A) - I: for a skew W the linear
// elasticity of A's increment is zero, so the curvature in t is purely geometric.
static double energy_at(const mabd_body_material* m, const double* e, const double* W, double t) {
    // Y = sqrt(A'A) by the iteration of Denman and Beavers
    double B[9], Y[9], Z[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double A[9];
    for (int k = 0; k < 9; k++) A[k] = (k % 4 == 0) + e[k] + t * W[k];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) B[3 * i + j] += A[3 * i + k] * A[3 * j + k];
        }
    }
    memcpy(Y, B, sizeof Y);
    for (int n = 0; n < 12; n++) {
        const mabd_mat3 y = mabd_m3_load(Y), z = mabd_m3_load(Z);
        const mabd_vec3 y1 = mabd_v3_cross(y.c2, y.c3), y2 = mabd_v3_cross(y.c3, y.c1),
                        y3 = mabd_v3_cross(y.c1, y.c2), z1 = mabd_v3_cross(z.c2, z.c3),
                        z2 = mabd_v3_cross(z.c3, z.c1), z3 = mabd_v3_cross(z.c1, z.c2);
        double Yi[9], Zi[9]; // transposed inverses; both are symmetric
        mabd_m3_store(mabd_m3(y1, y2, y3), Yi), mabd_m3_store(mabd_m3(z1, z2, z3), Zi);
        const double dy = mabd_m3_det(y), dz = mabd_m3_det(z);
        for (int k = 0; k < 9; k++) {
            const double next = (Y[k] + Zi[k] / dz) / 2;
            Z[k] = (Z[k] + Yi[k] / dy) / 2;
            Y[k] = next;
        }
    }
    double square = 0, trace = -3 + Y[0] + Y[4] + Y[8];
    for (int k = 0; k < 9; k++) square += pow(Y[k] - (k % 4 == 0), 2);
    return m->volume * (m->mu * square + m->lambda / 2 * trace * trace);
}

Test(affine, the_geometric_term_is_the_curvature_of_the_energy_along_a_turn) {
    uint64_t state = 4;
    const mabd_body_material m = material_of(&cases[2]);
    const mabd_affine_block b = mabd_affine_block_make(&m, cases[2].bh);
    for (int n = 0; n < 50; n++) {
        double e[9], w[3], t = 1e-3;
        for (int i = 0; i < 3; i++) {
            w[i] = draw_real(&state);
            for (int j = 0; j <= i; j++) e[3 * i + j] = e[3 * j + i] = 1e-3 * draw_real(&state);
        }
        // D of the rotation w/2: D32 - D23 = w1 ...
        const double W[9] = {0,        w[2] / 2, -w[1] / 2, -w[2] / 2, 0,
                             w[0] / 2, w[1] / 2, -w[0] / 2, 0};
        const double up = energy_at(&m, e, W, t), down = energy_at(&m, e, W, -t);
        const double curvature = (up - 2 * energy_at(&m, e, W, 0) + down) / (t * t);
        const mabd_vec12 D = {
            {e[0], e[1], e[2]}, {e[3], e[4], e[5]}, {e[6], e[7], e[8]}, {0, 0, 0}};
        const mabd_sym3 s = mabd_affine_block_stress(&b, D);
        const double trace = s.xx + s.yy + s.zz;
        const mabd_vec3 v = mabd_v3_load(w);
        const double expected =
            m.volume / 4 * (trace * mabd_v3_dot(v, v) - mabd_v3_dot(v, mabd_sym3_mul(s, v)));
        const double size = m.volume * m.mu * 1e-3;
        // next orders, relative to V mu: strain^2 and t^2, 1e-6 each
        cr_assert(le(dbl, fabs(curvature - expected) / size, 1e-2), "%g for %g", curvature,
                  expected);
    }
}

// ---- compliance, stress ------------------------------------------------------------------------

Test(affine, compliance_between_points_is_that_of_the_dense_inverse) {
    uint64_t state = 5;
    double worst = 0;
    for (size_t n = 0; n < CASES; n++) {
        const mabd_body_material m = material_of(&cases[n]);
        const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
        double S[3][3];
        draw_tension(&state, &b, 2, S);
        const dense inverse = invert(dense_of(&m, cases[n].bh, (const double(*)[3])S));
        const mabd_sym3 Z = mabd_affine_block_woodbury(
            &b, mabd_affine_block_geometric(&b, sym_of((const double(*)[3])S)));
        double X[2][4]; // weights of D's columns and of tau at a point: P = D X + tau
        mabd_affine_attachment at[2];
        for (int p = 0; p < 2; p++) {
            for (int k = 0; k < 3; k++) X[p][k] = cases[n].size[k] * draw_real(&state);
            X[p][3] = 1;
            at[p] = mabd_affine_block_attach(&b, Z, mabd_v3_load(X[p]));
        }
        const mabd_mat3 c = mabd_affine_block_compliance(&b, &at[0], &at[1]);
        const mabd_sym3 self = mabd_affine_block_self_compliance(&b, &at[0]);
        double found[9], own[9] = {self.xx, self.xy, self.xz, self.xy, self.yy,
                                   self.yz, self.xz, self.yz, self.zz};
        mabd_m3_store(c, found);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                wide cross = 0, alone = 0;
                for (int k = 0; k < 4; k++) {
                    for (int l = 0; l < 4; l++) {
                        const wide h = inverse.m[3 * k + i][3 * l + j];
                        cross += X[0][k] * h * X[1][l];
                        alone += X[0][k] * h * X[0][l];
                    }
                }
                const double size = fabs(self.xx) + fabs(self.yy) + fabs(self.zz);
                worst = fmax(worst, distance(found[3 * j + i], cross) / size);
                worst = fmax(worst, distance(own[3 * j + i], alone) / size);
            }
        }
    }
    printf("compliance: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-13));
}

Test(affine, strain_and_stress_are_inverse_and_the_stress_is_hookes) {
    uint64_t state = 6;
    for (size_t n = 0; n < CASES; n++) {
        const mabd_body_material m = material_of(&cases[n]);
        const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
        const mabd_vec12 D = {draw_vec3(&state, 1), draw_vec3(&state, 1), draw_vec3(&state, 1),
                              draw_vec3(&state, 1)};
        const mabd_sym3 s = mabd_affine_block_stress(&b, D), e = mabd_affine_block_strain(&b, s);
        const double sym[6] = {D.d1.x,
                               D.d2.y,
                               D.d3.z,
                               (D.d2.x + D.d1.y) / 2,
                               (D.d3.x + D.d1.z) / 2,
                               (D.d3.y + D.d2.z) / 2};
        double strain[6], stress[6];
        mabd_sym3_store(e, strain), mabd_sym3_store(s, stress);
        const double E = cases[n].young, nu = cases[n].poisson;
        for (int k = 0; k < 6; k++) {
            cr_assert(le(dbl, fabs(strain[k] - sym[k]), 1e-13));
            // Hooke: E e_xx = s_xx - nu (s_yy + s_zz), E e_xy = (1 + nu) s_xy
            const double other = stress[0] + stress[1] + stress[2] - stress[k % 3];
            const double hooke = k < 3 ? stress[k] - nu * other : (1 + nu) * stress[k];
            cr_assert(le(dbl, fabs(hooke - E * sym[k]) / E, 1e-12));
        }
    }
}

// A rotation causes no elastic force: H^-1 of an antisymmetric D contains inertia alone, exactly.
Test(affine, a_rotation_has_no_elastic_force) {
    for (size_t n = 0; n < CASES; n++) {
        const mabd_body_material m = material_of(&cases[n]);
        const mabd_affine_block b = mabd_affine_block_make(&m, cases[n].bh);
        const double w = 1 / (cases[n].bh * cases[n].bh);
        for (int k = 0; k < 3; k++) {
            // M/(bh)^2 applied to the rotation about axis k, then H^-1, gives the rotation again
            const int i = (k + 1) % 3, j = (k + 2) % 3; // D_ji = 1, D_ij = -1
            double r[12] = {0}, y[12];
            r[3 * i + j] = m.s[i] * w, r[3 * j + i] = -m.s[j] * w;
            const mabd_vec12 force = {mabd_v3_load(r), mabd_v3_load(r + 3), mabd_v3_load(r + 6),
                                      mabd_v3_load(r + 9)};
            affine_entries(mabd_affine_block_apply(&b, force), y);
            // the two products cancel by V mu / (s/(bh)^2)
            const double loss = 1 + m.volume * m.mu / (fmin(m.s[i], m.s[j]) * w);
            cr_assert(le(dbl, fabs(y[3 * i + j] - 1), 4 * DBL_EPSILON * loss));
            cr_assert(le(dbl, fabs(y[3 * j + i] + 1), 4 * DBL_EPSILON * loss));
        }
    }
}
