// SPDX-License-Identifier: Apache-2.0
// Start states: checks, errors, and projections.
//
//   rigid rows      C(q) = 0 to 1e-6 m or rad. A larger joint error is refused, unless joints
//                   are to be closed: then q moves by the least motion in the mass metric
//                   (projection.h), iterated:
//                     K lambda = C(q),  u = -M^-1 J' lambda,  t += R u_v,  R <- R exp(u_w)
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
//                   A state that is set during a run may also have errors from the strain of the
//                   bodies: poses are those of the rotations, and joints are closed by strained
//                   bodies. The allowed error is that of the joint at the current state with its
//                   bodies unstrained.
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

#include "formulation/affine/start.h"

#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/start_axes.h"
#include "formulation/affine/start_check.h"
#include "formulation/affine/start_close.h"
#include "formulation/affine/start_velocity.h"
#include "formulation/affine/start_work.h"

static mabd_status check_openings(const mabd_affine_start_work* s) {
    const mabd_affine_open_joint open = mabd_affine_find_open_joint(s, s->start->q);
    if (open.joint < 0) return MABD_OK;
    return mabd_affine_refuse_open_joint(
        s, &open,
        s->start->is_initial ? " at the start; \"start\": {\"close\": true} in the scene, or "
                               "--close-joints, closes it"
                             : " in the state to set; a scene with \"start\": {\"close\": "
                               "true} closes it");
}

static mabd_status settle_pose(mabd_affine_start_work* s) {
    const mabd_affine_start* start = s->start;
    mabd_affine_joint_error all = {0, 0, 0, -1}; // of rows, servos and stops, in lanes
    s->sim->stages->check(s->sim, start->q, 0, s->m->joint_count, &all);
    const bool good =
        all.gap <= MABD_AFFINE_START_TOLERANCE && all.angle <= MABD_AFFINE_START_TOLERANCE;
    if (good && !s->m->laws) return MABD_OK;
    if (start->close) {
        MABD_TRY(mabd_affine_close_joints(s));
    } else {
        if (!good) MABD_TRY(check_openings(s));
        MABD_TRY(mabd_affine_check_servos(s));
    }
    return start->stops || start->changed ? mabd_affine_check_stops(s) : MABD_OK;
}

mabd_status mabd_affine_start_settle(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                     mabd_affine_start* start, mabd_warnings* warnings,
                                     mabd_error* error) {
    mabd_affine_start_work s = {.sim = sim,
                                .m = sim->model,
                                .start = start,
                                .p = {.sim = sim, .allocator = allocator},
                                .warnings = warnings,
                                .error = error};
    mabd_status status = MABD_OK;
    start->changed = false;
    if (start->pose) status = settle_pose(&s);
    if (status == MABD_OK) status = mabd_affine_settle_velocities(&s);
    mabd_affine_start_release(&s);
    return status;
}
