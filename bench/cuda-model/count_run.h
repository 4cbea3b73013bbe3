// SPDX-License-Identifier: Apache-2.0
// Steps of scenes on the executor, counted, and predictions for each GPU.
#pragma once

#include "bench/cuda-model/ptxas.h"
#include "bench/cuda-model/roofline.h"

#include "mabd/base.h"

#define MODEL_SCENES_MAX  16
#define MODEL_KERNELS_MAX 128 // that a scene launches

/// What one kernel does in all steps that were counted.
typedef struct model_kernel_counts {
    char name[MODEL_NAME];
    uint64_t launches;
    uint64_t threads;             // of all launches, also those with nothing to do
    uint32_t block;               // threads of a block, the largest
    uint64_t ops[MODEL_OP_COUNT]; // as in model_launch, summed
    uint64_t lanes, read, written, block_sectors, sectors_read, sectors_written;
} model_kernel_counts;

/// One scene.
typedef struct model_run {
    const char* name;
    int32_t links, rows;       // bodies, rows of joints
    int32_t steps;             // counted
    double iterations;         // of a step
    double seconds;            // the executor took for them; of no meaning for a GPU
    char missing[160];         // why it could not be run, "" = it was
    model_kernel_counts total; // of all launches
    uint64_t copies, copied_up, copied_down, waits, touched; // as in model_counts
    int32_t kernel_count;
    model_kernel_counts kernels[MODEL_KERNELS_MAX]; // by name
    model_prediction predictions[MODEL_GPUS_MAX];   // of one step
} model_run;

/// Names of the scenes, one after the other; null after the last.
const char* model_scene_name(int32_t scene);
/// Build a scene, make a few steps, count some more. folder: of scene files. What devices cannot do is told in run->missing.
mabd_status model_run_scene(int32_t scene, const char* folder, int32_t gpu_count,
                            const model_gpu* gpus, model_run* run, mabd_error* error);
