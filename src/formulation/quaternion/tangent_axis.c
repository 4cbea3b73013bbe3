// SPDX-License-Identifier: Apache-2.0
// Rows of controls on the branch of their law that a solve ended on (rigid/axis_row.h). The branch
// is constant for small changes, so that a derivative is that of one smooth row; where a step
// changed the branch, or ended where two meet, it is that of one side, and the step counts as not
// smooth (axes.c).
//
// With a law the row of a solve is c (S x - L + lambda) on a sloped branch, c = 1/S,
//
//   S = k + d/bh + I/bh^2 + [drive inside] (kp + kd/bh)
//   L = base + (d x_p + I (x_p/bh + x'_p))/bh + [drive inside] (kp p + kd x_p/bh)
//       - (side of the drive) max_force - (side of the friction) friction
//
// own (lambda - L) on a flat one, S = 0, and x - x_star on a vertical one:
//
//   x_star = stop, p of a rigid drive, x_p + bh p of a rate, x_p of friction that sticks
//
// Among accelerations the same branch holds x'', or adds the same forces (kinematics.c).

#include "formulation/quaternion/tangent_axis.h"

#include "formulation/quaternion/quaternion_axes.h"

// The drive of a law: false if it holds the axis.
static bool add_drive(const mabd_quaternion_point* p, const mabd_control* c, int side,
                      mabd_tangent_axis* out) {
    const bool solve = p->function == MABD_FUNCTION_SOLVE;
    if (!(c->max_force > 0) || side != 0) return true;
    if (c->drive_gain > 0 || c->drive_damping > 0) {
        out->stiffness += c->drive_gain;
        if (solve || !out->turns) out->damping += c->drive_damping;
        out->by_target = c->drive_gain;
        return true;
    }
    out->by_target = !solve ? 0 : c->drive_rate ? p->s.bh : 1;
    out->by_past = c->drive_rate ? 1 : 0;
    return false;
}

// Put the branch of a law on a row.
static void add_law(const mabd_quaternion_point* p, const mabd_control* c, mabd_axis_branch branch,
                    mabd_tangent_axis* out) {
    if (c->drive) out->by_target = 0;
    out->held = branch.stop != 0;
    if (out->held) {
        out->by_target = 0;
        return;
    }
    out->held = !add_drive(p, c, branch.box[0], out);
    if (out->held || !(c->friction > 0)) return;
    out->friction = branch.box[1];
    if (branch.box[1] != 0) return;
    out->held = true, out->by_target = 0, out->by_past = 1;
}

mabd_tangent_axis mabd_tangent_axis_of(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                                       int32_t k) {
    const mabd_control* c = &at->set->control[k];
    const mabd_axis_search* search = &p->s.sim->axes[at->joint->coordinate + k];
    const bool solve = p->function == MABD_FUNCTION_SOLVE;
    mabd_tangent_axis out = {.turns = mabd_quaternion_is_damped_turn(at->set, k)};
    out.stiffness = c->stiffness;
    if (!out.turns) out.damping = c->damping, out.armature = c->armature;
    out.by_target = c->gain;
    if (c->rigid) {
        out.held = true, out.by_target = solve ? 1 : 0;
        return out;
    }
    if (c->law) add_law(p, c, search->branch, &out);
    if (out.held) return out;
    out.armed = !solve && out.armature > 0;
    if (!solve) {
        out.weight = out.armed ? 1 / out.armature : 1;
        return out;
    }
    const mabd_real rate = 1 / p->s.bh;
    const mabd_real sum = out.stiffness + rate * (out.damping + rate * out.armature);
    out.flat = !(sum > 0);
    out.weight = !out.flat ? 1 / sum : c->law ? search->own : 0; // 0: a row that is left out
    return out;
}

void mabd_tangent_store_flat(const mabd_quaternion_point* p) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; p->s.part->laws && i < p->s.part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[p->s.part->joint_first + i];
        mabd_tangent_joint at;
        if (!sim->model->row_sets[sim->model->joints[j->joint].row_set].laws) continue;
        mabd_tangent_joint_at(p, i, &at);
        for (int32_t k = 0; k < at.set->control_count; k++) {
            const int32_t r = at.set->rigid_count + k;
            const mabd_rigid_wrench* sides[2] = {&at.J[r].a, &at.J[r].b};
            const size_t blocks[2] = {j->block_a, j->block_b};
            if (!at.set->control[k].law || !mabd_tangent_axis_of(p, &at, k).flat) continue;
            for (int side = 0; side < 2; side++) {
                mabd_real column[6];
                if (blocks[side] == SIZE_MAX) continue;
                mabd_v3_store(sides[side]->f, column), mabd_v3_store(sides[side]->t, column + 3);
                for (int n = 0; n < 6; n++) {
                    sim->U[blocks[side] + (size_t)(j->width * n + r)] = -column[n];
                }
            }
        }
    }
}
