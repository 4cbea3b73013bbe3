// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end, with limits on its time and memory, and reads what it printed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct child_limits {
    double seconds; // wall clock, then it is killed; 0 = no limit
    size_t bytes;   // of address space; 0 = no limit
} child_limits;

typedef struct child_result {
    bool started;     // false: no process, or no such program; errors says why
    int code;         // exit code; -1 if a signal ended it
    int signal;       // that ended it, 0 = none
    bool timeout;     // it ran out of time: the signal is the one that killed it
    char* out;        // all it printed, to be freed; null without memory
    char errors[256]; // the first line that it wrote to its standard error
} child_result;

/// argv[0] is looked up as by a shell. `in` is read from its beginning as standard input, null = nothing.
child_result child_run(char* const* argv, FILE* in, const child_limits* limits);
