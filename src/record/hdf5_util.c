// SPDX-License-Identifier: Apache-2.0
#include "record/hdf5_util.h"

#include <stdio.h>
#include <string.h>

mabd_h5_quiet mabd_h5_quiet_begin(void) {
    mabd_h5_quiet quiet = {NULL, NULL};
    H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void mabd_h5_quiet_end(mabd_h5_quiet quiet) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.context);
}

typedef struct reason {
    char* text;
    size_t size;
} reason;

static herr_t take_first(unsigned n, const H5E_error2_t* entry, void* context) {
    reason* r = context;
    if (n == 0 && entry->desc) snprintf(r->text, r->size, "%s", entry->desc);
    return 0;
}

const char* mabd_h5_reason(char* text, size_t size) {
    reason r = {text, size};
    snprintf(text, size, "the HDF5 library failed");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &r);
    return text;
}

void mabd_h5_close(hid_t id) {
    if (id >= 0) H5Idec_ref(id);
}

// ---- writing -----------------------------------------------------------------------------------

static bool write_dataset(hid_t place, const char* name, hid_t type, hid_t space,
                          const void* data) {
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    bool ok = create >= 0 && H5Pset_obj_track_times(create, false) >= 0;
    hid_t set = ok && type >= 0 && space >= 0
                    ? H5Dcreate2(place, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT)
                    : H5I_INVALID_HID;
    ok = set >= 0;
    if (ok && H5Sget_simple_extent_npoints(space) > 0) {
        ok = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    }
    mabd_h5_close(set);
    mabd_h5_close(create);
    return ok;
}

bool mabd_h5_write_array(hid_t place, const char* name, hid_t type, int32_t rank,
                         const hsize_t* extents, const void* data) {
    hid_t space = H5Screate_simple(rank, extents, NULL);
    bool ok = write_dataset(place, name, type, space, data);
    mabd_h5_close(space);
    return ok;
}

// UTF-8 of a fixed length, or H5T_VARIABLE.
static hid_t make_text_type(size_t length) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    bool ok = H5Tset_size(type, length) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    if (ok && length != H5T_VARIABLE) ok = H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0;
    if (ok) return type;
    mabd_h5_close(type);
    return H5I_INVALID_HID;
}

bool mabd_h5_write_texts(hid_t place, const char* name, int32_t rank, hsize_t n,
                         const char* const* texts) {
    hid_t type = make_text_type(H5T_VARIABLE);
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    bool ok = write_dataset(place, name, type, space, texts);
    mabd_h5_close(space);
    mabd_h5_close(type);
    return ok;
}

bool mabd_h5_write_names(hid_t place, const char* name, hsize_t n, size_t length,
                         const char* data) {
    hid_t type = make_text_type(length);
    bool ok = mabd_h5_write_array(place, name, type, 1, &n, data);
    mabd_h5_close(type);
    return ok;
}

bool mabd_h5_set_number(hid_t object, const char* name, hid_t type, const void* value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = space >= 0 && type >= 0
                          ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                          : H5I_INVALID_HID;
    bool ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    mabd_h5_close(attribute);
    mabd_h5_close(space);
    return ok;
}

bool mabd_h5_set_text(hid_t object, const char* name, const char* text) {
    hid_t type = make_text_type(H5T_VARIABLE);
    bool ok = mabd_h5_set_number(object, name, type, &text);
    mabd_h5_close(type);
    return ok;
}

// ---- reading -----------------------------------------------------------------------------------

// Open an attribute with one element of a class; -1 if there is none.
static hid_t open_attribute(hid_t object, const char* name, bool text) {
    if (H5Aexists(object, name) <= 0) return H5I_INVALID_HID;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return attribute;
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    bool fits = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (text) {
        fits = fits && class == H5T_STRING && H5Tis_variable_str(type) > 0;
    } else {
        fits = fits && (class == H5T_INTEGER || class == H5T_FLOAT);
    }
    mabd_h5_close(space);
    mabd_h5_close(type);
    if (fits) return attribute;
    mabd_h5_close(attribute);
    return H5I_INVALID_HID;
}

bool mabd_h5_get_text(hid_t object, const char* name, char* text, size_t size) {
    hid_t attribute = open_attribute(object, name, true);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute);
    char* value = NULL;
    bool ok = type >= 0 && H5Aread(attribute, type, &value) >= 0;
    if (ok) snprintf(text, size, "%s", value ? value : "");
    if (ok && value) H5free_memory(value);
    mabd_h5_close(type);
    mabd_h5_close(attribute);
    return ok;
}

bool mabd_h5_get_number(hid_t object, const char* name, hid_t type, void* value) {
    hid_t attribute = open_attribute(object, name, false);
    if (attribute < 0) return false;
    bool ok = H5Aread(attribute, type, value) >= 0;
    mabd_h5_close(attribute);
    return ok;
}

hid_t mabd_h5_open_array(hid_t place, const char* name, int32_t rank, hsize_t* extents) {
    hid_t set = H5Dopen2(place, name, H5P_DEFAULT);
    if (set < 0) return set;
    hid_t space = H5Dget_space(set);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, extents, NULL) == rank;
    mabd_h5_close(space);
    if (fits) return set;
    mabd_h5_close(set);
    return H5I_INVALID_HID;
}

bool mabd_h5_read_array(hid_t place, const char* name, hid_t type, int32_t rank,
                        const hsize_t* extents, void* data) {
    hsize_t found[H5S_MAX_RANK];
    hid_t set = mabd_h5_open_array(place, name, rank, found);
    if (set < 0) return false;
    bool ok = memcmp(found, extents, (size_t)rank * sizeof *extents) == 0;
    bool empty = false;
    for (int32_t i = 0; i < rank; i++) empty = empty || extents[i] == 0;
    if (ok && !empty) ok = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    mabd_h5_close(set);
    return ok;
}

bool mabd_h5_write_record(hid_t place, const mabd_record_array* array) {
    hsize_t extents[3];
    for (int32_t k = 0; k < array->rank; k++) extents[k] = (hsize_t)array->extents[k];
    return mabd_h5_write_array(place, array->name, H5T_NATIVE_DOUBLE, array->rank, extents,
                               array->data);
}

// ---- files in memory ---------------------------------------------------------------------------

hid_t mabd_h5_create_in_memory(const void* unique) {
    char name[64];
    snprintf(name, sizeof name, "mabd recording %p", unique);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool ok = access >= 0 && H5Pset_fapl_core(access, 1 << 20, false) >= 0 &&
              H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0;
    hid_t file = ok ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5I_INVALID_HID;
    mabd_h5_close(access);
    return file;
}

mabd_status mabd_h5_take_image(const mabd_allocator* allocator, hid_t file, void** bytes,
                               size_t* size) {
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return MABD_ERR_IO;
    const ssize_t count = H5Fget_file_image(file, NULL, 0);
    if (count <= 0) return MABD_ERR_IO;
    *bytes = mabd_alloc(allocator, (size_t)count);
    if (!*bytes) return MABD_ERR_MEMORY;
    *size = (size_t)count;
    return H5Fget_file_image(file, *bytes, *size) == count ? MABD_OK : MABD_ERR_IO;
}
