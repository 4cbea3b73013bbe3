// SPDX-License-Identifier: Apache-2.0
#include "rigid/start_axes.h"

#include "rigid/start_check.h"
#include "rigid/start_close.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct axis_place {
    int32_t joint, row; // -1 = none; of the controls
    mabd_real off;      // [m] or [rad]
} axis_place;

static const mabd_row* axis_row(const mabd_rigid_start_work* s, const axis_place* axis) {
    return &s->m->row_sets[s->m->joints[axis->joint].row_set].control_row[axis->row];
}

// "joint 'elbow': rx"
static const char* axis_label(const mabd_rigid_start_work* s, const axis_place* axis, char* text,
                              size_t size) {
    const mabd_row* row = axis_row(s, axis);
    char label[160];
    snprintf(text, size, "%s: %c%c", mabd_model_joint_label(s->m, axis->joint, label, sizeof label),
             row->kind == MABD_ROW_SLIDE ? 't' : 'r', "xyz"[row->axis]);
    return text;
}
static const char* axis_unit(const mabd_rigid_start_work* s, const axis_place* axis) {
    return axis_row(s, axis)->kind == MABD_ROW_SLIDE ? "m" : "rad";
}

// Refuse a target beyond the stops of its own axis, which cannot be met.
static mabd_status check_target(const mabd_rigid_start_work* s, const axis_place* axis,
                                mabd_real target) {
    const mabd_control* c = &s->m->row_sets[s->m->joints[axis->joint].row_set].control[axis->row];
    char label[200];
    const mabd_real below = c->lower - target, above = target - c->upper;
    if (!c->limited || (below <= MABD_START_TOLERANCE && above <= MABD_START_TOLERANCE))
        return MABD_OK;
    const bool low = below > 0;
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, axis->joint, s->start->time,
                        "%s: the target %g %s of the rigid servo lies %g %s %s the %s stop",
                        axis_label(s, axis, label, sizeof label), (double)target,
                        axis_unit(s, axis), (double)(low ? below : above), axis_unit(s, axis),
                        low ? "below" : "above", low ? "lower" : "upper");
}

// Find the rigid servo farthest from its target.
static mabd_status find_servo(const mabd_rigid_start_work* s, axis_place* worst) {
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        const mabd_row_set* set = &s->m->row_sets[joint->row_set];
        if (joint->coordinate < 0 || s->m->plan->joint_slot[i] < 0) continue;
        for (int32_t r = 0; r < set->control_count; r++) {
            axis_place axis = {i, r, 0};
            mabd_real target, x;
            if (!mabd_rigid_servo_target(&s->p, joint, r, &target)) continue;
            MABD_TRY(check_target(s, &axis, target));
            const mabd_joint_view view = mabd_rigid_view(s->m, joint, s->poses);
            mabd_joint_coordinates(&view, 1, &set->control_row[r], &target, &x);
            axis.off = (mabd_real)fabs(x - target);
            if (axis.off > MABD_START_TOLERANCE + MABD_START_ROUND_OFF && axis.off > worst->off)
                *worst = axis;
        }
    }
    return MABD_OK;
}

mabd_status mabd_rigid_check_servos(mabd_rigid_start_work* s) {
    axis_place worst = {-1, -1, 0};
    char label[200];
    bool closed;
    MABD_TRY(find_servo(s, &worst));
    if (worst.joint < 0) return MABD_OK;
    if (mabd_rigid_start_reserve(s) != MABD_OK) return mabd_rigid_start_no_memory(s);
    memcpy(s->q0, s->poses, ((size_t)s->m->body_count + 1) * sizeof *s->q0);
    if (mabd_rigid_close_components(s, NULL, s->q0, &closed) != MABD_OK)
        return mabd_rigid_start_no_memory(s);
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

// Distance of an axis beyond a stop, at most 0 = between them; *low: it is the lower one.
static mabd_real beyond_stop(const mabd_control* c, mabd_real x, bool* low) {
    const mabd_real below = c->lower - x, above = x - c->upper;
    *low = below > above;
    return *low ? below : above;
}

// Coordinates of the controls of a joint; angles are those nearest to start->near.
static void read_axes(const mabd_rigid_start_work* s, const mabd_model_joint* joint,
                      const mabd_joint_view* view, mabd_real* x) {
    static const mabd_real zero[MABD_JOINT_MAX_ROWS] = {0};
    const mabd_row_set* set = &s->m->row_sets[joint->row_set];
    const mabd_real* near = s->start->near ? s->start->near + joint->coordinate : zero;
    mabd_joint_coordinates(view, set->control_count, set->control_row, near, x);
}

static mabd_status check_joint_stops(const mabd_rigid_start_work* s, int32_t index) {
    const mabd_model_joint* joint = &s->m->joints[index];
    const mabd_row_set* set = &s->m->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(s->m, joint, s->poses);
    mabd_real x[MABD_JOINT_MAX_ROWS], now[MABD_JOINT_MAX_ROWS];
    read_axes(s, joint, &view, x);
    memcpy(now, x, sizeof now);
    if (s->start->now) {
        const mabd_joint_view current = mabd_rigid_view_now(s, joint);
        read_axes(s, joint, &current, now);
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const axis_place axis = {index, r, 0};
        bool low, low_now;
        char label[200];
        const mabd_real beyond = beyond_stop(&set->control[r], x[r], &low);
        if (!set->control[r].limited || beyond <= MABD_START_TOLERANCE) continue;
        // the current state may lie beyond the stop, by the strain of bodies
        const mabd_real known = beyond_stop(&set->control[r], now[r], &low_now);
        if (s->start->now && low == low_now && beyond <= MABD_START_TOLERANCE + known) continue;
        return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, index, s->start->time,
                            "%s is at %g %s, %g %s %s its %s stop",
                            axis_label(s, &axis, label, sizeof label), (double)x[r],
                            axis_unit(s, &axis), (double)beyond, axis_unit(s, &axis),
                            low ? "below" : "above", low ? "lower" : "upper");
    }
    return MABD_OK;
}

mabd_status mabd_rigid_check_stops(const mabd_rigid_start_work* s) {
    for (int32_t i = 0; s->m->laws && i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        if (!s->m->row_sets[joint->row_set].laws || joint->coordinate < 0) continue;
        MABD_TRY(check_joint_stops(s, i));
    }
    return MABD_OK;
}
