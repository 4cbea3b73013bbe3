// SPDX-License-Identifier: Apache-2.0
// The command as a user meets it: summaries, exit codes, messages, pictures. Each test runs the
// built command in a directory of its own.
#define _XOPEN_SOURCE 700 // pseudo terminals
#include "mabd/sim.h"
#include "support/command.h"
#include "support/png_read.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cli, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect_code(const char* line, int code) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
}

// The command ends with `code` and says `text` on stderr.
static void expect_message(const char* line, int code, const char* text) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
    cr_expect_not_null(strstr(r.err, text), "mabd %s\nlacks: %s\nsays:  %s", line, text, r.err);
}

static json_t* parse(const char* text) {
    json_error_t error;
    json_t* root = json_loads(text, 0, &error);
    cr_assert_not_null(root, "no JSON: %s\n%.500s", error.text, text);
    return root;
}

static json_t* parse_file(const char* path) {
    json_error_t error;
    json_t* root = json_load_file(path, 0, &error);
    cr_assert_not_null(root, "%s: no JSON: %s", path, error.text);
    return root;
}

static json_t* summary_of(const char* line) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    return parse(r.out);
}

static bool is_number(const json_t* root, const char* key) {
    return json_is_number(json_object_get(root, key));
}

static bool is_type(const json_t* root, const char* key, json_type type) {
    const json_t* value = json_object_get(root, key);
    return value != NULL && json_typeof(value) == type;
}

static double number(const json_t* root, const char* key) {
    cr_assert(is_number(root, key), "'%s' is no number", key);
    return json_number_value(json_object_get(root, key));
}

// ---- run ---------------------------------------------------------------------------------------

Test(cli, summary_holds_every_key_with_its_type) {
    json_t* s = summary_of("run @chain.json --set links=20 --steps 30 --json -");
    const char* numbers[] = {"bodies",
                             "joints",
                             "rows",
                             "steps",
                             "h",
                             "iterations_mean",
                             "iterations_max",
                             "ms_per_step",
                             "ns_per_link",
                             "max_gap",
                             "max_angle_error",
                             "energy_start",
                             "energy_end",
                             "energy_max",
                             "energy_scale",
                             "bytes_peak",
                             "bytes_per_body",
                             "first_step_ms",
                             "retries",
                             "unconverged_steps",
                             "model_build_ms",
                             "energy_samples",
                             "gap_tolerance",
                             "dual_iterations_mean",
                             "dual_iterations_max",
                             "dual_residual_max",
                             "contact_tolerance",
                             "contacts_max",
                             "contacts_mean",
                             "penetration_max",
                             "contact_iterations_mean",
                             "contact_iterations_max",
                             "contact_residual_max",
                             "friction_updates",
                             "pile_tolerance",
                             "friction_lag_mean"};
    const char* texts[] = {"scene",       "formulation", "backend", "integrator", "preset",
                           "worst_joint", "version",     "command", "dual"};
    const char* objects[] = {"components", "stage_ms_per_step", "settings"};
    const char* vectors[] = {"linear_momentum", "angular_momentum"};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        cr_expect(is_number(s, numbers[i]), "%s", numbers[i]);
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        cr_expect(is_type(s, texts[i], JSON_STRING), "%s", texts[i]);
    }
    for (size_t i = 0; i < COUNT(objects); i++) {
        cr_expect(is_type(s, objects[i], JSON_OBJECT), "%s", objects[i]);
    }
    for (size_t i = 0; i < COUNT(vectors); i++) {
        cr_expect(eq(sz, json_array_size(json_object_get(s, vectors[i])), 3), "%s", vectors[i]);
    }
    cr_expect_null(json_object_get(s, "failed"));
    cr_expect(is_type(s, "start_overlap", JSON_NULL));
    cr_expect(is_number(json_object_get(s, "stage_ms_per_step"), "contact"));
    json_decref(s);
}

Test(cli, the_dual_solver_and_its_tolerance_can_be_chosen) {
    json_t* direct = summary_of("run @net.json --set rows=5 --set columns=5 --steps 10 --json -");
    cr_expect(eq(str, (char*)json_string_value(json_object_get(direct, "dual")), "auto"));
    cr_expect(eq(dbl, number(direct, "dual_iterations_max"), 0));
    json_t* pcg = summary_of("run @net.json --set rows=5 --set columns=5 --steps 10 --dual pcg "
                             "--gap-tolerance 1e-5 --json -");
    cr_expect(eq(str, (char*)json_string_value(json_object_get(pcg, "dual")), "pcg"));
    cr_expect(eq(dbl, number(pcg, "gap_tolerance"), 1e-5));
    cr_expect(lt(dbl, 0, number(pcg, "dual_iterations_mean")));
    cr_expect(le(dbl, number(pcg, "dual_iterations_mean"), number(pcg, "dual_iterations_max")));
    cr_expect(lt(dbl, 1e-9, number(pcg, "max_gap")), "the tolerance is used");
    cr_expect(le(dbl, number(pcg, "max_gap"), 1e-5));
    cr_expect(le(dbl, number(pcg, "dual_residual_max"), 1e-5));
    json_decref(direct);
    json_decref(pcg);
}

// A box of 1 kg on a plane, sunk in by `depth` at the start.
static void write_box(const char* name, const char* depth) {
    char text[512];
    snprintf(text, sizeof(text),
             "{\"contact\": {}, \"bodies\": [{\"name\": \"ground\", \"shape\": \"plane\", "
             "\"fixed\": true}, {\"name\": \"crate\", \"shape\": \"box\", \"mass\": 1, "
             "\"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, \"=0.1-%s\"]}]}",
             depth);
    sandbox_write(name, text);
}

// A box rests on its four corners in every step.
Test(cli, summary_reports_contacts) {
    write_box("box.json", "0");
    json_t* s =
        summary_of("run box.json --steps 20 --contact-tolerance 1e-7 --json - --checkpoint c");
    cr_expect(eq(dbl, number(s, "contact_tolerance"), 1e-7));
    cr_expect(eq(dbl, number(s, "contacts_max"), 4));
    cr_expect(eq(dbl, number(s, "contacts_mean"), 4));
    cr_expect(le(dbl, number(s, "contact_residual_max"), 1e-7));
    cr_expect(lt(dbl, number(s, "penetration_max"), 1e-4));
    cr_expect(le(dbl, 0, number(s, "contact_iterations_mean")));
    cr_expect(le(dbl, number(s, "contact_iterations_mean"), number(s, "contact_iterations_max")));
    cr_expect(is_type(s, "start_overlap", JSON_NULL));
    json_decref(s);
    command_result r = mabd_call("run box.json --steps 20");
    cr_expect_not_null(strstr(r.out, "contacts  4.0 per step, at most 4, deepest overlap "), "%s",
                       r.out);
    cr_expect(eq(str, (char*)r.err, ""));
    r = mabd_call("run @chain.json --steps 2");
    cr_expect_null(strstr(r.out, "contacts "), "%s", r.out);
    expect_message("run box.json --contact-tolerance 0", 2, "--contact-tolerance: expected");
}

Test(cli, an_overlap_at_the_start_is_reported_once) {
    const char* text = "mabd run: warning: 'ground' and 'crate' overlap by 4.0 mm at the start; "
                       "they are moved apart "
                       "slowly\n";
    write_box("sunk.json", "0.004");
    command_result r = mabd_call("run sunk.json --steps 2 --json s.json --checkpoint c");
    cr_expect(eq(str, (char*)r.err, (char*)text));
    r = mabd_call("run sunk.json --steps 4 --json t.json --resume c");
    cr_expect(eq(str, (char*)r.err, ""), "not again");
    r = mabd_call("run sunk.json --steps 2 --quiet");
    cr_expect(eq(str, (char*)r.err, (char*)text), "also with --quiet");
    const char* files[] = {"s.json", "t.json"};
    for (size_t i = 0; i < COUNT(files); i++) {
        json_t *s = parse_file(files[i]), *overlap = json_object_get(s, "start_overlap");
        cr_expect(epsilon_eq(dbl, number(overlap, "depth"), 0.004, 1e-9));
        cr_expect(eq(str, (char*)json_string_value(json_object_get(overlap, "a")), "ground"));
        cr_expect(eq(str, (char*)json_string_value(json_object_get(overlap, "b")), "crate"));
        json_decref(s);
    }
    write_box("close.json", "2e-6");
    expect_message("run close.json --steps 1", 0, "overlap by 0.0020 mm");
    write_box("touch.json", "5e-7");
    r = mabd_call("run touch.json --steps 1");
    cr_expect(eq(str, (char*)r.err, ""), "less than 1e-6 m");
}

// Release of a level chain: energy starts at 0, the fall turns potential into kinetic energy.
Test(cli, summary_numbers_are_those_of_the_run) {
    json_t* s = summary_of("run @chain.json --set links=20 --steps 30 --h 0.005 --json -");
    cr_expect(eq(dbl, number(s, "bodies"), 20));
    cr_expect(eq(dbl, number(s, "joints"), 20));
    cr_expect(eq(dbl, number(s, "rows"), 60));
    cr_expect(eq(dbl, number(s, "steps"), 30));
    cr_expect(eq(dbl, number(s, "h"), 0.005));
    cr_expect(eq(dbl, number(s, "energy_samples"), 31));
    json_t* components = json_object_get(s, "components");
    cr_expect(eq(dbl, number(components, "chain"), 1));
    cr_expect(eq(dbl, number(components, "graph"), 0));
    cr_expect(ge(dbl, number(s, "iterations_mean"), 1));
    cr_expect(ge(dbl, number(s, "iterations_max"), number(s, "iterations_mean")));
    cr_expect(lt(dbl, number(s, "max_gap"), 1e-12));
    cr_expect(lt(dbl, 0, number(s, "max_gap")));
    cr_expect(lt(dbl, 0, number(s, "ms_per_step")));
    cr_expect(epsilon_eq(dbl, number(s, "ns_per_link"), 1e6 * number(s, "ms_per_step") / 20, 1e-6));
    // 0.15 s of free fall: v = g t at most, so the scale is below m (g t)^2 / 2 of all links.
    double scale = number(s, "energy_scale");
    double mass = 20 * 1000 * 3.14159265358979 * 1e-4 * (0.1 + 0.04 / 3); // of 20 capsules
    cr_expect(lt(dbl, 0, scale));
    cr_expect(lt(dbl, scale, mass * 9.81 * 9.81 * 0.15 * 0.15));
    cr_expect(lt(dbl, fabs(number(s, "energy_end") - number(s, "energy_start")), 0.1 * scale));
    cr_expect(ge(dbl, number(s, "energy_max"), number(s, "energy_end")));
    double fall = json_number_value(json_array_get(json_object_get(s, "linear_momentum"), 2));
    cr_expect(lt(dbl, fall, -0.3 * mass * 9.81 * 0.15));
    cr_expect(lt(dbl, -mass * 9.81 * 0.15, fall));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(s, "integrator")), "bdf2"));
    json_decref(s);
}

// 1 kg pushed by 1 N for 0.5 s and by -2 N for the next 0.2 s: kinetic energy t^2 / 2 up to 0.125
// J, then (0.5 - 2 (t - 0.5))^2 / 2 down to 0.005 J.
Test(cli, summary_finds_the_highest_energy) {
    sandbox_write("push.json",
                  "{\"gravity\": [0, 0, 0],\n"
                  " \"bodies\": [{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1,"
                  " \"mass\": 1, \"position\": [0, 0, 1]}],\n"
                  " \"forces\": [{\"body\": \"ball\", \"force\": [1, 0, 0], \"signal\": {\"table\":"
                  " {\"times\": [0.5, 0.500001], \"values\": [1, -2]}}}]}\n");
    json_t* s = summary_of("run push.json --time 0.7 --h 0.001 --json -");
    cr_expect(epsilon_eq(dbl, number(s, "energy_start"), 0, 1e-12));
    cr_expect(epsilon_eq(dbl, number(s, "energy_max"), 0.125, 1e-3));
    cr_expect(epsilon_eq(dbl, number(s, "energy_scale"), 0.125, 1e-3));
    cr_expect(epsilon_eq(dbl, number(s, "energy_end"), 0.005, 5e-4));
    json_t* momentum = json_object_get(s, "linear_momentum");
    cr_expect(epsilon_eq(dbl, json_number_value(json_array_get(momentum, 0)), 0.1, 5e-3));
    json_decref(s);
}

Test(cli, options_reach_the_simulation) {
    json_t* s = summary_of("run @pendulum.json --time 0.5 --h 0.02 --integrator euler "
                           "--preset exact --threads 2 --json -");
    cr_expect(eq(dbl, number(s, "steps"), 25));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(s, "integrator")), "euler"));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(s, "preset")), "exact"));
    json_decref(s);
    // Euler eats energy, BDF2 hardly any.
    json_t* euler = summary_of("run @pendulum.json --time 1 --integrator euler --json -");
    json_t* bdf2 = summary_of("run @pendulum.json --time 1 --json -");
    cr_expect(lt(dbl, number(euler, "energy_end"), number(bdf2, "energy_end") - 1e-3));
    json_decref(euler);
    json_decref(bdf2);
}

Test(cli, run_takes_all_processors_or_the_number_of_threads_given) {
    json_t* s = summary_of("run @pendulum.json --steps 2 --json -");
    cr_expect(eq(dbl, number(s, "threads"), (double)sysconf(_SC_NPROCESSORS_ONLN)));
    json_decref(s);
    s = summary_of("run @pendulum.json --steps 2 --threads 3 --json -");
    cr_expect(eq(dbl, number(s, "threads"), 3));
    json_decref(s);
    command_result r = mabd_call("run @pendulum.json --steps 2 --threads 3");
    cr_expect_not_null(strstr(r.out, "on cpu, 3 threads,"), "%s", r.out);
    r = mabd_call("run @pendulum.json --steps 2 --threads 1");
    cr_expect_not_null(strstr(r.out, "on cpu, 1 thread,"), "%s", r.out);
    const char* bad[] = {"0", "-1", "1.5", "many", "4097"};
    for (size_t k = 0; k < COUNT(bad); k++) {
        char line[64];
        snprintf(line, sizeof(line), "run @pendulum.json --steps 2 --threads %s", bad[k]);
        r = mabd_call(line);
        cr_expect(eq(int, r.code, 2), "%s", line);
        cr_expect_not_null(strstr(r.err, "--threads: "), "%s", r.err);
    }
}

Test(cli, h_and_duration_come_from_the_scene) {
    json_t* s = summary_of("run @double-pendulum.json --json -");
    cr_expect(eq(dbl, number(s, "h"), 0.005));
    cr_expect(eq(dbl, number(s, "steps"), 2000));
    json_decref(s);
    sandbox_write("bare.json", "{\"bodies\": [{\"name\": \"a\", \"shape\": \"sphere\", "
                               "\"radius\": 0.1}]}\n");
    s = summary_of("run bare.json --json -");
    cr_expect(eq(dbl, number(s, "h"), 0.01));
    cr_expect(eq(dbl, number(s, "steps"), 1000));
    cr_expect(is_type(s, "worst_joint", JSON_NULL));
    json_decref(s);
}

Test(cli, zero_steps_give_a_summary_of_the_start) {
    json_t* s = summary_of("run @chain.json --steps 0 --json -");
    cr_expect(eq(dbl, number(s, "steps"), 0));
    cr_expect(eq(dbl, number(s, "ms_per_step"), 0));
    cr_expect(eq(dbl, number(s, "energy_samples"), 1));
    json_decref(s);
}

Test(cli, text_goes_where_it_belongs) {
    command_result r = mabd_call("run @chain.json --steps 5");
    cr_expect(eq(int, r.code, 0));
    cr_expect_not_null(strstr(r.out, "100 bodies, 100 joints, 300 rows"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "1 chain"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "per body"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "largest gap"), "%s", r.out);
    cr_expect(eq(str, (char*)r.err, ""), "no progress without a terminal");

    r = mabd_call("run @chain.json --steps 5 --json -");
    cr_expect_not_null(strstr(r.err, "100 bodies"), "%s", r.err);
    json_decref(parse(r.out));

    r = mabd_call("run @chain.json --steps 5 --json s.json --quiet");
    cr_expect(eq(str, (char*)r.out, ""));
    cr_expect(eq(str, (char*)r.err, ""));
    json_decref(parse_file("s.json"));
}

// The numbers of the line are those of the JSON summary.
Test(cli, the_energy_line_has_label_value_and_unit) {
    command_result r = mabd_call("run @double-pendulum.json --time 1 --json s.json");
    cr_assert(eq(int, r.code, 0));
    const char* energy_line = strstr(r.out, "energy    drift ");
    cr_assert_not_null(energy_line, "%s", r.out);
    double drift = 0, scale = 0, start = 1, end = 0, peak = 1;
    const int found = sscanf(energy_line,
                             "energy drift %lf %% of the %lf J exchanged (start %lf J, end %lf J, "
                             "peak %lf J)",
                             &drift, &scale, &start, &end, &peak);
    cr_assert(eq(int, found, 5), "%s", energy_line);
    json_t* s = parse_file("s.json");
    const double exchanged = number(s, "energy_scale"), last = number(s, "energy_end");
    cr_expect(epsilon_eq(dbl, scale, exchanged, 1e-2 * exchanged));
    cr_expect(epsilon_eq(dbl, end, last, 1e-5 * exchanged));
    cr_expect(epsilon_eq(dbl, drift / 100, (last - number(s, "energy_start")) / exchanged, 1e-4));
    cr_expect(eq(dbl, start, 0), "round-off is printed as 0");
    json_decref(s);
}

Test(cli, progress_is_drawn_on_a_terminal) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0) cr_skip_test("no pseudo terminals here");
    cr_assert(grantpt(master) == 0 && unlockpt(master) == 0);
    char slave[64];
    snprintf(slave, sizeof(slave), "%s", ptsname(master));
    pid_t child = fork();
    if (child == 0) {
        int terminal = open(slave, O_RDWR | O_NOCTTY), sink = open("/dev/null", O_WRONLY);
        dup2(terminal, STDERR_FILENO);
        dup2(sink, STDOUT_FILENO);
        execl(MABD_COMMAND, MABD_COMMAND, "run", MABD_SOURCE_DIR "/scenes/chain.json", "--set",
              "links=3000", "--time", "1e6", (char*)NULL);
        _exit(127);
    }
    char text[512] = "";
    ssize_t length = read(master, text, sizeof(text) - 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(master);
    cr_assert(lt(long, 0, (long)length));
    text[length] = '\0';
    cr_expect_not_null(strstr(text, "step "), "%s", text);
    cr_expect_not_null(strstr(text, " ms/step  "), "%s", text);
    cr_expect_not_null(strstr(text, " left"), "%s", text);
}

Test(cli, every_shipped_scene_runs) {
    const char* scenes[] = {
        "chain",           "net",       "tree",     "ring",         "four-bar",       "t-handle",
        "double-four-bar", "heavy-top", "pendulum", "spinning-box", "double-pendulum"};
    for (size_t i = 0; i < COUNT(scenes); i++) {
        char line[128];
        snprintf(line, sizeof(line), "run @%s.json --steps 10 --json -", scenes[i]);
        json_t* s = summary_of(line);
        cr_expect(eq(dbl, number(s, "steps"), 10), "%s", scenes[i]);
        cr_expect(lt(dbl, number(s, "max_gap"), 1e-7), "%s", scenes[i]);
        json_decref(s);
        snprintf(line, sizeof(line), "info @%s.json --plan", scenes[i]);
        expect_code(line, 0);
    }
}

// ---- settings ----------------------------------------------------------------------------------

Test(cli, set_changes_parameters) {
    json_t* s = summary_of("run @chain.json --set links=7 --set joint=hinge --steps 3 --json -");
    cr_expect(eq(dbl, number(s, "bodies"), 7));
    cr_expect(eq(dbl, number(s, "rows"), 35));
    json_t* settings = json_object_get(s, "settings");
    cr_expect(eq(str, (char*)json_string_value(json_object_get(settings, "links")), "7"));
    json_decref(s);
}

Test(cli, bad_settings_are_refused) {
    expect_message("run @chain.json --set lonks=7", 2, "lonks");
    expect_message("run @chain.json --set links", 2, "expected NAME=VALUE, got 'links'");
    expect_message("run @chain.json --set =7", 2, "expected NAME=VALUE");
    expect_message("run @chain.json --set links=many", 2, "links");
    expect_message("info @chain.json --set joint=glue", 2, "joint");
}

// ---- exit codes --------------------------------------------------------------------------------

Test(cli, usage_errors_are_2) {
    expect_message("", 2, "Usage: mabd COMMAND");
    expect_message("rnu", 2, "did you mean 'run'?");
    expect_message("run", 2, "SCENE is missing");
    expect_message("run @chain.json --tiem 3", 2, "did you mean '--time'?");
    expect_message("run @chain.json --steps -1", 2, "--steps: expected an integer >= 0");
    expect_message("run @chain.json --h 0", 2, "--h: expected a number > 0");
    expect_message("run @chain.json --time 1 --steps 1", 2, "not both");
    expect_message("run @chain.json --integrator rk4", 2, "bdf2, euler");
    expect_message("run @chain.json --memory-limit 0", 2, "expected a size > 0");
    expect_message("info", 2, "SCENE is missing");
    expect_message("render x.h5 --size 10", 2, "--size");
    expect_message("render x.h5 --frame 1 --time 1", 2, "not both");
    expect_message("render x.h5 --camera 1,1,1 --target 1,1,1", 2, "same point");
    expect_message("bench net-of-lies", 2, "unknown topic");
    expect_message("bench chain --links 10,x", 2, "--links");
    expect_message("bench chain --joint free", 2, "free");
    expect_message("run @chain.json --formulation impulses --steps 1", 2, "impulses");
}

Test(cli, help_and_version_are_0) {
    const char* lines[] = {"--help", "run --help", "info --help", "render --help", "bench --help"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        command_result r = mabd_call(lines[i]);
        cr_expect(eq(int, r.code, 0));
        cr_expect_not_null(strstr(r.out, "Usage: mabd"), "%s", lines[i]);
        cr_expect(eq(str, (char*)r.err, ""));
    }
    command_result r = mabd_call("--version");
    cr_expect(eq(int, r.code, 0));
    cr_expect(eq(int, strncmp(r.out, "mabd ", 5), 0));
}

Test(cli, bad_scenes_are_2_with_their_place) {
    expect_message("run nothing-here.json", 2, "nothing-here.json: ");
    sandbox_write("broken.json", "{\n  \"bodies\": [\n    {\"shape\": \"bax\"}\n  ]\n}\n");
    expect_message("run broken.json", 2, "broken.json:3:");
    expect_message("info broken.json", 2, "broken.json:3:");
    sandbox_write("text.json", "{\n  oops\n}\n");
    expect_message("run text.json --out x.h5 --json s.json", 2, "text.json:2:");
    cr_expect(not(sandbox_exists("x.h5")), "nothing is written for bad input");
    cr_expect(not(sandbox_exists("s.json")));
}

Test(cli, what_cannot_be_written_is_4) {
    expect_message("run @chain.json --steps 2 --json no/s.json", 4, "no/s.json");
    expect_message("run @chain.json --steps 2 --out no/x.h5", 4, "no/x.h5");
    expect_message("run @chain.json --steps 2 --checkpoint no/c.bin", 4, "no/c.bin");
    expect_message("run @chain.json --steps 2 --json .", 4, "directory");
    expect_message("run @chain.json --steps 2 --quiet --json /dev/full", 4, "/dev/full");
    expect_message("info @chain.json --json no/i.json", 4, "no/i.json");
    expect_code("run @chain.json --steps 2 --out x.h5 --quiet", 0);
    expect_message("render x.h5 -o no/x.png", 4, "no/x.png");
    expect_message("bench chain --links 5 --steps 1 --csv no/b.csv", 4, "no/b.csv");
    int status = system("'" MABD_COMMAND "' info '" MABD_SOURCE_DIR "/scenes/chain.json' "
                        "> /dev/full 2> /dev/null");
    cr_expect(eq(int, WEXITSTATUS(status), 4));
}

// A chain that does not fit is refused before its links are generated, with the bytes it needs: at
// least 256 bytes per link for the model alone.
Test(cli, too_little_memory_is_2) {
    expect_message("run @chain.json --set links=20000 --memory-limit 1M", 2,
                   "of memory and the limit is 1.00 MB");
    expect_message("run @chain.json --set links=100000000 --memory-limit 20G", 2,
                   "needs at least ");
    json_t* info = summary_of("info @chain.json --set links=20000 --json -");
    double model = number(info, "bytes_model"), sim = number(info, "bytes_sim");
    json_decref(info);
    char line[160];
    snprintf(line, sizeof(line), "run @chain.json --set links=20000 --steps 1 --memory-limit %.0f",
             model + sim - 1);
    expect_message(line, 2, "memory");
}

Test(cli, info_prints_the_matrix_of_formulations) {
    json_t* root = summary_of("info --formulations --json -");
    const json_t* all = json_object_get(root, "formulations");
    const json_t* affine = json_object_get(all, "affine");
    const json_t* can = json_object_get(affine, "can");
    cr_expect(eq(sz, json_object_size(all), MABD_FORMULATION_COUNT));
    cr_expect(eq(int, json_boolean_value(json_object_get(affine, "built")), 1));
    cr_expect(eq(int, json_boolean_value(json_object_get(can, "contacts")), 1));
    cr_expect(eq(int, json_boolean_value(json_object_get(can, "gradient")), 0));
    cr_expect(
        eq(int, json_boolean_value(json_object_get(json_object_get(all, "impulse"), "built")), 1));
    cr_expect(eq(sz, json_array_size(json_object_get(affine, "stages")), 8));
    json_decref(root);
    expect_message("info @chain.json --formulations", 2, "not both");
    expect_message("info @chain.json --formulation impulses", 2, "impulses");
}

// The bytes that info prints are those of a run with one thread: one byte less is refused.
Test(cli, info_counts_the_memory_of_the_requested_dual_solver) {
    double bytes[2];
    const char* duals[] = {"direct", "pcg"};
    for (int k = 0; k < 2; k++) {
        char line[160];
        snprintf(line, sizeof(line), "info @net.json --dual %s --json -", duals[k]);
        json_t* info = summary_of(line);
        bytes[k] = number(info, "bytes_model") + number(info, "bytes_sim");
        cr_expect(epsilon_eq(dbl, number(info, "bytes_per_body"), bytes[k] / 280, 1e-6));
        json_decref(info);
        const char* run = "run @net.json --steps 1 --threads 1 --dual %s --memory-limit %.0f";
        snprintf(line, sizeof(line), run, duals[k], bytes[k] - 1);
        expect_message(line, 2, "memory");
    }
    cr_expect(lt(dbl, bytes[1], bytes[0]));
}

// A force that no number can hold, from t = 0.1 s on.
static const char EXPLODING[] =
    "{\"bodies\": [{\"name\": \"calm\", \"shape\": \"sphere\", \"radius\": 0.1},\n"
    " {\"name\": \"doomed\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\": [1, 0, 0]}],\n"
    " \"forces\": [{\"body\": \"doomed\", \"force\": [1e300, 0, 0],\n"
    "  \"signal\": {\"table\": {\"times\": [0.099, 0.1], \"values\": [0, 1e8]}}}]}\n";

Test(cli, a_failed_simulation_is_3_and_keeps_its_data) {
    sandbox_write("bang.json", EXPLODING);
    expect_message("run bang.json --out bang.h5 --json s.json", 3, "doomed");
    json_t* s = parse_file("s.json");
    const char* failed = json_string_value(json_object_get(s, "failed"));
    cr_assert_not_null(failed);
    cr_expect_not_null(strstr(failed, "doomed"), "%s", failed);
    cr_expect_not_null(strstr(failed, "t = 0.09 s"), "%s", failed);
    double steps = number(s, "steps");
    cr_expect(eq(dbl, steps, 9), "the force acts at the end of step 10");
    json_decref(s);
    char line[64];
    snprintf(line, sizeof(line), "render bang.h5 --frame %.0f --size 64x36", steps);
    expect_code(line, 0);
    snprintf(line, sizeof(line), "render bang.h5 --frame %.0f --size 64x36", steps + 1);
    expect_message(line, 2, "no frame");
}

// ---- info --------------------------------------------------------------------------------------

Test(cli, info_reports_geoms_and_contacts) {
    sandbox_write("touch.json",
                  "{\"contact\": {\"enabled\": true}, \"generators\": [{\"type\": \"chain\", "
                  "\"links\": 5}, {\"type\": \"ring\", \"links\": 6, \"mask\": 0}], "
                  "\"bodies\": [{\"shape\": \"plane\", \"fixed\": true}], \"pairs\": "
                  "[{\"exclude\": [\"chain/0\", \"chain/2\", \"chain/4\"]}]}");
    json_t* i = summary_of("info touch.json --json -");
    json_t* geoms = json_object_get(i, "geoms");
    cr_expect(eq(dbl, number(geoms, "capsule"), 11));
    cr_expect(eq(dbl, number(geoms, "plane"), 1));
    cr_expect(eq(sz, json_object_size(geoms), 2));
    const bool on = json_is_true(json_object_get(i, "contacts"));
    cr_expect(on);
    cr_expect(eq(dbl, number(i, "colliders"), 6));
    cr_expect(eq(dbl, number(i, "excluded_pairs"), 4 + 6));
    cr_expect(eq(dbl, number(i, "excluded_groups"), 1));
    cr_expect(eq(dbl, number(i, "grouped_bodies"), 3));
    cr_expect(lt(dbl, 100, number(i, "bytes_per_contact")));
    json_decref(i);
    command_result r = mabd_call("info touch.json");
    cr_expect_not_null(strstr(r.out, "geoms         11 capsule, 1 plane\n"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "contacts      on; 6 geoms may touch, 10 pairs of bodies"));
    cr_expect_not_null(strstr(r.out, " bytes per contact\n"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "no two bodies of a group touch: 1 group, 3 bodies"));
    r = mabd_call("info @chain.json");
    cr_expect_not_null(strstr(r.out, "contacts      off\n"), "%s", r.out);
}

Test(cli, info_describes_a_scene) {
    json_t* i = summary_of("info @chain.json --set links=50 --set joint=hinge --plan --json -");
    cr_expect(eq(dbl, number(i, "bodies"), 50));
    cr_expect(eq(dbl, number(i, "rows"), 250));
    cr_expect(eq(dbl, number(i, "compliant_rows"), 0));
    cr_expect(eq(dbl, number(i, "widest_block"), 5));
    cr_expect(eq(dbl, number(i, "loops"), 0));
    cr_expect(lt(dbl, 100, number(i, "bytes_per_body")));
    cr_expect(eq(dbl, number(json_object_get(i, "components"), "chain"), 1));
    json_t* types = json_object_get(json_object_get(i, "plan"), "joints_by_type");
    cr_expect(eq(dbl, number(json_object_get(types, "hinge"), "rows"), 250));
    json_t* plan = json_object_get(i, "plan");
    json_t* line = json_array_get(json_object_get(plan, "dual"), 0);
    cr_expect(eq(
        dbl, number(json_object_get(json_object_get(plan, "classes"), "chain"), "couplings"), 49));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(line, "solver")), "chain"));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(line, "order")), "tree"));
    // 50 blocks of 15 entries, 49 of 25 below them
    cr_expect(eq(dbl, number(line, "entries"), 50 * 15 + 49 * 25));
    json_t* params = json_object_get(i, "params");
    cr_expect(eq(sz, json_array_size(params), 5));
    json_t* links = json_array_get(params, 0);
    cr_expect(eq(str, (char*)json_string_value(json_object_get(links, "name")), "links"));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(links, "value")), "50"));
    cr_expect(eq(str, (char*)json_string_value(json_object_get(links, "default")), "100"));
    json_decref(i);
    command_result r = mabd_call("info @chain.json");
    cr_expect_not_null(strstr(r.out, "end_mass_ratio"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "bytes per body"), "%s", r.out);
}

// Components that are alike share a line; a ring is cut at one of its 3 rows.
Test(cli, info_prints_the_plan) {
    sandbox_write("alike.json", "{\"generators\": ["
                                "{\"type\": \"ring\", \"name\": \"a\", \"links\": 8},"
                                "{\"type\": \"ring\", \"name\": \"b\", \"links\": 8}]}");
    json_t* i = summary_of("info alike.json --plan --json -");
    json_t* plan = json_object_get(i, "plan");
    json_t* loops = json_object_get(json_object_get(plan, "classes"), "loops");
    json_t* line = json_array_get(json_object_get(plan, "dual"), 0);
    cr_expect(eq(dbl, number(loops, "components"), 2));
    cr_expect(eq(dbl, number(loops, "cycles"), 2));
    cr_expect(eq(dbl, number(loops, "cut_rows"), 6));
    cr_expect(eq(sz, json_array_size(json_object_get(plan, "dual")), 1));
    cr_expect(eq(dbl, number(line, "components"), 2));
    cr_expect(eq(dbl, number(line, "cut_rows"), 3));
    cr_expect(lt(dbl, 0, number(line, "flops")));
    cr_expect(eq(dbl, number(plan, "components_left_out"), 0));
    json_decref(i);
    command_result r = mabd_call("info @net.json --plan");
    cr_expect_not_null(strstr(r.out, "cut rows"), "%s", r.out);
    cr_expect_not_null(strstr(r.out, "dissection"), "%s", r.out);
}

// The memory that info promises is what the run takes.
Test(cli, info_knows_the_memory_of_the_run) {
    const char* scenes[] = {"@chain.json --set links=5000", "@net.json", "@tree.json"};
    for (size_t k = 0; k < COUNT(scenes); k++) {
        char line[128];
        snprintf(line, sizeof(line), "info %s --json -", scenes[k]);
        json_t* info = summary_of(line);
        snprintf(line, sizeof(line), "run %s --steps 2 --threads 1 --json -", scenes[k]);
        json_t* run = summary_of(line);
        double promised = number(info, "bytes_per_body"), taken = number(run, "bytes_per_body");
        cr_expect(epsilon_eq(dbl, taken, promised, 0.1 * promised), "%s", scenes[k]);
        json_decref(info);
        json_decref(run);
    }
}

// ---- render ------------------------------------------------------------------------------------

static unsigned big_endian(const unsigned char* bytes) {
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

static void expect_png(const char* path, unsigned width, unsigned height) {
    unsigned char head[24] = {0};
    FILE* file = fopen(path, "rb");
    cr_assert_not_null(file, "%s is missing", path);
    cr_assert(eq(sz, fread(head, 1, sizeof(head), file), sizeof(head)));
    fclose(file);
    cr_expect(eq(int, memcmp(head, "\x89PNG\r\n\x1a\n", 8), 0));
    cr_expect(eq(uint, big_endian(head + 16), width));
    cr_expect(eq(uint, big_endian(head + 20), height));
}

static bool same_files(const char* a, const char* b) {
    char line[64];
    snprintf(line, sizeof(line), "cmp -s %s %s", a, b);
    return system(line) == 0;
}

Test(cli, render_draws_the_requested_frame) {
    expect_code("run @double-pendulum.json --steps 40 --every 10 --out d.h5 --quiet", 0);
    command_result r = mabd_call("render d.h5 --size 160x90");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_not_null(strstr(r.out, "frame 4, t = 0.2 s"), "%s", r.out);
    expect_png("d.png", 160, 90);
    expect_code("render d.h5 --size 160x90 --frame 0 -o first.png", 0);
    expect_code("render d.h5 --size 160x90 --frame -1 --out last.png", 0);
    expect_code("render d.h5 --size 160x90 --time 0.19 -o near.png", 0);
    cr_expect(same_files("d.png", "last.png"));
    cr_expect(same_files("d.png", "near.png"));
    cr_expect(not(same_files("d.png", "first.png")));
    expect_code("render d.h5 --camera 3,-4,1 --target 0,0,-0.5 --fov 50 --no-ground -o c.png", 0);
    expect_png("c.png", 1280, 720);
    expect_code("render d.h5 --direction 0,-1,0 --size 64x36 -o side.png", 0);
    expect_message("render d.h5 --frame 5", 2, "frames 0 to 4");
    expect_message("render d.h5 --frame -6", 2, "frames 0 to 4");
    expect_message("render d.h5 --time 3", 2, "from 0 s to 0.2 s");
    sandbox_write("text.h5", "this is no recording\n");
    expect_message("render text.h5", 2, "text.h5");
    expect_message("render absent.h5", 2, "absent.h5");
}

// Pixels of moving bodies: blue and cyan, where fixed bodies and the ground are grey.
static int count_colored(const char* path) {
    uint32_t width, height;
    int used[5] = {0}, count = 0;
    uint8_t* rgb = png_read(path, &width, &height, used);
    for (uint32_t i = 0; i < width * height; i++) count += rgb[3 * i + 2] > rgb[3 * i] + 60;
    free(rgb);
    return count;
}

// Links in the bowl fall to its bottom within a second. From outside none is visible; a link of
// 0.1 m by 0.04 m in a bowl of 3.4 m, fitted into 640 x 360 pixels, covers about 15 pixels.
Test(cli, render_shows_what_is_in_a_bowl) {
    expect_code("run @falling-joints.json --set pairs=40 --time 1 --every 100 --out f.h5 --quiet",
                0);
    expect_code("render f.h5 --size 640x360 -o f.png", 0);
    expect_code("render f.h5 --size 640x360 --direction 0.42,-1,0.4 -o side.png", 0);
    cr_expect(eq(int, count_colored("side.png"), 0), "the direction given is used");
    cr_expect(lt(int, 40 * 15, count_colored("f.png")));
}

// ---- bench -------------------------------------------------------------------------------------

Test(cli, bench_of_trees_and_nets_counts_their_bodies) {
    const struct {
        const char* line;
        double links;
    } cases[] = {
        {"bench tree --links 100 --steps 2 --repeat 1 --json -", 127},
        {"bench net --links 280 --steps 2 --repeat 1 --json -", 280},
        {"bench robots --links 100 --steps 2 --repeat 1 --json -", 98},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        json_t* b = summary_of(cases[k].line);
        json_t* result = json_array_get(json_object_get(b, "results"), 0);
        cr_expect(eq(dbl, number(result, "links"), cases[k].links), "%s", cases[k].line);
        cr_expect(lt(dbl, number(result, "max_gap"), 1e-12));
        json_decref(b);
    }
}

Test(cli, bench_measures_and_writes_its_table) {
    json_t* b = summary_of("bench chain --links 10,40 --steps 5 --repeat 1 --csv b.csv --json -");
    cr_expect(lt(dbl, 1e8, number(b, "triad_bytes_per_second")));
    cr_expect(epsilon_eq(dbl, number(b, "bound_ns_per_link"),
                         72 * 8 * 1e9 / number(b, "triad_bytes_per_second"), 1e-6));
    json_t* results = json_object_get(b, "results");
    cr_assert(eq(sz, json_array_size(results), 2));
    json_t* second = json_array_get(results, 1);
    cr_expect(eq(dbl, number(second, "links"), 40));
    cr_expect(eq(dbl, number(second, "rows"), 120));
    cr_expect(eq(dbl, number(second, "steps"), 5));
    cr_expect(epsilon_eq(dbl, number(second, "ns_per_link"),
                         1e6 * number(second, "ms_per_step") / 40, 1e-6));
    cr_expect(lt(dbl, number(second, "max_gap"), 1e-12));
    json_decref(b);
    FILE* file = fopen("b.csv", "r");
    cr_assert_not_null(file);
    char line[4096];
    int rows = 0, notes = 0;
    while (fgets(line, sizeof(line), file) != NULL) *(line[0] == '#' ? &notes : &rows) += 1;
    fclose(file);
    cr_expect(eq(int, rows, 3));
    cr_expect(eq(int, notes, 7));
}

Test(cli, bench_counts_contacts) {
    write_box("box.json", "0");
    json_t* b = summary_of("bench scene box.json --steps 3 --repeat 1 --csv b.csv --json -");
    json_t* result = json_array_get(json_object_get(b, "results"), 0);
    cr_expect(eq(dbl, number(result, "contacts_mean"), 4));
    cr_expect(is_number(json_object_get(result, "stage_ms_per_step"), "contact"));
    json_decref(b);
    int status = system("grep -q '^scene,.*,contacts_mean,.*,contact_ms,' b.csv");
    cr_expect(eq(int, WEXITSTATUS(status), 0));
    expect_code("bench plot b.csv", 0);
    // tables of before contacts
    expect_code("bench plot " MABD_SOURCE_DIR "/bench/results/xeon-2.8ghz/chain-ball.csv", 0);
}
