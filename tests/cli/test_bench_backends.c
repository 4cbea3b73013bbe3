// SPDX-License-Identifier: Apache-2.0
// `mabd bench --backend`: a row for each available backend, and the reason for each unavailable
// one. No test needs or sees a GPU.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void enter(void) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1); // as a machine without one
    sandbox_enter();
}

TestSuite(bench_backends, .init = enter, .fini = sandbox_leave, .timeout = 120);

static int count_of(const char* text, const char* what) {
    int count = 0;
    for (; (text = strstr(text, what)) != NULL; text++) count++;
    return count;
}

static const char* text_of(const json_t* object, const char* key) {
    const char* text = json_string_value(json_object_get(object, key));
    cr_assert_not_null(text, "no '%s'", key);
    return text;
}

Test(bench_backends, missing_backends_are_reported_and_the_rest_is_measured) {
    command_result r =
        mabd_call("bench chain --links 10,20 --steps 2 --repeat 1 --backend cpu,cuda "
                  "--csv t.csv");
    cr_expect(eq(int, r.code, 3));
    cr_expect(eq(int, count_of(r.err, "\n"), 1), "%s", r.err); // once, not for each size
    cr_expect_not_null(strstr(r.err, "mabd bench: chain of 10 links on cuda: "), "%s", r.err);
    cr_expect_not_null(strstr(r.err, "; a measured comparison needs a GPU\n"), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "  backend    ratio\n"), "%s", r.out);
    cr_expect(eq(int, count_of(r.out, "      cpu        1\n"), 2), "%s", r.out);
    cr_expect(sandbox_exists("t.csv"));
    r = mabd_call("bench plot t.csv"); // what is there can be drawn
    cr_expect(eq(int, r.code, 0), "%s", r.err);
}

Test(bench_backends, the_files_name_backends) {
    command_result r = mabd_call("bench net --links 65 --steps 2 --repeat 1 --backend cpu,cuda "
                                 "--json - --csv t.csv");
    cr_expect(eq(int, r.code, 3));
    json_t* root = json_loads(r.out, 0, NULL);
    cr_assert_not_null(root, "%s", r.out);
    const json_t* missing = json_object_get(root, "missing_backends");
    const json_t* results = json_object_get(root, "results");
    cr_assert(eq(sz, json_array_size(missing), 1));
    cr_expect(eq(str, (char*)text_of(json_array_get(missing, 0), "backend"), "cuda"));
    cr_expect(lt(sz, 0, strlen(text_of(json_array_get(missing, 0), "missing"))));
    cr_assert(eq(sz, json_array_size(results), 1));
    cr_expect(eq(str, (char*)text_of(json_array_get(results, 0), "backend"), "cpu"));
    cr_expect(eq(
        dbl, json_number_value(json_object_get(json_array_get(results, 0), "backend_ratio")), 1));
    json_decref(root);
}

Test(bench_backends, a_backend_alone_that_is_missing_leaves_no_rows) {
    command_result r = mabd_call("bench chain --links 10 --steps 2 --backend cuda --json -");
    cr_expect(eq(int, r.code, 3));
    json_t* root = json_loads(r.out, 0, NULL);
    cr_assert_not_null(root, "%s", r.out);
    cr_expect(eq(sz, json_array_size(json_object_get(root, "results")), 0));
    json_decref(root);
}

Test(bench_backends, without_a_topic_they_are_compared_on_chains) {
    command_result r = mabd_call("bench --backend cpu --links 10 --steps 2 --repeat 1 --csv -");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "# command: mabd bench chain --backend cpu "), "%s", r.out);
    r = mabd_call("bench --backend cpu net --links 65 --steps 2 --repeat 1 --csv -");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "\nnet,65,"), "%s", r.out);
    r = mabd_call("bench --links 10");
    cr_expect(eq(int, r.code, 2));
}

static double number(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    cr_assert(eq(int, json_is_number(value), 1), "no number '%s'", key);
    return json_number_value(value);
}

// The kernels on the processor: the same motion, another time.
Test(bench_backends, each_has_a_row_and_a_ratio_to_the_first) {
    command_result r = mabd_call("bench chain --links 20,40 --steps 2 --repeat 1 --threads 1,2 "
                                 "--backend executor,cpu --json - --csv t.csv");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    json_t* root = json_loads(r.out, 0, NULL);
    const json_t* results = json_object_get(root, "results");
    const char* const backends[] = {"executor", "cpu", "cpu"};
    cr_assert(eq(sz, json_array_size(results), 6));
    for (size_t i = 0; i < 6; i++) {
        const json_t *row = json_array_get(results, i), *first = json_array_get(results, i - i % 3);
        const double ratio = number(first, "ms_per_step") / number(row, "ms_per_step");
        cr_expect(eq(str, (char*)text_of(row, "backend"), (char*)backends[i % 3]));
        cr_expect(eq(dbl, number(row, "links"), i < 3 ? 20 : 40));
        cr_expect(eq(dbl, number(row, "threads"), i % 3 == 2 ? 2 : 1));
        cr_expect(epsilon_eq(dbl, number(row, "backend_ratio"), ratio, 1e-9 * ratio));
        cr_expect(lt(dbl, number(row, "max_gap"), 1e-10));
    }
    json_decref(root);
}

Test(bench_backends, a_device_without_a_driver_is_reported_with_its_reason) {
    setenv("MABD_EXEC_DRIVER", "none", 1);
    command_result r =
        mabd_call("bench chain --links 10 --steps 2 --repeat 1 --backend cpu,executor");
    cr_expect(eq(int, r.code, 3));
    cr_expect_not_null(strstr(r.err, "on executor: no CUDA device: "), "%s", r.err);
    cr_expect(eq(int, count_of(r.out, "      cpu        1\n"), 1), "%s", r.out);
}

Test(bench_backends, bad_lists_are_refused) {
    const char* const lines[] = {
        "bench chain --backend gpu --csv no.csv", "bench chain --backend cpu,cpu --csv no.csv",
        "bench chain --backend cpu, --csv no.csv", "bench chain --backend ,cpu --csv no.csv",
        "bench chain --backend cpuu --csv no.csv"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        command_result r = mabd_call(lines[i]);
        cr_expect(eq(int, r.code, 2), "mabd %s: %s", lines[i], r.err);
        cr_expect_not_null(strstr(r.err, "--backend: expected cpu, cuda, executor"), "%s", r.err);
    }
    cr_expect_not(sandbox_exists("no.csv"));
}

// Tables of several backends: a line each, and those of before are of the processor.
Test(bench_backends, are_lines_of_a_plot) {
    sandbox_write("two.csv", "links,ms_per_step,iterations_mean,threads,backend\n"
                             "10,1,1,1,cpu\n10,0.5,1,1,cuda\n20,2,1,1,cpu\n20,0.6,1,1,cuda\n");
    command_result r = mabd_call("bench plot two.csv --quantity ms");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "two, cpu          10 links          1           20 links"),
                       "%s", r.out);
    cr_expect_not_null(strstr(r.out, "two, cuda         10 links        0.5           20 links"),
                       "%s", r.out);
    sandbox_write("both.csv", "links,ms_per_step,iterations_mean,threads,backend\n"
                              "10,1,1,1,cpu\n10,0.7,1,2,cpu\n10,0.5,1,1,cuda\n");
    r = mabd_call("bench plot both.csv --quantity ms");
    cr_expect_not_null(strstr(r.out, "both, cpu, threads: 2 "), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "both, cuda, threads: 1 "), "%s", r.out);
}
