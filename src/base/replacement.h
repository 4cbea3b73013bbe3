// SPDX-License-Identifier: Apache-2.0
// Replacement of a file as a whole: its name always refers to a complete file, the old one or the
// new one, whenever the process is killed.
#pragma once

#include "mabd/base.h"

/// A file that will replace another one.
typedef struct mabd_replacement {
    char* path;      // final name, links followed
    char* temporary; // name of the unfinished file, in the same directory; "" while it has none
    size_t path_bytes, temporary_bytes;
    int fd;       // of the unfinished file, -1 = none
    int claim_fd; // the file to be replaced, while it is reserved; -1 = none
    bool finished;
} mabd_replacement;

/// Open the unfinished file for reading and writing, and remove unfinished files for the same path
/// that killed processes left behind. MABD_ERR_IO if `path` exists and is not a regular file.
/// `claim`: fail if another writer has the old file, and reserve it until the end.
/// On failure the replacement holds nothing.
mabd_status mabd_replacement_begin(const mabd_allocator* allocator, const char* path, bool claim,
                                   mabd_replacement* replacement, mabd_error* error);
/// Give the file its final name. `sync`: wait until the disk has the file and its name. The file
/// stays open.
mabd_status mabd_replacement_finish(mabd_replacement* replacement, bool sync, mabd_error* error);
/// Free the names and, unless the replacement was finished, close and discard the file. The caller
/// owns the fd of a finished replacement.
void mabd_replacement_end(const mabd_allocator* allocator, mabd_replacement* replacement);
