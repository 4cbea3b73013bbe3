// SPDX-License-Identifier: Apache-2.0
// Shared parts of the generator tests.
#pragma once

#include "mabd/scene.h"

#include <criterion/criterion.h>
#include <string.h>

/// Return an empty scene.
mabd_scene* new_scene(void);

typedef mabd_status scene_builder(mabd_scene* scene, mabd_error* error);
/// Let every allocation of a builder fail in turn: MABD_ERR_MEMORY each time, and nothing leaks.
void check_failing_allocations(scene_builder* build);

/// Expect the text to be refused at this line with a message that contains `expected`.
void expect_message(const char* text, int32_t line, const char* expected);

/// Expect a generator to refuse its defaults after the given statements, with a message that
/// contains `expected`.
#define REFUSES(kind, expected, ...)                                                               \
    do {                                                                                           \
        mabd_##kind##_def def = mabd_default_##kind##_def();                                       \
        mabd_error error = {0};                                                                    \
        mabd_scene* scene = new_scene();                                                           \
        __VA_ARGS__;                                                                               \
        mabd_status status = mabd_generate_##kind(scene, &def, &error);                            \
        cr_expect(status == MABD_ERR_ARG || status == MABD_ERR_INPUT, #__VA_ARGS__ ": accepted");  \
        cr_expect(error.status == status && strstr(error.text, expected), "%s: '%s'",              \
                  #__VA_ARGS__, error.text);                                                       \
        mabd_scene_destroy(scene);                                                                 \
    } while (0)
