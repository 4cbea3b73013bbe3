// SPDX-License-Identifier: Apache-2.0
// Checks of the builder's input. Each returns MABD_OK, or MABD_ERR_INPUT with one line that
// names the body or joint and says what was expected.
#pragma once

#include "base/error.h"
#include "scene/inertia.h"

#define MABD_FIELD_NODES (1 << 24) // most nodes of a height field

/// The kind of thing that a message names.
typedef enum mabd_subject_kind {
    MABD_SUBJECT_BODY,
    MABD_SUBJECT_JOINT,
    MABD_SUBJECT_OTHER, // `name` is the whole label: "wind"
} mabd_subject_kind;

typedef struct mabd_subject {
    mabd_subject_kind kind;
    const char* name;   // may be null: then the index is printed
    int32_t index;      // of the (first) body or joint in the scene
    int32_t element;    // in a bulk call, -1 = a single call, or what all of them share
    const char* part;   // "geom", "rx"; null = the whole
    int32_t part_index; // of a geom; -1 = none
    mabd_error* error;
} mabd_subject;

/// Fill the error with "body 'chain/12': geom 3: <text>". Always MABD_ERR_INPUT.
mabd_status mabd_reject(const mabd_subject* subject, const char* format, ...) MABD_PRINTF(2, 3);

/// Make the subject of a message that names neither body nor joint.
mabd_subject mabd_subject_other(const char* label, mabd_error* error);

/// Check that values (n) are finite.
mabd_status mabd_check_finite(const mabd_subject* subject, const char* what, int32_t n,
                              const mabd_real* values);
/// Check that a value is finite and > 0.
mabd_status mabd_check_positive(const mabd_subject* subject, const char* what, mabd_real value);
/// Check that a value is finite and >= 0.
mabd_status mabd_check_not_negative(const mabd_subject* subject, const char* what, mabd_real value);
/// Check that rotation (4) has a length; unit (4) gets it normalised and may be the same array.
mabd_status mabd_check_rotation(const mabd_subject* subject, const char* what,
                                const mabd_real* rotation, mabd_real* unit);
/// Check that vector (3) has a length; unit (3) gets its direction and may be the same array.
mabd_status mabd_check_direction(const mabd_subject* subject, const char* what,
                                 const mabd_real* vector, mabd_real* unit);
/// Check the numbers of a signal; those of a table and of steps must have strictly
/// rising times.
mabd_status mabd_check_signal(const mabd_subject* subject, const char* what,
                              const mabd_signal* signal);
/// Return how many entries of mabd_geom::size a shape uses; 0 for an unknown shape.
int mabd_shape_size_count(mabd_shape shape);
/// True for planes, bowls and height fields: they carry no mass.
bool mabd_shape_is_massless(mabd_shape shape);
/// Check geom `index` of a body of this motion.
mabd_status mabd_check_geom(const mabd_subject* body, mabd_motion motion, int32_t index,
                            const mabd_geom* geom);
/// Check a coefficient of restitution: 0 .. 1.
mabd_status mabd_check_restitution(const mabd_subject* subject, mabd_real value);
/// Check all of a body but its geoms, pose and velocity.
mabd_status mabd_check_body(const mabd_subject* subject, const mabd_body_def* def);
/// Check that a body of this motion may have these mass properties.
mabd_status mabd_check_inertia(const mabd_subject* subject, mabd_motion motion,
                               const mabd_inertia* inertia);
/// True if an axis (mabd_axis) of a joint type is free.
bool mabd_check_is_free(mabd_joint type, int axis);
/// True if an axis of a joint type is a component of a rotation vector.
bool mabd_check_is_vector(mabd_joint type, int axis);
/// Check the weights of a joint: both are positive.
mabd_status mabd_check_weights(const mabd_subject* joint, const mabd_joint_def* def);
/// Check axes (MABD_AXIS_COUNT), entries may be null: only free axes of the joint type have
/// controls, and their values make sense.
mabd_status mabd_check_axes(const mabd_subject* joint, mabd_joint type,
                            const mabd_axis_def* const* axes);
