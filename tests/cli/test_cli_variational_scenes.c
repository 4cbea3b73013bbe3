// SPDX-License-Identifier: Apache-2.0
// The scenes of scenes/variational, the flags of the formulation and what it refuses.
#define _XOPEN_SOURCE 700 // glob
#include "support/command.h"
#include "support/scene_folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <string.h>

TestSuite(cli_variational_scenes, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 240);

Test(cli_variational_scenes, run_as_they_are) {
    scene_folder_run("variational");
}

Test(cli_variational_scenes, have_a_section_and_a_picture) {
    scene_folder_describe("variational");
}

// Expect exit code 2 and a text on standard error.
static void expect_refused(const char* flags, const char* text) {
    char line[256];
    snprintf(line, sizeof line, "run variational/swing --formulation variational --steps 1 %s",
             flags);
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 2), "mabd %s: %d", line, r.code);
    cr_expect_not_null(strstr(r.err, text), "mabd %s: %s", line, r.err);
}

Test(cli_variational_scenes, what_the_formulation_lacks_is_refused_by_name) {
    expect_refused("--substeps 5000", "variational.substeps must be 0 to 4096, and is 5000");
    expect_refused("--newton symmetric", "does not have newton 'symmetric'");
    expect_refused("--integrator bdf2", "does not have integrator 'bdf2'");
    expect_refused("--newton exact --dual pcg", "does not use dual with newton 'exact'");
    expect_refused("--baumgarte 0.5", "");
}

// A body may turn by less than half a turn in a substep; the number of substeps is limited.
Test(cli_variational_scenes, a_spin_beyond_half_a_turn_is_refused_with_its_limit) {
    FILE* file = fopen("top.json", "w");
    cr_assert_not_null(file);
    fputs("{\"bodies\": [{\"name\": \"top\", \"shape\": \"sphere\", \"radius\": 0.1, "
          "\"angular_velocity\": [0, 0, 210]}]}",
          file);
    fclose(file);
    command_result r = mabd_call("run top.json --formulation variational --steps 1 --substeps 1");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "body 'top' turns by 210 rad/s"), "%s", r.err);
    cr_expect_not_null(strstr(r.err, "less than 200"), "%s", r.err);
    r = mabd_call("run top.json --formulation variational --steps 1");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
}

Test(cli_variational_scenes, the_summary_counts_substeps) {
    command_result r = mabd_call("run chain --set links=10 --formulation variational --steps 200"
                                 " --json -");
    json_t* summary = json_loads(r.out, 0, NULL);
    cr_assert_not_null(summary, "%s", r.err);
    cr_expect(ge(int, (int)json_integer_value(json_object_get(summary, "substeps_max")), 4));
    json_decref(summary);
}

// 600 links of 0.1 m that hang carry up to 600 times their weight: w = sqrt(12 T/(m l)) = 840/s, so
// a step of 0.1 s has 128 parts.
Test(cli_variational_scenes, many_substeps_are_warned_of) {
    command_result r = mabd_call("run chain --set links=600 --set start=hanging --h 0.1 --steps 2"
                                 " --formulation variational --json -");
    json_t* summary = json_loads(r.out, 0, NULL);
    cr_assert_not_null(summary, "%s", r.err);
    cr_expect(eq(int, (int)json_integer_value(json_object_get(summary, "substeps_max")), 128));
    cr_expect_not_null(strstr(r.err, "ask for 128 substeps"), "%s", r.err);
    json_decref(summary);
}

// 64 bodies of mixed shapes press against each other from 0.6 s on: without the second attempts of
// the interior point the step at 0.67 s has no end, in however many parts.
Test(cli_variational_scenes, a_pile_of_mixed_shapes_comes_down) {
    command_result r = mabd_call("run pile-mixed --set count=64 --time 0.8"
                                 " --formulation variational --json -");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    json_t* summary = json_loads(r.out, 0, NULL);
    cr_assert_not_null(summary, "%s", r.err);
    cr_expect(eq(int, (int)json_integer_value(json_object_get(summary, "steps")), 80));
    json_decref(summary);
}
