// SPDX-License-Identifier: Apache-2.0
// The definition of an affine simulation: presets, resolved choices, checks.

#include "base/error.h"
#include "formulation/affine/affine_sim.h"

static const struct {
    mabd_real rotation_tolerance;
    int32_t friction_updates, max_iterations;
    mabd_real pile_tolerance;
} presets[MABD_PRESET_COUNT] = {
    [MABD_PRESET_FAST] = {(mabd_real)3e-2, 1, 10, (mabd_real)1e-4},
    [MABD_PRESET_BALANCED] = {(mabd_real)1e-2, 1, 10, (mabd_real)1e-4},
    [MABD_PRESET_EXACT] = {(mabd_real)1e-6, 50, 20, (mabd_real)1e-6},
};

void mabd_affine_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    def->affine.rotation_tolerance = presets[preset].rotation_tolerance;
    def->affine.friction_updates = presets[preset].friction_updates;
    def->affine.orbit = true;
    def->affine.sleep = false;
    def->affine.pile_tolerance = presets[preset].pile_tolerance;
}

void mabd_affine_resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_BDF2;
    if (def->max_iterations == 0) def->max_iterations = presets[def->preset].max_iterations;
}

bool mabd_affine_has_backend(mabd_backend backend) {
    return mabd_affine_backend_ops_of(backend) != NULL;
}

mabd_status mabd_affine_check(const mabd_model* model, const mabd_sim_def* def, mabd_error* error) {
    (void)model; // every scene can be simulated
    if (!(def->affine.rotation_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "affine.rotation_tolerance must be positive");
    }
    if (def->affine.friction_updates < 0) {
        return mabd_fail(error, MABD_ERR_ARG, "affine.friction_updates must be at least 0");
    }
    if (!(def->affine.pile_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "affine.pile_tolerance must be positive");
    }
    return MABD_OK;
}
