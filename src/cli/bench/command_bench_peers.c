// SPDX-License-Identifier: Apache-2.0
// `mabd bench peers`: runs other engines on the same scenes and compares times and errors.
#include "cli/bench/command_bench.h"
#include "cli/bench/peer_import.h"
#include "cli/bench/peer_mabd.h"
#include "cli/bench/peer_program.h"
#include "cli/bench/peer_scenes.h"
#include "cli/bench/peers_report.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/system.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX   256
#define SIZES_MAX   32
#define LINKS_MAX   10000000
#define LENGTH_MAX  3000 // of other scenes: a grid has the square of it
#define SAMPLES_MAX 200  // poses of a run in which overlaps are sought

typedef struct peers_options {
    const char *links, *sizes, *peers, *scenes, *formulations, *programs, *json, *csv;
    int64_t repeats, steps;
    double limit, h; // [s]; h = 0: that of the scene
} peers_options;

typedef struct peers_bench {
    peers_options options;
    bool peer_wanted[PEER_PROGRAM_COUNT + 1], kind_wanted[BENCH_PEER_KIND_COUNT];
    int32_t case_count, program_count, formulation_count;
    int formulations[MABD_FORMULATION_COUNT];
    bench_peer_case cases[CASES_MAX];
    peer_program_info programs[PEER_PROGRAM_COUNT]; // (program_count) the available ones
    peers_report report;
    bool own_failed; // the first formulation of mabd
} peers_bench;

#define X(name, text, package) text,
static const char* const PEERS[] = {PEER_PROGRAM_LIST(X) "mabd", NULL};
#undef X
#define X(name, text) text,
static const char* const KINDS[] = {BENCH_PEER_KIND_LIST(X) NULL};
#undef X

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Sizes of the kinds but chains, which --links has; 0 = no more.
static const int64_t SIZES[BENCH_PEER_KIND_COUNT][2] = {
    [BENCH_PEER_HEAVY] = {10, 100}, [BENCH_PEER_NET] = {10, 20}, [BENCH_PEER_GRID] = {100},
    [BENCH_PEER_STACK] = {10, 40},  [BENCH_PEER_RAGDOLLS] = {8}, [BENCH_PEER_PILE] = {100},
    [BENCH_PEER_BOWL] = {100},
};

static const char NOTES[] =
    "Runs MuJoCo, ODE and Bullet, where their programs (mabd-peer-NAME, of bench/peers) exist,\n"
    "and mabd on the same scenes, at the same h, on one thread each: chains of --links ball "
    "joints,\n"
    "the same with an end of a thousand times the mass, nets of hubs and rods, grids of jointed\n"
    "balls, stacks of boxes, ragdolls without stops, piles of mixed shapes between walls and in a\n"
    "bowl. gap: largest distance between the two halves of a joint, by rigid poses; own gap: "
    "between\n"
    "the points of mabd's own bodies, which stretch a little; overlap: deepest of two bodies; "
    "rest:\n"
    "way of the fastest body over the last half second; energy: largest change of energy over the\n"
    "energy the scene can release; at end: change at the end, > 0 is a gain.\n"
    "A row that fails has the reason; joints are apart if a gap is larger than the distance of the "
    "two\n"
    "bodies' centres. In a build tree missing programs are built if their libraries were found\n"
    "when it was configured; `./dev peers` installs and builds all.";

static bool parse_options(int argc, char** argv, peers_options* o, int* code) {
    *o = (peers_options){.links = "10,100,1000",
                         .peers = "mujoco,ode,bullet",
                         .scenes = "chain,heavy,net,grid,stack,ragdolls,pile,bowl"};
    o->repeats = 3, o->limit = 10;
    const option options[] = {
        option_text("links", "N,N,...", &o->links, "lengths of chains (default 10,100,1000)"),
        option_text("scenes", "NAME,...", &o->scenes,
                    "of chain, heavy, net, grid, stack, ragdolls, pile, bowl (default all)"),
        option_text("sizes", "N,N,...", &o->sizes, "sizes of all scenes but chains"),
        option_text("formulation", "NAME,...", &o->formulations,
                    "of mabd (default affine, impulse)"),
        option_text("peers", "NAME,...", &o->peers,
                    "of mujoco, ode, bullet (default all); mabd runs always"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, NULL,
                    "time step [s] (default 0.01, nets 1/30, grids 1/60, ragdolls 0.005)"),
        option_integer("steps", "N", OPTION_POSITIVE, 1000000, &o->steps, NULL,
                       "steps (default 2 s of motion, 4 s of what comes to rest)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 1000, &o->repeats, NULL,
                       "repeats of each scene (default 3)"),
        option_real("limit", "S", OPTION_POSITIVE, &o->limit, NULL,
                    "time limit of one engine on one scene [s] (default 10)"),
        option_text("programs", "DIR", &o->programs,
                    "where the programs mabd-peer-NAME are (default beside mabd)"),
        option_text("json", "FILE|-", &o->json, "write the results as JSON; - = standard output"),
        option_text("csv", "FILE|-", &o->csv, "write the results as a table"),
    };
    const option_command command = {.name = "bench peers",
                                    .about = "Compare other engines with mabd on the same scenes.",
                                    .option_count = COUNT(options),
                                    .options = options,
                                    .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say(const char* text, int code) {
    fprintf(stderr, "mabd bench peers: %s\n", text);
    return code;
}

// ---- checks ------------------------------------------------------------------------------------

static int check_names(const char* name, const char* list, const char* const* choices,
                       bool* chosen) {
    char unknown[64], message[256];
    if (options_names(list, choices, chosen, unknown, sizeof(unknown))) return CLI_OK;
    const char* near = options_nearest(unknown, choices);
    snprintf(message, sizeof(message), "--%s: unknown name '%s'%s%s%s", name, unknown,
             near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
             near != NULL ? "'?" : "");
    return say(message, CLI_BAD_INPUT);
}

static void add_cases(peers_bench* b, bench_peer_kind kind, int32_t count, const int64_t* sizes) {
    for (int32_t i = 0; i < count && sizes[i] > 0 && b->kind_wanted[kind]; i++) {
        b->cases[b->case_count++] = (bench_peer_case){.kind = kind, .size = (int32_t)sizes[i]};
    }
}

// Read a list of sizes; 0 after a message.
static int32_t read_sizes(const char* name, const char* list, int64_t most, int64_t* sizes) {
    const int32_t count = options_integers(list, SIZES_MAX, sizes);
    char message[128];
    if (count == 0) {
        snprintf(message, sizeof(message), "--%s: expected at most %d integers > 0 as N,N,...",
                 name, SIZES_MAX);
        say(message, CLI_BAD_INPUT);
    }
    for (int32_t i = 0; i < count; i++) {
        if (sizes[i] <= most) continue;
        snprintf(message, sizeof(message), "--%s: at most %lld", name, (long long)most);
        say(message, CLI_BAD_INPUT);
        return 0;
    }
    return count;
}

static int check_cases(peers_bench* b) {
    const peers_options* o = &b->options;
    int64_t links[SIZES_MAX], sizes[SIZES_MAX];
    const int32_t link_count = read_sizes("links", o->links, LINKS_MAX, links);
    const int32_t size_count =
        o->sizes != NULL ? read_sizes("sizes", o->sizes, LENGTH_MAX, sizes) : 0;
    if (link_count == 0 || (o->sizes != NULL && size_count == 0)) return CLI_BAD_INPUT;
    add_cases(b, BENCH_PEER_CHAIN, link_count, links);
    for (int kind = BENCH_PEER_CHAIN + 1; kind < BENCH_PEER_KIND_COUNT; kind++) {
        if (size_count > 0) {
            add_cases(b, (bench_peer_kind)kind, size_count, sizes);
        } else {
            add_cases(b, (bench_peer_kind)kind, COUNT(SIZES[kind]), SIZES[kind]);
        }
    }
    return CLI_OK;
}

// Without --formulation: those that this build has of the two fastest.
static int check_formulations(peers_bench* b) {
    static const mabd_formulation FAST[] = {MABD_FORMULATION_AFFINE, MABD_FORMULATION_IMPULSE};
    const char* list = b->options.formulations;
    char unknown[64], message[128];
    for (size_t i = 0; list == NULL && i < COUNT(FAST); i++) {
        if (!mabd_formulation_get_info(FAST[i]).built) continue;
        b->formulations[b->formulation_count++] = (int)FAST[i];
    }
    if (list == NULL) return CLI_OK;
    b->formulation_count = options_find_all(list, mabd_formulation_find, MABD_FORMULATION_COUNT,
                                            b->formulations, unknown, sizeof(unknown));
    if (b->formulation_count > 0) return CLI_OK;
    snprintf(message, sizeof(message), "--formulation: unknown name '%s', or too many", unknown);
    return say(message, CLI_BAD_INPUT);
}

static int check_options(peers_bench* b) {
    const peers_options* o = &b->options;
    if (output_is_stdout(o->json) && output_is_stdout(o->csv)) {
        return say("--json and --csv cannot both go to standard output", CLI_BAD_INPUT);
    }
    int code = check_names("peers", o->peers, PEERS, b->peer_wanted);
    if (code == CLI_OK) code = check_names("scenes", o->scenes, KINDS, b->kind_wanted);
    if (code == CLI_OK) code = check_cases(b);
    if (code == CLI_OK) code = check_formulations(b);
    const path_use uses[] = {{PATH_WRITTEN, "--json", o->json}, {PATH_WRITTEN, "--csv", o->csv}};
    return code == CLI_OK ? path_use_check("bench peers", COUNT(uses), uses) : code;
}

// ---- the run -----------------------------------------------------------------------------------

static void find_programs(peers_bench* b) {
    char message[4096 + 512];
    for (int id = 0; id < PEER_PROGRAM_COUNT; id++) {
        peer_program_info* program = &b->programs[b->program_count];
        if (!b->peer_wanted[id]) continue;
        if (peer_program_find((peer_program_id)id, b->options.programs, program, message,
                              sizeof(message))) {
            b->program_count++;
        } else {
            say(message, CLI_OK);
        }
    }
}

static peers_row* add_row(peers_bench* b, const peer_scene* scene, const char* peer,
                          const char* version, const char* variant, const char* settings) {
    peers_row* row = peers_report_add(&b->report);
    if (row == NULL) return NULL;
    row->bodies = scene->body_count, row->joints = scene->joint_count;
    row->h = scene->h, row->steps = scene->steps;
    snprintf(row->scene, sizeof(row->scene), "%s", scene->name);
    snprintf(row->peer, sizeof(row->peer), "%s", peer);
    snprintf(row->version, sizeof(row->version), "%s", version);
    snprintf(row->variant, sizeof(row->variant), "%s", variant);
    snprintf(row->settings, sizeof(row->settings), "%s", settings);
    return row;
}

// Find the overlaps of a row that ran, and print it.
static void judge_row(const peers_bench* b, const peer_scene* scene, const peer_samples* samples) {
    peers_row* row = &b->report.rows[b->report.count - 1];
    mabd_error error = {0};
    row->overlap = NAN;
    if (samples->count > 0 && row->result.steps > 0 &&
        bench_peer_overlap(scene, samples, &row->overlap, &error) != MABD_OK) {
        say(error.text[0] != '\0' ? error.text : "overlaps could not be found", CLI_OK);
        row->overlap = NAN;
    }
    peers_report_row(&b->report);
}

static int run_own(peers_bench* b, const mabd_model* model, double young, const peer_scene* scene,
                   const peer_limits* limits) {
    bench_mabd mabd;
    bench_mabd_formulations(model, young, b->formulation_count, b->formulations, &mabd);
    const peer_engine engine = bench_peer_mabd(&mabd);
    for (int32_t i = 0; i < engine.variant_count; i++) {
        const peer_variant* variant = &engine.variants[i];
        peers_row* row =
            add_row(b, scene, engine.name, engine.version, variant->name, variant->settings);
        if (row == NULL || !peer_measure(&engine, i, scene, limits, &row->result)) {
            return say("out of memory", CLI_FAILED);
        }
        const bool skipped = strncmp(row->result.failure, PEER_SKIP, strlen(PEER_SKIP)) == 0;
        if (i == 0 && row->result.failed_step >= 0 && !skipped) b->own_failed = true;
        judge_row(b, scene, limits->samples);
    }
    return CLI_OK;
}

static int run_program(peers_bench* b, const peer_program_info* program, const peer_scene* scene,
                       FILE* text, const peer_limits* limits) {
    for (int32_t i = 0; i < program->variant_count; i++) {
        peers_row* row = add_row(b, scene, program->name, program->version, program->variants[i],
                                 program->settings[i]);
        if (row == NULL) return say("out of memory", CLI_FAILED);
        peer_program_run(program, i, text, scene->body_count, limits, &row->result);
        judge_row(b, scene, limits->samples);
    }
    return CLI_OK;
}

static int run_engines(peers_bench* b, const mabd_model* model, double young,
                       const peer_scene* scene, const peer_limits* limits) {
    int code = run_own(b, model, young, scene, limits);
    FILE* text = tmpfile();
    if (text == NULL) return say("no temporary file", CLI_FAILED);
    peer_scene_write(scene, text);
    for (int32_t i = 0; i < b->program_count && code == CLI_OK; i++) {
        code = run_program(b, &b->programs[i], scene, text, limits);
    }
    fclose(text);
    return code;
}

// Run all engines, with poses to be kept if anything touches.
static int run_scene(peers_bench* b, const mabd_model* model, double young,
                     const peer_scene* scene) {
    const int64_t steps = scene->steps, every = (steps - 1) / SAMPLES_MAX + 1;
    peer_samples samples = {.every = every,
                            .count = scene->shape_count > 0 ? (int32_t)(steps / every) : 0};
    const size_t poses = (size_t)samples.count * (size_t)scene->body_count;
    const peer_limits limits = {
        .repeats = (int32_t)b->options.repeats, .seconds = b->options.limit, .samples = &samples};
    samples.positions = malloc((7 * poses + 1) * sizeof(double));
    if (samples.positions == NULL) return say("out of memory", CLI_FAILED);
    samples.quaternions = samples.positions + 3 * poses;
    const int code = run_engines(b, model, young, scene, &limits);
    free(samples.positions);
    return code;
}

static int64_t count_steps(const peers_bench* b, const mabd_model* model, double h) {
    const double own = round((double)mabd_model_suggested_duration(model) / h);
    return b->options.steps > 0 ? b->options.steps : (int64_t)fmin(fmax(own, 1), 1e9);
}

// Make the scene of a case and the model of mabd: scenes whose text has less than the model, and
// those that touch, are simulated from their text by mabd as well.
static mabd_status prepare(const peers_bench* b, const bench_peer_case* what, mabd_model** model,
                           double* young, peer_scene* scene, mabd_error* error) {
    MABD_TRY(bench_peer_build(what, model, error));
    const double own_h = (double)mabd_model_suggested_h(*model);
    const double h = b->options.h > 0 ? b->options.h : own_h;
    *young = bench_peer_young(what->kind);
    MABD_TRY(bench_peer_export_bare(*model, h, count_steps(b, *model, h), scene, error));
    if (scene->shape_count == 0) return MABD_OK;
    mabd_model_destroy(*model);
    *model = NULL;
    return bench_peer_import(scene, true, *young, model, error);
}

static int run_case(peers_bench* b, const bench_peer_case* what) {
    mabd_error error = {0};
    mabd_model* model = NULL;
    peer_scene scene = {0};
    double young = 0;
    int code = CLI_FAILED;
    const mabd_status status = prepare(b, what, &model, &young, &scene, &error);
    if (status == MABD_OK) {
        code = run_scene(b, model, young, &scene);
    } else {
        say(error.text[0] != '\0' ? error.text : mabd_status_text(status), CLI_FAILED);
    }
    peer_scene_destroy(&scene);
    mabd_model_destroy(model);
    return code;
}

static int run_all(peers_bench* b, const char* command) {
    const peers_options* o = &b->options;
    peers_report* r = &b->report;
    int code = CLI_OK;
    r->json = o->json, r->csv = o->csv, r->command = command;
    r->repeats = o->repeats, r->limit = o->limit;
    r->text = output_is_stdout(o->json) || output_is_stdout(o->csv) ? stderr : stdout;
    system_machine(r->machine, sizeof(r->machine));
    peers_report_head(r);
    for (int32_t i = 0; i < b->case_count && code == CLI_OK; i++) code = run_case(b, &b->cases[i]);
    peers_report_ratios(r);
    peers_report_settings(r);
    const int written = peers_report_write(r);
    if (code == CLI_OK) code = written;
    return code == CLI_OK && b->own_failed ? CLI_FAILED : code;
}

int command_bench_peers(int argc, char** argv) {
    int code = CLI_FAILED;
    peers_bench* b = calloc(1, sizeof(*b));
    char* command = load_join_command("bench peers", argc, argv);
    if (b == NULL || command == NULL) {
        say("out of memory", CLI_FAILED);
    } else if (parse_options(argc, argv, &b->options, &code)) {
        code = check_options(b);
        if (code == CLI_OK) {
            find_programs(b);
            code = run_all(b, command);
        }
        peers_report_free(&b->report);
    }
    free(command);
    free(b);
    return code;
}
