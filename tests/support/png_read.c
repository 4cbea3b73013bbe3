// SPDX-License-Identifier: Apache-2.0
#include "support/png_read.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t get_u32(const uint8_t* p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint8_t* read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    cr_assert_neq(file, NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t* data = malloc(*size);
    cr_assert_eq(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

// Undo one row's filter [PNG specification, section 9].
static void unfilter(int type, size_t bytes, uint8_t* row, const uint8_t* above) {
    for (size_t i = 0; i < bytes; i++) {
        int a = i < 3 ? 0 : row[i - 3], b = above ? above[i] : 0,
            c = above && i >= 3 ? above[i - 3] : 0;
        int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
        switch (type) {
        case 1:
            row[i] = (uint8_t)(row[i] + a);
            break;
        case 2:
            row[i] = (uint8_t)(row[i] + b);
            break;
        case 3:
            row[i] = (uint8_t)(row[i] + (a + b) / 2);
            break;
        case 4:
            row[i] = (uint8_t)(row[i] + (pa <= pb && pa <= pc ? a : pb <= pc ? b : c));
            break;
        default:
            cr_assert_eq(type, 0);
        }
    }
}

uint8_t* png_read(const char* path, uint32_t* width, uint32_t* height, int* used) {
    size_t size, packed = 0;
    uint8_t *data = read_file(path, &size), *stream = malloc(size);
    cr_assert_eq(memcmp(data, "\x89PNG\r\n\x1a\n", 8), 0);
    bool ended = false;
    for (size_t at = 8; at < size;) {
        uint32_t length = get_u32(data + at);
        const uint8_t* body = data + at + 8;
        cr_assert_leq(at + 12 + length, size);
        cr_assert_eq(get_u32(body + length), (uint32_t)crc32(0, body - 4, length + 4));
        if (!memcmp(body - 4, "IHDR", 4)) {
            *width = get_u32(body), *height = get_u32(body + 4);
            cr_assert_eq(memcmp(body + 8, "\x08\x02\x00\x00\x00", 5), 0);
        } else if (!memcmp(body - 4, "IDAT", 4)) {
            memcpy(stream + packed, body, length), packed += length;
        } else if (!memcmp(body - 4, "IEND", 4)) {
            ended = true;
        }
        at += 12 + length;
    }
    cr_assert(ended);
    size_t row = 3 * (size_t)*width;
    uLongf raw_size = (uLongf)((row + 1) * *height);
    uint8_t *raw = malloc(raw_size), *rgb = malloc(row * *height);
    cr_assert_eq(uncompress(raw, &raw_size, stream, packed), Z_OK);
    cr_assert_eq(raw_size, (row + 1) * *height);
    for (uint32_t y = 0; y < *height; y++) {
        memcpy(rgb + y * row, raw + y * (row + 1) + 1, row);
        unfilter(raw[y * (row + 1)], row, rgb + y * row, y ? rgb + (y - 1) * row : NULL);
        used[raw[y * (row + 1)]]++;
    }
    free(data), free(stream), free(raw);
    return rgb;
}
