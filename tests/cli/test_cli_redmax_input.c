// SPDX-License-Identifier: Apache-2.0
// Wrong input of the redmax formulation through the command: exit code 2 and the place in the file
// where the text shows it, else the joint.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(cli_redmax_input, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define BODY        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [1, 1, 1]}"
#define BODIES(...) "{\"bodies\": [" BODY "], " __VA_ARGS__ "}"
#define JOINT(...)  BODIES("\"joints\": [{\"name\": \"p\", \"b\": \"a\", " __VA_ARGS__ "}]")
#define SPRING(...) BODIES("\"springs\": [{\"points\": [" __VA_ARGS__ ", \"stiffness\": 1}]")
#define FRAMES                                                                                     \
    "\"type\": \"spline-curve\", \"frames\": [{\"position\": [0, 0, 0]}, {\"position\": [1, 0,"    \
    " 0]}, {\"position\": [2, 0, 0]}"

// Run the scene with redmax; expect code 2, the place "s.json:1:COLUMN" if a column is given, and
// a text.
static void expect_refused(const char* scene, int column, const char* text) {
    char place[32] = "";
    sandbox_write("s.json", scene);
    if (column > 0) snprintf(place, sizeof place, "s.json:1:%d: ", column);
    command_result r = mabd_call("run s.json --formulation redmax --steps 2");
    cr_expect(eq(int, r.code, 2), "%s\n%s", scene, r.err);
    cr_expect_not_null(strstr(r.err, place), "no '%s' in %s", place, r.err);
    cr_expect_not_null(strstr(r.err, text), "no '%s' in %s", text, r.err);
}

Test(cli_redmax_input, bodies_and_axes) {
    expect_refused("{\"bodies\": [{\"name\": \"a\", \"mass\": 0, \"inertia\": [1, 1, 1]}]}", 35,
                   "mass must be > 0");
    expect_refused(JOINT("\"type\": \"hinge\", \"axis\": [0, 0, 0]"), 124, "'axis' has no length");
}

Test(cli_redmax_input, curves) {
    expect_refused(JOINT(FRAMES "]"), 75, "at least 4 frames, found 3");
    expect_refused(JOINT(FRAMES ", {\"position\": [3, 0, 0], \"rotation\": [0, 1, 0, 0]}]"), 75,
                   "frames 2 and 3 of the curve are half a turn apart");
}

Test(cli_redmax_input, turns_of_a_surface_beyond_a_quarter_of_pi_are_a_warning) {
#define GRID "[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]"
    sandbox_write("s.json",
                  JOINT("\"type\": \"spline-surface\", \"start\": [0.5, 0.5], \"x\": " GRID
                        ", \"y\": [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2,"
                        " 3]], \"rx\": " GRID));
    command_result r = mabd_call("run s.json --formulation redmax --steps 1 --h 0.001");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.err, "joint p: its surface turns by 3 rad"), "%s", r.err);
}

Test(cli_redmax_input, couplings_and_springs) {
    expect_refused("{\"bodies\": [" BODY "], \"joints\": [{\"name\": \"p\", \"type\": \"ball\","
                   " \"b\": \"a\"}], \"couplings\": [{\"axes\": [{\"joint\": \"p\", \"axis\":"
                   " \"rx\"}, {\"joint\": \"p\", \"axis\": \"ry\"}]}]}",
                   131, "a rotation of a ball joint");
    expect_refused(SPRING("{\"body\": \"a\"}, {\"body\": \"a\", \"point\": [1, 0, 0]}]"), 76,
                   "all points are on one body");
    expect_refused(SPRING("{\"body\": \"a\"}, {\"body\": \"world\", \"point\": [2, 0, 0]}],"
                          " \"length\": 0"),
                   153, "length must be > 0");
    expect_refused(SPRING("{\"body\": \"a\"}, {\"body\": \"world\"}]"), 76,
                   "points 0 and 1 coincide in the start pose");
}

Test(cli_redmax_input, prescribed_axes) {
    expect_refused(JOINT("\"type\": \"hinge\", \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_rigid\":"
                         " true, \"motor_velocity\": 1}}"),
                   185, "'motor_velocity' cannot be given beside 'servo'");
    expect_refused(JOINT("\"type\": \"hinge\", \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_rigid\":"
                         " true, \"upper\": 0.1}}"),
                   0, "joint 'p': rx: the target 0.2 rad of the rigid servo lies 0.1 rad above");
}

Test(cli_redmax_input, charts) {
    expect_refused(JOINT("\"type\": \"ball\", \"chart\": \"XYX\""), 0,
                   "the chart 'XYX' of joint 'p' is singular in the start pose");
    expect_refused(JOINT("\"type\": \"ball\", \"chart\": \"XXY\""), 124, "found 'XXY'");
    expect_refused(JOINT("\"type\": \"hinge\", \"chart\": \"XYZ\""), 75,
                   "needs three free rotations (ball, slot, point-on-plane or free)");
}

Test(cli_redmax_input, an_open_loop_names_joint_and_opening) {
    expect_refused(
        "{\"bodies\": [" BODY "], \"joints\": [{\"name\": \"top\", \"type\": \"hinge\", \"b\":"
        " \"a\", \"anchor\": [0, 0.5, 0], \"axis\": [0, 1, 0]}, {\"name\": \"bottom\", \"type\":"
        " \"hinge\", \"b\": \"a\", \"anchor_a\": [0.001, -0.5, 0], \"anchor_b\": [0, -0.5, 0],"
        " \"axis_a\": [0, 1, 0], \"axis_b\": [0, 1, 0]}]}",
        0, "joint 'bottom' is open by 0.001 m at the start");
}

Test(cli_redmax_input, young_is_a_line_of_info) {
    sandbox_write("s.json", BODIES("\"young\": 1e9"));
    command_result r = mabd_call("info s.json --formulation redmax");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "young         not steel, of 1 bod"), "%s", r.out);
    r = mabd_call("run s.json --formulation redmax --steps 2");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    sandbox_write("s.json", BODIES("\"name\": \"steel\""));
    r = mabd_call("info s.json --formulation redmax");
    cr_expect(strstr(r.out, "young") == NULL, "%s", r.out);
}

Test(cli_redmax_input, contacts_have_no_gradients) {
    sandbox_write("s.json", "{\"contact\": {}, \"bodies\": [" BODY ", {\"shape\": \"plane\","
                            " \"position\": [0, 0, -2], \"fixed\": true}]}");
    sandbox_write("l.json", "{\"parameters\": [{\"of\": \"mass\", \"name\": \"a\"}], \"terms\":"
                            " [{\"type\": \"energy\"}]}");
    command_result r = mabd_call("gradient s.json --loss l.json --formulation redmax --steps 2");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    cr_expect_not_null(strstr(r.err, "contacts of shapes are not smooth"), "%s", r.err);
}

Test(cli_redmax_input, maximal_coordinates_and_their_stabilisation) {
    const struct {
        const char *flags, *text;
        int code;
    } cases[] = {
        {"redmax --coordinates maximal --json -", "\"coordinates\": \"maximal\"", 0},
        {"redmax --coordinates maximal --baumgarte 0.25 --json -", "\"baumgarte\": 0.25", 0},
        {"redmax --coordinates maximal --baumgarte-level acceleration", "", 0},
        {"redmax --coordinates maximal --integrator linear-implicit", "", 0},
        {"redmax --coordinates maximal --baumgarte 1.5", "redmax.baumgarte must be 0 to 1", 2},
        {"redmax --coordinates maximal --integrator bdf2", "'maximal' does not have integrator", 2},
        {"redmax --coordinates maximal --energy-guard 0", "redmax.energy_guard", 2},
        {"redmax --baumgarte 0.3", "redmax.baumgarte", 2},
        {"redmax --baumgarte-level acceleration", "redmax.baumgarte_level", 2},
        {"affine --coordinates maximal", "redmax.coordinates", 2},
        {"redmax --coordinates polar", "coordinates", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[160];
        snprintf(line, sizeof line, "run @pendulum.json --steps 2 --formulation %s",
                 cases[i].flags);
        command_result r = mabd_call(line);
        cr_expect(eq(int, r.code, cases[i].code), "%s: %s", line, r.err);
        cr_expect(strstr(r.out, cases[i].text) || strstr(r.err, cases[i].text), "%s: %s", line,
                  r.err);
    }
}

Test(cli_redmax_input, integrators_of_redmax_are_refused_elsewhere) {
    const char* const names[] = {"sdirk2", "semi-implicit", "linear-implicit", "rk45"};
    for (int i = 0; i < 4; i++) {
        char line[96];
        snprintf(line, sizeof line, "run @pendulum.json --integrator %s --steps 1", names[i]);
        command_result r = mabd_call(line);
        cr_expect(eq(int, r.code, 2), "%s: %s", names[i], r.err);
        cr_expect_not_null(strstr(r.err, names[i]), "%s", r.err);
    }
}
