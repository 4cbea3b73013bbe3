// SPDX-License-Identifier: Apache-2.0
// Start states: checks, errors, and projections.
//
//   rigid rows      C(q) = 0 to 1e-6 m or rad. A larger joint error is refused, unless joints
//                   are to be closed: then q moves by the least motion in the mass metric
//                   (projection.h), iterated:
//                     K lambda = C(q),  u = -M^-1 J' lambda,  c += u_v,  R <- R exp([u_w])
//                   This is Newton's iteration for C = 0, so the error converges quadratically.
//                   So that joints with large errors are closed as well, rotations are limited to
//                   half a radian per iteration, and an iteration is halved until C'C falls: J u is
//                   -C, or its projection on the range of K, so u is a direction of descent.
//                   Without redundant rows, the sum d of the motions is the least one to second
//                   order in the error. Redundant rows are independent, but nearly dependent, while
//                   joints are open, and contradict each other, which moves bodies too far: by
//                   40 % of d along the freedom of a four-bar that is open by 1 cm. So at the
//                   closed pose the part of d along the freedoms of the joints is taken back, and
//                   the rows are closed again, while this shortens d:
//                     K lambda = J d,  u = -(d - M^-1 J' lambda)
//                   A state that is set during a run may also have errors that the poses of the
//                   current state have: where bodies have strain (formulation/affine), poses are
//                   those of their rotations, and joints are closed by strained bodies.
//                   Formulations whose rows hold to round-off ask for an exact start: rows open by
//                   less than the tolerance are closed as well, without a warning.
//   rigid servos    x = target. Off by more than 1e-6: a warning, since the first step moves them
//                   there. An error if the target lies beyond the stops of the axis, or if closing
//                   the joints of the component together with its servos fails. Closing
//                   joints holds these rows as well.
//   velocities      J u = 0 on rigid rows; scripted bodies move according to their scripts. Rates
//                   of more than 1e-6 m/s or rad/s, relative to 1 + the speeds of the two bodies,
//                   are projected:
//                     K lambda = J u,  u -= M^-1 J' lambda
//                   which removes the kinetic energy of the part of u across the joints. Servos and
//                   motors are not projected: they act from the first step on.
//
// Components without a violation keep their bits.

#include "rigid/start.h"

#include "rigid/frames.h"
#include "rigid/start_axes.h"
#include "rigid/start_check.h"
#include "rigid/start_close.h"
#include "rigid/start_velocity.h"

#include <string.h>

static mabd_status check_openings(const mabd_rigid_start_work* s) {
    const mabd_rigid_open_joint open = mabd_rigid_find_open_joint(s);
    if (open.joint < 0) return MABD_OK;
    return mabd_rigid_refuse_open_joint(
        s, &open,
        s->start->now ? " in the state to set; a scene with \"start\": {\"close\": true} closes it"
                      : " at the start; \"start\": {\"close\": true} in the scene, or "
                        "--close-joints, closes it");
}

static mabd_status settle_pose(mabd_rigid_start_work* s) {
    if (s->start->close) {
        MABD_TRY(mabd_rigid_close_joints(s));
    } else {
        MABD_TRY(check_openings(s));
        MABD_TRY(mabd_rigid_check_servos(s));
    }
    if (s->start->exact) MABD_TRY(mabd_rigid_close_exactly(s));
    return s->start->stops || s->changed ? mabd_rigid_check_stops(s) : MABD_OK;
}

// ---- result ------------------------------------------------------------------------------------

size_t mabd_rigid_start_bytes(const mabd_model* model) {
    return mabd_bytes((size_t)model->body_count, sizeof(mabd_model_start));
}

void mabd_rigid_start_free(const mabd_model* model, const mabd_allocator* allocator,
                           mabd_model_start* result) {
    mabd_free(allocator, result, mabd_rigid_start_bytes(model));
}

// Write the state of a body; parts that have not changed keep their bits.
static void write_body(const mabd_rigid_start_work* s, int32_t body, mabd_model_start* out) {
    const mabd_model_class* c = &s->m->classes[s->m->body_class[body]];
    const mabd_rigid_pose pose = mabd_rigid_pose_in(s->m, s->start->state, body);
    const mabd_rigid_twist u = mabd_rigid_twist_in(s->m, s->start->state, body);
    const bool moved = memcmp(&pose, &s->poses[body], sizeof pose) != 0;
    mabd_model_start user;
    *out = s->start->state[body];
    if (s->m->body_motion[body] != MABD_MOTION_DYNAMIC) return;
    if (!moved && memcmp(&u, &s->u[body], sizeof u) == 0) return;
    const mabd_quat old = mabd_rigid_from_user(c, out).q;
    mabd_quat q = moved ? mabd_q_normalize(mabd_q_from_matrix(s->poses[body].R)) : old;
    if (q.w * old.w + q.x * old.x + q.y * old.y + q.z * old.z < 0) {
        q = mabd_q(-q.w, -q.x, -q.y, -q.z);
    }
    const mabd_rigid_state state = {s->poses[body].c, q, s->u[body].v,
                                    mabd_q_rotate(q, s->u[body].w)};
    mabd_rigid_to_user(c, &state, &user);
    if (moved) {
        *out = user;
    } else {
        memcpy(out->velocity, user.velocity, sizeof user.velocity);
        memcpy(out->angular_velocity, user.angular_velocity, sizeof user.angular_velocity);
    }
}

static mabd_status write_result(const mabd_rigid_start_work* s, mabd_rigid_start* start) {
    if (!s->changed) return MABD_OK;
    start->result = mabd_alloc(start->allocator, mabd_rigid_start_bytes(s->m));
    if (!start->result) return mabd_fail_memory(s->error, "keeping the start state");
    for (int32_t i = 0; i < s->m->body_count; i++) write_body(s, i, &start->result[i]);
    return MABD_OK;
}

mabd_status mabd_rigid_start_settle(mabd_rigid_start* start, mabd_warnings* warnings,
                                    mabd_error* error) {
    mabd_rigid_start_work s = {
        .start = start,
        .m = start->model,
        .p = {.m = start->model, .allocator = start->allocator, .component = -1},
        .warnings = warnings,
        .error = error};
    s.p.time = start->time, s.p.targets = start->targets, s.p.threads = start->threads;
    start->result = NULL;
    mabd_status status =
        mabd_rigid_start_open(&s) == MABD_OK ? MABD_OK : mabd_rigid_start_no_memory(&s);
    if (status == MABD_OK && start->pose) status = settle_pose(&s);
    if (status == MABD_OK) status = mabd_rigid_settle_velocities(&s);
    if (status == MABD_OK) status = write_result(&s, start);
    mabd_rigid_start_release(&s);
    return status;
}
