// SPDX-License-Identifier: Apache-2.0
// Files of arrays and texts without a simulation: built in memory, then written as a whole.
#include "base/error.h"
#include "base/file.h"
#include "base/replacement.h"
#include "record/hdf5_util.h"

#include <errno.h>
#include <unistd.h>

// MABD_ERR_IO without a message: the reason is on HDF5's error stack.
static mabd_status write_content(hid_t file, const char* command, int32_t array_count,
                                 const mabd_record_array* arrays, int32_t text_count,
                                 const mabd_record_texts* texts) {
    bool ok = mabd_h5_set_text(file, "created-by", "mabd") &&
              mabd_h5_set_text(file, "version", mabd_version()) &&
              mabd_h5_set_text(file, "command", command ? command : "");
    for (int32_t i = 0; ok && i < array_count; i++) ok = mabd_h5_write_record(file, &arrays[i]);
    for (int32_t i = 0; ok && i < text_count; i++) {
        ok = mabd_h5_write_texts(file, texts[i].name, 1, (hsize_t)texts[i].count, texts[i].texts);
    }
    return ok ? MABD_OK : MABD_ERR_IO;
}

static mabd_status write_file(const mabd_allocator* allocator, const char* path, const void* bytes,
                              size_t size, mabd_error* error) {
    mabd_replacement file;
    MABD_TRY(mabd_replacement_begin(allocator, path, false, &file, error));
    mabd_status status = mabd_file_write(file.fd, path, bytes, size, 0, error);
    if (status == MABD_OK) status = mabd_replacement_finish(&file, true, error);
    mabd_replacement_end(allocator, &file);
    if (status == MABD_OK && close(file.fd) != 0)
        status = mabd_file_fail(error, "write", path, errno);
    return status;
}

mabd_status mabd_arrays_write(const char* path, const char* command, int32_t array_count,
                              const mabd_record_array* arrays, int32_t text_count,
                              const mabd_record_texts* texts, mabd_error* error) {
    if (!path || (array_count > 0 && !arrays) || (text_count > 0 && !texts)) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_arrays_write: null argument");
    }
    const mabd_allocator allocator = mabd_default_allocator();
    void* bytes = NULL;
    size_t size = 0;
    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    hid_t file = mabd_h5_create_in_memory(&bytes);
    mabd_status status = file >= 0 ? MABD_OK : MABD_ERR_IO;
    if (status == MABD_OK) {
        status = write_content(file, command, array_count, arrays, text_count, texts);
    }
    if (status == MABD_OK) status = mabd_h5_take_image(&allocator, file, &bytes, &size);
    if (status == MABD_ERR_MEMORY) mabd_fail_memory(error, "writing arrays");
    if (status == MABD_ERR_IO) {
        char reason[128];
        mabd_fail(error, status, "cannot create %.300s: %s", path,
                  mabd_h5_reason(reason, sizeof reason));
    }
    if (file >= 0) H5Fclose(file);
    mabd_h5_quiet_end(quiet);
    if (status == MABD_OK) status = write_file(&allocator, path, bytes, size, error);
    mabd_free(&allocator, bytes, size);
    return status;
}
