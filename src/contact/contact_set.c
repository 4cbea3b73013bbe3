// SPDX-License-Identifier: Apache-2.0
#include "contact/contact_set.h"

#include "base/memory.h"

#include <string.h>

struct mabd_contact_set {
    mabd_allocator allocator;
    int32_t count, capacity;
    mabd_contact_key* keys; // (capacity) of the last step
};

static int compare(const mabd_contact_key* a, const mabd_contact_key* b) {
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    return (a->feature > b->feature) - (a->feature < b->feature);
}

static size_t key_bytes(int32_t capacity) {
    return mabd_bytes((size_t)capacity, sizeof(mabd_contact_key));
}

mabd_status mabd_contact_set_create(const mabd_allocator* allocator, int32_t capacity,
                                    mabd_contact_set** out) {
    *out = NULL;
    if (capacity < 0) return MABD_ERR_ARG;
    mabd_contact_set* set = mabd_alloc(allocator, sizeof(*set));
    if (set == NULL) return MABD_ERR_MEMORY;
    set->allocator = *allocator;
    const mabd_status status = mabd_contact_set_reserve(set, capacity);
    if (status != MABD_OK) {
        mabd_contact_set_destroy(set);
        return status;
    }
    *out = set;
    return MABD_OK;
}

void mabd_contact_set_destroy(mabd_contact_set* set) {
    if (set == NULL) return;
    const mabd_allocator allocator = set->allocator;
    mabd_free(&allocator, set->keys, key_bytes(set->capacity));
    mabd_free(&allocator, set, sizeof(*set));
}

mabd_status mabd_contact_set_reserve(mabd_contact_set* set, int32_t capacity) {
    if (capacity <= set->capacity) return MABD_OK;
    mabd_contact_key* keys = mabd_alloc(&set->allocator, key_bytes(capacity));
    if (keys == NULL) return MABD_ERR_MEMORY;
    if (set->count > 0) memcpy(keys, set->keys, sizeof(*keys) * (size_t)set->count);
    mabd_free(&set->allocator, set->keys, key_bytes(set->capacity));
    set->keys = keys;
    set->capacity = capacity;
    return MABD_OK;
}

mabd_status mabd_contact_set_advance(mabd_contact_set* set, int32_t count,
                                     const mabd_contact_key* keys, int32_t* from, int32_t* kept) {
    if (count < 0) return MABD_ERR_ARG;
    if (count > set->capacity) return MABD_ERR_MEMORY;
    for (int32_t k = 1; k < count; k++) {
        if (compare(&keys[k - 1], &keys[k]) >= 0) return MABD_ERR_ARG;
    }
    int32_t old = 0, found = 0;
    for (int32_t k = 0; k < count; k++) {
        int order = -1;
        while (old < set->count && (order = compare(&set->keys[old], &keys[k])) < 0) old++;
        const bool same = old < set->count && order == 0;
        from[k] = same ? old : -1;
        found += same;
    }
    if (count > 0) memcpy(set->keys, keys, sizeof(*keys) * (size_t)count);
    set->count = count;
    if (kept != NULL) *kept = found;
    return MABD_OK;
}

void mabd_contact_set_clear(mabd_contact_set* set) {
    set->count = 0;
}

size_t mabd_contact_set_bytes(const mabd_contact_set* set) {
    return mabd_bytes(sizeof(*set), 1) + key_bytes(set->capacity);
}
