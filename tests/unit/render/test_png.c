// SPDX-License-Identifier: Apache-2.0
// Tests for src/render/png.c: the file is decoded by a reader that shares no code with the writer.
#include "mabd/render.h"
#include "support/png_read.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static void make_directory(char* path, size_t size) {
    const char* base = getenv("TMPDIR");
    snprintf(path, size, "%s/mabd-png-XXXXXX", base ? base : "/tmp");
    cr_assert(ne(ptr, mkdtemp(path), NULL));
}

// Bands of flat colour, slopes and noise, so that different filters win.
static uint8_t* make_pixels(int32_t width, int32_t height) {
    uint8_t* rgb = malloc(3 * (size_t)width * (size_t)height);
    uint32_t s = 1;
    for (int32_t i = 0; i < 3 * width * height; i++) {
        int32_t y = i / (3 * width), x = i / 3 % width;
        s = s * 1664525 + 1013904223;
        uint32_t band[5] = {s >> 24, (uint32_t)(7 * x), (uint32_t)(y * y),
                            (uint32_t)(x * 5 + y * 9) + (s >> 30), (uint32_t)(x * y)};
        rgb[i] = (uint8_t)band[y * 5 / height];
    }
    return rgb;
}

Test(png, decodes_to_the_same_pixels) {
    char directory[256], path[300];
    make_directory(directory, sizeof directory);
    snprintf(path, sizeof path, "%s/a.png", directory);
    int32_t sizes[4][2] = {{1, 1}, {3, 100}, {257, 2}, {400, 300}};
    int used[256] = {0};
    for (int k = 0; k < 4; k++) {
        uint8_t* rgb = make_pixels(sizes[k][0], sizes[k][1]);
        cr_assert(eq(int, mabd_png_write(path, sizes[k][0], sizes[k][1], rgb, NULL), MABD_OK));
        uint32_t width = 0, height = 0;
        uint8_t* back = png_read(path, &width, &height, used);
        cr_assert(eq(u32, width, (uint32_t)sizes[k][0]));
        cr_assert(eq(u32, height, (uint32_t)sizes[k][1]));
        cr_assert(eq(int, memcmp(rgb, back, 3 * (size_t)width * height), 0));
        free(rgb), free(back);
    }
    int kinds = 0;
    for (int t = 0; t < 5; t++) kinds += used[t] > 0;
    cr_assert(ge(int, kinds, 4), "the pictures should try the filters");
    cr_assert(eq(int, remove(path), 0));
    cr_assert(eq(int, rmdir(directory), 0), "nothing else was left behind");
}

Test(png, write_errors_name_path_and_reason) {
    uint8_t rgb[3] = {1, 2, 3};
    char directory[256], path[300];
    mabd_error error;
    make_directory(directory, sizeof directory);

    snprintf(path, sizeof path, "%s/none/a.png", directory);
    cr_assert(eq(int, mabd_png_write(path, 1, 1, rgb, &error), MABD_ERR_IO));
    cr_assert(eq(int, error.status, MABD_ERR_IO));
    cr_assert(strstr(error.text, path) && strstr(error.text, "No such file") != NULL, "%s",
              error.text);

    snprintf(path, sizeof path, "%s/taken", directory); // a directory is in the place
    cr_assert(eq(int, mkdir(path, 0700), 0));
    cr_assert(eq(int, mabd_png_write(path, 1, 1, rgb, &error), MABD_ERR_IO));
    cr_assert(strstr(error.text, path) && strstr(error.text, "directory") != NULL, "%s",
              error.text);
    cr_assert(eq(int, rmdir(path), 0));
    cr_assert(eq(int, rmdir(directory), 0), "the temporary file is gone");
}

// A limit of the file size simulates a full disk, in a child because it holds for the process.
Test(png, a_full_disk_is_reported) {
    char directory[256], path[300];
    make_directory(directory, sizeof directory);
    snprintf(path, sizeof path, "%s/a.png", directory);
    uint8_t* rgb = make_pixels(300, 300);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limit = {1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        mabd_error error = {0};
        const mabd_status status = mabd_png_write(path, 300, 300, rgb, &error);
        const bool named = strstr(error.text, path) && strstr(error.text, strerror(EFBIG));
        _exit(status == MABD_ERR_IO && named ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    cr_expect(right);
    cr_assert(ne(int, access(path, F_OK), 0), "nothing half-written");
    free(rgb);
    cr_assert(eq(int, rmdir(directory), 0));
}

Test(png, refuses_nothing_to_write) {
    uint8_t rgb[3] = {0};
    cr_assert(eq(int, mabd_png_write(NULL, 1, 1, rgb, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_png_write("a.png", 0, 1, rgb, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_png_write("a.png", 1, 1, NULL, NULL), MABD_ERR_ARG));
}
