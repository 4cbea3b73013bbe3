// SPDX-License-Identifier: Apache-2.0
// Targets of the controls of a simulation of copies: checks the arguments.

#include "mabd/batch.h"

#include "base/error.h"
#include "model/model_data.h"
#include "sim/sim_object.h"

#include <math.h>

static mabd_status check_copies(const mabd_sim* sim, int32_t first, int32_t count,
                                mabd_error* error) {
    const int32_t copies = mabd_model_control_copies(sim->model);
    if (first >= 0 && count >= 0 && first <= copies - count) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "copies %d to %d: the model has %d", (int)first,
                     (int)(first + (count > 0 ? count - 1 : count)), (int)copies);
}

static mabd_status check_values(const mabd_sim* sim, int32_t first, int32_t count,
                                const bool* which, const mabd_real* values, mabd_error* error) {
    const mabd_model* m = sim->model;
    for (int32_t c = 0; c < count; c++) {
        for (int32_t k = 0; k < m->control_count; k++) {
            const mabd_real value = values[(size_t)c * (size_t)m->control_count + (size_t)k];
            const int32_t joint = (first + c) * m->copy_joints + m->controls[k].joint;
            char label[160];
            if (isfinite(value) || (which && !which[k])) continue;
            return mabd_fail_at(error, MABD_ERR_ARG, -1, joint, mabd_sim_time(sim),
                                "the target of control %d is not finite (%s)", (int)k,
                                mabd_model_joint_label(m, joint, label, sizeof label));
        }
    }
    return MABD_OK;
}

mabd_status mabd_sim_set_targets(mabd_sim* sim, int32_t first, int32_t count, const bool* which,
                                 const mabd_real* values, mabd_error* error) {
    if (!sim || !values) return mabd_fail(error, MABD_ERR_ARG, "set_targets: null argument");
    MABD_TRY(check_copies(sim, first, count, error));
    MABD_TRY(check_values(sim, first, count, which, values, error));
    sim->ops->set_targets(sim->self, first, count, which, values);
    return MABD_OK;
}

mabd_status mabd_sim_clear_targets(mabd_sim* sim, int32_t first, int32_t count, mabd_error* error) {
    if (!sim) return mabd_fail(error, MABD_ERR_ARG, "clear_targets: null argument");
    MABD_TRY(check_copies(sim, first, count, error));
    sim->ops->set_targets(sim->self, first, count, NULL, NULL);
    return MABD_OK;
}

void mabd_sim_get_controls(const mabd_sim* sim, mabd_real* coordinates, mabd_real* rates) {
    sim->ops->get_controls(sim->self, coordinates, rates);
}
