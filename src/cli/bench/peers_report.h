// SPDX-License-Identifier: Apache-2.0
// What `mabd bench peers` tells: engines side by side for people, JSON and CSV for programs.
#pragma once

#include "bench/peers/peer_measure.h"

/// One engine's variant on one scene.
typedef struct peers_row {
    char scene[64];
    int32_t bodies, joints;
    double h;         // [s]
    int64_t steps;    // asked for
    char peer[16];    //
    char version[64]; //
    char variant[32]; //
    char settings[PEER_TEXT_BYTES];
    peer_result result;
} peers_row;

typedef struct peers_report {
    const char *json, *csv; // files, null = not asked for
    const char* command;    // how to run it again
    char machine[160];
    int64_t repeats;
    double limit;     // seconds of one row
    int32_t count;    // of rows
    int32_t capacity; //
    peers_row* rows;  // (count)
    FILE* text;       // for people
} peers_report;

/// A row more, all zero, to be filled; null without memory. Valid until the next call.
peers_row* peers_report_add(peers_report* report);
void peers_report_free(peers_report* report);
/// How a row ended: "ok", "joints apart from step 23 on", "stopped after 17 of 200 steps: out of time",
/// "failed at step 75: not finite", "failed: signal 11 (...)", "not run: ...". Returns text.
const char* peers_report_outcome(const peers_row* row, char* text, size_t size);
/// Machine and build.
void peers_report_head(const peers_report* report);
/// The last row, as soon as it is there, with the heads of the columns before the first one of a scene.
void peers_report_row(const peers_report* report);
/// Settings and versions of all that ran, and how it was measured.
void peers_report_settings(const peers_report* report);
/// Write the files asked for. Returns 0 or an exit code; errors go to stderr.
int peers_report_write(const peers_report* report);
