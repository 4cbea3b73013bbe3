// SPDX-License-Identifier: Apache-2.0
// The tables of `mabd bench`: a line per result; see bench_report.h.
#include "cli/bench/bench_report.h"

#include "cli/bench/bench_figures.h"
#include "cli/bench/bench_table.h"

static void print_streams(const bench_report* b) {
    const size_t real = sizeof(mabd_real);
    for (int32_t t = 0; t < b->thread_count; t++) {
        const bench_stream* stream = &b->streams[t];
        fprintf(b->text, "triad     %.2f GB/s, %d thread%s, three arrays of %.0f MB\n",
                1e-9 * stream->bytes_per_second, (int)stream->threads,
                stream->threads == 1 ? "" : "s", 1e-6 * (double)stream->array_bytes);
        fprintf(
            b->text, "bound     %.1f ns per link and step: %zu bytes read, %zu written per link\n",
            bench_stream_bound(stream, real), BENCH_REALS_READ * real, BENCH_REALS_WRITTEN * real);
    }
}

void bench_report_head(const bench_report* b) {
    fprintf(b->text, "machine   %s\nbuild     mabd %s, compiler %s, instruction set %s\n",
            b->machine, mabd_version(), __VERSION__, b->isa);
    print_streams(b);
    fprintf(b->text, "\n%9s %11s %10s %12s %14s %9s %9s %9s %9s %7s %7s", "links", "ms/step",
            "iter/step", "ns/link/step", "ns/link/iter", "gap [m]", "contacts", "first ms",
            "build ms", "B/link", "% triad");
    if (b->thread_count > 1) fprintf(b->text, " %7s %8s", "threads", "speed-up");
    if (b->backend_count > 1) fprintf(b->text, " %8s %8s", "backend", "ratio");
    fprintf(b->text, "%s\n", bench_is_series(b) ? "" : "  scene");
    fflush(b->text);
}

void bench_report_row(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    fprintf(b->text, "%9d %11.5g %10.2f %12.0f %14.0f %9.1e %9.4g %9.3g %9.3g %7.0f %7.2f",
            (int)r->links, 1e3 * r->seconds_per_step, r->iterations_per_step,
            bench_per_link(r, r->seconds_per_step), bench_per_link_iteration(r), r->max_gap,
            r->contacts_per_step, 1e3 * r->first_step_seconds, 1e3 * r->build_seconds,
            bench_figure_of(b, row, BENCH_FIGURE_BYTES_PER_BODY),
            100 * bench_figure_of(b, row, BENCH_FIGURE_BANDWIDTH_SHARE));
    if (b->thread_count > 1) {
        fprintf(b->text, " %7d %8.2f", (int)r->threads,
                bench_figure_of(b, row, BENCH_FIGURE_SPEEDUP));
    }
    if (b->backend_count > 1) {
        fprintf(b->text, " %8s %8.3g", mabd_backend_name(r->backend), bench_backend_ratio(b, row));
    }
    if (!bench_is_series(b)) fprintf(b->text, "  %s", bench_scene_name(b, row));
    fputc('\n', b->text);
    fflush(b->text);
}

// ---- when all is measured ----------------------------------------------------------------------

static void print_stages(const bench_report* b) {
    fprintf(b->text, "\nns per link and step, by stage\n%9s", "links");
    for (int k = 0; k < bench_part_count(b->formulation); k++) {
        fprintf(b->text, " %9s", bench_part_name(b->formulation, k));
    }
    if (b->thread_count > 1) fprintf(b->text, " %7s", "threads");
    if (b->backend_count > 1) fprintf(b->text, " %8s", "backend");
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        fprintf(b->text, "\n%9d", (int)r->links);
        for (int k = 0; k < bench_part_count(b->formulation); k++) {
            fprintf(b->text, " %9.1f", bench_per_link(r, bench_part_seconds(r, k)));
        }
        if (b->thread_count > 1) fprintf(b->text, " %7d", (int)r->threads);
        if (b->backend_count > 1) fprintf(b->text, " %8s", mabd_backend_name(r->backend));
    }
    fputc('\n', b->text);
}

// Find the last result of the largest scene.
static int32_t largest(const bench_report* b) {
    int32_t row = 0;
    for (int32_t i = 1; i < b->count; i++) {
        if (b->results[i].links >= b->results[row].links) row = i;
    }
    return row;
}

static void print_slopes(const bench_report* b) {
    for (int32_t t = 0; t < b->thread_count; t++) {
        const double slope = bench_slope(b, t);
        if (!(slope > 0)) continue;
        fprintf(b->text, "\ntime per step grows as links^%.3f from %d links on", slope,
                BENCH_SLOPE_FROM);
        if (b->thread_count > 1) fprintf(b->text, ", threads: %d", (int)b->streams[t].threads);
        fputc('\n', b->text);
    }
}

void bench_report_end(const bench_report* b) {
    if (b->count == 0) return;
    if (b->all_trees || b->count == 1) {
        for (int32_t i = 0; i < b->count; i++) bench_report_block(b, i);
    } else {
        print_stages(b);
        bench_report_block(b, largest(b));
    }
    print_slopes(b);
}
