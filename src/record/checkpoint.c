// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: the complete state as bytes, in one file that is replaced as a whole.
//
//   0  magic "MABDCKPT"        32 hash of the model       header | state | extra | checksum
//   8  format version (4)      40 bytes of the state
//  12  byte order mark (4)     48 bytes of the caller's extra
//  16  bytes of a real (4)     56 unused, zero
//  20  bytes of the header (4) 64 state, extra, then the checksum of all bytes before it (8)
//  24  step count
//
// Numbers are stored as in memory; the mark identifies a machine of the other byte order. The
// checksum reads the file in words w of 8 bytes: s <- rotate((s xor w) * odd, 29). Each step is one
// to one in s and in w, so any damage within one word changes the sum.

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/replacement.h"
#include "mabd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_VERSION  1
#define BYTE_ORDER_MARK UINT32_C(0x01020304)

typedef struct header {
    char magic[8];
    uint32_t version, byte_order, real_size, header_size;
    int64_t step;
    uint64_t model_hash, state_size, extra_size, unused;
} header;
_Static_assert(sizeof(header) == 64, "the header has no padding");

static const char magic[8] = "MABDCKPT";

static uint64_t checksum(const unsigned char* bytes, size_t size) {
    uint64_t sum = UINT64_C(0x9e3779b97f4a7c15) ^ size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        sum = (sum ^ word) * UINT64_C(0xd6e8feb86659fd93);
        sum = sum << 29 | sum >> 35;
    }
    return sum;
}

// Bytes of the whole file; SIZE_MAX if they overflow.
static size_t whole_size(uint64_t state_size, uint64_t extra_size) {
    const size_t fixed = sizeof(header) + sizeof(uint64_t);
    if (state_size > SIZE_MAX / 4 || extra_size > SIZE_MAX / 4) return SIZE_MAX;
    return fixed + (size_t)state_size + (size_t)extra_size;
}

static mabd_allocator allocator_of(const mabd_sim* sim) {
    const mabd_sim_def def = mabd_sim_get_def(sim);
    return def.allocator ? *def.allocator : mabd_default_allocator();
}

// ---- writing -----------------------------------------------------------------------------------

static void fill(unsigned char* file, const mabd_sim* sim, const void* extra, size_t extra_size) {
    header head = {
        .version = FORMAT_VERSION,
        .byte_order = BYTE_ORDER_MARK,
        .real_size = sizeof(mabd_real),
        .header_size = sizeof(header),
        .step = mabd_sim_step_count(sim),
        .model_hash = mabd_model_hash(mabd_sim_model(sim)),
        .state_size = mabd_sim_state_size(sim),
        .extra_size = extra_size,
    };
    memcpy(head.magic, magic, sizeof magic);
    memcpy(file, &head, sizeof head);
    mabd_sim_save(sim, file + sizeof head);
    size_t end = sizeof head + (size_t)head.state_size;
    if (extra_size > 0) memcpy(file + end, extra, extra_size);
    end += extra_size;
    const uint64_t sum = checksum(file, end);
    memcpy(file + end, &sum, sizeof sum);
}

mabd_status mabd_checkpoint_write(const char* path, const mabd_sim* sim, const void* extra,
                                  size_t extra_size, mabd_error* error) {
    if (!path || !sim || (!extra && extra_size > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_checkpoint_write: null argument");
    }
    const mabd_allocator allocator = allocator_of(sim);
    const size_t size = whole_size(mabd_sim_state_size(sim), extra_size);
    unsigned char* bytes = size == SIZE_MAX ? NULL : mabd_alloc(&allocator, size);
    if (!bytes) return mabd_fail_memory(error, "writing a checkpoint");
    fill(bytes, sim, extra, extra_size);

    mabd_replacement file;
    mabd_status status = mabd_replacement_begin(&allocator, path, false, &file, error);
    if (status == MABD_OK) {
        status = mabd_file_write(file.fd, path, bytes, size, 0, error);
        if (status == MABD_OK) status = mabd_replacement_finish(&file, true, error);
        mabd_replacement_end(&allocator, &file);
        if (file.fd >= 0) close(file.fd);
    }
    mabd_free(&allocator, bytes, size);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static mabd_status refuse(mabd_error* error, const char* what) {
    return mabd_fail(error, MABD_ERR_INPUT, "%s", what);
}

// Check the header after the magic, field by field in the order in which they can be interpreted.
static mabd_status check_format(const header* head, mabd_error* error) {
    if (head->byte_order != BYTE_ORDER_MARK) {
        return refuse(error, head->byte_order == UINT32_C(0x04030201)
                                 ? "it is from a machine of the other byte order"
                                 : "it is damaged");
    }
    if (head->version != FORMAT_VERSION) {
        return mabd_fail(error, MABD_ERR_INPUT, "expected format version %d, got %" PRIu32,
                         FORMAT_VERSION, head->version);
    }
    if (head->header_size != sizeof(header)) return refuse(error, "it is damaged");
    if (head->real_size != sizeof(mabd_real)) {
        return refuse(error, "it is from a build of another precision");
    }
    return MABD_OK;
}

static mabd_status check_size(const header* head, uint64_t size, mabd_error* error) {
    const size_t whole = whole_size(head->state_size, head->extra_size);
    if (whole == SIZE_MAX) return refuse(error, "its sizes are damaged");
    if (size == whole) return MABD_OK;
    return mabd_fail(error, MABD_ERR_INPUT, "it is %s: expected %zu bytes, got %" PRIu64,
                     size < whole ? "truncated" : "too large", whole, size);
}

static mabd_status check_simulation(const header* head, const mabd_sim* sim, size_t extra_size,
                                    mabd_error* error) {
    if (head->model_hash != mabd_model_hash(mabd_sim_model(sim))) {
        return refuse(error, "it is a checkpoint of another model");
    }
    if (head->extra_size != extra_size) {
        return mabd_fail(error, MABD_ERR_INPUT, "expected %zu extra bytes, got %" PRIu64,
                         extra_size, head->extra_size);
    }
    return MABD_OK;
}

// Read the whole file; the caller frees *bytes.
static mabd_status load(const mabd_allocator* allocator, int fd, const char* path,
                        unsigned char** bytes, size_t* size, mabd_error* error) {
    struct stat info;
    if (fstat(fd, &info) != 0) return mabd_file_fail(error, "read", path, errno);
    if (S_ISDIR(info.st_mode)) return mabd_file_fail(error, "read", path, EISDIR);
    if (!S_ISREG(info.st_mode)) return refuse(error, "it is not a regular file");

    header head;
    size_t got = 0;
    MABD_TRY(mabd_file_read(fd, path, &head, sizeof head, 0, &got, error));
    bool started = got >= sizeof magic && memcmp(head.magic, magic, sizeof magic) == 0;
    if (started && got < sizeof head) return refuse(error, "it is truncated");
    if (!started) return refuse(error, "it is not a checkpoint");
    MABD_TRY(check_format(&head, error));
    MABD_TRY(check_size(&head, (uint64_t)info.st_size, error));

    *size = (size_t)info.st_size;
    *bytes = mabd_alloc(allocator, *size);
    if (!*bytes) return mabd_fail_memory(error, "reading a checkpoint");
    MABD_TRY(mabd_file_read(fd, path, *bytes, *size, 0, &got, error));
    return got == *size ? MABD_OK : refuse(error, "it changed while it was read");
}

static mabd_status restore(const unsigned char* bytes, size_t size, mabd_sim* sim, void* extra,
                           size_t extra_size, mabd_error* error) {
    header head;
    uint64_t sum;
    memcpy(&head, bytes, sizeof head);
    memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
    if (sum != checksum(bytes, size - sizeof sum)) {
        return refuse(error, "it is damaged: the checksum does not match");
    }
    MABD_TRY(check_simulation(&head, sim, extra_size, error));
    MABD_TRY(mabd_sim_restore(sim, bytes + sizeof head, (size_t)head.state_size, error));
    if (extra_size > 0) memcpy(extra, bytes + sizeof head + head.state_size, extra_size);
    return MABD_OK;
}

mabd_status mabd_checkpoint_read(const char* path, mabd_sim* sim, void* extra, size_t extra_size,
                                 mabd_error* error) {
    if (!path || !sim || (!extra && extra_size > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_checkpoint_read: null argument");
    }
    const mabd_allocator allocator = allocator_of(sim);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return mabd_file_fail(error, "read", path, errno);
    unsigned char* bytes = NULL;
    size_t size = 0;
    mabd_status status = load(&allocator, fd, path, &bytes, &size, error);
    close(fd);
    if (status == MABD_OK) status = restore(bytes, size, sim, extra, extra_size, error);
    mabd_free(&allocator, bytes, size);
    return status;
}
