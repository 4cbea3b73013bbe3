// SPDX-License-Identifier: Apache-2.0
// Read what joints have beside their frame for formulations with joint coordinates: the chart of
// a ball, the pitch of a screw, the frames of a curve, the control values of a surface, the parts
// of a composite.
#include "import/json/json_internal.h"

#include <string.h>

static const char* const surface_keys[MABD_AXIS_COUNT] = {"x", "y", "z", "rx", "ry", "rz"};

// ---- curves ------------------------------------------------------------------------------------

static mabd_status read_curve(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_joint_def* def) {
    static const char* const keys[] = {"position", "rotation", NULL};
    mabd_json_node frames, member;
    if (!mabd_json_member(node, "frames", &frames)) {
        if (!mabd_json_member(node, "closed", &member)) return MABD_OK;
        return mabd_json_fail(reader, &member, "'closed' needs 'frames' beside it");
    }
    MABD_TRY(mabd_json_array(reader, &frames));
    const size_t n = json_array_size(frames.value);
    mabd_curve_def* curve = mabd_json_take(reader, sizeof *curve);
    mabd_real* values = mabd_json_take(reader, mabd_bytes(7 * n, sizeof *values));
    if (!curve || !values) return mabd_json_no_memory(reader);
    for (size_t i = 0; i < n; i++) {
        const mabd_json_node element = mabd_json_element(&frames, i);
        values[7 * i + 3] = 1;
        MABD_TRY(mabd_json_only(reader, &element, keys));
        MABD_TRY(mabd_json_vec3(reader, &element, "position", values + 7 * i));
        MABD_TRY(mabd_json_rotation(reader, &element, "rotation", values + 7 * i + 3));
    }
    curve->count = (int32_t)n, curve->frames = values;
    def->curve = curve;
    return mabd_json_bool(reader, node, "closed", &curve->closed);
}

// ---- surfaces ----------------------------------------------------------------------------------

// Read the grid of one key; all grids have the size of the first.
static mabd_status read_grid(mabd_json_reader* reader, const mabd_json_node* grid,
                             mabd_surface_def* surface, const mabd_real** values) {
    MABD_TRY(mabd_json_array(reader, grid));
    const size_t rows = json_array_size(grid->value);
    const mabd_json_node top = mabd_json_element(grid, 0);
    const size_t columns = rows > 0 ? json_array_size(top.value) : 0;
    if (surface->rows == 0) surface->rows = (int32_t)rows, surface->columns = (int32_t)columns;
    if ((int32_t)rows != surface->rows) {
        return mabd_json_fail(reader, grid, "expected %d rows as in the first grid, found %zu",
                              (int)surface->rows, rows);
    }
    mabd_real* out = mabd_json_take(reader, mabd_bytes(rows * columns, sizeof *out));
    if (!out) return mabd_json_no_memory(reader);
    *values = out;
    for (size_t i = 0; i < rows; i++) {
        const mabd_json_node row = mabd_json_element(grid, i);
        MABD_TRY(mabd_json_array(reader, &row));
        const size_t n = json_array_size(row.value);
        if ((int32_t)n != surface->columns) {
            return mabd_json_fail(reader, &row,
                                  "expected %d numbers as in the first row, found %zu",
                                  (int)surface->columns, n);
        }
        for (size_t j = 0; j < n; j++) {
            const mabd_json_node number = mabd_json_element(&row, j);
            MABD_TRY(mabd_json_number(reader, &number, out++));
        }
    }
    return MABD_OK;
}

static mabd_status read_surface(mabd_json_reader* reader, const mabd_json_node* node,
                                mabd_joint_def* def) {
    mabd_surface_def* surface = NULL;
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        mabd_json_node grid;
        if (!mabd_json_member(node, surface_keys[k], &grid)) continue;
        if (!surface) surface = mabd_json_take(reader, sizeof *surface);
        if (!surface) return mabd_json_no_memory(reader);
        MABD_TRY(read_grid(reader, &grid, surface, &surface->values[k]));
    }
    def->surface = surface;
    return MABD_OK;
}

// ---- balls -------------------------------------------------------------------------------------

static mabd_status read_chart(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_joint_chart* chart) {
    static const char* const names[] = {
#define X(name, text) text,
        MABD_JOINT_CHART_LIST(X)
#undef X
    };
    mabd_json_node member;
    int value = 0;
    if (!mabd_json_member(node, "chart", &member)) return MABD_OK;
    MABD_TRY(mabd_json_choice(reader, node, "chart", names, MABD_JOINT_CHART_COUNT, &value));
    *chart = (mabd_joint_chart)value;
    return MABD_OK;
}

// ---- composites --------------------------------------------------------------------------------

static mabd_status read_part(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_joint_part* part) {
    static const char* const keys[] = {"type",  "anchor", "axis",  "axis2",
                                       "frame", "pitch",  "chart", NULL};
    *part = mabd_default_joint_part();
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_joint_type(reader, node, &part->type));
    MABD_TRY(mabd_json_joint_frame(reader, node, part->anchor, part->frame));
    MABD_TRY(read_chart(reader, node, &part->chart));
    return mabd_json_real(reader, node, "pitch", &part->pitch);
}

static mabd_status read_parts(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_joint_def* def) {
    mabd_json_node list;
    if (!mabd_json_member(node, "joints", &list)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &list));
    const size_t n = json_array_size(list.value);
    mabd_joint_part* parts = mabd_json_take(reader, mabd_bytes(n + 1, sizeof *parts));
    if (!parts) return mabd_json_no_memory(reader);
    for (size_t i = 0; i < n; i++) {
        const mabd_json_node element = mabd_json_element(&list, i);
        MABD_TRY(read_part(reader, &element, &parts[i]));
    }
    def->part_count = (int32_t)n, def->parts = parts;
    return MABD_OK;
}

// A number for a curve, two for a surface.
static mabd_status read_start(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_joint_def* def) {
    mabd_json_node member;
    if (!mabd_json_member(node, "start", &member)) return MABD_OK;
    if (!def->curve && !def->surface) {
        return mabd_json_fail(reader, &member, "'start' belongs to splines");
    }
    if (def->surface) return mabd_json_numbers(reader, node, "start", 2, def->start);
    return mabd_json_real(reader, node, "start", &def->start[0]);
}

mabd_status mabd_json_path(mabd_json_reader* reader, const mabd_json_node* node,
                           mabd_joint_def* def) {
    MABD_TRY(read_chart(reader, node, &def->chart));
    MABD_TRY(mabd_json_real(reader, node, "pitch", &def->pitch));
    MABD_TRY(read_curve(reader, node, def));
    MABD_TRY(read_surface(reader, node, def));
    MABD_TRY(read_parts(reader, node, def));
    return read_start(reader, node, def);
}
