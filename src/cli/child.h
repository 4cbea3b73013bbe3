// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end, with limits on time and memory, and reads its output.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct child_limits {
    double seconds; // wall clock time, then the program is killed; 0 = no limit
    size_t bytes;   // of address space; 0 = no limit
} child_limits;

typedef struct child_result {
    bool started;     // false: no process or no such program; errors has the reason
    int code;         // exit code; -1 if a signal ended it
    int signal;       // that ended the program, 0 = none
    bool timeout;     // the program was killed at its time limit
    char* out;        // its standard output, to be freed; null if memory is short
    char errors[256]; // first line of its standard error
} child_result;

/// Run the program argv[0], found as by a shell, to its end. `in` is its standard input from the
/// beginning of the file; null = empty.
child_result child_run(char* const* argv, FILE* in, const child_limits* limits);
