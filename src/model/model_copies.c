// SPDX-License-Identifier: Apache-2.0
// Copies in a model: the controls of each copy, and the check that all copies have the same. A
// joint with a control has a row set of its own (scene/builder_copies.c), so copy and control name
// one row of one set.

#include "base/error.h"
#include "mabd/batch.h"
#include "model/build.h"

size_t mabd_builder_control_limit(const mabd_scene* scene) {
    const mabd_scene_joint* joints = scene->joints.data;
    const mabd_scene_axes* axes = scene->axes.data;
    size_t count = 0;
    const int32_t copies = scene->copies > 0 ? scene->copies : 1;
    for (int32_t i = 0; i < scene->joints.count / copies; i++) {
        for (int k = 0; joints[i].axes >= 0 && k < MABD_AXIS_COUNT; k++) {
            const mabd_axis_def* axis = &axes[joints[i].axes].axis[k];
            count += axis->servo.kind != MABD_SIGNAL_NONE ||
                     axis->motor_velocity.kind != MABD_SIGNAL_NONE;
            count += axis->motor.kind != MABD_SIGNAL_NONE;
        }
    }
    return count;
}

static bool same_row(const mabd_row* a, const mabd_row* b) {
    return a->kind == b->kind && a->axis == b->axis && a->other == b->other && a->sign == b->sign;
}

static void add(mabd_model* m, int32_t joint, int axis, mabd_control_kind kind, int32_t row) {
    mabd_copy_control* control = &m->controls[m->control_count++];
    control->joint = joint;
    control->axis = (mabd_axis)axis;
    control->kind = kind;
    control->row = row;
}

static void add_axis(mabd_model* m, int32_t joint, int axis) {
    const mabd_row_set* set = &m->row_sets[m->joints[joint].row_set];
    mabd_row row;
    if (!mabd_joint_coordinate((mabd_joint)m->joints[joint].type, (mabd_axis)axis, &row)) return;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        if (!same_row(&set->control_row[r], &row) || !(c->servo || c->drive)) continue;
        add(m, joint, axis, c->drive_rate ? MABD_CONTROL_VELOCITY : MABD_CONTROL_POSITION, r);
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        if (same_row(&set->motor[r].row, &row)) add(m, joint, axis, MABD_CONTROL_FORCE, r);
    }
}

void mabd_builder_copies(mabd_model_builder* builder) {
    mabd_model* m = builder->model;
    m->copy_count = builder->scene->copies;
    m->copy_bodies = m->body_count / mabd_model_control_copies(m);
    m->copy_joints = m->joint_count / mabd_model_control_copies(m);
    for (int32_t i = 0; i < m->copy_joints; i++) {
        for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) add_axis(m, i, axis);
    }
}

// ---- all alike? --------------------------------------------------------------------------------

static bool same_controls(const mabd_row_set* a, const mabd_row_set* b) {
    bool same = a->control_count == b->control_count && a->motor_count == b->motor_count;
    for (int32_t r = 0; same && r < a->control_count; r++) {
        const mabd_control *c = &a->control[r], *d = &b->control[r];
        same &= same_row(&a->control_row[r], &b->control_row[r]);
        same &= !c->servo == !d->servo && !c->drive == !d->drive;
        same &= c->drive_rate == d->drive_rate && c->rigid == d->rigid && c->law == d->law;
    }
    for (int32_t r = 0; same && r < a->motor_count; r++) {
        same &= same_row(&a->motor[r].row, &b->motor[r].row);
    }
    return same;
}

mabd_status mabd_model_check_copies(const mabd_model* m, mabd_error* error) {
    for (int32_t i = m->copy_joints; m->copy_count > 0 && i < m->joint_count; i++) {
        const int32_t first = i % m->copy_joints;
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        if (same_controls(set, &m->row_sets[m->joints[first].row_set])) continue;
        char label[160];
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, i, 0,
                            "%s: what acts on its axes is not as in the first copy",
                            mabd_model_joint_label(m, i, label, sizeof label));
    }
    return MABD_OK;
}

// ---- reading -----------------------------------------------------------------------------------

int32_t mabd_model_copy_count(const mabd_model* model) {
    return model->copy_count;
}

int32_t mabd_model_control_count(const mabd_model* model) {
    return model->control_count;
}

const char* mabd_control_name(mabd_control_kind kind) {
#define X(name, text) text,
    static const char* const names[] = {MABD_CONTROL_LIST(X)};
#undef X
    return (unsigned)kind < MABD_CONTROL_COUNT ? names[kind] : "unknown";
}

mabd_control_info mabd_model_control(const mabd_model* model, int32_t control) {
    static const char* const units[MABD_CONTROL_COUNT][2] = {
        [MABD_CONTROL_POSITION] = {"m", "rad"},
        [MABD_CONTROL_VELOCITY] = {"m/s", "rad/s"},
        [MABD_CONTROL_FORCE] = {"N", "N m"}};
    const mabd_copy_control* c = &model->controls[control];
    const mabd_control_info info = {c->joint, c->axis, c->kind,
                                    units[c->kind][c->axis >= MABD_AXIS_RX]};
    return info;
}
