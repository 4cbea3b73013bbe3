// SPDX-License-Identifier: Apache-2.0
// Load a scene from a JSON document (docs/guide/scene-format.md). The whole text is parsed, then
// visited once; every part is passed to the builder, which checks it. Generators come first, then
// bodies, joints and forces, so that these may refer to generated bodies.
#include "import/json/json_document.h"
#include "import/json/json_internal.h"
#include "scene/scene_data.h"

static mabd_status read_document(mabd_json_reader* reader, const mabd_json_node* root,
                                 int32_t setting_count, const mabd_setting* settings) {
    static const char* const keys[] = {"name",   "params",     "time",   "start",   "gravity",
                                       "wind",   "contact",    "bodies", "joints",  "forces",
                                       "pairs",  "generators", "young",  "springs", "nodes",
                                       "ground", "couplings",  NULL};
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
    MABD_TRY(mabd_json_list(reader, root, "bodies", mabd_json_body));
    MABD_TRY(mabd_json_list(reader, root, "nodes", mabd_json_rope_node));
    MABD_TRY(mabd_json_list(reader, root, "joints", mabd_json_joint));
    MABD_TRY(mabd_json_list(reader, root, "forces", mabd_json_force));
    MABD_TRY(mabd_json_list(reader, root, "springs", mabd_json_spring));
    MABD_TRY(mabd_json_list(reader, root, "couplings", mabd_json_coupling));
    MABD_TRY(mabd_json_ground(reader, root));
    return mabd_json_list(reader, root, "pairs", mabd_json_pair);
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

static mabd_status load_source(mabd_scene* scene, const mabd_json_source* text,
                               int32_t setting_count, const mabd_setting* settings,
                               mabd_error* error) {
    mabd_json_reader reader = {.what = "scene", .scene = scene, .allocator = scene->allocator};
    reader.text = text->data;
    reader.length = text->length;
    mabd_fail(&reader.error, MABD_OK, "%s", "");
    json_t* document = NULL;
    mabd_status status = mabd_json_parse(&reader, &document);
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

mabd_status mabd_scene_load_text(mabd_scene* scene, const char* text, size_t length,
                                 int32_t setting_count, const mabd_setting* settings,
                                 mabd_error* error) {
    MABD_TRY(check_arguments(scene, text, setting_count, settings, error));
    mabd_json_source copy;
    MABD_TRY(mabd_json_source_copy(&scene->allocator, "scene", text, length, &copy, error));
    mabd_status status = load_source(scene, &copy, setting_count, settings, error);
    mabd_json_source_free(&scene->allocator, &copy);
    return status;
}

mabd_status mabd_scene_load(mabd_scene* scene, const char* path, int32_t setting_count,
                            const mabd_setting* settings, mabd_error* error) {
    MABD_TRY(check_arguments(scene, path, setting_count, settings, error));
    mabd_json_source text;
    MABD_TRY(mabd_json_source_read(&scene->allocator, "scene", path, &text, error));
    mabd_status status = load_source(scene, &text, setting_count, settings, error);
    mabd_json_source_free(&scene->allocator, &text);
    return status;
}
