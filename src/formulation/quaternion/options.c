// SPDX-License-Identifier: Apache-2.0
// The definition of a simulation in the quaternion formulation: presets, choices, checks.

#include "base/error.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/quaternion_sim.h"

static const mabd_real tolerances[MABD_PRESET_COUNT] = {
    [MABD_PRESET_FAST] = (mabd_real)1e-8,
    [MABD_PRESET_BALANCED] = (mabd_real)1e-10,
    [MABD_PRESET_EXACT] = (mabd_real)1e-12,
};

void mabd_quaternion_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    def->quaternion.newton_tolerance = tolerances[preset];
    def->quaternion.bdf2_start = MABD_INTEGRATOR_TRBDF2;
    def->quaternion.redundancy = MABD_REDUNDANCY_PROXIMAL;
    def->quaternion.solver = MABD_SOLVER_AUTO;
    def->quaternion.multipliers = MABD_MULTIPLIERS_LEAST_NORM;
    def->quaternion.newton = MABD_NEWTON_AUTO;
    def->quaternion.baumgarte = 1;
}

void mabd_quaternion_resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_BDF2;
    if (def->quaternion.newton == MABD_NEWTON_AUTO) def->quaternion.newton = MABD_NEWTON_EXACT;
    if (def->max_iterations == 0) def->max_iterations = 40;
}

// The symmetric Newton has armature on three free rotations in the rows of their axes, which rigid
// servos, stops and friction need for themselves.
static mabd_status check_turns(const mabd_model* model, mabd_error* error) {
    for (int32_t i = 0; i < model->joint_count; i++) {
        const mabd_row_set* set = &model->row_sets[model->joints[i].row_set];
        char label[160];
        bool taken = false;
        for (int32_t r = 0; set->damped && r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            taken |= set->control_row[r].kind == MABD_ROW_VECTOR && c->armature > 0 &&
                     (c->rigid || c->law);
        }
        if (!taken) continue;
        return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, i, 0,
                            "formulation 'quaternion' has no armature on three free rotations with "
                            "rigid servos, stops, force limits or friction with newton "
                            "'symmetric': use 'exact' for %s",
                            mabd_model_joint_label(model, i, label, sizeof label));
    }
    return MABD_OK;
}

static mabd_status check_newton(const mabd_model* model, const mabd_sim_def* def,
                                mabd_error* error) {
    const mabd_newton newton = def->quaternion.newton;
    if ((unsigned)newton >= MABD_NEWTON_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "quaternion.newton must be one of enum mabd_newton");
    }
    if (newton != MABD_NEWTON_EXACT && newton != MABD_NEWTON_SYMMETRIC) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion' does not have newton '%s'",
                         mabd_newton_name(newton));
    }
    if (newton == MABD_NEWTON_SYMMETRIC) return check_turns(model, error);
    if (def->dual == MABD_DUAL_AUTO) return MABD_OK;
    return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                     "formulation 'quaternion' does not use dual with newton '%s': it must stay "
                     "auto, or newton be symmetric",
                     mabd_newton_name(newton));
}

// True if a joint has a row that gives way: a control that is no rigid servo.
static bool has_compliant_row(const mabd_row_set* set) {
    bool found = false;
    for (int32_t r = 0; r < set->control_count; r++) found |= !set->control[r].rigid;
    return found;
}

static mabd_status check_semi_implicit(const mabd_model* model, const mabd_sim_def* def,
                                       mabd_error* error) {
    const mabd_quaternion_def* own = &def->quaternion;
    if (!(own->baumgarte >= 0 && own->baumgarte <= 1)) {
        return mabd_fail(error, MABD_ERR_ARG, "quaternion.baumgarte must be 0 to 1, and is %g",
                         (double)own->baumgarte);
    }
    if (def->integrator != MABD_INTEGRATOR_SEMI_IMPLICIT) {
        if (own->baumgarte == 1) return MABD_OK;
        return mabd_fail(error, MABD_ERR_ARG,
                         "quaternion.baumgarte is of integrator 'semi-implicit', and that of the "
                         "simulation is '%s'",
                         mabd_integrator_name(def->integrator));
    }
    if (own->redundancy == MABD_REDUNDANCY_ELIMINATE || own->newton == MABD_NEWTON_SYMMETRIC ||
        own->solver == MABD_SOLVER_FULLY_CONSTRAINED) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "integrator 'semi-implicit' has one linear solve, without redundancy "
                         "'eliminate', newton 'symmetric' and solver 'fully-constrained'");
    }
    for (int32_t i = 0; i < model->joint_count; i++) {
        char label[160];
        if (!has_compliant_row(&model->row_sets[model->joints[i].row_set])) continue;
        return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, i, 0,
                            "integrator 'semi-implicit' of formulation 'quaternion' has rigid rows "
                            "and motors only: no springs, dampers, armature, servos with gains, "
                            "stops and friction as at %s",
                            mabd_model_joint_label(model, i, label, sizeof label));
    }
    return MABD_OK;
}

mabd_status mabd_quaternion_check(const mabd_model* model, const mabd_sim_def* def,
                                  mabd_error* error) {
    const mabd_integrator start = def->quaternion.bdf2_start;
    const mabd_quaternion_def* own = &def->quaternion;
    if ((unsigned)own->redundancy >= MABD_REDUNDANCY_COUNT ||
        (unsigned)own->solver >= MABD_SOLVER_COUNT ||
        (unsigned)own->multipliers >= MABD_MULTIPLIERS_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "quaternion.redundancy, solver and multipliers must be of their enums");
    }
    const int32_t rows = mabd_plan_joint_rows(model->plan);
    if (own->redundancy == MABD_REDUNDANCY_ELIMINATE && rows > MABD_DENSE_ROWS) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "redundancy 'eliminate' analyses a dense matrix of at most %d rows, and "
                         "the model has %d; 'proximal', the default, has no limit",
                         MABD_DENSE_ROWS, (int)rows);
    }
    if (own->redundancy == MABD_REDUNDANCY_ELIMINATE && model->laws) {
        return mabd_fail(
            error, MABD_ERR_UNAVAILABLE,
            "redundancy 'eliminate' has no stops, limited drives and friction on axes, "
            "whose rows come and go: use 'proximal'");
    }
    if (!(def->quaternion.newton_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "quaternion.newton_tolerance must be positive");
    }
    if (start != MABD_INTEGRATOR_TRBDF2 && start != MABD_INTEGRATOR_SDIRK2 &&
        start != MABD_INTEGRATOR_EULER) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "quaternion.bdf2_start must be trbdf2, sdirk2 or euler");
    }
    MABD_TRY(check_semi_implicit(model, def, error));
    return check_newton(model, def, error); // features are refused by sim/sim_def.c
}
