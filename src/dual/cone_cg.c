// SPDX-License-Identifier: Apache-2.0
#include "dual/cone_cg.h"

#include <math.h>
#include <string.h>

#define ROUGH_PASSES 8

typedef struct cone_work {
    const mabd_cone_problem* problem;
    size_t n;                     // rows
    mabd_real *x, *g, *p, *d, *A; // scaled forces, gradient, direction, step, product (n)
    mabd_real *scale, *force;     // 1/sqrt(own) by row; forces for the product (n)
    mabd_real* radius;            // bound of the tangents, scaled (count)
    mabd_real curvature;          // guess of d'Ad/d'd of a gradient step
    int32_t products;
} cone_work;

size_t mabd_cone_cg_work(int32_t count) {
    return 22 * (size_t)count;
}

static mabd_real dot(size_t n, const mabd_real* a, const mabd_real* b) {
    mabd_real sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// out = S (W + c) S x
static void apply(cone_work* w, const mabd_real* x, mabd_real* out) {
    const mabd_cone_problem* problem = w->problem;
    for (size_t i = 0; i < w->n; i++) w->force[i] = w->scale[i] * x[i];
    problem->product(problem->self, w->force, out);
    for (size_t i = 0; i < w->n; i++) out[i] = w->scale[i] * out[i] + problem->softness * x[i];
    w->products++;
}

static void gradient(cone_work* w) {
    apply(w, w->x, w->g);
    for (size_t i = 0; i < w->n; i++) w->g[i] += w->scale[i] * w->problem->rest[i];
}

// ---- the sets -----------------------------------------------------------------------------------

static bool is_linear(const cone_work* w, size_t contact) {
    return w->problem->linear && w->problem->linear[contact];
}

static void project(const cone_work* w, size_t contact, mabd_real* x) {
    if (is_linear(w, contact)) return;
    const mabd_real r = w->radius[contact], size = x[1] * x[1] + x[2] * x[2];
    if (!(x[0] > 0)) x[0] = 0;
    if (!(size > r * r)) return;
    const mabd_real s = r / (mabd_real)sqrt(size);
    x[1] *= s, x[2] *= s;
}

static bool is_inside(const cone_work* w, size_t contact) {
    const mabd_real* x = w->x + 3 * contact;
    const mabd_real r = w->radius[contact] * (1 - (mabd_real)1e-9);
    return is_linear(w, contact) || x[1] * x[1] + x[2] * x[2] < r * r;
}

static bool is_pressed(const cone_work* w, size_t contact) {
    return w->x[3 * contact] > 0 || is_linear(w, contact);
}

// Compute the natural residual of one contact, x - P(x - g), scaled.
static void natural(const cone_work* w, size_t contact, mabd_real out[3]) {
    const mabd_real *x = w->x + 3 * contact, *g = w->g + 3 * contact;
    for (int k = 0; k < 3; k++) out[k] = x[k] - g[k];
    project(w, contact, out);
    for (int k = 0; k < 3; k++) out[k] = x[k] - out[k];
}

// Compute the squares of the free gradient and of the rest of the natural residual; *residual [m].
static void measure(const cone_work* w, mabd_real* free, mabd_real* bound, mabd_real* residual) {
    *free = *bound = *residual = 0;
    for (size_t i = 0; i < w->n / 3; i++) {
        const mabd_real *g = w->g + 3 * i, *s = w->scale + 3 * i;
        const bool pressed = is_pressed(w, i);
        mabd_real e[3];
        natural(w, i, e);
        const mabd_real tangent = e[1] * e[1] + e[2] * e[2];
        *(pressed ? free : bound) += pressed ? g[0] * g[0] : e[0] * e[0];
        if (is_inside(w, i)) {
            *free += g[1] * g[1] + g[2] * g[2];
        } else {
            *bound += tangent;
        }
        const mabd_real normal = (mabd_real)fabs(e[0]) / s[0],
                        slip = (mabd_real)sqrt(tangent) / s[1];
        if (!(normal <= *residual)) *residual = normal;
        if (!(slip <= *residual)) *residual = slip;
    }
}

// ---- steps --------------------------------------------------------------------------------------

// d = P(x - a p) - x
static void cut(cone_work* w, mabd_real a, const mabd_real* p) {
    for (size_t i = 0; i < w->n / 3; i++) {
        mabd_real* d = w->d + 3 * i;
        for (int k = 0; k < 3; k++) d[k] = w->x[3 * i + k] - a * p[3 * i + k];
        project(w, i, d);
        for (int k = 0; k < 3; k++) d[k] -= w->x[3 * i + k];
    }
}

// Move along d to the minimum of the quadratic, at most to its end. False if it does not decrease.
static bool search(cone_work* w) {
    const mabd_real slope = dot(w->n, w->g, w->d);
    if (!(slope < 0)) return false;
    apply(w, w->d, w->A);
    const mabd_real bend = dot(w->n, w->d, w->A), size = dot(w->n, w->d, w->d);
    const mabd_real t = bend > 0 && -slope < bend ? -slope / bend : 1;
    for (size_t i = 0; i < w->n; i++) {
        w->x[i] += t * w->d[i];
        w->g[i] += t * w->A[i];
    }
    for (size_t i = 0; i < w->n / 3; i++) project(w, i, w->x + 3 * i); // round-off
    if (bend > 0) w->curvature = bend / size;
    return true;
}

static void free_gradient(const cone_work* w, mabd_real* out) {
    for (size_t i = 0; i < w->n / 3; i++) {
        const mabd_real* g = w->g + 3 * i;
        const bool inside = is_inside(w, i);
        out[3 * i] = is_pressed(w, i) ? g[0] : 0;
        out[3 * i + 1] = inside ? g[1] : 0;
        out[3 * i + 2] = inside ? g[2] : 0;
    }
}

// Return the largest a for which x - a p stays in the sets.
static mabd_real feasible(const cone_work* w) {
    mabd_real most = (mabd_real)INFINITY;
    for (size_t i = 0; i < w->n / 3; i++) {
        const mabd_real *x = w->x + 3 * i, *p = w->p + 3 * i;
        if (is_linear(w, i)) continue;
        if (p[0] > 0 && x[0] < most * p[0]) most = x[0] / p[0];
        const mabd_real pp = p[1] * p[1] + p[2] * p[2], xp = x[1] * p[1] + x[2] * p[2];
        const mabd_real room =
            w->radius[i] * w->radius[i] - (x[1] * x[1] + x[2] * x[2]); // |x - a p|^2 = r^2
        if (!(pp > 0)) continue;
        const mabd_real a = (xp + (mabd_real)sqrt(xp * xp + pp * (room > 0 ? room : 0))) / pp;
        if (a < most) most = a;
    }
    return most;
}

// Make a step on the free forces; p is the direction and is prepared for the next step. False:
// restart.
static bool conjugate_step(cone_work* w) {
    apply(w, w->p, w->A);
    const mabd_real bend = dot(w->n, w->p, w->A), slope = dot(w->n, w->g, w->p);
    if (!(bend > 0) || !(slope > 0)) return false;
    const mabd_real a = slope / bend, most = feasible(w);
    if (a <= most) {
        for (size_t i = 0; i < w->n; i++) {
            w->x[i] -= a * w->p[i];
            w->g[i] -= a * w->A[i];
        }
        free_gradient(w, w->d);
        const mabd_real turn = dot(w->n, w->d, w->A) / bend;
        for (size_t i = 0; i < w->n; i++) w->p[i] = w->d[i] - turn * w->p[i];
        return true;
    }
    cut(w, a, w->p);
    if (search(w)) return false;
    for (size_t i = 0; i < w->n; i++) {
        w->x[i] -= most * w->p[i];
        w->g[i] -= most * w->A[i];
    }
    for (size_t i = 0; i < w->n / 3; i++) project(w, i, w->x + 3 * i);
    return false;
}

// Solve with constant friction bounds until the residual [m] is below `goal`.
static mabd_real solve_bounded(cone_work* w, mabd_real goal) {
    bool going = false;
    for (;;) {
        mabd_real free, bound, residual;
        measure(w, &free, &bound, &residual);
        if (residual <= goal || w->products >= w->problem->max_products) return residual;
        if (!(bound <= free)) {
            cut(w, 1 / w->curvature, w->g);
            going = false;
            if (!search(w)) return residual; // round-off
            continue;
        }
        if (!going) free_gradient(w, w->p);
        going = conjugate_step(w);
    }
}

// Set the bounds from the normal forces; true if some force had to be clipped.
static bool take_bounds(cone_work* w) {
    bool moved = false;
    for (size_t i = 0; i < w->n / 3; i++) {
        mabd_real* x = w->x + 3 * i;
        const mabd_real before[2] = {x[1], x[2]};
        w->radius[i] = w->problem->friction[i] * x[0] * w->scale[3 * i] / w->scale[3 * i + 1];
        project(w, i, x);
        moved |= x[1] != before[0] || x[2] != before[1];
    }
    return moved;
}

static cone_work open_work(const mabd_cone_problem* problem, mabd_real* rows, mabd_real* work) {
    const size_t n = 3 * (size_t)problem->count;
    cone_work w = {.problem = problem, .n = n, .g = rows, .curvature = 1};
    w.x = work, w.p = w.x + n, w.d = w.p + n, w.A = w.d + n;
    w.scale = w.A + n, w.force = w.scale + n, w.radius = w.force + n;
    for (size_t i = 0; i < n; i++) {
        w.scale[i] = 1 / (mabd_real)sqrt(problem->own[2 * (i / 3) + (i % 3 > 0)]);
    }
    return w;
}

// Set the bounds given by the caller and clip the forces by them.
static void given_bounds(cone_work* w) {
    for (size_t i = 0; i < w->n / 3; i++) {
        w->radius[i] = w->problem->bound[i] / w->scale[3 * i + 1];
        project(w, i, w->x + 3 * i);
    }
}

mabd_cone_report mabd_cone_cg(const mabd_cone_problem* problem, mabd_real* force, mabd_real* rows,
                              mabd_real* work) {
    mabd_cone_report report = {0, 0, 0, true};
    if (problem->count == 0) return report;
    cone_work w = open_work(problem, rows, work);
    for (size_t i = 0; i < w.n; i++) w.x[i] = force[i] / w.scale[i];
    for (size_t i = 0; i < w.n / 3; i++) {
        w.radius[i] = (mabd_real)INFINITY;
        project(&w, i, w.x + 3 * i);
    }
    if (problem->bound) {
        given_bounds(&w);
    } else {
        take_bounds(&w);
    }
    gradient(&w);
    mabd_real goal = problem->tolerance;
    for (;;) {
        mabd_real free, bound;
        const int32_t before = w.products;
        solve_bounded(&w, goal);
        const bool last = problem->bound && report.passes >= problem->updates;
        if (!last && take_bounds(&w)) gradient(&w); // forces at their bounds have moved
        report.passes++;
        measure(&w, &free, &bound, &report.residual);
        report.converged = report.residual <= problem->tolerance;
        if (report.converged || w.products >= problem->max_products) break;
        if (last || w.products == before) break; // or round-off
        // bounds that are far off need no exact forces, but bounds that cycle do
        const bool rough =
            report.passes < ROUGH_PASSES && report.residual > 10 * problem->tolerance;
        goal = rough && !(problem->bound && report.passes >= problem->updates)
                   ? report.residual / 10
                   : problem->tolerance / 2;
    }
    report.products = w.products;
    for (size_t i = 0; problem->bound && i < w.n / 3; i++) {
        problem->bound[i] = w.radius[i] * w.scale[3 * i + 1];
    }
    for (size_t i = 0; i < w.n; i++) {
        force[i] = w.scale[i] * w.x[i];
        rows[i] = w.g[i] / w.scale[i];
    }
    return report;
}
