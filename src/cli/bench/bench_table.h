// SPDX-License-Identifier: Apache-2.0
// Reads a table of results as `mabd bench --csv` writes it.
//
//   # machine: NAME                         comments: KEY: VALUE, all optional
//   # triad: X bytes/s, bound: Y ns per link and step
//   links,...,ms_per_step,...,threads,backend     names of the columns, in any order; the last two
//                                                 may be missing
//   1000,...,0.362,1.25,...,2,cpu                 one line per size
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TABLE_ROWS 256
#define BENCH_SLOPE_FROM 1000 // links: below this, fixed costs of a step dominate

typedef struct bench_table_row {
    double links;       // bodies
    double ms_per_step; //
    double iterations;  // per step
    double threads;     // 1 if missing
    char backend[16];   // "cpu" if missing
} bench_table_row;

typedef struct bench_table {
    char machine[160]; // "" = missing
    double bound;      // least time per link and step by memory bandwidth [ns]; 0 = missing
    int32_t count;
    bench_table_row rows[BENCH_TABLE_ROWS]; // (count), by number of links
} bench_table;

#define BENCH_QUANTITY_LIST(X)                                                                     \
    X(ITERATION, "iteration") /* ns per link, step and iteration */                                \
    X(STEP, "step")           /* ns per link and step */                                           \
    X(MS, "ms")               /* ms per step */

typedef enum bench_quantity {
#define X(name, text) BENCH_QUANTITY_##name,
    BENCH_QUANTITY_LIST(X)
#undef X
        BENCH_QUANTITY_COUNT
} bench_quantity;

/// Read a file. False: message (size bytes) gets the error as FILE:LINE: text.
bool bench_table_read(const char* path, bench_table* table, char* message, size_t size);
/// Copy the rows of the next backend and number of threads after those of row `last`, by name and
/// number; null = the first ones. False if there are none.
bool bench_table_next(const bench_table* table, const bench_table_row* last, bench_table* part);
/// Value of a quantity in one row.
double bench_table_value(const bench_table_row* row, bench_quantity quantity);
/// Exponent p of time ~ links^p over the rows of at least BENCH_SLOPE_FROM links; 0 with fewer than
/// two. Time is that of an iteration with BENCH_QUANTITY_ITERATION, else that of a step.
double bench_table_slope(const bench_table* table, bench_quantity quantity);
