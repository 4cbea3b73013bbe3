// SPDX-License-Identifier: Apache-2.0
// Tests for src/base/replacement.c: a killed writer leaves nothing that stays, and the unfinished
// file of a living writer is never removed. Both with files without a name and, as on file systems
// that lack them, with temporary names: this program has its own open(), which can refuse
// O_TMPFILE.
#define _GNU_SOURCE // O_TMPFILE, syscall

#include "base/file.h"
#include "base/replacement.h"
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(replacement, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 60);

static bool refuse_unnamed;

int open(const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, int) : 0;
    va_end(list);
    if (refuse_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int count_files(const char* part) {
    DIR* directory = opendir(".");
    int count = 0;
    cr_assert_not_null(directory);
    for (struct dirent* e = readdir(directory); e; e = readdir(directory)) {
        count += strstr(e->d_name, part) != NULL;
    }
    closedir(directory);
    return count;
}

static void replace(const char* path, const char* text) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_replacement file;
    mabd_error error = {0};
    mabd_status status = mabd_replacement_begin(&allocator, path, false, &file, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    status = mabd_file_write(file.fd, path, text, strlen(text), 0, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    status = mabd_replacement_finish(&file, true, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    mabd_replacement_end(&allocator, &file);
    close(file.fd);
}

static void expect_text(const char* path, const char* text) {
    char found[64] = "";
    FILE* file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    if (fgets(found, sizeof found, file) == NULL) found[0] = '\0';
    fclose(file);
    cr_expect(eq(str, found, (char*)text));
}

// A process that has begun to replace `path` and waits; returns when it has.
static pid_t start_writer(const char* path) {
    int ready[2];
    cr_assert(eq(int, pipe(ready), 0));
    const pid_t child = fork();
    if (child == 0) {
        const mabd_allocator allocator = mabd_default_allocator();
        mabd_replacement file;
        const mabd_status status = mabd_replacement_begin(&allocator, path, false, &file, NULL);
        if (status != MABD_OK || write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    close(ready[1]);
    cr_assert(eq(int, (int)read(ready[0], &byte, 1), 1));
    close(ready[0]);
    return child;
}

static void kill_writer(pid_t child) {
    int status;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

Test(replacement, a_killed_writer_leaves_no_name) {
    replace("a.txt", "old");
    kill_writer(start_writer("a.txt"));
    cr_expect(eq(int, count_files(".tmp."), 0));
    expect_text("a.txt", "old");
}

Test(replacement, the_next_writer_removes_names_of_killed_ones_and_no_others) {
    refuse_unnamed = true;
    const pid_t dead = start_writer("a.txt"), living = start_writer("a.txt");
    cr_assert(eq(int, count_files("a.txt.tmp."), 2));
    kill_writer(dead);
    replace("a.txt", "new");
    cr_expect(eq(int, count_files("a.txt.tmp."), 1), "that of the living process stays");
    expect_text("a.txt", "new");
    kill_writer(living);
    refuse_unnamed = false; // names are removed by writers that need none
    replace("a.txt", "newer");
    cr_expect(eq(int, count_files("a.txt.tmp."), 0));
    expect_text("a.txt", "newer");
}

Test(replacement, files_with_similar_names_stay) {
    const char* names[] = {"a.txt.tmp.12",   "a.txt.tmp.12.x", "a.txt.tmp.12.3.h5", "a.txt.tmp..3",
                           "b.txt.tmp.12.3", "xa.txt.tmp.1.2", "a.txt.tmp.12.3~"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) sandbox_write(names[i], "mine");
    cr_assert(eq(int, mkdir("a.txt.tmp.5.6", 0700), 0));
    sandbox_write("a.txt.tmp.12.3", "left by a killed process");
    replace("a.txt", "new");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        cr_expect(sandbox_exists(names[i]), "%s is gone", names[i]);
    }
    cr_expect(sandbox_exists("a.txt.tmp.5.6"));
    cr_expect(not(sandbox_exists("a.txt.tmp.12.3")));
}

Test(replacement, an_abandoned_file_leaves_the_old_one) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_replacement file;
    for (int k = 0; k < 2; k++) {
        refuse_unnamed = k == 1;
        replace("a.txt", "old");
        mabd_status status = mabd_replacement_begin(&allocator, "a.txt", false, &file, NULL);
        cr_assert(eq(int, status, MABD_OK));
        mabd_replacement_end(&allocator, &file);
        cr_expect(eq(int, file.fd, -1));
        cr_expect(eq(int, count_files("a.txt"), 1));
        expect_text("a.txt", "old");
    }
}
