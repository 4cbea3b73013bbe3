// SPDX-License-Identifier: Apache-2.0
// `mabd optimize`: parameters that make a loss small. The result is the loss file with the best
// values, so that every command on losses starts from them.
#include "cli/cli.h"
#include "cli/gradient/command_gradient.h"
#include "cli/gradient/gradient_setup.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/system.h"

#include <jansson.h>
#include <stdlib.h>

static const char NOTES[] =
    "Starts from the values in the loss file, else from those of the scene, and keeps the bounds\n"
    "of the file. --out gets the loss file with the best values: mabd gradient SCENE --loss\n"
    "best.json evaluates them. SIGINT and SIGTERM end it after the iteration; the best values so\n"
    "far are written.\n"
    "Exit codes: 0 done, 2 bad input, 3 the simulation failed, 4 cannot write, 130 and 143\n"
    "stopped by a signal.\n\n"
    "Example: mabd optimize scenes/double-pendulum.json --loss scenes/losses/aim.json "
    "--out best.json";

typedef struct optimize_command {
    gradient_run run;
    int64_t iterations, memory;
    double loss_tolerance, gradient_tolerance;
    mabd_optimize_info info;
    double seconds;
} optimize_command;

static bool show(void* user, const mabd_optimize_step* step) {
    const optimize_command* c = user;
    if (!c->run.options.quiet) {
        printf("%9d  loss %12.6e  gradient %9.3e  step %9.3e  %d runs\n", (int)step->iteration,
               (double)step->loss, (double)step->gradient, (double)step->step, (int)step->runs);
        fflush(stdout);
    }
    return interrupt_signal() == 0;
}

// ---- result ------------------------------------------------------------------------------------

// Values of the parameters of one entry: a number, or an array of them.
static json_t* values_of(const optimize_command* c, int32_t entry) {
    json_t* all = json_array();
    for (int32_t i = 0; i < c->run.losses.parameter_count; i++) {
        if (mabd_loss_entry(c->run.loss, i) != entry) continue;
        json_array_append_new(all, json_real((double)c->run.values[i]));
    }
    if (json_array_size(all) != 1) return all;
    json_t* one = json_incref(json_array_get(all, 0));
    json_decref(all);
    return one;
}

// How the result was found, with all that is needed to repeat it.
static json_t* describe_run(const optimize_command* c) {
    const loaded_scene* loaded = &c->run.loaded;
    json_t* settings = json_object();
    for (int32_t i = 0; i < loaded->setting_count; i++) {
        json_object_set_new(settings, loaded->settings[i].name,
                            json_string(loaded->settings[i].value));
    }
    return json_pack("{ss ss ss ss so sf sI ss si si sf sf sf}", "command",
                     c->run.command != NULL ? c->run.command : "", "version", mabd_version(),
                     "scene", loaded->path, "formulation",
                     mabd_formulation_name(c->run.def.formulation), "settings", settings, "h",
                     (double)c->run.def.h, "steps", (json_int_t)c->run.steps, "reason",
                     mabd_stop_name(c->info.reason), "iterations", (int)c->info.iterations, "runs",
                     (int)c->info.runs, "first_loss", (double)c->info.first_loss, "loss",
                     (double)c->info.loss, "seconds", c->seconds);
}

// Write the loss file with the values of the result.
static int write_best(const optimize_command* c) {
    char message[512] = "out of memory";
    json_t* document = json_load_file(c->run.loss_file, 0, NULL);
    json_t* parameters = json_object_get(document, "parameters");
    for (size_t i = 0; i < json_array_size(parameters); i++) {
        json_object_set_new(json_array_get(parameters, i), "value", values_of(c, (int32_t)i));
    }
    json_object_set_new(document, "run", describe_run(c));
    char* text = document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    const bool written = text != NULL && output_write(c->run.out, text, message, sizeof(message));
    free(text);
    json_decref(document);
    if (written) return CLI_OK;
    fprintf(stderr, "mabd optimize: %s\n", message);
    return CLI_CANNOT_WRITE;
}

static void print_result(const optimize_command* c) {
    char name[320];
    const mabd_optimize_info* info = &c->info;
    static const char* const reasons[] = {
        [MABD_STOP_GRADIENT] = "the gradient is below its tolerance",
        [MABD_STOP_LOSS] = "the loss is below its tolerance",
        [MABD_STOP_FLAT] = "the loss falls no further",
        [MABD_STOP_ITERATIONS] = "all iterations are used up",
        [MABD_STOP_USER] = "stopped",
    };
    printf("end       %s\n", reasons[info->reason]);
    printf("loss      %.6e, at the start %.6e; gradient %.3e\n", (double)info->loss,
           (double)info->first_loss, (double)info->gradient);
    printf("work      %d iterations, %d runs, %.3f s\n", (int)info->iterations, (int)info->runs,
           c->seconds);
    for (int32_t i = 0; i < c->run.losses.parameter_count; i++) {
        const mabd_parameter* p = &c->run.losses.parameters[i];
        printf("%-44s %14.7g %s\n",
               gradient_parameter_name(c->run.loaded.model, p, name, sizeof(name)),
               (double)c->run.values[i], mabd_parameter_unit(c->run.loaded.model, p));
    }
}

static int optimize(optimize_command* c) {
    mabd_error error = {.body = -1, .joint = -1};
    mabd_optimize_def def = mabd_default_optimize_def();
    def.max_iterations = (int32_t)c->iterations;
    def.memory = (int32_t)c->memory;
    def.loss_tolerance = (mabd_real)c->loss_tolerance;
    def.gradient_tolerance = (mabd_real)c->gradient_tolerance;
    def.progress = show;
    def.user = c;
    interrupt_catch();
    const double start = system_seconds();
    const mabd_status status =
        mabd_optimize(c->run.gradient, &def, c->run.values, &c->info, &error);
    c->seconds = system_seconds() - start;
    if (status != MABD_OK) return gradient_run_failed(&c->run, status, &error);
    if (!c->run.options.quiet) print_result(c);
    const int code = c->run.out != NULL ? write_best(c) : CLI_OK;
    return code == CLI_OK && interrupt_signal() != 0 ? CLI_INTERRUPTED + interrupt_signal() : code;
}

static int run_all(void* user) {
    optimize_command* c = user;
    if (c->run.losses.parameter_count == 0) {
        fprintf(stderr, "%s: there are no parameters to optimise\n", c->run.loss_file);
        return CLI_BAD_INPUT;
    }
    if (!c->run.options.quiet) gradient_run_print(&c->run, stdout);
    return optimize(c);
}

int command_optimize(int argc, char** argv) {
    const mabd_optimize_def usual = mabd_default_optimize_def();
    optimize_command* c = calloc(1, sizeof(*c));
    if (c == NULL) return CLI_FAILED;
    c->iterations = usual.max_iterations, c->memory = usual.memory;
    c->gradient_tolerance = (double)usual.gradient_tolerance;
    const option more[] = {
        option_text("loss", "FILE.json", &c->run.loss_file,
                    "parameters and terms of the loss (required)"),
        option_short('o', option_text("out", "BEST.json", &c->run.out,
                                      "write the loss file with the best values")),
        option_integer("iterations", "N", OPTION_POSITIVE, INT32_MAX, &c->iterations, NULL,
                       "most iterations (default 100)"),
        option_integer("memory", "N", OPTION_POSITIVE, 1000, &c->memory, NULL,
                       "pairs of steps that model the curvature (default 10)"),
        option_real("loss-tolerance", "X", OPTION_NOT_NEGATIVE, &c->loss_tolerance, NULL,
                    "end when the loss is not larger (default 0: never)"),
        option_real("gradient-tolerance", "X", OPTION_NOT_NEGATIVE, &c->gradient_tolerance, NULL,
                    "end when no derivative by value / scale is larger (default 1e-8)"),
    };
    const run_command command = {.name = "optimize",
                                 .about = "Find parameters that make a loss over a run small.",
                                 .notes = NOTES,
                                 .more_count = sizeof(more) / sizeof(more[0]),
                                 .more = more,
                                 .without = gradient_run_without,
                                 .formulation = gradient_run_formulation()};
    const int code = gradient_run_on_loss(&c->run, &command, argc, argv, run_all, c);
    free(c);
    return code;
}
