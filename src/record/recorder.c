// SPDX-License-Identifier: Apache-2.0
//
// Writing recordings. The start of the file comes from record/layout.h and replaces an existing
// file as a whole; frames are appended through record/series.h. The HDF5 library writes no byte of
// the file: its flush is not atomic, so a run killed during a flush could lose everything.

#include "base/error.h"
#include "base/file.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/replacement.h"
#include "mabd/batch.h"
#include "mabd/record.h"
#include "record/hdf5_util.h"
#include "record/layout.h"
#include "record/series.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mabd_recorder {
    mabd_allocator allocator;
    char* path;
    size_t path_bytes;
    int fd;
    bool failed; // a write failed: the file ends with the last frame before it
    int32_t bodies, joints;
    uint64_t frames;
    uint64_t contacts; // rows of the dataset of contacts
    bool has[MABD_FIELD_COUNT];
    mabd_list found; // mabd_contact_info of one frame
    mabd_h5_file file;
    mabd_series series[MABD_FIELD_COUNT];
    size_t scratch_count; // elements of values and row
    mabd_real* values;    // one field of one frame, from the simulation
    double* row;          // the field with the type of the file; = values if mabd_real is double
};

// ---- creating ----------------------------------------------------------------------------------

static void destroy(mabd_recorder* recorder) {
    const mabd_allocator allocator = recorder->allocator;
    for (int i = 0; i < MABD_FIELD_COUNT; i++) mabd_series_free(&recorder->series[i], &allocator);
    if ((void*)recorder->row != (void*)recorder->values) {
        mabd_free(&allocator, recorder->row, recorder->scratch_count * sizeof(double));
    }
    mabd_free(&allocator, recorder->values, recorder->scratch_count * sizeof(mabd_real));
    mabd_list_free(&allocator, &recorder->found, sizeof(mabd_contact_info));
    mabd_free(&allocator, recorder->path, recorder->path_bytes);
    if (recorder->fd >= 0) close(recorder->fd);
    mabd_free(&allocator, recorder, sizeof *recorder);
}

// Allocate the parts that do not depend on the file.
static mabd_status allocate(const mabd_sim* sim, const char* path, mabd_recorder** out,
                            mabd_error* error) {
    const mabd_sim_def def = mabd_sim_get_def(sim);
    const mabd_allocator allocator = def.allocator ? *def.allocator : mabd_default_allocator();
    const mabd_model* model = mabd_sim_model(sim);
    mabd_recorder* recorder = mabd_alloc(&allocator, sizeof *recorder);
    if (!recorder) return mabd_fail_memory(error, "creating a recorder");
    recorder->allocator = allocator;
    recorder->fd = -1;
    recorder->bodies = mabd_model_body_count(model);
    recorder->joints = mabd_model_joint_count(model);

    size_t state = 4 * (size_t)recorder->bodies, forces = 6 * (size_t)recorder->joints;
    const size_t controls = 2 * (size_t)mabd_field_rows(MABD_FIELD_CONTROL, model);
    recorder->scratch_count = state > forces ? state : forces;
    if (controls > recorder->scratch_count) recorder->scratch_count = controls;
    recorder->values = mabd_alloc(&allocator, recorder->scratch_count * sizeof(mabd_real));
    recorder->row = sizeof(mabd_real) == sizeof(double)
                        ? (double*)(void*)recorder->values
                        : mabd_alloc(&allocator, recorder->scratch_count * sizeof(double));
    recorder->path_bytes = strlen(path) + 1;
    recorder->path = mabd_alloc(&allocator, recorder->path_bytes);
    if (!recorder->values || !recorder->row || !recorder->path) {
        destroy(recorder);
        return mabd_fail_memory(error, "creating a recorder");
    }
    memcpy(recorder->path, path, recorder->path_bytes);
    *out = recorder;
    return MABD_OK;
}

// Find the fields in the open file.
static mabd_status open_series(mabd_recorder* recorder, const mabd_model* model,
                               const uint64_t* headers, mabd_error* error) {
    MABD_TRY(mabd_h5_file_open(&recorder->file, recorder->fd, recorder->path, error));
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        mabd_series* series = &recorder->series[i];
        const mabd_field_info* info = &mabd_fields[i];
        recorder->has[i] = headers[i] != 0;
        if (!recorder->has[i]) continue;
        MABD_TRY(mabd_series_open(series, &recorder->file, info->name, headers[i], error));
        if (series->rank != info->rank || series->columns != (uint64_t)info->columns ||
            series->rows != (uint64_t)mabd_field_rows((mabd_field)i, model)) {
            return mabd_fail(
                error, MABD_ERR_INPUT,
                "cannot append to %.300s: dataset %s does not have the shape of this model",
                recorder->path, info->name);
        }
    }
    return MABD_OK;
}

static mabd_status create_file(mabd_recorder* recorder, const mabd_image* image,
                               mabd_error* error) {
    mabd_replacement file;
    MABD_TRY(mabd_replacement_begin(&recorder->allocator, recorder->path, true, &file, error));
    mabd_status status =
        mabd_file_write(file.fd, recorder->path, image->bytes, image->size, 0, error);
    if (status == MABD_OK) status = mabd_file_claim(file.fd, recorder->path, error);
    if (status == MABD_OK) status = mabd_replacement_finish(&file, false, error);
    mabd_replacement_end(&recorder->allocator, &file);
    recorder->fd = file.fd;
    return status;
}

mabd_status mabd_recorder_create(const char* path, const mabd_sim* sim, const mabd_record_def* def,
                                 mabd_recorder** recorder, mabd_error* error) {
    if (!path || !sim || !def || !recorder) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_recorder_create: null argument");
    }
    *recorder = NULL;
    mabd_recorder* made;
    MABD_TRY(allocate(sim, path, &made, error));
    mabd_image image;
    mabd_status status = mabd_image_build(&made->allocator, path, sim, def, &image, error);
    if (status == MABD_OK) status = create_file(made, &image, error);
    if (status == MABD_OK) {
        status = open_series(made, mabd_sim_model(sim), image.headers, error);
    }
    mabd_image_free(&made->allocator, &image);
    if (status != MABD_OK) {
        destroy(made);
        return status;
    }
    *recorder = made;
    return MABD_OK;
}

// ---- reopening ---------------------------------------------------------------------------------

// Contents of a reopened file.
typedef struct found {
    uint64_t headers[MABD_FIELD_COUNT];
    uint64_t hash;
    double h;
    hsize_t frames; // of /step
    int64_t* steps; // (frames)
    hsize_t ends;   // of /contact_end
    int64_t* end;   // (ends)
} found;

// Read a field of one whole number for each frame.
static mabd_status read_counts(const mabd_allocator* allocator, hid_t file, mabd_field field,
                               hsize_t* count, int64_t** values, mabd_error* error) {
    const char* name = mabd_fields[field].name;
    hid_t set = mabd_h5_open_array(file, name, 1, count);
    mabd_h5_close(set);
    if (set < 0) return MABD_ERR_INPUT;
    *values = mabd_alloc(allocator, (size_t)*count * sizeof **values);
    if (!*values) return mabd_fail_memory(error, "opening a recording");
    const bool ok = mabd_h5_read_array(file, name, H5T_NATIVE_INT64, 1, count, *values);
    return ok ? MABD_OK : MABD_ERR_INPUT;
}

// MABD_ERR_INPUT without a message if a part of a recording is missing.
static mabd_status inspect(const mabd_allocator* allocator, hid_t file, found* f,
                           mabd_error* error) {
    char maker[16];
    if (!mabd_h5_get_text(file, "created-by", maker, sizeof maker) || strcmp(maker, "mabd") != 0 ||
        !mabd_h5_get_number(file, "model_hash", H5T_NATIVE_UINT64, &f->hash) ||
        !mabd_h5_get_number(file, "h", H5T_NATIVE_DOUBLE, &f->h)) {
        return MABD_ERR_INPUT;
    }
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        hobj_ref_t reference;
        const bool optional = mabd_field_is_optional((mabd_field)i);
        f->headers[i] = 0;
        if (optional && H5Lexists(file, mabd_fields[i].name, H5P_DEFAULT) <= 0) continue;
        if (H5Rcreate(&reference, file, mabd_fields[i].name, H5R_OBJECT, -1) < 0) {
            return MABD_ERR_INPUT;
        }
        f->headers[i] = reference;
    }
    if (f->headers[MABD_FIELD_CONTACT_END] != 0) {
        MABD_TRY(read_counts(allocator, file, MABD_FIELD_CONTACT_END, &f->ends, &f->end, error));
    }
    return read_counts(allocator, file, MABD_FIELD_STEP, &f->frames, &f->steps, error);
}

static mabd_status inspect_path(const mabd_allocator* allocator, const char* path, found* f,
                                mabd_error* error) {
    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    mabd_status status = file >= 0 ? inspect(allocator, file, f, error) : MABD_ERR_INPUT;
    if (status == MABD_ERR_INPUT) {
        char reason[128] = "a dataset or attribute is missing";
        if (file < 0) mabd_h5_reason(reason, sizeof reason);
        mabd_fail(error, status, "cannot append to %.300s: it is not a recording: %s", path,
                  reason);
    }
    if (file >= 0) H5Fclose(file);
    mabd_h5_quiet_end(quiet);
    return status;
}

// Keep the frames up to the first one later than the simulation's step.
static mabd_status drop_frames(mabd_recorder* recorder, const found* f, int64_t step,
                               mabd_error* error) {
    uint64_t frames = f->frames;
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        if (!recorder->has[i] || i == MABD_FIELD_CONTACT) continue;
        uint64_t have = mabd_series_frames(&recorder->series[i], &recorder->file);
        if (have < frames) frames = have;
    }
    uint64_t kept = 0;
    while (kept < frames && f->steps[kept] <= step) kept++;
    const uint64_t contacts = kept > 0 && kept <= f->ends ? (uint64_t)f->end[kept - 1] : 0;
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        mabd_series* series = &recorder->series[i];
        const uint64_t left = i == MABD_FIELD_CONTACT ? contacts : kept;
        if (!recorder->has[i]) continue;
        MABD_TRY(mabd_series_load(series, &recorder->file, left, &recorder->allocator, error));
        mabd_series_set_frames(series, &recorder->file, left);
    }
    recorder->frames = kept, recorder->contacts = contacts;
    return mabd_h5_file_commit(&recorder->file, error);
}

static mabd_status reopen(mabd_recorder* recorder, const mabd_sim* sim, found* f,
                          mabd_error* error) {
    const mabd_model* model = mabd_sim_model(sim);
    const char* path = recorder->path;
    recorder->fd = open(path, O_RDWR | O_CLOEXEC);
    if (recorder->fd < 0) return mabd_file_fail(error, "write", path, errno);
    struct stat info;
    if (fstat(recorder->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return mabd_fail(error, MABD_ERR_IO, "cannot write %.340s: it is not a regular file", path);
    }
    MABD_TRY(mabd_file_claim(recorder->fd, path, error));
    MABD_TRY(inspect_path(&recorder->allocator, path, f, error));
    if (f->hash != mabd_model_hash(model)) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "cannot append to %.300s: it is a recording of another model", path);
    }
    if (f->h != (double)mabd_sim_get_def(sim).h) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "cannot append to %.300s: expected a step of %g s, got %g s", path,
                         (double)mabd_sim_get_def(sim).h, f->h);
    }
    MABD_TRY(open_series(recorder, model, f->headers, error));
    return drop_frames(recorder, f, mabd_sim_step_count(sim), error);
}

mabd_status mabd_recorder_reopen(const char* path, const mabd_sim* sim, mabd_recorder** recorder,
                                 mabd_error* error) {
    if (!path || !sim || !recorder) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_recorder_reopen: null argument");
    }
    *recorder = NULL;
    mabd_recorder* made;
    MABD_TRY(allocate(sim, path, &made, error));
    found f = {0};
    mabd_status status = reopen(made, sim, &f, error);
    mabd_free(&made->allocator, f.steps, (size_t)f.frames * sizeof(int64_t));
    mabd_free(&made->allocator, f.end, (size_t)f.ends * sizeof(int64_t));
    if (status != MABD_OK) {
        destroy(made);
        return status;
    }
    *recorder = made;
    return MABD_OK;
}

// ---- frames ------------------------------------------------------------------------------------

static mabd_status write_field(mabd_recorder* recorder, mabd_field field, const void* data,
                               mabd_error* error) {
    return mabd_series_write(&recorder->series[field], &recorder->file, recorder->frames, data,
                             error);
}

// Write recorder->values as a field.
static mabd_status write_values(mabd_recorder* recorder, mabd_field field, mabd_error* error) {
    if ((void*)recorder->row != (void*)recorder->values) {
        const mabd_series* series = &recorder->series[field];
        const size_t count = (size_t)(series->rows * series->columns);
        for (size_t i = 0; i < count; i++) recorder->row[i] = (double)recorder->values[i];
    }
    return write_field(recorder, field, recorder->row, error);
}

static mabd_status write_scalars(mabd_recorder* recorder, const mabd_sim* sim, mabd_error* error) {
    const mabd_measure measure = mabd_sim_measure(sim);
    const int64_t step = mabd_sim_step_count(sim);
    const double time = (double)mabd_sim_time(sim), gap = (double)measure.gap;
    const double angle_error = (double)measure.angle_error;
    const double energy[5] = {(double)measure.kinetic, (double)measure.gravity,
                              (double)measure.elastic, (double)measure.spring,
                              (double)measure.energy};
    MABD_TRY(write_field(recorder, MABD_FIELD_TIME, &time, error));
    MABD_TRY(write_field(recorder, MABD_FIELD_STEP, &step, error));
    MABD_TRY(write_field(recorder, MABD_FIELD_GAP, &gap, error));
    MABD_TRY(write_field(recorder, MABD_FIELD_ANGLE_ERROR, &angle_error, error));
    MABD_TRY(write_field(recorder, MABD_FIELD_ENERGY, energy, error));
    const mabd_energy_balance balance = mabd_sim_get_energy_balance(sim);
#define X(name, field, kind) (double)balance.field,
    const double accounts[MABD_ENERGY_COUNT] = {MABD_ENERGY_LIST(X)};
#undef X
    return write_field(recorder, MABD_FIELD_ENERGY_BALANCE, accounts, error);
}

static mabd_status write_state(mabd_recorder* recorder, const mabd_sim* sim, mabd_error* error) {
    mabd_real* values = recorder->values;
    mabd_sim_get_state(sim, values, NULL, NULL, NULL);
    MABD_TRY(write_values(recorder, MABD_FIELD_POSITION, error));
    mabd_sim_get_state(sim, NULL, values, NULL, NULL);
    MABD_TRY(write_values(recorder, MABD_FIELD_QUATERNION, error));
    mabd_sim_get_state(sim, NULL, NULL, values, NULL);
    MABD_TRY(write_values(recorder, MABD_FIELD_VELOCITY, error));
    mabd_sim_get_state(sim, NULL, NULL, NULL, values);
    MABD_TRY(write_values(recorder, MABD_FIELD_ANGULAR_VELOCITY, error));
    mabd_sim_get_joint_forces(sim, values);
    return write_values(recorder, MABD_FIELD_JOINT_FORCE, error);
}

// Write the contacts of this frame, each as a row of their dataset, and where they end.
static mabd_status write_contacts(mabd_recorder* recorder, const mabd_sim* sim, uint64_t* end,
                                  mabd_error* error) {
    const int32_t count = mabd_sim_get_contacts(sim, 0, NULL);
    recorder->found.count = 0;
    if (mabd_list_reserve(&recorder->allocator, &recorder->found, sizeof(mabd_contact_info),
                          count) != MABD_OK) {
        return mabd_fail_memory(error, "recording contacts");
    }
    const mabd_contact_info* at = recorder->found.data;
    mabd_sim_get_contacts(sim, count, recorder->found.data);
    for (int32_t i = 0; i < count; i++, at++) {
        double row[MABD_CONTACT_COLUMNS] = {at->a, at->b};
        for (int k = 0; k < 3; k++) {
            row[2 + k] = (double)at->point[k], row[5 + k] = (double)at->normal[k];
            row[8 + k] = (double)at->force[k];
        }
        row[11] = (double)at->distance, row[12] = at->slips;
        MABD_TRY(mabd_series_write(&recorder->series[MABD_FIELD_CONTACT], &recorder->file,
                                   recorder->contacts + (uint64_t)i, row, error));
    }
    *end = recorder->contacts + (uint64_t)count;
    const int64_t value = (int64_t)*end;
    return write_field(recorder, MABD_FIELD_CONTACT_END, &value, error);
}

// Write coordinates and rates of controls side by side.
static mabd_status write_controls(mabd_recorder* recorder, const mabd_sim* sim, mabd_error* error) {
    const size_t count = (size_t)recorder->series[MABD_FIELD_CONTROL].rows;
    mabd_real* values = recorder->values;
    mabd_sim_get_controls(sim, values, NULL);
    for (size_t i = count; i-- > 0;) values[2 * i] = values[i];
    mabd_real* rates = mabd_alloc(&recorder->allocator, mabd_bytes(count, sizeof *rates));
    if (!rates) return mabd_fail_memory(error, "recording controls");
    mabd_sim_get_controls(sim, NULL, rates);
    for (size_t i = 0; i < count; i++) values[2 * i + 1] = rates[i];
    mabd_free(&recorder->allocator, rates, mabd_bytes(count, sizeof *rates));
    return write_values(recorder, MABD_FIELD_CONTROL, error);
}

static mabd_status check_in_place(const mabd_recorder* recorder, mabd_error* error) {
    struct stat info;
    if (fstat(recorder->fd, &info) == 0 && info.st_nlink == 0) {
        return mabd_fail(error, MABD_ERR_IO,
                         "cannot write %.340s: it was removed or replaced during the run",
                         recorder->path);
    }
    return MABD_OK;
}

static mabd_status append(mabd_recorder* recorder, const mabd_sim* sim, mabd_error* error) {
    MABD_TRY(check_in_place(recorder, error));
    MABD_TRY(write_scalars(recorder, sim, error));
    MABD_TRY(write_state(recorder, sim, error));
    uint64_t contacts = recorder->contacts;
    if (recorder->has[MABD_FIELD_CONTACT]) {
        MABD_TRY(write_contacts(recorder, sim, &contacts, error));
    }
    if (recorder->has[MABD_FIELD_CONTROL]) MABD_TRY(write_controls(recorder, sim, error));
    for (int i = 0; i < MABD_FIELD_COUNT; i++) {
        const uint64_t rows = i == MABD_FIELD_CONTACT ? contacts : recorder->frames + 1;
        if (!recorder->has[i]) continue;
        mabd_series_set_frames(&recorder->series[i], &recorder->file, rows);
    }
    MABD_TRY(mabd_h5_file_commit(&recorder->file, error));
    recorder->frames++, recorder->contacts = contacts;
    return MABD_OK;
}

mabd_status mabd_recorder_append(mabd_recorder* recorder, const mabd_sim* sim, mabd_error* error) {
    if (!recorder || !sim) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_recorder_append: null argument");
    }
    const mabd_model* model = mabd_sim_model(sim);
    if (mabd_model_body_count(model) != recorder->bodies ||
        mabd_model_joint_count(model) != recorder->joints) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "mabd_recorder_append: the simulation is of another model");
    }
    if (recorder->failed) {
        return mabd_fail(error, MABD_ERR_IO,
                         "cannot write %.340s: an earlier frame could not be written",
                         recorder->path);
    }
    mabd_status status = append(recorder, sim, error);
    recorder->failed = status != MABD_OK;
    return status;
}

static mabd_status finish(mabd_recorder* recorder, mabd_error* error) {
    if (recorder->failed) {
        return mabd_fail(error, MABD_ERR_IO,
                         "%.340s is incomplete: it ends before a frame that could not be written",
                         recorder->path);
    }
    MABD_TRY(mabd_h5_file_trim(&recorder->file, error));
    // EINVAL: a file system that cannot sync
    if (fsync(recorder->fd) != 0 && errno != EINVAL) {
        return mabd_file_fail(error, "write", recorder->path, errno);
    }
    int fd = recorder->fd;
    recorder->fd = -1;
    return close(fd) == 0 ? MABD_OK : mabd_file_fail(error, "write", recorder->path, errno);
}

mabd_status mabd_recorder_close(mabd_recorder* recorder, mabd_error* error) {
    if (!recorder) return MABD_OK;
    mabd_status status = finish(recorder, error);
    destroy(recorder);
    return status;
}
