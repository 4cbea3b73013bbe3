// SPDX-License-Identifier: Apache-2.0
// Times the block LU on the graphs of [VI figures 9b-d] beside LAPACK's dense LU: nodes of 6 rows,
// numbers random and diagonally dominant, pattern symmetric, numbers not. A ladder has loops of
// constant size, a net and a crystal loops that grow.
#pragma once

#include "mabd/base.h"

#define BENCH_GRAPH_LIST(X)                                                                        \
    X(LADDER, "ladder")   /* 2 x n */                                                              \
    X(NET, "net")         /* n x n */                                                              \
    X(CRYSTAL, "crystal") /* n x n x n */

typedef enum bench_graph {
#define X(name, text) BENCH_GRAPH_##name,
    BENCH_GRAPH_LIST(X)
#undef X
        BENCH_GRAPH_COUNT
} bench_graph;

typedef struct bench_dual_result {
    int32_t nodes, rows;
    int64_t entries;               // of the factor
    double seconds, dense_seconds; // factor and solve, the fastest of the repeats
    /// |b - K x| / (|K| |x| + |b|), largest entries and row sums.
    double residual, dense_residual;
    double difference; // largest entry of x less that of LAPACK
} bench_dual_result;

/// Return the side n number `index`, from 0, of a graph in the table; 0 after the last one.
int32_t bench_dual_side(bench_graph graph, int32_t index);
/// Build the graph of side n, and factor and solve with both, in turns, `repeats` times. MABD_ERR_*
/// of the solver; MABD_ERR_SINGULAR also if LAPACK fails.
mabd_status bench_dual_run(bench_graph graph, int32_t side, int32_t repeats,
                           bench_dual_result* result);
