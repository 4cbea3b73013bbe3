// SPDX-License-Identifier: Apache-2.0
// Why a step fails: bodies that joints hold stretched have no rigid motion.
//
// Impulses act along the rows at the start, so motions u that the rows leave free (G u = 0) get
// none: the part of V along them is that of the momenta. Two rods in line between two pins are free
// to first order to move across, and gravity moves them; to second order their ends then part by
// 1 - cos of their angle, and no impulse along the line prevents it: the step has no solution,
// however short it is. The same in numbers, with V_0 of the momenta alone:
//
//   V = V_0 - M^-1 G'(G M^-1 G')^-1 G V_0          the motion that the rows leave
//   r = C(z1(V))/h                                 what it opens
//   rest = r - G M^-1 G'x, x the proximal solution (rigid/refine.h)
//
// Rows that do not depend on each other have no rest. A rest is the part of the openings along
// combinations y of rows with G'y = 0, which no impulse changes.

#include "formulation/variational/variational_solve.h"
#include "rigid/twist.h"

#include <math.h>
#include <string.h>

/// Least part of the openings that is a conflict: one that opens at two of the ends of a row of
/// hundreds is spread over all of them.
#define CONFLICT_PART ((mabd_real)1e-3)

static bool is_held(const mabd_variational_sim* sim, int32_t row) {
    return sim->rows[row].kind == MABD_VARIATIONAL_HELD;
}

static void free_velocities(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        motion->V = mabd_rigid_accelerate(mabd_variational_class(sim, body), motion->in);
    }
}

static mabd_real rate_of(const mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench G,
                         bool change) {
    if (!mabd_variational_moves(sim, body)) return 0;
    return mabd_rigid_power(G, change ? sim->motion[body].change : sim->motion[body].V);
}

// Solve K x = b in sim->b for all rows of the island, change = M^-1 G'x.
static void respond(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    mabd_variational_solve_rows(s);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        memset(&sim->motion[s->island->bodies[i]].push, 0, sizeof sim->motion->push);
    }
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[s->island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, s->island->joints[i]);
        const int32_t sides[2] = {j->a, j->b};
        for (int32_t r = rows.first; r < rows.end; r++) {
            for (int k = 0; k < 2; k++) {
                if (!mabd_variational_moves(sim, sides[k])) continue;
                mabd_rigid_wrench* push = &sim->motion[sides[k]].push;
                const mabd_rigid_wrench G = k ? sim->G[r].b : sim->G[r].a;
                push->f = mabd_v3_axpy(sim->b[r], G.f, push->f);
                push->t = mabd_v3_axpy(sim->b[r], G.t, push->t);
            }
        }
    }
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        mabd_variational_motion* motion = &sim->motion[body];
        motion->change = mabd_rigid_accelerate(mabd_variational_class(sim, body), motion->push);
    }
}

static void clear_sides(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[s->island->components[i]];
        const int32_t first = sim->plan->slot_row[c->slot_first];
        const int32_t end = sim->plan->slot_row[c->slot_first + c->slot_count];
        memset(sim->b + first, 0, (size_t)(end - first) * sizeof *sim->b);
    }
}

// Give every held row of the island its entry of the right-hand side: -G V, or its opening r.
static void write_sides(const mabd_variational_solve* s, bool openings) {
    mabd_variational_sim* sim = s->sim;
    clear_sides(s);
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[s->island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, s->island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            if (!is_held(sim, r)) continue;
            const mabd_rigid_row* G = &sim->G[r];
            sim->b[r] = openings
                            ? sim->rows[r].r
                            : -rate_of(sim, j->a, G->a, false) - rate_of(sim, j->b, G->b, false);
        }
    }
}

// Largest opening, and largest rest of it; *joint gets the joint of that.
static mabd_real largest_rest(const mabd_variational_solve* s, mabd_real* opening, int32_t* joint) {
    const mabd_variational_sim* sim = s->sim;
    mabd_real most = 0;
    *opening = 0;
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[s->island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, s->island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            if (!is_held(sim, r)) continue;
            const mabd_rigid_row* G = &sim->G[r];
            const mabd_real closed =
                rate_of(sim, j->a, G->a, true) + rate_of(sim, j->b, G->b, true);
            const mabd_real open = (mabd_real)fabs(sim->rows[r].r);
            const mabd_real rest = (mabd_real)fabs(sim->rows[r].r - closed);
            if (open > *opening) *opening = open;
            if (rest > most) most = rest, *joint = s->island->joints[i];
        }
    }
    return most;
}

bool mabd_variational_has_conflict(const mabd_variational_solve* s, int32_t* joint) {
    mabd_variational_sim* sim = s->sim;
    mabd_real opening;
    int32_t unused;
    if (!s->island->shifted || mabd_variational_factor(s, &unused) != MABD_OK) return false;
    free_velocities(s);
    write_sides(s, false);
    respond(s);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        mabd_variational_motion* motion = &sim->motion[s->island->bodies[i]];
        motion->V = mabd_rigid_twist_axpy(1, motion->change, motion->V);
        if (!(s->h * mabd_v3_norm(motion->V.w) < 1)) return false; // beyond second order
    }
    (void)mabd_variational_evaluate(s, false, &unused);
    write_sides(s, true);
    respond(s);
    const mabd_real rest = largest_rest(s, &opening, joint);
    return rest * s->h > sim->def.row_tolerance && rest > CONFLICT_PART * opening;
}
