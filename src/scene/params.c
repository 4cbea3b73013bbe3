// SPDX-License-Identifier: Apache-2.0
// Texts that a scene owns: its parameters and its JSON source.
#include "scene/scene_data.h"

#include <string.h>

char* mabd_scene_copy_text(const mabd_scene* scene, const char* text) {
    size_t bytes = strlen(text) + 1;
    char* copy = mabd_alloc(&scene->allocator, bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

void mabd_scene_free_text(const mabd_scene* scene, char* text) {
    if (text) mabd_free(&scene->allocator, text, strlen(text) + 1);
}

int32_t mabd_scene_param_count(const mabd_scene* scene) {
    return scene->params.count;
}

static const char* or_empty(const char* text) {
    return text ? text : "";
}

mabd_param mabd_scene_param(const mabd_scene* scene, int32_t i) {
    mabd_param param = {"", "", "", "", ""};
    if (i < 0 || i >= scene->params.count) return param;
    const mabd_param_entry* entry = (const mabd_param_entry*)scene->params.data + i;
    param.name = or_empty(entry->name);
    param.value = or_empty(entry->value);
    param.fallback = or_empty(entry->fallback);
    param.unit = or_empty(entry->unit);
    param.meaning = or_empty(entry->meaning);
    return param;
}

const char* mabd_scene_text(const mabd_scene* scene) {
    return or_empty(scene->text);
}
