// SPDX-License-Identifier: Apache-2.0
// The impulse formulation through the command: its options, wrong input with exit code 2, what it
// says of a run.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(cli_impulse, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define SCENES MABD_SOURCE_DIR "/scenes/"

static void expect(const char* options, int code, const char* text) {
    char line[512];
    snprintf(line, sizeof line, "run " SCENES "slider.json --formulation impulse --steps 2 %s",
             options);
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, code), "%s: %s", options, r.err);
    cr_expect(strstr(code == 0 ? r.out : r.err, text) != NULL, "%s: %s%s", options, r.out, r.err);
}

Test(cli_impulse, wrong_input_is_refused_by_name) {
    expect("--sweeps 0", 2, "impulse.sweeps must be at least 1");
    expect("--correction baumgarte --baumgarte 1.5", 2, "impulse.baumgarte must be 0 to 1");
    expect("--slop -1", 2, "slop");
    expect("--joint-hertz 0", 2, "joint-hertz");
    expect("--substeps -1", 2, "substeps");
    expect("--joints some", 2, "joints");
    expect("--dual pcg", 2, "dual");
    expect("--integrator bdf2", 2, "does not have integrator");
    expect("--backend cuda", 3, "impulse");
}

Test(cli_impulse, options_reach_the_summary) {
    expect("--json - --substeps 3 --sweeps 2 --relaxations 5", 0, "\"relaxations\": 5");
    expect("--json - --substeps 3", 0, "\"substeps\": 3");
    expect("--json - --joints direct --sweeps 0", 0, "\"impulse_joints\": \"direct\"");
    expect("--json - --correction none", 0, "\"correction\": \"none\"");
    expect("--json -", 0, "\"impulse_change\"");
    expect("--preset fast --json -", 0, "\"substeps\": 2");
}

// A frequency that the substeps cut to less than half is said.
Test(cli_impulse, a_clamped_frequency_is_said) {
    command_result r = mabd_call("run " SCENES "slider.json --formulation impulse --steps 2"
                                 " --substeps 1 --joint-hertz 200");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.err, "impulse.joint_hertz of 200 1/s is taken as 25 1/s") != NULL, "%s%s",
              r.out, r.err);
}

// Options of the impulse formulation are refused by the others.
Test(cli_impulse, other_formulations_refuse_its_options) {
    command_result r = mabd_call("run " SCENES "slider.json --steps 1 --sweeps 3");
    cr_expect(eq(int, r.code, 2));
    cr_expect(strstr(r.err, "impulse.sweeps") != NULL, "%s", r.err);
}
