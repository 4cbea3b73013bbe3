// SPDX-License-Identifier: Apache-2.0
// Read one element of "joints". The joint frame is given once in world coordinates or on each body
// in that body's coordinates; in both forms either by its x axis (and y axis) or as a rotation.
#include "import/json/json_internal.h"

#include <string.h>

/// Keys of the members that describe one frame.
typedef struct frame_keys {
    const char *anchor, *axis, *axis2, *frame;
} frame_keys;

static const frame_keys world_keys = {"anchor", "axis", "axis2", "frame"};
static const frame_keys keys_a = {"anchor_a", "axis_a", "axis2_a", "frame_a"};
static const frame_keys keys_b = {"anchor_b", "axis_b", "axis2_b", "frame_b"};

// Find the first key of `keys` that is given; *member gets its value.
static bool find_any(const mabd_json_node* node, const frame_keys* keys, mabd_json_node* member) {
    return mabd_json_member(node, keys->anchor, member) ||
           mabd_json_member(node, keys->axis, member) ||
           mabd_json_member(node, keys->axis2, member) ||
           mabd_json_member(node, keys->frame, member);
}

static mabd_status read_axes_frame(mabd_json_reader* reader, const mabd_json_node* node,
                                   const frame_keys* keys, mabd_real* frame) {
    mabd_json_node axis, axis2;
    mabd_real x[3], y[3];
    bool second = mabd_json_member(node, keys->axis2, &axis2);
    if (!mabd_json_member(node, keys->axis, &axis)) {
        if (!second) return MABD_OK;
        return mabd_json_fail(reader, &axis2, "'%s' needs '%s' beside it", keys->axis2, keys->axis);
    }
    MABD_TRY(mabd_json_vec3(reader, node, keys->axis, x));
    if (!mabd_frame_from_axes(x, NULL, frame)) {
        return mabd_json_fail(reader, &axis, "'%s' has no length", keys->axis);
    }
    if (!second) return MABD_OK;
    MABD_TRY(mabd_json_vec3(reader, node, keys->axis2, y));
    if (!mabd_frame_from_axes(x, y, frame)) {
        return mabd_json_fail(reader, &axis2, "'%s' has no length or is parallel to '%s'",
                              keys->axis2, keys->axis);
    }
    return MABD_OK;
}

static mabd_status read_frame(mabd_json_reader* reader, const mabd_json_node* node,
                              const frame_keys* keys, mabd_real* anchor, mabd_real* frame) {
    mabd_json_node rotation, axis;
    MABD_TRY(mabd_json_vec3(reader, node, keys->anchor, anchor));
    if (!mabd_json_member(node, keys->frame, &rotation)) {
        return read_axes_frame(reader, node, keys, frame);
    }
    if (mabd_json_member(node, keys->axis, &axis) || mabd_json_member(node, keys->axis2, &axis)) {
        return mabd_json_fail(reader, &rotation, "'%s' cannot be given beside '%s'", keys->frame,
                              axis.key);
    }
    return mabd_json_rotation(reader, node, keys->frame, frame);
}

static mabd_status read_frames(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_joint_def* def) {
    mabd_json_node world, body;
    bool in_world = find_any(node, &world_keys, &world);
    def->local = find_any(node, &keys_a, &body) || find_any(node, &keys_b, &body);
    if (in_world && def->local) {
        return mabd_json_fail(reader, &body,
                              "'%s' (body coordinates) cannot be given beside '%s' (world)",
                              body.key, world.key);
    }
    if (!def->local) return read_frame(reader, node, &world_keys, def->anchor, def->frame);
    MABD_TRY(read_frame(reader, node, &keys_a, def->anchor_a, def->frame_a));
    return read_frame(reader, node, &keys_b, def->anchor_b, def->frame_b);
}

mabd_status mabd_json_joint_type(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_joint* type) {
    static const char* const names[MABD_JOINT_TYPE_COUNT + 1] = {
#define X(name, text, translations, rotations) [MABD_JOINT_##name] = text,
        MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
    };
    mabd_json_node member;
    if (!mabd_json_member(node, "type", &member)) {
        return mabd_json_missing(reader, node, "a joint", "type");
    }
    int value = 0;
    MABD_TRY(mabd_json_choice(reader, node, "type", names, MABD_JOINT_TYPE_COUNT, &value));
    *type = (mabd_joint)value;
    return MABD_OK;
}

mabd_status mabd_json_joint_frame(mabd_json_reader* reader, const mabd_json_node* node,
                                  mabd_real* anchor, mabd_real* frame) {
    return read_frame(reader, node, &world_keys, anchor, frame);
}

static mabd_status read_bodies(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_joint_def* def) {
    mabd_json_node a, b;
    if (!mabd_json_member(node, "b", &b)) return mabd_json_missing(reader, node, "a joint", "b");
    if (mabd_json_member(node, "a", &a)) MABD_TRY(mabd_json_body_of(reader, node, "a", &def->a));
    MABD_TRY(mabd_json_body_of(reader, node, "b", &def->b));
    if (def->a != def->b) return MABD_OK;
    return mabd_json_fail(reader, &b, "a joint needs two different bodies");
}

static mabd_status read_weights(mabd_json_reader* reader, const mabd_json_node* node,
                                mabd_joint_def* def) {
    static const char* const keys[] = {"force", "torque", NULL};
    mabd_json_node weights;
    if (!mabd_json_member(node, "weight", &weights)) return MABD_OK;
    MABD_TRY(mabd_json_only(reader, &weights, keys));
    MABD_TRY(mabd_json_positive(reader, &weights, "force", &def->force_weight));
    return mabd_json_positive(reader, &weights, "torque", &def->torque_weight);
}

mabd_status mabd_json_joint(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"name",
                                       "type",
                                       "a",
                                       "b",
                                       "anchor",
                                       "axis",
                                       "axis2",
                                       "frame",
                                       "anchor_a",
                                       "axis_a",
                                       "axis2_a",
                                       "frame_a",
                                       "anchor_b",
                                       "axis_b",
                                       "axis2_b",
                                       "frame_b",
                                       "axes",
                                       "weight",
                                       MABD_JSON_PATH_KEYS,
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_joint_def def = mabd_default_joint_def();
    mabd_axis_def storage[MABD_AXIS_COUNT];
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_joint_type(reader, node, &def.type));
    MABD_TRY(read_bodies(reader, node, &def));
    MABD_TRY(read_frames(reader, node, &def));
    MABD_TRY(mabd_json_axes(reader, node, "axes", storage, def.axes));
    MABD_TRY(read_weights(reader, node, &def));
    MABD_TRY(mabd_json_path(reader, node, &def));
    return mabd_json_place(reader, node,
                           mabd_scene_add_joint(reader->scene, &def, NULL, &reader->error));
}
