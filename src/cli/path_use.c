// SPDX-License-Identifier: Apache-2.0
// The files that a command line names; see path_use.h.
#include "cli/path_use.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/scene_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 // followed before a chain of links counts as a loop

/// What a path stands for: an existing file, or a name in an existing directory.
typedef struct identity {
    bool known, exists, special; // special: a device or pipe
    dev_t device;                // of the file or the directory
    ino_t inode;
    char name[SCENE_PATH_MAX]; // in the directory, "" if the file exists
} identity;

// Directory of path, "." if it names none.
static void directory_of(const char* path, char* directory) {
    const char* slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    snprintf(directory, SCENE_PATH_MAX, "%.*s", (int)length, path);
    if (length == 0) memcpy(directory, ".", 2);
}

// Replace a link by its target; false if path is no link.
static bool follow_link(char* path) {
    char target[SCENE_PATH_MAX], directory[SCENE_PATH_MAX], whole[2 * SCENE_PATH_MAX + 2];
    const ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0) return false;
    target[length] = '\0';
    directory_of(path, directory);
    if (target[0] == '/') {
        snprintf(whole, sizeof(whole), "%s", target);
    } else {
        snprintf(whole, sizeof(whole), "%s/%s", directory, target);
    }
    if (strlen(whole) >= SCENE_PATH_MAX) return false;
    memcpy(path, whole, strlen(whole) + 1);
    return true;
}

// A file that does not exist: its directory and its name there, links to nothing followed.
static void identify_missing(const char* path, identity* id) {
    char at[SCENE_PATH_MAX], directory[SCENE_PATH_MAX];
    struct stat info;
    snprintf(at, sizeof(at), "%s", path);
    for (int k = 0; k < LINKS_MAX && follow_link(at);) k++;
    directory_of(at, directory);
    id->known = stat(directory, &info) == 0;
    if (!id->known) return;
    id->device = info.st_dev;
    id->inode = info.st_ino;
    const char* slash = strrchr(at, '/');
    snprintf(id->name, sizeof(id->name), "%s", slash != NULL ? slash + 1 : at);
}

static identity identify(const char* path) {
    identity id = {0};
    struct stat info;
    if (stat(path, &info) != 0) {
        identify_missing(path, &id);
        return id;
    }
    id.known = id.exists = true;
    id.special = !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    id.device = info.st_dev;
    id.inode = info.st_ino;
    return id;
}

bool path_use_same(const char* a, const char* b) {
    const identity x = identify(a), y = identify(b);
    return x.known && y.known && x.exists == y.exists && x.device == y.device &&
           x.inode == y.inode && strcmp(x.name, y.name) == 0;
}

static bool is_special(const char* path) {
    return strcmp(path, "-") == 0 || identify(path).special;
}

static int check_pair(const char* command, const path_use* output, const path_use* other) {
    char path[SCENE_PATH_MAX];
    if (other->path == NULL || is_special(output->path) || is_special(other->path)) return CLI_OK;
    if (other->kind == PATH_SCENE) {
        scene_path_find(other->path, path, sizeof(path));
    } else {
        snprintf(path, sizeof(path), "%s", other->path);
    }
    if (!path_use_same(output->path, path)) return CLI_OK;
    const bool reads = other->kind != PATH_WRITTEN;
    fprintf(stderr, "mabd %s: %s %s: the same file as %s %s, which is %s\n", command, output->name,
            output->path, other->name, other->path, reads ? "read" : "also written");
    return CLI_BAD_INPUT;
}

int path_use_check(const char* command, int32_t count, const path_use* uses) {
    char message[SCENE_PATH_MAX + 512];
    for (int32_t i = 0; i < count; i++) {
        if (uses[i].kind != PATH_WRITTEN || uses[i].path == NULL) continue;
        for (int32_t k = 0; k < count; k++) {
            const bool later = uses[k].kind != PATH_WRITTEN || k > i;
            const int code = k == i || !later ? CLI_OK : check_pair(command, &uses[i], &uses[k]);
            if (code != CLI_OK) return code;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (uses[i].kind != PATH_WRITTEN || uses[i].path == NULL) continue;
        if (output_check(uses[i].path, message, sizeof(message))) continue;
        fprintf(stderr, "mabd %s: %s\n", command, message);
        return CLI_CANNOT_WRITE;
    }
    return CLI_OK;
}
