// SPDX-License-Identifier: Apache-2.0
// Dual solvers: K x = b for one component, K symmetric positive definite, given by blocks.
// Where a component has slots marked `negative`, K is quasi-definite: eliminated in an order in which every
// block is definite when its turn comes, their pivots are negative and all others positive.
//
//   D  diagonal blocks, width x width, row-major, full (both triangles)
//   U  off-diagonal blocks (from, to), from < to, width(from) x width(to), row-major
//
// A solver sees arrays only: no scene, no model. It may overwrite D and U in factor. Neither factor nor
// solve allocates; all memory is taken in create. Different components may be worked on at the same time.
#pragma once

#include "base/pool.h"

/// One component, its slots and rows counted from 0. A solver may keep what it needs of all this but the numbers: widths, rows, edges
/// and offsets must be those that it was created with.
typedef struct mabd_dual_system {
    int32_t slot_count, edge_count, row_count;
    const int32_t* width;     // (slot_count)
    const int32_t* row;       // first row of a slot (slot_count), plus row_offset
    int32_t row_offset;       // row[0]
    const size_t* block;      // offset in D of a slot's block (slot_count)
    const int32_t *from, *to; // slots of an edge, plus slot_offset (edge_count)
    int32_t slot_offset;
    const size_t* edge_block; // offset in U (edge_count)
    const int32_t*
        elimination; // an order for it: tree joints leaf to root, cut joints (slot_count); null = ascending
    const bool* negative; // slots whose block is negative definite (slot_count), null = none
    const bool*
        late; // slots without a block of their own: to be eliminated after the negative ones
              // that they are coupled with; null = none
    mabd_real* D;
    mabd_real* U;
    mabd_pool* pool; // threads that factor and solve may use, null = none; changes no bits
} mabd_dual_system;

/// When an iterative solver may stop.
typedef struct mabd_dual_goal {
    mabd_real
        tolerance; // largest residual of a slot, the 2-norm over its rows [m, rad]: its joint's gap
    int32_t max_iterations;
} mabd_dual_goal;

/// What an iterative solver did.
typedef struct mabd_dual_report {
    int32_t iterations;
    mabd_real residual; // b - K x at the end, as in the goal
} mabd_dual_report;

typedef struct mabd_dual_ops {
    const char* name;
    bool keeps_system; // factor leaves D and U as they are, also if it fails
    bool shares_work;  // factor and solve use the threads of the system's pool
    /// Take all memory for systems of this pattern (values of D and U are not looked at).
    mabd_status (*create)(const mabd_allocator* allocator, const mabd_dual_system* system,
                          void** solver);
    /// Factor. MABD_ERR_SINGULAR with the slot (from 0 in this component) whose pivot failed in *bad.
    mabd_status (*factor)(void* solver, const mabd_dual_system* system, int32_t* bad);
    /// x (row_count): right-hand side in, solution out. After factor.
    void (*solve)(void* solver, const mabd_dual_system* system, mabd_real* x);
    /// Both or neither: factor, and take a right-hand side x (row_count) along, so that the factor is read once
    /// less; then the rest of its solution in the same x, before any other factor or solve. A solver that keeps
    /// the system leaves x as it is while it factors.
    mabd_status (*factor_with)(void* solver, const mabd_dual_system* system, mabd_real* x,
                               int32_t* bad);
    void (*solve_rest)(void* solver, const mabd_dual_system* system, mabd_real* x);
    void (*destroy)(const mabd_allocator* allocator, void* solver);
    /// Bytes held by a solver, the libraries it uses included.
    size_t (*bytes)(const void* solver);
    /// What `bytes` will be, from the pattern alone (D and U may be null); SIZE_MAX if that cannot be known.
    size_t (*bytes_for)(const mabd_allocator* allocator, const mabd_dual_system* system);
    /// Iterative solvers only, which have no solve; null otherwise. After factor, with D and U unchanged: x
    /// (row_count) is the first guess in and the solution out. Not to have met the goal is no error: the
    /// report tells.
    void (*iterate)(void* solver, const mabd_dual_system* system, const mabd_dual_goal* goal,
                    const mabd_real* b, mabd_real* x, mabd_dual_report* report);
    /// Forget all systems seen before: what follows depends on what is given from now on only. Null: nothing
    /// is kept from one factor to the next.
    void (*restart)(void* solver);
} mabd_dual_ops;

/// Chains: block Thomas, blocks 1..6 wide, mixed. Edges must be (0,1), (1,2), ... Holds no memory: *solver
/// is null.
extern const mabd_dual_ops mabd_dual_chain;
/// Trees: elimination from the leaves to the root, in place. Slots must be numbered as the plan numbers a tree.
extern const mabd_dual_ops mabd_dual_tree;
/// Any pattern: block sparse L d L' (block_factor.c) in an order that keeps the fill low (block_order.h).
extern const mabd_dual_ops mabd_dual_block;
/// Any pattern: sparse LDL' by CHOLMOD (simplicial), analysed once, values written straight in. Independent of
/// the others: what they are checked against.
extern const mabd_dual_ops mabd_dual_direct;
/// Any pattern, iterative, D and U are left as they are. Block Gauss-Seidel over chains through the graph,
/// each solved exactly, forth and back [MABD 5.5].
extern const mabd_dual_ops mabd_dual_gs;
/// The same sweep as the preconditioner of conjugate gradients.
extern const mabd_dual_ops mabd_dual_pcg;
/// Conjugate gradients preconditioned by a factor of mabd_dual_block, which is kept from one system to the
/// next while it serves.
extern const mabd_dual_ops mabd_dual_stale;
