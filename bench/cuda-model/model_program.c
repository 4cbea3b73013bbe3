// SPDX-License-Identifier: Apache-2.0
// The program behind `./dev bench cuda-model`: the compiler's report of the kernels, their work in
// steps of some scenes, and predicted times on GPUs. Exit codes as those of mabd; 3 also if a
// kernel spills registers.
#include "bench/cuda-model/model_report.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct program_options {
    const char *gpus, *scenes, *compiler, *csv, *json, *only, *command;
    option_texts reports, assembly;
    int integrator;
} program_options;

#define X(name, text) text,
static const char* const INTEGRATORS[] = {MABD_INTEGRATOR_LIST(X) NULL};
#undef X

static bool parse(int argc, char** argv, program_options* o, int* code) {
    const option options[] = {
        option_list("report", "FILE", &o->reports, "output of ptxas -v for a file, repeatable"),
        option_list("assembly", "FILE", &o->assembly, "its PTX, repeatable"),
        option_text("compiler", "TEXT", &o->compiler, "what compiled the kernels"),
        option_text("gpus", "FILE", &o->gpus, "table of GPUs (bench/gpus.csv)"),
        option_text("scenes", "FOLDER", &o->scenes, "scene files (scenes)"),
        option_text("only", "TEXT", &o->only, "only scenes with this in their name"),
        option_choice("integrator", INTEGRATORS, &o->integrator, "time integration"),
        option_text("csv", "FOLDER", &o->csv, "write kernels, counts and predictions as tables"),
        option_text("json", "FILE|-", &o->json, "write all of it as JSON"),
        option_text("command", "TEXT", &o->command, "how tables say they were made"),
    };
    const option_command command = {.name = "cuda-model",
                                    .about = "Predict the time of a step on GPUs.",
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = ""};
    return options_start(&command, argc, argv, code);
}

static int say(const char* text) {
    fprintf(stderr, "mabd cuda-model: %s\n", text);
    return CLI_FAILED;
}

// Read all files of a list.
static int read_all(const option_texts* paths, bool (*read)(FILE*, model_kernels*),
                    model_kernels* kernels) {
    for (int32_t i = 0; i < paths->count; i++) {
        FILE* file = fopen(paths->items[i], "r");
        if (file == NULL) {
            fprintf(stderr, "mabd cuda-model: %s: %s\n", paths->items[i], strerror(errno));
            return CLI_BAD_INPUT;
        }
        const bool good = read(file, kernels);
        fclose(file);
        if (!good) return say("out of memory");
    }
    return CLI_OK;
}

static int run_scenes(const program_options* o, model_report* r, FILE* out) {
    for (int32_t i = 0; model_scene_name(i) != NULL; i++) {
        mabd_error error = {0};
        model_run* run = &r->runs[r->run_count];
        if (o->only != NULL && strstr(model_scene_name(i), o->only) == NULL) continue;
        const mabd_status status = model_run_scene(i, o->scenes, (mabd_integrator)o->integrator,
                                                   r->gpu_count, r->gpus, run, &error);
        if (status != MABD_OK) {
            fprintf(stderr, "mabd cuda-model: %s: %s\n", model_scene_name(i),
                    error.text[0] != '\0' ? error.text : mabd_status_text(status));
            return CLI_FAILED;
        }
        fprintf(out, "counted   %-24s %8d links, %.1f s\n", run->name, (int)run->links,
                run->seconds);
        fflush(out);
        r->run_count++;
    }
    return CLI_OK;
}

static int check_spills(const model_kernels* kernels) {
    for (size_t i = 0; i < kernels->count; i++) {
        const model_kernel* k = &kernels->items[i];
        if (k->spill_stores == 0 && k->spill_loads == 0) continue;
        fprintf(stderr, "mabd cuda-model: %s spills registers on sm_%d\n", k->name,
                (int)k->architecture);
        return CLI_FAILED;
    }
    return CLI_OK;
}

static int run_program(const program_options* o, model_report* r) {
    char message[512];
    FILE* out = o->json != NULL && strcmp(o->json, "-") == 0 ? stderr : stdout;
    r->command = o->command, r->compiler = o->compiler;
    system_machine(r->machine, sizeof(r->machine));
    if (!model_gpus_read(o->gpus, r->gpus, &r->gpu_count, message, sizeof(message))) {
        say(message);
        return CLI_BAD_INPUT;
    }
    int code = read_all(&o->reports, model_report_read, &r->kernels);
    if (code == CLI_OK) code = read_all(&o->assembly, model_bounds_read, &r->kernels);
    if (code == CLI_OK) code = run_scenes(o, r, out);
    if (code != CLI_OK) return code;
    model_kernels_sort(&r->kernels);
    model_print_kernels(r, out), model_print_counts(r, out), model_print_predictions(r, out);
    code = model_write_tables(r, o->csv);
    if (code == CLI_OK) code = model_write_json(r, o->json);
    return code != CLI_OK ? code : check_spills(&r->kernels);
}

int main(int argc, char** argv) {
    int code = CLI_FAILED;
    program_options* o = calloc(1, sizeof(*o));
    model_report* r = calloc(1, sizeof(*r));
    if (o == NULL || r == NULL) {
        say("out of memory");
    } else {
        o->gpus = "bench/gpus.csv", o->scenes = "scenes", o->compiler = "nvcc";
        o->command = "./dev bench cuda-model";
        model_count_install();
        if (parse(argc, argv, o, &code)) code = run_program(o, r);
        free(r->kernels.items);
    }
    free(r), free(o);
    return code;
}
