// SPDX-License-Identifier: Apache-2.0
// Targets of controls, set from outside. Signals of the scene give the values of all row sets at
// the end of a solve (mabd_affine_begin_solve); a target that is set replaces the value of its row,
// which belongs to one joint of one copy (scene/builder_copies.c). All later stages, on any
// backend, read the values alone.
//
// A target is held during the step; where it differs from that of the last step, the motion starts
// again without history (jumps.c). The target of a rigid servo is a position, which the axis
// reaches at the end of the step. Solves that end earlier need its place on the way there. With the
// targets x1, x2 of the last two steps and p = (t - t_n)/h the path is
//   x(p) = x1 + p (x - x2)/2 + p^2 (x - 2 x1 + x2)/2      x1 + p (x - x1) without x2; x without x1
// Parts of a retried step get x(p). The first solve of SDIRK2 gets x1 + p x'(p): with a rate that
// is exact there, the rate at the end of the step, (x - x1 - (1 - g) h x'(g))/gh, is of second
// order; from x(g) it would be of first order. Prescribed positions of signals have the same rule,
// but not in the first step of a run, which has no jump (layout.c, cpu/predict.c).

#include "formulation/affine/targets.h"
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/data.h"

#include "formulation/affine/limits.h"
#include "joint/rows.h"

// Joint of a control in a copy.
static const mabd_model_joint* joint_of(const mabd_model* m, int32_t copy, int32_t control) {
    return &m->joints[(size_t)copy * (size_t)m->copy_joints + (size_t)m->controls[control].joint];
}

mabd_affine_control_of mabd_affine_find_control(const mabd_model* m, int32_t copy,
                                                int32_t control) {
    const mabd_copy_control* own = &m->controls[control];
    const mabd_row_set* set = &m->row_sets[joint_of(m, copy, control)->row_set];
    const mabd_control* c = &set->control[own->row];
    mabd_affine_control_of of = {NULL, false};
    if (own->kind == MABD_CONTROL_FORCE) {
        of.signal = set->motor[own->row].force;
    } else {
        of.signal = c->drive ? c->drive : c->servo;
        of.rigid = mabd_axis_is_position(c);
    }
    return of;
}

// Target of a rigid servo at the end of the current solve.
static mabd_real move_target(const mabd_affine_sim* sim, size_t at) {
    const mabd_real part = (sim->step.time_end - sim->step_time) / sim->def.h;
    const mabd_real last = sim->last_target[at];
    if (!sim->last_set[at] || !(part < 1 - MABD_STEP_END_PART)) return sim->target[at];
    if (!sim->older_set[at]) return last + part * (sim->target[at] - last);
    const mabd_real older = sim->older_target[at], target = sim->target[at];
    const mabd_real bend = (target - last) + (older - last);
    return last + part * ((target - older) / 2 + (sim->is_stage ? part : part / 2) * bend);
}

static void set_value(mabd_affine_sim* sim, const mabd_model_joint* joint,
                      const mabd_copy_control* control, mabd_real target) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[control->row];
    const size_t at = (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + (size_t)control->row;
    if (control->kind == MABD_CONTROL_FORCE) {
        sim->motors[at] = target;
    } else if (c->drive) {
        sim->controls[at].drive = target;
    } else {
        sim->controls[at].target = mabd_affine_control_target(c, target);
    }
}

void mabd_affine_apply_targets(mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    size_t at = 0;
    for (int32_t copy = 0; copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++, at++) {
            if (!sim->target_set[at]) continue;
            const mabd_affine_control_of of = mabd_affine_find_control(m, copy, k);
            set_value(sim, joint_of(m, copy, k), &m->controls[k],
                      of.rigid ? move_target(sim, at) : sim->target[at]);
        }
    }
}

// An axis with only a motor has no coordinate of its own: read it from the bodies.
static void read_motor(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                       const mabd_row* row, mabd_real* x, mabd_real* rate) {
    const mabd_real zero = 0;
    mabd_joint_view view;
    mabd_affine_view(sim, joint, sim->q, &view);
    mabd_joint_coordinates(&view, 1, row, &zero, x);
    *rate = mabd_affine_coordinate_rate(sim, joint, &view, row);
}

// The control on the same row as a motor, -1 = none.
static int32_t control_of(const mabd_row_set* set, const mabd_copy_control* control) {
    if (control->kind != MABD_CONTROL_FORCE) return control->row;
    const mabd_row* row = &set->motor[control->row].row;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* other = &set->control_row[r];
        if (other->kind == row->kind && other->axis == row->axis) return r;
    }
    return -1;
}

void mabd_affine_get_controls(const mabd_affine_sim* sim, mabd_real* coordinates,
                              mabd_real* rates) {
    const mabd_model* m = sim->model;
    size_t at = 0;
    for (int32_t copy = 0; copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++, at++) {
            const mabd_model_joint* joint = joint_of(m, copy, k);
            const mabd_row_set* set = &m->row_sets[joint->row_set];
            const int32_t r = control_of(set, &m->controls[k]);
            mabd_real x, rate;
            if (r >= 0) {
                x = sim->x[joint->coordinate + r], rate = sim->xd[joint->coordinate + r];
            } else {
                read_motor(sim, joint, &set->motor[m->controls[k].row].row, &x, &rate);
            }
            if (coordinates) coordinates[at] = x;
            if (rates) rates[at] = rate;
        }
    }
}
