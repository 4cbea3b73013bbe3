// SPDX-License-Identifier: Apache-2.0
// Parameters of a gradient: what each kind needs, whether a model has it, its value and its unit.
#pragma once

#include "mabd/gradient.h"

/// Names of the axes of a joint, as in scenes: "tx" .. "rz".
extern const char* const mabd_parameter_axes[MABD_AXIS_COUNT];

/// What `index` of a parameter or a loss term names.
typedef enum mabd_gradient_owner {
    MABD_OWNER_NONE,    // nothing: the whole scene
    MABD_OWNER_BODY,    // a body
    MABD_OWNER_JOINT,   // a joint
    MABD_OWNER_AXIS,    // a joint, with a free axis of it
    MABD_OWNER_SPLINE,  // a joint, with control values of splines
    MABD_OWNER_CONTROL, // copy * controls + control (mabd_model_control)
    MABD_OWNER_SPRING,  // a spring between points, by its number
    MABD_OWNER_GROUND,  // nothing: the ground of the scene
    MABD_OWNER_MISSING, // things that no scene has
} mabd_gradient_owner;

/// What a kind of parameter needs.
typedef struct mabd_parameter_traits {
    mabd_gradient_owner owner;
    int32_t components;  // 0 = none
    bool moving;         // the body must be dynamic
    bool whole;          // index -1 stands for all dynamic bodies
    bool steps;          // first and last count
    const char* unit[2]; // of a translation and of a rotation, or of components 0..2 and 3..5; not
                         // of springs and ground
} mabd_parameter_traits;
/// Control values of the splines of a joint, 0 = none.
int32_t mabd_parameter_spline_count(const mabd_model* model, int32_t joint);
/// Traits of a kind; kind < MABD_PARAMETER_COUNT.
const mabd_parameter_traits* mabd_parameter_get_traits(mabd_parameter_kind kind);

/// Refuse a parameter that a model does not have, that reaches beyond a run of `steps` steps, or
/// whose bounds or scale make no sense. MABD_ERR_INPUT; MABD_ERR_UNAVAILABLE for kinds of things
/// that no scene has yet. The text names the body, the joint or the number.
mabd_status mabd_parameter_check(const mabd_model* model, int64_t steps,
                                 const mabd_parameter* parameter, mabd_error* error);
