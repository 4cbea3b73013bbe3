// SPDX-License-Identifier: Apache-2.0
//
// Reading recordings through the HDF5 library. Times, geoms and motions are kept in memory; poses
// are read frame by frame. The file is not trusted: shapes and indices are checked when it is
// opened. A recording that is still written may be read; it has the frames that it had when it was
// opened.

#include "base/error.h"
#include "base/file.h"
#include "mabd/record.h"
#include "record/hdf5_util.h"
#include "record/heights.h"
#include "record/polylines_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mabd_recording {
    mabd_allocator allocator;
    hid_t file, position, quaternion;
    int32_t frames, bodies, geoms;
    double* time;         // [s] (frames)
    int32_t* start;       // (bodies) first geom in table
    int32_t* count;       // (bodies)
    int8_t* motion;       // (bodies) mabd_motion
    mabd_geom* table;     // (geoms)
    mabd_heights heights; // of the geoms
    mabd_drawn drawn;     // lines and ground
    char name[400];       // of the file, for messages
};

#define REAL_TYPE (sizeof(mabd_real) == sizeof(double) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT)

static mabd_status fail_content(const mabd_recording* r, const char* what, mabd_error* error) {
    return mabd_fail(error, MABD_ERR_INPUT, "%.340s is not a recording: %s", r->name, what);
}

// ---- opening -----------------------------------------------------------------------------------

// Report the reason of the operating system if the file cannot be read; HDF5 hides it.
static mabd_status check_readable(const mabd_recording* r, const char* path, mabd_error* error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return mabd_file_fail(error, "read", path, errno);
    struct stat info;
    int number = fstat(fd, &info) != 0 ? errno : 0;
    close(fd);
    if (number != 0) return mabd_file_fail(error, "read", path, number);
    if (S_ISDIR(info.st_mode)) return mabd_file_fail(error, "read", path, EISDIR);
    return S_ISREG(info.st_mode) ? MABD_OK : fail_content(r, "it is not a regular file", error);
}

static mabd_status open_file(mabd_recording* r, const char* path, mabd_error* error) {
    MABD_TRY(check_readable(r, path, error));
    r->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    char text[128];
    if (r->file < 0) return fail_content(r, mabd_h5_reason(text, sizeof text), error);
    if (!mabd_h5_get_text(r->file, "created-by", text, sizeof text) || strcmp(text, "mabd") != 0) {
        return fail_content(r, "it was made by another program", error);
    }
    return MABD_OK;
}

// Count the frames that time, position and quaternion all have.
static mabd_status open_frames(mabd_recording* r, mabd_error* error) {
    hsize_t times, position[3], quaternion[3];
    hid_t time = mabd_h5_open_array(r->file, "time", 1, &times);
    mabd_h5_close(time);
    r->position = mabd_h5_open_array(r->file, "position", 3, position);
    r->quaternion = mabd_h5_open_array(r->file, "quaternion", 3, quaternion);
    if (time < 0 || r->position < 0 || r->quaternion < 0 || position[1] != quaternion[1] ||
        position[2] != 3 || quaternion[2] != 4) {
        return fail_content(r, "time, position or quaternion has another shape", error);
    }
    hsize_t frames = times < position[0] ? times : position[0];
    if (quaternion[0] < frames) frames = quaternion[0];
    if (frames > INT32_MAX || position[1] > INT32_MAX) {
        return fail_content(r, "it has too many frames or bodies", error);
    }
    r->frames = (int32_t)frames;
    r->bodies = (int32_t)position[1];
    r->time = mabd_alloc(&r->allocator, (size_t)times * sizeof(double));
    if (!r->time) return mabd_fail_memory(error, "opening a recording");
    bool ok = mabd_h5_read_array(r->file, "time", H5T_NATIVE_DOUBLE, 1, &times, r->time);
    if (times > frames) {
        double* exact = mabd_alloc(&r->allocator, (size_t)frames * sizeof(double));
        if (exact) memcpy(exact, r->time, (size_t)frames * sizeof(double));
        mabd_free(&r->allocator, r->time, (size_t)times * sizeof(double));
        r->time = exact;
        if (!exact) return mabd_fail_memory(error, "opening a recording");
    }
    return ok ? MABD_OK : fail_content(r, "time cannot be read", error);
}

static mabd_status read_bodies(mabd_recording* r, mabd_error* error) {
    const size_t n = (size_t)r->bodies;
    const hsize_t extent = n;
    r->start = mabd_alloc(&r->allocator, n * sizeof *r->start);
    r->count = mabd_alloc(&r->allocator, n * sizeof *r->count);
    r->motion = mabd_alloc(&r->allocator, n * sizeof *r->motion);
    if (!r->start || !r->count || !r->motion) {
        return mabd_fail_memory(error, "opening a recording");
    }
    hid_t file = r->file;
    if (!mabd_h5_read_array(file, "geometry/body_start", H5T_NATIVE_INT32, 1, &extent, r->start) ||
        !mabd_h5_read_array(file, "geometry/body_count", H5T_NATIVE_INT32, 1, &extent, r->count) ||
        !mabd_h5_read_array(file, "geometry/body_motion", H5T_NATIVE_INT8, 1, &extent, r->motion)) {
        return fail_content(r, "the geoms of its bodies cannot be read", error);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t end = (int64_t)r->start[i] + r->count[i];
        if (r->start[i] < 0 || r->count[i] < 0 || end > r->geoms) {
            return fail_content(r, "a body has geoms that are not there", error);
        }
    }
    return MABD_OK;
}

// Read one column of the geom table into `offset` of each mabd_geom.
static bool read_geom_column(mabd_recording* r, const char* name, size_t offset, int32_t width,
                             double* scratch) {
    hsize_t extents[2] = {(hsize_t)r->geoms, (hsize_t)width};
    if (!mabd_h5_read_array(r->file, name, H5T_NATIVE_DOUBLE, width == 1 ? 1 : 2, extents,
                            scratch)) {
        return false;
    }
    for (int32_t i = 0; i < r->geoms; i++) {
        mabd_real* to = (mabd_real*)(void*)((char*)&r->table[i] + offset);
        for (int32_t k = 0; k < width; k++) to[k] = (mabd_real)scratch[(size_t)i * width + k];
    }
    return true;
}

static bool read_shapes(mabd_recording* r, int32_t* scratch) {
    const hsize_t n = (hsize_t)r->geoms;
    if (!mabd_h5_read_array(r->file, "geometry/shape", H5T_NATIVE_INT32, 1, &n, scratch)) {
        return false;
    }
    for (int32_t i = 0; i < r->geoms; i++) {
        if (scratch[i] < 0 || scratch[i] >= MABD_SHAPE_COUNT) return false;
        r->table[i].shape = (mabd_shape)scratch[i];
    }
    return true;
}

static mabd_status read_drawn(mabd_recording* r, mabd_error* error) {
    const mabd_status status = mabd_drawn_read(&r->allocator, r->file, r->bodies, &r->drawn);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "opening a recording");
    return status == MABD_OK ? MABD_OK : fail_content(r, "its lines cannot be read", error);
}

static mabd_status read_geoms(mabd_recording* r, mabd_error* error) {
    hsize_t n = 0;
    hid_t set = mabd_h5_open_array(r->file, "geometry/shape", 1, &n);
    mabd_h5_close(set);
    if (set < 0 || n > INT32_MAX) return fail_content(r, "it has no geoms", error);
    r->geoms = (int32_t)n;
    const size_t bytes = mabd_bytes((size_t)n, 4 * sizeof(double));
    r->table = mabd_alloc(&r->allocator, mabd_bytes((size_t)n, sizeof(mabd_geom)));
    double* scratch = mabd_alloc(&r->allocator, bytes);
    if (!r->table || !scratch) {
        mabd_free(&r->allocator, scratch, bytes);
        return mabd_fail_memory(error, "opening a recording");
    }
    bool ok = read_shapes(r, (int32_t*)(void*)scratch) &&
              read_geom_column(r, "geometry/size", offsetof(mabd_geom, size), 3, scratch) &&
              read_geom_column(r, "geometry/position", offsetof(mabd_geom, position), 3, scratch) &&
              read_geom_column(r, "geometry/rotation", offsetof(mabd_geom, rotation), 4, scratch) &&
              read_geom_column(r, "geometry/density", offsetof(mabd_geom, density), 1, scratch);
    mabd_free(&r->allocator, scratch, bytes);
    if (!ok) return fail_content(r, "its geoms cannot be read", error);
    const mabd_status status =
        mabd_heights_read(&r->allocator, r->file, r->geoms, r->table, &r->heights);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "opening a recording");
    return status == MABD_OK ? MABD_OK : fail_content(r, "its height fields cannot be read", error);
}

mabd_status mabd_recording_open(const char* path, mabd_recording** recording, mabd_error* error) {
    if (!path || !recording) {
        return mabd_fail(error, MABD_ERR_ARG, "mabd_recording_open: null argument");
    }
    *recording = NULL;
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_recording* r = mabd_alloc(&allocator, sizeof *r);
    if (!r) return mabd_fail_memory(error, "opening a recording");
    r->allocator = allocator;
    r->file = r->position = r->quaternion = H5I_INVALID_HID;
    snprintf(r->name, sizeof r->name, "%s", path);

    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    mabd_status status = open_file(r, path, error);
    if (status == MABD_OK) status = open_frames(r, error);
    if (status == MABD_OK) status = read_geoms(r, error);
    if (status == MABD_OK) status = read_bodies(r, error);
    if (status == MABD_OK) status = read_drawn(r, error);
    mabd_h5_quiet_end(quiet);
    if (status != MABD_OK) {
        mabd_recording_close(r);
        return status;
    }
    *recording = r;
    return MABD_OK;
}

void mabd_recording_close(mabd_recording* r) {
    if (!r) return;
    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    mabd_h5_close(r->position);
    mabd_h5_close(r->quaternion);
    if (r->file >= 0) H5Fclose(r->file);
    mabd_h5_quiet_end(quiet);
    const mabd_allocator allocator = r->allocator;
    const size_t n = (size_t)r->bodies;
    mabd_free(&allocator, r->time, (size_t)r->frames * sizeof(double));
    mabd_free(&allocator, r->start, n * sizeof *r->start);
    mabd_free(&allocator, r->count, n * sizeof *r->count);
    mabd_free(&allocator, r->motion, n * sizeof *r->motion);
    mabd_free(&allocator, r->table, mabd_bytes((size_t)r->geoms, sizeof(mabd_geom)));
    mabd_heights_free(&allocator, &r->heights);
    mabd_drawn_free(&allocator, &r->drawn);
    mabd_free(&allocator, r, sizeof *r);
}

// ---- reading -----------------------------------------------------------------------------------

int32_t mabd_recording_frame_count(const mabd_recording* recording) {
    return recording->frames;
}

int32_t mabd_recording_body_count(const mabd_recording* recording) {
    return recording->bodies;
}

mabd_real mabd_recording_time(const mabd_recording* recording, int32_t frame) {
    bool there = frame >= 0 && frame < recording->frames;
    return there ? (mabd_real)recording->time[frame] : 0;
}

const mabd_geom* mabd_recording_geoms(const mabd_recording* recording, int32_t body,
                                      int32_t* count) {
    *count = recording->count[body];
    return recording->table + recording->start[body];
}

const mabd_polyline* mabd_recording_polylines(const mabd_recording* recording, int32_t* count) {
    *count = recording->drawn.line_count;
    return recording->drawn.lines;
}

bool mabd_recording_ground_plane(const mabd_recording* recording, mabd_real* point,
                                 mabd_real* normal) {
    const mabd_drawn* drawn = &recording->drawn;
    if (!drawn->ground) return false;
    memcpy(point, drawn->plane, 3 * sizeof *point);
    memcpy(normal, drawn->plane + 3, 3 * sizeof *normal);
    return true;
}

bool mabd_recording_is_static(const mabd_recording* recording, int32_t body) {
    return recording->motion[body] != MABD_MOTION_DYNAMIC;
}

// Read one frame (bodies x columns) of a dataset.
static bool read_frame(const mabd_recording* r, hid_t set, int32_t frame, int32_t columns,
                       mabd_real* values) {
    hsize_t start[3] = {(hsize_t)frame, 0, 0};
    hsize_t count[3] = {1, (hsize_t)r->bodies, (hsize_t)columns};
    hid_t from = H5Dget_space(set), to = H5Screate_simple(3, count, NULL);
    bool ok = from >= 0 && to >= 0 &&
              H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dread(set, REAL_TYPE, to, from, H5P_DEFAULT, values) >= 0;
    mabd_h5_close(to);
    mabd_h5_close(from);
    return ok;
}

mabd_status mabd_recording_read(mabd_recording* recording, int32_t frame, mabd_real* positions,
                                mabd_real* quaternions, mabd_error* error) {
    if (frame < 0 || frame >= recording->frames) {
        return mabd_fail(error, MABD_ERR_ARG, "%.340s has %d frames: there is no frame %d",
                         recording->name, recording->frames, frame);
    }
    if (recording->bodies == 0) return MABD_OK;
    mabd_h5_quiet quiet = mabd_h5_quiet_begin();
    bool ok = read_frame(recording, recording->position, frame, 3, positions) &&
              read_frame(recording, recording->quaternion, frame, 4, quaternions);
    char reason[128];
    if (!ok) mabd_h5_reason(reason, sizeof reason);
    mabd_h5_quiet_end(quiet);
    if (ok) return MABD_OK;
    return mabd_fail(error, MABD_ERR_IO, "cannot read frame %d of %.300s: %s", frame,
                     recording->name, reason);
}
