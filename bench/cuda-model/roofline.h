// SPDX-License-Identifier: Apache-2.0
// Time of a step on a GPU: a PREDICTION from the counts (count.h) and the published figures of the
// vendor, not a measurement.
//
//   of a launch    max(memory, arithmetic) + latency
//   memory         32 bytes for each sector read and each sector written, over the bandwidth of
//                  memory
//   arithmetic     instructions on reals in all lanes of all warps, over the rate of FP64: half of
//                  the published operations, as nothing is fused, of at most as many
//                  multiprocessors as there are blocks
//   of the host    copies, and every time it waits
//   of a step      the sum: launches of one stream follow each other
//
// Not modelled: data that the launch before left in the second level of the cache (a step that fits
// there needs less memory traffic), repeated loads by threads of a block, memory latency with too
// few threads to hide it, integers, clocks that differ from the published ones. A few threads with
// long sequential work take far longer than predicted.
#pragma once

#include "bench/cuda-model/count.h"

#include <stdbool.h>
#include <stdio.h>

#define MODEL_GPUS_MAX 16

/// One line of bench/gpus.csv.
typedef struct model_gpu {
    char name[48];
    char source[512];
    int32_t architecture; // 80 = sm_80
    int32_t sms;          // multiprocessors
    double fp64;          // operations a second, fused ones count two
    double memory;        // bytes a second
    double l2;            // bytes
    double host;          // bytes a second, to and from the host
    double launch, wait;  // seconds: assumptions
} model_gpu;

/// Seconds, all predicted.
typedef struct model_prediction {
    double total;              // the sum of the others
    double memory, arithmetic; // launches that are bound by it
    double latency;            // of all launches
    double host;               // copies and waits
} model_prediction;

/// Read bench/gpus.csv; false: message (size bytes) says what is wrong. *count is at most
/// MODEL_GPUS_MAX.
bool model_gpus_read(const char* path, model_gpu* gpus, int32_t* count, char* message, size_t size);

/// All that was counted, in series.
model_prediction model_predict(const model_gpu* gpu, const model_counts* counts);
/// One launch without its latency: the two bounds.
void model_predict_launch(const model_gpu* gpu, const model_launch* launch, double* memory,
                          double* arithmetic);
