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
    const char* title;                           // null = the quantity
    int32_t count;                               // 1 to BENCH_PLOT_SERIES
    bench_plot_series series[BENCH_PLOT_SERIES]; // (count)
} bench_plot;

/// Write the picture. Equal numbers give equal bytes. The caller checks `out` for errors.
void bench_plot_write(const bench_plot* plot, FILE* out);
/// Name of a quantity with its unit.
const char* bench_plot_quantity_text(bench_quantity quantity);
