// SPDX-License-Identifier: Apache-2.0
// One slot of a tree (tree_aba.c): one source, compiled for each instruction set (base/isa.h).
#pragma once

#include "base/isa.h"
#include "dual/dual.h"

/// Name, result and arguments of every kernel. start: edges of a slot (slot_count + 1).
#define MABD_TREE_EACH(do, isa)                                                                    \
    do                                                                                             \
    (isa, bool, eliminate,                                                                         \
     (const mabd_dual_system* system, const int32_t* start, int32_t s,                             \
      mabd_real* x)) do(isa, void, forward,                                                        \
                        (const mabd_dual_system* system, const int32_t* start, int32_t s,          \
                         mabd_real* x)) do(isa, void, back,                                        \
                                           (const mabd_dual_system* system, const int32_t* start,  \
                                            int32_t s, mabd_real* x))

/// eliminate: a slot whose children are eliminated, with the right-hand side x (row_count) unless x
/// is null; false if a pivot fails. forward: the right-hand side alone. back: the solution of a
/// slot, after those of its later neighbours.
#define MABD_TREE_POINTER(isa, result, name, arguments) result(*name) arguments;
typedef struct mabd_dual_tree_kernels {
    MABD_TREE_EACH(MABD_TREE_POINTER, )
} mabd_dual_tree_kernels;

/// Return the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_dual_tree_kernels* mabd_dual_tree_kernels_of(int32_t isa);

#define MABD_TREE_JOIN_(name, isa) mabd_dual_tree_##name##_##isa
#define MABD_TREE_JOIN(name, isa)  MABD_TREE_JOIN_(name, isa)

/// The functions of one instruction set.
#define MABD_TREE_PROTOTYPE(isa, result, name, arguments)                                          \
    result MABD_TREE_JOIN(name, isa) arguments;
#define MABD_TREE_PROTOTYPES(isa) MABD_TREE_EACH(MABD_TREE_PROTOTYPE, isa)

#ifdef MABD_ISA
#define MABD_TREE(name) MABD_TREE_JOIN(name, MABD_ISA)
MABD_TREE_PROTOTYPES(MABD_ISA)
#endif
