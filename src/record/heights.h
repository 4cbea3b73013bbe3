// SPDX-License-Identifier: Apache-2.0
// Height fields of a recording: for each geom the columns and rows (0 for other shapes) and the
// cell size, and the heights of all fields one after the other. A recording without height fields
// has no such datasets.
#pragma once

#include "mabd/scene.h"
#include "record/hdf5_util.h"

/// Memory of the height fields that were read.
typedef struct mabd_heights {
    void* memory;
    size_t bytes;
} mabd_heights;

/// Write the height fields of n geoms into a group, if there are any. MABD_ERR_IO, MABD_ERR_MEMORY.
mabd_status mabd_heights_write(const mabd_allocator* allocator, hid_t group, int32_t n,
                               const mabd_geom* geoms, mabd_error* error);
/// Read the height fields of n geoms, whose shapes are known, and point the geoms to them.
/// MABD_ERR_INPUT if the datasets do not match the geoms.
mabd_status mabd_heights_read(const mabd_allocator* allocator, hid_t file, int32_t n,
                              mabd_geom* geoms, mabd_heights* fields);
/// Free the memory of mabd_heights_read.
void mabd_heights_free(const mabd_allocator* allocator, mabd_heights* fields);
