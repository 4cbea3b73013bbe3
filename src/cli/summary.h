// SPDX-License-Identifier: Apache-2.0
// The summary of a run: as JSON, whose keys are an interface, and as text.
#pragma once

#include "cli/load.h"
#include "cli/run_stats.h"

#include <jansson.h>

#define SUMMARY_OVERLAP 1e-6 // overlaps at the start beyond this are reported [m]

/// Sources of a summary.
typedef struct summary_source {
    const loaded_scene* loaded;
    const mabd_sim* sim;
    const run_stats* stats; // finished, with stage times
    json_t* warnings;       // array, null = none
    const char* preset;
    const char* command;       // command line of the run
    double sim_create_seconds; // wall time
    double wall_seconds;       // of this process' steps, with recording and measuring
    const char* failed;        // reason of a failure, null = none
    int signal;                // signal that ended the run early, 0 = none
} summary_source;

/// Build the JSON object, to be released; null if memory is short. Numbers that are not finite are
/// null.
json_t* summary_build(const summary_source* source);
/// Print the summary as text, a line per topic: label, value, unit.
void summary_print(const summary_source* source, FILE* out);

/// Mean total / count; 0 if count is 0.
double summary_mean(double total, double count);
/// Number of bodies that the simulation moves.
double summary_links(const summary_source* source);

/// Set object[key] to a value, or to null if it is not finite.
void summary_set_real(json_t* object, const char* key, double value);
/// Set object[key] to a text; a text that is not UTF-8 is replaced.
void summary_set_text(json_t* object, const char* key, const char* value);
/// Set version and compiler of this program, the machine and the command line that measured.
void summary_set_origin(json_t* object, const char* machine, const char* command);
/// Set object[key] to an array of n numbers.
void summary_set_reals(json_t* object, const char* key, const double* values, int n);
/// Set object[key] to an object {class: number of components}.
void summary_set_components(json_t* object, const char* key, const mabd_model_info* info);
/// Set object[key] to an object {part: bytes}, from bytes (MABD_MEMORY_COUNT).
void summary_set_memory(json_t* object, const char* key, const size_t* bytes);
/// Print a line such as "1280 bytes per body: model 181, plan 90", with the parts that are not 0.
void summary_print_memory(const size_t* bytes, int32_t bodies, FILE* out);
/// Write an object to path or "-", indented, with all digits and a final newline. Returns 0 or an
/// exit code; errors go to standard error.
int summary_write(const char* command, const char* path, const json_t* object);
