// SPDX-License-Identifier: Apache-2.0
// PNG: signature, then chunks { length, type, data, crc32(type, data) }, big-endian:
//   IHDR  width, height, 8 bits, RGB
//   sRGB  rendering intent
//   IDAT  zlib stream of the rows, each preceded by its filter: the one of five with the smallest
//         sum of absolute differences; as many chunks as needed
//   IEND
// The file replaces an existing one when it is complete and on disk.

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/replacement.h"
#include "mabd/render.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (64 * 1024)

typedef struct png_writer {
    int fd;
    uint64_t offset; // bytes written
    const char* path;
    mabd_error* error;
    z_stream stream;
    size_t row_bytes;
    uint8_t *previous, *filtered, *best; // (row_bytes), (row_bytes + 1) twice
    uint8_t* out;                        // (CHUNK)
} png_writer;

static void put_u32(uint8_t* at, uint32_t value) {
    for (int k = 0; k < 4; k++) at[k] = (uint8_t)(value >> (24 - 8 * k));
}

static mabd_status put_bytes(png_writer* w, const void* bytes, size_t count) {
    MABD_TRY(mabd_file_write(w->fd, w->path, bytes, count, w->offset, w->error));
    w->offset += count;
    return MABD_OK;
}

static mabd_status put_chunk(png_writer* w, const char* type, const uint8_t* data,
                             uint32_t length) {
    uint8_t head[8], tail[4];
    put_u32(head, length);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0, Z_NULL, 0), head + 4, 4);
    if (length) crc = crc32(crc, data, length);
    put_u32(tail, (uint32_t)crc);
    MABD_TRY(put_bytes(w, head, 8));
    MABD_TRY(put_bytes(w, data, length));
    return put_bytes(w, tail, 4);
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Filter a row (type 0..4) after the row above; returns the sum of absolute differences.
static uint64_t filter_row(int type, size_t bytes, const uint8_t* row, const uint8_t* above,
                           uint8_t* out) {
    uint64_t sum = 0;
    out[0] = (uint8_t)type;
    for (size_t i = 0; i < bytes; i++) {
        int a = i >= 3 ? row[i - 3] : 0, b = above[i], c = i >= 3 ? above[i - 3] : 0;
        int guess[5] = {0, a, b, (a + b) / 2, type == 4 ? paeth(a, b, c) : 0};
        out[i + 1] = (uint8_t)(row[i] - guess[type]);
        sum += (uint64_t)abs((int8_t)out[i + 1]);
    }
    return sum;
}

// Feed bytes to the compressor and write its output; `flush` as in deflate.
static mabd_status compress_bytes(png_writer* w, uint8_t* bytes, size_t count, int flush) {
    w->stream.next_in = bytes;
    w->stream.avail_in = (uInt)count;
    do {
        w->stream.next_out = w->out;
        w->stream.avail_out = CHUNK;
        if (deflate(&w->stream, flush) == Z_STREAM_ERROR) {
            return mabd_fail(w->error, MABD_ERR_IO, "cannot write %.340s: deflate failed", w->path);
        }
        uint32_t length = CHUNK - w->stream.avail_out;
        if (length) MABD_TRY(put_chunk(w, "IDAT", w->out, length));
    } while (w->stream.avail_out == 0);
    return MABD_OK;
}

static mabd_status write_rows(png_writer* w, int32_t height, const uint8_t* rgb) {
    memset(w->previous, 0, w->row_bytes);
    for (int32_t y = 0; y < height; y++) {
        const uint8_t* row = rgb + (size_t)y * w->row_bytes;
        const uint8_t* above = y ? row - w->row_bytes : w->previous;
        uint64_t least = UINT64_MAX;
        for (int type = 0; type < 5; type++) {
            uint64_t sum = filter_row(type, w->row_bytes, row, above, w->filtered);
            if (sum >= least) continue;
            least = sum;
            uint8_t* keep = w->best;
            w->best = w->filtered;
            w->filtered = keep;
        }
        MABD_TRY(compress_bytes(w, w->best, w->row_bytes + 1, Z_NO_FLUSH));
    }
    return compress_bytes(w, w->best, 0, Z_FINISH);
}

static mabd_status write_chunks(png_writer* w, int32_t width, int32_t height, const uint8_t* rgb) {
    static const uint8_t signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    uint8_t header[13] = {0}, intent = 0;
    put_u32(header, (uint32_t)width);
    put_u32(header + 4, (uint32_t)height);
    header[8] = 8; // bits
    header[9] = 2; // RGB
    MABD_TRY(put_bytes(w, signature, sizeof signature));
    MABD_TRY(put_chunk(w, "IHDR", header, 13));
    MABD_TRY(put_chunk(w, "sRGB", &intent, 1));
    MABD_TRY(write_rows(w, height, rgb));
    return put_chunk(w, "IEND", &intent, 0);
}

// Memory of zlib from the same allocator: each block is preceded by its size.
static voidpf zlib_alloc(voidpf context, uInt items, uInt size) {
    size_t bytes = (size_t)items * size + MABD_ALIGNMENT;
    char* memory = mabd_alloc(context, bytes);
    if (!memory) return Z_NULL;
    memcpy(memory, &bytes, sizeof bytes);
    return memory + MABD_ALIGNMENT;
}

static void zlib_free(voidpf context, voidpf address) {
    char* memory = (char*)address - MABD_ALIGNMENT;
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    mabd_free(context, memory, bytes);
}

static mabd_status write_file(png_writer* w, const mabd_allocator* allocator, int32_t width,
                              int32_t height, const uint8_t* rgb) {
    mabd_replacement file;
    MABD_TRY(mabd_replacement_begin(allocator, w->path, false, &file, w->error));
    w->fd = file.fd;
    mabd_status status = write_chunks(w, width, height, rgb);
    if (status == MABD_OK) status = mabd_replacement_finish(&file, true, w->error);
    mabd_replacement_end(allocator, &file);
    if (file.fd >= 0) close(file.fd);
    return status;
}

mabd_status mabd_png_write(const char* path, int32_t width, int32_t height, const uint8_t* rgb,
                           mabd_error* error) {
    if (!path || !rgb || width < 1 || height < 1 || width > INT32_MAX / 4) {
        return mabd_fail(error, MABD_ERR_ARG, "png: missing argument or no pixels");
    }
    mabd_allocator allocator = mabd_default_allocator();
    png_writer w = {.path = path, .error = error, .row_bytes = 3 * (size_t)width};
    size_t bytes = CHUNK + 3 * w.row_bytes + 2;
    w.out = mabd_alloc(&allocator, bytes);
    if (!w.out) return mabd_fail_memory(error, "writing a picture");
    w.previous = w.out + CHUNK;
    w.filtered = w.previous + w.row_bytes;
    w.best = w.filtered + w.row_bytes + 1;

    w.stream.zalloc = zlib_alloc;
    w.stream.zfree = zlib_free;
    w.stream.opaque = &allocator;
    mabd_status status;
    if (deflateInit(&w.stream, 6) == Z_OK) {
        status = write_file(&w, &allocator, width, height, rgb);
        deflateEnd(&w.stream);
    } else {
        status = mabd_fail_memory(error, "writing a picture");
    }
    mabd_free(&allocator, w.out, bytes);
    return status;
}
