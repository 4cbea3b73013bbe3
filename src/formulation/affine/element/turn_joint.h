// SPDX-License-Identifier: Apache-2.0
// Dampers and armature of the rotation of one joint (element/turn_damper.h): its gains and history,
// its rows at the reference, and its history at the end of a step.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/turn_damper.h"

/// First coordinate of the damped rotation of a joint.
MABD_FN size_t mabd_affine_turn_place(const mabd_affine_sim* sim, const mabd_model_joint* joint) {
    return (size_t)(joint->coordinate + sim->model->row_sets[joint->row_set].turn);
}

/// Read the gains of the damped rotation of a joint with a row set; no force laws.
MABD_HOT mabd_turn_gains mabd_affine_turn_gains(const mabd_affine_sim* sim, int32_t row_set) {
    const mabd_row_set* set = &sim->model->row_sets[row_set];
    const mabd_control* c = set->control + set->turn;
    const mabd_affine_control_value* value =
        sim->controls + (size_t)row_set * MABD_JOINT_MAX_ROWS + set->turn;
    mabd_turn_gains gains;
    gains.stiffness = mabd_v3(c[0].stiffness, c[1].stiffness, c[2].stiffness);
    gains.target = mabd_v3(value[0].target, value[1].target, value[2].target);
    gains.damping = mabd_v3(c[0].damping, c[1].damping, c[2].damping);
    gains.armature = mabd_v3(c[0].armature, c[1].armature, c[2].armature);
    return gains;
}

/// Read the history of the damped rotation whose first coordinate is `at`.
MABD_FN mabd_turn_history mabd_affine_turn_history(const mabd_affine_sim* sim, size_t at) {
    const mabd_affine_step_scale* s = &sim->step;
    const mabd_real* from = sim->turn + 4 * at;
    mabd_turn_history h;
    h.x = mabd_v3_load(from);
    h.turn = mabd_v3_load(from + 3);
    h.rate_b = mabd_turn_rate_b(s->w, s->w1, mabd_v3_load(from + 6), mabd_v3_load(from + 9));
    h.per_bh = 1 / s->beta_h, h.w1 = s->w1;
    return h;
}

/// Compute the dampers of a joint at the reference. view: of the reference, with its rotation
/// vector.
MABD_FN mabd_turn_damper mabd_affine_turn_damper(const mabd_affine_sim* sim,
                                                 const mabd_model_joint* joint,
                                                 const mabd_joint_view* view,
                                                 const mabd_turn_gains* gains) {
    const mabd_turn_history h = mabd_affine_turn_history(sim, mabd_affine_turn_place(sim, joint));
    mabd_rotvec turn;
    turn.phi = mabd_joint_rotation_vector(view);
    turn.c = mabd_so3_gradient_factor(turn.phi);
    return mabd_turn_damper_at(gains, &h, mabd_joint_frames(view), turn);
}

/// Compute the forces of dampers and armature on the rotation vector at the end of the last step,
/// approximately: by the map at the reference and the mean angular acceleration [N m].
MABD_FN mabd_vec3 mabd_affine_turn_last_force(const mabd_affine_sim* sim,
                                              const mabd_model_joint* joint,
                                              const mabd_joint_view* view,
                                              const mabd_turn_gains* gains) {
    const size_t at = mabd_affine_turn_place(sim, joint);
    const mabd_vec3 rate = mabd_v3_load(sim->turn + 4 * at + 6);
    const mabd_vec3 growth =
        mabd_v3_scale(1 / sim->step.lead, mabd_v3_sub(rate, mabd_v3_load(sim->turn + 4 * at + 9)));
    mabd_rotvec turn;
    turn.phi = mabd_joint_rotation_vector(view);
    turn.c = mabd_so3_gradient_factor(turn.phi);
    return mabd_m3_mul(
        mabd_turn_force_map(turn),
        mabd_v3_add(mabd_turn_each(gains->damping, rate), mabd_turn_each(gains->armature, growth)));
}

/// Start the history of a damped rotation at its coordinates x, with a relative angular velocity.
MABD_FN void mabd_affine_turn_start(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                    mabd_vec3 rate) {
    const size_t at = mabd_affine_turn_place(sim, joint);
    mabd_real* to = sim->turn + 4 * at;
    mabd_v3_store(mabd_turn_unwound(mabd_v3_load(sim->x + at)), to);
    mabd_v3_store(mabd_v3(0, 0, 0), to + 3);
    mabd_v3_store(rate, to + 6);
    mabd_v3_store(rate, to + 9);
}

/// Save the state of the damped rotation of a joint as that one step ago, or restore it (back),
/// after x. Does nothing for other joints.
MABD_FN void mabd_affine_stage_copy_turn(mabd_affine_sim* sim, bool back, int32_t index) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    if (joint->coordinate < 0 || !sim->model->row_sets[joint->row_set].damped) return;
    const mabd_real* from = sim->turn + 4 * mabd_affine_turn_place(sim, joint);
    mabd_affine_turn_start(sim, joint, mabd_v3_load(from + (back ? 9 : 6)));
}

/// Update the history of the damped rotation whose first coordinate is `at` at the end of a step.
/// Q, phi: its new rotation and the vector of it, at most half a turn.
MABD_FN void mabd_affine_turn_finish(mabd_affine_sim* sim, bool keep_history, size_t at,
                                     mabd_mat3 Q, mabd_vec3 phi) {
    const mabd_turn_history h = mabd_affine_turn_history(sim, at);
    const mabd_vec3 y = mabd_turn_from(h.x, Q);
    mabd_real* to = sim->turn + 4 * at;
    if (!keep_history) mabd_v3_store(mabd_v3_load(to + 6), to + 9);
    mabd_v3_store(phi, to);
    mabd_v3_store(keep_history ? mabd_turn_joined(h.turn, y) : y, to + 3);
    mabd_v3_store(mabd_turn_rate(&h, y), to + 6);
}
