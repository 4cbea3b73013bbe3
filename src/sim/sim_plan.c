// SPDX-License-Identifier: Apache-2.0
// Memory and solvers of a simulation before it is created: the model's part here, the rest by the
// formulation.

#include "base/error.h"
#include "model/model_data.h"
#include "sim/sim_def.h"
#include "sim/sim_object.h"

static size_t add(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

mabd_status mabd_sim_get_plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan,
                              mabd_error* error) {
    if (!model || !def || !plan) {
        return mabd_fail(error, MABD_ERR_ARG, "model, def and plan must not be null");
    }
    const mabd_formulation_ops* ops;
    *plan = (mabd_sim_plan){0};
    MABD_TRY(mabd_def_resolve(model, def, &plan->def, &ops, error));
    MABD_TRY(ops->plan(model, &plan->def, plan, error));
    mabd_model_memory(model, plan->bytes);
    plan->bytes_model = add(plan->bytes[MABD_MEMORY_MODEL], plan->bytes[MABD_MEMORY_PLAN]);
    plan->bytes[MABD_MEMORY_WORKSPACE] =
        add(plan->bytes[MABD_MEMORY_WORKSPACE], mabd_bytes(1, sizeof(struct mabd_sim)));
    for (int k = MABD_MEMORY_STATE; k < MABD_MEMORY_COUNT; k++) {
        plan->bytes_sim = add(plan->bytes_sim, plan->bytes[k]);
    }
    plan->bytes_per_body =
        ((mabd_real)plan->bytes_model + (mabd_real)plan->bytes_sim) / (mabd_real)model->body_count;
    return MABD_OK;
}
