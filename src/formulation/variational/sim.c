// SPDX-License-Identifier: Apache-2.0
// The variational formulation behind its table: creation, plan, memory.

#include "formulation/variational/variational_sim.h"

#include "base/error.h"
#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_system.h"
#include "rigid/component_dual.h"
#include "rigid/creation.h"

#include <string.h>

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_variational_sim* sim = self;
    mabd_variational_release(sim);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim, sizeof *sim);
}

static mabd_status prepare(void* self, const mabd_rigid_given* given) {
    mabd_variational_sim* sim = self;
    sim->model = given->model;
    sim->start = given->start;
    sim->def = *given->def;
    sim->allocator = sim->warnings.allocator = *given->allocator;
    mabd_variational_resolve(&sim->def);
    return mabd_variational_prepare(sim);
}

static mabd_status start(void* self, mabd_error* error) {
    return mabd_variational_start(self, error);
}

static const mabd_rigid_kind object = {sizeof(mabd_variational_sim), prepare, start, destroy};

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* first,
                          void** self, mabd_error* error) {
    const mabd_rigid_given given = {model, def, allocator, first};
    return mabd_rigid_create(&object, &given, self, error);
}

static void reset(void* self) {
    mabd_error error;
    mabd_variational_start(self, &error); // succeeded in create, with the same state
}

// Names of the solvers that the islands of a simulation use.
static void name_solvers(const mabd_variational_sim* sim, mabd_sim_plan* plan) {
    for (int32_t k = 0; k < sim->island_count; k++) {
        const mabd_variational_island* island = &sim->islands[k];
        for (int32_t i = 0; i < island->component_count; i++) {
            const int32_t c = island->components[i];
            char* names = plan->solvers[sim->plan->components[c].kind];
            if (!sim->ops[c]) continue;
            mabd_rigid_add_solver_name(names, island->exact ? "block-lu" : sim->ops[c]->name);
        }
    }
}

static mabd_status plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan_out,
                        mabd_error* error) {
    const mabd_rigid_given given = {model, def, &model->allocator, model->start};
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(&object, &given, &made, error));
    mabd_variational_memory(made, plan_out->bytes);
    name_solvers(made, plan_out);
    destroy(made, &model->allocator);
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_variational_sim*)self)->warnings;
}

static void memory(const void* self, size_t* out) {
    mabd_variational_memory(self, out);
}

static void get_times(const void* self, double* seconds) {
    const mabd_variational_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_VARIATIONAL_STAGE_LIST(X) NULL};
#undef X
static const char* const unused[] = {"gap_tolerance", NULL};

const mabd_formulation_ops mabd_formulation_variational = {
    .name = "variational",
    .paper_name = "VI",
    .state_version = 2,
    .can = MABD_CAN_CONTACTS | MABD_CAN_LOOPS | MABD_CAN_STOPS | MABD_CAN_SCRIPTS | MABD_CAN_BATCH |
           MABD_CAN_SPRINGS,
    .integrators = 1U << MABD_INTEGRATOR_RATTLE | 1U << MABD_INTEGRATOR_SYMPLECTIC_EULER,
    .stages = stage_names,
    .unused = unused,
    .exact_start = true,
    .has_backend = mabd_rigid_on_cpu,
    .apply_preset = mabd_variational_apply_preset,
    .resolve = mabd_variational_resolve,
    .check = mabd_variational_check,
    .plan = plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_variational_step,
    .measure = mabd_variational_measure,
    .get_energy_balance = mabd_variational_energy_balance,
    .get_state = mabd_variational_get_state,
    .get_joint_forces = mabd_variational_get_joint_forces,
    .get_efforts = mabd_variational_get_efforts,
    .get_joint_coordinates = mabd_variational_get_joint_coordinates,
    .set_state = mabd_variational_set_state,
    .apply_force = mabd_variational_apply_force,
    .warnings = warnings,
    .set_targets = mabd_variational_set_targets,
    .restart_input = mabd_variational_restart_input,
    .get_controls = mabd_variational_get_controls,
    .get_target = mabd_variational_get_target,
    .get_contacts = mabd_variational_get_contacts,
    .overlap = mabd_variational_overlap,
    .state_size = mabd_variational_state_size,
    .save = mabd_variational_save,
    .restore = mabd_variational_restore,
    .device_bytes = mabd_rigid_no_device_bytes,
    .memory = memory,
    .get_times = get_times,
};
