// SPDX-License-Identifier: Apache-2.0
#include "import/json/json_place.h"

#include <string.h>

/// A position in the text; it never moves past `end`, even if the text is not valid.
typedef struct cursor {
    const char *at, *end;
} cursor;

mabd_json_location mabd_json_place_of_offset(const char* text, size_t length, size_t offset) {
    mabd_json_location place = {1, 1};
    if (offset > length) offset = length;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) { // not inside a UTF-8 sequence
            place.column++;
        }
    }
    return place;
}

static void skip_space(cursor* c) {
    while (c->at < c->end && memchr(" \t\r\n", *c->at, 4)) c->at++;
}

// Skip white space and one character: ':', ',' or a bracket.
static void skip_mark(cursor* c) {
    skip_space(c);
    if (c->at < c->end) c->at++;
    skip_space(c);
}

static void skip_string(cursor* c) {
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++) {
        if (*c->at == '\\' && c->at + 1 < c->end) c->at++;
    }
    if (c->at < c->end) c->at++;
}

// Skip one value of any depth by counting brackets.
static void skip_value(cursor* c) {
    int64_t depth = 0;
    while (c->at < c->end) {
        char next = *c->at;
        if (depth == 0 && memchr(",]} \t\r\n", next, 7)) return;
        if (next == '"') {
            skip_string(c);
        } else {
            if (next == '{' || next == '[') depth++;
            if (next == '}' || next == ']') depth--;
            c->at++;
        }
        if (depth == 0 && memchr("\"}]", c->at[-1], 3)) return;
    }
}

static uint32_t hex4(const char* digits, const char* end) {
    uint32_t code = 0;
    for (int i = 0; i < 4 && digits + i < end; i++) {
        char d = digits[i];
        uint32_t value = d <= '9' ? (uint32_t)(d - '0') : (uint32_t)((d | 32) - 'a' + 10);
        code = 16 * code + (value & 15);
    }
    return code;
}

// Encode a code point as UTF-8. Returns the number of bytes.
static size_t encode(uint32_t code, char* bytes) {
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)((0xF00 >> n) | code);
    return n;
}

// Decode the escape at c (just after the backslash) into bytes. Returns their number.
static size_t unescape(cursor* c, char* bytes) {
    static const char marks[] = "bfnrt", values[] = "\b\f\n\r\t";
    char mark = *c->at++;
    if (mark != 'u') {
        const char* found = strchr(marks, mark);
        bytes[0] = found && mark ? values[found - marks] : mark;
        return 1;
    }
    uint32_t code = hex4(c->at, c->end);
    c->at += c->end - c->at < 4 ? c->end - c->at : 4;
    if (code >= 0xD800 && code < 0xDC00 && c->end - c->at >= 6) { // a surrogate pair
        code = 0x10000 + ((code - 0xD800) << 10) + ((hex4(c->at + 2, c->end) - 0xDC00) & 0x3FF);
        c->at += 6;
    }
    return encode(code, bytes);
}

// Read the string at c (on its opening quote) and return whether it is `key`.
static bool read_key(cursor* c, const char* key) {
    bool equal = true;
    for (c->at++; c->at < c->end && *c->at != '"';) {
        char bytes[4];
        size_t n = 1;
        bytes[0] = *c->at++;
        if (bytes[0] == '\\' && c->at < c->end) n = unescape(c, bytes);
        equal = equal && strncmp(key, bytes, n) == 0;
        if (equal) key += n;
    }
    if (c->at < c->end) c->at++;
    return equal && *key == '\0';
}

// Move c from the start of an object to the key of a member; *value gets the start of its value.
static void find_member(cursor* c, const char* key, cursor* value) {
    skip_mark(c); // {
    while (c->at < c->end) {
        *value = *c;
        bool found = read_key(value, key);
        skip_mark(value); // :
        if (found) return;
        *c = *value;
        skip_value(c);
        skip_mark(c); // ,
    }
    *value = *c;
}

static void find_element(cursor* c, size_t index) {
    skip_mark(c); // [
    for (size_t i = 0; i < index && c->at < c->end; i++) {
        skip_value(c);
        skip_mark(c); // ,
    }
}

// Find the start of the value of a node; *key gets the start of its key, or of the value if it has
// none.
static cursor locate(const char* text, size_t length, const mabd_json_node* node, cursor* key) {
    cursor c = {text, text + length};
    if (!node->parent) {
        skip_space(&c);
        *key = c;
        return c;
    }
    *key = locate(text, length, node->parent, key);
    if (node->key) {
        find_member(key, node->key, &c);
    } else {
        find_element(key, node->index);
        c = *key;
    }
    return c;
}

mabd_json_location mabd_json_place_of_node(const char* text, size_t length,
                                           const mabd_json_node* node) {
    cursor key, value = locate(text, length, node, &key);
    return mabd_json_place_of_offset(text, length, (size_t)(value.at - text));
}

mabd_json_location mabd_json_place_of_key(const char* text, size_t length,
                                          const mabd_json_node* node) {
    cursor key;
    locate(text, length, node, &key);
    return mabd_json_place_of_offset(text, length, (size_t)(key.at - text));
}
