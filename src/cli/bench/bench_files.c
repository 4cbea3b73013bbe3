// SPDX-License-Identifier: Apache-2.0
// Writes the results of `mabd bench` as JSON and CSV. Keys and columns are an interface: new ones
// come last.
#include "cli/bench/bench_figures.h"

#include "cli/bench/bench_table.h"
#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

// ---- JSON --------------------------------------------------------------------------------------

static void add_times(const bench_scaling_result* r, json_t* entry) {
    json_t* stages = json_object();
    summary_set_real(entry, "h", r->h);
    summary_set_real(entry, "ms_per_step", 1e3 * r->seconds_per_step);
    summary_set_real(entry, "iterations_mean", r->iterations_per_step);
    summary_set_real(entry, "dual_iterations_mean", r->dual_iterations_per_step);
    summary_set_real(entry, "contacts_mean", r->contacts_per_step);
    summary_set_real(entry, "ns_per_link", bench_per_link(r, r->seconds_per_step));
    summary_set_real(entry, "ns_per_link_iteration", bench_per_link_iteration(r));
    summary_set_real(entry, "max_gap", r->max_gap);
    summary_set_real(entry, "max_angle_error", r->max_angle_error);
    summary_set_real(entry, "first_step_ms", 1e3 * r->first_step_seconds);
    summary_set_real(entry, "build_ms", 1e3 * r->build_seconds);
    for (int k = 0; k < bench_part_count(r->formulation) - 1; k++) {
        summary_set_real(stages, bench_part_name(r->formulation, k), 1e3 * r->stage_seconds[k]);
    }
    json_object_set_new(entry, "stage_ms_per_step", stages);
}

static json_t* timer_json(const bench_scaling_result* r, const char* name, double seconds) {
    json_t* timer = json_object();
    summary_set_text(timer, "name", name);
    summary_set_real(timer, "ms", 1e3 * seconds);
    summary_set_real(timer, "share", seconds / r->seconds_per_step);
    summary_set_real(timer, "ns_per_link", bench_per_link(r, seconds));
    return timer;
}

static json_t* tree_json(const bench_scaling_result* r) {
    json_t *step = timer_json(r, "step", r->seconds_per_step), *parts = json_array();
    for (int k = 0; k < bench_part_count(r->formulation); k++) {
        json_array_append_new(
            parts, timer_json(r, bench_part_name(r->formulation, k), bench_part_seconds(r, k)));
    }
    json_object_set_new(step, "parts", parts);
    return step;
}

static json_t* result_json(const bench_report* b, int32_t row) {
    const bench_scaling_result* r = &b->results[row];
    json_t* entry =
        json_pack("{si si sI sI sI sI}", "links", (int)r->links, "rows", (int)r->rows, "steps",
                  (json_int_t)r->steps, "unconverged_steps", (json_int_t)r->unconverged_steps,
                  "retries", (json_int_t)r->retries, "bytes", (json_int_t)r->bytes);
    summary_set_text(entry, "scene", bench_scene_name(b, row));
    summary_set_text(entry, "joint", r->joint);
    add_times(r, entry);
    json_object_set_new(entry, "threads", json_integer(r->threads));
    summary_set_text(entry, "isa", bench_isa(b, row));
    summary_set_text(entry, "backend", mabd_backend_name(r->backend));
    summary_set_real(entry, "backend_ratio", bench_backend_ratio(b, row));
    for (int k = 0; k < BENCH_FIGURE_COUNT; k++) {
        const bench_figure figure = (bench_figure)k;
        summary_set_real(entry, bench_figure_key(figure), bench_figure_of(b, row, figure));
    }
    summary_set_memory(entry, "memory_bytes", r->memory);
    json_object_set_new(entry, "timer", tree_json(r));
    return entry;
}

static void add_head(const bench_report* b, json_t* root) {
    const bench_stream* stream = &b->streams[0];
    summary_set_text(root, "topic", b->topic);
    summary_set_origin(root, b->machine, b->command);
    summary_set_text(root, "integrator", b->integrator);
    summary_set_text(root, "preset", b->preset);
    summary_set_text(root, "dual", b->dual);
    summary_set_text(root, "formulation", mabd_formulation_name(b->formulation));
    summary_set_text(root, "newton", b->newton);
    summary_set_real(root, "triad_bytes_per_second", stream->bytes_per_second);
    summary_set_real(root, "bound_ns_per_link", bench_stream_bound(stream, sizeof(mabd_real)));
}

static json_t* triads_json(const bench_report* b) {
    json_t* triads = json_array();
    for (int32_t t = 0; t < b->thread_count; t++) {
        const bench_stream* stream = &b->streams[t];
        json_t* entry = json_pack("{si sI}", "threads", (int)stream->threads, "array_bytes",
                                  (json_int_t)stream->array_bytes);
        summary_set_real(entry, "bytes_per_second", stream->bytes_per_second);
        json_array_append_new(triads, entry);
    }
    return triads;
}

// List the requested backends that are unavailable.
static json_t* missing_json(const bench_report* b) {
    json_t* missing = json_array();
    for (int k = 0; k < MABD_BACKEND_COUNT; k++) {
        if (b->missing[k][0] == '\0') continue;
        json_t* entry = json_object();
        summary_set_text(entry, "backend", mabd_backend_name((mabd_backend)k));
        summary_set_text(entry, "missing", b->missing[k]);
        json_array_append_new(missing, entry);
    }
    return missing;
}

static int write_json(const bench_report* b) {
    if (b->json == NULL) return CLI_OK;
    json_t *root = json_object(), *results = json_array();
    add_head(b, root);
    for (int32_t i = 0; i < b->count; i++) json_array_append_new(results, result_json(b, i));
    json_object_set_new(root, "results", results);
    summary_set_real(root, "slope", bench_slope(b, 0));
    json_object_set_new(root, "peak_resident_bytes",
                        json_integer((json_int_t)system_peak_resident()));
    json_object_set_new(root, "triads", triads_json(b));
    json_object_set_new(root, "missing_backends", missing_json(b));
    int code = summary_write("bench", b->json, root);
    json_decref(root);
    return code;
}

// ---- CSV ---------------------------------------------------------------------------------------

// Bandwidth and exponent are those of the first number of threads; the columns have all of them.
static void fill_csv_head(const bench_report* b, FILE* out) {
    const bench_stream* stream = &b->streams[0];
    fprintf(out, "# machine: %s\n# version: mabd %s\n# compiler: %s\n# command: %s\n", b->machine,
            mabd_version(), __VERSION__, b->command);
    fprintf(out, "# triad: %.3e bytes/s, bound: %.2f ns per link and step\n",
            stream->bytes_per_second, bench_stream_bound(stream, sizeof(mabd_real)));
    fprintf(out, "# peak resident: %zu bytes\n", system_peak_resident());
    if (bench_is_series(b)) {
        fprintf(out, "# slope of log time against log links, from %d links on: %.3f\n",
                BENCH_SLOPE_FROM, bench_slope(b, 0));
    }
}

static void fill_csv_names(const bench_report* b, FILE* out) {
    fprintf(out, "scene,links,joint,rows,h,steps,ms_per_step,iterations_mean,dual_iterations_mean,"
                 "ns_per_link,ns_per_link_iteration,max_gap,max_angle_error,unconverged_steps,"
                 "first_step_ms,build_ms,bytes,contacts_mean");
    for (int k = 0; k < bench_part_count(b->formulation); k++) {
        fprintf(out, ",%s_ms", bench_part_name(b->formulation, k));
    }
    fprintf(out, ",retries,threads,isa");
    for (int k = 0; k < BENCH_FIGURE_COUNT; k++) {
        fprintf(out, ",%s", bench_figure_key((bench_figure)k));
    }
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) {
        fprintf(out, ",%s_bytes", mabd_memory_name((mabd_memory)k));
    }
    fprintf(out, ",backend,backend_ratio,formulation\n");
}

static void fill_csv_row(const bench_report* b, int32_t row, FILE* out) {
    const bench_scaling_result* r = &b->results[row];
    csv_put_text(bench_scene_name(b, row), out);
    fprintf(out, ",%d,%s,%d,%g,%lld,%.6g,%.4g,%.4g,%.5g,%.5g,%.3e,%.3e,%lld,%.5g,%.5g,%zu,%.6g",
            (int)r->links, r->joint, (int)r->rows, r->h, (long long)r->steps,
            1e3 * r->seconds_per_step, r->iterations_per_step, r->dual_iterations_per_step,
            bench_per_link(r, r->seconds_per_step), bench_per_link_iteration(r), r->max_gap,
            r->max_angle_error, (long long)r->unconverged_steps, 1e3 * r->first_step_seconds,
            1e3 * r->build_seconds, r->bytes, r->contacts_per_step);
    for (int k = 0; k < bench_part_count(r->formulation); k++) {
        fprintf(out, ",%.5g", 1e3 * bench_part_seconds(r, k));
    }
    fprintf(out, ",%lld,%d,%s", (long long)r->retries, (int)r->threads, bench_isa(b, row));
    for (int k = 0; k < BENCH_FIGURE_COUNT; k++) {
        fprintf(out, ",%.6g", bench_figure_of(b, row, (bench_figure)k));
    }
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) fprintf(out, ",%zu", r->memory[k]);
    fprintf(out, ",%s,%.6g,%s\n", mabd_backend_name(r->backend), bench_backend_ratio(b, row),
            mabd_formulation_name(r->formulation));
}

static void fill_csv(const void* report, FILE* out) {
    const bench_report* b = report;
    fill_csv_head(b, out);
    fill_csv_names(b, out);
    for (int32_t i = 0; i < b->count; i++) fill_csv_row(b, i, out);
}

int bench_report_write(const bench_report* b) {
    const int json = write_json(b);
    const int csv = b->csv ? csv_write("bench", b->csv, fill_csv, b) : CLI_OK;
    return json != CLI_OK ? json : csv;
}
