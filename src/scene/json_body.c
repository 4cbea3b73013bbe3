// SPDX-License-Identifier: Apache-2.0
// One element of "bodies".
#include "scene/json_internal.h"

#include <string.h>

static const char* const shape_names[MABD_SHAPE_COUNT] = {"box", "sphere", "capsule", "cylinder"};

// ---- shapes ------------------------------------------------------------------------------------

// Fail at a member that does not go with the shape.
static mabd_status refuse(mabd_json_reader* reader, const mabd_json_node* node, int shape,
                          const char* key) {
    mabd_json_node member;
    if (!mabd_json_member(node, key, &member)) return MABD_OK;
    return mabd_json_fail(reader, &member, "'%s' does not go with the shape '%s'", key,
                          shape_names[shape]);
}

static mabd_status need(mabd_json_reader* reader, const mabd_json_node* node, const char* what,
                        const char* key) {
    mabd_json_node member;
    if (mabd_json_member(node, key, &member)) return MABD_OK;
    return mabd_json_missing(reader, node, what, key);
}

static mabd_status read_box(mabd_json_reader* reader, const mabd_json_node* node, mabd_real* size) {
    MABD_TRY(refuse(reader, node, MABD_SHAPE_BOX, "radius"));
    MABD_TRY(refuse(reader, node, MABD_SHAPE_BOX, "length"));
    MABD_TRY(need(reader, node, "a box", "size"));
    MABD_TRY(mabd_json_vec3(reader, node, "size", size));
    mabd_json_node member;
    mabd_json_member(node, "size", &member);
    for (size_t i = 0; i < 3; i++) {
        if (size[i] > 0) continue;
        mabd_json_node element = mabd_json_element(&member, i);
        return mabd_json_fail(reader, &element, "the edges of a box must be > 0");
    }
    return MABD_OK;
}

// Shape and size from the members of a body or of an element of "shapes".
static mabd_status read_shape(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_geom* geom) {
    MABD_TRY(need(reader, node, "a shape", "shape"));
    int shape = 0;
    MABD_TRY(mabd_json_choice(reader, node, "shape", shape_names, MABD_SHAPE_COUNT, &shape));
    mabd_real size[3] = {0, 0, 0};
    if (shape == MABD_SHAPE_BOX) {
        MABD_TRY(read_box(reader, node, size));
    } else {
        MABD_TRY(refuse(reader, node, shape, "size"));
        MABD_TRY(need(reader, node, shape_names[shape], "radius"));
        MABD_TRY(mabd_json_positive(reader, node, "radius", &size[0]));
        if (shape == MABD_SHAPE_SPHERE) {
            MABD_TRY(refuse(reader, node, shape, "length"));
        } else {
            MABD_TRY(need(reader, node, shape_names[shape], "length"));
            MABD_TRY(shape == MABD_SHAPE_CAPSULE
                         ? mabd_json_not_negative(reader, node, "length", &size[1])
                         : mabd_json_positive(reader, node, "length", &size[1]));
        }
    }
    *geom = mabd_geom_make((mabd_shape)shape, size, geom->density);
    return MABD_OK;
}

static mabd_status read_piece(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_geom* geom) {
    static const char* const keys[] = {"shape",    "size",     "radius",  "length",
                                       "position", "rotation", "density", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_positive(reader, node, "density", &geom->density));
    MABD_TRY(read_shape(reader, node, geom));
    MABD_TRY(mabd_json_vec3(reader, node, "position", geom->position));
    return mabd_json_rotation(reader, node, "rotation", geom->rotation);
}

static mabd_status read_pieces(mabd_json_reader* reader, const mabd_json_node* shapes,
                               mabd_real density) {
    MABD_TRY(mabd_json_array(reader, shapes));
    size_t n = json_array_size(shapes->value);
    if (n == 0) return mabd_json_fail(reader, shapes, "expected at least one shape");
    if (mabd_list_reserve(&reader->allocator, &reader->geoms, sizeof(mabd_geom), (int64_t)n) !=
        MABD_OK) {
        return mabd_json_no_memory(reader);
    }
    mabd_geom* geoms = (mabd_geom*)reader->geoms.data;
    for (size_t i = 0; i < n; i++) {
        mabd_json_node element = mabd_json_element(shapes, i);
        geoms[i].density = density;
        MABD_TRY(read_piece(reader, &element, &geoms[i]));
    }
    reader->geoms.count = (int32_t)n;
    return MABD_OK;
}

// Fill the geoms of the reader from "shape" or "shapes".
static mabd_status read_geoms(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_body_def* def) {
    static const char* const sizes[] = {"size", "radius", "length"};
    mabd_json_node single, shapes, member;
    bool one = mabd_json_member(node, "shape", &single);
    bool many = mabd_json_member(node, "shapes", &shapes);
    reader->geoms.count = 0;
    if (one && many) {
        return mabd_json_fail(reader, &shapes, "a body takes either 'shape' or 'shapes'");
    }
    for (int i = 0; i < 3 && !one; i++) {
        if (mabd_json_member(node, sizes[i], &member)) {
            return mabd_json_fail(reader, &member, "'%s' needs 'shape' beside it", sizes[i]);
        }
    }
    if (many) MABD_TRY(read_pieces(reader, &shapes, def->density));
    if (one) {
        if (mabd_list_reserve(&reader->allocator, &reader->geoms, sizeof(mabd_geom), 1) !=
            MABD_OK) {
            return mabd_json_no_memory(reader);
        }
        mabd_geom* geom = (mabd_geom*)reader->geoms.data;
        geom->density = def->density;
        MABD_TRY(read_shape(reader, node, geom));
        reader->geoms.count = 1;
    }
    def->geom_count = reader->geoms.count;
    def->geoms = (const mabd_geom*)reader->geoms.data;
    return MABD_OK;
}

// ---- mass, motion ------------------------------------------------------------------------------

static mabd_status read_mass(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_body_def* def) {
    mabd_json_node inertia, center;
    MABD_TRY(mabd_json_positive(reader, node, "mass", &def->mass));
    def->inertia_given = mabd_json_member(node, "inertia", &inertia);
    if (!def->inertia_given) {
        if (!mabd_json_member(node, "center", &center)) return MABD_OK;
        return mabd_json_fail(reader, &center, "'center' needs 'mass' and 'inertia' beside it");
    }
    if (def->mass == 0) {
        return mabd_json_fail(reader, &inertia, "'inertia' needs 'mass' beside it");
    }
    size_t n = json_is_array(inertia.value) ? json_array_size(inertia.value) : 0;
    if (n != 3 && n != 6) {
        return mabd_json_expected(reader, &inertia, "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz]");
    }
    MABD_TRY(mabd_json_numbers(reader, node, "inertia", n, def->inertia));
    return mabd_json_vec3(reader, node, "center", def->center);
}

static mabd_status read_script(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_script* script) {
    static const char* const keys[] = {"direction", "translation", "axis", "angle", NULL};
    static const char* const pairs[2][2] = {{"direction", "translation"}, {"axis", "angle"}};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node member;
    for (int i = 0; i < 2; i++) {
        bool first = mabd_json_member(node, pairs[i][0], &member);
        if (first != mabd_json_member(node, pairs[i][1], &member)) {
            return mabd_json_missing(reader, node, "a script", pairs[i][first ? 1 : 0]);
        }
    }
    if (json_object_size(node->value) == 0) {
        return mabd_json_fail(
            reader, node, "a script needs 'direction' and 'translation', or 'axis' and 'angle'");
    }
    MABD_TRY(mabd_json_vec3(reader, node, "direction", script->direction));
    MABD_TRY(mabd_json_signal(reader, node, "translation", &script->translation));
    MABD_TRY(mabd_json_vec3(reader, node, "axis", script->axis));
    return mabd_json_signal(reader, node, "angle", &script->angle);
}

static mabd_status read_motion(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_body_def* def) {
    bool fixed = false;
    MABD_TRY(mabd_json_bool(reader, node, "fixed", &fixed));
    if (fixed) def->motion = MABD_MOTION_FIXED;
    mabd_json_node script;
    if (!mabd_json_member(node, "script", &script)) return MABD_OK;
    if (fixed) return mabd_json_fail(reader, &script, "a fixed body cannot have a script");
    def->motion = MABD_MOTION_SCRIPTED;
    return read_script(reader, &script, &def->script);
}

mabd_status mabd_json_body(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"name",
                                       "shape",
                                       "size",
                                       "radius",
                                       "length",
                                       "shapes",
                                       "density",
                                       "mass",
                                       "inertia",
                                       "center",
                                       "young",
                                       "poisson",
                                       "drag",
                                       "position",
                                       "rotation",
                                       "velocity",
                                       "angular_velocity",
                                       "fixed",
                                       "script",
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_body_def def = mabd_default_body_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    if (def.name && strcmp(def.name, "world") == 0) {
        mabd_json_node name;
        mabd_json_member(node, "name", &name);
        return mabd_json_fail(reader, &name, "a body cannot be named 'world'");
    }
    MABD_TRY(mabd_json_positive(reader, node, "density", &def.density));
    MABD_TRY(mabd_json_positive(reader, node, "young", &def.young));
    MABD_TRY(mabd_json_real(reader, node, "poisson", &def.poisson));
    MABD_TRY(mabd_json_not_negative(reader, node, "drag", &def.drag));
    MABD_TRY(read_geoms(reader, node, &def));
    MABD_TRY(read_mass(reader, node, &def));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    MABD_TRY(mabd_json_rotation(reader, node, "rotation", def.rotation));
    MABD_TRY(mabd_json_vec3(reader, node, "velocity", def.velocity));
    MABD_TRY(mabd_json_vec3(reader, node, "angular_velocity", def.angular_velocity));
    MABD_TRY(read_motion(reader, node, &def));
    return mabd_json_place(reader, node,
                           mabd_scene_add_body(reader->scene, &def, NULL, &reader->error));
}
