// SPDX-License-Identifier: Apache-2.0
// What `mabd bench` tells of its measurements: tables and timer trees for people, JSON and CSV for programs.
#pragma once

#include "cli/bench/bench_options.h"
#include "cli/bench/scaling.h"
#include "cli/bench/stream.h"

#include <stdio.h>

#define BENCH_RESULTS_MAX (BENCH_SCENES_MAX * BENCH_THREADS_MAX * MABD_BACKEND_COUNT)

typedef struct bench_report {
    const char* topic;                            // "chain", ..., "scene"
    const char *integrator, *preset, *dual, *isa; // names
    const char *json, *csv;                       // files, null = not asked for
    const char* command;                          // how to run it again
    int32_t repeats;                              // of which the fastest counts
    bool all_trees;                               // timer trees of all, not of the largest
    int32_t thread_count;                         // different numbers of threads
    bench_stream streams[BENCH_THREADS_MAX];      // (thread_count)
    int32_t backend_count;
    const mabd_backend* backends; // (backend_count)
    char missing[MABD_BACKEND_COUNT]
                [sizeof(((mabd_error*)0)->text)]; // why it is not there, "" = it is
    const char* names[BENCH_SCENES_MAX];          // scene files; null = the topic
    int32_t count;                                // of results
    bench_scaling_result
        results[BENCH_RESULTS_MAX];    // (count) scene by scene, each with all backends and threads
    int32_t scenes[BENCH_RESULTS_MAX]; // (count) of a result: its size or file
    char machine[160];
    FILE* text; // for people
} bench_report;

/// Machine, build, bandwidth and the heads of the columns.
void bench_report_head(const bench_report* report);
/// One result, as soon as it is there.
void bench_report_row(const bench_report* report, int32_t row);
/// What is known when all is measured: timer trees, or times by stage and the tree of the largest; the exponent
/// of time against size.
void bench_report_end(const bench_report* report);
/// All figures of one result, and its timer tree.
void bench_report_block(const bench_report* report, int32_t row);
/// Write the files asked for. Returns 0 or an exit code; errors go to stderr.
int bench_report_write(const bench_report* report);
