// SPDX-License-Identifier: Apache-2.0
// A list of warnings: what a scene or a simulation did that its user did not ask for.
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"

typedef struct mabd_warnings {
    mabd_list list;           // mabd_warning
    mabd_allocator allocator; // set by the owner before the first warning
} mabd_warnings;

/// Append a warning about a body and a joint (-1 = none) after `step` steps. Without memory, or
/// beyond 1000 warnings, it is dropped; the last one that is kept says so. `warnings` may be null.
void mabd_warn(mabd_warnings* warnings, int32_t body, int32_t joint, int64_t step,
               const char* format, ...) MABD_PRINTF(5, 6);
/// Copy at most `capacity` warnings, oldest first, and return how many there are. `out` may be null
/// if capacity is 0.
int32_t mabd_warnings_read(const mabd_warnings* warnings, int32_t capacity, mabd_warning* out);
/// Replace the warnings of `to` by those of `from`. MABD_ERR_MEMORY.
mabd_status mabd_warnings_copy(const mabd_warnings* from, mabd_warnings* to);
/// Put the warnings of `first`, which is empty then, before those of `to`. Both have the same
/// allocator. Without memory those of `to` are lost.
void mabd_warnings_prepend(mabd_warnings* first, mabd_warnings* to);
/// Free the list; it is empty then.
void mabd_warnings_free(mabd_warnings* warnings);
