// SPDX-License-Identifier: Apache-2.0
#include "rigid/start_work.h"

#include "rigid/frames.h"
#include "rigid/script.h"

static size_t sides(const mabd_rigid_start_work* s) {
    return (size_t)s->m->body_count + 1;
}
static size_t pose_bytes(const mabd_rigid_start_work* s) {
    return mabd_bytes(sides(s), sizeof(mabd_rigid_pose));
}
static size_t twist_bytes(const mabd_rigid_start_work* s) {
    return mabd_bytes(sides(s), sizeof(mabd_rigid_twist));
}

mabd_rigid_pose mabd_rigid_pose_in(const mabd_model* m, const mabd_model_start* state,
                                   int32_t body) {
    mabd_rigid_pose pose = {mabd_m3_identity(), {0, 0, 0}};
    if (body == m->body_count) return pose;
    const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &state[body]);
    pose.R = mabd_q_matrix(s.q), pose.c = s.c;
    return pose;
}

mabd_rigid_twist mabd_rigid_twist_in(const mabd_model* m, const mabd_model_start* state,
                                     int32_t body) {
    mabd_rigid_twist u = {{0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count || m->body_motion[body] != MABD_MOTION_DYNAMIC) return u;
    const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &state[body]);
    u.v = s.v, u.w = mabd_q_rotate(mabd_q_conjugate(s.q), s.omega);
    return u;
}

mabd_status mabd_rigid_start_open(mabd_rigid_start_work* s) {
    s->poses = mabd_alloc(s->start->allocator, pose_bytes(s));
    s->u = mabd_alloc(s->start->allocator, twist_bytes(s));
    if (!s->poses || !s->u) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i <= s->m->body_count; i++) {
        s->poses[i] = mabd_rigid_pose_in(s->m, s->start->state, i);
        s->u[i] = mabd_rigid_twist_in(s->m, s->start->state, i);
    }
    for (int32_t i = 0; i < s->m->script_count; i++) {
        const mabd_model_script* script = &s->m->scripts[i];
        const mabd_rigid_script_motion at = mabd_rigid_script_at(s->m, script, s->start->time);
        s->poses[script->body] = at.pose, s->u[script->body] = at.u;
    }
    s->p.poses = s->poses;
    return MABD_OK;
}

mabd_status mabd_rigid_start_reserve(mabd_rigid_start_work* s) {
    const mabd_allocator* allocator = s->start->allocator;
    if (s->q0) return MABD_OK;
    s->q0 = mabd_alloc(allocator, pose_bytes(s));
    s->saved = mabd_alloc(allocator, pose_bytes(s));
    s->before = mabd_alloc(allocator, pose_bytes(s));
    s->moved = mabd_alloc(allocator, twist_bytes(s));
    if (!s->q0 || !s->saved || !s->before || !s->moved) return MABD_ERR_MEMORY;
    return mabd_rigid_projection_create(&s->p);
}

void mabd_rigid_start_release(mabd_rigid_start_work* s) {
    const mabd_allocator* allocator = s->start->allocator;
    mabd_rigid_projection_destroy(&s->p);
    mabd_free(allocator, s->poses, pose_bytes(s));
    mabd_free(allocator, s->q0, pose_bytes(s));
    mabd_free(allocator, s->saved, pose_bytes(s));
    mabd_free(allocator, s->before, pose_bytes(s));
    mabd_free(allocator, s->u, twist_bytes(s));
    mabd_free(allocator, s->moved, twist_bytes(s));
    s->poses = s->q0 = s->saved = s->before = NULL, s->u = s->moved = NULL;
}

mabd_status mabd_rigid_start_no_memory(const mabd_rigid_start_work* s) {
    return mabd_fail_memory(s->error, "checking the start state");
}
