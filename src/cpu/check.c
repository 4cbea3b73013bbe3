// SPDX-License-Identifier: Apache-2.0
// Check: how far the rigid rows are open at a state, and how far axes are beyond their stops. Measured on the rows themselves, by nothing that the
// solver has computed.

#include "cpu/stages.h"

typedef struct joint_opening {
    mabd_real gap, angle, nonlinear;
} joint_opening;

static mabd_real larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

// How far the axes of a joint are beyond their stops.
static void add_stops(const mabd_cpu_sim* sim, const mabd_model_joint* joint,
                      const mabd_joint_view* view, joint_opening* open) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real x[MABD_JOINT_MAX_ROWS];
    mabd_joint_coordinates(view, set->control_count, set->control_row, sim->x + joint->coordinate,
                           x);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        if (!c->limited) continue;
        const mabd_real beyond = larger(c->lower - x[r], x[r] - c->upper);
        if (set->control_row[r].kind == MABD_ROW_SLIDE) {
            open->gap = larger(open->gap, beyond);
        } else {
            open->angle = larger(open->angle, beyond);
        }
    }
}

static joint_opening open_joint(const mabd_cpu_sim* sim, const mabd_model_joint* joint,
                                const mabd_joint_view* view) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_vec3 gap = mabd_joint_gap(view);
    joint_opening open = {0, 0, 0};
    if (set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT) open.gap = mabd_v3_norm(gap);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        if (set->rigid[r].kind == MABD_ROW_POINT) continue;
        const mabd_real c = (mabd_real)fabs(mabd_row_value(view, &set->rigid[r], gap));
        if (set->rigid[r].kind == MABD_ROW_SLIDE) {
            open.gap = larger(open.gap, c);
        } else {
            open.angle = larger(open.angle, c);
        }
        open.nonlinear = larger(open.nonlinear, c);
    }
    if (set->laws) add_stops(sim, joint, view, &open);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].rigid) continue;
        const mabd_real target =
            sim->controls[(size_t)joint->row_set * MABD_JOINT_MAX_ROWS + r].target;
        mabd_real x;
        mabd_joint_coordinates(view, 1, &set->control_row[r], &target, &x);
        const mabd_real c = (mabd_real)fabs(x - target);
        if (set->control_row[r].kind == MABD_ROW_SLIDE) {
            open.gap = larger(open.gap, c);
        } else {
            open.angle = larger(open.angle, c);
        }
        open.nonlinear = larger(open.nonlinear, c);
    }
    return open;
}

void MABD_STAGE(check)(const mabd_cpu_sim* sim, const mabd_real* q, int32_t first, int32_t last,
                       mabd_opening* worst) {
    const mabd_model* m = sim->model;
    for (int32_t i = first; i < last; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        if (m->plan->joint_slot[i] < 0) continue;
        mabd_joint_view view;
        mabd_cpu_view(sim, joint, q, &view);
        const joint_opening open = open_joint(sim, joint, &view);
        const mabd_opening one = {open.gap, open.angle, open.nonlinear, i};
        mabd_opening_add(worst, &one);
    }
}
