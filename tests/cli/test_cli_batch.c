// SPDX-License-Identifier: Apache-2.0
// `mabd batch`: output, recordings and refusals; numbers drawn by the formula of
// src/cli/batch_draw.h, which is written here a second time.
#include "mabd/record.h"
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_batch, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 240);

static command_result call(const char* line, int code) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
    return r;
}

static double number(const char* path, const char* key) {
    json_error_t error;
    json_t* root = json_load_file(path, 0, &error);
    cr_assert_not_null(root, "%s: %s", path, error.text);
    json_t* value = json_object_get(root, key);
    cr_assert(value != NULL && json_typeof(value) == JSON_REAL, "%s", key);
    const double x = json_number_value(value);
    json_decref(root);
    return x;
}

Test(cli_batch, prints_bytes_per_copy_before_the_run_and_copies_a_second_after_it) {
    const command_result r =
        call("batch @arm.json --copies 6 --steps 20 --vary load=0.5:2 --control elbow=-1:1", 0);
    const char* batch =
        strstr(r.out, "batch     6 copies of 8 bodies, 7 joints, 7 controls; varied: "
                      "load 0.5 to 2; drawn: elbow -1 to 1\n");
    const char* memory = strstr(r.out, " per copy: model ");
    const char* steps = strstr(r.out, "steps     20 in ");
    cr_assert(batch && memory && steps, "%s", r.out);
    cr_expect(batch < memory && memory < steps);
    cr_expect_not_null(strstr(r.out, " copies x steps/s"));
    cr_expect_not_null(strstr(r.out, "largest gap"));
}

Test(cli_batch, sums_of_parts_are_the_bytes_per_copy) {
    call("batch @arm.json --copies 6 --steps 1 --quiet --json b.json", 0);
    json_t* root = json_load_file("b.json", 0, NULL);
    json_t* parts = json_object_get(root, "memory");
    double sum = 0;
    const char* key;
    json_t* value;
    json_object_foreach(parts, key, value) sum += json_number_value(value);
    cr_expect(epsilon_eq(dbl, number("b.json", "bytes_per_copy"), sum / 6, 1e-6));
    cr_expect(eq(int, (int)json_array_size(json_object_get(root, "controls")), 7));
    json_decref(root);
}

// splitmix64, three times; see batch_draw.h
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
static double drawn(uint64_t seed, uint64_t stream, uint64_t copy) {
    return (double)(mix(mix(mix(seed) + stream) + copy) >> 11) / 9007199254740992.0;
}

static void read_last(const char* path, int32_t bodies, mabd_real* positions) {
    mabd_error error = {0};
    mabd_recording* recording = NULL;
    mabd_real* quaternions = malloc(4 * (size_t)bodies * sizeof *quaternions);
    cr_assert(eq(int, mabd_recording_open(path, &recording, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_recording_body_count(recording), bodies));
    const int32_t last = mabd_recording_frame_count(recording) - 1;
    cr_assert(
        eq(int, mabd_recording_read(recording, last, positions, quaternions, &error), MABD_OK));
    mabd_recording_close(recording);
    free(quaternions);
}

// Each copy of a batch is `mabd run` with the parameters that were drawn for it, bit for bit.
Test(cli_batch, copies_are_runs_with_the_numbers_drawn_for_them) {
    enum { COPIES = 4, BODIES = 8 };
    mabd_real all[3 * COPIES * BODIES], one[3 * BODIES];
    call("batch @arm.json --copies 4 --steps 30 --vary load=0.5:2 --vary gain=100:500 --seed 7 "
         "--every 30 -o b.h5 --quiet",
         0);
    read_last("b.h5", COPIES * BODIES, all);
    for (int32_t c = 0; c < COPIES; c++) {
        char line[300];
        snprintf(line, sizeof line,
                 "run @arm.json --steps 30 --every 30 -o one.h5 --quiet --set load=%.17g "
                 "--set gain=%.17g",
                 0.5 + 1.5 * drawn(7, 0, (uint64_t)c), 100 + 400 * drawn(7, 2, (uint64_t)c));
        call(line, 0);
        read_last("one.h5", BODIES, one);
        cr_expect(eq(int, memcmp(one, all + 3 * BODIES * c, sizeof one), 0), "copy %d", (int)c);
    }
    call("render b.h5 --size 64x48 -o b.png", 0);
    cr_expect(sandbox_exists("b.png"));
}

Test(cli_batch, draws_by_the_seed_alone) {
    static const char* const line =
        "batch @arm.json --copies 5 --steps 45 --control shoulder=-1:1 --control left=-0.02:0.02 "
        "--control-every 10 --quiet --threads %d --seed %d --json %s";
    const struct {
        int threads, seed;
        const char* file;
    } runs[] = {{1, 3, "a.json"}, {3, 3, "b.json"}, {1, 4, "c.json"}};
    double energy[3];
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text, line, runs[i].threads, runs[i].seed, runs[i].file);
        call(text, 0);
        energy[i] = number(runs[i].file, "energy_end");
    }
    cr_expect(eq(dbl, energy[0], energy[1]));
    cr_expect(ne(dbl, energy[0], energy[2]));
}

Test(cli_batch, continues_from_a_checkpoint_with_the_same_bits) {
    static const char* const rest = "--control waist=-1:1 --control-every 20 --vary fore=1:4 "
                                    "--quiet --json";
    char text[300];
    snprintf(text, sizeof text, "batch @arm.json --copies 3 --steps 50 %s whole.json", rest);
    call(text, 0);
    // in the middle of the time for which targets hold
    snprintf(text, sizeof text, "batch @arm.json --copies 3 --steps 27 --checkpoint c %s half.json",
             rest);
    call(text, 0);
    snprintf(text, sizeof text, "batch @arm.json --copies 3 --steps 50 --resume c %s end.json",
             rest);
    call(text, 0);
    cr_expect(eq(dbl, number("whole.json", "energy_end"), number("end.json", "energy_end")));
    cr_expect(ne(dbl, number("whole.json", "energy_end"), number("half.json", "energy_end")));
}

Test(cli_batch, refuses_what_it_cannot_do) {
    static const struct {
        const char* line;
        int code;
        const char* message;
    } cases[] = {
        {"batch @arm.json --copies 0", 2, "--copies: expected an integer > 0"},
        {"batch @arm.json --vary load=1", 2, "--vary: expected NAME=LOW:HIGH"},
        {"batch @arm.json --vary load=2:1", 2, "--vary: expected NAME=LOW:HIGH"},
        {"batch @arm.json --vary load=1:2 --vary load=1:3", 2, "--vary: given twice: 'load'"},
        {"batch @arm.json --vary load=1:2 --set load=1", 2, "--vary: also given by --set: 'load'"},
        {"batch @arm.json --vary lode=1:2", 2, "the scene declares no such param"},
        {"batch @arm.json --control head=0:1 --steps 1", 2,
         "expected a joint with a servo or motor, got 'head'; there are waist, shoulder"},
        {"batch @chain.json --control chain/1=0:1 --steps 1", 2, "there are none"},
        {"batch @arm.json --copees 2", 2, "did you mean '--copies'?"},
        {"batch @arm.json --copies 500 --memory-limit 200k --steps 1", 2, "memory"},
        {"batch @falling-joints.json --set pairs=4 --vary seed=1:9 --copies 2", 2,
         "seed: expected a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const command_result r = call(cases[i].line, cases[i].code);
        cr_expect_not_null(strstr(r.err, cases[i].message), "%s:\n%s", cases[i].line, r.err);
    }
}

Test(cli_batch, names_the_copy_that_differs) {
    const command_result r =
        call("batch @binary-tree.json --set depth=3 --copies 2 --vary wind=1:2", 2);
    cr_expect_not_null(strstr(r.err, "copy 1: the wind is not as in the first copy"), "%s", r.err);
}
