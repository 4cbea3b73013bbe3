// SPDX-License-Identifier: Apache-2.0
// Batches: copies of one mechanism side by side in one model, so that every backend simulates them as one
// problem. Body b of copy c is body c * bodies + b of the model, joint j is joint c * joints + j; copies never
// touch each other, whatever their places. What a copy is made of may differ in numbers: masses, sizes,
// stiffness, friction, gains, start state. Bodies, joints and what acts on their axes may not.
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

/// Add a copy to a scene that is empty or holds copies already; `copy` may be destroyed afterwards, or added again.
/// Gravity, wind and how geoms touch must be those of the first copy, which also gives the names, the suggested times and
/// the name of the scene. MABD_ERR_INPUT: the error tells which copy it would be and what differs.
MABD_API mabd_status mabd_scene_add_copy(mabd_scene* scene, const mabd_scene* copy,
                                         mabd_error* error);
/// Copies in a scene or a model; 0: it holds none, but bodies of its own.
MABD_API int32_t mabd_scene_copy_count(const mabd_scene* scene);
MABD_API int32_t mabd_model_copy_count(const mabd_model* model);

/// What can be set from outside.
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
MABD_API const char* mabd_control_name(mabd_control_kind kind);

/// One control of a copy.
typedef struct mabd_control_info {
    int32_t joint; // in the first copy; c * joints + joint in copy c
    mabd_axis axis;
    mabd_control_kind kind;
    const char* unit; // of its target: "m", "rad", "m/s", "rad/s", "N", "N m"
} mabd_control_info;
/// Controls of each copy: the axes with a servo, a motor or a motor_velocity, by rising joint and axis, on one axis
/// the motor last. 0 of a model that holds no copies.
MABD_API int32_t mabd_model_control_count(const mabd_model* model);
MABD_API mabd_control_info mabd_model_control(const mabd_model* model, int32_t control);

/// Targets of the controls of copies first .. first + count - 1, values (count x controls): from the next step on
/// they stand in for the signals of the scene, until they are set anew or cleared. which (controls): those that are set,
/// values of others are not looked at; null = all. Targets are part of the state: saved, restored, and cleared by a
/// reset. MABD_ERR_ARG: no such copies, or a value that is not finite; then nothing is set.
MABD_API mabd_status mabd_sim_set_targets(mabd_sim* sim, int32_t first, int32_t count,
                                          const bool* which, const mabd_real* values,
                                          mabd_error* error);
/// Back to the signals of the scene.
MABD_API mabd_status mabd_sim_clear_targets(mabd_sim* sim, int32_t first, int32_t count,
                                            mabd_error* error);
/// Coordinate [m] or [rad] and rate [m/s] or [rad/s] of the axis of every control (copies x controls each); either may be null.
/// Coordinates are 0 in the start pose of joints that are given in world coordinates. Those of axes with a motor alone lie
/// between -pi and pi, others go on.
MABD_API void mabd_sim_get_controls(const mabd_sim* sim, mabd_real* coordinates, mabd_real* rates);
