// SPDX-License-Identifier: Apache-2.0
// `mabd bench plot` and `mabd bench scene`: tables are read as written, broken ones are refused
// with file and line, exponents are those of the data, and every point of the picture lies where
// its axes say.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(bench_plot, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 60);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A table of ms = scale links^p and iterations = links^q, from 10 links on, tenfold each.
static void write_power_law(const char* name, int rows, double scale, double p, double q) {
    char text[4096];
    int used = snprintf(text, sizeof(text),
                        "# machine: Abacus <1> & Co\n"
                        "# triad: 1.000e+10 bytes/s, bound: 57.60 ns per link and step\n"
                        "iterations_mean,scene,links,ms_per_step\n");
    double links = 10;
    for (int i = 0; i < rows; i++, links *= 10) {
        // below 1000 links something else rules
        const double extra = links < 1000 ? 3 : 1;
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%.17g,x,%.0f,%.17g\n",
                         pow(links, q), links, extra * scale * pow(links, p));
    }
    sandbox_write(name, text);
}

static void expect_said(const char* line, int code, const char* text) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
    const char* said = code == 0 ? r.out : r.err;
    cr_expect_not_null(strstr(said, text), "mabd %s\nlacks: %s\nsays:  %s", line, text, said);
}

// ---- exponents ---------------------------------------------------------------------------------

Test(bench_plot, finds_the_exponent_of_a_power_law) {
    write_power_law("law.csv", 6, 2e-4, 1.25, 0.25);
    expect_said("bench plot law.csv --quantity ms", 0, "time ~ links^1.250");
    expect_said("bench plot law.csv --quantity step", 0, "time ~ links^1.250");
    expect_said("bench plot law.csv", 0, "time ~ links^1.000");
    write_power_law("short.csv", 3, 1, 1, 0); // one size of 1000 links: no exponent
    command_result r = mabd_call("bench plot short.csv");
    cr_expect(eq(int, r.code, 0));
    cr_expect_null(strstr(r.out, "links^"), "%s", r.out);
}

// ---- the picture -------------------------------------------------------------------------------

// An axis read back from its labels: pixel = from + log10(value) * scale.
typedef struct axis {
    double from, scale;
} axis;

// The number after the next `key` at or after *at; *at moves behind it.
static double next_number(const char** at, const char* key) {
    const char* found = strstr(*at, key);
    cr_assert_not_null(found, "no %s", key);
    char* end = NULL;
    const double value = strtod(found + strlen(key), &end);
    *at = end;
    return value;
}

// "1,000" -> 1000
static double label_value(const char* text) {
    char digits[32];
    size_t n = 0;
    for (; *text != '<' && n + 1 < sizeof(digits); text++) {
        if (*text != ',') digits[n++] = *text;
    }
    digits[n] = '\0';
    return atof(digits);
}

// From the first and the last label; all between must lie on the line.
static axis read_axis(const char* svg, const char* class, const char* coordinate) {
    double pixel[16], value[16];
    int count = 0;
    for (const char* at = svg; (at = strstr(at, class)) != NULL && count < 16; count++) {
        pixel[count] = next_number(&at, coordinate);
        value[count] = log10(label_value(strchr(at, '>') + 1));
    }
    cr_assert(lt(int, 1, count));
    const int last = count - 1;
    axis a = {.scale = (pixel[last] - pixel[0]) / (value[last] - value[0])};
    a.from = pixel[0] - value[0] * a.scale;
    for (int i = 0; i < count; i++) {
        cr_expect(epsilon_eq(dbl, pixel[i], a.from + a.scale * value[i], 0.11));
        if (i > 0) cr_expect(epsilon_eq(dbl, value[i], value[i - 1] + 1, 1e-9), "not a decade");
    }
    return a;
}

static void expect_points(const char* line, double scale, double power, int expected) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const axis x = read_axis(r.out, "class=\"x\"", " x=\""),
               y = read_axis(r.out, "class=\"y\"", " y=\"");
    const char* corner = strstr(r.out, "<path d=\"");
    cr_assert_not_null(corner);
    int count = 0;
    double links = 10;
    for (const char* at = r.out; (at = strstr(at, "<circle fill")) != NULL; count++, links *= 10) {
        const double cx = next_number(&at, "cx=\""), cy = next_number(&at, "cy=\"");
        const double titled = next_number(&at, "<title>"), value = next_number(&at, "links: ");
        const double wanted = (links < 1000 ? 3 : 1) * scale * pow(links, power);
        cr_expect(eq(dbl, titled, links));
        cr_expect(epsilon_eq(dbl, value, wanted, 1e-3 * wanted));
        cr_expect(epsilon_eq(dbl, cx, x.from + x.scale * log10(links), 0.15), "%g links", links);
        cr_expect(epsilon_eq(dbl, cy, y.from + y.scale * log10(wanted), 0.15), "%g links", links);
        cr_expect(eq(dbl, next_number(&corner, count == 0 ? "M" : "L"), cx), "line, %g links",
                  links);
        cr_expect(eq(dbl, next_number(&corner, " "), cy), "line, %g links", links);
    }
    cr_expect(eq(int, count, expected));
}

// ms = 2e-4 links^1.25, iterations = links^0.25
Test(bench_plot, points_lie_where_the_axes_say) {
    write_power_law("law.csv", 6, 2e-4, 1.25, 0.25);
    expect_points("bench plot law.csv --svg - --quantity ms", 2e-4, 1.25, 6);
    expect_points("bench plot law.csv --svg - --quantity step", 2e2, 0.25, 6);
    expect_points("bench plot law.csv --svg - --quantity iteration", 2e2, 0, 6);
    write_power_law("one.csv", 1, 1, 0, 0);
    expect_points("bench plot one.csv --svg - --quantity ms", 1, 0, 1);
}

Test(bench_plot, the_bound_lies_where_the_axes_say) {
    write_power_law("law.csv", 6, 2e-4, 1.25, 0.25);
    command_result r = mabd_call("bench plot law.csv --svg - --quantity step");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const axis y = read_axis(r.out, "class=\"y\"", " y=\"");
    const char* at = strstr(r.out, "class=\"bound\"");
    cr_assert_not_null(at);
    next_number(&at, "d=\"M");
    const double from = strtod(at, NULL);
    cr_expect(epsilon_eq(dbl, from, y.from + y.scale * log10(57.6), 0.15));
    cr_expect_not_null(strstr(r.out, "memory bound: 58 ns"));
}

Test(bench_plot, names_are_escaped_and_bytes_are_the_same_every_time) {
    write_power_law("a.csv", 6, 2e-4, 1, 0);
    write_power_law("b.csv", 4, 3e-4, 1, 0);
    const char* line = "bench plot a.csv b.csv --svg - --label <a&b>";
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "Abacus &lt;1&gt; &amp; Co"));
    cr_expect_not_null(strstr(r.out, ">&lt;a&amp;b&gt;</text>"));
    cr_expect_not_null(strstr(r.out, " class=\"label\">b</text>"));
    cr_expect(lt(sz, strlen(r.out), 8000));
    char* first = strdup(r.out);
    r = mabd_call(line);
    cr_expect(eq(str, (char*)r.out, first));
    free(first);
}

// ---- broken tables -----------------------------------------------------------------------------

#define NAMES "links,ms_per_step,iterations_mean\n"

Test(bench_plot, broken_tables_are_refused_with_file_and_line) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "bad.csv:0: no results"},
        {"# machine: x\n" NAMES, "bad.csv:2: no results"},
        {"links,ms_per_step\n1,2\n", "bad.csv:1: no column iterations_mean"},
        {"1,2,3\n", "bad.csv:1: no column links"},
        {NAMES "10,1,1\n100,1\n", "bad.csv:3: 2 fields, the line of names has 3"},
        {NAMES "10,1,1,\n", "bad.csv:2: 4 fields, the line of names has 3"},
        {NAMES "10,one,1\n",
         "bad.csv:2: ms_per_step: expected a number from 1e-9 to 1e12, got 'one'"},
        {NAMES "10,1ms,1\n",
         "bad.csv:2: ms_per_step: expected a number from 1e-9 to 1e12, got '1ms'"},
        {NAMES "10,,1\n", "bad.csv:2: ms_per_step: expected a number from 1e-9 to 1e12, got ''"},
        {NAMES "10,nan,1\n",
         "bad.csv:2: ms_per_step: expected a number from 1e-9 to 1e12, got 'nan'"},
        {NAMES "10,1,inf\n",
         "bad.csv:2: iterations_mean: expected a number from 1e-9 to 1e12, got 'inf'"},
        {NAMES "-10,1,1\n", "bad.csv:2: links: expected a number from 1e-9 to 1e12, got '-10'"},
        {NAMES "\n# note\n0,1,1\n",
         "bad.csv:4: links: expected a number from 1e-9 to 1e12, got '0'"},
        {NAMES "10,1e300,1\n", "bad.csv:2: ms_per_step: expected a number from 1e-9 to 1e12"},
        {NAMES "\"10,1,1\n", "bad.csv:2: a quote that is not closed"},
        {NAMES "\"10\"0,1,1\n", "bad.csv:2: a quote that is not closed"},
        {"# triad: fast\n" NAMES "10,1,1\n", "bad.csv:1: expected '# triad:"},
    };
    write_power_law("good.csv", 3, 1, 1, 0);
    sandbox_write("existing.svg", "as it was\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        sandbox_write("bad.csv", cases[i].text);
        command_result r = mabd_call("bench plot good.csv bad.csv --svg existing.svg");
        cr_expect(eq(int, r.code, 2), "case %zu: %s", i, r.err);
        cr_expect_not_null(strstr(r.err, cases[i].said), "case %zu says: %s", i, r.err);
        cr_expect_not_null(strchr(r.err, '\n'));
        cr_expect(eq(str, strchr(r.err, '\n'), "\n"), "more than one line: %s", r.err);
        cr_expect(eq(str, (char*)r.out, ""), "case %zu", i);
    }
    char content[32] = "";
    FILE* file = fopen("existing.svg", "r");
    cr_assert_not_null(file);
    cr_expect_not_null(fgets(content, sizeof(content), file));
    fclose(file);
    cr_expect(eq(str, content, "as it was\n"));
}

Test(bench_plot, usage_errors) {
    write_power_law("good.csv", 3, 1, 1, 0);
    expect_said("bench plot", 2, "one to eight files");
    expect_said("bench plot absent.csv", 2, "absent.csv: cannot read");
    expect_said("bench plot .", 2, "cannot read");
    expect_said("bench plot good.csv --label a --label b", 2, "more labels than files");
    expect_said("bench plot good.csv --svg no/a.svg", 4, "no/a.svg");
    expect_said("bench plot good.csv --quantity speed", 2, "none of iteration, step, ms");
    expect_said("bench plot --help", 0, "mabd bench plot [FILE.csv...]");
    expect_said("bench scene", 2, "scene files");
    expect_said("bench scene absent.json", 2, "absent.json");
    expect_said("bench scene @chain.json --links 10", 2, "--links");
    expect_said("bench chain @chain.json", 2, "bench scene");
    expect_said("bench chain --set links=3", 2, "--set");
}

// Windows line ends, quoted names, a table without comments
Test(bench_plot, reads_what_other_programs_write) {
    sandbox_write("other.csv", "\"links\",\"na\"\"me\",ms_per_step,iterations_mean\r\n"
                               "1000,\"a, \"\"b\"\"\",1,2\r\n2000,c,2,2\r\n");
    expect_said("bench plot other.csv", 0, "time ~ links^1.000");
}

// ---- scenes ------------------------------------------------------------------------------------

Test(bench_plot, scenes_are_timed_at_their_own_step) {
    command_result r =
        mabd_call("bench scene @four-bar.json @chain.json --steps 3 --repeat 1 --json -");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    json_t* root = json_loads(r.out, 0, NULL);
    json_t* results = json_object_get(root, "results");
    cr_assert(eq(sz, json_array_size(results), 2));
    const struct {
        const char* joint;
        double h;
        json_int_t links;
    } expected[] = {{"hinge", 0.005, 3}, {"ball", 0.01, 100}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        json_t* entry = json_array_get(results, i);
        cr_expect(eq(str, (char*)json_string_value(json_object_get(entry, "joint")),
                     (char*)expected[i].joint));
        cr_expect(eq(dbl, json_number_value(json_object_get(entry, "h")), expected[i].h));
        cr_expect(eq(i64, json_integer_value(json_object_get(entry, "links")), expected[i].links));
        cr_expect(eq(i64, json_integer_value(json_object_get(entry, "steps")), 3));
        cr_expect(lt(dbl, json_number_value(json_object_get(entry, "max_gap")), 1e-12));
    }
    json_decref(root);
}

// A file name that the table has to quote comes through, and --set, --h and --dual reach the scene.
Test(bench_plot, draws_the_tables_that_bench_writes) {
    sandbox_write("a,\"b\".json",
                  "{\"name\": \"n\", \"params\": {\"size\": {\"default\": 2, \"unit\": \"1\", "
                  "\"meaning\": \"hubs a side\"}}, \"generators\": [{\"type\": \"net\", \"name\": "
                  "\"n\", \"rows\": \"=size\", \"columns\": \"=size\"}]}");
    command_result r = mabd_call("bench scene a,\"b\".json --set size=5 --h 0.002 --dual pcg "
                                 "--steps 4 --repeat 1 --csv t.csv");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    FILE* file = fopen("t.csv", "r");
    cr_assert_not_null(file);
    char line[1024];
    while (fgets(line, sizeof(line), file) != NULL && line[0] == '#') continue;
    cr_assert_not_null(fgets(line, sizeof(line), file));
    fclose(file);
    const char* start = "\"a,\"\"b\"\".json\",65,ball,"; // 3 n^2 - 2 n bodies
    cr_expect(eq(int, strncmp(line, start, strlen(start)), 0), "%s", line);
    double h = 0, dual = 0;
    cr_assert(eq(int, sscanf(line + strlen(start), "%*d,%lf,%*d,%*f,%*f,%lf", &h, &dual), 2));
    cr_expect(eq(dbl, h, 0.002));
    cr_expect(lt(dbl, 1, dual)); // pcg iterates
    expect_said("bench plot t.csv", 0, "65 links");
}
