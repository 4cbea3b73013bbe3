// SPDX-License-Identifier: Apache-2.0
// Picks the table of kernels. MABD_HAS_AVX2 and MABD_HAS_AVX512 say what the build has compiled (x86-64 only).

#include "dual/block_numeric.h"

#define TABLE(isa)                                                                                 \
    { #isa, MABD_BLOCK_JOIN(factor, isa), MABD_BLOCK_JOIN(solve, isa) }

MABD_BLOCK_PROTOTYPES(baseline);
static const mabd_block_kernels baseline = TABLE(baseline);
#ifdef MABD_HAS_AVX2
MABD_BLOCK_PROTOTYPES(avx2);
static const mabd_block_kernels avx2 = TABLE(avx2);
#endif
#ifdef MABD_HAS_AVX512
MABD_BLOCK_PROTOTYPES(avx512);
static const mabd_block_kernels avx512 = TABLE(avx512);
#endif

const mabd_block_kernels* const* mabd_block_kernels_usable(void) {
    // lists instead of one that is filled: nothing to race for
    static const mabd_block_kernels* const least[] = {&baseline, NULL};
#ifdef MABD_HAS_AVX512
    static const mabd_block_kernels* const most[] = {&baseline, &avx2, &avx512, NULL};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        return most;
    }
#endif
#ifdef MABD_HAS_AVX2
    static const mabd_block_kernels* const some[] = {&baseline, &avx2, NULL};
    if (__builtin_cpu_supports("avx2")) return some;
#endif
    return least;
}

const mabd_block_kernels* mabd_block_kernels_best(void) {
    const mabd_block_kernels* const* list = mabd_block_kernels_usable();
    while (list[1]) list++;
    return *list;
}
