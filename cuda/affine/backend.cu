// SPDX-License-Identifier: Apache-2.0
// The backend: the table of affine/backend.h with the stages of the device.
//
// The state stays on the device from step to step. The host gets the results that decide about the
// iteration (rotations, joint errors, number of axes on a wrong branch) and, where a model has
// contacts, the poses to find them with. Contacts of moving bodies with each other, and of bodies
// that support others, are solved on the host: a solve that has any continues there with all its
// arrays, by the stages of the CPU, and its end state is copied back.

#include "cuda/affine/host_dual.h"
#include "cuda/affine/state.h"

#include <stdio.h>

extern "C" {
#include "base/error.h"
#include "formulation/affine/backend.h"
#include "formulation/affine/report.h"
}

typedef struct device_sim {
    mabd_cuda_state state;
    mabd_allocator allocator;
    mabd_error error;      // of the last failure
    bool lost;             // the device has failed: its state is unknown
    bool on_host;          // the current solve continues on the host
    bool host_is_old;      // the state on the host is older than that on the device
    mabd_affine_pass pass; // of the last assemble
} device_sim;

static device_sim* device_of(const mabd_affine_sim* sim) {
    return (device_sim*)sim->device;
}

// The status that a stage returns. Out of memory is returned as it is, as the state is intact; any
// other failure makes the state of the device unknown.
static mabd_status checked(device_sim* d, mabd_status status) {
    if (status == MABD_OK || status == MABD_ERR_SINGULAR) return status;
    if (status == MABD_ERR_MEMORY) return status;
    d->lost = true;
    return MABD_ERR_DEVICE;
}

#define ON_DEVICE(sim)                                                                             \
    device_sim* d = device_of(sim);                                                                \
    mabd_cuda_state* s = &d->state;                                                                \
    (void)s;                                                                                       \
    if (d->lost) return MABD_ERR_DEVICE
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const mabd_status status_ = checked(d, call);                                              \
        if (status_ != MABD_OK) return status_;                                                    \
    } while (0)

// ---- creation -----------------------------------------------------------------------------------

static bool may_iterate(const mabd_affine_sim* sim) {
    return MABD_CUDA(dual_may_iterate)(sim);
}

static bool iterates(const mabd_affine_sim* sim) {
    return MABD_CUDA(dual_iterates)(sim, &device_of(sim)->state.solvers);
}

static mabd_status create(mabd_affine_sim* sim, const void* arena, size_t arena_size,
                          const mabd_allocator* allocator, mabd_error* error) {
    device_sim* d = (device_sim*)mabd_alloc(allocator, sizeof *d);
    if (!d) return mabd_fail_memory(error, "creating the simulation");
    d->allocator = *allocator;
    const mabd_status status =
        MABD_CUDA(state_create)(sim, arena, arena_size, allocator, &d->state, error);
    if (status != MABD_OK) {
        mabd_free(allocator, d, sizeof *d);
        return status;
    }
    sim->device = d;
    return MABD_OK;
}

static void destroy(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    device_sim* d = device_of(sim);
    if (!d) return;
    MABD_CUDA(state_destroy)(allocator, &d->state);
    mabd_free(allocator, d, sizeof *d);
    sim->device = NULL;
}

static size_t bytes(const mabd_affine_sim* sim) {
    return MABD_CUDA(state_bytes)(&device_of(sim)->state);
}

static mabd_status last_error(const mabd_affine_sim* sim, mabd_error* error) {
    const mabd_error* last = &device_of(sim)->error;
    const bool memory = last->status == MABD_ERR_MEMORY;
    return mabd_fail(error, memory ? MABD_ERR_MEMORY : MABD_ERR_DEVICE, "%s", last->text);
}

static mabd_status upload(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(state_upload)(s, sim, &d->error));
    TRY(MABD_CUDA(device_wait)(&s->device, &d->error)); // the host may change its state next
    d->host_is_old = d->on_host = false;
    return MABD_OK;
}

static mabd_status download(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    if (!d->host_is_old) return MABD_OK;
    TRY(MABD_CUDA(state_download)(s, MABD_CUDA_STATE, sim, &d->error));
    d->host_is_old = false;
    return MABD_OK;
}

// ---- the step -----------------------------------------------------------------------------------

static void swap_multipliers(mabd_affine_sim* sim) {
    mabd_affine_sim* view = &device_of(sim)->state.view;
    mabd_affine_backend_cpu.swap_multipliers(sim);
    mabd_affine_backend_cpu.swap_multipliers(view);
}

static mabd_status copy_state(mabd_affine_sim* sim, bool back) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(copy_state)(s, back, &d->error));
    d->host_is_old = true;
    return MABD_OK;
}

static mabd_status meets_stop(mabd_affine_sim* sim, mabd_real h, mabd_real least, bool* meets) {
    ON_DEVICE(sim);
    *meets = false;
    if (sim->sizes.axes == 0) return MABD_OK;
    TRY(MABD_CUDA(any_stop)(s, h, least, meets, &d->error));
    return MABD_OK;
}

static mabd_status changed_stop(mabd_affine_sim* sim, mabd_real least, bool* changed) {
    ON_DEVICE(sim);
    *changed = false;
    if (sim->sizes.axes == 0) return MABD_OK;
    if (d->on_host) return mabd_affine_backend_cpu.changed_stop(sim, least, changed);
    TRY(MABD_CUDA(any_stop)(s, 0, least, changed, &d->error));
    return MABD_OK;
}

static mabd_status book_stops(mabd_affine_sim* sim, bool more, mabd_real least) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.book_stops(sim, more, least);
    TRY(MABD_CUDA(book_stops)(s, more, least, &d->error));
    return MABD_OK;
}

static mabd_status book_step(mabd_affine_sim* sim, bool continued) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(book_step)(s, sim, continued, &d->error));
    d->host_is_old = true;
    return MABD_OK;
}

// Sum in the order of the bodies; q_new of the host, which the next solve rewrites, has room.
static mabd_status book_applied(mabd_affine_sim* sim, mabd_real* work) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(book_applied)(s, sim->q_new, &d->error));
    *work = 0;
    for (size_t i = 0; i < sim->sizes.bodies; i++) *work += sim->q_new[i];
    return MABD_OK;
}

static mabd_status finish(mabd_affine_sim* sim, bool keep_history) {
    ON_DEVICE(sim);
    if (d->on_host) {
        mabd_affine_backend_cpu.finish(sim, keep_history);
        return upload(sim);
    }
    mabd_affine_host.save_contacts(sim);
    TRY(MABD_CUDA(finish)(s, keep_history, &d->error));
    d->host_is_old = true;
    return MABD_OK;
}

// ---- contacts -----------------------------------------------------------------------------------

static mabd_status download_reals(device_sim* d, const mabd_real* from, size_t count,
                                  mabd_real* to) {
    TRY(MABD_CUDA(device_download)(&d->state.device, from, count * sizeof *to, to, &d->error));
    TRY(MABD_CUDA(device_wait)(&d->state.device, &d->error));
    return MABD_OK;
}

static mabd_status upload_reals(device_sim* d, const mabd_real* from, size_t count, mabd_real* to) {
    TRY(MABD_CUDA(device_upload)(&d->state.device, from, count * sizeof *to, to, &d->error));
    return MABD_OK;
}

static size_t coordinates_of(const mabd_affine_sim* sim) {
    return 12 * (sim->sizes.bodies + 1);
}

static bool has_rows(const mabd_affine_contacts* c) {
    return c->rows.contacts.count + c->support.contacts.count > 0;
}

// Continue the solve on the host: copy everything but the dual matrix, which is assembled again.
static mabd_status move_to_host(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(state_download)(s, MABD_CUDA_ALL, sim, &d->error));
    d->host_is_old = false, d->on_host = true;
    return MABD_OK;
}

static bool has_impacts(const mabd_affine_sim* sim) {
    return memchr(sim->contacts->by_body.euler, MABD_EULER_HIT, sim->sizes.bodies) != NULL;
}

// Copy the references, and the rotations to them, to the host.
static mabd_status download_references(device_sim* d, mabd_affine_sim* sim) {
    const mabd_affine_sim* view = &d->state.view;
    TRY(MABD_CUDA(device_download)(&d->state.device, view->spin_ref,
                                   4 * sim->sizes.spins * sizeof *sim->spin_ref, sim->spin_ref,
                                   &d->error));
    return download_reals(d, view->ref, coordinates_of(sim), sim->ref);
}

// References of bodies that were hit are predicted again, on the host.
static mabd_status find_contacts(mabd_affine_sim* sim, mabd_affine_find find) {
    ON_DEVICE(sim);
    if (!sim->contacts) return MABD_OK;
    if (d->on_host) return mabd_affine_backend_cpu.find_contacts(sim, find);
    if (find == MABD_FIND_FIRST) TRY(download(sim));
    MABD_TRY(download_references(d, sim));
    MABD_TRY(mabd_affine_backend_cpu.find_contacts(sim, find));
    if (find == MABD_FIND_FIRST && has_impacts(sim)) {
        TRY(upload_reals(d, sim->spin_ref, 4 * sim->sizes.spins, s->view.spin_ref));
        TRY(upload_reals(d, sim->ref, coordinates_of(sim), s->view.ref));
    }
    TRY(MABD_CUDA(contacts_upload)(&s->contacts, &s->device, sim->contacts, sim->sizes.bodies,
                                   &d->error));
    TRY(MABD_CUDA(device_wait)(&s->device, &d->error)); // the host may change them next
    return has_rows(sim->contacts) ? move_to_host(sim) : MABD_OK;
}

static mabd_status shift_contacts(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    if (!sim->contacts) return MABD_OK;
    if (d->on_host) return mabd_affine_backend_cpu.shift_contacts(sim);
    MABD_TRY(download_references(d, sim));
    MABD_TRY(mabd_affine_backend_cpu.shift_contacts(sim));
    TRY(MABD_CUDA(contacts_upload_branches)(&s->contacts, &s->device, sim->contacts, &d->error));
    return MABD_OK;
}

static mabd_status solve_contacts(mabd_affine_sim* sim, bool again) {
    return mabd_affine_backend_cpu.solve_contacts(sim, again); // contact rows are on the host only
}

static mabd_status copy_axes(device_sim* d, mabd_affine_sim* sim, bool to_host) {
    const size_t size = sim->sizes.axes * sizeof *sim->axes;
    const mabd_device* device = &d->state.device;
    mabd_affine_axis_state* there = d->state.view.axes;
    TRY(to_host ? MABD_CUDA(device_download)(device, there, size, sim->axes, &d->error)
                : MABD_CUDA(device_upload)(device, sim->axes, size, there, &d->error));
    return MABD_OK;
}

static mabd_status search_contacts(mabd_affine_sim* sim, int32_t round,
                                   mabd_affine_contact_report* report) {
    ON_DEVICE(sim);
    if (!sim->contacts || d->on_host) {
        return mabd_affine_backend_cpu.search_contacts(sim, round, report);
    }
    TRY(copy_axes(d, sim, true));
    TRY(download_reals(d, s->view.q_new, coordinates_of(sim), sim->q_new));
    MABD_TRY(mabd_affine_backend_cpu.search_contacts(sim, round, report));
    TRY(copy_axes(d, sim, false));
    TRY(MABD_CUDA(contacts_upload_branches)(&s->contacts, &s->device, sim->contacts, &d->error));
    return MABD_OK;
}

static mabd_status accept_best(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    const size_t stresses = 6 * sim->sizes.bodies;
    if (d->on_host) return mabd_affine_backend_cpu.accept_best(sim);
    const size_t steps = 4 * sim->sizes.spins;
    TRY(download_reals(d, s->view.stress_new, stresses, sim->stress_new));
    if (steps > 0) TRY(download_reals(d, s->view.spin_step, steps, sim->spin_step));
    MABD_TRY(mabd_affine_backend_cpu.accept_best(sim));
    TRY(upload_reals(d, sim->stress_new, stresses, s->view.stress_new));
    if (steps > 0) TRY(upload_reals(d, sim->spin_step, steps, s->view.spin_step));
    return upload_reals(d, sim->q_new, coordinates_of(sim), s->view.q_new);
}

// ---- a solve ------------------------------------------------------------------------------------

static mabd_status begin_solve(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                               mabd_real h) {
    ON_DEVICE(sim);
    d->on_host = false;
    MABD_TRY(mabd_affine_backend_cpu.begin_solve(sim, scheme, time, h));
    TRY(MABD_CUDA(state_begin)(s, sim, &d->error));
    return MABD_OK;
}

// The host computes the poses of scripted bodies, and which bodies take the solve by Euler.
static mabd_status predict(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    const mabd_affine_contacts* c = sim->contacts;
    mabd_affine_host.predict_rest(sim);
    if (c) {
        for (size_t i = 0; i < sim->sizes.bodies; i++) {
            c->by_body.euler[i] = c->by_body.euler_steps[i] > 0;
        }
        TRY(MABD_CUDA(contacts_upload_euler)(&s->contacts, &s->device, c, sim->sizes.bodies,
                                             &d->error));
    }
    TRY(MABD_CUDA(predict)(s, sim, &d->error));
    return MABD_OK;
}

static mabd_status restart(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.restart(sim);
    TRY(MABD_CUDA(dual_restart)(&s->solvers, &s->device, sim, &s->view, &d->error));
    return MABD_OK;
}

static mabd_status assemble(mabd_affine_sim* sim, mabd_affine_pass pass) {
    ON_DEVICE(sim);
    d->pass = pass;
    if (d->on_host) return mabd_affine_backend_cpu.assemble(sim, pass);
    TRY(MABD_CUDA(assemble)(s, pass, &d->error));
    return MABD_OK;
}

static mabd_status factor(mabd_affine_sim* sim, int32_t* joint) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.factor(sim, joint);
    TRY(MABD_CUDA(dual_factor)(&s->solvers, &s->device, sim, &s->view, &d->allocator, s->bad, joint,
                               &d->error));
    return MABD_OK;
}

static mabd_status solve(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.solve(sim);
    TRY(MABD_CUDA(dual_solve)(&s->solvers, &s->device, sim, &s->view, s->bad, &d->error));
    return MABD_OK;
}

// A singular component moves to the host, where its rows are softened, and the solve is repeated.
static mabd_status update(mabd_affine_sim* sim, mabd_affine_update_report* report) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.update(sim, report);
    mabd_cuda_part part;
    TRY(MABD_CUDA(update)(s, &part, &d->error));
    while (part.bad != INT32_MAX && MABD_CUDA(dual_soften)(&s->solvers, sim, part.bad)) {
        int32_t joint;
        MABD_TRY(assemble(sim, d->pass));
        const mabd_status status = factor(sim, &joint);
        if (status == MABD_ERR_SINGULAR) break;
        MABD_TRY(status);
        MABD_TRY(solve(sim));
        TRY(MABD_CUDA(update)(s, &part, &d->error));
    }
    report->motion = part.motion;
    report->joint = part.bad == INT32_MAX ? -1 : mabd_affine_joint_near(sim->model->plan, part.bad);
    report->inside_out = part.inside_out;
    return MABD_OK;
}

static mabd_status update_axes(mabd_affine_sim* sim, bool first_solve, mabd_real slack,
                               mabd_affine_axis_report* report) {
    ON_DEVICE(sim);
    if (sim->sizes.axes == 0 || d->on_host) {
        return mabd_affine_backend_cpu.update_axes(sim, first_solve, slack, report);
    }
    TRY(MABD_CUDA(update_axes)(s, sim, first_solve, slack, report, &d->error));
    return MABD_OK;
}

static mabd_status check(mabd_affine_sim* sim, mabd_affine_joint_error* joint_error) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.check(sim, joint_error);
    mabd_cuda_part part;
    TRY(MABD_CUDA(check)(s, &part, &d->error));
    *joint_error = part.joint_error;
    return MABD_OK;
}

static mabd_status settle_copies(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal,
                                 int32_t* left) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(settle_copies)(s, goal, sim, left, &d->error));
    return MABD_OK;
}

static mabd_status close_copies(mabd_affine_sim* sim) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(close_copies)(s, sim, &d->error));
    return MABD_OK;
}

static mabd_status steady_copies(mabd_affine_sim* sim, mabd_affine_steady_part part) {
    ON_DEVICE(sim);
    TRY(MABD_CUDA(steady_copies)(s, sim, part, &d->error));
    d->host_is_old = true;
    return MABD_OK;
}

static mabd_status relinearize(mabd_affine_sim* sim, int32_t* body) {
    ON_DEVICE(sim);
    if (d->on_host) return mabd_affine_backend_cpu.relinearize(sim, body);
    *body = -1; // the next update reports it
    TRY(MABD_CUDA(relinearize)(s, &d->error));
    return MABD_OK;
}

extern "C" {

extern const mabd_affine_backend_ops MABD_CUDA(backend);
const mabd_affine_backend_ops MABD_CUDA(backend) = {
    .has_device = true,
    .may_iterate = may_iterate,
    .iterates = iterates,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .last_error = last_error,
    .upload = upload,
    .download = download,
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
    .factor = factor,
    .solve = solve,
    .solve_contacts = solve_contacts,
    .update = update,
    .update_axes = update_axes,
    .search_contacts = search_contacts,
    .accept_best = accept_best,
    .check = check,
    .settle_copies = settle_copies,
    .close_copies = close_copies,
    .steady_copies = steady_copies,
    .relinearize = relinearize,
};

void MABD_CUDA(probe)(mabd_backend_info* info);
void MABD_CUDA(probe)(mabd_backend_info* info) {
    mabd_device device;
    mabd_error error = {};
    MABD_CUDA(device_target)(sizeof info->target, info->target);
    mabd_status status = MABD_CUDA(device_open)(&device, &error);
    if (status == MABD_OK) {
        status = MABD_CUDA(device_describe)(sizeof info->device, info->device, &info->memory,
                                            &info->spare, &error);
    }
    info->present = status == MABD_OK;
    if (!info->present) snprintf(info->missing, sizeof info->missing, "%s", error.text);
    MABD_CUDA(device_close)(&device);
}

} // extern "C"
