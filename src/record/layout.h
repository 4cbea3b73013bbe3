// SPDX-License-Identifier: Apache-2.0
// Contents of a recording: the datasets that grow with each frame, and all data known at the start,
// as an HDF5 file image in memory. docs/guide/recordings.md describes it for users.
#pragma once

#include "base/memory.h"
#include "mabd/record.h"

/// Meaning of the rows of a dataset.
typedef enum mabd_rows {
    MABD_ROWS_ONE,
    MABD_ROWS_BODIES,
    MABD_ROWS_JOINTS,
    MABD_ROWS_CONTROLS, // of all copies
} mabd_rows;

/// Columns of the dataset of contacts: bodies a and b, point, normal, force, distance, slips.
#define MABD_CONTACT_COLUMNS 13

/// The growing datasets: (id, name, rows of one frame, columns, rank). Those from `contact_end` on
/// are optional. `contact` grows by the contacts of a frame, `contact_end` says up to where.
#define MABD_FIELD_LIST(X)                                                                         \
    X(TIME, "time", ONE, 1, 1)                                                                     \
    X(STEP, "step", ONE, 1, 1)                                                                     \
    X(GAP, "gap", ONE, 1, 1)                                                                       \
    X(ANGLE_ERROR, "angle_error", ONE, 1, 1)                                                       \
    X(ENERGY, "energy", ONE, 5, 2)                                                                 \
    X(ENERGY_BALANCE, "energy_balance", ONE, MABD_ENERGY_COUNT, 2)                                 \
    X(POSITION, "position", BODIES, 3, 3)                                                          \
    X(QUATERNION, "quaternion", BODIES, 4, 3)                                                      \
    X(VELOCITY, "velocity", BODIES, 3, 3)                                                          \
    X(ANGULAR_VELOCITY, "angular_velocity", BODIES, 3, 3)                                          \
    X(JOINT_FORCE, "joint_force", JOINTS, 6, 3)                                                    \
    X(CONTACT_END, "contact_end", ONE, 1, 1)                                                       \
    X(CONTACT, "contact", ONE, MABD_CONTACT_COLUMNS, 2)                                            \
    X(CONTROL, "control", CONTROLS, 2, 3)

typedef enum mabd_field {
#define X(id, name, rows, columns, rank) MABD_FIELD_##id,
    MABD_FIELD_LIST(X)
#undef X
        MABD_FIELD_COUNT
} mabd_field;

/// Name and shape of a growing dataset.
typedef struct mabd_field_info {
    const char* name;
    mabd_rows rows;
    int32_t columns, rank;
} mabd_field_info;
extern const mabd_field_info mabd_fields[MABD_FIELD_COUNT];

/// Number of rows of one frame of a field, for a model.
int32_t mabd_field_rows(mabd_field field, const mabd_model* model);

/// True if recordings may be without a field.
bool mabd_field_is_optional(mabd_field field);

/// The file before its first frame as bytes, with the addresses of the object headers of its
/// fields.
typedef struct mabd_image {
    void* bytes;
    size_t size;
    uint64_t headers[MABD_FIELD_COUNT]; // 0 = the recording is without it
} mabd_image;

/// Build the image of the file for a simulation. `path` is used in messages only. The caller frees
/// the image, also on failure.
mabd_status mabd_image_build(const mabd_allocator* allocator, const char* path, const mabd_sim* sim,
                             const mabd_record_def* def, mabd_image* image, mabd_error* error);
/// Free the bytes of an image. An empty image is allowed.
void mabd_image_free(const mabd_allocator* allocator, mabd_image* image);
