// SPDX-License-Identifier: Apache-2.0
// The optimiser (src/gradient/lbfgs.c, lbfgs_model.c). Oracles: known minima, the conditions of
// Karush, Kuhn and Tucker, those of Wolfe at every accepted step, and for the quadratic model the
// textbook recursion of BFGS on a dense matrix in this file.
#include "gradient/lbfgs.h"
#include "gradient/lbfgs_model.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX 100

typedef struct problem {
    mabd_lbfgs_def def;
    double lower[MAX], upper[MAX];
    double A[MAX][MAX], b[MAX]; // of quadratics: x'A x/2 - b'x
    double factor;              // of the whole function
    int evaluations, stop_at;
    mabd_status failure; // of evaluation number fail_at
    int fail_at;
    double fail_beyond; // no value where x_0 is larger
    // what was accepted
    int iterates;
    double x[MAX], f, g[MAX];
    bool wolfe;
} problem;

static double rosenbrock(int n, const double* x, double* g) {
    double f = 0;
    for (int i = 0; i < n; i++) g[i] = 0;
    for (int i = 0; i + 1 < n; i++) {
        const double t = x[i + 1] - x[i] * x[i], u = 1 - x[i];
        f += 100 * t * t + u * u;
        g[i] += -400 * t * x[i] - 2 * u;
        g[i + 1] += 200 * t;
    }
    return f;
}

static double quadratic(const problem* p, const double* x, double* g) {
    double f = 0;
    for (int i = 0; i < p->def.n; i++) {
        double sum = 0;
        for (int j = 0; j < p->def.n; j++) sum += p->A[i][j] * x[j];
        f += x[i] * (sum / 2 - p->b[i]);
        g[i] = sum - p->b[i];
    }
    return f;
}

static double function(const problem* p, const double* x, double* g) {
    const double f = p->A[0][0] > 0 ? quadratic(p, x, g) : rosenbrock(p->def.n, x, g);
    for (int i = 0; i < p->def.n; i++) g[i] *= p->factor;
    return f * p->factor;
}

static mabd_status evaluate(void* user, const mabd_real* x, mabd_real* value, mabd_real* gradient,
                            mabd_error* error) {
    problem* p = user;
    for (int i = 0; i < p->def.n; i++) {
        cr_assert(x[i] >= p->lower[i] && x[i] <= p->upper[i], "outside of the bounds");
    }
    if (++p->evaluations == p->fail_at) {
        if (error) snprintf(error->text, sizeof error->text, "no luck");
        return p->failure;
    }
    if (x[0] > p->fail_beyond) return MABD_ERR_DIVERGED;
    *value = function(p, x, gradient);
    return MABD_OK;
}

// Check the strong Wolfe conditions from the last iterate to this one; at a bound the function may
// still fall.
static bool progress(void* user, const mabd_optimize_step* step) {
    problem* p = user;
    double g[MAX], before = 0, after = 0, longest = INFINITY;
    const int n = p->def.n;
    const double f = function(p, step->parameters, g);
    cr_assert_eq(step->iteration, p->iterates++);
    cr_assert_eq(step->loss, f);
    cr_assert_eq(step->runs, p->evaluations);
    for (int i = 0; step->iteration > 0 && i < n; i++) {
        const double s = (step->parameters[i] - p->x[i]) / step->step; // the direction
        before += p->g[i] * s, after += g[i] * s;
        const double bound = s > 0 ? p->upper[i] : p->lower[i];
        if (fabs(s) > 1e-12 && (bound - p->x[i]) / s < longest) longest = (bound - p->x[i]) / s;
    }
    const bool at_end = step->step >= longest * (1 - 1e-9) && after < 0;
    const double slack = 1e-9 * fabs(before) + 1e-15 * fabs(f);
    p->wolfe &= f <= p->f + 1e-4 * step->step * before + slack;
    p->wolfe &= step->iteration == 0 || fabs(after) <= 0.9 * fabs(before) + slack || at_end;
    memcpy(p->x, step->parameters, (size_t)n * sizeof(double));
    memcpy(p->g, g, (size_t)n * sizeof(double));
    p->f = f;
    return p->iterates != p->stop_at;
}

static void set_up(problem* p, int n) {
    *p = (problem){.factor = 1, .fail_beyond = INFINITY, .f = INFINITY, .wolfe = true};
    for (int i = 0; i < n; i++) p->lower[i] = -INFINITY, p->upper[i] = INFINITY;
    p->def = (mabd_lbfgs_def){.n = n,
                              .memory = 10,
                              .max_iterations = 1000,
                              .lower = p->lower,
                              .upper = p->upper,
                              .gradient_tolerance = 1e-8,
                              .evaluate = evaluate,
                              .progress = progress,
                              .user = p,
                              .allocator = mabd_default_allocator()};
}

static mabd_optimize_info solve(problem* p, double* x) {
    mabd_optimize_info info;
    mabd_error error = {0};
    const mabd_status status = mabd_lbfgs(&p->def, x, &info, &error);
    cr_assert_eq(status, MABD_OK, "%s", error.text);
    cr_assert_eq(info.runs, p->evaluations);
    cr_expect(p->wolfe, "an accepted step breaks the Wolfe conditions");
    return info;
}

static void start_rosenbrock(int n, double* x) {
    for (int i = 0; i < n; i++) x[i] = i % 2 == 0 ? -1.2 : 1;
}

Test(lbfgs, rosenbrock_in_2_to_100_variables) {
    const struct {
        int n, iterations; // as measured, and a quarter more
    } cases[] = {{2, 45}, {3, 60}, {10, 90}, {30, 240}, {100, 670}};
    static problem p;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int n = cases[k].n;
        double x[MAX], g[MAX];
        set_up(&p, n);
        start_rosenbrock(n, x);
        const mabd_optimize_info info = solve(&p, x);
        cr_expect_eq(info.reason, MABD_STOP_GRADIENT);
        cr_expect(info.iterations <= cases[k].iterations, "n = %d: %d iterations, %d runs", n,
                  info.iterations, info.runs);
        cr_expect(info.runs <= 2 * info.iterations);
        // a stationary point; for n >= 4 the one near (-1, 1, 1, ...) is a minimum too
        rosenbrock(n, x, g);
        for (int i = 0; i < n; i++) cr_expect(fabs(g[i]) <= 1e-8);
        for (int i = 1; i < n; i++)
            cr_expect(fabs(x[i] - 1) < 1e-6, "n = %d: x_%d = %g", n, i, x[i]);
    }
}

Test(lbfgs, the_factor_of_a_function_does_not_matter) {
    static problem p;
    double x[MAX];
    int iterations[3];
    const double factors[] = {1, 1e-6, 1e6};
    for (int k = 0; k < 3; k++) {
        set_up(&p, 10);
        p.factor = factors[k];
        p.def.gradient_tolerance *= factors[k];
        start_rosenbrock(10, x);
        iterations[k] = solve(&p, x).iterations;
        cr_expect(fabs(x[9] - 1) < 1e-6);
    }
    for (int k = 1; k < 3; k++) {
        cr_expect(iterations[k] < 1.5 * iterations[0] + 10, "%d, %d", iterations[k], iterations[0]);
    }
}

// A deterministic number in -1 .. 1.
static double draw(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)*state / 9223372036854775808.0;
}

// A = Q'Q + shift with random Q: condition about 1e4 for a small shift.
static void draw_quadratic(problem* p, uint64_t seed) {
    const int n = p->def.n;
    static double Q[MAX][MAX];
    uint64_t state = seed;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) Q[i][j] = draw(&state);
        p->b[i] = 3 * draw(&state);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            p->A[i][j] = i == j ? 0.01 : 0;
            for (int k = 0; k < n; k++) p->A[i][j] += Q[k][i] * Q[k][j];
        }
        p->lower[i] = -0.3 - 0.5 * fabs(draw(&state));
        p->upper[i] = 0.3 + 0.5 * fabs(draw(&state));
        if (i % 5 == 4) p->lower[i] = -INFINITY;
        if (i % 7 == 6) p->upper[i] = INFINITY;
        if (i % 11 == 10) p->lower[i] = p->upper[i] = 0.25;
    }
}

Test(lbfgs, bounded_quadratics_meet_the_kkt_conditions) {
    static problem p;
    const int sizes[] = {1, 2, 5, 20, 60, 100};
    int at_bounds = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const int n = sizes[k];
            double x[MAX], g[MAX];
            set_up(&p, n);
            draw_quadratic(&p, seed);
            for (int i = 0; i < n; i++) x[i] = 10; // outside: it is moved inside
            const mabd_optimize_info info = solve(&p, x);
            const double f = quadratic(&p, x, g);
            // the line search sees no smaller gradients: g^2/L is round-off of f, L < trace A
            double trace = 0;
            for (int i = 0; i < n; i++) trace += p.A[i][i];
            const double least = 1e-8 + sqrt(2.2e-16 * fabs(f) * trace);
            for (int i = 0; i < n; i++) {
                const bool low = x[i] <= p.lower[i], high = x[i] >= p.upper[i];
                at_bounds += low || high;
                cr_expect(low || high || fabs(g[i]) <= least, "free, g = %g", g[i]);
                cr_expect(!low || high || g[i] >= -least, "at its lower bound, g = %g", g[i]);
                cr_expect(!high || low || g[i] <= least, "at its upper bound, g = %g", g[i]);
            }
            cr_expect(info.iterations <= 4 * n + 10, "n = %d: %d iterations", n, info.iterations);
        }
    }
    cr_expect(at_bounds > 100, "%d", at_bounds);
}

Test(lbfgs, rosenbrock_with_the_minimum_out_of_bounds) {
    static problem p;
    double x[2] = {-1.2, 1};
    set_up(&p, 2);
    p.upper[0] = 0.5; // then x_1 = 1/4 and f = 1/4
    const mabd_optimize_info info = solve(&p, x);
    cr_expect(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-9 && fabs(info.loss - 0.25) < 1e-12);
}

Test(lbfgs, more_pairs_take_fewer_iterations) {
    static problem p;
    int iterations[2];
    for (int k = 0; k < 2; k++) {
        double x[MAX];
        set_up(&p, 50);
        p.def.memory = k == 0 ? 1 : 20;
        start_rosenbrock(50, x);
        iterations[k] = solve(&p, x).iterations;
    }
    cr_expect(3 * iterations[1] < 2 * iterations[0], "%d, %d", iterations[0], iterations[1]);
}

Test(lbfgs, a_step_without_a_value_is_shortened) {
    static problem p;
    double x[2] = {-1.2, 1};
    set_up(&p, 2);
    p.fail_beyond = 1.000001; // the valley ends at its minimum
    solve(&p, x);
    cr_expect(fabs(x[0] - 1) < 1e-5 && fabs(x[1] - 1) < 1e-5);
}

Test(lbfgs, failures_are_passed_on_with_the_best_point) {
    static problem p;
    mabd_optimize_info info;
    for (int at = 1; at <= 8; at += 7) {
        double x[2] = {-1.2, 1};
        mabd_error error = {0};
        set_up(&p, 2);
        p.fail_at = at, p.failure = at == 1 ? MABD_ERR_DIVERGED : MABD_ERR_MEMORY;
        cr_assert_eq(mabd_lbfgs(&p.def, x, &info, &error), p.failure);
        cr_expect_str_eq(error.text, "no luck");
        cr_expect_eq(info.runs, at);
        double g[2];
        cr_expect(at == 1 || rosenbrock(2, x, g) == p.f, "the last accepted point");
        cr_expect(at > 1 || (x[0] == -1.2 && x[1] == 1));
    }
}

Test(lbfgs, progress_and_limits_stop_it) {
    static problem p;
    double x[2] = {-1.2, 1};
    set_up(&p, 2);
    p.stop_at = 4;
    mabd_optimize_info info = solve(&p, x);
    cr_expect(info.reason == MABD_STOP_USER && info.iterations == 3 && info.loss == p.f);
    double y[2] = {-1.2, 1};
    set_up(&p, 2);
    p.def.max_iterations = 5;
    info = solve(&p, y);
    cr_expect(info.reason == MABD_STOP_ITERATIONS && info.iterations == 5);
    double z[2] = {-1.2, 1};
    set_up(&p, 2);
    p.def.loss_tolerance = 0.1;
    info = solve(&p, z);
    cr_expect(info.reason == MABD_STOP_LOSS && info.loss <= 0.1 && info.first_loss > 24);
    double w[2] = {-1.2, 1};
    set_up(&p, 2);
    p.def.gradient_tolerance = 0;
    info = solve(&p, w);
    cr_expect(info.reason == MABD_STOP_FLAT || info.reason == MABD_STOP_GRADIENT ||
              info.reason == MABD_STOP_LOSS);
    cr_expect(info.loss < 1e-20);
}

Test(lbfgs, an_allocation_that_fails_is_an_error_and_leaks_nothing) {
    static problem p;
    counting_allocator counter = {.fail_at = 0};
    double x[2] = {-1.2, 1};
    mabd_optimize_info info;
    set_up(&p, 2);
    p.def.allocator = counting_allocator_make(&counter);
    cr_assert_eq(mabd_lbfgs(&p.def, x, &info, NULL), MABD_ERR_MEMORY);
    cr_assert(p.evaluations == 0 && counter.live_blocks == 0);
    counter.fail_at = -1;
    cr_assert_eq(mabd_lbfgs(&p.def, x, &info, NULL), MABD_OK);
    cr_assert(counter.live_blocks == 0 && counter.wrong_frees == 0);
}

// ---- the model against dense BFGS --------------------------------------------------------------

#define N     6
#define PAIRS 4

// B of the last pairs by the recursion B - B s s'B / s'Bs + y y'/y's from theta 1.
static void dense_bfgs(int count, double S[][N], double Y[][N], double theta, double B[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) B[i][j] = i == j ? theta : 0;
    }
    for (int k = 0; k < count; k++) {
        double Bs[N], sBs = 0, sy = 0;
        for (int i = 0; i < N; i++) {
            Bs[i] = 0;
            for (int j = 0; j < N; j++) Bs[i] += B[i][j] * S[k][j];
            sBs += S[k][i] * Bs[i], sy += S[k][i] * Y[k][i];
        }
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) B[i][j] += Y[k][i] * Y[k][j] / sy - Bs[i] * Bs[j] / sBs;
        }
    }
}

static double model_value(double B[N][N], const double* x, const double* g, const double* at) {
    double q = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += B[i][j] * (at[j] - x[j]);
        q += (at[i] - x[i]) * (g[i] + sum / 2);
    }
    return q;
}

typedef struct model_case {
    mabd_lbfgs_model model;
    mabd_arena arena;
    double lower[N], upper[N], B[N][N], x[N], g[N];
} model_case;

// Pairs of a random quadratic, more than the memory holds.
static void make_model(model_case* c, uint64_t seed, bool bounds) {
    double S[2 * PAIRS][N], Y[2 * PAIRS][N];
    uint64_t state = seed;
    *c = (model_case){.model = {.n = N, .memory = PAIRS, .lower = c->lower, .upper = c->upper}};
    for (int i = 0; i < N; i++) {
        c->x[i] = 0.2 * draw(&state), c->g[i] = 3 * draw(&state);
        c->lower[i] = bounds ? c->x[i] - 0.5 * fabs(draw(&state)) : -INFINITY;
        c->upper[i] = bounds ? c->x[i] + 0.5 * fabs(draw(&state)) : INFINITY;
    }
    if (bounds) c->lower[1] = c->x[1], c->g[1] = 2; // at a bound, and pushed against it
    mabd_allocator allocator = mabd_default_allocator();
    mabd_lbfgs_model_layout(&c->model, &c->arena);
    cr_assert_eq(mabd_arena_allocate(&allocator, &c->arena), MABD_OK);
    mabd_lbfgs_model_layout(&c->model, &c->arena);
    mabd_lbfgs_model_clear(&c->model);
    for (int k = 0; k < 2 * PAIRS; k++) {
        for (int i = 0; i < N; i++) S[k][i] = draw(&state);
        for (int i = 0; i < N; i++) Y[k][i] = (i + 1) * S[k][i] + 0.3 * S[k][(i + 1) % N];
        cr_assert(mabd_lbfgs_model_add(&c->model, S[k], Y[k]));
    }
    dense_bfgs(PAIRS, S + PAIRS, Y + PAIRS, (double)c->model.theta, c->B);
}

static void drop_model(model_case* c) {
    mabd_allocator allocator = mabd_default_allocator();
    mabd_free(&allocator, c->arena.memory, c->arena.size);
}

Test(lbfgs, without_bounds_the_model_is_dense_bfgs) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        model_case c;
        double next[N];
        make_model(&c, seed, false);
        cr_assert(mabd_lbfgs_model_minimize(&c.model, c.x, c.g, next));
        for (int i = 0; i < N; i++) { // B (next - x) = -g
            double sum = c.g[i];
            for (int j = 0; j < N; j++) sum += c.B[i][j] * (next[j] - c.x[j]);
            cr_expect(fabs(sum) < 1e-11, "%g", sum);
        }
        drop_model(&c);
    }
}

// The Cauchy point: the first local minimum of the model along P(x - t g), here by small steps.
Test(lbfgs, the_cauchy_point_is_the_first_minimum_of_the_path) {
    int corners = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        model_case c;
        double next[N], path[N], best = 0, last[N];
        make_model(&c, seed, true);
        cr_assert(mabd_lbfgs_model_minimize(&c.model, c.x, c.g, next));
        memcpy(last, c.x, sizeof last);
        for (double t = 0; t < 30; t += 1e-4) {
            for (int i = 0; i < N; i++) {
                path[i] = fmin(fmax(c.x[i] - t * c.g[i], c.lower[i]), c.upper[i]);
            }
            const double q = model_value(c.B, c.x, c.g, path);
            if (q > best) break;
            best = q;
            memcpy(last, path, sizeof last);
        }
        for (int i = 0; i < N; i++) {
            cr_expect(fabs((double)c.model.xc[i] - last[i]) < 5e-4, "%g, %g", c.model.xc[i],
                      last[i]);
            corners += last[i] == c.lower[i] || last[i] == c.upper[i];
            cr_expect(next[i] >= c.lower[i] && next[i] <= c.upper[i]);
        }
        cr_expect(model_value(c.B, c.x, c.g, (const double*)c.model.xc) <= best + 1e-6);
        drop_model(&c);
    }
    cr_expect(corners > 40, "%d", corners);
}
