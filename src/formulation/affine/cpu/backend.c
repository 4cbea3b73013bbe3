// SPDX-License-Identifier: Apache-2.0
// The stages on the processor: nothing is copied, nothing fails but for memory.

#include "formulation/affine/backend.h"
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/copies.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/dual_select.h"

#include "base/error.h"
#include "formulation/affine/cpu/isa_table.h"

#include <string.h>

static mabd_status create(mabd_affine_sim* sim, const void* arena, size_t arena_size,
                          const mabd_allocator* allocator, mabd_error* error) {
    (void)sim, (void)arena, (void)arena_size, (void)allocator, (void)error;
    return MABD_OK;
}
static void destroy(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    (void)sim, (void)allocator;
}
static size_t bytes(const mabd_affine_sim* sim) {
    return (void)sim, 0;
}
static mabd_status last_error(const mabd_affine_sim* sim, mabd_error* error) {
    (void)sim;
    return mabd_fail(error, MABD_ERR_DEVICE, "the processor does not fail");
}
static mabd_status nothing(mabd_affine_sim* sim) {
    return (void)sim, MABD_OK;
}

// ---- the step ------------------------------------------------------------------------------------------

static void swap_multipliers(mabd_affine_sim* sim) {
    mabd_real* last = sim->lambda;
    sim->lambda = sim->lambda_last;
    sim->lambda_last = last;
}

static mabd_status copy_state(mabd_affine_sim* sim, bool back) {
    const size_t bodies = 12 * sim->sizes.bodies * sizeof(mabd_real);
    const size_t coordinates = sim->sizes.coordinates * sizeof(mabd_real);
    memcpy(back ? sim->q : sim->q1, back ? sim->q1 : sim->q, bodies);
    memcpy(back ? sim->v : sim->v1, back ? sim->v1 : sim->v, bodies);
    memcpy(back ? sim->x : sim->x1, back ? sim->x1 : sim->x, coordinates);
    memcpy(back ? sim->xd : sim->xd1, back ? sim->xd1 : sim->xd, coordinates);
    memset(sim->stress, 0, 6 * sim->sizes.bodies * sizeof(mabd_real));
    return MABD_OK;
}

static mabd_status meets_stop(mabd_affine_sim* sim, mabd_real h, mabd_real least, bool* meets) {
    *meets = mabd_affine_meets_stop(sim, h, least);
    return MABD_OK;
}

static mabd_status changed_stop(mabd_affine_sim* sim, mabd_real least, bool* changed) {
    *changed = mabd_affine_changed_stop(sim, least);
    return MABD_OK;
}

static mabd_status finish(mabd_affine_sim* sim, bool keep_history) {
    mabd_affine_contacts_save(sim);
    mabd_affine_finish(sim, keep_history);
    return MABD_OK;
}

// ---- a solve -------------------------------------------------------------------------------------------

static mabd_status begin(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                         mabd_real h) {
    mabd_affine_begin_solve(sim, scheme, time, h);
    return MABD_OK;
}

static mabd_status predict(mabd_affine_sim* sim) {
    mabd_affine_predict(sim);
    return MABD_OK;
}

static mabd_status shift_contacts(mabd_affine_sim* sim) {
    mabd_affine_contacts_shift(sim);
    return MABD_OK;
}

static mabd_status restart(mabd_affine_sim* sim) {
    mabd_affine_restart(sim);
    return MABD_OK;
}

static mabd_status assemble(mabd_affine_sim* sim, mabd_affine_pass pass) {
    mabd_affine_assemble(sim, pass);
    return MABD_OK;
}

static mabd_status solve(mabd_affine_sim* sim) {
    mabd_affine_solve_dual(sim);
    return MABD_OK;
}

static mabd_status update(mabd_affine_sim* sim, mabd_affine_update_report* report) {
    report->motion = mabd_affine_update(sim);
    report->joint = report->inside_out = -1;
    return MABD_OK;
}

static mabd_status update_axes(mabd_affine_sim* sim, bool anew, mabd_real slack,
                               mabd_affine_axis_report* report) {
    *report = mabd_affine_update_active_set(sim, anew, slack);
    return MABD_OK;
}

static mabd_status search_contacts(mabd_affine_sim* sim, int32_t round,
                                   mabd_affine_contact_report* report) {
    *report = mabd_affine_contacts_line_search(sim, round);
    return MABD_OK;
}

static mabd_status accept_best(mabd_affine_sim* sim) {
    mabd_affine_contacts_accept_best(sim);
    return MABD_OK;
}

static mabd_status check(mabd_affine_sim* sim, mabd_affine_joint_error* open) {
    *open = mabd_affine_check_joints(sim, sim->q_new);
    return MABD_OK;
}

static mabd_status settle_copies(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal,
                                 int32_t* left) {
    *left = mabd_affine_settle_copies(sim, goal);
    return MABD_OK;
}

static mabd_status close_copies(mabd_affine_sim* sim) {
    mabd_affine_close_copies(sim);
    return MABD_OK;
}

static mabd_status relinearize(mabd_affine_sim* sim, int32_t* body) {
    *body = -1;
    mabd_affine_relinearize(sim, body);
    return MABD_OK;
}

const mabd_affine_backend_ops mabd_affine_backend_cpu = {
    .may_iterate = mabd_affine_may_iterate,
    .iterates = mabd_affine_iterates,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .last_error = last_error,
    .upload = nothing,
    .download = nothing,
    .swap_multipliers = swap_multipliers,
    .copy_state = copy_state,
    .meets_stop = meets_stop,
    .changed_stop = changed_stop,
    .finish = finish,
    .begin = begin,
    .predict = predict,
    .find_contacts = mabd_affine_contacts_find,
    .shift_contacts = shift_contacts,
    .restart = restart,
    .assemble = assemble,
    .factor = mabd_affine_factor,
    .solve = solve,
    .solve_contacts = mabd_affine_contacts_solve,
    .update = update,
    .update_axes = update_axes,
    .search_contacts = search_contacts,
    .accept_best = accept_best,
    .check = check,
    .settle_copies = settle_copies,
    .close_copies = close_copies,
    .relinearize = relinearize,
};

// ---- for backends with a device ------------------------------------------------------------------

static void predict_rest(mabd_affine_sim* sim) {
    sim->stages->predict_rest(sim);
}

const mabd_affine_host_ops mabd_affine_host = {
    .predict_rest = predict_rest,
    .save_contacts = mabd_affine_contacts_save,
    .moves_all_axes = mabd_affine_active_set_moves_all,
    .direct_dual = mabd_affine_direct_dual,
    .make_solver = mabd_affine_make_solver,
    .solve_component = mabd_affine_solve_component,
};
