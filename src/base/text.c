// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <stdio.h>
#include <string.h>

// Bytes of the UTF-8 sequence at text, 0 if it is broken.
static size_t sequence_length(const char* text) {
    const unsigned char first = (unsigned char)text[0];
    const size_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first > 0xF4) return 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80) return 0;
    }
    return n;
}

// Code point of the control character that the sequence (n bytes) at text is, 0 if it is none.
static uint32_t control_at(const char* text, size_t n) {
    const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[n - 1];
    if (n == 1 && (first < 0x20 || first == 0x7F)) return first;
    return n == 2 && first == 0xC2 && second < 0xA0 ? second : 0;
}

uint32_t mabd_text_control(const char* text) {
    while (*text) {
        const size_t n = sequence_length(text);
        const uint32_t control = n ? control_at(text, n) : 0;
        if (control) return control;
        text += n ? n : 1;
    }
    return 0;
}

static void write_escape(uint32_t control, char* out, size_t size) {
    static const char controls[] = "\n\t\r", letters[] = "ntr";
    const char* known = control < 0x20 ? strchr(controls, (int)control) : NULL;
    if (known) {
        snprintf(out, size, "\\%c", letters[known - controls]);
    } else {
        snprintf(out, size, "\\u%04x", (unsigned)control & 0xffff); // controls are below U+00A0
    }
}

void mabd_text_printable(const char* text, char* out, size_t size) {
    size_t used = 0;
    while (*text) {
        const size_t n = sequence_length(text);
        const uint32_t control = n ? control_at(text, n) : 0;
        char piece[8] = "?";
        if (n) memcpy(piece, text, n), piece[n] = '\0';
        if (control) write_escape(control, piece, sizeof piece);
        const size_t length = strlen(piece);
        if (used + length >= size) break;
        memcpy(out + used, piece, length);
        used += length;
        text += n ? n : 1;
    }
    out[used] = '\0';
}
