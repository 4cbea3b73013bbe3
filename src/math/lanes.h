// SPDX-License-Identifier: Apache-2.0
// The wide real: MABD_LANES numbers, one for each of MABD_LANES bodies.
//
// Mathematics is written once, for one body. The compiler turns a loop over lanes around it,
//
//   MABD_EACH_LANE(l) { const mabd_mat3 R = mabd_lane_m3(work->ref, l); ... }
//
// into vectors: of 8 lanes with AVX-512, twice 4 with AVX2, four times 2 with SSE2 and NEON, and
// into scalar code otherwise. Files with such loops are compiled once for each instruction set
// (base/isa.h). Lanes do not interact and no operation is contracted or reordered, so a body gets
// the same bits in any lane.
//
// A loop is vectorized if all calls are inlined, all branches become a choice between two values,
// and all arrays are local to the function of the loop or marked restrict; tests/check_lanes.sh
// verifies it. Work that only some lanes need (a polar decomposition far from a rotation, an
// eigenvalue that must be clamped) is done for these lanes one by one, between two loops.
#pragma once

#include "math/sym3.h"

#include <stdalign.h>

#define MABD_LANES 8

typedef struct mabd_lanes {
    alignas(64) mabd_real at[MABD_LANES];
} mabd_lanes;

// gcc must not unroll short loops before it vectorizes.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define MABD_EACH_LANE(l) _Pragma("GCC unroll 1") for (int l = 0; l < MABD_LANES; l++)
#else
#define MABD_EACH_LANE(l) for (int l = 0; l < MABD_LANES; l++)
#endif

/// Return entries k, k + 1, k + 2 of lane l.
MABD_HOT mabd_vec3 mabd_lane_v3(const mabd_lanes* a, int l) {
    return mabd_v3(a[0].at[l], a[1].at[l], a[2].at[l]);
}
MABD_HOT mabd_mat3 mabd_lane_m3(const mabd_lanes* a, int l) {
    return mabd_m3(mabd_lane_v3(a, l), mabd_lane_v3(a + 3, l), mabd_lane_v3(a + 6, l));
}
MABD_HOT mabd_sym3 mabd_lane_s3(const mabd_lanes* a, int l) {
    mabd_sym3 s;
    s.xx = a[0].at[l], s.yy = a[1].at[l], s.zz = a[2].at[l], s.xy = a[3].at[l], s.xz = a[4].at[l],
    s.yz = a[5].at[l];
    return s;
}
MABD_HOT void mabd_lane_put_v3(mabd_vec3 v, mabd_lanes* a, int l) {
    a[0].at[l] = v.x, a[1].at[l] = v.y, a[2].at[l] = v.z;
}
MABD_HOT void mabd_lane_put_m3(mabd_mat3 m, mabd_lanes* a, int l) {
    mabd_lane_put_v3(m.c1, a, l), mabd_lane_put_v3(m.c2, a + 3, l);
    mabd_lane_put_v3(m.c3, a + 6, l);
}
MABD_HOT void mabd_lane_put_s3(mabd_sym3 s, mabd_lanes* a, int l) {
    a[0].at[l] = s.xx, a[1].at[l] = s.yy, a[2].at[l] = s.zz, a[3].at[l] = s.xy, a[4].at[l] = s.xz,
    a[5].at[l] = s.yz;
}

// ---- rows to lanes and back -------------------------------------------------------------------
// Memory holds one row of numbers per body; lanes hold one number of each body. Squares of 4 x 4
// are transposed in registers, because numbers stored one by one and loaded four at a time wait for
// the stores to reach the cache.

#if defined(__GNUC__) && !defined(MABD_ON_DEVICE)
typedef mabd_real mabd_quad __attribute__((vector_size(4 * sizeof(mabd_real)), aligned(8)));
#if defined(__clang__)
#define MABD_QUAD_MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int64_t mabd_quad_mask __attribute__((vector_size(32)));
#define MABD_QUAD_MIX(a, b, i, j, k, l) __builtin_shuffle(a, b, (mabd_quad_mask){i, j, k, l})
#endif

/// Transpose columns k .. k + 3 of four rows into four lanes, or four lanes into columns.
MABD_HOT void mabd_quad_turn(const mabd_real* p0, const mabd_real* p1, const mabd_real* p2,
                             const mabd_real* p3, mabd_real* q0, mabd_real* q1, mabd_real* q2,
                             mabd_real* q3) {
    const mabd_quad a = *(const mabd_quad*)p0, b = *(const mabd_quad*)p1, c = *(const mabd_quad*)p2,
                    d = *(const mabd_quad*)p3;
    const mabd_quad ab = MABD_QUAD_MIX(a, b, 0, 4, 2, 6), cd = MABD_QUAD_MIX(c, d, 0, 4, 2, 6);
    const mabd_quad ba = MABD_QUAD_MIX(a, b, 1, 5, 3, 7), dc = MABD_QUAD_MIX(c, d, 1, 5, 3, 7);
    *(mabd_quad*)q0 = MABD_QUAD_MIX(ab, cd, 0, 1, 4, 5);
    *(mabd_quad*)q1 = MABD_QUAD_MIX(ba, dc, 0, 1, 4, 5);
    *(mabd_quad*)q2 = MABD_QUAD_MIX(ab, cd, 2, 3, 6, 7);
    *(mabd_quad*)q3 = MABD_QUAD_MIX(ba, dc, 2, 3, 6, 7);
}
#else
MABD_HOT void mabd_quad_turn(const mabd_real* p0, const mabd_real* p1, const mabd_real* p2,
                             const mabd_real* p3, mabd_real* q0, mabd_real* q1, mabd_real* q2,
                             mabd_real* q3) {
    for (int k = 0; k < 4; k++) {
        mabd_real* const q = k == 0 ? q0 : k == 1 ? q1 : k == 2 ? q2 : q3;
        q[0] = p0[k], q[1] = p1[k], q[2] = p2[k], q[3] = p3[k];
    }
}
#endif

/// Copy `count` reals (a constant), four at a time as the 4 x 4 squares stored them: a wider load
/// of data written by two stores waits until both are in the cache.
MABD_HOT void mabd_reals_copy(int count, const mabd_real* MABD_RESTRICT from,
                              mabd_real* MABD_RESTRICT to) {
    int k = 0;
#if defined(__GNUC__) && !defined(MABD_ON_DEVICE)
    for (; k + 4 <= count; k += 4) *(mabd_quad*)(to + k) = *(const mabd_quad*)(from + k);
#endif
    for (; k < count; k++) to[k] = from[k];
}

/// Add `count` reals (a constant), four at a time as the 4 x 4 squares stored them.
MABD_HOT void mabd_reals_add(int count, const mabd_real* MABD_RESTRICT from,
                             mabd_real* MABD_RESTRICT to) {
    int k = 0;
#if defined(__GNUC__) && !defined(MABD_ON_DEVICE)
    for (; k + 4 <= count; k += 4) *(mabd_quad*)(to + k) += *(const mabd_quad*)(from + k);
#endif
    for (; k < count; k++) to[k] += from[k];
}

/// Load `columns` reals (a constant, at least 4) at p[l] into lane l, for all lanes.
MABD_HOT void mabd_lanes_gather(int columns, const mabd_real* const* p,
                                mabd_lanes* MABD_RESTRICT to) {
    for (int l = 0; l < MABD_LANES; l += 4) {
        for (int k = 0; k < columns; k += 4) {
            const int c = k + 4 <= columns ? k : columns - 4; // the last square may overlap
            mabd_quad_turn(p[l] + c, p[l + 1] + c, p[l + 2] + c, p[l + 3] + c, to[c].at + l,
                           to[c + 1].at + l, to[c + 2].at + l, to[c + 3].at + l);
        }
    }
}
/// Load row `row[l]` of an array with `columns` columns into lane l.
MABD_HOT void mabd_lanes_load(int columns, const mabd_real* from, const int32_t* row,
                              mabd_lanes* MABD_RESTRICT to) {
    const mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = from + (size_t)columns * (size_t)row[l];
    mabd_lanes_gather(columns, p, to);
}
// With vectors of 8 numbers a lane can be written by one store. A loop over lanes that reads it
// soon does not wait then until two stores are in the cache. Where all loads come first, as in the
// update of a segment, squares of 4 x 4 are faster.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(MABD_ON_DEVICE)
typedef mabd_real mabd_octet __attribute__((vector_size(8 * sizeof(mabd_real)), aligned(8)));
typedef int64_t mabd_octet_mask __attribute__((vector_size(64)));

/// Join four reals at `low` and four at `high`.
MABD_HOT mabd_octet mabd_octet_join(const mabd_real* low, const mabd_real* high) {
    const mabd_quad a = *(const mabd_quad*)low, b = *(const mabd_quad*)high;
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
/// Transpose four columns of eight rows into four lanes.
MABD_HOT void mabd_octet_turn(const mabd_real* const* p, int column, mabd_lanes* MABD_RESTRICT to) {
    mabd_octet row[4];
    for (int l = 0; l < 4; l++) row[l] = mabd_octet_join(p[l] + column, p[l + 4] + column);
    const mabd_octet_mask even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
    const mabd_octet_mask low = {0, 1, 8, 9, 4, 5, 12, 13}, high = {2, 3, 10, 11, 6, 7, 14, 15};
    const mabd_octet ab = __builtin_shuffle(row[0], row[1], even);
    const mabd_octet cd = __builtin_shuffle(row[2], row[3], even);
    const mabd_octet ba = __builtin_shuffle(row[0], row[1], odd);
    const mabd_octet dc = __builtin_shuffle(row[2], row[3], odd);
    *(mabd_octet*)to[0].at = __builtin_shuffle(ab, cd, low);
    *(mabd_octet*)to[1].at = __builtin_shuffle(ba, dc, low);
    *(mabd_octet*)to[2].at = __builtin_shuffle(ab, cd, high);
    *(mabd_octet*)to[3].at = __builtin_shuffle(ba, dc, high);
}

/// mabd_lanes_gather, with one store per lane.
MABD_HOT void mabd_lanes_gather_at_once(int columns, const mabd_real* const* p,
                                        mabd_lanes* MABD_RESTRICT to) {
    for (int k = 0; k < columns; k += 4) {
        const int c = k + 4 <= columns ? k : columns - 4; // the last square may overlap
        mabd_octet_turn(p, c, to + c);
    }
}
#else
#define mabd_lanes_gather_at_once mabd_lanes_gather
#endif
/// mabd_lanes_load, with one store per lane.
MABD_HOT void mabd_lanes_load_at_once(int columns, const mabd_real* from, const int32_t* row,
                                      mabd_lanes* MABD_RESTRICT to) {
    const mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = from + (size_t)columns * (size_t)row[l];
    mabd_lanes_gather_at_once(columns, p, to);
}

/// Load the numbers from + at[l] .. from + at[l] + count - 1 into lane l.
MABD_HOT void mabd_lanes_pick(int count, const mabd_real* from, const int32_t* at,
                              mabd_lanes* MABD_RESTRICT to) {
    for (int k = 0; k < count; k += 4) {
        const int c = k + 4 <= count ? k : count - 4; // the last square may overlap
        for (int l = 0; l < MABD_LANES && c >= 0; l += 4) {
            mabd_quad_turn(from + at[l] + c, from + at[l + 1] + c, from + at[l + 2] + c,
                           from + at[l + 3] + c, to[c].at + l, to[c + 1].at + l, to[c + 2].at + l,
                           to[c + 3].at + l);
        }
    }
    for (int k = 0; k < count && count < 4; k++) {
        MABD_EACH_LANE(l) to[k].at[l] = from[at[l] + k];
    }
}
/// Load row `row` into all lanes.
MABD_HOT void mabd_lanes_fill(int columns, const mabd_real* from, int32_t row,
                              mabd_lanes* MABD_RESTRICT to) {
    from += (size_t)columns * (size_t)row;
    for (int k = 0; k < columns; k++) {
        const mabd_real x = from[k];
        MABD_EACH_LANE(l) to[k].at[l] = x;
    }
}
/// Store lane l < count to row `row[l]`.
MABD_HOT void mabd_lanes_store(int columns, const mabd_lanes* from, const int32_t* row, int count,
                               mabd_real* to) {
    if (count < MABD_LANES) {
        for (int l = 0; l < count; l++) {
            for (int k = 0; k < columns; k++) {
                to[columns * (int64_t)row[l] + k] = from[k].at[l];
            }
        }
        return;
    }
    for (int l = 0; l < MABD_LANES; l += 4) {
        mabd_real *p0 = to + columns * (int64_t)row[l], *p1 = to + columns * (int64_t)row[l + 1],
                  *p2 = to + columns * (int64_t)row[l + 2],
                  *p3 = to + columns * (int64_t)row[l + 3];
        for (int k = 0; k < columns; k += 4) {
            const int c = k + 4 <= columns ? k : columns - 4;
            mabd_quad_turn(from[c].at + l, from[c + 1].at + l, from[c + 2].at + l,
                           from[c + 3].at + l, p0 + c, p1 + c, p2 + c, p3 + c);
        }
    }
}

/// Store 8 lanes to rows of 8 reals each: lane l to p[l], rows that differ or get the same.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(MABD_ON_DEVICE)
MABD_HOT void mabd_lanes_scatter(const mabd_lanes* MABD_RESTRICT from, mabd_real* const* p) {
    const mabd_octet_mask even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
    const mabd_octet_mask low = {0, 1, 8, 9, 4, 5, 12, 13}, high = {2, 3, 10, 11, 6, 7, 14, 15};
    const mabd_octet_mask front = {0, 1, 2, 3, 8, 9, 10, 11}, back = {4, 5, 6, 7, 12, 13, 14, 15};
    mabd_octet half[2][4]; // columns 0 .. 3 and 4 .. 7: row r in its low part, r + 4 in its high
    for (int k = 0; k < 2; k++) {
        const mabd_octet a = *(const mabd_octet*)from[4 * k].at,
                         b = *(const mabd_octet*)from[4 * k + 1].at,
                         c = *(const mabd_octet*)from[4 * k + 2].at,
                         d = *(const mabd_octet*)from[4 * k + 3].at;
        const mabd_octet ab = __builtin_shuffle(a, b, even), ba = __builtin_shuffle(a, b, odd);
        const mabd_octet cd = __builtin_shuffle(c, d, even), dc = __builtin_shuffle(c, d, odd);
        half[k][0] = __builtin_shuffle(ab, cd, low), half[k][1] = __builtin_shuffle(ba, dc, low);
        half[k][2] = __builtin_shuffle(ab, cd, high), half[k][3] = __builtin_shuffle(ba, dc, high);
    }
    for (int r = 0; r < 4; r++) {
        *(mabd_octet*)p[r] = __builtin_shuffle(half[0][r], half[1][r], front);
        *(mabd_octet*)p[r + 4] = __builtin_shuffle(half[0][r], half[1][r], back);
    }
}
#else
MABD_HOT void mabd_lanes_scatter(const mabd_lanes* MABD_RESTRICT from, mabd_real* const* p) {
    for (int l = 0; l < MABD_LANES; l += 4) {
        for (int k = 0; k < MABD_LANES; k += 4) {
            mabd_quad_turn(from[k].at + l, from[k + 1].at + l, from[k + 2].at + l,
                           from[k + 3].at + l, p[l] + k, p[l + 1] + k, p[l + 2] + k, p[l + 3] + k);
        }
    }
}
#endif

/// Prefetch rows that will be loaded soon, a few at a time: a core tracks about twenty outstanding
/// cache misses.
#if defined(__GNUC__)
MABD_HOT void mabd_lanes_fetch(int columns, const mabd_real* from, const int32_t* row) {
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_real* at = from + (size_t)columns * (size_t)row[l];
        __builtin_prefetch(at);
        if (columns > 8) __builtin_prefetch(at + columns - 1);
    }
}
#else
#define mabd_lanes_fetch(columns, from, row) ((void)0)
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define MABD_UNROLL_TURN _Pragma("GCC unroll 12")
#else
#define MABD_UNROLL_TURN
#endif

/// Store `count` entries (whole squares) to p[l] for each lane l; entry k is from[order[k]].
MABD_HOT void mabd_lanes_turn(int count, const mabd_lanes* from, const int* order,
                              mabd_real* const* p) {
    for (int l = 0; l < MABD_LANES; l += 4) {
        MABD_UNROLL_TURN
        for (int k = 0; k < count; k += 4) {
            const int o[4] = {order[k], order[k + 1], order[k + 2], order[k + 3]};
            mabd_quad_turn(from[o[0]].at + l, from[o[1]].at + l, from[o[2]].at + l,
                           from[o[3]].at + l, p[l] + k, p[l + 1] + k, p[l + 2] + k, p[l + 3] + k);
        }
    }
}
