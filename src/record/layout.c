// SPDX-License-Identifier: Apache-2.0
//
// The HDF5 library builds the start of a recording in memory (its core driver), so that a failing
// disk cannot leave the library in the middle of a write.
//
// The headers of the growing datasets are created first and linked afterwards. So they are
// adjacent, after the superblock, in the first page of the file, and one write commits a frame of
// all of them (record/series.h).
//
// Chunks: one frame and at most 1 MiB; small frames share a chunk of 16 KiB.

#include "record/layout.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/list.h"
#include "mabd/batch.h"
#include "record/hdf5_util.h"
#include "record/heights.h"
#include "record/polylines_io.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_BYTES       (UINT64_C(1) << 20) // largest chunk of a large frame
#define SMALL_CHUNK_BYTES (UINT64_C(1) << 14) // small frames share chunks of this size
#define TEXT_LIMIT        32768 // an attribute must stay below 64 KiB together with others

const mabd_field_info mabd_fields[MABD_FIELD_COUNT] = {
#define X(id, name, rows, columns, rank) {name, MABD_ROWS_##rows, columns, rank},
    MABD_FIELD_LIST(X)
#undef X
};

int32_t mabd_field_rows(mabd_field field, const mabd_model* model) {
    switch (mabd_fields[field].rows) {
    case MABD_ROWS_BODIES:
        return mabd_model_body_count(model);
    case MABD_ROWS_JOINTS:
        return mabd_model_joint_count(model);
    case MABD_ROWS_CONTROLS:
        return (mabd_model_copy_count(model) > 1 ? mabd_model_copy_count(model) : 1) *
               mabd_model_control_count(model);
    default:
        return 1;
    }
}

bool mabd_field_is_optional(mabd_field field) {
    return field >= MABD_FIELD_CONTACT_END;
}

static bool has_field(const mabd_record_def* def, int field) {
    if (!mabd_field_is_optional((mabd_field)field)) return true;
    return field == MABD_FIELD_CONTROL ? def->controls : def->contacts;
}

// ---- the growing datasets ----------------------------------------------------------------------

static void choose_chunk(hsize_t rows, hsize_t columns, hsize_t* frames, hsize_t* chunk_rows) {
    const hsize_t most = CHUNK_BYTES / (8 * columns);
    const hsize_t parts = rows == 0 ? 1 : (rows + most - 1) / most;
    *chunk_rows = rows == 0 ? 1 : (rows + parts - 1) / parts;
    *frames = SMALL_CHUNK_BYTES / (8 * columns * *chunk_rows);
    if (*frames == 0) *frames = 1;
}

// Create a dataset without a name. It has the native type: frames are written as in memory.
static hid_t create_field(hid_t file, mabd_field field, const mabd_model* model) {
    const mabd_field_info* info = &mabd_fields[field];
    const hsize_t rows = (hsize_t)mabd_field_rows(field, model), columns = (hsize_t)info->columns;
    hsize_t frames, chunk_rows;
    choose_chunk(rows, columns, &frames, &chunk_rows);
    hsize_t extents[3] = {0, rows, columns}, chunk[3] = {frames, chunk_rows, columns};
    hsize_t most[3] = {H5S_UNLIMITED, rows > 0 ? rows : 1, columns};
    if (info->rank == 2) extents[1] = chunk[1] = most[1] = columns;

    const bool counts = field == MABD_FIELD_STEP || field == MABD_FIELD_CONTACT_END;
    hid_t type = counts ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    hid_t space = H5Screate_simple(info->rank, extents, most);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    bool ok = create >= 0 && H5Pset_chunk(create, info->rank, chunk) >= 0 &&
              H5Pset_obj_track_times(create, false) >= 0 &&
              H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0;
    hid_t set =
        ok && space >= 0 ? H5Dcreate_anon(file, type, space, create, H5P_DEFAULT) : H5I_INVALID_HID;
    mabd_h5_close(create);
    mabd_h5_close(space);
    return set;
}

// Names of the accounts, separated by spaces.
#define X(name, field, kind) " " #field
static const char* const balance_columns = &(MABD_ENERGY_LIST(X))[1];
#undef X

static bool write_fields(hid_t file, const mabd_model* model, const mabd_record_def* def) {
    hid_t sets[MABD_FIELD_COUNT];
    bool ok = true;
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        const bool wanted = has_field(def, i);
        sets[i] = ok && wanted ? create_field(file, (mabd_field)i, model) : H5I_INVALID_HID;
        ok = ok && (!wanted || sets[i] >= 0);
    }
    for (int i = 0; i < MABD_FIELD_COUNT && ok; i++) {
        if (!has_field(def, i)) continue;
        ok = H5Olink(sets[i], file, mabd_fields[i].name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    ok = ok && mabd_h5_set_text(sets[MABD_FIELD_ENERGY], "columns",
                                "kinetic gravity elastic spring total");
    ok = ok && mabd_h5_set_text(sets[MABD_FIELD_ENERGY_BALANCE], "columns", balance_columns);
    if (ok && def->contacts) {
        ok = mabd_h5_set_text(sets[MABD_FIELD_CONTACT], "columns",
                              "a b point_x point_y point_z normal_x normal_y normal_z force_x "
                              "force_y force_z distance slips");
    }
    if (ok && def->controls) {
        ok = mabd_h5_set_text(sets[MABD_FIELD_CONTROL], "columns", "coordinate rate");
    }
    for (int i = 0; i < MABD_FIELD_COUNT; i++) mabd_h5_close(sets[i]);
    return ok;
}

// ---- contents known at the start ---------------------------------------------------------------

// Cut a text to the size of an attribute, before a UTF-8 character.
static bool set_limited_text(hid_t file, const char* name, const char* text) {
    char cut[TEXT_LIMIT];
    size_t length = strlen(text);
    if (length >= sizeof cut) {
        length = sizeof cut - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    }
    memcpy(cut, text, length);
    cut[length] = '\0';
    return mabd_h5_set_text(file, name, cut);
}

static bool write_attributes(hid_t file, const mabd_sim* sim, const mabd_record_def* def) {
    const mabd_model* model = mabd_sim_model(sim);
    const mabd_sim_def sim_def = mabd_sim_get_def(sim);
    const double h = (double)sim_def.h;
    const uint64_t hash = mabd_model_hash(model);
    return mabd_h5_set_text(file, "created-by", "mabd") &&
           mabd_h5_set_text(file, "version", mabd_version()) &&
           set_limited_text(file, "scene", mabd_model_name(model)) &&
           mabd_h5_set_text(file, "formulation", mabd_formulation_name(sim_def.formulation)) &&
           mabd_h5_set_text(file, "backend", mabd_backend_name(sim_def.backend)) &&
           mabd_h5_set_text(file, "integrator", mabd_integrator_name(sim_def.integrator)) &&
           mabd_h5_set_number(file, "h", H5T_NATIVE_DOUBLE, &h) &&
           mabd_h5_set_number(file, "model_hash", H5T_NATIVE_UINT64, &hash) &&
           set_limited_text(file, "command", def->command ? def->command : "");
}

typedef const char* (*name_function)(const mabd_model* model, int32_t index, char* text,
                                     size_t size);

static mabd_status write_names(const mabd_allocator* allocator, hid_t group, const char* name,
                               const mabd_model* model, int32_t n, name_function get,
                               mabd_error* error) {
    char text[1024];
    size_t longest = 1;
    for (int32_t i = 0; i < n; i++) {
        size_t length = strlen(get(model, i, text, sizeof text));
        if (length > longest) longest = length;
    }
    const size_t bytes = mabd_bytes((size_t)n, longest);
    char* names = mabd_alloc(allocator, bytes);
    if (!names) return mabd_fail_memory(error, "recording the names");
    for (int32_t i = 0; i < n; i++) {
        get(model, i, text, sizeof text);
        memcpy(names + (size_t)i * longest, text, strlen(text));
    }
    bool ok = mabd_h5_write_names(group, name, (hsize_t)n, longest, names);
    mabd_free(allocator, names, bytes);
    return ok ? MABD_OK : MABD_ERR_IO;
}

static mabd_status write_texts(const mabd_allocator* allocator, hid_t file,
                               const mabd_record_def* def, mabd_error* error) {
    const char* text = def->scene_text ? def->scene_text : "";
    if (!mabd_h5_write_texts(file, "scene_text", 0, 1, &text)) return MABD_ERR_IO;

    const int32_t n = def->setting_count;
    size_t all = 0;
    for (int32_t i = 0; i < n; i++) {
        all += strlen(def->settings[i].name) + strlen(def->settings[i].value) + 2;
    }
    const size_t table = mabd_bytes((size_t)n, sizeof(char*));
    char** settings = mabd_alloc(allocator, table + all);
    if (!settings) return mabd_fail_memory(error, "recording the settings");
    char* at = (char*)settings + table;
    for (int32_t i = 0; i < n; i++) {
        settings[i] = at;
        at += sprintf(at, "%s=%s", def->settings[i].name, def->settings[i].value) + 1;
    }
    bool ok = mabd_h5_write_texts(file, "settings", 1, (hsize_t)n, (const char* const*)settings);
    mabd_free(allocator, settings, table + all);
    return ok ? MABD_OK : MABD_ERR_IO;
}

// ---- geometry ----------------------------------------------------------------------------------

// Bodies of one class share their geoms: the table holds each list once, found by its address.
typedef struct geometry {
    const mabd_allocator* allocator;
    mabd_list geoms;  // mabd_geom
    mabd_list lists;  // geom_list, in the order of the bodies
    mabd_list bucket; // int32_t: open-addressed hash of lists, index + 1, 0 = empty
} geometry;

typedef struct geom_list {
    const mabd_geom* geoms;
    int32_t start, count;
} geom_list;

static int32_t* find_bucket(const geometry* g, const mabd_geom* geoms, int32_t count) {
    uint64_t hash = mabd_hash(MABD_HASH_START, &geoms, sizeof geoms);
    int32_t mask = g->bucket.count - 1, i = (int32_t)(hash >> 20 & (uint64_t)mask);
    int32_t* bucket = g->bucket.data;
    const geom_list* lists = g->lists.data;
    while (bucket[i]) {
        const geom_list* list = &lists[bucket[i] - 1];
        if (list->geoms == geoms && list->count == count) break;
        i = (i + 1) & mask;
    }
    return &bucket[i];
}

// Double the buckets and insert all lists again.
static mabd_status grow_buckets(geometry* g) {
    mabd_list larger = {0};
    int32_t count = g->bucket.count ? 2 * g->bucket.count : 64;
    MABD_TRY(mabd_list_reserve(g->allocator, &larger, sizeof(int32_t), count));
    mabd_list_free(g->allocator, &g->bucket, sizeof(int32_t));
    g->bucket = larger;
    g->bucket.count = count;
    const geom_list* lists = g->lists.data;
    for (int32_t i = 0; i < g->lists.count; i++) {
        *find_bucket(g, lists[i].geoms, lists[i].count) = i + 1;
    }
    return MABD_OK;
}

static mabd_status add_list(geometry* g, const mabd_geom* geoms, int32_t count, int32_t* start) {
    if (2 * (int64_t)g->lists.count >= g->bucket.count) MABD_TRY(grow_buckets(g));
    int32_t* bucket = find_bucket(g, geoms, count);
    if (*bucket == 0) {
        MABD_TRY(mabd_list_reserve(g->allocator, &g->lists, sizeof(geom_list), 1));
        MABD_TRY(mabd_list_reserve(g->allocator, &g->geoms, sizeof(mabd_geom), count));
        geom_list list = {geoms, g->geoms.count, count};
        if (count > 0) {
            memcpy((mabd_geom*)g->geoms.data + g->geoms.count, geoms,
                   (size_t)count * sizeof(mabd_geom));
        }
        g->geoms.count += count;
        ((geom_list*)g->lists.data)[g->lists.count++] = list;
        *bucket = g->lists.count;
    }
    *start = ((const geom_list*)g->lists.data)[*bucket - 1].start;
    return MABD_OK;
}

// Write a column of the geom table: `width` doubles at `offset` of each mabd_geom.
static bool write_geom_column(hid_t group, const char* name, const geometry* g, size_t offset,
                              int32_t width, double* scratch) {
    for (int32_t i = 0; i < g->geoms.count; i++) {
        const mabd_real* from =
            (const mabd_real*)((const char*)((const mabd_geom*)g->geoms.data + i) + offset);
        for (int32_t k = 0; k < width; k++) scratch[(size_t)i * width + k] = (double)from[k];
    }
    hsize_t extents[2] = {(hsize_t)g->geoms.count, (hsize_t)width};
    return mabd_h5_write_array(group, name, H5T_NATIVE_DOUBLE, width == 1 ? 1 : 2, extents,
                               scratch);
}

static mabd_status write_geom_table(hid_t group, const geometry* g, mabd_error* error) {
    const hsize_t n = (hsize_t)g->geoms.count;
    const size_t bytes = mabd_bytes((size_t)n, 4 * sizeof(double));
    double* scratch = mabd_alloc(g->allocator, bytes);
    if (!scratch) return mabd_fail_memory(error, "recording the geometry");
    int32_t* shapes = (int32_t*)scratch;
    for (hsize_t i = 0; i < n; i++) shapes[i] = (int32_t)((const mabd_geom*)g->geoms.data)[i].shape;
    bool ok = mabd_h5_write_array(group, "shape", H5T_NATIVE_INT32, 1, &n, shapes) &&
              write_geom_column(group, "size", g, offsetof(mabd_geom, size), 3, scratch) &&
              write_geom_column(group, "position", g, offsetof(mabd_geom, position), 3, scratch) &&
              write_geom_column(group, "rotation", g, offsetof(mabd_geom, rotation), 4, scratch) &&
              write_geom_column(group, "density", g, offsetof(mabd_geom, density), 1, scratch);
    mabd_free(g->allocator, scratch, bytes);
    if (!ok) return MABD_ERR_IO;
    return mabd_heights_write(g->allocator, group, (int32_t)n, g->geoms.data, error);
}

// Write for each body its geoms start .. start + count - 1 of the table, and its motion.
static mabd_status write_bodies(hid_t group, geometry* g, const mabd_model* model,
                                mabd_error* error) {
    const int32_t n = mabd_model_body_count(model);
    const size_t column = mabd_bytes((size_t)n, sizeof(int32_t));
    char* memory = mabd_alloc(g->allocator, 3 * column);
    if (!memory) return mabd_fail_memory(error, "recording the geometry");
    int32_t* starts = (int32_t*)memory;
    int32_t* counts = (int32_t*)(memory + column);
    int8_t* motions = (int8_t*)(memory + 2 * column);
    mabd_status status = MABD_OK;
    for (int32_t i = 0; i < n && status == MABD_OK; i++) {
        const mabd_geom* geoms = mabd_model_body_geoms(model, i, &counts[i]);
        motions[i] = (int8_t)mabd_model_body_motion(model, i);
        status = add_list(g, geoms, counts[i], &starts[i]);
    }
    const hsize_t extent = (hsize_t)n;
    if (status != MABD_OK) {
        status = mabd_fail_memory(error, "recording the geometry");
    } else if (!mabd_h5_write_array(group, "body_start", H5T_NATIVE_INT32, 1, &extent, starts) ||
               !mabd_h5_write_array(group, "body_count", H5T_NATIVE_INT32, 1, &extent, counts) ||
               !mabd_h5_write_array(group, "body_motion", H5T_NATIVE_INT8, 1, &extent, motions)) {
        status = MABD_ERR_IO;
    }
    mabd_free(g->allocator, memory, 3 * column);
    return status;
}

static mabd_status write_geometry(const mabd_allocator* allocator, hid_t group,
                                  const mabd_model* model, mabd_error* error) {
    geometry g = {.allocator = allocator};
    mabd_status status = write_bodies(group, &g, model, error);
    if (status == MABD_OK) status = write_geom_table(group, &g, error);
    if (status == MABD_OK) status = mabd_drawn_write(allocator, group, model, error);
    mabd_list_free(allocator, &g.geoms, sizeof(mabd_geom));
    mabd_list_free(allocator, &g.lists, sizeof(geom_list));
    mabd_list_free(allocator, &g.bucket, sizeof(int32_t));
    if (status != MABD_OK) return status;
    bool ok =
        mabd_h5_set_text(group, "shapes", "box sphere capsule cylinder plane bowl height-field") &&
        mabd_h5_set_text(group, "motions", "dynamic fixed scripted");
    return ok ? MABD_OK : MABD_ERR_IO;
}

// ---- batches -----------------------------------------------------------------------------------

static bool write_batch(hid_t file, const mabd_model* model, const mabd_record_def* def) {
    const int32_t copies = mabd_model_copy_count(model);
    if (copies == 0) return true;
    const int32_t bodies = mabd_model_body_count(model) / copies;
    const int32_t joints = mabd_model_joint_count(model) / copies;
    hid_t group = H5Gcreate2(file, "batch", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = group >= 0 && mabd_h5_set_number(group, "copies", H5T_NATIVE_INT32, &copies) &&
              mabd_h5_set_number(group, "bodies_per_copy", H5T_NATIVE_INT32, &bodies) &&
              mabd_h5_set_number(group, "joints_per_copy", H5T_NATIVE_INT32, &joints);
    for (int32_t i = 0; ok && i < def->array_count; i++)
        ok = mabd_h5_write_record(group, &def->arrays[i]);
    mabd_h5_close(group);
    return ok;
}

// ---- the image ---------------------------------------------------------------------------------

// MABD_ERR_IO without a message: the reason is on HDF5's error stack.
static mabd_status write_content(const mabd_allocator* allocator, hid_t file, const mabd_sim* sim,
                                 const mabd_record_def* def, mabd_error* error) {
    const mabd_model* model = mabd_sim_model(sim);
    if (!write_fields(file, model, def) || !write_attributes(file, sim, def)) return MABD_ERR_IO;
    if (!write_batch(file, model, def)) return MABD_ERR_IO;
    MABD_TRY(write_texts(allocator, file, def, error));

    hid_t names = H5Gcreate2(file, "names", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t shapes = H5Gcreate2(file, "geometry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    mabd_status status = names >= 0 && shapes >= 0 ? MABD_OK : MABD_ERR_IO;
    if (status == MABD_OK) {
        status = write_names(allocator, names, "bodies", model, mabd_model_body_count(model),
                             mabd_model_body_name, error);
    }
    if (status == MABD_OK) {
        status = write_names(allocator, names, "joints", model, mabd_model_joint_count(model),
                             mabd_model_joint_name, error);
    }
    if (status == MABD_OK) status = write_geometry(allocator, shapes, model, error);
    mabd_h5_close(shapes);
    mabd_h5_close(names);
    return status;
}

static mabd_status take_image(const mabd_allocator* allocator, hid_t file, mabd_image* image,
                              mabd_error* error) {
    const mabd_status status = mabd_h5_take_image(allocator, file, &image->bytes, &image->size);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "creating a recording");
    if (status != MABD_OK) return status;
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        if (H5Lexists(file, mabd_fields[i].name, H5P_DEFAULT) <= 0) continue;
        hobj_ref_t reference; // an object reference is the address of the header
        if (H5Rcreate(&reference, file, mabd_fields[i].name, H5R_OBJECT, -1) < 0) {
            return MABD_ERR_IO;
        }
        image->headers[i] = reference;
    }
    return MABD_OK;
}

mabd_status mabd_image_build(const mabd_allocator* allocator, const char* path, const mabd_sim* sim,
                             const mabd_record_def* def, mabd_image* image, mabd_error* error) {
    *image = (mabd_image){0};
    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    hid_t file = mabd_h5_create_in_memory(image);
    mabd_status status = file >= 0 ? MABD_OK : MABD_ERR_IO;
    if (status == MABD_OK) status = write_content(allocator, file, sim, def, error);
    if (status == MABD_OK) status = take_image(allocator, file, image, error);
    if (status == MABD_ERR_IO) {
        char reason[128];
        mabd_fail(error, status, "cannot create %.300s: %s", path,
                  mabd_h5_reason(reason, sizeof reason));
    }
    if (file >= 0) H5Fclose(file);
    mabd_h5_quiet_end(quiet);
    if (status != MABD_OK) mabd_image_free(allocator, image);
    return status;
}

void mabd_image_free(const mabd_allocator* allocator, mabd_image* image) {
    mabd_free(allocator, image->bytes, image->size);
    *image = (mabd_image){0};
}
