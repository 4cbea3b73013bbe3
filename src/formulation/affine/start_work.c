// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_work.h"

#include "base/error.h"

static size_t pose_bytes(const mabd_affine_start_work* s) {
    return mabd_bytes(12 * (s->sim->sizes.bodies + 1), sizeof(mabd_real));
}

mabd_status mabd_affine_start_reserve(mabd_affine_start_work* s) {
    if (s->q0) return MABD_OK;
    s->q0 = mabd_alloc(s->p.allocator, pose_bytes(s));
    s->saved = mabd_alloc(s->p.allocator, pose_bytes(s));
    s->before = mabd_alloc(s->p.allocator, pose_bytes(s));
    s->moved = mabd_alloc(s->p.allocator, pose_bytes(s));
    if (!s->q0 || !s->saved || !s->before || !s->moved) return MABD_ERR_MEMORY;
    return mabd_affine_projection_create(&s->p);
}

void mabd_affine_start_release(mabd_affine_start_work* s) {
    mabd_affine_projection_destroy(&s->p);
    mabd_free(s->p.allocator, s->q0, pose_bytes(s));
    mabd_free(s->p.allocator, s->saved, pose_bytes(s));
    mabd_free(s->p.allocator, s->before, pose_bytes(s));
    mabd_free(s->p.allocator, s->moved, pose_bytes(s));
    s->q0 = s->saved = s->before = s->moved = NULL;
}

mabd_status mabd_affine_start_no_memory(const mabd_affine_start_work* s) {
    return mabd_fail_memory(s->error, "checking the start state");
}
