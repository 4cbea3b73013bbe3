// SPDX-License-Identifier: Apache-2.0
// Solves with the matrix of an implicit function and with its transpose.
//
// The factor is that of K with the shift on the diagonal of the rows (newton.c), refined with K
// itself from zero: redundant rows give the solution of least norm. K' has the null vectors of K,
// and right-hand sides from losses without multipliers have no part in them.

#include "formulation/quaternion/tangent.h"

#include "base/error.h"
#include "formulation/quaternion/quaternion_layout.h"

#include <math.h>
#include <string.h>

/// Residual of a solve, relative to its right-hand side, at which refinement ends; passes; least
/// fall of the residual per pass.
#define REFINE_PART ((mabd_real)1e-16)
#define REFINE_MAX  20
#define REFINE_FALL ((mabd_real)4)

mabd_status mabd_tangent_factor(const mabd_quaternion_point* p, mabd_error* error) {
    char label[160];
    int32_t body, joint;
    const mabd_model* m = p->s.sim->model;
    const mabd_status status = mabd_quaternion_factor(&p->s, &body, &joint);
    if (status == MABD_OK) return MABD_OK;
    if (joint >= 0) {
        mabd_model_joint_label(m, joint, label, sizeof label);
    } else {
        mabd_model_body_label(m, body < 0 ? 0 : body, label, sizeof label);
    }
    return mabd_fail_at(error, status, body, joint, p->s.time,
                        "the derivatives have no solution at %s (t = %g s)", label,
                        (double)p->s.time);
}

// out = b - K x, or b - K' x.
static void find_rest(const mabd_quaternion_solve* s, bool back, const mabd_real* b,
                      const mabd_real* x, mabd_real* out) {
    const mabd_dual_lu_system system = mabd_quaternion_system(s->sim, s->part);
    const mabd_dual_system* d = &system.blocks;
    mabd_real* in = (mabd_real*)x; // read only: mabd_pass writes the other side
    memcpy(out, b, (size_t)d->row_count * sizeof *out);
    for (int32_t i = 0; i < d->slot_count; i++) {
        const int n = d->width[i], at = d->row[i];
        if (back) {
            mabd_pass(true, -1, d->D + d->block[i], n, n, in + at, out + at);
        } else {
            mabd_pass(false, -1, d->D + d->block[i], n, n, out + at, in + at);
        }
    }
    for (int32_t i = 0; i < d->edge_count; i++) {
        const int from = d->from[i], to = d->to[i], n = d->width[from], m = d->width[to];
        const mabd_real *U = d->U + d->edge_block[i], *L = system.lower + d->edge_block[i];
        if (back) {
            mabd_pass(true, -1, U, n, m, in + d->row[from], out + d->row[to]);
            mabd_pass(true, -1, L, m, n, in + d->row[to], out + d->row[from]);
        } else {
            mabd_pass(false, -1, U, n, m, out + d->row[from], in + d->row[to]);
            mabd_pass(false, -1, L, m, n, out + d->row[to], in + d->row[from]);
        }
    }
}

static mabd_real largest_of(const mabd_real* x, size_t n) {
    mabd_real most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!((mabd_real)fabs(x[i]) <= most)) most = (mabd_real)fabs(x[i]);
    }
    return most;
}

void mabd_tangent_solve(const mabd_quaternion_point* p, bool back, mabd_real* b, mabd_real* x) {
    const mabd_quaternion_part* part = p->s.part;
    const size_t n = 6 * (size_t)part->body_count + (size_t)part->row_count;
    mabd_real* rhs = p->s.sim->rhs + part->vector_first;
    mabd_real *y = p->s.sim->y + part->vector_first, *rest = p->s.sim->rest + part->vector_first;
    for (size_t i = 0; i < n; i++) rhs[i] = -b[i];
    memset(y, 0, n * sizeof *y);
    memcpy(rest, rhs, n * sizeof *rest);
    mabd_real last = (mabd_real)INFINITY;
    const mabd_real goal = REFINE_PART * largest_of(rhs, n);
    for (int k = 0; k < REFINE_MAX; k++) {
        if (back) {
            mabd_dual_lu_solve_transposed(part->lu, rest);
        } else {
            mabd_dual_lu_solve(part->lu, rest);
        }
        for (size_t i = 0; i < n; i++) y[i] += rest[i];
        find_rest(&p->s, back, rhs, y, rest);
        const mabd_real now = largest_of(rest, n);
        if (!(now > goal) || now > last / REFINE_FALL) break;
        last = now;
    }
    memcpy(x, y, n * sizeof *x);
}
