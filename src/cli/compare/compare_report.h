// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd compare`: rows as text, JSON, CSV, a picture and a page.
#pragma once

#include "cli/compare/compare_run.h"

#include <stdio.h>

typedef struct compare_report {
    const char *json, *csv, *svg, *html; // files, null = not requested
    const char* scene;                   // name
    const char* command;                 // command line
    const char* preset;
    char machine[160];
    int32_t bodies, joints, rows_of_joints;
    double time;                  // [s]
    int32_t count, capacity;      // of rows
    compare_row* rows;            // (count) the reference, then the methods with all their steps
    const compare_row* reference; // null = none
    FILE* text;                   // where the table goes
} compare_report;

/// Print scene, machine and the names of the columns.
void compare_report_head(const compare_report* report);
/// Print a row.
void compare_report_row(const compare_report* report, const compare_row* row);
/// Write the requested files. Returns 0 or an exit code; errors go to standard error.
int compare_report_write(const compare_report* report);
