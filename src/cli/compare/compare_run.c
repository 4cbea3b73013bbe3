// SPDX-License-Identifier: Apache-2.0
// One run of `mabd compare`; see compare_run.h.
//
//   position(t) = max_i |p_i - p_i^ref|
//   angle(t)    = max_i 4 asin(c / 2),  c = min(|q_i - q_i^ref|, |q_i + q_i^ref|)
// The chord in R^4 is exact for small angles, 0 for equal bits, the same for q and -q.
#include "cli/compare/compare_run.h"

#include "cli/run_stats.h"
#include "cli/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTANTS_MAX 240     // enough for a picture
#define POSES_MAX    2000000 // of one path, 110 MB

// Steps between two instants, so that a path has at most INSTANTS_MAX + 2 of them.
static int64_t steps_between(int64_t steps, int32_t bodies) {
    int64_t most = POSES_MAX / (bodies > 0 ? bodies : 1);
    if (most > INSTANTS_MAX) most = INSTANTS_MAX;
    if (most < 1) most = 1;
    return steps / most + (steps % most != 0);
}

static bool path_create(int64_t steps, int64_t every, int32_t bodies, compare_path* path) {
    const size_t count = (size_t)(every > 0 ? steps / every : 0) + 2,
                 poses = count * (size_t)bodies;
    *path = (compare_path){.capacity = (int32_t)count,
                           .bodies = bodies,
                           .times = calloc(count, sizeof(double)),
                           .energies = calloc(count, sizeof(double)),
                           .positions = calloc(count, sizeof(double)),
                           .angles = calloc(count, sizeof(double)),
                           .places = calloc(poses, 3 * sizeof(mabd_real)),
                           .rotations = calloc(poses, 4 * sizeof(mabd_real))};
    return path->times != NULL && path->energies != NULL && path->positions != NULL &&
           path->angles != NULL && path->places != NULL && path->rotations != NULL;
}

void compare_path_forget(compare_path* path) {
    free(path->places);
    free(path->rotations);
    path->places = path->rotations = NULL;
}

void compare_path_release(compare_path* path) {
    compare_path_forget(path);
    free(path->times);
    free(path->energies);
    free(path->positions);
    free(path->angles);
    *path = (compare_path){0};
}

static void path_append(compare_path* path, const mabd_sim* sim, double energy_start) {
    const size_t at = (size_t)path->count++, bodies = (size_t)path->bodies;
    path->times[at] = (double)mabd_sim_time(sim);
    path->energies[at] = fabs((double)mabd_sim_measure(sim).energy - energy_start);
    mabd_sim_get_state(sim, path->places + 3 * at * bodies, path->rotations + 4 * at * bodies, NULL,
                       NULL);
}

static double distance(const double* a, const double* b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static void fill_figures(const run_stats* stats, const mabd_sim* sim, compare_row* row) {
    const double scale = stats->energy_scale > 0 ? stats->energy_scale : NAN;
    const double steps = stats->steps > 0 ? (double)stats->steps : NAN;
    row->energy = 0;
    for (int32_t i = 0; i < row->path.count; i++) {
        row->path.energies[i] /= scale;
        row->energy = fmax(row->energy, row->path.energies[i]);
    }
    row->energy_end = (stats->energy_end - stats->energy_start) / scale;
    row->energy_integrator = (double)mabd_sim_get_energy_balance(sim).integrator / scale;
    row->momentum = distance(stats->linear_momentum, stats->linear_momentum_start);
    row->angular_momentum = distance(stats->angular_momentum, stats->angular_momentum_start);
    row->gap = stats->max_gap;
    row->angle_error = stats->max_angle_error;
    row->iterations = (double)stats->iterations / steps;
    row->retries = (double)stats->retries;
    row->ms = 1e3 * stats->step_seconds / steps;
}

// Take one step and measure it; false: row->outcome gets the reason.
static bool take_step(mabd_sim* sim, run_stats* stats, compare_row* row) {
    mabd_error error = {.body = -1, .joint = -1};
    mabd_step_info info;
    const double start = system_seconds();
    const mabd_status status = mabd_sim_step(sim, &info, &error);
    const double seconds = system_seconds() - start;
    if (status == MABD_OK) {
        run_stats_add_step(stats, &info, seconds);
        if (run_stats_sample(stats, sim)) return true;
        snprintf(error.text, sizeof(error.text), "the energy is not finite");
    }
    snprintf(row->outcome, sizeof(row->outcome), "failed in step %lld of %lld: %.400s",
             (long long)stats->steps + 1, (long long)row->steps,
             error.text[0] != '\0' ? error.text : mabd_status_text(status));
    return false;
}

static bool run_steps(mabd_sim* sim, int32_t bodies, compare_row* row) {
    run_stats stats;
    const int64_t every = steps_between(row->steps, bodies);
    const int64_t sampled = run_stats_sample_interval(bodies, every, row->steps);
    if (run_stats_start(&stats, sim, sampled) != MABD_OK) return false;
    if (!path_create(row->steps, every, bodies, &row->path)) return false;
    path_append(&row->path, sim, stats.energy_start);
    while (stats.steps < row->steps && take_step(sim, &stats, row)) {
        const bool due = stats.steps % every == 0 || stats.steps == row->steps;
        if (due) path_append(&row->path, sim, stats.energy_start);
    }
    row->complete = stats.steps == row->steps;
    run_stats_finish(&stats, sim);
    if (!row->complete) return true;
    snprintf(row->outcome, sizeof(row->outcome), "ok");
    fill_figures(&stats, sim, row);
    return true;
}

bool compare_run(const mabd_model* model, const mabd_sim_def* def, int32_t bodies,
                 compare_row* row) {
    mabd_sim* sim = NULL;
    mabd_error error = {0};
#define X(name, format, unit) row->name = NAN;
    COMPARE_NUMBER_LIST(X)
#undef X
    row->formulation = def->formulation;
    row->integrator = def->integrator;
    row->h = (double)def->h;
    const mabd_status status = mabd_sim_create(model, def, &sim, &error);
    if (status == MABD_ERR_MEMORY) return false;
    if (status != MABD_OK) {
        snprintf(row->outcome, sizeof(row->outcome), "cannot: %.480s",
                 error.text[0] != '\0' ? error.text : mabd_status_text(status));
        return true;
    }
    row->integrator = mabd_sim_get_def(sim).integrator;
    const bool done = run_steps(sim, bodies, row);
    mabd_sim_destroy(sim);
    return done;
}

// Rotation between two unit quaternions [rad], 0 to pi.
static double rotation_between(const mabd_real* a, const mabd_real* b) {
    double apart = 0, opposite = 0;
    for (int k = 0; k < 4; k++) {
        apart += pow((double)a[k] - (double)b[k], 2);
        opposite += pow((double)a[k] + (double)b[k], 2);
    }
    return 4 * asin(sqrt(fmin(apart, opposite)) / 2);
}

void compare_difference(const compare_row* reference, compare_row* row) {
    const compare_path* ref = &reference->path;
    compare_path* path = &row->path;
    const size_t bodies = (size_t)path->bodies;
    row->position = row->angle = 0;
    for (int32_t i = 0; i < path->count; i++) {
        double position = 0, angle = 0;
        for (size_t k = (size_t)i * bodies; k < ((size_t)i + 1) * bodies; k++) {
            double p[3], q[3];
            for (size_t j = 0; j < 3; j++) {
                p[j] = (double)path->places[3 * k + j];
                q[j] = (double)ref->places[3 * k + j];
            }
            position = fmax(position, distance(p, q));
            angle = fmax(angle, rotation_between(ref->rotations + 4 * k, path->rotations + 4 * k));
        }
        path->positions[i] = row->position_end = position;
        path->angles[i] = row->angle_end = angle;
        row->position = fmax(row->position, position);
        row->angle = fmax(row->angle, angle);
    }
}
