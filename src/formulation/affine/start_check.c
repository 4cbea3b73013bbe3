// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_check.h"

#include "base/error.h"
#include "math/polar.h"
#include "rigid/row_error.h"

static void keep_worse(mabd_affine_open_joint* worst, int32_t joint, mabd_real size,
                       mabd_real tolerance, bool angle) {
    if (!(size - tolerance > worst->excess)) return;
    worst->joint = joint, worst->size = size, worst->angle = angle;
    worst->excess = size - tolerance;
}

mabd_joint_view mabd_affine_unstrained_view(const mabd_affine_start_work* s,
                                            const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_affine_view(s->sim, joint, s->sim->q, &view);
    mabd_polar(view.Aa, &view.Aa);
    mabd_polar(view.Ab, &view.Ab);
    return view;
}

static void add_joint_error(const mabd_affine_start_work* s, const mabd_real* q, int32_t index,
                            mabd_affine_open_joint* worst) {
    const mabd_model_joint* joint = &s->m->joints[index];
    const mabd_row_set* set = &s->m->row_sets[joint->row_set];
    mabd_joint_view view;
    mabd_real gap, angle, strain_gap = 0, strain_angle = 0;
    mabd_affine_view(s->sim, joint, q, &view);
    mabd_rigid_joint_error(&view, set, &gap, &angle);
    if (!s->start->is_initial &&
        (gap > MABD_AFFINE_START_TOLERANCE || angle > MABD_AFFINE_START_TOLERANCE)) {
        const mabd_joint_view now = mabd_affine_unstrained_view(s, joint);
        mabd_rigid_joint_error(&now, set, &strain_gap, &strain_angle);
    }
    const mabd_real size = mabd_v3_norm(view.ta) + mabd_v3_norm(view.tb) + mabd_v3_norm(view.Xa) +
                           mabd_v3_norm(view.Xb);
    keep_worse(worst, index, gap,
               MABD_AFFINE_START_TOLERANCE + MABD_AFFINE_START_ROUND_OFF * (1 + size) + strain_gap,
               false);
    keep_worse(worst, index, angle,
               MABD_AFFINE_START_TOLERANCE + MABD_AFFINE_START_ROUND_OFF + strain_angle, true);
}

mabd_affine_open_joint mabd_affine_find_open_joint(const mabd_affine_start_work* s,
                                                   const mabd_real* q) {
    mabd_affine_open_joint worst = {-1, 0, 0, false};
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        if (s->m->plan->joint_slot[i] >= 0) add_joint_error(s, q, i, &worst);
    }
    return worst;
}

mabd_status mabd_affine_refuse_open_joint(const mabd_affine_start_work* s,
                                          const mabd_affine_open_joint* open, const char* why) {
    char label[160];
    mabd_model_joint_label(s->m, open->joint, label, sizeof label);
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, open->joint, s->start->time,
                        "%s is open by %.4g %s%s", label, (double)open->size,
                        open->angle ? "rad" : "m", why);
}
