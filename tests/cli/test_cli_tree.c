// SPDX-License-Identifier: Apache-2.0
// `mabd info` of formulations with joint coordinates: strings of the joints of the tree, what it
// cuts, and memory per link.
#include "support/command_json.h"

#include <stdio.h>
#include <string.h>

TestSuite(cli_tree, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

#define SCENES MABD_SOURCE_DIR "/scenes/"
#define BODY(name, x)                                                                              \
    "{\"name\": \"" name "\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\": [" x ", 0, "   \
    "0]}"

// `mabd info` of a scene by redmax must print all texts up to a null.
static void expect_lines(const char* scene, const char* const* texts) {
    char line[256];
    snprintf(line, sizeof line, "info %s --formulation redmax", scene);
    const command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    for (; *texts; texts++) {
        cr_expect(strstr(r.out, *texts) != NULL, "%s: no '%s' in\n%s", scene, *texts, r.out);
    }
}

static json_t* tree_of(const char* scene) {
    char line[256];
    snprintf(line, sizeof line, "info %s --formulation redmax --json -", scene);
    return command_json(line);
}

Test(cli_tree, strings_of_all_types_of_joints_are_printed) {
    const char* const texts[] = {"  prismatic: Tx; 1\n",
                                 "  hinge: Rx; 1\n",
                                 "  rectangular: Tx Ty; 1\n",
                                 "  cylindrical: Tx Rx; 1\n",
                                 "  pin-in-slot: Tx Ry; 1\n",
                                 "  universal: Rx Ry; 1\n",
                                 "  cartesian: T; 1\n",
                                 "  planar: Tx Ty Rz; 1\n",
                                 "  ball: B; 1\n",
                                 "  slot: Tx B; 1\n",
                                 "  free: T B; 1\n",
                                 "  screw: Hx; 1\n",
                                 "  composite: Rx Rx; 1\n",
                                 "  spline-curve: C; 1\n",
                                 "  spline-surface: S; 1\n",
                                 "tree          24 links, 35 freedoms, border of 0; ",
                                 NULL};
    expect_lines(SCENES "redmax/joints.json", texts);
}

Test(cli_tree, bodies_without_joints_and_couplings_have_lines) {
    const char* const free[] = {"  no joint: T B; 3\n", NULL};
    const char* const nodes[] = {"  node: T; 19\n", NULL};
    const char* const coupled[] = {"  couplings: 11 rows\n", NULL};
    expect_lines(SCENES "redmax/springs.json", free);
    expect_lines(SCENES "redmax/deformable.json", nodes);
    expect_lines(SCENES "redmax/hyper.json", coupled);
}

// The ground holds `two`, which holds `one` by a joint from `one` to `two`.
Test(cli_tree, reversed_strings_are_counted) {
    sandbox_write("pair.json", "{\"bodies\": [" BODY("one", "1") ", " BODY(
                                   "two", "2") "], \"joints\": [{\"type\": \"cylindrical\", \"b\": "
                                               "\"two\"}, {\"type\": \"cylindrical\", \"a\": "
                                               "\"one\", \"b\": \"two\"}]}");
    const char* const texts[] = {"  cylindrical: Tx Rx; 2, 1 of them reversed\n", NULL};
    expect_lines("pair.json", texts);
}

// A joint of a loop is cut, or the body that it holds, where something acts on its axis.
Test(cli_tree, cut_joints_and_welded_bodies_are_counted_with_their_rows) {
    const char* const cut[] = {"  hinge: Rx; 3\n", "  cut hinge: 1, 5 rows\n", "border of 8", NULL};
    expect_lines(SCENES "four-bar.json", cut);
    sandbox_write("held.json",
                  "{\"bodies\": [" BODY("b", "1") "], \"joints\": [{\"type\": \"hinge\", \"b\": "
                                                  "\"b\", \"axes\": {\"rx\": {\"damping\": 1}}}, "
                                                  "{\"type\": \"hinge\", \"b\": \"b\", \"axes\": "
                                                  "{\"rx\": {\"damping\": 1}}}]}");
    const char* const weld[] = {"  hinge: Rx; 2\n", "  weld at hinge: 1, 6 rows\n", NULL};
    expect_lines("held.json", weld);
}

Test(cli_tree, json_has_the_same_and_the_bytes) {
    json_t* root = tree_of(SCENES "four-bar.json");
    const char *name, *primitives;
    int links, freedoms, border, couplings, count, reversed, own, joints, rows, welds, weld_rows;
    double bytes;
    cr_assert(eq(int,
                 json_unpack(root, "{s{si si si si sF s[{ss ss si si si}] s{s{si si si si}}}}",
                             "tree", "links", &links, "freedoms", &freedoms, "border", &border,
                             "coupling_rows", &couplings, "bytes_per_link", &bytes, "strings",
                             "name", &name, "primitives", &primitives, "count", &count, "reversed",
                             &reversed, "freedoms", &own, "cuts", "hinge", "joints", &joints,
                             "rows", &rows, "welds", &welds, "weld_rows", &weld_rows),
                 0));
    cr_expect(eq(str, (char*)name, "hinge"));
    cr_expect(eq(str, (char*)primitives, "Rx"));
    cr_expect(links == 3 && freedoms == 3 && border == 8 && couplings == 0);
    cr_expect(count == 3 && reversed == 0 && own == 1);
    cr_expect(joints == 1 && rows == 5 && welds == 0 && weld_rows == 0);
    const double all = json_number_value(json_object_get(root, "bytes_sim"));
    cr_expect(epsilon_eq(dbl, links * bytes, all, 1e-6 * all));
    json_decref(root);
}

Test(cli_tree, formulations_without_a_tree_print_none) {
    json_t* root = command_json("info " SCENES "four-bar.json --json -");
    cr_expect(json_object_get(root, "tree") == NULL);
    json_decref(root);
}
