// SPDX-License-Identifier: Apache-2.0
// Reads a table of results; see bench_table.h.
#include "cli/bench/bench_table.h"

#include "cli/bench/csv.h"
#include "cli/bench/fit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 256
#define LEAST       1e-9 // smallest valid number
#define MOST        1e12

// Columns that are read.
enum { LINKS, MS_PER_STEP, ITERATIONS, THREADS, BACKEND, COLUMN_COUNT };
static const char* const NAMES[COLUMN_COUNT] = {"links", "ms_per_step", "iterations_mean",
                                                "threads", "backend"};

typedef struct reader {
    const char* path;
    int line;
    int columns;              // 0 = names not read yet
    int column[COLUMN_COUNT]; // column of each of NAMES, -1 = missing
    char* message;
    size_t size;
} reader;

static bool fail(const reader* r, const char* what, const char* name) {
    snprintf(r->message, r->size, "%s:%d: %s%s", r->path, r->line, what, name);
    return false;
}

// ---- lines -------------------------------------------------------------------------------------

static bool begins(const char* text, const char* start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool read_comment(const reader* r, const char* text, bench_table* table) {
    if (begins(text, "# machine: ")) {
        snprintf(table->machine, sizeof(table->machine), "%s", text + strlen("# machine: "));
    } else if (begins(text, "# triad: ")) {
        const char* bound = strstr(text, "bound: ");
        if (bound != NULL) table->bound = strtod(bound + strlen("bound: "), NULL);
        if (bound == NULL || !isfinite(table->bound) || table->bound < 0) {
            return fail(r, "expected '# triad: X bytes/s, bound: Y ns per link and step'", "");
        }
    }
    return true;
}

static bool read_names(reader* r, int count, char** fields) {
    for (int k = 0; k < COLUMN_COUNT; k++) {
        r->column[k] = -1;
        for (int i = 0; i < count; i++) {
            if (strcmp(fields[i], NAMES[k]) == 0) r->column[k] = i;
        }
        if (r->column[k] < 0 && k < THREADS) return fail(r, "no column ", NAMES[k]);
    }
    r->columns = count;
    return true;
}

static bool read_row(const reader* r, int count, char** fields, bench_table* table) {
    double values[COLUMN_COUNT] = {[THREADS] = 1};
    char text[96];
    if (count != r->columns) {
        snprintf(text, sizeof(text), "%d fields, the line of names has %d", count, r->columns);
        return fail(r, text, "");
    }
    if (table->count == BENCH_TABLE_ROWS) return fail(r, "too many rows", "");
    for (int k = 0; k < BACKEND; k++) {
        if (r->column[k] < 0) continue;
        const char* field = fields[r->column[k]];
        char* end = NULL;
        values[k] = strtod(field, &end);
        if (end == field || *end != '\0' || isnan(values[k]) || values[k] < LEAST ||
            values[k] > MOST) {
            snprintf(text, sizeof(text), "%s: expected a number from 1e-9 to 1e12, got '%.32s'",
                     NAMES[k], field);
            return fail(r, text, "");
        }
    }
    bench_table_row* row = &table->rows[table->count++];
    *row = (bench_table_row){.links = values[LINKS],
                             .ms_per_step = values[MS_PER_STEP],
                             .iterations = values[ITERATIONS],
                             .threads = values[THREADS]};
    snprintf(row->backend, sizeof(row->backend), "%.15s",
             r->column[BACKEND] < 0 ? "cpu" : fields[r->column[BACKEND]]);
    return true;
}

static bool read_line(reader* r, char* text, bench_table* table) {
    char* fields[COLUMNS_MAX];
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0') return true;
    if (text[0] == '#') return read_comment(r, text, table);
    const int count = csv_split(text, COLUMNS_MAX, fields);
    if (count < 0) return fail(r, "a quote that is not closed, or too many columns", "");
    return r->columns == 0 ? read_names(r, count, fields) : read_row(r, count, fields, table);
}

// ---- the file ----------------------------------------------------------------------------------

static int by_links(const void* a, const void* b) {
    const bench_table_row *x = a, *y = b;
    if (x->links != y->links) return x->links < y->links ? -1 : 1;
    return (x->ms_per_step > y->ms_per_step) - (x->ms_per_step < y->ms_per_step);
}

static bool read_lines(reader* r, FILE* file, bench_table* table) {
    char* line = NULL;
    size_t size = 0;
    bool good = true;
    errno = 0;
    while (good && getline(&line, &size, file) >= 0) {
        r->line++;
        good = read_line(r, line, table);
    }
    free(line);
    if (good && (ferror(file) || errno == ENOMEM)) {
        snprintf(r->message, r->size, "%s: cannot read: %s", r->path, strerror(errno));
        return false;
    }
    if (good && table->count == 0) return fail(r, "no results", "");
    return good;
}

bool bench_table_read(const char* path, bench_table* table, char* message, size_t size) {
    reader r = {.path = path, .message = message, .size = size};
    memset(table, 0, sizeof(*table));
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        snprintf(message, size, "%s: cannot read: %s", path, strerror(errno));
        return false;
    }
    const bool good = read_lines(&r, file, table);
    fclose(file);
    qsort(table->rows, (size_t)table->count, sizeof(table->rows[0]), by_links);
    return good;
}

// ---- what the numbers say ----------------------------------------------------------------------

// Compare rows by backend, then by threads.
static int by_line(const bench_table_row* a, const bench_table_row* b) {
    const int order = strcmp(a->backend, b->backend);
    return order != 0 ? order : (a->threads > b->threads) - (a->threads < b->threads);
}

bool bench_table_next(const bench_table* table, const bench_table_row* last, bench_table* part) {
    const bench_table_row* next = NULL;
    for (int32_t i = 0; i < table->count; i++) {
        const bench_table_row* here = &table->rows[i];
        if (last != NULL && by_line(here, last) <= 0) continue;
        if (next == NULL || by_line(here, next) < 0) next = here;
    }
    *part = *table;
    part->count = 0;
    for (int32_t i = 0; i < table->count && next != NULL; i++) {
        if (by_line(&table->rows[i], next) == 0) part->rows[part->count++] = table->rows[i];
    }
    return part->count > 0;
}

double bench_table_value(const bench_table_row* row, bench_quantity quantity) {
    switch (quantity) {
    case BENCH_QUANTITY_ITERATION:
        return 1e6 * row->ms_per_step / (row->links * row->iterations);
    case BENCH_QUANTITY_STEP:
        return 1e6 * row->ms_per_step / row->links;
    default:
        return row->ms_per_step;
    }
}

double bench_table_slope(const bench_table* table, bench_quantity quantity) {
    bench_fit fit = {0};
    for (int32_t i = 0; i < table->count; i++) {
        const bench_table_row* row = &table->rows[i];
        const double times = quantity == BENCH_QUANTITY_ITERATION ? row->iterations : 1;
        if (row->links < BENCH_SLOPE_FROM) continue;
        bench_fit_add(&fit, row->links, row->ms_per_step / times);
    }
    return bench_fit_slope(&fit);
}
