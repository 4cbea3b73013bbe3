// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "mabd/gradient.h"
#include "sim/sim_object.h"

mabd_status mabd_gradient_step(const mabd_sim* sim, mabd_real* dnext_dstate,
                               mabd_real* dnext_dcontrol, mabd_error* error) {
    if (!sim || (!dnext_dstate && !dnext_dcontrol)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "sim, and one of dnext_dstate and dnext_dcontrol, must not be null");
    }
    if (!sim->ops->gradient_step) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation '%s' has no derivatives of a step in joint states",
                         sim->ops->name);
    }
    if (sim->model->copy_count > 0) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "derivatives of a step are those of a model without copies");
    }
    return sim->ops->gradient_step(sim->self, &sim->allocator, dnext_dstate, dnext_dcontrol, error);
}
