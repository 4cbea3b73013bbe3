// SPDX-License-Identifier: Apache-2.0
// `mabd bench`: speed, with what it takes to judge it: errors beside times, the machine, and the memory
// bandwidth that bounds a step.
#include "bench/scaling.h"
#include "bench/stream.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX     32
#define WARM_UP_STEPS 5
#define STREAM_PASSES 12

typedef struct bench_options {
    const char *topic, *links, *json, *csv;
    int64_t steps, repeats, threads;
    int joint, preset, integrator;
    double h; // [s]
} bench_options;

#define X(name, text, translations, rotations) text,
static const char* const JOINTS[] = {MABD_JOINT_LIST(X) NULL};
#undef X
#define X(name, text) text,
static const char* const PRESETS[] = {MABD_PRESET_LIST(X) NULL};
static const char* const INTEGRATORS[] = {MABD_INTEGRATOR_LIST(X) NULL};
#undef X

#define SLOPE_FROM 1000 // links: below, fixed costs of a step show

#define X(name, text) text,
static const char* const TOPICS[] = {BENCH_TOPIC_LIST(X) NULL};
#undef X

static const char* const DEFAULT_SIZES[] = {
    [BENCH_TOPIC_CHAIN] = "10,100,1000,10000,100000,1000000",
    [BENCH_TOPIC_TREE] = "15,127,1023,8191,131071,1048575",
    [BENCH_TOPIC_NET] = "280,1160,7400,29800",
};

static const char NOTES[] =
    "Topics: chain, tree (full binary), net (square, hung by one edge), let go and timed.\n"
    "Every size is built, warmed up for 5 steps and timed from there; the fastest of the repeats\n"
    "counts. The bound is the time to read q, v and one older q, v of a link (48 numbers) and to\n"
    "write the new q, v (24 numbers) at the bandwidth of the STREAM triad on one thread.";

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
        option_choice("joint", JOINTS, &o->joint, "joint type (default ball), not free"),
        option_integer("steps", "N", OPTION_POSITIVE, 0, &o->steps, NULL,
                       "steps timed (default 200, fewer beyond 100,000 links)"),
        option_integer("repeat", "N", OPTION_POSITIVE, 1000, &o->repeats, NULL,
                       "times each size is run (default 3)"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, NULL, "time step [s] (default 0.01)"),
        option_choice("integrator", INTEGRATORS, &o->integrator, "time integration"),
        option_choice("preset", PRESETS, &o->preset, "tolerances (default balanced)"),
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
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say_usage(const char* text) {
    fprintf(stderr, "mabd bench: %s\nTry 'mabd bench --help'.\n", text);
    return CLI_BAD_INPUT;
}

// ---- results -----------------------------------------------------------------------------------

typedef struct bench {
    bench_options options;
    bench_topic topic;
    int32_t count; // of sizes
    int64_t sizes[SIZES_MAX];
    bench_scaling_result results[SIZES_MAX];
    bench_stream stream;
    char machine[160];
    char* command;
    FILE* text; // for people
} bench;

static double per_link(const bench_scaling_result* r, double seconds) {
    return 1e9 * seconds / (double)r->links;
}

static double per_link_iteration(const bench_scaling_result* r) {
    return per_link(r, r->seconds_per_step) / r->iterations_per_step;
}

static void print_head(const bench* b) {
    size_t real = sizeof(mabd_real);
    fprintf(b->text, "machine   %s\nbuild     mabd %s, compiler %s\n", b->machine, mabd_version(),
            __VERSION__);
    fprintf(b->text, "triad     %.2f GB/s, one thread, three arrays of %.0f MB\n",
            1e-9 * b->stream.bytes_per_second, 1e-6 * (double)b->stream.array_bytes);
    fprintf(
        b->text, "bound     %.1f ns per link and step: %zu bytes read, %zu written per link\n\n",
        bench_stream_bound(&b->stream, real), BENCH_REALS_READ * real, BENCH_REALS_WRITTEN * real);
    fprintf(b->text, "%9s %11s %10s %12s %14s %9s %9s %9s %7s\n", "links", "ms/step", "iter/step",
            "ns/link/step", "ns/link/iter", "gap [m]", "first ms", "build ms", "B/link");
    fflush(b->text);
}

static void print_row(const bench* b, const bench_scaling_result* r) {
    fprintf(b->text, "%9d %11.5g %10.2f %12.0f %14.0f %9.1e %9.3g %9.3g %7.0f\n", (int)r->links,
            1e3 * r->seconds_per_step, r->iterations_per_step, per_link(r, r->seconds_per_step),
            per_link_iteration(r), r->max_gap, 1e3 * r->first_step_seconds, 1e3 * r->build_seconds,
            (double)r->bytes / r->links);
    fflush(b->text);
}

static void print_stages(const bench* b) {
    fprintf(b->text, "\nns per link and step, by stage\n%9s", "links");
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        fprintf(b->text, " %9s", mabd_stage_name((mabd_stage)k));
    }
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        fprintf(b->text, "\n%9d", (int)r->links);
        for (int k = 0; k < MABD_STAGE_COUNT; k++) {
            fprintf(b->text, " %9.1f", per_link(r, r->stage_seconds[k]));
        }
    }
    fputc('\n', b->text);
    const double slope = bench_scaling_slope(b->count, b->results, SLOPE_FROM);
    if (slope > 0) {
        fprintf(b->text, "\ntime per step grows as links^%.3f from %d links on\n", slope,
                SLOPE_FROM);
    }
}

// ---- files -------------------------------------------------------------------------------------

static json_t* result_json(const bench_scaling_result* r) {
    json_t* entry =
        json_pack("{si si sI sI sI sI}", "links", (int)r->links, "rows", (int)r->rows, "steps",
                  (json_int_t)r->steps, "unconverged_steps", (json_int_t)r->unconverged_steps,
                  "retries", (json_int_t)r->retries, "bytes", (json_int_t)r->bytes);
    json_t* stages = json_object();
    summary_set_real(entry, "ms_per_step", 1e3 * r->seconds_per_step);
    summary_set_real(entry, "iterations_mean", r->iterations_per_step);
    summary_set_real(entry, "ns_per_link", per_link(r, r->seconds_per_step));
    summary_set_real(entry, "ns_per_link_iteration", per_link_iteration(r));
    summary_set_real(entry, "max_gap", r->max_gap);
    summary_set_real(entry, "max_angle_error", r->max_angle_error);
    summary_set_real(entry, "first_step_ms", 1e3 * r->first_step_seconds);
    summary_set_real(entry, "build_ms", 1e3 * r->build_seconds);
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        summary_set_real(stages, mabd_stage_name((mabd_stage)k), 1e3 * r->stage_seconds[k]);
    }
    json_object_set_new(entry, "stage_ms_per_step", stages);
    return entry;
}

static int write_json(const bench* b) {
    if (b->options.json == NULL) return CLI_OK;
    json_t *root = json_object(), *results = json_array();
    summary_set_text(root, "topic", b->options.topic);
    summary_set_text(root, "version", mabd_version());
    summary_set_text(root, "compiler", __VERSION__);
    summary_set_text(root, "machine", b->machine);
    summary_set_text(root, "command", b->command);
    summary_set_text(root, "joint", JOINTS[b->options.joint]);
    summary_set_text(root, "integrator", INTEGRATORS[b->options.integrator]);
    summary_set_text(root, "preset", PRESETS[b->options.preset]);
    summary_set_real(root, "h", b->options.h);
    summary_set_real(root, "triad_bytes_per_second", b->stream.bytes_per_second);
    summary_set_real(root, "bound_ns_per_link", bench_stream_bound(&b->stream, sizeof(mabd_real)));
    for (int32_t i = 0; i < b->count; i++) {
        json_array_append_new(results, result_json(&b->results[i]));
    }
    json_object_set_new(root, "results", results);
    summary_set_real(root, "slope", bench_scaling_slope(b->count, b->results, SLOPE_FROM));
    int code = summary_write("bench", b->options.json, root);
    json_decref(root);
    return code;
}

static void fill_csv(const bench* b, FILE* out) {
    fprintf(out, "# machine: %s\n# version: mabd %s\n# compiler: %s\n# command: %s\n", b->machine,
            mabd_version(), __VERSION__, b->command);
    fprintf(out, "# triad: %.3e bytes/s, bound: %.2f ns per link and step\n",
            b->stream.bytes_per_second, bench_stream_bound(&b->stream, sizeof(mabd_real)));
    fprintf(out, "# slope of log time against log links, from %d links on: %.3f\n", SLOPE_FROM,
            bench_scaling_slope(b->count, b->results, SLOPE_FROM));
    fprintf(out, "links,joint,rows,steps,ms_per_step,iterations_mean,ns_per_link,"
                 "ns_per_link_iteration,max_gap,max_angle_error,first_step_ms,build_ms,bytes");
    for (int k = 0; k < MABD_STAGE_COUNT; k++) {
        fprintf(out, ",%s_ms", mabd_stage_name((mabd_stage)k));
    }
    for (int32_t i = 0; i < b->count; i++) {
        const bench_scaling_result* r = &b->results[i];
        fprintf(out, "\n%d,%s,%d,%lld,%.6g,%.4g,%.5g,%.5g,%.3e,%.3e,%.5g,%.5g,%zu", (int)r->links,
                JOINTS[b->options.joint], (int)r->rows, (long long)r->steps,
                1e3 * r->seconds_per_step, r->iterations_per_step, per_link(r, r->seconds_per_step),
                per_link_iteration(r), r->max_gap, r->max_angle_error, 1e3 * r->first_step_seconds,
                1e3 * r->build_seconds, r->bytes);
        for (int k = 0; k < MABD_STAGE_COUNT; k++) fprintf(out, ",%.5g", 1e3 * r->stage_seconds[k]);
    }
    fputc('\n', out);
}

static int write_csv(const bench* b) {
    if (b->options.csv == NULL) return CLI_OK;
    char* text = NULL;
    size_t size = 0;
    char message[512];
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) fill_csv(b, memory);
    if (memory == NULL || fclose(memory) != 0) {
        free(text);
        fprintf(stderr, "mabd bench: out of memory\n");
        return CLI_FAILED;
    }
    bool written = output_write(b->options.csv, text, message, sizeof(message));
    free(text);
    if (written) return CLI_OK;
    fprintf(stderr, "mabd bench: %s\n", message);
    return CLI_CANNOT_WRITE;
}

// ---- the run -----------------------------------------------------------------------------------

static bool is_stdout(const char* path) {
    return path != NULL && strcmp(path, "-") == 0;
}

static bench_topic find_topic(const char* name) {
    int topic = 0;
    while (TOPICS[topic] != NULL && strcmp(TOPICS[topic], name) != 0) topic++;
    return (bench_topic)topic;
}

static int check_options(bench* b) {
    const bench_options* o = &b->options;
    char message[512];
    b->topic = find_topic(o->topic);
    if (b->topic == BENCH_TOPIC_COUNT)
        return say_usage("unknown topic: expected chain, tree or net");
    if (o->joint == MABD_JOINT_FREE) return say_usage("--joint: free joints make no chain");
    if (is_stdout(o->json) && is_stdout(o->csv)) {
        return say_usage("--json and --csv cannot both go to standard output");
    }
    const char* sizes = o->links;
    if (sizes == NULL) sizes = DEFAULT_SIZES[b->topic];
    b->count = options_integers(sizes, SIZES_MAX, b->sizes);
    for (int32_t i = 0; i < b->count; i++) {
        if (b->sizes[i] > INT32_MAX) b->count = 0;
    }
    if (b->count == 0) return say_usage("--links: expected at most 32 integers > 0 as N,N,...");
    const char* paths[] = {o->json, o->csv};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] == NULL || output_check(paths[i], message, sizeof(message))) continue;
        fprintf(stderr, "mabd bench: %s\n", message);
        return CLI_CANNOT_WRITE;
    }
    return CLI_OK;
}

static int run_size(bench* b, int64_t links, bench_scaling_result* result) {
    const bench_options* o = &b->options;
    bench_scaling_def def = {.topic = b->topic,
                             .links = (int32_t)links,
                             .joint = (mabd_joint)o->joint,
                             .sim = mabd_default_sim_def(),
                             .warm_up = WARM_UP_STEPS,
                             .steps = o->steps > 0 ? o->steps : bench_scaling_default_steps(links),
                             .repeats = (int32_t)o->repeats};
    mabd_error error = {0};
    mabd_sim_def_apply_preset(&def.sim, (mabd_preset)o->preset);
    def.sim.integrator = (mabd_integrator)o->integrator;
    def.sim.h = (mabd_real)o->h;
    def.sim.threads = (int32_t)o->threads;
    mabd_status status = bench_scaling_run(&def, result, &error);
    if (status == MABD_OK) return CLI_OK;
    fprintf(stderr, "mabd bench: %s of %lld links: %s\n", o->topic, (long long)links,
            error.text[0] != '\0' ? error.text : mabd_status_text(status));
    return status == MABD_ERR_ARG || status == MABD_ERR_INPUT ? CLI_BAD_INPUT : CLI_FAILED;
}

static int run_all(bench* b) {
    b->stream = bench_stream_triad(system_largest_cache(), system_memory(), STREAM_PASSES);
    system_machine(b->machine, sizeof(b->machine));
    print_head(b);
    int code = CLI_OK;
    int32_t done = 0;
    while (done < b->count && code == CLI_OK) {
        code = run_size(b, b->sizes[done], &b->results[done]);
        if (code == CLI_OK) print_row(b, &b->results[done++]);
    }
    b->count = done;
    print_stages(b);
    int json = write_json(b), csv = write_csv(b);
    if (code == CLI_OK) code = json;
    return code == CLI_OK ? csv : code;
}

int command_bench(int argc, char** argv) {
    int code = CLI_FAILED;
    bench* b = calloc(1, sizeof(*b));
    char* command = load_join_command("bench", argc, argv);
    if (b == NULL || command == NULL) {
        fprintf(stderr, "mabd bench: out of memory\n");
    } else if (parse_options(argc, argv, &b->options, &code)) {
        b->command = command;
        b->text = is_stdout(b->options.json) || is_stdout(b->options.csv) ? stderr : stdout;
        code = check_options(b);
        if (code == CLI_OK) code = run_all(b);
    }
    free(command);
    free(b);
    return code;
}
