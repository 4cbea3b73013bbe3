// SPDX-License-Identifier: Apache-2.0
// `mabd bench work-precision` for a user: a row for each integrator and step, errors that fall with
// the step, the same picture from a run and from its table, and bad input.
#include "support/command_json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(work_precision, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define SMALL "bench work-precision --scenes pendulum --h 0.01,0.02 --repeat 1 "

// A number of the row of a method and a step.
static double number_of(const json_t* root, const char* variant, double h, const char* key) {
    const json_t* results = json_object_get(root, "results");
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t* row = json_array_get(results, i);
        if (strcmp(json_string_value(json_object_get(row, "variant")), variant) == 0 &&
            json_number_value(json_object_get(row, "h")) == h) {
            return json_number_value(json_object_get(row, key));
        }
    }
    cr_fatal("no row of %s at %g s", variant, h);
    return 0;
}

// Euler is of order one, BDF2 of order two: half the step leaves about a half and a fourth.
Test(work_precision, errors_fall_with_the_order_of_the_method) {
    json_t* root = command_json(SMALL "--no-peers --json -");
    const double coarse = number_of(root, "bdf2", 0.02, "position_error");
    const double fine = number_of(root, "bdf2", 0.01, "position_error");
    cr_expect(lt(dbl, fine, coarse / 3));
    cr_expect(lt(dbl, 0, fine));
    cr_expect(lt(dbl, number_of(root, "bdf2", 0.01, "energy_error"), 0.02));
    cr_expect(lt(dbl, number_of(root, "euler", 0.01, "position_error"),
                 number_of(root, "euler", 0.02, "position_error")));
    cr_expect(lt(dbl, 0.2, number_of(root, "euler", 0.01, "energy_error")));
    cr_expect(lt(dbl, 0, number_of(root, "bdf2", 0.01, "cost")));
    const json_t* reference = json_object_get(json_object_get(root, "references"), "pendulum");
    cr_expect_not_null(strstr(json_string_value(reference), "Runge-Kutta of order 4"));
    json_decref(root);
}

Test(work_precision, draws_the_same_from_a_run_and_from_its_table) {
    command_result r = mabd_call(SMALL "--no-peers --csv t.csv --svg a.svg");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    r = mabd_call("bench work-precision --from t.csv --svg b.svg");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* marks[] = {"pendulum: position error", "pendulum: energy error", "mabd bdf2",
                           "mabd euler", "h = 20 ms"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        cr_expect_not_null(strstr(sandbox_read("a.svg"), marks[i]), "lacks %s", marks[i]);
        cr_expect_not_null(strstr(sandbox_read("b.svg"), marks[i]), "lacks %s", marks[i]);
    }
    cr_expect_not_null(strstr(sandbox_read("t.csv"), "# reference pendulum: rigid bodies"));
}

// The answer of this peer has one line of positions instead of twenty.
Test(work_precision, a_peer_without_all_positions_has_no_position_error) {
    sandbox_write(
        "mabd-peer-mujoco",
        "#!/bin/sh\nif [ \"$1\" = list ]; then\n"
        "echo 'version 9'; echo 'variant tree such'; exit 0\nfi\n"
        "echo built; echo positions 1 2 3\n"
        "echo steps 3; echo seconds_per_step 0.001; echo build_seconds 0.1\n"
        "echo max_gap 0.25; echo own_gap -1; echo energy_error 0.5; echo energy_end -0.5\n"
        "echo energy_scale 2; echo rest_speed -1; echo apart_step -1; echo failed_step -1; echo "
        "stopped 0\n"
        "echo 'failure '\n");
    cr_assert(eq(int, chmod("mabd-peer-mujoco", 0700), 0));
    json_t* root = command_json(SMALL "--programs . --json -");
    cr_expect(eq(dbl, number_of(root, "tree", 0.02, "energy_error"), 0.5));
    cr_expect(eq(dbl, number_of(root, "tree", 0.02, "cost"), 0.05));
    cr_expect(eq(dbl, number_of(root, "tree", 0.02, "position_error"), 0)); // null
    json_decref(root);
}

static void expect_refused(const char* line, const char* message) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 2), "%s: %d", line, r.code);
    cr_expect_not_null(strstr(r.err, message), "%s: %s", line, r.err);
}

Test(work_precision, refuses_bad_input) {
    expect_refused("bench work-precision --h 0.03", "--h: expected at most 16 steps > 0");
    expect_refused("bench work-precision --h 0.01,x", "--h: expected at most 16 steps > 0");
    expect_refused("bench work-precision --scenes pendulun", "--scenes: unknown name 'pendulun'");
    expect_refused("bench work-precision --from none.csv", "none.csv: cannot read");
    expect_refused("bench work-precision --json - --csv -", "only one of --json, --csv and --svg");
    sandbox_write("t.csv", "scene,h\nx,1\n");
    expect_refused("bench work-precision --from t.csv", "t.csv:1: a column of");
}
