// SPDX-License-Identifier: Apache-2.0
// Rank of a dense matrix by its singular values, and a choice of redundant rows (row_rank.c).
#pragma once

#include "base/memory.h"

typedef struct mabd_row_rank mabd_row_rank;

/// Create an analysis of matrices with at most `rows` x `columns` entries. vectors: rows can be
/// chosen; without, only the rank is found, in a third of the memory. MABD_ERR_MEMORY: *rank is
/// null.
mabd_status mabd_row_rank_create(const mabd_allocator* allocator, int32_t rows, int32_t columns,
                                 bool vectors, mabd_row_rank** rank);
/// Free an analysis; null is allowed.
void mabd_row_rank_destroy(const mabd_allocator* allocator, mabd_row_rank* rank);
/// Return the bytes of an analysis; 0 for null.
size_t mabd_row_rank_bytes(const mabd_row_rank* rank);

/// Begin a matrix of rows x columns, at most those of create. Returns its entries (rows x columns,
/// row-major), all zero, to be filled.
double* mabd_row_rank_begin(mabd_row_rank* rank, int32_t rows, int32_t columns);
/// Normalise the rows, compute the singular values and return the rank: the number of those above
/// `tolerance` times the largest. -1 if they do not converge or entries are not finite. Destroys
/// the entries.
int32_t mabd_row_rank_find(mabd_row_rank* rank, double tolerance);
/// Choose `count` rows, of those with may[i], that are in the span of the others, after
/// mabd_row_rank_find. dropped (rows) is set to true for them, and stays as it is for others.
/// False: there are not that many.
bool mabd_row_rank_choose(mabd_row_rank* rank, int32_t count, const bool* may, bool* dropped);
