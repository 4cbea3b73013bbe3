// SPDX-License-Identifier: Apache-2.0
// Copies of a scene with parameters drawn for each: options --copies, --vary and --seed of `mabd
// batch` and `mabd gradient`.
#pragma once

#include "cli/load.h"
#include "cli/run_options.h"

/// A range "NAME=LOW:HIGH" of the command line.
typedef struct batch_range {
    char name[128];
    double low, high;
} batch_range;

/// The copies. Zero, but for `command` and the options, before batch_vary_read.
typedef struct batch_vary {
    const char* command;  // its name, for messages
    int64_t copies, seed; // --copies, --seed
    option_texts texts;   // --vary
    int32_t count;
    batch_range ranges[OPTION_TEXTS_MAX];
    char values[OPTION_TEXTS_MAX][32]; // of the copy that is being loaded
} batch_vary;

/// Read the ranges of an option `flag`, no name twice. Returns an exit code, after a message.
int batch_read_ranges(const char* command, const char* flag, const option_texts* texts,
                      batch_range* ranges, int32_t* count);
/// Read those of --vary, which --set must not give too. Returns an exit code, after a message.
int batch_vary_read(batch_vary* vary, const run_options* options);
/// Value of drawn parameter i of a copy.
double batch_vary_value(const batch_vary* vary, int32_t i, int64_t copy);
/// Load a scene as copies, with close_joints and young of the options. Returns an exit code, after
/// a message.
int batch_vary_load(batch_vary* vary, const run_options* options, loaded_scene* loaded);
