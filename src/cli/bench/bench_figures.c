// SPDX-License-Identifier: Apache-2.0
// Figures computed from measurements of `mabd bench`; see bench_figures.h.
#include "cli/bench/bench_figures.h"

#include "cli/bench/bench_table.h"

#define X(name, key) key,
static const char* const KEYS[] = {BENCH_FIGURE_LIST(X)};
#undef X

bool bench_is_series(const bench_report* b) {
    return b->names[0] == NULL;
}

const char* bench_scene_name(const bench_report* b, int32_t row) {
    return bench_is_series(b) ? b->topic : b->names[b->scenes[row]];
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

int bench_part_count(mabd_formulation formulation) {
    return mabd_formulation_get_info(formulation).stage_count + 1;
}

const char* bench_part_name(mabd_formulation formulation, int part) {
    const mabd_formulation_info info = mabd_formulation_get_info(formulation);
    return part < info.stage_count ? info.stages[part] : "other";
}

double bench_part_seconds(const bench_scaling_result* r, int part) {
    if (part < bench_part_count(r->formulation) - 1) return r->stage_seconds[part];
    double other = r->seconds_per_step;
    for (int k = 0; k < MABD_MAX_STAGES; k++) other -= r->stage_seconds[k];
    return other;
}

double bench_slope(const bench_report* b, int32_t t) {
    if (!bench_is_series(b)) return 0;
    return bench_scaling_slope(b->count, b->results, b->backends[0], b->streams[t].threads,
                               BENCH_SLOPE_FROM);
}

// Find the first result of the scene of `row` on a backend with `threads` threads (0 = any); null
// if there is none.
static const bench_scaling_result* first_of(const bench_report* b, int32_t row,
                                            mabd_backend backend, int32_t threads) {
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        if (b->scenes[i] != b->scenes[row] || r->backend != backend) continue;
        if (threads == 0 || r->threads == threads) return r;
    }
    return NULL;
}

double bench_backend_ratio(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    const bench_scaling_result* same = first_of(b, row, b->backends[0], r->threads);
    const bench_scaling_result* first = same ? same : first_of(b, row, b->backends[0], 0);
    return first ? first->seconds_per_step / r->seconds_per_step : 0;
}

const char* bench_isa(const bench_report* b, int32_t row) {
    const mabd_backend backend = b->results[row].backend;
    return backend == MABD_BACKEND_CUDA ? mabd_backend_name(backend) : b->isa;
}

static const bench_stream* stream_of(const bench_report* b, int32_t threads) {
    int32_t t = 0;
    while (t + 1 < b->thread_count && b->streams[t].threads != threads) t++;
    return &b->streams[t];
}

double bench_figure_of(const bench_report* b, int32_t row, bench_figure figure) {
    const bench_scaling_result* r = &b->results[row];
    const bench_scaling_result* first = first_of(b, row, r->backend, 0);
    const bench_stream* stream = stream_of(b, r->threads);
    const bool device = r->backend == MABD_BACKEND_CUDA; // has its own bandwidth
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
        return device ? 0 : bench_stream_bound(stream, sizeof(mabd_real));
    case BENCH_FIGURE_BANDWIDTH_SHARE:
        return bench_figure_of(b, row, BENCH_FIGURE_BOUND) / bench_per_link(r, r->seconds_per_step);
    case BENCH_FIGURE_SPEEDUP:
        return first->seconds_per_step / r->seconds_per_step;
    default:
        return 0;
    }
}
