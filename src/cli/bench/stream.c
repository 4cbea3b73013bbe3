// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of one or more threads; see stream.h.
//
// The arrays are divided into one part per thread, of whole cache lines. A pass starts its threads
// and waits for them: tens of microseconds, while the pass takes tens of milliseconds.
#include "cli/bench/stream.h"

#include "cli/system.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define LEAST_TOTAL_BYTES ((size_t)192 * 1000 * 1000)
#define LINE_BYTES        ((size_t)64)
#define LINE_REALS        (LINE_BYTES / sizeof(double))

/// Work of one thread in one pass.
typedef struct part {
    size_t n;          // elements
    double *a, *b, *c; // its part of the arrays
    bool fill;         // fill the arrays instead of the triad
    bool started;      // in its own thread
    pthread_t thread;
} part;

static size_t choose_array_bytes(size_t cache_bytes, size_t memory_bytes) {
    size_t total = 4 * cache_bytes;
    if (total < LEAST_TOTAL_BYTES) total = LEAST_TOTAL_BYTES;
    if (total > memory_bytes / 2) total = memory_bytes / 2;
    return total / 3 / LINE_BYTES * LINE_BYTES;
}

static void triad(size_t n, double* restrict a, const double* restrict b, const double* restrict c,
                  double s) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

static void* run_part(void* context) {
    const part* p = context;
    if (!p->fill) {
        triad(p->n, p->a, p->b, p->c, 0.5);
        return NULL;
    }
    for (size_t i = 0; i < p->n; i++) p->a[i] = 1, p->b[i] = 2, p->c[i] = 3;
    return NULL;
}

// Run all parts at once, the first one in this thread; a thread that cannot be started is replaced
// by this one. Returns the time [s].
static double run_pass(int32_t threads, part* parts) {
    const double start = system_seconds();
    for (int32_t t = 1; t < threads; t++) {
        parts[t].started = pthread_create(&parts[t].thread, NULL, run_part, &parts[t]) == 0;
    }
    for (int32_t t = 0; t < threads; t++) {
        if (!parts[t].started) run_part(&parts[t]);
    }
    for (int32_t t = 1; t < threads; t++) {
        if (parts[t].started) pthread_join(parts[t].thread, NULL);
    }
    return system_seconds() - start;
}

// Assign to each thread its lines of the arrays; k is the array that is written.
static void share_out(size_t n, double* arrays[3], int k, int32_t threads, part* parts) {
    const size_t lines = n / LINE_REALS, count = (size_t)threads;
    for (size_t t = 0; t < count; t++) {
        const size_t from = lines * t / count * LINE_REALS;
        const size_t to = lines * (t + 1) / count * LINE_REALS;
        parts[t] = (part){.n = to - from,
                          .a = arrays[k % 3] + from,
                          .b = arrays[(k + 1) % 3] + from,
                          .c = arrays[(k + 2) % 3] + from};
    }
}

// Best time of a pass [s]; the arrays change roles so that no pass can be optimized away.
static double best_pass(size_t n, double* arrays[3], int passes, int32_t threads, part* parts) {
    double best = 1e30;
    share_out(n, arrays, 0, threads, parts);
    for (int32_t t = 0; t < threads; t++) parts[t].fill = true;
    run_pass(threads, parts); // touches every page before the timed passes
    for (int k = 0; k < passes; k++) {
        share_out(n, arrays, k, threads, parts);
        const double seconds = run_pass(threads, parts);
        if (seconds < best) best = seconds;
    }
    return best;
}

bench_stream bench_stream_triad(size_t cache_bytes, size_t memory_bytes, int passes,
                                int32_t threads) {
    bench_stream result = {.threads = threads,
                           .array_bytes = choose_array_bytes(cache_bytes, memory_bytes)};
    const size_t n = result.array_bytes / sizeof(double);
    part* parts = calloc((size_t)threads, sizeof(*parts));
    double* arrays[3];
    for (int k = 0; k < 3; k++) arrays[k] = aligned_alloc(LINE_BYTES, result.array_bytes);
    if (n > 0 && parts != NULL && arrays[0] != NULL && arrays[1] != NULL && arrays[2] != NULL) {
        const double seconds = best_pass(n, arrays, passes, threads, parts);
        result.bytes_per_second = 24.0 * (double)n / seconds;
    }
    for (int k = 0; k < 3; k++) free(arrays[k]);
    free(parts);
    return result;
}

size_t bench_stream_moved(size_t real_bytes) {
    return (BENCH_REALS_READ + BENCH_REALS_WRITTEN) * real_bytes;
}

double bench_stream_bound(const bench_stream* stream, size_t real_bytes) {
    const double bytes = (double)bench_stream_moved(real_bytes);
    return stream->bytes_per_second > 0 ? 1e9 * bytes / stream->bytes_per_second : 0;
}
