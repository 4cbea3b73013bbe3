// SPDX-License-Identifier: Apache-2.0
// The programs mabd-peer-NAME of bench/peers; see peer_program.h.
#include "cli/bench/peer_program.h"

#include "bench/peers/peer_harness.h"
#include "cli/child.h"
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_SECONDS 600
#define LIST_SECONDS  10
#define GRACE_SECONDS 5    // for loading and a last step, beyond twice the limit
#define MEMORY_PART   0.75 // share of the machine's memory for a peer

#define X(name, text, package) text,
static const char* const NAMES[] = {PEER_PROGRAM_LIST(X)};
#undef X
#define X(name, text, package) package,
static const char* const PACKAGES[] = {PEER_PROGRAM_LIST(X)};
#undef X

// ---- finding -----------------------------------------------------------------------------------

// True if `folder` is a build tree whose configuration found the library.
static bool can_build(const char* folder, const char* name) {
    char path[4096 + 32], line[64];
    bool found = false;
    snprintf(path, sizeof(path), "%s/CMakeCache.txt", folder);
    if (access(path, R_OK) != 0) return false;
    snprintf(path, sizeof(path), "%s/peers.txt", folder);
    FILE* file = fopen(path, "r");
    if (file == NULL) return false;
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, name) == 0;
    }
    fclose(file);
    return found;
}

static bool build(const char* folder, const char* name, char* message, size_t size) {
    char target[64], directory[4096];
    char* argv[] = {"cmake", "--build", directory, "--target", target, NULL};
    const child_limits limits = {.seconds = BUILD_SECONDS};
    snprintf(directory, sizeof(directory), "%s", folder);
    snprintf(target, sizeof(target), "mabd-peer-%s", name);
    fprintf(stderr, "building %s\n", target);
    child_result result = child_run(argv, NULL, &limits);
    free(result.out);
    if (result.started && result.code == 0) return true;
    snprintf(message, size, "%s: could not be built: run cmake --build %s --target %s", name,
             folder, target);
    return false;
}

// Read the lines "version TEXT" and "variant NAME SETTINGS"; false if there are none.
static bool read_list(const char* text, peer_program_info* program) {
    program->variant_count = 0;
    snprintf(program->version, sizeof(program->version), "unknown");
    while (text != NULL && *text != '\0') {
        const int32_t i = program->variant_count;
        if (sscanf(text, "version %63[^\n]", program->version) == 1) {
            // stored
        } else if (i < PEER_VARIANTS_MAX &&
                   sscanf(text, "variant %31s %255[^\n]", program->variants[i],
                          program->settings[i]) == 2) {
            program->variant_count++;
        }
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return program->variant_count > 0;
}

static bool ask(peer_program_info* program, char* message, size_t size) {
    char* argv[] = {program->path, "list", NULL};
    const child_limits limits = {.seconds = LIST_SECONDS};
    child_result result = child_run(argv, NULL, &limits);
    const bool read = result.out != NULL && result.code == 0 && read_list(result.out, program);
    if (!read) {
        snprintf(message, size, "%s: %s does not tell its variants%s%s", program->name,
                 program->path, result.errors[0] != '\0' ? ": " : "", result.errors);
    }
    free(result.out);
    return read;
}

bool peer_program_find(peer_program_id id, const char* folder, peer_program_info* program,
                       char* message, size_t size) {
    char own[4096 - 64];
    const char* name = NAMES[id];
    const char* where = folder != NULL ? folder : system_program_folder(own, sizeof(own));
    *program = (peer_program_info){.name = name};
    snprintf(program->path, sizeof(program->path), "%s/mabd-peer-%s", where, name);
    if (access(program->path, X_OK) != 0) {
        if (folder != NULL || !can_build(where, name)) {
            snprintf(message, size,
                     "%s: mabd-peer-%s is missing: install %s, configure again and build the "
                     "target 'peers' (./dev peers does all of it)",
                     name, name, PACKAGES[id]);
            return false;
        }
        if (!build(where, name, message, size)) return false;
    }
    return ask(program, message, size);
}

// ---- running -----------------------------------------------------------------------------------

static void fail(peer_result* result, const char* text, const char* more) {
    *result = (peer_result){.own_gap = -1, .rest_speed = -1, .apart_step = -1, .failed_step = 0};
    // longer texts are cut
    snprintf(result->failure, sizeof(result->failure), "%.80s%s%.160s", text,
             more[0] != '\0' ? ": " : "", more);
}

static void judge(const child_result* child, double limit, peer_result* result) {
    char text[PEER_TEXT_BYTES];
    const bool built = child->out != NULL && strncmp(child->out, "built\n", 6) == 0;
    if (!child->started) {
        fail(result, "cannot be started", child->errors);
    } else if (child->timeout) {
        snprintf(text, sizeof(text), "timeout: killed after %.0f s %s", ceil(limit),
                 built ? "of steps" : "before the first step");
        fail(result, text, "");
    } else if (child->signal != 0) {
        snprintf(text, sizeof(text), "signal %d (%s)", child->signal, strsignal(child->signal));
        fail(result, text, child->errors);
    } else if (child->code != 0) {
        snprintf(text, sizeof(text), "exit code %d", child->code);
        fail(result, text, child->errors);
    } else if (child->out == NULL) {
        fail(result, "out of memory", "");
    } else if (!peer_result_read(child->out, result, text, sizeof(text))) {
        fail(result, text, "");
    }
}

// Fill the samples from an answer, with NaN if it has not all of them.
static void read_samples(const child_result* child, int32_t bodies, const peer_samples* samples) {
    if (child->out != NULL && peer_samples_read(child->out, bodies, samples)) return;
    peer_samples_clear(samples, bodies);
}

void peer_program_run(const peer_program_info* program, int32_t variant, FILE* scene,
                      int32_t bodies, const peer_limits* limits, peer_result* result) {
    char repeats[16], seconds[32], every[24], count[16], name[32], path[sizeof(program->path)];
    const peer_samples* samples = limits->samples;
    char* argv[] = {path,  "run", name, repeats, seconds, samples != NULL ? every : NULL,
                    count, NULL};
    const size_t memory = system_memory();
    const child_limits bounds = {.seconds = 2 * limits->seconds + GRACE_SECONDS,
                                 .bytes = memory < SIZE_MAX ? (size_t)(MEMORY_PART * (double)memory)
                                                            : 0};
    snprintf(path, sizeof(path), "%s", program->path);
    snprintf(name, sizeof(name), "%s", program->variants[variant]);
    snprintf(repeats, sizeof(repeats), "%d", (int)limits->repeats);
    snprintf(seconds, sizeof(seconds), "%.17g", limits->seconds);
    if (samples != NULL) {
        snprintf(every, sizeof(every), "%lld", (long long)samples->every);
        snprintf(count, sizeof(count), "%d", (int)samples->count);
    }
    child_result child = child_run(argv, scene, &bounds);
    judge(&child, bounds.seconds, result);
    if (samples != NULL) read_samples(&child, bodies, samples);
    free(child.out);
}
