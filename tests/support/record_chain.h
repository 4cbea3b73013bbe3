// SPDX-License-Identifier: Apache-2.0
// A short chain to record, and recordings read back through the HDF5 library alone.
#pragma once

#include "mabd/record.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHAIN_LINKS 3

typedef struct chain {
    mabd_model* model;
    mabd_sim* sim;
} chain;

// The process that runs the test; an assertion in its children would wait forever.
static pid_t chain_owner;
__attribute__((constructor)) static void chain_note_owner(void) {
    chain_owner = getpid();
}

/// End the test (a child: with exit code 9) if a required call fails.
static inline void chain_check(mabd_status status, const mabd_error* error, const char* what) {
    if (status == MABD_OK) return;
    if (getpid() != chain_owner) _exit(9);
    cr_fatal("%s: %s", what, error->text);
}

/// Build a model of a fixed post and `links` boxes that hang from it sideways on ball joints.
static inline mabd_model* chain_model(int32_t links, mabd_real length) {
    mabd_error error = {0};
    mabd_scene* scene;
    chain_check(mabd_scene_create(NULL, &scene), &error, "scene");
    mabd_scene_set_name(scene, "chain");
    mabd_real size[3] = {length, 0.1, 0.1};
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_geom post = mabd_geom_make(MABD_SHAPE_SPHERE, (mabd_real[3]){0.2, 0, 0}, 1000);
    for (int32_t i = 0; i <= links; i++) {
        mabd_body_def body = mabd_default_body_def();
        char name[32];
        snprintf(name, sizeof name, i == 0 ? "post" : "link %d", i);
        body.name = name;
        body.geom_count = 1;
        body.geoms = i == 0 ? &post : &geom;
        body.motion = i == 0 ? MABD_MOTION_FIXED : MABD_MOTION_DYNAMIC;
        body.position[0] = i == 0 ? 0 : (i - 0.5) * length;
        chain_check(mabd_scene_add_body(scene, &body, NULL, &error), &error, "body");
        if (i == 0) continue;
        mabd_joint_def joint = mabd_default_joint_def();
        snprintf(name, sizeof name, "joint %d", i);
        joint.name = name;
        joint.type = MABD_JOINT_BALL;
        joint.a = i - 1;
        joint.b = i;
        joint.anchor[0] = (i - 1) * length;
        chain_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    mabd_model* model;
    chain_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    mabd_scene_destroy(scene);
    return model;
}

static inline mabd_sim* chain_sim(const mabd_model* model, const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    def.allocator = allocator;
    mabd_sim* sim;
    chain_check(mabd_sim_create(model, &def, &sim, &error), &error, "sim");
    return sim;
}

static inline chain chain_create(void) {
    chain c = {chain_model(CHAIN_LINKS, 0.5), NULL};
    c.sim = chain_sim(c.model, NULL);
    return c;
}

static inline void chain_destroy(chain c) {
    mabd_sim_destroy(c.sim);
    mabd_model_destroy(c.model);
}

static inline void chain_step(mabd_sim* sim, int steps) {
    mabd_error error = {0};
    for (int i = 0; i < steps; i++) chain_check(mabd_sim_step(sim, NULL, &error), &error, "step");
}

static inline mabd_record_def chain_record_def(void) {
    static const mabd_setting settings[] = {{"links", "3"}, {"joint", "ball"}};
    mabd_record_def def = {.scene_text = "{\"name\": \"chain\"}",
                           .setting_count = 2,
                           .settings = settings,
                           .command = "mabd run chain.json"};
    return def;
}

/// Make a new empty directory; path (size) gets "<directory>/<name>".
static inline void scratch_path(char* path, size_t size, const char* name) {
    const char* base = getenv("TMPDIR");
    char directory[128];
    snprintf(directory, sizeof directory, "%.80s/mabd-record-XXXXXX", base ? base : "/tmp");
    cr_assert(mkdtemp(directory) != NULL);
    snprintf(path, size, "%s/%s", directory, name);
}

/// Remove the file and its directory; the directory must hold nothing else.
static inline void scratch_remove(const char* path) {
    char directory[256];
    snprintf(directory, sizeof directory, "%s", path);
    *strrchr(directory, '/') = '\0';
    unlink(path);
    cr_expect(rmdir(directory) == 0, "files are left beside %s", path);
}

static const char* const frame_datasets[] = {
    "time",     "step",       "gap",      "angle_error",      "energy",
    "position", "quaternion", "velocity", "angular_velocity", "joint_force"};
#define FRAME_DATASETS (sizeof frame_datasets / sizeof frame_datasets[0])

/// Read a dataset as doubles (the caller frees), its extents (3) and its number of values; null if
/// it cannot be read.
static inline double* dataset_read(const char* path, const char* name, hsize_t* extents,
                                   size_t* count) {
    double* values = NULL;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = file >= 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (set >= 0) {
        hid_t space = H5Dget_space(set);
        extents[0] = extents[1] = extents[2] = 1;
        H5Sget_simple_extent_dims(space, extents, NULL);
        *count = (size_t)H5Sget_simple_extent_npoints(space);
        values = calloc(*count + 1, sizeof *values);
        if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            free(values);
            values = NULL;
        }
        H5Sclose(space);
        H5Dclose(set);
    }
    if (file >= 0) H5Fclose(file);
    return values;
}

/// Return the number of frames of every dataset of a recording, -1 if they differ or the file
/// cannot be read.
static inline int dataset_frames(const char* path) {
    int frames = -1;
    for (size_t i = 0; i < FRAME_DATASETS; i++) {
        hsize_t extents[3];
        size_t count;
        double* values = dataset_read(path, frame_datasets[i], extents, &count);
        if (!values) return -1;
        free(values);
        if (i > 0 && (int)extents[0] != frames) return -1;
        frames = (int)extents[0];
    }
    return frames;
}

/// Return true if the first `frames` frames of two recordings are equal, bit for bit.
static inline bool dataset_equal(const char* left, const char* right, int frames) {
    bool equal = true;
    for (size_t i = 0; i < FRAME_DATASETS && equal; i++) {
        hsize_t extents[2][3];
        size_t count[2] = {0, 0};
        double* a = dataset_read(left, frame_datasets[i], extents[0], &count[0]);
        double* b = dataset_read(right, frame_datasets[i], extents[1], &count[1]);
        equal = a && b && extents[0][0] >= (hsize_t)frames && extents[1][0] >= (hsize_t)frames;
        if (equal && frames > 0) {
            size_t size = count[0] / extents[0][0];
            equal = size == count[1] / extents[1][0];
            equal = equal && memcmp(a, b, size * (size_t)frames * sizeof *a) == 0;
        }
        free(a);
        free(b);
    }
    return equal;
}
