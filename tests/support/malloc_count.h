// SPDX-License-Identifier: Apache-2.0
// Count every call of malloc, calloc, realloc and aligned_alloc in this process, libraries
// included. Include in one source of an executable. Under a sanitizer the allocator is the
// sanitizer's and nothing is counted; MALLOC_COUNTED is 0 then.
#pragma once

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MALLOC_COUNTED 0
static long malloc_calls;
#else
#define MALLOC_COUNTED 1
static volatile long malloc_calls;

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
    malloc_calls++;
    return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t size) {
    malloc_calls++;
    return __libc_calloc(n, size);
}
void* realloc(void* memory, size_t bytes) {
    malloc_calls++;
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    malloc_calls++;
    return __libc_memalign(alignment, bytes);
}
#endif
