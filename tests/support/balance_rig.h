// SPDX-License-Identifier: Apache-2.0
// Energy balances of short runs, for the tests of energy by cause.
#pragma once

#include "support/rig.h"

/// A scene in JSON, and how it is run.
typedef struct balance_case {
    const char* text;
    mabd_integrator integrator;
    double time; // simulated [s]
} balance_case;

/// Both forms of BDF2.
static const mabd_integrator balance_integrators[] = {MABD_INTEGRATOR_BDF2_LINEAR,
                                                      MABD_INTEGRATOR_BDF2};

/// Create the simulation of a scene with steps of h [s].
static inline mabd_sim* balance_start(const mabd_model* model, mabd_integrator integrator,
                                      double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.integrator = integrator;
    return rig_sim(model, &def);
}

/// Assert the identity of the balance: integrator is the rest, to round-off.
static inline void balance_check(const mabd_sim* sim) {
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    const double change = b.kinetic + b.gravity + b.elastic + b.spring;
    const double in = b.drives + b.scripts + b.forces;
    const double out = b.dampers + b.friction + b.drag + b.impacts + b.integrator;
    const double scale = fabs(b.kinetic) + fabs(b.gravity) + fabs(b.elastic) + fabs(b.spring) +
                         fabs(b.drives) + fabs(b.scripts) + fabs(b.forces) + fabs(b.dampers) +
                         fabs(b.friction) + fabs(b.drag) + fabs(b.impacts);
    cr_expect(fabs(change - in + out) <= 1e-14 * scale, "%g J = %g J - %g J", change, in, out);
}

/// Run a case with steps of h [s] and return its balance; *end (null allowed) gets the measures.
static inline mabd_energy_balance balance_run(const balance_case* c, double h, mabd_measure* end) {
    mabd_model* model = rig_text_model(c->text);
    mabd_sim* sim = balance_start(model, c->integrator, h);
    const int steps = (int)lround(c->time / h);
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.retries == 0, "step %d", i);
    }
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    balance_check(sim);
    if (end) *end = mabd_sim_measure(sim);
    rig_destroy(sim, model);
    return b;
}
