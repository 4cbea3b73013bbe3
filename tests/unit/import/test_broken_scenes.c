// SPDX-License-Identifier: Apache-2.0
// The corpus tests/broken: each file is wrong in one way, and expected.txt contains the expected
// report:
//   file <tab> line <tab> column <tab> part of the message
// Checked through the library, and through the command if it was built.
#include "mabd/model.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CORPUS    MABD_SOURCE_DIR "/tests/broken"
#define MOST_ROWS 500

/// One line of expected.txt.
typedef struct expectation {
    char file[128];
    int line, column;
    char part[384];
} expectation;

static expectation rows[MOST_ROWS];

// Read expected.txt into rows; return their number.
static int read_expectations(void) {
    FILE* table = fopen(CORPUS "/expected.txt", "r");
    cr_assert(table != NULL);
    char text[600];
    int count = 0;
    while (fgets(text, sizeof text, table)) {
        cr_assert(lt(int, count, MOST_ROWS));
        expectation* row = &rows[count++];
        int fields = sscanf(text, "%127[^\t]\t%d\t%d\t%383[^\n]", row->file, &row->line,
                            &row->column, row->part);
        cr_assert(eq(int, fields, 4), "expected.txt:%d", count);
    }
    fclose(table);
    return count;
}

// Load and build; return the status and error of the first failure.
static mabd_status load_and_build(const char* path, mabd_error* error) {
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    mabd_status status = mabd_scene_load(scene, path, 0, NULL, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, &model, error);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return status;
}

// Return true if no byte would be interpreted by a terminal, U+0080 to U+009F included.
static bool no_controls(const char* text) {
    for (const unsigned char* c = (const unsigned char*)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7F || (*c == 0xC2 && c[1] < 0xA0)) return false;
    }
    return true;
}

Test(broken_scenes, the_table_and_the_files_agree) {
    int count = read_expectations(), files = 0;
    cr_expect(ge(int, count, 65));
    DIR* directory = opendir(CORPUS);
    cr_assert(directory != NULL);
    for (struct dirent* entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0) continue;
        int i = 0;
        while (i < count && strcmp(rows[i].file, entry->d_name) != 0) i++;
        cr_expect(lt(int, i, count), "%s is not in expected.txt", entry->d_name);
        files++;
    }
    closedir(directory);
    cr_expect(eq(int, files, count));
}

Test(broken_scenes, the_library_says_what_is_wrong_and_where) {
    int count = read_expectations();
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", CORPUS, rows[i].file);
        mabd_error error = {0};
        mabd_status status = load_and_build(path, &error);
        cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", rows[i].file);
        cr_expect(eq(int, error.status, status), "%s", rows[i].file);
        cr_expect(eq(i32, error.line, rows[i].line), "%s: line: %s", rows[i].file, error.text);
        cr_expect(eq(i32, error.column, rows[i].column), "%s: column: %s", rows[i].file,
                  error.text);
        cr_expect(strstr(error.text, rows[i].part) != NULL, "%s: '%s' lacks '%s'", rows[i].file,
                  error.text, rows[i].part);
        cr_expect(no_controls(error.text), "%s: '%s'", rows[i].file, error.text);
    }
}

Test(broken_scenes, the_command_says_so_in_one_line_and_exits_with_2) {
    if (strlen(MABD_COMMAND) == 0) cr_skip_test("the command was not built");
    int count = read_expectations();
    for (int i = 0; i < count; i += AMOUNT(1, 6)) {
        char command[4096], found[2048], start[1200];
        snprintf(command, sizeof command, "'%s' info '%s/%s' 2>&1 >/dev/null", MABD_COMMAND, CORPUS,
                 rows[i].file);
        FILE* pipe = popen(command, "r");
        cr_assert(pipe != NULL);
        size_t length = fread(found, 1, sizeof found - 1, pipe);
        found[length] = '\0';
        int status = pclose(pipe);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        cr_expect(eq(int, code, 2), "%s", rows[i].file);
        snprintf(start, sizeof start, "%s/%s:%d:%d: ", CORPUS, rows[i].file, rows[i].line,
                 rows[i].column);
        cr_expect(eq(int, strncmp(found, start, strlen(start)), 0), "%s: %s", rows[i].file, found);
        cr_expect(strstr(found, rows[i].part) != NULL, "%s: %s", rows[i].file, found);
        char* newline = strchr(found, '\n');
        cr_assert(newline && newline[1] == '\0', "%s: not one line: %s", rows[i].file, found);
        *newline = '\0';
        cr_expect(no_controls(found), "%s: %s", rows[i].file, found);
    }
}
