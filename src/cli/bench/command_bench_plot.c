// SPDX-License-Identifier: Apache-2.0
// `mabd bench plot`: draws tables of results as cost against size.
#include "cli/bench/command_bench.h"
#include "cli/bench/plot.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_use.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_SIZE 256

typedef struct plot_options {
    const char *svg, *title;
    int quantity; // bench_quantity
    option_texts files, labels;
} plot_options;

typedef struct plot_data {
    plot_options options;
    bench_plot plot;
    bench_table file;                      // the current one
    bench_table tables[BENCH_PLOT_SERIES]; // one per line of the picture
    char labels[BENCH_PLOT_SERIES][LABEL_SIZE];
} plot_data;

#define X(name, text) text,
static const char* const QUANTITIES[] = {BENCH_QUANTITY_LIST(X) NULL};
#undef X

static const char NOTES[] =
    "iteration: ns per link, step and iteration; step: ns per link and step; ms: ms per step.\n"
    "Each file gives one line of the picture per number of threads, with the name of the file\n"
    "unless --label sets another. The exponents are those of time (of an iteration, of a step)\n"
    "against links, from 1000 links on.\n\n"
    "Example: mabd bench chain --csv chain.csv; mabd bench plot chain.csv --svg chain.svg";

static bool parse_options(int argc, char** argv, plot_options* o, int* code) {
    const option options[] = {
        option_text("svg", "FILE|-", &o->svg, "draw the picture; - = standard output"),
        option_choice("quantity", QUANTITIES, &o->quantity, "quantity to draw (default iteration)"),
        option_list("label", "TEXT", &o->labels, "name of the line of the next file, repeatable"),
        option_text("title", "TEXT", &o->title, "title (default: the quantity)"),
    };
    const option_command command = {.name = "bench plot",
                                    .about = "Draw cost against size from tables of results.",
                                    .rest_name = "FILE.csv",
                                    .rest = &o->files,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say(const char* text, int code) {
    fprintf(stderr, "mabd bench plot: %s\n", text);
    return code;
}

static int check_options(const plot_options* o) {
    path_use uses[BENCH_PLOT_SERIES + 1] = {{PATH_WRITTEN, "--svg", o->svg}};
    int32_t count = 1;
    if (o->files.count < 1 || o->files.count > BENCH_PLOT_SERIES) {
        return say("expected one to eight files", CLI_BAD_INPUT);
    }
    if (o->labels.count > o->files.count) return say("more labels than files", CLI_BAD_INPUT);
    for (int32_t i = 0; i < o->files.count; i++) {
        uses[count++] = (path_use){PATH_READ, "FILE.csv", o->files.items[i]};
    }
    return path_use_check("bench plot", count, uses);
}

// Name of a file without folders and ".csv".
static void name_of(const char* path, char* name) {
    const char* slash = strrchr(path, '/');
    snprintf(name, LABEL_SIZE, "%s", slash != NULL ? slash + 1 : path);
    char* dot = strrchr(name, '.');
    if (dot != NULL && dot != name) *dot = '\0';
}

// Label of a line: the name of its table, and the backend and threads of `row` if they vary.
static void label_line(const bench_table* table, const bench_table_row* row, const char* name,
                       char* label) {
    bool backends = false, threads = false;
    char backend[32] = "", count[32] = "";
    for (int32_t i = 0; i < table->count; i++) {
        backends = backends || strcmp(table->rows[i].backend, row->backend) != 0;
        threads = threads || table->rows[i].threads != row->threads;
    }
    if (backends) snprintf(backend, sizeof(backend), ", %s", row->backend);
    if (threads) snprintf(count, sizeof(count), ", threads: %.0f", row->threads);
    snprintf(label, LABEL_SIZE, "%s%s%s", name, backend, count);
}

// Add a line of the picture for each backend and number of threads in d->file.
static int add_lines(plot_data* d, const char* name) {
    bench_plot* plot = &d->plot;
    bench_table part;
    bench_table_row last;
    bool more = bench_table_next(&d->file, NULL, &part);
    for (; more; more = bench_table_next(&d->file, &last, &part)) {
        const int32_t i = plot->count++;
        if (i == BENCH_PLOT_SERIES) return say("expected one to eight lines", CLI_BAD_INPUT);
        last = part.rows[0];
        label_line(&d->file, &last, name, d->labels[i]);
        d->tables[i] = part;
        plot->series[i] = (bench_plot_series){.label = d->labels[i], .table = &d->tables[i]};
    }
    return CLI_OK;
}

static int read_tables(plot_data* d) {
    const plot_options* o = &d->options;
    char message[512], name[LABEL_SIZE];
    d->plot = (bench_plot){.quantity = (bench_quantity)o->quantity, .title = o->title};
    for (int32_t i = 0; i < o->files.count; i++) {
        const char* path = o->files.items[i];
        if (!bench_table_read(path, &d->file, message, sizeof(message))) {
            return say(message, CLI_BAD_INPUT);
        }
        name_of(path, name);
        const int code = add_lines(d, i < o->labels.count ? o->labels.items[i] : name);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

static void print_series(const bench_plot* plot) {
    int width = 0;
    for (int32_t i = 0; i < plot->count; i++) {
        const int length = (int)strlen(plot->series[i].label);
        if (length > width) width = length;
    }
    printf("%s\n", bench_plot_quantity_text(plot->quantity));
    for (int32_t i = 0; i < plot->count; i++) {
        const bench_table* table = plot->series[i].table;
        const bench_table_row *first = &table->rows[0], *last = &table->rows[table->count - 1];
        const double slope = bench_table_slope(table, plot->quantity);
        printf("%-*s %10.0f links %10.4g   %10.0f links %10.4g", width, plot->series[i].label,
               first->links, bench_table_value(first, plot->quantity), last->links,
               bench_table_value(last, plot->quantity));
        if (slope != 0) printf("   time ~ links^%.3f", slope);
        putchar('\n');
    }
}

static int write_svg(const plot_data* d) {
    char message[512], *text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) bench_plot_write(&d->plot, memory);
    if (memory == NULL || fclose(memory) != 0) {
        free(text);
        return say("out of memory", CLI_FAILED);
    }
    const bool written = output_write(d->options.svg, text, message, sizeof(message));
    free(text);
    return written ? CLI_OK : say(message, CLI_CANNOT_WRITE);
}

int command_bench_plot(int argc, char** argv) {
    int code = CLI_OK;
    plot_data* d = calloc(1, sizeof(*d));
    if (d == NULL) return say("out of memory", CLI_FAILED);
    if (parse_options(argc, argv, &d->options, &code)) {
        code = check_options(&d->options);
        if (code == CLI_OK) code = read_tables(d);
        const char* svg = d->options.svg;
        if (code == CLI_OK && (svg == NULL || strcmp(svg, "-") != 0)) print_series(&d->plot);
        if (code == CLI_OK && svg != NULL) code = write_svg(d);
    }
    free(d);
    return code;
}
