// SPDX-License-Identifier: Apache-2.0
// An allocator that counts, and that fails when told to.
//
//   counting_allocator counter = {.fail_at = -1};
//   mabd_allocator allocator = counting_allocator_make(&counter);
#pragma once

#include "mabd/base.h"

typedef struct counting_allocator {
    int64_t fail_at;     // this call of alloc (from 0) returns null; -1 = none does
    int64_t calls;       // of alloc, failed ones too
    int64_t live_blocks; // not yet freed
    int64_t live_bytes;  // in them
    int64_t peak_bytes;  // the most live_bytes ever was
    int64_t wrong_frees; // freed with another size than allocated, or twice
} counting_allocator;

/// The counter must outlive what is allocated through it. Not for several threads at once.
mabd_allocator counting_allocator_make(counting_allocator* counter);
