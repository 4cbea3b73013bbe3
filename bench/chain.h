// SPDX-License-Identifier: Apache-2.0
// Chains of any length, released level and timed.
#pragma once

#include "mabd/sim.h"

typedef struct bench_chain_def {
    int32_t links;
    mabd_joint joint;
    mabd_sim_def sim;
    int64_t warm_up; // steps before the clock runs
    int64_t steps;   // timed, >= 1
    int32_t repeats; // the fastest counts, >= 1
} bench_chain_def;

/// All times are of the fastest repeat.
typedef struct bench_chain_result {
    int32_t links, rows;
    int64_t steps;
    double build_seconds;                   // scene and model
    double first_step_seconds;              // the very first one, cold
    double seconds_per_step;                //
    double iterations_per_step;             //
    double stage_seconds[MABD_STAGE_COUNT]; // per step
    double max_gap;                         // over all timed steps [m]
    double max_angle_error;                 // [rad]
    int64_t unconverged_steps, retries;     // of the timed steps
    size_t bytes;                           // model and simulation
} bench_chain_result;

/// Build a chain of `links` capsules of 0.1 m, pinned at one end and level, and time its fall.
mabd_status bench_chain_run(const bench_chain_def* def, bench_chain_result* result,
                            mabd_error* error);
/// Steps worth timing: 2 s of motion for chains up to 100,000 links, less beyond.
int64_t bench_chain_default_steps(int64_t links);
