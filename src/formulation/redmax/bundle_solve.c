// SPDX-License-Identifier: Apache-2.0
// Solves with the factor of bundle_factor.c: for the step dq and the unknowns y of all borders at
// once, in one sweep to the ground and one back. m: sums of rows, w: y of what ends without what
// goes on.
//
//   up     w_t = Q_tt^-1 (c_t - m_t)      n -= P_t w_t      m_o += Q_ot w_t
//          u = D^-1 (b - S'n)             n_p += X'(n + G u)       m_o += Z u
//   down   dq = u - K x_p + L y_o         x = T x_p + B dq
//          y_t = w_t - Q_tt^-1 (R_t x + Q_to y_o)
//
// The transposed system, with bars v of the unknowns, is the same program backwards:
//
//   up     a_t = Q_tt^-T v_t     xb -= R_t' a_t     v_o -= Q_to' a_t
//          u = y + B'xb          xb_p += T'xb - K'u          v_o += L'u
//   down   t = X n_p             z = D^-T (u + G't - Z'mu_o)      n = t - S z
//          mu_t = Q_tt^-T (v_t - P_t'n - Q_ot' mu_o)
//
// (mu of this sweep has the sign of c; the bars of sums of rows are its negative.) The shift of
// redundant rows is taken out by refinement as in border.c: what it leaves in the rows is the next
// right-hand side.

#include "formulation/redmax/redmax_bundles.h"

#include "dual/dense_lu.h"
#include "formulation/redmax/redmax_lift.h"
#include "formulation/redmax/redmax_loops.h"

#include <math.h>
#include <string.h>

/// Refinement: the residual of the rows that is enough, relative to the size of their terms; the
/// fall that is progress; solves.
#define ENOUGH ((mabd_real)1e-15)
#define FALL   ((mabd_real)0.5)
#define SOLVES 20
/// Part of the bars of forces that rows may leave: more means that redundant rows share the force.
#define DETERMINED ((mabd_real)1e-6)

/// A solve.
typedef struct sweep {
    const mabd_redmax_solve* s;
    bool mass, defects;   // and links move by their defects (lift.c)
    mabd_real *m, *w, *y; // (borders of the part)
    mabd_real* vector;    // workspace
} sweep;

static sweep sweep_of(const mabd_redmax_solve* s, bool mass, mabd_real* y) {
    const mabd_redmax_bundles* b = &s->sim->bundles;
    sweep w;
    w.s = s, w.mass = mass, w.defects = false, w.y = y;
    w.m = b->m + s->part->border_first, w.w = b->w + s->part->border_first;
    w.vector = b->scratch + b->scratch_first[s->part - s->sim->parts];
    return w;
}

static size_t border_bytes(const mabd_redmax_solve* s) {
    return (size_t)s->part->border_count * sizeof(mabd_real);
}

/// A bundle in a solve.
typedef struct bundle_view {
    const mabd_redmax_bundle* own;
    size_t t, o;
    const int32_t* list; // t that end, o that go on
    const int32_t* pivot;
    mabd_redmax_kept kept;
} bundle_view;

static bundle_view view_of(const mabd_redmax_solve* s, int32_t link) {
    const mabd_redmax_sim* sim = s->sim;
    bundle_view out;
    out.own = mabd_redmax_bundle_of(s, link);
    out.t = (size_t)out.own->ends, out.o = (size_t)out.own->open;
    out.list = sim->bundles.list + out.own->first;
    out.pivot = sim->bundles.pivot + out.own->pivot;
    out.kept = mabd_redmax_kept_of(sim, out.own, link < 0 ? 0 : sim->links[link].count);
    return out;
}

static mabd_real dot(size_t n, const mabd_real* a, const mabd_real* b) {
    mabd_real sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// ---- solve -------------------------------------------------------------------------------------

// Borders that end at a link, on the way up; n: wrench on the link.
static void end_up(const sweep* w, const bundle_view* v, const mabd_real* c, mabd_real* n) {
    for (size_t i = 0; i < v->t; i++) w->vector[i] = c[v->list[i]] - w->m[v->list[i]];
    if (v->t > 0) mabd_dense_lu_solve(v->own->ends, v->kept.F, v->pivot, w->vector);
    for (size_t i = 0; i < v->t; i++) {
        const mabd_real y = w->vector[i];
        w->w[v->list[i]] = y;
        if (y == 0) continue;
        for (int k = 0; n && k < 6; k++) n[k] -= v->kept.P[6 * i + (size_t)k] * y;
        for (size_t j = 0; j < v->o; j++) {
            w->m[v->list[v->t + j]] += v->kept.behind[i * v->o + j] * y;
        }
    }
}

static void up(const sweep* w, const mabd_real* b, const mabd_real* c) {
    mabd_redmax_sim* sim = w->s->sim;
    const int32_t first = w->s->part->link_first;
    for (int32_t i = first + w->s->part->link_count - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        const bundle_view v = view_of(w->s, i);
        mabd_real* n = sim->up + MABD_VARIATION * (size_t)i;
        end_up(w, &v, c, n);
        mabd_spatial sum = mabd_sp_load(n);
        if (w->defects) sum = mabd_sp_add(sum, mabd_sp_load(sim->lift + 6 * (size_t)i));
        for (size_t j = 0; w->defects && j < v.o; j++) {
            w->m[v.list[v.t + j]] += v.kept.defect[j];
        }
        mabd_redmax_solve_pivots(w->s, link, b, sum, sim->u);
        for (int32_t k = 0; k < link->count; k++) {
            const mabd_real u = sim->u[link->first + k];
            sum = mabd_sp_axpy(u, sim->G[link->first + k], sum);
            for (size_t j = 0; j < v.o; j++) {
                w->m[v.list[v.t + j]] += v.kept.Z[j * (size_t)link->count + (size_t)k] * u;
            }
        }
        if (link->parent < 0) continue;
        mabd_real* parent = sim->up + MABD_VARIATION * (size_t)link->parent;
        const mabd_spatial F = mabd_frame_to_parent(&sim->E[i], sum);
        mabd_sp_store(mabd_sp_add(mabd_sp_load(parent), F), parent);
    }
    const bundle_view ground = view_of(w->s, -1);
    end_up(w, &ground, c, NULL);
}

// Borders that end at a link with the variation x, null = at the ground.
static void end_down(const sweep* w, const bundle_view* v, const mabd_real* x) {
    if (v->t == 0) return;
    for (size_t i = 0; i < v->t; i++) {
        mabd_real sum = x ? dot(MABD_VARIATION, v->kept.R + MABD_VARIATION * i, x) : 0;
        for (size_t j = 0; j < v->o; j++) {
            sum += v->kept.ahead[i * v->o + j] * w->y[v->list[v->t + j]];
        }
        w->vector[i] = sum;
    }
    mabd_dense_lu_solve(v->own->ends, v->kept.F, v->pivot, w->vector);
    for (size_t i = 0; i < v->t; i++) w->y[v->list[i]] = w->w[v->list[i]] - w->vector[i];
}

static void down(const sweep* w, mabd_real* dq) {
    mabd_redmax_sim* sim = w->s->sim;
    const int32_t first = w->s->part->link_first;
    const int n = mabd_redmax_width(w->s->part);
    const bundle_view ground = view_of(w->s, -1);
    end_down(w, &ground, NULL);
    for (int32_t i = first; i < first + w->s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const bundle_view v = view_of(w->s, i);
        const mabd_real* x_p = sim->x + MABD_VARIATION * (size_t)link->parent;
        for (int32_t k = 0; k < link->count; k++) {
            const size_t at = (size_t)(link->first + k);
            const mabd_real* K = sim->K + MABD_VARIATION * at;
            mabd_real sum = sim->u[at] - (link->parent < 0 ? 0 : dot((size_t)n, K, x_p));
            for (size_t j = 0; j < v.o; j++) {
                sum += v.kept.L[j * (size_t)link->count + (size_t)k] * w->y[v.list[v.t + j]];
            }
            dq[at] = sum;
        }
        mabd_redmax_vary(sim, i, n, dq, sim->x);
        if (w->defects) mabd_redmax_add_defect(sim, i);
        end_down(w, &v, sim->x + MABD_VARIATION * (size_t)i);
    }
}

// Solve for dq and y of right-hand sides b and c, with wrenches on links in sim->up.
static void run(const sweep* w, const mabd_real* b, const mabd_real* c, mabd_real* dq) {
    memset(w->m, 0, border_bytes(w->s));
    up(w, b, c);
    down(w, dq);
}

// ---- refinement --------------------------------------------------------------------------------

// Half of row `border` of L or, going back, of -U' that reads links: its sides a or b.
static mabd_real read_side(const mabd_redmax_solve* s, bool mass, bool back,
                           const mabd_redmax_border* border, int side) {
    mabd_redmax_border own = *border;
    *(side == 0 ? &own.b : &own.a) = -1;
    if (back) return mabd_redmax_read_column(s->sim, &own);
    return mabd_redmax_row_change(s, mass, &own, NULL);
}

// Take L x of the last sweep, whose step is x, from `rest`; back: -U'x of a transposed one. Returns
// the largest sum of the sizes of the terms of a row.
static mabd_real take_rows(const mabd_redmax_solve* s, bool mass, bool back, const mabd_real* x,
                           mabd_real* rest) {
    mabd_real most = 0;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        const mabd_redmax_border* own = mabd_redmax_borders(s) + r;
        mabd_real terms[2] = {0, 0};
        if (!mabd_redmax_is_active(s, mass, r)) {
            rest[r] = 0;
            continue;
        }
        if (!own->coupling) {
            for (int k = 0; k < 2; k++) terms[k] = read_side(s, mass, back, own, k);
        } else if (back) {
            terms[0] = -mabd_redmax_coupled_free(s->sim, own->coupling, x);
        } else {
            terms[0] = mabd_redmax_row_change(s, mass, own, x);
        }
        const mabd_real size = (mabd_real)(fabs(rest[r]) + fabs(terms[0]) + fabs(terms[1]));
        rest[r] -= terms[0] + terms[1];
        if (!(size <= most)) most = size;
    }
    return most;
}

static mabd_real largest(const mabd_redmax_solve* s, const mabd_real* rest) {
    mabd_real most = 0;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        if (!(fabs(rest[r]) <= most)) most = (mabd_real)fabs(rest[r]);
    }
    return most;
}

// Clear the right-hand sides of borders that a solve does without; those that are not rows have no
// residual after a solve.
static void clear_borders(const mabd_redmax_solve* s, bool mass, bool rows, mabd_real* c) {
    for (int32_t r = 0; r < s->part->border_count; r++) {
        if ((rows && r >= s->part->row_count) || !mabd_redmax_is_active(s, mass, r)) c[r] = 0;
    }
}

// Add wrenches U force of rows to those of links in sim->up, and take what couplings do from b.
static void pull_forces(const mabd_redmax_solve* s, const mabd_real* force, mabd_real* b) {
    for (int32_t r = 0; r < s->part->row_count; r++) {
        const mabd_redmax_border* own = mabd_redmax_borders(s) + r;
        const mabd_real f = force[s->part->row_first + r];
        if (f == 0) continue;
        if (own->coupling) {
            mabd_redmax_pull_coupling(s->sim, own->coupling, -f, true, b);
            continue;
        }
        mabd_redmax_add_bar(s->sim, own->a, 0, f, own->on_a);
        mabd_redmax_add_bar(s->sim, own->b, 0, f, own->on_b);
    }
}

// Variations of all links by a step.
static void vary_all(const mabd_redmax_solve* s, bool defects, const mabd_real* dq) {
    const int32_t first = s->part->link_first;
    for (int32_t i = first; i < first + s->part->link_count; i++) {
        mabd_redmax_vary(s->sim, i, mabd_redmax_width(s->part), dq, s->sim->x);
        if (defects) mabd_redmax_add_defect(s->sim, i);
    }
}

void mabd_redmax_bundle_solve(const mabd_redmax_solve* s, bool mass, mabd_real* x, mabd_real* c,
                              const mabd_real* force) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, count = (size_t)s->part->freedom_count;
    const size_t at = (size_t)s->part->border_first, n = (size_t)s->part->border_count;
    mabd_real *rest = sim->loops.rest + at, *y = sim->loops.y + at, *dq = sim->loops.pull;
    mabd_real* total = sim->bundles.total + at;
    const bool defects = s->lifted && force;
    sweep w = sweep_of(s, mass, y);
    mabd_real last = (mabd_real)INFINITY;
    w.defects = defects;
    memcpy(rest, c, n * sizeof *c);
    clear_borders(s, mass, false, rest);
    mabd_redmax_clear_bars(s);
    if (force) pull_forces(s, force, x);
    memset(total, 0, n * sizeof *total);
    memcpy(dq + first, x + first, count * sizeof *x);
    memset(x + first, 0, count * sizeof *x);
    int solves = 0;
    for (;;) {
        run(&w, dq, rest, dq);
        w.defects = false;
        for (size_t k = first; k < first + count; k++) x[k] += dq[k];
        for (size_t r = 0; r < n; r++) total[r] += y[r];
        const mabd_real terms = take_rows(s, mass, false, dq, rest);
        const mabd_real now = largest(s, rest);
        if (++solves == 1) last = terms;
        if (!(now > ENOUGH * terms) || solves == SOLVES || now > FALL * last) break;
        last = now;
        clear_borders(s, mass, true, rest);
        memset(dq + first, 0, count * sizeof *dq);
        mabd_redmax_clear_bars(s);
    }
    memcpy(c, total, n * sizeof *c);
    memcpy(y, total, n * sizeof *y);
    vary_all(s, defects, x);
}

void mabd_redmax_bundle_subtract(const mabd_redmax_solve* s, bool mass, mabd_real* forces) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_real* y = sim->loops.y + s->part->border_first;
    const int32_t first = s->part->link_first;
    mabd_redmax_clear_bars(s);
    for (int32_t r = 0; r < s->part->border_count; r++) {
        const mabd_redmax_border* own = mabd_redmax_borders(s) + r;
        if (!mabd_redmax_is_active(s, mass, r) || y[r] == 0) continue;
        if (own->coupling) {
            mabd_redmax_pull_coupling(sim, own->coupling, -y[r], false, forces);
            continue;
        }
        mabd_redmax_add_bar(sim, own->a, 0, y[r], own->on_a);
        mabd_redmax_add_bar(sim, own->b, 0, y[r], own->on_b);
    }
    for (int32_t i = first + s->part->link_count - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial F = mabd_sp_load(sim->up + MABD_VARIATION * (size_t)i);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            forces[k] -= mabd_sp_dot(mabd_redmax_left(s)[k], F);
        }
        mabd_redmax_add_bar(sim, link->parent, 0, 1, mabd_frame_to_parent(&sim->E[i], F));
    }
}

// ---- transposed --------------------------------------------------------------------------------

// Bars of what ends at a link with the bar xb of its variation, null = at the ground.
static void end_back_up(const sweep* w, const bundle_view* v, mabd_real* bars, mabd_real* xb) {
    if (v->t == 0) return;
    for (size_t i = 0; i < v->t; i++) w->vector[i] = bars[v->list[i]];
    mabd_dense_lu_solve_transposed(v->own->ends, v->kept.F, v->pivot, w->vector);
    for (size_t i = 0; i < v->t; i++) {
        const mabd_real a = w->vector[i];
        if (a == 0) continue;
        for (int k = 0; xb && k < MABD_VARIATION; k++) {
            xb[k] -= v->kept.R[MABD_VARIATION * i + (size_t)k] * a;
        }
        for (size_t j = 0; j < v->o; j++) {
            bars[v->list[v->t + j]] -= v->kept.ahead[i * v->o + j] * a;
        }
    }
}

static void back_up(const sweep* w, const mabd_real* y, mabd_real* bars) {
    mabd_redmax_sim* sim = w->s->sim;
    const int32_t first = w->s->part->link_first;
    const int n = mabd_redmax_width(w->s->part);
    for (int32_t i = first + w->s->part->link_count - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        const bundle_view v = view_of(w->s, i);
        mabd_real* xb = sim->up + MABD_VARIATION * (size_t)i;
        end_back_up(w, &v, bars, xb);
        for (int32_t k = 0; k < link->count; k++) {
            const size_t at = (size_t)(link->first + k);
            sim->u[at] = y[at] + dot((size_t)n, sim->B + MABD_VARIATION * at, xb);
            for (size_t j = 0; j < v.o; j++) {
                bars[v.list[v.t + j]] += v.kept.L[j * (size_t)link->count + (size_t)k] * sim->u[at];
            }
        }
        if (link->parent >= 0) mabd_redmax_pull_up(sim, i, n, sim->u);
    }
    const bundle_view ground = view_of(w->s, -1);
    end_back_up(w, &ground, bars, NULL);
}

// mu of what ends at a link with the twist n, null = at the ground.
static void end_back_down(const sweep* w, const bundle_view* v, const mabd_real* bars,
                          const mabd_real* n) {
    if (v->t == 0) return;
    for (size_t i = 0; i < v->t; i++) {
        mabd_real sum = bars[v->list[i]];
        if (n) sum -= dot(6, v->kept.P + 6 * i, n);
        for (size_t j = 0; j < v->o; j++) {
            sum -= v->kept.behind[i * v->o + j] * w->y[v->list[v->t + j]];
        }
        w->vector[i] = sum;
    }
    mabd_dense_lu_solve_transposed(v->own->ends, v->kept.F, v->pivot, w->vector);
    for (size_t i = 0; i < v->t; i++) w->y[v->list[i]] = w->vector[i];
}

static void back_down(const sweep* w, const mabd_real* bars, mabd_real* z) {
    mabd_redmax_sim* sim = w->s->sim;
    const int32_t first = w->s->part->link_first;
    const bundle_view ground = view_of(w->s, -1);
    end_back_down(w, &ground, bars, NULL);
    for (int32_t i = first; i < first + w->s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const bundle_view v = view_of(w->s, i);
        mabd_real *n = sim->x + MABD_VARIATION * (size_t)i, b[3];
        mabd_spatial t = mabd_sp_zero();
        if (link->parent >= 0) {
            const mabd_real* n_p = sim->x + MABD_VARIATION * (size_t)link->parent;
            t = mabd_frame_to_child(&sim->E[i], mabd_sp_load(n_p));
        }
        for (int32_t k = 0; k < link->count; k++) {
            b[k] = sim->u[link->first + k] + mabd_sp_dot(sim->G[link->first + k], t);
            for (size_t j = 0; j < v.o; j++) {
                b[k] -= v.kept.Z[j * (size_t)link->count + (size_t)k] * w->y[v.list[v.t + j]];
            }
        }
        mabd_redmax_solve_pivots_back(w->s, link, b, z, &t);
        mabd_sp_store(t, n);
        end_back_down(w, &v, bars, n);
    }
}

// Minus the twists that z gives the links.
static void twists_of(const mabd_redmax_solve* s, const mabd_real* z) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first;
    for (int32_t i = first; i < first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_spatial t = mabd_sp_zero();
        mabd_real b[3] = {0, 0, 0};
        if (link->parent >= 0) {
            const mabd_real* n_p = sim->x + MABD_VARIATION * (size_t)link->parent;
            t = mabd_frame_to_child(&sim->E[i], mabd_sp_load(n_p));
        }
        for (int32_t k = 0; k < link->count; k++) b[k] = z[link->first + k];
        mabd_redmax_subtract_twist(s, link, b, &t);
        mabd_sp_store(t, sim->x + MABD_VARIATION * (size_t)i);
    }
}

bool mabd_redmax_bundle_solve_transposed(const mabd_redmax_solve* s, bool mass, mabd_real* z,
                                         const mabd_real* bars, mabd_real* mu) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, count = (size_t)s->part->freedom_count;
    const size_t at = (size_t)s->part->border_first, n = (size_t)s->part->border_count;
    mabd_real *rest = sim->loops.rest + at, *y = sim->loops.y + at, *step = sim->loops.pull;
    mabd_real* own = sim->loops.rhs + at;
    const sweep w = sweep_of(s, mass, y);
    mabd_real last = (mabd_real)INFINITY, most = 0;
    for (size_t r = 0; r < n; r++) {
        rest[r] = bars && r < (size_t)s->part->row_count ? bars[r] : 0, mu[r] = 0;
        if (fabs(rest[r]) > most) most = (mabd_real)fabs(rest[r]);
    }
    clear_borders(s, mass, false, rest);
    memcpy(step + first, z + first, count * sizeof *z);
    memset(z + first, 0, count * sizeof *z);
    for (int solves = 1;; solves++) {
        memcpy(own, rest, n * sizeof *own);
        mabd_redmax_clear_bars(s);
        back_up(&w, step, own);
        back_down(&w, own, step);
        for (size_t k = first; k < first + count; k++) z[k] += step[k];
        for (size_t r = 0; r < n; r++) mu[r] += y[r];
        const mabd_real terms = take_rows(s, mass, true, step, rest);
        const mabd_real now = largest(s, rest);
        if (solves == 1) last = terms;
        if (!(now > ENOUGH * terms) || solves == SOLVES || now > FALL * last) break;
        last = now;
        clear_borders(s, mass, true, rest);
        memset(step + first, 0, count * sizeof *step);
    }
    twists_of(s, z);
    return most == 0 || largest(s, rest) <= DETERMINED * most;
}
