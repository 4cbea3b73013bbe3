// SPDX-License-Identifier: Apache-2.0
// Complementarity of one contact, stop or box: increments against the printed equations, boundaries
// of the cones, and steps of a single box on a plane against closed forms.
#include "support/barrier_box.h"
#include "support/draw.h"

#include <criterion/criterion.h>

static double uniform(uint64_t* state, double low, double high) {
    return low + (high - low) * (draw_real(state) + 1) / 2;
}

static double positive(uint64_t* state) {
    return exp(3 * uniform(state, -1, 1));
}

// A contact inside of its cones, with residuals.
static mabd_barrier_contact draw_contact(uint64_t* state, double c, int sides) {
    mabd_barrier_contact p;
    memset(&p, 0, sizeof p);
    p.weight = positive(state), p.c = c, p.sides = sides, p.lift = 1;
    p.gamma = positive(state), p.s = positive(state), p.psi = positive(state);
    p.phi = uniform(state, -1, 1);
    for (int i = 0; i < 2; i++) p.slip[i] = uniform(state, -3, 3);
    const double angle = uniform(state, 0, 6), turn = uniform(state, 0, 6);
    const double part = uniform(state, 0, 0.99), other = uniform(state, 0, 0.99);
    p.beta[0] = part * c * p.gamma * cos(angle), p.beta[1] = part * c * p.gamma * sin(angle);
    p.eta[0] = other * p.psi * cos(turn), p.eta[1] = other * p.psi * sin(turn);
    for (int k = 0; k < sides; k++) {
        p.beta[k] = c * p.gamma * uniform(state, 0.01, 1) / (sides + 1);
        p.eta[k] = positive(state);
    }
    return p;
}

// ---- increments --------------------------------------------------------------------------------

// Both linear equations of a pressure, and the product after a whole step: mu + dgamma ds - e.
static void expect_pressure(const mabd_barrier_contact* p, double n, double e) {
    const double scale = p->target.pressure + p->gamma * fabs(p->ds) + fabs(p->dgamma * p->ds);
    cr_assert_float_eq(p->phi + n - (p->s + p->ds), 0, 1e-13 * (1 + fabs(p->ds)));
    cr_assert_float_eq(mabd_barrier_pressure_product(p, 1),
                       p->target.pressure + p->dgamma * p->ds - e, 1e-12 * scale);
}

// c gamma psi + beta.eta = nu and c gamma eta + psi beta = 0 after a whole step, but for products
// of increments less `e` (3).
static void expect_circle(const mabd_barrier_contact* p, const double* t, const double* e) {
    const double c = p->c, dg = p->dgamma, dp = p->dpsi, *db = p->dbeta, *de = p->deta;
    const double g1 = p->gamma + dg, p1 = p->psi + dp;
    const double size = fabs(c * g1 * p1) + fabs(c * dg * dp) + fabs(c * p->gamma * p->psi) +
                        hypot(db[0], db[1]) * hypot(de[0], de[1]);
    cr_assert_float_eq(mabd_barrier_friction_product(p, 1, -1) - c * dg * dp - db[0] * de[0] -
                           db[1] * de[1] + e[0],
                       p->target.friction, 1e-11 * size);
    for (int i = 0; i < 2; i++) {
        const double b1 = p->beta[i] + db[i], e1 = p->eta[i] + de[i];
        cr_assert_float_eq(e1, p->slip[i] + t[i], 1e-12 * (1 + fabs(e1)));
        cr_assert_float_eq(c * g1 * e1 + p1 * b1 - c * dg * de[i] - dp * db[i] + e[1 + i], 0,
                           1e-11 * (size + fabs(c * g1 * e1) + fabs(p1 * b1)));
    }
}

Test(barrier, increments_solve_the_printed_equations_of_the_circle) {
    uint64_t state = 7;
    for (int trial = 0; trial < 2000; trial++) {
        mabd_barrier_contact p = draw_contact(&state, 0.01 + uniform(&state, 0, 1), 0);
        const double n = uniform(&state, -1, 1);
        const double t[2] = {uniform(&state, -1, 1), uniform(&state, -1, 1)};
        const double none[3] = {0, 0, 0};
        for (int pass = 0; pass < 2; pass++) {
            const double before = p.dgamma * p.ds;
            const mabd_barrier_target target = {pass * 0.3, pass * 0.7, pass == 1, false};
            mabd_barrier_aim(&p, &target);
            mabd_barrier_respond(&p);
            mabd_barrier_solve(&p, n, t);
            expect_pressure(&p, n, pass * before);
            expect_circle(&p, t, none);
        }
    }
}

// lambda o (lambda + W^-1 du + W dw) = (nu, 0) less the products of the scaled increments before.
static void expect_scaled(const mabd_barrier_contact* p, const double* second, double* products) {
    const mabd_barrier_scaling s = mabd_barrier_scale(p);
    const double du[3] = {p->c * p->dgamma, p->dbeta[0], p->dbeta[1]};
    const double dw[3] = {p->dpsi, p->deta[0], p->deta[1]};
    const double w[3] = {p->psi, p->eta[0], p->eta[1]};
    double lambda[3], x[3], y[3], sum[3], all[3], size = 0;
    mabd_barrier_scaled(&s, false, w, lambda);
    mabd_barrier_scaled(&s, true, du, x);
    mabd_barrier_scaled(&s, false, dw, y);
    mabd_barrier_jordan(x, y, products);
    for (int k = 0; k < 3; k++) {
        sum[k] = lambda[k] + x[k] + y[k];
        size += fabs(lambda[k]) + fabs(x[k]) + fabs(y[k]);
    }
    mabd_barrier_jordan(lambda, sum, all);
    for (int k = 0; k < 3; k++) {
        const double wanted = (k ? 0 : p->target.friction) - second[k];
        cr_assert_float_eq(all[k], wanted, 1e-9 * (1 + size * size), "%d: %g", k, all[k] - wanted);
    }
}

Test(barrier, scaled_increments_solve_the_equations_of_nesterov_and_todd) {
    uint64_t state = 23;
    for (int trial = 0; trial < 2000; trial++) {
        mabd_barrier_contact p = draw_contact(&state, 0.01 + uniform(&state, 0, 1), 0);
        const mabd_barrier_scaling s = mabd_barrier_scale(&p);
        const double u[3] = {p.c * p.gamma, p.beta[0], p.beta[1]};
        const double w[3] = {p.psi, p.eta[0], p.eta[1]}, n = uniform(&state, -1, 1);
        const double t[2] = {uniform(&state, -1, 1), uniform(&state, -1, 1)};
        double x[3], y[3], back[3], second[3] = {0, 0, 0};
        mabd_barrier_scaled(&s, false, w, x); // W w = W^-1 u
        mabd_barrier_scaled(&s, true, u, y);
        mabd_barrier_scaled(&s, true, x, back);
        for (int k = 0; k < 3; k++) {
            cr_assert_float_eq(x[k], y[k], 1e-10 * (fabs(x[0]) + fabs(y[0])));
            cr_assert_float_eq(back[k], w[k], 1e-10 * w[0]);
        }
        for (int pass = 0; pass < 2; pass++) {
            const mabd_barrier_target target = {pass * 0.3, pass * 0.7, pass == 1, true};
            double products[3];
            mabd_barrier_aim(&p, &target);
            mabd_barrier_respond(&p);
            mabd_barrier_solve(&p, n, t);
            for (int i = 0; i < 2; i++) {
                const double eta = p.eta[i] + p.deta[i];
                cr_assert_float_eq(eta, p.slip[i] + t[i], 1e-12 * (1 + fabs(eta)));
            }
            expect_scaled(&p, second, products);
            memcpy(second, products, sizeof second);
        }
    }
}

// b_k e_k = nu, sigma psi = nu after a whole step but for products of increments.
static void expect_pyramid(const mabd_barrier_contact* p, const double* t) {
    double sigma = p->c * (p->gamma + p->dgamma), dsigma = p->c * p->dgamma;
    for (int k = 0; k < p->sides; k++) {
        double d[2];
        mabd_barrier_direction(p->sides, k, d);
        const double b1 = p->beta[k] + p->dbeta[k], e1 = p->eta[k] + p->deta[k];
        const double rate = d[0] * (p->slip[0] + t[0]) + d[1] * (p->slip[1] + t[1]);
        sigma -= b1, dsigma -= p->dbeta[k];
        cr_assert_float_eq(e1, rate + p->psi + p->dpsi, 1e-11 * (1 + fabs(e1) + fabs(p->dpsi)));
        cr_assert_float_eq(b1 * e1 - p->dbeta[k] * p->deta[k], p->target.friction,
                           1e-11 * (fabs(b1 * e1) + fabs(p->dbeta[k] * p->deta[k]) + 1));
    }
    cr_assert_float_eq(sigma * (p->psi + p->dpsi) - dsigma * p->dpsi, p->target.friction,
                       1e-10 * (1 + fabs(sigma * p->psi) + fabs(dsigma * p->dpsi)));
}

Test(barrier, increments_solve_the_printed_equations_of_pyramids) {
    uint64_t state = 11;
    for (int trial = 0; trial < 1500; trial++) {
        mabd_barrier_contact p =
            draw_contact(&state, 0.05 + uniform(&state, 0, 1), 4 + 2 * (trial % 3));
        const double n = uniform(&state, -1, 1);
        const double t[2] = {uniform(&state, -1, 1), uniform(&state, -1, 1)};
        const mabd_barrier_target target = {0.3, 0.2, false, false};
        mabd_barrier_aim(&p, &target);
        mabd_barrier_respond(&p);
        mabd_barrier_solve(&p, n, t);
        expect_pressure(&p, n, 0);
        expect_pyramid(&p, t);
    }
}

// Friction is the response that the bodies get: s0 + sn n + st t = sum db_k d_k.
Test(barrier, bodies_get_the_friction_of_the_increments) {
    uint64_t state = 13;
    for (int trial = 0; trial < 1000; trial++) {
        const int sides = 2 * (trial % 4) + (trial % 4 ? 2 : 0);
        mabd_barrier_contact p = draw_contact(&state, 0.4, sides);
        const double n = uniform(&state, -1, 1);
        const double t[2] = {uniform(&state, -1, 1), uniform(&state, -1, 1)};
        const mabd_barrier_target target = {0.3, 0.2, false, trial % 8 < 4};
        mabd_real before[2], after[2];
        mabd_barrier_aim(&p, &target);
        mabd_barrier_respond(&p);
        mabd_barrier_solve(&p, n, t);
        mabd_barrier_friction(&p, before);
        mabd_barrier_move(&p, 1);
        mabd_barrier_friction(&p, after);
        for (int i = 0; i < 2; i++) {
            const double d = p.s0[i] + p.sn[i] * n + p.st[i][0] * t[0] + p.st[i][1] * t[1];
            cr_assert_float_eq(after[i] - before[i], d, 1e-10 * (1 + fabs(d)));
        }
    }
}

Test(barrier, increments_solve_the_printed_equations_of_boxes) {
    uint64_t state = 17;
    for (int trial = 0; trial < 1000; trial++) {
        mabd_barrier_box p;
        memset(&p, 0, sizeof p);
        p.most = positive(&state), p.compliance = trial % 2 ? positive(&state) : 0;
        p.force = uniform(&state, -0.99, 0.99) * p.most;
        p.a = positive(&state), p.b = positive(&state), p.excess = uniform(&state, -2, 2);
        const double rate = uniform(&state, -1, 1);
        double second[2] = {0, 0};
        for (int pass = 0; pass < 2; pass++) {
            const mabd_barrier_target target = {0, pass ? 0.4 : 0, pass == 1, false};
            mabd_barrier_aim_box(&p, &target);
            mabd_barrier_respond_box(&p);
            mabd_barrier_solve_box(&p, rate);
            const double f1 = p.force + p.dforce, a1 = p.a + p.da, b1 = p.b + p.db;
            const double size = 1 + fabs(a1) + fabs(b1) + fabs(p.compliance * f1);
            cr_assert_float_eq(p.excess + rate + p.compliance * f1 + a1 - b1, 0, 1e-11 * size);
            cr_assert_float_eq(a1 * (p.most - f1) + p.da * p.dforce + second[0], target.friction,
                               1e-11 * (1 + fabs(a1 * f1) + fabs(p.da * p.dforce)));
            cr_assert_float_eq(b1 * (p.most + f1) - p.db * p.dforce + second[1], target.friction,
                               1e-11 * (1 + fabs(b1 * f1) + fabs(p.db * p.dforce)));
            second[0] = -p.da * p.dforce, second[1] = p.db * p.dforce;
        }
    }
}

// ---- boundaries --------------------------------------------------------------------------------

static bool is_inside(const mabd_barrier_contact* p) {
    bool inside = p->s > 0 && p->gamma > 0;
    if (p->sides == 0) {
        return inside && hypot(p->beta[0], p->beta[1]) < p->c * p->gamma &&
               hypot(p->eta[0], p->eta[1]) < p->psi;
    }
    for (int k = 0; k < p->sides; k++) inside = inside && p->beta[k] > 0 && p->eta[k] > 0;
    return inside && p->psi > 0 && mabd_barrier_slack(p) > 0;
}

Test(barrier, limits_are_the_first_way_out_of_the_cones) {
    uint64_t state = 19;
    for (int trial = 0; trial < 4000; trial++) {
        const int sides = 2 * (trial % 4) + (trial % 4 ? 2 : 0);
        mabd_barrier_contact p = draw_contact(&state, 0.5, sides);
        p.dgamma = uniform(&state, -3, 3), p.ds = uniform(&state, -3, 3);
        p.dpsi = uniform(&state, -3, 3);
        for (int k = 0; k < (sides ? sides : 2); k++) {
            p.dbeta[k] = uniform(&state, -1, 1), p.deta[k] = uniform(&state, -3, 3);
        }
        const double limit = mabd_barrier_limit(&p), far = limit < 100 ? limit : 100;
        for (int i = 1; i < 40; i++) {
            mabd_barrier_contact at = p;
            mabd_barrier_move(&at, far * (1 - 1e-9) * i / 39);
            cr_assert(is_inside(&at), "trial %d: outside at %g of %g", trial, far * i / 39, limit);
        }
        if (limit > 100) continue;
        mabd_barrier_move(&p, limit * (1 + 1e-6));
        cr_assert(!is_inside(&p), "trial %d: inside beyond %g", trial, limit);
    }
}

// ---- a box on a plane --------------------------------------------------------------------------

static const double cube[3] = {0.5, 0.5, 0.5};

static double lowest(const barrier_box* s) {
    const mabd_mat3 R = mabd_q_matrix(s->q);
    double least = INFINITY;
    for (int k = 0; k < BARRIER_CORNERS; k++) {
        least = fmin(least, s->x.z + mabd_m3_mul(R, barrier_corner(s, k)).z);
    }
    return least;
}

// Four corners carry the weight, each with gamma = m g/4 and s = mu/gamma. With mu of [VI fig. 7d],
// 1e-4 J, the box rests 40.8 um above the plane (published: 43 um).
Test(barrier, box_rests_at_the_height_of_its_barrier) {
    for (double mu = 1e-4; mu > 1e-11; mu *= 1e-3) {
        barrier_box s;
        barrier_box_init(&s, 1, cube, 0.65, 0.01, 0);
        const double weight = (9.81 + 1e-3 / s.h) / 4; // own compliance of a corner: 4/m
        s.problem.tolerance = mu / weight;
        for (int i = 0; i < 100; i++) {
            barrier_box_step(&s);
            cr_assert(s.report.converged && lowest(&s) > 0);
        }
        cr_assert_float_eq(lowest(&s), 4 * mu / 9.81, 1e-4 * mu);
    }
    cr_log_info("mu = 1e-4 J: %.1f um", 4e2 / 9.81);
}

// Forces on a sliding box are constant: the first step has half of them, as the momentum of the
// start lacks half of the weight, so the velocities of steps are v0 - c g h (k - 1/2) while they
// are positive. That is v0^2/(2 c g) to 3.4e-7. Along its diagonal a pyramid of n sides has c
// cos(pi/n): 41 % more for n = 4.
static double way(double c) {
    double sum = 0;
    for (int k = 1; k <= 100; k++) sum += 0.01 * fmax(0, 2 - c * 9.81 * 0.01 * (k - 0.5));
    return sum;
}

static double slide(double degrees, int sides, double* aside) {
    const double angle = degrees * MABD_PI / 180;
    barrier_box s;
    barrier_box_init(&s, 1, cube, 0.25 + 1.01e-6, 0.01, 0.3);
    s.sides = sides;
    barrier_box_spin(&s, mabd_v3(2 * cos(angle), 2 * sin(angle), 0), mabd_v3(0, 0, 0));
    for (int i = 0; i < 100; i++) {
        barrier_box_step(&s);
        cr_assert(s.report.converged);
    }
    *aside = s.x.x * sin(angle) - s.x.y * cos(angle);
    return hypot(s.x.x, s.x.y);
}

Test(barrier, circle_stops_a_box_after_the_same_way_in_all_directions) {
    cr_assert_float_eq(way(0.3), 4 / (2 * 0.3 * 9.81), 5e-7);
    for (int i = 0; i < 5; i++) {
        double aside;
        const double x = slide(22.5 * i, 0, &aside);
        cr_assert_float_eq(x, way(0.3), 1e-6, "%.9f", x);
        cr_assert_float_eq(aside, 0, 1e-7, "%g", aside);
    }
}

Test(barrier, pyramids_stop_a_box_later_between_their_sides) {
    for (int sides = 4; sides <= 8; sides += 2) {
        double aside;
        const double half = 180.0 / sides, weaker = cos(half * MABD_PI / 180);
        const double along = slide(0, sides, &aside), between = slide(half, sides, &aside);
        cr_assert_float_eq(along, way(0.3), 1e-6, "%.9f", along);
        cr_assert_float_eq(between, way(0.3 * weaker), 1e-5, "%.9f", between);
    }
    cr_assert_float_eq(way(0.3 / sqrt(2)) / way(0.3), 1.41, 0.01);
}

// Boxes of all shapes tumble with sticking and sliding corners. Without scaled increments a step in
// 20 jams and needs a cold restart.
Test(barrier, random_boxes_come_to_rest_without_a_step_that_fails) {
    uint64_t state = 3;
    int steps = 0, iterations = 0, restarts = 0, most = 0;
    for (int trial = 0; trial < 21; trial++) {
        barrier_box s;
        double size[3];
        for (int i = 0; i < 3; i++) size[i] = uniform(&state, 0.2, 0.8);
        barrier_box_init(&s, uniform(&state, 0.2, 3), size, 1, 0.01, uniform(&state, 0.05, 1));
        s.q = mabd_q_from_matrix(draw_rotation(&state));
        barrier_box_spin(&s, draw_vec3(&state, 2), draw_vec3(&state, 3));
        for (int i = 0; i < 60; i++, steps++) {
            barrier_box_step(&s);
            cr_assert(s.report.converged, "box %d, step %d: %g", trial, i, s.report.residual);
            cr_assert_gt(lowest(&s), 0);
            iterations += s.report.iterations, restarts += s.report.restarts;
            if (s.report.iterations > most) most = s.report.iterations;
        }
    }
    cr_expect_leq(restarts, 3);
    cr_log_info("%d steps, %.1f iterations, at most %d, %d restarts", steps,
                (double)iterations / steps, most, restarts);
    cr_assert_eq(steps, 1260);
}

// An iterate that begins in a corner of its cones, far from where it must go, jams there: the line
// search of [VI], which has no restart, never ends. Here cold restarts leave the corner.
Test(barrier, iterates_in_a_corner_leave_by_cold_restarts) {
    int restarts = 0;
    for (int k = 4; k < 12; k++) {
        barrier_box s;
        barrier_box_init(&s, 1, cube, 0.251, 0.01, 0.5);
        barrier_box_spin(&s, mabd_v3(3, 1, -2), mabd_v3(4, -2, 1));
        s.corner = pow(10, -k);
        barrier_box_step(&s);
        cr_assert(s.report.converged, "10^-%d: %g", k, s.report.residual);
        restarts += s.report.restarts;
    }
    cr_log_info("%d restarts", restarts);
    cr_expect_gt(restarts, 3);
}

// The box on which a line search without restarts ends in a corner.
Test(barrier, box_that_jams_passes) {
    barrier_box s;
    const mabd_vec3 axis = mabd_v3(1, 0.3, 0.2);
    const mabd_vec3 part = mabd_v3_scale(sin(0.3) / mabd_v3_norm(axis), axis);
    barrier_box_init(&s, 1, cube, 0.9, 0.01, 0.5);
    s.q = mabd_q(cos(0.3), part.x, part.y, part.z);
    for (int i = 0; i < 150; i++) {
        barrier_box_step(&s);
        cr_assert(s.report.converged && s.report.iterations < 40, "step %d", i);
    }
}
