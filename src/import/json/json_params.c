// SPDX-License-Identifier: Apache-2.0
// Read the params of a scene: declared with a default, changed by settings, used in expressions.
#include "base/text.h"
#include "import/json/json_internal.h"
#include "scene/scene_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 63

static mabd_json_param* param_at(mabd_json_reader* reader, int32_t i) {
    return (mabd_json_param*)reader->params.data + i;
}

// ---- declarations ------------------------------------------------------------------------------

// Read a default or a choice: a number, or text that is not an expression.
static mabd_status read_value(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_json_param* value) {
    value->text = NULL;
    value->number = 0;
    if (json_is_number(node->value)) {
        value->number = json_number_value(node->value);
        return MABD_OK;
    }
    if (!json_is_string(node->value)) {
        return mabd_json_expected(reader, node, "a number or text");
    }
    value->text = json_string_value(node->value);
    if (value->text[0] == '=') {
        return mabd_json_fail(reader, node, "expected a number or text, found an expression");
    }
    return mabd_json_printable(reader, node);
}

static bool equal_values(const mabd_json_param* a, const mabd_json_param* b) {
    if (a->text && b->text) return strcmp(a->text, b->text) == 0;
    return !a->text && !b->text && a->number == b->number;
}

// Check the choices of a param and that its default is one of them.
static mabd_status check_choices(mabd_json_reader* reader, const mabd_json_node* declaration,
                                 const mabd_json_param* fallback) {
    mabd_json_node choices, default_node;
    if (!mabd_json_member(declaration, "choices", &choices)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &choices));
    bool found = false;
    for (size_t i = 0; i < json_array_size(choices.value); i++) {
        mabd_json_node element = mabd_json_element(&choices, i);
        mabd_json_param choice;
        MABD_TRY(read_value(reader, &element, &choice));
        if (!choice.text != !fallback->text) {
            return mabd_json_fail(reader, &element, "a choice must be of the kind of the default");
        }
        found = found || equal_values(&choice, fallback);
    }
    if (found) return MABD_OK;
    mabd_json_member(declaration, "default", &default_node);
    return mabd_json_fail(reader, &default_node, "the default is not one of the choices");
}

static void value_text(const mabd_json_param* value, char* buffer, size_t size, const char** text) {
    *text = value->text;
    if (value->text) return;
    mabd_json_number_write(value->number, buffer, size);
    *text = buffer;
}

// Add a param to the reader and, as text, to the scene.
static mabd_status add_param(mabd_json_reader* reader, const mabd_json_param* param,
                             const char* unit, const char* meaning) {
    mabd_scene* scene = reader->scene;
    if (mabd_list_reserve(&reader->allocator, &reader->params, sizeof *param, 1) != MABD_OK ||
        mabd_list_reserve(&scene->allocator, &scene->params, sizeof(mabd_param_entry), 1) !=
            MABD_OK) {
        return mabd_json_no_memory(reader);
    }
    char buffer[40];
    const char* value;
    value_text(param, buffer, sizeof buffer, &value);
    mabd_param_entry* entry = (mabd_param_entry*)scene->params.data + scene->params.count++;
    entry->name = mabd_scene_copy_text(scene, param->name);
    entry->value = mabd_scene_copy_text(scene, value);
    entry->fallback = mabd_scene_copy_text(scene, value);
    entry->unit = mabd_scene_copy_text(scene, unit);
    entry->meaning = mabd_scene_copy_text(scene, meaning);
    if (!entry->name || !entry->value || !entry->fallback || !entry->unit || !entry->meaning) {
        return mabd_json_no_memory(reader);
    }
    *param_at(reader, reader->params.count++) = *param;
    return MABD_OK;
}

static mabd_status read_param(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"default", "unit", "meaning", "choices", NULL};
    if (!mabd_json_expression_is_name(node->key) || strlen(node->key) > LONGEST_NAME) {
        return mabd_json_fail(reader, node,
                              "a param cannot be named '%.40s': expected letters, digits and '_', "
                              "and no name of a function",
                              node->key);
    }
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node default_node, member;
    if (!mabd_json_member(node, "default", &default_node)) {
        return mabd_json_missing(reader, node, "a param", "default");
    }
    mabd_json_param param = {node->key, NULL, 0};
    MABD_TRY(read_value(reader, &default_node, &param));
    MABD_TRY(check_choices(reader, node, &param));
    const char *unit = "", *meaning = "";
    if (mabd_json_member(node, "unit", &member)) {
        MABD_TRY(mabd_json_string(reader, &member, &unit));
    }
    if (mabd_json_member(node, "meaning", &member)) {
        MABD_TRY(mabd_json_string(reader, &member, &meaning));
    }
    return add_param(reader, &param, unit, meaning);
}

// ---- settings ----------------------------------------------------------------------------------

static mabd_status bad_setting(mabd_json_reader* reader, const char* format, const char* name,
                               const char* value, const char* list) {
    char text[sizeof reader->error.text];
    snprintf(text, sizeof text, format, name, value, list);
    mabd_fail(&reader->error, MABD_ERR_INPUT, "%s", text);
    return MABD_ERR_INPUT;
}

static void append(char* list, size_t size, const char* text) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", text);
}

static mabd_status unknown_setting(mabd_json_reader* reader, const mabd_setting* setting) {
    char list[300] = "";
    for (int32_t i = 0; i < reader->params.count; i++) {
        append(list, sizeof list, param_at(reader, i)->name);
    }
    return bad_setting(reader, "--set %.60s=%.60s: the scene declares no such param; it has %s",
                       setting->name, setting->value, *list ? list : "none");
}

static mabd_status check_setting_choice(mabd_json_reader* reader, const mabd_json_node* declaration,
                                        const mabd_setting* setting, const mabd_json_param* value) {
    mabd_json_node choices;
    if (!mabd_json_member(declaration, "choices", &choices)) return MABD_OK;
    char list[300] = "";
    for (size_t i = 0; i < json_array_size(choices.value); i++) {
        mabd_json_node element = mabd_json_element(&choices, i);
        mabd_json_param choice;
        MABD_TRY(read_value(reader, &element, &choice));
        if (equal_values(&choice, value)) return MABD_OK;
        char buffer[40];
        const char* text;
        value_text(&choice, buffer, sizeof buffer, &text);
        append(list, sizeof list, text);
    }
    return bad_setting(reader, "--set %.60s=%.60s: expected one of %s", setting->name,
                       setting->value, list);
}

static mabd_status apply_setting(mabd_json_reader* reader, const mabd_json_node* params,
                                 const mabd_setting* setting) {
    int32_t i = 0;
    while (i < reader->params.count && strcmp(param_at(reader, i)->name, setting->name) != 0) i++;
    if (i == reader->params.count) return unknown_setting(reader, setting);

    if (mabd_text_control(setting->value)) {
        return bad_setting(reader, "--set %.60s=%.60s: the value has a control character%s",
                           setting->name, setting->value, "");
    }
    mabd_json_param* param = param_at(reader, i);
    mabd_json_param value = {param->name, setting->value, 0};
    if (!param->text) {
        value.text = NULL;
        const char* end = mabd_json_number_read(setting->value, &value.number);
        if (!end || *end != '\0' || !isfinite(value.number)) {
            return bad_setting(reader, "--set %.60s=%.60s: expected a number%s", setting->name,
                               setting->value, "");
        }
    }
    mabd_json_node declaration;
    mabd_json_member(params, param->name, &declaration);
    MABD_TRY(check_setting_choice(reader, &declaration, setting, &value));

    mabd_scene* scene = reader->scene;
    char* text = mabd_scene_copy_text(scene, setting->value);
    if (!text) return mabd_json_no_memory(reader);
    mabd_param_entry* entry = (mabd_param_entry*)scene->params.data + i;
    mabd_scene_free_text(scene, entry->value);
    entry->value = text;
    *param = value;
    return MABD_OK;
}

mabd_status mabd_json_params(mabd_json_reader* reader, const mabd_json_node* root,
                             int32_t setting_count, const mabd_setting* settings) {
    mabd_json_node params = {NULL, root, "params", 0};
    if (mabd_json_member(root, "params", &params)) {
        if (!json_is_object(params.value)) return mabd_json_expected(reader, &params, "an object");
        json_t* object = (json_t*)params.value; // the iterator does not change it
        for (void* i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
            mabd_json_node node = {json_object_iter_value(i), &params, json_object_iter_key(i), 0};
            MABD_TRY(read_param(reader, &node));
        }
    }
    for (int32_t i = 0; i < setting_count; i++) {
        MABD_TRY(apply_setting(reader, &params, &settings[i]));
    }
    return MABD_OK;
}
