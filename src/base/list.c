// SPDX-License-Identifier: Apache-2.0
#include "base/list.h"

#include <string.h>

mabd_status mabd_list_reserve(const mabd_allocator* allocator, mabd_list* list, size_t element,
                              int64_t more) {
    int64_t needed = list->count + more;
    if (needed <= list->capacity) return MABD_OK;
    if (needed > INT32_MAX) return MABD_ERR_MEMORY;
    int64_t capacity = list->capacity ? 2 * (int64_t)list->capacity : 16;
    if (capacity < needed) capacity = needed;
    if (capacity > INT32_MAX) capacity = INT32_MAX;

    size_t bytes = mabd_bytes((size_t)capacity, element);
    if (bytes == SIZE_MAX) return MABD_ERR_MEMORY;
    void* data = mabd_alloc(allocator, bytes);
    if (!data) return MABD_ERR_MEMORY;
    if (list->count) memcpy(data, list->data, (size_t)list->count * element);
    mabd_free(allocator, list->data, mabd_bytes((size_t)list->capacity, element));
    list->data = data;
    list->capacity = (int32_t)capacity;
    return MABD_OK;
}

void mabd_list_free(const mabd_allocator* allocator, mabd_list* list, size_t element) {
    mabd_free(allocator, list->data, mabd_bytes((size_t)list->capacity, element));
    list->data = NULL;
    list->count = list->capacity = 0;
}

static void sift(int32_t* heap, int32_t root, int32_t count) {
    const int32_t value = heap[root];
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && heap[child] < heap[child + 1]) child++;
        if (value >= heap[child]) break;
        heap[root] = heap[child];
    }
    heap[root] = value;
}

// Heap sort, in place: qsort of the C library allocates.
void mabd_list_sort(mabd_list* list) {
    int32_t* heap = list->data;
    for (int32_t i = list->count / 2 - 1; i >= 0; i--) sift(heap, i, list->count);
    for (int32_t end = list->count - 1; end > 0; end--) {
        const int32_t largest = heap[0];
        heap[0] = heap[end], heap[end] = largest;
        sift(heap, 0, end);
    }
}
