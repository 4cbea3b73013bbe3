// SPDX-License-Identifier: Apache-2.0
// Newton iteration on a barrier, with predictor and corrector.
//
// An iterate is inside of all cones. Its products gamma s of contacts, and those of friction and
// boxes, have the means mu and nu, relative to weights. One iteration [VI alg. 5, changed]:
//
//   1  affine increments, target 0; the step a to the boundary; mu_a, nu_a of the products there
//   2  sigma = max((mu_a/mu)^3, (nu_a/nu)^3) in [1e-3, 1]; targets max(sigma mu, end)
//   3  increments with these targets and the second-order products of 1, same factor; without them
//      near the end, where they circle (60 iterations)
//   4  a step below 0.3: also try target mu without second order, or half of it after such a step,
//      and take the longer
//   5  0.995 of the way to the boundary
//      a second attempt, after a failure, cuts steps of friction that leave the path: with both
//      cones at their edges, slips that turn take hundreds of steps
//   6  three steps below 0.02 in a row: cold restart. The line search of [VI] has no restart: the
//      loop does not end there once an iterate jams in a corner of a cone
//
// The end of friction is that of gaps at first, times 1/s, and falls once it is reached: all at
// once jams more often.
//
// End: the last increments move no point by more than a tenth of row_tolerance, and all products
// are within half of their targets.

#include "formulation/variational/interior_point.h"

#include "formulation/variational/interior_limits.h"

/// Means of products relative to weights.
typedef struct means {
    mabd_real pressure, friction; // [m], [m/s]
} means;

static mabd_real larger(mabd_real a, mabd_real b) {
    return a > b ? a : b;
}

// ---- products ----------------------------------------------------------------------------------

// The end of the iteration: products of contacts, then of friction and boxes.
static means end_of(const mabd_interior_problem* p, mabd_real slide) {
    const means end = {p->tolerance, slide};
    return end;
}

// Targets of a contact. Forces far above the weight get larger ones: their products are then
// round-off of terms that nearly cancel, or make the matrix stiffer than it can be factored.
static mabd_barrier_target contact_target(const mabd_interior_problem* p,
                                          const mabd_barrier_contact* c, means mu, bool second,
                                          bool scaled) {
    const mabd_real speed = MABD_INTERIOR_SOFTNESS * c->gamma * c->mobility;
    const mabd_real force = c->c * c->gamma;
    mabd_barrier_target t = {mu.pressure * c->weight * c->lift, mu.friction * c->weight, second,
                             scaled};
    if (mu.pressure > 0) t.pressure = larger(t.pressure, p->h * speed * c->gamma);
    if (!(mu.friction > 0)) return t;
    t.friction = larger(t.friction, c->c * speed * force);
    t.friction = larger(t.friction, MABD_INTERIOR_ROUND_OFF * force * c->psi);
    return t;
}

static mabd_barrier_target box_target(const mabd_barrier_box* b, means mu, bool second) {
    mabd_barrier_target t = {0, mu.friction * b->most, second, false};
    const mabd_real least = MABD_INTERIOR_SOFTNESS * b->mobility * b->most * b->most;
    if (mu.friction > 0) t.friction = larger(t.friction, least);
    return t;
}

// What the pressure product of a contact is relative to. The target of a stop is often raised far
// above its weight, which is that of the tolerance of rows: relative to the weight alone, one
// product that is where it ends would keep those of all others from their ends.
static mabd_real pressure_weight(const mabd_interior_problem* p, const mabd_barrier_contact* c,
                                 means end) {
    if (c->c > 0) return c->weight * c->lift;
    return contact_target(p, c, end, false, false).pressure / end.pressure;
}

// Means after the part `step` of the increments.
static means mean_products(const mabd_interior_problem* p, means end, mabd_real step) {
    means sum = {0, 0};
    int32_t sliding = 2 * p->box_count;
    for (int32_t i = 0; i < p->contact_count; i++) {
        const mabd_barrier_contact* c = &p->contacts[i];
        sum.pressure += mabd_barrier_pressure_product(c, step) / pressure_weight(p, c, end);
        sum.friction += mabd_barrier_friction_product(c, step, -1) / c->weight;
        sliding += c->c > 0;
    }
    for (int32_t i = 0; i < p->box_count; i++) {
        mabd_real products[2];
        mabd_barrier_box_products(&p->boxes[i], step, products);
        sum.friction += (products[0] + products[1]) / p->boxes[i].most;
    }
    sum.pressure /= (mabd_real)(p->contact_count > 0 ? p->contact_count : 1);
    sum.friction /= (mabd_real)(sliding > 0 ? sliding : 1);
    return sum;
}

// Responses of all contacts and boxes with targets.
static void aim(const mabd_interior_problem* p, means mu, bool second, bool scaled) {
    for (int32_t i = 0; i < p->contact_count; i++) {
        const mabd_barrier_target t = contact_target(p, &p->contacts[i], mu, second, scaled);
        mabd_barrier_aim(&p->contacts[i], &t);
        mabd_barrier_respond(&p->contacts[i]);
    }
    for (int32_t i = 0; i < p->box_count; i++) {
        const mabd_barrier_target t = box_target(&p->boxes[i], mu, second);
        mabd_barrier_aim_box(&p->boxes[i], &t);
        mabd_barrier_respond_box(&p->boxes[i]);
    }
}

// Error of a product: |product/target - 1|; of one that may be off by a factor, 0 within it.
static mabd_real product_error(mabd_real product, mabd_real target, mabd_real factor) {
    const mabd_real ratio = product / target;
    if (factor > 1 && ratio < factor && ratio * factor > 1) return 0;
    return (mabd_real)fabs(ratio - 1);
}

// Largest error of a product at the end. factor: by which those of friction and boxes may be off.
static mabd_real worst_product(const mabd_interior_problem* p, means end, mabd_real factor) {
    mabd_real worst = 0;
    for (int32_t i = 0; i < p->contact_count; i++) {
        const mabd_barrier_contact* c = &p->contacts[i];
        const mabd_barrier_target t = contact_target(p, c, end, false, false);
        const mabd_real pressure = mabd_barrier_pressure_product(c, 0),
                        friction = mabd_barrier_friction_product(c, 0, t.friction);
        worst = larger(worst, product_error(pressure, t.pressure, 1));
        if (c->c > 0) worst = larger(worst, product_error(friction, t.friction, factor));
    }
    for (int32_t i = 0; i < p->box_count; i++) {
        mabd_real products[2];
        mabd_barrier_box_products(&p->boxes[i], 0, products);
        for (int k = 0; k < 2; k++) {
            const mabd_real target = box_target(&p->boxes[i], end, false).friction;
            worst = larger(worst, product_error(products[k], target, factor));
        }
    }
    return worst;
}

// ---- steps -------------------------------------------------------------------------------------

// The step of the increments to the nearest boundary.
static mabd_real boundary(const mabd_interior_problem* p) {
    mabd_real step = (mabd_real)INFINITY;
    for (int32_t i = 0; i < p->contact_count; i++) {
        step = (mabd_real)fmin(step, mabd_barrier_limit(&p->contacts[i]));
    }
    for (int32_t i = 0; i < p->box_count; i++) {
        step = (mabd_real)fmin(step, mabd_barrier_limit_box(&p->boxes[i]));
    }
    return step;
}

// True if friction stays near the path: the smaller of its two values of Jordan's product is no
// part of the mean of both that lets the next steps jam, or grows.
static bool is_central(const mabd_interior_problem* p, mabd_real step) {
    for (int32_t i = 0; i < p->contact_count; i++) {
        const mabd_barrier_contact* c = &p->contacts[i];
        if (!(c->c > 0) || c->sides > 0) continue;
        const mabd_real least = mabd_barrier_least_friction(c, step);
        const mabd_real mean = mabd_barrier_friction_product(c, step, -1);
        if (least < MABD_INTERIOR_CENTRAL * mean && least < mabd_barrier_least_friction(c, 0)) {
            return false;
        }
    }
    return true;
}

// The step to take; *length gets the displacement by whole increments.
static mabd_real choose_step(const mabd_interior_problem* p, mabd_real* length) {
    const mabd_real bodies = p->host.limit(p->host.self, length);
    const mabd_real step = (mabd_real)fmin(MABD_INTERIOR_BOUNDARY_PART * boundary(p), bodies);
    mabd_real part = step < 1 ? step : 1;
    for (int i = 0; p->central && i < MABD_INTERIOR_CENTRAL_CUTS && !is_central(p, part); i++) {
        part *= MABD_INTERIOR_CENTRAL_CUT;
    }
    return part;
}

static mabd_real cube_ratio(mabd_real a, mabd_real b) {
    const mabd_real ratio = a / b;
    return b > 0 ? ratio * ratio * ratio : 0;
}

// Targets from the affine increments.
static means affine_targets(const mabd_interior_problem* p, means mu, means end) {
    const means zero = {0, 0};
    mabd_real length;
    aim(p, zero, false, true);
    p->host.solve(p->host.self);
    (void)p->host.limit(p->host.self, &length);
    const mabd_real edge = boundary(p);
    const means reached = mean_products(p, end, edge < 1 ? edge : 1);
    mabd_real sigma = larger(cube_ratio(reached.pressure, mu.pressure),
                             cube_ratio(reached.friction, mu.friction));
    sigma = larger(sigma, MABD_INTERIOR_LEAST_SIGMA);
    if (!(sigma < 1)) sigma = 1;
    const means target = {larger(sigma * mu.pressure, end.pressure),
                          larger(sigma * mu.friction, end.friction)};
    return target;
}

// The iteration between two looks at the iterate.
typedef struct progress {
    mabd_real slide;        // target of friction [m/s]
    mabd_real step, length; // the last one, and the displacement by its whole increments
    int32_t jams;
    bool stayed;    // the last increments aimed at the products that there were
    mabd_real best; // residual that was last less than half of the best before
    int32_t since;  // iterations since then
} progress;

// Means of the products; that of pressures is not far ahead of friction.
static means paced_products(const mabd_interior_problem* p, means end) {
    means mu = mean_products(p, end, 0);
    if (end.friction < end.pressure) return mu;
    mu.pressure = larger(mu.pressure, MABD_INTERIOR_PACE_S * mu.friction);
    return mu;
}

// Part of the products, at least those of the end.
static means part_of(means mu, mabd_real part, means end) {
    const means target = {larger(part * mu.pressure, end.pressure),
                          larger(part * mu.friction, end.friction)};
    return target;
}

// True if products are near those of the end, or pressures are and friction is on its way from
// there: increments then aim at the end.
static bool is_near(const mabd_interior_problem* p, means end) {
    const means mu = paced_products(p, end);
    return mu.pressure < MABD_INTERIOR_NEAR_END * end.pressure &&
           (end.friction < end.pressure || mu.friction < MABD_INTERIOR_NEAR_END * end.friction);
}

// Find increments; returns the step to take. Second order circles near the end, and elsewhere may
// return to where it was: it is left out after whole steps without progress.
static mabd_real find_increments(const mabd_interior_problem* p, means end, progress* at) {
    const means mu = paced_products(p, end);
    const bool near = is_near(p, end);
    const bool stalls = at->since > MABD_INTERIOR_MAX_STALLS, second = !near && !stalls;
    const means target = near     ? end
                         : stalls ? part_of(mu, MABD_INTERIOR_STALL_PART, end)
                                  : affine_targets(p, mu, end);
    aim(p, target, second, !near);
    p->host.solve(p->host.self);
    const mabd_real step = choose_step(p, &at->length);
    const mabd_real part = at->stayed ? MABD_INTERIOR_STAY_PART : 1;
    at->stayed = false;
    if (!(step < MABD_INTERIOR_SHORT_STEP)) return step;
    aim(p, part_of(mu, part, end), false, !near);
    p->host.solve(p->host.self);
    const mabd_real other = choose_step(p, &at->length);
    at->stayed = other > step;
    if (at->stayed) return other;
    if (second) (void)affine_targets(p, mu, end);
    aim(p, target, second, !near);
    p->host.solve(p->host.self);
    return choose_step(p, &at->length);
}

static void move(const mabd_interior_problem* p, mabd_real step) {
    p->host.move(p->host.self, step);
    for (int32_t i = 0; i < p->contact_count; i++) mabd_barrier_move(&p->contacts[i], step);
    for (int32_t i = 0; i < p->box_count; i++) mabd_barrier_move_box(&p->boxes[i], step);
}

// Cold restart number k.
static void restart(const mabd_interior_problem* p, int32_t k) {
    mabd_real pressure = MABD_INTERIOR_COLD_PRESSURE;
    for (int32_t i = 0; i < k; i++) pressure *= 10;
    for (int32_t i = 0; i < p->contact_count; i++) {
        mabd_barrier_contact* c = &p->contacts[i];
        c->s = larger(c->gap, MABD_INTERIOR_COLD_GAP_M);
        c->gamma = pressure * c->weight * MABD_INTERIOR_COLD_GAP_M / c->s;
        mabd_barrier_center(c, larger(1, p->speed));
    }
    for (int32_t i = 0; i < p->box_count; i++) {
        mabd_barrier_center_box(&p->boxes[i], larger(1, p->speed));
    }
    p->host.restart(p->host.self);
}

static bool is_solved(const mabd_interior_problem* p, const progress* at,
                      const mabd_interior_error* error, mabd_real residual) {
    return at->length < p->row_tolerance / 10 && error->rows < p->row_tolerance &&
           residual < MABD_INTERIOR_PRODUCT_ERROR && at->slide <= MABD_INTERIOR_SLIDE_M_S;
}

// Restart after jams, as often as is allowed.
static void unjam(const mabd_interior_problem* p, progress* at, mabd_interior_report* out) {
    at->jams = at->step < MABD_INTERIOR_JAM_STEP ? at->jams + 1 : 0;
    if (at->jams < MABD_INTERIOR_MAX_JAMS || out->restarts >= MABD_INTERIOR_MAX_RESTARTS) return;
    restart(p, out->restarts++);
    at->jams = at->since = 0, at->length = at->best = (mabd_real)INFINITY;
    at->slide = p->tolerance;
}

static void look_for_progress(progress* at, mabd_real residual) {
    at->since++;
    if (!(residual < at->best / 2)) return;
    at->best = residual, at->since = 0;
}

mabd_interior_report mabd_interior_point(const mabd_interior_problem* p) {
    mabd_interior_report out = {0, 0, false, 0, MABD_OK};
    progress at = {p->tolerance, 0, (mabd_real)INFINITY, 0, false, (mabd_real)INFINITY, 0};
    const means zero = {0, 0};
    if (p->central) restart(p, out.restarts++);
    while (true) {
        const mabd_interior_error error = p->host.evaluate(p->host.self);
        if (!error.finite) return out;
        const bool tight = at.slide < p->tolerance;
        out.residual =
            worst_product(p, end_of(p, at.slide), tight ? MABD_INTERIOR_SLIDE_FACTOR : 1);
        out.converged = is_solved(p, &at, &error, out.residual);
        if (out.converged || out.iterations >= p->max_iterations) return out;
        if (out.residual < MABD_INTERIOR_PRODUCT_ERROR && at.slide > MABD_INTERIOR_SLIDE_M_S) {
            at.slide = larger(at.slide * MABD_INTERIOR_TIGHTEN, MABD_INTERIOR_SLIDE_M_S);
            at.best = (mabd_real)INFINITY;
        }
        look_for_progress(&at, out.residual);
        aim(p, zero, false, !is_near(p, end_of(p, at.slide)));
        out.iterations++;
        out.status = p->host.factor(p->host.self);
        if (out.status != MABD_OK) return out;
        at.step = find_increments(p, end_of(p, at.slide), &at);
        move(p, at.step);
        unjam(p, &at, &out);
    }
}
