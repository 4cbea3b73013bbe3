// SPDX-License-Identifier: Apache-2.0
// The quaternion formulation behind its table: creation, plan, memory.

#include "formulation/quaternion/quaternion_sim.h"

#include "base/error.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/quaternion_layout.h"
#include "formulation/quaternion/symmetric.h"
#include "formulation/quaternion/tangent.h"
#include "rigid/creation.h"

#include <stdio.h>
#include <string.h>

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_quaternion_sim* sim = self;
    mabd_quaternion_release(sim);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim, sizeof *sim);
}

static mabd_status prepare(void* self, const mabd_rigid_given* given) {
    mabd_quaternion_sim* sim = self;
    sim->model = given->model;
    sim->start = given->start;
    sim->def = *given->def;
    sim->allocator = sim->warnings.allocator = *given->allocator;
    mabd_quaternion_resolve(&sim->def);
    return mabd_quaternion_prepare(sim);
}

static mabd_status start(void* self, mabd_error* error) {
    return mabd_quaternion_start(self, error);
}

static const mabd_rigid_kind object = {sizeof(mabd_quaternion_sim), prepare, start, destroy};

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* first,
                          void** self, mabd_error* error) {
    const mabd_rigid_given given = {model, def, allocator, first};
    return mabd_rigid_create(&object, &given, self, error);
}

static void reset(void* self) {
    mabd_error error;
    mabd_quaternion_start(self, &error); // succeeded in create, with the same state
}

static mabd_status plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan_out,
                        mabd_error* error) {
    const mabd_rigid_given given = {model, def, &model->allocator, model->start};
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(&object, &given, &made, error));
    mabd_quaternion_sim* sim = made;
    mabd_quaternion_memory(sim, plan_out->bytes);
    if (sim->dual) mabd_quaternion_dual_name(sim, plan_out);
    for (int32_t i = 0; !sim->dual && i < model->plan->component_count; i++) {
        const mabd_component kind = model->plan->components[i].kind;
        snprintf(plan_out->solvers[kind], sizeof plan_out->solvers[kind], "block-lu");
    }
    destroy(sim, &model->allocator);
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_quaternion_sim*)self)->warnings;
}

static void memory(const void* self, size_t* out) {
    mabd_quaternion_memory(self, out);
}

static void get_times(const void* self, double* seconds) {
    const mabd_quaternion_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_QUATERNION_STAGE_LIST(X) NULL};
#undef X
static const char* const unused[] = {"gap_tolerance", "contact_tolerance", NULL};

const mabd_formulation_ops mabd_formulation_quaternion = {
    .name = "quaternion",
    .paper_name = "VQ",
    .state_version = 5,
    .can = MABD_CAN_LOOPS | MABD_CAN_STOPS | MABD_CAN_SCRIPTS | MABD_CAN_BATCH | MABD_CAN_GRADIENT,
    .integrators = 1U << MABD_INTEGRATOR_BDF2 | 1U << MABD_INTEGRATOR_EULER |
                   1U << MABD_INTEGRATOR_SDIRK2 | 1U << MABD_INTEGRATOR_TRBDF2 |
                   1U << MABD_INTEGRATOR_PARESCHI_RUSSO | 1U << MABD_INTEGRATOR_SEMI_IMPLICIT,
    .stages = stage_names,
    .unused = unused,
    .exact_start = true,
    .has_backend = mabd_rigid_on_cpu,
    .apply_preset = mabd_quaternion_apply_preset,
    .resolve = mabd_quaternion_resolve,
    .check = mabd_quaternion_check,
    .plan = plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_quaternion_step,
    .measure = mabd_quaternion_measure,
    .get_energy_balance = mabd_quaternion_energy_balance,
    .get_state = mabd_quaternion_get_state,
    .get_joint_forces = mabd_quaternion_get_joint_forces,
    .get_efforts = mabd_quaternion_get_efforts,
    .get_joint_coordinates = mabd_quaternion_get_joint_coordinates,
    .get_rank = mabd_quaternion_get_rank,
    .set_state = mabd_quaternion_set_state,
    .apply_force = mabd_quaternion_apply_force,
    .warnings = warnings,
    .set_targets = mabd_quaternion_set_targets,
    .restart_input = mabd_quaternion_restart_input,
    .get_controls = mabd_quaternion_get_controls,
    .get_target = mabd_quaternion_get_target,
    .get_contacts = mabd_rigid_no_contacts,
    .overlap = mabd_rigid_no_overlap,
    .state_size = mabd_quaternion_state_size,
    .save = mabd_quaternion_save,
    .restore = mabd_quaternion_restore,
    .device_bytes = mabd_rigid_no_device_bytes,
    .memory = memory,
    .get_times = get_times,
    .gradient_open = mabd_quaternion_gradient_open,
    .gradient_begin = mabd_quaternion_gradient_begin,
    .gradient_close = mabd_quaternion_gradient_close,
    .gradient_bytes = mabd_quaternion_gradient_bytes,
    .tape_size = mabd_quaternion_tape_size,
    .tape_write = mabd_quaternion_tape_write,
    .tape_read = mabd_quaternion_tape_read,
    .adjoint_step = mabd_quaternion_adjoint_step,
    .forward_step = mabd_quaternion_forward_step,
    .parameter_product = mabd_quaternion_parameter_product,
};
