// SPDX-License-Identifier: Apache-2.0
// Draws a comparison; see compare_plot.h.
//
//   +------------------------------------------------------------------------------+
//   | scene                                                                        |
//   | machine                                                                      |
//   |   +--------------+     +--------------+     +--------------+                 |
//   |   |  position    |     |  rotation    |     |  energy      |   -o- method    |
//   |   +--------------+     +--------------+     +--------------+    ...          |
//   |     h or t               h or t               h or t                         |
//   +------------------------------------------------------------------------------+
//
// A method is a formulation with an integrator. The reference has a line in the last plot only.
// Values below LEAST are drawn at LEAST, values that are 0 not at all.
#include "cli/compare/compare_plot.h"

#include "cli/bench/plot_panel.h"

#include <math.h>
#include <string.h>

#define LEAST       1e-16
#define METHODS_MAX 64
#define PANELS      3

// Sizes [pixels].
enum {
    LEFT = 70,
    PANEL_WIDTH = 270,
    COLUMN = 345,
    LEGEND = LEFT + 2 * COLUMN + PANEL_WIDTH + 24,
    WIDTH = LEGEND + 200,
    TOP = 86,
    PANEL_HEIGHT = 220,
    BOTTOM = 60,
    ENTRY = 24, // of the legend
};

typedef struct drawing {
    const compare_report* report;
    bool over_time; // one step only
    int method_count;
    const compare_row* methods[METHODS_MAX]; // (method_count) the first row of each
    int panel;                               // which one is drawn
    plot_panel area;                         // of it
} drawing;

static bool same_method(const compare_row* a, const compare_row* b) {
    return a->formulation == b->formulation && a->integrator == b->integrator;
}

static void find_methods(drawing* d) {
    d->over_time = true;
    for (int32_t i = 0; i < d->report->count; i++) {
        const compare_row* row = &d->report->rows[i];
        bool fresh = row->complete && d->method_count < METHODS_MAX;
        for (int k = 0; k < d->method_count; k++) fresh = fresh && !same_method(d->methods[k], row);
        if (fresh) d->methods[d->method_count++] = row;
        if (row->h != d->report->rows[0].h) d->over_time = false;
    }
}

// The drawn value of a row, at an instant or over the run; NaN = none.
static double value_of(const drawing* d, const compare_row* row, int32_t instant) {
    const double whole[PANELS] = {row->position, row->angle, row->energy};
    const double* series[PANELS] = {row->path.positions, row->path.angles, row->path.energies};
    if (!row->complete || (row->reference && d->panel < PANELS - 1)) return NAN;
    const double value = d->over_time ? series[d->panel][instant] : whole[d->panel];
    return value > 0 && isfinite(value) ? fmax(value, LEAST) : NAN;
}

static int32_t instants_of(const drawing* d, const compare_row* row) {
    return !row->complete ? 0 : d->over_time ? row->path.count : 1;
}

static void choose_axes(drawing* d) {
    plot_panel area = {.left = LEFT + d->panel * COLUMN,
                       .top = TOP,
                       .width = PANEL_WIDTH,
                       .height = PANEL_HEIGHT,
                       .x = {1000, -1000},
                       .y = {1000, -1000},
                       .linear = d->over_time,
                       .end = d->report->time > 0 ? d->report->time : 1};
    for (int32_t i = 0; i < d->report->count; i++) {
        const compare_row* row = &d->report->rows[i];
        for (int32_t k = 0; k < instants_of(d, row); k++) {
            const double value = value_of(d, row, k);
            if (isnan(value)) continue;
            plot_widen(&area.x, row->h);
            plot_widen(&area.y, value);
        }
    }
    plot_panel_close(&area);
    d->area = area;
}

// The complete row of a method with the least step above h; null at the end.
static const compare_row* next_row(const drawing* d, const compare_row* method, double h) {
    const compare_row* next = NULL;
    for (int32_t i = 0; i < d->report->count; i++) {
        const compare_row* row = &d->report->rows[i];
        if (!same_method(row, method) || row->h <= h || !row->complete) continue;
        if (next == NULL || row->h < next->h) next = row;
    }
    return next;
}

static void put_over_time(const drawing* d, const compare_row* row, FILE* out) {
    char move = 'M';
    fputs("<path d=\"", out);
    for (int32_t k = 0; k < row->path.count; k++) {
        const double value = value_of(d, row, k);
        if (isnan(value)) continue;
        fprintf(out, "%c%.2f %.2f", move, plot_panel_x(&d->area, row->path.times[k]),
                plot_panel_y(&d->area, value));
        move = 'L';
    }
    fputs("\"/>\n", out);
}

static void put_over_steps(const drawing* d, const compare_row* method, FILE* out) {
    char move = 'M';
    fputs("<path d=\"", out);
    for (const compare_row* row = next_row(d, method, 0); row != NULL;
         row = next_row(d, method, row->h)) {
        const double value = value_of(d, row, 0);
        if (isnan(value)) continue;
        fprintf(out, "%c%.2f %.2f", move, plot_panel_x(&d->area, row->h),
                plot_panel_y(&d->area, value));
        move = 'L';
    }
    fputs("\"/>\n", out);
    for (const compare_row* row = next_row(d, method, 0); row != NULL;
         row = next_row(d, method, row->h)) {
        const double value = value_of(d, row, 0);
        if (isnan(value)) continue;
        fprintf(out,
                "<circle fill=\"#fff\" cx=\"%.2f\" cy=\"%.2f\" r=\"2.8\"><title>h = %g ms: "
                "%.3g</title></circle>\n",
                plot_panel_x(&d->area, row->h), plot_panel_y(&d->area, value), 1e3 * row->h, value);
    }
}

static void put_panel(drawing* d, FILE* out) {
    static const char* const TITLES[PANELS] = {
        "position difference [m]", "rotation difference [rad]", "energy change / exchanged"};
    choose_axes(d);
    plot_panel_put_axes(&d->area, TITLES[d->panel], d->over_time ? "time [s]" : "step h [s]", out);
    for (int i = 0; i < d->method_count; i++) {
        fprintf(out, "<g stroke=\"%s\" stroke-width=\"1.8\">\n", plot_colours[i % PLOT_COLOURS]);
        if (d->over_time) {
            put_over_time(d, d->methods[i], out);
        } else {
            put_over_steps(d, d->methods[i], out);
        }
        fputs("</g>\n", out);
    }
}

static void put_legend(const drawing* d, FILE* out) {
    for (int i = 0; i < d->method_count; i++) {
        const compare_row* row = d->methods[i];
        const double y = TOP + 10 + ENTRY * i;
        char label[96];
        fprintf(out, "<path stroke=\"%s\" stroke-width=\"1.8\" d=\"M%d %.1fh26\"/>\n",
                plot_colours[i % PLOT_COLOURS], LEGEND, y - 4);
        snprintf(label, sizeof(label), "%s %s%s", mabd_formulation_name(row->formulation),
                 mabd_integrator_name(row->integrator), row->reference ? " (reference)" : "");
        plot_put_text(LEGEND + 34, y, " fill=\"#222\"", label, out);
    }
}

void compare_plot_write(const compare_report* report, FILE* out) {
    drawing d = {.report = report};
    char title[320];
    find_methods(&d);
    const int least = TOP + PANEL_HEIGHT + BOTTOM, legend = TOP + 20 + ENTRY * d.method_count;
    const int height = legend > least ? legend : least;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"none\">\n<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height, WIDTH, height);
    if (d.over_time && report->count > 0) {
        snprintf(title, sizeof(title), "%.200s, h = %g ms", report->scene, 1e3 * report->rows[0].h);
    } else {
        snprintf(title, sizeof(title), "%.200s, %g s", report->scene, report->time);
    }
    plot_put_text(LEFT, 28, " fill=\"#222\" font-size=\"17\" font-weight=\"bold\"", title, out);
    plot_put_text(LEFT, 48, " fill=\"#555\"", report->machine, out);
    for (d.panel = 0; d.panel < PANELS; d.panel++) put_panel(&d, out);
    put_legend(&d, out);
    fputs("</svg>\n", out);
}
