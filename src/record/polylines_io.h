// SPDX-License-Identifier: Apache-2.0
// Lines and ground plane of a recording, for pictures: springs, cables, splines of joints. A
// recording without them has no such datasets.
#pragma once

#include "mabd/model.h"
#include "record/hdf5_util.h"

/// What was read.
typedef struct mabd_drawn {
    int32_t line_count, point_count;
    mabd_polyline* lines;
    mabd_spring_point* points;
    bool ground;
    mabd_real plane[6]; // point, normal
} mabd_drawn;

/// Write lines and ground plane of a model into a group, if there are any. MABD_ERR_IO,
/// MABD_ERR_MEMORY.
mabd_status mabd_drawn_write(const mabd_allocator* allocator, hid_t group, const mabd_model* model,
                             mabd_error* error);
/// Read what mabd_drawn_write wrote, for `bodies` bodies. MABD_ERR_INPUT if the datasets do not
/// match, MABD_ERR_MEMORY.
mabd_status mabd_drawn_read(const mabd_allocator* allocator, hid_t file, int32_t bodies,
                            mabd_drawn* drawn);
/// Free the memory of mabd_drawn_read.
void mabd_drawn_free(const mabd_allocator* allocator, mabd_drawn* drawn);
