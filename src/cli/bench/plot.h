// SPDX-License-Identifier: Apache-2.0
// Draws tables of results as one picture: cost against size, both axes logarithmic, plain SVG 1.1.
#pragma once

#include "cli/bench/bench_table.h"

#include <stdio.h>

#define BENCH_PLOT_SERIES 8

typedef struct bench_plot_series {
    const char* label;
    const bench_table* table;
} bench_plot_series;

typedef struct bench_plot {
    bench_quantity quantity;
    const char* title;                           // null = what is drawn
    int32_t count;                               // 1 to BENCH_PLOT_SERIES
    bench_plot_series series[BENCH_PLOT_SERIES]; // (count)
} bench_plot;

/// Write the picture. The same numbers give the same bytes. Errors of `out` are its owner's to find.
void bench_plot_write(const bench_plot* plot, FILE* out);
/// The quantity in words, with its unit.
const char* bench_plot_quantity_text(bench_quantity quantity);
