// SPDX-License-Identifier: Apache-2.0
// Targets of rigid servos that the joints do not allow: drives of one loop that do not move in
// concert, or a target out of reach. The oracle is a pose: rigid rows and servos are closed by the
// least motion in the mass metric (closing.h), without inertia and loads. If that ends with open
// rows, no step can succeed, and the servo that is farthest from its target there is named. Start
// states are checked before (rigid/start.h).

#include "formulation/quaternion/drives.h"

#include "formulation/quaternion/closing.h"
#include "formulation/quaternion/kinematics.h"

#include <math.h>

/// A rigid servo that is off its target.
typedef struct drive_error {
    int32_t joint; // -1 = none
    mabd_real off; // [m] or [rad]
    bool angle;
} drive_error;

/// Errors of rows above this are contradictions, not round-off [m], [rad].
#define CONTRADICTION ((mabd_real)1e-8)

// Find the rigid servo of a part farthest from its target, sim->input, at sim->pose.
static drive_error find_drive(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    drive_error worst = {-1, 0, false};
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &sim->model->joints[j->joint];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (j->slot < 0 || set->control_count == 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_real target = sim->input[joint->coordinate + r];
            const mabd_real off = (mabd_real)fabs(C[set->rigid_count + r] - target);
            if (!set->control[r].rigid || !(off > worst.off)) continue;
            worst = (drive_error){j->joint, off, set->control_row[r].kind != MABD_ROW_SLIDE};
        }
    }
    return worst;
}

bool mabd_quaternion_blame_drive(const mabd_quaternion_solve* s) {
    mabd_quaternion_report* report = s->report;
    mabd_quaternion_take_pose(s, &s->sim->now);
    if (find_drive(s).joint < 0) return false;
    if (!(mabd_quaternion_close(s) > CONTRADICTION)) return false;
    const drive_error worst = find_drive(s);
    if (worst.joint < 0) return false;
    report->body = -1, report->joint = worst.joint;
    report->reason = worst.angle ? "rad off the target of the rigid servo, which the joints do not "
                                   "allow, at"
                                 : "m off the target of the rigid servo, which the joints do not "
                                   "allow, at";
    report->off = worst.off;
    return true;
}
