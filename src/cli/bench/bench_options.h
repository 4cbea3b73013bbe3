// SPDX-License-Identifier: Apache-2.0
// The command line of `mabd bench` for chains, trees, nets, robots and scene files.
#pragma once

#include "cli/bench/scaling.h"
#include "cli/options.h"

#define BENCH_SCENES_MAX  32 // sizes or files
#define BENCH_THREADS_MAX 8  // thread counts
#define BENCH_TOPIC_FILES BENCH_TOPIC_COUNT

typedef struct bench_options {
    const char *topic_name, *json, *csv; // files: null = not given
    bench_topic topic;                   // BENCH_TOPIC_FILES = scene files
    int32_t scene_count;                 // of sizes or files
    int64_t sizes[BENCH_SCENES_MAX];
    int32_t thread_count;
    int64_t threads[BENCH_THREADS_MAX];
    int32_t backend_count;
    mabd_backend backends[MABD_BACKEND_COUNT];                        // in the order given
    int64_t steps, repeats;                                           // steps 0 = by size
    int64_t substeps;                                                 // 0 = not given
    int joint, pinned, preset, integrator, dual, formulation, newton; // values of enums
    bool h_given, tree, processor;
    double h; // [s]
    option_texts files, settings;
    double young; // of scene files [Pa], 0 = not given
} bench_options;

/// Read and check a command line, and check that its output files can be written and overwrite no
/// input. Returns false if the command should not run but return *exit_code: --help or an error was
/// printed.
bool bench_options_read(int argc, char** argv, bench_options* options, int* exit_code);
/// True if a name is a topic that times steps: chain, tree, ...
bool bench_options_is_topic(const char* name);
/// True if JSON or CSV goes to standard output.
bool bench_options_use_stdout(const bench_options* options);
