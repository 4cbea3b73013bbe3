// SPDX-License-Identifier: Apache-2.0
// Parts of plots with logarithmic axes, as SVG.
#pragma once

#include <stdio.h>

#define PLOT_COLOURS 8

/// Colors that differ for any color vision (Okabe and Ito), dark enough for white paper.
extern const char* const plot_colours[PLOT_COLOURS];

/// Whole decades, as powers of ten.
typedef struct plot_decades {
    int from, to;
} plot_decades;

/// Widen decades so that they hold a value > 0.
void plot_widen(plot_decades* decades, double value);
/// Place of a value > 0 on an axis over the decades, 0 to 1 inside.
double plot_place(const plot_decades* decades, double value);
/// Write a text with the characters of XML escaped; control characters become blanks.
void plot_put_escaped(const char* text, FILE* out);
/// Write 10^power with digits: 0.01, 1, 1,000.
void plot_put_power(int power, FILE* out);
/// Write a text element at (x, y) with further attributes.
void plot_put_text(double x, double y, const char* attributes, const char* text, FILE* out);
