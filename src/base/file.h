// SPDX-License-Identifier: Apache-2.0
// Files through POSIX calls. Error texts hold the path and the reason of the operating system.
#pragma once

#include "mabd/base.h"

/// Fill *error with "cannot <action> <path>: <text of the error number>". Returns MABD_ERR_IO.
mabd_status mabd_file_fail(mabd_error* error, const char* action, const char* path, int number);

/// Write all `size` bytes at `offset`. `path` is used in messages only.
mabd_status mabd_file_write(int fd, const char* path, const void* data, size_t size,
                            uint64_t offset, mabd_error* error);
/// Read up to `size` bytes at `offset`; *got is smaller only at the end of the file.
mabd_status mabd_file_read(int fd, const char* path, void* data, size_t size, uint64_t offset,
                           size_t* got, mabd_error* error);

/// Result of an attempt to lock a file.
typedef enum mabd_file_lock {
    MABD_FILE_LOCKED,
    MABD_FILE_LOCK_TAKEN,      // another open file holds the lock
    MABD_FILE_LOCK_UNSUPPORTED // the file system has no locks
} mabd_file_lock;
/// Take the exclusive lock of writers of this library, without waiting. It ends when the file is
/// closed, so a killed process holds none.
mabd_file_lock mabd_file_try_lock(int fd);

/// Reserve an open file for one writer, without waiting. MABD_ERR_IO if another writer has it.
/// Readers through HDF5 may open the file, writers through HDF5 may not. The reservation ends when
/// the file is closed. A file system without locks reserves nothing.
mabd_status mabd_file_claim(int fd, const char* path, mabd_error* error);
