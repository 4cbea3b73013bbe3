// SPDX-License-Identifier: Apache-2.0
#include "gradient/wolfe_search.h"

#include <float.h>
#include <math.h>

// A step with what is known there. `valid` is false if it could not be evaluated.
typedef struct point {
    mabd_real step, value, slope;
    bool valid;
} point;

// The interval that holds a step: `low` has the lowest value that decreases sufficiently; f falls
// from low towards high.
typedef struct bracket {
    point low, high;
    bool closed; // high is known
} bracket;

// Minimiser of the cubic through two points with their slopes [NW eq. 3.59]; NaN if it has none.
static mabd_real cubic(const point* a, const point* b) {
    const mabd_real d1 = a->slope + b->slope - 3 * (a->value - b->value) / (a->step - b->step);
    const mabd_real square = d1 * d1 - a->slope * b->slope;
    if (!(square >= 0)) return (mabd_real)NAN;
    const mabd_real d2 =
        (b->step > a->step ? 1 : -1) * (mabd_real)sqrt(square); // sign(b - a) sqrt(...)
    return b->step - (b->step - a->step) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
}

static mabd_real clamp(mabd_real x, mabd_real least, mabd_real most, mabd_real otherwise) {
    if (isnan(x)) return otherwise;
    return x < least ? least : x > most ? most : x;
}

// Next step inside a closed bracket: at least a tenth of its width from both ends. A point that
// could not be evaluated says nothing but that it is too far.
static mabd_real inside(const bracket* b) {
    const mabd_real width = b->high.step - b->low.step;
    if (!b->high.valid) return b->low.step + (mabd_real)0.25 * width;
    const mabd_real part = (cubic(&b->low, &b->high) - b->low.step) / width;
    return b->low.step + width * clamp(part, (mabd_real)0.1, (mabd_real)0.9, (mabd_real)0.5);
}

// Next step beyond an open bracket, two to ten times as long as the last one.
static mabd_real beyond(const mabd_search_def* def, const point* before, const point* last) {
    const mabd_real least = 2 * last->step, most = 10 * last->step;
    mabd_real step = cubic(before, last);
    step = step > last->step ? clamp(step, least, most, most) : most;
    return step < def->longest ? step : def->longest;
}

// Evaluate at p->step; p->valid is false if the step is too long to be evaluated.
static mabd_status evaluate(const mabd_search_def* def, point* p, bool* known,
                            mabd_search_result* result, mabd_error* error) {
    const mabd_status status = def->evaluate(def->user, p->step, &p->value, &p->slope, error);
    result->evaluations++;
    p->valid = status == MABD_OK && isfinite(p->value) && isfinite(p->slope);
    *known |= p->valid;
    result->failure = *known ? MABD_OK : status == MABD_OK ? MABD_ERR_DIVERGED : status;
    return status == MABD_ERR_DIVERGED ? MABD_OK : status;
}

static bool decreases(const mabd_search_def* def, const point* p) {
    return p->valid && p->value <= def->value + MABD_WOLFE_DECREASE * p->step * def->slope;
}

// Put a new point into the bracket, so that it stays one.
static void narrow(const mabd_search_def* def, bracket* b, const point* p) {
    if (!decreases(def, p) || p->value >= b->low.value) {
        b->high = *p, b->closed = true;
        return;
    }
    const mabd_real ahead = b->closed ? b->high.step - b->low.step : 1;
    if (p->slope * ahead >= 0) b->high = b->low, b->closed = true;
    b->low = *p;
}

static bool is_done(const mabd_search_def* def, const point* p) {
    if (!decreases(def, p)) return false;
    if (fabs(p->slope) <= MABD_WOLFE_CURVATURE * -def->slope) return true;
    return p->step >= def->longest && p->slope < 0;
}

mabd_status mabd_line_search(const mabd_search_def* def, mabd_search_result* result,
                             mabd_error* error) {
    const point start = {0, def->value, def->slope, true};
    bracket b = {.low = start};
    bool known = false; // some evaluation gave a value
    point p = {.step = def->first < def->longest ? def->first : def->longest};
    *result = (mabd_search_result){.value = def->value};
    while (result->evaluations < def->max_evaluations) {
        MABD_TRY(evaluate(def, &p, &known, result, error));
        result->wolfe = is_done(def, &p);
        if (result->wolfe) {
            b.low = p;
            break;
        }
        const point before = b.low;
        narrow(def, &b, &p);
        p.step = b.closed ? inside(&b) : beyond(def, &before, &b.low);
        const mabd_real width = (mabd_real)fabs(b.high.step - b.low.step);
        if (b.closed && width <= 4 * (mabd_real)DBL_EPSILON * b.low.step) break;
        if (p.step == 0) break;
    }
    result->step = b.low.step;
    result->value = b.low.value;
    return MABD_OK;
}
