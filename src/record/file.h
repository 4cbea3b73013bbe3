// SPDX-License-Identifier: Apache-2.0
// Files through POSIX calls, with errors that hold the path and the system's reason, and the
// replacement of a file as a whole: written beside it under a temporary name, then renamed.
#pragma once

#include "base/memory.h"

/// MABD_ERR_IO "cannot <what> <path>: <text of the error number>".
mabd_status mabd_file_fail(mabd_error* error, const char* what, const char* path, int number);

/// Write all `size` bytes at `offset`.
mabd_status mabd_file_write(int fd, const char* path, const void* data, size_t size,
                            uint64_t offset, mabd_error* error);
/// Read up to `size` bytes at `offset`; *got is less only at the end of the file.
mabd_status mabd_file_read(int fd, const char* path, void* data, size_t size, uint64_t offset,
                           size_t* got, mabd_error* error);

/// Claim an open file for one writer, without waiting: MABD_ERR_IO if another one has it. Readers through
/// HDF5 are let in, writers through HDF5 are not. Ends when the file is closed.
mabd_status mabd_file_claim(int fd, const char* path, mabd_error* error);

/// A file on its way to replace another one.
typedef struct mabd_replacement {
    char* path;      // final name, links followed
    char* temporary; // name while it is written, in the same directory
    size_t path_bytes, temporary_bytes;
    int fd;       // of the temporary file, -1 = none
    int claim_fd; // the file to be replaced, while it is claimed; -1 = none
} mabd_replacement;

/// Open the temporary file. MABD_ERR_IO if `path` is there and is no regular file. `claim`: fail if another
/// writer has the old file, and keep others from it until the end.
mabd_status mabd_replacement_begin(const mabd_allocator* allocator, const char* path, bool claim,
                                   mabd_replacement* replacement, mabd_error* error);
/// Put it in place; `sync` waits until the disk has both the file and its name. The file stays open.
mabd_status mabd_replacement_finish(mabd_replacement* replacement, bool sync, mabd_error* error);
/// Free, and unless it was finished, close and remove the temporary file. The caller owns the fd of a
/// finished one.
void mabd_replacement_end(const mabd_allocator* allocator, mabd_replacement* replacement);
