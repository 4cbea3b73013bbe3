// SPDX-License-Identifier: Apache-2.0
// `mabd bench dual`: [VI figures 9b-d]. Residuals of the block LU on ladders, nets and crystals,
// its solutions beside LAPACK's, and the graphs that the table says it solved.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(bench_dual, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

typedef struct line {
    char graph[16];
    int nodes, rows;
    long long entries;
    double us, residual, lapack_us, lapack_residual, difference, times;
} line;

// Lines of a table after its head; returns their number.
static int read_table(const char* text, line* lines, int most) {
    int count = 0;
    const char* at = strstr(text, "graph,nodes");
    cr_assert_not_null(at, "%s", text);
    for (at = strchr(at, '\n') + 1; *at != '\0' && count < most; at = strchr(at, '\n') + 1) {
        line* l = &lines[count++];
        const int read = sscanf(at, "%15[^,],%d,%d,%lld,%lf,%lf,%lf,%lf,%lf,%lf", l->graph,
                                &l->nodes, &l->rows, &l->entries, &l->us, &l->residual,
                                &l->lapack_us, &l->lapack_residual, &l->difference, &l->times);
        cr_assert(eq(int, read, 10), "%s", at);
    }
    return count;
}

// Edges of a box of nodes: those of lines along each direction.
static int edges_of(int nx, int ny, int nz) {
    return (nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1);
}

Test(bench_dual, solves_every_graph_to_round_off) {
    command_result r = mabd_call("bench dual --repeat 1 --csv table.csv");
    line lines[32];
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const int count = read_table(sandbox_read("table.csv"), lines, 32);
    cr_assert(eq(int, count, 16));
    for (int i = 0; i < count; i++) {
        const line* l = &lines[i];
        cr_expect(lt(dbl, l->residual, 1e-12), "%s %d", l->graph, l->nodes);
        cr_expect(lt(dbl, l->lapack_residual, 1e-12), "%s %d", l->graph, l->nodes);
        cr_expect(lt(dbl, l->difference, 1e-12), "%s %d", l->graph, l->nodes);
        cr_expect(eq(int, l->rows, 6 * l->nodes));
        cr_expect(l->us > 0 && l->lapack_us > 0);
    }
    cr_expect(eq(str, lines[5].graph, "ladder"));
    cr_expect(eq(int, lines[5].nodes, 128));
    cr_expect(eq(str, lines[10].graph, "net"));
    cr_expect(eq(int, lines[10].nodes, 256));
    cr_expect(eq(str, lines[15].graph, "crystal"));
    cr_expect(eq(int, lines[15].nodes, 216));
}

// The factor holds the matrix, and no more than all of it.
Test(bench_dual, one_graph_alone) {
    command_result r = mabd_call("bench dual --graph crystal --repeat 1 --csv -");
    line lines[8];
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const int count = read_table(r.out, lines, 8);
    cr_assert(eq(int, count, 5));
    for (int i = 0; i < count; i++) {
        const int n = i + 2;
        const long long pattern = 36 * (n * n * n + 2 * edges_of(n, n, n));
        cr_expect(eq(str, lines[i].graph, "crystal"));
        cr_expect(eq(int, lines[i].nodes, n* n* n));
        cr_expect(ge(dbl, (double)lines[i].entries, (double)pattern), "%d", n);
        cr_expect(lt(dbl, (double)lines[i].entries, 36.0 * n * n * n * n * n * n + 1), "%d", n);
    }
}
