// SPDX-License-Identifier: Apache-2.0
// Output of `./dev bench cuda-model`: tables as text, CSV and JSON. Every time in them is a
// prediction and is labelled so.
#pragma once

#include "bench/cuda-model/count_run.h"

typedef struct model_report {
    const char *command, *compiler; // how to run it again; of kernels
    char machine[160];              // that counted; has no influence on the times
    model_kernels kernels;          // of the compiler's report
    int32_t gpu_count;
    model_gpu gpus[MODEL_GPUS_MAX];
    int32_t run_count;
    model_run runs[MODEL_SCENES_MAX];
} model_report;

/// Registers, memory and occupancy of every kernel.
void model_print_kernels(const model_report* report, FILE* out);
/// Operations and bytes of a link and step, by scene.
void model_print_counts(const model_report* report, FILE* out);
/// Times of a step, by scene and GPU.
void model_print_predictions(const model_report* report, FILE* out);

/// kernels.csv, counts.csv and predictions.csv into a folder; JSON to a file or "-". Null = not
/// requested. Returns 0 or an exit code.
int model_write_tables(const model_report* report, const char* folder);
int model_write_json(const model_report* report, const char* path);

/// Threads of a block: those of the launches that were counted, else the bound; 0 if neither is
/// known.
int32_t model_block_of(const model_report* report, const model_kernel* kernel);
/// Of all steps counted to one link and step.
double model_per_link(const model_run* run, uint64_t count);
