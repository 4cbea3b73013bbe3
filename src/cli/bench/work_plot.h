// SPDX-License-Identifier: Apache-2.0
// Draws the rows of `mabd bench work-precision`: two plots for each scene, error of position and of
// energy against cost, all axes logarithmic, with a point for each step.
#pragma once

#include "cli/bench/work_report.h"

/// Write the picture as SVG. Equal numbers give equal bytes. The caller checks `out` for errors.
void work_plot_write(const work_report* report, FILE* out);
