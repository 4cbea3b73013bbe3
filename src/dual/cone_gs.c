// SPDX-License-Identifier: Apache-2.0
#include "dual/cone_gs.h"

#include <math.h>
#include <string.h>

#define INVERSE 9 // reals of the inverse of a contact's own block
// Open contacts are inspected once in this many sweeps forward and backward.
#define LOOK 4

typedef struct sweep_work {
    const mabd_cone_problem* problem;
    const mabd_cone_matrix* W;
    mabd_real* force;   // (3 count)
    mabd_real* inverse; // of W_ii + c (9 count)
    mabd_real* normal;  // 1/(W_nn + c) (count)
    mabd_real* slide;   // 1/e of the tangents (count)
    mabd_real* before;  // forces before the last sweeps (3 count)
    mabd_real* p;       // direction (3 count)
} sweep_work;

size_t mabd_cone_gs_work(int32_t count) {
    return (INVERSE + 8) * (size_t)count;
}

// ---- the matrix ---------------------------------------------------------------------------------

// g += sum_j W_ij x_j. `cones`: entries without a force are skipped.
static inline void add_row(const mabd_cone_matrix* W, int32_t i, bool cones, const mabd_real* x,
                           mabd_real g[3]) {
    mabd_real g0 = g[0], g1 = g[1], g2 = g[2];
    for (int32_t k = W->start[i]; k < W->end[i]; k++) {
        const mabd_real *B = W->block + 9 * (size_t)k,
                        *l = x + 3 * (size_t)(W->column[k] - W->first);
        if (cones && l[0] == 0 && l[1] == 0 && l[2] == 0) continue;
        g0 += B[0] * l[0] + B[1] * l[1] + B[2] * l[2];
        g1 += B[3] * l[0] + B[4] * l[1] + B[5] * l[2];
        g2 += B[6] * l[0] + B[7] * l[1] + B[8] * l[2];
    }
    g[0] = g0, g[1] = g1, g[2] = g2;
}

void mabd_cone_matrix_product(void* self, const mabd_real* x, mabd_real* y) {
    const mabd_cone_matrix* W = self;
    memset(y, 0, 3 * (size_t)W->count * sizeof *y);
    for (int32_t i = 0; i < W->count; i++) add_row(W, i, false, x, y + 3 * (size_t)i);
}

static bool is_linear(const sweep_work* w, int32_t i) {
    return w->problem->linear && w->problem->linear[i];
}

// True if a contact has no normal force.
static bool is_open(const sweep_work* w, int32_t i) {
    return w->force[3 * (size_t)i] == 0 && !is_linear(w, i);
}

static void own_block(const sweep_work* w, int32_t i, mabd_real D[9]) {
    const mabd_cone_problem* problem = w->problem;
    const mabd_cone_matrix* W = w->W;
    const mabd_real *own = problem->own + 2 * (size_t)i, c = problem->softness;
    memset(D, 0, 9 * sizeof *D);
    for (int32_t k = W->start[i]; k < W->end[i]; k++) {
        if (W->column[k] - W->first == i) memcpy(D, W->block + 9 * (size_t)k, 9 * sizeof *D);
    }
    D[0] += c * own[0], D[4] += c * own[1], D[8] += c * own[1];
}

// Invert D by adjugate over determinant; false if D is nearly singular.
static bool invert(const mabd_real D[9], mabd_real out[9]) {
    out[0] = D[4] * D[8] - D[5] * D[7];
    out[1] = D[2] * D[7] - D[1] * D[8];
    out[2] = D[1] * D[5] - D[2] * D[4];
    out[3] = D[5] * D[6] - D[3] * D[8];
    out[4] = D[0] * D[8] - D[2] * D[6];
    out[5] = D[2] * D[3] - D[0] * D[5];
    out[6] = D[3] * D[7] - D[4] * D[6];
    out[7] = D[1] * D[6] - D[0] * D[7];
    out[8] = D[0] * D[4] - D[1] * D[3];
    const mabd_real det = D[0] * out[0] + D[1] * out[3] + D[2] * out[6];
    if (!(det > (mabd_real)1e-12 * D[0] * D[4] * D[8])) return false;
    for (int k = 0; k < 9; k++) out[k] /= det;
    return true;
}

static void prepare(const sweep_work* w) {
    for (int32_t i = 0; i < w->W->count; i++) {
        mabd_real D[9], *inverse = w->inverse + INVERSE * (size_t)i;
        own_block(w, i, D);
        w->normal[i] = 1 / D[0];
        const mabd_real mean = (D[4] + D[8]) / 2, half = (D[4] - D[8]) / 2;
        w->slide[i] = 1 / (mean + (mabd_real)sqrt(half * half + D[5] * D[5]));
        if (invert(D, inverse)) continue;
        memset(inverse, 0, INVERSE * sizeof *inverse); // one row after the other
        inverse[0] = w->normal[i], inverse[4] = inverse[8] = w->slide[i];
    }
}

// ---- one contact --------------------------------------------------------------------------------

// Compute the rows of a contact at the current forces.
static void rows_of(const sweep_work* w, int32_t i, mabd_real g[3]) {
    const mabd_cone_problem* problem = w->problem;
    const mabd_real *own = problem->own + 2 * (size_t)i, *rest = problem->rest + 3 * (size_t)i;
    const mabd_real *l = w->force + 3 * (size_t)i, c = problem->softness;
    g[0] = rest[0] + c * own[0] * l[0];
    g[1] = rest[1] + c * own[1] * l[1];
    g[2] = rest[2] + c * own[1] * l[2];
    add_row(w->W, i, true, w->force, g);
}

// Compute the natural residual of the rows g [m].
static mabd_real natural(const sweep_work* w, int32_t i, const mabd_real g[3]) {
    const mabd_real* l = w->force + 3 * (size_t)i;
    if (is_linear(w, i)) return (mabd_real)sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    return mabd_cone_off_law(w->problem->own + 2 * (size_t)i, w->problem->friction[i] * l[0], l, g);
}

// Set the force of a contact that obeys the law while all other forces are constant.
static void settle(const sweep_work* w, int32_t i, mabd_real g[3]) {
    const mabd_real mu = w->problem->friction[i], *V = w->inverse + INVERSE * (size_t)i;
    mabd_real* l = w->force + 3 * (size_t)i;
    const bool linear = is_linear(w, i);
    if (!linear && l[0] == 0 && g[0] >= 0) { // open, and stays so
        l[1] = l[2] = 0;
        return;
    }
    mabd_real x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = l[k] - (V[3 * k] * g[0] + V[3 * k + 1] * g[1] + V[3 * k + 2] * g[2]);
    }
    if (linear || (x[0] > 0 && x[1] * x[1] + x[2] * x[2] <= mu * mu * x[0] * x[0])) {
        memcpy(l, x, sizeof x);
        return;
    }
    const mabd_real n = l[0] - g[0] * w->normal[i];
    l[0] = n > 0 ? n : 0;
    l[1] -= g[1] * w->slide[i], l[2] -= g[2] * w->slide[i];
    mabd_cone_to_disk(mu * l[0], l + 1);
}

// ---- all of them --------------------------------------------------------------------------------

// Project all forces into the cones.
static void project(const sweep_work* w) {
    for (int32_t i = 0; i < w->W->count; i++) {
        mabd_real* l = w->force + 3 * (size_t)i;
        if (is_linear(w, i)) continue;
        if (!(l[0] > 0)) l[0] = 0;
        mabd_cone_to_disk(w->problem->friction[i] * l[0], l + 1);
    }
}

// Sweep forward over all contacts, then backward over those with a normal force. Returns the
// largest residual found by the visits of the forward sweep.
static mabd_real sweep(const sweep_work* w, bool all) {
    const int32_t count = w->W->count;
    mabd_real largest = 0, g[3];
    for (int32_t i = 0; i < count; i++) {
        if (!all && is_open(w, i)) continue;
        rows_of(w, i, g);
        const mabd_real residual = natural(w, i, g);
        if (!(residual <= largest)) largest = residual;
        settle(w, i, g);
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        if (is_open(w, i)) continue;
        rows_of(w, i, g);
        settle(w, i, g);
    }
    return largest;
}

static mabd_real measure(const sweep_work* w, mabd_real* rows) {
    mabd_real largest = 0;
    for (int32_t i = 0; i < w->W->count; i++) {
        rows_of(w, i, rows + 3 * (size_t)i);
        const mabd_real residual = natural(w, i, rows + 3 * (size_t)i);
        if (!(residual <= largest)) largest = residual;
    }
    return largest;
}

// Extrapolate the forces. The change of the last sweeps, d = l - before, is the gradient
// preconditioned by Gauss-Seidel: move along p <- d + b p.
static void go_on(const sweep_work* w, mabd_real* size) {
    const size_t n = 3 * (size_t)w->W->count;
    const mabd_real last = *size;
    *size = 0;
    for (size_t i = 0; i < n; i++) {
        const mabd_real d = w->force[i] - w->before[i];
        *size += w->problem->own[2 * (i / 3) + (i % 3 > 0)] * d * d;
    }
    const bool anew = !(*size < last);
    const mabd_real b = anew ? 0 : *size / last;
    for (size_t i = 0; i < n; i++) {
        const mabd_real d = w->force[i] - w->before[i];
        if (!anew) w->force[i] += b * w->p[i];
        w->p[i] = anew ? d : b * w->p[i] + d;
    }
    if (!anew) project(w);
}

static sweep_work open_work(const mabd_cone_problem* problem, const mabd_cone_matrix* W,
                            mabd_real* force, mabd_real* work) {
    const size_t n = (size_t)problem->count;
    sweep_work w = {.problem = problem, .W = W, .force = force};
    w.inverse = work, w.normal = w.inverse + INVERSE * n, w.slide = w.normal + n;
    w.before = w.slide + n, w.p = w.before + 3 * n;
    return w;
}

mabd_cone_report mabd_cone_gs(const mabd_cone_problem* problem, const mabd_cone_matrix* W,
                              mabd_real* force, mabd_real* rows, mabd_real* work) {
    mabd_cone_report report = {0, 0, 0, true};
    if (problem->count == 0) return report;
    const sweep_work w = open_work(problem, W, force, work);
    const size_t bytes = 3 * (size_t)problem->count * sizeof *force;
    mabd_real size = 0;
    prepare(&w);
    project(&w);
    for (bool all = true;; all = report.products % (2 * LOOK) == 0) {
        memcpy(w.before, force, bytes);
        const mabd_real found = sweep(&w, all);
        report.products += 2;
        const bool spent = report.products >= problem->max_products;
        // the residual found by visits is little larger than the true residual
        if (spent || found <= problem->tolerance) {
            report.residual = measure(&w, rows);
            report.converged = report.residual <= problem->tolerance;
            if (spent || report.converged) return report;
        }
        go_on(&w, &size);
    }
}
