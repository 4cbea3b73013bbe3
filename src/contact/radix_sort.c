// SPDX-License-Identifier: Apache-2.0
// Each pass distributes the keys by one digit, lowest digit first, keeping the order of equal
// digits. The histograms of all digits are counted in one reading of the keys. A pass whose digit
// is the same in all keys is skipped, and keys that are already in order (a chain along an axis)
// are not moved.
#include "contact/radix_sort.h"

#include "math/shared.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11 // at most; fewer if that makes the digits of a key equal
#define DIGIT_SIZE (1 << DIGIT_BITS)
#define PASSES_MAX ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define SMALL      48 // up to here insertion is faster

size_t mabd_radix_scratch_bytes(void) {
    return sizeof(uint32_t) * PASSES_MAX * DIGIT_SIZE;
}

static bool is_sorted(int64_t n, const uint64_t* key) {
    for (int64_t k = 1; k < n; k++) {
        if (key[k - 1] > key[k]) return false;
    }
    return true;
}

static void insertion_sort(int64_t n, uint64_t* key, int32_t* id) {
    for (int64_t k = 1; k < n; k++) {
        const uint64_t moved = key[k];
        const int32_t with = id != NULL ? id[k] : 0;
        int64_t at = k;
        for (; at > 0 && key[at - 1] > moved; at--) {
            key[at] = key[at - 1];
            if (id != NULL) id[at] = id[at - 1];
        }
        key[at] = moved;
        if (id != NULL) id[at] = with;
    }
}

static void count_digits(int64_t n, const uint64_t* key, int passes, int width, uint32_t* counts) {
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    memset(counts, 0, sizeof(*counts) * (size_t)passes * DIGIT_SIZE);
    for (int64_t k = 0; k < n; k++) {
        uint64_t rest = key[k];
        for (int pass = 0; pass < passes; pass++, rest >>= width) {
            counts[pass * DIGIT_SIZE + (int)(rest & mask)]++;
        }
    }
}

// Turn counts into the first place of each digit; false if one digit holds all keys.
static bool place_digits(int64_t n, int width, uint32_t* counts) {
    uint32_t sum = 0;
    for (int digit = 0; digit < 1 << width; digit++) {
        const uint32_t count = counts[digit];
        if (count == n) return false;
        counts[digit] = sum;
        sum += count;
    }
    return true;
}

MABD_HOT void distribute(int64_t n, int shift, int width, const uint64_t* MABD_RESTRICT key,
                         const int32_t* MABD_RESTRICT id, uint32_t* MABD_RESTRICT place,
                         uint64_t* MABD_RESTRICT key_out, int32_t* MABD_RESTRICT id_out,
                         bool with_id) {
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    for (int64_t k = 0; k < n; k++) {
        const uint32_t at = place[(key[k] >> shift) & mask]++;
        key_out[at] = key[k];
        if (with_id) id_out[at] = id[k];
    }
}

int mabd_radix_sort(int64_t n, int bits, uint64_t* const key[2], int32_t* const id[2],
                    void* scratch) {
    uint32_t* counts = scratch;
    if (bits == 0 || is_sorted(n, key[0])) return 0;
    if (n <= SMALL) {
        insertion_sort(n, key[0], id != NULL ? id[0] : NULL);
        return 0;
    }
    const int passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    const int width = (bits + passes - 1) / passes;
    int from = 0;
    count_digits(n, key[0], passes, width, counts);
    for (int pass = 0; pass < passes; pass++) {
        uint32_t* place = counts + (ptrdiff_t)pass * DIGIT_SIZE;
        if (!place_digits(n, width, place)) continue;
        const int to = 1 - from, shift = pass * width;
        if (id != NULL) {
            distribute(n, shift, width, key[from], id[from], place, key[to], id[to], true);
        } else {
            distribute(n, shift, width, key[from], NULL, place, key[to], NULL, false);
        }
        from = to;
    }
    return from;
}
