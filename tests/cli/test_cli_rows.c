// SPDX-License-Identifier: Apache-2.0
// Redundant rows through the command: rank of a scene, weights, rows that are left out, solvers,
// and targets that joints do not allow. A planar four-bar has 20 rows of joints, 3 of them
// redundant, and one more for the drive of its crank.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(cli_rows, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define FOUR_BAR MABD_SOURCE_DIR "/scenes/four-bar.json"

// Run the command; expect an exit code and a text in what it prints.
static void expect(const char* arguments, int code, const char* text) {
    command_result r = mabd_call(arguments);
    cr_expect(eq(int, r.code, code), "mabd %s\n%s", arguments, r.err);
    cr_expect(strstr(r.out, text) || strstr(r.err, text), "mabd %s: no '%s' in\n%s%s", arguments,
              text, r.out, r.err);
}

Test(cli_rows, info_prints_the_rank_on_demand) {
    expect("info " FOUR_BAR " --rank", 0, "18 of 21 rigid rows, 3 redundant; 0 freedoms");
    expect("info " FOUR_BAR " --rank --set driven=0", 0, "17 of 20 rigid rows, 3 redundant; 1 fre");
    expect("info " FOUR_BAR " --rank --json -", 0, "\"redundant\": 3");
    command_result r = mabd_call("info " FOUR_BAR " --json -");
    cr_expect(strstr(r.out, "\"rank\"") == NULL, "only with --rank");
    expect("info " MABD_SOURCE_DIR "/scenes/stack.json --rank", 2, "contacts");
}

#define ARM(axis)                                                                                  \
    "{\"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\": [1, 0," \
    " 0]}], \"joints\": [{\"name\": \"left\", \"type\": \"hinge\", \"b\": \"b\", \"axis\": [0, 1," \
    " 0], \"axes\": {\"rx\": {\"servo_rigid\": true, \"servo\": 0}}}, {\"name\": \"right\","       \
    " \"type\": \"hinge\", \"b\": \"b\", \"axis\": [0, 1, 0], \"anchor\": [0, 1, 0], \"axes\":"    \
    " {\"rx\": {\"servo_rigid\": true, " axis "}}}]}"

Test(cli_rows, weights_are_a_line_of_info_and_no_error_elsewhere) {
    sandbox_write("arm.json", ARM("\"servo\": 0, \"weight\": 1e5"));
    expect("info arm.json", 0, "weights       of 1 joint");
    expect("run arm.json --steps 3", 0, "");
    expect("run arm.json --steps 3 --formulation quaternion", 0, "");
}

Test(cli_rows, charts_are_a_line_of_info_and_counted_in_the_summary) {
    sandbox_write("top.json",
                  "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", "
                  "\"radius\": 0.1, \"angular_velocity\": [0, 0, 9]}], \"joints\": [{\"type\": "
                  "\"ball\", \"b\": \"b\", \"chart\": \"exponential\"}]}");
    expect("info top.json", 0, "charts        of 1 joint; only formulation redmax reads them");
    expect("run top.json --steps 3 --formulation quaternion", 0, "");
    expect("run top.json --time 1 --h 0.01 --formulation redmax --json -", 0,
           "\"chart_switches\": 1");
}

Test(cli_rows, weights_that_are_not_positive_are_refused_with_their_place) {
    sandbox_write("arm.json", ARM("\"servo\": 0, \"weight\": 0"));
    expect("run arm.json --formulation quaternion", 2, "arm.json:1:");
    expect("run arm.json --formulation quaternion", 2, "weight must be > 0, found 0");
    sandbox_write("arm.json", ARM("\"servo\": 0, \"weight\": -2"));
    expect("run arm.json --formulation quaternion", 2, "weight must be > 0, found -2");
}

Test(cli_rows, a_target_that_a_loop_does_not_allow_is_refused_with_joint_and_opening) {
    sandbox_write("arm.json", ARM("\"servo\": 0.25"));
    expect("run arm.json --formulation quaternion", 2,
           "joint 'right': rx is 0.25 rad off the target");
}

Test(cli_rows, rows_left_out_are_counted_in_the_summary) {
    expect("run " FOUR_BAR " --set driven=0 --formulation quaternion --redundancy eliminate"
           " --steps 5 --json -",
           0, "\"redundant_rows\": 3");
    expect("run " FOUR_BAR " --formulation quaternion --steps 5 --json -", 0,
           "\"formulation_info\"");
    expect("run " FOUR_BAR " --redundancy eliminate", 2, "quaternion.redundancy");
    expect("run " MABD_SOURCE_DIR "/scenes/chain.json --set links=2000 --formulation quaternion"
           " --redundancy eliminate",
           2, "proximal");
}

Test(cli_rows, the_fully_constrained_solver_refuses_freedoms) {
    expect("run " FOUR_BAR " --formulation quaternion --solver fully-constrained --steps 5", 0, "");
    expect("run " FOUR_BAR " --set driven=0 --formulation quaternion --solver fully-constrained", 2,
           "solver 'fully-constrained'");
    expect("run " FOUR_BAR " --multipliers any", 2, "quaternion.multipliers");
}

Test(cli_rows, input_beyond_the_quaternion_formulation_is_refused_by_name) {
#define SCENE(name) "run " MABD_SOURCE_DIR "/scenes/" name ".json --formulation quaternion"
    expect(SCENE("double-pendulum") " --integrator semi-implicit --baumgarte 0.5 --steps 5", 0, "");
    expect(SCENE("double-pendulum") " --integrator semi-implicit --baumgarte 1.5", 2, "baumgarte");
    expect(SCENE("double-pendulum") " --integrator semi-implicit --baumgarte -0.5", 2, "baumgarte");
    expect(SCENE("double-pendulum") " --baumgarte 0.5", 2, "baumgarte");
    expect("run " FOUR_BAR " --baumgarte 0.5", 2, "quaternion.baumgarte");
    expect(SCENE("arm") " --integrator semi-implicit", 2, "semi-implicit");
    expect(SCENE("stack"), 2, "contacts");
    expect(SCENE("pendulum") " --integrator rk45", 2, "rk45");
    expect(SCENE("pendulum") " --integrator rattle", 2, "rattle");
#undef SCENE
}
