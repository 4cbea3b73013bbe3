// SPDX-License-Identifier: Apache-2.0
// The scenes of scenes/redmax: each one runs, and has a section of the page with a picture.
#define _XOPEN_SOURCE 700 // glob
#include "support/command.h"
#include "support/png_read.h"
#include "support/scene_folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_redmax_scenes, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 240);

Test(cli_redmax_scenes, run_as_they_are) {
    scene_folder_run("redmax");
}

Test(cli_redmax_scenes, have_a_section_and_a_picture) {
    scene_folder_describe("redmax");
}

// Springs are orange coils, where bodies are blue and the rest is grey.
Test(cli_redmax_scenes, springs_are_drawn) {
    uint32_t width, height, orange = 0;
    int used[5] = {0};
    command_result r = mabd_call("run redmax/springs --formulation redmax --steps 2 --quiet"
                                 " --out s.h5");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    r = mabd_call("render s.h5 --size 640x360 --direction 0.15,-1,0.15");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    uint8_t* rgb = png_read("s.png", &width, &height, used);
    for (uint32_t i = 0; i < width * height; i++) orange += rgb[3 * i] > rgb[3 * i + 2] + 60;
    cr_expect(orange > 300 && orange < 6000, "%d pixels", (int)orange);
    free(rgb);
}

// A whip of ten links cracks within 4 s; only redmax has a guard.
Test(cli_redmax_scenes, the_summary_counts_what_the_guard_repeats) {
    const char* const formulations[] = {"redmax", "affine"};
    for (int i = 0; i < 2; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "run redmax/whip --set links=10 --steps 400 --formulation %s"
                 " --json -",
                 formulations[i]);
        command_result r = mabd_call(line);
        json_t* summary = json_loads(r.out, 0, NULL);
        cr_assert_not_null(summary, "%s", r.err);
        const json_t* own = json_object_get(summary, "formulation_info");
        const json_int_t guarded = json_integer_value(json_object_get(own, "guarded"));
        cr_expect(i == 0 ? guarded > 10 : json_object_get(own, "guarded") == NULL, "%d",
                  (int)guarded);
        json_decref(summary);
    }
}

// Lengths of a four-bar for which a point of its coupler is where it shall be.
Test(cli_redmax_scenes, lengths_are_found) {
    command_result r =
        mabd_call("optimize redmax/lengths --formulation redmax --loss " MABD_SOURCE_DIR
                  "/scenes/losses/redmax-lengths.json --loss-tolerance 1e-12 --out best.json");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    json_t* best = json_load_file("best.json", 0, NULL);
    cr_assert_not_null(best);
    const json_t* crank = json_object_get(json_array_get(json_object_get(best, "parameters"), 0),
                                          "value"); // from the middle of the bar of the scene
    if (json_is_array(crank)) crank = json_array_get(crank, 0);
    cr_expect(lt(dbl, fabs(json_number_value(crank) - (0.3 - 0.35 / 2)), 1e-5));
    json_decref(best);
}
