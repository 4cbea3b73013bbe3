// SPDX-License-Identifier: Apache-2.0
#include "import/json/json_document.h"

#include "import/json/json_internal.h"
#include "import/json/json_place.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST_TEXT ((size_t)1 << 30) // bytes
#define CHUNK        ((size_t)1 << 16) // bytes, when the size of a file is not known

// ---- parsing -----------------------------------------------------------------------------------

static mabd_status fail_at_offset(mabd_json_reader* reader, size_t offset, const char* text) {
    mabd_json_location place = mabd_json_place_of_offset(reader->text, reader->length, offset);
    mabd_fail(&reader->error, MABD_ERR_INPUT, "%s", text);
    reader->error.line = place.line;
    reader->error.column = place.column;
    return MABD_ERR_INPUT;
}

// Find the start of the token that the parser names in "... near 'token'"; its end if the parser
// names none, or if the fault is the byte after it.
static size_t token_start(const mabd_json_reader* reader, const json_error_t* error) {
    size_t end = error->position < 0 ? 0 : (size_t)error->position;
    if (end > reader->length) end = reader->length;
    const char* near = strstr(error->text, " near '");
    if (!near || strncmp(error->text, "unable to decode", 16) == 0) return end;
    near += strlen(" near '");
    size_t length = strlen(near);
    if (length < 2 || length - 1 > end) return end;
    length--; // the closing quote
    return memcmp(reader->text + end - length, near, length) == 0 ? end - length : end;
}

// True if the parser ran out of memory: its message is empty, or it reports the string that it has
// just read as missing.
static bool is_memory_failure(const mabd_json_reader* reader, const json_error_t* error) {
    if (error->text[0] == '\0' || json_error_code(error) == json_error_out_of_memory) return true;
    size_t end = error->position < 0 ? 0 : (size_t)error->position;
    if (end < 2 || end > reader->length || reader->text[end - 1] != '"') return false;
    return strncmp(error->text, "invalid token", 13) == 0 ||
           strncmp(error->text, "string or '}' expected", 22) == 0;
}

mabd_status mabd_json_parse(mabd_json_reader* reader, json_t** root) {
    const char* text = reader->text;
    const char* zero = (const char*)memchr(text, '\0', reader->length);
    if (zero) {
        return fail_at_offset(reader, (size_t)(zero - text),
                              "expected UTF-8 text, found a zero byte");
    }
    if (strspn(text, " \t\r\n") == reader->length) {
        char message[100];
        snprintf(message, sizeof message, "expected a %s {...}, found nothing: the text is empty",
                 reader->what);
        return fail_at_offset(reader, 0, message);
    }
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) {
        return fail_at_offset(reader, 0, "expected '{', found a byte order mark: save without it");
    }
    json_error_t error;
    *root =
        json_loadb(text, reader->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (*root) return MABD_OK;
    if (is_memory_failure(reader, &error)) return mabd_json_no_memory(reader);
    return fail_at_offset(reader, token_start(reader, &error), error.text);
}

// ---- texts and files ---------------------------------------------------------------------------

static mabd_status fail_size(const char* what, mabd_error* error) {
    return mabd_fail(error, MABD_ERR_INPUT, "the %s is larger than 1 GB", what);
}

void mabd_json_source_free(const mabd_allocator* allocator, mabd_json_source* text) {
    mabd_free(allocator, text->data, text->capacity);
    text->data = NULL;
}

static mabd_status fail_memory(const char* what, mabd_error* error) {
    char text[40];
    snprintf(text, sizeof text, "reading the %s", what);
    return mabd_fail_memory(error, text);
}

// Make room for `more` bytes and a terminating zero.
static mabd_status grow(const mabd_allocator* allocator, const char* what, mabd_json_source* text,
                        size_t more, mabd_error* error) {
    if (more > LARGEST_TEXT || text->length > LARGEST_TEXT - more) return fail_size(what, error);
    if (text->capacity > text->length + more) return MABD_OK;
    mabd_json_source larger = {NULL, text->length, text->length + more + 1};
    if (text->length && larger.capacity < 2 * text->length) larger.capacity = 2 * text->length;
    larger.data = (char*)mabd_alloc(allocator, larger.capacity);
    if (!larger.data) return fail_memory(what, error);
    if (text->length) memcpy(larger.data, text->data, text->length);
    mabd_json_source_free(allocator, text);
    *text = larger;
    return MABD_OK;
}

mabd_status mabd_json_source_copy(const mabd_allocator* allocator, const char* what,
                                  const char* text, size_t length, mabd_json_source* source,
                                  mabd_error* error) {
    *source = (mabd_json_source){NULL, 0, 0};
    MABD_TRY(grow(allocator, what, source, length, error));
    memcpy(source->data, text, length);
    source->length = length;
    return MABD_OK;
}

// Read a file to its end. A regular file is measured first, so that it takes one allocation.
static mabd_status read_file(const mabd_allocator* allocator, const char* what, FILE* file,
                             mabd_json_source* text, mabd_error* error) {
    struct stat about;
    if (fstat(fileno(file), &about) != 0) {
        return mabd_fail(error, MABD_ERR_IO, "cannot read: %s", strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) return mabd_fail(error, MABD_ERR_IO, "cannot read: a directory");
    size_t chunk = CHUNK;
    if (S_ISREG(about.st_mode) && about.st_size >= 0) {
        if ((uintmax_t)about.st_size > LARGEST_TEXT) return fail_size(what, error);
        chunk = (size_t)about.st_size + 1; // one more byte to detect the end of the file
    }
    for (;;) {
        MABD_TRY(grow(allocator, what, text, chunk, error));
        size_t got = fread(text->data + text->length, 1, chunk, file);
        text->length += got;
        if (ferror(file)) {
            return mabd_fail(error, MABD_ERR_IO, "cannot read: %s", strerror(errno));
        }
        if (got < chunk) return MABD_OK;
        chunk = CHUNK;
    }
}

mabd_status mabd_json_source_read(const mabd_allocator* allocator, const char* what,
                                  const char* path, mabd_json_source* source, mabd_error* error) {
    *source = (mabd_json_source){NULL, 0, 0};
    FILE* file = fopen(path, "rb");
    if (!file) return mabd_fail(error, MABD_ERR_IO, "cannot open: %s", strerror(errno));
    const mabd_status status = read_file(allocator, what, file, source, error);
    fclose(file);
    if (status != MABD_OK) mabd_json_source_free(allocator, source);
    return status;
}
