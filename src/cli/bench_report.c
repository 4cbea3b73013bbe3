// SPDX-License-Identifier: Apache-2.0
// What `mabd bench` tells of its measurements; see bench_report.h.
#include "cli/bench_report.h"

#include "bench/table.h"
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/summary.h"
#include "cli/system.h"

static bool is_series(const bench_report* b) {
    return b->names[0] == NULL; // one topic in several sizes
}

// Exponent of time against links; 0 = there is none.
static double slope_of(const bench_report* b) {
    return is_series(b) ? bench_scaling_slope(b->count, b->results, BENCH_SLOPE_FROM) : 0;
}

static double per_link(const bench_scaling_result* r, double seconds) {
    return 1e9 * seconds / (double)r->links;
}

static double per_link_iteration(const bench_scaling_result* r) {
    return per_link(r, r->seconds_per_step) / r->iterations_per_step;
}

void bench_report_head(const bench_report* b) {
    size_t real = sizeof(mabd_real);
    fprintf(b->text, "machine   %s\nbuild     mabd %s, compiler %s\n", b->machine, mabd_version(),
            __VERSION__);
    fprintf(b->text, "triad     %.2f GB/s, one thread, three arrays of %.0f MB\n",
            1e-9 * b->stream.bytes_per_second, 1e-6 * (double)b->stream.array_bytes);
    fprintf(
        b->text, "bound     %.1f ns per link and step: %zu bytes read, %zu written per link\n\n",
        bench_stream_bound(&b->stream, real), BENCH_REALS_READ * real, BENCH_REALS_WRITTEN * real);
    fprintf(b->text, "%9s %11s %10s %12s %14s %9s %9s %9s %9s %7s%s\n", "links", "ms/step",
            "iter/step", "ns/link/step", "ns/link/iter", "gap [m]", "contacts", "first ms",
            "build ms", "B/link", is_series(b) ? "" : "  scene");
    fflush(b->text);
}

void bench_report_row(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    fprintf(b->text, "%9d %11.5g %10.2f %12.0f %14.0f %9.1e %9.4g %9.3g %9.3g %7.0f%s%s\n",
            (int)r->links, 1e3 * r->seconds_per_step, r->iterations_per_step,
            per_link(r, r->seconds_per_step), per_link_iteration(r), r->max_gap,
            r->contacts_per_step, 1e3 * r->first_step_seconds, 1e3 * r->build_seconds,
            (double)r->bytes / r->links, is_series(b) ? "" : "  ",
            is_series(b) ? "" : b->names[row]);
    fflush(b->text);
}

void bench_report_stages(const bench_report* b) {
    fprintf(b->text, "\nns per link and step, by stage\n%9s", "links");
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        fprintf(b->text, " %9s", mabd_stage_name((mabd_stage)k));
    }
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        fprintf(b->text, "\n%9d", (int)r->links);
        for (int k = 0; k < MABD_STAGE_COUNT; k++) {
            fprintf(b->text, " %9.1f", per_link(r, r->stage_seconds[k]));
        }
        if (!is_series(b)) fprintf(b->text, "  %s", b->names[i]);
    }
    fputc('\n', b->text);
    const double slope = slope_of(b);
    if (slope > 0) {
        fprintf(b->text, "\ntime per step grows as links^%.3f from %d links on\n", slope,
                BENCH_SLOPE_FROM);
    }
}

// ---- files -------------------------------------------------------------------------------------

static const char* name_of(const bench_report* b, int32_t row) {
    return is_series(b) ? b->topic : b->names[row];
}

static json_t* result_json(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    json_t* entry =
        json_pack("{si si sI sI sI sI}", "links", (int)r->links, "rows", (int)r->rows, "steps",
                  (json_int_t)r->steps, "unconverged_steps", (json_int_t)r->unconverged_steps,
                  "retries", (json_int_t)r->retries, "bytes", (json_int_t)r->bytes);
    json_t* stages = json_object();
    summary_set_text(entry, "scene", name_of(b, row));
    summary_set_text(entry, "joint", r->joint);
    summary_set_real(entry, "h", r->h);
    summary_set_real(entry, "ms_per_step", 1e3 * r->seconds_per_step);
    summary_set_real(entry, "iterations_mean", r->iterations_per_step);
    summary_set_real(entry, "dual_iterations_mean", r->dual_iterations_per_step);
    summary_set_real(entry, "contacts_mean", r->contacts_per_step);
    summary_set_real(entry, "ns_per_link", per_link(r, r->seconds_per_step));
    summary_set_real(entry, "ns_per_link_iteration", per_link_iteration(r));
    summary_set_real(entry, "max_gap", r->max_gap);
    summary_set_real(entry, "max_angle_error", r->max_angle_error);
    summary_set_real(entry, "first_step_ms", 1e3 * r->first_step_seconds);
    summary_set_real(entry, "build_ms", 1e3 * r->build_seconds);
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        summary_set_real(stages, mabd_stage_name((mabd_stage)k), 1e3 * r->stage_seconds[k]);
    }
    json_object_set_new(entry, "stage_ms_per_step", stages);
    return entry;
}

static int write_json(const bench_report* b) {
    if (b->json == NULL) return CLI_OK;
    json_t *root = json_object(), *results = json_array();
    summary_set_text(root, "topic", b->topic);
    summary_set_text(root, "version", mabd_version());
    summary_set_text(root, "compiler", __VERSION__);
    summary_set_text(root, "machine", b->machine);
    summary_set_text(root, "command", b->command);
    summary_set_text(root, "integrator", b->integrator);
    summary_set_text(root, "preset", b->preset);
    summary_set_text(root, "dual", b->dual);
    summary_set_real(root, "triad_bytes_per_second", b->stream.bytes_per_second);
    summary_set_real(root, "bound_ns_per_link", bench_stream_bound(&b->stream, sizeof(mabd_real)));
    for (int32_t i = 0; i < b->count; i++) {
        json_array_append_new(results, result_json(b, i));
    }
    json_object_set_new(root, "results", results);
    summary_set_real(root, "slope", slope_of(b));
    json_object_set_new(root, "peak_resident_bytes",
                        json_integer((json_int_t)system_peak_resident()));
    int code = summary_write("bench", b->json, root);
    json_decref(root);
    return code;
}

static void fill_csv_head(const bench_report* b, FILE* out) {
    fprintf(out, "# machine: %s\n# version: mabd %s\n# compiler: %s\n# command: %s\n", b->machine,
            mabd_version(), __VERSION__, b->command);
    fprintf(out, "# triad: %.3e bytes/s, bound: %.2f ns per link and step\n",
            b->stream.bytes_per_second, bench_stream_bound(&b->stream, sizeof(mabd_real)));
    fprintf(out, "# peak resident: %zu bytes\n", system_peak_resident());
    if (is_series(b)) {
        fprintf(out, "# slope of log time against log links, from %d links on: %.3f\n",
                BENCH_SLOPE_FROM, slope_of(b));
    }
    fprintf(out, "scene,links,joint,rows,h,steps,ms_per_step,iterations_mean,dual_iterations_mean,"
                 "ns_per_link,ns_per_link_iteration,max_gap,max_angle_error,unconverged_steps,"
                 "first_step_ms,build_ms,bytes,contacts_mean");
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        fprintf(out, ",%s_ms", mabd_stage_name((mabd_stage)k));
    }
}

static void fill_csv(const void* report, FILE* out) {
    const bench_report* b = report;
    fill_csv_head(b, out);
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        fputc('\n', out);
        csv_put_text(name_of(b, i), out);
        fprintf(out, ",%d,%s,%d,%g,%lld,%.6g,%.4g,%.4g,%.5g,%.5g,%.3e,%.3e,%lld,%.5g,%.5g,%zu,%.6g",
                (int)r->links, r->joint, (int)r->rows, r->h, (long long)r->steps,
                1e3 * r->seconds_per_step, r->iterations_per_step, r->dual_iterations_per_step,
                per_link(r, r->seconds_per_step), per_link_iteration(r), r->max_gap,
                r->max_angle_error, (long long)r->unconverged_steps, 1e3 * r->first_step_seconds,
                1e3 * r->build_seconds, r->bytes, r->contacts_per_step);
        for (int k = 0; k < MABD_STAGE_COUNT; k++) fprintf(out, ",%.5g", 1e3 * r->stage_seconds[k]);
    }
    fputc('\n', out);
}

int bench_report_write(const bench_report* b) {
    const int json = write_json(b);
    const int csv = b->csv == NULL ? CLI_OK : csv_write("bench", b->csv, fill_csv, b);
    return json != CLI_OK ? json : csv;
}
