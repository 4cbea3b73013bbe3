// SPDX-License-Identifier: Apache-2.0
// A comparison as one page of HTML, with nothing from outside.
#pragma once

#include "cli/compare/compare_report.h"

/// Write the page: what ran, the picture, a table of all rows with units, and what the columns
/// mean. It is well-formed XML. The caller checks `out` for errors.
void compare_page_write(const compare_report* report, FILE* out);
