// SPDX-License-Identifier: Apache-2.0
#include "rigid/start_check.h"

#include "rigid/row_error.h"

static void keep_worse(mabd_rigid_open_joint* worst, int32_t joint, mabd_real size,
                       mabd_real tolerance, bool angle) {
    if (!(size - tolerance > worst->excess)) return;
    worst->joint = joint, worst->size = size, worst->angle = angle;
    worst->excess = size - tolerance;
}

mabd_joint_view mabd_rigid_view_now(const mabd_rigid_start_work* s, const mabd_model_joint* joint) {
    const mabd_rigid_pose a = mabd_rigid_pose_in(s->m, s->start->now, joint->a);
    const mabd_rigid_pose b = mabd_rigid_pose_in(s->m, s->start->now, joint->b);
    mabd_joint_view view;
    mabd_model_joint_view(s->m, joint, &view);
    view.Aa = a.R, view.ta = a.c, view.Ab = b.R, view.tb = b.c;
    return view;
}

mabd_real mabd_rigid_round_off(const mabd_joint_view* view) {
    return MABD_START_ROUND_OFF * (1 + mabd_v3_norm(view->ta) + mabd_v3_norm(view->tb) +
                                   mabd_v3_norm(view->Xa) + mabd_v3_norm(view->Xb));
}

static void add_joint_error(const mabd_rigid_start_work* s, int32_t index,
                            mabd_rigid_open_joint* worst) {
    const mabd_model_joint* joint = &s->m->joints[index];
    const mabd_row_set* set = &s->m->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(s->m, joint, s->poses);
    mabd_real gap, angle, gap_now = 0, angle_now = 0;
    mabd_rigid_joint_error(&view, set, &gap, &angle);
    if (!(gap > MABD_START_TOLERANCE) && !(angle > MABD_START_TOLERANCE)) return;
    if (s->start->now) {
        const mabd_joint_view now = mabd_rigid_view_now(s, joint);
        mabd_rigid_joint_error(&now, set, &gap_now, &angle_now);
    }
    keep_worse(worst, index, gap, MABD_START_TOLERANCE + mabd_rigid_round_off(&view) + gap_now,
               false);
    keep_worse(worst, index, angle, MABD_START_TOLERANCE + MABD_START_ROUND_OFF + angle_now, true);
}

mabd_rigid_open_joint mabd_rigid_find_open_joint(const mabd_rigid_start_work* s) {
    mabd_rigid_open_joint worst = {-1, 0, 0, false};
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        if (s->m->plan->joint_slot[i] >= 0) add_joint_error(s, i, &worst);
    }
    return worst;
}

mabd_status mabd_rigid_refuse_open_joint(const mabd_rigid_start_work* s,
                                         const mabd_rigid_open_joint* open, const char* why) {
    char label[160];
    mabd_model_joint_label(s->m, open->joint, label, sizeof label);
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, open->joint, s->start->time,
                        "%s is open by %.4g %s%s", label, (double)open->size,
                        open->angle ? "rad" : "m", why);
}
