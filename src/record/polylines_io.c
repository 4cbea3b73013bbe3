// SPDX-License-Identifier: Apache-2.0
#include "record/polylines_io.h"

#include "base/error.h"

#include <string.h>

// ---- writing -----------------------------------------------------------------------------------

/// Columns of the tables, as stored in the file.
typedef struct line_arrays {
    int32_t *kind, *count; // (lines)
    int32_t* body;         // (points) -1 = world
    double* point;         // (points x 3) [m]
} line_arrays;

static size_t layout(line_arrays* arrays, size_t lines, size_t points, char* memory) {
    mabd_arena arena = {memory, SIZE_MAX, 0};
    arrays->point = mabd_arena_take(&arena, 3 * points, sizeof *arrays->point);
    arrays->kind = mabd_arena_take(&arena, lines, sizeof *arrays->kind);
    arrays->count = mabd_arena_take(&arena, lines, sizeof *arrays->count);
    arrays->body = mabd_arena_take(&arena, points, sizeof *arrays->body);
    return arena.used;
}

static bool write_arrays(hid_t group, const line_arrays* arrays, int32_t lines, int32_t points) {
    const hsize_t line = (hsize_t)lines, point[2] = {(hsize_t)points, 3};
    return mabd_h5_write_array(group, "line_kind", H5T_NATIVE_INT32, 1, &line, arrays->kind) &&
           mabd_h5_write_array(group, "line_count", H5T_NATIVE_INT32, 1, &line, arrays->count) &&
           mabd_h5_write_array(group, "line_body", H5T_NATIVE_INT32, 1, point, arrays->body) &&
           mabd_h5_write_array(group, "line_point", H5T_NATIVE_DOUBLE, 2, point, arrays->point) &&
           mabd_h5_set_text(group, "line_kinds", "spring cable curve");
}

static void fill(const line_arrays* arrays, int32_t lines, int32_t points,
                 const mabd_polyline* line, const mabd_spring_point* point) {
    for (int32_t i = 0; i < lines; i++) {
        arrays->kind[i] = (int32_t)line[i].kind, arrays->count[i] = line[i].count;
    }
    for (int32_t i = 0; i < points; i++) {
        arrays->body[i] = point[i].body;
        for (int k = 0; k < 3; k++) {
            arrays->point[3 * (size_t)i + k] = (double)point[i].point[k];
        }
    }
}

static mabd_status write_lines(const mabd_allocator* allocator, hid_t group,
                               const mabd_model* model, mabd_error* error) {
    int32_t points = 0;
    const int32_t lines = mabd_model_polylines(model, NULL, NULL, &points);
    if (lines == 0) return MABD_OK;
    line_arrays arrays;
    const size_t bytes = layout(&arrays, (size_t)lines, (size_t)points, NULL);
    const size_t head = mabd_bytes((size_t)lines, sizeof(mabd_polyline));
    const size_t body = head + mabd_bytes((size_t)points, sizeof(mabd_spring_point));
    char* memory = mabd_alloc(allocator, bytes);
    mabd_polyline* line = mabd_alloc(allocator, body);
    bool ok = true;
    if (memory && line) {
        mabd_spring_point* point = (mabd_spring_point*)(void*)((char*)line + head);
        mabd_model_polylines(model, line, point, NULL);
        layout(&arrays, (size_t)lines, (size_t)points, memory);
        fill(&arrays, lines, points, line, point);
        ok = write_arrays(group, &arrays, lines, points);
    }
    const bool there = memory && line;
    mabd_free(allocator, line, body);
    mabd_free(allocator, memory, bytes);
    if (!there) return mabd_fail_memory(error, "recording the geometry");
    return ok ? MABD_OK : MABD_ERR_IO;
}

mabd_status mabd_drawn_write(const mabd_allocator* allocator, hid_t group, const mabd_model* model,
                             mabd_error* error) {
    mabd_real point[3], normal[3];
    if (mabd_model_ground_plane(model, point, normal)) {
        const hsize_t extents[2] = {2, 3};
        double plane[6];
        for (int k = 0; k < 3; k++) plane[k] = (double)point[k], plane[3 + k] = (double)normal[k];
        if (!mabd_h5_write_array(group, "ground", H5T_NATIVE_DOUBLE, 2, extents, plane)) {
            return MABD_ERR_IO;
        }
    }
    return write_lines(allocator, group, model, error);
}

// ---- reading -----------------------------------------------------------------------------------

static bool exists(hid_t file, const char* name) {
    return H5Lexists(file, name, H5P_DEFAULT) > 0;
}

static bool read_ground(hid_t file, mabd_drawn* drawn) {
    const hsize_t extents[2] = {2, 3};
    double plane[6];
    if (!exists(file, "geometry/ground")) return true;
    if (!mabd_h5_read_array(file, "geometry/ground", H5T_NATIVE_DOUBLE, 2, extents, plane)) {
        return false;
    }
    for (int k = 0; k < 6; k++) drawn->plane[k] = (mabd_real)plane[k];
    drawn->ground = true;
    return true;
}

static bool read_arrays(hid_t file, const line_arrays* arrays, int32_t lines, int32_t points) {
    const hsize_t line = (hsize_t)lines, point[2] = {(hsize_t)points, 3};
    return mabd_h5_read_array(file, "geometry/line_kind", H5T_NATIVE_INT32, 1, &line,
                              arrays->kind) &&
           mabd_h5_read_array(file, "geometry/line_count", H5T_NATIVE_INT32, 1, &line,
                              arrays->count) &&
           mabd_h5_read_array(file, "geometry/line_body", H5T_NATIVE_INT32, 1, point,
                              arrays->body) &&
           mabd_h5_read_array(file, "geometry/line_point", H5T_NATIVE_DOUBLE, 2, point,
                              arrays->point);
}

// False if a count, a kind or a body is out of range.
static bool spread(const line_arrays* arrays, int32_t bodies, mabd_drawn* drawn) {
    int32_t used = 0;
    for (int32_t i = 0; i < drawn->line_count; i++) {
        const int32_t n = arrays->count[i], kind = arrays->kind[i];
        if (n < 2 || n > drawn->point_count - used || kind < 0 || kind > MABD_POLYLINE_CURVE) {
            return false;
        }
        drawn->lines[i] = (mabd_polyline){(mabd_polyline_kind)kind, n, drawn->points + used};
        used += n;
    }
    for (int32_t i = 0; i < drawn->point_count; i++) {
        if (arrays->body[i] < MABD_WORLD || arrays->body[i] >= bodies) return false;
        drawn->points[i].body = arrays->body[i];
        for (int k = 0; k < 3; k++) {
            drawn->points[i].point[k] = (mabd_real)arrays->point[3 * (size_t)i + k];
        }
    }
    return used == drawn->point_count;
}

// Number of entries of a dataset, -1 = too many or none.
static int32_t length(hid_t file, const char* name) {
    hsize_t n = 0;
    const hid_t set = mabd_h5_open_array(file, name, 1, &n);
    mabd_h5_close(set);
    return set < 0 || n > INT32_MAX ? -1 : (int32_t)n;
}

mabd_status mabd_drawn_read(const mabd_allocator* allocator, hid_t file, int32_t bodies,
                            mabd_drawn* drawn) {
    if (!read_ground(file, drawn)) return MABD_ERR_INPUT;
    if (!exists(file, "geometry/line_kind")) return MABD_OK;
    const int32_t lines = length(file, "geometry/line_kind");
    const int32_t points = length(file, "geometry/line_body");
    if (lines < 0 || points < 0) return MABD_ERR_INPUT;
    line_arrays arrays;
    const size_t bytes = layout(&arrays, (size_t)lines, (size_t)points, NULL);
    drawn->line_count = lines, drawn->point_count = points;
    drawn->lines = mabd_alloc(allocator, mabd_bytes((size_t)lines, sizeof *drawn->lines));
    drawn->points = mabd_alloc(allocator, mabd_bytes((size_t)points, sizeof *drawn->points));
    char* memory = mabd_alloc(allocator, bytes);
    mabd_status status = MABD_ERR_MEMORY;
    if (drawn->lines && drawn->points && memory) {
        layout(&arrays, (size_t)lines, (size_t)points, memory);
        const bool ok = read_arrays(file, &arrays, lines, points) && spread(&arrays, bodies, drawn);
        status = ok ? MABD_OK : MABD_ERR_INPUT;
    }
    mabd_free(allocator, memory, bytes);
    return status;
}

void mabd_drawn_free(const mabd_allocator* allocator, mabd_drawn* drawn) {
    const size_t lines = (size_t)drawn->line_count, points = (size_t)drawn->point_count;
    mabd_free(allocator, drawn->lines, mabd_bytes(lines, sizeof *drawn->lines));
    mabd_free(allocator, drawn->points, mabd_bytes(points, sizeof *drawn->points));
    *drawn = (mabd_drawn){0};
}
