// SPDX-License-Identifier: Apache-2.0
// Start states and warnings through the command: open joints, --close-joints, velocities against
// joints, rigid servos off their targets, and the list of warnings in the JSON summary. Oracles are
// closed forms of two balls of 1 and 3 kg whose centres a ball joint holds together.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

TestSuite(cli_start, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define PAIR(start, light, heavy)                                                                  \
    "{\"gravity\": [0, 0, 0]," start "\"bodies\": ["                                               \
    "{\"name\": \"light\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 1" light "},"         \
    "{\"name\": \"heavy\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 3" heavy "}],"        \
    "\"joints\": [{\"name\": \"knot\", \"type\": \"ball\", \"a\": \"light\", \"b\": \"heavy\","    \
    " \"anchor_a\": [0, 0, 0], \"anchor_b\": [0, 0, 0]}]}"

// A crank of 1 m on a hinge, its axis with the given keys.
#define CRANK(axis)                                                                                \
    "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"crank\", \"shape\": \"box\","              \
    " \"size\": [1, 0.1, 0.1], \"position\": [0.5, 0, 0]}],"                                       \
    "\"joints\": [{\"name\": \"pin\", \"type\": \"hinge\", \"b\": \"crank\","                      \
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {" axis "}}}]}"

#define OUTPUTS " --out x.h5 --json x.json --checkpoint x.bin"

static size_t count_outputs(void) {
    glob_t found;
    const size_t count = glob("x.*", 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    if (count > 0) globfree(&found);
    return count;
}

// The command refuses its input, says `text` and writes no file.
static void expect_refused(const char* line, const char* text) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 2), "mabd %s\n%s", line, r.err);
    cr_expect_not_null(strstr(r.err, text), "mabd %s\nlacks: %s\nsays:  %s", line, text, r.err);
    cr_expect(eq(sz, count_outputs(), 0), "mabd %s\nwrites files", line);
}

static size_t count_lines(const char* text, const char* part) {
    size_t count = 0;
    for (const char* at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
    return count;
}

// Run `line --quiet --json -`, which must give `count` warnings. Each is in the summary, and once
// on standard error, which has no other text. Returns the summary.
static json_t* run_with_warnings(const char* line, size_t count) {
    char full[256], printed[1200];
    json_error_t error;
    size_t i, expected = 0;
    json_t* warning;
    snprintf(full, sizeof(full), "%s --quiet --json -", line);
    command_result r = mabd_call(full);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", full, r.err);
    json_t* summary = json_loads(r.out, 0, &error);
    cr_assert_not_null(summary, "mabd %s\n%s: %s", full, error.text, r.out);
    const json_t* warnings = json_object_get(summary, "warnings");
    cr_assert_not_null(warnings, "mabd %s\nhas no list of warnings", full);
    cr_assert(eq(int, json_typeof(warnings), JSON_ARRAY), "mabd %s\nno array of warnings", full);
    cr_assert(eq(sz, json_array_size(warnings), count), "mabd %s\n%s", full, r.err);
    json_array_foreach(warnings, i, warning) {
        const char* text = json_string_value(json_object_get(warning, "text"));
        cr_assert_not_null(text);
        snprintf(printed, sizeof(printed), "mabd run: warning: %s\n", text);
        cr_expect(eq(sz, count_lines(r.err, printed), 1), "%slacks: %s", r.err, printed);
        expected += strlen(printed);
    }
    cr_expect(eq(sz, strlen(r.err), expected), "mabd %s\nsays more: %s", full, r.err);
    return summary;
}

// Entry `index` of the warnings holds `text`, and names `joint` (null = none).
static void expect_warning(const json_t* summary, size_t index, const char* text,
                           const char* joint) {
    const json_t* entry = json_array_get(json_object_get(summary, "warnings"), index);
    const char* found = json_string_value(json_object_get(entry, "text"));
    const char* named = json_string_value(json_object_get(entry, "joint"));
    cr_expect_not_null(strstr(found, text), "lacks: %s\nsays:  %s", text, found);
    cr_expect(eq(int, (int)json_integer_value(json_object_get(entry, "step")), 0));
    if (joint == NULL) {
        cr_expect_null(named);
    } else {
        cr_assert_not_null(named);
        cr_expect(eq(str, (char*)named, (char*)joint));
    }
}

// ---- poses -------------------------------------------------------------------------------------

Test(cli_start, an_open_joint_is_refused_before_a_file_is_written) {
    sandbox_write("open.json", PAIR("", "", ", \"position\": [5, 0, 0]"));
    expect_refused("run open.json --steps 1" OUTPUTS, "joint 'knot' is open by 5 m at the start");
    expect_refused("run open.json --steps 1 --quiet" OUTPUTS, "--close-joints");
    expect_refused("batch open.json --copies 2 --steps 1 --out x.h5", "is open by 5 m");
}

// The centre of mass stays: the light ball moves by 3/4 of the 5 m. No energy comes from closing.
Test(cli_start, the_scene_or_the_command_line_closes_joints) {
    const char* lines[] = {"run closed.json --steps 2", "run open.json --steps 2 --close-joints"};
    sandbox_write("open.json", PAIR("", "", ", \"position\": [5, 0, 0]"));
    sandbox_write("closed.json",
                  PAIR("\"start\": {\"close\": true},", "", ", \"position\": [5, 0, 0]"));
    for (int i = 0; i < 2; i++) {
        json_t* summary = run_with_warnings(lines[i], 1);
        expect_warning(summary, 0,
                       "joints closed: bodies moved by at most 3.75 m (body 'light') and 0 rad",
                       NULL);
        const json_t* entry = json_array_get(json_object_get(summary, "warnings"), 0);
        const char* body = json_string_value(json_object_get(entry, "body"));
        cr_assert_not_null(body);
        cr_expect(eq(str, (char*)body, "light"));
        cr_expect(lt(dbl, json_number_value(json_object_get(summary, "max_gap")), 1e-9));
        cr_expect(lt(dbl, json_number_value(json_object_get(summary, "energy_end")), 1e-9));
        json_decref(summary);
    }
}

Test(cli_start, info_closes_joints_and_says_how_far_bodies_move) {
    const char* text = "joints closed: bodies moved by at most 3.75 m (body 'light') and 0 rad";
    json_error_t error;
    sandbox_write("open.json", PAIR("", "", ", \"position\": [5, 0, 0]"));
    command_result r = mabd_call("info open.json");
    cr_assert(eq(int, r.code, 0));
    cr_expect(eq(sz, strlen(r.err), 0), "%s", r.err);
    r = mabd_call("info open.json --close-joints --json -");
    cr_assert(eq(int, r.code, 0));
    cr_expect(eq(sz, count_lines(r.err, text), 1), "%s", r.err);
    json_t* root = json_loads(r.out, 0, &error);
    cr_assert_not_null(root, "%s: %s", error.text, r.out);
    cr_expect(eq(sz, json_array_size(json_object_get(root, "warnings")), 1));
    expect_warning(root, 0, text, NULL);
    json_decref(root);
}

// The ground holds both ends of a rod of 1 m, 3 m apart.
Test(cli_start, info_refuses_joints_that_cannot_be_closed) {
    sandbox_write("short.json", "{\"bodies\": [{\"name\": \"rod\", \"shape\": \"box\","
                                " \"size\": [1, 0.1, 0.1]}], \"joints\": ["
                                "{\"type\": \"ball\", \"b\": \"rod\", \"anchor_a\": [0, 0, 0],"
                                " \"anchor_b\": [-0.5, 0, 0]}, {\"type\": \"ball\", \"b\": \"rod\","
                                " \"anchor_a\": [3, 0, 0], \"anchor_b\": [0.5, 0, 0]}]}");
    expect_refused("info short.json --close-joints --json x.json",
                   "is open by 1 m: the joints cannot be closed");
}

Test(cli_start, a_good_start_has_an_empty_list_of_warnings) {
    sandbox_write("good.json", PAIR("", ", \"velocity\": [1, 0, 0]", ", \"velocity\": [1, 0, 0]"));
    json_decref(run_with_warnings("run good.json --steps 2", 0));
    json_decref(run_with_warnings("run good.json --steps 2 --close-joints", 0));
}

// ---- velocities --------------------------------------------------------------------------------

// 1 kg at 4 m/s joined to 3 kg at rest: both move at 1 m/s, with 2 J of the 8 J.
Test(cli_start, energy_of_velocities_against_a_joint_is_a_warning) {
    sandbox_write("fast.json", PAIR("", ", \"velocity\": [4, 0, 0]", ""));
    json_t* summary = run_with_warnings("run fast.json --steps 2", 1);
    expect_warning(summary, 0, "6 J of 8 J of kinetic energy taken out", "knot");
    expect_warning(summary, 0, "at most 4 m/s", "knot");
    json_decref(summary);
}

// ---- servos ------------------------------------------------------------------------------------

Test(cli_start, a_rigid_servo_off_its_target_is_a_warning) {
    sandbox_write("servo.json", CRANK("\"servo\": 0.05, \"servo_rigid\": true"));
    json_t* summary = run_with_warnings("run servo.json --steps 2", 1);
    expect_warning(summary, 0, "joint 'pin': rx is 0.05 rad off the target of its rigid servo",
                   "pin");
    json_decref(summary);
}

Test(cli_start, a_rigid_servo_with_its_target_beyond_a_stop_is_refused) {
    sandbox_write("servo.json", CRANK("\"servo\": 0.2, \"servo_rigid\": true, \"lower\": -0.1, "
                                      "\"upper\": 0.15"));
    expect_refused("run servo.json --steps 1" OUTPUTS,
                   "joint 'pin': rx: the target 0.2 rad of the rigid servo lies 0.05 rad above "
                   "the upper stop");
}

// ---- other warnings of the list ----------------------------------------------------------------

Test(cli_start, a_rounded_duration_is_in_the_list) {
    json_t* summary = run_with_warnings("run @pendulum.json --h 0.01 --time 0.034", 1);
    expect_warning(summary, 0, "--time 0.034 s is not a whole number of steps of 0.01 s", NULL);
    json_decref(summary);
}

// Components with junctions cannot be solved by conjugate gradients.
Test(cli_start, a_replaced_dual_solver_is_in_the_list) {
    json_t* summary = run_with_warnings("run @star.json --steps 1 --dual pcg", 1);
    expect_warning(summary, 0, "component 0 (201 bodies, 1 junction) is solved by 'tree': 'pcg'",
                   NULL);
    json_decref(summary);
    json_decref(run_with_warnings("run @star.json --steps 1 --dual direct", 0));
}
