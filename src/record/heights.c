// SPDX-License-Identifier: Apache-2.0
#include "record/heights.h"

#include "base/error.h"

/// All height fields of n geoms, as stored in the file.
typedef struct field_arrays {
    int32_t* nodes;  // (n x 2) columns, rows
    double* cell;    // (n x 2) [m]
    double* heights; // (total) [m]
} field_arrays;

static int32_t count_fields(int32_t n, const mabd_geom* geoms) {
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) count += geoms[i].shape == MABD_SHAPE_HEIGHT_FIELD;
    return count;
}

static size_t layout(field_arrays* arrays, int32_t n, size_t total, char* memory) {
    mabd_arena arena = {memory, SIZE_MAX, 0};
    arrays->nodes = mabd_arena_take(&arena, 2 * (size_t)n, sizeof *arrays->nodes);
    arrays->cell = mabd_arena_take(&arena, 2 * (size_t)n, sizeof *arrays->cell);
    arrays->heights = mabd_arena_take(&arena, total, sizeof *arrays->heights);
    return arena.used;
}

static size_t node_count(const mabd_height_field* field) {
    return (size_t)field->columns * (size_t)field->rows;
}

// ---- writing -----------------------------------------------------------------------------------

static void fill(field_arrays* arrays, int32_t n, const mabd_geom* geoms) {
    double* height = arrays->heights;
    for (int32_t i = 0; i < n; i++) {
        const mabd_height_field* field = geoms[i].field;
        if (!field) continue;
        arrays->nodes[2 * i] = field->columns, arrays->nodes[2 * i + 1] = field->rows;
        arrays->cell[2 * i] = (double)field->dx, arrays->cell[2 * i + 1] = (double)field->dy;
        for (size_t k = 0; k < node_count(field); k++) *height++ = (double)field->heights[k];
    }
}

mabd_status mabd_heights_write(const mabd_allocator* allocator, hid_t group, int32_t n,
                               const mabd_geom* geoms, mabd_error* error) {
    if (count_fields(n, geoms) == 0) return MABD_OK;
    size_t total = 0;
    for (int32_t i = 0; i < n; i++) total += geoms[i].field ? node_count(geoms[i].field) : 0;
    field_arrays arrays;
    const size_t bytes = layout(&arrays, n, total, NULL);
    char* memory = mabd_alloc(allocator, bytes);
    if (!memory) return mabd_fail_memory(error, "recording the geometry");
    layout(&arrays, n, total, memory);
    fill(&arrays, n, geoms);
    const hsize_t extents[2] = {(hsize_t)n, 2}, heights = total;
    const bool ok =
        mabd_h5_write_array(group, "field_nodes", H5T_NATIVE_INT32, 2, extents, arrays.nodes) &&
        mabd_h5_write_array(group, "field_cell", H5T_NATIVE_DOUBLE, 2, extents, arrays.cell) &&
        mabd_h5_write_array(group, "heights", H5T_NATIVE_DOUBLE, 1, &heights, arrays.heights);
    mabd_free(allocator, memory, bytes);
    return ok ? MABD_OK : MABD_ERR_IO;
}

// ---- reading -----------------------------------------------------------------------------------

// Point geoms to fields and their heights; false if the sizes do not match.
static bool spread(const field_arrays* arrays, size_t total, int32_t n, mabd_geom* geoms,
                   mabd_height_field* field, mabd_real* heights) {
    size_t used = 0;
    for (int32_t i = 0; i < n; i++) {
        if (geoms[i].shape != MABD_SHAPE_HEIGHT_FIELD) continue;
        const int32_t columns = arrays->nodes[2 * i], rows = arrays->nodes[2 * i + 1];
        if (columns < 2 || rows < 2 || (size_t)columns > (total - used) / (size_t)rows) {
            return false;
        }
        field->columns = columns, field->rows = rows;
        field->dx = (mabd_real)arrays->cell[2 * i];
        field->dy = (mabd_real)arrays->cell[2 * i + 1];
        field->heights = heights + used;
        for (size_t k = 0; k < node_count(field); k++, used++) {
            heights[used] = (mabd_real)arrays->heights[used];
        }
        geoms[i].field = field++;
    }
    return used == total;
}

static bool read_arrays(hid_t file, int32_t n, size_t total, const field_arrays* arrays) {
    const hsize_t extents[2] = {(hsize_t)n, 2}, heights = total;
    return mabd_h5_read_array(file, "geometry/field_nodes", H5T_NATIVE_INT32, 2, extents,
                              arrays->nodes) &&
           mabd_h5_read_array(file, "geometry/field_cell", H5T_NATIVE_DOUBLE, 2, extents,
                              arrays->cell) &&
           mabd_h5_read_array(file, "geometry/heights", H5T_NATIVE_DOUBLE, 1, &heights,
                              arrays->heights);
}

mabd_status mabd_heights_read(const mabd_allocator* allocator, hid_t file, int32_t n,
                              mabd_geom* geoms, mabd_heights* fields) {
    const int32_t count = count_fields(n, geoms);
    if (count == 0) return MABD_OK;
    hsize_t total;
    const hid_t set = mabd_h5_open_array(file, "geometry/heights", 1, &total);
    mabd_h5_close(set);
    if (set < 0) return MABD_ERR_INPUT;
    field_arrays arrays;
    const size_t bytes = layout(&arrays, n, (size_t)total, NULL);
    const size_t head = mabd_bytes((size_t)count, sizeof(mabd_height_field));
    const size_t tail = mabd_bytes((size_t)total, sizeof(mabd_real));
    if (bytes == SIZE_MAX || tail > SIZE_MAX - head) return MABD_ERR_MEMORY;
    char* scratch = mabd_alloc(allocator, bytes);
    fields->bytes = head + tail;
    fields->memory = mabd_alloc(allocator, fields->bytes);
    mabd_status status = scratch && fields->memory ? MABD_OK : MABD_ERR_MEMORY;
    if (status == MABD_OK) {
        layout(&arrays, n, (size_t)total, scratch);
        mabd_real* heights = (mabd_real*)(void*)((char*)fields->memory + head);
        const bool ok = read_arrays(file, n, (size_t)total, &arrays) &&
                        spread(&arrays, (size_t)total, n, geoms, fields->memory, heights);
        status = ok ? MABD_OK : MABD_ERR_INPUT;
    }
    mabd_free(allocator, scratch, bytes);
    return status;
}

void mabd_heights_free(const mabd_allocator* allocator, mabd_heights* fields) {
    mabd_free(allocator, fields->memory, fields->bytes);
}
