// SPDX-License-Identifier: Apache-2.0
// Young's modulus of a whole scene through the command: "young" at the top level, and --young,
// which replaces that value and no other. A rod that hangs on its end holds (m g L)^2 / (8 V E) of
// elastic energy: it is read from the recording.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_young, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

// A rod of 1 x 0.1 x 0.1 m and 10 kg.
#define ROD(top, body)                                                                             \
    "{" top "\"bodies\": [{\"name\": \"rod\", \"shape\": \"box\", \"size\": [0.1, 0.1, 1],"        \
    " \"position\": [0, 0, -0.5]" body "}], \"joints\": [{\"type\": \"ball\", \"b\": \"rod\"}]}"

// Run and return the modulus that the elastic energy in the last frame belongs to.
static double young_of(const char* arguments) {
    char line[256];
    snprintf(line, sizeof(line), "%s --steps 300 --quiet --out x.h5", arguments);
    remove("x.h5");
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    cr_expect(eq(sz, strlen(r.err), 0), "mabd %s\n%s", line, r.err);
    double energy[301 * 5];
    const hid_t file = H5Fopen("x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "energy", H5P_DEFAULT);
    cr_assert(set >= 0 &&
              H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, energy) >= 0);
    H5Dclose(set), H5Fclose(file);
    const double work = 10 * 9.81;
    return work * work / (8 * 0.01 * energy[300 * 5 + 2]);
}

static void expect_young(const char* arguments, double expected) {
    const double found = young_of(arguments);
    cr_expect(fabs(found - expected) < 1e-6 * expected, "mabd %s\n%g Pa", arguments, found);
}

Test(cli_young, of_the_command_line_replaces_that_of_the_scene_and_no_other) {
    sandbox_write("plain.json", ROD("", ""));
    sandbox_write("scene.json", ROD("\"young\": 3e8, ", ""));
    sandbox_write("body.json", ROD("\"young\": 3e8, ", ", \"young\": 5e9"));
    expect_young("run plain.json", 2e11);
    expect_young("run scene.json", 3e8);
    expect_young("run body.json", 5e9);
    expect_young("run plain.json --young 1e10", 1e10);
    expect_young("run scene.json --young 1e10", 1e10);
}

static void expect_warning(const char* command, const char* line) {
    char text[128];
    snprintf(text, sizeof(text), "mabd %s: warning: young 1e+10 Pa reaches no body", command);
    command_result r = mabd_call(line);
    cr_expect(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    cr_expect_not_null(strstr(r.err, text), "mabd %s\nlacks: %s\nsays:  %s", line, text, r.err);
    const char* again = strstr(r.err, "reaches no body");
    if (again) cr_expect_null(strstr(again + 1, "reaches no body"), "mabd %s\n%s", line, r.err);
}

Test(cli_young, that_reaches_no_body_is_a_warning_of_every_command_that_reads_scenes) {
    sandbox_write("body.json", ROD("", ", \"young\": 5e9"));
    expect_warning("run", "run body.json --steps 1 --young 1e10");
    expect_warning("info", "info body.json --young 1e10");
    expect_warning("batch", "batch body.json --copies 3 --steps 1 --young 1e10");
    expect_warning("bench", "bench scene body.json --steps 1 --repeat 1 --young 1e10");
    command_result r = mabd_call("run body.json --steps 1 --young 1e10 --quiet --json -");
    cr_expect_not_null(strstr(r.out, "\"text\": \"young 1e+10 Pa reaches no body"), "%s", r.out);
}

// Read the hash of the model, 16 digits.
static void read_hash(const char* line, char* hash) {
    command_result r = mabd_call(line);
    const char* found = strstr(r.out, "\"hash\": \"");
    cr_assert_not_null(found, "mabd %s\n%s", line, r.out);
    memcpy(hash, found + 9, 16);
    hash[16] = 0;
}

// The modulus is in the hash of the model, so a checkpoint tells whether the copies have it.
Test(cli_young, reaches_all_copies_of_a_batch) {
    char plain[17], soft[17], steel[17];
    sandbox_write("plain.json", ROD("", ""));
    read_hash("info plain.json --json -", plain);
    read_hash("info plain.json --young 1e10 --json -", soft);
    read_hash("info plain.json --young 2e11 --json -", steel);
    cr_expect(eq(str, plain, steel));
    cr_expect(ne(str, plain, soft));
    command_result batch =
        mabd_call("batch plain.json --copies 4 --steps 1 --young 1e10 --checkpoint x.bin --quiet");
    cr_assert(eq(int, batch.code, 0), "%s", batch.err);
    command_result good =
        mabd_call("batch plain.json --copies 4 --steps 2 --young 1e10 --resume x.bin --quiet");
    cr_expect(eq(int, good.code, 0), "%s", good.err);
    command_result other =
        mabd_call("batch plain.json --copies 4 --steps 2 --resume x.bin --quiet");
    cr_expect(eq(int, other.code, 2), "%s", other.err);
}

Test(cli_young, that_is_no_modulus_is_bad_input) {
    static const char* const values[] = {"0", "-1e9", "nan", "1e400", "steel", ""};
    static const char* const commands[] = {"run", "info", "batch", "bench scene"};
    sandbox_write("plain.json", ROD("", ""));
    for (int c = 0; c < 4; c++) {
        for (int v = 0; v < 6; v++) {
            char line[128];
            snprintf(line, sizeof(line), "%s plain.json --young=%s", commands[c], values[v]);
            command_result r = mabd_call(line);
            cr_expect(eq(int, r.code, 2), "mabd %s\n%s", line, r.err);
            cr_expect_not_null(strstr(r.err, "--young: expected a number > 0"), "mabd %s\n%s", line,
                               r.err);
        }
    }
    command_result r = mabd_call("bench chain --young 1e9");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "--young goes with 'mabd bench scene'"), "%s", r.err);
    sandbox_write("zero.json", ROD("\n\"young\": 0, ", ""));
    r = mabd_call("run zero.json --steps 1");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "zero.json:2:10: young must be > 0, found 0"), "%s", r.err);
}
