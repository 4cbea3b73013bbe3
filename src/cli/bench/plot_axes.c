// SPDX-License-Identifier: Apache-2.0
// Parts of plots with logarithmic axes; see plot_axes.h.
#include "cli/bench/plot_axes.h"

#include <math.h>

const char* const plot_colours[PLOT_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#b8860b", "#56b4e9", "#000000", "#7f3f98"};

void plot_widen(plot_decades* d, double value) {
    const int low = (int)floor(log10(value)), high = (int)ceil(log10(value));
    if (low < d->from) d->from = low;
    if (high > d->to) d->to = high;
}

double plot_place(const plot_decades* d, double value) {
    return (log10(value) - d->from) / (d->to - d->from);
}

void plot_put_escaped(const char* text, FILE* out) {
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&') {
            fputs("&amp;", out);
        } else if (c == '<') {
            fputs("&lt;", out);
        } else if (c == '>') {
            fputs("&gt;", out);
        } else {
            fputc(c < ' ' || c == 127 ? ' ' : c, out);
        }
    }
}

void plot_put_power(int power, FILE* out) {
    if (power < 0) {
        fprintf(out, "%.*f", -power, pow(10, power));
        return;
    }
    fputc('1', out);
    for (int k = power; k > 0; k--) fputs(k % 3 == 0 ? ",0" : "0", out);
}

void plot_put_text(double x, double y, const char* attributes, const char* text, FILE* out) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    plot_put_escaped(text, out);
    fputs("</text>\n", out);
}
