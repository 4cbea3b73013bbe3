// SPDX-License-Identifier: Apache-2.0
// The program around an engine; see peer_harness.h.
#include "bench/peers/peer_harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_BAD_INPUT 2
#define EXIT_NO_MEMORY 3

// ---- results as lines --------------------------------------------------------------------------

static void write_integer(FILE* out, const char* name, int64_t value) {
    fprintf(out, "%s %lld\n", name, (long long)value);
}

static void write_real(FILE* out, const char* name, double value) {
    fprintf(out, "%s %.17g\n", name, value);
}

static void write_flag(FILE* out, const char* name, bool value) {
    fprintf(out, "%s %d\n", name, value ? 1 : 0);
}

void peer_result_write(const peer_result* result, FILE* out) {
#define X(name, kind) write_##kind(out, #name, result->name);
    PEER_RESULT_LIST(X)
#undef X
    fprintf(out, "failure %s\n", result->failure);
}

// Start of the line after the first one; null if there is none.
static const char* next_line(const char* text) {
    const char* end = strchr(text, '\n');
    return end != NULL && end[1] != '\0' ? end + 1 : NULL;
}

// Find the text after "NAME " at the start of a line; null if there is no such line.
static const char* find_line(const char* text, const char* name) {
    const size_t length = strlen(name);
    for (const char* line = text; line != NULL; line = next_line(line)) {
        if (strncmp(line, name, length) == 0 && line[length] == ' ') return line + length + 1;
    }
    return NULL;
}

#define POSITIONS   "positions"
#define QUATERNIONS "quaternions"

static void write_numbers(FILE* out, const char* name, int64_t count, const double* values) {
    fputs(name, out);
    for (int64_t i = 0; i < count; i++) fprintf(out, " %.17g", values[i]);
    fputc('\n', out);
}

void peer_samples_write(const peer_samples* samples, int32_t bodies, FILE* out) {
    const int64_t n = bodies;
    for (int32_t k = 0; k < samples->count; k++) {
        write_numbers(out, POSITIONS, 3 * n, samples->positions + 3 * k * n);
        write_numbers(out, QUATERNIONS, 4 * n, samples->quaternions + 4 * k * n);
    }
}

// Read the next line of a name; returns what follows it, null if it is missing or damaged.
static const char* read_numbers(const char* text, const char* name, int64_t count, double* values) {
    text = text != NULL ? find_line(text, name) : NULL;
    for (int64_t i = 0; text != NULL && i < count; i++) {
        char* end = NULL;
        values[i] = strtod(text, &end);
        text = end != text ? end : NULL;
    }
    return text != NULL && *text == '\n' ? next_line(text) : NULL;
}

bool peer_samples_read(const char* text, int32_t bodies, const peer_samples* samples) {
    const int64_t n = bodies;
    for (int32_t k = 0; k < samples->count && text != NULL; k++) {
        text = read_numbers(text, POSITIONS, 3 * n, samples->positions + 3 * k * n);
        if (samples->quaternions == NULL) continue;
        text = read_numbers(text, QUATERNIONS, 4 * n, samples->quaternions + 4 * k * n);
    }
    return text != NULL; // the lines of the result follow
}

static bool read_number(const char* text, const char* name, double* value) {
    const char* found = find_line(text, name);
    char* end = NULL;
    if (found == NULL) return false;
    *value = strtod(found, &end);
    return end != found && *end == '\n' && isfinite(*value);
}

static bool read_integer(const char* text, const char* name, int64_t* value) {
    double number = 0;
    if (!read_number(text, name, &number) || fabs(number) > 1e15) return false;
    *value = (int64_t)number;
    return number == floor(number);
}

static bool read_real(const char* text, const char* name, double* value) {
    return read_number(text, name, value);
}

static bool read_flag(const char* text, const char* name, bool* value) {
    double number = 0;
    if (!read_number(text, name, &number)) return false;
    *value = number != 0;
    return true;
}

bool peer_result_read(const char* text, peer_result* result, char* message, size_t size) {
    const char* wrong = NULL;
    *result = (peer_result){.apart_step = -1, .failed_step = -1};
#define X(name, kind)                                                                              \
    if (wrong == NULL && !read_##kind(text, #name, &result->name)) wrong = #name;
    PEER_RESULT_LIST(X)
#undef X
    const char* failure = find_line(text, "failure");
    if (wrong == NULL && failure == NULL) wrong = "failure";
    if (wrong != NULL) {
        snprintf(message, size, "no number '%s' in the answer", wrong);
        return false;
    }
    snprintf(result->failure, sizeof(result->failure), "%.*s", (int)strcspn(failure, "\n"),
             failure);
    return true;
}

// ---- the program -------------------------------------------------------------------------------

static int list(const peer_engine* engine) {
    printf("version %s\n", engine->version);
    for (int32_t i = 0; i < engine->variant_count; i++) {
        printf("variant %s %s\n", engine->variants[i].name, engine->variants[i].settings);
    }
    return EXIT_SUCCESS;
}

static int say(const peer_engine* engine, const char* text, int code) {
    fprintf(stderr, "mabd-peer-%s: %s\n", engine->name, text);
    return code;
}

static int32_t find_variant(const peer_engine* engine, const char* name) {
    for (int32_t i = 0; i < engine->variant_count; i++) {
        if (strcmp(engine->variants[i].name, name) == 0) return i;
    }
    return -1;
}

static void say_built(void) {
    puts("built");
    fflush(stdout);
}

// Measure a scene and write the answer.
static int answer(const peer_engine* engine, int32_t variant, const peer_scene* scene,
                  peer_limits* limits, peer_samples* samples) {
    peer_result result;
    if (samples->count > 0) {
        const size_t poses = (size_t)samples->count * (size_t)scene->body_count;
        samples->positions = malloc(7 * poses * sizeof(double));
        if (samples->positions == NULL) return say(engine, "out of memory", EXIT_NO_MEMORY);
        samples->quaternions = samples->positions + 3 * poses;
        limits->samples = samples;
    }
    const bool measured = peer_measure(engine, variant, scene, limits, &result);
    if (measured && samples->count > 0) peer_samples_write(samples, scene->body_count, stdout);
    if (measured) peer_result_write(&result, stdout);
    free(samples->positions);
    return measured ? EXIT_SUCCESS : say(engine, "out of memory", EXIT_NO_MEMORY);
}

static int run(const peer_engine* engine, int argc, char** argv) {
    char message[PEER_TEXT_BYTES], *end = NULL;
    peer_scene scene;
    peer_samples samples = {.every = 1};
    const int32_t variant = find_variant(engine, argv[0]);
    peer_limits limits = {
        .repeats = atoi(argv[1]), .seconds = strtod(argv[2], &end), .on_built = say_built};
    if (argc > 3) samples.every = atoi(argv[3]), samples.count = atoi(argv[4]);
    if (variant < 0) return say(engine, "no such variant", EXIT_BAD_INPUT);
    if (limits.repeats < 1 || *end != '\0' || !(limits.seconds > 0)) {
        return say(engine, "REPEATS and SECONDS must be > 0", EXIT_BAD_INPUT);
    }
    if (samples.every < 1 || samples.count < 0) {
        return say(engine, "EVERY must be > 0, COUNT >= 0", EXIT_BAD_INPUT);
    }
    if (!peer_scene_read(stdin, &scene, message, sizeof(message))) {
        return say(engine, message, EXIT_BAD_INPUT);
    }
    const int code = answer(engine, variant, &scene, &limits, &samples);
    peer_scene_destroy(&scene);
    return code;
}

int peer_program(const peer_engine* engine, int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) return list(engine);
    if ((argc == 5 || argc == 7) && strcmp(argv[1], "run") == 0) {
        return run(engine, argc - 2, argv + 2);
    }
    fprintf(stderr, "usage: mabd-peer-%s list | run VARIANT REPEATS SECONDS [EVERY COUNT] <SCENE\n",
            engine->name);
    return EXIT_BAD_INPUT;
}
