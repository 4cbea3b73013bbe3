// SPDX-License-Identifier: Apache-2.0
// One step in maximal coordinates: velocities by one linear solve, poses by the exponential map.
//
//   [ M  -G' ] [ V+ ]   [ M V~ ]     V~ without forces of rows (maximal_loads.c)
//   [ G   C  ] [ l  ] = [ goal ]     goal, C of the rows (maximal_rows.c)     [RM eq. 1.88, 1.97]
//
//   K l = goal - G V~,  K = G M^-1 G' + C      V+ = V~ + M^-1 G' l      E+ = E exp(h [V+])
//
// Impulses l act on body b along the rows, with +G' (rigid/mobility.h has K, which is sparse: one
// block a joint). Components of the graph of joints are solved in parallel; contacts connect them
// afterwards (maximal_contact.c).

#include "base/clock.h"
#include "base/error.h"
#include "formulation/redmax/maximal.h"
#include "math/frame_exp.h"
#include "rigid/component_dual.h"
#include "rigid/measure.h"

#include <math.h>
#include <string.h>

mabd_dual_system mabd_maximal_system(const mabd_maximal_sim* sim, int32_t component) {
    mabd_dual_system system = mabd_rigid_dual_system(sim->plan, component, sim->D, sim->U);
    const mabd_dual_ops* ops = sim->ops[component];
    // parts of a job of the pool cannot start another one
    if (ops && ops->shares_work && sim->plan->component_count == 1) system.pool = sim->pool;
    return system;
}

mabd_rigid_mobility mabd_maximal_mobility(const mabd_maximal_sim* sim) {
    const mabd_rigid_mobility K = {sim->model, sim->plan, sim->J, sim->compliance, sim->D, sim->U};
    return K;
}

// ---- one component -----------------------------------------------------------------------------

// Write goal - G V~ of a component to lambda.
static void set_right_side(mabd_maximal_sim* sim, int32_t component) {
    const mabd_plan* plan = sim->plan;
    const mabd_plan_component* c = &plan->components[component];
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t first = plan->slot_row[s], joint = plan->slot_joint[s];
        for (int32_t r = first; r < first + plan->slot_width[s]; r++) {
            if (joint < 0) {
                sim->lambda[r] = 0;
                continue;
            }
            const mabd_model_joint* own = &sim->model->joints[joint];
            sim->lambda[r] = sim->goal[r] -
                             mabd_rigid_row_rate(&sim->J[r], sim->free[own->a], sim->free[own->b]);
        }
    }
}

// Move a body by a velocity over the step.
static void move_body(mabd_maximal_sim* sim, int32_t body, mabd_rigid_twist u) {
    const mabd_maximal_body* from = &sim->now.body[body];
    mabd_maximal_body* to = &sim->next.body[body];
    const mabd_mat3 R = sim->poses[body].R;
    to->V = mabd_sp(u.w, mabd_m3_tmul(R, u.v));
    const mabd_frame D = mabd_frame_exp(mabd_sp_scale(sim->def.h, to->V));
    to->c = mabd_v3_add(from->c, mabd_m3_mul(R, D.p));
    to->q = mabd_q_normalize(mabd_q_product(from->q, mabd_q_exp(mabd_v3_scale(sim->def.h, u.w))));
}

void mabd_maximal_move(mabd_maximal_sim* sim, int32_t component) {
    const mabd_plan_component* c = &sim->plan->components[component];
    const mabd_rigid_mobility K = mabd_maximal_mobility(sim);
    if (sim->ops[component]) {
        const mabd_dual_system system = mabd_maximal_system(sim, component);
        set_right_side(sim, component);
        mabd_rigid_mobility_solve(&K, component, sim->ops[component], sim->solvers[component],
                                  &system, sim->lambda, sim->work);
    }
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = sim->plan->component_bodies[i];
        const mabd_rigid_twist more = mabd_rigid_mobility_response(&K, body, sim->lambda);
        move_body(sim, body, mabd_rigid_twist_axpy(1, more, sim->free[body]));
    }
}

static bool is_finite(const mabd_maximal_body* b) {
    return isfinite(mabd_v3_dot(b->c, b->c) + mabd_sp_dot(b->V, b->V) + b->q.w);
}

// The motion of a component is finite, and no body turns too far by the acceleration of the step:
// loads and rows are those of the pose before it.
static void check_motion(const mabd_maximal_sim* sim, int32_t component) {
    const mabd_plan_component* c = &sim->plan->components[component];
    mabd_maximal_report* report = &sim->reports[component];
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = sim->plan->component_bodies[i];
        const mabd_maximal_body *from = &sim->now.body[body], *to = &sim->next.body[body];
        const mabd_real turn = sim->def.h * mabd_v3_norm(mabd_v3_sub(to->V.w, from->V.w));
        const bool finite = is_finite(to);
        if (finite && turn <= MABD_REDMAX_EXPLICIT_TURN) continue;
        report->status = MABD_ERR_DIVERGED, report->slot = -1, report->body = body;
        report->reason = finite ? MABD_REDMAX_EXPLICIT_REASON : "the motion is not finite at";
        return;
    }
}

static void step_component(void* context, int32_t component, int32_t thread) {
    mabd_maximal_sim* sim = context;
    const mabd_plan_component* c = &sim->plan->components[component];
    mabd_maximal_report* report = &sim->reports[component];
    const mabd_rigid_mobility K = mabd_maximal_mobility(sim);
    (void)thread;
    memset(report, 0, sizeof *report);
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = sim->plan->component_bodies[i];
        sim->free[body] = mabd_maximal_free_twist(sim, body);
    }
    double clock = mabd_clock();
    if (sim->ops[component]) {
        const mabd_dual_system system = mabd_maximal_system(sim, component);
        mabd_maximal_rows(sim, component);
        mabd_rigid_mobility_assemble(&K, component);
        report->status =
            sim->ops[component]->factor(sim->solvers[component], &system, &report->slot);
        if (report->status != MABD_OK) {
            report->reason = "the rows have no solution at";
            return;
        }
    }
    report->seconds[MABD_MAXIMAL_FACTOR] = mabd_clock() - clock;
    clock = mabd_clock();
    mabd_maximal_move(sim, component);
    report->seconds[MABD_MAXIMAL_SOLVE] = mabd_clock() - clock;
    check_motion(sim, component);
}

// ---- the step ----------------------------------------------------------------------------------

static mabd_status report_failure(const mabd_maximal_sim* sim, int32_t component, mabd_real time,
                                  mabd_error* error) {
    const mabd_plan_component* c = &sim->plan->components[component];
    const mabd_maximal_report* r = &sim->reports[component];
    const bool moves = r->slot < 0;
    const int32_t joint = moves ? -1 : sim->plan->slot_joint[c->slot_first + r->slot];
    const int32_t body = moves ? r->body : joint < 0 ? -1 - joint : -1;
    char label[160];
    if (body < 0) {
        mabd_model_joint_label(sim->model, joint, label, sizeof label);
    } else {
        mabd_model_body_label(sim->model, body, label, sizeof label);
    }
    return mabd_fail_at(error, r->status, body, body < 0 ? joint : -1, time, "%s %s (t = %g s)",
                        r->reason, label, (double)time);
}

static void measure_rows(const mabd_maximal_sim* sim, mabd_step_info* info) {
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        const mabd_model_joint* joint = &sim->model->joints[i];
        const mabd_joint_view view = mabd_maximal_view(sim, joint, &sim->now, sim->time);
        mabd_rigid_keep_error(&view, &sim->model->row_sets[joint->row_set], i, &info->gap,
                              &info->angle_error, &info->worst_joint);
    }
}

static void add_times(mabd_maximal_sim* sim, double elapsed) {
    double inside = sim->contact_seconds;
    sim->times[MABD_MAXIMAL_CONTACTS] += sim->contact_seconds;
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        for (int k = 0; k < MABD_MAXIMAL_STAGE_COUNT; k++) {
            sim->times[k] += sim->reports[i].seconds[k];
            inside += sim->reports[i].seconds[k];
        }
    }
    sim->times[MABD_MAXIMAL_STEP] += elapsed - inside;
}

// Take `next` as the state.
static void finish(mabd_maximal_sim* sim, mabd_real time) {
    const mabd_maximal_node oldest = sim->last;
    sim->last = sim->now, sim->now = sim->next, sim->next = oldest;
    sim->time = time + sim->def.h;
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        const mabd_model_joint* joint = &sim->model->joints[i];
        mabd_maximal_write_wrench(sim, i);
        if (joint->coordinate < 0) continue;
        const size_t at = 2 * (size_t)joint->coordinate;
        mabd_maximal_coordinates(sim, joint, &sim->now, sim->time, sim->last.x + at,
                                 sim->now.x + at);
    }
    mabd_maximal_book_step(sim, time);
    mabd_rigid_inputs_keep(&sim->inputs);
}

static mabd_status advance(mabd_maximal_sim* sim, mabd_step_info* info, mabd_error* error) {
    const int32_t count = sim->plan->component_count;
    mabd_maximal_place(sim);
    mabd_maximal_set_loads(sim);
    if (count == 1) {
        step_component(sim, 0, 0);
    } else {
        mabd_pool_run(sim->pool, count, step_component, sim);
    }
    for (int32_t i = 0; i < count; i++) {
        info->iterations += sim->ops[i] != NULL;
        if (sim->reports[i].status != MABD_OK) return report_failure(sim, i, sim->time, error);
    }
    const mabd_status status = sim->contacts ? mabd_maximal_meet(sim, info) : MABD_OK;
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "finding contacts");
    if (status == MABD_OK) return MABD_OK;
    return mabd_fail_at(error, status, -1, -1, sim->time,
                        "the forces of contacts diverge (t = %g s)", (double)sim->time);
}

mabd_status mabd_maximal_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error) {
    mabd_maximal_sim* sim = self;
    mabd_step_info local;
    const double clock = mabd_clock();
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->converged = true, info->worst_joint = -1, info->substeps = 1;
    sim->time = time, sim->contact_seconds = 0;
    const mabd_status status = advance(sim, info, error);
    if (status == MABD_OK) {
        finish(sim, time);
        measure_rows(sim, info);
    }
    add_times(sim, mabd_clock() - clock);
    return status;
}
