// SPDX-License-Identifier: Apache-2.0
// The summary of a run: as JSON, whose names are an interface, and as text.
#pragma once

#include "cli/load.h"
#include "cli/run_stats.h"

#include <jansson.h>

#define SUMMARY_OVERLAP 1e-6 // at the start, worth telling [m]

/// Everything a summary is made from.
typedef struct summary_source {
    const loaded_scene* loaded;
    const mabd_sim* sim;
    const run_stats* stats; // finished, with stage times
    const char* preset;
    const char* command;       // how to run it again
    double sim_create_seconds; // wall time
    double wall_seconds;       // of this process' steps, with recording and measuring
    const char* failed;        // what went wrong, null = nothing
    int signal;                // that ended the run early, 0 = none
} summary_source;

/// The JSON object, to be released; null without memory. Numbers that are not finite are null.
json_t* summary_build(const summary_source* source);
/// Print the summary as text, a line per topic: label, value, unit.
void summary_print(const summary_source* source, FILE* out);

/// total / count, 0 if count is 0.
double summary_mean(double total, double count);
/// Bodies that the simulation moves.
double summary_links(const summary_source* source);

/// object[key] = value, or null if value is not finite.
void summary_set_real(json_t* object, const char* key, double value);
/// object[key] = text; a text that is not UTF-8 is replaced.
void summary_set_text(json_t* object, const char* key, const char* value);
/// object[key] = (n numbers)
void summary_set_reals(json_t* object, const char* key, const double* values, int n);
/// object[key] = {class: count}
void summary_set_components(json_t* object, const char* key, const mabd_model_info* info);
/// object[key] = {part: bytes} of bytes (MABD_MEMORY_COUNT)
void summary_set_memory(json_t* object, const char* key, const size_t* bytes);
/// "1280 bytes per body: model 181, plan 90, ...": a line, of the parts that are not 0.
void summary_print_memory(const size_t* bytes, int32_t bodies, FILE* out);
/// Write an object, indented, with all digits and a newline at its end, to path or "-". Returns 0 or an
/// exit code; errors go to stderr.
int summary_write(const char* command, const char* path, const json_t* object);
