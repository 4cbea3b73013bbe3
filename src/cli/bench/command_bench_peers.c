// SPDX-License-Identifier: Apache-2.0
// `mabd bench peers`: runs other engines on the same scenes and compares times and errors.
#include "cli/bench/command_bench.h"
#include "cli/bench/peer_mabd.h"
#include "cli/bench/peer_program.h"
#include "cli/bench/peer_scenes.h"
#include "cli/bench/peers_report.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>

#define CASES_MAX 64

typedef struct peers_options {
    const char *links, *peers, *scenes, *programs, *json, *csv;
    int64_t repeats, steps;
    double limit, h; // [s]; h = 0: that of the scene
} peers_options;

typedef struct peers_bench {
    peers_options options;
    bool peer_wanted[PEER_PROGRAM_COUNT + 1], kind_wanted[BENCH_PEER_KIND_COUNT];
    int32_t case_count, program_count;
    bench_peer_case cases[CASES_MAX];
    peer_program_info programs[PEER_PROGRAM_COUNT]; // (program_count) the available ones
    peers_report report;
    bool own_failed; // mabd itself
} peers_bench;

#define X(name, text, package) text,
static const char* const PEERS[] = {PEER_PROGRAM_LIST(X) "mabd", NULL};
#undef X
#define X(name, text) text,
static const char* const KINDS[] = {BENCH_PEER_KIND_LIST(X) NULL};
#undef X

static const int32_t HEAVY_SIZES[] = {10, 100}, NET_SIZES[] = {10, 20};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char NOTES[] =
    "Runs MuJoCo, ODE and Bullet, where their programs (mabd-peer-NAME, of bench/peers) exist,\n"
    "and mabd on the same scenes, at the same h, on one thread each: chains of --links ball "
    "joints,\n"
    "chains of 10 and 100 links with an end of a thousand times the mass, nets of 10 x 10 and\n"
    "20 x 20 hubs. gap: largest distance between the two halves of a joint, by rigid poses; own\n"
    "gap: between the points of mabd's own bodies, which stretch a little; energy: largest change\n"
    "of energy over the energy the scene can release; at end: change at the end, > 0 is a gain.\n"
    "A row that fails has the reason; joints are apart if a gap is larger than the distance of the "
    "two\n"
    "bodies' centres. In a build tree missing programs are built if their libraries were found\n"
    "when it was configured; `./dev peers` installs and builds all.";

static bool parse_options(int argc, char** argv, peers_options* o, int* code) {
    *o = (peers_options){
        .links = "10,100,1000", .peers = "mujoco,ode,bullet", .scenes = "chain,heavy,net"};
    o->repeats = 3, o->limit = 10;
    const option options[] = {
        option_text("links", "N,N,...", &o->links, "lengths of chains (default 10,100,1000)"),
        option_text("scenes", "NAME,...", &o->scenes, "of chain, heavy, net (default all)"),
        option_text("peers", "NAME,...", &o->peers,
                    "of mujoco, ode, bullet (default all); mabd runs always"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, NULL,
                    "time step [s] (default 0.01, nets 1/30)"),
        option_integer("steps", "N", OPTION_POSITIVE, 1000000, &o->steps, NULL,
                       "steps (default 2 s of motion)"),
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

static void add_cases(peers_bench* b, bench_peer_kind kind, size_t count, const int32_t* sizes) {
    for (size_t i = 0; i < count && b->kind_wanted[kind]; i++) {
        b->cases[b->case_count++] = (bench_peer_case){.kind = kind, .size = sizes[i]};
    }
}

static int check_cases(peers_bench* b) {
    int64_t links[CASES_MAX / 2];
    int32_t sizes[CASES_MAX / 2];
    const int32_t count = options_integers(b->options.links, CASES_MAX / 2, links);
    for (int32_t i = 0; i < count; i++) {
        if (links[i] > 10000000) return say("--links: at most 10000000 links", CLI_BAD_INPUT);
        sizes[i] = (int32_t)links[i];
    }
    if (count == 0) {
        return say("--links: expected at most 32 integers > 0 as N,N,...", CLI_BAD_INPUT);
    }
    add_cases(b, BENCH_PEER_CHAIN, (size_t)count, sizes);
    add_cases(b, BENCH_PEER_HEAVY, COUNT(HEAVY_SIZES), HEAVY_SIZES);
    add_cases(b, BENCH_PEER_NET, COUNT(NET_SIZES), NET_SIZES);
    return CLI_OK;
}

static int check_options(peers_bench* b) {
    const peers_options* o = &b->options;
    if (output_is_stdout(o->json) && output_is_stdout(o->csv)) {
        return say("--json and --csv cannot both go to standard output", CLI_BAD_INPUT);
    }
    int code = check_names("peers", o->peers, PEERS, b->peer_wanted);
    if (code == CLI_OK) code = check_names("scenes", o->scenes, KINDS, b->kind_wanted);
    if (code == CLI_OK) code = check_cases(b);
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

static int run_own(peers_bench* b, const mabd_model* model, const peer_scene* scene,
                   const peer_limits* limits) {
    bench_mabd mabd;
    bench_mabd_defaults(model, &mabd);
    const peer_engine engine = bench_peer_mabd(&mabd);
    for (int32_t i = 0; i < engine.variant_count; i++) {
        const peer_variant* variant = &engine.variants[i];
        peers_row* row =
            add_row(b, scene, engine.name, engine.version, variant->name, variant->settings);
        if (row == NULL || !peer_measure(&engine, i, scene, limits, &row->result)) {
            return say("out of memory", CLI_FAILED);
        }
        if (row->result.failed_step >= 0) b->own_failed = true;
        peers_report_row(&b->report);
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
        peers_report_row(&b->report);
    }
    return CLI_OK;
}

static int run_scene(peers_bench* b, const mabd_model* model, const peer_scene* scene) {
    const peer_limits limits = {.repeats = (int32_t)b->options.repeats,
                                .seconds = b->options.limit};
    int code = run_own(b, model, scene, &limits);
    FILE* text = tmpfile();
    if (text == NULL) return say("no temporary file", CLI_FAILED);
    peer_scene_write(scene, text);
    for (int32_t i = 0; i < b->program_count && code == CLI_OK; i++) {
        code = run_program(b, &b->programs[i], scene, text, &limits);
    }
    fclose(text);
    return code;
}

static int run_case(peers_bench* b, const bench_peer_case* what) {
    mabd_error error = {0};
    mabd_model* model = NULL;
    peer_scene scene = {0};
    int code = CLI_FAILED;
    mabd_status status = bench_peer_build(what, &model, &error);
    if (status == MABD_OK) {
        const double own_h = (double)mabd_model_suggested_h(model);
        const double h = b->options.h > 0 ? b->options.h : own_h;
        const double own_steps = round((double)mabd_model_suggested_duration(model) / h);
        const int64_t steps =
            b->options.steps > 0 ? b->options.steps : (int64_t)fmin(fmax(own_steps, 1), 1e9);
        status = bench_peer_export(model, h, steps, &scene, &error);
    }
    if (status == MABD_OK) {
        code = run_scene(b, model, &scene);
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
