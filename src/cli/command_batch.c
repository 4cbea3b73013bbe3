// SPDX-License-Identifier: Apache-2.0
// `mabd batch`: copies of a scene in one model, each with its own parameters and targets. Steps,
// recording and reports are those of `mabd run`.
#include "cli/batch_draw.h"
#include "cli/batch_vary.h"
#include "cli/cli.h"
#include "cli/run_extra.h"
#include "cli/summary.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_EVERY 20
#define NAME_SIZE     128
// Targets of all periods are recorded if they are at most this many numbers.
#define RECORDED_MAX (INT64_C(1) << 24)

static const char NOTES[] = "Numbers are drawn uniformly between LOW and HIGH, from the seed "
                            "alone: the same command gives the\n"
                            "same bits. Before the first step it prints the memory per copy. "
                            "Exit codes are those of\n"
                            "mabd run.\n\n"
                            "Example: mabd batch scenes/arm.json --copies 64 --vary load=0.2:3 "
                            "--control elbow=-1:1 --time 2";

typedef struct batch {
    batch_vary vary; // copies and their parameters
    int64_t control_every;
    option_texts control_texts;
    int32_t range_count;
    batch_range ranges[OPTION_TEXTS_MAX]; // of targets, by joint
    int32_t control_count;
    bool* which;                  // (controls) true if targets are drawn
    const batch_range** range_of; // (controls)
    mabd_real* targets;           // (copies x controls)
    double *parameters, *drawn;   // recorded: (copies x vary), (periods x copies x controls)
    mabd_record_array arrays[2];
    int32_t array_count;
} batch;

// ---- the command line --------------------------------------------------------------------------

static int check(void* context, const run_options* options) {
    batch* b = context;
    const int code = batch_vary_read(&b->vary, options);
    if (code != CLI_OK) return code;
    return batch_read_ranges("batch", "control", &b->control_texts, b->ranges, &b->range_count);
}

static int load(void* context, const run_options* options, loaded_scene* loaded) {
    return batch_vary_load(&((batch*)context)->vary, options, loaded);
}

// ---- targets -----------------------------------------------------------------------------------

static double target(const batch* b, int32_t control, int64_t period, int64_t copy) {
    const batch_range* r = b->range_of[control];
    const uint64_t index = (uint64_t)period << 32 | (uint64_t)copy;
    return r->low + (r->high - r->low) *
                        batch_draw((uint64_t)b->vary.seed, 2 * (uint64_t)control + 1, index);
}

static mabd_status before_step(void* context, mabd_sim* sim, mabd_error* error) {
    batch* b = context;
    const int64_t step = mabd_sim_step_count(sim);
    mabd_real* to = b->targets;
    if (b->range_count == 0 || step % b->control_every != 0) return MABD_OK;
    for (int64_t copy = 0; copy < b->vary.copies; copy++) {
        for (int32_t k = 0; k < b->control_count; k++, to++) {
            *to = b->which[k] ? (mabd_real)target(b, k, step / b->control_every, copy) : 0;
        }
    }
    return mabd_sim_set_targets(sim, 0, (int32_t)b->vary.copies, b->which, b->targets, error);
}

// Name of the joint of a control, without the prefix of its copy.
static const char* control_joint(const mabd_model* model, int32_t control, char* text,
                                 size_t size) {
    mabd_model_joint_name(model, mabd_model_control(model, control).joint, text, size);
    const char* slash = strchr(text, '/');
    return slash != NULL ? slash + 1 : text;
}

static int say_no_control(const mabd_model* model, const char* name) {
    char text[256];
    const char* before = "";
    fprintf(stderr,
            "mabd batch: --control: expected a joint with a servo or motor, got '%s'; there are ",
            name);
    for (int32_t k = 0; k < mabd_model_control_count(model); k++) {
        fprintf(stderr, "%s%s", before, control_joint(model, k, text, sizeof(text)));
        before = ", ";
    }
    fprintf(stderr, "%s\n", before[0] == '\0' ? "none" : "");
    return CLI_BAD_INPUT;
}

static int find_controls(batch* b, const mabd_model* model) {
    for (int32_t i = 0; i < b->range_count; i++) {
        bool found = false;
        for (int32_t k = 0; k < b->control_count; k++) {
            char text[256];
            const char* joint = control_joint(model, k, text, sizeof(text));
            if (strcmp(joint, b->ranges[i].name) != 0) continue;
            b->which[k] = found = true;
            b->range_of[k] = &b->ranges[i];
        }
        if (!found) return say_no_control(model, b->ranges[i].name);
    }
    return CLI_OK;
}

// ---- recorded arrays ---------------------------------------------------------------------------

static void add_array(batch* b, const char* name, int64_t rows, int64_t columns, int64_t layers,
                      const double* data) {
    b->arrays[b->array_count++] =
        (mabd_record_array){name, layers > 0 ? 3 : 2, {rows, columns, layers}, data};
}

static bool keep_parameters(batch* b) {
    if (b->vary.count == 0) return true;
    b->parameters = calloc((size_t)b->vary.copies * (size_t)b->vary.count, sizeof(double));
    if (b->parameters == NULL) return false;
    double* to = b->parameters;
    for (int64_t copy = 0; copy < b->vary.copies; copy++) {
        for (int32_t i = 0; i < b->vary.count; i++) *to++ = batch_vary_value(&b->vary, i, copy);
    }
    add_array(b, "parameters", b->vary.copies, b->vary.count, 0, b->parameters);
    return true;
}

static bool keep_targets(batch* b, int64_t steps) {
    const int64_t periods = (steps + b->control_every - 1) / b->control_every;
    const int64_t each = b->vary.copies * b->control_count;
    if (b->range_count == 0 || periods == 0 || periods > RECORDED_MAX / each) return true;
    b->drawn = calloc((size_t)(periods * each), sizeof(double));
    if (b->drawn == NULL) return false;
    double* to = b->drawn;
    for (int64_t period = 0; period < periods; period++) {
        for (int64_t copy = 0; copy < b->vary.copies; copy++) {
            for (int32_t k = 0; k < b->control_count; k++) {
                *to++ = b->which[k] ? target(b, k, period, copy) : 0;
            }
        }
    }
    add_array(b, "targets", periods, b->vary.copies, b->control_count, b->drawn);
    return true;
}

static void record(void* context, mabd_record_def* def) {
    const batch* b = context;
    def->array_count = b->array_count;
    def->arrays = b->arrays;
}

// ---- reports -----------------------------------------------------------------------------------

static double per_copy(const mabd_sim* sim, size_t bytes) {
    return (double)bytes / (double)mabd_model_copy_count(mabd_sim_model(sim));
}

static void print_memory(const mabd_sim* sim, FILE* text) {
    size_t bytes[MABD_MEMORY_COUNT], total = 0, device = mabd_sim_device_bytes(sim);
    char one[32], all[32];
    mabd_sim_memory(sim, bytes);
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) total += bytes[k];
    fprintf(text, "memory    %s per copy",
            system_format_bytes(per_copy(sim, total), one, sizeof(one)));
    const char* before = ":";
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) {
        if (bytes[k] == 0) continue;
        fprintf(text, "%s %s %s", before, mabd_memory_name((mabd_memory)k),
                system_format_bytes(per_copy(sim, bytes[k]), one, sizeof(one)));
        before = ",";
    }
    fprintf(text, "; %s in all\n", system_format_bytes((double)total, all, sizeof(all)));
    if (device == 0) return;
    fprintf(text, "device    %s per copy, %s in all\n",
            system_format_bytes(per_copy(sim, device), one, sizeof(one)),
            system_format_bytes((double)device, all, sizeof(all)));
}

static void print_batch(const batch* b, const mabd_model* model, FILE* text) {
    fprintf(text, "batch     %lld copies of %d bodies, %d joints, %d controls",
            (long long)b->vary.copies, (int)(mabd_model_body_count(model) / b->vary.copies),
            (int)(mabd_model_joint_count(model) / b->vary.copies), (int)b->control_count);
    for (int32_t i = 0; i < b->vary.count; i++) {
        fprintf(text, "%s %s %g to %g", i == 0 ? "; varied:" : ",", b->vary.ranges[i].name,
                b->vary.ranges[i].low, b->vary.ranges[i].high);
    }
    for (int32_t i = 0; i < b->range_count; i++) {
        fprintf(text, "%s %s %g to %g", i == 0 ? "; drawn:" : ",", b->ranges[i].name,
                b->ranges[i].low, b->ranges[i].high);
    }
    fputc('\n', text);
}

static int prepare(void* context, const mabd_sim* sim, int64_t steps, FILE* text) {
    batch* b = context;
    const mabd_model* model = mabd_sim_model(sim);
    b->control_count = mabd_model_control_count(model);
    const size_t controls = (size_t)b->control_count + 1; // never empty
    b->which = calloc(controls, sizeof(*b->which));
    b->range_of = calloc(controls, sizeof(*b->range_of));
    b->targets = calloc((size_t)b->vary.copies * controls, sizeof(*b->targets));
    bool room = b->which != NULL && b->range_of != NULL && b->targets != NULL;
    const int code = room ? find_controls(b, model) : CLI_OK;
    if (code != CLI_OK) return code;
    if (!room || !keep_parameters(b) || !keep_targets(b, steps)) {
        fprintf(stderr, "mabd batch: out of memory for targets and parameters\n");
        return CLI_FAILED;
    }
    if (text == NULL) return CLI_OK;
    print_batch(b, model, text);
    print_memory(sim, text);
    fflush(text);
    return CLI_OK;
}

static void print(void* context, const mabd_sim* sim, int64_t steps, double seconds, FILE* text) {
    const batch* b = context;
    (void)sim;
    if (seconds <= 0) return;
    fprintf(text, "batch     %.4g steps/s, %.4g copies x steps/s\n", (double)steps / seconds,
            (double)steps * (double)b->vary.copies / seconds);
}

static json_t* controls_of(const mabd_model* model) {
    static const char* const axes[MABD_AXIS_COUNT] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    json_t* list = json_array();
    for (int32_t k = 0; k < mabd_model_control_count(model); k++) {
        const mabd_control_info info = mabd_model_control(model, k);
        char name[256];
        json_t* entry = json_object();
        summary_set_text(entry, "joint", control_joint(model, k, name, sizeof(name)));
        summary_set_text(entry, "axis", axes[info.axis]);
        summary_set_text(entry, "kind", mabd_control_name(info.kind));
        summary_set_text(entry, "unit", info.unit);
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t* ranges_of(const batch_range* ranges, int32_t count) {
    json_t* object = json_object();
    for (int32_t i = 0; i < count; i++) {
        const double ends[2] = {ranges[i].low, ranges[i].high};
        summary_set_reals(object, ranges[i].name, ends, 2);
    }
    return object;
}

static void report(void* context, const mabd_sim* sim, int64_t steps, double seconds,
                   json_t* summary) {
    const batch* b = context;
    const mabd_model* model = mabd_sim_model(sim);
    const double rate = seconds > 0 ? (double)steps / seconds : 0;
    size_t bytes[MABD_MEMORY_COUNT], total = 0;
    mabd_sim_memory(sim, bytes);
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) total += bytes[k];
    json_object_set_new(summary, "copies", json_integer((json_int_t)b->vary.copies));
    json_object_set_new(summary, "seed", json_integer((json_int_t)b->vary.seed));
    json_object_set_new(summary, "control_every", json_integer((json_int_t)b->control_every));
    json_object_set_new(summary, "controls", controls_of(model));
    json_object_set_new(summary, "varied", ranges_of(b->vary.ranges, b->vary.count));
    json_object_set_new(summary, "drawn", ranges_of(b->ranges, b->range_count));
    summary_set_memory(summary, "memory", bytes);
    summary_set_real(summary, "bytes_per_copy", per_copy(sim, total));
    summary_set_real(summary, "device_bytes_per_copy", per_copy(sim, mabd_sim_device_bytes(sim)));
    summary_set_real(summary, "steps_per_second", rate);
    summary_set_real(summary, "copy_steps_per_second", rate * (double)b->vary.copies);
}

// ---- the command -------------------------------------------------------------------------------

static void release(batch* b) {
    free(b->which);
    free(b->range_of);
    free(b->targets);
    free(b->parameters);
    free(b->drawn);
    free(b);
}

int command_batch(int argc, char** argv) {
    batch* b = calloc(1, sizeof(*b));
    if (b == NULL) {
        fprintf(stderr, "mabd batch: out of memory\n");
        return CLI_FAILED;
    }
    b->vary.command = "batch", b->vary.copies = 1, b->control_every = DEFAULT_EVERY;
    const option more[] = {
        option_integer("copies", "N", OPTION_POSITIVE, 1 << 24, &b->vary.copies, NULL,
                       "how many (default 1)"),
        option_list("vary", "NAME=LOW:HIGH", &b->vary.texts,
                    "draw a parameter of the scene for every copy, repeatable"),
        option_list("control", "JOINT=LOW:HIGH", &b->control_texts,
                    "draw targets of a joint's servo or motor for every copy, repeatable"),
        option_integer("control-every", "K", OPTION_POSITIVE, 0, &b->control_every, NULL,
                       "steps for which a target holds (default 20)"),
        option_integer("seed", "S", OPTION_NOT_NEGATIVE, 0, &b->vary.seed, NULL,
                       "of all that is drawn (default 0)"),
    };
    const run_command command = {.name = "batch",
                                 .about = "Simulate many copies of a scene as one problem.",
                                 .notes = NOTES,
                                 .more_count = sizeof(more) / sizeof(more[0]),
                                 .more = more};
    const run_extra extra = {b, check, load, prepare, record, before_step, print, report};
    const int code = run_command_line(&command, argc, argv, &extra);
    release(b);
    return code;
}
