// SPDX-License-Identifier: Apache-2.0
// Figures computed from measurements of `mabd bench`: one place for text, JSON and CSV.
#pragma once

#include "cli/bench/bench_report.h"

/// All figures: X(name, key of JSON and CSV).
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

/// Speed relative to the first backend on the same scene; 0 if that one was unavailable.
double bench_backend_ratio(const bench_report* report, int32_t row);
/// Instruction set of a result, or its backend if it did not run on the processor.
const char* bench_isa(const bench_report* report, int32_t row);

/// Compute a figure of result `row`; 0 if it is unknown.
double bench_figure_of(const bench_report* report, int32_t row, bench_figure figure);
const char* bench_figure_key(bench_figure figure);

/// Parts of a step of a formulation: its stages, then "other" for the time outside of them. They
/// sum to the step.
int bench_part_count(mabd_formulation formulation);
const char* bench_part_name(mabd_formulation formulation, int part);
double bench_part_seconds(const bench_scaling_result* result, int part); // per step

/// Convert seconds per step to ns per link and step.
double bench_per_link(const bench_scaling_result* result, double seconds);
/// Time of a result in ns per link, step and iteration.
double bench_per_link_iteration(const bench_scaling_result* result);
/// Exponent of time against links with the t-th number of threads; 0 if there is none.
double bench_slope(const bench_report* report, int32_t t);
/// Name of the scene of result `row`: its file, or the topic.
const char* bench_scene_name(const bench_report* report, int32_t row);
/// True if the results are sizes of one topic.
bool bench_is_series(const bench_report* report);
