// SPDX-License-Identifier: Apache-2.0
// What the tests of the generators share.
#pragma once

#include "mabd/scene.h"

#include <criterion/criterion.h>
#include <string.h>

/// An empty scene.
mabd_scene* new_scene(void);

typedef mabd_status scene_builder(mabd_scene* scene, mabd_error* error);
/// Let every allocation of a builder fail in turn: MABD_ERR_MEMORY each time, and nothing leaks.
void check_failing_allocations(scene_builder* build);

/// The text is refused at this line with a message that holds `expected`.
void expect_message(const char* text, int32_t line, const char* expected);

/// A generator refuses its defaults after the statements that follow, with a message that holds
/// `expected`.
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
