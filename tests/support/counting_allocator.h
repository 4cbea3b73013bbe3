// SPDX-License-Identifier: Apache-2.0
// An allocator that counts, and that fails on request.
//
//   counting_allocator counter = {.fail_at = -1};
//   mabd_allocator allocator = counting_allocator_make(&counter);
#pragma once

#include "mabd/base.h"

typedef struct counting_allocator {
    int64_t fail_at;     // this call of alloc (from 0) returns null; -1 = none does
    int64_t calls;       // calls of alloc, failed ones included
    int64_t live_blocks; // not yet freed
    int64_t live_bytes;  // bytes of these blocks
    int64_t peak_bytes;  // largest live_bytes so far
    int64_t wrong_frees; // freed with another size than allocated, or twice
} counting_allocator;

/// Return an allocator over a counter, which must outlive all its allocations. Not thread-safe.
mabd_allocator counting_allocator_make(counting_allocator* counter);
