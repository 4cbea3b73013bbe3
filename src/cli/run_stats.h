// SPDX-License-Identifier: Apache-2.0
// Statistics of a run, accumulated over the steps. Plain bytes that are saved in the checkpoint, so
// that a resumed run reports the whole run as if it had never stopped.
#pragma once

#include "mabd/sim.h"

#define RUN_STATS_VERSION 8

typedef struct run_stats {
    uint64_t version; // RUN_STATS_VERSION
    int64_t steps;
    int64_t iterations, iterations_max; // over all steps, in one step
    int64_t retries, unconverged_steps;
    int64_t dual_iterations,
        dual_iterations_max;        // of iterative dual solvers: over all steps, in one step
    int64_t contacts, contacts_max; // active points: over all steps, in one step
    int64_t contact_iterations, contact_iterations_max; // over all steps, in one step
    int64_t overlap_a, overlap_b;                       // bodies of start_overlap, -1 = none
    int64_t sample_every;                               // steps between two measurements
    int64_t energy_samples;                             // measurements taken, the start included
    int64_t worst_joint;                                // -1 = none
    int64_t refinements, redundant_rows_max; // of the quaternion formulation: in all, in one step
    int64_t guarded, chart_switches;         // of the redmax formulation: in all
    int64_t barrier_iterations, restarts;    // of the variational formulation: in all
    int64_t substeps_max;                    // most parts of one step
    int64_t colors_max;                      // of the impulse formulation
    int64_t carriers_max;                    // likewise
    double impulse_change_max, carried_max;
    double consistency_min, round_off_max;
    double rotation_max, friction_lag_max;       // of the affine formulation
    int64_t asleep;                              // steps of the affine formulation
    double tolerance_used_max;                   // that contacts were judged by [m]
    double dual_residual_max;                    // [m], [rad]
    double contact_residual_max;                 // [m]
    double friction_lag;                         // sum over the steps
    double penetration_max;                      // deepest overlap at the end of a step [m]
    double start_overlap;                        // deepest overlap of the start state [m]
    double max_gap;                              // [m]
    double max_angle_error;                      // [rad]
    double worst_joint_error;                    // larger of gap and angle error at worst_joint
    double energy_start, energy_end, energy_max; // [J]
    double potential_start;                      // gravity, elastic and spring energy [J]
    double energy_scale; // largest of kinetic energy and |potential - its start| [J]
    double linear_momentum_start[3], angular_momentum_start[3];
    double linear_momentum[3], angular_momentum[3];
    double step_seconds; // wall time in mabd_sim_step
    double first_step_seconds;
    double stage_seconds[MABD_MAX_STAGES]; // of earlier processes of a resumed run
} run_stats;

/// Start the statistics of a run and measure the start state. sample_every >= 1. MABD_ERR_MEMORY.
mabd_status run_stats_start(run_stats* stats, const mabd_sim* sim, int64_t sample_every);
/// Add one step that took `seconds` of wall time.
void run_stats_add_step(run_stats* stats, const mabd_step_info* info, double seconds);
/// Measure the state if the current step is due. False if the energy is not finite.
bool run_stats_sample(run_stats* stats, const mabd_sim* sim);
/// Measure the last state unless it was measured.
void run_stats_finish(run_stats* stats, const mabd_sim* sim);
/// Return a copy with the stage times of this process added, for checkpoints and reports.
run_stats run_stats_with_stages(const run_stats* stats, const mabd_sim* sim);
/// Number of steps between two measurements: 1 up to 20,000 bodies; beyond, `every`, or less if
/// that gives fewer than 100 measurements.
int64_t run_stats_sample_interval(int32_t bodies, int64_t every, int64_t total_steps);
