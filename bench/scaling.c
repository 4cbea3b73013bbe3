// SPDX-License-Identifier: Apache-2.0
// Chains, trees and nets of any size, let go and timed; see scaling.h.
#include "bench/scaling.h"

#include "cli/system.h"
#include "mabd/generate.h"

#include <math.h>
#include <string.h>

int64_t bench_scaling_default_steps(int64_t links) {
    int64_t steps = 20000000 / links;
    if (steps > 200) steps = 200;
    return steps > 10 ? steps : 10;
}

static mabd_status generate(const bench_scaling_def* def, mabd_scene* scene, mabd_error* error) {
    mabd_chain_def chain = mabd_default_chain_def();
    mabd_tree_def tree = mabd_default_tree_def();
    mabd_net_def net = mabd_default_net_def();
    const double links = def->links;
    switch (def->topic) {
    case BENCH_TOPIC_TREE: // 2^depth - 1 links
        tree.branching = 2;
        tree.depth = (int32_t)fmax(1, round(log2(links + 1)));
        tree.joint = def->joint;
        tree.shrink = tree.taper = 1;
        return mabd_generate_tree(scene, &tree, error);
    case BENCH_TOPIC_NET: // 3 n^2 - 2 n bodies
        net.rows = net.columns = (int32_t)fmax(2, round((1 + sqrt(1 + 3 * links)) / 3));
        net.pinned = MABD_NET_PIN_EDGE;
        return mabd_generate_net(scene, &net, error);
    default:
        chain.links = def->links;
        chain.joint = def->joint;
        return mabd_generate_chain(scene, &chain, error);
    }
}

static mabd_status build_model(const bench_scaling_def* def, mabd_model** model,
                               mabd_error* error) {
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = generate(def, scene, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

// Start again, warm up, time the steps; keep the numbers if this was the fastest time.
static mabd_status time_once(const bench_scaling_def* def, mabd_sim* sim,
                             bench_scaling_result* result, mabd_error* error) {
    bench_scaling_result now = *result;
    mabd_step_info info;
    double before[MABD_STAGE_COUNT], after[MABD_STAGE_COUNT], seconds = 0;
    int64_t iterations = 0;
    now.max_gap = now.max_angle_error = 0;
    now.unconverged_steps = now.retries = 0;
    mabd_sim_reset(sim);
    for (int64_t i = 0; i < def->warm_up; i++) MABD_TRY(mabd_sim_step(sim, &info, error));
    mabd_sim_get_times(sim, before);
    for (int64_t i = 0; i < def->steps; i++) {
        double start = system_seconds();
        MABD_TRY(mabd_sim_step(sim, &info, error));
        seconds += system_seconds() - start;
        iterations += info.iterations;
        now.retries += info.retries;
        now.unconverged_steps += !info.converged;
        now.max_gap = fmax(now.max_gap, info.gap);
        now.max_angle_error = fmax(now.max_angle_error, info.angle_error);
    }
    mabd_sim_get_times(sim, after);
    now.seconds_per_step = seconds / (double)def->steps;
    now.iterations_per_step = (double)iterations / (double)def->steps;
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        now.stage_seconds[k] = (after[k] - before[k]) / (double)def->steps;
    }
    if (result->seconds_per_step == 0 || now.seconds_per_step < result->seconds_per_step) {
        *result = now;
    }
    return MABD_OK;
}

static mabd_status time_steps(const bench_scaling_def* def, const mabd_model* model,
                              bench_scaling_result* result, mabd_error* error) {
    mabd_sim* sim = NULL;
    mabd_step_info info;
    MABD_TRY(mabd_sim_create(model, &def->sim, &sim, error));
    result->bytes = mabd_model_get_info(model).bytes_model + mabd_sim_bytes(sim);
    double start = system_seconds();
    mabd_status status = mabd_sim_step(sim, &info, error);
    result->first_step_seconds = system_seconds() - start;
    for (int32_t r = 0; status == MABD_OK && r < def->repeats; r++) {
        status = time_once(def, sim, result, error);
    }
    mabd_sim_destroy(sim);
    return status;
}

mabd_status bench_scaling_run(const bench_scaling_def* def, bench_scaling_result* result,
                              mabd_error* error) {
    mabd_model* model = NULL;
    memset(result, 0, sizeof(*result));
    double start = system_seconds();
    MABD_TRY(build_model(def, &model, error));
    result->build_seconds = system_seconds() - start;
    result->links = mabd_model_body_count(model);
    result->rows = mabd_model_row_count(model);
    result->steps = def->steps;
    mabd_status status = time_steps(def, model, result, error);
    mabd_model_destroy(model);
    return status;
}

double bench_scaling_slope(int32_t count, const bench_scaling_result* results, int32_t least) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int32_t i = 0; i < count; i++) {
        if (results[i].links < least) continue;
        const double x = log(results[i].links), y = log(results[i].seconds_per_step);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    const double spread = n * sxx - sx * sx;
    return n >= 2 && spread > 0 ? (n * sxy - sx * sy) / spread : 0;
}
