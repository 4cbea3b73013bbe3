// SPDX-License-Identifier: Apache-2.0
// Memory: every byte of the library comes from a mabd_allocator, as zeroed blocks, as growing
// arrays, or as one arena that a layout function divides.
//
// The same function lays out an arena twice: first without memory, to count the bytes (the pointers
// are null and must not be dereferenced), then with memory. So size and layout cannot disagree, and
// the size is known before anything is allocated.
#pragma once

#include "mabd/base.h"

#define MABD_ALIGNMENT 64

/// n * size rounded up to MABD_ALIGNMENT; SIZE_MAX if it overflows.
size_t mabd_bytes(size_t n, size_t size);

/// Allocate zeroed memory; null on failure. bytes = 0 is allowed and gives a block that may be
/// freed.
void* mabd_alloc(const mabd_allocator* allocator, size_t bytes);
/// Free a block of `bytes` bytes. memory = null is allowed.
void mabd_free(const mabd_allocator* allocator, void* memory, size_t bytes);

/// Memory that a layout function divides.
typedef struct mabd_arena {
    char* memory; // null while measuring
    size_t size;  // of memory
    size_t used;  // SIZE_MAX after an overflow
} mabd_arena;
/// Take n elements of `size` bytes, 64-byte aligned, from an arena; null while measuring.
void* mabd_arena_take(mabd_arena* arena, size_t n, size_t size);
/// Allocate the bytes that a measured arena used (arena->size) and rewind it, so that the same
/// layout function can run again. The caller frees arena->memory (arena->size). MABD_ERR_MEMORY
/// also if measuring overflowed.
mabd_status mabd_arena_allocate(const mabd_allocator* allocator, mabd_arena* arena);
