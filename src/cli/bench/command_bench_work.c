// SPDX-License-Identifier: Apache-2.0
// `mabd bench work-precision`: error against processor time for every integrator of the affine
// formulation, and MuJoCo beside them.
#include "cli/bench/command_bench.h"
#include "cli/bench/peer_mabd.h"
#include "cli/bench/peer_program.h"
#include "cli/bench/peer_scenes.h"
#include "cli/bench/peers_report.h"
#include "cli/bench/rigid_reference.h"
#include "cli/bench/work_plot.h"
#include "cli/bench/work_scenes.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX       16
#define INTERVAL        0.1   // between two compared positions [s]
#define TIMED_STEPS     20000 // repeats of a row do about as many steps
#define REPEATS_MAX     20
#define REFERENCE_ORDER 4
#define OWN_LIMIT       4 // time limit of mabd / that of others: its rows count most

typedef struct work_options {
    const char *scenes, *h, *programs, *json, *csv, *svg, *from;
    bool no_peers;
    int64_t repeats;
    double limit; // [s]
} work_options;

typedef struct work_bench {
    work_options options;
    bool wanted[WORK_SCENE_COUNT];
    int32_t h_count;
    double h[STEPS_MAX]; // (h_count) from the largest on [s]
    bool has_mujoco;
    peer_program_info mujoco;
    work_report report;
    bool own_failed; // mabd itself
} work_bench;

/// One scene under test.
typedef struct work_case {
    work_scene scene;
    mabd_model* model;
    peer_scene exported; // its h and steps are those of the current row
    double size;         // diagonal of the box around centres of mass and anchors [m]
    rigid_path reference, path;
} work_case;

#define X(name, text, duration, path, h) text,
static const char* const SCENES[] = {WORK_SCENE_LIST(X) NULL};
#undef X
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char NOTES[] =
    "Runs small scenes without drives or losses with every integrator of the affine formulation,\n"
    "and with all integrators of MuJoCo if its program exists (./dev peers). Steps must divide "
    "0.1 s.\n"
    "position: rms distance of the centres of mass from a reference, every 0.1 s, over the size "
    "of\n"
    "the scene; the reference integrates rigid bodies by Runge-Kutta of order four with "
    "multipliers\n"
    "and tells its own error. energy: largest change of energy over the energy the scene can\n"
    "release. cost: processor time of one thread over simulated time.";

static bool parse_options(int argc, char** argv, work_options* o, int* code) {
    *o = (work_options){.scenes = "pendulum,chain-10,four-bar,arm,net-10x10",
                        .h = "0.02,0.01,0.005,0.0025,0.001,0.0005,0.00025",
                        .repeats = 3,
                        .limit = 4};
    const option options[] = {
        option_text("scenes", "NAME,...", &o->scenes,
                    "of pendulum, chain-10, four-bar, arm, net-10x10 (default all)"),
        option_text("h", "H,H,...", &o->h, "time steps [s] (default 0.02 to 0.00025)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 1000, &o->repeats, NULL,
                       "repeats of a row, more if it has few steps (default 3)"),
        option_real("limit", "S", OPTION_POSITIVE, &o->limit, NULL,
                    "time limit of a row [s] (default 4; mabd four times that); smaller steps are "
                    "left out then"),
        option_flag("no-peers", &o->no_peers, "mabd only"),
        option_text("programs", "DIR", &o->programs,
                    "where the program mabd-peer-mujoco is (default beside mabd)"),
        option_text("from", "FILE", &o->from, "read the rows from a table instead of measuring"),
        option_text("json", "FILE|-", &o->json, "write the results as JSON; - = standard output"),
        option_text("csv", "FILE|-", &o->csv, "write the results as a table"),
        option_text("svg", "FILE|-", &o->svg, "draw error against cost"),
    };
    const option_command command = {
        .name = "bench work-precision",
        .about = "Measure error against processor time for every integrator, and for MuJoCo.",
        .option_count = COUNT(options),
        .options = options,
        .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say(const char* text, int code) {
    fprintf(stderr, "mabd bench work-precision: %s\n", text);
    return code;
}

// ---- checks ------------------------------------------------------------------------------------

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

static int check_steps(work_bench* b) {
    b->h_count = options_reals(b->options.h, STEPS_MAX, b->h);
    bool good = b->h_count > 0;
    for (int32_t i = 0; i < b->h_count; i++) {
        const double steps = INTERVAL / b->h[i];
        good = good && b->h[i] <= INTERVAL && fabs(steps - round(steps)) <= 1e-6;
    }
    if (!good) {
        return say("--h: expected at most 16 steps > 0 that divide 0.1 s, as H,H,...",
                   CLI_BAD_INPUT);
    }
    qsort(b->h, (size_t)b->h_count, sizeof(b->h[0]), by_size);
    return CLI_OK;
}

static int check_options(work_bench* b) {
    const work_options* o = &b->options;
    char unknown[64], message[128];
    if (output_is_stdout(o->json) + output_is_stdout(o->csv) + output_is_stdout(o->svg) > 1) {
        return say("only one of --json, --csv and --svg can go to standard output", CLI_BAD_INPUT);
    }
    if (!options_names(o->scenes, SCENES, b->wanted, unknown, sizeof(unknown))) {
        snprintf(message, sizeof(message), "--scenes: unknown name '%s'", unknown);
        return say(message, CLI_BAD_INPUT);
    }
    const path_use uses[] = {{PATH_READ, "--from", o->from},
                             {PATH_WRITTEN, "--json", o->json},
                             {PATH_WRITTEN, "--csv", o->csv},
                             {PATH_WRITTEN, "--svg", o->svg}};
    const int code = check_steps(b);
    return code == CLI_OK ? path_use_check("bench work-precision", COUNT(uses), uses) : code;
}

// ---- a scene -----------------------------------------------------------------------------------

static void widen(const double* x, double* low, double* high) {
    for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], x[k]);
        high[k] = fmax(high[k], x[k]);
    }
}

static double size_of(const peer_scene* scene) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < scene->body_count; i++) {
        widen(scene->bodies[i].start.position, low, high);
    }
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const peer_joint* j = &scene->joints[i];
        if (j->a == PEER_WORLD) widen(j->anchor_a, low, high);
        if (j->b == PEER_WORLD) widen(j->anchor_b, low, high);
    }
    return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

// Integrate the reference with its step and with half of it: (2^4 - 1) times the error of the
// second is their distance.
static bool make_reference(work_bench* b, work_case* c) {
    work_reference* r = &b->report.references[b->report.reference_count];
    const double h = c->scene.reference_h, factor = (1 << REFERENCE_ORDER) - 1;
    if (!rigid_reference_run(&c->exported, h, &c->path, NULL) ||
        !rigid_reference_run(&c->exported, h / 2, &c->reference, NULL)) {
        return false;
    }
    const double error = rigid_path_distance(&c->path, &c->reference) / factor / c->size;
    snprintf(r->scene, sizeof(r->scene), "%s", c->scene.name);
    snprintf(r->text, sizeof(r->text),
             "rigid bodies, Runge-Kutta of order 4, h = %g ms, estimated error %.1e; positions to "
             "%g s over %.3g m, energy to %g s",
             1e3 * h / 2, error, c->scene.path, c->size, c->scene.duration);
    b->report.reference_count++;
    return true;
}

static void destroy_case(work_case* c) {
    rigid_path_destroy(&c->path);
    rigid_path_destroy(&c->reference);
    peer_scene_destroy(&c->exported);
    mabd_model_destroy(c->model);
}

static int create_case(work_bench* b, work_scene_id id, work_case* c) {
    mabd_error error = {0};
    *c = (work_case){.scene = work_scene_get(id)};
    mabd_status status = work_scene_build(id, &c->model, &error);
    if (status == MABD_OK) status = bench_peer_export(c->model, 1, 1, &c->exported, &error);
    if (status == MABD_OK) {
        const int32_t count = (int32_t)round(c->scene.path / INTERVAL);
        c->size = size_of(&c->exported);
        if (!rigid_path_create(&c->exported, INTERVAL, count, &c->path) ||
            !rigid_path_create(&c->exported, INTERVAL, count, &c->reference) ||
            !make_reference(b, c)) {
            status = MABD_ERR_MEMORY;
        }
    }
    if (status == MABD_OK) return CLI_OK;
    return say(error.text[0] != '\0' ? error.text : mabd_status_text(status), CLI_FAILED);
}

// ---- rows --------------------------------------------------------------------------------------

static peer_limits limits_of(const work_bench* b, const work_case* c, const peer_samples* samples) {
    const int64_t wanted = TIMED_STEPS / c->exported.steps;
    const int64_t most = wanted < REPEATS_MAX ? wanted : REPEATS_MAX;
    return (peer_limits){.repeats =
                             (int32_t)(most > b->options.repeats ? most : b->options.repeats),
                         .seconds = b->options.limit,
                         .samples = samples};
}

static peer_samples samples_of(const work_case* c) {
    return (peer_samples){.every = (int64_t)round(INTERVAL / c->exported.h),
                          .count = c->path.count,
                          .positions = c->path.positions};
}

static work_row* add_row(work_bench* b, work_case* c, double h, const char* peer,
                         const char* version, const char* variant, const char* settings) {
    work_row* row = work_report_add(&b->report);
    if (row == NULL) return NULL;
    c->exported.h = row->h = h;
    c->exported.steps = row->steps = (int64_t)round(c->scene.duration / h);
    row->bodies = c->exported.body_count;
    snprintf(row->scene, sizeof(row->scene), "%s", c->scene.name);
    snprintf(row->peer, sizeof(row->peer), "%s", peer);
    snprintf(row->version, sizeof(row->version), "%s", version);
    snprintf(row->variant, sizeof(row->variant), "%s", variant);
    snprintf(row->settings, sizeof(row->settings), "%s", settings);
    return row;
}

// Numbers of a run that was stopped or failed are of its first steps only: energy and gap are not
// shown then.
static void fill_row(const work_case* c, const peer_result* result, work_row* row) {
    const peers_row as_peer = {.steps = row->steps, .result = *result};
    const bool whole = result->failed_step < 0 && !result->stopped;
    peers_report_outcome(&as_peer, row->outcome, sizeof(row->outcome));
    if (result->seconds_per_step > 0) {
        row->step_us = 1e6 * result->seconds_per_step;
        row->cost = result->seconds_per_step / row->h;
    }
    row->position_error = rigid_path_distance(&c->path, &c->reference) / c->size;
    if (!whole) return;
    row->energy_error = result->energy_error, row->energy_end = result->energy_end;
    row->gap = result->max_gap;
}

static int run_own(work_bench* b, work_case* c, const bench_mabd* mabd, int32_t variant) {
    const peer_engine engine = bench_peer_mabd(mabd);
    const peer_variant* text = &mabd->variants[variant];
    for (int32_t i = 0; i < b->h_count; i++) {
        peer_result result;
        work_row* row =
            add_row(b, c, b->h[i], engine.name, engine.version, text->name, text->settings);
        const peer_samples samples = samples_of(c);
        peer_limits limits = limits_of(b, c, &samples);
        limits.seconds *= OWN_LIMIT;
        if (row == NULL || !peer_measure(&engine, variant, &c->exported, &limits, &result)) {
            return say("out of memory", CLI_FAILED);
        }
        fill_row(c, &result, row);
        if (result.failed_step >= 0) b->own_failed = true;
        work_report_row(&b->report);
        if (result.stopped) break;
    }
    return CLI_OK;
}

static int run_program(work_bench* b, work_case* c, int32_t variant) {
    const peer_program_info* p = &b->mujoco;
    bool slow = false;
    for (int32_t i = 0; i < b->h_count && !slow; i++) {
        peer_result result;
        FILE* text = tmpfile();
        work_row* row =
            add_row(b, c, b->h[i], p->name, p->version, p->variants[variant], p->settings[variant]);
        if (row == NULL || text == NULL) {
            if (text != NULL) fclose(text);
            return say("no memory or no temporary file", CLI_FAILED);
        }
        const peer_samples samples = samples_of(c);
        const peer_limits limits = limits_of(b, c, &samples);
        peer_scene_write(&c->exported, text);
        peer_program_run(p, variant, text, c->exported.body_count, &limits, &result);
        fclose(text);
        fill_row(c, &result, row);
        work_report_row(&b->report);
        slow = result.stopped || strncmp(result.failure, "timeout", 7) == 0;
    }
    return CLI_OK;
}

// A scene without loops has no constraints as a tree: free bodies would only be slower.
static bool suits(const work_case* c, const char* variant) {
    return strncmp(variant, "tree", 4) == 0 || c->exported.joint_count > c->exported.body_count;
}

static int run_case(work_bench* b, work_scene_id id) {
    work_case c;
    bench_mabd mabd;
    int code = create_case(b, id, &c);
    if (code == CLI_OK) {
        work_report_scene(&b->report);
        bench_mabd_integrators(c.model, &mabd);
        for (int32_t i = 0; i < mabd.count && code == CLI_OK; i++) code = run_own(b, &c, &mabd, i);
    }
    for (int32_t i = 0; b->has_mujoco && i < b->mujoco.variant_count && code == CLI_OK; i++) {
        if (suits(&c, b->mujoco.variants[i])) code = run_program(b, &c, i);
    }
    destroy_case(&c);
    return code;
}

// ---- the command -------------------------------------------------------------------------------

static int write_svg(const work_bench* b) {
    char message[512], *text = NULL;
    size_t size = 0;
    if (b->options.svg == NULL) return CLI_OK;
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) work_plot_write(&b->report, memory);
    if (memory == NULL || fclose(memory) != 0) {
        free(text);
        return say("out of memory", CLI_FAILED);
    }
    const bool written = output_write(b->options.svg, text, message, sizeof(message));
    free(text);
    return written ? CLI_OK : say(message, CLI_CANNOT_WRITE);
}

static int measure(work_bench* b) {
    char message[4096 + 512];
    work_report* r = &b->report;
    const work_options* o = &b->options;
    int code = CLI_OK;
    r->json = o->json, r->csv = o->csv;
    r->text = output_is_stdout(o->json) || output_is_stdout(o->csv) || output_is_stdout(o->svg)
                  ? stderr
                  : stdout;
    system_machine(r->machine, sizeof(r->machine));
    if (!o->no_peers) {
        b->has_mujoco = peer_program_find(PEER_PROGRAM_MUJOCO, o->programs, &b->mujoco, message,
                                          sizeof(message));
        if (!b->has_mujoco) say(message, CLI_OK);
    }
    work_report_head(r);
    for (int i = 0; i < WORK_SCENE_COUNT && code == CLI_OK; i++) {
        if (b->wanted[i]) code = run_case(b, (work_scene_id)i);
    }
    const int written = work_report_write(r);
    if (code == CLI_OK) code = written;
    return code == CLI_OK && b->own_failed ? CLI_FAILED : code;
}

static int run(work_bench* b) {
    char message[512];
    int code = check_options(b);
    if (code != CLI_OK) return code;
    if (b->options.from == NULL) {
        code = measure(b);
    } else if (!work_report_read(b->options.from, &b->report, message, sizeof(message))) {
        return say(message, CLI_BAD_INPUT);
    }
    const int drawn = b->report.count > 0 ? write_svg(b) : CLI_OK;
    return code == CLI_OK ? drawn : code;
}

int command_bench_work(int argc, char** argv) {
    int code = CLI_FAILED;
    work_bench* b = calloc(1, sizeof(*b));
    char* command = load_join_command("bench work-precision", argc, argv);
    if (b == NULL || command == NULL) {
        say("out of memory", CLI_FAILED);
    } else if (parse_options(argc, argv, &b->options, &code)) {
        snprintf(b->report.command, sizeof(b->report.command), "%s", command);
        code = run(b);
        work_report_free(&b->report);
    }
    free(command);
    free(b);
    return code;
}
