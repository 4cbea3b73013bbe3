// SPDX-License-Identifier: Apache-2.0
// Cholesky factorisation of a positive semidefinite matrix stored by rows, each from its first
// nonzero to the diagonal: the factor has the same envelope.
//
//   L_ik = (A_ik - sum_j L_ij L_kj) / L_kk,   L_ii = sqrt(A_ii - sum_j L_ij^2)
//
// A pivot that is not positive, by round-off, has a column of L and an unknown of zero.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct envelope {
    int32_t count;  // of rows
    int32_t* first; // (count) column of the first stored element of each row
    size_t* start;  // (count) its place in values; element (i, k) is at start[i] + k - first[i]
    size_t size;    // of values
    double* values; // (size) the matrix, then its factor
} envelope;

/// Allocate the matrix for first columns (count). False if memory is short; then destroy it.
bool envelope_create(int32_t count, const int32_t* first, envelope* matrix);
void envelope_destroy(envelope* matrix);
/// Set all elements to zero.
void envelope_clear(envelope* matrix);
/// Element (i, k) with first[i] <= k <= i.
double* envelope_at(envelope* matrix, int32_t i, int32_t k);
/// Replace the matrix by its factor L.
void envelope_factor(envelope* matrix);
/// x = (L L')^-1 x (count).
void envelope_solve(const envelope* matrix, double* x);
