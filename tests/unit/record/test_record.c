// SPDX-License-Identifier: Apache-2.0
// Tests for src/record/recorder.c and recording.c: what is written is read back; errors.
#define _XOPEN_SOURCE 700 // mkdtemp

#include "support/counting_allocator.h"
#include "support/record_chain.h"

#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static mabd_recorder* create(const char* path, const mabd_sim* sim) {
    mabd_error error = {0};
    mabd_record_def def = chain_record_def();
    mabd_recorder* recorder = NULL;
    chain_check(mabd_recorder_create(path, sim, &def, &recorder, &error), &error, "create");
    return recorder;
}

static void append(mabd_recorder* recorder, const mabd_sim* sim) {
    mabd_error error = {0};
    chain_check(mabd_recorder_append(recorder, sim, &error), &error, "append");
}

static void finish(mabd_recorder* recorder) {
    mabd_error error = {0};
    chain_check(mabd_recorder_close(recorder, &error), &error, "close");
}

// Frames at steps 0, every, 2 every, ... as a run writes them.
static void record(const char* path, int frames, int every) {
    chain c = chain_create();
    mabd_recorder* recorder = create(path, c.sim);
    for (int i = 0; i < frames; i++) {
        if (i > 0) chain_step(c.sim, every);
        append(recorder, c.sim);
    }
    finish(recorder);
    chain_destroy(c);
}

Test(record, frames_are_read_back_bit_for_bit) {
    enum { frames = 5, bodies = CHAIN_LINKS + 1 };
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    chain c = chain_create();
    mabd_recorder* recorder = create(path, c.sim);
    mabd_real position[frames][3 * bodies], quaternion[frames][4 * bodies];
    for (int i = 0; i < frames; i++) {
        chain_step(c.sim, 2);
        mabd_sim_get_state(c.sim, position[i], quaternion[i], NULL, NULL);
        append(recorder, c.sim);
    }
    finish(recorder);

    mabd_error error = {0};
    mabd_recording* recording;
    chain_check(mabd_recording_open(path, &recording, &error), &error, "open");
    cr_assert(eq(i32, mabd_recording_frame_count(recording), frames));
    cr_assert(eq(i32, mabd_recording_body_count(recording), bodies));
    for (int i = frames - 1; i >= 0; i--) {
        mabd_real p[3 * bodies], q[4 * bodies];
        chain_check(mabd_recording_read(recording, i, p, q, &error), &error, "read");
        cr_expect(eq(int, memcmp(p, position[i], sizeof p), 0));
        cr_expect(eq(int, memcmp(q, quaternion[i], sizeof q), 0));
        cr_expect(epsilon_eq(dbl, mabd_recording_time(recording, i), 0.02 * (i + 1), 1e-12));
    }
    cr_expect(eq(int, mabd_recording_read(recording, frames, NULL, NULL, &error), MABD_ERR_ARG));
    mabd_recording_close(recording);
    chain_destroy(c);
    scratch_remove(path);
}

Test(record, geoms_and_motion_are_read_back) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    record(path, 1, 1);
    mabd_error error = {0};
    mabd_recording* recording;
    chain_check(mabd_recording_open(path, &recording, &error), &error, "open");
    for (int32_t i = 0; i <= CHAIN_LINKS; i++) {
        int32_t count = 0;
        const mabd_geom* geom = mabd_recording_geoms(recording, i, &count);
        cr_assert(eq(i32, count, 1));
        cr_expect(eq(int, geom->shape, i == 0 ? MABD_SHAPE_SPHERE : MABD_SHAPE_BOX));
        cr_expect(eq(dbl, geom->size[0], i == 0 ? 0.2 : 0.5));
        cr_expect(eq(dbl, geom->density, 1000));
        cr_expect(eq(dbl, geom->rotation[0], 1));
        cr_expect(eq(int, mabd_recording_is_static(recording, i), i == 0));
    }
    mabd_recording_close(recording);
    scratch_remove(path);
}

Test(record, bodies_of_many_classes_keep_their_own_geoms) {
    enum { bodies = 300 };
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    for (int i = 0; i < bodies; i++) {
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, (mabd_real[3]){1 + i / 2, 0, 0}, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geoms = &geom, body.geom_count = 1;
        chain_check(mabd_scene_add_body(scene, &body, NULL, &error), &error, "body");
    }
    chain_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    mabd_sim* sim = chain_sim(model, NULL);
    finish(create(path, sim));
    mabd_recording* recording;
    chain_check(mabd_recording_open(path, &recording, &error), &error, "open");
    for (int32_t i = 0; i < bodies; i++) {
        int32_t count = 0;
        const mabd_geom* geom = mabd_recording_geoms(recording, i, &count);
        cr_assert(eq(i32, count, 1));
        cr_expect(eq(dbl, geom->size[0], 1 + i / 2), "body %d", i);
    }
    mabd_recording_close(recording);
    mabd_sim_destroy(sim), mabd_model_destroy(model), mabd_scene_destroy(scene);
    scratch_remove(path);
}

/// A recording of a bowl, a height field of 3 x 2 nodes, a ball and a field of 2 x 2.
static const mabd_real recorded_heights[2][6] = {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9}};
static const mabd_height_field recorded_fields[2] = {{3, 2, 0.5, 0.25, recorded_heights[0]},
                                                     {2, 2, 1, 2, recorded_heights[1]}};

static void record_fields(const char* path) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    for (int i = 0; i < 4; i++) {
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_HEIGHT_FIELD, NULL, 0);
        geom.field = &recorded_fields[i / 2];
        if (i == 0) geom = mabd_geom_make(MABD_SHAPE_BOWL, (mabd_real[3]){1, 0.125, 0}, 0);
        if (i == 2) geom = mabd_geom_make(MABD_SHAPE_SPHERE, (mabd_real[3]){1, 0, 0}, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.motion = i == 2 ? MABD_MOTION_DYNAMIC : MABD_MOTION_FIXED;
        body.geoms = &geom, body.geom_count = 1;
        chain_check(mabd_scene_add_body(scene, &body, NULL, &error), &error, "body");
    }
    chain_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    mabd_sim* sim = chain_sim(model, NULL);
    finish(create(path, sim));
    mabd_sim_destroy(sim), mabd_model_destroy(model), mabd_scene_destroy(scene);
}

Test(record, height_fields_are_read_back) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    record_fields(path);
    mabd_error error = {0};
    mabd_recording* recording;
    chain_check(mabd_recording_open(path, &recording, &error), &error, "open");
    for (int32_t i = 0; i < 4; i++) {
        int32_t count = 0;
        const mabd_geom* geom = mabd_recording_geoms(recording, i, &count);
        cr_assert(eq(i32, count, 1));
        const bool has_field = geom->field != NULL;
        cr_expect(has_field == (i % 2 == 1));
        if (i == 0) cr_expect(eq(dbl, geom->size[1], 0.125));
        if (!geom->field) continue;
        const mabd_height_field* wanted = &recorded_fields[i / 2];
        cr_expect(eq(i32, geom->field->columns, wanted->columns));
        cr_expect(eq(i32, geom->field->rows, wanted->rows));
        cr_expect(eq(dbl, geom->field->dx, wanted->dx));
        cr_expect(eq(dbl, geom->field->dy, wanted->dy));
        const size_t bytes = (size_t)(wanted->columns * wanted->rows) * sizeof(mabd_real);
        cr_expect(eq(int, memcmp(geom->field->heights, wanted->heights, bytes), 0));
    }
    mabd_recording_close(recording);
    scratch_remove(path);
}

Test(record, height_fields_that_do_not_fit_are_refused) {
    static const int32_t broken[][8] = {{0, 0, 3, 2, 0, 0, 2, 3},
                                        {0, 0, 3, 2, 0, 0, 2, 1},
                                        {0, 0, -3, -2, 0, 0, 2, 2},
                                        {0, 0, 2, 2, 0, 0, 2, 2},
                                        {0, 0, 65536, 65536, 0, 0, 2, 2}};
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    record_fields(path);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t set = H5Dopen2(file, "geometry/field_nodes", H5P_DEFAULT);
        cr_assert(
            le(int, 0, H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, broken[i])));
        H5Dclose(set), H5Fclose(file);
        mabd_error error = {0};
        mabd_recording* recording;
        cr_expect(eq(int, mabd_recording_open(path, &recording, &error), MABD_ERR_INPUT));
        cr_expect(strstr(error.text, "its height fields cannot be read") != NULL, "%s", error.text);
    }
    scratch_remove(path);
}

Test(record, every_dataset_holds_what_the_simulation_says) {
    enum { bodies = CHAIN_LINKS + 1, joints = CHAIN_LINKS };
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    chain c = chain_create();
    mabd_recorder* recorder = create(path, c.sim);
    append(recorder, c.sim);
    chain_step(c.sim, 7);
    append(recorder, c.sim);
    finish(recorder);

    mabd_real v[3 * bodies], w[3 * bodies], forces[6 * joints];
    mabd_sim_get_state(c.sim, NULL, NULL, v, w);
    mabd_sim_get_joint_forces(c.sim, forces);
    const mabd_measure m = mabd_sim_measure(c.sim);
    const double energy[5] = {m.kinetic, m.gravity, m.elastic, m.spring, m.energy};
    const double step = 7, time = mabd_sim_time(c.sim);
    cr_assert(lt(dbl, 0, fabs(v[3 * bodies - 1])), "the chain moves");
    struct {
        const char* name;
        const double* expected;
        size_t count;
    } cases[] = {
        {"time", &time, 1},
        {"step", &step, 1},
        {"gap", &m.gap, 1},
        {"angle_error", &m.angle_error, 1},
        {"energy", energy, 5},
        {"velocity", v, 3 * bodies},
        {"angular_velocity", w, 3 * bodies},
        {"joint_force", forces, 6 * joints},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsize_t extents[3];
        size_t count = 0;
        double* values = dataset_read(path, cases[i].name, extents, &count);
        cr_assert(values != NULL, "%s", cases[i].name);
        cr_assert(eq(sz, count, 2 * cases[i].count), "%s", cases[i].name);
        cr_expect(memcmp(values + cases[i].count, cases[i].expected, 8 * cases[i].count) == 0, "%s",
                  cases[i].name);
        free(values);
    }
    chain_destroy(c);
    scratch_remove(path);
}

static void expect_text(hid_t object, const char* name, const char* expected) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    cr_assert(attribute >= 0, "%s", name);
    hid_t type = H5Aget_type(attribute);
    char* text = NULL;
    H5Aread(attribute, type, &text);
    cr_expect(eq(str, text, (char*)expected), "%s", name);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

Test(record, records_its_origin) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    record(path, 1, 1);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    expect_text(file, "created-by", "mabd");
    expect_text(file, "version", mabd_version());
    expect_text(file, "scene", "chain");
    expect_text(file, "formulation", "affine");
    expect_text(file, "backend", "cpu");
    expect_text(file, "integrator", "bdf2");
    expect_text(file, "command", "mabd run chain.json");

    char names[CHAIN_LINKS + 1][6];
    hid_t set = H5Dopen2(file, "names/bodies", H5P_DEFAULT), type = H5Dget_type(set);
    cr_assert(eq(sz, H5Tget_size(type), sizeof names[0]));
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, names);
    cr_expect(memcmp(names[0], "post\0", 6) == 0);
    cr_expect(memcmp(names[3], "link 3", 6) == 0);
    H5Tclose(type), H5Dclose(set);

    char *settings[2] = {0}, *text = NULL;
    set = H5Dopen2(file, "settings", H5P_DEFAULT), type = H5Dget_type(set);
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, settings);
    cr_expect(eq(str, settings[0], "links=3"));
    cr_expect(eq(str, settings[1], "joint=ball"));
    H5free_memory(settings[0]), H5free_memory(settings[1]), H5Dclose(set);
    set = H5Dopen2(file, "scene_text", H5P_DEFAULT);
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
    cr_expect(eq(str, text, "{\"name\": \"chain\"}"));
    H5free_memory(text), H5Tclose(type), H5Dclose(set), H5Fclose(file);
    scratch_remove(path);
}

Test(record, large_frames_are_cut_along_the_bodies) {
    enum { bodies = 50001 };
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, (mabd_real[3]){0.1, 0, 0}, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.name = "ball", body.geoms = &geom, body.geom_count = 1;
    mabd_real* positions = calloc(3 * bodies, sizeof *positions);
    for (int i = 0; i < bodies; i++) positions[3 * i] = i;
    chain_check(
        mabd_scene_add_body_n(scene, &body, bodies, positions, NULL, NULL, NULL, NULL, &error),
        &error, "bodies");
    chain_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    mabd_sim* sim = chain_sim(model, NULL);
    mabd_recorder* recorder = create(path, sim);
    for (int i = 0; i < 2; i++) chain_step(sim, 1), append(recorder, sim);
    finish(recorder);

    hsize_t extents[3];
    size_t count = 0;
    double* values = dataset_read(path, "quaternion", extents, &count);
    cr_assert(eq(sz, count, 2 * 4 * bodies));
    mabd_real* expected = calloc(4 * bodies, sizeof *expected);
    mabd_sim_get_state(sim, NULL, expected, NULL, NULL);
    cr_expect(memcmp(values + 4 * bodies, expected, 4 * bodies * sizeof *expected) == 0);
    free(values);
    values = dataset_read(path, "position", extents, &count);
    mabd_sim_get_state(sim, expected, NULL, NULL, NULL);
    cr_expect(memcmp(values + 3 * bodies, expected, 3 * bodies * sizeof *expected) == 0);
    cr_expect(eq(dbl, values[3 * (bodies - 1)], bodies - 1));
    free(values), free(expected), free(positions);
    values = dataset_read(path, "joint_force", extents, &count);
    cr_expect(eq(sz, extents[0], 2), "without joints there are frames of no rows");
    cr_expect(eq(sz, extents[1], 0));
    free(values);
    mabd_sim_destroy(sim), mabd_model_destroy(model), mabd_scene_destroy(scene);
    scratch_remove(path);
}

// ---- going on after a resume -------------------------------------------------------------------

Test(record, a_reopened_recording_equals_the_uninterrupted_one) {
    char whole[256], resumed[256];
    scratch_path(whole, sizeof whole, "a.h5");
    scratch_path(resumed, sizeof resumed, "b.h5");
    enum { frames = 40, every = 3 };
    record(whole, frames, every);
    // ended at frame `end`, resumed from the state at step `from`
    static const struct {
        int end, from;
    } cases[] = {{20, 57}, {20, 58}, {20, 30}, {1, 0}, {0, 0}, {39, 1}, {40, 117}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        record(resumed, cases[k].end, every);
        chain c = chain_create();
        chain_step(c.sim, cases[k].from);
        mabd_error error = {0};
        mabd_recorder* recorder = NULL;
        chain_check(mabd_recorder_reopen(resumed, c.sim, &recorder, &error), &error, "reopen");
        if (cases[k].end == 0) append(recorder, c.sim);
        while (mabd_sim_step_count(c.sim) < (frames - 1) * every) {
            chain_step(c.sim, 1);
            if (mabd_sim_step_count(c.sim) % every == 0) append(recorder, c.sim);
        }
        finish(recorder);
        chain_destroy(c);
        cr_expect(eq(int, dataset_frames(resumed), frames), "case %zu", k);
        cr_expect(dataset_equal(whole, resumed, frames), "case %zu", k);
    }
    scratch_remove(whole);
    scratch_remove(resumed);
}

Test(record, reopen_refuses_other_models_and_other_files) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    record(path, 3, 1);
    mabd_error error = {0};
    mabd_recorder* recorder = NULL;
    mabd_model* other = chain_model(CHAIN_LINKS, 0.6);
    mabd_sim* sim = chain_sim(other, NULL);
    cr_expect(eq(int, mabd_recorder_reopen(path, sim, &recorder, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "another model") != NULL, "%s", error.text);
    cr_expect(strstr(error.text, path) != NULL, "%s", error.text);
    cr_expect(eq(ptr, recorder, NULL));
    cr_expect(eq(int, dataset_frames(path), 3), "the file is untouched");

    FILE* file = fopen(path, "w");
    fputs("this is no recording", file);
    fclose(file);
    cr_expect(eq(int, mabd_recorder_reopen(path, sim, &recorder, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "not a recording") != NULL, "%s", error.text);
    unlink(path);
    cr_expect(eq(int, mabd_recorder_reopen(path, sim, &recorder, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, strerror(ENOENT)) != NULL, "%s", error.text);
    mabd_sim_destroy(sim), mabd_model_destroy(other);
    scratch_remove(path);
}

// ---- several at once ---------------------------------------------------------------------------

Test(record, is_readable_while_it_is_written) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    chain c = chain_create();
    mabd_recorder* recorder = create(path, c.sim);
    for (int i = 0; i < 3; i++) {
        cr_expect(eq(int, dataset_frames(path), i));
        append(recorder, c.sim);
    }
    mabd_error error = {0};
    mabd_recording* recording;
    chain_check(mabd_recording_open(path, &recording, &error), &error, "open");
    append(recorder, c.sim);
    cr_expect(eq(i32, mabd_recording_frame_count(recording), 3));
    mabd_recording_close(recording);
    finish(recorder);
    chain_destroy(c);
    scratch_remove(path);
}

Test(record, a_second_writer_is_refused) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    chain c = chain_create();
    mabd_recorder *first = create(path, c.sim), *second = NULL;
    append(first, c.sim);
    mabd_error error = {0};
    mabd_record_def def = chain_record_def();
    cr_expect(eq(int, mabd_recorder_create(path, c.sim, &def, &second, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, "another run") != NULL, "%s", error.text);
    cr_expect(eq(int, mabd_recorder_reopen(path, c.sim, &second, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, "another run") != NULL, "%s", error.text);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_expect(lt(int, (int)file, 0), "HDF5 itself must not write either");
    append(first, c.sim);
    finish(first);
    cr_expect(eq(int, dataset_frames(path), 2));
    second = create(path, c.sim); // a closed one may be replaced
    finish(second);
    cr_expect(eq(int, dataset_frames(path), 0));
    chain_destroy(c);
    scratch_remove(path);
}

Test(record, a_file_replaced_during_the_run_is_reported) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    chain c = chain_create();
    mabd_recorder* recorder = create(path, c.sim);
    append(recorder, c.sim);
    unlink(path);
    mabd_error error = {0};
    cr_expect(eq(int, mabd_recorder_append(recorder, c.sim, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, "removed or replaced") != NULL, "%s", error.text);
    cr_expect(eq(int, mabd_recorder_close(recorder, &error), MABD_ERR_IO));
    chain_destroy(c);
    scratch_remove(path);
}

// ---- failures ----------------------------------------------------------------------------------

static void expect_create_fails(const char* path, int number) {
    chain c = chain_create();
    mabd_error error = {0};
    mabd_record_def def = chain_record_def();
    mabd_recorder* recorder = NULL;
    cr_expect(eq(int, mabd_recorder_create(path, c.sim, &def, &recorder, &error), MABD_ERR_IO));
    cr_expect(eq(ptr, recorder, NULL));
    cr_expect(strstr(error.text, path) != NULL, "%s", error.text);
    const char* reason = number ? strerror(number) : "not a regular file";
    cr_expect(strstr(error.text, reason) != NULL, "%s", error.text);
    chain_destroy(c);
}

Test(record, places_that_cannot_be_written_are_named) {
    char path[256], inside[300];
    scratch_path(path, sizeof path, "a.h5");
    snprintf(inside, sizeof inside, "%s/none/b.h5", path);
    expect_create_fails(inside, ENOENT);
    expect_create_fails("/dev/full", 0);
    mkdir(path, 0777);
    expect_create_fails(path, EISDIR);
    if (geteuid() != 0) {
        chmod(path, 0555);
        snprintf(inside, sizeof inside, "%s/b.h5", path);
        expect_create_fails(inside, EACCES);
    }
    rmdir(path);
    scratch_remove(path);
}

// A limit of the file size simulates a full disk, in a child because it holds for the process.
static void run_with_limit(const char* path, rlim_t limit) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit size = {limit, limit};
        setrlimit(RLIMIT_FSIZE, &size);
        chain c = chain_create();
        mabd_error error = {0};
        mabd_record_def def = chain_record_def();
        mabd_recorder* recorder = NULL;
        mabd_status status = mabd_recorder_create(path, c.sim, &def, &recorder, &error);
        for (int i = 0; i < 4000 && status == MABD_OK; i++) {
            status = mabd_recorder_append(recorder, c.sim, &error);
            chain_step(c.sim, 1);
        }
        bool named = status == MABD_ERR_IO && strstr(error.text, path) &&
                     strstr(error.text, strerror(EFBIG));
        mabd_status again = MABD_ERR_IO;
        if (recorder) again = mabd_recorder_append(recorder, c.sim, NULL);
        mabd_status closed = mabd_recorder_close(recorder, &error);
        bool right = named && again == MABD_ERR_IO && closed == (recorder ? MABD_ERR_IO : MABD_OK);
        chain_destroy(c);
        right = H5close() >= 0 && right; // the HDF5 library ends well, too
        _exit(right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    cr_expect(right, "limit %lu", (unsigned long)limit);
}

Test(record, a_full_disk_is_reported_and_keeps_the_frames_before) {
    char path[256], whole[256];
    scratch_path(path, sizeof path, "a.h5");
    scratch_path(whole, sizeof whole, "b.h5");
    run_with_limit(path, 2000); // not even the start fits
    cr_expect(eq(int, access(path, F_OK), -1));
    run_with_limit(path, 3 << 20);
    record(whole, 4000, 1);
    int frames = dataset_frames(path);
    cr_expect(lt(int, 100, frames));
    cr_expect(lt(int, frames, 4000));
    cr_expect(dataset_equal(whole, path, frames));
    scratch_remove(path);
    scratch_remove(whole);
}

Test(record, damaged_files_are_refused_by_the_reader) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_error error = {0};
    mabd_recording* recording = NULL;
    cr_expect(eq(int, mabd_recording_open(path, &recording, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, strerror(ENOENT)) != NULL, "%s", error.text);
    record(path, 3, 1);
    for (long size = 0; size < 20000; size += 997) {
        record(path, 3, 1);
        cr_assert(eq(int, truncate(path, size), 0));
        cr_expect(eq(int, mabd_recording_open(path, &recording, &error), MABD_ERR_INPUT));
        cr_expect(strstr(error.text, "not a recording") != NULL, "%s", error.text);
        cr_expect(eq(ptr, recording, NULL));
    }
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    cr_expect(eq(int, mabd_recording_open(path, &recording, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "another program") != NULL, "%s", error.text);
    scratch_remove(path);
}

Test(record, every_failing_allocation_leaves_nothing_behind) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_model* model = chain_model(CHAIN_LINKS, 0.5);
    int failures = 0;
    for (int reopen = 0; reopen < 2; reopen++) {
        bool done = false;
        for (int64_t n = 0; !done; n++) {
            record(path, 3, 1);
            counting_allocator counter = {.fail_at = -1};
            mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_sim* sim = chain_sim(model, &allocator);
            const int64_t blocks = counter.live_blocks;
            counter.fail_at = counter.calls + n;
            mabd_error error = {0};
            mabd_record_def def = chain_record_def();
            mabd_recorder* recorder = NULL;
            mabd_status status = reopen ? mabd_recorder_reopen(path, sim, &recorder, &error)
                                        : mabd_recorder_create(path, sim, &def, &recorder, &error);
            if (status == MABD_OK) status = mabd_recorder_append(recorder, sim, &error);
            done = counter.calls <= counter.fail_at;
            cr_expect(eq(int, status, done ? MABD_OK : MABD_ERR_MEMORY));
            if (!done) {
                failures++;
                cr_expect(eq(ptr, recorder, NULL));
                cr_expect(eq(int, dataset_frames(path), 3), "the old file is untouched");
            }
            mabd_recorder_close(recorder, NULL);
            cr_expect(eq(i64, counter.live_blocks, blocks));
            cr_expect(eq(i64, counter.wrong_frees, 0));
            mabd_sim_destroy(sim);
        }
    }
    cr_expect(lt(int, 10, failures));
    mabd_model_destroy(model);
    scratch_remove(path);
}

Test(record, null_is_allowed_where_it_says_so) {
    cr_expect(eq(int, mabd_recorder_close(NULL, NULL), MABD_OK));
    mabd_recording_close(NULL);
    cr_expect(eq(int, mabd_recorder_append(NULL, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_recorder_create(NULL, NULL, NULL, NULL, NULL), MABD_ERR_ARG));
}
