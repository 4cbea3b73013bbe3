// SPDX-License-Identifier: Apache-2.0
// Height fields of a recording: for each geom its columns and rows (0 if it is another shape) and its cell,
// and the heights of all of them, one after the other. A recording without height fields has no such
// datasets.
#pragma once

#include "mabd/scene.h"
#include "record/hdf5_util.h"

/// Height fields that were read.
typedef struct mabd_heights {
    void* memory;
    size_t bytes;
} mabd_heights;

/// Write the height fields of n geoms into the group, if there are any.
mabd_status mabd_heights_write(const mabd_allocator* allocator, hid_t group, int32_t n,
                               const mabd_geom* geoms, mabd_error* error);
/// Read those of n geoms, whose shapes are known, and point the geoms to them. MABD_ERR_INPUT: they do not
/// fit.
mabd_status mabd_heights_read(const mabd_allocator* allocator, hid_t file, int32_t n,
                              mabd_geom* geoms, mabd_heights* fields);
void mabd_heights_free(const mabd_allocator* allocator, mabd_heights* fields);
