// SPDX-License-Identifier: Apache-2.0
// Builds chains, trees, nets and robots of any size, and times them or any other model.
#pragma once

#include "mabd/generate.h"
#include "mabd/sim.h"

#define BENCH_TOPIC_LIST(X)                                                                        \
    X(CHAIN, "chain") /* capsules of 0.1 m, pinned at one end, level */                            \
    X(TREE, "tree")   /* full binary tree, ball joints, pinned at its root, falling over */        \
    X(NET, "net") /* square net of hubs and rods, ball joints, level; by an edge or its corners */ \
    X(ROBOTS, "robots") /* arms of 7 links, each pinned to the ground, level */

typedef enum bench_topic {
#define X(name, text) BENCH_TOPIC_##name,
    BENCH_TOPIC_LIST(X)
#undef X
        BENCH_TOPIC_COUNT
} bench_topic;

/// Definition of a generated model.
typedef struct bench_scaling_def {
    bench_topic topic;
    int32_t links;       // requested; all but chains take the nearest possible size
    mabd_joint joint;    // of chains, trees and robots
    mabd_net_pin pinned; // of nets
} bench_scaling_def;

/// Definition of a measurement.
typedef struct bench_timing {
    mabd_sim_def sim;
    int64_t warm_up; // steps before the timed ones
    int64_t steps;   // timed, >= 1
    int32_t repeats; // the fastest one counts, >= 1
    bool processor;  // time of the processor instead of the clock on the wall
} bench_timing;

/// Result of a measurement. All times are those of the fastest repeat.
typedef struct bench_scaling_result {
    int32_t links, rows; // actual numbers of bodies and rows
    const char* joint;   // type of all joints, "mixed", or "none"
    double h;            // [s]
    int32_t threads;     // as requested
    mabd_backend backend;
    mabd_formulation formulation;
    mabd_integrator integrator; // resolved
    int64_t steps;
    double build_seconds;                  // scene and model
    double first_step_seconds;             // the first step, with cold caches
    double seconds_per_step;               //
    double iterations_per_step;            //
    double dual_iterations_per_step;       // of iterative dual solvers
    double contacts_per_step;              // active contact points
    double stage_seconds[MABD_MAX_STAGES]; // per step
    double max_gap;                        // over all timed steps [m]
    double max_angle_error;                // [rad]
    int64_t unconverged_steps, retries;    // of the timed steps
    size_t bytes;                          // model and simulation: sum of memory
    size_t memory[MABD_MEMORY_COUNT];      // bytes by part
} bench_scaling_result;

/// Build the model of a topic, to be destroyed.
mabd_status bench_scaling_build(const bench_scaling_def* def, mabd_model** model,
                                mabd_error* error);
/// Time a model from its start state; result.build_seconds is not changed.
mabd_status bench_scaling_time(const bench_timing* timing, const mabd_model* model,
                               bench_scaling_result* result, mabd_error* error);
/// Default number of timed steps: 2 s of motion up to 100,000 links, fewer beyond.
int64_t bench_scaling_default_steps(int64_t links);
/// Slope of log(seconds per step) against log(links) by least squares, over the results of a
/// backend with `threads` threads and at least `least` links; 0 with fewer than two of them. 1 =
/// linear.
double bench_scaling_slope(int32_t count, const bench_scaling_result* results, mabd_backend backend,
                           int32_t threads, int32_t least);
