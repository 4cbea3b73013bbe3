// SPDX-License-Identifier: Apache-2.0
// Text files of the command: whole or not at all, and checked before hours of work.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// True if `path` ("-" = standard output) can be written; else message (size) says why not, as
/// "PATH: reason". Leaves nothing behind.
bool output_check(const char* path, char* message, size_t size);
/// Write text to a temporary file beside `path`, sync it and rename it; "-" and devices are written
/// directly. False: message (size) says what failed, and an existing file is as it was.
bool output_write(const char* path, const char* text, char* message, size_t size);
