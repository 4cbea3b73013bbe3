// SPDX-License-Identifier: Apache-2.0
// Warnings of a run: on standard error, also with --quiet, and as a list for the JSON summary.
#pragma once

#include "mabd/mabd.h"

#include <jansson.h>

/// Start from {.command = name of the command}.
typedef struct run_warnings {
    const char* command; // for messages
    json_t* list;        // array of {text, step, body, joint}; null = none yet
    int32_t read;        // warnings of the simulation that have been collected
} run_warnings;

/// Print "mabd COMMAND: warning: TEXT" to standard error and append it to the list, without a body,
/// a joint or a step.
void run_warnings_add(run_warnings* warnings, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/// Do the same with the warnings of a simulation that have come since the last call.
void run_warnings_collect(run_warnings* warnings, const mabd_sim* sim);
/// Free the list.
void run_warnings_release(run_warnings* warnings);
