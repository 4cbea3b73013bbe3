// SPDX-License-Identifier: Apache-2.0
// A substep of an island with contacts, stops or boxes.
//
//   1  points at the poses that the last velocities predict
//   2  interior point: V, impulses of joints, forces of touches and boxes (interior_point.c)
//   3  points that pressed after an approach faster than the bound below get the rate -e u after
//      the impact, u before it, instead of a distance: 2 once more
//   4  true distances of the shapes at the end: if one is deeper than the contact tolerance, points
//      anew there and 2 once more, at most 3 times
//
// Forces are eliminated from the equations of the bodies [VI alg. 5]: with G the row of a force and
// dforce = k0 + k dV,
//
//   d gets -h G' force       A -= h G' k        right-hand side += h G' k0
//
// so the matrix keeps the slots of the island; a touch between two moving bodies fills the block
// that couples them.

#include "base/clock.h"
#include "formulation/variational/interior_limits.h"
#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_system.h"

#include <math.h>
#include <string.h>

/// Searches for points at the end of a substep.
#define MAX_SEARCHES 3
/// Overlap that may stay after these searches, in contact tolerances.
#define DEEP 100
/// Speed of approach from which a point bounces [m/s], and in falls of a substep.
#define BOUNCE_SPEED ((mabd_real)0.5)
#define BOUNCE_FALLS 2
/// Least pressure at the first iterate over the weight.
#define START_PART ((mabd_real)1)
/// Least gap of a point at the first iterate [m], and least slip that its cone is open for [m/s].
#define START_GAP  ((mabd_real)1e-3)
#define START_SLIP ((mabd_real)1e-2)
/// Speeds that a box starts with [m/s], [rad/s].
#define START_RATE ((mabd_real)1)

/// An island in the iteration.
typedef struct meeting {
    const mabd_variational_solve* s;
    mabd_variational_touch* touches;
    mabd_barrier_contact* barriers;
    mabd_variational_drive* drives;
    mabd_barrier_box* boxes;
    int32_t touch_count, box_count;
    mabd_status status;
    int32_t joint; // with the largest error
} meeting;

static meeting view_island(const mabd_variational_solve* s) {
    const mabd_variational_contacts* c = s->sim->contacts;
    meeting m = {.s = s, .joint = -1};
    m.touches = mabd_variational_touches(c, s->island);
    m.barriers = mabd_variational_barriers(c, s->island);
    m.drives = mabd_variational_drives(c, s->island);
    m.boxes = mabd_variational_boxes(c, s->island);
    m.touch_count = s->island->touch_count, m.box_count = s->island->box_count;
    return m;
}

// ---- residuals ---------------------------------------------------------------------------------

static void push_side(mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench w,
                      mabd_real impulse) {
    if (!mabd_variational_moves(sim, body)) return;
    mabd_variational_motion* motion = &sim->motion[body];
    motion->given.f = mabd_v3_axpy(impulse, w.f, motion->given.f);
    motion->given.t = mabd_v3_axpy(impulse, w.t, motion->given.t);
    motion->d.f = mabd_v3_axpy(-impulse, w.f, motion->d.f);
    motion->d.t = mabd_v3_axpy(-impulse, w.t, motion->d.t);
}

static void push(mabd_variational_sim* sim, int32_t a, int32_t b, const mabd_rigid_row* row,
                 mabd_real impulse) {
    push_side(sim, a, row->a, impulse);
    push_side(sim, b, row->b, impulse);
}

static void push_touch(const meeting* m, int32_t i) {
    const mabd_variational_touch* t = &m->touches[i];
    const mabd_barrier_contact* p = &m->barriers[i];
    mabd_real beta[2];
    push(m->s->sim, t->a, t->b, &t->row[0], m->s->h * p->gamma);
    if (!(p->c > 0)) return;
    mabd_barrier_friction(p, beta);
    for (int k = 0; k < 2; k++) push(m->s->sim, t->a, t->b, &t->row[1 + k], m->s->h * beta[k]);
}

static mabd_interior_error evaluate(void* self) {
    meeting* m = self;
    const mabd_variational_solve* s = m->s;
    mabd_interior_error error = {0, true};
    error.rows = mabd_variational_evaluate(s, true, &m->joint);
    mabd_variational_bound_errors(s, true);
    for (int32_t i = 0; i < m->touch_count; i++) {
        mabd_variational_touch* t = &m->touches[i];
        if (t->bound < 0) mabd_variational_point_errors(s, t, &m->barriers[i], true);
        const mabd_real off = (mabd_real)fabs(m->barriers[i].phi - m->barriers[i].s);
        push_touch(m, i);
        if (!(off <= error.rows)) error.rows = off;
    }
    for (int32_t i = 0; i < m->box_count; i++) {
        const mabd_variational_drive* d = &m->drives[i];
        push(s->sim, d->a, d->b, &d->row, s->h * m->boxes[i].force);
    }
    error.finite = error.rows < (mabd_real)INFINITY;
    return error;
}

// ---- the matrix --------------------------------------------------------------------------------

static mabd_rigid_row plus(mabd_rigid_row x, const mabd_rigid_row* row, mabd_real s) {
    x.a.f = mabd_v3_axpy(s, row->a.f, x.a.f), x.a.t = mabd_v3_axpy(s, row->a.t, x.a.t);
    x.b.f = mabd_v3_axpy(s, row->b.f, x.b.f), x.b.t = mabd_v3_axpy(s, row->b.t, x.b.t);
    return x;
}

static mabd_status factor(void* self) {
    meeting* m = self;
    const mabd_variational_solve* s = m->s;
    mabd_variational_system* system = s->island->system;
    const mabd_real h = s->h;
    int32_t body, joint;
    const double clock = mabd_clock();
    mabd_variational_system_assemble(s);
    for (int32_t i = 0; i < m->touch_count; i++) {
        const mabd_variational_touch* t = &m->touches[i];
        const mabd_barrier_contact* p = &m->barriers[i];
        const mabd_rigid_row k = mabd_variational_scaled(t->next, h * p->kn);
        mabd_variational_system_add(s->sim, system, t->a, t->b, &t->row[0], &k, -h);
        for (int a = 0; p->c > 0 && a < 2; a++) {
            mabd_rigid_row f = mabd_variational_scaled(t->next, h * p->sn[a]);
            f = plus(f, &t->row[1], p->st[a][0]);
            f = plus(f, &t->row[2], p->st[a][1]);
            mabd_variational_system_add(s->sim, system, t->a, t->b, &t->row[1 + a], &f, -h);
        }
    }
    for (int32_t i = 0; i < m->box_count; i++) {
        const mabd_variational_drive* d = &m->drives[i];
        const mabd_rigid_row k = mabd_variational_scaled(d->next, m->boxes[i].kn);
        mabd_variational_system_add(s->sim, system, d->a, d->b, &d->row, &k, -h);
    }
    m->status = mabd_variational_system_factor(s, &body, &joint);
    s->report->factor_seconds += mabd_clock() - clock;
    if (m->status == MABD_OK) return MABD_OK;
    s->report->body = body, s->report->joint = joint;
    s->report->reason = "the linear system is singular at";
    return m->status;
}

// Motion of a row by the increments of the bodies.
static mabd_real motion_of(const mabd_variational_sim* sim, int32_t a, int32_t b,
                           const mabd_rigid_row* row) {
    mabd_real sum = 0;
    if (mabd_variational_moves(sim, a)) sum += mabd_rigid_power(row->a, sim->motion[a].change);
    if (mabd_variational_moves(sim, b)) sum += mabd_rigid_power(row->b, sim->motion[b].change);
    return sum;
}

static void load(const meeting* m, int32_t a, int32_t b, const mabd_rigid_row* row, mabd_real s) {
    mabd_variational_system_load(m->s->sim, m->s->island->system, a, b, row, m->s->h * s);
}

static void solve(void* self) {
    meeting* m = self;
    const mabd_variational_solve* s = m->s;
    const double clock = mabd_clock();
    mabd_variational_system_residuals(s);
    for (int32_t i = 0; i < m->touch_count; i++) {
        const mabd_variational_touch* t = &m->touches[i];
        const mabd_barrier_contact* p = &m->barriers[i];
        load(m, t->a, t->b, &t->row[0], p->k0);
        for (int a = 0; p->c > 0 && a < 2; a++) load(m, t->a, t->b, &t->row[1 + a], p->s0[a]);
    }
    for (int32_t i = 0; i < m->box_count; i++) {
        load(m, m->drives[i].a, m->drives[i].b, &m->drives[i].row, m->boxes[i].k0);
    }
    mabd_variational_system_solve(s);
    for (int32_t i = 0; i < m->touch_count; i++) {
        const mabd_variational_touch* t = &m->touches[i];
        const mabd_real n = s->h * motion_of(s->sim, t->a, t->b, &t->next);
        const mabd_real slip[2] = {motion_of(s->sim, t->a, t->b, &t->row[1]),
                                   motion_of(s->sim, t->a, t->b, &t->row[2])};
        mabd_barrier_solve(&m->barriers[i], n, slip);
    }
    for (int32_t i = 0; i < m->box_count; i++) {
        const mabd_variational_drive* d = &m->drives[i];
        mabd_barrier_solve_box(&m->boxes[i], motion_of(s->sim, d->a, d->b, &d->next));
    }
    mabd_variational_keep_base(s);
    s->report->solve_seconds += mabd_clock() - clock;
}

static mabd_real limit(void* self, mabd_real* length) {
    const meeting* m = self;
    mabd_real part = 1;
    *length = mabd_variational_size_of_change(m->s);
    (void)mabd_variational_bound_turns(m->s, &part);
    return *length < (mabd_real)INFINITY ? part : 0;
}

static void move(void* self, mabd_real step) {
    const meeting* m = self;
    mabd_variational_move(m->s, step);
}

static void restart(void* self) {
    const meeting* m = self;
    for (int32_t i = 0; i < m->s->island->body_count; i++) {
        const int32_t body = m->s->island->bodies[i];
        m->s->sim->motion[body].V = m->s->sim->contacts->velocity[body];
    }
}

// ---- the start ---------------------------------------------------------------------------------

static void start_barriers(const meeting* m) {
    for (int32_t i = 0; i < m->touch_count; i++) {
        mabd_barrier_contact* p = &m->barriers[i];
        const mabd_real gap = m->touches[i].start;
        const mabd_real psi = p->gamma > 0 ? (mabd_real)fmax(p->psi, START_SLIP) : 1;
        p->gap = gap, p->s = gap > START_GAP ? gap : START_GAP;
        const mabd_real rest = START_PART * p->weight * START_GAP / p->s;
        p->gamma = p->gamma > rest ? p->gamma : rest;
        mabd_barrier_center(p, psi);
    }
    for (int32_t i = 0; i < m->box_count; i++) {
        mabd_barrier_box* p = &m->boxes[i];
        if (!(p->a > 0)) mabd_barrier_center_box(p, START_RATE);
        // (from the last force, away from its bounds)
        p->force = (mabd_real)0.9 * p->force;
        p->a = (mabd_real)fmax(p->a, START_SLIP), p->b = (mabd_real)fmax(p->b, START_SLIP);
    }
}

static mabd_real largest_speed(const mabd_variational_solve* s) {
    mabd_real most = 0;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const mabd_real v = mabd_v3_norm(s->sim->motion[s->island->bodies[i]].V.v);
        if (v > most) most = v;
    }
    return most;
}

// One iteration from the start of the barriers, or a second attempt from cold.
static mabd_interior_report attempt(meeting* m, const mabd_interior_problem* problem) {
    const mabd_interior_report report = mabd_interior_point(problem);
    m->s->report->iterations += report.iterations;
    m->s->report->barrier_iterations += report.iterations;
    m->s->report->restarts += report.restarts;
    return report;
}

static mabd_status iterate(meeting* m) {
    const mabd_variational_solve* s = m->s;
    const mabd_sim_def* def = &s->sim->def;
    const mabd_interior_host host = {m, evaluate, factor, solve, limit, move, restart};
    const mabd_real round_off = mabd_variational_round_off(s);
    mabd_interior_problem problem = {.host = host,
                                     .contacts = m->barriers,
                                     .boxes = m->boxes,
                                     .contact_count = m->touch_count,
                                     .box_count = m->box_count,
                                     .tolerance = def->contact_tolerance,
                                     .row_tolerance = def->row_tolerance + 10 * round_off,
                                     .h = s->h,
                                     .speed = largest_speed(s),
                                     .max_iterations = MABD_INTERIOR_MAX_ITERATIONS};
    start_barriers(m);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        s->sim->contacts->velocity[body] = s->sim->motion[body].V;
    }
    mabd_interior_report report = attempt(m, &problem);
    problem.central = true;
    problem.max_iterations = MABD_INTERIOR_MAX_SECOND;
    if (!report.converged && m->status == MABD_OK) report = attempt(m, &problem);
    if (report.converged) {
        int32_t joint;
        if (!mabd_variational_is_reversed(s, &joint)) return MABD_OK;
        return mabd_variational_fail(s, MABD_ERR_DIVERGED, -1, joint,
                                     "the step ends with an axis reversed at");
    }
    if (m->status != MABD_OK) return m->status;
    return mabd_variational_fail(s, MABD_ERR_DIVERGED, s->island->bodies[0], m->joint,
                                 "the contacts do not converge at");
}

// ---- impacts and searches ----------------------------------------------------------------------

// Points that pressed and bounce from now on. Returns their number.
static int32_t find_bounces(const meeting* m) {
    const mabd_variational_solve* s = m->s;
    const mabd_real g = mabd_v3_norm(mabd_v3_load(s->sim->model->gravity));
    const mabd_real least = (mabd_real)fmax(BOUNCE_SPEED, BOUNCE_FALLS * g * s->h);
    int32_t count = 0;
    for (int32_t i = 0; i < m->touch_count; i++) {
        mabd_variational_touch* t = &m->touches[i];
        const mabd_barrier_contact* p = &m->barriers[i];
        if (t->bounces || !(t->restitution > 0) || !(t->approach > least)) continue;
        if (!(p->gamma > MABD_VARIATIONAL_PRESSED_PART * p->weight)) continue;
        t->bounces = true;
        count++;
    }
    return count;
}

static mabd_status settle(const mabd_variational_solve* s) {
    meeting m = view_island(s);
    MABD_TRY(iterate(&m));
    if (find_bounces(&m) > 0) MABD_TRY(iterate(&m));
    return MABD_OK;
}

static void start_rows(const mabd_variational_solve* s) {
    mabd_variational_start_bounds(s);
    mabd_variational_start_points(s);
}

// Keep the forces of stops and boxes for the next substep.
static void keep_bounds(const meeting* m) {
    mabd_variational_bound_state* to = m->s->sim->contacts->next_bound;
    for (int32_t i = 0; i < m->touch_count && m->touches[i].bound >= 0; i++) {
        const mabd_barrier_contact* p = &m->barriers[i];
        to[m->touches[i].bound].force = p->gamma;
        to[m->touches[i].bound].h = m->s->h;
        to[m->touches[i].bound].presses = p->gamma > MABD_VARIATIONAL_PRESSED_PART * p->weight;
    }
    mabd_variational_sim* sim = m->s->sim;
    const mabd_real whole = mabd_variational_begins(m->s) ? 2 : 1; // a first node has half of it
    for (int32_t i = 0; i < m->box_count; i++) {
        const mabd_variational_bound* bound = &sim->contacts->bounds[m->drives[i].bound];
        const int32_t k = sim->model->joints[bound->joint].coordinate + bound->control;
        const mabd_variational_bound_state state = {whole * m->boxes[i].force, m->boxes[i].a,
                                                    m->boxes[i].b, m->s->h, false};
        to[m->drives[i].bound] = state;
        sim->mean_force[k] += m->s->h / sim->def.h * m->boxes[i].force;
    }
}

// Deepest overlap along a point at the start of a substep [m].
static mabd_real overlap_at_start(const mabd_variational_solve* s) {
    const meeting m = view_island(s);
    mabd_real deepest = 0;
    for (int32_t i = 0; i < m.touch_count; i++) {
        if (m.touches[i].bound < 0 && -m.touches[i].start > deepest) deepest = -m.touches[i].start;
    }
    return deepest;
}

// ---- works -------------------------------------------------------------------------------------

// Mean rate of a row over the node at the start, before and after its impulses.
static mabd_real node_rate(const meeting* m, const mabd_variational_touch* t,
                           const mabd_rigid_row* row, mabd_real given) {
    const mabd_variational_sim* sim = m->s->sim;
    const int32_t bodies[2] = {t->a, t->b};
    mabd_real sum = given;
    for (int side = 0; side < 2; side++) {
        const int32_t body = bodies[side];
        if (!mabd_variational_moves(sim, body)) continue;
        const mabd_rigid_wrench w = side ? row->b : row->a;
        const mabd_rigid_twist before = {sim->next[body].v, sim->next[body].w};
        sum += (mabd_rigid_power(w, before) + mabd_rigid_power(w, sim->motion[body].V)) / 2;
    }
    return sum;
}

// An impulse changes the kinetic energy by its product with the mean of the rates before and after
// it. What sides without forces take, scripts give.
static void book_works(const meeting* m) {
    mabd_variational_report* report = m->s->report;
    for (int32_t i = 0; i < m->touch_count; i++) {
        const mabd_variational_touch* t = &m->touches[i];
        const mabd_barrier_contact* p = &m->barriers[i];
        const mabd_real h = m->s->h;
        mabd_real beta[2] = {0, 0};
        if (p->c > 0) mabd_barrier_friction(p, beta);
        report->impacts -= h * p->gamma * node_rate(m, t, &t->row[0], t->given[0]);
        report->scripts -= h * p->gamma * t->given[0];
        for (int k = 0; k < 2; k++) {
            const mabd_real given = t->given[1 + k];
            report->friction -= h * beta[k] * node_rate(m, t, &t->row[1 + k], given);
            report->scripts -= h * beta[k] * given;
        }
    }
}

mabd_status mabd_variational_meet(const mabd_variational_solve* s) {
    mabd_variational_find_points(s, true);
    if (s->island->touch_count + s->island->box_count == 0) return mabd_variational_newton(s);
    start_rows(s);
    MABD_TRY(settle(s));
    for (int32_t i = 0;; i++) {
        const mabd_real depth = mabd_variational_deepest(s);
        if (!(depth > s->sim->def.contact_tolerance)) break;
        if (i == MAX_SEARCHES) {
            if (depth > s->report->penetration) s->report->penetration = depth;
            if (depth <= overlap_at_start(s) + DEEP * s->sim->def.contact_tolerance) break;
            return mabd_variational_fail(s, MABD_ERR_DIVERGED, s->island->bodies[0], -1,
                                         "shapes overlap after the step at");
        }
        mabd_variational_remember(s);
        mabd_variational_find_points(s, false);
        start_rows(s);
        MABD_TRY(settle(s));
    }
    const meeting m = view_island(s);
    mabd_variational_remember(s);
    keep_bounds(&m);
    book_works(&m);
    return MABD_OK;
}
