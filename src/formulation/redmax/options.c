// SPDX-License-Identifier: Apache-2.0
// The definition of a simulation in the redmax formulation: presets, choices, checks.

#include "base/error.h"
#include "formulation/redmax/redmax_sim.h"

static const mabd_real tolerances[MABD_PRESET_COUNT] = {
    [MABD_PRESET_FAST] = (mabd_real)1e-8,
    [MABD_PRESET_BALANCED] = (mabd_real)1e-8,
    [MABD_PRESET_EXACT] = (mabd_real)1e-11,
};

void mabd_redmax_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    def->redmax.newton_tolerance = tolerances[preset];
    def->redmax.energy_guard = (mabd_real)1e-4;
    def->redmax.baumgarte = (mabd_real)0.5;
}

void mabd_redmax_resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_BDF2;
    if (def->max_iterations == 0) def->max_iterations = 40;
}

static mabd_status refuse(const mabd_model* m, int32_t joint, const char* what, mabd_error* error) {
    char label[160];
    return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, joint, 0,
                        "formulation 'redmax' does not have %s, which %s needs", what,
                        mabd_model_joint_label(m, joint, label, sizeof label));
}

static mabd_status check_controls(const mabd_model* m, const mabd_sim_def* def, int32_t joint,
                                  mabd_error* error) {
    const mabd_row_set* set = &m->row_sets[m->joints[joint].row_set];
    const bool rk45 = def->integrator == MABD_INTEGRATOR_RK45;
    const bool explicit = rk45 || def->integrator == MABD_INTEGRATOR_SEMI_IMPLICIT;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const bool turn = set->control_row[r].kind == MABD_ROW_VECTOR;
        if (c->rigid && turn && explicit) {
            return refuse(m, joint,
                          "rigid servos on an axis of three free rotations with explicit "
                          "integrators",
                          error);
        }
        if (c->rigid && rk45) {
            return refuse(m, joint, "prescribed motion with integrator 'rk45'", error);
        }
        if (c->law && explicit) {
            return refuse(m, joint, "stops, limited drives and friction with explicit integrators",
                          error);
        }
    }
    return MABD_OK;
}

mabd_status mabd_redmax_check(const mabd_model* m, const mabd_sim_def* def, mabd_error* error) {
    if (!(def->redmax.newton_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "redmax.newton_tolerance must be positive");
    }
    if (!(def->redmax.energy_guard >= 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "redmax.energy_guard must be at least 0");
    }
    if ((unsigned)def->redmax.coordinates >= MABD_COORDINATES_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "redmax.coordinates must be one of enum mabd_coordinates");
    }
    for (int32_t i = 0; i < m->joint_count; i++) MABD_TRY(check_controls(m, def, i, error));
    if (def->integrator == MABD_INTEGRATOR_RK45 && m->script_count > 0) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'redmax' does not have scripted bodies with integrator "
                         "'rk45'");
    }
    if (def->integrator == MABD_INTEGRATOR_RK45 && m->contact.enabled) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'redmax' does not have contacts with integrator 'rk45'");
    }
    return MABD_OK;
}
