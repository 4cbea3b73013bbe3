// SPDX-License-Identifier: Apache-2.0
// What follows from the measurements of `mabd bench`: one place for text, JSON and CSV.
#pragma once

#include "cli/bench/bench_report.h"

/// X(name, key of JSON and CSV)
#define BENCH_FIGURE_LIST(X)                                                                       \
    X(STEPS_PER_SECOND, "steps_per_second")                                                        \
    X(REAL_TIME_FACTOR, "real_time_factor") /* simulated time over wall time */                    \
    X(BYTES_PER_BODY, "bytes_per_body")                                                            \
    X(BYTES_MOVED, "bytes_moved_per_link") /* by a step, at least */                               \
    X(BOUND, "bound_ns_per_link")          /* time of that at the triad's bandwidth */             \
    X(BANDWIDTH_SHARE, "bandwidth_share")  /* bound over time */                                   \
    X(SPEEDUP, "speedup")                  /* over the first number of threads */

typedef enum bench_figure {
#define X(name, key) BENCH_FIGURE_##name,
    BENCH_FIGURE_LIST(X)
#undef X
        BENCH_FIGURE_COUNT
} bench_figure;

/// How many times as fast as the first backend on this scene; 0 = it was not there.
double bench_backend_ratio(const bench_report* report, int32_t row);
/// Instruction set, or the backend where that is none of the processor's.
const char* bench_isa(const bench_report* report, int32_t row);

/// A figure of result `row`; 0 where it is not known.
double bench_figure_of(const bench_report* report, int32_t row, bench_figure figure);
const char* bench_figure_key(bench_figure figure);

/// Parts of a step: its stages, then "other", which is in none of them. They sum to the step.
int bench_part_count(void);
const char* bench_part_name(int part);
double bench_part_seconds(const bench_scaling_result* result, int part); // per step

/// Seconds per step as ns per link and step.
double bench_per_link(const bench_scaling_result* result, double seconds);
/// ns per link, step and iteration.
double bench_per_link_iteration(const bench_scaling_result* result);
/// Exponent of time against links with thread count number t; 0 = there is none.
double bench_slope(const bench_report* report, int32_t t);
/// Name of the scene of result `row`: its file, or the topic.
const char* bench_scene_name(const bench_report* report, int32_t row);
/// True if the results are sizes of one topic.
bool bench_is_series(const bench_report* report);
