// SPDX-License-Identifier: Apache-2.0
//
//   r = b - K x
//   repeat   z = M^-1 r,  s = K z,  c = r'z / old r'z (0 at first)
//            p = z + c p,  q = s + c q = K p
//            a = r'z / p'q,  x += a p,  r -= a q
//
// r drifts away from b - K x by round-off. When it meets the goal the true residual is computed; if
// that does not meet it, the iteration restarts from it. Sums run in one fixed order.

#include "dual/graph_cg.h"

#include <math.h>

#define STALLS 3 // restarts that do not halve the residual before giving up

void mabd_dual_graph_cg_layout(mabd_dual_graph_cg* cg, const mabd_dual_system* system,
                               mabd_arena* arena) {
    const size_t n = (size_t)system->row_count;
    mabd_real** vectors[] = {&cg->b, &cg->x, &cg->r, &cg->z, &cg->s, &cg->p, &cg->q};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        *vectors[i] = mabd_arena_take(arena, n, sizeof(mabd_real));
    }
}

static mabd_real dot(int32_t n, const mabd_real* x, const mabd_real* y) {
    mabd_real part[4] = {0, 0, 0, 0};
    int32_t k = 0;
    for (; k + 4 <= n; k += 4) {
        for (int i = 0; i < 4; i++) part[i] += x[k + i] * y[k + i];
    }
    for (; k < n; k++) part[0] += x[k] * y[k];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// Iterate from r of the current x until r meets the goal. False if there is no further progress.
static bool descend(mabd_dual_graph_cg* cg, const mabd_dual_graph_matrix* matrix,
                    mabd_dual_graph_precondition* precondition, void* context,
                    const mabd_dual_goal* goal, mabd_dual_report* report) {
    const int32_t n = matrix->row_count;
    mabd_real *x = cg->x, *r = cg->r, *z = cg->z, *s = cg->s, *p = cg->p, *q = cg->q;
    mabd_real old = 0;
    for (int32_t first = report->iterations; report->iterations < goal->max_iterations;) {
        precondition(context, r, z, s);
        const mabd_real rz = dot(n, r, z);
        const mabd_real beta = report->iterations == first ? 0 : rz / old;
        for (int32_t k = 0; k < n; k++) {
            p[k] = z[k] + beta * p[k];
            q[k] = s[k] + beta * q[k];
        }
        const mabd_real pq = dot(n, p, q);
        if (!(rz > 0) || !(pq > 0)) return false; // K or M is not positive, or a number not finite
        const mabd_real alpha = rz / pq;
        for (int32_t k = 0; k < n; k++) {
            x[k] += alpha * p[k];
            r[k] -= alpha * q[k];
        }
        old = rz;
        report->iterations++;
        if (mabd_dual_graph_matrix_largest(matrix, r) <= goal->tolerance) return true;
    }
    return false;
}

bool mabd_dual_graph_cg_run(mabd_dual_graph_cg* cg, const mabd_dual_graph_matrix* matrix,
                            mabd_dual_graph_precondition* precondition, void* context,
                            const mabd_dual_goal* goal, mabd_dual_report* report) {
    mabd_real best = (mabd_real)INFINITY;
    for (int32_t k = 0; k < matrix->row_count; k++) cg->p[k] = cg->q[k] = 0;
    for (int stalls = 0;;) {
        report->residual = mabd_dual_graph_matrix_residual(matrix, cg->b, cg->x, cg->r);
        if (report->residual <= goal->tolerance) return true;
        if (report->residual <= best / 2) {
            best = report->residual;
        } else if (++stalls == STALLS || !isfinite(report->residual)) {
            return false;
        }
        if (!descend(cg, matrix, precondition, context, goal, report)) break;
    }
    report->residual = mabd_dual_graph_matrix_residual(matrix, cg->b, cg->x, cg->r);
    return report->residual <= goal->tolerance;
}
