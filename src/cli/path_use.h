// SPDX-License-Identifier: Apache-2.0
// The files that a command line names, checked before any of them is opened.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum path_kind {
    PATH_READ,
    PATH_SCENE,  // read; found as in scene_path.h
    PATH_WRITTEN // "-" is standard output
} path_kind;

typedef struct path_use {
    path_kind kind;
    const char* name; // of the option or argument: "--out", "SCENE"
    const char* path; // null = not given
} path_use;

/// True if both paths name the same file, through symbolic or hard links too. Files that do not
/// exist yet are the same if their directories are and their names are equal.
bool path_use_same(const char* a, const char* b);
/// Refuse (message on standard error) a written file that is also read or written by another use
/// (CLI_BAD_INPUT), or that cannot be written (CLI_CANNOT_WRITE). Returns an exit code. Devices and
/// pipes may be named several times.
int path_use_check(const char* command, int32_t count, const path_use* uses);
