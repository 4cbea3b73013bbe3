// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of one thread, and the bound it sets on a step.
#pragma once

#include <stddef.h>

/// Result of bench_stream_triad.
typedef struct bench_stream {
    size_t array_bytes;      // of each of the three arrays
    double bytes_per_second; // best of all passes; 0 = no memory for the arrays
} bench_stream;

/// The STREAM triad a[i] = b[i] + s c[i], 24 bytes counted per element (a write's fetch of the line is
/// not counted, as in STREAM). Three arrays, together at least four times `cache_bytes` and at least
/// 192 MB, at most `memory_bytes` / 2; `passes` passes, the best one counts.
bench_stream bench_stream_triad(size_t cache_bytes, size_t memory_bytes, int passes);

/// Numbers of a body that a BDF2 step has to move through memory, whatever the solver does:
/// read q, v and one older q, v (4 x 12), write the new q, v (2 x 12).
#define BENCH_REALS_READ    48
#define BENCH_REALS_WRITTEN 24

/// Least time of a link and step [ns] if only that traffic counted.
double bench_stream_bound(const bench_stream* stream, size_t real_bytes);
