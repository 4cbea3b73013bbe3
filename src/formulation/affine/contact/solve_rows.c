// SPDX-License-Identifier: Apache-2.0
// Contacts as rows. For groups of small components (classify.c) W = Jc A^-1 Jc' is assembled
// (delassus.c), and sweeps over the contacts find the forces (dual/cone_gs.h); small ranges are
// tried by projected conjugate gradients first (dual/cone_cg.h). Large groups use these with
// products that are responses of the bodies (affine/contact/response.h) to the forces Jc' x, read
// by Jc.

#include "formulation/affine/contact/solve_rows.h"

#include "formulation/affine/contact/carriers.h"
#include "formulation/affine/contact/delassus.h"
#include "formulation/affine/contact/response.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/element/assembly.h"
#include "formulation/affine/limits.h"

#include <string.h>

typedef struct rows_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    int32_t count;
    int32_t first;     // entry of the list of rows
    mabd_vec12 *y, *d; // by place of a body
    bool* linear;      // by entry: turns
    // by row or entry
    mabd_real *rest, *own, *friction, *bound, *force, *rows, *work;
} rows_work;

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static mabd_affine_contact* contact_at(const rows_work* w, int32_t k, bool* turns) {
    return mabd_affine_contacts_at(w->c, mabd_affine_row_entry(w->c, w->first + k, turns));
}

// y = Jc' x
static void push(const rows_work* w, const mabd_real* x, mabd_vec12* y) {
    memset(y, 0, (size_t)w->c->rows.bodies.bodies.count * sizeof *y);
    for (int32_t k = 0; k < w->count; k++, x += 3) {
        bool turns;
        const mabd_affine_contact* p = contact_at(w, k, &turns);
        if (x[0] == 0 && x[1] == 0 && x[2] == 0) continue;
        const mabd_vec3 f = mabd_affine_contact_vector(p, x);
        if (turns) {
            const mabd_vec3 m = mabd_v3_scale(mabd_affine_turn_lever(w->c), f);
            mabd_affine_response_twist(w->sim, p->b, m, y);
            if (p->moving) mabd_affine_response_twist(w->sim, p->a, mabd_v3_scale(-1, m), y);
            continue;
        }
        mabd_affine_response_push(w->sim, p->b, p->Xb, f, y);
        if (p->moving) mabd_affine_response_push(w->sim, p->a, p->Xa, mabd_v3_scale(-1, f), y);
    }
}

// out = Jc d
static void read_rows(const rows_work* w, const mabd_vec12* d, mabd_real* out) {
    for (int32_t k = 0; k < w->count; k++, out += 3) {
        bool turns;
        const mabd_affine_contact* p = contact_at(w, k, &turns);
        mabd_vec3 x;
        if (turns) {
            x = mabd_affine_response_turn(w->sim, p->b, d);
            if (p->moving) x = mabd_v3_sub(x, mabd_affine_response_turn(w->sim, p->a, d));
            mabd_affine_contact_along(p, mabd_v3_scale(mabd_affine_turn_lever(w->c), x), out);
            continue;
        }
        x = mabd_affine_response_move(w->sim, p->b, p->Xb, d);
        if (p->moving) x = mabd_v3_sub(x, mabd_affine_response_move(w->sim, p->a, p->Xa, d));
        mabd_affine_contact_along(p, x, out);
    }
}

static void product(void* self, const mabd_real* x, mabd_real* out) {
    const rows_work* w = self;
    push(w, x, w->y);
    mabd_affine_response(w->sim, &w->c->rows.bodies, w->y, w->d);
    read_rows(w, w->d, out);
}

static void store_forces(const rows_work* w, const mabd_real* force) {
    for (int32_t k = 0; k < w->count; k++, force += 3) {
        bool turns;
        mabd_affine_contact* p = contact_at(w, k, &turns);
        if (turns) continue;
        memcpy(p->force, force, sizeof p->force);
        p->pressed = p->force[0] > 0;
        p->friction_state = p->pressed ? MABD_FRICTION_STICK : MABD_FRICTION_NONE;
        p->bound = w->bound[k];
        p->bound_unknown = false;
    }
}

static int32_t most_products(int32_t contacts) {
    const int32_t most = MABD_ROW_PRODUCTS_TIMES_CONTACTS / contacts;
    return most > MABD_ROW_MAX_PRODUCTS   ? MABD_ROW_MAX_PRODUCTS
           : most < MABD_ROW_MIN_PRODUCTS ? MABD_ROW_MIN_PRODUCTS
                                          : most;
}

// Rows of turns, as displacements at the lever; where one friction has no torque its row is soft.
static void fill_turns(const rows_work* w, const mabd_affine_contact* p, size_t k) {
    const mabd_real lever = mabd_affine_turn_lever(w->c);
    const mabd_real softness = mabd_affine_contact_softness(w->sim->model);
    mabd_real turn[3];
    mabd_affine_contact_along(p, p->turn, turn);
    for (int i = 0; i < 2; i++) {
        const int law = i == 0; // spinning, then rolling
        const mabd_real most = MABD_TURN_MAX_SOFTNESS * (p->own_turn[0] + p->own_turn[1]);
        const mabd_real c = p->stiff[law] * most > 1 ? 1 / p->stiff[law] : most;
        w->own[2 * k + (size_t)i] = lever * lever * c / softness;
    }
    for (size_t i = 0; i < 3; i++) {
        w->rest[3 * k + i] += lever * turn[i];
        w->force[3 * k + i] = -p->stiff[i == 0] * turn[i] / lever;
    }
    w->friction[k] = w->bound[k] = 0;
}

// Fill the arrays of the problem: values of the rows without contact forces, compliances, friction,
// bounds.
static void fill_problem(rows_work* w) {
    mabd_affine_response_read(w->sim, &w->c->rows.bodies, w->d);
    read_rows(w, w->d, w->rest);
    for (int32_t i = 0; i < w->count; i++) {
        const size_t k = (size_t)i;
        const mabd_affine_contact* p = contact_at(w, i, &w->linear[k]);
        if (w->linear[k]) {
            fill_turns(w, p, k);
            continue;
        }
        w->rest[3 * k] += p->gap;
        w->rest[3 * k + 1] += p->slip1 + p->stick_offset1,
            w->rest[3 * k + 2] += p->slip2 + p->stick_offset2;
        w->own[2 * k] = p->own_n, w->own[2 * k + 1] = p->own_t;
        w->friction[k] = p->friction;
        w->bound[k] = p->bound_unknown ? 0 : p->bound;
        memcpy(w->force + 3 * k, p->force, sizeof p->force);
    }
}

// Residual of a range: few contacts with restitution are solved to round-off. Their rates are
// displacements over h, and they return what a residual gives them.
static mabd_real goal_of(const rows_work* w, int32_t first, int32_t count) {
    bool rebounds = false, turns;
    if (count > MABD_ROW_CG_MAX_CONTACTS) return w->c->search.goal;
    for (int32_t k = first; k < first + count; k++) {
        rebounds |= contact_at(w, k, &turns)->restitution > 0;
    }
    return w->c->search.goal * (rebounds ? MABD_IMPACT_GOAL_PART : 1);
}

// The problem of `count` contacts from `first` on.
static mabd_cone_problem problem_of(const rows_work* w, int32_t first, int32_t count) {
    const size_t at = (size_t)first;
    const mabd_cone_problem problem = {.count = count,
                                       .rest = w->rest + 3 * at,
                                       .own = w->own + 2 * at,
                                       .softness = mabd_affine_contact_softness(w->sim->model),
                                       .friction = w->friction + at,
                                       .linear = w->linear + at,
                                       .tolerance = goal_of(w, first, count),
                                       .max_products = most_products(count)};
    return problem;
}

static void add_report(mabd_affine_contacts* c, const mabd_cone_report* report) {
    c->totals.products += report->products;
    if (!(report->residual <= c->totals.residual)) c->totals.residual = report->residual;
}

// While planes of contacts still bend, a few sweeps suffice.
static int32_t most_sweeps(const mabd_affine_contacts* c) {
    return c->search.goal > c->search.tolerance ? MABD_ROW_MAX_EARLY_SWEEPS : MABD_ROW_MAX_SWEEPS;
}

static void solve_small(const rows_work* w, const mabd_affine_contact_range* range) {
    mabd_cone_matrix W = mabd_affine_delassus_of(w->c, range);
    mabd_cone_problem problem = problem_of(w, range->first, range->count);
    mabd_real* force = w->force + 3 * (size_t)range->first;
    problem.product = mabd_cone_matrix_product, problem.self = &W;
    mabd_cone_report report = {0, 0, 0, false};
    if (range->count <= MABD_ROW_CG_MAX_CONTACTS) {
        problem.max_products = MABD_ROW_CG_MAX_PRODUCTS;
        report = mabd_cone_cg(&problem, force, w->rows, w->work);
    }
    if (!report.converged) {
        const int32_t before = report.products;
        problem.max_products = most_sweeps(w->c);
        report = mabd_cone_gs(&problem, &W, force, w->rows, w->work);
        report.products += before;
    }
    add_report(w->c, &report);
    for (int32_t i = 0; i < range->count; i++) {
        w->bound[range->first + i] = w->friction[range->first + i] * force[3 * i];
    }
}

// All contacts from `first` on at once.
static void solve_large(rows_work* w, int32_t first) {
    rows_work part = *w;
    part.first += first, part.count -= first;
    mabd_cone_problem problem = problem_of(w, first, part.count);
    problem.product = product, problem.self = &part;
    problem.bound = w->bound + first;
    problem.updates = w->c->search.first ? (int32_t)larger(1, w->c->search.friction_updates)
                                         : 0; // new contacts have no bound yet
    const mabd_cone_report report =
        mabd_cone_cg(&problem, w->force + 3 * (size_t)first, w->rows, w->work);
    add_report(w->c, &report);
}

static mabd_status find_forces(rows_work* w) {
    mabd_affine_contacts* c = w->c;
    const mabd_affine_contact_range* ranges = c->rows.ranges.data;
    int32_t small = 0, rows = 0;
    while (small < c->rows.ranges.count && ranges[small].small) rows += ranges[small++].count;
    c->totals.residual = 0;
    if (rows > 0) MABD_TRY(mabd_affine_delassus_build(w->sim, rows));
    for (int32_t i = 0; i < small; i++) solve_small(w, &ranges[i]);
    if (rows < w->count) solve_large(w, rows);
    return MABD_OK;
}

static mabd_status solve_rows(mabd_affine_sim* sim, bool again, mabd_vec12* bodies,
                              mabd_real* saved, mabd_real* reals) {
    mabd_affine_contacts* c = sim->contacts;
    rows_work w = {
        .sim = sim, .c = c, .count = c->rows.contacts.count, .linear = c->work.linear.data};
    const size_t n = (size_t)w.count;
    w.y = bodies, w.d = w.y + c->rows.bodies.bodies.count;
    w.rest = reals, w.own = w.rest + 3 * n, w.friction = w.own + 2 * n;
    w.bound = w.friction + n, w.force = w.bound + n;
    w.rows = w.force + 3 * n, w.work = w.rows + 3 * n;
    fill_problem(&w);
    if (!again) MABD_TRY(find_forces(&w));
    store_forces(&w, w.force);
    push(&w, w.force, w.y);
    mabd_affine_response_finish(sim, &c->rows.bodies, w.y, saved);
    return MABD_OK;
}

// ---- rows and supports -------------------------------------------------------------------------

mabd_status mabd_affine_contacts_solve(mabd_affine_sim* sim, bool again) {
    mabd_affine_contacts* c = sim->contacts;
    const int64_t n = c->rows.contacts.count, bodies_count = c->rows.bodies.bodies.count;
    const int64_t loads = c->support.loads.bodies.count,
                  supports = c->support.supports.bodies.count;
    const int64_t row_rows = mabd_affine_response_rows(sim, &c->rows.bodies);
    const int64_t load_rows = mabd_affine_response_rows(sim, &c->support.loads);
    const int64_t rows =
        row_rows + load_rows + mabd_affine_response_rows(sim, &c->support.supports);
    const int64_t bodies = larger(2 * bodies_count, 2 * loads + 6 * supports);
    const int64_t work =
        larger((int64_t)mabd_cone_cg_work((int32_t)n), (int64_t)mabd_cone_gs_work((int32_t)n));
    c->work.linear.count = c->work.bodies.count = c->work.reals.count = c->work.duals.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->work.bodies, sizeof(mabd_vec12), bodies));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->work.reals, sizeof(mabd_real), 13 * n + work));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->work.duals, sizeof(mabd_real), rows));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->work.linear, sizeof(bool), n));
    mabd_real *row_saved = c->work.duals.data, *load_saved = row_saved + row_rows,
              *support_saved = load_saved + load_rows;
    MABD_TRY(mabd_affine_response_open(sim, &c->rows.bodies));
    MABD_TRY(mabd_affine_response_open(sim, &c->support.loads));
    MABD_TRY(mabd_affine_response_open(sim, &c->support.supports));
    mabd_affine_response_save(sim, &c->rows.bodies, row_saved);
    mabd_affine_response_save(sim, &c->support.loads, load_saved);
    mabd_affine_response_save(sim, &c->support.supports, support_saved);
    mabd_affine_solve_dual(sim);
    if (c->rows.contacts.count > 0) {
        MABD_TRY(solve_rows(sim, again, c->work.bodies.data, row_saved, c->work.reals.data));
    }
    if (c->support.contacts.count > 0) {
        mabd_affine_contacts_solve_supports(sim, c->work.bodies.data, load_saved, support_saved);
    }
    return MABD_OK;
}
