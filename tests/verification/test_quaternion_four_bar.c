// SPDX-License-Identifier: Apache-2.0
// Orders of the integrators of the quaternion formulation on a passive four-bar of hinges, whose
// three redundant rows are kept, against the equation of its one freedom.

#include "support/one_freedom.h"

static const one_freedom_bound bounds[] = {
    {MABD_INTEGRATOR_EULER, {0.8, 1.1}, {0.8, 1.1}},
    {MABD_INTEGRATOR_BDF2, {1.9, 2.1}, {1.9, 2.1}},
    {MABD_INTEGRATOR_TRBDF2, {1.9, 2.1}, {1.9, 2.1}},
    {MABD_INTEGRATOR_SDIRK2, {0.9, 1.1}, {0.9, 1.1}},
    {MABD_INTEGRATOR_PARESCHI_RUSSO, {1.85, 2.1}, {0.8, 1.2}},
};

Test(quaternion_four_bar, orders_of_the_integrators) {
    const one_freedom m = four_bar_mechanism();
    one_freedom_orders(&m, four_bar_model(), MABD_FORMULATION_QUATERNION, 0.002, 0.4,
                       sizeof bounds / sizeof bounds[0], bounds);
}
