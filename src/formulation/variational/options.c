// SPDX-License-Identifier: Apache-2.0
// The definition of a simulation in the variational formulation: presets, choices, checks.

#include "base/error.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"

/// Newton iterations of a substep, unless the definition says otherwise.
#define MAX_ITERATIONS 25

void mabd_variational_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    (void)preset;
    def->variational.substeps = 0;
    def->variational.newton = MABD_NEWTON_AUTO;
    def->variational.cone = MABD_CONE_CIRCULAR;
    def->variational.cone_sides = 4;
}

void mabd_variational_resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_RATTLE;
    if (def->max_iterations == 0) def->max_iterations = MAX_ITERATIONS;
}

// Dampers and armature on three free rotations take the rows of their axes, which rigid servos and
// rates without limit need for themselves.
static mabd_status check_turns(const mabd_model* model, mabd_error* error) {
    for (int32_t i = 0; i < model->joint_count; i++) {
        const mabd_row_set* set = &model->row_sets[model->joints[i].row_set];
        char label[160];
        bool taken = false;
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const bool holds = mabd_variational_is_held(c) || mabd_variational_is_paced(c);
            const bool turns = set->damped && set->control_row[r].kind == MABD_ROW_VECTOR;
            taken |= turns && holds && (c->damping > 0 || c->armature > 0);
        }
        if (!taken) continue;
        return mabd_fail_at(
            error, MABD_ERR_UNAVAILABLE, -1, i, 0,
            "formulation 'variational' has no dampers and armature on a rotation of "
            "three free ones that a rigid servo or a rate of unlimited force "
            "holds, as at %s",
            mabd_model_joint_label(model, i, label, sizeof label));
    }
    return MABD_OK;
}

// A body that turns by half a turn or more in a substep has no velocity of the method.
static mabd_status check_spins(const mabd_model* model, const mabd_sim_def* def,
                               mabd_error* error) {
    const int32_t given = def->variational.substeps;
    const mabd_real h = def->h / (mabd_real)(given > 0 ? given : MABD_VARIATIONAL_SUBSTEPS_MAX);
    for (int32_t i = 0; i < model->body_count; i++) {
        const mabd_real spin = mabd_v3_norm(mabd_v3_load(model->start[i].angular_velocity));
        char label[160];
        if (model->body_motion[i] != MABD_MOTION_DYNAMIC || spin * h < 2) continue;
        return mabd_fail_at(error, MABD_ERR_ARG, i, -1, 0,
                            "%s turns by %.4g rad/s: formulation 'variational' allows less than "
                            "%.4g with substeps of %g s",
                            mabd_model_body_label(model, i, label, sizeof label), (double)spin,
                            (double)(2 / h), (double)h);
    }
    return MABD_OK;
}

mabd_status mabd_variational_check(const mabd_model* model, const mabd_sim_def* def,
                                   mabd_error* error) {
    const mabd_variational_def* own = &def->variational;
    if (own->substeps < 0 || own->substeps > MABD_VARIATIONAL_SUBSTEPS_MAX) {
        return mabd_fail(error, MABD_ERR_ARG, "variational.substeps must be 0 to %d, and is %d",
                         MABD_VARIATIONAL_SUBSTEPS_MAX, (int)own->substeps);
    }
    if ((unsigned)own->newton >= MABD_NEWTON_COUNT || (unsigned)own->cone >= MABD_CONE_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "variational.newton and cone must be of their enums");
    }
    if (own->newton == MABD_NEWTON_SYMMETRIC) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'variational' does not have newton '%s'",
                         mabd_newton_name(own->newton));
    }
    if (own->cone_sides != 4 && own->cone_sides != 6 && own->cone_sides != 8) {
        return mabd_fail(error, MABD_ERR_ARG, "variational.cone_sides must be 4, 6 or 8, and is %d",
                         (int)own->cone_sides);
    }
    if (own->newton == MABD_NEWTON_EXACT && def->dual != MABD_DUAL_AUTO) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'variational' does not use dual with newton 'exact': it must "
                         "stay auto, or newton be frozen");
    }
    MABD_TRY(check_spins(model, def, error));
    return check_turns(model, error);
}
