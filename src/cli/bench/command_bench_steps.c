// SPDX-License-Identifier: Apache-2.0
// `mabd bench chain|tree|net|robots|scene`: speed, with the data to judge it: errors beside times,
// the machine, and the memory bandwidth that bounds a step.
#include "base/isa.h"
#include "cli/bench/bench_options.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/command_bench.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP_STEPS 5
#define STREAM_PASSES 12

typedef struct bench {
    bench_options options;
    bench_report report;
    int32_t scene; // current one
} bench;

static int say_failed(const char* what, mabd_status status, const mabd_error* error) {
    fprintf(stderr, "mabd bench: %s: %s\n", what,
            error->text[0] != '\0' ? error->text : mabd_status_text(status));
    return status == MABD_ERR_ARG || status == MABD_ERR_INPUT ? CLI_BAD_INPUT : CLI_FAILED;
}

static bench_timing timing_of(const bench_options* o, const mabd_model* model, double h) {
    const int64_t steps = bench_scaling_default_steps(mabd_model_body_count(model));
    bench_timing timing = {.sim = mabd_default_sim_def(),
                           .warm_up = WARM_UP_STEPS,
                           .steps = o->steps > 0 ? o->steps : steps,
                           .repeats = (int32_t)o->repeats,
                           .processor = o->processor};
    mabd_sim_def_apply_preset(&timing.sim, (mabd_preset)o->preset);
    timing.sim.integrator = (mabd_integrator)o->integrator;
    timing.sim.dual = (mabd_dual)o->dual;
    timing.sim.formulation = (mabd_formulation)o->formulation;
    const bool variational = timing.sim.formulation == MABD_FORMULATION_VARIATIONAL;
    *(variational ? &timing.sim.variational.newton : &timing.sim.quaternion.newton) =
        (mabd_newton)o->newton;
    if (o->substeps > 0) {
        *(variational ? &timing.sim.variational.substeps : &timing.sim.impulse.substeps) =
            (int32_t)o->substeps;
    }
    timing.sim.h = (mabd_real)h;
    return timing;
}

// Report a backend that is unavailable, or not for this scene; once per reason.
static void say_missing(bench* b, const char* what, mabd_backend backend, const mabd_error* error) {
    char* reported = b->report.missing[backend];
    if (strcmp(reported, error->text) == 0) return;
    snprintf(reported, sizeof(b->report.missing[backend]), "%s", error->text);
    fprintf(stderr, "mabd bench: %s on %s: %s%s\n", what, mabd_backend_name(backend), error->text,
            backend == MABD_BACKEND_CUDA ? "; a measured comparison needs a GPU" : "");
}

// Time a model with each number of threads; devices have no such number.
static int time_backend(bench* b, const char* what, const mabd_model* model, bench_timing* timing,
                        double build_seconds) {
    bench_report* r = &b->report;
    mabd_error error = {0};
    const int32_t count = timing->sim.backend == MABD_BACKEND_CPU ? r->thread_count : 1;
    for (int32_t t = 0; t < count; t++) {
        bench_scaling_result* result = &r->results[r->count];
        timing->sim.threads = r->streams[t].threads;
        result->build_seconds = build_seconds;
        const mabd_status status = bench_scaling_time(timing, model, result, &error);
        if (status == MABD_ERR_UNAVAILABLE && timing->sim.backend != MABD_BACKEND_CPU) {
            say_missing(b, what, timing->sim.backend, &error);
            return CLI_OK;
        }
        if (status != MABD_OK) return say_failed(what, status, &error);
        r->scenes[r->count] = b->scene;
        r->integrator = mabd_integrator_name(result->integrator);
        bench_report_row(r, r->count++);
    }
    return CLI_OK;
}

// Time a model at step h on each backend; `what` names it in messages.
static int time_model(bench* b, const char* what, const mabd_model* model, double h,
                      double build_seconds) {
    bench_timing timing = timing_of(&b->options, model, h);
    int code = CLI_OK;
    for (int32_t i = 0; i < b->options.backend_count && code == CLI_OK; i++) {
        timing.sim.backend = b->options.backends[i];
        code = time_backend(b, what, model, &timing, build_seconds);
    }
    return code;
}

static int run_size(bench* b, int64_t links) {
    const bench_options* o = &b->options;
    const bench_scaling_def def = {.topic = o->topic,
                                   .links = (int32_t)links,
                                   .joint = (mabd_joint)o->joint,
                                   .pinned = (mabd_net_pin)o->pinned};
    mabd_error error = {0};
    mabd_model* model = NULL;
    char what[64];
    snprintf(what, sizeof(what), "%s of %lld links", o->topic_name, (long long)links);
    const double start = system_seconds();
    const mabd_status status = bench_scaling_build(&def, &model, &error);
    if (status != MABD_OK) return say_failed(what, status, &error);
    const int code = time_model(b, what, model, o->h, system_seconds() - start);
    mabd_model_destroy(model);
    return code;
}

static int run_file(bench* b, const char* path) {
    const bench_options* o = &b->options;
    loaded_scene loaded = {0};
    loaded.young = o->young;
    int code = load_scene("bench", path, &o->settings, 0, &loaded);
    if (code == CLI_OK) {
        load_say_warnings(&loaded);
        const double own = (double)mabd_model_suggested_h(loaded.model);
        const double h = !o->h_given && own > 0 ? own : o->h;
        const bench_timing timing = timing_of(o, loaded.model, h);
        code = load_plan(&loaded, &timing.sim);
        if (code == CLI_OK) code = load_check_memory(&loaded);
        if (code == CLI_OK) {
            code = time_model(b, path, loaded.model, h, loaded.load_seconds + loaded.build_seconds);
        }
    }
    load_release(&loaded);
    return code;
}

// Memory for the triad [bytes]. Tests set MABD_BENCH_TRIAD_MB: their tables need a bandwidth, and
// no accurate one, while the arrays of a measurement exceed every cache and take a second each
// time.
static size_t triad_memory(void) {
    const char* text = getenv("MABD_BENCH_TRIAD_MB");
    const long megabytes = text != NULL ? strtol(text, NULL, 10) : 0;
    return megabytes > 0 ? 2000000 * (size_t)megabytes : system_memory(); // half of it is used
}

static void start_report(bench* b, const char* command) {
    const bench_options* o = &b->options;
    bench_report* r = &b->report;
    r->topic = o->topic_name, r->json = o->json, r->csv = o->csv, r->command = command;
    r->integrator = mabd_integrator_name((mabd_integrator)o->integrator);
    r->preset = mabd_preset_name((mabd_preset)o->preset);
    r->dual = mabd_dual_name((mabd_dual)o->dual);
    r->formulation = (mabd_formulation)o->formulation;
    r->newton = mabd_newton_name((mabd_newton)o->newton);
    r->isa = mabd_isa_name(mabd_isa_count() - 1); // a simulation uses the best one
    r->repeats = (int32_t)o->repeats;
    r->all_trees = o->tree || o->topic == BENCH_TOPIC_FILES;
    r->text = bench_options_use_stdout(o) ? stderr : stdout;
    for (int32_t i = 0; i < o->files.count; i++) r->names[i] = o->files.items[i];
    r->backend_count = o->backend_count, r->backends = o->backends;
    r->thread_count = o->thread_count;
    for (int32_t t = 0; t < o->thread_count; t++) {
        r->streams[t] = bench_stream_triad(system_largest_cache(), triad_memory(), STREAM_PASSES,
                                           (int32_t)o->threads[t]);
    }
    system_machine(r->machine, sizeof(r->machine));
    bench_report_head(r);
}

static int run_all(bench* b) {
    const bench_options* o = &b->options;
    int code = CLI_OK;
    for (int32_t i = 0; i < o->scene_count && code == CLI_OK; i++) {
        const bool file = o->topic == BENCH_TOPIC_FILES;
        b->scene = i;
        code = file ? run_file(b, o->files.items[i]) : run_size(b, o->sizes[i]);
    }
    bench_report_end(&b->report);
    const int written = bench_report_write(&b->report);
    for (int k = 0; k < MABD_BACKEND_COUNT && code == CLI_OK; k++) {
        if (b->report.missing[k][0] != '\0') code = CLI_FAILED;
    }
    return code != CLI_OK ? code : written;
}

int command_bench_steps(int argc, char** argv) {
    int code = CLI_FAILED;
    bench* b = calloc(1, sizeof(*b));
    char* command = load_join_command("bench", argc, argv);
    if (b == NULL || command == NULL) {
        fprintf(stderr, "mabd bench: out of memory\n");
    } else if (bench_options_read(argc, argv, &b->options, &code)) {
        start_report(b, command);
        code = run_all(b);
    }
    free(command);
    free(b);
    return code;
}
