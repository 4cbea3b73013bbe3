// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench`: tables and timer trees as text, JSON and CSV for programs.
#pragma once

#include "cli/bench/bench_options.h"
#include "cli/bench/scaling.h"
#include "cli/bench/stream.h"

#include <stdio.h>

#define BENCH_RESULTS_MAX (BENCH_SCENES_MAX * BENCH_THREADS_MAX * MABD_BACKEND_COUNT)

typedef struct bench_report {
    const char* topic;                            // "chain", ..., "scene"
    const char *integrator, *preset, *dual, *isa; // names
    mabd_formulation formulation;
    const char* newton;                      // its name
    const char *json, *csv;                  // files, null = not requested
    const char* command;                     // command line of the run
    int32_t repeats;                         // the fastest repeat counts
    bool all_trees;                          // timer trees of all results, not only the largest
    int32_t thread_count;                    // different numbers of threads
    bench_stream streams[BENCH_THREADS_MAX]; // (thread_count)
    int32_t backend_count;
    const mabd_backend* backends; // (backend_count)
    char missing[MABD_BACKEND_COUNT]
                [sizeof(((mabd_error*)0)->text)]; // why it is unavailable, "" = available
    const char* names[BENCH_SCENES_MAX];          // scene files; null = the topic
    int32_t count;                                // of results
    bench_scaling_result
        results[BENCH_RESULTS_MAX];    // (count) scene by scene, each with all backends and threads
    int32_t scenes[BENCH_RESULTS_MAX]; // (count) of a result: its size or file
    char machine[160];
    FILE* text; // where tables go
} bench_report;

/// Print machine, build, bandwidth and the headings of the columns.
void bench_report_head(const bench_report* report);
/// Print one result.
void bench_report_row(const bench_report* report, int32_t row);
/// Print the end of a report: timer trees, or times by stage and the tree of the largest result,
/// and the exponent of time against size.
void bench_report_end(const bench_report* report);
/// Print all figures of one result, and its timer tree.
void bench_report_block(const bench_report* report, int32_t row);
/// Write the requested files. Returns 0 or an exit code; errors go to standard error.
int bench_report_write(const bench_report* report);
