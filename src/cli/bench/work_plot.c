// SPDX-License-Identifier: Apache-2.0
// Draws the rows of `mabd bench work-precision`; see work_plot.h.
//
//   +-----------------------------------------------------------+
//   | title                                                     |
//   | machine                                                   |
//   | scene    +-----------------+   +-----------------+        |
//   |          |    position     |   |     energy      |  -o- method
//   |          +-----------------+   +-----------------+   ...  |
//   |            cost                  cost                     |
//   | scene    ...                                              |
//   +-----------------------------------------------------------+
//
// mabd has a solid line for each of its methods, over all steps. Another engine has one dashed
// line through the rows of all its methods that no other of its rows beats in cost and error.
// Errors below LEAST are drawn at LEAST, rows with errors above MOST not at all.
#include "cli/bench/work_plot.h"

#include "cli/bench/plot_axes.h"
#include "cli/bench/plot_panel.h"

#include <math.h>
#include <string.h>

#define LEAST      1e-8
#define MOST       10.0
#define SERIES_MAX 16
#define SCENES_MAX 16

// Sizes [pixels].
enum {
    LEFT = 84,
    PLOT_WIDTH = 290,
    COLUMN = 365, // from one plot to the next
    LEGEND = LEFT + COLUMN + PLOT_WIDTH + 24,
    WIDTH = LEGEND + 170,
    TOP = 86,
    PLOT_HEIGHT = 190,
    ROW = 262,
};

typedef struct drawing {
    const work_report* report;
    int scene_count, series_count;
    const work_row* scenes[SCENES_MAX]; // (scene_count) the first row of each
    const work_row* series[SERIES_MAX]; // (series_count) the first row of each
    plot_panel panel;                   // the current plot
} drawing;

static bool is_own(const work_row* row) {
    return strcmp(row->peer, "mabd") == 0;
}

static bool same_series(const work_row* a, const work_row* b) {
    return strcmp(a->peer, b->peer) == 0 && (!is_own(a) || strcmp(a->variant, b->variant) == 0);
}

static void find_scenes_and_series(drawing* d) {
    for (int32_t i = 0; i < d->report->count; i++) {
        const work_row* row = &d->report->rows[i];
        bool scene = d->scene_count < SCENES_MAX, series = d->series_count < SERIES_MAX;
        for (int k = 0; k < d->scene_count; k++) {
            if (strcmp(d->scenes[k]->scene, row->scene) == 0) scene = false;
        }
        for (int k = 0; k < d->series_count; k++) {
            if (same_series(d->series[k], row)) series = false;
        }
        if (scene) d->scenes[d->scene_count++] = row;
        if (series) d->series[d->series_count++] = row;
    }
}

// Error that is drawn: of position in the first column, of energy in the second; NaN = none.
static double error_of(const work_row* row, int column) {
    const double error = column == 0 ? row->position_error : row->energy_error;
    if (!(row->cost > 0) || !(error <= MOST)) return NAN;
    return fmax(error, LEAST);
}

static bool is_drawn(const drawing* d, const work_row* row, int scene, int column) {
    return strcmp(row->scene, d->scenes[scene]->scene) == 0 && !isnan(error_of(row, column));
}

static void choose_axes(drawing* d, int scene, int column) {
    plot_decades x = {1000, -1000}, y = {1000, -1000};
    for (int32_t i = 0; i < d->report->count; i++) {
        const work_row* row = &d->report->rows[i];
        if (!is_drawn(d, row, scene, column)) continue;
        plot_widen(&x, row->cost);
        plot_widen(&y, error_of(row, column));
    }
    d->panel = (plot_panel){.left = LEFT + column * COLUMN,
                            .top = TOP + scene * ROW,
                            .width = PLOT_WIDTH,
                            .height = PLOT_HEIGHT,
                            .x = x,
                            .y = y};
    plot_panel_close(&d->panel);
}

static void put_axes(const drawing* d, int scene, int column, FILE* out) {
    static const char* const TITLES[] = {"position error", "energy error"};
    char title[96];
    snprintf(title, sizeof(title), "%s: %s", d->scenes[scene]->scene, TITLES[column]);
    plot_panel_put_axes(&d->panel, title, "processor time per simulated second [s]", out);
}

// True if another row of the same engine and scene costs no more and has no larger error, one of
// the two less.
static bool is_beaten(const drawing* d, const work_row* row, int scene, int column) {
    const double error = error_of(row, column);
    for (int32_t i = 0; i < d->report->count; i++) {
        const work_row* other = &d->report->rows[i];
        if (!same_series(other, row) || !is_drawn(d, other, scene, column)) continue;
        const double that = error_of(other, column);
        if (other->cost <= row->cost && that <= error && (other->cost < row->cost || that < error))
            return true;
    }
    return false;
}

static bool is_on_line(const drawing* d, const work_row* row, int series, int scene, int column) {
    return same_series(row, d->series[series]) && is_drawn(d, row, scene, column) &&
           (is_own(row) || !is_beaten(d, row, scene, column));
}

// The row of a line with the least cost above `cost`; null at its end.
static const work_row* next_row(const drawing* d, int series, int scene, int column, double cost) {
    const work_row* next = NULL;
    for (int32_t i = 0; i < d->report->count; i++) {
        const work_row* row = &d->report->rows[i];
        if (row->cost <= cost || !is_on_line(d, row, series, scene, column)) continue;
        if (next == NULL || row->cost < next->cost) next = row;
    }
    return next;
}

static const char* dashes_of(const work_row* row) {
    return is_own(row) ? "" : " stroke-dasharray=\"5 3\"";
}

static void put_line(const drawing* d, int series, int scene, int column, FILE* out) {
    const work_row* row = next_row(d, series, scene, column, 0);
    fprintf(out, "<g stroke=\"%s\" stroke-width=\"1.8\">\n", plot_colours[series % PLOT_COLOURS]);
    if (row != NULL) fprintf(out, "<path%s d=\"", dashes_of(row));
    for (char move = 'M'; row != NULL; move = 'L') {
        fprintf(out, "%c%.2f %.2f", move, plot_panel_x(&d->panel, row->cost),
                plot_panel_y(&d->panel, error_of(row, column)));
        row = next_row(d, series, scene, column, row->cost);
        if (row == NULL) fputs("\"/>\n", out);
    }
    row = next_row(d, series, scene, column, 0);
    for (; row != NULL; row = next_row(d, series, scene, column, row->cost)) {
        fprintf(out,
                "<circle fill=\"#fff\" cx=\"%.2f\" cy=\"%.2f\" r=\"2.8\"><title>%s %s, h = %g ms: "
                "error %.2g, cost %.3g</title></circle>\n",
                plot_panel_x(&d->panel, row->cost), plot_panel_y(&d->panel, error_of(row, column)),
                row->peer, row->variant, 1e3 * row->h,
                column == 0 ? row->position_error : row->energy_error, row->cost);
    }
    fputs("</g>\n", out);
}

static void put_legend(const drawing* d, FILE* out) {
    for (int i = 0; i < d->series_count; i++) {
        const work_row* row = d->series[i];
        const double y = TOP + 10 + 24 * i;
        char label[64];
        fprintf(out, "<path stroke=\"%s\" stroke-width=\"1.8\"%s d=\"M%d %.1fh26\"/>\n",
                plot_colours[i % PLOT_COLOURS], dashes_of(row), LEGEND, y - 4);
        snprintf(label, sizeof(label), "%s%s%s", row->peer, is_own(row) ? " " : ", best of all",
                 is_own(row) ? row->variant : "");
        plot_put_text(LEGEND + 34, y, " fill=\"#222\"", label, out);
    }
}

void work_plot_write(const work_report* report, FILE* out) {
    drawing d = {.report = report};
    find_scenes_and_series(&d);
    const int height = TOP + d.scene_count * ROW;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"none\">\n<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height, WIDTH, height);
    plot_put_text(LEFT, 28, " fill=\"#222\" font-size=\"17\" font-weight=\"bold\"",
                  "Error against cost, steps from 20 ms to 0.25 ms", out);
    plot_put_text(LEFT, 48, " fill=\"#555\"", report->machine, out);
    for (int scene = 0; scene < d.scene_count; scene++) {
        for (int column = 0; column < 2; column++) {
            choose_axes(&d, scene, column);
            put_axes(&d, scene, column, out);
            for (int i = 0; i < d.series_count; i++) put_line(&d, i, scene, column, out);
        }
    }
    put_legend(&d, out);
    fputs("</svg>\n", out);
}
