// SPDX-License-Identifier: Apache-2.0
// FNV-1a over bytes: for names, classes of equal bodies, hashes of models and states.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MABD_HASH_START UINT64_C(14695981039346656037)

/// Continue a hash over `size` bytes; returns the new hash.
static inline uint64_t mabd_hash(uint64_t hash, const void* data, size_t size) {
    const unsigned char* bytes = (const unsigned char*)data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}
