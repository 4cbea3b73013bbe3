// SPDX-License-Identifier: Apache-2.0
// Builds and times models; see scaling.h.
#include "cli/bench/scaling.h"

#include "cli/bench/fit.h"
#include "cli/system.h"

#include <math.h>
#include <stdio.h>

int64_t bench_scaling_default_steps(int64_t links) {
    int64_t steps = 20000000 / links;
    if (steps > 200) steps = 200;
    return steps > 10 ? steps : 10;
}

#define ROBOT_LINKS 7
#define ROBOT_GRID  100 // robots in a row

// Build arms of 7 links side by side; each is a component.
static mabd_status generate_robots(const bench_scaling_def* def, mabd_scene* scene,
                                   mabd_error* error) {
    const int32_t count = (int32_t)fmax(1, round((double)def->links / ROBOT_LINKS));
    mabd_chain_def arm = mabd_default_chain_def();
    char name[32];
    arm.name = name;
    arm.links = ROBOT_LINKS;
    arm.joint = def->joint;
    for (int32_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "robot%d", (int)i);
        arm.anchor[0] = (mabd_real)(i % ROBOT_GRID);
        arm.anchor[1] = (mabd_real)(i / ROBOT_GRID);
        MABD_TRY(mabd_generate_chain(scene, &arm, error));
    }
    return MABD_OK;
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
        net.pinned = def->pinned;
        return mabd_generate_net(scene, &net, error);
    case BENCH_TOPIC_ROBOTS:
        return generate_robots(def, scene, error);
    default:
        chain.links = def->links;
        chain.joint = def->joint;
        return mabd_generate_chain(scene, &chain, error);
    }
}

mabd_status bench_scaling_build(const bench_scaling_def* def, mabd_model** model,
                                mabd_error* error) {
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = generate(def, scene, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

static double seconds_now(const bench_timing* timing) {
    return timing->processor ? system_processor_seconds() : system_seconds();
}

// Start again, warm up, time the steps; keep the numbers if this was the fastest time.
static mabd_status time_once(const bench_timing* timing, mabd_sim* sim,
                             bench_scaling_result* result, mabd_error* error) {
    bench_scaling_result now = *result;
    mabd_step_info info;
    double before[MABD_MAX_STAGES], after[MABD_MAX_STAGES], seconds = 0;
    int64_t iterations = 0, dual_iterations = 0, contacts = 0;
    now.max_gap = now.max_angle_error = 0;
    now.unconverged_steps = now.retries = 0;
    mabd_sim_reset(sim);
    for (int64_t i = 0; i < timing->warm_up; i++) MABD_TRY(mabd_sim_step(sim, &info, error));
    mabd_sim_get_times(sim, before);
    for (int64_t i = 0; i < timing->steps; i++) {
        const double start = seconds_now(timing);
        MABD_TRY(mabd_sim_step(sim, &info, error));
        seconds += seconds_now(timing) - start;
        iterations += info.iterations;
        dual_iterations += info.dual_iterations;
        contacts += info.contacts;
        now.retries += info.retries;
        now.unconverged_steps += !info.converged;
        now.max_gap = fmax(now.max_gap, info.gap);
        now.max_angle_error = fmax(now.max_angle_error, info.angle_error);
    }
    mabd_sim_get_times(sim, after);
    now.seconds_per_step = seconds / (double)timing->steps;
    now.iterations_per_step = (double)iterations / (double)timing->steps;
    now.dual_iterations_per_step = (double)dual_iterations / (double)timing->steps;
    now.contacts_per_step = (double)contacts / (double)timing->steps;
    for (int k = 0; k < MABD_MAX_STAGES; k++) {
        now.stage_seconds[k] = (after[k] - before[k]) / (double)timing->steps;
    }
    if (result->seconds_per_step == 0 || now.seconds_per_step < result->seconds_per_step) {
        *result = now;
    }
    return MABD_OK;
}

static const char* joint_of(const mabd_model* model) {
    const int32_t count = mabd_model_joint_count(model);
    int32_t a = 0, b = 0;
    if (count == 0) return "none";
    const mabd_joint first = mabd_model_joint_type(model, 0, &a, &b);
    for (int32_t i = 1; i < count; i++) {
        if (mabd_model_joint_type(model, i, &a, &b) != first) return "mixed";
    }
    return mabd_joint_name(first);
}

mabd_status bench_scaling_time(const bench_timing* timing, const mabd_model* model,
                               bench_scaling_result* result, mabd_error* error) {
    mabd_sim* sim = NULL;
    mabd_step_info info;
    *result = (bench_scaling_result){.links = mabd_model_body_count(model),
                                     .rows = mabd_model_row_count(model),
                                     .joint = joint_of(model),
                                     .h = (double)timing->sim.h,
                                     .threads = timing->sim.threads,
                                     .backend = timing->sim.backend,
                                     .formulation = timing->sim.formulation,
                                     .steps = timing->steps,
                                     .build_seconds = result->build_seconds};
    MABD_TRY(mabd_sim_create(model, &timing->sim, &sim, error));
    result->integrator = mabd_sim_get_def(sim).integrator;
    double start = system_seconds();
    mabd_status status = mabd_sim_step(sim, &info, error);
    result->first_step_seconds = system_seconds() - start;
    for (int32_t r = 0; status == MABD_OK && r < timing->repeats; r++) {
        status = time_once(timing, sim, result, error);
    }
    mabd_sim_memory(sim, result->memory); // includes the contacts of the run
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) result->bytes += result->memory[k];
    mabd_sim_destroy(sim);
    return status;
}

double bench_scaling_slope(int32_t count, const bench_scaling_result* results, mabd_backend backend,
                           int32_t threads, int32_t least) {
    bench_fit fit = {0};
    for (int32_t i = 0; i < count; i++) {
        if (results[i].links < least || results[i].threads != threads) continue;
        if (results[i].backend != backend) continue;
        bench_fit_add(&fit, results[i].links, results[i].seconds_per_step);
    }
    return bench_fit_slope(&fit);
}
