// SPDX-License-Identifier: Apache-2.0
// Draws tables of results; see plot.h.
//
//   x = LEFT + (log10(links) - x0) / (x1 - x0) * (RIGHT - LEFT)       x0, x1, y0, y1: whole decades
//   y = BOTTOM - (log10(value) - y0) / (y1 - y0) * (BOTTOM - TOP)     around points and bound
//
//   +--------------------------------------------------+
//   | title                                            |
//   | machine                                          |
//   |      +---------------------------+               |
//   |  10k |                           |  -o- label    |
//   |      |     lines, bound          |      links^p  |
//   |   10 |                           |  ...          |
//   |      +---------------------------+               |
//   |        10     1,000    100,000     links         |
//   +--------------------------------------------------+
#include "cli/bench/plot.h"

#include "cli/bench/plot_axes.h"

#include <math.h>
#include <string.h>

// Ends of the axes and start of the legend [pixels].
enum { LEFT = 84, RIGHT = 590, TOP = 66, BOTTOM = 378, LEGEND = 610 };

#define BOUND_HEIGHT 40 // pixels in the legend

typedef struct frame {
    plot_decades x, y;
} frame;

const char* bench_plot_quantity_text(bench_quantity quantity) {
    switch (quantity) {
    case BENCH_QUANTITY_ITERATION:
        return "ns per link, step and iteration";
    case BENCH_QUANTITY_STEP:
        return "ns per link and step";
    default:
        return "ms per step";
    }
}

// ---- axes --------------------------------------------------------------------------------------

// The bound in the quantity that is drawn, at a number of links. It counts a step as one iteration.
static double bound_at(const bench_table* table, bench_quantity quantity, double links) {
    return quantity == BENCH_QUANTITY_MS ? 1e-6 * table->bound * links : table->bound;
}

static frame make_frame(const bench_plot* plot) {
    frame f = {{1000, -1000}, {1000, -1000}};
    for (int32_t i = 0; i < plot->count; i++) {
        const bench_table* table = plot->series[i].table;
        for (int32_t k = 0; k < table->count; k++) {
            const bench_table_row* row = &table->rows[k];
            plot_widen(&f.x, row->links);
            plot_widen(&f.y, bench_table_value(row, plot->quantity));
            if (table->bound > 0) plot_widen(&f.y, bound_at(table, plot->quantity, row->links));
        }
    }
    f.x.to += f.x.to == f.x.from;
    f.y.to += f.y.to == f.y.from;
    return f;
}

static double x_of(const frame* f, double links) {
    return LEFT + plot_place(&f->x, links) * (RIGHT - LEFT);
}

static double y_of(const frame* f, double value) {
    return BOTTOM - plot_place(&f->y, value) * (BOTTOM - TOP);
}

// ---- parts -------------------------------------------------------------------------------------

static void put_grid(const frame* f, FILE* out) {
    fputs("<path stroke=\"#eee\" d=\"", out); // 2 to 9 of each decade
    for (int p = f->x.from; p < f->x.to; p++) {
        for (int k = 2; k < 10; k++)
            fprintf(out, "M%.1f %dV%d", x_of(f, k * pow(10, p)), BOTTOM, TOP);
    }
    for (int p = f->y.from; p < f->y.to; p++) {
        for (int k = 2; k < 10; k++)
            fprintf(out, "M%d %.1fH%d", LEFT, y_of(f, k * pow(10, p)), RIGHT);
    }
    fputs("\"/>\n<path stroke=\"#bbb\" d=\"", out);
    for (int p = f->x.from; p <= f->x.to; p++) {
        fprintf(out, "M%.1f %dV%d", x_of(f, pow(10, p)), BOTTOM, TOP);
    }
    for (int p = f->y.from; p <= f->y.to; p++) {
        fprintf(out, "M%d %.1fH%d", LEFT, y_of(f, pow(10, p)), RIGHT);
    }
    fputs("\"/>\n", out);
}

static void put_ticks(const frame* f, FILE* out) {
    fputs("<g text-anchor=\"middle\">\n", out);
    for (int p = f->x.from; p <= f->x.to; p++) {
        fprintf(out, "<text class=\"x\" x=\"%.1f\" y=\"%d\">", x_of(f, pow(10, p)), BOTTOM + 19);
        plot_put_power(p, out);
        fputs("</text>\n", out);
    }
    plot_put_text((LEFT + RIGHT) / 2.0, BOTTOM + 44, "", "links", out);
    fputs("</g>\n<g text-anchor=\"end\">\n", out);
    for (int p = f->y.from; p <= f->y.to; p++) {
        fprintf(out, "<text class=\"y\" x=\"%d\" y=\"%.1f\" dy=\"4.5\">", LEFT - 8,
                y_of(f, pow(10, p)));
        plot_put_power(p, out);
        fputs("</text>\n", out);
    }
    fputs("</g>\n", out);
}

static bool same_machine(const bench_plot* plot) {
    for (int32_t i = 1; i < plot->count; i++) {
        if (strcmp(plot->series[i].table->machine, plot->series[0].table->machine) != 0)
            return false;
    }
    return true;
}

static void put_title(const bench_plot* plot, FILE* out) {
    const char* machine = same_machine(plot) ? plot->series[0].table->machine : "several machines";
    const char* title =
        plot->title != NULL ? plot->title : bench_plot_quantity_text(plot->quantity);
    plot_put_text(LEFT, 30, " font-size=\"17\" font-weight=\"bold\"", title, out);
    plot_put_text(LEFT, 50, " fill=\"#555\"", machine[0] != '\0' ? machine : "unknown machine",
                  out);
}

// The least bound of a machine, at the first of its series; 0 elsewhere.
static double machine_bound(const bench_plot* plot, int32_t series) {
    const char* machine = plot->series[series].table->machine;
    double least = 0;
    for (int32_t i = 0; i < plot->count; i++) {
        const bench_table* table = plot->series[i].table;
        if (strcmp(table->machine, machine) != 0) continue;
        if (i < series) return 0;
        if (table->bound > 0 && (least == 0 || table->bound < least)) least = table->bound;
    }
    return least;
}

static void put_bounds(const bench_plot* plot, const frame* f, FILE* out) {
    for (int32_t i = 0; i < plot->count; i++) {
        const bench_table table = {.bound = machine_bound(plot, i)};
        if (table.bound <= 0) continue;
        const double from = bound_at(&table, plot->quantity, pow(10, f->x.from));
        const double to = bound_at(&table, plot->quantity, pow(10, f->x.to));
        fprintf(out,
                "<path class=\"bound\" stroke=\"#777\" stroke-width=\"1.5\" "
                "stroke-dasharray=\"6 4\" clip-path=\"url(#area)\" d=\"M%d %.2fL%d %.2f\"/>\n",
                LEFT, y_of(f, from), RIGHT, y_of(f, to));
    }
}

static void put_series(const bench_plot* plot, int32_t i, const frame* f, FILE* out) {
    const bench_table* table = plot->series[i].table;
    fprintf(out, "<g stroke=\"%s\" stroke-width=\"2\">\n<path d=\"", plot_colours[i]);
    for (int32_t k = 0; k < table->count; k++) {
        const bench_table_row* row = &table->rows[k];
        fprintf(out, "%c%.2f %.2f", k == 0 ? 'M' : 'L', x_of(f, row->links),
                y_of(f, bench_table_value(row, plot->quantity)));
    }
    fputs("\"/>\n", out);
    for (int32_t k = 0; k < table->count; k++) {
        const bench_table_row* row = &table->rows[k];
        const double value = bench_table_value(row, plot->quantity);
        fprintf(out,
                "<circle fill=\"#fff\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"><title>%.0f links: %.4g "
                "%s</title></circle>\n",
                x_of(f, row->links), y_of(f, value), row->links, value,
                plot->quantity == BENCH_QUANTITY_MS ? "ms" : "ns");
    }
    fputs("</g>\n", out);
}

// ---- the legend --------------------------------------------------------------------------------

static void put_slope(const bench_plot* plot, const bench_table* table, double y, FILE* out) {
    const double slope = bench_table_slope(table, plot->quantity);
    if (slope == 0) return;
    fprintf(out,
            "<text class=\"slope\" x=\"%d\" y=\"%.1f\" fill=\"#555\">time ~ links<tspan dy=\"-5\" "
            "font-size=\"10\">%.2f</tspan></text>\n",
            LEGEND + 34, y, slope);
}

// Height of an entry of the legend [pixels].
static int entry_height(const bench_plot* plot) {
    return same_machine(plot) ? 40 : 50;
}

static void put_legend(const bench_plot* plot, FILE* out) {
    const bool several = !same_machine(plot);
    double y = TOP + 10;
    for (int32_t i = 0; i < plot->count; i++) {
        const bench_plot_series* s = &plot->series[i];
        fprintf(out,
                "<path stroke=\"%s\" stroke-width=\"2\" d=\"M%d %.1fh24\"/>"
                "<circle stroke=\"%s\" stroke-width=\"2\" fill=\"#fff\" cx=\"%d\" cy=\"%.1f\" "
                "r=\"3.5\"/>\n",
                plot_colours[i], LEGEND, y - 4, plot_colours[i], LEGEND + 12, y - 4);
        plot_put_text(LEGEND + 34, y, " class=\"label\"", s->label, out);
        put_slope(plot, s->table, y + 16, out);
        if (several) {
            plot_put_text(LEGEND + 34, y + 31, " font-size=\"9\" fill=\"#555\"", s->table->machine,
                          out);
        }
        y += entry_height(plot);
    }
    for (int32_t i = 0; i < plot->count; i++) {
        const double bound = machine_bound(plot, i);
        char text[64];
        if (bound <= 0) continue;
        fprintf(out,
                "<path stroke=\"#777\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\" "
                "d=\"M%d %.1fh24\"/>\n",
                LEGEND, y - 4);
        snprintf(text, sizeof(text), "memory bound: %.0f ns", bound);
        plot_put_text(LEGEND + 34, y, "", text, out);
        plot_put_text(LEGEND + 34, y + 16, " fill=\"#555\"", "per link and step", out);
        y += BOUND_HEIGHT;
    }
}

// The picture grows with its legend: names of machines are long.
static int picture_width(const bench_plot* plot) {
    return same_machine(plot) ? 800 : 900;
}

static int picture_height(const bench_plot* plot) {
    int least = BOTTOM + 62, height = TOP + plot->count * entry_height(plot);
    for (int32_t i = 0; i < plot->count; i++) {
        if (machine_bound(plot, i) > 0) height += BOUND_HEIGHT;
    }
    return height > least ? height : least;
}

void bench_plot_write(const bench_plot* plot, FILE* out) {
    const frame f = make_frame(plot);
    const int width = picture_width(plot), height = picture_height(plot);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
            "fill=\"none\">\n",
            width, height, width, height);
    fprintf(out,
            "<clipPath id=\"area\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
            "</clipPath>\n",
            LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
    fprintf(out, "<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\"/>\n", width, height);
    put_grid(&f, out);
    put_bounds(plot, &f, out);
    for (int32_t i = 0; i < plot->count; i++) put_series(plot, i, &f, out);
    fputs("<g fill=\"#222\">\n", out);
    put_title(plot, out);
    put_ticks(&f, out);
    put_legend(plot, out);
    fputs("</g>\n</svg>\n", out);
}
