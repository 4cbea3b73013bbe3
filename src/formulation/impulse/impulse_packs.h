// SPDX-License-Identifier: Apache-2.0
// Rows of sequential impulses in lanes: 8 items of one color and kind together.
//
// A body is one cache line (mabd_impulse_line). 8 lines are turned into lanes in registers, and
// back. Lines of bodies that do not move are read, never written. One update serves the rows of
// joints,
//
//   dp = -mass K^-1 (J V + b) - leak p,   V += M^-1 J' dp
//
// with the bias b of sweeps, in relaxations 0 or `hold`; rows of firm blocks have + give p beside
// J V, in relaxations + keep p. Reals per item of each kind of block, n rows, symmetric matrices
// 3 x 3 as xx yy zz xy xz yz, K^-1 its lower triangle:
//
//   BALL      1/ma 1/mb 1/Ia 1/Ib  ra rb  K^-1 p b            both bodies isotropic
//   POINT+k   1/ma 1/mb Ia^-1 Ib^-1 (6 each)  ra rb  u (3k)  K^-1 p b
//                                                             3 point rows, k turns about u
//   ROWS n    1/ma 1/mb Ia^-1 Ib^-1  (f ta tb) n  K^-1 p b    any rows
//   FIRM n    as ROWS n, then hold give keep                  with servos, springs, dampers:
//                                                             mass 1, leak 0
#pragma once

#include "formulation/impulse/impulse_colors.h"
#include "formulation/impulse/impulse_data.h"
#include "math/lanes.h"

/// Kinds of items in lanes.
typedef enum mabd_impulse_pack_kind {
    MABD_IMPULSE_BALL,
    MABD_IMPULSE_POINT0,
    MABD_IMPULSE_POINT1,
    MABD_IMPULSE_POINT2,
    MABD_IMPULSE_POINT3,
    MABD_IMPULSE_ROWS1,
    MABD_IMPULSE_ROWS2,
    MABD_IMPULSE_ROWS3,
    MABD_IMPULSE_ROWS4,
    MABD_IMPULSE_ROWS5,
    MABD_IMPULSE_ROWS6,
    MABD_IMPULSE_FIRM1,
    MABD_IMPULSE_FIRM2,
    MABD_IMPULSE_FIRM3,
    MABD_IMPULSE_FIRM4,
    MABD_IMPULSE_FIRM5,
    MABD_IMPULSE_FIRM6,
    MABD_IMPULSE_KIND_COUNT,
} mabd_impulse_pack_kind;

/// First lanes after the masses and inertias of both sides.
#define MABD_IMPULSE_SIDES 14
/// Reals of a row: f ta tb.
#define MABD_IMPULSE_ROW 9

/// Where the numbers of a block lie: the first lane of each.
typedef struct mabd_impulse_places {
    int rows, inverse, p, bias, hold, give, keep, count;
} mabd_impulse_places;

/// Return the places of a kind of blocks.
static inline mabd_impulse_places mabd_impulse_places_of(mabd_impulse_pack_kind kind) {
    const bool point = kind <= MABD_IMPULSE_POINT3, ball = kind == MABD_IMPULSE_BALL;
    const int k = (int)kind - (int)MABD_IMPULSE_POINT0;
    mabd_impulse_places at;
    const bool firm = kind >= MABD_IMPULSE_FIRM1;
    at.rows = ball    ? 3
              : point ? 3 + k
                      : (int)kind - (int)(firm ? MABD_IMPULSE_FIRM1 : MABD_IMPULSE_ROWS1) + 1;
    at.inverse = ball ? 10 : MABD_IMPULSE_SIDES + (point ? 6 + 3 * k : MABD_IMPULSE_ROW * at.rows);
    at.p = at.inverse + at.rows * (at.rows + 1) / 2;
    at.bias = at.p + at.rows, at.hold = at.bias + at.rows;
    at.give = at.hold + (firm ? at.rows : 0);
    at.keep = at.give + (firm ? at.rows : 0);
    at.count = at.keep + (firm ? at.rows : 0);
    return at;
}

/// Items in lanes, in their order.
typedef struct mabd_impulse_packs {
    mabd_impulse_order order;
    int32_t (*body)[2][MABD_LANES]; // (packs) both sides, -1 = no item in the lane
    size_t* first;                  // (packs + 1) lanes of a pack: data + first
    mabd_lanes* data;
    size_t* arm;      // (packs) lanes of a pack of ball joints: arms + arm
    mabd_lanes* arms; // X_a X_b of ball joints: anchors in the principal frames [m]
} mabd_impulse_packs;

/// What a sweep does.
typedef struct mabd_impulse_pass {
    mabd_impulse_soft joint;
    mabd_real ratio; // of p kept by a warm start
    bool relax;      // rows end no errors
    bool backwards;
    bool measure; // find the largest change and impulse
} mabd_impulse_pass;

/// Largest change of an impulse, and largest impulse, of measured sweeps [N s] or [N m s].
typedef struct mabd_impulse_change {
    mabd_real change, largest;
} mabd_impulse_change;

/// What is done with each item of a pack.
typedef enum mabd_impulse_task {
    MABD_IMPULSE_SOLVE, // one update
    MABD_IMPULSE_WARM,  // apply ratio p
} mabd_impulse_task;
