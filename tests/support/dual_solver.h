// SPDX-License-Identifier: Apache-2.0
// Direct dual solvers under test: made, run and taken down with the default allocator, and a count
// of what SuiteSparse takes beside it.
#pragma once

#include "support/dual_case.h"

/// create must succeed.
void* dual_solver_create(const mabd_dual_ops* ops, const dual_case* c);
void dual_solver_destroy(const mabd_dual_ops* ops, void* solver);
/// Factor, which must succeed, and solve in c->x.
void dual_solver_run(const mabd_dual_ops* ops, void* solver, dual_case* c);
/// The solution by mabd_dual_block, to be freed. D, U and x of the case are as they were made
/// afterwards.
mabd_real* dual_solver_reference(dual_case* c);

extern int64_t suite_calls;   // of SuiteSparse's allocator since suite_count
extern int64_t suite_bytes;   // it holds
extern int64_t suite_fail_at; // call to fail, -1 = none
/// From now on count SuiteSparse's memory.
void suite_count(void);
