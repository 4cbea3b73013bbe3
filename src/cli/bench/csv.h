// SPDX-License-Identifier: Apache-2.0
// Tables of results as files.
#pragma once

#include <stdio.h>

/// A field of a table: in quotes if it has to be.
void csv_put_text(const char* text, FILE* out);
/// Write what `fill` writes of `report` to a file, whole or not at all; "-" = standard output. `command` is for
/// messages. Returns 0 or an exit code; errors go to stderr.
int csv_write(const char* command, const char* path, void (*fill)(const void* report, FILE* out),
              const void* report);
