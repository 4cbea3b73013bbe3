// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/*.def: the lists of fields agree with the structs of mabd/generate.h and
// with the tables of docs/guide/scene-format.md.
#include "generate/fields.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- structs -----------------------------------------------------------------------------------

#define MAX_FILE (1 << 20)

static char* read_text(const char* path) {
    FILE* file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    char* content = (char*)calloc(1, MAX_FILE);
    cr_assert(content != NULL);
    cr_assert(fread(content, 1, MAX_FILE - 1, file) > 0);
    fclose(file);
    return content;
}

// Find the member of a declarator such as "mabd_real* x[3]": its last word before a bracket.
static void member_name(const char* declarator, size_t length, char* name, size_t size) {
    const char* bracket = (const char*)memchr(declarator, '[', length);
    if (bracket) length = (size_t)(bracket - declarator);
    size_t begin = length;
    while (begin > 0 &&
           (isalnum((unsigned char)declarator[begin - 1]) || declarator[begin - 1] == '_')) {
        begin--;
    }
    cr_assert(begin < length && length - begin < size);
    memcpy(name, declarator + begin, length - begin);
    name[length - begin] = 0;
}

static int times_listed(const mabd_generate_field_list* list, const char* name) {
    int times = 0;
    for (int i = 0; i < list->count; i++) times += strcmp(list->fields[i].name, name) == 0;
    return times;
}

// Read the members of a struct from its source and find each of them in the list once, except the
// cookie. The types are compared where the list is expanded (src/generate/fields.c).
static void expect_members(const char* header, const char* name,
                           const mabd_generate_field_list* list) {
    char opening[80], source[4096] = "", member[80];
    snprintf(opening, sizeof opening, "typedef struct %s {\n", name);
    const char* at = strstr(header, opening);
    cr_assert(at != NULL, "%s", opening);
    size_t used = 0;
    for (at += strlen(opening); *at != '}'; at++) { // without comments
        if (at[0] == '/' && at[1] == '/') at += strcspn(at, "\n");
        cr_assert(used + 1 < sizeof source);
        source[used++] = *at;
    }
    int count = 0;
    for (const char* from = source; strpbrk(from, ",;"); count++) {
        const size_t length = strcspn(from, ",;");
        member_name(from, length, member, sizeof member);
        from += length + 1;
        const int times = times_listed(list, member);
        cr_assert(times == (strcmp(member, "cookie") != 0), "%s: the list has '%s' %d times", name,
                  member, times);
        count -= strcmp(member, "cookie") == 0;
    }
    cr_assert(count == list->count, "%s has %d members, its list has %d", name, count, list->count);
}

Test(generate_defs, list_every_member_of_a_struct_once) {
    char* header = read_text(MABD_SOURCE_DIR "/include/mabd/generate.h");
#define X(name, type)                                                                              \
    expect_members(header, "mabd_" #name "_def", &mabd_generators[MABD_GENERATOR_##name].list);
    MABD_GENERATOR_LIST(X)
#undef X
    expect_members(header, "mabd_material", &mabd_generate_material_fields);
    expect_members(header, "mabd_branch_level", &mabd_generate_branch_level_fields);
    free(header);
}

Test(generate_defs, list_a_count_directly_before_its_list) {
    for (int g = 0; g < MABD_GENERATOR_COUNT; g++) {
        const mabd_generate_field_list* list = &mabd_generators[g].list;
        int axes = 0;
        for (int i = 0; i < list->count; i++) {
            const mabd_generate_field_kind kind = list->fields[i].kind;
            axes += kind == MABD_FIELD_AXES;
            if (kind != MABD_FIELD_LEVELS && kind != MABD_FIELD_JOINTS) continue;
            cr_assert(i > 0 && list->fields[i - 1].kind == MABD_FIELD_COUNT, "%s.%s",
                      mabd_generators[g].type, list->fields[i].name);
        }
        cr_assert(axes <= 1, "%s: the reader has memory for one set of axes",
                  mabd_generators[g].type);
    }
}

// ---- documentation -----------------------------------------------------------------------------

typedef struct text {
    char data[16384];
    size_t used;
} text;

static void add(text* out, const char* part) {
    const size_t length = strlen(part);
    cr_assert(out->used + length < sizeof out->data);
    memcpy(out->data + out->used, part, length + 1);
    out->used += length;
}

// A number in the shortest form: 1e9, not 1e+09.
static void add_number(text* out, double value) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.6g", value);
    char* exponent = strstr(digits, "e+");
    if (exponent) {
        char* tail = exponent + 2 + strspn(exponent + 2, "0");
        memmove(exponent + 1, tail, strlen(tail) + 1);
    }
    add(out, digits);
}

static void add_bits(text* out, uint32_t bits) {
    if (bits == UINT32_MAX)
        add(out, "all");
    else
        add_number(out, bits);
}

static void add_vec3(text* out, const mabd_real* v) {
    for (int i = 0; i < 3; i++) {
        add(out, i ? ", " : "`[");
        add_number(out, (double)v[i]);
    }
    add(out, "]`");
}

static void add_choice(text* out, mabd_generate_field_kind kind, const void* member) {
    int count, value = 0;
    const char* const* names = mabd_generate_field_choices(kind, &count);
    if (kind == MABD_FIELD_PLANE)
        value = *(const bool*)member ? 0 : 1;
    else
        memcpy(&value, member, sizeof value);
    cr_assert(value >= 0 && value < count);
    add(out, "`");
    add(out, names[value]);
    add(out, "`");
}

static void add_joints(text* out, const mabd_joint* joints, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        add(out, i ? ", \"" : "`[\"");
        add(out, mabd_joint_name(joints[i]));
        add(out, "\"");
    }
    add(out, "]`");
}

static void add_value(text* out, const mabd_field* field, const void* def, const void* count);

// Keys or defaults of a material, in one cell.
static void add_material(text* out, const mabd_material* material) {
    for (int i = 0; i < mabd_generate_material_fields.count; i++) {
        const mabd_field* field = &mabd_generate_material_fields.fields[i];
        if (i) add(out, ", ");
        if (material) {
            add_value(out, field, material, NULL);
        } else {
            add(out, "`");
            add(out, field->name);
            add(out, "`");
        }
    }
}

// Append the default of a field, read from a struct that its default function filled. `count` is
// the preceding member.
static void add_value(text* out, const mabd_field* field, const void* def, const void* count) {
    const void* member = (const char*)def + field->offset;
    switch (field->kind) {
    case MABD_FIELD_COUNT:
    case MABD_FIELD_NAME:
        break;
    case MABD_FIELD_INT:
        add_number(out, *(const int32_t*)member);
        break;
    case MABD_FIELD_SURFACE_REAL:
    case MABD_FIELD_REAL:
        add_number(out, (double)*(const mabd_real*)member);
        break;
    case MABD_FIELD_SCENE_REAL:
        if (*(const mabd_real*)member == 0)
            add(out, "scene");
        else
            add_number(out, (double)*(const mabd_real*)member);
        break;
    case MABD_FIELD_BOOL:
        add(out, *(const bool*)member ? "true" : "false");
        break;
    case MABD_FIELD_VEC3:
        add_vec3(out, (const mabd_real*)member);
        break;
    case MABD_FIELD_SEED:
        add_number(out, (double)*(const uint64_t*)member);
        break;
    case MABD_FIELD_SURFACE_BITS:
    case MABD_FIELD_BITS:
        add_bits(out, *(const uint32_t*)member);
        break;
    case MABD_FIELD_SHAPE:
    case MABD_FIELD_JOINT:
    case MABD_FIELD_CHAIN_START:
    case MABD_FIELD_NET_PIN:
    case MABD_FIELD_ARRANGEMENT:
    case MABD_FIELD_PLANE:
        add_choice(out, field->kind, member);
        break;
    case MABD_FIELD_MATERIAL:
        add_material(out, (const mabd_material*)member);
        break;
    case MABD_FIELD_SIGNAL:
        cr_assert(((const mabd_signal*)member)->kind == MABD_SIGNAL_NONE);
        add(out, "none");
        break;
    case MABD_FIELD_AXES:
        for (int i = 0; i < MABD_AXIS_COUNT; i++) {
            cr_assert(((const mabd_axis_def* const*)member)[i] == NULL);
        }
        add(out, "none");
        break;
    case MABD_FIELD_LEVELS:
        add_number(out, *(const int32_t*)count);
        add(out, " levels");
        break;
    case MABD_FIELD_JOINTS:
        add_joints(out, (const mabd_joint*)member, *(const int32_t*)count);
        break;
    }
}

// Append the table of a struct as the documentation must contain it, without its head.
static void add_table(text* out, const mabd_generate_field_list* list, const void* def) {
    const void* before = NULL;
    for (int i = 0; i < list->count; i++) {
        const mabd_field* field = &list->fields[i];
        const char* key = mabd_generate_field_key(field);
        if (field->kind == MABD_FIELD_MATERIAL || (key && field->kind != MABD_FIELD_NAME)) {
            add(out, "| ");
            if (key) {
                add(out, "`");
                add(out, key);
                add(out, "`");
            } else {
                add_material(out, NULL);
            }
            add(out, " | ");
            add_value(out, field, def, before);
            add(out, field->unit[0] ? " | " : " |");
            add(out, field->unit);
            add(out, " | ");
            add(out, field->meaning);
            add(out, " |\n");
        }
        before = (const char*)def + field->offset;
    }
}

// Expect the rows below the first table head after the line `heading` to equal `rows`.
static void expect_rows(const char* document, const char* heading, const char* rows) {
    static const char head[] = "| field | default | unit | meaning |\n|---|---|---|---|\n";
    const char* section = strstr(document, heading);
    cr_assert(section, "expected '%s' in the document", heading);
    const char* table = strstr(section, head);
    cr_assert(table, "expected a table of fields below '%s'", heading);
    table += sizeof head - 1;
    const char* end = strstr(table, "\n\n");
    cr_assert(end);
    const size_t length = (size_t)(end + 1 - table);
    cr_assert(length == strlen(rows) && strncmp(table, rows, length) == 0,
              "docs/guide/scene-format.md: expected below '%s'\n%s%s", heading, head, rows);
}

Test(generate_defs, have_their_keys_and_defaults_in_the_scene_format) {
    char* document = read_text(MABD_SOURCE_DIR "/docs/guide/scene-format.md");
    for (int g = 0; g < MABD_GENERATOR_COUNT; g++) {
        mabd_generator_def def;
        char heading[64];
        text rows = {.used = 0};
        mabd_generators[g].set_default(&def);
        add_table(&rows, &mabd_generators[g].list, &def);
        snprintf(heading, sizeof heading, "\n### %s\n", mabd_generators[g].type);
        expect_rows(document, heading, rows.data);
    }
    const mabd_material material = mabd_default_material();
    const mabd_branch_level level = mabd_generate_default_branch_level();
    text rows = {.used = 0};
    add_table(&rows, &mabd_generate_material_fields, &material);
    expect_rows(document, "\n## Generators\n", rows.data);
    rows.used = 0;
    add_table(&rows, &mabd_generate_branch_level_fields, &level);
    expect_rows(document, "\nEach level has\n", rows.data);
    free(document);
}
