// SPDX-License-Identifier: Apache-2.0
// `mabd compare` for a user: known motions, differences that fall with the order of the methods, a
// formulation that cannot do the scene as a row, files, and bad input.
#include "support/command_json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(compare, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define MASS    2.0  // [kg]
#define GRAVITY 9.81 // [m/s^2]
#define TIME    0.5  // [s]

static const char FALLING[] =
    "{\"name\": \"falling\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", "
    "\"mass\": 2, \"inertia\": [0.2, 0.25, 0.3], \"position\": [1, 2, 3], "
    "\"velocity\": [0.5, 0, 2]}]}";

static const json_t* row_of(const json_t* root, size_t index) {
    const json_t* row = json_array_get(json_object_get(root, "results"), index);
    cr_assert_not_null(row, "no row %zu", index);
    return row;
}

static double number_of(const json_t* root, size_t index, const char* key) {
    const json_t* value = json_object_get(row_of(root, index), key);
    cr_assert_neq(json_is_number(value), 0, "row %zu has no number %s", index, key);
    return json_number_value(value);
}

static const char* text_of(const json_t* root, size_t index, const char* key) {
    return json_string_value(json_object_get(row_of(root, index), key));
}

// Every method of order two is exact for a fall, and the momentum grows by m g t.
Test(compare, free_fall_is_the_same_in_all_formulations) {
    sandbox_write("fall.json", FALLING);
    json_t* root = command_json("compare fall.json --h 0.01 --time 0.5 --json -");
    cr_assert(ge(sz, json_array_size(json_object_get(root, "results")), 2));
    for (size_t i = 0; i < json_array_size(json_object_get(root, "results")); i++) {
        cr_expect(lt(dbl, number_of(root, i, "position"), 1e-12));
        cr_expect(lt(dbl, number_of(root, i, "angle"), 1e-12));
        cr_expect(lt(dbl, number_of(root, i, "energy"), 1e-12));
        cr_expect(lt(dbl, fabs(number_of(root, i, "momentum") - MASS * GRAVITY * TIME), 1e-11));
        cr_expect(eq(dbl, number_of(root, i, "steps"), 50));
        cr_expect(gt(dbl, number_of(root, i, "ms"), 0));
        cr_expect_str_eq(text_of(root, i, "outcome"), "ok");
    }
    cr_expect_neq(json_is_true(json_object_get(row_of(root, 0), "reference")), 0);
    cr_expect_neq(json_is_false(json_object_get(row_of(root, 1), "reference")), 0);
    json_decref(root);
}

// The path of a fall in closed form: euler lags behind an exact method by g h t / 2.
Test(compare, euler_falls_behind_by_half_a_step_of_speed) {
    sandbox_write("fall.json", FALLING);
    json_t* root = command_json("compare fall.json --formulation quaternion --integrator "
                                "bdf2,euler --h 0.01 --time 0.5 --json -");
    const double lag = GRAVITY * 0.01 * TIME / 2;
    cr_expect(lt(dbl, fabs(number_of(root, 1, "position_end") - lag), 1e-10));
    cr_expect(lt(dbl, fabs(number_of(root, 1, "position") - lag), 1e-10));
    const json_t* series = json_object_get(row_of(root, 1), "series");
    const json_t* places = json_object_get(series, "position");
    cr_assert(eq(sz, json_array_size(places), 51)); // all steps of a short run, and the start
    cr_expect(lt(dbl, fabs(json_number_value(json_array_get(places, 10)) - lag / 5), 1e-10));
    json_decref(root);
}

// Both are of order two, so half the step leaves a fourth of the difference.
Test(compare, the_difference_of_two_formulations_falls_as_the_square_of_the_step) {
    json_t* root = command_json("compare @double-pendulum.json --formulation affine,quaternion "
                                "--preset exact --h 0.008,0.004,0.002 --time 0.4 --json -");
    const char* keys[] = {"position", "angle"};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 1; i < 5; i += 2) {
            const double coarse = number_of(root, i, keys[k]);
            const double order = log2(coarse / number_of(root, i + 2, keys[k]));
            cr_expect(gt(dbl, order, 1.7), "%s: order %.2f", keys[k], order);
            cr_expect(lt(dbl, order, 2.5), "%s: order %.2f", keys[k], order);
        }
    }
    cr_expect(lt(dbl, number_of(root, 5, "gap"), 1e-11));
    json_decref(root);
}

Test(compare, the_same_method_twice_has_no_difference) {
    json_t* root = command_json("compare @four-bar.json --formulation quaternion,quaternion "
                                "--h 0.01 --time 0.3 --json -");
    cr_expect(eq(dbl, number_of(root, 1, "position"), 0));
    cr_expect(eq(dbl, number_of(root, 1, "angle"), 0));
    json_decref(root);
}

Test(compare, a_formulation_that_cannot_do_the_scene_is_a_row_with_its_reason) {
    json_t* root = command_json("compare @stack.json --formulation quaternion,affine --time 0.05 "
                                "--json -");
    cr_expect_not_null(strstr(text_of(root, 0, "outcome"), "contacts"));
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 0), "position")), 0);
    cr_expect_str_eq(text_of(root, 1, "outcome"), "ok");
    cr_expect_neq(json_is_true(json_object_get(row_of(root, 1), "reference")), 0);
    json_decref(root);
    root = command_json("compare @pendulum.json --formulation affine --integrator trbdf2,bdf2 "
                        "--time 0.05 --json -");
    cr_expect_not_null(strstr(text_of(root, 0, "outcome"), "integrator 'trbdf2'"));
    json_decref(root);
    const command_result r = mabd_call("compare @stack.json --formulation quaternion --time 0.05");
    cr_expect(eq(int, r.code, 3));
    cr_expect_not_null(strstr(r.err, "none of them can simulate the scene"));
}

// A flag of one formulation is refused by the others, in their rows.
Test(compare, flags_of_a_formulation_are_those_of_run) {
    json_t* root = command_json("compare @four-bar.json --formulation affine,quaternion --newton "
                                "symmetric --h 0.01 --time 0.1 --json -");
    cr_expect_not_null(strstr(text_of(root, 0, "outcome"), "newton"));
    cr_expect_str_eq(text_of(root, 1, "outcome"), "ok");
    json_decref(root);
}

// ---- files -------------------------------------------------------------------------------------

static int count_of(const char* text, const char* part) {
    int count = 0;
    for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
    return count;
}

Test(compare, writes_a_table_and_a_picture_over_steps) {
    const command_result r =
        mabd_call("compare @pendulum.json --formulation affine,quaternion --h 0.02,0.01 --time 0.2 "
                  "--csv t.csv --svg p.svg");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "quaternion   bdf2"));
    const char* csv = sandbox_read("t.csv");
    cr_expect_not_null(strstr(csv, "\nformulation,integrator,h,steps,reference,outcome,position,"));
    cr_expect_not_null(strstr(csv, "\naffine,bdf2,0.02,10,1,ok,0,0,0,0,"));
    cr_expect_not_null(strstr(csv, "\nquaternion,bdf2,0.01,20,0,ok,"));
    const char* svg = sandbox_read("p.svg");
    cr_expect_not_null(strstr(svg, "step h [s]"));
    cr_expect_not_null(strstr(svg, "affine bdf2 (reference)"));
    // two steps: two circles of the other method in each of three plots, two of the reference in
    // the plot of energy
    cr_expect(eq(int, count_of(svg, "<circle"), 8), "%d", count_of(svg, "<circle"));
}

Test(compare, a_single_step_is_drawn_over_time) {
    const command_result r = mabd_call("compare @pendulum.json --h 0.01 --time 0.2 --svg p.svg");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* svg = sandbox_read("p.svg");
    cr_expect_not_null(strstr(svg, "time [s]"));
    cr_expect_null(strstr(svg, "step h [s]"));
    cr_expect_not_null(strstr(svg, ">0.05</text>")); // a tick of the linear axis
    cr_expect(eq(int, count_of(svg, "<circle"), 0));
}

static void expect_refused(const char* line, const char* message) {
    const command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 2), "%s: %d", line, r.code);
    cr_expect_not_null(strstr(r.err, message), "%s: %s", line, r.err);
}

Test(compare, refuses_bad_input) {
    expect_refused("compare", "SCENE is missing");
    expect_refused("compare @pendulum.json --formulation affine,quaternio",
                   "--formulation: unknown name 'quaternio'");
    expect_refused("compare @pendulum.json --integrator bdf3", "unknown name 'bdf3'");
    expect_refused("compare @pendulum.json --h 0.01,-1", "--h: expected at most 16 steps > 0");
    expect_refused("compare @pendulum.json --h 1 --time 0.1", "--h: longer than the run");
    expect_refused("compare @pendulum.json --time 0", "--h: longer than the run");
    expect_refused("compare @pendulum.json --steps 5", "unknown option");
    expect_refused("compare @pendulum.json --csv - --json -", "only one of --json, --csv");
    expect_refused("compare @pendulum.json --csv a --svg a", "a");
    expect_refused("compare none.json", "none.json");
}
