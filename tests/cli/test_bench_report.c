// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench`: the parts of a step and of the memory sum to the whole, figures follow
// from each other as their names say, and text, JSON and CSV tell the same. No test looks at how
// long anything takes.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(bench_report, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char* const PARTS[] = {"predict", "contact", "assemble", "factor", "solve",
                                    "update",  "check",   "finish",   "other"};
static const char* const MEMORY[] = {"model", "plan", "state", "workspace", "contacts", "dual"};

static json_t* call(const char* line) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    json_t* root = json_loads(r.out, 0, NULL);
    cr_assert_not_null(root, "no JSON: %.500s", r.out);
    return root;
}

static double number(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    cr_assert_not_null(value, "no '%s'", key);
    cr_assert(eq(int, json_is_number(value), 1), "'%s' is no number", key);
    return json_number_value(value);
}

static const json_t* result(const json_t* root, size_t i) {
    return json_array_get(json_object_get(root, "results"), i);
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

// ---- the timer tree ----------------------------------------------------------------------------

static void expect_tree(const json_t* r) {
    const json_t *step = json_object_get(r, "timer"), *parts = json_object_get(step, "parts");
    const json_t* stages = json_object_get(r, "stage_ms_per_step");
    double ms = 0, share = 0;
    cr_assert(eq(sz, json_array_size(parts), COUNT(PARTS)));
    for (size_t k = 0; k < COUNT(PARTS); k++) {
        const json_t* part = json_array_get(parts, k);
        const char* name = json_string_value(json_object_get(part, "name"));
        cr_assert(eq(str, (char*)name, (char*)PARTS[k]));
        if (k + 1 < COUNT(PARTS)) cr_expect(eq(dbl, number(part, "ms"), number(stages, name)));
        cr_expect(near(number(part, "ns_per_link"), 1e6 * number(part, "ms") / number(r, "links")));
        ms += number(part, "ms"), share += number(part, "share");
    }
    cr_expect(eq(dbl, number(step, "ms"), number(r, "ms_per_step")));
    cr_expect(near(number(step, "ns_per_link"), number(r, "ns_per_link")));
    cr_expect(near(ms, number(step, "ms")));
    cr_expect(near(share, 1));
}

Test(bench_report, parts_of_the_timer_tree_sum_to_the_step) {
    json_t* b = call("bench scene @stack.json @net.json --steps 3 --repeat 1 --json -");
    expect_tree(result(b, 0));
    expect_tree(result(b, 1));
    json_decref(b);
}

// "    predict      0.0006923   14.0 %      69.2  ###" -> 0.0006923; *at moves to the next line.
static double timer_line(const char** at, int indent, const char* name) {
    char start[64];
    snprintf(start, sizeof(start), "%*s%s ", indent, "", name);
    cr_assert(eq(int, strncmp(*at, start, strlen(start)), 0), "no '%s' at: %.80s", name, *at);
    const double ms = strtod(*at + strlen(start), NULL);
    *at = strchr(*at, '\n') + 1;
    return ms;
}

Test(bench_report, the_tree_that_is_printed_sums_to_the_step) {
    command_result r = mabd_call("bench chain --links 50 --steps 3 --repeat 1");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* at = strstr(r.out, "\n  timer ");
    cr_assert_not_null(at, "%s", r.out);
    at = strchr(at + 1, '\n') + 1;
    const double step = timer_line(&at, 2, "step");
    double sum = 0;
    for (size_t k = 0; k < COUNT(PARTS); k++) sum += timer_line(&at, 4, PARTS[k]);
    cr_expect(epsilon_eq(dbl, sum, step, 5e-4 * step), "%s", r.out); // five digits, ten roundings
}

static int count_of(const char* text, const char* what) {
    int count = 0;
    for (; (text = strstr(text, what)) != NULL; text++) count++;
    return count;
}

Test(bench_report, trees_are_of_the_largest_size_or_of_all) {
    const char* line = "bench chain --links 5,30,20 --steps 2 --repeat 1";
    command_result r = mabd_call(line);
    cr_expect(eq(int, count_of(r.out, "\n  timer "), 1), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "\nchain: 30 links, 90 rows, joints: ball\n"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "ns per link and step, by stage\n"), "%s", r.out);
    r = mabd_call("bench chain --links 5,30,20 --steps 2 --repeat 1 --tree");
    cr_expect(eq(int, count_of(r.out, "\n  timer "), 3), "%s", r.out);
    r = mabd_call("bench scene @pendulum.json @chain.json --steps 2 --repeat 1");
    cr_expect(eq(int, count_of(r.out, "\n  timer "), 2), "%s", r.out);
    for (size_t k = 0; k < 4; k++) { // chains have neither contacts nor memory of their solver
        cr_expect_not_null(strstr(r.out, MEMORY[k]), "%s is missing: %s", MEMORY[k], r.out);
    }
}

// ---- figures -----------------------------------------------------------------------------------

// `triad` [bytes/s] with as many threads as the result
static void expect_figures(const json_t* r, double triad) {
    const double ms = number(r, "ms_per_step"), links = number(r, "links");
    const json_t* memory = json_object_get(r, "memory_bytes");
    double bytes = 0;
    cr_expect(near(number(r, "steps_per_second"), 1e3 / ms));
    cr_expect(near(number(r, "real_time_factor"), 1e3 * number(r, "h") / ms));
    cr_expect(eq(dbl, number(r, "bytes_moved_per_link"), 72 * 8)); // 48 numbers read, 24 written
    cr_expect(near(number(r, "bound_ns_per_link"), 72 * 8 * 1e9 / triad));
    cr_expect(near(number(r, "bandwidth_share"),
                   number(r, "bound_ns_per_link") / number(r, "ns_per_link")));
    for (size_t k = 0; k < COUNT(MEMORY); k++) bytes += number(memory, MEMORY[k]);
    cr_expect(eq(dbl, bytes, number(r, "bytes")));
    cr_expect(near(number(r, "bytes_per_body"), bytes / links));
    const char* isa = json_string_value(json_object_get(r, "isa"));
    cr_assert_not_null(isa);
    cr_expect(strcmp(isa, "baseline") == 0 || strncmp(isa, "avx", 3) == 0, "%s", isa);
}

Test(bench_report, figures_follow_from_each_other) {
    json_t* b = call("bench scene @stack.json @net.json --steps 3 --repeat 1 --json -");
    const double triad = number(b, "triad_bytes_per_second");
    const json_t *stack = json_object_get(result(b, 0), "memory_bytes"),
                 *net = json_object_get(result(b, 1), "memory_bytes");
    for (size_t i = 0; i < 2; i++) {
        expect_figures(result(b, i), triad);
        cr_expect(eq(dbl, number(result(b, i), "speedup"), 1));
        cr_expect(eq(dbl, number(result(b, i), "threads"),
                     (double)sysconf(_SC_NPROCESSORS_ONLN))); // the default
    }
    cr_expect(lt(dbl, 0, number(stack, "contacts")));
    cr_expect(eq(dbl, number(stack, "dual"), 0)); // no joints
    cr_expect(eq(dbl, number(net, "contacts"), 0));
    cr_expect(lt(dbl, 0, number(net, "dual")));
    json_decref(b);
}

Test(bench_report, info_reports_the_same_parts_of_the_memory) {
    json_t* info = call("info @net.json --dual pcg --json -");
    const json_t* memory = json_object_get(info, "memory_bytes");
    double bytes = 0;
    for (size_t k = 0; k < COUNT(MEMORY); k++) bytes += number(memory, MEMORY[k]);
    cr_expect(eq(dbl, bytes, number(info, "bytes_model") + number(info, "bytes_sim")));
    cr_expect(near(number(info, "bytes_per_body"), bytes / number(info, "bodies")));
    json_decref(info);
    command_result r = mabd_call("info @net.json");
    cr_expect_not_null(strstr(r.out, " bytes per body: model "), "%s", r.out);
}

// ---- threads -----------------------------------------------------------------------------------

Test(bench_report, a_sweep_runs_every_scene_with_each_number_of_threads) {
    json_t* b = call("bench chain --links 30,60 --threads 2,1,3 --steps 3 --repeat 1 --json - "
                     "--csv t.csv");
    const double threads[] = {2, 1, 3};
    const json_t* triads = json_object_get(b, "triads");
    cr_assert(eq(sz, json_array_size(triads), 3));
    cr_assert(eq(sz, json_array_size(json_object_get(b, "results")), 6));
    cr_expect(eq(dbl, number(json_array_get(triads, 0), "bytes_per_second"),
                 number(b, "triad_bytes_per_second")));
    for (size_t i = 0; i < 6; i++) {
        const json_t *r = result(b, i), *first = result(b, i - i % 3);
        const json_t* triad = json_array_get(triads, i % 3);
        cr_expect(eq(dbl, number(r, "links"), i < 3 ? 30 : 60));
        cr_expect(eq(dbl, number(r, "threads"), threads[i % 3]));
        cr_expect(eq(dbl, number(triad, "threads"), threads[i % 3]));
        cr_expect(
            near(number(r, "speedup"), number(first, "ms_per_step") / number(r, "ms_per_step")));
        cr_expect(eq(dbl, number(r, "max_gap"), number(first, "max_gap"))); // the same bits
        expect_figures(r, number(triad, "bytes_per_second"));
    }
    json_decref(b);
    command_result r = mabd_call("bench plot t.csv --svg -");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(eq(int, count_of(r.out, "<circle fill"), 6), "%s", r.out);
    for (int n = 1; n <= 3; n++) {
        char label[32];
        snprintf(label, sizeof(label), ">t, threads: %d<", n);
        cr_expect_not_null(strstr(r.out, label), "%s", r.out);
    }
}

Test(bench_report, the_table_of_a_sweep_has_a_column_of_speed_ups) {
    command_result r = mabd_call("bench chain --links 30 --threads 1,2 --steps 3 --repeat 1");
    cr_expect_not_null(strstr(r.out, " threads speed-up\n"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "       1     1.00\n"), "%s", r.out);
    r = mabd_call("bench chain --links 30 --threads 1 --steps 3 --repeat 1");
    cr_expect_null(strstr(r.out, "speed-up"), "%s", r.out);
}

// ---- CSV ---------------------------------------------------------------------------------------

// The comma-separated field number `index`, as text.
static const char* field(const char* line, size_t index, char* text, size_t size) {
    for (; index > 0; index--) {
        line = strchr(line, ',');
        cr_assert_not_null(line, "field missing");
        line++;
    }
    snprintf(text, size, "%.*s", (int)strcspn(line, ",\n"), line);
    return text;
}

static double cell(const char* names, const char* row, const char* name) {
    char text[64];
    size_t i = 0, columns = (size_t)count_of(names, ",") + 1;
    while (i < columns && strcmp(field(names, i, text, sizeof(text)), name) != 0) i++;
    cr_assert(lt(sz, i, columns), "no column %s", name);
    return strtod(field(row, i, text, sizeof(text)), NULL);
}

// Names of before come first, in their order: tables of all ages are read by the same programs.
#define OLD_NAMES                                                                                  \
    "scene,links,joint,rows,h,steps,ms_per_step,iterations_mean,dual_iterations_mean,ns_per_link," \
    "ns_per_link_iteration,max_gap,max_angle_error,unconverged_steps,first_step_ms,build_ms,"      \
    "bytes,contacts_mean,predict_ms,contact_ms,assemble_ms,factor_ms,solve_ms,update_ms,check_ms," \
    "finish_ms,"

Test(bench_report, the_table_holds_the_same_figures_as_json) {
    const char* figures[] = {"ms_per_step",       "threads",        "retries",
                             "steps_per_second",  "bytes_per_body", "bytes_moved_per_link",
                             "bound_ns_per_link", "speedup",        "real_time_factor",
                             "bandwidth_share"};
    json_t* b = call("bench net --links 65 --steps 3 --repeat 1 --json - --csv t.csv");
    const json_t* r = result(b, 0);
    FILE* file = fopen("t.csv", "r");
    cr_assert_not_null(file);
    char names[4096] = "#", row[4096] = "";
    while (names[0] == '#' && fgets(names, sizeof(names), file) != NULL) continue;
    cr_assert_not_null(fgets(row, sizeof(row), file));
    fclose(file);
    cr_expect(eq(int, strncmp(names, OLD_NAMES, strlen(OLD_NAMES)), 0), "%s", names);
    cr_expect(eq(int, count_of(names, ","), count_of(row, ",")), "%s%s", names, row);
    for (size_t k = 0; k < COUNT(figures); k++) {
        const double wanted = number(r, figures[k]);
        cr_expect(epsilon_eq(dbl, cell(names, row, figures[k]), wanted, 1e-5 * fabs(wanted)), "%s",
                  figures[k]);
    }
    for (size_t k = 0; k < COUNT(MEMORY); k++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_bytes", MEMORY[k]);
        cr_expect(
            eq(dbl, cell(names, row, name), number(json_object_get(r, "memory_bytes"), MEMORY[k])));
    }
    double ms = 0;
    for (size_t k = 0; k < COUNT(PARTS); k++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_ms", PARTS[k]);
        ms += cell(names, row, name);
    }
    cr_expect(epsilon_eq(dbl, ms, number(r, "ms_per_step"), 1e-3 * ms));
    json_decref(b);
}

// ---- bad values --------------------------------------------------------------------------------

Test(bench_report, bad_values_are_refused_with_one_message) {
    const struct {
        const char *line, *said;
    } cases[] = {
        {"bench chain --threads 0 --csv no.csv", "--threads: expected at most 8 integers from 1"},
        {"bench chain --threads -1 --csv no.csv", "--threads: expected"},
        {"bench chain --threads 1, --csv no.csv", "--threads: expected"},
        {"bench chain --threads 1,x --csv no.csv", "--threads: expected"},
        {"bench chain --threads 1.5 --csv no.csv", "--threads: expected"},
        {"bench chain --threads 4097 --csv no.csv", "--threads: expected"},
        {"bench chain --threads 1,2,3,4,5,6,7,8,9 --csv no.csv", "--threads: expected"},
        {"bench chain --csv no.csv --threads", "--threads needs a value"},
        {"bench chain --tree=all --csv no.csv", "--tree takes no value"},
        {"bench scene @chain.json --threads 2,0 --csv no.csv", "--threads: expected"},
        {"bench broad --threads 2", "unknown option '--threads'"},
        {"bench broad --repeat 0", "--repeat: expected an integer > 0"},
        {"bench broad file", "unexpected argument 'file'"},
        {"bench dual --graph star", "--graph: 'star' is none of ladder, net, crystal"},
        {"bench dual --repeat 0", "--repeat: expected an integer > 0"},
        {"bench chain --processor --threads 1,2 --csv no.csv", "--processor goes with --threads 1"},
        {"bench chain --substeps 2 --csv no.csv", "--substeps goes with --formulation variational"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        command_result r = mabd_call(cases[i].line);
        cr_expect(eq(int, r.code, 2), "mabd %s: %s", cases[i].line, r.err);
        cr_expect_not_null(strstr(r.err, cases[i].said), "mabd %s says: %s", cases[i].line, r.err);
        cr_expect(eq(int, count_of(r.err, "mabd bench"), 2), "%s", r.err); // and "Try 'mabd bench"
        cr_expect(eq(int, count_of(r.err, "\n"), 2), "%s", r.err);
        cr_expect(eq(str, (char*)r.out, ""), "mabd %s", cases[i].line);
    }
    cr_expect_not(sandbox_exists("no.csv"));
}

// A table with bad numbers of threads is refused as any other
Test(bench_report, bad_thread_counts_in_a_table_are_refused) {
    sandbox_write("bad.csv", "links,ms_per_step,iterations_mean,threads\n10,1,1,two\n");
    command_result r = mabd_call("bench plot bad.csv");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "bad.csv:2: threads: expected a number"), "%s", r.err);
    sandbox_write("many.csv", "links,ms_per_step,iterations_mean,threads\n"
                              "9,1,1,1\n9,1,1,2\n9,1,1,3\n9,1,1,4\n9,1,1,5\n9,1,1,6\n9,1,1,7\n"
                              "9,1,1,8\n9,1,1,9\n");
    r = mabd_call("bench plot many.csv --svg many.svg");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "one to eight lines"), "%s", r.err);
    cr_expect_not(sandbox_exists("many.svg"));
}
