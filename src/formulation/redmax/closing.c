// SPDX-License-Identifier: Apache-2.0
// Projection of an iterate onto closed loops, in the mass metric.
//
//   M dq = G'y,  G dq = -C      until C is at round-off, M and G at each pose
//   M dv = G'y,  G dv = -G v
//
// Methods that hold the rates or accelerations of rows (sdirk2, semi-implicit, linear-implicit,
// rk45) end their steps by it. Prescribed freedoms stay where they are.

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Errors of rows at round-off [m], [rad].
#define CLOSED ((mabd_real)1e-14)
/// Errors that a stage which holds poses may leave in rows that it does without.
#define LEFT_OPEN ((mabd_real)1e-12)
/// Largest error of a pose that no longer improves.
#define ACCEPTED ((mabd_real)1e-10)

static mabd_status fail(const mabd_redmax_solve* s, mabd_status status, int32_t joint) {
    s->report->joint = joint, s->report->reason = "the loop does not close at";
    return status;
}

// Factor the mass matrix and G M^-1 G' at the iterate, with the rows there.
static mabd_status factor_at(const mabd_redmax_solve* s, int32_t joint) {
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    const mabd_status status = mabd_redmax_factor(s, mass, &link);
    if (status != MABD_OK) {
        s->report->link = link, s->report->reason = "the inertia vanishes at";
        return status;
    }
    return mabd_redmax_mass_border(s) == MABD_OK ? MABD_OK : fail(s, MABD_ERR_SINGULAR, joint);
}

// Solve for the least change, in sim->step, that changes the rows by -gap; its forces go to
// loops.step.
static void solve_change(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_real* change = sim->loops.step + s->part->row_first;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; k < end; k++) sim->step[k] = 0;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        change[r] = -sim->loops.gap[s->part->row_first + r];
    }
    mabd_redmax_mass_solve(s, sim->step, change);
}

// Returns the largest change.
static mabd_real correct(const mabd_redmax_solve* s, mabd_real* x) {
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    mabd_real most = 0;
    solve_change(s);
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        const mabd_real own = (mabd_real)fabs(s->sim->step[k]);
        x[k] += s->sim->step[k];
        if (!(own <= most)) most = own;
    }
    return most;
}

mabd_status mabd_redmax_find_correction(const mabd_redmax_solve* s) {
    mabd_redmax_velocities(s);
    mabd_redmax_rows(s);
    MABD_TRY(factor_at(s, -1));
    solve_change(s);
    return MABD_OK;
}

// Keep the pose before correction number i.
static void keep_way(const mabd_redmax_solve* s, int32_t i) {
    const size_t count = (size_t)s->part->freedom_count;
    if (!s->way) return;
    memcpy(s->way + (size_t)i * count, s->sim->q + s->part->freedom_first, count * sizeof *s->way);
    *s->way_count = i + 1;
}

// Close the poses to an error.
static mabd_status close_poses(const mabd_redmax_solve* own, mabd_real closed) {
    mabd_redmax_solve s = *own;
    mabd_real last = (mabd_real)INFINITY;
    int32_t joint = -1;
    s.by_rate = false;
    if (s.way) *s.way_count = 0;
    s.part->corrections = 0, s.part->last_correction = 0;
    for (int32_t i = 0;; i++) {
        mabd_redmax_velocities(&s);
        mabd_redmax_rows(&s);
        const mabd_real gap = mabd_redmax_largest_gap(&s, &joint);
        if (!(gap > closed) || (i > 1 && !(gap < last / 2) && gap < ACCEPTED)) break;
        if (i == MABD_REDMAX_CORRECTIONS || !isfinite(gap))
            return fail(&s, MABD_ERR_DIVERGED, joint);
        last = gap, closed = CLOSED;
        keep_way(&s, i);
        MABD_TRY(factor_at(&s, joint));
        s.part->last_correction = correct(&s, s.sim->q);
        s.part->corrections = i + 1;
    }
    return MABD_OK;
}

mabd_status mabd_redmax_close_poses(const mabd_redmax_solve* s) {
    return close_poses(s, LEFT_OPEN);
}

mabd_status mabd_redmax_close_loops(const mabd_redmax_solve* own) {
    mabd_redmax_solve s = *own;
    int32_t joint = -1;
    MABD_TRY(close_poses(own, CLOSED));
    s.by_rate = true;
    mabd_redmax_rows(&s);
    mabd_redmax_largest_gap(&s, &joint);
    MABD_TRY(factor_at(&s, joint));
    correct(&s, s.sim->v);
    return MABD_OK;
}
