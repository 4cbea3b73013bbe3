// SPDX-License-Identifier: Apache-2.0
// Text files of the command: written completely or not at all, and checked before hours of work.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// True if `path` names standard output, "-"; false for null.
bool output_is_stdout(const char* path);
/// True if `path` ("-" = standard output) can be written. False: message (size) gets "cannot write
/// PATH: reason". Leaves no file behind.
bool output_check(const char* path, char* message, size_t size);
/// Write text to `path`; an existing file is replaced as a whole and synced. "-" is standard
/// output; devices are written directly. False: message (size) gets "cannot write PATH: reason",
/// and an existing file is unchanged.
bool output_write(const char* path, const char* text, char* message, size_t size);
