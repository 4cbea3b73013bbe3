// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_axes.h"

#include "base/error.h"
#include "formulation/affine/start_check.h"
#include "formulation/affine/start_close.h"

#include <stdio.h>
#include <string.h>

typedef struct axis_place {
    int32_t joint, row; // -1 = none; of the controls
    mabd_real off;      // [m] or [rad]
} axis_place;

static const mabd_row* axis_row(const mabd_affine_start_work* s, const axis_place* axis) {
    return &s->m->row_sets[s->m->joints[axis->joint].row_set].control_row[axis->row];
}

// "joint 'elbow': rx"
static const char* axis_label(const mabd_affine_start_work* s, const axis_place* axis, char* text,
                              size_t size) {
    const mabd_row* row = axis_row(s, axis);
    char label[160];
    snprintf(text, size, "%s: %c%c", mabd_model_joint_label(s->m, axis->joint, label, sizeof label),
             row->kind == MABD_ROW_SLIDE ? 't' : 'r', "xyz"[row->axis]);
    return text;
}
static const char* axis_unit(const mabd_affine_start_work* s, const axis_place* axis) {
    return axis_row(s, axis)->kind == MABD_ROW_SLIDE ? "m" : "rad";
}

// Refuse a target beyond the stops of its own axis, which cannot be met.
static mabd_status check_target(const mabd_affine_start_work* s, const axis_place* axis,
                                mabd_real target) {
    const mabd_control* c = &s->m->row_sets[s->m->joints[axis->joint].row_set].control[axis->row];
    char label[200];
    const mabd_real below = c->lower - target, above = target - c->upper;
    if (!c->limited ||
        (below <= MABD_AFFINE_START_TOLERANCE && above <= MABD_AFFINE_START_TOLERANCE))
        return MABD_OK;
    const bool low = below > 0;
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, axis->joint, s->start->time,
                        "%s: the target %g %s of the rigid servo lies %g %s %s the %s stop",
                        axis_label(s, axis, label, sizeof label), (double)target,
                        axis_unit(s, axis), (double)(low ? below : above), axis_unit(s, axis),
                        low ? "below" : "above", low ? "lower" : "upper");
}

// Find the rigid servo farthest from its target.
static mabd_status find_servo(const mabd_affine_start_work* s, axis_place* worst) {
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        const mabd_row_set* set = &s->m->row_sets[joint->row_set];
        mabd_joint_view view;
        if (joint->coordinate < 0 || s->m->plan->joint_slot[i] < 0) continue;
        for (int32_t r = 0; r < set->control_count; r++) {
            axis_place axis = {i, r, 0};
            mabd_real target, x;
            if (!mabd_affine_rigid_servo(s->sim, joint->row_set, r, &target)) continue;
            MABD_TRY(check_target(s, &axis, target));
            mabd_affine_view(s->sim, joint, s->start->q, &view);
            mabd_joint_coordinates(&view, 1, &set->control_row[r], &target, &x);
            axis.off = (mabd_real)fabs(x - target);
            if (axis.off > MABD_AFFINE_START_TOLERANCE + MABD_AFFINE_START_ROUND_OFF &&
                axis.off > worst->off)
                *worst = axis;
        }
    }
    return MABD_OK;
}

mabd_status mabd_affine_check_servos(mabd_affine_start_work* s) {
    axis_place worst = {-1, -1, 0};
    char label[200];
    bool closed;
    MABD_TRY(find_servo(s, &worst));
    if (worst.joint < 0) return MABD_OK;
    if (mabd_affine_start_reserve(s) != MABD_OK) return mabd_affine_start_no_memory(s);
    memcpy(s->q0, s->start->q, 12 * (s->sim->sizes.bodies + 1) * sizeof(mabd_real));
    if (mabd_affine_close_components(s, NULL, s->q0, &closed) != MABD_OK)
        return mabd_affine_start_no_memory(s);
    axis_label(s, &worst, label, sizeof label);
    if (!closed) {
        return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, worst.joint, s->start->time,
                            "%s is %.4g %s off the target of its rigid servo, which the joints do "
                            "not allow",
                            label, (double)worst.off, axis_unit(s, &worst));
    }
    mabd_warn(s->warnings, -1, worst.joint, s->start->step,
              "%s is %.4g %s off the target of its rigid servo: the first step moves it there",
              label, (double)worst.off, axis_unit(s, &worst));
    return MABD_OK;
}

mabd_status mabd_affine_check_stops(const mabd_affine_start_work* s) {
    for (int32_t i = 0; s->m->laws && i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        const mabd_row_set* set = &s->m->row_sets[joint->row_set];
        mabd_real x[MABD_JOINT_MAX_ROWS], now[MABD_JOINT_MAX_ROWS];
        mabd_joint_view view;
        if (!set->laws || joint->coordinate < 0) continue;
        view = mabd_affine_unstrained_view(s, joint);
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               s->sim->x + joint->coordinate, now);
        mabd_affine_view(s->sim, joint, s->start->q, &view);
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               s->sim->x + joint->coordinate, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const axis_place axis = {i, r, 0};
            const mabd_real below = c->lower - x[r], above = x[r] - c->upper;
            char label[200];
            if (!c->limited ||
                (below <= MABD_AFFINE_START_TOLERANCE && above <= MABD_AFFINE_START_TOLERANCE))
                continue;
            // strain of the bodies explains the distance beyond the stop
            if (below <= MABD_AFFINE_START_TOLERANCE + (c->lower - now[r]) && below > 0) continue;
            if (above <= MABD_AFFINE_START_TOLERANCE + (now[r] - c->upper) && above > 0) continue;
            return mabd_fail_at(
                s->error, MABD_ERR_INPUT, -1, i, s->start->time,
                "%s is at %g %s, %g %s %s its %s stop", axis_label(s, &axis, label, sizeof label),
                (double)x[r], axis_unit(s, &axis), (double)(below > 0 ? below : above),
                axis_unit(s, &axis), below > 0 ? "below" : "above", below > 0 ? "lower" : "upper");
        }
    }
    return MABD_OK;
}
