// SPDX-License-Identifier: Apache-2.0
// Where the command finds scenes; see scene_path.h.
#include "cli/scene_path.h"

#include "cli/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Scenes of an installation, relative to the folder of the program.
#ifndef MABD_SCENE_DIR
#define MABD_SCENE_DIR "../share/mabd/scenes"
#endif

#define DIRECTORIES_MAX 64
#define PARENTS_MAX     4 // from the build directory up to the source tree

/// Directories in the order of the search.
typedef struct directories {
    int count;
    char items[DIRECTORIES_MAX][SCENE_PATH_MAX];
} directories;

static bool is_file(const char* path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

static void add(directories* list, const char* text, size_t length) {
    if (list->count == DIRECTORIES_MAX || length == 0 || length >= SCENE_PATH_MAX) return;
    memcpy(list->items[list->count], text, length);
    list->items[list->count++][length] = '\0';
}

static void add_environment(directories* list) {
    const char* at = getenv("MABD_SCENE_PATH");
    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ":");
        add(list, at, length);
        at += length + (at[length] == ':');
    }
}

static void add_installed(directories* list, const char* program) {
    char path[SCENE_PATH_MAX + sizeof(MABD_SCENE_DIR) + 1];
    const bool absolute = MABD_SCENE_DIR[0] == '/';
    snprintf(path, sizeof(path), "%s%s%s", absolute ? "" : program, absolute ? "" : "/",
             MABD_SCENE_DIR);
    add(list, path, strlen(path));
}

// A parent of the program's folder that holds the public header is the source tree.
static void add_source_tree(directories* list, const char* program) {
    char parent[SCENE_PATH_MAX], path[SCENE_PATH_MAX + 32];
    snprintf(parent, sizeof(parent), "%s", program);
    for (int k = 0; k < PARENTS_MAX; k++) {
        char* slash = strrchr(parent, '/');
        if (slash == NULL) return;
        *slash = '\0';
        snprintf(path, sizeof(path), "%s/include/mabd/mabd.h", parent);
        if (!is_file(path)) continue;
        snprintf(path, sizeof(path), "%s/scenes", parent);
        add(list, path, strlen(path));
        return;
    }
}

// Null without memory; to be freed.
static directories* list_directories(void) {
    char program[SCENE_PATH_MAX];
    directories* list = calloc(1, sizeof(*list));
    if (list == NULL) return NULL;
    system_program_folder(program, sizeof(program));
    add_environment(list);
    add_installed(list, program);
    add_source_tree(list, program);
    return list;
}

static bool is_path(const char* name) {
    return name[0] == '/' || strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0;
}

static bool find_in(const char* directory, const char* name, char* path, size_t size) {
    static const char* const endings[] = {"", ".json"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const int length = snprintf(path, size, "%s/%s%s", directory, name, endings[i]);
        if (length > 0 && (size_t)length < size && is_file(path)) return true;
    }
    return false;
}

bool scene_path_find(const char* name, char* path, size_t size) {
    bool found = is_file(name);
    directories* list = found || is_path(name) || name[0] == '\0' ? NULL : list_directories();
    for (int i = 0; list != NULL && i < list->count && !found; i++) {
        found = find_in(list->items[i], name, path, size);
        if (found) {
            free(list);
            return true;
        }
    }
    free(list);
    snprintf(path, size, "%s", name);
    return found;
}

void scene_path_say_missing(const char* name) {
    directories* list = is_path(name) ? NULL : list_directories();
    fprintf(stderr, "%s: no such scene", name);
    for (int i = 0; list != NULL && i < list->count; i++) {
        fprintf(stderr, "%s%s", i == 0 ? "; looked in the working directory, " : ", ",
                list->items[i]);
    }
    fputc('\n', stderr);
    free(list);
}
