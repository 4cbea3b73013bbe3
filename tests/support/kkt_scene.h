// SPDX-License-Identifier: Apache-2.0
// The linear system of one iteration, written out in full from the definitions: dense 12x12 blocks
// in world coordinates and rows by differences, without the structure that the solvers use, and its
// solution. Rows are numbered joint by joint, so nothing here depends on the plan's order of the
// dual system.
//
//   | H  J' | |dq    |   |r|       H dq + J' lambda = r    forces on the bodies
//   | J  -c | |lambda| = |b|       J dq - c lambda  = b    rows
#pragma once

#include "formulation/affine/affine_sim.h"

#define KKT_JOINT_ROWS MABD_PLAN_SLOT_ROWS

typedef struct kkt_system {
    int32_t bodies, rows, entries, parts;
    int32_t* joint_row;    // first row of a joint (joints + 1)
    int32_t* body_part;    // component of the plan, -1 = does not move (bodies)
    int32_t* row_part;     // component of a row (rows)
    double* H;             // (bodies x 12 x 12)
    mabd_real *r, *dq;     // right-hand side [N, N m]; increments of A [1] and t [m] (bodies x 12)
    mabd_real* moved;      // increments over the whole step, dq + ref - q (bodies x 12)
    mabd_real* b;          // right-hand side [m, rad] (rows)
    mabd_real* c;          // compliances with the rows of the same joint (rows x KKT_JOINT_ROWS)
    int32_t* joint_first;  // first row of the joint of a row (rows)
    mabd_real* lambda;     // multipliers [N, N m] (rows)
    int32_t *row, *column; // of the entries of J (entries)
    mabd_real* value;
} kkt_system;

/// Build the system at the reference of `cpu`, and solve it. Step constants and reference must be
/// those of the iteration, after mabd_affine_assemble; stress (bodies x 6) is the stress at its
/// start. Fails the running test on error.
kkt_system kkt_solve(const mabd_affine_sim* cpu, const mabd_real* stress);
void kkt_free(kkt_system* kkt);
