// SPDX-License-Identifier: Apache-2.0
// Times the broad phase of contacts alone, on boxes of scenes with many geoms.
#pragma once

#include "mabd/base.h"

#include <stdio.h>

#define BENCH_BROAD_LIST(X)                                                                        \
    X(CHAIN, "chain")         /* capsules hanging as a catenary, swaying out of its plane */       \
    X(NET, "net")             /* square net of rods and hubs lying flat on a plane */              \
    X(PILE, "pile")           /* spheres of radius 0.03 to 0.05 m, random, 40 % of space */        \
    X(CYLINDERS, "cylinders") /* a chain to and fro over large fixed cylinders, on a plane */

typedef enum bench_broad_scene {
#define X(name, text) BENCH_BROAD_##name,
    BENCH_BROAD_LIST(X)
#undef X
        BENCH_BROAD_COUNT
} bench_broad_scene;

typedef struct bench_broad_result {
    int32_t geoms, levels;
    int64_t pairs;
    double seconds; // of the fastest update
    size_t bytes;   // held by the broad phase
} bench_broad_result;

/// Build a scene of about `geoms` geoms, warm up, and time `repeats` updates. All geoms move
/// between two updates.
mabd_status bench_broad_run(bench_broad_scene scene, int32_t geoms, int32_t repeats,
                            bench_broad_result* result);

/// Time all scenes with 10,000, 100,000 and 1,000,000 geoms and print a table with a line per case,
/// and the slope of log time against log geoms of each scene as a comment.
mabd_status bench_broad_report(FILE* out, int32_t repeats);
