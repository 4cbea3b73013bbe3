// SPDX-License-Identifier: Apache-2.0
// Random dual systems for the tests of the dual solvers, and measures that no solver uses.
//
// K = sum over bodies of G_b G_b' + shift I, G_b with one random row per row of the joints on body
// b and `rank` columns: the pattern and the definiteness of J H^-1 J' + c. With rank 12 K is well
// conditioned; with a rank so low that the first term is singular its condition is about 1 / shift.
// Junctions of the plan have G as J beside a random -H - shift I; then K is quasi-definite.
#pragma once

#include "dual/dual.h"
#include "topology/plan.h"

/// Moving bodies and joints between them (-1 = ground).
typedef struct dual_graph {
    int32_t bodies, joints;
    int32_t *a, *b, *width; // (joints)
} dual_graph;

/// Make a graph for this many joints, to be added by dual_graph_join.
dual_graph dual_graph_make(int32_t bodies, int32_t joints);
void dual_graph_join(dual_graph* graph, int32_t a, int32_t b, int32_t width);
void dual_graph_free(dual_graph* graph);

/// Make a chain of n joints, the first one to the ground. In all generated graphs, width is that of
/// the joints in 1..6, 0 = random.
dual_graph dual_graph_chain(int32_t n, int32_t width, uint64_t seed);
/// Make a closed ring of n bodies.
dual_graph dual_graph_ring(int32_t n, int32_t width, uint64_t seed);
/// Make a net of m x n bodies, each joined to its neighbours, the corner to the ground.
dual_graph dual_graph_net(int32_t m, int32_t n, int32_t width, uint64_t seed);
/// Make a tree: body i hangs on a random earlier one.
dual_graph dual_graph_tree(int32_t n, int32_t width, uint64_t seed);
/// Make `arms` paths of `length` bodies on one body, which has `held` joints to the ground.
dual_graph dual_graph_star(int32_t arms, int32_t length, int32_t held, int32_t width,
                           uint64_t seed);
/// Make a tree with `more` random joints, some of them parallel to others.
dual_graph dual_graph_random(int32_t n, int32_t more, int32_t width, uint64_t seed);

/// Join two graphs as separate components and free them.
dual_graph dual_graph_beside(dual_graph first, dual_graph second);

/// Narrow joints in place where bodies would be junctions, for solvers that do not accept these,
/// and return the graph.
dual_graph dual_graph_without_junctions(dual_graph graph);

typedef struct dual_case {
    mabd_plan* plan;
    mabd_dual_system system; // of one component; D and U may be overwritten
    mabd_real *D, *U;        // K, unchanged
    mabd_real *b, *x;        // (row_count): right-hand side, and the vector solved in
    bool* negative;          // marks of the system, null if it is definite
} dual_case;

/// Make the system of one component of the graph, which is freed. x holds b.
dual_case dual_case_make(dual_graph graph, int32_t component, int rank, double shift,
                         uint64_t seed);
/// Make K quasi-definite: mark some slots and change the sign of the blocks between marked ones.
/// Then K = [A B; B' -C] with A and C positive definite, and has a factor L d L' in every order
/// [Vanderbei 1995].
void dual_case_negate_some(dual_case* c, uint64_t seed);
/// Restore D, U and x of the system.
void dual_case_reset(dual_case* c);
void dual_case_free(dual_case* c);

/// Compute |b - K x| / (|K| |x| + |b|), largest entries and row sums: the backward error, of the
/// order of round-off for a stable solver at any condition of K.
double dual_case_backward_error(const dual_case* c);
/// Return K, dense (row_count x row_count); the caller frees.
double* dual_case_dense(const dual_case* c);
/// Compute the largest 2-norm of b - K x over the rows of a slot, by the dense form.
double dual_case_slot_residual(const dual_case* c);
/// Compute |x - y| / |y| with y from LAPACK's dense Cholesky (dposv), or dsysv if K is not
/// definite.
double dual_case_dense_difference(const dual_case* c);

/// Return the unit round-off of mabd_real.
double dual_epsilon(void);
/// Draw a number, uniform in -1 .. 1.
double dual_random(uint64_t* seed);
