// SPDX-License-Identifier: Apache-2.0
// `mabd compare`: one scene, several formulations, integrators and steps.
//
// The reference runs first, at a quarter of the smallest step. Then every method (formulation and
// integrator) runs with every step, from the largest to the smallest, and is compared with the
// reference at instants that all runs share. Three steps of a method give its order.
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

#define STEPS_MAX       16
#define STEPS_DEFAULT   3       // that of the scene, its half and its quarter: they give an order
#define REFERENCE_PARTS 4       // of the smallest step
#define NO_REFERENCE    "none"  // value of --reference
#define INSTANTS_MAX    240     // enough for a picture
#define POSES_MAX       2000000 // of one path, 110 MB
#define TIME_ROUND_OFF  1e-6    // of the time of a run over its step

typedef struct compare_options {
    run_options run; // without formulation, integrator and h
    const char *formulations, *integrators, *steps, *reference, *csv, *svg, *html;
} compare_options;

typedef struct comparison {
    compare_options options;
    loaded_scene loaded;
    int32_t formulation_count, integrator_count, h_count;
    int formulations[MABD_FORMULATION_COUNT], integrators[MABD_INTEGRATOR_COUNT];
    bool without_reference;
    int reference;       // formulation of the reference, -1 = the first that completes
    double h[STEPS_MAX]; // (h_count) falling
    int64_t steps[STEPS_MAX], every[STEPS_MAX]; // (h_count)
    compare_report report;
} comparison;

// Options of `mabd run` that are lists here, or belong to a single run.
static const char* const WITHOUT[] = {"formulation", "integrator", "h",          "steps",
                                      "out",         "every",      "checkpoint", "checkpoint-every",
                                      "resume",      "quiet",      NULL};

static const char NOTES[] =
    "The reference is a run of the first formulation that can do the scene, or of --reference, "
    "with\n"
    "a quarter of the smallest step: pose differences are the largest over bodies and times. The\n"
    "order of a method is observed in its own positions over three steps. A formulation that "
    "cannot\n"
    "do the scene is a row with its reason. Without --time the scene sets it.\n"
    "Exit codes: 0 done, 2 bad input, 3 none can do the scene, 4 cannot write.\n\n"
    "Example: mabd compare scenes/four-bar.json --h 0.004,0.002,0.001 --html four-bar.html";

static bool parse_options(int argc, char** argv, compare_options* o, int* code) {
    const option options[] = {
        option_text("formulation", "NAME,...", &o->formulations,
                    "formulations, that of the reference first (default: all that are built)"),
        option_text("integrator", "NAME,...", &o->integrators,
                    "integrators of each (default: the formulation's own)"),
        option_text("h", "H,...", &o->steps,
                    "time steps [s] (default: the scene's, else 0.01, its half and its quarter)"),
        option_text("reference", "NAME|none", &o->reference,
                    "formulation of the reference; none = no pose differences"),
        option_text("csv", "FILE|-", &o->csv, "write the rows as a table; - = standard output"),
        option_text("svg", "FILE|-", &o->svg,
                    "draw differences and energy against the step, with one step against time, and "
                    "the difference against the cost"),
        option_text("html", "FILE|-", &o->html, "write table and picture as one page"),
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

static int check_reference(comparison* c) {
    const char* name = c->options.reference;
    c->without_reference = name != NULL && strcmp(name, NO_REFERENCE) == 0;
    c->reference = name == NULL || c->without_reference ? -1 : mabd_formulation_find(name);
    if (name == NULL || c->without_reference || c->reference >= 0) return CLI_OK;
    return say_unknown("reference", name);
}

static int falling(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

// Read --h: different steps, falling.
static int check_steps(comparison* c) {
    if (c->options.steps == NULL) return CLI_OK;
    c->h_count = options_reals(c->options.steps, STEPS_MAX, c->h);
    if (c->h_count == 0) {
        return say("--h: expected at most 16 steps > 0, as H,H,...", CLI_BAD_INPUT);
    }
    qsort(c->h, (size_t)c->h_count, sizeof(c->h[0]), falling);
    for (int32_t i = 1; i < c->h_count; i++) {
        if (c->h[i] == c->h[i - 1]) return say("--h: a step is given twice", CLI_BAD_INPUT);
    }
    return CLI_OK;
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
    const int code = check_reference(c);
    return code != CLI_OK ? code : check_steps(c);
}

static int check_options(comparison* c) {
    const compare_options* o = &c->options;
    const path_use uses[] = {{PATH_SCENE, "SCENE", o->run.scene},
                             {PATH_WRITTEN, "--json", o->run.json},
                             {PATH_WRITTEN, "--csv", o->csv},
                             {PATH_WRITTEN, "--svg", o->svg},
                             {PATH_WRITTEN, "--html", o->html}};
    const int32_t count = sizeof(uses) / sizeof(uses[0]);
    int streams = 0;
    for (int32_t i = 1; i < count; i++) streams += output_is_stdout(uses[i].path);
    if (streams > 1) {
        return say("only one of --json, --csv, --svg and --html can go to standard output",
                   CLI_BAD_INPUT);
    }
    const int code = check_lists(c);
    return code != CLI_OK ? code : path_use_check("compare", count, uses);
}

// ---- rows --------------------------------------------------------------------------------------

static mabd_sim_def make_def(const comparison* c, int formulation, int integrator, double h) {
    run_options options = c->options.run;
    options.formulation = formulation; // flags that several share go to this one
    mabd_sim_def def = run_make_def(&options, &c->loaded);
    def.integrator = (mabd_integrator)integrator;
    def.h = (mabd_real)h;
    return def;
}

// Run a row that is not yet in the report; null: out of memory.
static compare_row* run_row(comparison* c, const mabd_sim_def* def, int64_t steps, int64_t every) {
    compare_row* row = &c->report.rows[c->report.count];
    *row = (compare_row){.steps = steps, .every = every};
    if (compare_run(c->loaded.model, def, c->loaded.info.bodies, row)) return row;
    compare_path_release(&row->path);
    return NULL;
}

static void keep_row(comparison* c, const compare_row* row) {
    c->report.count++;
    compare_report_row(&c->report, row);
}

// Try a formulation as reference, with the first of the integrators that completes. *row becomes
// the last row that was tried.
static int try_reference(comparison* c, int formulation, compare_row** row) {
    const int32_t last = c->h_count - 1;
    for (int32_t i = 0; i < c->integrator_count; i++) {
        const mabd_sim_def def =
            make_def(c, formulation, c->integrators[i], c->h[last] / REFERENCE_PARTS);
        *row = run_row(c, &def, c->steps[last] * REFERENCE_PARTS, c->every[last] * REFERENCE_PARTS);
        if (*row == NULL) return say("out of memory", CLI_FAILED);
        if ((*row)->complete) return CLI_OK;
        compare_path_release(&(*row)->path);
    }
    return CLI_OK;
}

// Find the reference. Without --reference formulations that cannot be it are left out here: their
// own rows have the reason.
static int run_reference(comparison* c) {
    compare_row* row = NULL;
    int code = CLI_OK;
    if (c->without_reference) return CLI_OK;
    if (c->reference >= 0) {
        code = try_reference(c, c->reference, &row);
    } else {
        for (int32_t f = 0; code == CLI_OK && f < c->formulation_count; f++) {
            code = try_reference(c, c->formulations[f], &row);
            if (row == NULL || row->complete) break;
        }
    }
    if (code != CLI_OK) return code;
    if (!row->complete && c->reference < 0) return CLI_OK;
    row->reference = true;
    if (row->complete) {
        compare_difference(row, row);
        c->report.reference = row;
    }
    keep_row(c, row);
    return CLI_OK;
}

// The row `back` places before a complete one, if it is complete and of the same method.
static const compare_row* row_above(const comparison* c, const compare_row* row, int32_t back) {
    const int32_t at = (int32_t)(row - c->report.rows) - back;
    const compare_row* above = at >= 0 ? &c->report.rows[at] : NULL;
    const bool same = above != NULL && above->complete && !above->reference &&
                      above->formulation == row->formulation &&
                      above->integrator == row->integrator;
    return same ? above : NULL;
}

// One method with all steps.
static int run_method(comparison* c, int formulation, int integrator) {
    const int32_t first = c->report.count;
    for (int32_t i = 0; i < c->h_count; i++) {
        const mabd_sim_def def = make_def(c, formulation, integrator, c->h[i]);
        compare_row* row = run_row(c, &def, c->steps[i], c->every[i]);
        if (row == NULL) return say("out of memory", CLI_FAILED);
        if (row->complete && c->report.reference != NULL) {
            compare_difference(c->report.reference, row);
        }
        const compare_row* middle = i >= 1 ? row_above(c, row, 1) : NULL;
        const compare_row* coarse = i >= 2 ? row_above(c, row, 2) : NULL;
        if (row->complete && middle != NULL && coarse != NULL) compare_order(coarse, middle, row);
        if (c->report.count - 2 >= first) {
            compare_path_forget(&c->report.rows[c->report.count - 2].path);
        }
        // a reason that does not depend on the step is told once
        const compare_row* last = i >= 1 ? row - 1 : NULL;
        if (last == NULL || row->complete || strcmp(row->outcome, last->outcome) != 0) {
            keep_row(c, row);
        }
    }
    for (int32_t i = first; i < c->report.count; i++) compare_path_forget(&c->report.rows[i].path);
    return CLI_OK;
}

static int run_all(comparison* c) {
    int code = run_reference(c);
    for (int32_t f = 0; f < c->formulation_count; f++) {
        for (int32_t i = 0; i < c->integrator_count && code == CLI_OK; i++) {
            code = run_method(c, c->formulations[f], c->integrators[i]);
        }
    }
    return code;
}

// ---- the command -------------------------------------------------------------------------------

static int64_t greatest_divisor(int64_t a, int64_t b) {
    return b == 0 ? a : greatest_divisor(b, a % b);
}

// Choose instants that all runs share: of n_i steps, with the greatest common divisor g, every
// e n_i / g steps.
static void choose_instants(comparison* c) {
    const int64_t bodies = c->loaded.info.bodies > 0 ? c->loaded.info.bodies : 1;
    int64_t most = POSES_MAX / bodies, g = 0;
    for (int32_t i = 0; i < c->h_count; i++) g = greatest_divisor(c->steps[i], g);
    if (most > INSTANTS_MAX) most = INSTANTS_MAX;
    if (most < 1) most = 1;
    const int64_t e = g / most + (g % most != 0);
    for (int32_t i = 0; i < c->h_count; i++) c->every[i] = e * (c->steps[i] / g);
}

// All steps must divide the time of the largest one.
static int count_steps(comparison* c) {
    double wanted = 0;
    const int code = run_count_steps(&c->options.run, &c->loaded, c->h[0], &c->steps[0], &wanted);
    if (code != CLI_OK) return code;
    if (c->steps[0] == 0) return say("--h: longer than the run", CLI_BAD_INPUT);
    c->report.time = (double)c->steps[0] * c->h[0];
    for (int32_t i = 1; i < c->h_count; i++) {
        const double steps = c->report.time / c->h[i];
        char message[160];
        if (steps > 1e15) return say("--h: too many steps", CLI_BAD_INPUT);
        c->steps[i] = (int64_t)llround(steps);
        if (fabs(steps - (double)c->steps[i]) <= TIME_ROUND_OFF) continue;
        snprintf(message, sizeof(message),
                 "--h: %g s is not a whole number of steps of %g s: poses are compared at the same "
                 "times",
                 c->report.time, c->h[i]);
        return say(message, CLI_BAD_INPUT);
    }
    choose_instants(c);
    return CLI_OK;
}

static int load(comparison* c) {
    const run_options* o = &c->options.run;
    c->loaded.close_joints = o->close_joints;
    c->loaded.young = o->young;
    const int code = load_scene("compare", o->scene, &o->settings, o->memory_limit, &c->loaded);
    if (code != CLI_OK) return code;
    load_say_warnings(&c->loaded);
    for (double h = (double)run_make_def(o, &c->loaded).h;
         c->options.steps == NULL && c->h_count < STEPS_DEFAULT; h /= 2) {
        c->h[c->h_count++] = h;
    }
    return count_steps(c);
}

static void describe(comparison* c, const char* command) {
    compare_report* r = &c->report;
    const compare_options* o = &c->options;
    r->json = o->run.json, r->csv = o->csv, r->svg = o->svg, r->html = o->html;
    r->scene = mabd_model_name(c->loaded.model);
    r->command = command;
    r->preset = mabd_preset_name((mabd_preset)o->run.preset);
    r->bodies = c->loaded.info.bodies;
    r->joints = c->loaded.info.joints;
    r->rows_of_joints = c->loaded.info.rows;
    system_machine(r->machine, sizeof(r->machine));
    const bool taken = output_is_stdout(r->json) || output_is_stdout(o->csv) ||
                       output_is_stdout(o->svg) || output_is_stdout(o->html);
    r->text = taken ? stderr : stdout;
}

static int run(comparison* c, const char* command) {
    int code = check_options(c);
    if (code == CLI_OK) code = load(c);
    if (code != CLI_OK) return code;
    describe(c, command);
    c->report.capacity = 1 + c->formulation_count * c->integrator_count * c->h_count;
    c->report.rows = calloc((size_t)c->report.capacity, sizeof(compare_row));
    if (c->report.rows == NULL) return say("out of memory", CLI_FAILED);
    compare_report_head(&c->report);
    code = run_all(c);
    if (code != CLI_OK) return code;
    bool any = false;
    for (int32_t i = 0; i < c->report.count; i++) {
        any = any || (c->report.rows[i].complete && !c->report.rows[i].reference);
    }
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
