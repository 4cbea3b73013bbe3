// SPDX-License-Identifier: Apache-2.0
#include "rigid/inputs.h"

#include "rigid/axis_row.h"

#include <math.h>
#include <string.h>

static const mabd_row_set* set_of(const mabd_model* m, int32_t joint) {
    return &m->row_sets[m->joints[joint].row_set];
}

static size_t applied_bytes(const mabd_rigid_inputs* in) {
    return 6 * (size_t)in->model->body_count * sizeof *in->applied;
}

// ---- memory ------------------------------------------------------------------------------------

#define TAKE(field, n) in->field = mabd_arena_take(arena, (n), sizeof *in->field)

void mabd_rigid_inputs_lay_out(mabd_rigid_inputs* in, const mabd_model* model, mabd_arena* arena) {
    const size_t bodies = (size_t)model->body_count;
    in->model = model;
    in->count = (size_t)model->coordinate_count;
    for (int32_t j = 0; j < model->joint_count; j++) {
        in->count += (size_t)set_of(model, j)->motor_count;
    }
    TAKE(applied, 6 * bodies);
    TAKE(target, in->count);
    TAKE(target_set, in->count);
    TAKE(last_target, in->count);
    TAKE(last_set, in->count);
    TAKE(last_applied, 6 * bodies);
}

void mabd_rigid_inputs_number(mabd_rigid_inputs* in, mabd_arena* arena) {
    TAKE(joint_motor, (size_t)in->model->joint_count);
    for (int32_t j = 0, motor = 0; arena->memory && j < in->model->joint_count; j++) {
        in->joint_motor[j] = motor;
        motor += set_of(in->model, j)->motor_count;
    }
}

void mabd_rigid_inputs_clear(mabd_rigid_inputs* in) {
    memset(in->target_set, 0, in->count * sizeof *in->target_set);
    memset(in->last_set, 0, in->count * sizeof *in->last_set);
    memset(in->applied, 0, applied_bytes(in));
    memset(in->last_applied, 0, applied_bytes(in));
    in->has_applied = in->had_applied = false;
}

void mabd_rigid_inputs_keep(mabd_rigid_inputs* in) {
    memcpy(in->last_target, in->target, in->count * sizeof *in->target);
    memcpy(in->last_set, in->target_set, in->count * sizeof *in->target_set);
    if (!in->has_applied && !in->had_applied) return;
    memcpy(in->last_applied, in->applied, applied_bytes(in));
    memset(in->applied, 0, applied_bytes(in));
    in->had_applied = in->has_applied, in->has_applied = false;
}

void mabd_rigid_inputs_visit(mabd_rigid_inputs* in, mabd_rigid_cursor* at) {
    mabd_rigid_visit(at, in->target, in->count * sizeof *in->target);
    mabd_rigid_visit(at, in->last_target, in->count * sizeof *in->last_target);
    mabd_rigid_visit_flags(at, in->target_set, in->count);
    mabd_rigid_visit_flags(at, in->last_set, in->count);
    mabd_rigid_visit(at, in->applied, applied_bytes(in));
    mabd_rigid_visit(at, in->last_applied, applied_bytes(in));
    mabd_rigid_visit_flags(at, &in->has_applied, 1);
    mabd_rigid_visit_flags(at, &in->had_applied, 1);
}

// ---- jumps -------------------------------------------------------------------------------------

static bool differs(const mabd_rigid_inputs* in, size_t k) {
    return in->target_set[k] != in->last_set[k] ||
           (in->target_set[k] && in->target[k] != in->last_target[k]);
}

bool mabd_rigid_joint_jumps(const mabd_rigid_inputs* in, int32_t joint) {
    const mabd_row_set* set = set_of(in->model, joint);
    const int32_t first = in->model->joints[joint].coordinate;
    bool jumps = false;
    for (int32_t r = 0; r < set->control_count; r++) {
        jumps |= !mabd_axis_is_position(&set->control[r]) && differs(in, (size_t)(first + r));
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        jumps |= differs(in, mabd_rigid_motor_input(in, joint, r));
    }
    return jumps;
}

bool mabd_rigid_force_jumps(const mabd_rigid_inputs* in, int32_t body) {
    const size_t at = 6 * (size_t)body;
    if (body < 0 || (!in->has_applied && !in->had_applied)) return false;
    return memcmp(in->applied + at, in->last_applied + at, 6 * sizeof *in->applied) != 0;
}

bool mabd_rigid_signal_jumps(const mabd_model* model, mabd_real time, mabd_real h) {
    bool jumps = false;
    for (int32_t i = 0; i < model->signal_count; i++) {
        jumps |= mabd_signal_jumps(&model->signals[i], time - h, time + h);
    }
    return jumps;
}

// ---- entries of the table ----------------------------------------------------------------------

// Number of a control of a copy among the inputs.
static size_t place_of(const mabd_rigid_inputs* in, int32_t copy, int32_t control) {
    const mabd_model* m = in->model;
    const mabd_copy_control* own = &m->controls[control];
    const int32_t joint = copy * m->copy_joints + own->joint;
    if (own->kind == MABD_CONTROL_FORCE) return mabd_rigid_motor_input(in, joint, own->row);
    return (size_t)(m->joints[joint].coordinate + own->row);
}

void mabd_rigid_set_targets(mabd_rigid_inputs* in, int32_t first, int32_t count, const bool* which,
                            const mabd_real* values) {
    const int32_t n = in->model->control_count;
    for (int32_t i = 0; i < count * n; i++) {
        if (which && !which[i % n]) continue;
        const size_t k = place_of(in, first + i / n, i % n);
        in->target[k] = values ? values[i] : 0;
        in->target_set[k] = values != NULL;
    }
}

// What differs from every number jumps; both values are replaced after the step.
void mabd_rigid_restart_input(mabd_rigid_inputs* in, int32_t control, int32_t body) {
    const mabd_model* m = in->model;
    if (body >= 0) in->last_applied[6 * (size_t)body] = (mabd_real)NAN;
    if (control < 0) return;
    const int32_t copy = control / m->control_count, own = control % m->control_count;
    const mabd_copy_control* c = &m->controls[own];
    const mabd_row_set* set = set_of(m, copy * m->copy_joints + c->joint);
    const bool position =
        c->kind != MABD_CONTROL_FORCE && mabd_axis_is_position(&set->control[c->row]);
    if (!position) in->last_target[place_of(in, copy, own)] = (mabd_real)NAN;
}

bool mabd_rigid_get_target(const mabd_rigid_inputs* in, int32_t copy, int32_t control,
                           mabd_real* target) {
    const size_t k = place_of(in, copy, control);
    *target = in->target[k];
    return in->target_set[k];
}

void mabd_rigid_apply_force(mabd_rigid_inputs* in, int32_t n, const int32_t* bodies,
                            const mabd_real* forces, const mabd_real* torques) {
    for (int32_t i = 0; i < n; i++) {
        mabd_real* wrench = in->applied + 6 * (size_t)bodies[i];
        for (size_t k = 0; k < 3; k++) {
            if (forces) wrench[k] += forces[3 * (size_t)i + k];
            if (torques) wrench[3 + k] += torques[3 * (size_t)i + k];
        }
    }
    in->has_applied |= n > 0;
}

void mabd_rigid_get_controls(const mabd_model* model, mabd_rigid_control_reader* read,
                             const void* self, mabd_real* coordinates, mabd_real* rates) {
    size_t at = 0;
    for (int32_t copy = 0; copy < mabd_model_control_copies(model); copy++) {
        for (int32_t k = 0; k < model->control_count; k++, at++) {
            mabd_real x[2];
            read(self, copy, k, x);
            if (coordinates) coordinates[at] = x[0];
            if (rates) rates[at] = x[1];
        }
    }
}
