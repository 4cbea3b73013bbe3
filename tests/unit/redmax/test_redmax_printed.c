// SPDX-License-Identifier: Apache-2.0
// Formulas of [RM sec. 1.9 and 2.9] as printed and as they must be, against differences of the
// forces that they differentiate. The forces are written here once more, over frames of two bodies.
//
// A spring of two points x1, x2 (body frames), D = R2 x2 + p2 - R1 x1 - p1, l = |D|, pulls with
//
//   F = f(l, l')/l g,   g = (G1' R1' D, -G2' R2' D),   G x = ([x]', 1)
//
// so that dF/dq = f/l dg/dq + g d(f/l)/dq and dF/dqdot = g (f_l' dl'/dqdot)/l. q moves a frame by
// E exp(q), qdot is its twist.

#include "math/frame_exp.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define POSES     50
#define STIFFNESS 30
#define DAMPING   7
#define LENGTH    0.6

/// Two bodies with their twists and points.
typedef struct pair {
    mabd_frame E[2];
    mabd_spatial V[2];
    mabd_vec3 x[2];
} pair;

static mabd_vec3 random_vector(uint64_t* state, double size) {
    const mabd_real x = random_real(state), y = random_real(state), z = random_real(state);
    return mabd_v3_scale((mabd_real)size, mabd_v3(x, y, z));
}

static pair draw(uint64_t seed) {
    uint64_t state = seed * 91 + 3;
    pair out;
    for (int i = 0; i < 2; i++) {
        out.E[i] = mabd_frame_exp(mabd_sp(random_vector(&state, 2), random_vector(&state, 1)));
        out.E[i].p.x += (mabd_real)(3 * i);
        out.V[i] = mabd_sp(random_vector(&state, 1), random_vector(&state, 1));
        out.x[i] = random_vector(&state, 0.5);
    }
    return out;
}

static mabd_vec3 point(const pair* c, int i) {
    return mabd_v3_add(c->E[i].p, mabd_m3_mul(c->E[i].R, c->x[i]));
}

// Body axes: G(x) V = w x x + v.
static mabd_vec3 point_rate(const pair* c, int i) {
    return mabd_v3_add(mabd_v3_cross(c->V[i].w, c->x[i]), c->V[i].v);
}

static mabd_vec3 difference(const pair* c) {
    return mabd_v3_sub(point(c, 1), point(c, 0));
}

static mabd_vec3 difference_rate(const pair* c) {
    return mabd_v3_sub(mabd_m3_mul(c->E[1].R, point_rate(c, 1)),
                       mabd_m3_mul(c->E[0].R, point_rate(c, 0)));
}

static double spring_length(const pair* c) {
    return mabd_v3_norm(difference(c));
}

static double length_rate(const pair* c) {
    return mabd_v3_dot(difference(c), difference_rate(c)) / spring_length(c);
}

static double tension(const pair* c) {
    return STIFFNESS * (spring_length(c) - LENGTH) + DAMPING * length_rate(c);
}

/// A law of the spring: its tension, or a constant 1.
typedef double law(const pair* c);

static double one(const pair* c) {
    (void)c;
    return 1;
}

// g (12): wrenches of D on both bodies.
static void direction(const pair* c, double* g) {
    for (int i = 0; i < 2; i++) {
        mabd_vec3 f = mabd_m3_tmul(c->E[i].R, difference(c));
        if (i == 1) f = mabd_v3_scale(-1, f);
        mabd_real F[6];
        mabd_sp_store(mabd_sp(mabd_v3_cross(c->x[i], f), f), F);
        for (int k = 0; k < 6; k++) g[6 * i + k] = (double)F[k];
    }
}

static void force(const pair* c, law* f, double* F) {
    direction(c, F);
    const double s = f(c) / spring_length(c);
    for (int k = 0; k < 12; k++) F[k] *= s;
}

// The pair with coordinate k moved by s: of the pose, or of the twist.
static pair moved(const pair* c, int k, bool rate, double s) {
    mabd_real e[6] = {0};
    pair out = *c;
    e[k % 6] = (mabd_real)s;
    const mabd_spatial d = mabd_sp_load(e);
    if (rate) {
        out.V[k / 6] = mabd_sp_add(out.V[k / 6], d);
    } else {
        const mabd_frame step = mabd_frame_exp(d);
        out.E[k / 6] = mabd_frame_product(&c->E[k / 6], &step);
    }
    return out;
}

typedef double matrix[12][12];

// dF/dq or dF/dqdot by differences of fourth order.
static void differentiate(const pair* c, law* f, bool rate, matrix K) {
    static const double weight[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.}, at[4] = {-2, -1, 1, 2};
    const double h = 1e-3;
    for (int k = 0; k < 12; k++) {
        for (int i = 0; i < 12; i++) K[i][k] = 0;
        for (int s = 0; s < 4; s++) {
            const pair there = moved(c, k, rate, at[s] * h);
            double F[12];
            force(&there, f, F);
            for (int i = 0; i < 12; i++) K[i][k] += weight[s] / h * F[i];
        }
    }
}

// Add s u G_i' to row: u'R_i G_i, in body axes.
static void add_row(const pair* c, int i, double s, mabd_vec3 u, double* row) {
    const mabd_vec3 b = mabd_m3_tmul(c->E[i].R, u);
    mabd_real e[6];
    mabd_sp_store(mabd_sp(mabd_v3_cross(c->x[i], b), b), e);
    for (int k = 0; k < 6; k++) row[6 * i + k] += s * (double)e[k];
}

// dl/dq, which is also dl'/dqdot (12).
static void length_row(const pair* c, double* row) {
    memset(row, 0, 12 * sizeof *row);
    for (int i = 0; i < 2; i++) {
        add_row(c, i, (i == 1 ? 1 : -1) / spring_length(c), difference(c), row);
    }
}

// dl'/dq [RM eq. 1.67].
static void rate_row(const pair* c, double* row) {
    const double l = spring_length(c);
    const mabd_vec3 e = mabd_v3_scale((mabd_real)(1 / l), difference(c)), d = difference_rate(c);
    const mabd_vec3 across = mabd_v3_axpy(-mabd_v3_dot(e, d), e, d);
    memset(row, 0, 12 * sizeof *row);
    for (int i = 0; i < 2; i++) {
        const double sign = i == 1 ? 1 : -1;
        add_row(c, i, sign / l, across, row);
        // e'R [e_k] x' = ((R'e) x ... ) : x' turns with the body
        const mabd_vec3 b = mabd_v3_cross(point_rate(c, i), mabd_m3_tmul(c->E[i].R, e));
        for (int k = 0; k < 3; k++) row[6 * i + k] += sign * (double)mabd_v3_get(b, k);
    }
}

// Write s M, a matrix of 3 x 3, to place (i, j).
static void put(matrix K, int i, int j, double s, mabd_mat3 M) {
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            K[3 * i + a][3 * j + b] = s * (double)mabd_v3_get(mabd_m3_column(&M, b), a);
        }
    }
}

// The matrix of [RM eq. 1.66] and [1.78], without its factor.
static void printed_direction_matrix(const pair* c, matrix K) {
    for (int i = 0; i < 2; i++) {
        const int j = 1 - i;
        const mabd_mat3 X = mabd_m3_skew(c->x[i]);
        const mabd_mat3 R = mabd_m3_tproduct(c->E[i].R, c->E[j].R);
        const mabd_mat3 RX = mabd_m3_product(R, mabd_m3_skew(c->x[j]));
        const mabd_mat3 A =
            mabd_m3_skew(mabd_m3_tmul(c->E[i].R, mabd_v3_sub(c->E[i].p, point(c, j))));
        put(K, 2 * i, 2 * i, 1, mabd_m3_product(X, A));
        put(K, 2 * i, 2 * i + 1, 1, X);
        put(K, 2 * i, 2 * j, 1, mabd_m3_product(X, RX));
        put(K, 2 * i, 2 * j + 1, -1, mabd_m3_product(X, R));
        put(K, 2 * i + 1, 2 * i, 1, A);
        put(K, 2 * i + 1, 2 * i + 1, 1, mabd_m3_identity());
        put(K, 2 * i + 1, 2 * j, 1, RX);
        put(K, 2 * i + 1, 2 * j + 1, -1, R);
    }
}

/// Factors of the parts of a formula: 1 as it must be.
typedef struct printed {
    double turning; // F2: the direction part of K
    double inverse; // F4: d(1/l)/dq, with a constant force
    double rate;    // F3: df/dqdot
} printed;

// K of the spring from the parts.
static void stiffness(const pair* c, law* f, printed p, matrix K) {
    const double l = spring_length(c), slope = f == one ? 0 : 1;
    double g[12], dl[12], dr[12];
    direction(c, g), length_row(c, dl), rate_row(c, dr);
    printed_direction_matrix(c, K);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 12; k++) {
            const double df = slope * (STIFFNESS * dl[k] + DAMPING * dr[k]);
            const double by_length = df / l - p.inverse * f(c) / (l * l) * dl[k];
            K[i][k] = -p.turning * f(c) / l * K[i][k] + g[i] * by_length;
        }
    }
}

static void damping(const pair* c, printed p, matrix D) {
    const double l = spring_length(c);
    double g[12], dl[12];
    direction(c, g), length_row(c, dl);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 12; k++) D[i][k] = p.rate * g[i] * DAMPING * dl[k] / l;
    }
}

// Largest distance of two matrices, relative to the largest entry of the second.
static double distance(matrix A, matrix B) {
    double worst = 0, most = 0;
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 12; k++) {
            worst = fmax(worst, fabs(A[i][k] - B[i][k])), most = fmax(most, fabs(B[i][k]));
        }
    }
    return worst / most;
}

// Range of the error over random poses of K or D from the parts.
static void errors(law* f, bool rate, bool inverse_length, printed p, double* least, double* most) {
    *least = INFINITY, *most = 0;
    for (uint64_t seed = 0; seed < POSES; seed++) {
        const pair c = draw(seed);
        matrix right, ours;
        printed own = p;
        if (inverse_length) own.rate = 1 / spring_length(&c);
        differentiate(&c, f, rate, right);
        if (rate) {
            damping(&c, own, ours);
        } else {
            stiffness(&c, f, own, ours);
        }
        const double error = distance(ours, right);
        *least = fmin(*least, error), *most = fmax(*most, error);
    }
}

#define RIGHT ((printed){1, 1, 1})

Test(redmax_printed, derivatives_of_springs_as_they_must_be) {
    double least, most;
    errors(tension, false, false, RIGHT, &least, &most);
    printf("K: %.1e\n", most);
    cr_expect(lt(dbl, most, 1e-8));
    errors(one, false, false, RIGHT, &least, &most);
    cr_expect(lt(dbl, most, 1e-8), "K of a constant force: %g", most);
    errors(tension, true, false, RIGHT, &least, &most);
    printf("D: %.1e\n", most);
    cr_expect(lt(dbl, most, 1e-8));
}

// F2 [RM eq. 1.66, 1.78]: the sign of the direction part.
Test(redmax_printed, stiffness_of_the_direction_has_the_other_sign) {
    double least, most;
    errors(one, false, false, (printed){-1, 1, 1}, &least, &most);
    printf("F2: %.2f to %.2f\n", least, most);
    cr_expect(lt(dbl, 0.5, least));
}

// F4 [RM eq. 1.77]: the sign of d(1/l)/dq.
Test(redmax_printed, derivative_of_the_inverse_length_has_the_other_sign) {
    double least, most;
    errors(one, false, false, (printed){1, -1, 1}, &least, &most);
    printf("F4: %.2f to %.2f\n", least, most);
    cr_expect(lt(dbl, 0.3, least));
}

// F3 [RM eq. 1.71, 1.80]: 1/l twice.
Test(redmax_printed, damping_has_the_inverse_length_once_less) {
    double least, most;
    errors(tension, true, true, RIGHT, &least, &most);
    printf("F3: %.2f to %.2f\n", least, most);
    cr_expect(lt(dbl, 0.5, most));
}

// F1 [RM eq. 1.49]: k d n with d < 0 below the ground works against the way out.
Test(redmax_printed, ground_force_pulls_down) {
    const double k = 1e5, m = 1, h = 1e-4;
    double z[2] = {0.1, 0.1}, v[2] = {0, 0};
    for (int i = 0; i < 3000; i++) {
        for (int p = 0; p < 2; p++) { // as it must be, printed
            const double push = z[p] < 0 ? (p ? k * z[p] : -k * z[p]) : 0;
            v[p] += h * (push / m - 9.81), z[p] += h * v[p];
        }
    }
    printf("F1: %g m, printed %g m\n", z[0], z[1]);
    cr_expect(lt(dbl, -0.01, z[0]));
    cr_expect(lt(dbl, z[1], -1e9));
}

// F10 [RM eq. 2.86]: M + h D - h^2 K with D = df/dv < 0 feeds an oscillator that is damped.
Test(redmax_printed, linear_implicit_steps_gain_energy) {
    const double m = 1, k = 100, c = 1, h = 1e-3;
    double x[2] = {1, 1}, v[2] = {0, 0};
    for (int i = 0; i < 3000; i++) {
        for (int p = 0; p < 2; p++) {
            const double D = -c, K = -k, M = m + (p ? h * D : -h * D) - h * h * K;
            v[p] = (m * v[p] - h * k * x[p]) / M; // f without its damping
            x[p] += h * v[p];
        }
    }
    const double w = sqrt(k / m - c * c / 4), t = 3;
    const double right = exp(-c * t / 2) * (cos(w * t) + c / (2 * w) * sin(w * t));
    printf("F10: %g of %g, printed %g\n", x[0], right, x[1]);
    cr_expect(lt(dbl, fabs(x[0] - right), 0.05));
    cr_expect(lt(dbl, 2, fabs(x[1] * x[1] + v[1] * v[1] / k)));
}
