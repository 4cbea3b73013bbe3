// SPDX-License-Identifier: Apache-2.0
// Tests for src/record/series.c and recorder.c: a run killed at any moment leaves a file that opens
// and holds every frame that was appended before.
#include "support/die.h"

#include "record/series.h"
#include "support/record_chain.h"
#include "support/sanitized.h"

#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

// ---- the recorder ------------------------------------------------------------------------------

typedef struct writer {
    const char* path;
    volatile int* appended; // shared with the parent: frames whose append has returned
    int frames;
    bool reopen; // go on from the state at step 2
} writer;

static volatile int* share_counter(void) {
    void* memory =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

static void write_recording(void* context) {
    const writer* w = context;
    chain c = chain_create();
    mabd_record_def def = chain_record_def();
    mabd_recorder* recorder = NULL;
    if (w->reopen) {
        chain_step(c.sim, 2);
        if (mabd_recorder_reopen(w->path, c.sim, &recorder, NULL) != MABD_OK) _exit(2);
        *w->appended = 3;
        chain_step(c.sim, 1);
    } else if (mabd_recorder_create(w->path, c.sim, &def, &recorder, NULL) != MABD_OK) {
        _exit(2);
    }
    while (*w->appended < w->frames) {
        if (mabd_recorder_append(recorder, c.sim, NULL) != MABD_OK) _exit(3);
        *w->appended += 1;
        chain_step(c.sim, 1);
    }
    if (mabd_recorder_close(recorder, NULL) != MABD_OK) _exit(4);
    chain_destroy(c);
}

// What a killed writer left: all appended frames, perhaps one more, equal to the whole run's.
static void expect_readable(const char* path, const char* whole, int appended, long moment) {
    mabd_error error = {0};
    mabd_recording* recording = NULL;
    if (access(path, F_OK) != 0) {
        cr_expect(eq(int, appended, 0), "moment %ld: there is no file", moment);
        return;
    }
    mabd_status status = mabd_recording_open(path, &recording, &error);
    cr_assert(eq(int, status, MABD_OK), "moment %ld: %s", moment, error.text);
    int frames = dataset_frames(path);
    cr_expect(eq(int, mabd_recording_frame_count(recording), frames), "moment %ld", moment);
    cr_expect(frames == appended || frames == appended + 1, "moment %ld: %d frames, %d appended",
              moment, frames, appended);
    cr_expect(dataset_equal(path, whole, frames), "moment %ld", moment);
    mabd_recording_close(recording);
}

static void remove_temporaries(const char* path) {
    char command[512];
    snprintf(command, sizeof command, "rm -f %s %s.tmp.*", path, path);
    cr_assert(eq(int, system(command), 0));
}

// The file after death before, and in the middle of, each single system call that changes it.
static void die_everywhere(bool reopen) {
    enum { frames = 6 };
    char path[256], whole[256], start[256];
    scratch_path(path, sizeof path, "a.h5");
    scratch_path(whole, sizeof whole, "b.h5");
    scratch_path(start, sizeof start, "c.h5");
    volatile int* appended = share_counter();
    writer w = {whole, appended, frames, false};
    write_recording(&w);
    w = (writer){start, appended, 5, false};
    *appended = 0;
    write_recording(&w);

    long moments = 0;
    for (int torn = 0; torn < 2; torn++) {
        bool died = true;
        for (long at = 0; died; at += AMOUNT(1, 3)) {
            remove_temporaries(path);
            if (reopen) {
                char command[600];
                snprintf(command, sizeof command, "cp %s %s", start, path);
                cr_assert(eq(int, system(command), 0));
            }
            *appended = reopen ? 5 : 0;
            w = (writer){path, appended, frames, reopen};
            died = die_in(write_recording, &w, at, torn == 1);
            // before the frames are dropped, the file has those it had
            if (reopen && *appended == 5 && dataset_frames(path) == 3) *appended = 3;
            expect_readable(path, whole, *appended, at);
            moments += died;
        }
        cr_expect(eq(int, *appended, frames), "the last run came to its end");
    }
    cr_expect(lt(int, AMOUNT(40, 13), (int)moments));
    remove_temporaries(path);
    scratch_remove(path), scratch_remove(whole), scratch_remove(start);
}

Test(record_crash, death_at_any_write_keeps_what_was_appended) {
    die_everywhere(false);
}

Test(record_crash, death_at_any_write_after_a_reopen_keeps_what_was_appended) {
    die_everywhere(true);
}

Test(record_crash, kill_at_random_moments_keeps_what_was_appended, .timeout = 60) {
    enum { frames = 100000, kills = AMOUNT(30, 10) };
    char path[256], whole[256];
    scratch_path(path, sizeof path, "a.h5");
    scratch_path(whole, sizeof whole, "b.h5");
    volatile int* appended = share_counter();
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    int most = 0, counts[kills];
    for (int k = 0; k < kills; k++) {
        remove_temporaries(path);
        *appended = 0;
        pid_t child = fork();
        if (child == 0) {
            writer w = {path, appended, frames, false};
            write_recording(&w);
            _exit(0);
        }
        struct timespec pause = {0, (k % 3 == 0 ? 2000000 : 40000000) / 1000 * (rand() % 1000)};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        bool killed = WIFSIGNALED(status);
        cr_assert(killed, "the writer was still at work");
        counts[k] = *appended;
        if (counts[k] > most) most = counts[k];
        char copy[300];
        snprintf(copy, sizeof copy, "%s.%d", path, k);
        if (rename(path, copy) != 0) cr_expect(eq(int, counts[k], 0));
    }
    *appended = 0;
    writer w = {whole, appended, most + 1, false};
    write_recording(&w);
    for (int k = 0; k < kills; k++) {
        char copy[300];
        snprintf(copy, sizeof copy, "%s.%d", path, k);
        expect_readable(copy, whole, counts[k], k);
        unlink(copy);
    }
    cr_expect(lt(int, 10, most), "some runs got far");
    remove_temporaries(path);
    scratch_remove(path), scratch_remove(whole);
}

// ---- the index ---------------------------------------------------------------------------------

// A file with one growing dataset, one value per chunk: 64 chunks fill a leaf, 4096 a tree of two
// levels.
typedef struct line {
    char path[256];
    uint64_t header;
    int fd;
    mabd_h5_file store;
    mabd_series series;
} line;

static void line_create(line* l) {
    scratch_path(l->path, sizeof l->path, "line.h5");
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    hsize_t extent = 0, most = H5S_UNLIMITED, chunk = 1, filler = 1024;
    H5Pset_chunk(create, 1, &chunk);
    hid_t file = H5Fcreate(l->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(1, &extent, &most), fixed = H5Screate_simple(1, &filler, NULL);
    hid_t set =
        H5Dcreate2(file, "line", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    hid_t rest =
        H5Dcreate2(file, "rest", H5T_NATIVE_DOUBLE, fixed, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    double zeros[1024] = {0};
    H5Dwrite(rest, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
    hobj_ref_t reference = 0;
    H5Rcreate(&reference, file, "line", H5R_OBJECT, -1);
    l->header = reference;
    H5Dclose(rest), H5Dclose(set), H5Sclose(fixed), H5Sclose(space), H5Pclose(create);
    H5Pclose(access), H5Fclose(file);
}

// Open as after a resume with `frames` frames.
static void line_open(line* l, uint64_t frames) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    memset(&l->series, 0, sizeof l->series);
    l->fd = open(l->path, O_RDWR);
    chain_check(mabd_h5_file_open(&l->store, l->fd, l->path, &error), &error, "store");
    chain_check(mabd_series_open(&l->series, &l->store, "line", l->header, &error), &error,
                "series");
    chain_check(mabd_series_load(&l->series, &l->store, frames, &allocator, &error), &error,
                "load");
    mabd_series_set_frames(&l->series, &l->store, frames);
    chain_check(mabd_h5_file_commit(&l->store, &error), &error, "commit");
}

static void line_append(line* l, uint64_t from, uint64_t to) {
    mabd_error error = {0};
    for (uint64_t i = from; i < to; i++) {
        double value = 0.5 + (double)i;
        chain_check(mabd_series_write(&l->series, &l->store, i, &value, &error), &error, "write");
        mabd_series_set_frames(&l->series, &l->store, i + 1);
        chain_check(mabd_h5_file_commit(&l->store, &error), &error, "commit");
    }
}

static void line_close(line* l) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_series_free(&l->series, &allocator);
    close(l->fd);
}

// Read through HDF5: value i is i + 0.5. Returns how many there are, -1 if it cannot be read.
static int line_read(const char* path) {
    hsize_t extents[3];
    size_t count = 0;
    double* values = dataset_read(path, "line", extents, &count);
    if (!values) return -1;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 0.5 + (double)i) cr_fatal("value %zu of %zu is %g", i, count, values[i]);
    }
    free(values);
    return (int)count;
}

Test(record_crash, the_index_grows_to_three_levels) {
    static line l;
    line_create(&l);
    line_open(&l, 0);
    line_append(&l, 0, 4096 + 130);
    cr_expect(eq(i32, l.series.levels, 3));
    line_close(&l);
    cr_expect(eq(int, line_read(l.path), 4096 + 130));
    // every chunk is found by walking the siblings of the tree, too
    hid_t file = H5Fopen(l.path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "line", H5P_DEFAULT);
    cr_expect(eq(u64, H5Dget_storage_size(set), 8 * (4096 + 130)));
    H5Dclose(set), H5Fclose(file);
    scratch_remove(l.path);
}

Test(record_crash, an_index_continues_from_any_length) {
    static line l;
    line_create(&l);
    line_open(&l, 0);
    line_append(&l, 0, 200);
    line_close(&l);
    static const uint64_t frames[] = {200, 199, 193, 192, 191, 129, 128, 127, 64, 63, 1, 0};
    for (size_t k = 0; k < sizeof frames / sizeof frames[0]; k++) {
        line_open(&l, frames[k]);
        cr_expect(eq(int, line_read(l.path), (int)frames[k]));
        line_append(&l, frames[k], 200 + 70 * (k + 1));
        line_close(&l);
        cr_expect(eq(int, line_read(l.path), (int)(200 + 70 * (k + 1))));
    }
    scratch_remove(l.path);
}

typedef struct line_writer {
    line* l;
    uint64_t from, to;
    volatile int* appended;
} line_writer;

static void write_line(void* context) {
    const line_writer* w = context;
    line_open(w->l, w->from);
    for (uint64_t i = w->from; i < w->to; i++) {
        line_append(w->l, i, i + 1);
        *w->appended = (int)(i + 1);
    }
}

// At 64 and 4096 chunks the tree gets another level, at 128 another leaf. The next writer
// continues the file of the dead one.
Test(record_crash, death_while_the_index_grows_keeps_what_was_appended) {
    static const uint64_t starts[] = {0, 63, 127, 4094};
    volatile int* appended = share_counter();
    for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++) {
        static line l;
        line_create(&l);
        line_open(&l, 0);
        line_append(&l, 0, starts[k]);
        line_close(&l);
        bool died = true;
        long at = 0;
        for (; died; at++) {
            line_writer w = {&l, starts[k], starts[k] + 3, appended};
            *appended = (int)starts[k];
            died = die_in(write_line, &w, at, false);
            int frames = line_read(l.path);
            cr_expect(frames == *appended || frames == *appended + 1,
                      "from %d: %d of %d, moment %ld", (int)starts[k], frames, *appended, at);
        }
        cr_expect(lt(int, 9, (int)at));
        cr_expect(eq(int, *appended, (int)starts[k] + 3));
        scratch_remove(l.path);
    }
}

Test(record_crash, a_damaged_index_is_refused) {
    static line l;
    line_create(&l);
    line_open(&l, 0);
    line_append(&l, 0, 70);
    const uint64_t leaf = l.series.nodes[0].address, root = l.series.nodes[1].address;
    line_close(&l);
    const uint64_t places[] = {leaf, leaf + 5, leaf + 6, leaf + 24, leaf + 32, root + 7, root + 48};
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        const mabd_allocator allocator = mabd_default_allocator();
        mabd_error error = {0};
        int fd = open(l.path, O_RDWR);
        unsigned char old, broken;
        cr_assert(eq(int, (int)pread(fd, &old, 1, (off_t)places[k]), 1));
        broken = old ^ 0x41;
        cr_assert(eq(int, (int)pwrite(fd, &broken, 1, (off_t)places[k]), 1));
        memset(&l.series, 0, sizeof l.series);
        cr_assert(eq(int, mabd_h5_file_open(&l.store, fd, l.path, &error), MABD_OK));
        cr_assert(eq(int, mabd_series_open(&l.series, &l.store, "line", l.header, &error), 0));
        cr_expect(
            eq(int, mabd_series_load(&l.series, &l.store, 0, &allocator, &error), MABD_ERR_INPUT),
            "place %zu", k);
        cr_expect(strstr(error.text, "damaged") != NULL, "%s", error.text);
        mabd_series_free(&l.series, &allocator);
        cr_assert(eq(int, (int)pwrite(fd, &old, 1, (off_t)places[k]), 1));
        close(fd);
    }
    scratch_remove(l.path);
}
