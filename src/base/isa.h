// SPDX-License-Identifier: Apache-2.0
// Instruction sets. Hot files are compiled once for each set that the build knows, with MABD_ISA set to its
// name; which of them to run is decided when a simulation is created. No set contracts or reorders operations,
// so all give the same bits.
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

/// Sets of this build that this processor can run: the first so many of MABD_ISA_EACH, at least one.
int32_t mabd_isa_count(void);
/// Name of one of them, from 0.
const char* mabd_isa_name(int32_t isa);
