// SPDX-License-Identifier: Apache-2.0
// Direct dual solvers under test, created, run and destroyed with the default allocator, and a
// count of the memory that SuiteSparse allocates itself.
#pragma once

#include "support/dual_case.h"

/// Create a solver; a failure ends the test.
void* dual_solver_create(const mabd_dual_ops* ops, const dual_case* c);
void dual_solver_destroy(const mabd_dual_ops* ops, void* solver);
/// Factor, which must succeed, and solve in c->x.
void dual_solver_run(const mabd_dual_ops* ops, void* solver, dual_case* c);
/// Return the solution by mabd_dual_block; the caller frees. Restores D, U and x of the case.
mabd_real* dual_solver_reference(dual_case* c);

extern int64_t suite_calls;   // calls of SuiteSparse's allocator since suite_count
extern int64_t suite_bytes;   // bytes that it holds
extern int64_t suite_fail_at; // call to fail, -1 = none
/// Start counting SuiteSparse's memory.
void suite_count(void);
