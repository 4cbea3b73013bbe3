// SPDX-License-Identifier: Apache-2.0
// Tests for src/joint/axis_law.h
//
// The oracle is the definition: the parts of a law, each as an interval of lambda at x, summed; and
// the point of the graph on a falling line, by bisection on the sign of the difference.
#include "joint/axis_law.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define DRAWS 20000

static double positive(uint64_t* seed) {
    return 0.5 + 0.5 * draw_real(seed);
}

// One of: nothing, sloped, vertical.
static mabd_axis_box draw_box(uint64_t* seed) {
    mabd_axis_box box = {draw_real(seed), 0, 3 * positive(seed)};
    const double kind = positive(seed);
    if (kind < 0.3) box.most = 0;
    if (kind > 0.6) box.compliance = positive(seed);
    return box;
}

static mabd_axis_law draw_law(uint64_t* seed) {
    mabd_axis_law law = {.lower = -INFINITY, .upper = INFINITY};
    law.slope = positive(seed) < 0.5 ? 0 : 2 * positive(seed);
    law.level = 2 * draw_real(seed);
    if (positive(seed) < 0.6) law.lower = draw_real(seed);
    if (positive(seed) < 0.6) law.upper = fmax(law.lower, draw_real(seed));
    law.box[0] = draw_box(seed);
    law.box[1] = draw_box(seed);
    if (positive(seed) < 0.2) law.box[1].at = law.box[0].at;
    if (positive(seed) < 0.1) law.box[1].at = law.lower > -1 ? law.lower : law.upper;
    if (!isfinite(law.box[1].at)) law.box[1].at = 0;
    return law;
}

// All values of lambda at x, as [low, high].
static void values_at(const mabd_axis_law* law, double x, double* low, double* high) {
    *low = *high = law->slope * x - law->level;
    for (int i = 0; i < 2; i++) {
        const mabd_axis_box* box = &law->box[i];
        if (box->compliance > 0) {
            const double f = fmax(-box->most, fmin(box->most, (x - box->at) / box->compliance));
            *low += f, *high += f;
        } else {
            *low += x > box->at ? box->most : -box->most;
            *high += x < box->at ? -box->most : box->most;
        }
    }
    if (x <= law->lower) *low = -INFINITY;
    if (x >= law->upper) *high = INFINITY;
}

// Distance of (x, lambda) from the graph: lambda outside its interval, or x outside the stops.
static double off_graph(const mabd_axis_law* law, double x, double lambda) {
    const double tie = 1e-12; // a sloped branch may end within round-off of a corner
    double low, high, ignored;
    values_at(law, x - tie, &low, &ignored);
    values_at(law, x + tie, &ignored, &high);
    const double beyond = fmax(0, fmax(law->lower - x, x - law->upper));
    return fmax(beyond, fmax(0, fmax(low - lambda, lambda - high)));
}

// Return x where e - w lambda intersects the graph.
static double bisect(const mabd_axis_law* law, double e, double w) {
    double left = fmax(law->lower, -1e3), right = fmin(law->upper, 1e3);
    for (int i = 0; i < 200; i++) {
        const double x = (left + right) / 2;
        double low, high;
        values_at(law, x, &low, &high);
        if (x + w * low > e) {
            right = x;
        } else if (x + w * high < e) {
            left = x;
        } else {
            return x;
        }
    }
    return (left + right) / 2;
}

Test(axis_law, the_point_found_is_on_the_graph_and_on_the_line) {
    uint64_t seed = 1;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_axis_law law = draw_law(&seed);
        const double rho = 0.05 + positive(&seed), z = 4 * draw_real(&seed);
        const mabd_axis_line line = mabd_axis_row(&law, mabd_axis_find(&law, rho, z));
        const double x = mabd_axis_point(&line, rho, z), lambda = (z - x) / rho;
        cr_assert(lt(dbl, off_graph(&law, x, lambda), 1e-9), "draw %d: x %g lambda %g", i, x,
                  lambda);
        cr_assert(lt(dbl, fabs(x - bisect(&law, z, rho)), 1e-9), "draw %d", i);
    }
}

Test(axis_law, is_monotone) {
    uint64_t seed = 2;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_axis_law law = draw_law(&seed);
        const double rho = 0.05 + positive(&seed);
        const double z1 = 4 * draw_real(&seed), z2 = z1 + positive(&seed);
        const mabd_axis_line line1 = mabd_axis_row(&law, mabd_axis_find(&law, rho, z1));
        const mabd_axis_line line2 = mabd_axis_row(&law, mabd_axis_find(&law, rho, z2));
        const double x1 = mabd_axis_point(&line1, rho, z1), x2 = mabd_axis_point(&line2, rho, z2);
        cr_assert(lt(dbl, x1, x2 + 1e-12), "draw %d", i);
        cr_assert(lt(dbl, (z1 - x1) / rho, (z2 - x2) / rho + 1e-11), "draw %d", i);
    }
}

// x is continuous in z with slope at most 1, also over each corner.
Test(axis_law, has_no_gaps) {
    uint64_t seed = 3;
    for (int i = 0; i < DRAWS / 100; i++) {
        const mabd_axis_law law = draw_law(&seed);
        const double rho = 0.05 + positive(&seed), d = 1e-3;
        double last = NAN;
        for (double z = -4; z < 4; z += d) {
            const mabd_axis_line line = mabd_axis_row(&law, mabd_axis_find(&law, rho, z));
            const double x = mabd_axis_point(&line, rho, z);
            if (z > -4) cr_assert(lt(dbl, fabs(x - last), d * (1 + 1e-9)), "draw %d at %g", i, z);
            last = x;
        }
    }
}

// Solve the row of a branch, then take the branch of the result: the search ends at the only
// solution.
Test(axis_law, the_active_set_converges) {
    uint64_t seed = 4;
    int most = 0;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_axis_law law = draw_law(&seed);
        const double w = 0.02 + positive(&seed), e = 4 * draw_real(&seed);
        const double own = w * exp(3 * positive(&seed));
        double rho = own, x = 0, lambda = 0;
        mabd_axis_line line = mabd_axis_row(&law, mabd_axis_find(&law, rho, draw_real(&seed)));
        int rounds = 1;
        for (; rounds < 50; rounds++) {
            const double last_x = x, last_lambda = lambda;
            lambda = line.flat ? line.lambda : (e - line.x_star) / (w + line.compliance);
            x = e - w * lambda;
            if (rounds > 1) rho = mabd_axis_learn(own, rho, x - last_x, lambda - last_lambda);
            const double z = x + rho * lambda;
            line = mabd_axis_row(&law, mabd_axis_find(&law, rho, z));
            if (fabs(x - mabd_axis_point(&line, rho, z)) < 1e-12) break;
        }
        cr_assert(lt(int, rounds, 50), "draw %d cycles", i);
        cr_assert(lt(dbl, fabs(x - bisect(&law, e, w)), 1e-9), "draw %d", i);
        most = rounds > most ? rounds : most;
    }
    cr_expect(eq(int, most, 3)); // the first guess, its correction, then w is known
}

Test(axis_law, a_drive_without_limit_gives_way_to_a_stop_only) {
    const mabd_axis_law law = {
        .lower = -1, .upper = 0.5, .box = {{.at = 0.2, .most = INFINITY}, {.at = 0, .most = 3}}};
    for (double z = -10; z < 10; z += 0.37) {
        const mabd_axis_line line = mabd_axis_row(&law, mabd_axis_find(&law, 0.1, z));
        cr_expect(line.compliance == 0 && !line.flat && line.x_star == 0.2, "at %g", z);
    }
    mabd_axis_law beyond = law;
    beyond.box[0].at = 0.7;
    const mabd_axis_line line = mabd_axis_row(&beyond, mabd_axis_find(&beyond, 0.1, 0));
    cr_expect(eq(dbl, line.x_star, 0.5));
}

Test(axis_law, bounds_are_exact) {
    const mabd_axis_law law = {
        .lower = -INFINITY, .upper = INFINITY, .box = {{0}, {.at = 0.3, .most = 1.7}}};
    const mabd_axis_line slip = mabd_axis_row(&law, mabd_axis_find(&law, 0.1, 5));
    const mabd_axis_line back = mabd_axis_row(&law, mabd_axis_find(&law, 0.1, -5));
    const mabd_axis_line hold = mabd_axis_row(&law, mabd_axis_find(&law, 0.1, 0.4));
    cr_expect(slip.flat && slip.lambda == 1.7);
    cr_expect(back.flat && back.lambda == -1.7);
    cr_expect(hold.compliance == 0 && !hold.flat && hold.x_star == 0.3);
}
