// SPDX-License-Identifier: Apache-2.0
// `mabd gradient`, `mabd optimize` and `mabd sensitivity` on motions in closed form: a ball that
// flies straight, x(1 s) = v, and a wheel that a motor turns by t^2/(2 J) for each N m.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_gradient, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

// Flies at (1, 2, 3) m/s without gravity.
static const char* const BALL =
    "{\"name\": \"flight\", \"gravity\": [0, 0, 0], \"time\": {\"h\": 0.05, \"duration\": 1},"
    " \"params\": {\"speed\": {\"default\": 1, \"unit\": \"m/s\", \"meaning\": \"along x\"}},"
    " \"bodies\": ["
    "{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 2,"
    " \"velocity\": [\"=speed\", 2, 3]},"
    "{\"name\": \"wall\", \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [9, 9, 9],"
    " \"fixed\": true}]}";

#define AIM(bounds)                                                                                \
    "{\"parameters\": [{\"of\": \"start-velocity\", \"name\": \"ball\"" bounds "}],\n"             \
    " \"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"target\": [3, 0, 0]}]}"

static void write_files(void) {
    sandbox_write("ball.json", BALL);
    sandbox_write("aim.json", AIM(""));
}

static command_result expect_code(const char* line, int code) {
    const command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, code), "mabd %s\n%s%s", line, r.out, r.err);
    return r;
}

// The number after `label` in a text.
static double number_after(const char* text, const char* label) {
    const char* at = strstr(text, label);
    cr_assert(at != NULL, "no '%s' in\n%s", label, text);
    return strtod(at + strlen(label), NULL);
}

static void expect_near(double found, double expected, double tolerance) {
    cr_expect(fabs(found - expected) <= tolerance, "%.12g, expected %.12g", found, expected);
}

// Read dataset `name` (count) of a file.
static void read_set(const char* file, const char* name, double* values) {
    const hid_t id = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(id, name, H5P_DEFAULT);
    cr_assert(set >= 0 &&
              H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set), H5Fclose(id);
}

// Three flights at speeds that are drawn: each has its own values and derivatives 2 (v - target).
Test(cli_gradient, of_copies_has_one_gradient_each) {
    double value[10], gradient[10], loss, sum = 0;
    write_files();
    sandbox_write(
        "both.json",
        "{\"parameters\": [{\"of\": \"gravity\", \"component\": \"x\"},"
        " {\"of\": \"start-velocity\", \"name\": \"ball\"}],"
        " \"terms\": [{\"type\": \"point\", \"name\": \"ball\", \"target\": [3, 0, 0]}]}");
    const command_result r = expect_code("gradient ball.json --loss both.json --copies 3 --vary"
                                         " speed=1:2 --check --formulation redmax --out g.h5",
                                         0);
    cr_expect(strstr(r.out, "start-velocity of '2/ball', z") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "\ngravity, x") != NULL, "%s", r.out);
    read_set("g.h5", "value", value);
    read_set("g.h5", "gradient", gradient);
    read_set("g.h5", "loss", &loss);
    for (int copy = 0; copy < 3; copy++) {
        const double *v = value + 3 * copy, want[] = {2 * (v[0] - 3), 4, 6};
        cr_expect(v[0] >= 1 && v[0] < 2 && (copy == 0 || v[0] != value[0]), "%.17g", v[0]);
        sum += (v[0] - 3) * (v[0] - 3) + 4 + 9;
        for (int k = 0; k < 3; k++) expect_near(gradient[3 * copy + k], want[k], 1e-9);
    }
    expect_near(loss, sum, 1e-9);
    expect_near(value[9], 0, 0);
    expect_code("gradient ball.json --loss both.json --vary speed=1:2", 2);
    expect_code("gradient ball.json --loss both.json --copies 0", 2);
    expect_code("gradient ball.json --loss both.json --copies 2 --vary speed", 2);
}

Test(cli_gradient, of_a_straight_flight_is_that_of_the_closed_form) {
    write_files();
    const command_result r =
        expect_code("gradient ball.json --loss aim.json --check --out g.h5", 0);
    expect_near(number_after(r.out, "loss      "), 4 + 4 + 9, 1e-9);
    cr_expect(strstr(r.out, "start-velocity of 'ball', z") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "  m/s\n") != NULL);
    cr_expect(number_after(r.out, "largest relative error ") < 1e-8);
    const double want[] = {-4, 4, 6}, start[] = {1, 2, 3};
    double loss, value[3], gradient[3], difference[3];
    read_set("g.h5", "loss", &loss);
    read_set("g.h5", "value", value);
    read_set("g.h5", "gradient", gradient);
    read_set("g.h5", "difference", difference);
    expect_near(loss, 17, 1e-9);
    for (int k = 0; k < 3; k++) {
        expect_near(value[k], start[k], 0);
        expect_near(gradient[k], want[k], 1e-9);
        expect_near(difference[k], want[k], 1e-6);
    }
}

Test(cli_gradient, time_and_settings_are_those_of_the_command_line) {
    write_files();
    const command_result r = expect_code(
        "gradient ball.json --loss aim.json --steps 40 --h 0.05 --set speed=2 --quiet", 0);
    // x(2 s) - target = (4 - 3, 4, 6), times 2 t
    expect_near(number_after(strstr(r.out, "'ball', x"), "x  "), 2, 0);
    cr_expect(strstr(r.out, "scene ") == NULL, "%s", r.out);
}

Test(cli_gradient, optimize_hits_the_target_and_writes_it_as_a_loss_file) {
    write_files();
    const command_result r = expect_code("optimize ball.json --loss aim.json --out best.json", 0);
    cr_expect(number_after(r.out, "loss      ") < 1e-12, "%s", r.out);
    cr_expect(strstr(r.out, "        0  loss ") != NULL &&
              strstr(r.out, "        1  loss ") != NULL);
    json_t* best = json_load_file("best.json", 0, NULL);
    const json_t* entry = json_array_get(json_object_get(best, "parameters"), 0);
    const json_t* values = json_object_get(entry, "value");
    const double want[] = {3, 0, 0};
    cr_assert(eq(sz, json_array_size(values), 3));
    for (size_t k = 0; k < 3; k++) {
        expect_near(json_real_value(json_array_get(values, k)), want[k], 1e-7);
    }
    const json_t* run = json_object_get(best, "run");
    cr_expect(json_real_value(json_object_get(run, "first_loss")) > 16.9);
    cr_expect(json_integer_value(json_object_get(run, "steps")) == 20);
    cr_expect(strstr(json_string_value(json_object_get(run, "command")), "--loss aim.json") !=
              NULL);
    json_decref(best);
    const command_result again = expect_code("gradient ball.json --loss best.json", 0);
    cr_expect(number_after(again.out, "loss      ") < 1e-12, "%s", again.out);
}

Test(cli_gradient, optimize_keeps_bounds_and_stops_at_limits) {
    write_files();
    sandbox_write("bound.json", AIM(", \"upper\": [2.5, 5, 5], \"value\": [0, 1, 1]"));
    command_result r = expect_code("optimize ball.json --loss bound.json --out best.json", 0);
    expect_near(number_after(r.out, "loss      "), 0.25, 1e-9);
    r = expect_code("optimize ball.json --loss aim.json --iterations 1", 0);
    cr_expect(strstr(r.out, "all iterations are used up") != NULL, "%s", r.out);
    r = expect_code("optimize ball.json --loss aim.json --loss-tolerance 100", 0);
    cr_expect(strstr(r.out, "the loss is below its tolerance") != NULL, "%s", r.out);
}

static const char* const WHEEL =
    "{\"gravity\": [0, 0, 0], \"time\": {\"h\": 0.01, \"duration\": 1}, \"bodies\": ["
    "{\"name\": \"wheel\", \"mass\": 1, \"inertia\": [0.15, 0.15, 0.25]}],"
    " \"joints\": [{\"name\": \"axle\", \"type\": \"hinge\", \"b\": \"wheel\", \"axis\": [0, 0, 1],"
    " \"axes\": {\"rx\": {\"motor\": %s}}}]}";

Test(cli_gradient, sensitivity_of_a_wheel_grows_with_the_square_of_time) {
    const char* const motors[] = {"0.5", "{\"sine\": {\"amplitude\": 0.5, \"frequency\": 1}}"};
    for (int k = 0; k < 2; k++) {
        char scene[1024];
        snprintf(scene, sizeof(scene), WHEEL, motors[k]);
        sandbox_write("wheel.json", scene);
        const command_result r =
            expect_code("sensitivity wheel.json --of poses --by motors --every 50 --csv s.csv", 0);
        cr_expect(strstr(r.out, "rz of 'wheel' by control of 'axle', rx force") != NULL, "%s",
                  r.out);
        expect_near(number_after(r.out, "peak      "), 1 / (2 * 0.25), 5e-3); // O(h^2)
        const char* table = sandbox_read("s.csv");
        cr_expect(strncmp(table, "time,worst,body,component,parameter\n0,0,", 40) == 0, "%s",
                  table);
        expect_near(number_after(table, "\n0.5,"), 0.25 / (2 * 0.25), 5e-3);
        expect_near(number_after(table, "\n1,"), 1 / (2 * 0.25), 5e-3);
    }
    const command_result r = expect_code("sensitivity wheel.json --by servos", 2);
    cr_expect(strstr(r.err, "has no servos") != NULL, "%s", r.err);
}

Test(cli_gradient, commands_in_joint_coordinates) {
    char scene[1024];
    write_files();
    snprintf(scene, sizeof(scene), WHEEL, "0.5");
    sandbox_write("wheel.json", scene);
    command_result r =
        expect_code("gradient ball.json --loss aim.json --check --formulation redmax", 0);
    expect_near(number_after(r.out, "loss      "), 4 + 4 + 9, 1e-9);
    cr_expect(number_after(r.out, "largest relative error ") < 1e-8);
    r = expect_code("optimize ball.json --loss aim.json --out best.json --formulation redmax", 0);
    cr_expect(number_after(r.out, "loss      ") < 1e-12, "%s", r.out);
    r = expect_code("sensitivity wheel.json --of poses --by motors --formulation redmax", 0);
    expect_near(number_after(r.out, "peak      "), 1 / (2 * 0.25), 5e-3);
    r = expect_code(
        "gradient ball.json --loss aim.json --check --formulation redmax --integrator rk45", 0);
    cr_expect(number_after(r.out, "largest relative error ") < 1e-8);
    r = expect_code("gradient ball.json --loss aim.json --formulation impulse", 2);
    cr_expect(strstr(r.err, "'impulse'") != NULL, "%s", r.err);
}

// Two motors on one linkage, which stands upright: small angles phi of the crank grow by
// I phi'' = K phi + torque, so that dphi/dtorque = (cosh(w t) - 1)/K, w^2 = K/I, and the rocker,
// parallel to the crank and twice as long, turns half as far and has half of it.
Test(cli_gradient, sensitivity_of_two_designs) {
    const double inertia = (0.12 * 0.09 + 0.24 * 0.36 / 4) / 3 + 0.4 * 0.09;
    const double K = 2 * 9.81 * (0.12 * 0.075 + 0.4 * 0.1125 + 0.24 * 0.15 / 4);
    const double expected = (cosh(sqrt(K / inertia) * 0.4) - 1) / K;
    const command_result r = expect_code(
        "sensitivity " MABD_SOURCE_DIR "/scenes/driven-four-bar.json --of poses --by motors", 0);
    const char* first = strstr(r.out, "\nby ");
    cr_assert(first != NULL && strstr(first, "of 'crank' by control of 'base-crank'") != NULL);
    const char* second = strstr(first + 1, "\nby ");
    cr_assert(second != NULL && strstr(second, "of 'crank' by control of 'base-rocker'") != NULL);
    const double crank = number_after(first, "by "), rocker = number_after(second, "by ");
    expect_near(crank, expected, 0.01 * expected); // bdf2 with h = 0.01 s
    expect_near(crank / rocker, 2, 1e-4);
}

Test(cli_gradient, bad_input_has_its_place_and_exit_code_2) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"terms\": [\n{\"type\": \"point\", \"name\": \"bal\"}]}",
         "loss.json:2:27: there is no body named 'bal'"},
        {"{\"terms\": [\n{\"type\": \"rate\", \"name\": \"bal\"}]}",
         "loss.json:2:26: there is no joint named 'bal'"},
        {"{\"terms\": [\n{\"type\": \"pose\", \"name\": \"ball\"}]}",
         "loss.json:2:10: type: expected"},
        {"{\"terms\": [\n{\"type\": \"point\", \"name\": \"ball\", \"at\": 2}]}",
         "loss.json:2:41: at: 2 s is after the end of the run, 1 s"},
        {"{\"terms\": [\n{\"type\": \"point\", \"name\": \"ball\", \"at\": 0.07}]}",
         "loss.json:2:41: at: 0.07 s is not a whole number of steps of 0.05 s"},
        {"{\"terms\": [\n{\"type\": \"point\", \"name\": \"ball\", \"weight\": -1}]}",
         "loss.json:2:45: weight must be >= 0"},
        {"{\"parameters\": [\n{\"of\": \"mass\", \"name\": \"wall\"}], \"terms\": []}",
         "loss.json:2:1: mass: body 'wall' is fixed"},
        {"{\"parameters\": [\n{\"of\": \"mass\", \"name\": \"ball\", \"lower\": 2, \"upper\": 1}],"
         " \"terms\": []}",
         "loss.json:2:1: mass: the lower bound 2 is above the upper one, 1"},
        {"{\"terms\": [", "loss.json:1:"},
    };
    write_files();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sandbox_write("loss.json", cases[i].text);
        for (int k = 0; k < 2; k++) {
            const command_result r =
                expect_code(k == 0 ? "gradient ball.json --loss loss.json"
                                   : "optimize ball.json --loss loss.json --out best.json",
                            2);
            cr_expect(strncmp(r.err, cases[i].message, strlen(cases[i].message)) == 0, "%s\n%s",
                      cases[i].message, r.err);
        }
    }
    cr_expect(not(sandbox_exists("best.json")));
}

Test(cli_gradient, bad_command_lines_are_refused) {
    static const struct {
        const char* line;
        int code;
        const char* message;
    } cases[] = {
        {"gradient ball.json", 2, "--loss is missing"},
        {"optimize ball.json --out best.json", 2, "--loss is missing"},
        {"gradient ball.json --loss none.json", 2, "none.json"},
        {"gradient ball.json --loss aim.json --time 0.12", 2, "not a whole number of steps"},
        {"gradient ball.json --loss aim.json --steps 0", 2, "no steps to differentiate"},
        {"gradient ball.json --loss aim.json --formulation affine", 2, "affine"},
        {"gradient ball.json --loss aim.json --out aim.json", 2, "aim.json"},
        {"gradient ball.json --loss aim.json --out /nonexistent/g.h5", 4, "/nonexistent"},
        {"optimize ball.json --loss empty.json", 2, "no parameters to optimise"},
        {"gradient ball.json --loss aim.json --checkpoint c", 2, "unknown option '--checkpoint'"},
        {"sensitivity ball.json --by muscles", 2, "none of motors, servos, controls"},
        {"sensitivity ball.json", 2, "has no motors"},
    };
    write_files();
    sandbox_write("empty.json", "{\"terms\": []}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const command_result r = expect_code(cases[i].line, cases[i].code);
        cr_expect(strstr(r.err, cases[i].message) != NULL, "mabd %s\n%s", cases[i].line, r.err);
    }
}
