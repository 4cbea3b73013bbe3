// SPDX-License-Identifier: Apache-2.0
// Dual solvers: K x = b for one component, K symmetric positive definite, given by blocks.
// If a component has slots marked `negative`, K is quasi-definite: eliminated in an order in which
// every block is definite at its turn, their pivots are negative and all others positive.
//
//   D  diagonal blocks, width x width, row-major, full (both triangles)
//   U  off-diagonal blocks (from, to), from < to, width(from) x width(to), row-major
//
// A solver sees arrays only: no scene, no model. It may overwrite D and U in factor. Neither factor
// nor solve allocates; create takes all memory. Threads may solve different components
// concurrently.
#pragma once

#include "base/pool.h"

/// One component, its slots and rows counted from 0. A solver may keep copies of the pattern but
/// not of the numbers: widths, rows, edges and offsets must equal those that it was created with.
typedef struct mabd_dual_system {
    int32_t slot_count, edge_count, row_count;
    const int32_t* width;     // (slot_count)
    const int32_t* row;       // first row of a slot (slot_count), plus row_offset
    int32_t row_offset;       // row[0]
    const size_t* block;      // offset in D of a slot's block (slot_count)
    const int32_t *from, *to; // slots of an edge, plus slot_offset (edge_count)
    int32_t slot_offset;
    const size_t* edge_block; // offset in U (edge_count)
    /// Elimination order (slot_count): tree joints leaf to root, then cut joints; null = ascending.
    const int32_t* elimination;
    const bool* negative; // slots whose block is negative definite (slot_count), null = none
    /// Slots without a block of their own (slot_count), eliminated after the negative slots that
    /// they are coupled with; null = none.
    const bool* late;
    mabd_real* D;
    mabd_real* U;
    mabd_pool* pool; // threads that factor and solve may use, null = none; changes no bits
} mabd_dual_system;

/// Stopping rule of an iterative solver.
typedef struct mabd_dual_goal {
    mabd_real tolerance; // largest 2-norm of the residual over the rows of a slot [m, rad]
    int32_t max_iterations;
} mabd_dual_goal;

/// Result of an iterative solver.
typedef struct mabd_dual_report {
    int32_t iterations;
    mabd_real residual; // of b - K x at the end, measured as the tolerance of the goal
} mabd_dual_report;

struct mabd_dual_block_symbolic;

/// Factors and solves of systems that differ in the blocks and right-hand sides of some slots only,
/// the touched ones, and in the edges between them. Each is as one of the whole system, but what
/// touched slots do not depend on is done once.
typedef struct mabd_dual_rounds {
    /// Set the touched slots (slot_count, 0 = not touched), before `begin`. MABD_ERR_MEMORY; the
    /// allocator is that of create.
    mabd_status (*touch)(const mabd_allocator* allocator, void* solver, const uint8_t* touched);
    /// Factor the first system. x (row_count): its right-hand side; unchanged. MABD_ERR_SINGULAR as
    /// factor; then no round follows.
    mabd_status (*begin)(void* solver, const mabd_dual_system* system, mabd_real* x, int32_t* bad);
    /// Factor a further system. MABD_ERR_SINGULAR as factor.
    mabd_status (*factor)(void* solver, const mabd_dual_system* system, int32_t* bad);
    /// Solve after `begin` or `factor`. x: right-hand side in; at touched slots, and those that the
    /// solver eliminates after them, the solution out. Other entries are unchanged.
    void (*solve)(void* solver, const mabd_dual_system* system, mabd_real* x);
    /// Complete the solution x at all slots that solve left out, once after the last round.
    void (*complete)(void* solver, const mabd_dual_system* system, mabd_real* x);
} mabd_dual_rounds;

typedef struct mabd_dual_ops {
    const char* name;
    bool keeps_system; // factor leaves D and U as they are, also if it fails
    bool shares_work;  // factor and solve use the threads of the system's pool
    /// Take all memory for systems of this pattern; values of D and U are not read.
    mabd_status (*create)(const mabd_allocator* allocator, const mabd_dual_system* system,
                          void** solver);
    /// Create a solver from the analysis of this pattern in its cheapest order
    /// (block_analysis.h), made with the same allocator. The solver takes the analysis over, also
    /// on failure. Null if and only if bytes_from is null: the solver uses no such analysis.
    mabd_status (*create_from)(const mabd_allocator* allocator, const mabd_dual_system* system,
                               struct mabd_dual_block_symbolic* symbolic, void** solver);
    /// Factor. MABD_ERR_SINGULAR: *bad gets the slot, from 0, whose pivot failed.
    mabd_status (*factor)(void* solver, const mabd_dual_system* system, int32_t* bad);
    /// Solve after factor. x (row_count): right-hand side in, solution out.
    void (*solve)(void* solver, const mabd_dual_system* system, mabd_real* x);
    /// Factor and substitute a right-hand side x (row_count) forward in one pass, which saves one
    /// read of the factor; solve_rest completes the solution in the same x, before any other factor
    /// or solve. Null if and only if solve_rest is null. A solver with keeps_system leaves x
    /// unchanged here.
    mabd_status (*factor_with)(void* solver, const mabd_dual_system* system, mabd_real* x,
                               int32_t* bad);
    /// Complete the solution that factor_with began in x (row_count).
    void (*solve_rest)(void* solver, const mabd_dual_system* system, mabd_real* x);
    void (*destroy)(const mabd_allocator* allocator, void* solver);
    /// Bytes held by a solver, the libraries it uses included.
    size_t (*bytes)(const void* solver);
    /// Predict `bytes` from the pattern alone (D and U may be null); SIZE_MAX = unknown.
    size_t (*bytes_for)(const mabd_allocator* allocator, const mabd_dual_system* system);
    /// Predict `bytes` from the analysis of this pattern; SIZE_MAX = overflow.
    size_t (*bytes_from)(const mabd_dual_system* system,
                         const struct mabd_dual_block_symbolic* symbolic);
    /// Iterate after factor, with D and U unchanged. x (row_count): first guess in, solution out. A
    /// missed goal is no error; the report shows it. Null for direct solvers; iterative solvers
    /// have no solve.
    void (*iterate)(void* solver, const mabd_dual_system* system, const mabd_dual_goal* goal,
                    const mabd_real* b, mabd_real* x, mabd_dual_report* report);
    /// Discard everything kept from earlier systems, so that later results depend on later input
    /// only. Null: the solver keeps nothing from one factor to the next.
    void (*restart)(void* solver);
    const mabd_dual_rounds* rounds; // null: every system is a new one
} mabd_dual_ops;

/// Chains: block Thomas, blocks 1..6 wide, mixed. Edges must be (0,1), (1,2), ... Takes no memory:
/// *solver is null.
extern const mabd_dual_ops mabd_dual_chain;
/// Trees: elimination from the leaves to the root, in place. Slots are numbered as by the plan.
extern const mabd_dual_ops mabd_dual_tree;
/// Any pattern: block sparse L d L' (block_factor.c) in the cheapest order (block_order.h).
extern const mabd_dual_ops mabd_dual_block;
/// Any pattern: sparse L d L' by CHOLMOD (simplicial), analysed once. Shares no code with the other
/// solvers; the tests compare them with it.
extern const mabd_dual_ops mabd_dual_direct;
/// Any pattern, iterative, D and U stay unchanged: block Gauss-Seidel over chains through the
/// graph, each solved exactly, forward and backward [MABD 5.5].
extern const mabd_dual_ops mabd_dual_gs;
/// Any pattern, iterative: conjugate gradients preconditioned by one sweep of mabd_dual_gs.
extern const mabd_dual_ops mabd_dual_pcg;
/// Any pattern, iterative: conjugate gradients preconditioned by a factor of mabd_dual_block, which
/// is kept from one system to the next while it converges fast.
extern const mabd_dual_ops mabd_dual_stale;
