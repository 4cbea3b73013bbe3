// SPDX-License-Identifier: Apache-2.0
// What `mabd bench` tells of its measurements: tables for people, JSON and CSV for programs.
#pragma once

#include "bench/scaling.h"
#include "bench/stream.h"

#include <stdio.h>

#define BENCH_ROWS_MAX 32

typedef struct bench_report {
    const char* topic;                            // "chain", ..., "scene"
    const char *integrator, *preset, *dual;       // names
    const char *json, *csv;                       // files, null = not asked for
    const char* command;                          // how to run it again
    int32_t count;                                // of results
    const char* names[BENCH_ROWS_MAX];            // scene files; null = the topic
    bench_scaling_result results[BENCH_ROWS_MAX]; // (count)
    bench_stream stream;
    char machine[160];
    FILE* text; // for people
} bench_report;

/// Machine, build, bandwidth and the heads of the columns.
void bench_report_head(const bench_report* report);
/// One result, as soon as it is there.
void bench_report_row(const bench_report* report, int32_t row);
/// Times by stage, and the exponent of time against size.
void bench_report_stages(const bench_report* report);
/// Write the files asked for. Returns 0 or an exit code; errors go to stderr.
int bench_report_write(const bench_report* report);
