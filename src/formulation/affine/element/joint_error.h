// SPDX-License-Identifier: Apache-2.0
// Errors of the rows of one joint (affine/cpu/check.c).
#pragma once

#include "formulation/affine/data.h"

/// Largest errors of the rows of one joint, as in mabd_affine_joint_error.
typedef struct mabd_affine_one_joint_error {
    mabd_real gap, angle, nonlinear;
} mabd_affine_one_joint_error;

// The larger of two numbers; a NaN in b is ignored.
MABD_FN mabd_real mabd_affine_check_larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

// Include the distances by which the axes of a joint exceed their stops.
MABD_FN void mabd_affine_check_add_stops(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                         const mabd_joint_view* view,
                                         mabd_affine_one_joint_error* open) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real x[MABD_JOINT_MAX_ROWS];
    mabd_joint_coordinates(view, set->control_count, set->control_row, sim->x + joint->coordinate,
                           x);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        if (!c->limited) continue;
        const mabd_real beyond = mabd_affine_check_larger(c->lower - x[r], x[r] - c->upper);
        if (set->control_row[r].kind == MABD_ROW_SLIDE) {
            open->gap = mabd_affine_check_larger(open->gap, beyond);
        } else {
            open->angle = mabd_affine_check_larger(open->angle, beyond);
        }
    }
}

// Compute the errors of the rigid rows, stops and rigid servos of a joint.
MABD_FN mabd_affine_one_joint_error mabd_affine_check_open_joint(const mabd_affine_sim* sim,
                                                                 const mabd_model_joint* joint,
                                                                 const mabd_joint_view* view) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_vec3 gap = mabd_joint_gap(view);
    mabd_affine_one_joint_error open = {0, 0, 0};
    if (set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT) open.gap = mabd_v3_norm(gap);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        if (set->rigid[r].kind == MABD_ROW_POINT) continue;
        const mabd_real c = (mabd_real)fabs(mabd_row_value(view, &set->rigid[r], gap));
        if (set->rigid[r].kind == MABD_ROW_SLIDE) {
            open.gap = mabd_affine_check_larger(open.gap, c);
        } else {
            open.angle = mabd_affine_check_larger(open.angle, c);
        }
        open.nonlinear = mabd_affine_check_larger(open.nonlinear, c);
    }
    if (set->laws) mabd_affine_check_add_stops(sim, joint, view, &open);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].rigid) continue;
        const mabd_real target =
            sim->controls[(size_t)joint->row_set * MABD_JOINT_MAX_ROWS + r].target;
        mabd_real x;
        mabd_joint_coordinates(view, 1, &set->control_row[r], &target, &x);
        const mabd_real c = (mabd_real)fabs(x - target);
        if (set->control_row[r].kind == MABD_ROW_SLIDE) {
            open.gap = mabd_affine_check_larger(open.gap, c);
        } else {
            open.angle = mabd_affine_check_larger(open.angle, c);
        }
        open.nonlinear = mabd_affine_check_larger(open.nonlinear, c);
    }
    return open;
}

/// Include the errors of one joint at q in the worst ones.
MABD_FN void mabd_affine_stage_check_joint(const mabd_affine_sim* sim, const mabd_real* q,
                                           int32_t index, mabd_affine_joint_error* worst) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    mabd_joint_view view;
    mabd_affine_view(sim, joint, q, &view);
    const mabd_affine_one_joint_error open = mabd_affine_check_open_joint(sim, joint, &view);
    const mabd_affine_joint_error one = {open.gap, open.angle, open.nonlinear, index};
    mabd_affine_joint_error_add(worst, &one);
}
