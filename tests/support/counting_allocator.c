// SPDX-License-Identifier: Apache-2.0
// Each block has a header of 64 bytes before it that holds its size.
#include "support/counting_allocator.h"

#include <stdlib.h>
#include <string.h>

#define HEAD  64
#define GUARD UINT64_C(0xa110ca7edb10c4)

typedef struct block_head {
    uint64_t guard;
    size_t bytes;
} block_head;

static void* counting_alloc(void* context, size_t bytes) {
    counting_allocator* counter = (counting_allocator*)context;
    if (counter->calls++ == counter->fail_at) return NULL;
    char* memory = aligned_alloc(HEAD, HEAD + (bytes + HEAD - 1) / HEAD * HEAD);
    if (!memory) return NULL;
    block_head head = {GUARD, bytes};
    memcpy(memory, &head, sizeof head);
    memset(memory + HEAD, 0xcd, bytes);
    counter->live_blocks++;
    counter->live_bytes += (int64_t)bytes;
    if (counter->live_bytes > counter->peak_bytes) counter->peak_bytes = counter->live_bytes;
    return memory + HEAD;
}

static void counting_free(void* context, void* memory, size_t bytes) {
    counting_allocator* counter = (counting_allocator*)context;
    if (!memory) return;
    block_head head;
    memcpy(&head, (char*)memory - HEAD, sizeof head);
    if (head.guard != GUARD) {
        counter->wrong_frees++;
        return;
    }
    if (head.bytes != bytes) counter->wrong_frees++;
    counter->live_blocks--;
    counter->live_bytes -= (int64_t)head.bytes;
    memset((char*)memory - HEAD, 0, HEAD);
    free((char*)memory - HEAD);
}

mabd_allocator counting_allocator_make(counting_allocator* counter) {
    mabd_allocator allocator = {counting_alloc, counting_free, counter};
    return allocator;
}
