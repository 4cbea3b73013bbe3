// SPDX-License-Identifier: Apache-2.0
// Reals of one of many equal things: of a chain, of a copy of a robot. On the CPU they follow each other. Device code that is compiled
// with MABD_INTERLEAVED has one thread for each thing and tiles of 32 things, in which the first reals of all come first, then
// the second ones: a warp reads what lies side by side.
//
//   thing  0 1 2 .. 31 | 32 33 ..          real k of thing i of n reals: ((i / 32) n + k) 32 + i % 32
//   real 0 . . .    .  | .
//        1 . . .    .  | .
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

/// The reals of thing i, of `count` each.
MABD_FN mabd_reals mabd_interleaved_of(mabd_real* all, size_t count, int32_t i) {
    return mabd_reals{all + ((size_t)(i / MABD_TILE) * count) * MABD_TILE + i % MABD_TILE};
}

/// `name` is an array with what is at `from`: `count` reals, once inlined a constant, of `room` at most.
#define MABD_HELD(name, room, count, from)                                                         \
    mabd_real name[room];                                                                          \
    MABD_UNROLL                                                                                    \
    for (int k_ = 0; k_ < (count); k_++) name[k_] = (from)[k_]

#else

typedef mabd_real* mabd_reals;
#define MABD_HELD(name, room, count, from) const mabd_real* name = (from)

#endif
