// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench work-precision`: rows as text, JSON and CSV, and CSV read back.
#pragma once

#include "bench/peers/peer_measure.h"

/// Result of a method on a scene at one step.
typedef struct work_row {
    char scene[32];
    int32_t bodies;
    double h;      // [s]
    int64_t steps; // requested
    char peer[16];
    char version[32];
    char variant[32];
    double step_us;        // time of a step [us]; NaN = not measured, as all numbers below
    double cost;           // processor time over simulated time
    double position_error; // rms over bodies and times / size of the scene
    double energy_error;   // largest |E - E_0| / energy that the scene can release
    double energy_end;     // (E - E_0) / the same, at the end
    double gap;            // largest distance of the two halves of a joint [m]
    char outcome[160];     // "ok", or the reason of a failure
    char settings[PEER_TEXT_BYTES];
} work_row;

/// Reference of a scene.
typedef struct work_reference {
    char scene[32];
    char text[256]; // method, step, estimated error
} work_reference;

#define WORK_REFERENCES 8

typedef struct work_report {
    const char *json, *csv; // files, null = not requested
    char command[512];      // command line of the run
    char machine[160];
    int32_t reference_count;
    work_reference references[WORK_REFERENCES];
    int32_t count, capacity; // of rows
    work_row* rows;          // (count)
    FILE* text;              // where the table goes
} work_report;

/// Add a row without numbers, to be filled; null if memory is short. Valid until the next call.
work_row* work_report_add(work_report* report);
void work_report_free(work_report* report);
/// Print machine and build.
void work_report_head(const work_report* report);
/// Print the head of a scene: the last reference and the names of the columns.
void work_report_scene(const work_report* report);
/// Print the last row.
void work_report_row(const work_report* report);
/// Write the requested files. Returns 0 or an exit code; errors go to standard error.
int work_report_write(const work_report* report);
/// Read a table that work_report_write wrote. False: message (size) gets the error as FILE:LINE:
/// text.
bool work_report_read(const char* path, work_report* report, char* message, size_t size);
