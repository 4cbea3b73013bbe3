// SPDX-License-Identifier: Apache-2.0
// Input of a user between steps: forces, and clones of a simulation. Arguments are checked here.

#include "base/error.h"
#include "model/model_data.h"
#include "sim/sim_object.h"

#include <math.h>

// ---- forces ------------------------------------------------------------------------------------

// True if the three values are finite; *zero stays true if all are 0. A null array is zero.
static bool look_at(const mabd_real* values, int32_t i, bool* zero) {
    bool finite = true;
    for (int k = 0; values && k < 3; k++) {
        const mabd_real value = values[3 * (size_t)i + (size_t)k];
        finite &= isfinite(value) != 0;
        *zero &= value == 0;
    }
    return finite;
}

static mabd_status refuse_force(const mabd_sim* sim, int32_t body, const char* why,
                                mabd_error* error) {
    char label[160];
    return mabd_fail_at(error, MABD_ERR_ARG, body, -1, mabd_sim_time(sim),
                        "apply_force: the force on %s %s",
                        mabd_model_body_label(sim->model, body, label, sizeof label), why);
}

static mabd_status check_force(const mabd_sim* sim, int32_t i, int32_t body,
                               const mabd_real* forces, const mabd_real* torques,
                               mabd_error* error) {
    bool zero = true;
    if (body < 0 || body >= sim->model->body_count) {
        return mabd_fail(error, MABD_ERR_ARG, "apply_force: body %d does not exist (there are %d)",
                         (int)body, (int)sim->model->body_count);
    }
    const bool finite = look_at(forces, i, &zero);
    if (!look_at(torques, i, &zero) || !finite) {
        return refuse_force(sim, body, "is not finite", error);
    }
    if (!zero && sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) {
        return refuse_force(sim, body, "has no effect: the body is fixed or scripted", error);
    }
    return MABD_OK;
}

mabd_status mabd_sim_apply_force(mabd_sim* sim, int32_t n, const int32_t* bodies,
                                 const mabd_real* forces, const mabd_real* torques,
                                 mabd_error* error) {
    if (!sim || n < 0 || (n > 0 && !bodies)) {
        return mabd_fail(error, MABD_ERR_ARG, "apply_force: no simulation or no bodies");
    }
    for (int32_t i = 0; i < n; i++) {
        MABD_TRY(check_force(sim, i, bodies[i], forces, torques, error));
    }
    sim->ops->apply_force(sim->self, n, bodies, forces, torques);
    return MABD_OK;
}

// ---- copies ------------------------------------------------------------------------------------

static mabd_status copy_state(const mabd_sim* from, mabd_sim* to, mabd_error* error) {
    const size_t size = mabd_sim_state_size(from);
    void* state = mabd_alloc(&from->allocator, size);
    if (!state) return mabd_fail_memory(error, "copying the simulation");
    mabd_sim_save(from, state);
    mabd_status status = mabd_sim_restore(to, state, size, error);
    mabd_free(&from->allocator, state, size);
    if (status != MABD_OK) return status;
    status = mabd_warnings_copy(from->ops->warnings(from->self), to->ops->warnings(to->self));
    return status == MABD_OK ? MABD_OK : mabd_fail_memory(error, "copying the warnings");
}

mabd_status mabd_sim_clone(const mabd_sim* sim, mabd_sim** clone, mabd_error* error) {
    if (!sim || !clone) return mabd_fail(error, MABD_ERR_ARG, "clone: null argument");
    MABD_TRY(mabd_sim_create(sim->model, &sim->def, clone, error));
    const mabd_status status = copy_state(sim, *clone, error);
    if (status == MABD_OK) return MABD_OK;
    mabd_sim_destroy(*clone);
    *clone = NULL;
    return status;
}

int32_t mabd_sim_warnings(const mabd_sim* sim, int32_t capacity, mabd_warning* warnings) {
    return sim ? mabd_warnings_read(sim->ops->warnings(sim->self), capacity, warnings) : 0;
}
