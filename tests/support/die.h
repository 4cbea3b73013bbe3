// SPDX-License-Identifier: Apache-2.0
// End the process at a chosen system call. A test program that includes this header (first, and
// once) has its own pwrite, ftruncate, fsync and rename, which replace those of the C library; at
// call number `die_at` the process ends as if it were killed: no handler runs, nothing is flushed.
// A kill may split a write between two pages, but not within one: with `die_torn` the call writes
// up to the first page's end and then dies.
#pragma once

#define _DEFAULT_SOURCE // syscall

#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static long die_at = -1; // -1 = never
static bool die_torn;
static long die_calls;

static bool die_now(void) {
    return die_calls++ == die_at;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
    if (die_now()) {
        size_t first = 4096 - (size_t)offset % 4096;
        if (die_torn && size > first) syscall(SYS_pwrite64, fd, data, first, offset);
        _exit(0);
    }
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

int ftruncate(int fd, off_t length) {
    if (die_now()) _exit(0);
    return (int)syscall(SYS_ftruncate, fd, length);
}

int fsync(int fd) {
    if (die_now()) _exit(0);
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char* from, const char* to) {
    if (die_now()) _exit(0);
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 0); // -100: the working directory
}

/// Run `work` in a process that dies at call `at`; return false if it completed before.
static bool die_in(void (*work)(void* context), void* context, long at, bool torn) {
    pid_t child = fork();
    if (child == 0) {
        die_calls = 0;
        die_at = at;
        die_torn = torn;
        work(context);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
