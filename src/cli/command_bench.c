// SPDX-License-Identifier: Apache-2.0
// `mabd bench`: speed, with what it takes to judge it: errors beside times, the machine, and the memory
// bandwidth that bounds a step.
#include "bench/broad.h"
#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP_STEPS 5
#define STREAM_PASSES 12

typedef struct bench_options {
    const char *topic, *links, *json, *csv;
    int64_t steps, repeats, threads;
    int joint, pinned, preset, integrator, dual;
    bool h_given;
    double h; // [s]
    option_texts files, settings;
} bench_options;

typedef struct bench {
    bench_options options;
    bench_topic topic; // BENCH_TOPIC_COUNT = scene files
    int32_t count;     // of sizes or files
    int64_t sizes[BENCH_ROWS_MAX];
    bench_report report;
} bench;

#define X(name, text, translations, rotations) text,
static const char* const JOINTS[] = {MABD_JOINT_LIST(X) NULL};
#undef X
#define X(name, text) text,
static const char* const PRESETS[] = {MABD_PRESET_LIST(X) NULL};
static const char* const INTEGRATORS[] = {MABD_INTEGRATOR_LIST(X) NULL};
static const char* const DUALS[] = {MABD_DUAL_LIST(X) NULL};
static const char* const PINS[] = {MABD_NET_PIN_LIST(X) NULL};
static const char* const TOPICS[] = {BENCH_TOPIC_LIST(X) "scene", NULL};
#undef X

static const char* const DEFAULT_SIZES[] = {
    [BENCH_TOPIC_CHAIN] = "10,100,1000,10000,100000,1000000",
    [BENCH_TOPIC_TREE] = "15,127,1023,8191,131071,1048575",
    [BENCH_TOPIC_NET] = "280,1160,7400,29800",
};

static const char NOTES[] =
    "Topics: chain, tree (full binary) and net (square), in several sizes, let go and timed;\n"
    "scene FILE...: scene files, at their own h unless --h is given. `mabd bench plot` draws the\n"
    "tables. Every scene is built, warmed up for 5 steps and timed from there; the fastest of the\n"
    "repeats counts. The bound is the time to read q, v and one older q, v of a link (48 numbers)\n"
    "and to write the new q, v (24 numbers) at the bandwidth of the STREAM triad on one thread.\n"
    "Topic broad: the broad phase of contacts by itself, as a table; takes --repeat only.\n"
    "`mabd bench peers` runs other engines on the same scenes, see `mabd bench peers --help`.";

static bool parse_options(int argc, char** argv, bench_options* o, int* code) {
    const char* names[] = {"TOPIC"};
    *o = (bench_options){.repeats = 3,
                         .threads = 1,
                         .joint = MABD_JOINT_BALL,
                         .preset = MABD_PRESET_BALANCED,
                         .h = 0.01};
    const option options[] = {
        option_text("links", "N,N,...", &o->links,
                    "sizes (default 10,100,... to 1000000; nets of 10 to 100 hubs a side)"),
        option_choice("joint", JOINTS, &o->joint, "joints of chains and trees (default ball)"),
        option_choice("pinned", PINS, &o->pinned, "how nets hang (default edge)"),
        option_list("set", "NAME=VALUE", &o->settings,
                    "change a parameter of the scene files, repeatable"),
        option_integer("steps", "N", OPTION_POSITIVE, 0, &o->steps, NULL,
                       "steps timed (default 200, fewer beyond 100,000 links)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 1000, &o->repeats, NULL,
                       "times each is run (default 3)"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, &o->h_given, "time step [s] (default 0.01)"),
        option_choice("integrator", INTEGRATORS, &o->integrator, "time integration"),
        option_choice("preset", PRESETS, &o->preset, "tolerances (default balanced)"),
        option_choice("dual", DUALS, &o->dual, "solver of branches and cycles (default auto)"),
        option_integer("threads", "N", OPTION_POSITIVE, 4096, &o->threads, NULL,
                       "threads (default 1)"),
        option_text("json", "FILE|-", &o->json, "write the results as JSON; - = standard output"),
        option_text("csv", "FILE|-", &o->csv, "write the results as a table"),
    };
    const option_command command = {.name = "bench",
                                    .about = "Measure the speed of a step.",
                                    .argument_count = 1,
                                    .argument_names = names,
                                    .arguments = &o->topic,
                                    .rest_name = "FILE",
                                    .rest = &o->files,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say_usage(const char* text) {
    fprintf(stderr, "mabd bench: %s\nTry 'mabd bench --help'.\n", text);
    return CLI_BAD_INPUT;
}

// ---- checks ------------------------------------------------------------------------------------

static bool is_stdout(const char* path) {
    return path != NULL && strcmp(path, "-") == 0;
}

static int check_sizes(bench* b) {
    const bench_options* o = &b->options;
    if (o->joint == MABD_JOINT_FREE) return say_usage("--joint: free joints make no chain");
    if (o->files.count > 0) return say_usage("files go with 'mabd bench scene' or 'plot'");
    if (o->settings.count > 0) return say_usage("--set goes with 'mabd bench scene'");
    b->count = options_integers(o->links != NULL ? o->links : DEFAULT_SIZES[b->topic],
                                BENCH_ROWS_MAX, b->sizes);
    for (int32_t i = 0; i < b->count; i++) {
        if (b->sizes[i] > INT32_MAX) b->count = 0;
    }
    if (b->count == 0) return say_usage("--links: expected at most 32 integers > 0 as N,N,...");
    return CLI_OK;
}

static int check_files(bench* b) {
    const bench_options* o = &b->options;
    if (o->links != NULL) return say_usage("--links goes with chain, tree and net");
    if (o->files.count < 1 || o->files.count > BENCH_ROWS_MAX) {
        return say_usage("scene: expected 1 to 32 scene files");
    }
    b->count = o->files.count;
    return CLI_OK;
}

static int check_options(bench* b) {
    const bench_options* o = &b->options;
    char message[512];
    int topic = 0;
    while (TOPICS[topic] != NULL && strcmp(TOPICS[topic], o->topic) != 0) topic++;
    if (TOPICS[topic] == NULL) {
        return say_usage("unknown topic: expected chain, tree, net, scene, plot, peers or broad");
    }
    b->topic = (bench_topic)topic;
    if (is_stdout(o->json) && is_stdout(o->csv)) {
        return say_usage("--json and --csv cannot both go to standard output");
    }
    const int code = b->topic == BENCH_TOPIC_COUNT ? check_files(b) : check_sizes(b);
    if (code != CLI_OK) return code;
    const char* paths[] = {o->json, o->csv};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] == NULL || output_check(paths[i], message, sizeof(message))) continue;
        fprintf(stderr, "mabd bench: %s\n", message);
        return CLI_CANNOT_WRITE;
    }
    return CLI_OK;
}

// ---- the run -----------------------------------------------------------------------------------

static int say_failed(const char* what, mabd_status status, const mabd_error* error) {
    fprintf(stderr, "mabd bench: %s: %s\n", what,
            error->text[0] != '\0' ? error->text : mabd_status_text(status));
    return status == MABD_ERR_ARG || status == MABD_ERR_INPUT ? CLI_BAD_INPUT : CLI_FAILED;
}

// Time a model at step h; `what` names it in messages.
static int time_model(const bench* b, const char* what, const mabd_model* model, double h,
                      bench_scaling_result* result) {
    const bench_options* o = &b->options;
    const int64_t steps = bench_scaling_default_steps(mabd_model_body_count(model));
    bench_timing timing = {.sim = mabd_default_sim_def(),
                           .warm_up = WARM_UP_STEPS,
                           .steps = o->steps > 0 ? o->steps : steps,
                           .repeats = (int32_t)o->repeats};
    mabd_error error = {0};
    mabd_sim_def_apply_preset(&timing.sim, (mabd_preset)o->preset);
    timing.sim.integrator = (mabd_integrator)o->integrator;
    timing.sim.dual = (mabd_dual)o->dual;
    timing.sim.h = (mabd_real)h;
    timing.sim.threads = (int32_t)o->threads;
    const mabd_status status = bench_scaling_time(&timing, model, result, &error);
    return status == MABD_OK ? CLI_OK : say_failed(what, status, &error);
}

static int run_size(const bench* b, int64_t links, bench_scaling_result* result) {
    const bench_options* o = &b->options;
    const bench_scaling_def def = {.topic = b->topic,
                                   .links = (int32_t)links,
                                   .joint = (mabd_joint)o->joint,
                                   .pinned = (mabd_net_pin)o->pinned};
    mabd_error error = {0};
    mabd_model* model = NULL;
    char what[64];
    snprintf(what, sizeof(what), "%s of %lld links", o->topic, (long long)links);
    const double start = system_seconds();
    const mabd_status status = bench_scaling_build(&def, &model, &error);
    result->build_seconds = system_seconds() - start;
    if (status != MABD_OK) return say_failed(what, status, &error);
    const int code = time_model(b, what, model, o->h, result);
    mabd_model_destroy(model);
    return code;
}

static int run_file(const bench* b, const char* path, bench_scaling_result* result) {
    const bench_options* o = &b->options;
    loaded_scene loaded;
    int code = load_scene("bench", path, &o->settings, 0, &loaded);
    if (code == CLI_OK) {
        load_set_dual(&loaded, (mabd_dual)o->dual);
        code = load_check_memory(&loaded);
    }
    if (code == CLI_OK) {
        const double own = (double)mabd_model_suggested_h(loaded.model);
        result->build_seconds = loaded.load_seconds + loaded.build_seconds;
        code = time_model(b, path, loaded.model, !o->h_given && own > 0 ? own : o->h, result);
    }
    load_release(&loaded);
    return code;
}

static void start_report(bench* b, const char* command) {
    const bench_options* o = &b->options;
    bench_report* r = &b->report;
    r->topic = o->topic, r->json = o->json, r->csv = o->csv, r->command = command;
    r->integrator = INTEGRATORS[o->integrator];
    r->preset = PRESETS[o->preset];
    r->dual = DUALS[o->dual];
    r->text = is_stdout(o->json) || is_stdout(o->csv) ? stderr : stdout;
    for (int32_t i = 0; i < o->files.count; i++) r->names[i] = o->files.items[i];
    r->stream = bench_stream_triad(system_largest_cache(), system_memory(), STREAM_PASSES);
    system_machine(r->machine, sizeof(r->machine));
    bench_report_head(r);
}

static int run_all(bench* b) {
    bench_report* r = &b->report;
    int code = CLI_OK;
    for (int32_t i = 0; i < b->count && code == CLI_OK; i++) {
        bench_scaling_result* result = &r->results[i];
        code = r->names[i] != NULL ? run_file(b, r->names[i], result)
                                   : run_size(b, b->sizes[i], result);
        if (code == CLI_OK) bench_report_row(r, r->count++);
    }
    bench_report_stages(r);
    const int written = bench_report_write(r);
    return code != CLI_OK ? code : written;
}

static int measure(int argc, char** argv) {
    int code = CLI_FAILED;
    bench* b = calloc(1, sizeof(*b));
    char* command = load_join_command("bench", argc, argv);
    if (b == NULL || command == NULL) {
        fprintf(stderr, "mabd bench: out of memory\n");
    } else if (!parse_options(argc, argv, &b->options, &code)) {
        // said already
    } else if (strcmp(b->options.topic, "broad") == 0) {
        const mabd_status status = bench_broad_report(stdout, 10 * (int32_t)b->options.repeats);
        if (status != MABD_OK) fprintf(stderr, "mabd bench: %s\n", mabd_status_text(status));
        code = status == MABD_OK ? CLI_OK : CLI_FAILED;
    } else {
        code = check_options(b);
        if (code == CLI_OK) {
            start_report(b, command);
            code = run_all(b);
        }
    }
    free(command);
    free(b);
    return code;
}

int command_bench(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "peers") == 0) return command_bench_peers(argc - 1, argv + 1);
    const bool plot = argc > 1 && strcmp(argv[1], "plot") == 0;
    return plot ? command_bench_plot(argc - 1, argv + 1) : measure(argc, argv);
}
