// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/radix_sort.c: against qsort, with the input order for equal keys.
#include "contact/radix_sort.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST 3000

typedef struct item {
    uint64_t key;
    int32_t id;
} item;

static int compare_items(const void* a, const void* b) {
    const item *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

static uint64_t draw(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state ^ *state >> 33;
}

static void check(int64_t n, int bits, const uint64_t* input) {
    static uint64_t keys[2][MOST];
    static int32_t ids[2][MOST];
    static item items[MOST];
    uint64_t* const key[2] = {keys[0], keys[1]};
    int32_t* const id[2] = {ids[0], ids[1]};
    void* scratch = malloc(mabd_radix_scratch_bytes());
    for (int32_t k = 0; k < n; k++) {
        items[k] = (item){input[k], k};
        keys[0][k] = input[k], ids[0][k] = k;
    }
    qsort(items, (size_t)n, sizeof(item), compare_items);
    int now = mabd_radix_sort(n, bits, key, id, scratch);
    for (int64_t k = 0; k < n; k++) {
        cr_assert(eq(u64, keys[now][k], items[k].key), "%d bits", bits);
        cr_assert(eq(i32, ids[now][k], items[k].id), "%d bits", bits);
    }
    memcpy(keys[0], input, sizeof(uint64_t) * (size_t)n);
    now = mabd_radix_sort(n, bits, key, NULL, scratch);
    for (int64_t k = 0; k < n; k++) cr_assert(eq(u64, keys[now][k], items[k].key));
    free(scratch);
}

Test(radix_sort, keys_of_any_width) {
    static uint64_t input[MOST];
    static const int64_t counts[] = {0, 1, 2, 48, 49, 1000, MOST};
    uint64_t seed = 1;
    for (int bits = 1; bits <= 64; bits++) {
        for (int c = 0; c < 7; c++) {
            for (int64_t k = 0; k < counts[c]; k++) input[k] = draw(&seed) >> (64 - bits);
            check(counts[c], bits, input);
        }
    }
}

Test(radix_sort, digits_in_which_one_key_alone_differs) {
    static uint64_t input[MOST];
    for (int bit = 0; bit < 63; bit++) {
        for (int64_t k = 0; k < MOST; k++) input[k] = UINT64_C(1) << 63;
        input[bit] ^= UINT64_C(1) << bit;
        check(MOST, 64, input);
    }
}

Test(radix_sort, sorted_and_reversed) {
    static uint64_t input[MOST];
    for (int64_t k = 0; k < MOST; k++) input[k] = (uint64_t)k * 12345;
    check(MOST, 26, input);
    for (int64_t k = 0; k < MOST; k++) input[k] = (uint64_t)(MOST - k) / 3;
    check(MOST, 10, input);
}
