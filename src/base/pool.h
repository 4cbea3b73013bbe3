// SPDX-License-Identifier: Apache-2.0
// A pool of threads. A job has parts 0 .. count - 1, each done once by some thread. The assignment
// of parts to threads varies, so parts must not depend on each other; then the result is the same
// for any number of threads.
//
// Workers poll for the next job for some microseconds before they sleep, because the jobs of a step
// follow each other closely.
#pragma once

#include "base/memory.h"

typedef struct mabd_pool mabd_pool;

/// Create a pool of `threads` >= 1 threads, including the caller. With one thread *pool is null and
/// there is no overhead. MABD_ERR_MEMORY if memory is short or a thread cannot be started.
mabd_status mabd_pool_create(const mabd_allocator* allocator, int32_t threads, mabd_pool** pool);
/// End the threads and free the pool. Null is allowed.
void mabd_pool_destroy(mabd_pool* pool);
/// Number of threads of a pool, including the caller; 1 for null.
int32_t mabd_pool_threads(const mabd_pool* pool);

/// Do all parts of a job and return when they are done. `thread` is the number of the thread that
/// does a part, 0 .. threads - 1. Only one thread may call this at a time, and no part may.
typedef void (*mabd_pool_part)(void* context, int32_t part, int32_t thread);
void mabd_pool_run(mabd_pool* pool, int32_t count, mabd_pool_part part, void* context);
