// SPDX-License-Identifier: Apache-2.0
// Work of joints and bodies on a device (affine/energy_books.c): a thread for each booked joint or
// body adds to a row of its own. The host adds up the rows when it asks for the balance; only the
// work of forces for one step, on any body, is copied to the host in the step.

#define MABD_KERNEL_SOURCE

#include "cuda/affine/part.h"

extern "C" {
#include "formulation/affine/element/book_body.h"
#include "formulation/affine/element/book_joint.h"
}

#define SIM                        ((mabd_affine_sim*)&sim)
#define LAUNCH(kernel, count, ...) LAUNCH_ON(&state->device, "books", kernel, count, __VA_ARGS__)

__global__ static void __launch_bounds__(THREADS, 1)
    book_stops(VIEW sim, bool more, mabd_real least, int32_t count) {
    if (INDEX < count) mabd_affine_stage_book_stops(SIM, INDEX, more, least);
}

__global__ static void __launch_bounds__(THREADS, 1)
    book_joints(VIEW sim, bool continued, int32_t count) {
    if (INDEX < count) mabd_affine_stage_book_joint(SIM, INDEX, continued);
}

__global__ static void __launch_bounds__(THREADS, 1) book_bodies(VIEW sim, int32_t count) {
    if (INDEX < count) mabd_affine_stage_book_body(SIM, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1)
    book_applied(VIEW sim, mabd_real* work, int32_t count) {
    if (INDEX < count) work[INDEX] = mabd_affine_applied_work(&sim, (size_t)INDEX);
}

mabd_status MABD_CUDA(book_stops)(mabd_cuda_state* state, bool more, mabd_real least,
                                  mabd_error* error) {
    const int32_t joints = (int32_t)state->view.sizes.booked_joints;
    LAUNCH(book_stops, joints, state->view, more, least, joints);
    return MABD_OK;
}

mabd_status MABD_CUDA(book_step)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                 bool continued, mabd_error* error) {
    mabd_affine_sim* view = &state->view;
    const mabd_affine_sizes* n = &host->sizes;
    const int32_t joints = (int32_t)n->booked_joints, bodies = (int32_t)n->booked_bodies;
#define UPLOAD(name, count)                                                                        \
    MABD_TRY(MABD_CUDA(device_upload)(&state->device, host->name, (count) * sizeof *host->name,    \
                                      view->name, error))
    UPLOAD(controls_start, n->booked_controls);
    UPLOAD(motors_start, n->booked_controls);
    UPLOAD(force_start, n->forces);
#undef UPLOAD
    view->wind_start = host->wind_start;
    LAUNCH(book_joints, joints, *view, continued, joints);
    LAUNCH(book_bodies, bodies, *view, bodies);
    return MABD_OK;
}

mabd_status MABD_CUDA(book_applied)(mabd_cuda_state* state, mabd_real* work, mabd_error* error) {
    const int32_t bodies = (int32_t)state->view.sizes.bodies;
    LAUNCH(book_applied, bodies, state->view, state->size, bodies);
    MABD_TRY(MABD_CUDA(device_download)(&state->device, state->size, (size_t)bodies * sizeof *work,
                                        work, error));
    return MABD_CUDA(device_wait)(&state->device, error);
}
