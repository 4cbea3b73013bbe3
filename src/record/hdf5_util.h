// SPDX-License-Identifier: Apache-2.0
// Small steps over the HDF5 library. Functions that return bool leave the reason on HDF5's error stack;
// mabd_h5_reason() reads it. Every id that they open they close.
#pragma once

#include "base/memory.h"

#include <hdf5.h>

/// HDF5 prints its error stack unless told not to: off between begin and end, in this thread.
typedef struct mabd_h5_quiet {
    H5E_auto2_t print;
    void* context;
} mabd_h5_quiet;
mabd_h5_quiet mabd_h5_quiet_begin(void);
void mabd_h5_quiet_end(mabd_h5_quiet quiet);

/// The innermost reason of the last failure, in text (size bytes). Returns text.
const char* mabd_h5_reason(char* text, size_t size);
/// Close any id but a file; negative ids are allowed.
void mabd_h5_close(hid_t id);

/// An array as a contiguous dataset. data (extents[0] x ...), in `memory` as in the file.
bool mabd_h5_write_array(hid_t place, const char* name, hid_t type, int32_t rank,
                         const hsize_t* extents, const void* data);
/// n texts of variable length; rank 0 with n = 1: a scalar.
bool mabd_h5_write_texts(hid_t place, const char* name, int32_t rank, hsize_t n,
                         const char* const* texts);
/// n texts of `length` bytes each, padded with zeros.
bool mabd_h5_write_names(hid_t place, const char* name, hsize_t n, size_t length, const char* data);
/// A text, as a scalar attribute of variable length.
bool mabd_h5_set_text(hid_t object, const char* name, const char* text);
/// A number, as a scalar attribute.
bool mabd_h5_set_number(hid_t object, const char* name, hid_t type, const void* value);

/// Read an attribute that mabd_h5_set_text wrote into text (size bytes), cut if it is longer.
bool mabd_h5_get_text(hid_t object, const char* name, char* text, size_t size);
bool mabd_h5_get_number(hid_t object, const char* name, hid_t type, void* value);
/// Open a dataset of this rank and get its extents (rank); -1 if there is none.
hid_t mabd_h5_open_array(hid_t place, const char* name, int32_t rank, hsize_t* extents);
/// Read all of a dataset whose extents are exactly these.
bool mabd_h5_read_array(hid_t place, const char* name, hid_t type, int32_t rank,
                        const hsize_t* extents, void* data);
