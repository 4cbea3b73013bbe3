// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench peers`: a table of engines as text, JSON and CSV for programs.
#pragma once

#include "bench/peers/peer_measure.h"

/// Result of a variant of an engine on a scene.
typedef struct peers_row {
    char scene[64];
    int32_t bodies, joints;
    double h;         // [s]
    int64_t steps;    // requested
    char peer[16];    //
    char version[64]; //
    char variant[32]; //
    char settings[PEER_TEXT_BYTES];
    double overlap; // deepest of the kept poses [m]; NaN = nothing touches, or not known
    peer_result result;
} peers_row;

typedef struct peers_report {
    const char *json, *csv; // files, null = not requested
    const char* command;    // command line of the run
    char machine[160];
    int64_t repeats;
    double limit;     // seconds of one row
    int32_t count;    // of rows
    int32_t capacity; //
    peers_row* rows;  // (count)
    FILE* text;       // where tables go
} peers_report;

/// Add a row of zeros, to be filled; null if memory is short. Valid until the next call.
peers_row* peers_report_add(peers_report* report);
void peers_report_free(peers_report* report);
/// Describe the end of a row: "ok", "joints apart from step 23 on", "stopped after 17 of 200 steps:
/// out of time", "failed at step 75: not finite", "failed: signal 11 (...)", "not run: ...".
/// Returns text.
const char* peers_report_outcome(const peers_row* row, char* text, size_t size);
/// Print machine and build.
void peers_report_head(const peers_report* report);
/// Print the last row, with the headings of the columns before the first row of a scene.
void peers_report_row(const peers_report* report);
/// Print, for each scene, time and gap of each other formulation of mabd over those of the first.
void peers_report_ratios(const peers_report* report);
/// Print settings and versions of all engines that ran, and the method of measurement.
void peers_report_settings(const peers_report* report);
/// Write the requested files. Returns 0 or an exit code; errors go to standard error.
int peers_report_write(const peers_report* report);
