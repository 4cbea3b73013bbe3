// SPDX-License-Identifier: Apache-2.0
// Energy by cause through the command: the printed lines, the JSON summary, the dataset of a
// recording, and a run that is resumed.
#include "support/command_json.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mabd/sim.h>

TestSuite(cli_energy, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define X(name, field, kind) #field,
static const char* const accounts[MABD_ENERGY_COUNT] = {MABD_ENERGY_LIST(X)};
#undef X

static double account(const json_t* balance, const char* name) {
    const json_t* value = json_object_get(balance, name);
    cr_assert(value != NULL && json_is_real(value), "%s", name);
    return json_real_value(value);
}

// The accounts of a summary obey the identity and sum to the energies of the same summary.
static void expect_balance(const json_t* root) {
    const json_t* balance = json_object_get(root, "energy_balance");
    double change = 0, rest = 0;
    cr_assert(eq(sz, json_object_size(balance), MABD_ENERGY_COUNT));
    for (int k = 0; k < MABD_ENERGY_COUNT; k++) {
        const double joules = account(balance, accounts[k]);
        switch (mabd_energy_get_kind((mabd_energy)k)) {
        case MABD_ENERGY_IS_CHANGE:
            change += joules;
            break;
        case MABD_ENERGY_IS_WORK:
            rest += joules;
            break;
        case MABD_ENERGY_IS_TAKEN:
        case MABD_ENERGY_IS_REST:
            rest -= joules;
            break;
        }
    }
    const double measured = json_real_value(json_object_get(root, "energy_end")) -
                            json_real_value(json_object_get(root, "energy_start"));
    cr_expect(fabs(change - rest) < 1e-9, "%g J for %g J", change, rest);
    cr_expect(fabs(change - measured) < 1e-9, "%g J for %g J", change, measured);
}

Test(cli_energy, is_in_the_summary) {
    json_t* root = command_json("run @arm.json --steps 100 --quiet --json -");
    expect_balance(root);
    const json_t* balance = json_object_get(root, "energy_balance");
    cr_expect(account(balance, "drives") > 0 && account(balance, "dampers") > 0);
    cr_expect(account(balance, "impacts") == 0 && account(balance, "scripts") == 0);
    json_decref(root);
}

Test(cli_energy, is_printed_without_accounts_that_are_0) {
    command_result r = mabd_call("run @arm.json --steps 100");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    const char* const shown[] = {"  change    kinetic ", "  work      drives ",
                                 "  taken     dampers ", "  numerics  integrator "};
    for (int k = 0; k < 4; k++)
        cr_expect(strstr(r.out, shown[k]) != NULL, "%s\n%s", shown[k], r.out);
    cr_expect(strstr(r.out, "impacts") == NULL && strstr(r.out, "scripts") == NULL);
    r = mabd_call("run @pendulum.json --steps 100");
    cr_expect(strstr(r.out, "  work ") == NULL && strstr(r.out, "  taken ") == NULL, "%s", r.out);
    cr_expect(strstr(r.out, "  numerics  integrator ") != NULL, "%s", r.out);
}

Test(cli_energy, is_recorded) {
    double rows[21][MABD_ENERGY_COUNT];
    char *columns = NULL, wanted[256] = "";
    json_t* root = command_json("run @arm.json --steps 20 --quiet --json - --out x.h5");
    const hid_t file = H5Fopen("x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "energy_balance", H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), names = H5Aopen(set, "columns", H5P_DEFAULT);
    const hid_t type = H5Aget_type(names);
    hsize_t extents[2] = {0, 0};
    cr_assert(eq(int, H5Sget_simple_extent_dims(space, extents, NULL), 2));
    cr_assert(extents[0] == 21 && extents[1] == MABD_ENERGY_COUNT);
    cr_assert(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    cr_assert(H5Aread(names, type, &columns) >= 0);
    H5Tclose(type), H5Aclose(names), H5Sclose(space), H5Dclose(set), H5Fclose(file);
    const json_t* balance = json_object_get(root, "energy_balance");
    for (int k = 0; k < MABD_ENERGY_COUNT; k++) {
        cr_expect(rows[0][k] == 0, "%s at the start: %g J", accounts[k], rows[0][k]);
        cr_expect(rows[20][k] == account(balance, accounts[k]), "%s", accounts[k]);
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s", k ? " " : "",
                 accounts[k]);
    }
    cr_expect(eq(str, columns, wanted));
    H5free_memory(columns);
    json_decref(root);
}

Test(cli_energy, of_a_resumed_run_is_that_of_the_whole) {
    json_t* whole = command_json("run @bounce.json --steps 90 --quiet --json -");
    const command_result r =
        mabd_call("run @bounce.json --steps 50 --quiet --checkpoint x.ckpt --json first.json");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    json_t* resumed = command_json("run @bounce.json --steps 90 --quiet --resume x.ckpt --json -");
    expect_balance(whole);
    cr_expect(json_equal(json_object_get(whole, "energy_balance"),
                         json_object_get(resumed, "energy_balance")));
    json_decref(whole), json_decref(resumed);
}
