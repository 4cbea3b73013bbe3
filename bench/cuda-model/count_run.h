// SPDX-License-Identifier: Apache-2.0
// Steps of scenes on the executor, counted, and predictions for each GPU.
#pragma once

#include "bench/cuda-model/ptxas.h"
#include "bench/cuda-model/roofline.h"

#include "mabd/sim.h"

#define MODEL_SCENES_MAX  16
#define MODEL_KERNELS_MAX 128 // that a scene launches

/// The work of one kernel in all counted steps.
typedef struct model_kernel_counts {
    char name[MODEL_NAME];
    uint64_t launches;
    uint64_t threads;             // of all launches, idle threads included
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
    double seconds;            // time of the executor; says nothing about a GPU
    char missing[160];         // why it could not be run, "" = it was
    model_kernel_counts total; // of all launches
    uint64_t copies, copied_up, copied_down, waits, touched; // as in model_counts
    int32_t kernel_count;
    model_kernel_counts kernels[MODEL_KERNELS_MAX]; // by name
    model_prediction predictions[MODEL_GPUS_MAX];   // of one step
} model_run;

/// Names of the scenes, one after the other; null after the last.
const char* model_scene_name(int32_t scene);
/// Build a scene, take a few steps, then count some more steps. folder: of scene files.
/// run->missing names the reason if a device cannot run it.
mabd_status model_run_scene(int32_t scene, const char* folder, mabd_integrator integrator,
                            int32_t gpu_count, const model_gpu* gpus, model_run* run,
                            mabd_error* error);
