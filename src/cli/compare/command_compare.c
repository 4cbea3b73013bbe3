// SPDX-License-Identifier: Apache-2.0
// `mabd compare`: one scene, several formulations, integrators and steps.
//
// For each step h, every pair of formulation and integrator runs in the order of the lists. The
// first one that completes is the reference of this h: the others are compared with its poses at
// the same instants, so two methods of order p differ by O(h^p).
#include "cli/compare/command_compare.h"

#include "cli/cli.h"
#include "cli/compare/compare_report.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/run_extra.h"
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 16

typedef struct compare_options {
    run_options run; // without formulation, integrator and h
    const char *formulations, *integrators, *steps, *csv, *svg;
} compare_options;

typedef struct comparison {
    compare_options options;
    loaded_scene loaded;
    int32_t formulation_count, integrator_count, h_count;
    int formulations[MABD_FORMULATION_COUNT], integrators[MABD_INTEGRATOR_COUNT];
    double h[STEPS_MAX];
    compare_report report;
} comparison;

// Options of `mabd run` that are lists here, or belong to a single run.
static const char* const WITHOUT[] = {"formulation", "integrator", "h",          "steps",
                                      "out",         "every",      "checkpoint", "checkpoint-every",
                                      "resume",      "quiet",      NULL};

static const char NOTES[] =
    "For each step the first pair of formulation and integrator that completes is the reference:\n"
    "pose differences of the others are the largest over bodies and times. A formulation that\n"
    "cannot do the scene is a row with its reason. Without --time and --h the scene sets them.\n"
    "Exit codes: 0 done, 2 bad input, 3 none can do the scene, 4 cannot write.\n\n"
    "Example: mabd compare scenes/four-bar.json --formulation affine,quaternion --h 0.004,0.002";

static bool parse_options(int argc, char** argv, compare_options* o, int* code) {
    const option options[] = {
        option_text("formulation", "NAME,...", &o->formulations,
                    "formulations, the reference first (default: all that are built)"),
        option_text("integrator", "NAME,...", &o->integrators,
                    "integrators of each (default: the formulation's own)"),
        option_text("h", "H,...", &o->steps, "time steps [s] (default: the scene's, else 0.01)"),
        option_text("csv", "FILE|-", &o->csv, "write the rows as a table; - = standard output"),
        option_text("svg", "FILE|-", &o->svg,
                    "draw differences and energy against the step, with one step against time"),
    };
    const run_command command = {.name = "compare",
                                 .about = "Compare formulations, integrators and steps on one "
                                          "scene.",
                                 .notes = NOTES,
                                 .more_count = sizeof(options) / sizeof(options[0]),
                                 .more = options,
                                 .without = WITHOUT};
    return run_options_read(&command, argc, argv, &o->run, code);
}

static int say(const char* text, int code) {
    fprintf(stderr, "mabd compare: %s\n", text);
    return code;
}

// ---- checks ------------------------------------------------------------------------------------

static int say_unknown(const char* flag, const char* name) {
    char message[128];
    snprintf(message, sizeof(message), "--%s: unknown name '%s', or too many", flag, name);
    return say(message, CLI_BAD_INPUT);
}

static int check_lists(comparison* c) {
    const compare_options* o = &c->options;
    char unknown[64];
    for (int i = 0; o->formulations == NULL && i < MABD_FORMULATION_COUNT; i++) {
        const bool built = mabd_formulation_get_info((mabd_formulation)i).built;
        if (built) c->formulations[c->formulation_count++] = i;
    }
    if (o->formulations != NULL) {
        c->formulation_count =
            options_find_all(o->formulations, mabd_formulation_find, MABD_FORMULATION_COUNT,
                             c->formulations, unknown, sizeof(unknown));
        if (c->formulation_count == 0) return say_unknown("formulation", unknown);
    }
    c->integrator_count = 1; // auto
    if (o->integrators != NULL) {
        c->integrator_count =
            options_find_all(o->integrators, mabd_integrator_find, MABD_INTEGRATOR_COUNT,
                             c->integrators, unknown, sizeof(unknown));
        if (c->integrator_count == 0) return say_unknown("integrator", unknown);
    }
    if (o->steps == NULL) return CLI_OK;
    c->h_count = options_reals(o->steps, STEPS_MAX, c->h);
    if (c->h_count > 0) return CLI_OK;
    return say("--h: expected at most 16 steps > 0, as H,H,...", CLI_BAD_INPUT);
}

static int check_options(comparison* c) {
    const compare_options* o = &c->options;
    const char* json = o->run.json;
    if (output_is_stdout(json) + output_is_stdout(o->csv) + output_is_stdout(o->svg) > 1) {
        return say("only one of --json, --csv and --svg can go to standard output", CLI_BAD_INPUT);
    }
    const path_use uses[] = {{PATH_SCENE, "SCENE", o->run.scene},
                             {PATH_WRITTEN, "--json", json},
                             {PATH_WRITTEN, "--csv", o->csv},
                             {PATH_WRITTEN, "--svg", o->svg}};
    const int code = check_lists(c);
    return code != CLI_OK ? code : path_use_check("compare", 4, uses);
}

// ---- rows --------------------------------------------------------------------------------------

static mabd_sim_def make_def(const comparison* c, int formulation, int integrator, double h) {
    mabd_sim_def def = run_make_def(&c->options.run, &c->loaded);
    def.formulation = (mabd_formulation)formulation;
    def.integrator = (mabd_integrator)integrator;
    def.h = (mabd_real)h;
    return def;
}

static int add_row(comparison* c, const mabd_sim_def* def, const compare_row** reference) {
    compare_report* r = &c->report;
    compare_row* row = &r->rows[r->count++];
    row->steps = (int64_t)llround(r->time / (double)def->h);
    if (!compare_run(c->loaded.model, def, c->loaded.info.bodies, row)) {
        return say("out of memory", CLI_FAILED);
    }
    if (row->complete && *reference == NULL) {
        row->reference = true;
        *reference = row;
    }
    if (row->complete) compare_difference(*reference, row);
    if (row != *reference) compare_path_forget(&row->path);
    compare_report_row(r, row);
    return CLI_OK;
}

// All pairs of formulation and integrator at one step.
static int run_step(comparison* c, double h) {
    const compare_row* reference = NULL;
    for (int32_t f = 0; f < c->formulation_count; f++) {
        for (int32_t i = 0; i < c->integrator_count; i++) {
            const mabd_sim_def def = make_def(c, c->formulations[f], c->integrators[i], h);
            const int code = add_row(c, &def, &reference);
            if (code != CLI_OK) return code;
        }
    }
    for (int32_t i = 0; i < c->report.count; i++) compare_path_forget(&c->report.rows[i].path);
    return CLI_OK;
}

// ---- the command -------------------------------------------------------------------------------

static int load(comparison* c) {
    const run_options* o = &c->options.run;
    c->loaded.close_joints = o->close_joints;
    c->loaded.young = o->young;
    int code = load_scene("compare", o->scene, &o->settings, o->memory_limit, &c->loaded);
    if (code != CLI_OK) return code;
    load_say_warnings(&c->loaded);
    if (c->h_count == 0) c->h[c->h_count++] = (double)run_make_def(o, &c->loaded).h;
    for (int32_t i = 0; i < c->h_count && code == CLI_OK; i++) {
        int64_t steps = 0;
        code = run_count_steps(o, &c->loaded, c->h[i], &steps, &c->report.time);
        if (code == CLI_OK && steps == 0) code = say("--h: longer than the run", CLI_BAD_INPUT);
    }
    return code;
}

static void describe(comparison* c, const char* command) {
    compare_report* r = &c->report;
    const compare_options* o = &c->options;
    r->json = o->run.json, r->csv = o->csv, r->svg = o->svg;
    r->scene = mabd_model_name(c->loaded.model);
    r->command = command;
    r->preset = mabd_preset_name((mabd_preset)o->run.preset);
    r->bodies = c->loaded.info.bodies;
    r->joints = c->loaded.info.joints;
    r->rows_of_joints = c->loaded.info.rows;
    system_machine(r->machine, sizeof(r->machine));
    const bool taken =
        output_is_stdout(r->json) || output_is_stdout(o->csv) || output_is_stdout(o->svg);
    r->text = taken ? stderr : stdout;
}

static int run(comparison* c, const char* command) {
    int code = check_options(c);
    if (code == CLI_OK) code = load(c);
    if (code != CLI_OK) return code;
    describe(c, command);
    c->report.capacity = c->formulation_count * c->integrator_count * c->h_count;
    c->report.rows = calloc((size_t)c->report.capacity, sizeof(compare_row));
    if (c->report.rows == NULL) return say("out of memory", CLI_FAILED);
    compare_report_head(&c->report);
    for (int32_t i = 0; i < c->h_count && code == CLI_OK; i++) code = run_step(c, c->h[i]);
    if (code != CLI_OK) return code;
    bool any = false;
    for (int32_t i = 0; i < c->report.count; i++) any = any || c->report.rows[i].complete;
    code = compare_report_write(&c->report);
    if (code != CLI_OK || any) return code;
    return say("none of them can simulate the scene", CLI_FAILED);
}

int command_compare(int argc, char** argv) {
    int code = CLI_FAILED;
    comparison* c = calloc(1, sizeof(*c));
    char* command = load_join_command("compare", argc, argv);
    if (c == NULL || command == NULL) {
        say("out of memory", CLI_FAILED);
    } else {
        if (parse_options(argc, argv, &c->options, &code)) {
            code = run(c, command);
            for (int32_t i = 0; i < c->report.count; i++) {
                compare_path_release(&c->report.rows[i].path);
            }
            free(c->report.rows);
            load_release(&c->loaded);
        }
    }
    free(command);
    free(c);
    return code;
}
