// SPDX-License-Identifier: Apache-2.0
// Seeded mutations of JSON texts.
#pragma once

#include <stdint.h>
#include <string.h>

/// Draw 31 bits and advance the state.
static inline uint32_t mutate_draw(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/// Replace `cut` bytes at `at` by n others, if the result fits into `room` bytes; return the new
/// size.
static inline size_t mutate_splice(char* text, size_t size, size_t room, size_t at, size_t cut,
                                   const char* with, size_t n) {
    if (at > size) at = size;
    if (cut > size - at) cut = size - at;
    if (size - cut + n > room) return size;
    memmove(text + at + n, text + at + cut, size - at - cut);
    memcpy(text + at, with, n);
    return size - cut + n;
}

/// Apply one random change to a text of `size` bytes in `room`; return the new size.
static inline size_t mutate(char* text, size_t size, size_t room, uint64_t* state) {
    static const char* const pieces[] = {
        "{",       "}",     "[",  "]",    "\"",        ":",       ",",        "-",      "0",
        "1e9",     "1e308", "-1", "null", "true",      "=n",      "\"=1/0\"", "1e-320", "0.5",
        "\\u00e9", "\xFF",  "[]", "{}",   "\"world\"", "1000000", "/0",       "\"\"",   "e"};
    size_t at = size ? mutate_draw(state) % (size + 1) : 0;
    char byte = (char)mutate_draw(state), chunk[32];
    switch (mutate_draw(state) % 8) {
    case 0:
        if (at < size) text[at] = (char)(text[at] ^ (1 << mutate_draw(state) % 8));
        return size;
    case 1:
        return mutate_splice(text, size, room, at, 1, &byte, 1);
    case 2:
        return mutate_splice(text, size, room, at, 1 + mutate_draw(state) % 8, "", 0);
    case 3: { // another part of the text
        size_t from = size ? mutate_draw(state) % size : 0, n = size - from;
        if (n > sizeof chunk) n = sizeof chunk;
        memcpy(chunk, text + from, n);
        return mutate_splice(text, size, room, at, mutate_draw(state) % 4, chunk, n);
    }
    case 4:
    case 5: // another digit, which leaves the text well formed
        while (at < size && (text[at] < '0' || text[at] > '9')) at++;
        if (at < size) text[at] = (char)('0' + mutate_draw(state) % 10);
        return size;
    default: {
        const char* piece = pieces[mutate_draw(state) % (sizeof pieces / sizeof pieces[0])];
        return mutate_splice(text, size, room, at, mutate_draw(state) % 3, piece, strlen(piece));
    }
    }
}
