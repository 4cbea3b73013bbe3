// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench work-precision`; see work_report.h.
#include "cli/bench/work_report.h"

#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/summary.h"
#include "mabd/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32

static const char METHOD[] =
    "cost: processor time over simulated time, of each step the fastest of the repeats, mean after "
    "5 steps, one thread; position: rms distance of the centres of mass from the reference, every "
    "0.1 s, over the size of the scene; energy: largest |E - E_0| after any step over the sum of m "
    "g d + kinetic energy, d from each centre of mass to the nearest anchor";

/// Numbers of a row: member, format.
#define NUMBER_LIST(X)                                                                             \
    X(step_us, "%.5g")                                                                             \
    X(cost, "%.4e")                                                                                \
    X(position_error, "%.3e")                                                                      \
    X(energy_error, "%.3e")                                                                        \
    X(energy_end, "%.3e")                                                                          \
    X(gap, "%.2e")

work_row* work_report_add(work_report* r) {
    if (r->count == r->capacity) {
        const int32_t capacity = r->capacity > 0 ? 2 * r->capacity : 64;
        work_row* rows = realloc(r->rows, (size_t)capacity * sizeof(*rows));
        if (rows == NULL) return NULL;
        r->rows = rows, r->capacity = capacity;
    }
    work_row* row = &r->rows[r->count++];
    *row = (work_row){0};
#define X(name, format) row->name = NAN;
    NUMBER_LIST(X)
#undef X
    return row;
}

void work_report_free(work_report* r) {
    free(r->rows);
    r->rows = NULL;
}

// ---- for people --------------------------------------------------------------------------------

void work_report_head(const work_report* r) {
    fprintf(r->text, "machine   %s\nbuild     mabd %s, compiler %s\nmeasured  %s\n", r->machine,
            mabd_version(), __VERSION__, METHOD);
    fflush(r->text);
}

void work_report_scene(const work_report* r) {
    const work_reference* last = &r->references[r->reference_count - 1];
    fprintf(r->text, "\n%s: reference %s\n", last->scene, last->text);
    fprintf(r->text, "  %-7s %-17s %8s %10s %10s %9s %9s %9s  %s\n", "peer", "method", "h [ms]",
            "us/step", "cost [s/s]", "position", "energy", "gap [m]", "result");
    fflush(r->text);
}

static const char* number(const char* format, double value, char* text, size_t size) {
    snprintf(text, size, "-");
    if (isfinite(value)) snprintf(text, size, format, value);
    return text;
}

void work_report_row(const work_report* r) {
    const work_row* row = &r->rows[r->count - 1];
    char step[32], cost[32], position[32], energy[32], gap[32];
    fprintf(r->text, "  %-7s %-17s %8g %10s %10s %9s %9s %9s  %s\n", row->peer, row->variant,
            1e3 * row->h, number("%.4g", row->step_us, step, sizeof(step)),
            number("%.3g", row->cost, cost, sizeof(cost)),
            number("%.1e", row->position_error, position, sizeof(position)),
            number("%.1e", row->energy_error, energy, sizeof(energy)),
            number("%.0e", row->gap, gap, sizeof(gap)), row->outcome);
    fflush(r->text);
}

// ---- files -------------------------------------------------------------------------------------

static json_t* row_json(const work_row* row) {
    json_t* entry =
        json_pack("{si sI}", "bodies", (int)row->bodies, "steps", (json_int_t)row->steps);
    summary_set_text(entry, "scene", row->scene);
    summary_set_text(entry, "peer", row->peer);
    summary_set_text(entry, "version", row->version);
    summary_set_text(entry, "variant", row->variant);
    summary_set_text(entry, "settings", row->settings);
    summary_set_text(entry, "result", row->outcome);
    summary_set_real(entry, "h", row->h);
#define X(name, format) summary_set_real(entry, #name, row->name);
    NUMBER_LIST(X)
#undef X
    return entry;
}

static int write_json(const work_report* r) {
    if (r->json == NULL) return CLI_OK;
    json_t *root = json_object(), *results = json_array(), *references = json_object();
    summary_set_origin(root, r->machine, r->command);
    summary_set_text(root, "measured", METHOD);
    for (int32_t i = 0; i < r->reference_count; i++) {
        summary_set_text(references, r->references[i].scene, r->references[i].text);
    }
    for (int32_t i = 0; i < r->count; i++) json_array_append_new(results, row_json(&r->rows[i]));
    json_object_set_new(root, "references", references);
    json_object_set_new(root, "results", results);
    const int code = summary_write("bench work-precision", r->json, root);
    json_decref(root);
    return code;
}

static void put_row(const work_row* row, FILE* out) {
    fprintf(out, "%s,%d,%g,%lld,%s,%s,%s", row->scene, (int)row->bodies, row->h,
            (long long)row->steps, row->peer, row->version, row->variant);
#define X(name, format)                                                                            \
    fputc(',', out);                                                                               \
    if (isfinite(row->name)) fprintf(out, format, row->name);
    NUMBER_LIST(X)
#undef X
    fputc(',', out);
    csv_put_text(row->outcome, out);
    fputc(',', out);
    csv_put_text(row->settings, out);
    fputc('\n', out);
}

static void fill_csv(const void* report, FILE* out) {
    const work_report* r = report;
    fprintf(out, "# machine: %s\n# version: mabd %s\n# compiler: %s\n# command: %s\n", r->machine,
            mabd_version(), __VERSION__, r->command);
    fprintf(out, "# measured: %s\n", METHOD);
    for (int32_t i = 0; i < r->reference_count; i++) {
        fprintf(out, "# reference %s: %s\n", r->references[i].scene, r->references[i].text);
    }
    fputs("scene,links,h,steps,peer,version,variant", out);
#define X(name, format) fputs("," #name, out);
    NUMBER_LIST(X)
#undef X
    fputs(",result,settings\n", out);
    for (int32_t i = 0; i < r->count; i++) put_row(&r->rows[i], out);
}

int work_report_write(const work_report* r) {
    const int json = write_json(r);
    const int csv =
        r->csv == NULL ? CLI_OK : csv_write("bench work-precision", r->csv, fill_csv, r);
    return json != CLI_OK ? json : csv;
}

// ---- reading back ------------------------------------------------------------------------------

static const char* const NAMES[] = {"scene", "h", "peer", "variant",
#define X(name, format) #name,
                                    NUMBER_LIST(X)
#undef X
};
enum { COLUMN_SCENE, COLUMN_H, COLUMN_PEER, COLUMN_VARIANT, COLUMN_NUMBERS };
#define NAME_COUNT (sizeof(NAMES) / sizeof(NAMES[0]))

typedef struct reader {
    work_report* report;
    int columns; // 0 = names not read yet
    int column[NAME_COUNT];
} reader;

// Null, or what is wrong with the line of names.
static const char* read_names(reader* r, int count, char** fields) {
    for (size_t k = 0; k < NAME_COUNT; k++) {
        r->column[k] = -1;
        for (int i = 0; i < count; i++) {
            if (strcmp(fields[i], NAMES[k]) == 0) r->column[k] = i;
        }
        if (r->column[k] < 0) return "a column of 'mabd bench work-precision --csv' is missing";
    }
    r->columns = count;
    return NULL;
}

// A number, NaN for an empty field. False if it is none.
static bool read_number(const char* field, double* value) {
    char* end = NULL;
    *value = NAN;
    if (field[0] == '\0') return true;
    *value = strtod(field, &end);
    return *end == '\0' && isfinite(*value);
}

// Null, or what is wrong with a row.
static const char* read_row(const reader* r, int count, char** fields) {
    if (count != r->columns) return "not as many fields as names";
    work_row* row = work_report_add(r->report);
    if (row == NULL) return "out of memory";
    snprintf(row->scene, sizeof(row->scene), "%s", fields[r->column[COLUMN_SCENE]]);
    snprintf(row->peer, sizeof(row->peer), "%s", fields[r->column[COLUMN_PEER]]);
    snprintf(row->variant, sizeof(row->variant), "%s", fields[r->column[COLUMN_VARIANT]]);
    bool good = read_number(fields[r->column[COLUMN_H]], &row->h) && row->h > 0;
    size_t k = COLUMN_NUMBERS;
#define X(name, format) good = read_number(fields[r->column[k++]], &row->name) && good;
    NUMBER_LIST(X)
#undef X
    return good ? NULL : "expected a number";
}

static const char* read_line(reader* r, char* line) {
    static const char MACHINE[] = "# machine: ";
    char* fields[COLUMNS_MAX];
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, MACHINE, strlen(MACHINE)) == 0) {
        snprintf(r->report->machine, sizeof(r->report->machine), "%s", line + strlen(MACHINE));
    }
    if (line[0] == '\0' || line[0] == '#') return NULL;
    const int count = csv_split(line, COLUMNS_MAX, fields);
    if (count < 0) return "a quote that is not closed, or too many columns";
    return r->columns == 0 ? read_names(r, count, fields) : read_row(r, count, fields);
}

bool work_report_read(const char* path, work_report* report, char* message, size_t size) {
    reader r = {.report = report};
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        snprintf(message, size, "%s: cannot read: %s", path, strerror(errno));
        return false;
    }
    const char* wrong = NULL;
    char* line = NULL;
    size_t bytes = 0;
    int number_of_line = 0;
    while (wrong == NULL && getline(&line, &bytes, file) >= 0) {
        number_of_line++;
        wrong = read_line(&r, line);
    }
    if (wrong == NULL && report->count == 0) wrong = "no results";
    if (wrong != NULL) snprintf(message, size, "%s:%d: %s", path, number_of_line, wrong);
    free(line);
    fclose(file);
    return wrong == NULL;
}
