// SPDX-License-Identifier: Apache-2.0
#include "import/json/json_place.h"

#include "base/text.h"
#include "import/json/json_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

void* mabd_json_take(mabd_json_reader* reader, size_t bytes) {
    const mabd_allocator* allocator = &reader->allocator;
    if (mabd_list_reserve(allocator, &reader->blocks, sizeof(mabd_json_block), 1) != MABD_OK) {
        return NULL;
    }
    mabd_json_block block = {mabd_alloc(allocator, bytes), bytes};
    if (block.data) ((mabd_json_block*)reader->blocks.data)[reader->blocks.count++] = block;
    return block.data;
}

void mabd_json_release(mabd_json_reader* reader) {
    const mabd_allocator* allocator = &reader->allocator;
    const mabd_json_block* blocks = (const mabd_json_block*)reader->blocks.data;
    for (int32_t i = 0; i < reader->blocks.count; i++) {
        mabd_free(allocator, blocks[i].data, blocks[i].bytes);
    }
    mabd_list_free(allocator, &reader->blocks, sizeof(mabd_json_block));
    mabd_list_free(allocator, &reader->geoms, sizeof(mabd_geom));
    mabd_list_free(allocator, &reader->params, sizeof(mabd_json_param));
}

mabd_status mabd_json_no_memory(mabd_json_reader* reader) {
    char text[40];
    snprintf(text, sizeof text, "loading the %s", reader->what);
    return mabd_fail_memory(&reader->error, text);
}

// ---- failures ----------------------------------------------------------------------------------

static mabd_status put_place(mabd_json_reader* reader, mabd_json_location place) {
    reader->error.status = MABD_ERR_INPUT;
    reader->error.line = place.line;
    reader->error.column = place.column;
    return MABD_ERR_INPUT;
}

mabd_status mabd_json_fail(mabd_json_reader* reader, const mabd_json_node* node, const char* format,
                           ...) {
    char text[sizeof reader->error.text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mabd_fail(&reader->error, MABD_ERR_INPUT, "%s", text);
    return put_place(reader, mabd_json_place_of_node(reader->text, reader->length, node));
}

mabd_status mabd_json_place(mabd_json_reader* reader, const mabd_json_node* node,
                            mabd_status status) {
    if (status != MABD_ERR_INPUT && status != MABD_ERR_ARG) return status;
    return put_place(reader, mabd_json_place_of_node(reader->text, reader->length, node));
}

const char* mabd_json_describe(const json_t* value, char* text, size_t size) {
    char number[32];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(text, size, "an object");
        break;
    case JSON_ARRAY:
        snprintf(text, size, "an array of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        snprintf(text, size, "the text '%.40s'", json_string_value(value));
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        mabd_json_number_write(json_number_value(value), number, sizeof number);
        snprintf(text, size, "the number %s", number);
        break;
    case JSON_TRUE:
        snprintf(text, size, "true");
        break;
    case JSON_FALSE:
        snprintf(text, size, "false");
        break;
    case JSON_NULL:
        snprintf(text, size, "null");
        break;
    }
    return text;
}

mabd_status mabd_json_expected(mabd_json_reader* reader, const mabd_json_node* node,
                               const char* what) {
    char found[128];
    const char* name = node->key ? node->key : "";
    return mabd_json_fail(reader, node, "%.40s%sexpected %s, found %s", name, *name ? ": " : "",
                          what, mabd_json_describe(node->value, found, sizeof found));
}

mabd_status mabd_json_missing(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* what, const char* key) {
    return mabd_json_fail(reader, object, "%s needs '%s'", what, key);
}

// ---- structure ---------------------------------------------------------------------------------

bool mabd_json_member(const mabd_json_node* object, const char* key, mabd_json_node* member) {
    const json_t* value = json_object_get(object->value, key);
    if (!value) return false;
    *member = (mabd_json_node){value, object, key, 0};
    return true;
}

mabd_json_node mabd_json_element(const mabd_json_node* array, size_t index) {
    return (mabd_json_node){json_array_get(array->value, index), array, NULL, index};
}

mabd_status mabd_json_array(mabd_json_reader* reader, const mabd_json_node* node) {
    return json_is_array(node->value) ? MABD_OK : mabd_json_expected(reader, node, "an array");
}

mabd_status mabd_json_list(mabd_json_reader* reader, const mabd_json_node* root, const char* key,
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

#define LONGEST_KEY 32

// Count the insertions, deletions and replacements that turn a into b (Levenshtein), row by row.
static size_t edit_distance(const char* a, const char* b) {
    size_t row[LONGEST_KEY + 1], m = strlen(a), n = strlen(b);
    if (m > LONGEST_KEY || n > LONGEST_KEY) return LONGEST_KEY;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

// Find the allowed key that is at most two edits away, and fewer than half its length; null if
// none.
static const char* nearest(const char* key, const char* const* keys) {
    const char* found = NULL;
    size_t best = 3;
    for (; *keys; keys++) {
        size_t distance = edit_distance(key, *keys);
        if (distance < best && 2 * distance < strlen(*keys)) {
            best = distance;
            found = *keys;
        }
    }
    return found;
}

static mabd_status unknown_key(mabd_json_reader* reader, const mabd_json_node* member,
                               const char* const* keys) {
    char list[400] = "";
    size_t used = 0;
    for (size_t i = 0; keys[i] && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", keys[i]);
    }
    const char* near = nearest(member->key, keys);
    mabd_fail(&reader->error, MABD_ERR_INPUT, "unknown field '%.40s'%s%s%s; allowed: %s",
              member->key, near ? ", did you mean '" : "", near ? near : "", near ? "'" : "", list);
    return put_place(reader, mabd_json_place_of_key(reader->text, reader->length, member));
}

mabd_status mabd_json_only(mabd_json_reader* reader, const mabd_json_node* node,
                           const char* const* keys) {
    if (!json_is_object(node->value)) return mabd_json_expected(reader, node, "an object");
    json_t* object = (json_t*)node->value; // the iterator does not change it
    for (void* i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
        const char* key = json_object_iter_key(i);
        size_t k = 0;
        while (keys[k] && strcmp(keys[k], key) != 0) k++;
        if (keys[k]) continue;
        mabd_json_node member = {json_object_iter_value(i), node, key, 0};
        return unknown_key(reader, &member, keys);
    }
    return MABD_OK;
}

// ---- values ------------------------------------------------------------------------------------

static bool is_expression(const json_t* value) {
    return json_is_string(value) && json_string_value(value)[0] == '=';
}

static mabd_status evaluate(mabd_json_reader* reader, const mabd_json_node* node,
                            mabd_json_param* result) {
    char message[400];
    const char* text = json_string_value(node->value);
    if (!mabd_json_expression_evaluate(text + 1, (const mabd_json_param*)reader->params.data,
                                       reader->params.count, result, message, sizeof message)) {
        return mabd_json_fail(reader, node, "in '%.60s': %s", text, message);
    }
    return MABD_OK;
}

// Read a number in double precision, before it is rounded to mabd_real.
static mabd_status read_number(mabd_json_reader* reader, const mabd_json_node* node,
                               double* number) {
    if (!is_expression(node->value)) {
        if (!json_is_number(node->value)) return mabd_json_expected(reader, node, "a number");
        *number = json_number_value(node->value);
        return MABD_OK;
    }
    mabd_json_param result;
    MABD_TRY(evaluate(reader, node, &result));
    if (result.text) {
        return mabd_json_fail(reader, node, "expected a number, found '%.40s' = the text '%.40s'",
                              json_string_value(node->value), result.text);
    }
    *number = result.number;
    return MABD_OK;
}

mabd_status mabd_json_number(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_real* value) {
    double number = 0;
    MABD_TRY(read_number(reader, node, &number));
    mabd_real rounded = (mabd_real)number;
    if (!isfinite(rounded)) return mabd_json_fail(reader, node, "the number is not finite");
    *value = rounded;
    return MABD_OK;
}

mabd_status mabd_json_printable(mabd_json_reader* reader, const mabd_json_node* node) {
    const uint32_t control = mabd_text_control(json_string_value(node->value));
    if (!control) return MABD_OK;
    return mabd_json_fail(reader, node,
                          "expected printable text, found the control character U+%04X",
                          (unsigned)control);
}

mabd_status mabd_json_string(mabd_json_reader* reader, const mabd_json_node* node,
                             const char** value) {
    if (!json_is_string(node->value)) return mabd_json_expected(reader, node, "text");
    MABD_TRY(mabd_json_printable(reader, node));
    if (!is_expression(node->value)) {
        *value = json_string_value(node->value);
        return MABD_OK;
    }
    mabd_json_param result;
    MABD_TRY(evaluate(reader, node, &result));
    if (!result.text) {
        char number[32];
        mabd_json_number_write(result.number, number, sizeof number);
        return mabd_json_fail(reader, node, "expected text, found '%.40s' = the number %s",
                              json_string_value(node->value), number);
    }
    *value = result.text;
    return MABD_OK;
}

mabd_status mabd_json_real(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value) {
    mabd_json_node node;
    return mabd_json_member(object, key, &node) ? mabd_json_number(reader, &node, value) : MABD_OK;
}

// Read a member that must be > 0, or >= 0 if zero_allowed; the message of a failure has its value.
static mabd_status bounded(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           bool zero_allowed, mabd_real* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    mabd_real number = 0;
    MABD_TRY(mabd_json_number(reader, &node, &number));
    if (number < 0 || (number == 0 && !zero_allowed)) {
        char found[32];
        mabd_json_number_write((double)number, found, sizeof found);
        return mabd_json_fail(reader, &node, "%s must be %s 0, found %s", key,
                              zero_allowed ? ">=" : ">", found);
    }
    *value = number;
    return MABD_OK;
}

mabd_status mabd_json_positive(mabd_json_reader* reader, const mabd_json_node* object,
                               const char* key, mabd_real* value) {
    return bounded(reader, object, key, false, value);
}

mabd_status mabd_json_not_negative(mabd_json_reader* reader, const mabd_json_node* object,
                                   const char* key, mabd_real* value) {
    return bounded(reader, object, key, true, value);
}

mabd_status mabd_json_int(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                          int32_t* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    mabd_real number = 0;
    MABD_TRY(mabd_json_number(reader, &node, &number));
    if (number != (mabd_real)floor(number) || fabs(number) > 2147483647.0) {
        char found[32];
        mabd_json_number_write((double)number, found, sizeof found);
        return mabd_json_fail(reader, &node, "%s: expected a whole number below 2^31, found %s",
                              key, found);
    }
    *value = (int32_t)number;
    return MABD_OK;
}

mabd_status mabd_json_bits(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           uint32_t* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    double number = 0;
    MABD_TRY(read_number(reader, &node, &number));
    if (!(number >= 0 && number <= (double)UINT32_MAX) || number != floor(number)) {
        char found[32];
        mabd_json_number_write(number, found, sizeof found);
        return mabd_json_fail(reader, &node,
                              "%s: expected bits as a whole number from 0 to 4294967295, found %s",
                              key, found);
    }
    *value = (uint32_t)number;
    return MABD_OK;
}

mabd_status mabd_json_bool(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           bool* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    if (is_expression(node.value)) {
        mabd_real number;
        MABD_TRY(mabd_json_number(reader, &node, &number));
        if (number != 0 && number != 1) {
            return mabd_json_fail(reader, &node, "%s: an expression must give 0 or 1 here", key);
        }
        *value = number != 0;
        return MABD_OK;
    }
    if (!json_is_boolean(node.value)) return mabd_json_expected(reader, &node, "true or false");
    *value = json_is_true(node.value);
    return MABD_OK;
}

mabd_status mabd_json_text(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           const char** value) {
    mabd_json_node node;
    return mabd_json_member(object, key, &node) ? mabd_json_string(reader, &node, value) : MABD_OK;
}

// Fail at a node whose text is none of `names` (count). Separate from mabd_json_choice, so that
// only a scene with an error pays for the list.
static mabd_status fail_choice(mabd_json_reader* reader, const mabd_json_node* node,
                               const char* const* names, int count, const char* found) {
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    return mabd_json_fail(reader, node, "%s: expected one of %s; found '%.40s'", node->key, list,
                          found);
}

mabd_status mabd_json_choice(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, const char* const* names, int count, int* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    const char* name;
    MABD_TRY(mabd_json_string(reader, &node, &name));
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *value = i;
        return MABD_OK;
    }
    return fail_choice(reader, &node, names, count, name);
}

mabd_status mabd_json_numbers(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* key, size_t n, mabd_real* values) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    if (!json_is_array(node.value) || json_array_size(node.value) != n) {
        char what[40];
        snprintf(what, sizeof what, "an array of %zu numbers", n);
        return mabd_json_expected(reader, &node, what);
    }
    for (size_t i = 0; i < n; i++) {
        mabd_json_node element = mabd_json_element(&node, i);
        MABD_TRY(mabd_json_number(reader, &element, &values[i]));
    }
    return MABD_OK;
}

mabd_status mabd_json_vec3(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value) {
    return mabd_json_numbers(reader, object, key, 3, value);
}

mabd_status mabd_json_body_named(mabd_json_reader* reader, const mabd_json_node* node,
                                 int32_t* body) {
    const char* name = NULL;
    MABD_TRY(mabd_json_string(reader, node, &name));
    *body = strcmp(name, "world") == 0 ? MABD_WORLD : mabd_scene_find_body(reader->scene, name);
    if (*body >= 0 || strcmp(name, "world") == 0) return MABD_OK;
    const char* key = node->key ? node->key : "";
    return mabd_json_fail(reader, node, "%s%sthere is no body named '%.80s'", key, *key ? ": " : "",
                          name);
}

mabd_status mabd_json_body_of(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* key, int32_t* body) {
    mabd_json_node node;
    mabd_json_member(object, key, &node);
    return mabd_json_body_named(reader, &node, body);
}
