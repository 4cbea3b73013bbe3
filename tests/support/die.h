// SPDX-License-Identifier: Apache-2.0
// Death at a chosen system call. A test program that includes this (once) has its own pwrite, ftruncate,
// fsync and rename, which stand before those of the C library; at call number `die_at` the process ends
// as if it were killed: no handler runs, nothing is flushed. A write that crosses pages may be cut
// between two of them by a kill, but not within one: `die_torn` writes up to the first page's end, and then
// dies.
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
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
        if (die_torn && size > first && lseek(fd, offset, SEEK_SET) >= 0) {
            ssize_t ignored = write(fd, data, first);
            (void)ignored;
        }
        _exit(0);
    }
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : write(fd, data, size);
}

int ftruncate(int fd, off_t length) {
    static char zero;
    if (die_now()) _exit(0);
    struct stat info;
    if (fstat(fd, &info) != 0) return -1;
    if (info.st_size >= length) return truncate_in_place(fd, length);
    return pwrite_plain(fd, &zero, length);
}
