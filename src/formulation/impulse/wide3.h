// SPDX-License-Identifier: Apache-2.0
// Vectors of the items in lanes c .. c + MABD_WIDE - 1 of packs (impulse_packs.h).
#pragma once

#include "math/block.h"
#include "math/lanes.h"
#include "math/wide.h"

// Lane k of d, the MABD_WIDE items from c on.
#define AT(d, k) (*(mabd_wide*)((d)[k].at + c))

typedef struct wide3 {
    mabd_wide x, y, z;
} wide3;

MABD_HOT wide3 load3(const mabd_lanes* d, int c) {
    const wide3 v = {AT((mabd_lanes*)d, 0), AT((mabd_lanes*)d, 1), AT((mabd_lanes*)d, 2)};
    return v;
}
MABD_HOT void store3(wide3 v, mabd_lanes* d, int c) {
    AT(d, 0) = v.x, AT(d, 1) = v.y, AT(d, 2) = v.z;
}
MABD_HOT wide3 axpy3(mabd_wide s, wide3 b, wide3 a) {
    const wide3 v = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
    return v;
}
MABD_HOT wide3 scale3(mabd_wide s, wide3 a) {
    const wide3 v = {s * a.x, s * a.y, s * a.z};
    return v;
}
MABD_HOT wide3 sub3(wide3 a, wide3 b) {
    const wide3 v = {a.x - b.x, a.y - b.y, a.z - b.z};
    return v;
}
MABD_HOT wide3 add3(wide3 a, wide3 b) {
    const wide3 v = {a.x + b.x, a.y + b.y, a.z + b.z};
    return v;
}
MABD_HOT mabd_wide dot3(wide3 a, wide3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
MABD_HOT wide3 cross3(wide3 a, wide3 b) {
    const wide3 v = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return v;
}
MABD_HOT mabd_wide all(mabd_real x) {
    return (mabd_wide){0} + x;
}
MABD_HOT mabd_wide larger(mabd_wide a, mabd_wide b) {
    return mabd_wide_where(a > b, a, b);
}
MABD_HOT mabd_wide size_of(mabd_wide a) {
    return larger(a, -a);
}
