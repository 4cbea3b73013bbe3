// SPDX-License-Identifier: Apache-2.0
#include "gradient/lbfgs_model.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define EPSILON                                                                                    \
    (sizeof(mabd_real) == sizeof(float) ? (mabd_real)FLT_EPSILON : (mabd_real)DBL_EPSILON)

static mabd_real dot(int32_t n, const mabd_real* a, const mabd_real* b) {
    mabd_real sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// ---- pairs -------------------------------------------------------------------------------------

void mabd_lbfgs_model_layout(mabd_lbfgs_model* model, mabd_arena* arena) {
    const size_t n = (size_t)model->n, m = (size_t)model->memory, real = sizeof(mabd_real);
    model->S = (mabd_real*)mabd_arena_take(arena, m * n, real);
    model->Y = (mabd_real*)mabd_arena_take(arena, m * n, real);
    model->SS = (mabd_real*)mabd_arena_take(arena, m * m, real);
    model->SY = (mabd_real*)mabd_arena_take(arena, m * m, real);
    mabd_real** vectors[] = {&model->xc, &model->r, &model->corner, &model->d};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = (mabd_real*)mabd_arena_take(arena, n, real);
    }
    model->order = (int32_t*)mabd_arena_take(arena, n, sizeof(int32_t));
    mabd_real** small[] = {&model->p, &model->c, &model->w, &model->v};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        *small[i] = (mabd_real*)mabd_arena_take(arena, 2 * m, real);
    }
    model->K = (mabd_real*)mabd_arena_take(arena, 4 * m * m, real);
    model->LU = (mabd_real*)mabd_arena_take(arena, 4 * m * m, real);
}

void mabd_lbfgs_model_clear(mabd_lbfgs_model* model) {
    model->count = 0;
    model->theta = 1;
}

// Drop the oldest pair.
static void drop_first(mabd_lbfgs_model* q) {
    const size_t m = (size_t)q->memory, n = (size_t)q->n, real = sizeof(mabd_real);
    q->count--;
    memmove(q->S, q->S + n, (size_t)q->count * n * real);
    memmove(q->Y, q->Y + n, (size_t)q->count * n * real);
    for (size_t i = 0; i < (size_t)q->count; i++) {
        memmove(q->SS + i * m, q->SS + (i + 1) * m + 1, (size_t)q->count * real);
        memmove(q->SY + i * m, q->SY + (i + 1) * m + 1, (size_t)q->count * real);
    }
}

bool mabd_lbfgs_model_add(mabd_lbfgs_model* model, const mabd_real* s, const mabd_real* y) {
    const int32_t n = model->n;
    const size_t m = (size_t)model->memory;
    const mabd_real sy = dot(n, s, y), yy = dot(n, y, y);
    if (!(sy > EPSILON * yy) || !isfinite(yy)) return false;
    if (model->count == model->memory) drop_first(model);
    const size_t last = (size_t)model->count++;
    memcpy(model->S + last * (size_t)n, s, (size_t)n * sizeof *s);
    memcpy(model->Y + last * (size_t)n, y, (size_t)n * sizeof *y);
    for (size_t i = 0; i <= last; i++) {
        const mabd_real* si = model->S + i * (size_t)n;
        model->SS[i * m + last] = model->SS[last * m + i] = dot(n, si, s);
        model->SY[i * m + last] = dot(n, si, y);
        model->SY[last * m + i] = dot(n, s, model->Y + i * (size_t)n);
    }
    model->theta = yy / sy;
    return true;
}

// ---- small matrices ----------------------------------------------------------------------------

// Factor a (size x size) in place by Gauss with row exchanges and solve for b in place; false if it
// is singular.
static bool solve(int32_t size, mabd_real* a, mabd_real* b) {
    for (int32_t k = 0; k < size; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < size; i++) {
            if (fabs(a[i * size + k]) > fabs(a[pivot * size + k])) pivot = i;
        }
        if (!(fabs(a[pivot * size + k]) > 0)) return false;
        for (int32_t j = k; pivot != k && j < size; j++) {
            const mabd_real t = a[k * size + j];
            a[k * size + j] = a[pivot * size + j], a[pivot * size + j] = t;
        }
        const mabd_real t = b[k];
        b[k] = b[pivot], b[pivot] = t;
        for (int32_t i = k + 1; i < size; i++) {
            const mabd_real factor = a[i * size + k] / a[k * size + k];
            for (int32_t j = k + 1; j < size; j++) a[i * size + j] -= factor * a[k * size + j];
            b[i] -= factor * b[k];
        }
    }
    for (int32_t k = size - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < size; j++) b[k] -= a[k * size + j] * b[j];
        b[k] /= a[k * size + k];
    }
    return true;
}

static void fill_K(const mabd_lbfgs_model* q) {
    const int32_t k = q->count, size = 2 * k;
    for (int32_t i = 0; i < k; i++) {
        for (int32_t j = 0; j < k; j++) {
            const mabd_real lower = i > j ? q->SY[i * q->memory + j] : 0;
            q->K[i * size + j] = i == j ? -q->SY[i * q->memory + i] : 0;
            q->K[(k + i) * size + j] = q->K[j * size + k + i] = lower;
            q->K[(k + i) * size + k + j] = q->theta * q->SS[i * q->memory + j];
        }
    }
}

// out = K^-1 in; in and out may be the same.
static bool times_M(const mabd_lbfgs_model* q, const mabd_real* in, mabd_real* out) {
    const size_t size = 2 * (size_t)q->count;
    memmove(out, in, size * sizeof *in);
    memcpy(q->LU, q->K, size * size * sizeof *q->K);
    return solve((int32_t)size, q->LU, out);
}

// Row i of W into w (2 count).
static void row_of_W(const mabd_lbfgs_model* q, int32_t i, mabd_real* w) {
    for (int32_t j = 0; j < q->count; j++) {
        w[j] = q->Y[(size_t)j * (size_t)q->n + (size_t)i];
        w[q->count + j] = q->theta * q->S[(size_t)j * (size_t)q->n + (size_t)i];
    }
}

// ---- Cauchy point [LBFGSB alg. CP] -------------------------------------------------------------

// Sift entry `at` of the heap of `count` corners down; the earliest corner is on top.
static void sift(const mabd_lbfgs_model* q, int32_t count, int32_t at) {
    const int32_t moved = q->order[at];
    for (int32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && q->corner[q->order[child + 1]] < q->corner[q->order[child]]) {
            child++;
        }
        if (q->corner[moved] <= q->corner[q->order[child]]) break;
        q->order[at] = q->order[child];
        at = child;
    }
    q->order[at] = moved;
}

// Corners of the path and its first direction; returns how many corners lie ahead.
static int32_t start_path(mabd_lbfgs_model* q, const mabd_real* x, const mabd_real* g) {
    int32_t count = 0;
    for (int32_t i = 0; i < q->n; i++) {
        const mabd_real bound = g[i] < 0 ? q->upper[i] : q->lower[i];
        q->corner[i] = g[i] != 0 ? (x[i] - bound) / g[i] : (mabd_real)INFINITY;
        q->d[i] = q->corner[i] > 0 ? -g[i] : 0;
        q->xc[i] = x[i];
        if (q->d[i] != 0 && isfinite(q->corner[i])) q->order[count++] = i;
    }
    for (int32_t i = count / 2 - 1; i >= 0; i--) sift(q, count, i);
    return count;
}

// A walk along the path: where it is and the derivatives of q there.
typedef struct walk {
    mabd_real t, slope, curvature, least; // least: f'' below which round-off is all there is
} walk;

// Pass the corner of variable b, `dt` after the last one: it stays at its bound from there on.
static bool pass_corner(mabd_lbfgs_model* q, const mabd_real* x, const mabd_real* g, int32_t b,
                        mabd_real dt, walk* at) {
    const int32_t size = 2 * q->count;
    q->xc[b] = q->d[b] > 0 ? q->upper[b] : q->lower[b];
    const mabd_real gb = g[b], z = q->xc[b] - x[b];
    at->slope += dt * at->curvature + gb * gb + q->theta * gb * z;
    at->curvature -= q->theta * gb * gb;
    for (int32_t i = 0; i < size; i++) q->c[i] += dt * q->p[i];
    if (size > 0) {
        row_of_W(q, b, q->w);
        if (!times_M(q, q->w, q->v)) return false;
        at->slope -= gb * dot(size, q->v, q->c);
        at->curvature -= 2 * gb * dot(size, q->v, q->p) + gb * gb * dot(size, q->v, q->w);
        for (int32_t i = 0; i < size; i++) q->p[i] += gb * q->w[i];
    }
    at->t += dt;
    q->d[b] = 0;
    if (at->curvature < at->least) at->curvature = at->least;
    return true;
}

// Find xc and c = W'(xc - x).
static bool cauchy_point(mabd_lbfgs_model* q, const mabd_real* x, const mabd_real* g) {
    const int32_t size = 2 * q->count;
    int32_t ahead = start_path(q, x, g);
    for (int32_t j = 0; j < q->count; j++) {
        q->p[j] = dot(q->n, q->Y + (size_t)j * (size_t)q->n, q->d);
        q->p[q->count + j] = q->theta * dot(q->n, q->S + (size_t)j * (size_t)q->n, q->d);
    }
    for (int32_t i = 0; i < size; i++) q->c[i] = 0;
    walk at = {.slope = -dot(q->n, q->d, q->d)};
    at.curvature = -q->theta * at.slope;
    at.least = EPSILON * at.curvature;
    if (size > 0) {
        if (!times_M(q, q->p, q->v)) return false;
        at.curvature -= dot(size, q->p, q->v);
    }
    if (!(at.curvature > at.least)) at.curvature = at.least;
    while (at.slope < 0 && ahead > 0) {
        const int32_t b = q->order[0];
        const mabd_real dt = q->corner[b] - at.t;
        if (-at.slope < at.curvature * dt) break;
        q->order[0] = q->order[--ahead];
        sift(q, ahead, 0);
        if (!pass_corner(q, x, g, b, dt, &at)) return false;
    }
    const mabd_real rest = at.slope < 0 ? -at.slope / at.curvature : 0;
    for (int32_t i = 0; i < size; i++) q->c[i] += rest * q->p[i];
    for (int32_t i = 0; i < q->n; i++) {
        if (q->d[i] != 0) q->xc[i] = x[i] + (at.t + rest) * q->d[i];
    }
    return true;
}

// ---- subspace ----------------------------------------------------------------------------------

static bool is_free(const mabd_lbfgs_model* q, int32_t i) {
    return q->xc[i] > q->lower[i] && q->xc[i] < q->upper[i];
}

// Gradient of q at the Cauchy point: r = g + theta (xc - x) - W K^-1 c. Overwrites c.
static bool gradient_at_cauchy(mabd_lbfgs_model* q, const mabd_real* x, const mabd_real* g) {
    const int32_t k = q->count;
    if (k > 0 && !times_M(q, q->c, q->c)) return false;
    for (int32_t i = 0; i < q->n; i++) q->r[i] = g[i] + q->theta * (q->xc[i] - x[i]);
    for (int32_t j = 0; j < k; j++) {
        const mabd_real *y = q->Y + (size_t)j * (size_t)q->n, *s = q->S + (size_t)j * (size_t)q->n;
        const mabd_real cs = q->theta * q->c[k + j];
        for (int32_t i = 0; i < q->n; i++) q->r[i] -= q->c[j] * y[i] + cs * s[i];
    }
    return true;
}

// Solve (K - W_F' W_F/theta) y = W_F' r_F; y into v.
static bool reduced_solve(mabd_lbfgs_model* q) {
    const int32_t size = 2 * q->count;
    memcpy(q->LU, q->K, (size_t)size * (size_t)size * sizeof *q->K);
    for (int32_t i = 0; i < size; i++) q->v[i] = 0;
    for (int32_t f = 0; f < q->n; f++) {
        if (!is_free(q, f)) continue;
        row_of_W(q, f, q->w);
        for (int32_t i = 0; i < size; i++) {
            q->v[i] += q->w[i] * q->r[f];
            const mabd_real scaled = q->w[i] / q->theta;
            for (int32_t j = 0; j < size; j++) q->LU[i * size + j] -= scaled * q->w[j];
        }
    }
    return solve(size, q->LU, q->v);
}

// Write the minimiser over the free variables, not projected, into next.
static bool subspace_point(mabd_lbfgs_model* q, mabd_real* next) {
    const int32_t size = 2 * q->count;
    if (size > 0 && !reduced_solve(q)) return false;
    for (int32_t i = 0; i < q->n; i++) {
        next[i] = q->xc[i];
        if (!is_free(q, i)) continue;
        if (size > 0) row_of_W(q, i, q->w);
        const mabd_real curved = dot(size, q->w, q->v);
        next[i] -= (q->r[i] + curved / q->theta) / q->theta;
        if (!isfinite(next[i])) return false;
    }
    return true;
}

static mabd_real project(const mabd_lbfgs_model* q, int32_t i, mabd_real x) {
    return x < q->lower[i] ? q->lower[i] : x > q->upper[i] ? q->upper[i] : x;
}

// Longest part, at most 1, of the way from the Cauchy point to next that stays inside the bounds.
static mabd_real part_inside(const mabd_lbfgs_model* q, const mabd_real* next) {
    mabd_real part = 1;
    for (int32_t i = 0; i < q->n; i++) {
        const mabd_real way = next[i] - q->xc[i];
        const mabd_real room = (way > 0 ? q->upper[i] : q->lower[i]) - q->xc[i];
        if (way != 0 && part * (mabd_real)fabs(way) > (mabd_real)fabs(room)) part = room / way;
    }
    return part;
}

bool mabd_lbfgs_model_minimize(mabd_lbfgs_model* model, const mabd_real* x, const mabd_real* g,
                               mabd_real* next) {
    fill_K(model);
    if (!cauchy_point(model, x, g) || !gradient_at_cauchy(model, x, g)) return false;
    if (!subspace_point(model, next)) return false;
    mabd_real slope = 0;
    for (int32_t i = 0; i < model->n; i++) slope += g[i] * (project(model, i, next[i]) - x[i]);
    const mabd_real part = slope < 0 ? 1 : part_inside(model, next);
    slope = 0;
    for (int32_t i = 0; i < model->n; i++) {
        const mabd_real way = next[i] - model->xc[i];
        next[i] = project(model, i, part < 1 ? model->xc[i] + part * way : next[i]);
        slope += g[i] * (next[i] - x[i]);
    }
    return slope < 0;
}
