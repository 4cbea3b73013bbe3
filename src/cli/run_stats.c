// SPDX-License-Identifier: Apache-2.0
// Statistics of a run; see run_stats.h.
#include "cli/run_stats.h"

#include <math.h>
#include <string.h>

#define BODIES_MEASURED_EACH_STEP 20000
#define LEAST_MEASUREMENTS        100

int64_t run_stats_sample_interval(int32_t bodies, int64_t every, int64_t total_steps) {
    if (bodies <= BODIES_MEASURED_EACH_STEP) return 1;
    int64_t interval = total_steps / LEAST_MEASUREMENTS;
    if (every < interval) interval = every;
    return interval > 1 ? interval : 1;
}

static void add_measure(run_stats* stats, const mabd_measure* measure) {
    double potential = measure->gravity + measure->elastic + measure->spring;
    stats->energy_samples++;
    stats->energy_end = measure->energy;
    stats->energy_max = fmax(stats->energy_max, measure->energy);
    stats->energy_scale = fmax(stats->energy_scale, measure->kinetic);
    stats->energy_scale = fmax(stats->energy_scale, fabs(potential - stats->potential_start));
    for (int k = 0; k < 3; k++) {
        stats->linear_momentum[k] = measure->linear_momentum[k];
        stats->angular_momentum[k] = measure->angular_momentum[k];
    }
}

static mabd_status find_overlap(run_stats* stats, const mabd_sim* sim) {
    mabd_real depth = 0;
    int32_t a = -1, b = -1;
    MABD_TRY(mabd_sim_overlap(sim, &depth, &a, &b));
    stats->start_overlap = depth;
    stats->overlap_a = a;
    stats->overlap_b = b;
    return MABD_OK;
}

mabd_status run_stats_start(run_stats* stats, const mabd_sim* sim, int64_t sample_every) {
    memset(stats, 0, sizeof(*stats));
    stats->version = RUN_STATS_VERSION;
    stats->sample_every = sample_every;
    stats->worst_joint = -1;
    stats->consistency_min = 1;
    mabd_measure measure = mabd_sim_measure(sim);
    stats->energy_start = measure.energy;
    stats->energy_max = measure.energy;
    stats->potential_start = measure.gravity + measure.elastic + measure.spring;
    add_measure(stats, &measure);
    memcpy(stats->linear_momentum_start, stats->linear_momentum, sizeof(stats->linear_momentum));
    memcpy(stats->angular_momentum_start, stats->angular_momentum, sizeof(stats->angular_momentum));
    return find_overlap(stats, sim);
}

// Add the parts of the report that belong to one formulation.
static void add_own(run_stats* stats, const mabd_step_info* info) {
    stats->friction_lag_max = fmax(stats->friction_lag_max, (double)info->affine.friction_lag);
    stats->asleep += info->affine.asleep;
    stats->tolerance_used_max =
        fmax(stats->tolerance_used_max, (double)info->affine.tolerance_used);
    stats->rotation_max = fmax(stats->rotation_max, (double)info->affine.rotation);
    stats->refinements += info->quaternion.refinements;
    stats->chart_switches += info->redmax.chart_switches;
    if (info->quaternion.redundant_rows > stats->redundant_rows_max) {
        stats->redundant_rows_max = info->quaternion.redundant_rows;
    }
    stats->consistency_min = fmin(stats->consistency_min, (double)info->quaternion.consistency);
    stats->round_off_max = fmax(stats->round_off_max, (double)info->quaternion.round_off);
    stats->guarded += info->redmax.guarded;
    stats->barrier_iterations += info->variational.barrier_iterations;
    stats->restarts += info->variational.restarts;
    stats->impulse_change_max =
        fmax(stats->impulse_change_max, (double)info->impulse.impulse_change);
    if (info->impulse.carriers > stats->carriers_max) stats->carriers_max = info->impulse.carriers;
    stats->carried_max = fmax(stats->carried_max, (double)info->impulse.carried);
    if (info->impulse.colors > stats->colors_max) stats->colors_max = info->impulse.colors;
}

static void add_contacts(run_stats* stats, const mabd_step_info* info) {
    stats->contacts += info->contacts;
    if (info->contacts > stats->contacts_max) stats->contacts_max = info->contacts;
    stats->contact_iterations += info->contact_iterations;
    if (info->contact_iterations > stats->contact_iterations_max) {
        stats->contact_iterations_max = info->contact_iterations;
    }
    stats->contact_residual_max = fmax(stats->contact_residual_max, info->contact_residual);
    stats->friction_lag += info->affine.friction_lag;
    stats->penetration_max = fmax(stats->penetration_max, info->penetration);
}

void run_stats_add_step(run_stats* stats, const mabd_step_info* info, double seconds) {
    if (stats->steps == 0) stats->first_step_seconds = seconds;
    stats->steps++;
    stats->step_seconds += seconds;
    stats->iterations += info->iterations;
    if (info->iterations > stats->iterations_max) stats->iterations_max = info->iterations;
    stats->dual_iterations += info->dual_iterations;
    if (info->dual_iterations > stats->dual_iterations_max) {
        stats->dual_iterations_max = info->dual_iterations;
    }
    stats->dual_residual_max = fmax(stats->dual_residual_max, info->dual_residual);
    add_contacts(stats, info);
    add_own(stats, info);
    stats->retries += info->retries;
    if (info->substeps > stats->substeps_max) stats->substeps_max = info->substeps;
    if (!info->converged) stats->unconverged_steps++;
    stats->max_gap = fmax(stats->max_gap, info->gap);
    stats->max_angle_error = fmax(stats->max_angle_error, info->angle_error);
    double joint_error = fmax(info->gap, info->angle_error);
    if (info->worst_joint >= 0 &&
        (stats->worst_joint < 0 || joint_error > stats->worst_joint_error)) {
        stats->worst_joint_error = joint_error;
        stats->worst_joint = info->worst_joint;
    }
}

bool run_stats_sample(run_stats* stats, const mabd_sim* sim) {
    if (stats->steps % stats->sample_every != 0) return true;
    mabd_measure measure = mabd_sim_measure(sim);
    if (!isfinite(measure.energy)) return false;
    add_measure(stats, &measure);
    return true;
}

void run_stats_finish(run_stats* stats, const mabd_sim* sim) {
    if (stats->steps % stats->sample_every == 0) return;
    mabd_measure measure = mabd_sim_measure(sim);
    if (isfinite(measure.energy)) add_measure(stats, &measure);
}

run_stats run_stats_with_stages(const run_stats* stats, const mabd_sim* sim) {
    run_stats whole;
    double seconds[MABD_MAX_STAGES];
    memcpy(&whole, stats, sizeof(whole));
    mabd_sim_get_times(sim, seconds);
    for (int k = 0; k < MABD_MAX_STAGES; k++) whole.stage_seconds[k] += seconds[k];
    return whole;
}
