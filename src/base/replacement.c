// SPDX-License-Identifier: Apache-2.0
//
// Replacement of a file as a whole:
//
//   unnamed file in the directory of path (O_TMPFILE)      write, [fsync]
//   -> link as path.tmp.<process>.<n> -> rename to path    -> [fsync of the directory]
//
// A process killed while it writes leaves nothing behind; only a kill between the link and the
// rename leaves a name. File systems without O_TMPFILE get the name at the start.
//
// Removal of names that killed processes left: the writer holds a lock on the file for as long as
// it has a temporary name, and a lock ends with its process. So a temporary file whose lock is free
// has no writer. The lock is taken before the link; where the file is created with its name, the
// writer checks after locking that nobody removed the name in between, and otherwise takes another.
// Without locks nothing is removed.

#define _GNU_SOURCE // O_TMPFILE, realpath

#include "base/replacement.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_MARK ".tmp."
#define TEMPORARY_ROOM 64 // bytes of ".tmp.<process>.<n>" and the final zero
#define NAME_ATTEMPTS  100

// Split a path: directory (PATH_MAX bytes) gets its directory; returns the name in it.
static const char* split(const char* path, char* directory) {
    const char* slash = strrchr(path, '/');
    if (!slash) {
        memcpy(directory, ".", 2);
        return path;
    }
    const size_t length = slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, path, length);
    directory[length] = '\0';
    return slash + 1;
}

// ---- names left by killed processes ------------------------------------------------------------

// Length of the decimal digits at the start of text, 0 = none.
static size_t digits(const char* text) {
    return strspn(text, "0123456789");
}

// True for "<name>.tmp.<digits>.<digits>".
static bool is_temporary_of(const char* entry, const char* name) {
    const size_t length = strlen(name), mark = strlen(TEMPORARY_MARK);
    if (strncmp(entry, name, length) != 0) return false;
    if (strncmp(entry + length, TEMPORARY_MARK, mark) != 0) return false;
    const char* process = entry + length + mark;
    const size_t first = digits(process);
    if (first == 0 || process[first] != '.') return false;
    const size_t second = digits(process + first + 1);
    return second > 0 && process[first + 1 + second] == '\0';
}

// Remove a temporary file if no process holds its lock.
static void remove_if_stale(int directory, const char* entry) {
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = openat(directory, entry, flags);
    struct stat file, named;
    if (fd < 0) return;
    const bool stale = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
                       mabd_file_try_lock(fd) == MABD_FILE_LOCKED &&
                       fstatat(directory, entry, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                       named.st_dev == file.st_dev && named.st_ino == file.st_ino;
    if (stale) unlinkat(directory, entry, 0);
    close(fd);
}

static void remove_stale(const char* path) {
    char directory[PATH_MAX];
    const char* name = split(path, directory);
    DIR* entries = opendir(directory);
    if (!entries) return;
    for (struct dirent* entry = readdir(entries); entry; entry = readdir(entries)) {
        if (is_temporary_of(entry->d_name, name)) remove_if_stale(dirfd(entries), entry->d_name);
    }
    closedir(entries);
}

// ---- the unfinished file -----------------------------------------------------------------------

// Resolve links: the name to replace is that of the file behind them, if there is one.
static mabd_status resolve(const char* path, char* resolved, bool* exists, mabd_error* error) {
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/') {
        return mabd_file_fail(error, "write", path, length == 0 ? ENOENT : EISDIR);
    }
    if (length >= PATH_MAX - TEMPORARY_ROOM) {
        return mabd_file_fail(error, "write", path, ENAMETOOLONG);
    }
    struct stat info;
    *exists = stat(path, &info) == 0;
    if (!*exists) {
        if (errno != ENOENT) return mabd_file_fail(error, "write", path, errno);
        memcpy(resolved, path, length + 1);
        return MABD_OK;
    }
    if (S_ISDIR(info.st_mode)) return mabd_file_fail(error, "write", path, EISDIR);
    if (!S_ISREG(info.st_mode)) {
        return mabd_fail(error, MABD_ERR_IO, "cannot write %.340s: it is not a regular file", path);
    }
    if (!realpath(path, resolved)) return mabd_file_fail(error, "write", path, errno);
    return MABD_OK;
}

static mabd_status allocate_names(const mabd_allocator* allocator, const char* path,
                                  mabd_replacement* replacement, mabd_error* error) {
    replacement->path_bytes = strlen(path) + 1;
    replacement->temporary_bytes = replacement->path_bytes + TEMPORARY_ROOM;
    replacement->path = mabd_alloc(allocator, replacement->path_bytes);
    replacement->temporary = mabd_alloc(allocator, replacement->temporary_bytes);
    if (!replacement->path || !replacement->temporary) {
        return mabd_fail_memory(error, "opening a file for writing");
    }
    memcpy(replacement->path, path, replacement->path_bytes);
    return MABD_OK;
}

// Choose a temporary name that no other thread or living process uses.
static void choose_name(mabd_replacement* replacement) {
    static atomic_uint counter;
    snprintf(replacement->temporary, replacement->temporary_bytes, "%s" TEMPORARY_MARK "%ld.%u",
             replacement->path, (long)getpid(), atomic_fetch_add(&counter, 1));
}

// The name in /proc by which an open file can be linked.
static void proc_name(int fd, char* name, size_t size) {
    snprintf(name, size, "/proc/self/fd/%d", fd);
}

// Open a file without a name; -1 where the file system or /proc does not allow it.
static int open_unnamed(const char* path) {
    char directory[PATH_MAX], name[64];
    split(path, directory);
    const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    proc_name(fd, name, sizeof name);
    if (access(name, F_OK) == 0) {
        mabd_file_try_lock(fd);
        return fd;
    }
    close(fd);
    return -1;
}

// Lock a file that was created with its name; false if another process removed the name.
static bool lock_named(int fd) {
    struct stat info;
    const bool taken = mabd_file_try_lock(fd) == MABD_FILE_LOCK_TAKEN;
    return !taken && fstat(fd, &info) == 0 && info.st_nlink > 0;
}

static mabd_status open_named(mabd_replacement* replacement, mabd_error* error) {
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        choose_name(replacement);
        const int fd = open(replacement->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const int number = errno;
        if (fd >= 0 && lock_named(fd)) {
            replacement->fd = fd;
            return MABD_OK;
        }
        if (fd >= 0) close(fd);
        replacement->temporary[0] = '\0';
        if (fd < 0 && number != EEXIST && number != EINTR) {
            return mabd_file_fail(error, "write", replacement->path, number);
        }
    }
    return mabd_file_fail(error, "write", replacement->path, EEXIST);
}

static mabd_status open_unfinished(mabd_replacement* replacement, mabd_error* error) {
    replacement->fd = open_unnamed(replacement->path);
    return replacement->fd >= 0 ? MABD_OK : open_named(replacement, error);
}

// The old file must be writable and, with `claim`, free of other writers.
static mabd_status check_old(mabd_replacement* replacement, bool claim, mabd_error* error) {
    int fd = open(replacement->path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? MABD_OK : mabd_file_fail(error, "write", replacement->path, errno);
    }
    replacement->claim_fd = fd;
    return claim ? mabd_file_claim(fd, replacement->path, error) : MABD_OK;
}

mabd_status mabd_replacement_begin(const mabd_allocator* allocator, const char* path, bool claim,
                                   mabd_replacement* replacement, mabd_error* error) {
    *replacement = (mabd_replacement){.fd = -1, .claim_fd = -1};
    char resolved[PATH_MAX];
    bool exists = false;
    MABD_TRY(resolve(path, resolved, &exists, error));
    mabd_status status = allocate_names(allocator, resolved, replacement, error);
    if (status == MABD_OK) remove_stale(resolved);
    if (status == MABD_OK && exists) status = check_old(replacement, claim, error);
    if (status == MABD_OK) status = open_unfinished(replacement, error);
    if (status != MABD_OK) mabd_replacement_end(allocator, replacement);
    return status;
}

// ---- the end -----------------------------------------------------------------------------------

// Give an unnamed file its temporary name.
static mabd_status link_unnamed(mabd_replacement* replacement, mabd_error* error) {
    char name[64];
    proc_name(replacement->fd, name, sizeof name);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        choose_name(replacement);
        if (linkat(AT_FDCWD, name, AT_FDCWD, replacement->temporary, AT_SYMLINK_FOLLOW) == 0) {
            return MABD_OK;
        }
        replacement->temporary[0] = '\0';
        if (errno != EEXIST) break;
    }
    return mabd_file_fail(error, "write", replacement->path, errno);
}

static mabd_status sync_directory(const char* path, mabd_error* error) {
    char directory[PATH_MAX];
    split(path, directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? MABD_OK : mabd_file_fail(error, "sync", directory, errno);
    // EINVAL: a file system whose directories cannot be synced
    int number = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return number == 0 ? MABD_OK : mabd_file_fail(error, "sync", directory, number);
}

mabd_status mabd_replacement_finish(mabd_replacement* replacement, bool sync, mabd_error* error) {
    const char* path = replacement->path;
    if (sync && fsync(replacement->fd) != 0) return mabd_file_fail(error, "write", path, errno);
    if (replacement->temporary[0] == '\0') MABD_TRY(link_unnamed(replacement, error));
    if (rename(replacement->temporary, path) != 0) {
        return mabd_file_fail(error, "write", path, errno);
    }
    replacement->temporary[0] = '\0';
    mabd_status status = sync ? sync_directory(path, error) : MABD_OK;
    replacement->finished = true;
    return status;
}

void mabd_replacement_end(const mabd_allocator* allocator, mabd_replacement* replacement) {
    if (!replacement->finished && replacement->fd >= 0) {
        if (replacement->temporary[0] != '\0') unlink(replacement->temporary);
        close(replacement->fd);
        replacement->fd = -1;
    }
    if (replacement->claim_fd >= 0) close(replacement->claim_fd);
    mabd_free(allocator, replacement->temporary, replacement->temporary_bytes);
    mabd_free(allocator, replacement->path, replacement->path_bytes);
    replacement->temporary = replacement->path = NULL;
    replacement->claim_fd = -1;
}
