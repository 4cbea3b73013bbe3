// SPDX-License-Identifier: Apache-2.0
// Progress of a run as one line that is redrawn on a terminal; silent elsewhere.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct progress {
    FILE* out;                // null = silent
    double start, last_drawn; // wall clock [s]
    int64_t first_step, total_steps;
    double h;  // [s]
    int width; // characters of the last line drawn
} progress;

/// Start at step `first_step` of `total_steps`. Draws on standard error, only if that is a terminal
/// and `quiet` is false.
progress progress_start(bool quiet, int64_t first_step, int64_t total_steps, double h);
/// Redraw the line, at most five times per second. step_seconds: time in steps since progress_start
/// [s].
void progress_update(progress* p, int64_t step, double step_seconds);
/// Erase the line.
void progress_end(progress* p);
/// Format a time as "0.31 s", "42 s", "4 min 10 s" or "2 h 05 min". Returns text.
const char* progress_format_time(double seconds, char* text, size_t size);
