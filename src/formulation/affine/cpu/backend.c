// SPDX-License-Identifier: Apache-2.0
// The stages on the CPU: nothing is copied, and only memory can fail.

#include "formulation/affine/backend.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/contact/contact_rows.h"
#include "formulation/affine/contact/line_search.h"
#include "formulation/affine/contact/saved.h"
#include "formulation/affine/contact/solve_rows.h"
#include "formulation/affine/copies.h"
#include "formulation/affine/cpu/axes.h"
#include "formulation/affine/cpu/book.h"
#include "formulation/affine/cpu/condense.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/turn_joint.h"

#include "base/error.h"

#include <string.h>

/// Define the entry `name` of the table by a stage that cannot fail.
#define CANNOT_FAIL(name, parameters, stage)                                                       \
    static mabd_status name parameters {                                                           \
        stage;                                                                                     \
        return MABD_OK;                                                                            \
    }

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
    return mabd_fail(error, MABD_ERR_DEVICE, "the CPU backend does not fail");
}
static mabd_status nothing(mabd_affine_sim* sim) {
    return (void)sim, MABD_OK;
}

// ---- the step ----------------------------------------------------------------------------------

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
    memcpy(back ? sim->stress : sim->stress1, back ? sim->stress1 : sim->stress, bodies / 2);
    for (int32_t i = 0; sim->sizes.turns > 0 && i < sim->model->joint_count; i++) {
        mabd_affine_stage_copy_turn(sim, back, i);
    }
    for (size_t i = 0; i < sim->sizes.spins; i++) {
        mabd_affine_stage_copy_spin(sim, back, (int32_t)i);
    }
    return MABD_OK;
}

#define SIM mabd_affine_sim* sim

CANNOT_FAIL(meets_stop, (SIM, mabd_real h, mabd_real least, bool* meets),
            *meets = mabd_affine_meets_stop(sim, h, least))
CANNOT_FAIL(changed_stop, (SIM, mabd_real least, bool* changed),
            *changed = mabd_affine_changed_stop(sim, least))
CANNOT_FAIL(book_stops, (SIM, bool more, mabd_real least), mabd_affine_book_stops(sim, more, least))
CANNOT_FAIL(book_step, (SIM, bool continued), mabd_affine_book_step(sim, continued))
CANNOT_FAIL(book_applied, (SIM, mabd_real* work), *work = mabd_affine_book_applied(sim))
CANNOT_FAIL(finish, (SIM, bool keep_history),
            (mabd_affine_contacts_save(sim), mabd_affine_finish(sim, keep_history)))

// ---- a solve -----------------------------------------------------------------------------------

CANNOT_FAIL(begin_solve, (SIM, mabd_affine_scheme scheme, mabd_real time, mabd_real h),
            mabd_affine_begin_solve(sim, scheme, time, h))
CANNOT_FAIL(predict, (SIM), mabd_affine_predict(sim))
CANNOT_FAIL(shift_contacts, (SIM), mabd_affine_contacts_shift(sim))
CANNOT_FAIL(restart, (SIM), mabd_affine_restart(sim))
CANNOT_FAIL(solve, (SIM), mabd_affine_solve_dual(sim))
CANNOT_FAIL(update_axes, (SIM, bool first, mabd_real slack, mabd_affine_axis_report* report),
            *report = mabd_affine_update_axes(sim, first, slack))
CANNOT_FAIL(search_contacts, (SIM, int32_t round, mabd_affine_contact_report* report),
            *report = mabd_affine_contacts_line_search(sim, round))
CANNOT_FAIL(accept_best, (SIM), mabd_affine_contacts_accept_best(sim))
CANNOT_FAIL(check, (SIM, mabd_affine_joint_error* error),
            *error = mabd_affine_check_joints(sim, sim->q_new))
CANNOT_FAIL(settle_copies, (SIM, const mabd_affine_copy_goal* goal, int32_t* left),
            *left = mabd_affine_settle_copies(sim, goal))
CANNOT_FAIL(close_copies, (SIM), mabd_affine_close_copies(sim))
CANNOT_FAIL(steady_copies, (SIM, mabd_affine_steady_part part),
            mabd_affine_steady_copies(sim, part))
CANNOT_FAIL(relinearize, (SIM, int32_t* body),
            (*body = -1, (void)mabd_affine_relinearize(sim, body)))

static bool is_condensed(const mabd_affine_sim* sim) {
    return sim->contacts && sim->contacts->condensed.on;
}

static mabd_status find_contacts(mabd_affine_sim* sim, mabd_affine_find find) {
    MABD_TRY(mabd_affine_contacts_find(sim, find));
    return mabd_affine_condense_plan(sim, find == MABD_FIND_FIRST);
}

static mabd_status assemble(mabd_affine_sim* sim, mabd_affine_pass pass) {
    if (!is_condensed(sim)) {
        mabd_affine_assemble(sim, pass);
        return MABD_OK;
    }
    if (pass != MABD_PASS_AGAIN) {
        mabd_affine_condense_hide(sim, true);
        mabd_affine_assemble(sim, pass);
        mabd_affine_condense_hide(sim, false);
        mabd_affine_condense_open(sim);
    }
    mabd_affine_condense_round(sim);
    return MABD_OK;
}

static mabd_status complete(mabd_affine_sim* sim, mabd_affine_motion_report* report) {
    if (is_condensed(sim)) *report = mabd_affine_condense_complete(sim);
    return MABD_OK;
}

static mabd_status update(mabd_affine_sim* sim, mabd_affine_update_report* report) {
    report->motion = is_condensed(sim) ? mabd_affine_condense_update(sim) : mabd_affine_update(sim);
    report->joint = report->inside_out = -1;
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
    .book_stops = book_stops,
    .book_step = book_step,
    .book_applied = book_applied,
    .finish = finish,
    .begin_solve = begin_solve,
    .predict = predict,
    .find_contacts = find_contacts,
    .shift_contacts = shift_contacts,
    .restart = restart,
    .assemble = assemble,
    .factor = mabd_affine_factor,
    .solve = solve,
    .solve_contacts = mabd_affine_contacts_solve,
    .update = update,
    .complete = complete,
    .update_axes = update_axes,
    .search_contacts = search_contacts,
    .accept_best = accept_best,
    .check = check,
    .settle_copies = settle_copies,
    .close_copies = close_copies,
    .steady_copies = steady_copies,
    .relinearize = relinearize,
};

// ---- for backends with a device ----------------------------------------------------------------

static void predict_rest(mabd_affine_sim* sim) {
    sim->stages->predict_rest(sim);
}

const mabd_affine_host_ops mabd_affine_host = {
    .predict_rest = predict_rest,
    .save_contacts = mabd_affine_contacts_save,
    .moves_all_axes = mabd_affine_moves_all_axes,
    .direct_dual = mabd_rigid_direct_dual,
    .make_solver = mabd_affine_make_solver,
    .solve_component = mabd_affine_solve_component,
};
