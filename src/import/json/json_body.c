// SPDX-License-Identifier: Apache-2.0
// Read one element of "bodies".
#include "import/json/json_internal.h"

#include <string.h>

// ---- shapes ------------------------------------------------------------------------------------

static mabd_status read_piece(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_geom* geom) {
    static const char* const keys[] = {"shape",
                                       MABD_JSON_SIZE_KEYS,
                                       "position",
                                       "rotation",
                                       "density",
                                       MABD_JSON_SURFACE_KEYS,
                                       MABD_JSON_ROLLING_KEYS,
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_positive(reader, node, "density", &geom->density));
    MABD_TRY(mabd_json_geom(reader, node, geom));
    MABD_TRY(mabd_json_vec3(reader, node, "position", geom->position));
    return mabd_json_rotation(reader, node, "rotation", geom->rotation);
}

// Read the elements of "shapes"; density and surface of the body are the defaults of each.
static mabd_status read_pieces(mabd_json_reader* reader, const mabd_json_node* shapes,
                               const mabd_geom* body) {
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
        geoms[i] = *body;
        MABD_TRY(read_piece(reader, &element, &geoms[i]));
    }
    reader->geoms.count = (int32_t)n;
    return MABD_OK;
}

// Fill the geoms of the reader from "shape" or "shapes".
static mabd_status read_geoms(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_body_def* def) {
    static const char* const sizes[] = {MABD_JSON_SIZE_KEYS, NULL};
    mabd_json_node single, shapes, member;
    bool one = mabd_json_member(node, "shape", &single);
    bool many = mabd_json_member(node, "shapes", &shapes);
    reader->geoms.count = 0;
    if (one && many) {
        return mabd_json_fail(reader, &shapes, "a body takes either 'shape' or 'shapes'");
    }
    for (int i = 0; sizes[i] && !one; i++) {
        if (mabd_json_member(node, sizes[i], &member)) {
            return mabd_json_fail(reader, &member, "'%s' needs 'shape' beside it", sizes[i]);
        }
    }
    mabd_geom common = mabd_geom_make(MABD_SHAPE_BOX, (const mabd_real[3]){1, 1, 1}, def->density);
    MABD_TRY(mabd_json_surface(reader, node, &common.friction, &common.restitution,
                               &common.category, &common.mask));
    MABD_TRY(mabd_json_rolling(reader, node, &common));
    if (many) MABD_TRY(read_pieces(reader, &shapes, &common));
    if (one) {
        if (mabd_list_reserve(&reader->allocator, &reader->geoms, sizeof(mabd_geom), 1) !=
            MABD_OK) {
            return mabd_json_no_memory(reader);
        }
        mabd_geom* geom = (mabd_geom*)reader->geoms.data;
        *geom = common;
        MABD_TRY(mabd_json_geom(reader, node, geom));
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
                                       MABD_JSON_SIZE_KEYS,
                                       MABD_JSON_SURFACE_KEYS,
                                       MABD_JSON_ROLLING_KEYS,
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
