// SPDX-License-Identifier: Apache-2.0
// The stages that loop over bodies and joints: one text, compiled once for each instruction set (base/isa.h).
#pragma once

#include "base/isa.h"
#include "cpu/sim.h"

struct mabd_cpu_stages {
    void (*predict)(mabd_cpu_sim* sim);
    void (*predict_body)(mabd_cpu_sim* sim, int32_t body);
    void (*assemble)(mabd_cpu_sim* sim, mabd_pass pass);
    mabd_motion_report (*update)(mabd_cpu_sim* sim);
    int32_t (*joint_rows)(mabd_cpu_sim* sim, int32_t body, int32_t side, mabd_affine* rows);
    mabd_opening (*check)(const mabd_cpu_sim* sim, const mabd_real* q);
    bool (*refer)(mabd_cpu_sim* sim, int32_t* body);
    void (*finish)(mabd_cpu_sim* sim, bool keep_history);
};

/// The table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_cpu_stages* mabd_cpu_stages_of(int32_t isa);

#define MABD_STAGE_JOIN_(name, isa) mabd_stage_##name##_##isa
#define MABD_STAGE_JOIN(name, isa)  MABD_STAGE_JOIN_(name, isa)

/// The functions of one instruction set.
#define MABD_STAGE_PROTOTYPES(isa)                                                                 \
    void MABD_STAGE_JOIN(predict, isa)(mabd_cpu_sim * sim);                                        \
    void MABD_STAGE_JOIN(predict_body, isa)(mabd_cpu_sim * sim, int32_t body);                     \
    void MABD_STAGE_JOIN(assemble, isa)(mabd_cpu_sim * sim, mabd_pass pass);                       \
    mabd_motion_report MABD_STAGE_JOIN(update, isa)(mabd_cpu_sim * sim);                           \
    int32_t MABD_STAGE_JOIN(joint_rows, isa)(mabd_cpu_sim * sim, int32_t body, int32_t side,       \
                                             mabd_affine * rows);                                  \
    mabd_opening MABD_STAGE_JOIN(check, isa)(const mabd_cpu_sim* sim, const mabd_real* q);         \
    bool MABD_STAGE_JOIN(refer, isa)(mabd_cpu_sim * sim, int32_t * body);                          \
    void MABD_STAGE_JOIN(finish, isa)(mabd_cpu_sim * sim, bool keep_history)

/// Last thing of a stage: the upper parts of vector registers are clean. Compilers see to that at the end of each
/// function, but gcc 12 has missed one; solvers compiled for the baseline then took 2.5 times as long.
#if defined(__AVX__) && defined(__GNUC__)
#define MABD_STAGE_END() __builtin_ia32_vzeroupper()
#else
#define MABD_STAGE_END() ((void)0)
#endif

#ifdef MABD_ISA
#define MABD_STAGE(name) MABD_STAGE_JOIN(name, MABD_ISA)
MABD_STAGE_PROTOTYPES(MABD_ISA);
#endif
