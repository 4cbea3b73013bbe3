// SPDX-License-Identifier: Apache-2.0
// Tests for src/import/json/json_place.c
#include "import/json/json_place.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static mabd_json_node root_node = {NULL, NULL, NULL, 0};

static mabd_json_node member(const mabd_json_node* parent, const char* key) {
    return (mabd_json_node){NULL, parent, key, 0};
}

static mabd_json_node element(const mabd_json_node* parent, size_t index) {
    return (mabd_json_node){NULL, parent, NULL, index};
}

static void expect(const char* text, const mabd_json_node* node, int line, int column) {
    mabd_json_location place = mabd_json_place_of_node(text, strlen(text), node);
    cr_expect(eq(i32, place.line, line), "line in %s", text);
    cr_expect(eq(i32, place.column, column), "column in %s", text);
}

static void expect_key(const char* text, const mabd_json_node* node, int line, int column) {
    mabd_json_location place = mabd_json_place_of_key(text, strlen(text), node);
    cr_expect(eq(i32, place.line, line), "line in %s", text);
    cr_expect(eq(i32, place.column, column), "column in %s", text);
}

Test(json_place, the_root_is_after_leading_space) {
    expect("{}", &root_node, 1, 1);
    expect(" \n\n\t {}", &root_node, 3, 3);
}

Test(json_place, members_and_elements_on_one_line) {
    const char* text = "{\"a\": 1, \"bc\" : [10, \"x\", {\"d\":true}]}";
    mabd_json_node a = member(&root_node, "a"), bc = member(&root_node, "bc");
    mabd_json_node first = element(&bc, 0), second = element(&bc, 1), third = element(&bc, 2);
    mabd_json_node d = member(&third, "d");
    expect(text, &a, 1, 7);
    expect(text, &bc, 1, 17);
    expect(text, &first, 1, 18);
    expect(text, &second, 1, 22);
    expect(text, &third, 1, 27);
    expect(text, &d, 1, 32);
    expect_key(text, &a, 1, 2);
    expect_key(text, &bc, 1, 10);
    expect_key(text, &d, 1, 28);
    expect_key(text, &second, 1, 22);
}

Test(json_place, lines_are_counted_over_nested_values) {
    const char* text = "{\n  \"skip\": {\"a\": [1, [2, {}], \"]}\"],\n  \"b\": []},\n"
                       "  \"a\":\n    [[1, 2],\n     [3,\n 4]]\n}\n";
    mabd_json_node a = member(&root_node, "a"), row = element(&a, 1), four = element(&row, 1);
    expect(text, &a, 5, 5);
    expect(text, &row, 6, 6);
    expect(text, &four, 7, 2);
    expect_key(text, &a, 4, 3);
}

Test(json_place, quotes_and_brackets_inside_strings_do_not_count) {
    const char* text = "{\"a\": \"\\\\\", \"b\": \"\\\"}],\", \"c\": \"{[\", \"d\": 1}";
    mabd_json_node d = member(&root_node, "d");
    expect(text, &d, 1, (int)(strstr(text, "1}") - text) + 1);
}

Test(json_place, a_key_that_is_the_start_of_another_is_distinguished) {
    const char* text = "{\"axis2\": 1, \"axis\": 2, \"axi\": 3}";
    mabd_json_node axis = member(&root_node, "axis"), axi = member(&root_node, "axi");
    expect(text, &axis, 1, 22);
    expect(text, &axi, 1, 32);
}

Test(json_place, escaped_keys_are_decoded) {
    const char* text = "{\"a\\tb\": 1, \"\\u006eame\": 2, \"\\ud83d\\ude00\": 3, \"\\u00e9\": 4}";
    mabd_json_node tab = member(&root_node, "a\tb"), name = member(&root_node, "name");
    mabd_json_node face = member(&root_node, "\xF0\x9F\x98\x80");
    mabd_json_node accent = member(&root_node, "\xC3\xA9");
    expect_key(text, &tab, 1, 2);
    expect(text, &name, 1, 26);
    expect(text, &face, 1, 45);
    expect(text, &accent, 1, 58);
}

Test(json_place, columns_count_code_points) {
    const char* text = "{\"h\xC3\xB6he\": \"\xE2\x82\xAC\xF0\x9F\x98\x80\", \"b\": 1}";
    mabd_json_node b = member(&root_node, "b");
    expect_key(text, &b, 1, 16);
    mabd_json_location end = mabd_json_place_of_offset(text, strlen(text), 10 * strlen(text));
    cr_expect(eq(i32, end.column, 23));
}

// The oracle is the parser: from the place that the scanner found, it must read exactly that
// element.
Test(json_place, agrees_with_the_parser_on_a_random_document) {
    char text[4096] = "[";
    uint64_t state = 7;
    for (int i = 0; i < 60; i++) {
        static const char* const values[] = {
            "1", "\"\\\"[\"", "[]", "{}", "[[1,2]]", "{\"a\":{\"b\":\"}\"}}", "null"};
        static const char* const spaces[] = {"", "\n", " ", "\n\n  "};
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        strcat(text, i ? "," : "");
        strcat(text, spaces[(state >> 33) % 4]);
        strcat(text, values[(state >> 40) % 7]);
        strcat(text, spaces[(state >> 50) % 4]);
    }
    strcat(text, "]");
    json_error_t error;
    json_t* document = json_loads(text, 0, &error);
    cr_assert(document != NULL);
    for (size_t i = 0; i < 60; i++) {
        mabd_json_node node = element(&root_node, i);
        mabd_json_location place = mabd_json_place_of_node(text, strlen(text), &node);
        const char* at = text;
        for (int line = 1; line < place.line; line++) at = strchr(at, '\n') + 1;
        at += place.column - 1;
        json_error_t rest;
        json_t* value = json_loads(at, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &rest);
        cr_expect(json_equal(value, json_array_get(document, i)), "element %zu", i);
        json_decref(value);
    }
    json_decref(document);
}
