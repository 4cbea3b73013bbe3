// SPDX-License-Identifier: Apache-2.0
// `mabd compare` for a user: known motions, differences that fall with the order of the methods, a
// formulation that cannot do the scene as a row, files, and bad input.
#include "cli/compare/compare_order.c"

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

// Every method of order two is exact for a fall, and the momentum grows by m g t. Rows that differ
// by round-off only, eps x / h in each velocity, have no order. The first row is the reference.
Test(compare, free_fall_is_the_same_in_all_formulations) {
    sandbox_write("fall.json", FALLING);
    json_t* root = command_json("compare fall.json --h 0.05,0.025,0.0125 --time 0.5 --json -");
    const size_t count = json_array_size(json_object_get(root, "results"));
    cr_assert(ge(sz, count, 7));
    cr_expect_neq(json_is_true(json_object_get(row_of(root, 0), "reference")), 0);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text_of(root, i, "formulation"), "affine") != 0 &&
            strcmp(text_of(root, i, "integrator"), "bdf2") != 0) {
            continue; // first order
        }
        cr_expect(lt(dbl, number_of(root, i, "position"), 1e-11));
        cr_expect(lt(dbl, number_of(root, i, "angle"), 1e-11));
        cr_expect(lt(dbl, number_of(root, i, "energy"), 1e-11));
        cr_expect(lt(dbl, fabs(number_of(root, i, "momentum") - MASS * GRAVITY * TIME), 1e-11));
        const double h = number_of(root, i, "h");
        cr_expect(eq(dbl, number_of(root, i, "steps"), round(0.5 / h)));
        cr_expect(lt(dbl, 0, number_of(root, i, "ms")));
        cr_expect(
            lt(dbl, fabs(number_of(root, i, "cost") * h / number_of(root, i, "ms") - 1), 1e-12));
        cr_expect_str_eq(text_of(root, i, "outcome"), "ok");
        cr_expect_neq(json_is_null(json_object_get(row_of(root, i), "order")), 0);
        if (i > 0) cr_expect_neq(json_is_false(json_object_get(row_of(root, i), "reference")), 0);
    }
    const json_t* reference = json_object_get(root, "reference");
    cr_expect_str_eq(json_string_value(json_object_get(reference, "formulation")), "affine");
    cr_expect(eq(dbl, json_number_value(json_object_get(reference, "h")), 0.003125));
    json_decref(root);
}

// The path of a fall in closed form: euler lags behind an exact method by g h t / 2, so it is of
// order one. --h is sorted.
Test(compare, euler_falls_behind_by_half_a_step_of_speed) {
    sandbox_write("fall.json", FALLING);
    json_t* root = command_json("compare fall.json --formulation quaternion --integrator "
                                "bdf2,euler --h 0.005,0.02,0.01 --time 0.5 --json -");
    for (size_t i = 4; i < 7; i++) {
        const double h = 0.02 / pow(2, (double)i - 4), lag = GRAVITY * h * TIME / 2;
        cr_expect_str_eq(text_of(root, i, "integrator"), "euler");
        cr_expect(eq(dbl, number_of(root, i, "h"), h));
        cr_expect(lt(dbl, fabs(number_of(root, i, "position_end") - lag), 1e-10));
        cr_expect(lt(dbl, fabs(number_of(root, i, "position") - lag), 1e-10));
        const json_t* series = json_object_get(row_of(root, i), "series");
        const json_t* places = json_object_get(series, "position");
        cr_assert(eq(sz, json_array_size(places), 26)); // of the largest step, and the start
        cr_expect(lt(dbl, fabs(json_number_value(json_array_get(places, 5)) - lag / 5), 1e-10));
    }
    cr_expect(lt(dbl, fabs(number_of(root, 6, "order") - 1), 1e-8));
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 5), "order")), 0);
    json_decref(root);
}

// x' = -c h^p: d_01 / d_12 has the order p for any three steps.
Test(compare, the_order_is_that_of_the_error_for_any_three_steps) {
    const double steps[][3] = {{0.4, 0.2, 0.1}, {1, 0.9, 0.1}, {0.01, 0.003, 0.0029}};
    for (size_t i = 0; i < 3; i++) {
        for (double p = -2; p < 6; p += 0.75) {
            const double* h = steps[i];
            const double ratio =
                p == 0 ? log(h[0] / h[1]) / log(h[1] / h[2])
                       : (pow(h[0], p) - pow(h[1], p)) / (pow(h[1], p) - pow(h[2], p));
            cr_expect(lt(dbl, fabs(compare_order_of(h, ratio) - p), 1e-9), "%g", p);
        }
        cr_expect(isnan(compare_order_of(steps[i], 0)));
        cr_expect(isnan(compare_order_of(steps[i], NAN)));
        cr_expect(isnan(compare_order_of(steps[i], INFINITY)));
    }
}

// Formulations with a method of order two; the differences from the reference fall as h^2 too.
Test(compare, a_pendulum_has_the_order_of_its_method) {
    json_t* root = command_json("compare @pendulum.json --formulation affine,quaternion,redmax "
                                "--preset exact --h 0.008,0.004,0.002 --time 0.4 --json -");
    for (size_t i = 3; i < 10; i += 3) {
        cr_expect(lt(dbl, 1.8, number_of(root, i, "order")));
        cr_expect(lt(dbl, number_of(root, i, "order"), 2.2));
        cr_expect(lt(dbl, 1.8, number_of(root, i, "order_angle")));
        cr_expect(lt(dbl, number_of(root, i, "order_angle"), 2.2));
        cr_expect_neq(json_is_null(json_object_get(row_of(root, i - 1), "order")), 0);
    }
    json_decref(root);
    root = command_json("compare @pendulum.json --formulation quaternion,redmax --integrator euler "
                        "--h 0.002,0.001,0.0005 --time 0.4 --json -");
    cr_expect(lt(dbl, fabs(number_of(root, 3, "order") - 1), 0.2));
    cr_expect(lt(dbl, fabs(number_of(root, 6, "order") - 1), 0.2));
    json_decref(root);
}

Test(compare, the_difference_of_two_formulations_falls_as_the_square_of_the_step) {
    json_t* root = command_json("compare @double-pendulum.json --formulation affine,quaternion "
                                "--preset exact --h 0.008,0.004,0.002 --time 0.4 --json -");
    const char* keys[] = {"position", "angle"};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 4; i < 6; i++) {
            const double coarse = number_of(root, i, keys[k]);
            const double order = log2(coarse / number_of(root, i + 1, keys[k]));
            cr_expect(lt(dbl, 1.7, order), "%s: order %.2f", keys[k], order);
            cr_expect(lt(dbl, order, 2.5), "%s: order %.2f", keys[k], order);
        }
    }
    cr_expect(lt(dbl, number_of(root, 6, "gap"), 1e-11));
    json_decref(root);
}

Test(compare, the_same_method_twice_has_the_same_differences) {
    json_t* root = command_json("compare @four-bar.json --formulation quaternion,quaternion "
                                "--h 0.01 --time 0.3 --json -");
    cr_expect(lt(dbl, 0, number_of(root, 1, "position")));
    cr_expect(eq(dbl, number_of(root, 1, "position"), number_of(root, 2, "position")));
    cr_expect(eq(dbl, number_of(root, 1, "angle"), number_of(root, 2, "angle")));
    json_decref(root);
}

// Without --h: the step of the scene, its half and its quarter.
Test(compare, three_steps_are_the_default) {
    json_t* root =
        command_json("compare @pendulum.json --formulation quaternion --time 0.4 --json -");
    const double h = number_of(root, 1, "h");
    cr_assert(eq(sz, json_array_size(json_object_get(root, "results")), 4));
    cr_expect(eq(dbl, number_of(root, 0, "h"), h / 16));
    cr_expect(eq(dbl, number_of(root, 2, "h"), h / 2));
    cr_expect(eq(dbl, number_of(root, 3, "h"), h / 4));
    json_decref(root);
}

// ---- the reference -----------------------------------------------------------------------------

Test(compare, the_reference_can_be_named_or_left_out) {
    json_t* root = command_json("compare @pendulum.json --formulation affine,quaternion "
                                "--reference redmax --h 0.01 --time 0.1 --json -");
    cr_expect_str_eq(text_of(root, 0, "formulation"), "redmax");
    cr_expect_neq(json_is_true(json_object_get(row_of(root, 0), "reference")), 0);
    cr_expect(lt(dbl, 0, number_of(root, 1, "position")));
    json_decref(root);
    root = command_json("compare @pendulum.json --formulation affine,quaternion "
                        "--reference none --h 0.01 --time 0.1 --json -");
    cr_expect(eq(sz, json_array_size(json_object_get(root, "results")), 2));
    cr_expect_neq(json_is_null(json_object_get(root, "reference")), 0);
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 0), "position")), 0);
    cr_expect_str_eq(text_of(root, 0, "outcome"), "ok");
    json_decref(root);
}

// The first of the list that can do the scene is the reference; a named one that cannot leaves the
// differences out and says why.
Test(compare, a_reference_that_cannot_do_the_scene_is_replaced_only_if_it_was_not_named) {
    json_t* root = command_json("compare @stack.json --formulation quaternion,affine --h 0.01 "
                                "--time 0.05 --json -");
    cr_expect_str_eq(text_of(root, 0, "formulation"), "affine");
    cr_expect(ge(dbl, number_of(root, 2, "position"), 0));
    json_decref(root);
    root = command_json("compare @stack.json --formulation affine --reference quaternion --h 0.01 "
                        "--time 0.05 --json -");
    cr_expect_str_eq(text_of(root, 0, "formulation"), "quaternion");
    cr_expect_not_null(strstr(text_of(root, 0, "outcome"), "contacts"));
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 1), "position")), 0);
    cr_expect_str_eq(text_of(root, 1, "outcome"), "ok");
    json_decref(root);
}

// ---- rows without figures ----------------------------------------------------------------------

Test(compare, a_formulation_that_cannot_do_the_scene_is_a_row_with_its_reason) {
    json_t* root = command_json("compare @stack.json --formulation quaternion,affine --h 0.01 "
                                "--time 0.05 --json -");
    cr_expect_not_null(strstr(text_of(root, 1, "outcome"), "contacts"));
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 1), "position")), 0);
    cr_expect_neq(json_is_null(json_object_get(row_of(root, 1), "cost")), 0);
    cr_expect_str_eq(text_of(root, 2, "outcome"), "ok");
    json_decref(root);
    root = command_json("compare @pendulum.json --formulation affine --integrator trbdf2,bdf2 "
                        "--h 0.01 --time 0.05 --json -");
    cr_expect_str_eq(text_of(root, 0, "integrator"), "bdf2"); // the reference
    cr_expect_not_null(strstr(text_of(root, 1, "outcome"), "integrator 'trbdf2'"));
    json_decref(root);
    root = command_json("compare @stack.json --formulation quaternion,affine --h 0.01,0.005 "
                        "--time 0.05 --json -"); // once for all steps
    cr_expect_str_eq(text_of(root, 1, "formulation"), "quaternion");
    cr_expect_str_eq(text_of(root, 2, "formulation"), "affine");
    json_decref(root);
    const command_result r = mabd_call("compare @stack.json --formulation quaternion --time 0.05");
    cr_expect(eq(int, r.code, 3));
    cr_expect_not_null(strstr(r.err, "none of them can simulate the scene"));
}

// A flag of one formulation is refused by the others, in their rows.
Test(compare, flags_of_a_formulation_are_those_of_run) {
    json_t* root = command_json("compare @four-bar.json --formulation affine,quaternion --newton "
                                "symmetric --h 0.01 --time 0.1 --json -");
    cr_expect_not_null(strstr(text_of(root, 1, "outcome"), "newton"));
    cr_expect_str_eq(text_of(root, 2, "outcome"), "ok");
    json_decref(root);
}

// A flag that several formulations have is that of the row's formulation.
Test(compare, a_shared_flag_reaches_each_formulation) {
    json_t* root = command_json("compare @four-bar.json --formulation quaternion,redmax "
                                "--newton-tolerance 1e-9 --h 0.01 --time 0.1 --json -");
    cr_expect_str_eq(text_of(root, 1, "outcome"), "ok");
    cr_expect_str_eq(text_of(root, 2, "outcome"), "ok");
    json_decref(root);
}

// Steps that end without meeting their tolerances are told.
Test(compare, unconverged_steps_are_told) {
    json_t* root = command_json("compare @stack.json --formulation affine --h 0.01 --time 0.1 "
                                "--contact-tolerance 1e-16 --reference none --json -");
    const double unconverged = number_of(root, 0, "unconverged");
    char text[64];
    snprintf(text, sizeof(text), "ok, %.0f of 10 steps unconverged", unconverged);
    cr_assert(lt(dbl, 0, unconverged));
    cr_expect_str_eq(text_of(root, 0, "outcome"), text);
    json_decref(root);
}

// ---- files -------------------------------------------------------------------------------------

static int count_of(const char* text, const char* part) {
    int count = 0;
    for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
    return count;
}

static int fields_of(const char* line) {
    int count = 1;
    for (bool quoted = false; *line != '\0' && *line != '\n'; line++) {
        quoted = quoted != (*line == '"');
        count += *line == ',' && !quoted;
    }
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
    cr_expect_not_null(strstr(csv, ",ms,cost,order,order_angle\n"));
    cr_expect_not_null(strstr(csv, "\naffine,bdf2,0.0025,80,1,ok,0,0,0,0,"));
    cr_expect_not_null(strstr(csv, "\naffine,bdf2,0.02,10,0,ok,"));
    cr_expect_not_null(strstr(csv, "\nquaternion,bdf2,0.01,20,0,ok,"));
    const char* svg = sandbox_read("p.svg");
    cr_expect_not_null(strstr(svg, "step h [s]"));
    cr_expect_not_null(strstr(svg, "reference: affine bdf2, h = 2.5 ms"));
    // two steps: two circles of each method in each of four plots
    cr_expect(eq(int, count_of(svg, "<circle"), 16), "%d", count_of(svg, "<circle"));
}

// Also a row without figures has them all.
Test(compare, all_rows_of_a_table_have_its_columns) {
    const command_result r = mabd_call("compare @stack.json --formulation quaternion,affine "
                                       "--h 0.01 --time 0.02 --csv t.csv");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* head = strstr(sandbox_read("t.csv"), "\nformulation,") + 1;
    int rows = 0;
    for (const char* line = strchr(head, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        cr_expect(eq(int, fields_of(line), fields_of(head)), "%s", line);
        rows++;
    }
    cr_expect(eq(int, rows, 3));
}

Test(compare, a_single_step_is_drawn_over_time) {
    const command_result r = mabd_call("compare @pendulum.json --formulation affine,quaternion "
                                       "--h 0.01 --time 0.2 --svg p.svg");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* svg = sandbox_read("p.svg");
    cr_expect_not_null(strstr(svg, "time [s]"));
    cr_expect_null(strstr(svg, "step h [s]"));
    cr_expect_not_null(strstr(svg, ">0.05</text>")); // a tick of the linear axis
    cr_expect(eq(int, count_of(svg, "<circle"), 2)); // the difference against the cost
}

// Skip a tag from its '<' on and track the open elements; null if it is not well-formed.
static const char* skip_tag(const char* at, char (*open)[32], int* depth) {
    const bool closes = at[1] == '/';
    char name[32] = "";
    sscanf(at + (closes ? 2 : 1), "%31[A-Za-z0-9]", name);
    bool quoted = false;
    for (at++; *at != '\0' && (quoted || *at != '>'); at++) {
        if (*at == '<') return NULL;
        quoted = quoted != (*at == '"');
    }
    if (*at == '\0' || name[0] == '\0') return NULL;
    if (closes && (*depth == 0 || strcmp(open[--*depth], name) != 0)) return NULL;
    if (!closes && at[-1] != '/') snprintf(open[(*depth)++], 32, "%s", name);
    return at;
}

// Every tag is closed, in order, and every & begins a character.
static bool is_well_formed(const char* page) {
    static char open[64][32];
    int depth = 0;
    const char* at = strchr(page, '\n'); // after the document type
    for (; at != NULL && *at != '\0'; at++) {
        if (*at == '<') at = skip_tag(at, open, &depth);
        if (at == NULL || depth >= 60) return false;
        char end = 0;
        if (*at == '&' && (sscanf(at, "&%*[a-z0-9#]%c", &end) != 1 || end != ';')) return false;
    }
    return at != NULL && depth == 0;
}

Test(compare, a_page_is_well_formed_and_needs_nothing_from_outside) {
    sandbox_write("fall.json", "{\"name\": \"a <b> & \\\"c\\\"\", \"bodies\": [{\"mass\": 2, "
                               "\"inertia\": [0.2, 0.25, 0.3]}]}");
    const command_result r = mabd_call("compare fall.json --formulation affine,quaternion "
                                       "--integrator bdf2,trbdf2 --h 0.02,0.01 --time 0.1 "
                                       "--html p.html");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* page = sandbox_read("p.html");
    cr_expect(is_well_formed(page));
    cr_expect(not(is_well_formed("\n<a><b></a></b>")));
    cr_expect(not(is_well_formed("\n<a>fish & chips</a>")));
    cr_expect_not_null(strstr(page, "<h1>a &lt;b&gt; &amp; "));
    cr_expect_not_null(strstr(page, "integrator 'trbdf2'")); // affine cannot
    cr_expect(eq(int, count_of(page, "<svg"), 1));
    // reference, three methods with two steps, affine that refuses trbdf2
    cr_expect(eq(int, count_of(page, "<tr class"), 8));
    const char* outside[] = {"<script", "<link", "<img", "src=", "href=", "url(", "@import"};
    for (size_t i = 0; i < 7; i++) cr_expect_null(strstr(page, outside[i]), "%s", outside[i]);
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
    expect_refused("compare @pendulum.json --reference fine", "--reference: unknown name 'fine'");
    expect_refused("compare @pendulum.json --h 0.01,-1", "--h: expected at most 16 steps > 0");
    expect_refused("compare @pendulum.json --h 0.01,0.005,0.01", "--h: a step is given twice");
    expect_refused("compare @pendulum.json --h 0.01,0.003 --time 1",
                   "--h: 1 s is not a whole number of steps of 0.003 s");
    expect_refused("compare @pendulum.json --h 1 --time 0.1", "--h: longer than the run");
    expect_refused("compare @pendulum.json --time 0", "--h: longer than the run");
    expect_refused("compare @pendulum.json --steps 5", "unknown option");
    expect_refused("compare @pendulum.json --csv - --json -", "only one of --json, --csv");
    expect_refused("compare @pendulum.json --html - --json -", "only one of --json, --csv");
    expect_refused("compare @pendulum.json --csv a --svg a", "a");
    expect_refused("compare @pendulum.json --csv a --html a", "a");
    expect_refused("compare none.json", "none.json");
}
