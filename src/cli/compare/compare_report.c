// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd compare`; see compare_report.h.
#include "cli/compare/compare_report.h"

#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/compare/compare_page.h"
#include "cli/compare/compare_plot.h"
#include "cli/summary.h"

#include <math.h>

// ---- for people --------------------------------------------------------------------------------

void compare_report_head(const compare_report* r) {
    fprintf(r->text, "scene     %s: %d bodies, %d joints, %d rows; %g s, %s\n", r->scene,
            (int)r->bodies, (int)r->joints, (int)r->rows_of_joints, r->time, r->preset);
    fprintf(r->text, "machine   %s\n", r->machine);
    fputs(
        "pose      largest difference from the reference, the finest run; order: of the "
        "positions,\n"
        "          observed over three steps of the method itself\n"
        "energy    largest change over the energy exchanged; numerics: what the steps took of it\n"
        "momenta   change at the end: p [kg m/s], L [kg m^2/s] about the origin\n"
        "ms/s      time of a second of motion: processor time with one thread, else wall time\n\n",
        r->text);
    fprintf(r->text, "%-12s %-14s %8s %9s %9s %5s %9s %9s %9s %9s %8s %6s %5s %9s  %s\n",
            "formulation", "integrator", "h [ms]", "pose [m]", "[rad]", "order", "energy",
            "numerics", "p", "L", "gap [m]", "iter", "parts", "ms/s", "result");
    fflush(r->text);
}

static const char* number(const char* format, double value, char* text, size_t size) {
    snprintf(text, size, "-");
    if (isfinite(value)) snprintf(text, size, format, value);
    return text;
}

void compare_report_row(const compare_report* r, const compare_row* row) {
    char cells[12][32];
    fprintf(r->text, "%-12s %-14s %8g %9s %9s %5s %9s %9s %9s %9s %8s %6s %5s %9s  %s%s\n",
            mabd_formulation_name(row->formulation), mabd_integrator_name(row->integrator),
            1e3 * row->h, row->reference ? "0" : number("%.2e", row->position, cells[0], 32),
            row->reference ? "0" : number("%.2e", row->angle, cells[1], 32),
            number("%.2f", isfinite(row->order) ? row->order : row->order_angle, cells[2], 32),
            number("%.2e", row->energy, cells[3], 32),
            number("%+.1e", row->energy_integrator, cells[4], 32),
            number("%.2e", row->momentum, cells[5], 32),
            number("%.2e", row->angular_momentum, cells[6], 32),
            number("%.1e", row->gap, cells[7], 32), number("%.2f", row->iterations, cells[8], 32),
            number("%.0f", row->substeps, cells[10], 32), number("%.4g", row->cost, cells[9], 32),
            row->reference ? "reference: " : "", row->outcome);
    fflush(r->text);
}

// ---- for programs ------------------------------------------------------------------------------

static void put_csv(const void* report, FILE* out) {
    const compare_report* r = report;
    fprintf(out, "# %s\n# machine: %s\n# build: mabd %s, compiler %s\n", r->command, r->machine,
            mabd_version(), __VERSION__);
    fputs("formulation,integrator,h,steps,reference,outcome", out);
#define X(name, format, unit) fputs("," #name, out);
    COMPARE_NUMBER_LIST(X)
#undef X
    fputc('\n', out);
    for (int32_t i = 0; i < r->count; i++) {
        const compare_row* row = &r->rows[i];
        fprintf(out, "%s,%s,%.12g,%lld,%d,", mabd_formulation_name(row->formulation),
                mabd_integrator_name(row->integrator), row->h, (long long)row->steps,
                (int)row->reference);
        csv_put_text(row->outcome, out);
#define X(name, format, unit)                                                                      \
    fputc(',', out);                                                                               \
    if (isfinite(row->name)) fprintf(out, "%.9g", row->name);
        COMPARE_NUMBER_LIST(X)
#undef X
        fputc('\n', out);
    }
}

static json_t* series_of(const compare_path* path) {
    json_t* series = json_object();
    summary_set_reals(series, "time", path->times, path->count);
    summary_set_reals(series, "position", path->positions, path->count);
    summary_set_reals(series, "angle", path->angles, path->count);
    summary_set_reals(series, "energy", path->energies, path->count);
    return series;
}

static json_t* method_of(const compare_row* row) {
    if (row == NULL) return json_null();
    json_t* object = json_object();
    summary_set_text(object, "formulation", mabd_formulation_name(row->formulation));
    summary_set_text(object, "integrator", mabd_integrator_name(row->integrator));
    summary_set_real(object, "h", row->h);
    return object;
}

static json_t* object_of(const compare_row* row) {
    json_t* object = method_of(row);
    json_object_set_new(object, "steps", json_integer((json_int_t)row->steps));
    json_object_set_new(object, "complete", json_boolean(row->complete));
    json_object_set_new(object, "reference", json_boolean(row->reference));
    summary_set_text(object, "outcome", row->outcome);
#define X(name, format, unit) summary_set_real(object, #name, row->name);
    COMPARE_NUMBER_LIST(X)
#undef X
    if (row->complete) json_object_set_new(object, "series", series_of(&row->path));
    return object;
}

static int write_json(const compare_report* r) {
    json_t *root = json_object(), *rows = json_array(), *units = json_object();
    summary_set_origin(root, r->machine, r->command);
    summary_set_text(root, "scene", r->scene);
    summary_set_text(root, "preset", r->preset);
    summary_set_real(root, "time", r->time);
#define X(name, format, unit) summary_set_text(units, #name, unit);
    COMPARE_NUMBER_LIST(X)
#undef X
    json_object_set_new(root, "units", units);
    json_object_set_new(root, "reference", method_of(r->reference));
    for (int32_t i = 0; i < r->count; i++) json_array_append_new(rows, object_of(&r->rows[i]));
    json_object_set_new(root, "results", rows);
    const int code = summary_write("compare", r->json, root);
    json_decref(root);
    return code;
}

static void put_svg(const void* report, FILE* out) {
    compare_plot_write(report, out);
}

static void put_html(const void* report, FILE* out) {
    compare_page_write(report, out);
}

int compare_report_write(const compare_report* r) {
    int code = r->json != NULL ? write_json(r) : CLI_OK;
    if (code == CLI_OK && r->csv != NULL) code = csv_write("compare", r->csv, put_csv, r);
    if (code == CLI_OK && r->svg != NULL) code = csv_write("compare", r->svg, put_svg, r);
    if (code == CLI_OK && r->html != NULL) code = csv_write("compare", r->html, put_html, r);
    return code;
}
