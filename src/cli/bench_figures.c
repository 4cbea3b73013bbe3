// SPDX-License-Identifier: Apache-2.0
// What follows from the measurements of `mabd bench`; see bench_figures.h.
#include "cli/bench_figures.h"

#include "bench/table.h"

#define X(name, key) key,
static const char* const KEYS[] = {BENCH_FIGURE_LIST(X)};
#undef X

bool bench_is_series(const bench_report* b) {
    return b->names[0] == NULL;
}

const char* bench_scene_name(const bench_report* b, int32_t row) {
    return bench_is_series(b) ? b->topic : b->names[row / b->thread_count];
}

const char* bench_figure_key(bench_figure figure) {
    return KEYS[figure];
}

double bench_per_link(const bench_scaling_result* r, double seconds) {
    return 1e9 * seconds / (double)r->links;
}

double bench_per_link_iteration(const bench_scaling_result* r) {
    return bench_per_link(r, r->seconds_per_step) / r->iterations_per_step;
}

const char* bench_part_name(int part) {
    return part < MABD_STAGE_COUNT ? mabd_stage_name((mabd_stage)part) : "other";
}

double bench_part_seconds(const bench_scaling_result* r, int part) {
    if (part < MABD_STAGE_COUNT) return r->stage_seconds[part];
    double other = r->seconds_per_step;
    for (int k = 0; k < MABD_STAGE_COUNT; k++) other -= r->stage_seconds[k];
    return other;
}

double bench_slope(const bench_report* b, int32_t t) {
    if (!bench_is_series(b)) return 0;
    return bench_scaling_slope(b->count, b->results, b->streams[t].threads, BENCH_SLOPE_FROM);
}

double bench_figure_of(const bench_report* b, int32_t row, bench_figure figure) {
    const bench_scaling_result* r = &b->results[row];
    const bench_scaling_result* first = &b->results[row - row % b->thread_count];
    const bench_stream* stream = &b->streams[row % b->thread_count];
    switch (figure) {
    case BENCH_FIGURE_STEPS_PER_SECOND:
        return 1 / r->seconds_per_step;
    case BENCH_FIGURE_REAL_TIME_FACTOR:
        return r->h / r->seconds_per_step;
    case BENCH_FIGURE_BYTES_PER_BODY:
        return (double)r->bytes / (double)r->links;
    case BENCH_FIGURE_BYTES_MOVED:
        return (double)bench_stream_moved(sizeof(mabd_real));
    case BENCH_FIGURE_BOUND:
        return bench_stream_bound(stream, sizeof(mabd_real));
    case BENCH_FIGURE_BANDWIDTH_SHARE:
        return bench_stream_bound(stream, sizeof(mabd_real)) /
               bench_per_link(r, r->seconds_per_step);
    case BENCH_FIGURE_SPEEDUP:
        return first->seconds_per_step / r->seconds_per_step;
    default:
        return 0;
    }
}
