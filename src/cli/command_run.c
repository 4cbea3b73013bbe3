// SPDX-License-Identifier: Apache-2.0
// `mabd run`: scene -> simulation -> recording, checkpoints, summary.
//
// Order within a step: step, measure, record, checkpoint. A frame is on disk before the checkpoint
// that counts it, so a run killed at any moment continues from its checkpoint and finds every frame
// up to there.
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_extra.h"
#include "cli/run_options.h"
#include "cli/run_stats.h"
#include "cli/run_warnings.h"
#include "cli/summary.h"
#include "cli/system.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_H        0.01 // [s]
#define DEFAULT_DURATION 10.0 // [s]

// Relative difference of a duration and a whole number of steps that is round-off: decimal numbers
// such as 0.3 s in steps of 0.1 s differ by 1e-16, a single step of 1e7 by 1e-7.
#define ROUNDING_TOLERANCE 1e-9

static const char NOTES[] =
    "Frames and checkpoints are written at steps 0, K, 2K, ...; the checkpoint also at the end\n"
    "and on SIGINT and SIGTERM. Without --time and --steps the scene sets the duration, else 10 "
    "s.\n"
    "Exit codes: 0 done, 2 bad input, 3 the simulation failed, 4 cannot write, 130 and 143\n"
    "stopped by a signal.\n\n"
    "Example: mabd run scenes/chain.json --set links=1000 --time 5 --out chain.h5";

// ---- the run -----------------------------------------------------------------------------------

typedef struct run {
    run_options options;
    const run_extra* extra; // null = none
    loaded_scene loaded;
    mabd_sim* sim;
    mabd_recorder* recorder;
    run_stats stats;
    run_warnings warnings;
    FILE* text;          // where reports go, null = quiet
    char* command;       // command line of this run
    int64_t total_steps; // of the whole run, before and after a resume
    double create_seconds, wall_seconds;
    char failed[1024]; // failure of a step, "" = none
} run;

static void say(const run* r, const char* format, ...) {
    if (r->text == NULL) return;
    va_list list;
    va_start(list, format);
    vfprintf(r->text, format, list);
    va_end(list);
}

static const char* error_text(const mabd_error* error, mabd_status status) {
    return error->text[0] != '\0' ? error->text : mabd_status_text(status);
}

// Print an error about a file; returns its exit code.
static int say_file_error(const run* r, const char* path, mabd_status status,
                          const mabd_error* error) {
    load_say_file(r->options.name, path, status, error);
    if (status == MABD_ERR_INPUT) return CLI_BAD_INPUT;
    return status == MABD_ERR_MEMORY ? CLI_FAILED : CLI_CANNOT_WRITE;
}

// Write the matrix of the Newton iteration where the formulation looks for it.
static void set_newton(mabd_sim_def* def, mabd_newton newton) {
    const bool variational = def->formulation == MABD_FORMULATION_VARIATIONAL;
    *(variational ? &def->variational.newton : &def->quaternion.newton) = newton;
}

// A count for a definition, which refuses what is too large.
static int32_t clamp_int(int64_t n) {
    return n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

// Set the fields of the impulse formulation that are given.
static void set_impulse(const run_options* o, mabd_impulse_def* own) {
    if (o->sweeps_given) own->sweeps = clamp_int(o->sweeps);
    if (o->relaxations_given) own->relaxations = clamp_int(o->relaxations);
    if (o->joints >= 0) own->joints = (mabd_impulse_joints)o->joints;
    if (o->correction >= 0) own->correction = (mabd_correction)o->correction;
    if (o->slop_given) own->slop = (mabd_real)o->slop;
    if (o->contact_hertz_given) own->contact_hertz = (mabd_real)o->contact_hertz;
    if (o->joint_hertz_given) own->joint_hertz = (mabd_real)o->joint_hertz;
}

mabd_sim_def run_make_def(const run_options* o, const loaded_scene* loaded) {
    mabd_sim_def def = mabd_default_sim_def();
    double suggested = mabd_model_suggested_h(loaded->model);
    mabd_sim_def_apply_preset(&def, (mabd_preset)o->preset);
    def.formulation = (mabd_formulation)o->formulation;
    def.backend = (mabd_backend)o->backend;
    def.integrator = (mabd_integrator)o->integrator;
    def.dual = (mabd_dual)o->dual;
    if (o->gap_tolerance_given) def.gap_tolerance = (mabd_real)o->gap_tolerance;
    if (o->contact_tolerance_given) def.contact_tolerance = (mabd_real)o->contact_tolerance;
    if (o->pile_tolerance_given) def.affine.pile_tolerance = (mabd_real)o->pile_tolerance;
    if (o->friction_updates_given) def.affine.friction_updates = (int32_t)o->friction_updates;
    def.affine.orbit = o->orbit == 0;
    def.affine.sleep = o->sleep == 1;
    const bool redmax = def.formulation == MABD_FORMULATION_REDMAX;
    const bool impulse = def.formulation == MABD_FORMULATION_IMPULSE;
    if (o->newton_tolerance_given) {
        mabd_real* own = redmax ? &def.redmax.newton_tolerance : &def.quaternion.newton_tolerance;
        *own = (mabd_real)o->newton_tolerance;
    }
    if (o->baumgarte_given) {
        mabd_real* own = redmax ? &def.redmax.baumgarte : &def.quaternion.baumgarte;
        if (impulse) own = &def.impulse.baumgarte;
        *own = (mabd_real)o->baumgarte;
    }
    def.redmax.coordinates = (mabd_coordinates)o->coordinates;
    def.redmax.baumgarte_level = (mabd_baumgarte_level)o->baumgarte_level;
    if (o->energy_guard_given) def.redmax.energy_guard = (mabd_real)o->energy_guard;
    if (o->bdf2_start != MABD_INTEGRATOR_AUTO) {
        def.quaternion.bdf2_start = (mabd_integrator)o->bdf2_start;
    }
    set_impulse(o, &def.impulse);
    def.redmax.contacts = (mabd_contact_problem)o->contacts;
    def.quaternion.redundancy = (mabd_redundancy)o->redundancy;
    def.quaternion.solver = (mabd_solver)o->solver;
    def.quaternion.multipliers = (mabd_multipliers)o->multipliers;
    set_newton(&def, (mabd_newton)o->newton);
    if (o->substeps_given) {
        int32_t* own = impulse ? &def.impulse.substeps : &def.variational.substeps;
        *own = clamp_int(o->substeps);
    }
    if (o->cone_sides_given) def.variational.cone_sides = clamp_int(o->cone_sides);
    def.variational.cone = (mabd_cone)o->cone;
    def.h = (mabd_real)(o->h_given ? o->h : suggested > 0 ? suggested : DEFAULT_H);
    def.threads = (int32_t)o->threads;
    def.allocator = &loaded->allocator;
    return def;
}

// Report a duration that was rounded to whole steps.
static void warn_of_rounding(run* r, double duration, double h) {
    const double simulated = (double)r->total_steps * h;
    if (fabs(simulated - duration) <= ROUNDING_TOLERANCE * duration) return;
    run_warnings_add(&r->warnings,
                     "%s %.12g s is not a whole number of steps of %.12g s: simulating %lld steps, "
                     "%.12g s",
                     r->options.time_given ? "--time" : "the duration of the scene,", duration, h,
                     (long long)r->total_steps, simulated);
}

int run_count_steps(const run_options* o, const loaded_scene* loaded, double h, int64_t* steps,
                    double* duration) {
    double suggested = mabd_model_suggested_duration(loaded->model);
    *duration = o->time_given ? o->time : suggested > 0 ? suggested : DEFAULT_DURATION;
    *steps = o->steps;
    if (o->steps_given) {
        *duration = (double)*steps * h;
        return CLI_OK;
    }
    if (*duration / h > 1e15) return run_options_say(o, "--time: too many steps of this h");
    *steps = (int64_t)llround(*duration / h);
    return CLI_OK;
}

static int count_steps(run* r, double h) {
    double duration = 0;
    const int code = run_count_steps(&r->options, &r->loaded, h, &r->total_steps, &duration);
    if (code == CLI_OK) warn_of_rounding(r, duration, h);
    return code;
}

static void print_plan(const run* r, const mabd_sim_def* def) {
    const mabd_model_info* info = &r->loaded.info;
    char components[128];
    say(r, "scene     %s: %d bodies, %d joints, %d rows; components: %s\n",
        mabd_model_name(r->loaded.model), (int)info->bodies, (int)info->joints, (int)info->rows,
        load_format_components(info, components, sizeof(components)));
    say(r, "run       %s on %s, %d thread%s, %s, %s, h = %g s, %lld steps, %g s\n",
        mabd_formulation_name(def->formulation), mabd_backend_name(def->backend), (int)def->threads,
        def->threads > 1 ? "s" : "", mabd_integrator_name(def->integrator),
        mabd_preset_name((mabd_preset)r->options.preset), (double)def->h, (long long)r->total_steps,
        (double)r->total_steps * (double)def->h);
}

static void print_memory(const run* r) {
    const mabd_model_info* info = &r->loaded.info;
    double of_model = (double)info->bytes_model, of_sim = (double)mabd_sim_bytes(r->sim);
    char model[32], sim[32], body[32];
    say(r, "memory    model %s, simulation %s, %s per body\n",
        system_format_bytes(of_model, model, sizeof(model)),
        system_format_bytes(of_sim, sim, sizeof(sim)),
        system_format_bytes((of_model + of_sim) / (double)info->bodies, body, sizeof(body)));
    double device = (double)mabd_sim_device_bytes(r->sim);
    if (device > 0) {
        say(r, "device    %s, %s per body\n", system_format_bytes(device, sim, sizeof(sim)),
            system_format_bytes(device / (double)info->bodies, body, sizeof(body)));
    }
    if (r->text != NULL) fflush(r->text);
}

static int create_sim(run* r, const mabd_sim_def* def) {
    mabd_error error = {0};
    double start = system_seconds();
    mabd_status status = mabd_sim_create(r->loaded.model, def, &r->sim, &error);
    r->create_seconds = system_seconds() - start;
    if (status == MABD_OK) {
        // the run that wrote the checkpoint has reported the warnings of its start
        if (r->options.resume != NULL) r->warnings.read = mabd_sim_warnings(r->sim, 0, NULL);
        run_warnings_collect(&r->warnings, r->sim);
        return CLI_OK;
    }
    return load_say_refused(&r->loaded, def, status, &error);
}

static void warn_of_overlap(run* r) {
    const double depth = r->stats.start_overlap;
    char a[256], b[256];
    if (depth <= SUMMARY_OVERLAP) return;
    mabd_model_body_name(r->loaded.model, (int32_t)r->stats.overlap_a, a, sizeof(a));
    mabd_model_body_name(r->loaded.model, (int32_t)r->stats.overlap_b, b, sizeof(b));
    run_warnings_add(&r->warnings,
                     "'%s' and '%s' overlap by %.*f mm at the start; they are moved apart slowly",
                     a, b, depth < 1e-4 ? 4 : 1, 1e3 * depth);
}

static int start_scene(run* r) {
    const int64_t every =
        run_stats_sample_interval(r->loaded.info.bodies, r->options.every, r->total_steps);
    if (run_stats_start(&r->stats, r->sim, every) != MABD_OK) {
        fprintf(stderr, "mabd %s: out of memory for the contacts at the start\n", r->options.name);
        return CLI_FAILED;
    }
    warn_of_overlap(r);
    return CLI_OK;
}

// Set the start state of the scene, or that of a checkpoint.
static int start_state(run* r) {
    const run_options* o = &r->options;
    if (o->resume == NULL) return start_scene(r);
    mabd_error error = {0};
    mabd_status status =
        mabd_checkpoint_read(o->resume, r->sim, &r->stats, sizeof(r->stats), &error);
    bool usable = status == MABD_OK && r->stats.version == RUN_STATS_VERSION &&
                  r->stats.steps == mabd_sim_step_count(r->sim) && r->stats.sample_every >= 1;
    if (status == MABD_ERR_IO) { // its text holds the path
        fprintf(stderr, "mabd %s: cannot resume: %s\n", o->name, error.text);
        return CLI_BAD_INPUT;
    }
    if (!usable) {
        fprintf(stderr, "mabd %s: cannot resume from %s: %s\n", o->name, o->resume,
                status == MABD_OK ? "it was not written by mabd run or mabd batch"
                                  : error_text(&error, status));
        return status == MABD_ERR_MEMORY ? CLI_FAILED : CLI_BAD_INPUT;
    }
    if (r->stats.steps > r->total_steps) {
        fprintf(stderr,
                "mabd %s: cannot resume from %s: it is at step %lld, after the end of the run at "
                "%lld\n",
                o->name, o->resume, (long long)r->stats.steps, (long long)r->total_steps);
        return CLI_BAD_INPUT;
    }
    say(r, "resume    from step %lld, t = %g s\n", (long long)r->stats.steps,
        (double)mabd_sim_time(r->sim));
    return CLI_OK;
}

// The frames of a recording that a resumed run keeps must be those of its own --every: after the
// first frame, the multiples of K. Frames that are missing at the end are allowed.
static int check_every(const run* r) {
    const run_options* o = &r->options;
    const double h = (double)mabd_sim_get_def(r->sim).h;
    mabd_recording* recording = NULL;
    int64_t last = 0, step = 0;
    int code = CLI_OK;
    // mabd_recorder_reopen refuses files that are no recordings
    if (mabd_recording_open(o->out, &recording, NULL) != MABD_OK) return CLI_OK;
    for (int32_t i = 0; code == CLI_OK && i < mabd_recording_frame_count(recording); i++) {
        step = (int64_t)llround((double)mabd_recording_time(recording, i) / h);
        if (step > r->stats.steps) break;
        if (i > 0 && step != (last / o->every + 1) * o->every) code = CLI_BAD_INPUT;
        if (code == CLI_OK) last = step;
    }
    mabd_recording_close(recording);
    if (code == CLI_OK) return CLI_OK;
    fprintf(stderr,
            "mabd %s: cannot resume: %s has frames at steps %lld and %lld, expected every %lld "
            "steps (--every %lld): use the --every of the first run, or another --out\n",
            o->name, o->out, (long long)last, (long long)step, (long long)o->every,
            (long long)o->every);
    return code;
}

static int open_recording(run* r) {
    const run_options* o = &r->options;
    if (o->out == NULL) return CLI_OK;
    mabd_error error = {0};
    mabd_status status;
    if (o->resume != NULL && access(o->out, F_OK) == 0) {
        const int code = check_every(r);
        if (code != CLI_OK) return code;
        status = mabd_recorder_reopen(o->out, r->sim, &r->recorder, &error);
    } else {
        mabd_record_def def = {.scene_text = r->loaded.text,
                               .setting_count = r->loaded.setting_count,
                               .settings = r->loaded.settings,
                               .command = r->command,
                               .contacts = o->record_contacts,
                               .controls = o->record_controls};
        if (r->extra != NULL) r->extra->record(r->extra->context, &def);
        status = mabd_recorder_create(o->out, r->sim, &def, &r->recorder, &error);
        if (status == MABD_OK) status = mabd_recorder_append(r->recorder, r->sim, &error);
    }
    return status == MABD_OK ? CLI_OK : say_file_error(r, o->out, status, &error);
}

static int write_checkpoint(const run* r) {
    mabd_error error = {0};
    run_stats extra = run_stats_with_stages(&r->stats, r->sim);
    mabd_status status =
        mabd_checkpoint_write(r->options.checkpoint, r->sim, &extra, sizeof(extra), &error);
    return status == MABD_OK ? CLI_OK : say_file_error(r, r->options.checkpoint, status, &error);
}

// Describe a failed step with its place and time; the state is that before the step.
static int fail_step(run* r, mabd_status status, const mabd_error* error) {
    const mabd_model* model = r->loaded.model;
    char name[256], where[300] = "";
    const char* text = error_text(error, status);
    if (error->joint >= 0) {
        mabd_model_joint_name(model, error->joint, name, sizeof(name));
        if (strstr(text, name) == NULL) snprintf(where, sizeof(where), " (joint '%s')", name);
    } else if (error->body >= 0) {
        mabd_model_body_name(model, error->body, name, sizeof(name));
        if (strstr(text, name) == NULL) snprintf(where, sizeof(where), " (body '%s')", name);
    }
    char when[64] = "";
    if (strstr(text, "t = ") == NULL) {
        snprintf(when, sizeof(when), ", t = %g s", (double)mabd_sim_time(r->sim));
    }
    snprintf(r->failed, sizeof(r->failed), "in step %lld%s: %s%s", (long long)r->stats.steps + 1,
             when, text, where);
    return CLI_FAILED;
}

static int take_step(run* r) {
    mabd_error error = {.body = -1, .joint = -1};
    mabd_step_info info;
    mabd_status status = MABD_OK;
    if (r->extra != NULL) status = r->extra->before_step(r->extra->context, r->sim, &error);
    double start = system_seconds();
    if (status == MABD_OK) status = mabd_sim_step(r->sim, &info, &error);
    double seconds = system_seconds() - start;
    if (status != MABD_OK) return fail_step(r, status, &error);
    run_stats_add_step(&r->stats, &info, seconds);
    if (run_stats_sample(&r->stats, r->sim)) return CLI_OK;
    snprintf(error.text, sizeof(error.text), "the energy is not finite");
    return fail_step(r, MABD_ERR_DIVERGED, &error);
}

static int keep_step(const run* r) {
    const run_options* o = &r->options;
    if (r->recorder != NULL && r->stats.steps % o->every == 0) {
        mabd_error error = {0};
        mabd_status status = mabd_recorder_append(r->recorder, r->sim, &error);
        if (status != MABD_OK) return say_file_error(r, o->out, status, &error);
    }
    if (o->checkpoint != NULL && r->stats.steps % o->checkpoint_every == 0) {
        return write_checkpoint(r);
    }
    return CLI_OK;
}

static int run_steps(run* r) {
    int code = CLI_OK;
    double before = r->stats.step_seconds, start = system_seconds();
    progress shown = progress_start(r->options.quiet, r->stats.steps, r->total_steps,
                                    (double)mabd_sim_get_def(r->sim).h);
    while (code == CLI_OK && r->stats.steps < r->total_steps && interrupt_signal() == 0) {
        code = take_step(r);
        if (code == CLI_OK) code = keep_step(r);
        progress_update(&shown, r->stats.steps, r->stats.step_seconds - before);
    }
    progress_end(&shown);
    r->wall_seconds = system_seconds() - start;
    return code;
}

// ---- the end -----------------------------------------------------------------------------------

static void say_interrupted(const run* r) {
    fprintf(stderr, "mabd %s: stopped by %s after step %lld of %lld; ", r->options.name,
            interrupt_signal() == SIGINT ? "SIGINT" : "SIGTERM", (long long)r->stats.steps,
            (long long)r->total_steps);
    if (r->options.checkpoint != NULL) {
        fprintf(stderr, "to continue, repeat the command with --resume %s\n",
                r->options.checkpoint);
    } else {
        fprintf(stderr, "hint: --checkpoint FILE makes a run resumable\n");
    }
}

static int report(run* r) {
    run_stats whole = run_stats_with_stages(&r->stats, r->sim);
    run_stats_finish(&whole, r->sim);
    run_warnings_collect(&r->warnings, r->sim);
    const summary_source source = {
        .loaded = &r->loaded,
        .sim = r->sim,
        .stats = &whole,
        .warnings = r->warnings.list,
        .preset = mabd_preset_name((mabd_preset)r->options.preset),
        .command = r->command,
        .sim_create_seconds = r->create_seconds,
        .wall_seconds = r->wall_seconds,
        .failed = r->failed[0] != '\0' ? r->failed : NULL,
        .signal = r->stats.steps < r->total_steps ? interrupt_signal() : 0,
    };
    if (r->text != NULL) summary_print(&source, r->text);
    if (r->text != NULL && r->extra != NULL) {
        r->extra->print(r->extra->context, r->sim, r->stats.steps, r->stats.step_seconds, r->text);
    }
    if (r->text != NULL && r->options.out != NULL) say(r, "recorded  %s\n", r->options.out);
    if (r->options.json == NULL) return CLI_OK;
    json_t* summary = summary_build(&source);
    if (summary != NULL && r->extra != NULL) {
        r->extra->report(r->extra->context, r->sim, r->stats.steps, r->stats.step_seconds, summary);
    }
    int code = summary_write(r->options.name, r->options.json, summary);
    json_decref(summary);
    return code;
}

// Close the files and report, also after a failure. `code` is the exit code of the steps.
static int finish(run* r, int code) {
    mabd_error error = {0};
    if (r->failed[0] != '\0') {
        fprintf(stderr, "mabd %s: simulation failed %s\n", r->options.name, r->failed);
    }
    mabd_status status = mabd_recorder_close(r->recorder, &error);
    r->recorder = NULL;
    if (status != MABD_OK) {
        int closed = say_file_error(r, r->options.out, status, &error);
        if (code == CLI_OK) code = closed;
    }
    if (r->options.checkpoint != NULL) {
        int written = write_checkpoint(r);
        if (code == CLI_OK) code = written;
    }
    bool stopped = code == CLI_OK && r->stats.steps < r->total_steps;
    if (stopped) say_interrupted(r);
    int reported = report(r);
    if (code == CLI_OK) code = reported;
    return stopped && code == CLI_OK ? CLI_INTERRUPTED + interrupt_signal() : code;
}

// Load, plan, create and open files: all before the first step. The caller releases the parts.
static int prepare(run* r) {
    run_options* o = &r->options;
    r->loaded.close_joints = o->close_joints;
    r->loaded.young = o->young;
    int code = r->extra != NULL
                   ? r->extra->load(r->extra->context, o, &r->loaded)
                   : load_scene(o->name, o->scene, &o->settings, o->memory_limit, &r->loaded);
    if (code != CLI_OK) return code;
    for (size_t i = 0; i < json_array_size(r->loaded.warnings); i++) {
        const json_t* text = json_array_get(r->loaded.warnings, i);
        run_warnings_add(&r->warnings, "%s", json_string_value(text));
    }
    mabd_sim_def def = run_make_def(o, &r->loaded);
    if ((code = count_steps(r, (double)def.h)) != CLI_OK) return code;
    if ((code = load_plan(&r->loaded, &def)) != CLI_OK) return code;
    print_plan(r, &r->loaded.plan.def);
    if ((code = load_check_memory(&r->loaded)) != CLI_OK) return code;
    if ((code = create_sim(r, &def)) != CLI_OK) return code;
    if (r->extra == NULL) {
        print_memory(r);
    } else {
        code = r->extra->prepare(r->extra->context, r->sim, r->total_steps, r->text);
        if (code != CLI_OK) return code;
    }
    if ((code = start_state(r)) != CLI_OK) return code;
    return open_recording(r);
}

// Prepare, run, report and release.
static int run_all(run* r) {
    bool json_on_stdout = output_is_stdout(r->options.json);
    if (!r->options.quiet) r->text = json_on_stdout ? stderr : stdout;
    int code = prepare(r);
    if (code == CLI_OK) {
        interrupt_catch();
        code = finish(r, run_steps(r));
    }
    mabd_recorder_close(r->recorder, NULL);
    run_warnings_release(&r->warnings);
    if (r->sim != NULL) mabd_sim_destroy(r->sim);
    load_release(&r->loaded);
    return code;
}

int run_command_line(const run_command* command, int argc, char** argv, const run_extra* extra) {
    int code = CLI_FAILED;
    run* r = calloc(1, sizeof(*r));
    char* line = load_join_command(command->name, argc, argv);
    if (r == NULL || line == NULL) {
        fprintf(stderr, "mabd %s: out of memory\n", command->name);
    } else if (run_options_read(command, argc, argv, &r->options, &code)) {
        r->command = line;
        r->warnings.command = command->name;
        r->extra = extra;
        code = extra != NULL ? extra->check(extra->context, &r->options) : CLI_OK;
        if (code == CLI_OK) code = run_all(r);
    }
    free(line);
    free(r);
    return code;
}

int command_run(int argc, char** argv) {
    const run_command command = {.name = "run", .about = "Simulate a scene.", .notes = NOTES};
    return run_command_line(&command, argc, argv, NULL);
}
