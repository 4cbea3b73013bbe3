// SPDX-License-Identifier: Apache-2.0
// Load a scene from a JSON document (docs/guide/scene-format.md). The whole text is parsed, then
// visited once; every part is passed to the builder, which checks it. Generators come first, then
// bodies, joints and forces, so that these may refer to generated bodies.
#include "import/json/json_internal.h"
#include "import/json/json_place.h"
#include "scene/scene_data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST_TEXT ((size_t)1 << 30) // bytes
#define CHUNK        ((size_t)1 << 16) // bytes, when the size of a file is not known

/// A text in memory of the allocator of the scene.
typedef struct buffer {
    char* data;
    size_t length, capacity; // capacity > length; zero-terminated: memory is zeroed
} buffer;

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

static mabd_status parse(mabd_json_reader* reader, json_t** root) {
    const char* text = reader->text;
    const char* zero = (const char*)memchr(text, '\0', reader->length);
    if (zero) {
        return fail_at_offset(reader, (size_t)(zero - text),
                              "expected UTF-8 text, found a zero byte");
    }
    if (strspn(text, " \t\r\n") == reader->length) {
        return fail_at_offset(reader, 0,
                              "expected a scene {...}, found nothing: the text is empty");
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

// ---- the document ------------------------------------------------------------------------------

static mabd_status read_list(mabd_json_reader* reader, const mabd_json_node* root, const char* key,
                             mabd_status (*read)(mabd_json_reader*, const mabd_json_node*)) {
    mabd_json_node array;
    if (!mabd_json_member(root, key, &array)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &array));
    for (size_t i = 0; i < json_array_size(array.value); i++) {
        mabd_json_node element = mabd_json_element(&array, i);
        MABD_TRY(read(reader, &element));
    }
    return MABD_OK;
}

static mabd_status read_document(mabd_json_reader* reader, const mabd_json_node* root,
                                 int32_t setting_count, const mabd_setting* settings) {
    static const char* const keys[] = {"name",  "params",     "time",   "start",  "gravity",
                                       "wind",  "contact",    "bodies", "joints", "forces",
                                       "pairs", "generators", "young",  NULL};
    MABD_TRY(mabd_json_only(reader, root, keys));
    MABD_TRY(mabd_json_params(reader, root, setting_count, settings));
    const char* name = NULL;
    MABD_TRY(mabd_json_text(reader, root, "name", &name));
    if (name && mabd_scene_set_name(reader->scene, name) != MABD_OK) {
        return mabd_json_no_memory(reader);
    }
    MABD_TRY(mabd_json_surroundings(reader, root));
    MABD_TRY(mabd_json_contact(reader, root));
    mabd_json_node generators;
    if (mabd_json_member(root, "generators", &generators)) {
        MABD_TRY(mabd_json_array(reader, &generators));
        MABD_TRY(mabd_json_generators(reader, &generators));
    }
    MABD_TRY(read_list(reader, root, "bodies", mabd_json_body));
    MABD_TRY(read_list(reader, root, "joints", mabd_json_joint));
    MABD_TRY(read_list(reader, root, "forces", mabd_json_force));
    return read_list(reader, root, "pairs", mabd_json_pair);
}

// Store the text in the scene.
static mabd_status keep_text(mabd_json_reader* reader) {
    mabd_scene* scene = reader->scene;
    char* copy = mabd_scene_copy_text(scene, reader->text);
    if (!copy) return mabd_json_no_memory(reader);
    mabd_scene_free_text(scene, scene->text);
    scene->text = copy;
    return MABD_OK;
}

static mabd_status load_buffer(mabd_scene* scene, const buffer* text, int32_t setting_count,
                               const mabd_setting* settings, mabd_error* error) {
    mabd_json_reader reader = {.scene = scene, .allocator = scene->allocator};
    reader.text = text->data;
    reader.length = text->length;
    mabd_fail(&reader.error, MABD_OK, "%s", "");
    json_t* document = NULL;
    mabd_status status = parse(&reader, &document);
    if (status == MABD_OK) {
        mabd_json_node root = {document, NULL, NULL, 0};
        status = read_document(&reader, &root, setting_count, settings);
    }
    if (status == MABD_OK) status = keep_text(&reader);
    json_decref(document);
    mabd_json_release(&reader);
    if (status != MABD_OK && error) {
        *error = reader.error;
        error->status = status;
    }
    return status;
}

// ---- texts and files ---------------------------------------------------------------------------

static mabd_status check_arguments(const mabd_scene* scene, const char* source,
                                   int32_t setting_count, const mabd_setting* settings,
                                   mabd_error* error) {
    if (!scene || !source || setting_count < 0 || (setting_count > 0 && !settings)) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene, a source and settings must be given");
    }
    for (int32_t i = 0; i < setting_count; i++) {
        if (!settings[i].name || !settings[i].value) {
            return mabd_fail(error, MABD_ERR_ARG, "setting %d has no name or no value", (int)i);
        }
    }
    if (scene->bodies.count || scene->joints.count || scene->params.count) {
        return mabd_fail(error, MABD_ERR_ARG, "the scene to load into is not empty");
    }
    return MABD_OK;
}

static mabd_status fail_size(mabd_error* error) {
    return mabd_fail(error, MABD_ERR_INPUT, "the scene is larger than 1 GB");
}

static void free_buffer(const mabd_scene* scene, buffer* text) {
    mabd_free(&scene->allocator, text->data, text->capacity);
    text->data = NULL;
}

// Make room for `more` bytes and a terminating zero.
static mabd_status grow(const mabd_scene* scene, buffer* text, size_t more, mabd_error* error) {
    if (more > LARGEST_TEXT || text->length > LARGEST_TEXT - more) return fail_size(error);
    if (text->capacity > text->length + more) return MABD_OK;
    buffer larger = {NULL, text->length, text->length + more + 1};
    if (text->length && larger.capacity < 2 * text->length) larger.capacity = 2 * text->length;
    larger.data = (char*)mabd_alloc(&scene->allocator, larger.capacity);
    if (!larger.data) return mabd_fail_memory(error, "reading the scene");
    if (text->length) memcpy(larger.data, text->data, text->length);
    free_buffer(scene, text);
    *text = larger;
    return MABD_OK;
}

mabd_status mabd_scene_load_text(mabd_scene* scene, const char* text, size_t length,
                                 int32_t setting_count, const mabd_setting* settings,
                                 mabd_error* error) {
    MABD_TRY(check_arguments(scene, text, setting_count, settings, error));
    buffer copy = {NULL, 0, 0};
    MABD_TRY(grow(scene, &copy, length, error));
    memcpy(copy.data, text, length);
    copy.length = length;
    mabd_status status = load_buffer(scene, &copy, setting_count, settings, error);
    free_buffer(scene, &copy);
    return status;
}

// Read a file to its end. A regular file is measured first, so that it takes one allocation.
static mabd_status read_file(const mabd_scene* scene, FILE* file, buffer* text, mabd_error* error) {
    struct stat about;
    if (fstat(fileno(file), &about) != 0) {
        return mabd_fail(error, MABD_ERR_IO, "cannot read: %s", strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) return mabd_fail(error, MABD_ERR_IO, "cannot read: a directory");
    size_t chunk = CHUNK;
    if (S_ISREG(about.st_mode) && about.st_size >= 0) {
        if ((uintmax_t)about.st_size > LARGEST_TEXT) return fail_size(error);
        chunk = (size_t)about.st_size + 1; // one more byte to detect the end of the file
    }
    for (;;) {
        MABD_TRY(grow(scene, text, chunk, error));
        size_t got = fread(text->data + text->length, 1, chunk, file);
        text->length += got;
        if (ferror(file)) {
            return mabd_fail(error, MABD_ERR_IO, "cannot read: %s", strerror(errno));
        }
        if (got < chunk) return MABD_OK;
        chunk = CHUNK;
    }
}

mabd_status mabd_scene_load(mabd_scene* scene, const char* path, int32_t setting_count,
                            const mabd_setting* settings, mabd_error* error) {
    MABD_TRY(check_arguments(scene, path, setting_count, settings, error));
    FILE* file = fopen(path, "rb");
    if (!file) return mabd_fail(error, MABD_ERR_IO, "cannot open: %s", strerror(errno));
    buffer text = {NULL, 0, 0};
    mabd_status status = read_file(scene, file, &text, error);
    fclose(file);
    if (status == MABD_OK) {
        status = load_buffer(scene, &text, setting_count, settings, error);
    }
    free_buffer(scene, &text);
    return status;
}
