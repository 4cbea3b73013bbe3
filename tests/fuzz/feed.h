// SPDX-License-Identifier: Apache-2.0
// Any bytes through the whole input path, as a user would send them: load, build, destroy. Memory
// is capped, so that a scene that asks for a billion links fails quickly instead of taking the
// machine.
#pragma once

#include "mabd/model.h"

#include <stdlib.h>
#include <string.h>

#define FEED_MOST_BYTES ((size_t)48 << 20)

/// Context of the capped allocator.
typedef struct feed_memory {
    size_t live; // bytes not yet freed
} feed_memory;

static inline void* feed_alloc(void* context, size_t bytes) {
    feed_memory* memory = (feed_memory*)context;
    if (bytes > FEED_MOST_BYTES - memory->live) return NULL;
    void* block = aligned_alloc(64, bytes);
    if (block) memory->live += bytes;
    return block;
}

static inline void feed_free(void* context, void* block, size_t bytes) {
    ((feed_memory*)context)->live -= bytes;
    free(block);
}

/// What became of the bytes.
typedef struct feed_result {
    mabd_status load, build; // build is MABD_OK if loading failed
    size_t leaked;           // bytes
    mabd_error error;        // of the failure, if any
} feed_result;

/// Load `size` bytes of text and build a model of it.
static inline feed_result feed(const char* text, size_t size) {
    feed_memory memory = {0};
    mabd_allocator allocator = {feed_alloc, feed_free, &memory};
    feed_result result;
    memset(&result, 0, sizeof result);
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    result.load = mabd_scene_create(&allocator, &scene);
    if (result.load == MABD_OK) {
        result.load = mabd_scene_load_text(scene, text, size, 0, NULL, &result.error);
    }
    if (result.load == MABD_OK) {
        result.build = mabd_model_build(scene, &allocator, &model, &result.error);
    }
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    result.leaked = memory.live;
    return result;
}
