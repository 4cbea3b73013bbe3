// SPDX-License-Identifier: Apache-2.0
// Batches: copies of one mechanism side by side in one model, so that every backend simulates them
// as one problem. Body b of copy c is body c * bodies + b of the model, joint j is joint
// c * joints + j; copies never touch each other, wherever they are. Copies may differ in numbers:
// masses, sizes, stiffness, friction, gains, start state. They have the same bodies, joints and
// kinds of controls on each axis.
//
//   mabd_scene_create(NULL, &batch);
//   for (c = 0; c < copies; c++) mabd_scene_add_copy(batch, scene_of(c), &error);
//   mabd_model_build(batch, NULL, &model, &error);
//   mabd_sim_create(model, &def, &sim, &error);
//   for (step = 0; step < steps; step++) {
//       mabd_sim_get_controls(sim, x, rates);             // copies x controls
//       policy(x, rates, targets);
//       mabd_sim_set_targets(sim, 0, copies, NULL, targets, &error);
//       mabd_sim_step(sim, NULL, &error);
//   }
#pragma once

#include "mabd/sim.h"

/// Add a copy to a scene that is empty or holds copies only; `copy` may be destroyed afterwards, or
/// added again. Gravity, wind and contact settings must equal those of the first copy, which also
/// gives names, suggested times and the name of the scene. MABD_ERR_INPUT: the error names the
/// number of the copy and the difference.
MABD_API mabd_status mabd_scene_add_copy(mabd_scene* scene, const mabd_scene* copy,
                                         mabd_error* error);
/// Number of copies in a scene; 0: the scene holds bodies of its own.
MABD_API int32_t mabd_scene_copy_count(const mabd_scene* scene);
/// Number of copies in a model; 0: it was not built of copies.
MABD_API int32_t mabd_model_copy_count(const mabd_model* model);

/// Quantities that a program can set while a simulation runs.
#define MABD_CONTROL_LIST(X)                                                                       \
    X(POSITION, "position") /* target of a servo [m] or [rad] */                                   \
    X(VELOCITY, "velocity") /* of a motor_velocity [m/s] or [rad/s] */                             \
    X(FORCE, "force")       /* of a motor [N] or [N m] */
typedef enum mabd_control_kind {
#define X(name, text) MABD_CONTROL_##name,
    MABD_CONTROL_LIST(X)
#undef X
        MABD_CONTROL_COUNT
} mabd_control_kind;
/// Name of a kind of control; "unknown" for other values. Never null.
MABD_API const char* mabd_control_name(mabd_control_kind kind);

/// One control of a copy.
typedef struct mabd_control_info {
    int32_t joint; // in the first copy; c * joints + joint in copy c
    mabd_axis axis;
    mabd_control_kind kind;
    const char* unit; // of its target: "m", "rad", "m/s", "rad/s", "N", "N m"
} mabd_control_info;
/// Number of controls of each copy: axes with a servo, a motor or a motor_velocity, by rising joint
/// and axis; on one axis the motor comes last. A model without copies counts as one.
MABD_API int32_t mabd_model_control_count(const mabd_model* model);
/// Joint, axis, kind and unit of control number `control` of each copy.
MABD_API mabd_control_info mabd_model_control(const mabd_model* model, int32_t control);

/// Set targets of the controls of copies first .. first + count - 1 from values (count x controls).
/// They replace the signals of the scene from the next step on, until they are set again or
/// cleared; each is held for whole steps. A value that differs from that of the last step restarts
/// integrators with history in this copy, so that held controls keep the order of the method; the
/// same value again does not. The target of a rigid servo is the position at the end of the step
/// and restarts nothing. which (controls): controls to set, null = all; values of the others are
/// ignored. Targets are part of the state: saved, restored, and cleared by a reset. MABD_ERR_ARG:
/// no such copies, or a value that is not finite; then nothing is set.
MABD_API mabd_status mabd_sim_set_targets(mabd_sim* sim, int32_t first, int32_t count,
                                          const bool* which, const mabd_real* values,
                                          mabd_error* error);
/// Return the controls of copies first .. first + count - 1 to the signals of the scene.
/// MABD_ERR_ARG: no such copies.
MABD_API mabd_status mabd_sim_clear_targets(mabd_sim* sim, int32_t first, int32_t count,
                                            mabd_error* error);
/// Write coordinate [m] or [rad] and rate [m/s] or [rad/s] of the axis of every control into
/// coordinates and rates (copies x controls each); either may be null. Coordinates are 0 in the
/// start pose of joints that are given in world coordinates. Angles of axes with nothing but a
/// motor lie between -pi and pi, other angles are unwrapped.
MABD_API void mabd_sim_get_controls(const mabd_sim* sim, mabd_real* coordinates, mabd_real* rates);
