// SPDX-License-Identifier: Apache-2.0
// Update of one body (affine/cpu/update.c): the new state from the multipliers; and the coordinates
// of one joint at the end of a step.
#pragma once

#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/element/turn_joint.h"

#include "math/block.h"

// J' lambda of the point rows of a joint.
MABD_FN mabd_vec12 mabd_affine_update_point_force(const mabd_model_joint* joint, int is_b,
                                                  mabd_mat3 R, const mabd_real* lambda) {
    const mabd_vec3 n = mabd_m3_tmul(R, mabd_v3_load(lambda));
    return is_b ? mabd_vec12_at(mabd_v3_load(joint->Xb), n)
                : mabd_vec12_at(mabd_v3_load(joint->Xa), mabd_v3_scale(-1, n));
}

// J' lambda of a body whose joints are all balls, body frame.
MABD_FN mabd_vec12 mabd_affine_update_ball_force(const mabd_affine_sim* sim, int32_t body,
                                                 mabd_mat3 R) {
    const mabd_plan* plan = sim->model->plan;
    mabd_vec12 f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_plan_side* side = &plan->sides[s];
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
        const mabd_real* lambda = sim->lambda + plan->slot_row[side->slot];
        f = mabd_vec12_axpy(1, mabd_affine_update_point_force(joint, side->is_b, R, lambda), f);
    }
    return f;
}

// J' lambda of a body whose joints have point rows and vector rows, body frame.
MABD_FN mabd_vec12 mabd_affine_update_spring_force(const mabd_affine_sim* sim, int32_t body,
                                                   mabd_mat3 R) {
    const mabd_model* m = sim->model;
    const mabd_plan* plan = m->plan;
    mabd_vec12 f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    mabd_vec3 torque = mabd_v3(0, 0, 0);
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_plan_side* side = &plan->sides[s];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[side->slot]];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        const mabd_real* lambda = sim->lambda + plan->slot_row[side->slot];
        f = mabd_vec12_axpy(1, mabd_affine_update_point_force(joint, side->is_b, R, lambda), f);
        if (set->control_count == 0) continue;
        for (int32_t k = 0; k < set->control_count; k++) {
            const mabd_vec3 n = mabd_affine_turn_axis(sim, joint, k, side->is_b, R);
            torque = mabd_v3_axpy(lambda[3 + k], n, torque);
        }
    }
    return mabd_vec12_axpy(1, mabd_vec12_torque(torque), f);
}

// J' lambda of one joint with any rows.
MABD_FN mabd_vec12 mabd_affine_update_joint_force(const mabd_affine_sim* sim,
                                                  const mabd_plan_side* side, mabd_mat3 R) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[m->plan->slot_joint[side->slot]];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const mabd_real* lambda = sim->lambda + m->plan->slot_row[side->slot];
    mabd_vec12 f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int32_t points = 0;
    if (set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT) {
        f = mabd_affine_update_point_force(joint, side->is_b, R, lambda);
        points = 3;
    }
    if (set->points_only) return f;
    mabd_joint_view view;
    mabd_vec3 phi;
    mabd_affine_ref_view(sim, joint, &phi, &view);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    for (int32_t r = points; r < set->rigid_count; r++) {
        const mabd_vec12 J = mabd_affine_row_jacobian(&view, &set->rigid[r], gap, side->is_b);
        f = mabd_vec12_axpy(lambda[r], J, f);
    }
    lambda += set->rigid_count;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_vec12 J = mabd_affine_row_jacobian(&view, &set->control_row[r], gap, side->is_b);
        f = mabd_vec12_axpy(lambda[r], J, f);
    }
    return f;
}

// J' lambda of all joints on a body with any rows.
MABD_FN mabd_vec12 mabd_affine_update_row_force(const mabd_affine_sim* sim, int32_t body,
                                                mabd_mat3 R) {
    const mabd_plan* plan = sim->model->plan;
    mabd_vec12 f = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        f = mabd_vec12_axpy(1, mabd_affine_update_joint_force(sim, &plan->sides[s], R), f);
    }
    return f;
}

// J' lambda of a body that is not a junction.
MABD_BLOCK_FN mabd_vec12 mabd_affine_update_pull_force(const mabd_affine_sim* sim,
                                                       mabd_affine_body_kind kind, int32_t body,
                                                       mabd_mat3 R) {
    switch (kind) {
    case MABD_BODY_SIMPLE:
        return mabd_affine_update_ball_force(sim, body, R);
    case MABD_BODY_SPRUNG:
        return mabd_affine_update_spring_force(sim, body, R);
    default:
        return mabd_affine_update_row_force(sim, body, R);
    }
}

/// Compute the new state of a body of a kind; if kind is a constant, the other branches are not
/// compiled. touched: process the contacts of the body.
MABD_BLOCK_FN void mabd_affine_stage_update_kind(mabd_affine_sim* sim, mabd_affine_body_kind kind,
                                                 bool touched, int32_t body,
                                                 mabd_affine_motion_report* report) {
    const size_t at = (size_t)body;
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    const mabd_vec12 ref = mabd_vec12_load(sim->ref + 12 * at);
    mabd_real* q = sim->q_new + 12 * at;
    mabd_vec12 moved; // H^-1 J' lambda
    if (kind == MABD_BODY_JUNCTION) {
        moved = mabd_affine_junction_freedoms(sim, body);
    } else {
        const mabd_vec12 f =
            mabd_affine_update_pull_force(sim, kind, body, mabd_m3(ref.d1, ref.d2, ref.d3));
        moved = mabd_affine_block_solve(b, mabd_sym3_load(sim->geometric + 6 * at), f);
        if (touched) mabd_affine_subtract_eliminated(sim, body, f, &moved);
    }
    const mabd_vec12 d = mabd_vec12_axpy(-1, moved, mabd_vec12_load(q));
    const mabd_vec3 w = mabd_vec12_rotation(d);
    mabd_sym3_store(mabd_affine_block_stress(b, d), sim->stress_new + 6 * at);
    mabd_vec12_store(mabd_vec12_place(ref, d), q);
    if (!b->soft) {
        mabd_affine_store_spin_step(sim, body, mabd_m3(d.d1, d.d2, d.d3), sim->geometric + 6 * at);
    }
    mabd_affine_report_motion(report, body, mabd_v3_dot(w, w), mabd_vec12_dot(d, d));
}

/// Compute the new state of a body of any kind.
MABD_FN void mabd_affine_stage_update_body(mabd_affine_sim* sim, int32_t body,
                                           mabd_affine_motion_report* report) {
    mabd_affine_stage_update_kind(sim, (mabd_affine_body_kind)sim->body_kind[body], true, body,
                                  report);
}

/// Compute x and x' of the controlled coordinates of a joint at q_new.
MABD_FN void mabd_affine_stage_finish_joint(mabd_affine_sim* sim, bool keep_history,
                                            int32_t index) {
    const mabd_real rate = 1 / sim->step.beta_h, w = sim->step.w, w1 = sim->step.w1;
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real x_new[MABD_JOINT_MAX_ROWS];
    mabd_joint_view view;
    if (joint->coordinate < 0) return;
    mabd_vec3 phi;
    mabd_affine_view(sim, joint, sim->q_new, &view);
    if (set->damped) {
        const mabd_mat3 Q = mabd_joint_rotation(&view);
        phi = mabd_so3_log(Q), view.phi = &phi;
        mabd_affine_turn_finish(sim, keep_history, mabd_affine_turn_place(sim, joint), Q, phi);
    }
    mabd_joint_coordinates(&view, set->control_count, set->control_row,
                           sim->x_ref + joint->coordinate, x_new);
    for (int32_t r = 0; r < set->control_count; r++) {
        const int32_t k = joint->coordinate + r;
        const mabd_real x = sim->x[k], xd = sim->xd[k];
        const mabd_real x_b = w * x + w1 * sim->x1[k];
        sim->x[k] = x_new[r];
        sim->xd[k] = rate * (x_new[r] - x_b);
        if (!keep_history) sim->x1[k] = x, sim->xd1[k] = xd;
    }
}

/// Exchange two arrays.
MABD_FN void mabd_affine_swap(mabd_real** a, mabd_real** b) {
    mabd_real* c = *a;
    *a = *b;
    *b = c;
}
/// Rotate the history at the end of a step: q_new becomes q, q becomes q1, and the new rates,
/// stored over the oldest, become v; stress moves as q does. With keep_history only q and stress
/// change.
MABD_FN void mabd_affine_advance_history(mabd_affine_sim* sim, bool keep_history) {
    if (keep_history) {
        mabd_affine_swap(&sim->stress, &sim->stress_new);
        mabd_affine_swap(&sim->q, &sim->q_new);
    } else {
        mabd_affine_swap(&sim->v, &sim->v1);
        // q_new goes to the place of q1, then on to that of q
        mabd_affine_swap(&sim->q1, &sim->q_new);
        mabd_affine_swap(&sim->q, &sim->q1);
        mabd_affine_swap(&sim->stress1, &sim->stress_new);
        mabd_affine_swap(&sim->stress, &sim->stress1);
    }
}
