// SPDX-License-Identifier: Apache-2.0
#include "dual/cone_ip.h"

#include "dual/dense_upper.h"

#include <math.h>
#include <string.h>

#define STEPS_MAX 60
/// Part of the way to the boundary of the cones that a step goes.
#define INSIDE ((mabd_real)0.99)
/// Friction below which a contact has a normal force only.
#define SMOOTH ((mabd_real)1e-9)

typedef struct ip_work {
    int32_t count;
    size_t n;
    const mabd_real *A, *b, *friction;
    mabd_real *x, *y, *dx, *dy, *rest, *r; // (n)
    mabd_real *w, *beta;                   // scaling: (n), (count)
    mabd_real* s;                          // T x (n)
    mabd_real* scale;                      // l = scale x (n); 0 = no force
    mabd_real* U;                          // (n x n)
} ip_work;

size_t mabd_cone_ip_work(int32_t count) {
    const size_t n = 3 * (size_t)count;
    return 9 * n + (size_t)count + n * n;
}

// ---- cones -------------------------------------------------------------------------------------

static mabd_real norm_t(const mabd_real* u) {
    return (mabd_real)sqrt(u[1] * u[1] + u[2] * u[2]);
}

// u o v of a cone.
static void product(const mabd_real* u, const mabd_real* v, mabd_real* out) {
    const mabd_real a = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    out[1] = u[0] * v[1] + v[0] * u[1], out[2] = u[0] * v[2] + v[0] * u[2], out[0] = a;
}

// Solve u o v = r.
static void divide(const mabd_real* u, const mabd_real* r, mabd_real* v) {
    const mabd_real t = u[1] * r[1] + u[2] * r[2];
    const mabd_real size = norm_t(u), det = (u[0] - size) * (u[0] + size);
    const mabd_real first = (u[0] * r[0] - t) / det;
    v[1] = (r[1] - first * u[1]) / u[0], v[2] = (r[2] - first * u[2]) / u[0], v[0] = first;
}

// T v, or T^-1 v.
static void scale_by(const ip_work* p, int32_t i, bool back, const mabd_real* v, mabd_real* out) {
    const mabd_real* w = p->w + 3 * i;
    const mabd_real k = back ? 1 / p->beta[i] : p->beta[i], sign = back ? -1 : 1;
    const mabd_real t = sign * (w[1] * v[1] + w[2] * v[2]), along = v[0] + t / (1 + w[0]);
    const mabd_real v0 = v[0];
    out[0] = k * (w[0] * v0 + t);
    for (int j = 1; j < 3; j++) out[j] = k * (v[j] + sign * w[j] * along);
}

static mabd_real determinant(const mabd_real* u) {
    const mabd_real size = norm_t(u);
    return (u[0] - size) * (u[0] + size);
}

// The scaling of a contact: w and beta with T x = T^-1 y.
static void set_scaling(ip_work* p, int32_t i) {
    const mabd_real *x = p->x + 3 * i, *y = p->y + 3 * i;
    const mabd_real a = (mabd_real)sqrt(determinant(x)), b = (mabd_real)sqrt(determinant(y));
    mabd_real dot = 0, *w = p->w + 3 * i;
    for (int j = 0; j < 3; j++) dot += x[j] / a * (y[j] / b);
    const mabd_real g = (mabd_real)sqrt((1 + dot) / 2);
    for (int j = 0; j < 3; j++) w[j] = (y[j] / b + (j ? -1 : 1) * x[j] / a) / (2 * g);
    p->beta[i] = (mabd_real)sqrt(b / a);
    scale_by(p, i, false, x, p->s + 3 * i);
}

// Largest step along d within the cone of u, at most 1/INSIDE.
static mabd_real reach(const mabd_real* u, const mabd_real* d) {
    mabd_real most = 1 / INSIDE;
    const mabd_real a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    const mabd_real b = u[0] * d[0] - u[1] * d[1] - u[2] * d[2], c = determinant(u);
    const mabd_real root = b * b - a * c;
    if (d[0] < 0 && -u[0] / d[0] < most) most = -u[0] / d[0];
    if (root < 0) return most;
    const mabd_real q = -(b + (b < 0 ? -1 : 1) * (mabd_real)sqrt(root));
    const mabd_real t1 = a != 0 ? q / a : -1, t2 = q != 0 ? c / q : -1;
    if (t1 > 0 && t1 < most) most = t1;
    if (t2 > 0 && t2 < most) most = t2;
    return most;
}

// ---- the linear system -------------------------------------------------------------------------

// U'U = Q + T^2. False if it is not positive.
static bool factor(ip_work* p) {
    const size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++) {
            p->U[k * n + i] = p->A[i * n + k] * p->scale[i] * p->scale[k];
        }
    }
    for (int32_t c = 0; c < p->count; c++) {
        const mabd_real *w = p->w + 3 * c, k = p->beta[c] * p->beta[c];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) { // T^2 = beta^2 (2 w w' - J)
                const mabd_real J = i != j ? 0 : i == 0 ? 1 : -1;
                p->U[(3 * (size_t)c + j) * n + 3 * (size_t)c + i] += k * (2 * w[i] * w[j] - J);
            }
        }
    }
    return mabd_dense_upper_factor_of(mabd_isa_count() - 1)(n, p->U);
}

// ---- the iteration -----------------------------------------------------------------------------

// rest = Q x + c - y, by rows of the lower triangle.
static void set_rest(ip_work* p) {
    const size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        const mabd_real *row = p->A + i * n, own = p->scale[i] * p->x[i];
        mabd_real sum = p->b[i] + row[i] * own;
        for (size_t k = 0; k < i; k++) {
            sum += row[k] * p->scale[k] * p->x[k];
            p->rest[k] += row[k] * own;
        }
        p->rest[i] = sum;
    }
    for (size_t i = 0; i < n; i++) p->rest[i] = p->scale[i] * p->rest[i] - p->y[i];
}

// The step for the right-hand sides r of s o s: dx, dy.
static void find_step(ip_work* p) {
    for (int32_t i = 0; i < p->count; i++) {
        mabd_real v[3];
        divide(p->s + 3 * i, p->r + 3 * i, v);
        scale_by(p, i, false, v, p->dy + 3 * i);
        for (int j = 0; j < 3; j++) p->dx[3 * i + j] = p->dy[3 * i + j] - p->rest[3 * i + j];
    }
    mabd_dense_upper_solve(p->n, p->U, p->dx);
    for (int32_t i = 0; i < p->count; i++) {
        mabd_real v[3];
        scale_by(p, i, false, p->dx + 3 * i, v);
        scale_by(p, i, false, v, v);
        for (int j = 0; j < 3; j++) p->dy[3 * i + j] -= v[j];
    }
}

static mabd_real step_length(const ip_work* p) {
    mabd_real most = 1 / INSIDE;
    for (int32_t i = 0; i < p->count; i++) {
        const mabd_real a = reach(p->x + 3 * i, p->dx + 3 * i),
                        b = reach(p->y + 3 * i, p->dy + 3 * i);
        if (a < most) most = a;
        if (b < most) most = b;
    }
    return INSIDE * most;
}

static mabd_real mean_product(const ip_work* p, mabd_real t) {
    mabd_real sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += (p->x[i] + t * p->dx[i]) * (p->y[i] + t * p->dy[i]);
    return sum / (mabd_real)p->count;
}

static void set_target(ip_work* p, mabd_real center, bool correct) {
    for (int32_t i = 0; i < p->count; i++) {
        mabd_real u[3], v[3], *r = p->r + 3 * i;
        product(p->s + 3 * i, p->s + 3 * i, r);
        for (int j = 0; j < 3; j++) r[j] = -r[j];
        r[0] += center;
        if (!correct) continue;
        scale_by(p, i, false, p->dx + 3 * i, u);
        scale_by(p, i, true, p->dy + 3 * i, v);
        product(u, v, u);
        for (int j = 0; j < 3; j++) r[j] -= u[j];
    }
}

static void lay_out(ip_work* p, mabd_real* work) {
    mabd_real** vectors[] = {&p->x, &p->y, &p->dx, &p->dy,   &p->rest,
                             &p->r, &p->w, &p->s,  &p->scale};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++, work += p->n)
        *vectors[i] = work;
    p->beta = work, p->U = work + p->count;
}

static void start(ip_work* p) {
    mabd_real most = 0, mean = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const bool line = !(p->friction[i] > SMOOTH);
        for (int j = 0; j < 3; j++) {
            const size_t k = 3 * (size_t)i + (size_t)j;
            p->scale[k] = j > 0 ? !line : line ? 1 : 1 / p->friction[i];
            const mabd_real own = (mabd_real)fabs(p->scale[k] * p->b[k]);
            if (own > most) most = own;
            mean += p->A[k * p->n + k] * p->scale[k] * p->scale[k] / (mabd_real)p->n;
        }
    }
    if (!(most > 0)) most = 1;
    memset(p->x, 0, p->n * sizeof *p->x), memset(p->y, 0, p->n * sizeof *p->y);
    for (int32_t i = 0; i < p->count; i++) p->x[3 * i] = most / mean, p->y[3 * i] = most;
}

// Largest error of a row [m]: what is left, and the products as ways.
static mabd_real error_of(const ip_work* p) {
    mabd_real most = 0;
    for (int32_t i = 0; i < p->count; i++) {
        for (int j = 0; j < 3; j++) {
            const size_t k = 3 * (size_t)i + (size_t)j;
            if (p->scale[k] == 0) continue;
            mabd_real own = (mabd_real)fabs(p->rest[k]) / p->scale[k];
            if (!(own <= most)) most = own;
        }
        mabd_real u[3];
        product(p->x + 3 * i, p->y + 3 * i, u);
        const size_t first = 3 * (size_t)i;
        const mabd_real Q = p->A[first * p->n + first] * p->scale[first] * p->scale[first];
        const mabd_real way = (mabd_real)sqrt(fabs(u[0]) * Q); // y of equal parts of x and y
        const mabd_real own = (mabd_real)fmin(fabs(u[0]) / fmax(p->x[first], 1e-300), way);
        if (!(own <= most)) most = own;
    }
    return most;
}

bool mabd_cone_ip(int32_t count, const mabd_real* A, const mabd_real* b, const mabd_real* friction,
                  mabd_real tolerance, mabd_real* force, mabd_real* work, int32_t* steps) {
    ip_work p = {.count = count, .n = 3 * (size_t)count, .A = A, .b = b, .friction = friction};
    bool good = false;
    lay_out(&p, work);
    start(&p);
    for (int k = 0; k < STEPS_MAX && !good; k++) {
        set_rest(&p);
        good = error_of(&p) <= tolerance;
        if (good) break;
        for (int32_t i = 0; i < count; i++) set_scaling(&p, i);
        if (!factor(&p)) break;
        ++*steps;
        const mabd_real mean = mean_product(&p, 0);
        set_target(&p, 0, false);
        find_step(&p);
        const mabd_real t = step_length(&p), after = mean_product(&p, t < 1 ? t : 1);
        const mabd_real ratio = after > 0 ? after / mean : 0;
        set_target(&p, ratio * ratio * ratio * mean, true);
        find_step(&p);
        const mabd_real way = step_length(&p);
        if (!(way > (mabd_real)1e-12)) break;
        for (size_t i = 0; i < p.n; i++) {
            p.x[i] += (way < 1 ? way : 1) * p.dx[i], p.y[i] += (way < 1 ? way : 1) * p.dy[i];
        }
    }
    for (size_t i = 0; i < p.n; i++) force[i] = p.scale[i] * p.x[i];
    return good;
}
