// SPDX-License-Identifier: Apache-2.0
// What a command does besides `mabd run`: another model, more to tell, something before each step. All else (steps, recording,
// checkpoints, signals, summary, exit codes) is that of command_run.c.
#pragma once

#include "cli/load.h"
#include "cli/run_options.h"

/// Functions get `context` first. Those that return int give an exit code, and print what is wrong.
typedef struct run_extra {
    void* context;
    /// The command line was read.
    int (*check)(void* context, const run_options* options);
    /// Instead of load_scene.
    int (*load)(void* context, const run_options* options, loaded_scene* loaded);
    /// The simulation exists and nothing was done yet; text: where to tell of it, null = nowhere.
    int (*prepare)(void* context, const mabd_sim* sim, int64_t steps, FILE* text);
    /// Add to what a recording keeps.
    void (*record)(void* context, mabd_record_def* def);
    mabd_status (*before_step)(void* context, mabd_sim* sim, mabd_error* error);
    /// The end: `steps` took `seconds` of wall time.
    void (*print)(void* context, const mabd_sim* sim, int64_t steps, double seconds, FILE* text);
    void (*report)(void* context, const mabd_sim* sim, int64_t steps, double seconds,
                   json_t* summary);
} run_extra;

/// Read the command line and run; extra: null = `mabd run`. Returns an exit code.
int run_command_line(const run_command* command, int argc, char** argv, const run_extra* extra);
