// SPDX-License-Identifier: Apache-2.0
// PNG: signature, then chunks { length, type, data, crc32(type, data) }, big-endian:
//   IHDR  width, height, 8 bits, RGB
//   sRGB  rendering intent
//   IDAT  zlib stream of the rows, each led by its filter: of the five, the one with the smallest
//         sum of absolute differences; as many chunks as it takes
//   IEND
// The file is written beside its place and renamed when it is complete and on disk.

#include "base/error.h"
#include "base/memory.h"
#include "mabd/render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (64 * 1024)

typedef struct png_writer {
    FILE* file;
    z_stream stream;
    size_t row_bytes;
    uint8_t *previous, *filtered, *best; // (row_bytes), (row_bytes + 1) twice
    uint8_t* out;                        // (CHUNK)
} png_writer;

static void put_u32(uint8_t* at, uint32_t value) {
    for (int k = 0; k < 4; k++) at[k] = (uint8_t)(value >> (24 - 8 * k));
}

static bool put_chunk(FILE* file, const char* type, const uint8_t* data, uint32_t length) {
    uint8_t head[8], tail[4];
    put_u32(head, length);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0, Z_NULL, 0), head + 4, 4);
    if (length) crc = crc32(crc, data, length);
    put_u32(tail, (uint32_t)crc);
    return fwrite(head, 1, 8, file) == 8 && fwrite(data, 1, length, file) == length &&
           fwrite(tail, 1, 4, file) == 4;
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

// Feed bytes to the compressor and write what it gives; `flush` as in deflate.
static bool compress_bytes(png_writer* w, uint8_t* bytes, size_t count, int flush) {
    w->stream.next_in = bytes;
    w->stream.avail_in = (uInt)count;
    do {
        w->stream.next_out = w->out;
        w->stream.avail_out = CHUNK;
        if (deflate(&w->stream, flush) == Z_STREAM_ERROR) return false;
        uint32_t length = CHUNK - w->stream.avail_out;
        if (length && !put_chunk(w->file, "IDAT", w->out, length)) return false;
    } while (w->stream.avail_out == 0);
    return true;
}

static bool write_rows(png_writer* w, int32_t height, const uint8_t* rgb) {
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
        if (!compress_bytes(w, w->best, w->row_bytes + 1, Z_NO_FLUSH)) return false;
    }
    return compress_bytes(w, w->best, 0, Z_FINISH);
}

static bool write_file(png_writer* w, int32_t width, int32_t height, const uint8_t* rgb) {
    static const uint8_t signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    uint8_t header[13] = {0}, intent = 0;
    put_u32(header, (uint32_t)width);
    put_u32(header + 4, (uint32_t)height);
    header[8] = 8; // bits
    header[9] = 2; // RGB
    return fwrite(signature, 1, 8, w->file) == 8 && put_chunk(w->file, "IHDR", header, 13) &&
           put_chunk(w->file, "sRGB", &intent, 1) && write_rows(w, height, rgb) &&
           put_chunk(w->file, "IEND", &intent, 0) && fflush(w->file) == 0 &&
           fsync(fileno(w->file)) == 0;
}

static mabd_status fail_path(mabd_error* error, const char* path, int reason) {
    return mabd_fail(error, MABD_ERR_IO, "cannot write %s: %s", path,
                     reason ? strerror(reason) : "write failed");
}

// zlib's own memory, from the same allocator: each block is led by its size.
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

// Write to `temporary`, then rename to `path`.
static mabd_status write_and_rename(png_writer* w, const char* path, const char* temporary,
                                    int32_t width, int32_t height, const uint8_t* rgb,
                                    mabd_error* error) {
    errno = 0;
    w->file = fopen(temporary, "wb");
    if (!w->file) return fail_path(error, path, errno);
    bool written = write_file(w, width, height, rgb);
    int reason = written ? 0 : errno;
    if (fclose(w->file) != 0 && written) written = false, reason = errno;
    if (written && rename(temporary, path) != 0) written = false, reason = errno;
    if (written) return MABD_OK;
    remove(temporary);
    return fail_path(error, path, reason);
}

mabd_status mabd_png_write(const char* path, int32_t width, int32_t height, const uint8_t* rgb,
                           mabd_error* error) {
    if (!path || !rgb || width < 1 || height < 1 || width > INT32_MAX / 4) {
        return mabd_fail(error, MABD_ERR_ARG, "png: missing argument or no pixels");
    }
    mabd_allocator allocator = mabd_default_allocator();
    png_writer w = {.row_bytes = 3 * (size_t)width};
    size_t name = strlen(path) + 32, bytes = name + CHUNK + 3 * w.row_bytes + 2;
    char* memory = mabd_alloc(&allocator, bytes);
    if (!memory) return mabd_fail_memory(error, "writing a picture");
    snprintf(memory, name, "%s.%ld.tmp", path, (long)getpid());
    w.out = (uint8_t*)memory + name;
    w.previous = w.out + CHUNK;
    w.filtered = w.previous + w.row_bytes;
    w.best = w.filtered + w.row_bytes + 1;

    w.stream.zalloc = zlib_alloc;
    w.stream.zfree = zlib_free;
    w.stream.opaque = &allocator;
    mabd_status status;
    if (deflateInit(&w.stream, 6) == Z_OK) {
        status = write_and_rename(&w, path, memory, width, height, rgb, error);
        deflateEnd(&w.stream);
    } else {
        status = mabd_fail_memory(error, "writing a picture");
    }
    mabd_free(&allocator, memory, bytes);
    return status;
}
