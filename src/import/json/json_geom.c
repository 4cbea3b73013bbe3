// SPDX-License-Identifier: Apache-2.0
// Read the shape of a geom and its sizes. Heights are numbers, or one expression of x and y.
#include "import/json/json_internal.h"
#include "scene/check.h"

#include <stdio.h>
#include <string.h>

#define MOST_SIZES 5 // sizes of a shape and a null

static const char* const shape_names[MABD_SHAPE_COUNT] = {
#define X(name, text) text,
    MABD_SHAPE_LIST(X)
#undef X
};

static const char* const shape_sizes[MABD_SHAPE_COUNT][MOST_SIZES] = {
    [MABD_SHAPE_BOX] = {"size"},
    [MABD_SHAPE_SPHERE] = {"radius"},
    [MABD_SHAPE_CAPSULE] = {"radius", "length"},
    [MABD_SHAPE_CYLINDER] = {"radius", "length"},
    [MABD_SHAPE_BOWL] = {"radius", "thickness"},
    [MABD_SHAPE_HEIGHT_FIELD] = {"columns", "rows", "cell", "heights"},
};

// Fail if a size of the shape is missing or one of another shape is given.
static mabd_status check_members(mabd_json_reader* reader, const mabd_json_node* node, int shape) {
    static const char* const all[] = {MABD_JSON_SIZE_KEYS, NULL};
    mabd_json_node member;
    for (int i = 0; all[i]; i++) {
        int k = 0;
        while (shape_sizes[shape][k] && strcmp(shape_sizes[shape][k], all[i]) != 0) k++;
        const bool given = mabd_json_member(node, all[i], &member);
        if (given && !shape_sizes[shape][k]) {
            return mabd_json_fail(reader, &member, "'%s' does not go with the shape '%s'", all[i],
                                  shape_names[shape]);
        }
        if (!given && shape_sizes[shape][k]) {
            char what[32];
            snprintf(what, sizeof what, "a %s", shape_names[shape]);
            return mabd_json_missing(reader, node, what, all[i]);
        }
    }
    return MABD_OK;
}

// Read the member `key` as n numbers, which must be > 0.
static mabd_status read_edges(mabd_json_reader* reader, const mabd_json_node* node, const char* key,
                              size_t n, const char* what, mabd_real* edges) {
    mabd_json_node member;
    MABD_TRY(mabd_json_numbers(reader, node, key, n, edges));
    mabd_json_member(node, key, &member);
    for (size_t i = 0; i < n; i++) {
        if (edges[i] > 0) continue;
        mabd_json_node element = mabd_json_element(&member, i);
        return mabd_json_fail(reader, &element, "%s must be > 0", what);
    }
    return MABD_OK;
}

// ---- height fields -----------------------------------------------------------------------------

static mabd_status read_nodes(mabd_json_reader* reader, const mabd_json_node* node, const char* key,
                              int32_t* count) {
    mabd_json_node member;
    MABD_TRY(mabd_json_int(reader, node, key, count));
    if (*count >= 2) return MABD_OK;
    mabd_json_member(node, key, &member);
    return mabd_json_fail(reader, &member, "a height field needs at least 2 %s, found %d", key,
                          (int)*count);
}

// Compute heights[j columns + i]: the expression with the x and y of node (i, j).
static mabd_status evaluate_heights(mabd_json_reader* reader, const mabd_json_node* node,
                                    const mabd_height_field* field, mabd_real* heights) {
    const int32_t count = reader->params.count + 2;
    mabd_json_param* params = mabd_json_take(reader, mabd_bytes((size_t)count, sizeof *params));
    if (!params) return mabd_json_no_memory(reader);
    params[0].name = "x", params[1].name = "y";
    if (count > 2) {
        memcpy(params + 2, reader->params.data, (size_t)(count - 2) * sizeof *params);
    }
    const char* text = json_string_value(node->value);
    for (int32_t j = 0; j < field->rows; j++) {
        for (int32_t i = 0; i < field->columns; i++) {
            char message[400];
            mabd_json_param height;
            params[0].number = (i - (field->columns - 1) / 2.0) * (double)field->dx;
            params[1].number = (j - (field->rows - 1) / 2.0) * (double)field->dy;
            if (!mabd_json_expression_evaluate(text + 1, params, count, &height, message,
                                               sizeof message)) {
                return mabd_json_fail(reader, node, "in '%.60s' at x = %g, y = %g: %s", text,
                                      params[0].number, params[1].number, message);
            }
            if (height.text) {
                return mabd_json_fail(reader, node, "heights: '%.40s' is a text, not a number",
                                      text);
            }
            *heights++ = (mabd_real)height.number;
        }
    }
    return MABD_OK;
}

static mabd_status read_heights(mabd_json_reader* reader, const mabd_json_node* node,
                                mabd_height_field* field) {
    mabd_json_node member;
    mabd_json_member(node, "heights", &member);
    const size_t n = (size_t)field->columns * (size_t)field->rows;
    const bool formula = json_is_string(member.value) && json_string_value(member.value)[0] == '=';
    if (n > MABD_FIELD_NODES) {
        return mabd_json_fail(reader, node, "a height field has at most %d nodes, found %zu",
                              MABD_FIELD_NODES, n);
    }
    if (!formula && (!json_is_array(member.value) || json_array_size(member.value) != n)) {
        char what[80];
        snprintf(what, sizeof what, "%zu numbers (columns x rows) or an expression of x and y", n);
        return mabd_json_expected(reader, &member, what);
    }
    mabd_real* heights = mabd_json_take(reader, mabd_bytes(n, sizeof *heights));
    if (!heights) return mabd_json_no_memory(reader);
    field->heights = heights;
    return formula ? evaluate_heights(reader, &member, field, heights)
                   : mabd_json_numbers(reader, node, "heights", n, heights);
}

static mabd_status read_field(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_geom* geom) {
    mabd_height_field* field = mabd_json_take(reader, sizeof *field);
    if (!field) return mabd_json_no_memory(reader);
    mabd_real cell[2];
    MABD_TRY(read_nodes(reader, node, "columns", &field->columns));
    MABD_TRY(read_nodes(reader, node, "rows", &field->rows));
    MABD_TRY(read_edges(reader, node, "cell", 2, "the edges of a cell", cell));
    field->dx = cell[0], field->dy = cell[1];
    MABD_TRY(read_heights(reader, node, field));
    geom->field = field;
    return MABD_OK;
}

// ---- geoms -------------------------------------------------------------------------------------

static mabd_status read_sizes(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_geom* geom) {
    mabd_real* size = geom->size;
    switch (geom->shape) {
    case MABD_SHAPE_BOX:
        return read_edges(reader, node, "size", 3, "the edges of a box", size);
    case MABD_SHAPE_SPHERE:
        return mabd_json_positive(reader, node, "radius", &size[0]);
    case MABD_SHAPE_CAPSULE:
        MABD_TRY(mabd_json_positive(reader, node, "radius", &size[0]));
        return mabd_json_not_negative(reader, node, "length", &size[1]);
    case MABD_SHAPE_CYLINDER:
        MABD_TRY(mabd_json_positive(reader, node, "radius", &size[0]));
        return mabd_json_positive(reader, node, "length", &size[1]);
    case MABD_SHAPE_BOWL:
        MABD_TRY(mabd_json_positive(reader, node, "radius", &size[0]));
        return mabd_json_positive(reader, node, "thickness", &size[1]);
    case MABD_SHAPE_HEIGHT_FIELD:
        return read_field(reader, node, geom);
    case MABD_SHAPE_PLANE:
    case MABD_SHAPE_COUNT:
        break;
    }
    return MABD_OK;
}

mabd_status mabd_json_geom(mabd_json_reader* reader, const mabd_json_node* node, mabd_geom* geom) {
    mabd_json_node member;
    if (!mabd_json_member(node, "shape", &member)) {
        return mabd_json_missing(reader, node, "a shape", "shape");
    }
    int shape = 0;
    MABD_TRY(mabd_json_choice(reader, node, "shape", shape_names, MABD_SHAPE_COUNT, &shape));
    MABD_TRY(check_members(reader, node, shape));
    const mabd_geom common = *geom;
    const mabd_real none[3] = {0, 0, 0};
    *geom = mabd_geom_make((mabd_shape)shape, none, common.density);
    geom->friction = common.friction;
    geom->restitution = common.restitution;
    geom->rolling_friction = common.rolling_friction;
    geom->spinning_friction = common.spinning_friction;
    memcpy(geom->surface_velocity, common.surface_velocity, sizeof geom->surface_velocity);
    geom->category = common.category;
    geom->mask = common.mask;
    MABD_TRY(read_sizes(reader, node, geom));
    MABD_TRY(mabd_json_rolling(reader, node, geom));
    return mabd_json_surface(reader, node, &geom->friction, &geom->restitution, &geom->category,
                             &geom->mask);
}
