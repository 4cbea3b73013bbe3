// SPDX-License-Identifier: Apache-2.0
// The command line of `mabd bench`; see bench_options.h.
#include "cli/bench/bench_options.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/system.h"

#include <string.h>

#define THREADS_MOST 4096

#define X(name, text, translations, rotations) text,
static const char* const JOINTS[] = {MABD_JOINT_LIST(X) NULL};
#undef X
#define X(name, text) text,
static const char* const PRESETS[] = {MABD_PRESET_LIST(X) NULL};
static const char* const INTEGRATORS[] = {MABD_INTEGRATOR_LIST(X) NULL};
static const char* const DUALS[] = {MABD_DUAL_LIST(X) NULL};
static const char* const FORMULATIONS[] = {MABD_FORMULATION_LIST(X) NULL};
static const char* const NEWTONS[] = {MABD_NEWTON_LIST(X) NULL};
static const char* const BACKENDS[] = {MABD_BACKEND_LIST(X) NULL};
static const char* const PINS[] = {MABD_NET_PIN_LIST(X) NULL};
static const char* const TOPICS[] = {BENCH_TOPIC_LIST(X) "scene", NULL};
#undef X

static const char* const DEFAULT_SIZES[] = {
    [BENCH_TOPIC_CHAIN] = "10,100,1000,10000,100000,1000000",
    [BENCH_TOPIC_TREE] = "15,127,1023,8191,131071,1048575",
    [BENCH_TOPIC_NET] = "280,1160,7400,29800",
    [BENCH_TOPIC_ROBOTS] = "7,70,700,7000,70000",
};

static const char NOTES[] =
    "Topics: chain, tree (full binary), net (square) and robots (arms of 7 links, each by\n"
    "itself), in several sizes, released and timed; scene FILE...: scene files, at their own h\n"
    "unless --h is given. `mabd bench plot` draws the tables, `mabd bench broad` times the broad\n"
    "phase of contacts, `mabd bench dual` a direct solver, `mabd bench peers` runs other engines "
    "on\n"
    "the same scenes.\n\n"
    "Every scene is built, warmed up for 5 steps and timed from there; the fastest of the repeats\n"
    "counts. The bound is the time to read q, v and one older q, v of a link (48 numbers) and to\n"
    "write the new q, v (24 numbers) at the bandwidth of the STREAM triad on as many threads; the\n"
    "bandwidth share is the bound over the time of a step. With several numbers of threads the\n"
    "speed-up is relative to the first. The timer tree is printed for every scene file and for "
    "the\n"
    "largest size.\n\n"
    "With several backends every scene runs on each of them, and the ratio is the speed relative "
    "to\n"
    "the first. If a backend is unavailable, the reason goes to standard error, the others are "
    "still\n"
    "measured, and the exit code is 3. Without a topic, --backend times chains.";

// Lists that options_parse stores as text.
typedef struct lists {
    const char *links, *threads, *backends;
} lists;

static bool parse(int argc, char** argv, bench_options* o, lists* texts, int* code) {
    const char* names[] = {"TOPIC"};
    const option options[] = {
        option_text("links", "N,N,...", &texts->links,
                    "sizes (default 10,100,... to 1000000; nets of 10 to 100 hubs per side)"),
        option_choice("joint", JOINTS, &o->joint,
                      "joints of chains, trees and robots (default ball; robots: hinge)"),
        option_choice("pinned", PINS, &o->pinned, "how nets hang (default edge)"),
        option_list("set", "NAME=VALUE", &o->settings,
                    "change a parameter of the scene files, repeatable"),
        option_young(&o->young),
        option_integer("steps", "N", OPTION_POSITIVE, 0, &o->steps, NULL,
                       "steps timed (default 200, fewer beyond 100,000 links)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 1000, &o->repeats, NULL,
                       "repeats of each scene (default 3)"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, &o->h_given, "time step [s] (default 0.01)"),
        option_alias(mabd_integrator_find,
                     option_choice("integrator", INTEGRATORS, &o->integrator, "time integration")),
        option_choice("preset", PRESETS, &o->preset, "tolerances (default balanced)"),
        option_choice("dual", DUALS, &o->dual, "solver of branches and cycles (default auto)"),
        option_alias(mabd_formulation_find,
                     option_choice("formulation", FORMULATIONS, &o->formulation,
                                   "equations of motion and method (default affine)")),
        option_choice("newton", NEWTONS, &o->newton,
                      "matrix of the Newton iteration (quaternion; default exact; variational)"),
        option_integer("substeps", "N", OPTION_POSITIVE, 4096, &o->substeps, NULL,
                       "equal parts of every step (variational, impulse; default: their own)"),
        option_text("threads", "N,N,...", &texts->threads,
                    "numbers of threads, each scene with each of them (default all processors)"),
        option_text("backend", "NAME,...", &texts->backends,
                    "where it runs: cpu, cuda, executor (default cpu); ratios are to the first"),
        option_flag("tree", &o->tree, "print the timer tree of every size"),
        option_flag(
            "processor", &o->processor,
            "measure steps by processor time, for machines that others share (--threads 1)"),
        option_text("json", "FILE|-", &o->json, "write the results as JSON; - = standard output"),
        option_text("csv", "FILE|-", &o->csv, "write the results as a table"),
    };
    const option_command command = {.name = "bench",
                                    .about = "Measure the speed of a step.",
                                    .argument_count = 1,
                                    .argument_names = names,
                                    .arguments = &o->topic_name,
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

// Parse a list "N,N,..." of at most `max` integers up to `most`; returns their number, 0 if it is
// no such list.
static int32_t read_list(const char* text, int32_t max, int64_t most, int64_t* values) {
    const int32_t count = options_integers(text, max, values);
    for (int32_t i = 0; i < count; i++) {
        if (values[i] > most) return 0;
    }
    return count;
}

static int check_sizes(bench_options* o, const char* links) {
    if (o->joint == MABD_JOINT_FREE) return say_usage("--joint: free joints make no chain");
    if (o->files.count > 0) return say_usage("files go with 'mabd bench scene' or 'plot'");
    if (o->settings.count > 0) return say_usage("--set goes with 'mabd bench scene'");
    if (o->young > 0) return say_usage("--young goes with 'mabd bench scene'");
    o->scene_count = read_list(links != NULL ? links : DEFAULT_SIZES[o->topic], BENCH_SCENES_MAX,
                               INT32_MAX, o->sizes);
    if (o->scene_count > 0) return CLI_OK;
    return say_usage("--links: expected at most 32 integers > 0 as N,N,...");
}

static int check_files(bench_options* o, const char* links) {
    if (links != NULL) return say_usage("--links goes with chain, tree, net and robots");
    if (o->files.count < 1 || o->files.count > BENCH_SCENES_MAX) {
        return say_usage("scene: expected 1 to 32 scene files");
    }
    o->scene_count = o->files.count;
    return CLI_OK;
}

static int check_threads(bench_options* o, const char* threads) {
    o->thread_count = 1;
    o->threads[0] = system_processors();
    if (threads == NULL) return CLI_OK;
    o->thread_count = read_list(threads, BENCH_THREADS_MAX, THREADS_MOST, o->threads);
    if (o->thread_count > 0) return CLI_OK;
    return say_usage("--threads: expected at most 8 integers from 1 to 4096 as N,N,...");
}

// Index of the first `length` characters of text in a list of names; -1 if they are no name.
static int place_of(const char* text, size_t length, const char* const* names) {
    for (int i = 0; names[i] != NULL; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0) return i;
    }
    return -1;
}

// Parse a list "cpu,cuda" of backends, each at most once.
static int check_backends(bench_options* o, const char* text) {
    o->backend_count = 1;
    o->backends[0] = MABD_BACKEND_CPU;
    if (text == NULL) return CLI_OK;
    o->backend_count = 0;
    for (const char* at = text; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int backend = place_of(at, strcspn(at, ","), BACKENDS);
        bool new = backend >= 0;
        for (int32_t i = 0; i < o->backend_count; i++) {
            new = new && o->backends[i] != (mabd_backend)backend;
        }
        if (!new) return say_usage("--backend: expected cpu, cuda, executor, each at most once");
        o->backends[o->backend_count++] = (mabd_backend)backend;
    }
    return CLI_OK;
}

static int check_outputs(const bench_options* o) {
    path_use uses[BENCH_SCENES_MAX + 2] = {{PATH_WRITTEN, "--json", o->json},
                                           {PATH_WRITTEN, "--csv", o->csv}};
    int32_t count = 2;
    if (output_is_stdout(o->json) && output_is_stdout(o->csv)) {
        return say_usage("--json and --csv cannot both go to standard output");
    }
    for (int32_t i = 0; i < o->files.count; i++) {
        uses[count++] = (path_use){PATH_SCENE, "scene", o->files.items[i]};
    }
    return path_use_check("bench", count, uses);
}

static int check(bench_options* o, const lists* texts) {
    const int topic = place_of(o->topic_name, strlen(o->topic_name), TOPICS);
    if (topic < 0) {
        return say_usage("unknown topic: expected chain, tree, net, robots, scene, plot, broad, "
                         "dual or peers");
    }
    o->topic = (bench_topic)topic;
    if (o->joint < 0)
        o->joint = o->topic == BENCH_TOPIC_ROBOTS ? MABD_JOINT_HINGE : MABD_JOINT_BALL;
    const int scenes =
        o->topic == BENCH_TOPIC_FILES ? check_files(o, texts->links) : check_sizes(o, texts->links);
    if (scenes != CLI_OK) return scenes;
    if (o->substeps > 0 && o->formulation != MABD_FORMULATION_VARIATIONAL &&
        o->formulation != MABD_FORMULATION_IMPULSE) {
        return say_usage("--substeps goes with --formulation variational or impulse");
    }
    const int threads = check_threads(o, texts->threads);
    if (threads != CLI_OK) return threads;
    if (o->processor && (o->thread_count != 1 || o->threads[0] != 1)) {
        return say_usage("--processor goes with --threads 1");
    }
    const int backends = check_backends(o, texts->backends);
    return backends != CLI_OK ? backends : check_outputs(o);
}

bool bench_options_is_topic(const char* name) {
    return place_of(name, strlen(name), TOPICS) >= 0;
}

bool bench_options_use_stdout(const bench_options* o) {
    return output_is_stdout(o->json) || output_is_stdout(o->csv);
}

bool bench_options_read(int argc, char** argv, bench_options* options, int* exit_code) {
    lists texts = {NULL, NULL, NULL};
    memset(options, 0, sizeof(*options));
    options->repeats = 3;
    options->joint = -1; // by topic
    options->preset = MABD_PRESET_BALANCED;
    options->h = 0.01;
    if (!parse(argc, argv, options, &texts, exit_code)) return false;
    *exit_code = check(options, &texts);
    return *exit_code == CLI_OK;
}
