// SPDX-License-Identifier: Apache-2.0
// The definition of a simulation in the impulse formulation: presets, choices, checks.

#include "base/error.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "topology/plan.h"

#include <math.h>

void mabd_impulse_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    static const mabd_impulse_def presets[MABD_PRESET_COUNT] = {
        [MABD_PRESET_FAST] = {.substeps = 2, .sweeps = 1, .relaxations = 1},
        [MABD_PRESET_BALANCED] = {.substeps = 4, .sweeps = 1, .relaxations = 1},
        [MABD_PRESET_EXACT] = {.sweeps = 10,
                               .relaxations = 1,
                               .joints = MABD_IMPULSE_JOINTS_DIRECT},
    };
    mabd_impulse_def* own = &def->impulse;
    *own = presets[preset];
    own->correction = MABD_CORRECTION_SOFT;
    own->baumgarte = (mabd_real)0.2;
    own->slop = (mabd_real)5e-4;
    own->contact_hertz = 30;
    own->joint_hertz = 60;
}

void mabd_impulse_resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
}

static bool is_count(int32_t value) {
    return value >= 0 && value <= MABD_IMPULSE_COUNT_MAX;
}

static mabd_status check_numbers(const mabd_impulse_def* own, mabd_error* error) {
    if (!is_count(own->substeps) || !is_count(own->sweeps) || !is_count(own->relaxations)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "impulse.substeps, sweeps and relaxations must be 0 to %d",
                         MABD_IMPULSE_COUNT_MAX);
    }
    if (own->sweeps == 0 && own->joints != MABD_IMPULSE_JOINTS_DIRECT) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "impulse.sweeps must be at least 1; 0 is of joints 'direct' only");
    }
    if (!(own->baumgarte >= 0 && own->baumgarte <= 1)) {
        return mabd_fail(error, MABD_ERR_ARG, "impulse.baumgarte must be 0 to 1, and is %g",
                         (double)own->baumgarte);
    }
    if (!(own->slop >= 0) || !isfinite(own->slop)) {
        return mabd_fail(error, MABD_ERR_ARG, "impulse.slop must be 0 m or more, and is %g",
                         (double)own->slop);
    }
    if (!(own->contact_hertz > 0) || !(own->joint_hertz > 0)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "impulse.contact_hertz and joint_hertz must be positive");
    }
    return MABD_OK;
}

mabd_status mabd_impulse_check(const mabd_model* model, const mabd_sim_def* def,
                               mabd_error* error) {
    const mabd_impulse_def* own = &def->impulse;
    (void)model;
    if ((unsigned)own->joints >= MABD_IMPULSE_JOINTS_COUNT ||
        (unsigned)own->correction >= MABD_CORRECTION_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "impulse.joints and correction must be of their enums");
    }
    MABD_TRY(check_numbers(own, error));
    const bool direct = own->joints == MABD_IMPULSE_JOINTS_DIRECT;
    if (def->dual == MABD_DUAL_AUTO || (direct && def->dual == MABD_DUAL_DIRECT)) return MABD_OK;
    return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                     "formulation 'impulse' uses dual with joints 'direct' only, and then auto or "
                     "direct: it must stay auto");
}

static void warn_hertz(mabd_impulse_sim* sim, const char* name, mabd_real hertz, mabd_real h) {
    const mabd_real most = MABD_IMPULSE_HERTZ_MAX / h;
    if (!(hertz > 2 * most)) return;
    mabd_warn(&sim->warnings, -1, -1, 0,
              "impulse.%s of %g 1/s is taken as %g 1/s at substeps of %g s", name, (double)hertz,
              (double)most, (double)h);
}

void mabd_impulse_warn_hertz(mabd_impulse_sim* sim) {
    const mabd_impulse_def* def = &sim->def.impulse;
    if (def->substeps == 0 || def->correction != MABD_CORRECTION_SOFT) return;
    const mabd_real h = sim->def.h / (mabd_real)def->substeps;
    warn_hertz(sim, "joint_hertz", def->joint_hertz, h);
    warn_hertz(sim, "contact_hertz", def->contact_hertz, h);
}
