// SPDX-License-Identifier: Apache-2.0
// What acts on a simulation from outside: targets of controls, forces of motors, applied forces.
//
// Inputs are numbered: one per controlled coordinate of the model, then one per motor, joint by
// joint. A value that a program has set replaces that of the signal and is held during the step.
// Inputs of the last step are kept, because one that jumps at the start of a step ends the history
// of methods that have one: such a step is taken by a method without history, so that held controls
// are of second order.
#pragma once

#include "base/memory.h"
#include "model/model_data.h"
#include "rigid/state_bytes.h"
#include "scene/signal.h"

typedef struct mabd_rigid_inputs {
    const mabd_model* model;
    size_t count;                          // coordinates + motors
    int32_t* joint_motor;                  // (joints) first motor of a joint
    mabd_real* applied;                    // (bodies x 6) forces of the next step [N], [N m]
    mabd_real* target;                     // (count) set from outside
    bool* target_set;                      // (count)
    mabd_real *last_target, *last_applied; // of the last step
    bool* last_set;
    bool has_applied, had_applied; // some force was applied: in this step, in the last one
} mabd_rigid_inputs;

/// Lay out the state of the inputs of a model; sets model and count.
void mabd_rigid_inputs_lay_out(mabd_rigid_inputs* in, const mabd_model* model, mabd_arena* arena);
/// Lay out joint_motor, and fill it if the arena has memory.
void mabd_rigid_inputs_number(mabd_rigid_inputs* in, mabd_arena* arena);
/// Forget all targets and forces.
void mabd_rigid_inputs_clear(mabd_rigid_inputs* in);
/// Keep the inputs of a step that succeeded, and clear the applied forces.
void mabd_rigid_inputs_keep(mabd_rigid_inputs* in);
/// Visit the inputs as a part of a state.
void mabd_rigid_inputs_visit(mabd_rigid_inputs* in, mabd_rigid_cursor* at);

/// Number of a motor of a joint among the inputs.
MABD_FN size_t mabd_rigid_motor_input(const mabd_rigid_inputs* in, int32_t joint, int32_t motor) {
    return (size_t)(in->model->coordinate_count + in->joint_motor[joint] + motor);
}

/// Value of a signal at a time of a step, or part of a step, of h that begins at `from` [s]; 0 if
/// there is none.
MABD_FN mabd_real mabd_rigid_signal(const mabd_signal* signal, mabd_real from, mabd_real h,
                                    mabd_real time) {
    return signal ? mabd_signal_over(signal, from, h, time) : 0;
}

/// Velocity of the air at a time of a step [m/s], as mabd_rigid_signal.
MABD_FN mabd_vec3 mabd_rigid_wind(const mabd_model* m, mabd_real from, mabd_real h,
                                  mabd_real time) {
    const mabd_real speed = mabd_rigid_signal(m->wind, from, h, time);
    return mabd_v3_scale(speed, mabd_v3_load(m->wind_direction));
}

/// Share of target k, which is set, in its value after a part of the step, 0 to 1; the rest is that
/// of the last step. A position is reached at the end of the step, along a line.
MABD_FN mabd_real mabd_rigid_target_share(const mabd_rigid_inputs* in, size_t k, bool position,
                                          mabd_real part) {
    return position && in->last_set[k] ? part : 1;
}
/// Value of target k, which is set, after a part of the step.
MABD_FN mabd_real mabd_rigid_held_target(const mabd_rigid_inputs* in, size_t k, bool position,
                                         mabd_real part) {
    if (!position || !in->last_set[k]) return in->target[k];
    return in->last_target[k] + part * (in->target[k] - in->last_target[k]);
}

/// True if a control, other than the target of a position, or a motor of a joint jumps.
bool mabd_rigid_joint_jumps(const mabd_rigid_inputs* in, int32_t joint);
/// True if the force that is applied to a body jumps; body -1 = none.
bool mabd_rigid_force_jumps(const mabd_rigid_inputs* in, int32_t body);
/// True if a signal of steps jumps within h of a time [s].
bool mabd_rigid_signal_jumps(const mabd_model* model, mabd_real time, mabd_real h);

/// Set targets: entry set_targets of the table of formulations.
void mabd_rigid_set_targets(mabd_rigid_inputs* in, int32_t first, int32_t count, const bool* which,
                            const mabd_real* values);
/// Take inputs as jumping in the next step whatever their values: entry restart_input of the table
/// of formulations.
void mabd_rigid_restart_input(mabd_rigid_inputs* in, int32_t control, int32_t body);
/// Read a target: entry get_target of the table of formulations.
bool mabd_rigid_get_target(const mabd_rigid_inputs* in, int32_t copy, int32_t control,
                           mabd_real* target);
/// Add forces and torques: entry apply_force of the table of formulations.
void mabd_rigid_apply_force(mabd_rigid_inputs* in, int32_t n, const int32_t* bodies,
                            const mabd_real* forces, const mabd_real* torques);

/// Write coordinate and rate of a control of a copy to x (2).
typedef void mabd_rigid_control_reader(const void* self, int32_t copy, int32_t control,
                                       mabd_real* x);
/// Write coordinates and rates of all controls of all copies, either may be null: entry
/// get_controls of the table of formulations.
void mabd_rigid_get_controls(const mabd_model* model, mabd_rigid_control_reader* read,
                             const void* self, mabd_real* coordinates, mabd_real* rates);
