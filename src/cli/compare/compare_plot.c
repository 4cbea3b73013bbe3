// SPDX-License-Identifier: Apache-2.0
// Draws a comparison; see compare_plot.h.
//
//   +-----------------------------------------------------------+
//   | scene                                                     |
//   | machine                                                   |
//   |   +--------------+     +--------------+                   |
//   |   |  position    |     |  rotation    |     -o- method    |
//   |   +--------------+     +--------------+      ...          |
//   |     h or t               h or t                           |
//   |   +--------------+     +--------------+                   |
//   |   |  energy      |     |  position    |                   |
//   |   +--------------+     +--------------+                   |
//   |     h or t               cost                             |
//   +-----------------------------------------------------------+
//
// A method is a formulation with an integrator. Values below LEAST are drawn at LEAST, values that
// are 0 not at all. The reference is not drawn.
#include "cli/compare/compare_plot.h"

#include "cli/bench/plot_panel.h"

#include <math.h>
#include <string.h>

#define LEAST       1e-16
#define METHODS_MAX 64

typedef enum panel_kind { POSITION, ROTATION, ENERGY, WORK, PANELS } panel_kind;

// Sizes [pixels].
enum {
    LEFT = 70,
    PANEL_WIDTH = 330,
    COLUMN = 410,
    LEGEND = LEFT + COLUMN + PANEL_WIDTH + 24,
    WIDTH = LEGEND + 200,
    TOP = 86,
    PANEL_HEIGHT = 220,
    ROW = 305,
    BOTTOM = 60,
    ENTRY = 24, // of the legend
};

typedef struct drawing {
    const compare_report* report;
    bool over_time; // one step only
    int method_count;
    const compare_row* methods[METHODS_MAX]; // (method_count) the first row of each
    panel_kind panel;                        // which one is drawn
    plot_panel area;                         // of it
} drawing;

static bool is_drawn(const compare_row* row) {
    return row->complete && !row->reference;
}

static bool same_method(const compare_row* a, const compare_row* b) {
    return a->formulation == b->formulation && a->integrator == b->integrator;
}

// A formulation has the same color in the plots of all scenes; its further integrators have those
// that are left.
static const char* color_of(const drawing* d, int method) {
    int others = 0;
    for (int k = 0; k < method; k++) {
        bool first = true;
        for (int i = 0; i < k; i++) {
            first = first && d->methods[i]->formulation != d->methods[k]->formulation;
        }
        others += !first;
    }
    for (int k = 0; k < method; k++) {
        if (d->methods[k]->formulation == d->methods[method]->formulation) {
            return plot_colours[(MABD_FORMULATION_COUNT + others) % PLOT_COLOURS];
        }
    }
    return plot_colours[d->methods[method]->formulation % PLOT_COLOURS];
}

static void find_methods(drawing* d) {
    double h = NAN;
    d->over_time = true;
    for (int32_t i = 0; i < d->report->count; i++) {
        const compare_row* row = &d->report->rows[i];
        if (row->reference) continue;
        if (isnan(h)) h = row->h;
        if (row->h != h) d->over_time = false;
        bool fresh = row->complete && d->method_count < METHODS_MAX;
        for (int k = 0; k < d->method_count; k++) fresh = fresh && !same_method(d->methods[k], row);
        if (fresh) d->methods[d->method_count++] = row;
    }
}

// True if the panel shows the course of each row, false if each row is a point.
static bool is_course(const drawing* d) {
    return d->over_time && d->panel != WORK;
}

// The drawn value of a row, at an instant or over the run; NaN = none.
static double value_of(const drawing* d, const compare_row* row, int32_t instant) {
    const double whole[PANELS] = {row->position, row->angle, row->energy, row->position};
    const double* series[] = {row->path.positions, row->path.angles, row->path.energies};
    const double value = is_course(d) ? series[d->panel][instant] : whole[d->panel];
    return value > 0 && isfinite(value) ? fmax(value, LEAST) : NAN;
}

// Where a row is along the lower axis, if it is a point.
static double abscissa_of(const drawing* d, const compare_row* row) {
    return d->panel == WORK ? row->cost : row->h;
}

static int32_t instants_of(const drawing* d, const compare_row* row) {
    return !is_drawn(row) ? 0 : is_course(d) ? row->path.count : 1;
}

static void choose_axes(drawing* d) {
    plot_panel area = {.left = LEFT + d->panel % 2 * COLUMN,
                       .top = TOP + (double)(d->panel / 2) * ROW,
                       .width = PANEL_WIDTH,
                       .height = PANEL_HEIGHT,
                       .x = {1000, -1000},
                       .y = {1000, -1000},
                       .linear = is_course(d),
                       .end = d->report->time > 0 ? d->report->time : 1};
    for (int32_t i = 0; i < d->report->count; i++) {
        const compare_row* row = &d->report->rows[i];
        for (int32_t k = 0; k < instants_of(d, row); k++) {
            const double value = value_of(d, row, k);
            if (isnan(value)) continue;
            plot_widen(&area.x, abscissa_of(d, row));
            plot_widen(&area.y, value);
        }
    }
    plot_panel_close(&area);
    d->area = area;
}

// The next drawn row of a method, with its steps falling; null at the end.
static const compare_row* next_row(const drawing* d, const compare_row* row) {
    const compare_row* end = d->report->rows + d->report->count;
    for (const compare_row* next = row + 1; next < end; next++) {
        if (is_drawn(next) && same_method(next, row) && next->h < row->h) return next;
    }
    return NULL;
}

static void put_course(const drawing* d, const compare_row* row, FILE* out) {
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

static void put_points(const drawing* d, const compare_row* method, FILE* out) {
    char move = 'M';
    fputs("<path d=\"", out);
    for (const compare_row* row = method; row != NULL; row = next_row(d, row)) {
        const double value = value_of(d, row, 0);
        if (isnan(value)) continue;
        fprintf(out, "%c%.2f %.2f", move, plot_panel_x(&d->area, abscissa_of(d, row)),
                plot_panel_y(&d->area, value));
        move = 'L';
    }
    fputs("\"/>\n", out);
    for (const compare_row* row = method; row != NULL; row = next_row(d, row)) {
        const double value = value_of(d, row, 0);
        if (isnan(value)) continue;
        fprintf(out,
                "<circle fill=\"#fff\" cx=\"%.2f\" cy=\"%.2f\" r=\"2.8\"><title>%s %s, h = %g ms: "
                "%.3g, %.3g ms a second</title></circle>\n",
                plot_panel_x(&d->area, abscissa_of(d, row)), plot_panel_y(&d->area, value),
                mabd_formulation_name(row->formulation), mabd_integrator_name(row->integrator),
                1e3 * row->h, value, row->cost);
    }
}

static void put_panel(drawing* d, FILE* out) {
    static const char* const TITLES[PANELS] = {
        "position difference [m]", "rotation difference [rad]", "energy change / exchanged",
        "position difference [m] against cost"};
    choose_axes(d);
    plot_panel_put_axes(&d->area, TITLES[d->panel],
                        d->panel == WORK ? "time of a second of motion [ms]"
                        : d->over_time   ? "time [s]"
                                         : "step h [s]",
                        out);
    for (int i = 0; i < d->method_count; i++) {
        fprintf(out, "<g stroke=\"%s\" stroke-width=\"1.8\">\n", color_of(d, i));
        if (is_course(d)) {
            put_course(d, d->methods[i], out);
        } else {
            put_points(d, d->methods[i], out);
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
                color_of(d, i), LEGEND, y - 4);
        snprintf(label, sizeof(label), "%s %s", mabd_formulation_name(row->formulation),
                 mabd_integrator_name(row->integrator));
        plot_put_text(LEGEND + 34, y, " fill=\"#222\"", label, out);
    }
}

static void put_titles(const drawing* d, FILE* out) {
    const compare_report* report = d->report;
    const compare_row* reference = report->reference;
    char title[320], line[512];
    int used = snprintf(title, sizeof(title), "%.200s, %g s", report->scene, report->time);
    if (d->over_time && d->method_count > 0) {
        snprintf(title + used, sizeof(title) - (size_t)used, ", h = %g ms", 1e3 * d->methods[0]->h);
    }
    plot_put_text(LEFT, 28, " fill=\"#222\" font-size=\"17\" font-weight=\"bold\"", title, out);
    used = snprintf(line, sizeof(line), "%s", report->machine);
    if (reference != NULL && used >= 0 && (size_t)used < sizeof(line)) {
        snprintf(line + used, sizeof(line) - (size_t)used, "; reference: %s %s, h = %g ms",
                 mabd_formulation_name(reference->formulation),
                 mabd_integrator_name(reference->integrator), 1e3 * reference->h);
    }
    plot_put_text(LEFT, 48, " fill=\"#555\"", line, out);
}

void compare_plot_write(const compare_report* report, FILE* out) {
    drawing d = {.report = report};
    find_methods(&d);
    const int least = TOP + ROW + PANEL_HEIGHT + BOTTOM, legend = TOP + 20 + ENTRY * d.method_count;
    const int height = legend > least ? legend : least;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"none\">\n<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height, WIDTH, height);
    put_titles(&d, out);
    for (int k = POSITION; k < PANELS; k++) {
        d.panel = (panel_kind)k;
        put_panel(&d, out);
    }
    put_legend(&d, out);
    fputs("</svg>\n", out);
}
