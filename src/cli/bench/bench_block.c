// SPDX-License-Identifier: Apache-2.0
// Prints all figures of one result of `mabd bench`, and its timer tree:
//
//   timer                 ms    share   ns/link
//   step             0.34223  100.0 %     342.2  ####################
//     predict        0.05140   15.0 %      51.4  ###
#include "cli/bench/bench_figures.h"
#include "cli/summary.h"

#include <math.h>

#define BAR        "####################" // length of the whole step
#define BAR_LENGTH ((int)sizeof(BAR) - 1)

// Digits after the point so that a number > 0 has this many digits in all.
static int decimals(double value, int digits) {
    return (int)fmin(9, fmax(0, digits - 1 - floor(log10(value))));
}

static void print_speed(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    const double ms = 1e3 * r->seconds_per_step;
    const double rate = bench_figure_of(b, row, BENCH_FIGURE_STEPS_PER_SECOND);
    const double factor = bench_figure_of(b, row, BENCH_FIGURE_REAL_TIME_FACTOR);
    fprintf(b->text, "  speed      %.*f steps/s, %.*f ms per step, %.*f x real time (h = %g s)\n",
            decimals(rate, 4), rate, decimals(ms, 4), ms, decimals(factor, 3), factor, r->h);
    fprintf(b->text,
            "  measured   %lld steps, %d times, the fastest counts; first step %.3g ms, build %.3g "
            "ms\n",
            (long long)r->steps, (int)b->repeats, 1e3 * r->first_step_seconds,
            1e3 * r->build_seconds);
    fprintf(b->text, "  threads    %d", (int)r->threads);
    if (b->thread_count > 1) {
        fprintf(b->text, " (%.2f times as fast as %d)",
                bench_figure_of(b, row, BENCH_FIGURE_SPEEDUP), (int)b->streams[0].threads);
    }
    fprintf(b->text, ", instruction set %s\n", bench_isa(b, row));
    if (b->backend_count < 2) return;
    fprintf(b->text, "  backend    %s", mabd_backend_name(r->backend));
    if (r->backend != b->backends[0]) {
        fprintf(b->text, " (%.3g times as fast as %s)", bench_backend_ratio(b, row),
                mabd_backend_name(b->backends[0]));
    }
    fputc('\n', b->text);
}

static void print_solver(const bench_report* b, const bench_scaling_result* r) {
    fprintf(b->text, "  solver     %.2f iterations per step", r->iterations_per_step);
    if (r->dual_iterations_per_step > 0) {
        fprintf(b->text, ", %.1f of dual solvers", r->dual_iterations_per_step);
    }
    fprintf(b->text, ", %.4g contacts\n", r->contacts_per_step);
    fprintf(
        b->text,
        "  errors     largest gap %.1e m, angle %.1e rad; %lld steps unconverged, %lld halved\n",
        r->max_gap, r->max_angle_error, (long long)r->unconverged_steps, (long long)r->retries);
}

static void print_bandwidth(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    fprintf(b->text,
            "  bandwidth  %.2f %% of the triad: a link's %.0f bytes need %.1f ns, its step takes "
            "%.1f\n",
            100 * bench_figure_of(b, row, BENCH_FIGURE_BANDWIDTH_SHARE),
            bench_figure_of(b, row, BENCH_FIGURE_BYTES_MOVED),
            bench_figure_of(b, row, BENCH_FIGURE_BOUND), bench_per_link(r, r->seconds_per_step));
}

// ---- the timer tree ----------------------------------------------------------------------------

static void print_timer(const bench_report* b, const bench_scaling_result* r, int indent,
                        const char* name, double seconds) {
    const double share = seconds / r->seconds_per_step;
    const int bar = (int)fmin(BAR_LENGTH, fmax(0, round(BAR_LENGTH * share)));
    fprintf(b->text, "  %*s%-*s %11.*f %6.1f %% %9.1f%s%.*s\n", indent, "", 12 - indent, name,
            decimals(1e3 * r->seconds_per_step, 5), 1e3 * seconds, 100 * share,
            bench_per_link(r, seconds), bar > 0 ? "  " : "", bar, BAR);
}

static void print_tree(const bench_report* b, const bench_scaling_result* r) {
    fprintf(b->text, "\n  %-12s %11s %8s %9s\n", "timer", "ms", "share", "ns/link");
    print_timer(b, r, 0, "step", r->seconds_per_step);
    for (int k = 0; k < bench_part_count(r->formulation); k++) {
        print_timer(b, r, 2, bench_part_name(r->formulation, k), bench_part_seconds(r, k));
    }
}

void bench_report_block(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    fprintf(b->text, "\n%s: %d links, %d rows, joints: %s\n", bench_scene_name(b, row),
            (int)r->links, (int)r->rows, r->joint);
    print_speed(b, row);
    print_solver(b, r);
    fprintf(b->text, "  memory     ");
    summary_print_memory(r->memory, r->links, b->text);
    print_bandwidth(b, row);
    print_tree(b, r);
}
