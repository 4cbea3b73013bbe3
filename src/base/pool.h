// SPDX-License-Identifier: Apache-2.0
// Threads that wait for work. A job is a number of parts 0 .. count - 1, each done once by some thread; who does which is left
// to chance, so parts must not depend on each other: then the result is the same for any number of threads.
//
// Workers look for the next job for some microseconds before they go to sleep: the jobs of a step follow each other closely.
#pragma once

#include "base/memory.h"

typedef struct mabd_pool mabd_pool;

/// A pool of `threads` >= 1, the caller among them. One thread: *pool is null, and so is all overhead. MABD_ERR_MEMORY also if a
/// thread cannot be started.
mabd_status mabd_pool_create(const mabd_allocator* allocator, int32_t threads, mabd_pool** pool);
/// Null is allowed.
void mabd_pool_destroy(mabd_pool* pool);
/// Threads of a pool, 1 for null.
int32_t mabd_pool_threads(const mabd_pool* pool);

/// Do all parts and return when they are done. `thread`: 0 .. threads - 1, of the one that does it. Called by one thread at
/// a time, not out of a part.
typedef void (*mabd_pool_part)(void* context, int32_t part, int32_t thread);
void mabd_pool_run(mabd_pool* pool, int32_t count, mabd_pool_part part, void* context);
