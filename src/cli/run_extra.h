// SPDX-License-Identifier: Apache-2.0
// Additions of a command to `mabd run`: its own model, reports, and an action before each step.
// Steps, recording, checkpoints, signals, summary and exit codes are those of command_run.c.
#pragma once

#include "cli/load.h"
#include "cli/run_options.h"

/// Functions of a command; their first argument is `context`. Those that return int return an exit
/// code and print the reason of a failure.
typedef struct run_extra {
    void* context;
    /// Check the options after the command line was read.
    int (*check)(void* context, const run_options* options);
    /// Load the scene, in place of load_scene.
    int (*load)(void* context, const run_options* options, loaded_scene* loaded);
    /// Prepare the run after the simulation was created. text: where reports go, null = quiet.
    int (*prepare)(void* context, const mabd_sim* sim, int64_t steps, FILE* text);
    /// Add arrays to the recording.
    void (*record)(void* context, mabd_record_def* def);
    /// Act before each step.
    mabd_status (*before_step)(void* context, mabd_sim* sim, mabd_error* error);
    /// Print a report at the end: `steps` took `seconds` of wall time.
    void (*print)(void* context, const mabd_sim* sim, int64_t steps, double seconds, FILE* text);
    /// Add keys to the JSON summary at the end.
    void (*report)(void* context, const mabd_sim* sim, int64_t steps, double seconds,
                   json_t* summary);
} run_extra;

/// Read a command line and run it. extra may be null: plain `mabd run`. Returns an exit code.
int run_command_line(const run_command* command, int argc, char** argv, const run_extra* extra);

/// Make the definition of a simulation from the options, for a loaded scene.
mabd_sim_def run_make_def(const run_options* options, const loaded_scene* loaded);
/// Count the steps of h [s] of a run: --steps, --time, the duration of the scene, or 10 s.
/// *duration gets the time that was wanted [s]. Returns an exit code, after a message.
int run_count_steps(const run_options* options, const loaded_scene* loaded, double h,
                    int64_t* steps, double* duration);
