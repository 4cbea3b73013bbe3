// SPDX-License-Identifier: Apache-2.0
// The redmax formulation behind its table: creation, plan, memory.

#include "formulation/redmax/lean.h"
#include "formulation/redmax/maximal.h"
#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include "base/error.h"
#include "formulation/redmax/redmax_tangent.h"
#include "rigid/creation.h"

#include <stdio.h>
#include <string.h>

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_redmax_sim* sim = self;
    mabd_redmax_release(sim);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim, sizeof *sim);
}

static mabd_status prepare(void* self, const mabd_rigid_given* given) {
    mabd_redmax_sim* sim = self;
    sim->model = given->model;
    sim->start = given->start;
    sim->def = *given->def;
    sim->allocator = sim->warnings.allocator = *given->allocator;
    mabd_redmax_resolve(&sim->def);
    return mabd_redmax_prepare(sim);
}

static mabd_status start(void* self, mabd_error* error) {
    mabd_redmax_start(self);
    MABD_TRY(mabd_redmax_check_start(self, error));
    MABD_TRY(mabd_redmax_check_charts(self, error));
    return mabd_redmax_check_couplings(self, error);
}

static const mabd_rigid_kind object = {sizeof(mabd_redmax_sim), prepare, start, destroy};

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* first,
                          void** self, mabd_error* error) {
    const mabd_rigid_given given = {model, def, allocator, first};
    return mabd_rigid_create(&object, &given, self, error);
}

static void reset(void* self) {
    mabd_redmax_start(self);
}

static mabd_status plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan_out,
                        mabd_error* error) {
    const mabd_rigid_given given = {model, def, &model->allocator, model->start};
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(&object, &given, &made, error));
    mabd_redmax_sim* sim = made;
    mabd_redmax_memory(sim, plan_out->bytes);
    mabd_redmax_describe(sim, &plan_out->tree);
    for (int32_t i = 0; i < model->plan->component_count; i++) {
        const mabd_component kind = model->plan->components[i].kind;
        snprintf(plan_out->solvers[kind], sizeof plan_out->solvers[kind], "tree");
    }
    destroy(sim, &model->allocator);
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_redmax_sim*)self)->warnings;
}

static void memory(const void* self, size_t* out) {
    mabd_redmax_memory(self, out);
}

static void get_times(const void* self, double* seconds) {
    const mabd_redmax_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_REDMAX_STAGE_LIST(X) NULL};
#undef X
static const char* const unused[] = {
    "dual", "row_tolerance", "gap_tolerance", "redmax.baumgarte", "redmax.baumgarte_level", NULL};

static const mabd_formulation_ops* table_of(const mabd_sim_def* def) {
    const bool maximal = def->redmax.coordinates == MABD_COORDINATES_MAXIMAL;
    return maximal ? &mabd_formulation_maximal : &mabd_formulation_redmax;
}

const mabd_formulation_ops mabd_formulation_redmax = {
    .name = "redmax",
    .paper_name = "RedMax",
    .state_version = 7,
    .can = MABD_CAN_CONTACTS | MABD_CAN_PINS | MABD_CAN_CURVES | MABD_CAN_COUPLINGS |
           MABD_CAN_GROUND | MABD_CAN_NODES | MABD_CAN_SPRINGS | MABD_CAN_LOOPS | MABD_CAN_STOPS |
           MABD_CAN_SCRIPTS | MABD_CAN_BATCH | MABD_CAN_GRADIENT,
    .integrators = 1U << MABD_INTEGRATOR_BDF2 | 1U << MABD_INTEGRATOR_EULER |
                   1U << MABD_INTEGRATOR_SDIRK2 | 1U << MABD_INTEGRATOR_SEMI_IMPLICIT |
                   1U << MABD_INTEGRATOR_LINEAR_IMPLICIT | 1U << MABD_INTEGRATOR_RK45,
    .stages = stage_names,
    .unused = unused,
    .exact_start = true,
    .table_of = table_of,
    .has_backend = mabd_rigid_on_cpu,
    .apply_preset = mabd_redmax_apply_preset,
    .resolve = mabd_redmax_resolve,
    .check = mabd_redmax_check,
    .plan = plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_redmax_step,
    .measure = mabd_redmax_measure,
    .get_energy_balance = mabd_redmax_energy_balance,
    .get_state = mabd_redmax_get_state,
    .get_joint_forces = mabd_redmax_get_joint_forces,
    .get_joint_coordinates = mabd_redmax_get_joint_coordinates,
    .set_state = mabd_redmax_set_state,
    .apply_force = mabd_redmax_apply_force,
    .warnings = warnings,
    .set_targets = mabd_redmax_set_targets,
    .restart_input = mabd_redmax_restart_input,
    .get_controls = mabd_redmax_get_controls,
    .get_target = mabd_redmax_get_target,
    .get_contacts = mabd_redmax_get_contacts,
    .overlap = mabd_redmax_overlap,
    .state_size = mabd_redmax_state_size,
    .save = mabd_redmax_save,
    .restore = mabd_redmax_restore,
    .device_bytes = mabd_rigid_no_device_bytes,
    .memory = memory,
    .get_times = get_times,
    .gradient_open = mabd_redmax_gradient_open,
    .gradient_close = mabd_redmax_gradient_close,
    .gradient_bytes = mabd_redmax_gradient_bytes,
    .gradient_begin = mabd_redmax_gradient_begin,
    .tape_size = mabd_redmax_tape_size,
    .tape_write = mabd_redmax_tape_write,
    .tape_read = mabd_redmax_tape_read,
    .adjoint_step = mabd_redmax_adjoint_step,
    .forward_step = mabd_redmax_forward_step,
    .parameter_product = mabd_redmax_parameter_product,
    .get_axes = mabd_redmax_get_axes,
    .get_efforts = mabd_redmax_get_efforts,
    .gradient_step = mabd_redmax_gradient_step,
};
