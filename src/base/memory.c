// SPDX-License-Identifier: Apache-2.0
#define _DEFAULT_SOURCE // madvise
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A step over a million links reads and writes about twenty streams, and each of them enters a new
// page of 4 kB every few bodies. Blocks of several large pages therefore request large pages;
// without them the results are the same and the step is slower.
#define LARGE_PAGE ((size_t)2 << 20)

static void* default_alloc(void* context, size_t bytes) {
    (void)context;
    if (bytes < 2 * LARGE_PAGE) return aligned_alloc(MABD_ALIGNMENT, bytes);
    const size_t rounded = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (rounded < bytes) return NULL;
    void* memory = aligned_alloc(LARGE_PAGE, rounded);
#ifdef MADV_HUGEPAGE
    if (memory) (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}

static void default_free(void* context, void* memory, size_t bytes) {
    (void)context, (void)bytes;
    free(memory);
}

mabd_allocator mabd_default_allocator(void) {
    mabd_allocator allocator = {default_alloc, default_free, NULL};
    return allocator;
}

size_t mabd_bytes(size_t n, size_t size) {
    if (size != 0 && n > (SIZE_MAX - MABD_ALIGNMENT) / size) return SIZE_MAX;
    return (n * size + MABD_ALIGNMENT - 1) / MABD_ALIGNMENT * MABD_ALIGNMENT;
}

void* mabd_alloc(const mabd_allocator* allocator, size_t bytes) {
    if (bytes == 0) bytes = 1;
    size_t rounded = mabd_bytes(bytes, 1);
    if (rounded == SIZE_MAX) return NULL;
    void* memory = allocator->alloc(allocator->context, rounded);
    if (memory) memset(memory, 0, rounded);
    return memory;
}

void mabd_free(const mabd_allocator* allocator, void* memory, size_t bytes) {
    if (!memory) return;
    allocator->free(allocator->context, memory, mabd_bytes(bytes ? bytes : 1, 1));
}

void* mabd_arena_take(mabd_arena* arena, size_t n, size_t size) {
    size_t bytes = mabd_bytes(n, size);
    if (bytes == SIZE_MAX || arena->used > SIZE_MAX - bytes) {
        arena->used = SIZE_MAX;
        return NULL;
    }
    void* memory = arena->memory ? arena->memory + arena->used : NULL;
    arena->used += bytes;
    assert(!arena->memory || arena->used <= arena->size);
    return memory;
}

mabd_status mabd_arena_allocate(const mabd_allocator* allocator, mabd_arena* arena) {
    if (arena->used == SIZE_MAX) return MABD_ERR_MEMORY;
    arena->size = arena->used;
    arena->memory = mabd_alloc(allocator, arena->size);
    if (!arena->memory) return MABD_ERR_MEMORY;
    arena->used = 0;
    return MABD_OK;
}
