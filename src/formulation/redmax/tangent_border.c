// SPDX-License-Identifier: Apache-2.0
// What rows, relative motions and springs between links add to the derivatives of a residual, in
// both directions: the border of H (border.c) without its unknowns.
//
// With variations x of links, rows c = L x + dc, relative motions and forces of springs p with
// e p + L x = 0, and wrenches -U p on the links,
//
//   forward      p = L x (tensions: springs.c),  dF -= U p           c of the rows
//   backwards    p-bar from e'p-bar = U'w,  xb += L'p-bar,           xb += L'mu of the rows
//
// Rows of couplings are sums of coordinates, or of rates where s->by_rate.

#include "formulation/redmax/redmax_tangent.h"

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_springs.h"

#include <string.h>

void mabd_redmax_push_motions(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    const int32_t first = s->part->row_count, end = mabd_redmax_border_size(s);
    mabd_real* p = sim->loops.rest + s->part->border_first;
    for (int32_t r = first; r < end; r++) p[r] = mabd_redmax_read_row(sim, &borders[r]);
    if (!s->still) mabd_redmax_spread_tensions(s, p);
    for (int32_t r = first; r < end; r++) {
        mabd_redmax_add_bar(sim, borders[r].a, 0, -p[r], borders[r].on_a);
        mabd_redmax_add_bar(sim, borders[r].b, 0, -p[r], borders[r].on_b);
    }
}

void mabd_redmax_derive_bars(mabd_redmax_solve* s) {
    s->forces_at_once = true;
    if (s->part->spring_count > 0 && !s->still) mabd_redmax_spring_derivatives(s);
}

void mabd_redmax_pull_motions(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    const int32_t first = s->part->row_count, end = mabd_redmax_border_size(s);
    const int32_t motions = s->forces_at_once ? first + s->part->motion_count : first;
    mabd_real* p = sim->loops.rest + s->part->border_first;
    for (int32_t r = first; r < end; r++) {
        p[r] = r < motions ? 0 : -mabd_redmax_read_column(sim, &borders[r]);
    }
    if (!s->still) mabd_redmax_gather_tensions(s, p);
    for (int32_t r = motions; r < end; r++) mabd_redmax_push_row(sim, &borders[r], p[r]);
}

void mabd_redmax_pull_row_bars(const mabd_redmax_solve* s) {
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    for (int32_t r = 0; s->row_bars && !s->rates_at_once && r < s->part->row_count; r++) {
        if (!borders[r].coupling) mabd_redmax_push_row(s->sim, &borders[r], s->row_bars[r]);
    }
}

void mabd_redmax_add_row_changes(const mabd_redmax_solve* s, const mabd_redmax_changes* c,
                                 mabd_real* rows) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    const mabd_real* x = s->by_rate ? c->v : c->q;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        if (!borders[r].coupling) {
            rows[r] += mabd_redmax_read_row(sim, &borders[r]);
        } else if (x) {
            rows[r] += mabd_redmax_coupled(sim, borders[r].coupling, x);
        }
    }
}

void mabd_redmax_add_coupling_bars(const mabd_redmax_solve* s, mabd_real sign, mabd_real* to) {
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    for (int32_t r = 0; s->row_bars && r < s->part->row_count; r++) {
        if (!borders[r].coupling) continue;
        mabd_redmax_pull_coupling(s->sim, borders[r].coupling, sign * s->row_bars[r], false, to);
    }
}

void mabd_redmax_add_force_bars(const mabd_redmax_solve* s, mabd_real* rows) {
    const mabd_redmax_border* borders = mabd_redmax_borders(s);
    for (int32_t r = 0; r < s->part->row_count; r++) {
        if (!borders[r].coupling) rows[r] -= mabd_redmax_read_column(s->sim, &borders[r]);
    }
}

void mabd_redmax_enter_rows(mabd_redmax_solve* s, const mabd_real* w) {
    const size_t first = (size_t)s->part->freedom_first;
    s->by_rate = true;
    memcpy(s->sim->v + first, w + first, (size_t)s->part->freedom_count * sizeof *w);
    mabd_redmax_velocities(s);
    mabd_redmax_rows(s);
    mabd_redmax_row_rates(s);
}

void mabd_redmax_pull_rate_rows(mabd_redmax_solve* s, const mabd_real* w, const mabd_real* mu) {
    const size_t first = (size_t)s->part->freedom_first;
    s->by_rate = true, s->row_bars = mu, s->rates_at_once = true;
    memcpy(s->sim->v + first, w + first, (size_t)s->part->freedom_count * sizeof *w);
    mabd_redmax_velocities(s);
    mabd_redmax_coupling_rows(s);
    mabd_redmax_pull_back(s, NULL, NULL);
}
