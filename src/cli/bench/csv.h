// SPDX-License-Identifier: Apache-2.0
// Tables of results as files.
#pragma once

#include <stdio.h>

/// Write a field of a table, in quotes if it needs them.
void csv_put_text(const char* text, FILE* out);
/// Write the output of `fill` for `report` to a file, completely or not at all; "-" = standard
/// output. `command` is used in messages. Returns 0 or an exit code; errors go to standard error.
int csv_write(const char* command, const char* path, void (*fill)(const void* report, FILE* out),
              const void* report);
/// Split a line of a table into at most `max` fields, in place; fields in quotes lose them. Returns
/// their number, -1 if a quote is not closed or there are more fields.
int csv_split(char* text, int max, char** fields);
