// SPDX-License-Identifier: Apache-2.0
// The impulse formulation behind its table: creation, plan, memory.

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_direct.h"

#include "base/error.h"
#include "rigid/creation.h"

#include <stdio.h>
#include <string.h>

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_impulse_sim* sim = self;
    mabd_impulse_release(sim);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim, sizeof *sim);
}

static mabd_status prepare(void* self, const mabd_rigid_given* given) {
    mabd_impulse_sim* sim = self;
    sim->model = given->model;
    sim->start = given->start;
    sim->def = *given->def;
    sim->allocator = sim->warnings.allocator = *given->allocator;
    mabd_impulse_warn_hertz(sim);
    return mabd_impulse_prepare(sim);
}

static const mabd_rigid_kind object = {sizeof(mabd_impulse_sim), prepare, mabd_impulse_start,
                                       destroy};

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* first,
                          void** self, mabd_error* error) {
    const mabd_rigid_given given = {model, def, allocator, first};
    return mabd_rigid_create(&object, &given, self, error);
}

static void reset(void* self) {
    mabd_error error;
    mabd_impulse_start(self, &error);
}

static void memory(const void* self, size_t* out) {
    const mabd_impulse_sim* sim = self;
    out[MABD_MEMORY_STATE] = sim->state_bytes;
    out[MABD_MEMORY_WORKSPACE] = sim->memory_size - sim->state_bytes + mabd_bytes(1, sizeof *sim);
    if (sim->blocks) out[MABD_MEMORY_WORKSPACE] += mabd_impulse_blocks_bytes(sim);
    out[MABD_MEMORY_CONTACTS] = mabd_impulse_contacts_bytes(sim->contacts);
    out[MABD_MEMORY_DUAL] = mabd_impulse_direct_bytes(sim);
}

static mabd_status plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan_out,
                        mabd_error* error) {
    const mabd_rigid_given given = {model, def, &model->allocator, model->start};
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(&object, &given, &made, error));
    memory(made, plan_out->bytes);
    if (model->contact.enabled) {
        plan_out->bytes_per_contact = sizeof(mabd_impulse_point) + 2 * sizeof(mabd_impulse_kept);
    }
    for (int32_t i = 0; i < model->plan->component_count; i++) {
        const mabd_component kind = model->plan->components[i].kind;
        snprintf(plan_out->solvers[kind], sizeof plan_out->solvers[kind], "sweeps");
    }
    destroy(made, &model->allocator);
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_impulse_sim*)self)->warnings;
}

static void get_times(const void* self, double* seconds) {
    const mabd_impulse_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

// ---- inputs ------------------------------------------------------------------------------------

static void set_targets(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values) {
    mabd_rigid_set_targets(&((mabd_impulse_sim*)self)->inputs, first, count, which, values);
}

static bool get_target(const void* self, int32_t copy, int32_t control, mabd_real* target) {
    return mabd_rigid_get_target(&((const mabd_impulse_sim*)self)->inputs, copy, control, target);
}

static void get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_impulse_sim* sim = self;
    mabd_rigid_get_controls(sim->model, mabd_impulse_control_state, sim, coordinates, rates);
}

static void apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                        const mabd_real* torques) {
    mabd_rigid_apply_force(&((mabd_impulse_sim*)self)->inputs, n, bodies, forces, torques);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_IMPULSE_STAGE_LIST(X) NULL};
#undef X
static const char* const unused[] = {"row_tolerance",  "gap_tolerance", "contact_tolerance",
                                     "max_iterations", "max_halvings",  NULL};

const mabd_formulation_ops mabd_formulation_impulse = {
    .name = "impulse",
    .paper_name = "SI",
    .state_version = 2,
    .can = MABD_CAN_CONTACTS | MABD_CAN_LOOPS | MABD_CAN_STOPS | MABD_CAN_SCRIPTS | MABD_CAN_BATCH,
    .integrators = 1U << MABD_INTEGRATOR_SEMI_IMPLICIT,
    .stages = stage_names,
    .unused = unused,
    .exact_start = true,
    .has_backend = mabd_rigid_on_cpu,
    .apply_preset = mabd_impulse_apply_preset,
    .resolve = mabd_impulse_resolve,
    .check = mabd_impulse_check,
    .plan = plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_impulse_step,
    .measure = mabd_impulse_measure,
    .get_energy_balance = mabd_impulse_energy_balance,
    .get_state = mabd_impulse_get_state,
    .get_joint_forces = mabd_impulse_get_joint_forces,
    .get_joint_coordinates = mabd_impulse_get_joint_coordinates,
    .set_state = mabd_impulse_set_state,
    .apply_force = apply_force,
    .warnings = warnings,
    .set_targets = set_targets,
    .get_controls = get_controls,
    .get_target = get_target,
    .get_contacts = mabd_impulse_get_contacts,
    .overlap = mabd_impulse_overlap,
    .state_size = mabd_impulse_state_size,
    .save = mabd_impulse_save,
    .restore = mabd_impulse_restore,
    .device_bytes = mabd_rigid_no_device_bytes,
    .memory = memory,
    .get_times = get_times,
};
