// SPDX-License-Identifier: Apache-2.0
// The line search (src/gradient/wolfe_search.c). The oracle is the definition: the two conditions
// are evaluated in closed form at the step that it returns.
#include "gradient/wolfe_search.h"

#include <criterion/criterion.h>
#include <math.h>

typedef struct curve {
    double (*f)(double a);
    double (*slope)(double a);
    double fails_from; // evaluations at longer steps fail
    mabd_status failure;
    int count;
} curve;

static mabd_status at(void* user, mabd_real step, mabd_real* value, mabd_real* slope,
                      mabd_error* error) {
    curve* c = user;
    (void)error;
    c->count++;
    if (step > c->fails_from) return c->failure;
    *value = (mabd_real)c->f(step);
    *slope = (mabd_real)c->slope(step);
    return MABD_OK;
}

// [More, Thuente 1994] test functions 1, 2 and 3: narrow minima, f' of both signs near 0.
static double f1(double a) {
    return -a / (a * a + 2);
}
static double s1(double a) {
    return (a * a - 2) / ((a * a + 2) * (a * a + 2));
}
static double f2(double a) {
    return pow(a + 0.004, 5) - 2 * pow(a + 0.004, 4);
}
static double s2(double a) {
    return 5 * pow(a + 0.004, 4) - 8 * pow(a + 0.004, 3);
}
static double f3(double a) {
    return cosh(a) - 3 * a;
}
static double s3(double a) {
    return sinh(a) - 3;
}
static double falling(double a) {
    return -a;
}
static double minus_one(double a) {
    (void)a;
    return -1;
}

static mabd_search_result search(curve* c, double first, double longest) {
    mabd_search_result result;
    mabd_error error = {0};
    const mabd_search_def def = {.value = (mabd_real)c->f(0),
                                 .slope = (mabd_real)c->slope(0),
                                 .first = (mabd_real)first,
                                 .longest = (mabd_real)longest,
                                 .max_evaluations = 40,
                                 .evaluate = at,
                                 .user = c};
    cr_assert_eq(mabd_line_search(&def, &result, &error), MABD_OK);
    cr_assert_eq(result.evaluations, c->count);
    return result;
}

static void expect_wolfe(const curve* c, const mabd_search_result* r) {
    const double a = (double)r->step;
    cr_expect(a > 0 && r->wolfe);
    cr_expect_eq(r->value, (mabd_real)c->f(a));
    cr_expect(c->f(a) <= c->f(0) + 1e-4 * a * c->slope(0));
    cr_expect(fabs(c->slope(a)) <= 0.9 * fabs(c->slope(0)));
}

Test(line_search, finds_a_wolfe_step_from_any_first_step) {
    curve curves[] = {{f1, s1, INFINITY, MABD_OK, 0},
                      {f2, s2, INFINITY, MABD_OK, 0},
                      {f3, s3, 700, MABD_ERR_DIVERGED, 0}};
    for (size_t k = 0; k < 3; k++) {
        for (double first = 1e-6; first < 1e4; first *= 7) {
            curve c = curves[k];
            const mabd_search_result r = search(&c, first, 1e10);
            expect_wolfe(&c, &r);
            cr_expect(c.count <= 20, "curve %zu from %g: %d evaluations", k + 1, first, c.count);
        }
    }
}

Test(line_search, the_longest_step_ends_a_fall_without_end) {
    curve c = {falling, minus_one, INFINITY, MABD_OK, 0};
    const mabd_search_result r = search(&c, 1, 25);
    cr_assert(r.wolfe && r.step == 25);
}

Test(line_search, steps_that_cannot_be_evaluated_are_shortened) {
    curve c = {f3, s3, 0.5, MABD_ERR_DIVERGED, 0}; // the minimum, at 1.82, is out of reach
    const mabd_search_result r = search(&c, 1, 1e10);
    cr_expect(r.step > 0 && r.step <= 0.5 && r.value < (mabd_real)f3(0));
    curve none = {f3, s3, 0, MABD_ERR_DIVERGED, 0};
    const mabd_search_result lost = search(&none, 1, 1e10);
    cr_expect(lost.step == 0 && lost.failure == MABD_ERR_DIVERGED);
}

Test(line_search, other_failures_end_it) {
    curve c = {f3, s3, 0, MABD_ERR_MEMORY, 0};
    mabd_search_result result;
    const mabd_search_def def = {.value = 1,
                                 .slope = -3,
                                 .first = 1,
                                 .longest = 10,
                                 .max_evaluations = 40,
                                 .evaluate = at,
                                 .user = &c};
    cr_assert_eq(mabd_line_search(&def, &result, NULL), MABD_ERR_MEMORY);
    cr_assert_eq(c.count, 1);
}
