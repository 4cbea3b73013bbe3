// SPDX-License-Identifier: Apache-2.0
//
// Replacing a file, so that its name always stands for a whole one:
//   path.tmp.<process>.<n>  create, write, [fsync]   ->  rename to path  ->  [fsync of the directory]
//
// Two locks keep writers apart and let readers in. HDF5 itself takes flock(): shared to read,
// exclusive to write. A writer here takes it shared, so other programs may read but not write, and
// takes a record lock on top, which only writers of this library ask for.

#define _XOPEN_SOURCE 700 // realpath

#include "record/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Linux locks that belong to the open file, not to the process; not in POSIX before 2024.
#if defined(__linux__) && !defined(F_OFD_SETLK)
#define F_OFD_SETLK 37
#endif
#ifdef F_OFD_SETLK
#define CLAIM_COMMAND F_OFD_SETLK
#else
#define CLAIM_COMMAND F_SETLK
#endif

mabd_status mabd_file_fail(mabd_error* error, const char* what, const char* path, int number) {
    char reason[128] = "";
    if (strerror_r(number, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", number);
    }
    return mabd_fail(error, MABD_ERR_IO, "cannot %s %.340s: %s", what, path, reason);
}

mabd_status mabd_file_write(int fd, const char* path, const void* data, size_t size,
                            uint64_t offset, mabd_error* error) {
    const char* bytes = data;
    while (size > 0) {
        ssize_t done = pwrite(fd, bytes, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return mabd_file_fail(error, "write", path, errno);
        if (done == 0) return mabd_file_fail(error, "write", path, ENOSPC);
        bytes += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return MABD_OK;
}

mabd_status mabd_file_read(int fd, const char* path, void* data, size_t size, uint64_t offset,
                           size_t* got, mabd_error* error) {
    char* bytes = data;
    *got = 0;
    while (*got < size) {
        ssize_t done = pread(fd, bytes + *got, size - *got, (off_t)(offset + *got));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return mabd_file_fail(error, "read", path, errno);
        if (done == 0) break;
        *got += (size_t)done;
    }
    return MABD_OK;
}

mabd_status mabd_file_claim(int fd, const char* path, mabd_error* error) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool taken = fcntl(fd, CLAIM_COMMAND, &lock) != 0 && (errno == EAGAIN || errno == EACCES);
    // A file system without locks refuses with other numbers: there the claim is void.
    if (!taken) taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken) {
        return mabd_fail(error, MABD_ERR_IO,
                         "cannot write %.340s: it is being written by another run", path);
    }
    return MABD_OK;
}

// ---- replacing a file --------------------------------------------------------------------------

// The name to replace: that of the file behind links if there is one. *exists tells.
static mabd_status resolve(const char* path, char* resolved, bool* exists, mabd_error* error) {
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/') {
        return mabd_file_fail(error, "write", path, length == 0 ? ENOENT : EISDIR);
    }
    if (length >= PATH_MAX - 64) return mabd_file_fail(error, "write", path, ENAMETOOLONG);

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

static char* duplicate(const mabd_allocator* allocator, const char* text, size_t* bytes) {
    *bytes = strlen(text) + 1;
    char* copy = mabd_alloc(allocator, *bytes);
    if (copy) memcpy(copy, text, *bytes);
    return copy;
}

// A name that no other thread or process uses; names left over by killed ones are skipped.
static mabd_status open_temporary(const mabd_allocator* allocator, mabd_replacement* replacement,
                                  mabd_error* error) {
    static atomic_uint counter;
    for (int attempt = 0; attempt < 100; attempt++) {
        char name[PATH_MAX];
        int length = snprintf(name, sizeof name, "%s.tmp.%ld.%u", replacement->path, (long)getpid(),
                              atomic_fetch_add(&counter, 1));
        if (length < 0 || (size_t)length >= sizeof name) {
            return mabd_file_fail(error, "write", replacement->path, ENAMETOOLONG);
        }
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && (errno == EEXIST || errno == EINTR)) continue;
        if (fd < 0) return mabd_file_fail(error, "write", replacement->path, errno);
        replacement->temporary = duplicate(allocator, name, &replacement->temporary_bytes);
        if (!replacement->temporary) {
            close(fd);
            unlink(name);
            return mabd_fail_memory(error, "opening a file");
        }
        replacement->fd = fd;
        return MABD_OK;
    }
    return mabd_file_fail(error, "write", replacement->path, EEXIST);
}

// The old file must be writable and, if asked for, in nobody's hands.
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
    replacement->path = duplicate(allocator, resolved, &replacement->path_bytes);
    mabd_status status =
        replacement->path ? MABD_OK : mabd_fail_memory(error, "opening a file for writing");
    if (status == MABD_OK && exists) status = check_old(replacement, claim, error);
    if (status == MABD_OK) status = open_temporary(allocator, replacement, error);
    if (status != MABD_OK) mabd_replacement_end(allocator, replacement);
    return status;
}

static mabd_status sync_directory(const char* path, mabd_error* error) {
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", path);
    char* slash = strrchr(directory, '/');
    if (!slash) {
        snprintf(directory, sizeof directory, ".");
    } else {
        slash[slash == directory ? 1 : 0] = '\0';
    }
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
    if (rename(replacement->temporary, path) != 0) {
        return mabd_file_fail(error, "write", path, errno);
    }
    replacement->temporary[0] = '\0';
    return sync ? sync_directory(path, error) : MABD_OK;
}

void mabd_replacement_end(const mabd_allocator* allocator, mabd_replacement* replacement) {
    bool unfinished = replacement->temporary && replacement->temporary[0] != '\0';
    if (unfinished) {
        close(replacement->fd);
        unlink(replacement->temporary);
        replacement->fd = -1;
    }
    if (replacement->claim_fd >= 0) close(replacement->claim_fd);
    mabd_free(allocator, replacement->temporary, replacement->temporary_bytes);
    mabd_free(allocator, replacement->path, replacement->path_bytes);
    replacement->temporary = replacement->path = NULL;
    replacement->claim_fd = -1;
}
