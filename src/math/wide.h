// SPDX-License-Identifier: Apache-2.0
// A vector with one real of each of MABD_WIDE items: as wide as the registers of the instruction
// set that a file is compiled for (base/isa.h). Operators act on each real by itself, so an item
// has the same bits as alone. For sources whose text is written once for reals and for vectors;
// loops over lanes in math/lanes.h keep their eight numbers on every instruction set instead.
#pragma once

#include "math/shared.h"

#if defined(__AVX512F__)
#define MABD_WIDE_BYTES 64
#elif defined(__AVX2__)
#define MABD_WIDE_BYTES 32
#else
#define MABD_WIDE_BYTES 16
#endif

#if defined(__GNUC__)
typedef mabd_real mabd_wide __attribute__((vector_size(MABD_WIDE_BYTES), may_alias));
#define MABD_WIDE ((int)(MABD_WIDE_BYTES / sizeof(mabd_real)))
/// What a comparison gives: all bits of an item where it holds, else none.
typedef __typeof__(*(mabd_wide*)0 < -*(mabd_wide*)0) mabd_wide_mask;
/// Return x where a comparison holds, else y.
MABD_HOT mabd_wide mabd_wide_where(mabd_wide_mask holds, mabd_wide x, mabd_wide y) {
    return (mabd_wide)((holds & (mabd_wide_mask)x) | (~holds & (mabd_wide_mask)y));
}
#else
typedef mabd_real mabd_wide;
#define MABD_WIDE 1
MABD_HOT mabd_wide mabd_wide_where(bool holds, mabd_wide x, mabd_wide y) {
    return holds ? x : y;
}
#endif

/// Most items of any instruction set.
#define MABD_WIDE_MOST 16
