// SPDX-License-Identifier: Apache-2.0
// One of several plots in a picture; see plot_panel.h.
#include "cli/bench/plot_panel.h"

#include <math.h>

#define MOST_TICKS 6 // of a linear axis

void plot_panel_close(plot_panel* p) {
    if (p->x.to < p->x.from) p->x = (plot_decades){0, 1};
    if (p->y.to < p->y.from) p->y = (plot_decades){0, 1};
    p->x.to += p->x.to == p->x.from;
    p->y.to += p->y.to == p->y.from;
}

double plot_panel_x(const plot_panel* p, double value) {
    return p->left + (p->linear ? value / p->end : plot_place(&p->x, value)) * p->width;
}

double plot_panel_y(const plot_panel* p, double value) {
    return p->top + p->height - plot_place(&p->y, value) * p->height;
}

// Distance of two ticks of the linear axis: 1, 2 or 5 times a power of ten.
static double tick_step(const plot_panel* p) {
    const double least = p->end / MOST_TICKS, power = pow(10, floor(log10(least)));
    const double digit = least / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static int tick_count(const plot_panel* p) {
    return (int)floor(p->end / tick_step(p) * (1 + 1e-9)) + 1;
}

static void put_grid(const plot_panel* p, FILE* out) {
    fputs("<path stroke=\"#ccc\" d=\"", out);
    for (int k = p->x.from; k <= p->x.to && !p->linear; k++) {
        fprintf(out, "M%.1f %.1fv%.0f", plot_panel_x(p, pow(10, k)), p->top, p->height);
    }
    for (int k = 0; p->linear && k < tick_count(p); k++) {
        fprintf(out, "M%.1f %.1fv%.0f", plot_panel_x(p, k * tick_step(p)), p->top, p->height);
    }
    for (int k = p->y.from; k <= p->y.to; k++) {
        fprintf(out, "M%.1f %.1fh%.0f", p->left, plot_panel_y(p, pow(10, k)), p->width);
    }
    fputs("\"/>\n", out);
}

static void put_tick(double x, double y, const char* anchor, int power, FILE* out) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">1e%d</text>\n", x, y, anchor,
            power);
}

static void put_ticks(const plot_panel* p, FILE* out) {
    const double below = p->top + p->height + 19;
    for (int k = p->x.from; k <= p->x.to && !p->linear; k++) {
        put_tick(plot_panel_x(p, pow(10, k)), below, "middle", k, out);
    }
    for (int k = 0; p->linear && k < tick_count(p); k++) {
        const double value = k * tick_step(p);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                plot_panel_x(p, value), below, value);
    }
    const int span = p->y.to - p->y.from, every = span > 6 ? 2 : 1;
    for (int k = p->y.from; k <= p->y.to; k += every) {
        put_tick(p->left - 8, plot_panel_y(p, pow(10, k)) + 4.5, "end", k, out);
    }
}

void plot_panel_put_axes(const plot_panel* p, const char* title, const char* below, FILE* out) {
    put_grid(p, out);
    fputs("<g fill=\"#222\">\n", out);
    put_ticks(p, out);
    plot_put_text(p->left, p->top - 8, " font-weight=\"bold\"", title, out);
    plot_put_text(p->left + p->width / 2, p->top + p->height + 38, " text-anchor=\"middle\"", below,
                  out);
    fputs("</g>\n", out);
}
