// SPDX-License-Identifier: Apache-2.0
// Text files of the command; see output.h.
#include "cli/output.h"

#include "base/file.h"
#include "base/replacement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char* path, int number, char* message, size_t size) {
    snprintf(message, size, "cannot write %s: %s", path, strerror(number));
    return false;
}

static bool fail_with(const mabd_error* error, char* message, size_t size) {
    snprintf(message, size, "%s", error->text);
    return false;
}

bool output_is_stdout(const char* path) {
    return path != NULL && strcmp(path, "-") == 0;
}

// A device, pipe or terminal cannot be replaced by rename.
static bool is_special(const char* path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool output_check(const char* path, char* message, size_t size) {
    if (output_is_stdout(path)) return true;
    if (is_special(path)) {
        return access(path, W_OK) == 0 ? true : fail(path, errno, message, size);
    }
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_replacement file;
    mabd_error error = {0};
    const mabd_status status = mabd_replacement_begin(&allocator, path, false, &file, &error);
    if (status != MABD_OK) return fail_with(&error, message, size);
    mabd_replacement_end(&allocator, &file);
    return true;
}

static bool write_standard_output(const char* text, char* message, size_t size) {
    errno = 0;
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) return true;
    return fail("standard output", errno != 0 ? errno : EIO, message, size);
}

static bool write_special(const char* path, const char* text, char* message, size_t size) {
    FILE* file = fopen(path, "w");
    if (file == NULL) return fail(path, errno, message, size);
    errno = 0;
    int number = fputs(text, file) < 0 || fflush(file) != 0 ? (errno != 0 ? errno : EIO) : 0;
    if (fclose(file) != 0 && number == 0) number = errno;
    return number == 0 ? true : fail(path, number, message, size);
}

static bool replace_file(const char* path, const char* text, char* message, size_t size) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_replacement file;
    mabd_error error = {0};
    mabd_status status = mabd_replacement_begin(&allocator, path, false, &file, &error);
    if (status == MABD_OK) {
        status = mabd_file_write(file.fd, path, text, strlen(text), 0, &error);
        if (status == MABD_OK) status = mabd_replacement_finish(&file, true, &error);
        mabd_replacement_end(&allocator, &file);
        if (file.fd >= 0) close(file.fd);
    }
    return status == MABD_OK ? true : fail_with(&error, message, size);
}

bool output_write(const char* path, const char* text, char* message, size_t size) {
    if (output_is_stdout(path)) return write_standard_output(text, message, size);
    if (is_special(path)) return write_special(path, text, message, size);
    return replace_file(path, text, message, size);
}
