// SPDX-License-Identifier: Apache-2.0
// Read "gravity", "young", "wind", "time", "start" and the elements of "forces".
#include "import/json/json_internal.h"

mabd_status mabd_json_force(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"body", "point", "force", "torque", "frame", "signal", NULL};
    static const char* const frames[] = {"world", "body"};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node member;
    mabd_force_def def = {.body = MABD_WORLD};
    if (!mabd_json_member(node, "force", &member) && !mabd_json_member(node, "torque", &member)) {
        return mabd_json_fail(reader, node, "a force needs 'force' or 'torque'");
    }
    if (!mabd_json_member(node, "body", &member)) {
        return mabd_json_missing(reader, node, "a force", "body");
    }
    MABD_TRY(mabd_json_body_of(reader, node, "body", &def.body));
    if (def.body == MABD_WORLD) {
        return mabd_json_fail(reader, &member, "a force cannot act on the world");
    }
    int frame = 0;
    MABD_TRY(mabd_json_choice(reader, node, "frame", frames, 2, &frame));
    def.body_frame = frame == 1;
    MABD_TRY(mabd_json_vec3(reader, node, "point", def.point));
    MABD_TRY(mabd_json_vec3(reader, node, "force", def.force));
    MABD_TRY(mabd_json_vec3(reader, node, "torque", def.torque));
    MABD_TRY(mabd_json_signal(reader, node, "signal", &def.signal));
    return mabd_json_place(reader, node, mabd_scene_add_force(reader->scene, &def, &reader->error));
}

static mabd_status read_wind(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"direction", "strength", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node member;
    for (int i = 0; i < 2; i++) {
        if (!mabd_json_member(node, keys[i], &member)) {
            return mabd_json_missing(reader, node, "the wind", keys[i]);
        }
    }
    mabd_real direction[3] = {0, 0, 0};
    mabd_signal strength = {0};
    MABD_TRY(mabd_json_vec3(reader, node, "direction", direction));
    MABD_TRY(mabd_json_signal(reader, node, "strength", &strength));
    mabd_json_member(node, "direction", &member);
    return mabd_json_place(
        reader, &member, mabd_scene_set_wind(reader->scene, direction, &strength, &reader->error));
}

static mabd_status read_time(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"h", "duration", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_real h = 0, duration = 0;
    MABD_TRY(mabd_json_positive(reader, node, "h", &h));
    MABD_TRY(mabd_json_positive(reader, node, "duration", &duration));
    return mabd_json_place(reader, node,
                           mabd_scene_set_time(reader->scene, h, duration, &reader->error));
}

static mabd_status read_start(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"close", NULL};
    bool close = false;
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_bool(reader, node, "close", &close));
    return mabd_json_place(reader, node,
                           mabd_scene_set_close_joints(reader->scene, close, &reader->error));
}

mabd_status mabd_json_surroundings(mabd_json_reader* reader, const mabd_json_node* root) {
    mabd_json_node member;
    if (mabd_json_member(root, "gravity", &member)) {
        mabd_real gravity[3];
        MABD_TRY(mabd_json_vec3(reader, root, "gravity", gravity));
        MABD_TRY(mabd_json_place(reader, &member,
                                 mabd_scene_set_gravity(reader->scene, gravity, &reader->error)));
    }
    if (mabd_json_member(root, "young", &member)) {
        mabd_real young = 0;
        MABD_TRY(mabd_json_positive(reader, root, "young", &young));
        MABD_TRY(mabd_json_place(reader, &member,
                                 mabd_scene_set_young(reader->scene, young, &reader->error)));
    }
    if (mabd_json_member(root, "wind", &member)) MABD_TRY(read_wind(reader, &member));
    if (mabd_json_member(root, "time", &member)) MABD_TRY(read_time(reader, &member));
    if (mabd_json_member(root, "start", &member)) MABD_TRY(read_start(reader, &member));
    return MABD_OK;
}
