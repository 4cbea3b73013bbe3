// SPDX-License-Identifier: Apache-2.0
// Newton's method with lifted iterates.
//
// A turn dq of a joint moves what is behind it by dq times its distance, and by half of dq^2 times
// its distance across. At the end of a long chain the second is large where dq is small: a step of
// 1e-3 at a link with 200 m behind it is off by 0.1 mm there, 1 m/s^2 in a step of 10 ms, and
// Newton's method in coordinates shortens its steps until nothing moves. (A backbone of 2000 balls
// took 9 to 20 iterations a stage, and 7 of 12 steps in parts.) Nothing of this is in the links
// themselves: each turns against its neighbours by little.
//
// So poses E, velocities V and accelerations A of the links are iterates of their own, besides q.
// The motion that the parent and q give a link differs from its own one by a defect d, and the
// linear system has it on the right-hand side:
//
//   x = T x_p + B dq + d       d = ( V~ - V;  A~ - A - ad(S v)(V~ - V);  log(E^-1 E~) )
//   V~ = X V_p + S v           A~ = X A_p + S a + S'v + ad(V) S v          E~ = E_p E(q)
//
// All links then move by their own x, and the error of an iterate is the square of the turn of one
// link against its parent, wherever it is in the chain. This is the lifted Newton method of
// multiple shooting. Its steps are those of the same factor (factor.c): N d joins the wrench n of a
// link on the way up, and d the variation x on the way down. Where d = 0 it is Newton's method, and
// at its end d = 0. Steps are shortened until residuals and defects, by masses, decline together; a
// stage that needs more than a few gives up.

#include "formulation/redmax/redmax_lift.h"

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_lanes.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Iterates at most, and halvings of a step: what needs more does not converge soon.
#define LIFTS    8
#define HALVINGS 3

static mabd_real* defect_of(const mabd_redmax_sim* sim, int32_t link) {
    return sim->defect + MABD_VARIATION * (size_t)link;
}

// ---- defects -----------------------------------------------------------------------------------

void mabd_redmax_pose_defect(mabd_redmax_sim* sim, int32_t link, const mabd_frame* world) {
    const mabd_frame back = mabd_frame_inverse(&sim->world[link]);
    const mabd_frame D = mabd_frame_product(&back, world);
    mabd_sp_store(mabd_sp(mabd_so3_log(D.R), D.p), defect_of(sim, link) + 12);
}

void mabd_redmax_rate_defect(mabd_redmax_sim* sim, int32_t link, mabd_spatial V) {
    mabd_sp_store(mabd_sp_sub(V, sim->V[link]), defect_of(sim, link));
}

void mabd_redmax_acceleration_defect(mabd_redmax_sim* sim, int32_t link, mabd_spatial A) {
    mabd_real* d = defect_of(sim, link);
    const mabd_spatial turn = mabd_sp_cross(sim->Sv[link], mabd_sp_load(d));
    mabd_sp_store(mabd_sp_sub(mabd_sp_sub(A, sim->A[link]), turn), d + 6);
}

void mabd_redmax_add_defect(const mabd_redmax_sim* sim, int32_t link) {
    const mabd_real* d = defect_of(sim, link);
    mabd_real* x = sim->x + MABD_VARIATION * (size_t)link;
    for (int k = 0; k < MABD_VARIATION; k++) x[k] += d[k];
}

// ---- iterates ----------------------------------------------------------------------------------

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

static void evaluate(const mabd_redmax_solve* s) {
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    mabd_redmax_axes_rows(s);
}

// The step of coordinates, forces and links; *size gets its largest entry, as an angle.
static bool find_step(const mabd_redmax_solve* s, mabd_real* size) {
    mabd_redmax_sim* sim = s->sim;
    int32_t link;
    if (mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link) != MABD_OK) return false;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->step[k] = -sim->rows[k];
    if (s->part->border_count == 0) {
        mabd_redmax_apply_defects(s, true, sim->step, sim->step);
    } else {
        if (mabd_redmax_border_factor(s) != MABD_OK) return false;
        mabd_redmax_border_solve(s);
    }
    s->report->iterations++;
    *size = mabd_redmax_step_size(s, &link);
    return isfinite(*size);
}

// Move a link by alpha times its variation.
static void move_link(mabd_redmax_sim* sim, int32_t i, bool poses, mabd_real alpha) {
    const mabd_real* x = sim->x + MABD_VARIATION * (size_t)i;
    sim->V[i] = mabd_sp_axpy(alpha, mabd_sp_load(x), sim->V[i]);
    sim->A[i] = mabd_sp_axpy(alpha, mabd_sp_load(x + 6), sim->A[i]);
    if (!poses) return;
    const mabd_spatial xi = mabd_sp_scale(alpha, mabd_sp_load(x + 12));
    const mabd_real angle = mabd_v3_norm(xi.w);
    const mabd_vec3 axis = angle > 0 ? mabd_v3_scale(1 / angle, xi.w) : mabd_v3(0, 0, 1);
    const mabd_frame move = {mabd_q_matrix(mabd_q_axis_angle(axis, angle)), xi.v};
    sim->world[i] = mabd_frame_product(&sim->world[i], &move);
}

static void move(const mabd_redmax_solve* s, mabd_real alpha) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] += alpha * sim->step[k];
    }
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        sim->loops.force[r] += alpha * sim->loops.step[r];
    }
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        move_link(sim, i, s->part->poses, alpha);
    }
    evaluate(s);
}

// ---- when to lift ------------------------------------------------------------------------------

void mabd_redmax_predict(const mabd_redmax_solve* s, mabd_real alpha) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_spatial x = mabd_sp_load(sim->x + MABD_VARIATION * (size_t)i);
        mabd_sp_store(mabd_sp_axpy(alpha, x, sim->V[i]), defect_of(sim, i));
    }
}

static mabd_real weigh(const mabd_redmax_link* link, mabd_spatial V) {
    return mabd_sp_dot(V, mabd_inertia_mul(&link->M, V));
}

mabd_real mabd_redmax_deviation(const mabd_redmax_solve* s, mabd_real alpha) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real apart = 0, whole = 0;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial x = mabd_sp_load(sim->x + MABD_VARIATION * (size_t)i);
        if (!(link->M.mass > 0)) continue;
        apart += weigh(link, mabd_sp_sub(sim->V[i], mabd_sp_load(defect_of(sim, i))));
        whole += alpha * alpha * weigh(link, x);
    }
    return whole > 0 ? (mabd_real)sqrt(apart / whole) : 0;
}

// Size of the defects of a link, as that of residuals in the merit: M a^2 gamma^2.
static mabd_real defect_size(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_real* d = defect_of(sim, i);
    const mabd_spatial V = mabd_sp_load(d), xi = mabd_sp_load(d + 12);
    const mabd_spatial A = mabd_sp_add(mabd_sp_load(d + 6), mabd_sp_cross(sim->Sv[i], V));
    const mabd_real g = s->gamma * s->gamma;
    if (!(link->M.mass > 0)) return 0;
    return g * weigh(link, A) + weigh(link, V) + weigh(link, xi) / g;
}

static mabd_real lifted_merit(const mabd_redmax_solve* s) {
    mabd_real sum = mabd_redmax_merit(s);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        sum += defect_size(s, i);
    }
    return sum;
}

// Move by the step, shortened until the merit declines; false if it does not.
static bool search(const mabd_redmax_solve* s, mabd_real alpha, mabd_real* phi) {
    mabd_real at = 0;
    for (int i = 0; i <= HALVINGS; i++, alpha /= 2) {
        move(s, alpha - at);
        at = alpha;
        const mabd_real now = lifted_merit(s);
        if (now <= *phi * (1 - MABD_NEWTON_DECLINE * alpha)) {
            *phi = now;
            return true;
        }
        s->report->line_searches++;
    }
    return false;
}

bool mabd_redmax_solve_lifted(const mabd_redmax_solve* own, bool first) {
    mabd_redmax_solve s = *own;
    const mabd_real goal = s.sim->def.redmax.newton_tolerance;
    mabd_real size = 0, phi;
    int32_t link;
    evaluate(&s); // all links, where they are
    memset(defect_of(s.sim, s.part->link_first), 0,
           MABD_VARIATION * (size_t)s.part->link_count * sizeof *s.sim->defect);
    s.lifted = true;
    phi = lifted_merit(&s);
    const int32_t budget = s.sim->def.max_iterations;
    for (int32_t i = 0; i < LIFTS && i < budget; i++) {
        if (i > 0 || !first) {
            if (!find_step(&s, &size)) return false;
        } else {
            size = mabd_redmax_step_size(&s, &link);
        }
        if (size <= goal) {
            move(&s, 1);
            return true;
        }
        const bool limited = size > MABD_NEWTON_STEP_LIMIT;
        if (!search(&s, limited ? MABD_NEWTON_STEP_LIMIT / size : 1, &phi)) return false;
    }
    return false;
}
