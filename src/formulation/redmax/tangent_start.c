// SPDX-License-Identifier: Apache-2.0
// The start state of runs that are differentiated, and its derivatives.
//
// The start state of the model is projected onto the joints in the mass metric: coordinates of
// least distance from its poses, then rates of least distance from its velocities (start_pull.c).
// Both are zeros of residuals of the tree, without laws, gravity and forces, and have the
// derivatives of any residual. Coordinates and rates that are parameters are prescribed there.
//
//   poses        r(q) = 0               H = dr/dq          Newton's method
//   velocities   r(q, a) = 0            H = dr/da          linear in the rates, which stand in a
// Joints that are cut, and couplings, are rows with forces G'lambda in both, C(q) = 0 and c(q, a) =
// 0, as in a stage and in tangent_closing.c.
//
//   state        q, v = a of the links; of a ball omega = J a, J = 1 at the centre of its chart:
//                d omega = da + (dJ.a) rho

#include "formulation/redmax/redmax_tangent.h"

#include "base/error.h"
#include "formulation/redmax/redmax_loops.h"
#include "rigid/parameter_change.h"
#include "rigid/user_change.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

#define CLOSE_MAX_ITERATIONS 50
/// Change of a coordinate at which the projection ends, and above which a step is shortened [rad].
#define CLOSE_GOAL  ((mabd_real)1e-13)
#define CLOSE_LIMIT ((mabd_real)0.5)
/// Largest error of a row of a loop that is closed [m], [rad].
#define CLOSE_GAP ((mabd_real)1e-9)

static const mabd_redmax_weights by_q = {1, 0, 0};

/// The simulation as it is outside of the start.
typedef struct start_run {
    mabd_redmax_gradient* g;
    mabd_error* error;
    const mabd_model* model;
    mabd_redmax_link* links;
    mabd_redmax_freedom* freedoms;
    int32_t* body_force;
    bool has_applied;
    mabd_redmax_report report;
    mabd_redmax_pull pull;
} start_run;

// ---- the tree without laws ---------------------------------------------------------------------

static void place_bodies(mabd_redmax_gradient* g) {
    const mabd_model* m = g->sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_rigid_state s =
            mabd_rigid_from_user(&m->classes[m->body_class[i]], &m->start[i]);
        mabd_real *pose = g->poses + 7 * (size_t)i, *rate = g->rates + 6 * (size_t)i;
        mabd_v3_store(s.c, pose), mabd_q_store(s.q, pose + 3);
        mabd_v3_store(s.v, rate), mabd_v3_store(s.omega, rate + 3);
    }
}

static start_run enter(mabd_redmax_gradient* g, mabd_error* error) {
    mabd_redmax_sim* sim = g->sim;
    start_run r = {.g = g,
                   .error = error,
                   .model = sim->model,
                   .links = sim->links,
                   .freedoms = sim->freedoms,
                   .body_force = sim->body_force,
                   .has_applied = sim->inputs.has_applied,
                   .pull = {.poses = g->poses, .rates = g->rates}};
    r.pull.spin = mabd_rigid_common_spin(g->parameter_count, g->parameters, g->values);
    place_bodies(g);
    g->still = *sim->model;
    memset(g->still.gravity, 0, sizeof g->still.gravity);
    memcpy(g->still_links, sim->links, (size_t)sim->link_count * sizeof *sim->links);
    memcpy(g->still_freedoms, sim->freedoms, (size_t)sim->freedom_count * sizeof *sim->freedoms);
    for (int32_t i = 0; i < sim->link_count; i++) g->still_links[i].laws = false;
    for (int32_t i = 0; i < sim->ball_count; i++) sim->balls[i].holds = false;
    for (int32_t k = 0; k < sim->freedom_count; k++) {
        mabd_redmax_freedom* f = &g->still_freedoms[k];
        f->k = f->d = f->I = f->push = f->bend = 0;
        sim->force[k] = sim->motor[k] = 0;
    }
    for (int32_t i = 0; i < sim->part_count; i++) { // the pull depends on poses
        g->still_poses[i] = sim->parts[i].poses;
        sim->parts[i].poses = true;
    }
    sim->model = &g->still;
    sim->links = g->still_links, sim->freedoms = g->still_freedoms;
    sim->body_force = g->still_force, sim->inputs.has_applied = false;
    return r;
}

static void leave(const start_run* r) {
    mabd_redmax_sim* sim = r->g->sim;
    sim->model = r->model, sim->links = r->links, sim->freedoms = r->freedoms;
    sim->body_force = r->body_force, sim->inputs.has_applied = r->has_applied;
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].poses = r->g->still_poses[i];
    sim->placed = false;
}

// Prescribe scripts, and the freedoms that parameters of a kind set.
static void prescribe(const start_run* r, mabd_parameter_kind kind) {
    const mabd_redmax_gradient* g = r->g;
    mabd_redmax_freedom* f = g->still_freedoms;
    for (int32_t k = 0; k < g->sim->freedom_count; k++) {
        f[k].prescribed = f[k].held = f[k].script != NULL;
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        if (g->parameters[i].kind != kind) continue;
        const int32_t k = g->parameter_freedom[i];
        f[k].prescribed = f[k].held = true;
    }
}

static mabd_redmax_solve solve_of(start_run* r, int32_t part) {
    mabd_redmax_sim* sim = r->g->sim;
    mabd_redmax_solve s = {.sim = sim,
                           .part = &sim->parts[part],
                           .report = &r->report,
                           .force = sim->force,
                           .motor = sim->motor,
                           .from_node = &sim->now,
                           .pull = &r->pull,
                           .still = true};
    return s;
}

// Copy the forces of the rows of a part.
static void copy_forces(const mabd_redmax_solve* s, mabd_real* to, const mabd_real* from) {
    const size_t first = (size_t)s->part->row_first, count = (size_t)s->part->row_count;
    if (count > 0) memcpy(to + first, from + first, count * sizeof *to);
}

static mabd_status fail(const start_run* r) {
    return mabd_fail(r->error, MABD_ERR_SINGULAR, "the start state has no derivatives");
}

// ---- projections -------------------------------------------------------------------------------

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

// Residual and factor of poses at sim->q.
static mabd_status enter_poses(start_run* r, const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = r->g->sim;
    int32_t link;
    r->pull.velocities = false;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->v[k] = sim->a[k] = 0;
    mabd_redmax_residual(s);
    if (mabd_redmax_factor(s, by_q, &link) != MABD_OK) return fail(r);
    if (mabd_redmax_border_size(s) == 0) return MABD_OK;
    return mabd_redmax_border_factor(s) == MABD_OK ? MABD_OK : fail(r);
}

// One step of Newton's method; *change gets the largest change of a coordinate.
static mabd_status close_step(start_run* r, const mabd_redmax_solve* s, mabd_real* change) {
    mabd_redmax_sim* sim = r->g->sim;
    MABD_TRY(enter_poses(r, s));
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->step[k] = sim->freedoms[k].prescribed ? 0 : -sim->r[k];
    }
    if (mabd_redmax_border_size(s) == 0) {
        mabd_redmax_apply(s, sim->step, sim->step);
    } else {
        mabd_redmax_border_solve(s);
    }
    *change = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const mabd_real size = (mabd_real)fabs(sim->step[k]) / sim->freedoms[k].length;
        if (!(size <= *change)) *change = size;
    }
    const mabd_real part = *change > CLOSE_LIMIT ? CLOSE_LIMIT / *change : 1;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->q[k] += part * sim->step[k];
    for (int32_t k = s->part->row_first; k < s->part->row_first + s->part->row_count; k++) {
        sim->loops.force[k] += part * sim->loops.step[k];
    }
    return MABD_OK;
}

// True if the rows of a part are closed at the iterate.
static bool is_closed(const mabd_redmax_solve* s) {
    int32_t joint;
    if (s->part->row_count == 0) return true;
    mabd_redmax_velocities(s);
    mabd_redmax_rows(s);
    return mabd_redmax_largest_gap(s, &joint) <= CLOSE_GAP;
}

// Move `now` of a part to the coordinates of least distance from the start poses.
static mabd_status close_part(start_run* r, int32_t part) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    mabd_redmax_solve s = solve_of(r, part);
    mabd_real change = INFINITY, before = INFINITY;
    mabd_redmax_take_rows_back(&s);
    mabd_redmax_copy_node(&s, &sim->now, &sim->base);
    s.from_node = &sim->base;
    mabd_redmax_load_node(&s, &sim->base);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        if (g->parameters[i].kind != MABD_PARAMETER_COORDINATE) continue;
        if (g->parameter_part[i] == part) sim->q[g->parameter_freedom[i]] = g->values[i];
    }
    for (int32_t k = s.part->row_first; k < s.part->row_first + s.part->row_count; k++) {
        sim->loops.force[k] = 0;
    }
    for (int k = 0; k < CLOSE_MAX_ITERATIONS; k++, before = change) {
        MABD_TRY(close_step(r, &s, &change));
        const bool noise = change < (mabd_real)1e-9 && !(change < before / 2); // round-off
        if (change <= CLOSE_GOAL || noise) break;
    }
    copy_forces(&s, sim->loops.start_force, sim->loops.force);
    if (!(change < (mabd_real)1e-9) || !is_closed(&s)) {
        return mabd_fail(r->error, MABD_ERR_INPUT,
                         "the joints cannot be closed at these parameters");
    }
    for (int32_t k = s.part->freedom_first; k < end_of(&s); k++) sim->v[k] = 0;
    mabd_redmax_store_node(&s, &sim->now);
    return MABD_OK;
}

// Rates of least distance from the start velocities, in sim->a, at the poses of `now`; the matrix
// is factored.
static mabd_status enter_velocities(start_run* r, mabd_redmax_solve* s, int32_t part) {
    const mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    r->pull.velocities = true;
    mabd_redmax_load_node(s, &sim->now);
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const mabd_signal* script = sim->freedoms[k].script;
        sim->v[k] = 0;
        sim->a[k] = script ? mabd_signal_rate(script, 0) : 0;
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        if (g->parameters[i].kind != MABD_PARAMETER_RATE) continue;
        if (g->parameter_part[i] == part) sim->a[g->parameter_freedom[i]] = g->values[i];
    }
    if (s->part->row_count > 0) s->gamma = 1, s->by_rate = true; // c(q, a) = 0
    const mabd_status status = mabd_redmax_accelerate(s);
    s->by_rate = false;
    if (status != MABD_OK) return fail(r);
    mabd_redmax_derive_forces(s);
    return MABD_OK;
}

static mabd_status project_part(start_run* r, int32_t part) {
    mabd_redmax_sim* sim = r->g->sim;
    mabd_redmax_solve s = solve_of(r, part);
    MABD_TRY(enter_velocities(r, &s, part));
    for (int32_t k = s.part->freedom_first; k < end_of(&s); k++) sim->now.v[k] = sim->a[k];
    return MABD_OK;
}

mabd_status mabd_redmax_gradient_begin(void* self, void* work, mabd_error* error) {
    mabd_redmax_sim* sim = self;
    mabd_redmax_gradient* g = work;
    mabd_status status = MABD_OK;
    mabd_redmax_fill(sim, &g->graph); // the numbers of the model have changed
    mabd_redmax_clear_directions(g);
    mabd_redmax_start_nearest(sim);
    start_run r = enter(g, error);
    prescribe(&r, MABD_PARAMETER_COORDINATE);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) status = close_part(&r, i);
    prescribe(&r, MABD_PARAMETER_RATE);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        status = project_part(&r, i);
    }
    leave(&r);
    return status;
}

// ---- balls -------------------------------------------------------------------------------------

// d omega += (dJ.a) rho of balls, after the residual of velocities.
static void pass_balls(const mabd_redmax_solve* s, bool back, mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind != MABD_PRIMITIVE_BALL) continue;
        mabd_pass_m3(back, 1, sim->balls[link->ball].by_a, t.v + link->first, t.q + link->first);
    }
}

// ---- backwards ---------------------------------------------------------------------------------

// Bars of the loads -> placed.
static void placed_back(const mabd_redmax_gradient* g, const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        mabd_real bar[6];
        const int32_t body = mabd_redmax_carried(&sim->links[i]);
        if (body < 0) continue;
        mabd_sp_store(mabd_redmax_load_bar(sim, i), bar); // r falls with the load: -(-z)
        mabd_redmax_pass_pull(s, i, true, bar, g->placed + 12 * (size_t)body);
    }
}

// Bars of prescribed coordinates or rates, in g->z, are those of the parameters.
static void prescribed_back(const mabd_redmax_gradient* g, mabd_parameter_kind kind, int32_t part) {
    for (int32_t i = 0; i < g->parameter_count; i++) {
        if (g->parameters[i].kind != kind || g->parameter_part[i] != part) continue;
        g->product[i] += g->z[g->parameter_freedom[i]];
    }
}

// Bars of the velocities by the poses and by parameters.
static void collect(mabd_redmax_gradient* g, const mabd_redmax_solve* s, const mabd_real* z,
                    mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        for (int k = 0; k < sim->links[i].count; k++) {
            t.q[sim->links[i].first + k] -= mabd_redmax_bar(sim, i, k, by_q, z);
        }
    }
    mabd_redmax_parameter_products(g, s, MABD_EQUATION_VELOCITY, 0, -1, z);
}

static mabd_status velocities_back(start_run* r, int32_t part) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_tangent t = g->directions[0].now;
    mabd_real* mu = g->mu + sim->parts[part].border_first;
    mabd_redmax_solve s = solve_of(r, part);
    MABD_TRY(enter_velocities(r, &s, part));
    pass_balls(&s, true, t);
    for (int32_t k = s.part->freedom_first; k < end_of(&s); k++) g->z[k] = t.v[k];
    if (s.part->row_count == 0) {
        mabd_redmax_apply_transposed(&s, g->z, g->z);
    } else {
        mabd_redmax_mass_solve_transposed(&s, g->z, NULL, mu);
    }
    mabd_redmax_pull_back(&s, g->z, NULL);
    collect(g, &s, g->z, t);
    placed_back(g, &s);
    prescribed_back(g, MABD_PARAMETER_RATE, part);
    if (s.part->row_count == 0) return MABD_OK;
    mabd_redmax_enter_rows(&s, sim->a);
    s.row_bars = mu;
    mabd_redmax_pull_back(&s, NULL, NULL);
    collect(g, &s, NULL, t);
    return MABD_OK;
}

static mabd_status poses_back(start_run* r, int32_t part) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent t = g->directions[0].now;
    mabd_redmax_solve s = solve_of(r, part);
    mabd_real* mu = g->mu + s.part->border_first;
    mabd_redmax_load_node(&s, &g->sim->now);
    mabd_redmax_take_rows_back(&s);
    copy_forces(&s, g->sim->loops.force, g->sim->loops.start_force);
    MABD_TRY(enter_poses(r, &s));
    for (int32_t k = s.part->freedom_first; k < end_of(&s); k++) g->z[k] = t.q[k];
    if (mabd_redmax_border_size(&s) == 0) {
        mabd_redmax_apply_transposed(&s, g->z, g->z);
    } else {
        mabd_redmax_stage_solve_transposed(&s, g->z, NULL, mu);
        s.row_bars = mu;
    }
    mabd_redmax_pull_back(&s, g->z, NULL);
    placed_back(g, &s);
    mabd_redmax_parameter_products(g, &s, MABD_EQUATION_POSE, 0, -1, g->z);
    prescribed_back(g, MABD_PARAMETER_COORDINATE, part);
    return MABD_OK;
}

// Bars of the placed start state -> those of the user's, and the centres of mass.
static void user_back(const mabd_redmax_gradient* g) {
    const mabd_model* m = g->sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (g->sim->body_link[i] < 0) continue;
        mabd_rigid_pass_placed(&m->classes[m->body_class[i]], &m->start[i], true,
                               g->placed + 12 * (size_t)i, g->start + 12 * (size_t)i);
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        if (p->kind != MABD_PARAMETER_CENTER) continue;
        mabd_rigid_pass_placed_center(&m->start[p->index], p->component, true,
                                      g->placed + 12 * (size_t)p->index, &g->product[i]);
    }
}

mabd_status mabd_redmax_start_back(mabd_redmax_gradient* g, mabd_error* error) {
    const mabd_redmax_sim* sim = g->sim;
    const size_t bytes = 12 * (size_t)sim->model->body_count * sizeof *g->start;
    mabd_status status = MABD_OK;
    memset(g->placed, 0, bytes), memset(g->start, 0, bytes);
    start_run r = enter(g, error);
    prescribe(&r, MABD_PARAMETER_RATE);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        status = velocities_back(&r, i);
    }
    prescribe(&r, MABD_PARAMETER_COORDINATE);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) status = poses_back(&r, i);
    user_back(g);
    leave(&r);
    return status;
}

// ---- forward -----------------------------------------------------------------------------------

static void clear_changes(mabd_redmax_gradient* g, const mabd_redmax_part* part) {
    const mabd_redmax_changes* c = &g->changes;
    const size_t first = (size_t)part->link_first, freedom = (size_t)part->freedom_first;
    const size_t bytes = (size_t)part->link_count * sizeof *c->load;
    memset(c->parent_side + first, 0, bytes), memset(c->body_side + first, 0, bytes);
    memset(c->load + first, 0, bytes);
    memset(c->r + freedom, 0, (size_t)part->freedom_count * sizeof *c->r);
    memset(c->rows + part->row_first, 0, (size_t)part->row_count * sizeof *c->rows);
    g->changes.moved = -1;
}

// Changes of the loads by the placed start state.
static void placed_forward(const mabd_redmax_gradient* g, const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        mabd_real change[6] = {0};
        const int32_t body = mabd_redmax_carried(&sim->links[i]);
        if (body < 0) continue;
        mabd_redmax_pass_pull(s, i, false, change, g->placed + 12 * (size_t)body);
        g->changes.load[i] = mabd_sp_sub(g->changes.load[i], mabd_sp_load(change));
    }
}

// Solve for the changes by parameter i: dq is null, or that of the poses.
static void solve_forward(mabd_redmax_gradient* g, const mabd_redmax_solve* s,
                          mabd_redmax_equation equation, int32_t i, mabd_real* dq, mabd_real* out) {
    const bool poses = equation == MABD_EQUATION_POSE;
    const mabd_parameter_kind kind = poses ? MABD_PARAMETER_COORDINATE : MABD_PARAMETER_RATE;
    clear_changes(g, s->part);
    mabd_redmax_parameter_changes(g, s, equation, i, 0);
    placed_forward(g, s);
    mabd_redmax_changes c = g->changes;
    c.q = dq;
    mabd_redmax_push(s, &c, g->z, NULL);
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->z[k] = g->parameters[i].kind == kind && g->parameter_freedom[i] == k;
    }
    if (mabd_redmax_border_size(s) == 0) {
        mabd_redmax_apply(s, g->z, out);
        return;
    }
    mabd_real *y = g->mu + s->part->border_first, *rows = g->directions[i].rows;
    if (poses) {
        memcpy(rows + s->part->row_first, c.rows + s->part->row_first,
               (size_t)s->part->row_count * sizeof *rows);
        mabd_redmax_add_row_changes(s, &c, rows + s->part->row_first);
    }
    for (int32_t k = 0; k < mabd_redmax_border_size(s); k++) {
        y[k] = k < s->part->row_count ? -rows[s->part->row_first + k] : 0;
    }
    if (poses) {
        mabd_redmax_stage_solve(s, g->z, y);
    } else {
        mabd_redmax_mass_solve(s, g->z, y);
    }
    memcpy(out + s->part->freedom_first, g->z + s->part->freedom_first,
           (size_t)s->part->freedom_count * sizeof *out);
}

// Rows of velocities, without the change of the rates: directions -> rows.
static void rows_forward(mabd_redmax_gradient* g, mabd_redmax_solve* s) {
    const size_t row = (size_t)s->part->row_first;
    if (s->part->row_count == 0) return;
    mabd_redmax_enter_rows(s, g->sim->a);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_redmax_direction* d = &g->directions[i];
        clear_changes(g, s->part);
        mabd_redmax_parameter_changes(g, s, MABD_EQUATION_VELOCITY, i, 0);
        mabd_redmax_changes c = g->changes;
        c.q = d->now.q;
        mabd_redmax_push(s, &c, g->z, NULL);
        memcpy(d->rows + row, c.rows + row, (size_t)s->part->row_count * sizeof *c.rows);
        mabd_redmax_add_row_changes(s, &c, d->rows + row);
    }
    s->by_rate = false;
}

static void user_forward(const mabd_redmax_gradient* g, int32_t i, const mabd_real* start) {
    const mabd_model* m = g->sim->model;
    const size_t reals = 12 * (size_t)m->body_count;
    const mabd_parameter* p = &g->parameters[i];
    mabd_real* user = (mabd_real*)start + (size_t)i * reals; // read only
    mabd_real one = 1;
    memset(g->placed, 0, reals * sizeof *g->placed);
    for (int32_t b = 0; b < m->body_count; b++) {
        if (g->sim->body_link[b] < 0) continue;
        mabd_rigid_pass_placed(&m->classes[m->body_class[b]], &m->start[b], false,
                               g->placed + 12 * (size_t)b, user + 12 * (size_t)b);
    }
    if (p->kind != MABD_PARAMETER_CENTER) return;
    mabd_rigid_pass_placed_center(&m->start[p->index], p->component, false,
                                  g->placed + 12 * (size_t)p->index, &one);
}

static mabd_status part_forward(start_run* r, int32_t part, const mabd_real* start) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_solve s = solve_of(r, part);
    prescribe(r, MABD_PARAMETER_COORDINATE);
    mabd_redmax_load_node(&s, &g->sim->now);
    mabd_redmax_take_rows_back(&s);
    copy_forces(&s, g->sim->loops.force, g->sim->loops.start_force);
    MABD_TRY(enter_poses(r, &s));
    for (int32_t i = 0; i < g->parameter_count; i++) {
        user_forward(g, i, start);
        solve_forward(g, &s, MABD_EQUATION_POSE, i, NULL, g->directions[i].now.q);
    }
    prescribe(r, MABD_PARAMETER_RATE);
    MABD_TRY(enter_velocities(r, &s, part));
    rows_forward(g, &s);
    if (s.part->row_count > 0) MABD_TRY(enter_velocities(r, &s, part));
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_redmax_tangent t = g->directions[i].now;
        user_forward(g, i, start);
        solve_forward(g, &s, MABD_EQUATION_VELOCITY, i, t.q, t.v);
        pass_balls(&s, false, t);
    }
    return MABD_OK;
}

mabd_status mabd_redmax_start_forward(mabd_redmax_gradient* g, const mabd_real* start,
                                      mabd_error* error) {
    mabd_status status = MABD_OK;
    mabd_redmax_clear_directions(g);
    start_run r = enter(g, error);
    for (int32_t i = 0; i < g->sim->part_count && status == MABD_OK; i++) {
        status = part_forward(&r, i, start);
    }
    leave(&r);
    return status;
}
