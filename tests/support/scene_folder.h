// SPDX-License-Identifier: Apache-2.0
// Scenes of a folder of scenes/ that belongs to a formulation: each one runs, and has a section of
// the page of the folder with a picture. The including source defines _XOPEN_SOURCE 700, for glob.
#pragma once

#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Call `check` with the formulation and the name of each scene.
static inline void scene_folder_each(const char* formulation,
                                     void (*check)(const char* formulation, const char* name)) {
    glob_t found;
    char pattern[512];
    snprintf(pattern, sizeof pattern, "%s/scenes/%s/*.json", MABD_SOURCE_DIR, formulation);
    cr_assert(eq(int, glob(pattern, 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[64];
        const char* file = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
        check(formulation, name);
    }
    globfree(&found);
}

static inline void scene_folder_run_one(const char* formulation, const char* name) {
    const bool large = isdigit((unsigned char)name[strlen(name) - 1]);
    char line[256];
    snprintf(line, sizeof line, "run %s/%s --formulation %s --steps %d --json -", formulation, name,
             formulation, large ? 1 : 10);
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    json_t* summary = json_loads(r.out, 0, NULL);
    cr_assert_not_null(summary, "%s", name);
    cr_expect(lt(dbl, json_number_value(json_object_get(summary, "max_gap")), 1e-9), "%s", name);
    cr_expect(eq(int, (int)json_integer_value(json_object_get(summary, "unconverged_steps")), 0),
              "%s", name);
    json_decref(summary);
}

/// Run every scene of scenes/FORMULATION for ten steps; those whose names end in a number are
/// large, and take one. Expects closed joints and steps that converge.
static inline void scene_folder_run(const char* formulation) {
    scene_folder_each(formulation, scene_folder_run_one);
}

// True if the page of a folder has the text.
static inline bool scene_folder_page_has(const char* formulation, const char* text) {
    static char page[1 << 16];
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s/README.md", MABD_SOURCE_DIR, formulation);
    FILE* file = fopen(path, "r");
    cr_assert_not_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    return strstr(page, text) != NULL;
}

static inline void scene_folder_describe_one(const char* formulation, const char* name) {
    char text[512];
    snprintf(text, sizeof text, "\n## %s\n", name);
    cr_expect(scene_folder_page_has(formulation, text), "no section of scenes/%s/README.md on %s",
              formulation, name);
    snprintf(text, sizeof text, "(../../docs/pictures/%s-%s.png)", formulation, name);
    cr_expect(scene_folder_page_has(formulation, text), "no picture of %s on the page", name);
    snprintf(text, sizeof text, "%s/docs/pictures/%s-%s.png", MABD_SOURCE_DIR, formulation, name);
    cr_expect(access(text, R_OK) == 0, "no docs/pictures/%s-%s.png", formulation, name);
}

/// Expect a section of the page and a picture for every scene of scenes/FORMULATION.
static inline void scene_folder_describe(const char* formulation) {
    scene_folder_each(formulation, scene_folder_describe_one);
}
