// SPDX-License-Identifier: Apache-2.0
// Helpers over the HDF5 library. Functions that return bool leave the reason of a failure on the
// error stack of HDF5; mabd_h5_reason() reads it. They close every id that they open.
#pragma once

#include "base/memory.h"
#include "mabd/record.h"

#include <hdf5.h>

/// Suppresses the printing of HDF5's error stack between begin and end, in this thread.
typedef struct mabd_h5_quiet {
    H5E_auto2_t print;
    void* context;
} mabd_h5_quiet;
mabd_h5_quiet mabd_h5_quiet_begin(void);
void mabd_h5_quiet_end(mabd_h5_quiet quiet);

/// Write the innermost reason of the last failure to text (size bytes). Returns text.
const char* mabd_h5_reason(char* text, size_t size);
/// Close an id of any kind but a file; negative ids are ignored.
void mabd_h5_close(hid_t id);

/// Write data (extents[0] x ...) of `type` as a contiguous dataset of the same type.
bool mabd_h5_write_array(hid_t place, const char* name, hid_t type, int32_t rank,
                         const hsize_t* extents, const void* data);
/// Write an array of a caller as a dataset of doubles.
bool mabd_h5_write_record(hid_t place, const mabd_record_array* array);
/// Write n texts of variable length as a dataset; with rank 0 and n = 1 as a scalar.
bool mabd_h5_write_texts(hid_t place, const char* name, int32_t rank, hsize_t n,
                         const char* const* texts);
/// Write n texts of `length` bytes each, padded with zeros, as a dataset.
bool mabd_h5_write_names(hid_t place, const char* name, hsize_t n, size_t length, const char* data);
/// Write a text as a scalar attribute of variable length.
bool mabd_h5_set_text(hid_t object, const char* name, const char* text);
/// Write a number of `type` as a scalar attribute.
bool mabd_h5_set_number(hid_t object, const char* name, hid_t type, const void* value);

/// Read an attribute that mabd_h5_set_text wrote into text (size bytes); longer texts are cut.
bool mabd_h5_get_text(hid_t object, const char* name, char* text, size_t size);
/// Read a scalar attribute as a number of `type`.
bool mabd_h5_get_number(hid_t object, const char* name, hid_t type, void* value);
/// Open a dataset of this rank and get its extents (rank); returns -1 if there is none.
hid_t mabd_h5_open_array(hid_t place, const char* name, int32_t rank, hsize_t* extents);
/// Read a whole dataset as `type`; false unless its extents (rank) are equal to `extents`.
bool mabd_h5_read_array(hid_t place, const char* name, hid_t type, int32_t rank,
                        const hsize_t* extents, void* data);

/// Create a file in memory; returns a negative id on failure. HDF5 identifies such files by name:
/// `unique` is an address that only the caller owns.
hid_t mabd_h5_create_in_memory(const void* unique);
/// Copy the bytes of a file in memory. *bytes (*size) is to be freed by mabd_free, also on failure.
/// MABD_ERR_MEMORY; MABD_ERR_IO: the reason is on HDF5's error stack.
mabd_status mabd_h5_take_image(const mabd_allocator* allocator, hid_t file, void** bytes,
                               size_t* size);
