// SPDX-License-Identifier: Apache-2.0
// One run of `mabd compare`; see compare_run.h.
//
//   position(t) = max_i |p_i - p_i^ref|
//   angle(t)    = max_i 4 asin(c / 2),  c = min(|q_i - q_i^ref|, |q_i + q_i^ref|)
// The chord in R^4 is exact for small angles, 0 for equal bits, the same for q and -q.
#include "cli/compare/compare_run.h"

#include "cli/compare/compare_order.h"
#include "cli/run_stats.h"
#include "cli/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX    20    // of a short run
#define REPEAT_SECONDS 0.2   // until its steps took that long, all repeats together
#define ROUND_OFF      1e-10 // of positions over the extent of the motion, and of rotations [rad]

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
    const mabd_energy_balance balance = mabd_sim_get_energy_balance(sim);
    const bool told = !isnan(balance.friction) && !isnan(balance.impacts);
    if (told) row->energy_integrator = (double)balance.integrator / scale;
    row->momentum = distance(stats->linear_momentum, stats->linear_momentum_start);
    row->angular_momentum = distance(stats->angular_momentum, stats->angular_momentum_start);
    row->gap = stats->max_gap;
    row->angle_error = stats->max_angle_error;
    row->iterations = (double)stats->iterations / steps;
    row->penetration = stats->penetration_max;
    row->substeps = (double)stats->substeps_max;
    row->retries = (double)stats->retries;
    row->unconverged = (double)stats->unconverged_steps;
    row->ms = 1e3 * stats->step_seconds / steps;
}

// The clock of a run [s]: processor time of a single thread does not depend on what else runs.
static double run_clock(int32_t threads) {
    return threads == 1 ? system_processor_seconds() : system_seconds();
}

// Take one step and measure it; false: row->outcome gets the reason.
static bool take_step(mabd_sim* sim, int32_t threads, run_stats* stats, compare_row* row) {
    mabd_error error = {.body = -1, .joint = -1};
    mabd_step_info info;
    const double start = run_clock(threads);
    const mabd_status status = mabd_sim_step(sim, &info, &error);
    const double seconds = run_clock(threads) - start;
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

static bool run_steps(mabd_sim* sim, int32_t bodies, int32_t threads, compare_row* row) {
    run_stats stats;
    const int64_t every = row->every;
    const int64_t sampled = run_stats_sample_interval(bodies, every, row->steps);
    if (run_stats_start(&stats, sim, sampled) != MABD_OK) return false;
    if (!path_create(row->steps, every, bodies, &row->path)) return false;
    path_append(&row->path, sim, stats.energy_start);
    while (stats.steps < row->steps && take_step(sim, threads, &stats, row)) {
        const bool due = stats.steps % every == 0 || stats.steps == row->steps;
        if (due) path_append(&row->path, sim, stats.energy_start);
    }
    row->complete = stats.steps == row->steps;
    run_stats_finish(&stats, sim);
    if (!row->complete) return true;
    snprintf(row->outcome, sizeof(row->outcome), "ok");
    if (stats.unconverged_steps > 0) {
        snprintf(row->outcome, sizeof(row->outcome), "ok, %lld of %lld steps unconverged",
                 (long long)stats.unconverged_steps, (long long)stats.steps);
    }
    fill_figures(&stats, sim, row);
    return true;
}

// Repeat the steps of a complete short run and keep the fastest time.
static void repeat(const mabd_model* model, const mabd_sim_def* def, compare_row* row) {
    double sum = 1e-3 * row->ms * (double)row->steps;
    for (int i = 1; i < REPEATS_MAX && sum < REPEAT_SECONDS; i++) {
        mabd_sim* sim = NULL;
        mabd_status status = mabd_sim_create(model, def, &sim, NULL);
        const double start = run_clock(def->threads);
        for (int64_t k = 0; k < row->steps && status == MABD_OK; k++) {
            status = mabd_sim_step(sim, NULL, NULL);
        }
        const double seconds = run_clock(def->threads) - start;
        mabd_sim_destroy(sim);
        if (status != MABD_OK) return; // the first run counts
        row->ms = fmin(row->ms, 1e3 * seconds / (double)row->steps);
        sum += seconds;
    }
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
    const bool done = run_steps(sim, bodies, def->threads, row);
    mabd_sim_destroy(sim);
    if (done && row->complete) {
        repeat(model, def, row);
        row->cost = row->ms / row->h;
    }
    return done;
}

// ---- differences -------------------------------------------------------------------------------

// Rotation between two unit quaternions [rad], 0 to pi.
static double rotation_between(const mabd_real* a, const mabd_real* b) {
    double apart = 0, opposite = 0;
    for (int k = 0; k < 4; k++) {
        apart += pow((double)a[k] - (double)b[k], 2);
        opposite += pow((double)a[k] + (double)b[k], 2);
    }
    return 4 * asin(sqrt(fmin(apart, opposite)) / 2);
}

// Largest distance and rotation of a body between two paths at an instant.
static void differ(const compare_path* a, const compare_path* b, int32_t instant, double* position,
                   double* angle) {
    const size_t bodies = (size_t)a->bodies, first = (size_t)instant * bodies;
    *position = *angle = 0;
    for (size_t k = first; k < first + bodies; k++) {
        double p[3], q[3];
        for (size_t j = 0; j < 3; j++) {
            p[j] = (double)a->places[3 * k + j];
            q[j] = (double)b->places[3 * k + j];
        }
        *position = fmax(*position, distance(p, q));
        *angle = fmax(*angle, rotation_between(a->rotations + 4 * k, b->rotations + 4 * k));
    }
}

void compare_difference(const compare_row* reference, compare_row* row) {
    compare_path* path = &row->path;
    row->position = row->angle = 0;
    for (int32_t i = 0; i < path->count; i++) {
        differ(&reference->path, path, i, &path->positions[i], &path->angles[i]);
        row->position_end = path->positions[i], row->angle_end = path->angles[i];
        row->position = fmax(row->position, row->position_end);
        row->angle = fmax(row->angle, row->angle_end);
    }
}

static void differ_most(const compare_path* a, const compare_path* b, double* position,
                        double* angle) {
    *position = *angle = 0;
    for (int32_t i = 0; i < a->count; i++) {
        double p = 0, q = 0;
        differ(a, b, i, &p, &q);
        *position = fmax(*position, p), *angle = fmax(*angle, q);
    }
}

// Largest coordinate of a path [m].
static double extent_of(const compare_path* path) {
    const size_t count = 3 * (size_t)path->count * (size_t)path->bodies;
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs((double)path->places[i]));
    return largest;
}

void compare_order(const compare_row* coarse, const compare_row* middle, compare_row* fine) {
    const double h[3] = {coarse->h, middle->h, fine->h};
    double above[2], below[2]; // position, angle
    differ_most(&coarse->path, &middle->path, &above[0], &above[1]);
    differ_most(&middle->path, &fine->path, &below[0], &below[1]);
    if (below[0] > ROUND_OFF * extent_of(&fine->path)) {
        fine->order = compare_order_of(h, above[0] / below[0]);
    }
    if (below[1] > ROUND_OFF) fine->order_angle = compare_order_of(h, above[1] / below[1]);
}
