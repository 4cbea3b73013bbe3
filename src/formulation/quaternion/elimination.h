// SPDX-License-Identifier: Apache-2.0
// Redundant rows that are left out of a part, and the rank of its rows (elimination.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// Rows of a model up to which a dense analysis is accepted.
#define MABD_DENSE_ROWS 4000

typedef struct mabd_elimination mabd_elimination;

/// Create the analysis of a part. vectors: rows can be left out; without, only the rank is found.
/// MABD_ERR_MEMORY: *out is null.
mabd_status mabd_elimination_create(const mabd_quaternion_sim* sim,
                                    const mabd_quaternion_part* part, bool vectors,
                                    mabd_elimination** out);
/// Free an analysis; null is allowed.
void mabd_elimination_destroy(const mabd_allocator* allocator, mabd_elimination* elimination);
/// Return the bytes of an analysis; 0 for null.
size_t mabd_elimination_bytes(const mabd_elimination* elimination);

/// Choose the rows of a part that are left out, sim->dropped, at sim->pose and s->time. first: find
/// how many; later calls keep that number. Does nothing without an analysis. Overwrites J of the
/// matrix. MABD_ERR_DIVERGED if singular values do not converge.
mabd_status mabd_quaternion_eliminate(const mabd_quaternion_solve* s, bool first);
/// Number of rows of a part that are left out.
int32_t mabd_quaternion_dropped_count(const mabd_quaternion_sim* sim,
                                      const mabd_quaternion_part* part);
/// True if a row that is left out is open at sim->pose, s->time and the controls of sim->input: by
/// more than 10 row_tolerance, and 10 times the largest error of the other rows. *joint: where.
bool mabd_quaternion_dropped_open(const mabd_quaternion_solve* s, int32_t* joint);

/// Find rank and freedoms of the free rows of all parts at the state: entry get_rank of the table.
mabd_status mabd_quaternion_get_rank(void* self, mabd_rank_info* rank, mabd_error* error);
