// SPDX-License-Identifier: Apache-2.0
#include "gradient/loss_term.h"

#include "base/error.h"
#include "model/model_data.h"

#include <math.h>

#define KIND(name, ...) [MABD_LOSS_##name] = {__VA_ARGS__}
static const mabd_loss_traits traits[] = {
    KIND(POINT, .owner = MABD_OWNER_BODY, .targets = 3, .point = true),
    KIND(ROTATION, .owner = MABD_OWNER_BODY, .targets = 4),
    KIND(VELOCITY, .owner = MABD_OWNER_BODY, .targets = 3, .point = true),
    KIND(ANGULAR, .owner = MABD_OWNER_BODY, .targets = 3),
    KIND(COORDINATE, .owner = MABD_OWNER_AXIS, .targets = 1),
    KIND(RATE, .owner = MABD_OWNER_AXIS, .targets = 1),
    KIND(JOINT_FORCE, .owner = MABD_OWNER_AXIS, .targets = 1, .first = 1, .all_axes = true),
    KIND(CONTROL_EFFORT, .owner = MABD_OWNER_AXIS, .targets = 1, .first = 1),
    KIND(ENERGY, .owner = MABD_OWNER_NONE, .targets = 1),
    KIND(PARAMETER, .owner = MABD_OWNER_NONE, .targets = 1, .parameter = true),
    KIND(USER, .owner = MABD_OWNER_NONE, .user = true),
};
_Static_assert(sizeof traits / sizeof traits[0] == MABD_LOSS_COUNT, "traits of every kind");

const mabd_loss_traits* mabd_loss_get_traits(mabd_loss_kind kind) {
    return &traits[kind];
}

// The control of a joint axis that exerts a force: servo, motor or rate drive.
static bool is_driven(const mabd_model* m, int32_t joint, int32_t axis) {
    const int32_t member = m->copy_joints > 0 ? joint % m->copy_joints : joint;
    for (int32_t i = 0; i < m->control_count; i++) {
        if (m->controls[i].joint == member && (int32_t)m->controls[i].axis == axis) return true;
    }
    return false;
}

static mabd_status check_axis(const mabd_model* m, const mabd_loss_term* term, mabd_error* error) {
    const mabd_loss_traits* t = &traits[term->kind];
    const char* kind = mabd_loss_kind_name(term->kind);
    char label[160];
    mabd_row row;
    const bool any = term->axis >= (t->all_axes ? -1 : 0) && term->axis < MABD_AXIS_COUNT;
    const mabd_joint type = (mabd_joint)m->joints[term->index].type;
    if (any && !t->all_axes && m->joints[term->index].piece_count > 0) {
        if (term->kind != MABD_LOSS_CONTROL_EFFORT) return MABD_OK; // by number (mabd_loss_refuse)
    }
    if (!any || (!t->all_axes && !mabd_joint_coordinate(type, (mabd_axis)term->axis, &row))) {
        return mabd_fail_at(
            error, MABD_ERR_INPUT, -1, term->index, 0, "%s: %s, a %s joint, has no free axis %s",
            kind, mabd_model_joint_label(m, term->index, label, sizeof label),
            mabd_joint_name(type),
            any && term->axis >= 0 ? mabd_parameter_axes[term->axis] : "of that number");
    }
    if (term->kind != MABD_LOSS_CONTROL_EFFORT || is_driven(m, term->index, term->axis)) {
        return MABD_OK;
    }
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, term->index, 0,
                        "%s: %s has no servo, motor or rate drive on that axis", kind,
                        mabd_model_joint_label(m, term->index, label, sizeof label));
}

static mabd_status check_owner(const mabd_model* m, int32_t parameter_count,
                               const mabd_loss_term* term, mabd_error* error) {
    const mabd_loss_traits* t = &traits[term->kind];
    const char* kind = mabd_loss_kind_name(term->kind);
    if (t->owner == MABD_OWNER_BODY && (term->index < 0 || term->index >= m->body_count)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no body %d", kind, (int)term->index);
    }
    if (t->owner == MABD_OWNER_AXIS && (term->index < 0 || term->index >= m->joint_count)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no joint %d", kind, (int)term->index);
    }
    if (t->parameter && (term->index < 0 || term->index >= parameter_count)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no parameter %d; there are %d", kind,
                         (int)term->index, (int)parameter_count);
    }
    return t->owner == MABD_OWNER_AXIS ? check_axis(m, term, error) : MABD_OK;
}

static mabd_status check_numbers(int64_t steps, const mabd_loss_term* term, mabd_error* error) {
    const mabd_loss_traits* t = &traits[term->kind];
    const char* kind = mabd_loss_kind_name(term->kind);
    mabd_real sum = 0, norm = 0;
    for (int32_t i = 0; i < t->targets; i++) sum += (mabd_real)fabs(term->target[i]);
    for (int i = 0; t->point && i < 3; i++) sum += (mabd_real)fabs(term->point[i]);
    for (int i = 0; i < 4; i++) norm += term->target[i] * term->target[i];
    if (!isfinite(sum)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: point and target must be finite", kind);
    }
    if (term->kind == MABD_LOSS_ROTATION && !(fabs(norm - 1) <= 1e-6)) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "%s: the target is no unit quaternion: its squared length is %g", kind,
                         (double)norm);
    }
    if (!(term->weight >= 0) || !isfinite(term->weight)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: weight must be >= 0 and finite, got %g", kind,
                         (double)term->weight);
    }
    if (t->parameter) return MABD_OK;
    if (term->first < t->first || term->first > term->last || term->last > steps) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "%s: states %lld .. %lld are not within %lld .. %lld of the run", kind,
                         (long long)term->first, (long long)term->last, (long long)t->first,
                         (long long)steps);
    }
    return MABD_OK;
}

mabd_status mabd_loss_term_check(const mabd_model* model, int64_t steps, int32_t parameter_count,
                                 bool user, const mabd_loss_term* term, mabd_error* error) {
    if ((unsigned)term->kind >= MABD_LOSS_COUNT) {
        return mabd_fail(error, MABD_ERR_INPUT, "there is no kind of loss term %d",
                         (int)term->kind);
    }
    if (traits[term->kind].user && !user) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no user_fn",
                         mabd_loss_kind_name(term->kind));
    }
    MABD_TRY(check_owner(model, parameter_count, term, error));
    return check_numbers(steps, term, error);
}
