// SPDX-License-Identifier: Apache-2.0
// `mabd bench dual`: times the block LU beside LAPACK and prints a table.
#include "cli/bench/bench_dual.h"
#include "cli/bench/command_bench.h"
#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define CASES_MAX 32

#define X(name, text) text,
static const char* const GRAPHS[] = {BENCH_GRAPH_LIST(X) NULL};
#undef X

typedef struct dual_report {
    char machine[256];
    const char* command;
    int32_t count;
    int graph[CASES_MAX];
    bench_dual_result results[CASES_MAX];
} dual_report;

static void put_csv(const void* report, FILE* out) {
    const dual_report* r = report;
    fprintf(out, "# machine: %s\n# version: mabd %s\n# compiler: %s\n# command: %s\n", r->machine,
            mabd_version(), __VERSION__, r->command);
    fprintf(out,
            "graph,nodes,rows,entries,us,residual,lapack_us,lapack_residual,difference,times\n");
    for (int32_t i = 0; i < r->count; i++) {
        const bench_dual_result* k = &r->results[i];
        fprintf(out, "%s,%d,%d,%lld,%.5g,%.2e,%.5g,%.2e,%.2e,%.4g\n", GRAPHS[r->graph[i]],
                (int)k->nodes, (int)k->rows, (long long)k->entries, 1e6 * k->seconds, k->residual,
                1e6 * k->dense_seconds, k->dense_residual, k->difference,
                k->dense_seconds / k->seconds);
    }
}

static void put_row(FILE* out, int graph, const bench_dual_result* k) {
    fprintf(out, "%-8s %6d %6d %9lld %10.1f %9.1e %11.1f %9.1e %8.1f\n", GRAPHS[graph],
            (int)k->nodes, (int)k->rows, (long long)k->entries, 1e6 * k->seconds, k->residual,
            1e6 * k->dense_seconds, k->dense_residual, k->dense_seconds / k->seconds);
    fflush(out);
}

static int measure(dual_report* r, int wanted, int32_t repeats, FILE* out) {
    fprintf(out, "machine  %s\n\n%-8s %6s %6s %9s %10s %9s %11s %9s %8s\n", r->machine, "graph",
            "nodes", "rows", "entries", "us", "residual", "LAPACK us", "residual", "times");
    for (int graph = 0; graph < BENCH_GRAPH_COUNT; graph++) {
        if (wanted >= 0 && graph != wanted) continue;
        for (int32_t i = 0; bench_dual_side((bench_graph)graph, i) > 0; i++) {
            bench_dual_result* result = &r->results[r->count];
            const mabd_status status = bench_dual_run(
                (bench_graph)graph, bench_dual_side((bench_graph)graph, i), repeats, result);
            if (status != MABD_OK) {
                fprintf(stderr, "mabd bench dual: %s: %s\n", GRAPHS[graph],
                        mabd_status_text(status));
                return CLI_FAILED;
            }
            r->graph[r->count++] = graph;
            put_row(out, graph, result);
        }
    }
    return CLI_OK;
}

static bool parse(int argc, char** argv, int* graph, int64_t* repeats, const char** csv,
                  int* code) {
    const option options[] = {
        option_choice("graph", GRAPHS, graph, "one graph only (default all)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 100000, repeats, NULL,
                       "repeats, the fastest of which counts (default 20)"),
        option_text("csv", "FILE|-", csv, "write the results as a table"),
    };
    const option_command command = {
        .name = "bench dual",
        .about = "Measure the direct solver of systems that are not symmetric.",
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
        .notes = "Nodes of 6 rows in a ladder (2 x n), a net (n x n) and a crystal (n x n x n); "
                 "numbers are\n"
                 "random, diagonally dominant and not symmetric. A time is one factorisation and "
                 "one solve\n"
                 "on one thread; LAPACK's dense LU (dgesv) solves the same system in turns with "
                 "it."};
    return options_start(&command, argc, argv, code);
}

static int run(dual_report* r, int argc, char** argv) {
    int code = CLI_OK, graph = -1;
    int64_t repeats = 20;
    const char* csv = NULL;
    if (!parse(argc, argv, &graph, &repeats, &csv, &code)) return code;
    system_machine(r->machine, sizeof(r->machine));
    code = measure(r, graph, (int32_t)repeats, output_is_stdout(csv) ? stderr : stdout);
    if (code != CLI_OK || csv == NULL) return code;
    return csv_write("bench dual", csv, put_csv, r);
}

int command_bench_dual(int argc, char** argv) {
    dual_report* r = calloc(1, sizeof(*r));
    char* command = load_join_command("bench dual", argc, argv);
    int code = CLI_FAILED;
    if (r == NULL || command == NULL) {
        fprintf(stderr, "mabd bench dual: out of memory\n");
    } else {
        r->command = command;
        code = run(r, argc, argv);
    }
    free(command);
    free(r);
    return code;
}
