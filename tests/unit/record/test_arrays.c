// SPDX-License-Identifier: Apache-2.0
// Files of arrays and texts (src/record/arrays.c), read back by the HDF5 library itself.
#include "mabd/record.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double value(hid_t file, const char* name, int at) {
    double data[8] = {0};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    cr_assert(set >= 0 &&
              H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    return data[at];
}

static void expect_texts(hid_t file) {
    char* texts[2] = {NULL, NULL};
    hid_t set = H5Dopen2(file, "names", H5P_DEFAULT), type = H5Dget_type(set);
    cr_assert(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, (void*)texts) >= 0);
    cr_expect_str_eq(texts[0], "mass of ball");
    cr_expect_str_eq(texts[1], "");
    H5free_memory(texts[0]);
    H5free_memory(texts[1]);
    H5Tclose(type);
    H5Dclose(set);
}

Test(arrays, what_is_written_is_read_back) {
    char path[] = "/tmp/mabd_arrays_XXXXXX";
    close(mkstemp(path));
    const double line[] = {1, 2.5, -3}, table[] = {1, 2, 3, 4, 5, 6};
    const mabd_record_array arrays[] = {{"line", 1, {3}, line}, {"table", 2, {2, 3}, table}};
    const char* const names[] = {"mass of ball", ""};
    const mabd_record_texts texts = {"names", 2, names};
    mabd_error error = {0};
    cr_assert_eq(mabd_arrays_write(path, "mabd gradient x", 2, arrays, 1, &texts, &error), MABD_OK,
                 "%s", error.text);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    cr_assert(file >= 0);
    cr_expect(value(file, "line", 1) == 2.5 && value(file, "table", 5) == 6);
    hid_t set = H5Dopen2(file, "table", H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t extents[2];
    cr_expect_eq(H5Sget_simple_extent_dims(space, extents, NULL), 2);
    cr_expect(extents[0] == 2 && extents[1] == 3);
    H5Sclose(space);
    H5Dclose(set);
    expect_texts(file);
    cr_expect(H5Aexists(file, "command") > 0 && H5Aexists(file, "version") > 0);
    H5Fclose(file);
    unlink(path);
}

Test(arrays, failures_name_the_path) {
    mabd_error error = {0};
    cr_expect_eq(mabd_arrays_write("/nonexistent/a.h5", NULL, 0, NULL, 0, NULL, &error),
                 MABD_ERR_IO);
    cr_expect(strstr(error.text, "/nonexistent/a.h5") != NULL, "%s", error.text);
    cr_expect_eq(mabd_arrays_write(NULL, NULL, 0, NULL, 0, NULL, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_arrays_write("x", NULL, 1, NULL, 0, NULL, &error), MABD_ERR_ARG);
}
