// SPDX-License-Identifier: Apache-2.0
// Read the elements of "springs", "nodes" and "couplings", and "ground".
#include "import/json/json_internal.h"

#include <string.h>

// Read an array of {"body", "point"} into memory of the reader.
static mabd_status read_points(mabd_json_reader* reader, const mabd_json_node* array,
                               int32_t* count, const mabd_spring_point** points) {
    static const char* const keys[] = {"body", "point", NULL};
    MABD_TRY(mabd_json_array(reader, array));
    const size_t n = json_array_size(array->value);
    *count = (int32_t)n;
    if (n == 0) return MABD_OK;
    mabd_spring_point* out = mabd_json_take(reader, mabd_bytes(n, sizeof *out));
    if (!out) return mabd_json_no_memory(reader);
    for (size_t i = 0; i < n; i++) {
        const mabd_json_node node = mabd_json_element(array, i);
        mabd_json_node body;
        MABD_TRY(mabd_json_only(reader, &node, keys));
        memset(&out[i], 0, sizeof out[i]);
        if (!mabd_json_member(&node, "body", &body)) {
            return mabd_json_missing(reader, &node, "a point", "body");
        }
        MABD_TRY(mabd_json_body_of(reader, &node, "body", &out[i].body));
        MABD_TRY(mabd_json_vec3(reader, &node, "point", out[i].point));
    }
    *points = out;
    return MABD_OK;
}

mabd_status mabd_json_spring(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"points", "stiffness", "damping", "length", "law", NULL};
    static const char* const laws[MABD_SPRING_LAW_COUNT] = {
#define X(name, text) text,
        MABD_SPRING_LAW_LIST(X)
#undef X
    };
    mabd_spring_def def = mabd_default_spring_def();
    mabd_json_node points;
    int law = 0;
    MABD_TRY(mabd_json_only(reader, node, keys));
    if (!mabd_json_member(node, "points", &points)) {
        return mabd_json_missing(reader, node, "a spring", "points");
    }
    MABD_TRY(read_points(reader, &points, &def.point_count, &def.points));
    MABD_TRY(mabd_json_not_negative(reader, node, "stiffness", &def.stiffness));
    MABD_TRY(mabd_json_not_negative(reader, node, "damping", &def.damping));
    MABD_TRY(mabd_json_positive(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_choice(reader, node, "law", laws, MABD_SPRING_LAW_COUNT, &law));
    def.law = (mabd_spring_law)law;
    return mabd_json_place(reader, node,
                           mabd_scene_add_spring(reader->scene, &def, &reader->error));
}

mabd_status mabd_json_rope_node(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"name", "position", "velocity", "mass", NULL};
    mabd_node_def def = mabd_default_node_def();
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    MABD_TRY(mabd_json_vec3(reader, node, "velocity", def.velocity));
    MABD_TRY(mabd_json_positive(reader, node, "mass", &def.mass));
    return mabd_json_place(reader, node,
                           mabd_scene_add_node(reader->scene, &def, NULL, &reader->error));
}

mabd_status mabd_json_ground(mabd_json_reader* reader, const mabd_json_node* root) {
    static const char* const keys[] = {"point",   "normal",   "stiffness", "damping",
                                       "tangent", "friction", "points",    NULL};
    mabd_ground_def def = mabd_default_ground_def();
    mabd_json_node node, points;
    if (!mabd_json_member(root, "ground", &node)) return MABD_OK;
    MABD_TRY(mabd_json_only(reader, &node, keys));
    MABD_TRY(mabd_json_vec3(reader, &node, "point", def.point));
    MABD_TRY(mabd_json_vec3(reader, &node, "normal", def.normal));
    MABD_TRY(mabd_json_positive(reader, &node, "stiffness", &def.stiffness));
    MABD_TRY(mabd_json_not_negative(reader, &node, "damping", &def.damping));
    MABD_TRY(mabd_json_not_negative(reader, &node, "tangent", &def.tangent));
    MABD_TRY(mabd_json_not_negative(reader, &node, "friction", &def.friction));
    if (mabd_json_member(&node, "points", &points)) {
        if (json_is_string(points.value)) {
            const char* const names[] = {"corners"};
            int choice;
            MABD_TRY(mabd_json_choice(reader, &node, "points", names, 1, &choice));
        } else {
            MABD_TRY(read_points(reader, &points, &def.point_count, &def.points));
            if (def.point_count == 0) {
                return mabd_json_fail(reader, &points, "'points' is empty");
            }
        }
    }
    return mabd_json_place(reader, &node,
                           mabd_scene_set_ground(reader->scene, &def, &reader->error));
}

static mabd_status read_coupled_axis(mabd_json_reader* reader, const mabd_json_node* node,
                                     mabd_coupling_axis* axis) {
    static const char* const keys[] = {"joint", "axis", "ratio", NULL};
    static const char* const axes[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    mabd_json_node member;
    const char* name = NULL;
    int index = 0;
    MABD_TRY(mabd_json_only(reader, node, keys));
    for (int i = 0; i < 2; i++) {
        if (!mabd_json_member(node, keys[i], &member)) {
            return mabd_json_missing(reader, node, "an axis of a coupling", keys[i]);
        }
    }
    MABD_TRY(mabd_json_text(reader, node, "joint", &name));
    axis->joint = mabd_scene_find_joint(reader->scene, name);
    if (axis->joint < 0) {
        mabd_json_member(node, "joint", &member);
        return mabd_json_fail(reader, &member, "no joint is called '%s'", name);
    }
    MABD_TRY(mabd_json_choice(reader, node, "axis", axes, MABD_AXIS_COUNT, &index));
    axis->axis = index, axis->ratio = 1;
    return mabd_json_real(reader, node, "ratio", &axis->ratio);
}

mabd_status mabd_json_coupling(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"name", "axes", "offset", NULL};
    mabd_coupling_axis axes[MABD_COUPLING_MAX_AXES];
    mabd_coupling_def def = mabd_default_coupling_def();
    mabd_json_node list;
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_real(reader, node, "offset", &def.offset));
    if (!mabd_json_member(node, "axes", &list)) {
        return mabd_json_missing(reader, node, "a coupling", "axes");
    }
    MABD_TRY(mabd_json_array(reader, &list));
    const size_t n = json_array_size(list.value);
    if (n < 2 || n > MABD_COUPLING_MAX_AXES) {
        return mabd_json_fail(reader, &list, "a coupling has 2 to %d axes, not %d",
                              MABD_COUPLING_MAX_AXES, (int)n);
    }
    for (size_t i = 0; i < n; i++) {
        const mabd_json_node element = mabd_json_element(&list, i);
        MABD_TRY(read_coupled_axis(reader, &element, &axes[i]));
    }
    def.axis_count = (int32_t)n, def.axes = axes;
    return mabd_json_place(reader, node,
                           mabd_scene_add_coupling(reader->scene, &def, &reader->error));
}
