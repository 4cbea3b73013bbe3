// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of one thread; see stream.h.
#include "bench/stream.h"

#include "cli/system.h"

#include <stdlib.h>

#define LEAST_TOTAL_BYTES ((size_t)192 * 1000 * 1000)

static size_t choose_array_bytes(size_t cache_bytes, size_t memory_bytes) {
    size_t total = 4 * cache_bytes;
    if (total < LEAST_TOTAL_BYTES) total = LEAST_TOTAL_BYTES;
    if (total > memory_bytes / 2) total = memory_bytes / 2;
    return total / 3 / 64 * 64;
}

static void triad(size_t n, double* restrict a, const double* restrict b, const double* restrict c,
                  double s) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

// Best time of a pass [s]; the arrays change roles so that no pass can be left out.
static double best_pass(size_t n, double* arrays[3], int passes) {
    double best = 1e30;
    for (int k = 0; k < passes; k++) {
        double start = system_seconds();
        triad(n, arrays[k % 3], arrays[(k + 1) % 3], arrays[(k + 2) % 3], 0.5);
        double seconds = system_seconds() - start;
        if (seconds < best) best = seconds;
    }
    return best;
}

bench_stream bench_stream_triad(size_t cache_bytes, size_t memory_bytes, int passes) {
    bench_stream result = {.array_bytes = choose_array_bytes(cache_bytes, memory_bytes)};
    size_t n = result.array_bytes / sizeof(double);
    double* arrays[3];
    for (int k = 0; k < 3; k++) arrays[k] = aligned_alloc(64, result.array_bytes);
    if (n > 0 && arrays[0] != NULL && arrays[1] != NULL && arrays[2] != NULL) {
        for (int k = 0; k < 3; k++) { // touches every page before the clock runs
            for (size_t i = 0; i < n; i++) arrays[k][i] = (double)(k + 1);
        }
        result.bytes_per_second = 24.0 * (double)n / best_pass(n, arrays, passes);
    }
    for (int k = 0; k < 3; k++) free(arrays[k]);
    return result;
}

double bench_stream_bound(const bench_stream* stream, size_t real_bytes) {
    double bytes = (double)((BENCH_REALS_READ + BENCH_REALS_WRITTEN) * real_bytes);
    return stream->bytes_per_second > 0 ? 1e9 * bytes / stream->bytes_per_second : 0;
}
