// SPDX-License-Identifier: Apache-2.0
// Instruction sets. Hot files are compiled once for each set of the build, with MABD_ISA set to its
// name; the set to run is chosen when a simulation is created. No set contracts or reorders
// operations, so all give the same bits.
//
// The build defines MABD_HAS_AVX2 and MABD_HAS_AVX512 where it compiles those sets (x86-64 only).
#pragma once

#include <stdint.h>

/// do(name) for every set of this build, the slowest first.
#if defined(MABD_HAS_AVX512)
#define MABD_ISA_EACH(do)                                                                          \
    do (baseline) do(avx2) do(avx512)
#elif defined(MABD_HAS_AVX2)
#define MABD_ISA_EACH(do)                                                                          \
    do (baseline) do(avx2)
#else
#define MABD_ISA_EACH(do)                                                                          \
    do (baseline)
#endif

/// Number of sets of this build that this processor can run, at least 1. They are the first ones of
/// MABD_ISA_EACH.
int32_t mabd_isa_count(void);
/// Name of set number `isa` of MABD_ISA_EACH, from 0.
const char* mabd_isa_name(int32_t isa);
