// SPDX-License-Identifier: Apache-2.0
// The stages that loop over bodies and joints: one source, compiled once for each instruction set
// (base/isa.h).
#pragma once

#include "base/isa.h"
#include "formulation/affine/cpu/pack.h"

/// Name, result and arguments of every stage. Stages that take a tile may run on several tiles at a
/// time.
// clang-format off
#define MABD_STAGE_EACH(do, isa) \
    do(isa, void, predict, (mabd_affine_sim* sim, bool packs_too, const mabd_affine_tile* tile)) \
    do(isa, void, predict_rest, (mabd_affine_sim* sim)) \
    do(isa, void, predict_halo, (mabd_affine_sim* sim, int32_t first, int32_t last)) \
    do(isa, void, predict_body, (mabd_affine_sim* sim, int32_t body)) \
    do(isa, void, start, (mabd_affine_sim* sim, mabd_affine_pass pass, \
                           const mabd_affine_tile* tile)) \
    do(isa, void, assemble, (mabd_affine_sim* sim, mabd_affine_pass pass, bool predict, \
                             const mabd_affine_tile* tile, int32_t thread)) \
    do(isa, void, update, (mabd_affine_sim* sim, const mabd_affine_tile* tile, \
                           mabd_affine_motion_report* report)) \
    do(isa, int32_t, joint_rows, (mabd_affine_sim* sim, int32_t body, int32_t side, \
                                  mabd_vec12* rows)) \
    do(isa, void, check, (const mabd_affine_sim* sim, const mabd_real* q, int32_t first, \
                          int32_t last, mabd_affine_joint_error* worst)) \
    do(isa, void, eliminate_runs, (mabd_affine_sim* sim, \
                                   const mabd_affine_condensed_component* o, \
                                   mabd_affine_condensed_group* group)) \
    do(isa, void, solve_runs, (mabd_affine_sim* sim, const mabd_affine_condensed_group* group)) \
    do(isa, int32_t, relinearize, (mabd_affine_sim* sim, const mabd_affine_tile* tile)) \
    do(isa, void, finish, (mabd_affine_sim* sim, bool keep_history, const mabd_affine_tile* tile)) \
    do(isa, void, finish_coordinates, (mabd_affine_sim* sim, bool keep_history, int32_t first, \
                                       int32_t last))
// clang-format on

#define MABD_STAGE_POINTER(isa, result, name, arguments) result(*name) arguments;
struct mabd_affine_isa_table {
    MABD_STAGE_EACH(MABD_STAGE_POINTER, )
};

/// Returns the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_affine_isa_table* mabd_affine_isa_table_of(int32_t isa);

#define MABD_STAGE_JOIN_(name, isa) mabd_affine_stage_##name##_##isa
#define MABD_STAGE_JOIN(name, isa)  MABD_STAGE_JOIN_(name, isa)

/// Declare the functions of one instruction set.
#define MABD_STAGE_PROTOTYPE(isa, result, name, arguments)                                         \
    result MABD_STAGE_JOIN(name, isa) arguments;
#define MABD_STAGE_PROTOTYPES(isa) MABD_STAGE_EACH(MABD_STAGE_PROTOTYPE, isa)

/// Clear the upper halves of the vector registers; the last statement of every stage. Compilers do
/// this at the end of each function, but gcc 12 missed one, and solvers compiled for the baseline
/// instruction set then took 2.5 times as long.
#if defined(__AVX__) && defined(__GNUC__)
#define MABD_STAGE_END() __builtin_ia32_vzeroupper()
#else
#define MABD_STAGE_END() ((void)0)
#endif

#ifdef MABD_ISA
#define MABD_STAGE(name) MABD_STAGE_JOIN(name, MABD_ISA)
MABD_STAGE_PROTOTYPES(MABD_ISA)
#endif
