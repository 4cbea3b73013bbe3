// SPDX-License-Identifier: Apache-2.0
// Status codes, errors, allocator and version, for every other header.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MABD_VERSION_MAJOR 0
#define MABD_VERSION_MINOR 1
#define MABD_VERSION_PATCH 0
#define MABD_VERSION_TEXT  "0.1.0"

#ifdef __cplusplus
#define MABD_EXTERN_C extern "C"
#else
#define MABD_EXTERN_C
#endif

#ifdef __GNUC__
#define MABD_API MABD_EXTERN_C __attribute__((visibility("default")))
#else
#define MABD_API MABD_EXTERN_C
#endif

/// The scalar type of the whole build. A caller and a library with different types must not link:
/// the single-precision build renames its entry point (see sim.h).
#ifdef MABD_SINGLE
typedef float mabd_real;
#else
typedef double mabd_real;
#endif

/// All status codes with their texts; expanded into the enum and the table of texts.
#define MABD_STATUS_LIST(X)                                                                        \
    X(MABD_OK, "success")                                                                          \
    X(MABD_ERR_ARG, "invalid argument")                                                            \
    X(MABD_ERR_MEMORY, "out of memory")                                                            \
    X(MABD_ERR_INPUT, "bad input")                                                                 \
    X(MABD_ERR_IO, "cannot read or write a file")                                                  \
    X(MABD_ERR_SINGULAR, "a pivot block is not positive definite")                                 \
    X(MABD_ERR_DIVERGED, "the step did not converge")                                              \
    X(MABD_ERR_UNAVAILABLE, "not built into this library, or not present")                         \
    X(MABD_ERR_DEVICE, "the device failed")

typedef enum mabd_status {
#define X(code, text) code,
    MABD_STATUS_LIST(X)
#undef X
        MABD_STATUS_COUNT
} mabd_status;

/// Text of a status code. Never null; an unknown code gives a text too.
MABD_API const char* mabd_status_text(mabd_status status);

/// Version of the linked library as "major.minor.patch".
MABD_API const char* mabd_version(void);

/// Description of a failure and its place. Functions that take a pointer to it accept null, and
/// leave it unchanged when they return MABD_OK.
typedef struct mabd_error {
    mabd_status status;
    int32_t line;   // in the input file, from 1; 0 = unknown
    int32_t column; // in the input file, from 1; 0 = unknown
    int32_t body;   // index of the body that caused it, -1 = none
    int32_t joint;  // index of the joint that caused it, -1 = none
    mabd_real time; // simulated time of a failed step [s]
    char text[512]; // one line, no full stop, no file name
} mabd_error;

/// Something that a scene or a simulation did, or found, that its user may not have meant. The
/// result is valid all the same.
typedef struct mabd_warning {
    char text[512]; // one line, no full stop, no file name
    char file[256]; // the input file concerned, "" = none
    int32_t line;   // of that file, from 1; 0 = not known
    int32_t body;   // the body concerned, -1 = none
    int32_t joint;  // the joint concerned, -1 = none
    int64_t step;   // steps taken when it was found; 0 = before the first one
} mabd_warning;

/// Memory functions of the user. alloc returns memory aligned to 64 bytes, or null; free receives
/// the size that was allocated.
typedef struct mabd_allocator {
    void* (*alloc)(void* context, size_t bytes);
    void (*free)(void* context, void* memory, size_t bytes);
    void* context;
} mabd_allocator;

/// The allocator used by default: aligned_alloc and free.
MABD_API mabd_allocator mabd_default_allocator(void);

/// Return the status of an expression to the caller unless it is MABD_OK.
#define MABD_TRY(expr)                                                                             \
    do {                                                                                           \
        mabd_status mabd_try_status_ = (expr);                                                     \
        if (mabd_try_status_ != MABD_OK) return mabd_try_status_;                                  \
    } while (0)
