// SPDX-License-Identifier: Apache-2.0
#include "base/isa.h"

#include <stdbool.h>

#define NAME(isa)     #isa,
#define RUNNABLE(isa) has_##isa(),

static bool has_baseline(void) {
    return true;
}
#ifdef MABD_HAS_AVX2
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
#endif
#ifdef MABD_HAS_AVX512
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

static const char* const names[] = {MABD_ISA_EACH(NAME)};

int32_t mabd_isa_count(void) {
    const bool runnable[] = {MABD_ISA_EACH(RUNNABLE)};
    const int32_t known = (int32_t)(sizeof runnable / sizeof *runnable);
    int32_t count = 1;
    while (count < known && runnable[count]) count++;
    return count;
}

const char* mabd_isa_name(int32_t isa) {
    return names[isa];
}
