// SPDX-License-Identifier: Apache-2.0
// Least significant digit radix sort of 64-bit keys: O(n), stable, the same order on every machine.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Return the bytes of scratch memory that a sort of any size needs.
size_t mabd_radix_scratch_bytes(void);

/// Sort n keys, ascending, by their lowest `bits` bits; the bits above must be zero. Input: key[0]
/// (n) and, if id is not null, the values id[0] (n) that are moved with them; key[1], id[1] (n) are
/// a second buffer. Returns the index, 0 or 1, of the buffer with the result. n < 2^32.
int mabd_radix_sort(int64_t n, int bits, uint64_t* const key[2], int32_t* const id[2],
                    void* scratch);
