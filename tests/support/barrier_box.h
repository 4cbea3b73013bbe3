// SPDX-License-Identifier: Apache-2.0
// A box on the plane z = 0 by the interior point: one body with a dense matrix of 6 x 6, written
// without the formulation.
#pragma once

#include "formulation/variational/interior_point.h"
#include "math/mat3.h"
#include "math/quat.h"

#include <string.h>

#define BARRIER_CORNERS 8

typedef struct barrier_box {
    double mass, J[3], half[3], h, gravity[3], friction;
    int sides;
    mabd_vec3 x, P, L, v, w; // L, w in the frame of the body
    mabd_vec3 v0, w0;        // where the iteration has begun
    mabd_quat q;
    mabd_interior_problem problem;
    mabd_barrier_contact contacts[BARRIER_CORNERS];
    // the iterate
    double d[6], A[36], u[6]; // residual, factor, increment
    int row[6];
    double N0[BARRIER_CORNERS][6], N1[BARRIER_CORNERS][6], B[BARRIER_CORNERS][2][6];
    bool matched;
    double corner; // > 0: iterates begin as near to the corner of their cones
    mabd_interior_report report;
} barrier_box;

static mabd_vec3 barrier_corner(const barrier_box* s, int k) {
    return mabd_v3((k & 1 ? 1 : -1) * s->half[0], (k & 2 ? 1 : -1) * s->half[1],
                   (k & 4 ? 1 : -1) * s->half[2]);
}

static mabd_quat barrier_turned(mabd_quat q, mabd_vec3 w, double h) {
    const double root = sqrt(4 / (h * h) - mabd_v3_dot(w, w));
    return mabd_q_normalize(
        mabd_q_product(q, mabd_q(root * h / 2, w.x * h / 2, w.y * h / 2, w.z * h / 2)));
}

// (h/2)(s J w + side w x J w)
static mabd_vec3 barrier_spin(const barrier_box* s, mabd_vec3 w, double side) {
    const double root = sqrt(4 / (s->h * s->h) - mabd_v3_dot(w, w));
    const mabd_vec3 Jw = mabd_v3(s->J[0] * w.x, s->J[1] * w.y, s->J[2] * w.z);
    return mabd_v3_scale(s->h / 2,
                         mabd_v3_axpy(side, mabd_v3_cross(w, Jw), mabd_v3_scale(root, Jw)));
}

static void barrier_row(mabd_vec3 n, mabd_mat3 R, mabd_vec3 X, double* row) {
    mabd_v3_store(n, row);
    mabd_v3_store(mabd_v3_cross(X, mabd_m3_tmul(R, n)), row + 3);
}

static double barrier_dot(const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += a[i] * b[i];
    return sum;
}

static mabd_interior_error barrier_evaluate(void* self) {
    barrier_box* s = self;
    const double V[6] = {s->v.x, s->v.y, s->v.z, s->w.x, s->w.y, s->w.z};
    const mabd_vec3 x1 = mabd_v3_axpy(s->h, s->v, s->x);
    const mabd_mat3 R1 = mabd_q_matrix(barrier_turned(s->q, s->w, s->h));
    const double root = sqrt(4 / (s->h * s->h) - mabd_v3_dot(s->w, s->w));
    const mabd_vec3 lp = mabd_v3_sub(barrier_spin(s, s->w, 1), s->L);
    mabd_interior_error out = {0, true};
    for (int i = 0; i < 3; i++) {
        s->d[i] = s->mass * V[i] - mabd_v3_get(s->P, i) - s->h / 2 * s->mass * s->gravity[i];
        s->d[3 + i] = mabd_v3_get(lp, i);
    }
    for (int k = 0; k < s->problem.contact_count; k++) {
        mabd_barrier_contact* c = &s->contacts[k];
        const mabd_vec3 X = barrier_corner(s, k);
        mabd_real beta[2] = {0, 0};
        double row[6];
        if (c->c > 0) mabd_barrier_friction(c, beta);
        c->phi = x1.z + mabd_v3_dot(mabd_v3(0, 0, 1), mabd_m3_mul(R1, X));
        barrier_row(mabd_v3(0, 0, 1), R1, X, row);
        // row of dw: row.h E, E = (h/2)(root I + w w'/root - [w])
        const mabd_vec3 r = mabd_v3(row[3], row[4], row[5]);
        const mabd_vec3 rE = mabd_v3_axpy(mabd_v3_dot(r, s->w) / root, s->w,
                                          mabd_v3_axpy(root, r, mabd_v3_cross(s->w, r)));
        for (int i = 0; i < 3; i++) {
            s->N1[k][i] = s->h * row[i];
            s->N1[k][3 + i] = s->h * s->h / 2 * mabd_v3_get(rE, i);
        }
        for (int i = 0; i < 2; i++) c->slip[i] = barrier_dot(s->B[k][i], V);
        for (int i = 0; i < 6; i++) {
            s->d[i] -=
                s->h * (s->N0[k][i] * c->gamma + s->B[k][0][i] * beta[0] + s->B[k][1][i] * beta[1]);
        }
        out.rows = fmax(out.rows, fabs(c->phi - c->s));
    }
    for (int i = 0; i < 6; i++) out.finite = out.finite && isfinite(s->d[i]);
    return out;
}

static mabd_status barrier_factor(void* self) {
    barrier_box* s = self;
    const double e = 1e-7;
    memset(s->A, 0, sizeof s->A);
    for (int i = 0; i < 3; i++) {
        s->A[7 * i] = s->mass;
        const mabd_vec3 unit = mabd_v3(i == 0, i == 1, i == 2);
        const mabd_vec3 slope = mabd_v3_scale(
            1 / (2 * e), mabd_v3_sub(barrier_spin(s, mabd_v3_axpy(e, unit, s->w), 1),
                                     barrier_spin(s, mabd_v3_axpy(-e, unit, s->w), 1)));
        for (int j = 0; j < 3; j++) s->A[6 * (3 + j) + 3 + i] = mabd_v3_get(slope, j);
    }
    for (int k = 0; k < s->problem.contact_count; k++) {
        const mabd_barrier_contact* c = &s->contacts[k];
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                double sum = s->N0[k][i] * c->kn * s->N1[k][j];
                for (int a = 0; a < 2; a++) {
                    sum += s->B[k][a][i] * c->sn[a] * s->N1[k][j];
                    for (int b = 0; b < 2; b++) sum += s->B[k][a][i] * c->st[a][b] * s->B[k][b][j];
                }
                s->A[6 * i + j] -= s->h * sum;
            }
        }
    }
    for (int k = 0; k < 6; k++) { // rows are exchanged
        int best = k;
        for (int i = k + 1; i < 6; i++) {
            if (fabs(s->A[6 * i + k]) > fabs(s->A[6 * best + k])) best = i;
        }
        s->row[k] = best;
        for (int j = 0; j < 6; j++) {
            const double t = s->A[6 * k + j];
            s->A[6 * k + j] = s->A[6 * best + j], s->A[6 * best + j] = t;
        }
        for (int i = k + 1; i < 6; i++) {
            const double f = s->A[6 * i + k] /= s->A[7 * k];
            for (int j = k + 1; j < 6; j++) s->A[6 * i + j] -= f * s->A[6 * k + j];
        }
    }
    return MABD_OK;
}

static void barrier_solve(void* self) {
    barrier_box* s = self;
    for (int i = 0; i < 6; i++) s->u[i] = -s->d[i];
    for (int k = 0; k < s->problem.contact_count; k++) {
        const mabd_barrier_contact* c = &s->contacts[k];
        for (int i = 0; i < 6; i++) {
            s->u[i] +=
                s->h * (s->N0[k][i] * c->k0 + s->B[k][0][i] * c->s0[0] + s->B[k][1][i] * c->s0[1]);
        }
    }
    for (int k = 0; k < 6; k++) {
        const double t = s->u[k];
        s->u[k] = s->u[s->row[k]], s->u[s->row[k]] = t;
    }
    for (int k = 0; k < 6; k++) {
        for (int i = k + 1; i < 6; i++) s->u[i] -= s->A[6 * i + k] * s->u[k];
    }
    for (int k = 5; k >= 0; k--) {
        for (int j = k + 1; j < 6; j++) s->u[k] -= s->A[6 * k + j] * s->u[j];
        s->u[k] /= s->A[7 * k];
    }
    for (int k = 0; k < s->problem.contact_count; k++) {
        const mabd_real t[2] = {barrier_dot(s->B[k][0], s->u), barrier_dot(s->B[k][1], s->u)};
        mabd_barrier_solve(&s->contacts[k], barrier_dot(s->N1[k], s->u), t);
    }
}

static mabd_real barrier_limit(void* self, mabd_real* length) {
    barrier_box* s = self;
    const mabd_vec3 dw = mabd_v3_load(s->u + 3);
    *length = 0;
    for (int i = 0; i < 6; i++) *length = fmax(*length, s->h * fabs(s->u[i]));
    double step = 1;
    for (; step > 1e-6; step /= 2) {
        const mabd_vec3 w = mabd_v3_axpy(step, dw, s->w);
        if (mabd_v3_dot(w, w) * s->h * s->h <= 3.8) break;
    }
    return step;
}

static void barrier_advance(void* self, mabd_real step) {
    barrier_box* s = self;
    s->v = mabd_v3_axpy(step, mabd_v3_load(s->u), s->v);
    s->w = mabd_v3_axpy(step, mabd_v3_load(s->u + 3), s->w);
}

static void barrier_restart(void* self) {
    barrier_box* s = self;
    s->v = s->v0, s->w = s->w0;
}

// A box of a size (3) at rest at height z of its centre, with `count` corners that touch.
static void barrier_box_init(barrier_box* s, double mass, const double* size, double z, double h,
                             double friction) {
    memset(s, 0, sizeof *s);
    s->mass = mass, s->h = h, s->friction = friction, s->gravity[2] = -9.81;
    for (int i = 0; i < 3; i++) {
        const double a = size[(i + 1) % 3], b = size[(i + 2) % 3];
        s->J[i] = mass / 12 * (a * a + b * b), s->half[i] = size[i] / 2;
    }
    s->x.z = z, s->q = mabd_q(1, 0, 0, 0);
    const mabd_interior_host host = {s,
                                     barrier_evaluate,
                                     barrier_factor,
                                     barrier_solve,
                                     barrier_limit,
                                     barrier_advance,
                                     barrier_restart};
    s->problem.host = host, s->problem.contacts = s->contacts;
    s->problem.contact_count = BARRIER_CORNERS;
    s->problem.tolerance = 1e-6, s->problem.row_tolerance = 1e-9;
    s->problem.max_iterations = 60, s->problem.h = h;
}

static void barrier_box_spin(barrier_box* s, mabd_vec3 v, mabd_vec3 w) {
    s->v = v, s->w = w;
    s->P = mabd_v3_scale(s->mass, v), s->L = barrier_spin(s, w, 0);
}

// One step; matched contacts start from their last forces.
static void barrier_box_step(barrier_box* s) {
    const mabd_mat3 R = mabd_q_matrix(s->q);
    const double g = mabd_v3_norm(mabd_v3_load(s->gravity));
    for (int k = 0; k < s->problem.contact_count; k++) {
        mabd_barrier_contact* c = &s->contacts[k];
        const mabd_vec3 X = barrier_corner(s, k);
        const double gap = s->x.z + mabd_m3_mul(R, X).z;
        barrier_row(mabd_v3(0, 0, 1), R, X, s->N0[k]);
        barrier_row(mabd_v3(1, 0, 0), R, X, s->B[k][0]);
        barrier_row(mabd_v3(0, 1, 0), R, X, s->B[k][1]);
        double own = 0;
        for (int i = 0; i < 6; i++) {
            own += s->N0[k][i] * s->N0[k][i] / (i < 3 ? s->mass : s->J[i - 3]);
        }
        c->c = s->friction, c->sides = s->sides;
        const double v[6] = {s->v.x, s->v.y, s->v.z, s->w.x, s->w.y, s->w.z};
        const double excess = -gap / s->h - barrier_dot(s->N0[k], v);
        c->lift = 1, c->weight = (g + fmax(excess, 1e-3) / s->h) / own, c->mobility = s->h * own;
        c->gamma = fmax(s->matched ? c->gamma : 0, c->weight * 1e-3 / fmax(gap, 1e-3));
        c->gap = gap, c->s = fmax(gap, 1e-3);
        mabd_barrier_center(c, s->matched ? fmax(c->psi, 1e-2) : 1);
    }
    for (int k = 0; k < s->problem.contact_count && s->corner > 0; k++) {
        mabd_barrier_contact* c = &s->contacts[k];
        const double turn = k, back = 2 * k + 1; // directions of friction and slip
        c->gamma = k % 2 ? s->corner * c->weight : c->weight, c->s = k % 2 ? 1e-3 : s->corner;
        c->psi = k % 3 ? s->corner : 1;
        c->beta[0] = (1 - s->corner) * c->c * c->gamma * cos(turn);
        c->beta[1] = (1 - s->corner) * c->c * c->gamma * sin(turn);
        c->eta[0] = (1 - s->corner) * c->psi * cos(back);
        c->eta[1] = (1 - s->corner) * c->psi * sin(back);
    }
    s->matched = true;
    s->problem.speed = mabd_v3_norm(s->v);
    s->v0 = s->v, s->w0 = s->w;
    s->report = mabd_interior_point(&s->problem);
    s->x = mabd_v3_axpy(s->h, s->v, s->x);
    s->q = barrier_turned(s->q, s->w, s->h);
    for (int i = 0; i < 3; i++) s->gravity[i] += 0;
    s->P = mabd_v3_axpy(s->h / 2 * s->mass, mabd_v3_load(s->gravity), mabd_v3_scale(s->mass, s->v));
    s->L = barrier_spin(s, s->w, -1);
}
