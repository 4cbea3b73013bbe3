// SPDX-License-Identifier: Apache-2.0
// One of several plots in a picture, as SVG: a logarithmic axis upwards, a logarithmic or linear
// one to the right.
#pragma once

#include "cli/bench/plot_axes.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct plot_panel {
    double left, top, width, height; // of the area inside the axes [pixels]
    plot_decades x, y;               // widened by the caller; from > to = no values
    bool linear;                     // x runs from 0 to `end`, and the decades of x are not used
    double end;                      // > 0
} plot_panel;

/// Give axes without values, or of a single decade, a length; call it after the last plot_widen.
void plot_panel_close(plot_panel* panel);
/// Places of values inside the picture [pixels].
double plot_panel_x(const plot_panel* panel, double value);
double plot_panel_y(const plot_panel* panel, double value);
/// Write the grid, the numbers at the axes, the title above and the text below.
void plot_panel_put_axes(const plot_panel* panel, const char* title, const char* below, FILE* out);
