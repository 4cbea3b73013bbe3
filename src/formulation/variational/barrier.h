// SPDX-License-Identifier: Apache-2.0
// Complementarity of one contact point, of one stop and of one box, by an interior point.
//
// A contact has a gap s and a pressure gamma [N], and friction beta on b against its slip eta. c is
// the coefficient of friction, psi [m/s] a multiplier [VI eq. 19, 27]:
//
//   phi(z1) - s = 0                  gamma s = mu                           s, gamma > 0
//   B V - eta = 0                    (c gamma, beta) o (psi, eta) = (nu, 0) both in |.| < first
//   i.e. c gamma psi + beta.eta = nu,    c gamma eta + psi beta = 0
//
// mu, nu -> 0: friction is against the slip and on the circle |beta| = c gamma, or the slip is 0
// (maximum dissipation). Not as in [VI], whose cone has four sides: along their diagonal friction
// is c/sqrt 2 of the pressure. The pyramid of 4, 6 or 8 sides is an option: beta = sum b_k d_k with
// b_k, e_k, sigma, psi > 0,
//
//   e_k = d_k.(B V) + psi     sigma = c gamma - sum b_k     b_k e_k = nu     sigma psi = nu
//
// A stop is a contact without friction: phi the distance of the coordinate from it.
//
// A box is a force in [-F, F] that wants the rate 0 of x' + q f: drives by rate, dry friction,
// limited servos (q their compliance). With a, b > 0
//
//   x' - rate + q f + a - b = 0      a (F - f) = nu       b (F + f) = nu
//
// Newton changes V by dV. With n = N1 dV and t = B dV (2), x' of a box, the increments of forces
// are affine: they are eliminated, one by one, from the equations of the bodies,
//
//   dgamma = k0 + kn n       dbeta = s0 + sn n + st t       df = k0 + kn x'
//
// By the derivative of the products, or of those scaled by Nesterov and Todd, which has no corners
// that increments cannot leave. k0, s0 hold the target and the residuals, kn, sn, st the iterate
// alone: two solves with two targets share a factor. `second` subtracts the products of the
// increments of the solve before: the corrector.
#pragma once

#include "math/shared.h"

#include <math.h>

/// Most sides of a pyramid.
#define MABD_BARRIER_MAX_SIDES 8

/// What products are to become in a solve.
typedef struct mabd_barrier_target {
    mabd_real pressure; // gamma s [J]
    mabd_real friction; // of friction and boxes [W]
    bool second;        // with the products of the last increments; of a circle, scaled ones
    bool scaled;        // of a circle: by Nesterov and Todd
} mabd_barrier_target;

/// A contact or a stop.
typedef struct mabd_barrier_contact {
    mabd_real mobility; // speed that a force of 1 N gives in a step [m/(s N)]
    mabd_real weight;   // products are compared with it: a force [N]
    mabd_real lift;     // part of the pressure target that is aimed at, 1 but where a body starts
    mabd_real c;        // coefficient of friction, 0 = none
    mabd_real gap;      // distance before the step [m]: for cold restarts
    mabd_real gamma, s; // pressure [N] and gap [m]
    mabd_real psi;      // [m/s]
    int32_t sides;      // of the pyramid, 0 = circle
    mabd_real phi;      // distance at the iterate [m]
    mabd_real slip[2];  // B V at the iterate [m/s]
    mabd_real beta[MABD_BARRIER_MAX_SIDES]; // friction on b (2) or b_k (sides) [N]
    mabd_real eta[MABD_BARRIER_MAX_SIDES];  // slip (2) or e_k (sides) [m/s]
    // increments of the last solve
    mabd_real dgamma, ds, dpsi, dbeta[MABD_BARRIER_MAX_SIDES], deta[MABD_BARRIER_MAX_SIDES];
    mabd_barrier_target target; // of the next solve, with its second-order terms
    mabd_real e_pressure, e_psi, e_side[MABD_BARRIER_MAX_SIDES];
    // response
    mabd_real k0, kn, s0[2], sn[2], st[2][2];
    mabd_real first[3], first_rest; // c dgamma = first_rest - first.(dpsi, deta), of the circle
} mabd_barrier_contact;

/// A box.
typedef struct mabd_barrier_box {
    mabd_real mobility;   // speed that a force of 1 N gives in a step [m/(s N)]
    mabd_real most;       // F [N], [N m]
    mabd_real compliance; // q [m/(s N)], [rad/(s N m)]
    mabd_real force, a, b;
    mabd_real excess; // x' - rate at the iterate
    mabd_real dforce, da, db;
    mabd_barrier_target target;
    mabd_real e_a, e_b;
    mabd_real k0, kn;
} mabd_barrier_box;

/// Return direction k of a pyramid along the two tangents.
MABD_FN void mabd_barrier_direction(int32_t sides, int32_t k, mabd_real* d) {
    const double angle = 2 * 3.14159265358979323846 * k / sides;
    d[0] = (mabd_real)cos(angle), d[1] = (mabd_real)sin(angle);
}
/// Friction on b along the two tangents [N].
MABD_FN void mabd_barrier_friction(const mabd_barrier_contact* p, mabd_real* beta) {
    beta[0] = p->beta[0], beta[1] = p->beta[1];
    if (p->sides == 0) return;
    beta[0] = beta[1] = 0;
    for (int32_t k = 0; k < p->sides; k++) {
        mabd_real d[2];
        mabd_barrier_direction(p->sides, k, d);
        beta[0] += p->beta[k] * d[0], beta[1] += p->beta[k] * d[1];
    }
}
/// Slack of the bound of friction of a pyramid [N].
MABD_FN mabd_real mabd_barrier_slack(const mabd_barrier_contact* p) {
    mabd_real sum = p->c * p->gamma;
    for (int32_t k = 0; k < p->sides; k++) sum -= p->beta[k];
    return sum;
}

// ---- responses ---------------------------------------------------------------------------------

// Nesterov and Todd's scaling of the circle: W with W w = W^-1 u = lambda, u = (c gamma, beta),
// w = (psi, eta). W^2 = b2 (2 p p' - J), W = sqrt(b2) (2 v v' - J), J = diag(1, -1, -1).
typedef struct mabd_barrier_scaling {
    mabd_real p[3], v[3], b, b2; // b = sqrt(b2)
} mabd_barrier_scaling;

// x - y > 0 of a point inside of its cone, at least its round-off.
MABD_FN mabd_real mabd_barrier_inner(mabd_real x, mabd_real y) {
    const mabd_real least = (mabd_real)1e-16 * x;
    return x - y > least ? x - y : least;
}
MABD_FN mabd_barrier_scaling mabd_barrier_scale(const mabd_barrier_contact* c) {
    const mabd_real u[3] = {c->c * c->gamma, c->beta[0], c->beta[1]};
    const mabd_real w[3] = {c->psi, c->eta[0], c->eta[1]};
    const mabd_real nu = (mabd_real)sqrt(u[1] * u[1] + u[2] * u[2]);
    const mabd_real nw = (mabd_real)sqrt(w[1] * w[1] + w[2] * w[2]);
    const mabd_real du = (mabd_real)sqrt(mabd_barrier_inner(u[0], nu) * (u[0] + nu));
    const mabd_real dw = (mabd_real)sqrt(mabd_barrier_inner(w[0], nw) * (w[0] + nw));
    const mabd_real dot = (u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) / (du * dw);
    const mabd_real g = (mabd_real)sqrt((1 + dot) / 2);
    mabd_barrier_scaling s;
    s.b2 = du / dw, s.b = (mabd_real)sqrt(s.b2);
    for (int k = 0; k < 3; k++) s.p[k] = (u[k] / du + (k ? -1 : 1) * w[k] / dw) / (2 * g);
    const mabd_real length = (mabd_real)sqrt(2 * (s.p[0] + 1));
    for (int k = 0; k < 3; k++) s.v[k] = (s.p[k] + (k ? 0 : 1)) / length;
    return s;
}
// W x, or W^-1 x.
MABD_FN void mabd_barrier_scaled(const mabd_barrier_scaling* s, bool inverse, const mabd_real* x,
                                 mabd_real* y) {
    const mabd_real sign = inverse ? -1 : 1, size = inverse ? 1 / s->b : s->b;
    const mabd_real dot = 2 * (s->v[0] * x[0] + sign * (s->v[1] * x[1] + s->v[2] * x[2]));
    y[0] = size * (s->v[0] * dot - x[0]);
    for (int k = 1; k < 3; k++) y[k] = size * (sign * s->v[k] * dot + x[k]);
}
// Jordan's product x o y.
MABD_FN void mabd_barrier_jordan(const mabd_real* x, const mabd_real* y, mabd_real* out) {
    out[0] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    for (int k = 1; k < 3; k++) out[k] = x[0] * y[k] + y[0] * x[k];
}

// The derivative of u o w itself, whose first row gives dpsi, the others dbeta. From near the end
// it gets there in one step.
MABD_FN void mabd_barrier_plain_circle(mabd_barrier_contact* p) {
    const mabd_real u = p->c * p->gamma, psi = p->psi, *b = p->beta, *e = p->eta;
    const mabd_real dot = b[0] * e[0] + b[1] * e[1];
    const mabd_real r1 = p->target.friction - (u * psi + dot);
    const mabd_real over = 1 / (u * psi - dot);
    const mabd_real rest[2] = {p->slip[0] - e[0], p->slip[1] - e[1]};
    mabd_real Q[2][2], q[2], g[2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) Q[i][j] = b[i] * b[j] / u - (i == j ? u : 0);
        g[i] = b[i] * psi / p->gamma - p->c * e[i];
        q[i] = -(u * e[i] + psi * b[i]) - b[i] * r1 / u;
    }
    for (int i = 0; i < 2; i++) {
        q[i] += g[i] * p->k0 + Q[i][0] * rest[0] + Q[i][1] * rest[1];
    }
    // (psi I - b e'/u)^-1 = (I + b e'/(u psi - b.e))/psi
    for (int i = 0; i < 2; i++) {
        const mabd_real w = b[i] * over;
        p->s0[i] = (q[i] + w * (e[0] * q[0] + e[1] * q[1])) / psi;
        p->sn[i] = (g[i] + w * (e[0] * g[0] + e[1] * g[1])) * p->kn / psi;
        for (int j = 0; j < 2; j++) {
            p->st[i][j] = (Q[i][j] + w * (e[0] * Q[0][j] + e[1] * Q[1][j])) / psi;
        }
    }
}

// lambda o (W^-1 du + W dw) = (nu, 0) - lambda o lambda - second order, so du = W q - W^2 dw. Its
// first row gives dpsi, the others dbeta.
MABD_FN void mabd_barrier_scaled_circle(mabd_barrier_contact* c) {
    const mabd_barrier_scaling s = mabd_barrier_scale(c);
    const mabd_real w[3] = {c->psi, c->eta[0], c->eta[1]};
    const mabd_real rest[2] = {c->slip[0] - c->eta[0], c->slip[1] - c->eta[1]};
    const mabd_real *p = s.p, over = 1 / (2 * p[0] * p[0] - 1);
    mabd_real lambda[3], r[3], q[3], Wq[3];
    mabd_barrier_scaled(&s, false, w, lambda);
    mabd_barrier_jordan(lambda, lambda, r);
    r[0] = c->target.friction - r[0] - c->e_psi;
    for (int k = 1; k < 3; k++) r[k] = -r[k] - c->e_side[k - 1];
    const mabd_real side = (mabd_real)sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]);
    const mabd_real det = mabd_barrier_inner(lambda[0], side) * (lambda[0] + side);
    q[0] = (lambda[0] * r[0] - lambda[1] * r[1] - lambda[2] * r[2]) / det;
    for (int k = 1; k < 3; k++) q[k] = (r[k] - q[0] * lambda[k]) / lambda[0];
    mabd_barrier_scaled(&s, false, q, Wq);
    c->first[0] = s.b2 / over, c->first_rest = Wq[0];
    for (int k = 1; k < 3; k++) c->first[k] = 2 * s.b2 * p[0] * p[k];
    for (int i = 0; i < 2; i++) {
        const mabd_real ratio = 2 * p[0] * p[1 + i] * over; // of rows i and 0 of W^2, column 0
        c->sn[i] = ratio * c->c * c->kn;
        c->s0[i] = Wq[1 + i] - ratio * (Wq[0] - c->c * c->k0);
        for (int j = 0; j < 2; j++) {
            c->st[i][j] = -s.b2 * ((i == j ? 1 : 0) - 2 * p[1 + i] * p[1 + j] * over);
            c->s0[i] += c->st[i][j] * rest[j];
        }
    }
}

// Constants of a pyramid: db_k = (h_k - b_k (d_k.t + dpsi))/e_k, and the sums of its sides.
typedef struct mabd_barrier_sides {
    mabd_real h[MABD_BARRIER_MAX_SIDES], d[MABD_BARRIER_MAX_SIDES][2];
    mabd_real weight, constant, tangent[2]; // sum b/e, sum h/e, sum b d/e
    mabd_real sigma, r;                     // slack, and its right-hand side
} mabd_barrier_sides;

MABD_FN mabd_barrier_sides mabd_barrier_sum_sides(const mabd_barrier_contact* p) {
    mabd_barrier_sides f;
    f.weight = f.constant = f.tangent[0] = f.tangent[1] = 0;
    f.sigma = mabd_barrier_slack(p);
    f.r = p->target.friction - f.sigma * p->psi - p->e_psi;
    for (int32_t k = 0; k < p->sides; k++) {
        mabd_barrier_direction(p->sides, k, f.d[k]);
        const mabd_real rest = f.d[k][0] * p->slip[0] + f.d[k][1] * p->slip[1] + p->psi - p->eta[k];
        f.h[k] = p->target.friction - p->beta[k] * p->eta[k] - p->e_side[k] - p->beta[k] * rest;
        f.weight += p->beta[k] / p->eta[k], f.constant += f.h[k] / p->eta[k];
        for (int i = 0; i < 2; i++) f.tangent[i] += p->beta[k] * f.d[k][i] / p->eta[k];
    }
    return f;
}

// sigma dpsi + psi (c dgamma - sum db_k) = r gives dpsi, then dbeta = sum db_k d_k.
MABD_FN void mabd_barrier_pyramid(mabd_barrier_contact* p) {
    const mabd_barrier_sides f = mabd_barrier_sum_sides(p);
    const mabd_real over = 1 / (f.sigma + p->psi * f.weight);
    const mabd_real dpsi0 = (f.r + p->psi * (f.constant - p->c * p->k0)) * over;
    const mabd_real dpsin = -p->psi * p->c * p->kn * over;
    for (int i = 0; i < 2; i++) {
        p->s0[i] = -f.tangent[i] * dpsi0, p->sn[i] = -f.tangent[i] * dpsin;
        for (int j = 0; j < 2; j++) {
            p->st[i][j] = f.tangent[i] * p->psi * f.tangent[j] * over;
        }
    }
    for (int32_t k = 0; k < p->sides; k++) {
        for (int i = 0; i < 2; i++) {
            const mabd_real w = f.d[k][i] / p->eta[k];
            p->s0[i] += w * f.h[k];
            for (int j = 0; j < 2; j++) p->st[i][j] -= w * p->beta[k] * f.d[k][j];
        }
    }
}

/// Set the target of the next solve, and the second-order terms of the last increments.
MABD_FN void mabd_barrier_aim(mabd_barrier_contact* p, const mabd_barrier_target* target) {
    const mabd_real on = target->second ? 1 : 0;
    p->target = *target;
    p->e_pressure = on * p->dgamma * p->ds, p->e_psi = 0;
    for (int k = 0; k < MABD_BARRIER_MAX_SIDES; k++) p->e_side[k] = 0;
    if (!target->second || !(p->c > 0)) return;
    if (p->sides == 0) {
        const mabd_barrier_scaling s = mabd_barrier_scale(p);
        const mabd_real du[3] = {p->c * p->dgamma, p->dbeta[0], p->dbeta[1]};
        const mabd_real dw[3] = {p->dpsi, p->deta[0], p->deta[1]};
        mabd_real x[3], y[3], e[3];
        mabd_barrier_scaled(&s, true, du, x);
        mabd_barrier_scaled(&s, false, dw, y);
        mabd_barrier_jordan(x, y, e);
        p->e_psi = on * e[0];
        for (int i = 0; i < 2; i++) p->e_side[i] = on * e[1 + i];
        return;
    }
    mabd_real dsigma = p->c * p->dgamma;
    for (int32_t k = 0; k < p->sides; k++) {
        dsigma -= p->dbeta[k];
        p->e_side[k] = on * p->dbeta[k] * p->deta[k];
    }
    p->e_psi = on * dsigma * p->dpsi;
}
/// Compute the response of a contact to its motion, for its target.
MABD_FN void mabd_barrier_respond(mabd_barrier_contact* p) {
    p->kn = -p->gamma / p->s;
    p->k0 = (p->target.pressure - p->gamma * p->phi - p->e_pressure) / p->s;
    if (!(p->c > 0)) {
        p->s0[0] = p->s0[1] = p->sn[0] = p->sn[1] = 0;
        p->st[0][0] = p->st[0][1] = p->st[1][0] = p->st[1][1] = 0;
    } else if (p->sides == 0 && p->target.scaled) {
        mabd_barrier_scaled_circle(p);
    } else if (p->sides == 0) {
        mabd_barrier_plain_circle(p);
    } else {
        mabd_barrier_pyramid(p);
    }
}

// Increments of psi and of the sides of a pyramid for the motion t.
MABD_FN void mabd_barrier_solve_sides(mabd_barrier_contact* p, const mabd_real* t) {
    const mabd_barrier_sides f = mabd_barrier_sum_sides(p);
    const mabd_real along = f.tangent[0] * t[0] + f.tangent[1] * t[1];
    p->dpsi =
        (f.r + p->psi * (f.constant - along - p->c * p->dgamma)) / (f.sigma + p->psi * f.weight);
    for (int32_t k = 0; k < p->sides; k++) {
        const mabd_real rate = f.d[k][0] * t[0] + f.d[k][1] * t[1] + p->dpsi;
        p->dbeta[k] = (f.h[k] - p->beta[k] * rate) / p->eta[k];
        p->deta[k] = rate + f.d[k][0] * p->slip[0] + f.d[k][1] * p->slip[1] + p->psi - p->eta[k];
    }
}

/// Compute all increments of a contact from its motion n = N1 dV [m], t = B dV (2) [m/s].
MABD_FN void mabd_barrier_solve(mabd_barrier_contact* p, mabd_real n, const mabd_real* t) {
    p->dgamma = p->k0 + p->kn * n;
    p->ds = p->phi - p->s + n;
    if (!(p->c > 0)) return;
    if (p->sides > 0) {
        mabd_barrier_solve_sides(p, t);
        return;
    }
    const mabd_real u = p->c * p->gamma;
    const bool scaled = p->target.scaled;
    mabd_real r = scaled ? p->first_rest - p->c * p->dgamma
                         : p->target.friction - u * p->psi - p->c * p->psi * p->dgamma;
    for (int i = 0; i < 2; i++) {
        p->dbeta[i] = p->s0[i] + p->sn[i] * n + p->st[i][0] * t[0] + p->st[i][1] * t[1];
        p->deta[i] = p->slip[i] - p->eta[i] + t[i];
        r -= scaled ? p->first[1 + i] * p->deta[i]
                    : p->beta[i] * (p->eta[i] + p->deta[i]) + p->eta[i] * p->dbeta[i];
    }
    p->dpsi = r / (scaled ? p->first[0] : u);
}

// ---- steps -------------------------------------------------------------------------------------

/// Return the step at which x + a dx reaches 0, infinite if it does not.
MABD_FN mabd_real mabd_barrier_reach(mabd_real x, mabd_real dx) {
    return dx < 0 ? -x / dx : (mabd_real)INFINITY;
}
/// Return the step at which (u, v) + a (du, dv) reaches the cone |v| = u: the smaller root of the
/// quadratic. v, dv (2).
MABD_FN mabd_real mabd_barrier_reach_cone(mabd_real u, const mabd_real* v, mabd_real du,
                                          const mabd_real* dv) {
    const mabd_real length = (mabd_real)sqrt(v[0] * v[0] + v[1] * v[1]);
    const mabd_real c = (u - length) * (u + length);
    const mabd_real b = u * du - v[0] * dv[0] - v[1] * dv[1];
    const mabd_real a = du * du - dv[0] * dv[0] - dv[1] * dv[1];
    const mabd_real square = b * b - a * c;
    const mabd_real under = square > 0 ? (mabd_real)sqrt(square) - b : -1;
    return under > 0 ? c / under : (mabd_real)INFINITY;
}
/// Return the step of a contact to its boundary.
MABD_FN mabd_real mabd_barrier_limit(const mabd_barrier_contact* p) {
    mabd_real most =
        (mabd_real)fmin(mabd_barrier_reach(p->s, p->ds), mabd_barrier_reach(p->gamma, p->dgamma));
    if (!(p->c > 0)) return most;
    if (p->sides == 0) {
        most = (mabd_real)fmin(
            most, mabd_barrier_reach_cone(p->c * p->gamma, p->beta, p->c * p->dgamma, p->dbeta));
        return (mabd_real)fmin(most, mabd_barrier_reach_cone(p->psi, p->eta, p->dpsi, p->deta));
    }
    mabd_real dsigma = p->c * p->dgamma;
    most = (mabd_real)fmin(most, mabd_barrier_reach(p->psi, p->dpsi));
    for (int32_t k = 0; k < p->sides; k++) {
        dsigma -= p->dbeta[k];
        most = (mabd_real)fmin(most, mabd_barrier_reach(p->beta[k], p->dbeta[k]));
        most = (mabd_real)fmin(most, mabd_barrier_reach(p->eta[k], p->deta[k]));
    }
    return (mabd_real)fmin(most, mabd_barrier_reach(mabd_barrier_slack(p), dsigma));
}
/// Move a contact by the part `step` of its increments.
MABD_FN void mabd_barrier_move(mabd_barrier_contact* p, mabd_real step) {
    const int32_t count = !(p->c > 0) ? 0 : p->sides == 0 ? 2 : p->sides;
    p->s += step * p->ds, p->gamma += step * p->dgamma;
    if (count > 0) p->psi += step * p->dpsi;
    for (int32_t k = 0; k < count; k++) {
        p->beta[k] += step * p->dbeta[k], p->eta[k] += step * p->deta[k];
    }
}
/// Return gamma s after the part `step` of the increments [J].
MABD_FN mabd_real mabd_barrier_pressure_product(const mabd_barrier_contact* p, mabd_real step) {
    return (p->gamma + step * p->dgamma) * (p->s + step * p->ds);
}
/// Return the product of friction after the part `step` of the increments [W]; of a pyramid that
/// farthest from `target`, or the mean if target < 0. 0 without friction.
MABD_FN mabd_real mabd_barrier_friction_product(const mabd_barrier_contact* p, mabd_real step,
                                                mabd_real target) {
    if (!(p->c > 0)) return 0;
    mabd_real gamma = p->gamma + step * p->dgamma, psi = p->psi + step * p->dpsi;
    if (p->sides == 0) {
        mabd_real sum = p->c * gamma * psi;
        for (int i = 0; i < 2; i++) {
            sum += (p->beta[i] + step * p->dbeta[i]) * (p->eta[i] + step * p->deta[i]);
        }
        return sum;
    }
    mabd_real sigma = p->c * gamma, sum = 0, worst = 0;
    for (int32_t k = 0; k < p->sides; k++) {
        const mabd_real b = p->beta[k] + step * p->dbeta[k];
        const mabd_real product = b * (p->eta[k] + step * p->deta[k]);
        sigma -= b, sum += product;
        if (k == 0 || fabs(product - target) > fabs(worst - target)) worst = product;
    }
    if (fabs(sigma * psi - target) > fabs(worst - target)) worst = sigma * psi;
    return target < 0 ? (sum + sigma * psi) / (p->sides + 1) : worst;
}

/// Return the smaller value of Jordan's product of the circle's friction after the part `step` of
/// the increments [W]: their mean is the friction product, their product that of the determinants.
MABD_FN mabd_real mabd_barrier_least_friction(const mabd_barrier_contact* p, mabd_real step) {
    const mabd_real b[2] = {p->beta[0] + step * p->dbeta[0], p->beta[1] + step * p->dbeta[1]};
    const mabd_real e[2] = {p->eta[0] + step * p->deta[0], p->eta[1] + step * p->deta[1]};
    const mabd_real u = p->c * (p->gamma + step * p->dgamma), w = p->psi + step * p->dpsi;
    const mabd_real lb = (mabd_real)sqrt(b[0] * b[0] + b[1] * b[1]);
    const mabd_real le = (mabd_real)sqrt(e[0] * e[0] + e[1] * e[1]);
    const mabd_real mean = u * w + b[0] * e[0] + b[1] * e[1];
    const mabd_real both = (u - lb) * (u + lb) * (w - le) * (w + le);
    const mabd_real square = mean * mean - both;
    return both / (mean + (square > 0 ? (mabd_real)sqrt(square) : 0));
}

// ---- start -------------------------------------------------------------------------------------

/// Set the friction variables of a contact to the middle of its cone. psi > 0 [m/s].
MABD_FN void mabd_barrier_center(mabd_barrier_contact* p, mabd_real psi) {
    p->psi = psi;
    for (int32_t k = 0; k < MABD_BARRIER_MAX_SIDES; k++) p->beta[k] = p->eta[k] = 0;
    for (int32_t k = 0; k < p->sides; k++) {
        p->beta[k] = p->c * p->gamma / (p->sides + 1), p->eta[k] = psi;
    }
}

// ---- boxes -------------------------------------------------------------------------------------

/// Set the target of the next solve of a box, and the second-order terms of the last increments.
MABD_FN void mabd_barrier_aim_box(mabd_barrier_box* p, const mabd_barrier_target* target) {
    const mabd_real on = target->second ? 1 : 0;
    p->target = *target;
    p->e_a = -on * p->da * p->dforce, p->e_b = on * p->db * p->dforce;
}
// Constants of da = (ra + a df)/(F - f), db = (rb - b df)/(F + f).
MABD_FN void mabd_barrier_box_rest(const mabd_barrier_box* p, mabd_real* ra, mabd_real* rb) {
    *ra = p->target.friction - p->a * (p->most - p->force) - p->e_a;
    *rb = p->target.friction - p->b * (p->most + p->force) - p->e_b;
}
/// Compute the response of a box to its rate, for its target.
MABD_FN void mabd_barrier_respond_box(mabd_barrier_box* p) {
    const mabd_real up = p->most - p->force, down = p->most + p->force;
    const mabd_real compliance = p->compliance + p->a / up + p->b / down;
    mabd_real ra, rb;
    mabd_barrier_box_rest(p, &ra, &rb);
    const mabd_real r = p->excess + p->compliance * p->force + p->a - p->b;
    p->kn = -1 / compliance;
    p->k0 = p->kn * (r + ra / up - rb / down);
}
/// Compute all increments of a box from the change of its rate.
MABD_FN void mabd_barrier_solve_box(mabd_barrier_box* p, mabd_real rate) {
    mabd_real ra, rb;
    mabd_barrier_box_rest(p, &ra, &rb);
    p->dforce = p->k0 + p->kn * rate;
    p->da = (ra + p->a * p->dforce) / (p->most - p->force);
    p->db = (rb - p->b * p->dforce) / (p->most + p->force);
}
/// Return the step of a box to its boundary.
MABD_FN mabd_real mabd_barrier_limit_box(const mabd_barrier_box* p) {
    const mabd_real up = mabd_barrier_reach(p->most - p->force, -p->dforce);
    const mabd_real down = mabd_barrier_reach(p->most + p->force, p->dforce);
    const mabd_real a = mabd_barrier_reach(p->a, p->da), b = mabd_barrier_reach(p->b, p->db);
    return (mabd_real)fmin(fmin(up, down), fmin(a, b));
}
/// Move a box by the part `step` of its increments.
MABD_FN void mabd_barrier_move_box(mabd_barrier_box* p, mabd_real step) {
    p->force += step * p->dforce, p->a += step * p->da, p->b += step * p->db;
}
/// Write both products of a box after the part `step` of its increments [W].
MABD_FN void mabd_barrier_box_products(const mabd_barrier_box* p, mabd_real step,
                                       mabd_real* products) {
    const mabd_real f = p->force + step * p->dforce;
    products[0] = (p->a + step * p->da) * (p->most - f);
    products[1] = (p->b + step * p->db) * (p->most + f);
}
/// Set a box to the middle: no force, and speeds [m/s], [rad/s] > 0 on both sides.
MABD_FN void mabd_barrier_center_box(mabd_barrier_box* p, mabd_real speed) {
    p->force = 0, p->a = p->b = speed;
}
