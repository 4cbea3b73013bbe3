// SPDX-License-Identifier: Apache-2.0
// Files of a command line: an output never destroys a file that the same command reads or writes,
// scenes are found by name, and killed runs leave nothing behind for ever.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TestSuite(cli_files, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

static const char SCENE[] = "{\"bodies\": [{\"shape\": \"box\", \"size\": [1, 1, 1]}]}\n";

static void expect_code(const char* line, int code) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, code), "mabd %s\n%s", line, r.err);
}

static void expect_refused(const char* line, const char* part) {
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 2), "mabd %s\n%s", line, r.err);
    cr_expect_not_null(strstr(r.err, part), "mabd %s\nexpected '%s' in: %s", line, part, r.err);
}

static void expect_text(const char* path, const char* text) {
    char found[256] = "";
    FILE* file = fopen(path, "r");
    cr_assert_not_null(file, "%s is gone", path);
    found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
    fclose(file);
    cr_expect(eq(str, found, (char*)text), "%s was changed", path);
}

// ---- outputs and other files -------------------------------------------------------------------

Test(cli_files, outputs_do_not_name_the_scene) {
    sandbox_write("s.json", SCENE);
    cr_assert(eq(int, symlink("s.json", "link.json"), 0));
    cr_assert(eq(int, link("s.json", "hard.json"), 0));
    cr_assert(eq(int, mkdir("d", 0700), 0));
    cr_assert(eq(int, symlink("../s.json", "d/link.json"), 0));
    const char* lines[] = {"run s.json --steps 1 --out s.json",
                           "run s.json --steps 1 --json s.json",
                           "run s.json --steps 1 --checkpoint s.json",
                           "run s.json --steps 1 --json ./s.json",
                           "run s.json --steps 1 --json d/../s.json",
                           "run s.json --steps 1 --json link.json",
                           "run link.json --steps 1 --json s.json",
                           "run s.json --steps 1 --json hard.json",
                           "run d/link.json --steps 1 --checkpoint hard.json",
                           "batch s.json --copies 2 --steps 1 --out s.json",
                           "info s.json --json s.json",
                           "bench scene s.json --steps 1 --json s.json",
                           "bench scene s.json --steps 1 --csv link.json"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        expect_refused(lines[i], "the same file as");
        expect_text("s.json", SCENE);
    }
}

Test(cli_files, outputs_do_not_name_a_scene_found_by_name) {
    sandbox_write("s.json", SCENE);
    setenv("MABD_SCENE_PATH", ".", 1);
    expect_refused("run s --steps 1 --json s.json", "the same file as");
    expect_text("s.json", SCENE);
}

Test(cli_files, outputs_do_not_name_each_other) {
    cr_assert(eq(int, mkdir("d", 0700), 0));
    cr_assert(eq(int, symlink("d", "e"), 0));
    cr_assert(eq(int, symlink("new.bin", "link"), 0)); // to a file that does not exist yet
    const char* lines[] = {"run @chain.json --steps 1 --out x --json x",
                           "run @chain.json --steps 1 --out x --checkpoint ./x",
                           "run @chain.json --steps 1 --json d/x --checkpoint e/x",
                           "run @chain.json --steps 1 --json link --checkpoint new.bin",
                           "bench chain --links 5 --steps 1 --json b --csv b"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        expect_refused(lines[i], "the same file as");
    }
    cr_expect(not(sandbox_exists("x")), "refused before it is opened");
    cr_expect(not(sandbox_exists("new.bin")), "refused before it is opened");
    expect_code("run @chain.json --steps 1 --quiet --json /dev/null --checkpoint c.bin", 0);
}

Test(cli_files, outputs_do_not_name_what_is_read) {
    expect_code("run @chain.json --steps 2 --quiet --out x.h5 --checkpoint c.bin", 0);
    expect_refused("render x.h5 -o x.h5", "the same file as");
    expect_refused("run @chain.json --steps 4 --resume c.bin --out c.bin", "the same file as");
    expect_refused("run @chain.json --steps 4 --resume c.bin --json c.bin", "the same file as");
    expect_code("run @chain.json --steps 4 --quiet --resume c.bin --checkpoint c.bin", 0);
    expect_code("render x.h5 -o x.png", 0);
    expect_code("bench chain --links 5,10 --steps 1 --repeat 1 --csv b.csv", 0);
    expect_refused("bench plot b.csv --svg b.csv", "the same file as");
}

// ---- scenes by name ----------------------------------------------------------------------------

Test(cli_files, scenes_are_found_by_name) {
    expect_code("info chain", 0);
    expect_code("info chain.json", 0);
    expect_code("info redmax/whip", 0);
    expect_code("run chain --steps 1 --quiet", 0);
    expect_code("batch chain --copies 2 --steps 1 --quiet", 0);
    expect_code("bench scene chain --steps 1 --repeat 1", 0);
}

Test(cli_files, own_scenes_come_first) {
    cr_assert(eq(int, mkdir("a", 0700), 0));
    cr_assert(eq(int, mkdir("b", 0700), 0));
    sandbox_write("a/mine.json", "{\"name\": \"of-a\", \"bodies\": [{\"shape\": \"box\", "
                                 "\"size\": [1, 1, 1]}]}");
    sandbox_write("b/mine.json", "{\"name\": \"of-b\", \"bodies\": [{\"shape\": \"box\", "
                                 "\"size\": [1, 1, 1]}]}");
    sandbox_write("b/chain.json", "{\"name\": \"of-b\", \"bodies\": [{\"shape\": \"box\", "
                                  "\"size\": [1, 1, 1]}]}");
    setenv("MABD_SCENE_PATH", "a:b", 1);
    cr_expect_not_null(strstr(mabd_call("info mine").out, "of-a"));
    cr_expect_not_null(strstr(mabd_call("info chain").out, "of-b"), "before the installed ones");
    sandbox_write("chain", "{\"name\": \"here\", \"bodies\": [{\"shape\": \"box\", "
                           "\"size\": [1, 1, 1]}]}");
    cr_expect_not_null(strstr(mabd_call("info chain").out, "here"), "the path as given");
    expect_refused("info ./mine", "./mine: no such scene\n");
}

Test(cli_files, a_missing_scene_is_reported_with_the_places) {
    setenv("MABD_SCENE_PATH", "/nowhere/mine", 1);
    expect_refused("run chian", "chian: no such scene; looked in the working directory, "
                                "/nowhere/mine, ");
    expect_refused("run chian", "share/mabd/scenes");
    expect_refused("run chian", MABD_SOURCE_DIR "/scenes");
}

// ---- temporary files ---------------------------------------------------------------------------

static size_t count_temporaries(void) {
    glob_t found;
    const int code = glob("*.tmp*", 0, NULL, &found);
    const size_t count = code == 0 ? found.gl_pathc : 0;
    if (code == 0) globfree(&found);
    return count;
}

Test(cli_files, kill_9_leaves_no_temporary_files) {
    const char* line = "run @chain.json --set links=200 --steps 1000000 --quiet --out x.h5 "
                       "--checkpoint c.bin --checkpoint-every 1";
    for (int k = 0; k < 5; k++) {
        pid_t child = mabd_start(line);
        for (int i = 0; i < 5000 && !sandbox_exists("c.bin"); i++) {
            nanosleep(&(struct timespec){0, 2000000}, NULL);
        }
        nanosleep(&(struct timespec){0, 7000000 * (k + 1)}, NULL);
        kill(child, SIGKILL);
        command_wait(child);
    }
    // as a kill between two system calls, or an earlier version, leaves them
    sandbox_write("x.h5.tmp.4194303.0", "left");
    sandbox_write("c.bin.tmp.4194303.7", "left");
    sandbox_write("s.json.tmp.4194303.1", "left");
    expect_code("run @chain.json --set links=200 --steps 2 --quiet --out x.h5 --checkpoint c.bin "
                "--json s.json",
                0);
    cr_expect(eq(sz, count_temporaries(), 0));
}

// ---- durations and frames ----------------------------------------------------------------------

Test(cli_files, a_time_that_is_no_whole_number_of_steps_is_reported) {
    command_result r = mabd_call("run @chain.json --h 0.01 --time 0.034 --quiet --json s.json");
    cr_expect(eq(int, r.code, 0));
    cr_expect_not_null(strstr(r.err, "--time 0.034 s is not a whole number of steps of 0.01 s: "
                                     "simulating 3 steps, 0.03 s"),
                       "%s", r.err);
    sandbox_write("s.json",
                  "{\"time\": {\"duration\": 0.1, \"h\": 0.04}, \"bodies\": [{\"shape\": \"box\", "
                  "\"size\": [1, 1, 1]}]}");
    r = mabd_call("run s.json --quiet");
    cr_expect_not_null(strstr(r.err, "simulating 3 steps, 0.12 s"), "%s", r.err);
    const char* whole[] = {"--h 0.1 --time 0.3", "--h 0.01 --time 0.07", "--h 0.001 --time 0.023",
                           "--h 0.01 --steps 3", "--h 0.0333333333333333 --time 0.1"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        char line[256];
        snprintf(line, sizeof(line), "run @chain.json --quiet %s", whole[i]);
        cr_expect(eq(str, (char*)mabd_call(line).err, ""), "%s", line);
    }
}

Test(cli_files, resume_wants_the_same_every_for_the_same_file) {
    expect_code("run @chain.json --steps 20 --quiet --every 4 --out x.h5 --checkpoint c.bin", 0);
    const char* others[] = {"3", "2", "8", "1"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char line[256];
        snprintf(line, sizeof(line),
                 "run @chain.json --steps 40 --quiet --every %s --out x.h5 --resume c.bin",
                 others[i]);
        expect_refused(line, "x.h5 has frames at steps 0 and 4, expected every");
    }
    expect_code("run @chain.json --steps 40 --quiet --every 3 --out y.h5 --resume c.bin", 0);
    expect_code("run @chain.json --steps 40 --quiet --every 4 --out x.h5 --resume c.bin", 0);
}
