// SPDX-License-Identifier: Apache-2.0
// Reals that belong to one of many equal items, such as a chain or a copy of a robot. On the CPU
// the reals of an item are contiguous. Device code compiled with MABD_INTERLEAVED has one thread
// per item and tiles of 32 items: a tile holds the first real of all its items, then the second of
// all, so the reads of a warp are coalesced.
//
//   item   0 1 2 .. 31 | 32 33 ..
//   real 0 . . .    .  | .               real k of item i, n reals each:
//        1 . . .    .  | .                 ((i / 32) n + k) 32 + i % 32
#pragma once

#include "math/shared.h"

#define MABD_TILE 32

#if defined(MABD_INTERLEAVED) && defined(__cplusplus)

#ifdef __CUDACC__
#define MABD_INTERLEAVE_FN __host__ __device__
#else
#define MABD_INTERLEAVE_FN
#endif

template <class real> struct mabd_interleaved {
    real* at;
    MABD_INTERLEAVE_FN real& operator[](ptrdiff_t k) const {
        return at[k * MABD_TILE];
    }
    MABD_INTERLEAVE_FN mabd_interleaved operator+(ptrdiff_t k) const {
        return mabd_interleaved{at + k * MABD_TILE};
    }
    MABD_INTERLEAVE_FN mabd_interleaved& operator+=(ptrdiff_t k) {
        return at += k * MABD_TILE, *this;
    }
    MABD_INTERLEAVE_FN mabd_interleaved& operator-=(ptrdiff_t k) {
        return at -= k * MABD_TILE, *this;
    }
};
typedef mabd_interleaved<mabd_real> mabd_reals;

/// Return the reals of item i, `count` per item.
MABD_FN mabd_reals mabd_interleaved_of(mabd_real* all, size_t count, int32_t i) {
    return mabd_reals{all + ((size_t)(i / MABD_TILE) * count) * MABD_TILE + i % MABD_TILE};
}

/// Define the array `name` (`room`) with the `count` reals at `from`, count <= room. Once inlined,
/// count is a constant.
#define MABD_HELD(name, room, count, from)                                                         \
    mabd_real name[room];                                                                          \
    MABD_UNROLL                                                                                    \
    for (int k_ = 0; k_ < (count); k_++) name[k_] = (from)[k_]

#else

typedef mabd_real* mabd_reals;
#define MABD_HELD(name, room, count, from) const mabd_real* name = (from)

#endif
