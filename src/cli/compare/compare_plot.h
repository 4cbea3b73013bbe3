// SPDX-License-Identifier: Apache-2.0
// Draws a comparison: differences of poses and changes of energy, against the step if there are
// several steps, else against time; and differences of positions against the cost.
#pragma once

#include "cli/compare/compare_report.h"

/// Write the picture as plain SVG 1.1. The caller checks `out` for errors.
void compare_plot_write(const compare_report* report, FILE* out);
