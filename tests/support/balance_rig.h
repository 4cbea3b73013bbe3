// SPDX-License-Identifier: Apache-2.0
// Energy balances of short runs, for the tests of energy by cause.
#pragma once

#include "support/rig.h"

/// A scene in JSON, and how it is run.
typedef struct balance_case {
    const char* text;
    double time; // simulated [s]
} balance_case;

/// Both forms of BDF2.
static const mabd_integrator balance_integrators[] = {MABD_INTEGRATOR_BDF2_LINEAR,
                                                      MABD_INTEGRATOR_BDF2};

/// Methods of second order that book works.
typedef struct balance_method {
    mabd_formulation formulation;
    mabd_integrator integrator;
} balance_method;
static const balance_method balance_methods[] = {
    {MABD_FORMULATION_AFFINE, MABD_INTEGRATOR_BDF2_LINEAR},
    {MABD_FORMULATION_AFFINE, MABD_INTEGRATOR_BDF2},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_BDF2},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_TRBDF2},
    {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_BDF2},
    {MABD_FORMULATION_VARIATIONAL, MABD_INTEGRATOR_RATTLE},
    {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_SDIRK2},
};
#define BALANCE_METHODS (sizeof balance_methods / sizeof balance_methods[0])

/// Create the simulation of a scene with steps of h [s].
static inline mabd_sim* balance_start(const mabd_model* model, balance_method method, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.formulation = method.formulation;
    def.integrator = method.integrator;
    if (method.formulation == MABD_FORMULATION_REDMAX) def.redmax.energy_guard = 0; // no halves
    return rig_sim(model, &def);
}

/// Assert the identity of the balance: integrator is the rest, to round-off.
static inline void balance_check(const mabd_sim* sim) {
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    const double change = b.kinetic + b.gravity + b.elastic + b.spring;
    const double in = b.drives + b.scripts + b.forces + b.surfaces;
    const double impacts = isnan(b.impacts) ? 0 : b.impacts; // not told apart
    const double out = b.dampers + b.friction + b.rolling + b.drag + impacts + b.integrator;
    const double scale = fabs(b.kinetic) + fabs(b.gravity) + fabs(b.elastic) + fabs(b.spring) +
                         fabs(b.drives) + fabs(b.scripts) + fabs(b.forces) + fabs(b.dampers) +
                         fabs(b.friction) + fabs(b.rolling) + fabs(b.surfaces) + fabs(b.drag) +
                         fabs(impacts);
    cr_expect(fabs(change - in + out) <= 1e-14 * scale, "%g J = %g J - %g J", change, in, out);
}

/// Run a case with steps of h [s] and return its balance.
static inline mabd_energy_balance balance_run(const balance_case* c, balance_method method,
                                              double h) {
    mabd_model* model = rig_text_model(c->text);
    mabd_sim* sim = balance_start(model, method, h);
    const int steps = (int)lround(c->time / h);
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.retries == 0, "step %d", i);
    }
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    balance_check(sim);
    rig_destroy(sim, model);
    return b;
}
