// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of one or more threads, and the bound it sets on a step.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Result of bench_stream_triad.
typedef struct bench_stream {
    int32_t threads;
    size_t array_bytes;      // of each of the three arrays
    double bytes_per_second; // of all threads, best pass; 0 = no memory for the arrays
} bench_stream;

/// Measure the STREAM triad a[i] = b[i] + s c[i], with 24 bytes per element (as in STREAM, the
/// fetch of a line before its write is not counted). The three arrays are together at least four
/// times `cache_bytes` and at least 192 MB, at most `memory_bytes` / 2; the best of `passes` passes
/// counts. Each of `threads` threads has its own part of the arrays, the same in every pass, and is
/// the first to touch it.
bench_stream bench_stream_triad(size_t cache_bytes, size_t memory_bytes, int passes,
                                int32_t threads);

/// Numbers of a body that any BDF2 step moves through memory, for every solver:
/// read q, v and one older q, v (4 x 12), write the new q, v (2 x 12).
#define BENCH_REALS_READ    48
#define BENCH_REALS_WRITTEN 24

/// Bytes of a link that a step must move.
size_t bench_stream_moved(size_t real_bytes);
/// Least time per link and step [ns] if only that traffic counted; 0 = unknown.
double bench_stream_bound(const bench_stream* stream, size_t real_bytes);
