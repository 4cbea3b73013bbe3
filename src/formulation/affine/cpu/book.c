// SPDX-License-Identifier: Apache-2.0
// Work of joints and bodies on the CPU. Each joint and body has a row of its own, so parts of the
// lists go to the threads of the pool and the rows do not depend on their number.

#include "formulation/affine/cpu/book.h"

#include "formulation/affine/element/book_body.h"
#include "formulation/affine/element/book_joint.h"
#include "formulation/affine/limits.h"

typedef struct book_job {
    mabd_affine_sim* sim;
    int32_t count;
    bool flag; // more, or continued
    mabd_real least;
} book_job;

static int32_t last_of(const book_job* job, int32_t part) {
    const int32_t last = (part + 1) * MABD_TILE_BODIES;
    return last < job->count ? last : job->count;
}

static void run(book_job* job, mabd_pool_part part) {
    const int32_t parts = (job->count + MABD_TILE_BODIES - 1) / MABD_TILE_BODIES;
    if (parts > 0) mabd_pool_run(job->sim->pool, parts, part, job);
}

static void book_stops(void* context, int32_t part, int32_t thread) {
    const book_job* job = context;
    (void)thread;
    for (int32_t i = part * MABD_TILE_BODIES; i < last_of(job, part); i++) {
        mabd_affine_stage_book_stops(job->sim, i, job->flag, job->least);
    }
}

static void book_joints(void* context, int32_t part, int32_t thread) {
    const book_job* job = context;
    (void)thread;
    for (int32_t i = part * MABD_TILE_BODIES; i < last_of(job, part); i++) {
        mabd_affine_stage_book_joint(job->sim, i, job->flag);
    }
}

static void book_bodies(void* context, int32_t part, int32_t thread) {
    const book_job* job = context;
    (void)thread;
    for (int32_t i = part * MABD_TILE_BODIES; i < last_of(job, part); i++) {
        mabd_affine_stage_book_body(job->sim, i);
    }
}

void mabd_affine_book_stops(mabd_affine_sim* sim, bool more, mabd_real least) {
    book_job job = {sim, (int32_t)sim->sizes.booked_joints, more, least};
    run(&job, book_stops);
}

void mabd_affine_book_step(mabd_affine_sim* sim, bool continued) {
    book_job job = {sim, (int32_t)sim->sizes.booked_joints, continued, 0};
    run(&job, book_joints);
    job.count = (int32_t)sim->sizes.booked_bodies;
    run(&job, book_bodies);
}

mabd_real mabd_affine_book_applied(const mabd_affine_sim* sim) {
    mabd_real work = 0;
    for (size_t i = 0; i < sim->sizes.bodies; i++) work += mabd_affine_applied_work(sim, i);
    return work;
}
