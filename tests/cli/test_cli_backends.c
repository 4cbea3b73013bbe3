// SPDX-License-Identifier: Apache-2.0
// The command on backends with a device: what it says and leaves behind where the device is
// missing, too small or fails, and that a run there gives what the processor gives. The executor
// stands in for a GPU (cuda/exec/runtime.h).
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_backends, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define RUN "run @chain.json --set links=30 --steps 20 "

static command_result call(const char* line, int code) {
    const command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
    return r;
}

// The run ends with 3, says `text` in one line, and leaves no file.
static void expect_refusal(const char* line, const char* text) {
    const command_result r = call(line, 3);
    cr_expect_not_null(strstr(r.err, text), "lacks: %s\nsays:  %s", text, r.err);
    cr_expect(eq(ptr, strchr(r.err, '\n'), (char*)r.err + strlen(r.err) - 1), "%s", r.err);
    cr_expect(not(sandbox_exists("x.h5")));
    cr_expect(not(sandbox_exists("x.json")));
}

Test(cli_backends, a_machine_without_a_gpu_is_reported_and_3) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    expect_refusal(RUN "--backend cuda --out x.h5 --json x.json", "mabd run: cannot simulate");
}

Test(cli_backends, no_device_is_3) {
    setenv("MABD_EXEC_DRIVER", "none", 1);
    expect_refusal(RUN "--backend executor --out x.h5 --json x.json", "no CUDA device");
}

Test(cli_backends, too_old_a_driver_is_3) {
    setenv("MABD_EXEC_DRIVER", "old", 1);
    expect_refusal(RUN "--backend executor --out x.h5 --json x.json", "too old");
}

Test(cli_backends, too_little_memory_is_3_with_numbers) {
    setenv("MABD_EXEC_MEMORY", "50000", 1);
    expect_refusal(RUN "--backend executor --out x.h5 --json x.json",
                   "out of device memory: the simulation needs 0.");
}

// What was recorded before stays, and can be read.
Test(cli_backends, a_device_that_fails_on_the_way_is_3) {
    setenv("MABD_EXEC_FAIL", "120", 1);
    const command_result r = call(RUN "--backend executor --out x.h5", 3);
    cr_expect_not_null(strstr(r.err, "unspecified launch failure"), "%s", r.err);
    unsetenv("MABD_EXEC_FAIL");
    call("render x.h5 -o x.png", 0);
}

static double energy(const char* line) {
    const command_result r = call(line, 0);
    json_error_t error;
    json_t* root = json_loads(r.out, 0, &error);
    cr_assert_not_null(root, "%s", error.text);
    const double e = json_number_value(json_object_get(root, "energy_end"));
    json_decref(root);
    return e;
}

Test(cli_backends, a_run_by_the_executor_ends_as_on_the_processor) {
    const double cpu = energy(RUN "--json -"), got = energy(RUN "--backend executor --json -");
    cr_expect(ne(dbl, cpu, 0));
    cr_expect(le(dbl, fabs(got - cpu), 1e-9 * fabs(cpu)));
}

Test(cli_backends, a_resumed_run_by_the_executor_has_the_same_bits) {
    call(RUN "--backend executor --checkpoint a --json a.json --quiet", 0);
    call("run @chain.json --set links=30 --steps 10 --backend executor --checkpoint b --quiet", 0);
    call("run @chain.json --set links=30 --steps 20 --backend executor --resume b --checkpoint b "
         "--quiet",
         0);
    // all but the times at its end
    const command_result r = command_wait(command_start("/usr/bin/cmp", ".", "-n 14000 a b"));
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
}

Test(cli_backends, info_lists_what_is_built_and_what_is_present) {
    setenv("MABD_EXEC_DRIVER", "none", 1);
    const command_result r = call("info --backends", 0);
    cr_expect_not_null(strstr(r.out, "cpu       built    present"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "executor  built    -        no CUDA device"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "\ncuda      "), "%s", r.out);
    call("info --backends --json b.json", 0);
    json_error_t error;
    json_t* root = json_load_file("b.json", 0, &error);
    json_t* executor = json_object_get(json_object_get(root, "backends"), "executor");
    cr_expect(eq(int, json_is_true(json_object_get(executor, "built")), 1));
    cr_expect(eq(int, json_is_false(json_object_get(executor, "present")), 1));
    json_decref(root);
    call("info --backends @chain.json", 2);
}
