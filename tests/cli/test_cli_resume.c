// SPDX-License-Identifier: Apache-2.0
// Interrupted runs: a run that was stopped, killed or cut in two and then resumed gives the same
// bits as one that was left alone, in its summary and in every frame of its recording.
#include "mabd/record.h"
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TestSuite(cli_resume, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 240);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RUN          "run @chain.json --set links=60 --set joint=hinge --quiet "

static void expect_code(const char* line, int code) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
}

static json_t* read_json(const char* path) {
    json_error_t error;
    json_t* root = json_load_file(path, 0, &error);
    cr_assert_not_null(root, "%s: %s", path, error.text);
    return root;
}

// All that a summary says but for the clock, the process' memory and the command line.
static void expect_same_summaries(const char* left, const char* right) {
    const char* keys[] = {"bodies",
                          "rows",
                          "steps",
                          "h",
                          "time",
                          "iterations_mean",
                          "iterations_max",
                          "retries",
                          "unconverged_steps",
                          "contacts_mean",
                          "contacts_max",
                          "contact_iterations_mean",
                          "contact_iterations_max",
                          "contact_residual_max",
                          "penetration_max",
                          "start_overlap",
                          "max_gap",
                          "max_angle_error",
                          "worst_joint",
                          "energy_start",
                          "energy_end",
                          "energy_max",
                          "energy_scale",
                          "energy_samples",
                          "linear_momentum",
                          "angular_momentum",
                          "linear_momentum_start",
                          "angular_momentum_start"};
    json_t *a = read_json(left), *b = read_json(right);
    for (size_t i = 0; i < COUNT(keys); i++) {
        json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        cr_assert(x != NULL && y != NULL, "%s", keys[i]);
        char* x_text = json_dumps(x, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        char* y_text = json_dumps(y, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        cr_expect(eq(str, x_text, y_text), "%s of %s and %s", keys[i], left, right);
        free(x_text);
        free(y_text);
    }
    cr_expect_null(json_object_get(b, "interrupted_by_signal"));
    json_decref(a);
    json_decref(b);
}

static mabd_recording* open_recording(const char* path) {
    mabd_recording* recording = NULL;
    mabd_error error;
    mabd_status status = mabd_recording_open(path, &recording, &error);
    cr_assert(eq(int, status, MABD_OK), "%s: %s", path, error.text);
    return recording;
}

static void expect_same_recordings(const char* left, const char* right) {
    mabd_recording *a = open_recording(left), *b = open_recording(right);
    int32_t frames = mabd_recording_frame_count(a), bodies = mabd_recording_body_count(a);
    cr_assert(eq(int, mabd_recording_frame_count(b), frames), "%s", right);
    cr_assert(eq(int, mabd_recording_body_count(b), bodies));
    size_t reals = 7 * (size_t)bodies;
    mabd_real* x = malloc(2 * reals * sizeof(*x));
    mabd_real* y = x + reals;
    for (int32_t i = 0; i < frames; i++) {
        mabd_status p = mabd_recording_read(a, i, x, x + 3 * bodies, NULL);
        mabd_status q = mabd_recording_read(b, i, y, y + 3 * bodies, NULL);
        cr_assert(p == MABD_OK && q == MABD_OK, "frame %d", (int)i);
        cr_expect(memcmp(x, y, reals * sizeof(*x)) == 0, "frame %d differs", (int)i);
        cr_expect(mabd_recording_time(a, i) == mabd_recording_time(b, i), "frame %d", (int)i);
    }
    free(x);
    mabd_recording_close(a);
    mabd_recording_close(b);
}

static void sleep_ms(long ms) {
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

// Wait until a file is there; false after ten seconds or if the child ended.
static void wait_for_file(const char* path) {
    for (int i = 0; i < 5000 && !sandbox_exists(path); i++) sleep_ms(2);
    cr_assert(sandbox_exists(path), "%s never came", path);
}

Test(cli_resume, a_run_in_two_parts_is_the_run_in_one) {
    expect_code(RUN "--steps 400 --out whole.h5 --every 7 --json whole.json", 0);
    expect_code(RUN "--steps 150 --out parts.h5 --every 7 --checkpoint c.bin", 0);
    expect_code(RUN "--steps 400 --out parts.h5 --every 7 --resume c.bin --json parts.json", 0);
    expect_same_summaries("whole.json", "parts.json");
    expect_same_recordings("whole.h5", "parts.h5");
}

Test(cli_resume, frames_after_the_checkpoint_are_written_again) {
    expect_code(RUN "--steps 300 --out whole.h5 --every 3 --json whole.json", 0);
    // The recording runs on to step 200, the checkpoint stays at step 90.
    expect_code(RUN "--steps 90 --checkpoint c.bin", 0);
    expect_code(RUN "--steps 200 --out parts.h5 --every 3", 0);
    expect_code(RUN "--steps 300 --out parts.h5 --every 3 --resume c.bin --json parts.json", 0);
    expect_same_summaries("whole.json", "parts.json");
    expect_same_recordings("whole.h5", "parts.h5");
}

Test(cli_resume, both_integrators_and_other_topologies_resume) {
    const char* runs[] = {"run @chain.json --set links=30 --integrator euler --quiet",
                          "run @ring.json --quiet",
                          "run @tree.json --set depth=5 --quiet",
                          "run @four-bar.json --preset exact --quiet",
                          "run @net.json --set rows=4 --set columns=4 --quiet",
                          "run @incline.json --set friction=0.3 --quiet",
                          "run @atwood.json --quiet"};
    for (size_t i = 0; i < COUNT(runs); i++) {
        char line[256];
        snprintf(line, sizeof(line), "%s --steps 60 --json whole.json", runs[i]);
        expect_code(line, 0);
        snprintf(line, sizeof(line), "%s --steps 1 --checkpoint c.bin", runs[i]);
        expect_code(line, 0);
        snprintf(line, sizeof(line), "%s --steps 25 --resume c.bin --checkpoint c.bin", runs[i]);
        expect_code(line, 0);
        snprintf(line, sizeof(line), "%s --steps 60 --resume c.bin --json parts.json", runs[i]);
        expect_code(line, 0);
        expect_same_summaries("whole.json", "parts.json");
    }
}

// kill -9 at any moment: during a step, or while a frame or a checkpoint is written.
Test(cli_resume, kill_9_loses_nothing) {
    const char* line = RUN "--steps 3000 --out parts.h5 --every 10 --json parts.json "
                           "--checkpoint c.bin --checkpoint-every 20";
    const long delays[] = {0, 1, 3, 7, 12, 20, 33, 50};
    int killed = 0;
    expect_code(RUN "--steps 3000 --out whole.h5 --every 10 --json whole.json", 0);
    for (size_t i = 0; i < COUNT(delays); i++) {
        char again[256];
        snprintf(again, sizeof(again), "%s %s", line, i > 0 ? "--resume c.bin" : "");
        pid_t child = mabd_start(again);
        if (i == 0)
            wait_for_file("c.bin");
        else
            sleep_ms(20);
        sleep_ms(delays[i]);
        kill(child, SIGKILL);
        command_result r = command_wait(child);
        cr_assert(r.signal == SIGKILL || r.code == 0, "%s", r.err);
        killed += r.signal == SIGKILL;
    }
    cr_expect(ge(int, killed, 1), "no run was killed before its end");
    char last[256];
    snprintf(last, sizeof(last), "%s --resume c.bin", line);
    expect_code(last, 0);
    expect_same_summaries("whole.json", "parts.json");
    expect_same_recordings("whole.h5", "parts.h5");
}

static void stop_and_resume(int number, int code, const char* name) {
    const char* line = "run @chain.json --set links=60 --steps 100000 --out parts.h5 --every 50 "
                       "--checkpoint c.bin --checkpoint-every 10 --json part.json";
    pid_t child = mabd_start(line);
    wait_for_file("c.bin");
    kill(child, number);
    command_result r = command_wait(child);
    cr_assert(eq(int, r.code, code), "%s", r.err);
    cr_expect_not_null(strstr(r.err, name), "%s", r.err);
    cr_expect_not_null(strstr(r.err, "to continue, repeat the command with --resume c.bin"), "%s",
                       r.err);
    json_t* part = read_json("part.json");
    int64_t steps = json_integer_value(json_object_get(part, "steps"));
    int64_t noted = json_integer_value(json_object_get(part, "interrupted_by_signal"));
    json_decref(part);
    cr_expect(eq(int, (int)noted, number));
    char rest[256];
    const char* scene = "run @chain.json --set links=60 --quiet --every 50";
    snprintf(rest, sizeof(rest), "%s --steps %lld --resume c.bin --out parts.h5 --json parts.json",
             scene, (long long)steps + 75);
    expect_code(rest, 0);
    snprintf(rest, sizeof(rest), "%s --steps %lld --out whole.h5 --json whole.json", scene,
             (long long)steps + 75);
    expect_code(rest, 0);
    expect_same_summaries("whole.json", "parts.json");
    expect_same_recordings("whole.h5", "parts.h5");
}

Test(cli_resume, an_interrupt_ends_after_a_step_with_130) {
    stop_and_resume(SIGINT, 130, "SIGINT");
}

Test(cli_resume, a_termination_ends_after_a_step_with_143) {
    stop_and_resume(SIGTERM, 143, "SIGTERM");
}

Test(cli_resume, an_interrupt_without_a_checkpoint_names_the_option) {
    pid_t child = mabd_start(RUN "--steps 10000000 --out x.h5 --every 1000");
    wait_for_file("x.h5");
    sleep_ms(50); // signals are caught from the first step on
    kill(child, SIGINT);
    command_result r = command_wait(child);
    cr_expect(eq(int, r.code, 130));
    cr_expect_not_null(strstr(r.err, "hint: --checkpoint FILE makes a run resumable"), "%s", r.err);
}

Test(cli_resume, what_does_not_fit_is_refused_with_the_reason) {
    expect_code(RUN "--steps 20 --checkpoint c.bin", 0);
    const char* bad[] = {
        RUN "--steps 40 --resume absent.bin",
        RUN "--steps 40 --resume c.bin --h 0.02",
        RUN "--steps 40 --resume c.bin --integrator euler",
        RUN "--steps 40 --resume c.bin --preset exact",
        RUN "--steps 40 --resume c.bin --set end_mass_ratio=2",
        RUN "--steps 10 --resume c.bin",
        "run @pendulum.json --quiet --steps 40 --resume c.bin",
        "run @chain.json --quiet --steps 40 --resume c.bin",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        command_result r = mabd_call(bad[i]);
        cr_expect(eq(int, r.code, 2), "mabd %s\n%s", bad[i], r.err);
        cr_expect_not_null(strstr(r.err, "cannot resume"), "%s", r.err);
    }
    expect_code(RUN "--steps 40 --resume c.bin", 0);
}

// Every byte matters: a checkpoint cut short or with one bit turned is refused, not simulated.
Test(cli_resume, damaged_checkpoints_are_refused) {
    expect_code(RUN "--steps 20 --checkpoint c.bin", 0);
    FILE* file = fopen("c.bin", "rb");
    cr_assert_not_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    unsigned char* bytes = malloc((size_t)size);
    rewind(file);
    cr_assert(eq(sz, fread(bytes, 1, (size_t)size, file), (size_t)size));
    fclose(file);
    const long places[] = {0, 9, size / 3, size / 2, size - 1};
    for (size_t i = 0; i <= COUNT(places); i++) {
        bool cut = i == COUNT(places);
        if (!cut) bytes[places[i]] ^= 4;
        file = fopen("bad.bin", "wb");
        fwrite(bytes, 1, (size_t)(cut ? size / 2 : size), file);
        fclose(file);
        if (!cut) bytes[places[i]] ^= 4;
        command_result r = mabd_call(RUN "--steps 40 --resume bad.bin");
        cr_expect(eq(int, r.code, 2), "case %d: %s", (int)i, r.err);
    }
    free(bytes);
}
