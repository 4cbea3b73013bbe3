// SPDX-License-Identifier: Apache-2.0
//
// Reading, writing and locking files.
//
// Two locks keep writers apart and admit readers. HDF5 itself takes flock(): shared to read,
// exclusive to write. A writer of this library takes flock() shared, so other programs may read but
// not write, and in addition a record lock that only writers of this library take.

#define _XOPEN_SOURCE 700 // strerror_r of POSIX

#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// Linux locks that belong to the open file, not to the process; not in POSIX before 2024.
#if defined(__linux__) && !defined(F_OFD_SETLK)
#define F_OFD_SETLK 37
#endif
#ifdef F_OFD_SETLK
#define LOCK_COMMAND F_OFD_SETLK
#else
#define LOCK_COMMAND F_SETLK
#endif

mabd_status mabd_file_fail(mabd_error* error, const char* action, const char* path, int number) {
    char reason[128] = "";
    if (strerror_r(number, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", number);
    }
    return mabd_fail(error, MABD_ERR_IO, "cannot %s %.340s: %s", action, path, reason);
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

mabd_file_lock mabd_file_try_lock(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, LOCK_COMMAND, &lock) == 0) return MABD_FILE_LOCKED;
    return errno == EAGAIN || errno == EACCES ? MABD_FILE_LOCK_TAKEN : MABD_FILE_LOCK_UNSUPPORTED;
}

mabd_status mabd_file_claim(int fd, const char* path, mabd_error* error) {
    bool taken = mabd_file_try_lock(fd) == MABD_FILE_LOCK_TAKEN;
    if (!taken) taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken) {
        return mabd_fail(error, MABD_ERR_IO,
                         "cannot write %.340s: it is being written by another run", path);
    }
    return MABD_OK;
}
