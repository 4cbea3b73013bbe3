// SPDX-License-Identifier: Apache-2.0
// `mabd bench peers` for a user: missing programs are reported, and a peer that crashes, hangs or
// answers nonsense is reported as failing. The peers are shell scripts.
#include "support/command_json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(peers_command, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SMALL        "bench peers --links 3 --scenes chain --steps 4 --repeat 1 --programs . "

// An answer that is in order: three steps, gap 0.25 m.
#define ANSWER                                                                                     \
    "echo built; echo steps 3; echo seconds_per_step 0.001; echo build_seconds 0.1\n"              \
    "echo max_gap 0.25; echo own_gap -1; echo energy_error 0.5; echo energy_end -0.5\n"            \
    "echo energy_scale 2; echo rest_speed 0.125; echo apart_step -1; echo failed_step -1; echo "   \
    "stopped 0\n"                                                                                  \
    "echo 'failure '\n"

// A peer with one variant that does `run` when it is asked to run.
static void write_peer(const char* name, const char* run) {
    char text[2048], path[64];
    snprintf(path, sizeof(path), "mabd-peer-%s", name);
    snprintf(text, sizeof(text),
             "#!/bin/sh\nif [ \"$1\" = list ]; then\n"
             "echo 'version 7.5'; echo 'variant only such, and such'; exit 0\nfi\n%s",
             run);
    sandbox_write(path, text);
    cr_assert(eq(int, chmod(path, 0700), 0));
}

static const json_t* row_of(const json_t* root, const char* peer) {
    const json_t* results = json_object_get(root, "results");
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t* row = json_array_get(results, i);
        if (strcmp(json_string_value(json_object_get(row, "peer")), peer) == 0) return row;
    }
    cr_fatal("no row of %s", peer);
    return NULL;
}

static const char* outcome_of(const json_t* root, const char* peer) {
    return json_string_value(json_object_get(row_of(root, peer), "result"));
}

static double number(const json_t* row, const char* key) {
    const json_t* value = json_object_get(row, key);
    cr_assert_not_null(value);
    cr_assert(eq(int, json_typeof(value), JSON_REAL), "'%s' is no number", key);
    return json_real_value(value);
}

// ---- who is there ------------------------------------------------------------------------------

Test(peers_command, reports_missing_peers_and_runs_the_rest) {
    write_peer("ode", ANSWER);
    command_result r = mabd_call(SMALL);
    cr_expect(eq(int, r.code, 0));
    cr_expect_not_null(strstr(r.err, "mujoco: mabd-peer-mujoco is missing: install mujoco-core"));
    cr_expect_not_null(strstr(r.err, "bullet: mabd-peer-bullet is missing: install libbullet-dev"));
    cr_expect_null(strstr(r.err, "ode: "));
    cr_expect_not_null(strstr(r.out, "chain-3: 3 bodies, 3 joints"));
    cr_expect_not_null(strstr(r.out, "mabd     affine"));
    cr_expect_not_null(strstr(r.out, "ode      only"));
}

Test(peers_command, numbers_of_mabd_and_of_a_peer_are_side_by_side) {
    write_peer("ode", ANSWER);
    json_t* root = command_json(SMALL "--peers ode --json -");
    const json_t *own = row_of(root, "mabd"), *peer = row_of(root, "ode");
    cr_expect(eq(str, (char*)outcome_of(root, "mabd"), "ok"));
    cr_expect(eq(int, json_integer_value(json_object_get(own, "steps")), 4));
    cr_expect(lt(dbl, number(own, "own_gap"), 1e-12));
    cr_expect(lt(dbl, number(own, "max_gap"), 1e-4)); // its links stretch
    cr_expect(eq(str, (char*)outcome_of(root, "ode"), "ok"));
    cr_expect(eq(dbl, number(peer, "max_gap"), 0.25));
    cr_expect(eq(dbl, number(peer, "energy_end"), -0.5));
    cr_expect(eq(dbl, number(peer, "ms_per_step"), 1));
    cr_expect(eq(int, json_typeof(json_object_get(peer, "own_gap")), JSON_NULL));
    json_decref(root);
}

Test(peers_command, table_has_its_command_versions_and_settings) {
    write_peer("ode", ANSWER);
    command_result r = mabd_call(SMALL "--peers ode --csv -");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* lines[] = {
        "# machine: ", "# version: mabd ", ", ode 7.5\n", "# command: mabd bench peers --links 3",
        "chain-3,3,3,0.01,4,ode,only,3,1,100,2.500e-01,,,1.250e-01,0.5,-0.5,2,ok,"
        "\"such, and such\"\n"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        cr_expect_not_null(strstr(r.out, lines[i]), "lacks: %s\n%s", lines[i], r.out);
    }
}

Test(peers_command, a_row_without_numbers_has_all_its_columns) {
    write_peer("ode", "exit 5\n");
    command_result r = mabd_call(SMALL "--peers ode --csv -");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* row =
        "chain-3,3,3,0.01,4,ode,only,0,,,,,,,,,,failed: exit code 5,\"such, and such\"\n";
    cr_expect_not_null(strstr(r.out, row), "%s", r.out);
    int named = 0, given = 0;
    for (const char* c = strstr(r.out, "\nscene,") + 1; *c != '\n'; c++) named += *c == ',';
    for (const char* c = strstr(r.out, row); *c != '"'; c++) given += *c == ',';
    cr_expect(eq(int, given, named));
}

// A peer gets the scene of mabd: it counts the bodies and joints, and checks step and step count.
Test(peers_command, peers_are_given_the_scene) {
    write_peer("ode",
               "awk '$1 == \"bodies\" { b = $2 } $1 == \"joints\" { j = $2 }\n"
               "$1 == \"time\" { h = $2; n = $3 }\n"
               "END { exit !(b == 3 && j == 3 && h == 0.25 && n == 4) }' || exit 9\n" ANSWER);
    json_t* root = command_json(SMALL "--peers ode --h 0.25 --json -");
    cr_expect(eq(str, (char*)outcome_of(root, "ode"), "ok"));
    json_decref(root);
}

// What touches is simulated from the text of the scene, and overlaps are judged for mabd as well. A
// formulation that cannot do the scene has its reason and does not make the command fail.
Test(peers_command, shapes_and_formulations) {
    json_t* root =
        command_json("bench peers --scenes stack,grid --sizes 2 --steps 60 --repeat 1 "
                     "--programs . --peers ode --formulation affine,quaternion --json -");
    const json_t* results = json_object_get(root, "results");
    cr_assert(eq(sz, json_array_size(results), 4));
    const json_t *grid = json_array_get(results, 0), *stack = json_array_get(results, 2),
                 *refused = json_array_get(results, 3);
    cr_expect_str_eq(json_string_value(json_object_get(grid, "scene")), "grid-2x2");
    cr_expect_neq(json_is_null(json_object_get(grid, "overlap")), 0);
    cr_expect_str_eq(json_string_value(json_object_get(stack, "scene")), "stack-2");
    cr_expect_str_eq(json_string_value(json_object_get(stack, "variant")), "affine");
    cr_expect(lt(dbl, number(stack, "overlap"), 1e-4));
    cr_expect(lt(dbl, number(stack, "rest_speed"), 1e-4));
    const char* reason = json_string_value(json_object_get(refused, "result"));
    cr_expect(eq(int, strncmp(reason, "not run: ", 9), 0));
    cr_expect_not_null(strstr(reason, "contacts"), "%s", reason);
    json_decref(root);
}

// The ratio of times is that of the columns.
Test(peers_command, prints_the_ratios_of_formulations) {
    const command_result r = mabd_call("bench peers --scenes chain --links 3 --steps 20 --repeat 1 "
                                       "--programs . --peers ode --formulation affine,redmax");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    double affine = 0, redmax = 0, ratio = 0;
    sscanf(strstr(r.out, "mabd     affine") + 26, "%lf", &affine);
    sscanf(strstr(r.out, "mabd     redmax") + 26, "%lf", &redmax);
    const char* line = strstr(r.out, "redmax takes ");
    cr_assert_not_null(line, "%s", r.out);
    sscanf(line, "redmax takes %lf of the time of affine", &ratio);
    cr_expect(lt(dbl, 0, ratio));
    cr_expect(lt(dbl, fabs(ratio * affine / redmax - 1), 0.01));
}

// ---- peers that fail ---------------------------------------------------------------------------

static void expect_outcome(const char* run, const char* options, const char* text) {
    char line[256];
    write_peer("ode", run);
    snprintf(line, sizeof(line), SMALL "--peers ode --json - %s", options);
    json_t* root = command_json(line);
    cr_expect_not_null(strstr(outcome_of(root, "ode"), text), "%s", outcome_of(root, "ode"));
    cr_expect(eq(str, (char*)outcome_of(root, "mabd"), "ok"));
    json_decref(root);
}

Test(peers_command, a_crash_is_reported_with_its_signal) {
    expect_outcome("echo built; kill -SEGV $$\n", "", "failed: signal 11");
}

Test(peers_command, an_exit_code_is_reported_with_its_reason) {
    expect_outcome("echo 'no such luck' >&2; exit 5\n", "", "failed: exit code 5: no such luck");
}

Test(peers_command, a_hang_is_killed) {
    expect_outcome("echo built; exec sleep 1000\n", "--limit 0.1", "timeout: killed after 6 s of");
}

Test(peers_command, answers_that_are_not_finite_fail) {
    expect_outcome("echo built; echo steps 3; echo seconds_per_step nan\n", "",
                   "failed: no number 'seconds_per_step'");
    expect_outcome("echo 'all is well'\n", "", "failed: no number 'steps'");
}

Test(peers_command, a_failure_that_a_peer_reports_is_passed_on) {
    expect_outcome("echo steps 3; echo seconds_per_step 1; echo build_seconds 1\n"
                   "echo max_gap 1; echo own_gap -1; echo energy_error 5; echo energy_end 5\n"
                   "echo energy_scale 2; echo rest_speed -1; echo apart_step 2; echo failed_step "
                   "3; echo stopped 0; "
                   "echo failure gone\n",
                   "", "failed at step 3: gone");
}

Test(peers_command, a_peer_without_variants_is_left_out) {
    sandbox_write("mabd-peer-ode", "#!/bin/sh\necho 'what?' >&2; exit 1\n");
    chmod("mabd-peer-ode", 0700);
    command_result r = mabd_call(SMALL "--peers ode");
    cr_expect(eq(int, r.code, 0));
    cr_expect_not_null(strstr(r.err, "does not tell its variants: what?"), "%s", r.err);
}

// ---- bad input ---------------------------------------------------------------------------------

Test(peers_command, refuses_bad_input) {
    const struct {
        const char* line;
        int code;
        const char* text;
    } cases[] = {
        {"bench peers --peers oed", 2, "--peers: unknown name 'oed': did you mean 'ode'?"},
        {"bench peers --scenes chain,tree", 2, "--scenes: unknown name 'tree'"},
        {"bench peers --peers ode,", 2, "--peers: unknown name ''"},
        {"bench peers --links 10,x", 2, "--links: expected"},
        {"bench peers --links 1e9", 2, "--links: at most 10000000"},
        {"bench peers --sizes 0", 2, "--sizes: expected"},
        {"bench peers --sizes 4000", 2, "--sizes: at most 3000"},
        {"bench peers --formulation affin", 2, "--formulation: unknown name 'affin'"},
        {"bench peers --limit 0", 2, "--limit"},
        {"bench peers --json - --csv -", 2, "cannot both go to standard output"},
        {"bench peers extra", 2, "extra"},
        {"bench peers --csv no/such/folder.csv", 4, "no/such/folder.csv"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        command_result r = mabd_call(cases[i].line);
        cr_expect(eq(int, r.code, cases[i].code), "mabd %s\n%s", cases[i].line, r.err);
        cr_expect_not_null(strstr(r.err, cases[i].text), "mabd %s\n%s", cases[i].line, r.err);
    }
}
