// SPDX-License-Identifier: Apache-2.0
// Filling mabd_error. Each function returns its status, so that a failing function ends in
// `return mabd_fail(error, MABD_ERR_INPUT, "...", ...)`.
#pragma once

#include "mabd/base.h"

#ifdef __GNUC__
#define MABD_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define MABD_PRINTF(text, first)
#endif

/// Fill *error with status and text, without a place. `error` may be null. The text becomes one
/// printable line of UTF-8, whatever the arguments hold (mabd_text_printable). Returns status.
mabd_status mabd_fail(mabd_error* error, mabd_status status, const char* format, ...)
    MABD_PRINTF(3, 4);
/// Fill *error with status, text, the body and joint that caused it (-1 = none) and the simulated
/// time [s]. `error` may be null. Returns status.
mabd_status mabd_fail_at(mabd_error* error, mabd_status status, int32_t body, int32_t joint,
                         mabd_real time, const char* format, ...) MABD_PRINTF(6, 7);
/// Fill *error with "out of memory while <what>". Returns MABD_ERR_MEMORY.
mabd_status mabd_fail_memory(mabd_error* error, const char* what);
