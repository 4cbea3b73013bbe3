// SPDX-License-Identifier: Apache-2.0
// The program behind `./dev bench cuda-model`: counts of a stage by hand, the same in any order,
// and times that are called predictions.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MABD_CUDA_MODEL // not with sanitizers, whose calls its counters take

TestSuite(model_program, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define FILES                                                                                      \
    " --gpus " MABD_SOURCE_DIR "/bench/gpus.csv --scenes " MABD_SOURCE_DIR "/scenes --only robots"

static command_result call(const char* line) {
    const command_result r = command_wait(command_start(MABD_CUDA_MODEL, ".", line));
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    return r;
}

static double number(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    cr_assert(eq(int, json_is_number(value), 1), "no number '%s'", key);
    return json_number_value(value);
}

static const json_t* kernel_named(const json_t* kernels, const char* name) {
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t* kernel = json_array_get(kernels, i);
        if (strcmp(json_string_value(json_object_get(kernel, "name")), name) == 0) return kernel;
    }
    cr_fatal("no kernel %s", name);
    return NULL;
}

// Finish (cuda/affine/stages.cu) of bdf2-linear is v = rate (q_new - (w q + w1 q1)) for each of 12
// coordinates: 3 products, 2 sums, 3 reals in, 1 out; and one quotient, rate = 1/(beta h), for each
// body.
Test(model_program, counts_of_finish_are_those_by_hand) {
    command_result r = call("--integrator bdf2-linear --json -" FILES);
    json_t* root = json_loads(r.out, 0, NULL);
    cr_assert_not_null(root, "%.500s", r.out);
    const json_t* scene = json_array_get(json_object_get(root, "scenes"), 0);
    const json_t* finish =
        kernel_named(json_object_get(scene, "per_link_and_step"), "finish_bodies");
    cr_expect(eq(dbl, number(scene, "links"), 7000));
    cr_expect(eq(dbl, number(finish, "adds"), 2 * 12));
    cr_expect(eq(dbl, number(finish, "multiplies"), 3 * 12));
    cr_expect(eq(dbl, number(finish, "divisions"), 1));
    cr_expect(eq(dbl, number(finish, "bytes_read"), 3 * 12 * 8));
    cr_expect(eq(dbl, number(finish, "bytes_written"), 12 * 8));
    cr_expect(epsilon_eq(dbl, number(finish, "memory_bytes"), 4 * 12 * 8, 0.1)); // sectors
    json_decref(root);
}

Test(model_program, times_are_sums_and_are_called_predictions) {
    command_result r = call("--json -" FILES);
    json_t* root = json_loads(r.out, 0, NULL);
    const json_t* scene = json_array_get(json_object_get(root, "scenes"), 0);
    const json_t* predictions = json_object_get(scene, "prediction");
    cr_assert(lt(sz, 2, json_array_size(predictions)));
    for (size_t i = 0; i < json_array_size(predictions); i++) {
        const json_t* p = json_array_get(predictions, i);
        const double parts = number(p, "prediction_memory_ms") +
                             number(p, "prediction_arithmetic_ms") +
                             number(p, "prediction_launches_ms") + number(p, "prediction_host_ms");
        cr_expect(lt(dbl, 0, parts));
        cr_expect(epsilon_eq(dbl, number(p, "prediction_ms"), parts, 1e-9 * parts));
        cr_expect(
            epsilon_eq(dbl, number(p, "prediction_ns_per_link"), 1e6 * parts / 7000, 1e-6 * parts));
    }
    // no key says ms or ns without it
    for (const char* at = r.out; (at = strstr(at, "_ms\"")) != NULL; at++) {
        const char* key = at;
        while (key > r.out && *key != '"') key--;
        cr_expect(eq(int, strncmp(key, "\"prediction_", 12), 0), "%.40s", key);
    }
    cr_expect_not_null(strstr(r.err, "\nPREDICTION of a step"), "%s", r.err); // the text of people
    json_decref(root);
}

static char* read_file(const char* path) {
    FILE* file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char* text = calloc(1, 1 << 20);
    cr_assert(lt(sz, 0, fread(text, 1, (1 << 20) - 1, file)));
    fclose(file);
    return text;
}

Test(model_program, tables_are_the_same_in_any_order_of_threads_and_blocks) {
    call("--csv ." FILES);
    char* forward = read_file("counts.csv");
    setenv("MABD_EXEC_ORDER", "random:3", 1);
    call("--csv ." FILES);
    char* shuffled = read_file("counts.csv");
    cr_expect(eq(str, forward, shuffled));
    cr_expect_not_null(strstr(forward, "# command: ./dev bench cuda-model\n"));
    char* predictions = read_file("predictions.csv");
    cr_expect_not_null(strstr(predictions, "\n# every time is a prediction"), "%s", predictions);
    cr_expect_not_null(strstr(predictions, ",prediction_ms,prediction_ns_per_link,"));
    free(forward), free(shuffled), free(predictions);
}

Test(model_program, a_kernel_that_spills_fails) {
    sandbox_write("spills", "ptxas info    : Compiling entry function '_Z3onePd' for 'sm_90'\n"
                            "    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
                            "ptxas info    : Used 18 registers, used 0 barriers\n");
    const command_result r =
        command_wait(command_start(MABD_CUDA_MODEL, ".", "--report spills" FILES));
    cr_expect(eq(int, r.code, 3));
    cr_expect_not_null(strstr(r.err, "one spills registers on sm_90"), "%s", r.err);
}

#endif
