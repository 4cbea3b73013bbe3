// SPDX-License-Identifier: Apache-2.0
// Text files of the command; see output.h.
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char* path, int code, char* message, size_t size) {
    snprintf(message, size, "%s: cannot write: %s", path, strerror(code));
    return false;
}

// A device, pipe or terminal cannot be replaced by rename.
static bool is_special(const char* path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool is_directory(const char* path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// "PATH.tmp.PID", to be freed; null without memory.
static char* temporary_name(const char* path) {
    size_t size = strlen(path) + 32;
    char* name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s.tmp.%ld", path, (long)getpid());
    return name;
}

bool output_check(const char* path, char* message, size_t size) {
    if (strcmp(path, "-") == 0) return true;
    if (is_directory(path)) return fail(path, EISDIR, message, size);
    if (is_special(path)) {
        return access(path, W_OK) == 0 ? true : fail(path, errno, message, size);
    }
    char* name = temporary_name(path);
    if (name == NULL) return fail(path, ENOMEM, message, size);
    FILE* file = fopen(name, "w");
    int code = errno;
    if (file != NULL) {
        fclose(file);
        remove(name);
    }
    free(name);
    return file != NULL ? true : fail(path, code, message, size);
}

// 0, or the errno of the first call that failed. Takes the file over.
static int write_and_close(FILE* file, const char* text, bool sync) {
    int code = 0;
    errno = 0;
    if (fputs(text, file) < 0 || fflush(file) != 0) code = errno != 0 ? errno : EIO;
    if (code == 0 && sync && fsync(fileno(file)) != 0) code = errno;
    if (fclose(file) != 0 && code == 0) code = errno;
    return code;
}

static int write_standard_output(const char* text) {
    errno = 0;
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0) return errno != 0 ? errno : EIO;
    return 0;
}

static int write_special(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    return file == NULL ? errno : write_and_close(file, text, false);
}

static int replace_file(const char* path, const char* text) {
    char* name = temporary_name(path);
    if (name == NULL) return ENOMEM;
    FILE* file = fopen(name, "w");
    int code = file == NULL ? errno : write_and_close(file, text, true);
    if (code == 0 && rename(name, path) != 0) code = errno;
    if (code != 0 && file != NULL) remove(name);
    free(name);
    return code;
}

bool output_write(const char* path, const char* text, char* message, size_t size) {
    int code = 0;
    if (strcmp(path, "-") == 0) {
        code = write_standard_output(text);
    } else if (is_special(path)) {
        code = write_special(path, text);
    } else {
        code = replace_file(path, text);
    }
    return code == 0 ? true : fail(path, code, message, size);
}
