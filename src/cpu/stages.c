// SPDX-License-Identifier: Apache-2.0
// Picks the table of stages. MABD_HAS_AVX2 and MABD_HAS_AVX512 say what the build has compiled (x86-64 only).

#include "cpu/stages.h"

#define TABLE(isa)                                                                                 \
    {                                                                                              \
#isa, MABD_STAGE_JOIN(predict, isa), MABD_STAGE_JOIN(assemble, isa),                       \
            MABD_STAGE_JOIN(update, isa), MABD_STAGE_JOIN(check, isa),                             \
            MABD_STAGE_JOIN(refer, isa), MABD_STAGE_JOIN(finish, isa)                              \
    }

MABD_STAGE_PROTOTYPES(baseline);
static const mabd_cpu_stages baseline = TABLE(baseline);
#ifdef MABD_HAS_AVX2
MABD_STAGE_PROTOTYPES(avx2);
static const mabd_cpu_stages avx2 = TABLE(avx2);
#endif
#ifdef MABD_HAS_AVX512
MABD_STAGE_PROTOTYPES(avx512);
static const mabd_cpu_stages avx512 = TABLE(avx512);
#endif

const mabd_cpu_stages* const* mabd_cpu_stages_usable(void) {
    // four lists instead of one that is filled: nothing to race for
    static const mabd_cpu_stages* const least[] = {&baseline, NULL};
#ifdef MABD_HAS_AVX512
    static const mabd_cpu_stages* const most[] = {&baseline, &avx2, &avx512, NULL};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        return most;
    }
#endif
#ifdef MABD_HAS_AVX2
    static const mabd_cpu_stages* const some[] = {&baseline, &avx2, NULL};
    if (__builtin_cpu_supports("avx2")) return some;
#endif
    return least;
}

const mabd_cpu_stages* mabd_cpu_stages_best(void) {
    const mabd_cpu_stages* const* list = mabd_cpu_stages_usable();
    while (list[1]) list++;
    return *list;
}

void mabd_cpu_predict(mabd_cpu_sim* sim) {
    sim->stages->predict(sim);
}
void mabd_cpu_assemble(mabd_cpu_sim* sim, bool first_iteration) {
    sim->stages->assemble(sim, first_iteration);
}
mabd_motion_report mabd_cpu_update(mabd_cpu_sim* sim) {
    return sim->stages->update(sim);
}
mabd_opening mabd_cpu_check(const mabd_cpu_sim* sim, const mabd_real* q) {
    return sim->stages->check(sim, q);
}
bool mabd_cpu_refer(mabd_cpu_sim* sim, int32_t* body) {
    return sim->stages->refer(sim, body);
}
void mabd_cpu_finish(mabd_cpu_sim* sim, bool keep_history) {
    sim->stages->finish(sim, keep_history);
}
