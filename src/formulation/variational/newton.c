// SPDX-License-Identifier: Apache-2.0
// The Newton iteration of a substep without inequalities.
//
//   d = (m v, Lp(w)) - (P, L) - h/2 f - G0' l = 0       l: impulses of the rows
//   r = 0 of each row (variational_data.h)
//
// Two matrices (variational_sim.h chooses by island):
//
//   frozen   K = G0 M^-1 G0' + c, factored once a substep: symmetric, by the dual solvers. The
//            residual is exact; the iteration converges with the rate h |w|.
//   exact    all derivatives (exact.c), factored in every iteration.
//
// The iteration ends on lengths, not on velocities: h |dv| and h |dw| times the radius of gyration
// below a tenth of the row tolerance, rows below the tolerance, round-off of the coordinates aside.
// A rule on velocities is below round-off for chains of 1e4 links and never met. A step is halved
// until the energy norm of the residuals falls, d'M^-1 d + sum r^2/(G M^-1 G' + c).

#include "base/clock.h"
#include "formulation/variational/variational_body.h"
#include "formulation/variational/variational_exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef MABD_SINGLE
#define ROUND_OFF ((mabd_real)(64 * FLT_EPSILON))
#else
#define ROUND_OFF ((mabd_real)(64 * DBL_EPSILON))
#endif
/// Largest part of the row tolerance that the last step changes lengths by.
#define STEP_PART ((mabd_real)0.1)
/// Least part of a step that the line search tries.
#define LEAST_PART ((mabd_real)1e-3)

// ---- residuals ---------------------------------------------------------------------------------

// Place a body by its iterate, and begin its residual.
static void start_residual(const mabd_variational_solve* s, int32_t body, bool slopes) {
    mabd_variational_sim* sim = s->sim;
    mabd_variational_motion* motion = &sim->motion[body];
    const mabd_variational_body* now = &sim->next[body];
    const mabd_model_class* c = mabd_variational_class(sim, body);
    const mabd_rigid_twist V = motion->V;
    sim->to[body].R = mabd_q_matrix(mabd_variational_rotate(now->q, V.w, s->h));
    sim->to[body].c = mabd_v3_axpy(s->h, V.v, now->c);
    motion->d.f = mabd_v3_sub(mabd_v3_scale(c->material.mass, V.v), motion->in.f);
    if (motion->drag > 0) {
        motion->d.f = mabd_v3_axpy(motion->drag, mabd_v3_sub(V.v, motion->wind), motion->d.f);
    }
    motion->d.t = mabd_v3_sub(mabd_variational_momentum(c->principal, V.w, s->h, 1), motion->in.t);
    memset(&motion->given, 0, sizeof motion->given);
    if (slopes) motion->turn = mabd_variational_turn(V.w, s->h);
}

static void add_wrench(mabd_rigid_wrench* sum, mabd_rigid_wrench G, mabd_real impulse) {
    sum->f = mabd_v3_axpy(impulse, G.f, sum->f);
    sum->t = mabd_v3_axpy(impulse, G.t, sum->t);
}

// Finish the residuals of bodies that are placed. *merit, which may be null, gets the energy norm
// d'M^-1 d + sum r^2/own. Returns the largest error of a held row.
static mabd_real finish_residuals(const mabd_variational_solve* s, bool slopes, mabd_real* merit,
                                  int32_t* joint) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    mabd_real most = 0, rows_merit = 0, bodies_merit = 0;
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        const bool a = mabd_variational_moves(sim, j->a), b = mabd_variational_moves(sim, j->b);
        if (rows.first < 0) continue;
        for (int32_t r = rows.first; r < rows.end; r++) {
            if (a) add_wrench(&sim->motion[j->a].given, sim->G[r].a, sim->impulse[r]);
            if (b) add_wrench(&sim->motion[j->b].given, sim->G[r].b, sim->impulse[r]);
        }
        const mabd_real error = mabd_variational_joint_error(s, island->joints[i], slopes);
        if (!(error <= most)) most = error, *joint = island->joints[i];
        for (int32_t r = rows.first; merit && r < rows.end; r++) {
            rows_merit += sim->rows[r].r * sim->rows[r].r / sim->rows[r].own;
        }
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        const int32_t body = island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        motion->d.f = mabd_v3_sub(motion->d.f, motion->given.f);
        motion->d.t = mabd_v3_sub(motion->d.t, motion->given.t);
        if (!merit) continue;
        motion->push = motion->d;
        motion->free = mabd_rigid_accelerate(mabd_variational_class(sim, body), motion->d);
        bodies_merit += mabd_rigid_power(motion->d, motion->free);
    }
    if (merit) *merit = bodies_merit + rows_merit;
    return most;
}

static mabd_real evaluate(const mabd_variational_solve* s, bool slopes, mabd_real* merit,
                          int32_t* joint) {
    for (int32_t i = 0; i < s->island->body_count; i++) {
        start_residual(s, s->island->bodies[i], slopes);
    }
    return finish_residuals(s, slopes, merit, joint);
}

mabd_real mabd_variational_evaluate(const mabd_variational_solve* s, bool slopes, int32_t* joint) {
    return evaluate(s, slopes, NULL, joint);
}

// Call f for every row of an island.
#define FOR_ROWS(s, r)                                                                             \
    for (int32_t r##_i = 0; r##_i < (s)->island->joint_count; r##_i++)                             \
        for (mabd_variational_range r##_in =                                                       \
                 mabd_variational_rows((s)->sim, (s)->island->joints[r##_i]);                      \
             r##_in.first < r##_in.end; r##_in.first = r##_in.end)                                 \
            for (int32_t r = r##_in.first; r < r##_in.end; r++)

// ---- directions --------------------------------------------------------------------------------

// x = M^-1 b for a matrix by columns.
static mabd_vec3 solve3(mabd_mat3 M, mabd_vec3 b) {
    const mabd_vec3 x = mabd_v3_cross(M.c2, M.c3), y = mabd_v3_cross(M.c3, M.c1);
    const mabd_vec3 z = mabd_v3_cross(M.c1, M.c2);
    const mabd_real over = 1 / mabd_v3_dot(M.c1, x);
    return mabd_v3(over * mabd_v3_dot(x, b), over * mabd_v3_dot(y, b), over * mabd_v3_dot(z, b));
}

// Bodies without rows: dV = -A^-1 d.
static void free_direction(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        const mabd_model_class* c = mabd_variational_class(sim, body);
        const mabd_mat3 L = mabd_variational_slope(c->principal, motion->V.w, s->h);
        motion->change.v = mabd_v3_scale(-1 / (c->material.mass + motion->drag), motion->d.f);
        motion->change.w = mabd_v3_scale(-1, solve3(L, motion->d.t));
    }
}

static mabd_real side_rate(const mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench G) {
    if (!mabd_variational_moves(sim, body)) return 0;
    return mabd_rigid_power(G, sim->motion[body].free);
}

// K dl = -r + G M^-1 d, dV = M^-1 (G'dl - d). Sums of impulses gather in `push`, from d on.
static void frozen_direction(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    for (int32_t i = 0; i < island->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[island->components[i]];
        const int32_t first = sim->plan->slot_row[c->slot_first];
        const int32_t end = sim->plan->slot_row[c->slot_first + c->slot_count];
        if (c->junction_count == 0) continue;
        memset(sim->b + first, 0, (size_t)(end - first) * sizeof *sim->b);
    }
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            const mabd_rigid_row* G = &sim->G[r];
            sim->b[r] = side_rate(sim, j->a, G->a) + side_rate(sim, j->b, G->b) - sim->rows[r].r;
        }
    }
    mabd_variational_solve_rows(s);
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        const bool a = mabd_variational_moves(sim, j->a), b = mabd_variational_moves(sim, j->b);
        for (int32_t r = rows.first; r < rows.end; r++) {
            sim->change[r] = sim->b[r];
            if (a) add_wrench(&sim->motion[j->a].push, sim->G[r].a, -sim->b[r]);
            if (b) add_wrench(&sim->motion[j->b].push, sim->G[r].b, -sim->b[r]);
        }
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        const int32_t body = island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        const mabd_rigid_twist zero = {{0, 0, 0}, {0, 0, 0}};
        const mabd_rigid_twist u =
            mabd_rigid_accelerate(mabd_variational_class(sim, body), motion->push);
        motion->change = mabd_rigid_twist_axpy(-1, u, zero);
    }
}

mabd_status mabd_variational_fail(const mabd_variational_solve* s, mabd_status status, int32_t body,
                                  int32_t joint, const char* reason) {
    s->report->body = body, s->report->joint = joint, s->report->reason = reason;
    return status;
}

static mabd_status exact_direction(const mabd_variational_solve* s) {
    int32_t body, joint;
    double clock = mabd_clock();
    const mabd_status status = mabd_variational_exact_factor(s, &body, &joint);
    s->report->factor_seconds += mabd_clock() - clock;
    if (status != MABD_OK) {
        return mabd_variational_fail(s, status, body, joint, "the linear system is singular at");
    }
    clock = mabd_clock();
    mabd_variational_exact_solve(s);
    s->report->solve_seconds += mabd_clock() - clock;
    return MABD_OK;
}

static mabd_status find_direction(const mabd_variational_solve* s) {
    if (s->island->exact && s->island->has_rows) return exact_direction(s);
    if (s->island->has_rows) {
        frozen_direction(s);
    } else {
        free_direction(s);
    }
    return MABD_OK;
}

// ---- the iteration -----------------------------------------------------------------------------

void mabd_variational_keep_base(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[s->island->bodies[i]];
        motion->base = motion->V;
    }
    FOR_ROWS(s, r) sim->base[r] = sim->impulse[r];
}

void mabd_variational_move(const mabd_variational_solve* s, mabd_real part) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[s->island->bodies[i]];
        motion->V = mabd_rigid_twist_axpy(part, motion->change, motion->base);
    }
    FOR_ROWS(s, r) sim->impulse[r] = sim->base[r] + part * sim->change[r];
}

mabd_real mabd_variational_size_of_change(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    mabd_real most = 0;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_rigid_twist change = sim->motion[body].change;
        const mabd_real v = mabd_v3_norm(change.v), w = sim->reach[body] * mabd_v3_norm(change.w);
        if (!(v <= most)) most = v;
        if (!(w <= most)) most = w;
    }
    return s->h * most;
}

mabd_real mabd_variational_round_off(const mabd_variational_solve* s) {
    mabd_real most = 1;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const mabd_real size = mabd_v3_norm(s->sim->next[s->island->bodies[i]].c);
        if (size > most) most = size;
    }
    return ROUND_OFF * most;
}

int32_t mabd_variational_bound_turns(const mabd_variational_solve* s, mabd_real* part) {
    int32_t bounded = -1;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_variational_motion* motion = &s->sim->motion[body];
        for (int k = 0; k < 60; k++) {
            const mabd_vec3 w = mabd_v3_axpy(*part, motion->change.w, motion->base.w);
            if (s->h * s->h * mabd_v3_dot(w, w) <= MABD_VARIATIONAL_TURN2_MAX) break;
            *part /= 2, bounded = body;
        }
    }
    return bounded;
}

// Keep the iterate and take the whole increment, in one pass over bodies: what keep_base,
// size_of_change, bound_turns and move do for a part of 1. Returns the largest length of the
// increments [m]; *body: one that turns too far by it, -1 = none.
static mabd_real take_whole(const mabd_variational_solve* s, int32_t* body) {
    mabd_variational_sim* sim = s->sim;
    mabd_real most2 = 0;
    *body = -1;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t own = s->island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[own];
        const mabd_rigid_twist change = motion->change;
        const mabd_real v2 = mabd_v3_dot(change.v, change.v);
        const mabd_real w2 = sim->reach[own] * sim->reach[own] * mabd_v3_dot(change.w, change.w);
        motion->base = motion->V;
        motion->V = mabd_rigid_twist_axpy(1, change, motion->V);
        if (!(v2 <= most2)) most2 = v2;
        if (!(w2 <= most2)) most2 = w2;
        const mabd_real turn2 = s->h * s->h * mabd_v3_dot(motion->V.w, motion->V.w);
        if (!(turn2 <= MABD_VARIATIONAL_TURN2_MAX)) *body = own;
    }
    FOR_ROWS(s, r) {
        sim->base[r] = sim->impulse[r];
        sim->impulse[r] += sim->change[r];
    }
    return s->h * (mabd_real)sqrt(most2);
}

mabd_status mabd_variational_newton(const mabd_variational_solve* s) {
    const mabd_sim_def* def = &s->sim->def;
    const mabd_real round_off = mabd_variational_round_off(s);
    const mabd_real goal = STEP_PART * def->row_tolerance + round_off;
    int32_t joint = -1, body = -1;
    if (s->island->has_rows && !s->island->exact) {
        const mabd_status status = mabd_variational_factor(s, &joint);
        if (status != MABD_OK) {
            return mabd_variational_fail(s, status, -1, joint,
                                         "the matrix of the joints is singular at");
        }
    }
    mabd_real merit, now;
    evaluate(s, s->island->exact, &merit, &joint);
    for (int32_t k = 0; k < def->max_iterations; k++) {
        MABD_TRY(find_direction(s));
        const mabd_real size = take_whole(s, &body);
        if (!(size < (mabd_real)INFINITY)) break;
        mabd_real part = 1, error;
        s->report->iterations++;
        if (body >= 0) body = mabd_variational_bound_turns(s, &part);
        for (;;) {
            if (part < 1) mabd_variational_move(s, part);
            error = evaluate(s, s->island->exact, &now, &joint);
            if (now < merit || size <= goal / STEP_PART) {
                merit = now;
                break;
            }
            part /= 2;
            s->report->line_searches++;
            if (part < LEAST_PART) {
                return mabd_variational_fail(s, MABD_ERR_DIVERGED, body, joint,
                                             "the step does not converge at");
            }
        }
        if (part == 1 && size <= goal && error <= def->row_tolerance) {
            if (!mabd_variational_is_reversed(s, &joint)) return MABD_OK;
            return mabd_variational_fail(s, MABD_ERR_DIVERGED, -1, joint,
                                         "the step ends with an axis reversed at");
        }
    }
    return mabd_variational_fail(s, MABD_ERR_DIVERGED, body, joint,
                                 "the step does not converge at");
}

void mabd_variational_drift(const mabd_variational_solve* s) {
    int32_t joint;
    FOR_ROWS(s, r) s->sim->impulse[r] = 0;
    mabd_variational_evaluate(s, s->island->exact, &joint);
}
