// SPDX-License-Identifier: Apache-2.0
// See count_run.h.
#include "bench/cuda-model/count_run.h"

#include "bench/cuda-model/kernel_names.h"
#include "cli/bench/scaling.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP 3
#define STEPS   2

typedef struct scene_entry {
    const char* name;
    bench_scaling_def def; // without a file
    const char* file;      // null = generated
} scene_entry;

// Predictions are for these sizes; nothing is extrapolated. Iterations on nets grow with their
// side; a larger net would take the executor minutes.
static const scene_entry SCENES[] = {
    {"chain, balls, 1,000", {BENCH_TOPIC_CHAIN, 1000, MABD_JOINT_BALL, MABD_NET_PIN_EDGE}, NULL},
    {"chain, balls, 100,000",
     {BENCH_TOPIC_CHAIN, 100000, MABD_JOINT_BALL, MABD_NET_PIN_EDGE},
     NULL},
    {"chain, hinges, 100,000",
     {BENCH_TOPIC_CHAIN, 100000, MABD_JOINT_HINGE, MABD_NET_PIN_EDGE},
     NULL},
    {"willow", {BENCH_TOPIC_COUNT, 0, MABD_JOINT_BALL, MABD_NET_PIN_EDGE}, "willow.json"},
    {"net 40 x 40", {BENCH_TOPIC_NET, 4720, MABD_JOINT_BALL, MABD_NET_PIN_EDGE}, NULL},
    {"1,000 robots", {BENCH_TOPIC_ROBOTS, 7000, MABD_JOINT_HINGE, MABD_NET_PIN_EDGE}, NULL},
};

#define SCENE_COUNT ((int32_t)(sizeof(SCENES) / sizeof(SCENES[0])))

const char* model_scene_name(int32_t i) {
    return i < SCENE_COUNT ? SCENES[i].name : NULL;
}

static mabd_status build_file(const char* folder, const char* file, mabd_model** model,
                              mabd_error* error) {
    mabd_scene* scene = NULL;
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = mabd_scene_load(scene, path, 0, NULL, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

// ---- sums ---------------------------------------------------------------------------------------

static void add_launch(const model_launch* l, model_kernel_counts* sum) {
    sum->launches++;
    sum->threads += (uint64_t)l->blocks * l->threads;
    if (l->threads > sum->block) sum->block = l->threads;
    for (int k = 0; k < MODEL_OP_COUNT; k++) sum->ops[k] += l->ops[k];
    sum->lanes += l->lanes, sum->read += l->read, sum->written += l->written;
    sum->block_sectors += l->block_sectors;
    sum->sectors_read += l->sectors_read, sum->sectors_written += l->sectors_written;
}

// The sums of the kernel of a launch; null if there are too many kernels. Launches of one kernel
// often follow each other, so the last kernel is checked first.
static model_kernel_counts* kernel_of(model_run* run, const char* type, const char** last_type,
                                      model_kernel_counts** last) {
    if (*last_type == type) return *last;
    char name[MODEL_NAME];
    model_kernel_name(type, name, sizeof(name));
    int32_t i = 0;
    while (i < run->kernel_count && strcmp(run->kernels[i].name, name) != 0) i++;
    if (i == MODEL_KERNELS_MAX) return NULL;
    if (i == run->kernel_count) {
        run->kernel_count++;
        snprintf(run->kernels[i].name, MODEL_NAME, "%s", name);
    }
    *last_type = type, *last = &run->kernels[i];
    return *last;
}

static int by_name(const void* a, const void* b) {
    return strcmp(((const model_kernel_counts*)a)->name, ((const model_kernel_counts*)b)->name);
}

static bool sum_counts(const model_counts* counts, model_run* run) {
    const char* last_type = NULL;
    model_kernel_counts* last = NULL;
    for (size_t i = 0; i < counts->launch_count; i++) {
        const model_launch* l = &counts->launches[i];
        model_kernel_counts* kernel = kernel_of(run, l->type, &last_type, &last);
        if (kernel == NULL) return false;
        add_launch(l, kernel);
        add_launch(l, &run->total);
    }
    qsort(run->kernels, (size_t)run->kernel_count, sizeof(run->kernels[0]), by_name);
    run->copies = counts->copies, run->waits = counts->waits, run->touched = counts->touched;
    run->copied_up = counts->copied_up, run->copied_down = counts->copied_down;
    return true;
}

static model_prediction of_one_step(model_prediction p, int32_t steps) {
    const double n = steps;
    return (model_prediction){p.total / n, p.memory / n, p.arithmetic / n, p.latency / n,
                              p.host / n};
}

// ---- steps --------------------------------------------------------------------------------------

static mabd_status count_steps(mabd_sim* sim, model_run* run, mabd_error* error) {
    mabd_step_info info;
    int64_t iterations = 0;
    for (int i = 0; i < WARM_UP; i++) MABD_TRY(mabd_sim_step(sim, &info, error));
    model_count_start();
    const double start = system_seconds();
    for (int i = 0; i < STEPS; i++) {
        MABD_TRY(mabd_sim_step(sim, &info, error));
        iterations += info.iterations;
    }
    run->seconds = system_seconds() - start;
    run->steps = STEPS, run->iterations = (double)iterations / STEPS;
    return MABD_OK;
}

static mabd_status run_model(const mabd_model* model, mabd_integrator integrator, int32_t gpu_count,
                             const model_gpu* gpus, model_run* run, mabd_error* error) {
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim = NULL;
    const mabd_real own = mabd_model_suggested_h(model);
    run->links = mabd_model_body_count(model), run->rows = mabd_model_row_count(model);
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    def.h = own > 0 ? own : (mabd_real)0.01;
    def.backend = MABD_BACKEND_EXECUTOR;
    def.integrator = integrator;
    def.threads = 1;
    mabd_status status = mabd_sim_create(model, &def, &sim, error);
    if (status == MABD_OK) status = count_steps(sim, run, error);
    if (status == MABD_OK) {
        const model_counts counts = model_count_read();
        for (int32_t g = 0; g < gpu_count; g++) {
            run->predictions[g] = of_one_step(model_predict(&gpus[g], &counts), run->steps);
        }
        if (!sum_counts(&counts, run)) status = MABD_ERR_MEMORY;
    }
    mabd_sim_destroy(sim);
    return status;
}

mabd_status model_run_scene(int32_t index, const char* folder, mabd_integrator integrator,
                            int32_t gpu_count, const model_gpu* gpus, model_run* run,
                            mabd_error* error) {
    const scene_entry* s = &SCENES[index];
    mabd_model* model = NULL;
    memset(run, 0, sizeof(*run));
    run->name = s->name;
    if (s->file != NULL) {
        MABD_TRY(build_file(folder, s->file, &model, error));
    } else {
        MABD_TRY(bench_scaling_build(&s->def, &model, error));
    }
    const mabd_status status = run_model(model, integrator, gpu_count, gpus, run, error);
    mabd_model_destroy(model);
    if (status != MABD_ERR_UNAVAILABLE) return status;
    snprintf(run->missing, sizeof(run->missing), "%.159s", error->text);
    return MABD_OK;
}
