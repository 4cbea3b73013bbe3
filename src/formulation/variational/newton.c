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

static void start_residual(const mabd_variational_solve* s, int32_t body) {
    mabd_variational_sim* sim = s->sim;
    mabd_variational_motion* motion = &sim->motion[body];
    const mabd_variational_body* now = &sim->next[body];
    const mabd_model_class* c = mabd_variational_class(sim, body);
    const mabd_rigid_twist V = motion->V;
    const mabd_vec3 air = mabd_v3_sub(V.v, motion->wind);
    sim->to[body].R = mabd_q_matrix(mabd_variational_rotate(now->q, V.w, s->h));
    sim->to[body].c = mabd_v3_axpy(s->h, V.v, now->c);
    motion->turn = mabd_variational_turn(V.w, s->h);
    motion->d.f = mabd_v3_sub(mabd_v3_scale(c->material.mass, V.v), motion->in.f);
    motion->d.f = mabd_v3_axpy(motion->drag, air, motion->d.f);
    motion->d.t = mabd_v3_sub(mabd_variational_momentum(c->principal, V.w, s->h, 1), motion->in.t);
    memset(&motion->given, 0, sizeof motion->given);
}

static void give(mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench G, mabd_real impulse) {
    if (!mabd_variational_moves(sim, body)) return;
    mabd_rigid_wrench* given = &sim->motion[body].given;
    given->f = mabd_v3_axpy(impulse, G.f, given->f);
    given->t = mabd_v3_axpy(impulse, G.t, given->t);
}

mabd_real mabd_variational_evaluate(const mabd_variational_solve* s, bool slopes, int32_t* joint) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    for (int32_t i = 0; i < island->body_count; i++) start_residual(s, island->bodies[i]);
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            give(sim, j->a, sim->rows[r].G.a, sim->impulse[r]);
            give(sim, j->b, sim->rows[r].G.b, sim->impulse[r]);
        }
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[island->bodies[i]];
        motion->d.f = mabd_v3_sub(motion->d.f, motion->given.f);
        motion->d.t = mabd_v3_sub(motion->d.t, motion->given.t);
    }
    return mabd_variational_row_errors(s, slopes, joint);
}

// Call f for every row of an island.
#define FOR_ROWS(s, r)                                                                             \
    for (int32_t r##_i = 0; r##_i < (s)->island->joint_count; r##_i++)                             \
        for (mabd_variational_range r##_in =                                                       \
                 mabd_variational_rows((s)->sim, (s)->island->joints[r##_i]);                      \
             r##_in.first < r##_in.end; r##_in.first = r##_in.end)                                 \
            for (int32_t r = r##_in.first; r < r##_in.end; r++)

// d'M^-1 d + sum r^2/own
static mabd_real merit_of(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_rigid_wrench d = sim->motion[body].d;
        const mabd_rigid_twist u = mabd_rigid_accelerate(mabd_variational_class(sim, body), d);
        sum += mabd_rigid_power(d, u);
    }
    FOR_ROWS(s, r) sum += sim->rows[r].r * sim->rows[r].r / sim->rows[r].own;
    return sum;
}

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
    return mabd_rigid_power(G, sim->motion[body].change);
}

// K dl = -r + G M^-1 d, dV = M^-1 (G'dl - d)
static void frozen_direction(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    for (int32_t i = 0; i < island->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[island->components[i]];
        const int32_t first = sim->plan->slot_row[c->slot_first];
        const int32_t end = sim->plan->slot_row[c->slot_first + c->slot_count];
        memset(sim->b + first, 0, (size_t)(end - first) * sizeof *sim->b);
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[island->bodies[i]];
        motion->change =
            mabd_rigid_accelerate(mabd_variational_class(sim, island->bodies[i]), motion->d);
    }
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            const mabd_variational_row* row = &sim->rows[r];
            sim->b[r] = side_rate(sim, j->a, row->G.a) + side_rate(sim, j->b, row->G.b) - row->r;
        }
    }
    mabd_variational_solve_rows(s);
    for (int32_t i = 0; i < island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[island->bodies[i]];
        motion->given.f = mabd_v3_scale(-1, motion->d.f);
        motion->given.t = mabd_v3_scale(-1, motion->d.t);
    }
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            sim->change[r] = sim->b[r];
            give(sim, j->a, sim->rows[r].G.a, sim->b[r]);
            give(sim, j->b, sim->rows[r].G.b, sim->b[r]);
        }
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        const int32_t body = island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        motion->change = mabd_rigid_accelerate(mabd_variational_class(sim, body), motion->given);
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
    mabd_variational_evaluate(s, s->island->exact, &joint);
    mabd_real merit = merit_of(s);
    for (int32_t k = 0; k < def->max_iterations; k++) {
        MABD_TRY(find_direction(s));
        const mabd_real size = mabd_variational_size_of_change(s);
        if (!(size < (mabd_real)INFINITY)) break;
        mabd_real part = 1, error;
        mabd_variational_keep_base(s);
        s->report->iterations++;
        body = mabd_variational_bound_turns(s, &part);
        for (;;) {
            mabd_variational_move(s, part);
            error = mabd_variational_evaluate(s, s->island->exact, &joint);
            const mabd_real now = merit_of(s);
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
