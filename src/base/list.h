// SPDX-License-Identifier: Apache-2.0
// Growing arrays.
#pragma once

#include "base/memory.h"

/// A growing array. Each call gets the element size; the capacity doubles.
typedef struct mabd_list {
    void* data;
    int32_t count, capacity;
} mabd_list;
/// Make room for `more` further elements; count is unchanged. New memory is zeroed.
/// MABD_ERR_MEMORY leaves the list unchanged.
mabd_status mabd_list_reserve(const mabd_allocator* allocator, mabd_list* list, size_t element,
                              int64_t more);
/// Free the memory of a list and make it empty.
void mabd_list_free(const mabd_allocator* allocator, mabd_list* list, size_t element);
/// Sort a list of int32_t into rising order, in place.
void mabd_list_sort(mabd_list* list);
