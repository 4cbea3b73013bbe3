// SPDX-License-Identifier: Apache-2.0
#include "support/contact_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define X(name, text) text,
static const char* const names[] = {CONTACT_SCENE_LIST(X)};
#undef X

static const char* const texts[] = {
    [CONTACT_SCENE_BOX] =
        "{\"contact\": {}, \"bodies\": [{\"shape\": \"plane\", \"fixed\": true},"
        " {\"name\": \"box\", \"shape\": \"box\", \"size\": [0.2, 0.3, 0.1],"
        " \"position\": [0, 0, 0.06], \"velocity\": [1, 0.5, 0], \"angular_velocity\": [0, 0, 1],"
        " \"friction\": 0.4}]}",
    [CONTACT_SCENE_STACK] =
        "{\"contact\": {}, \"bodies\": [{\"shape\": \"plane\", \"fixed\": true},"
        " {\"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, 0.1]},"
        " {\"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0.03, 0, 0.301]},"
        " {\"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0.04, 0.503],"
        " \"velocity\": [0.3, 0, 0]}]}",
    [CONTACT_SCENE_CYLINDER] =
        "{\"contact\": {}, \"generators\": [{\"type\": \"chain\", \"links\": 12,"
        " \"pinned\": false, \"anchor\": [-0.5, 0, 0.15]}], \"bodies\": [{\"shape\": \"cylinder\","
        " \"radius\": 0.1, \"length\": 0.5, \"fixed\": true,"
        " \"rotation\": {\"axis\": [1, 0, 0], \"degrees\": 90}}]}",
    [CONTACT_SCENE_SHEAVE] =
        "{\"contact\": {}, \"generators\": [{\"type\": \"pulley\", \"pulleys\": 1, \"radius\": 0.1,"
        " \"width\": 0.04, \"wrapped\": 8, \"link_radius\": 0.008, \"left\": 3, \"right\": 5,"
        " \"sheave_mass\": 10, \"load\": 3, \"counter\": 2, \"friction\": 0.5}]}",
};

const char* contact_scene_name(contact_scene which) {
    return names[which];
}

mabd_model* contact_scene_model(contact_scene which, const mabd_allocator* allocator) {
    const char* text = texts[which];
    mabd_error error = {0};
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_status status = mabd_scene_create(NULL, &scene);
    if (status == MABD_OK) {
        status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    }
    if (status == MABD_OK) status = mabd_model_build(scene, allocator, &model, &error);
    if (status != MABD_OK) cr_fatal("%s: %s", names[which], error.text);
    mabd_scene_destroy(scene);
    return model;
}
