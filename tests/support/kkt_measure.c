// SPDX-License-Identifier: Apache-2.0
#include "support/kkt_measure.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

// Largest |error| relative to the largest |scale|.
typedef struct worst {
    double error, scale;
} worst;

// Return the larger number, and NaN if either is.
static double larger(double a, double b) {
    return isnan(b) ? INFINITY : fmax(a, b);
}

static void meet(worst* w, double error, double scale) {
    w->error = larger(w->error, fabs(error));
    w->scale = fmax(w->scale, fabs(scale));
}

static double quotient(worst w) {
    return w.scale > 0 ? w.error / w.scale : w.error;
}

kkt_errors kkt_between(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda,
                       const mabd_real* other_dq, const mabd_real* other_lambda) {
    kkt_errors e = {0};
    for (int32_t part = 0; part < kkt->parts; part++) {
        worst moved = {0, 0}, force = {0, 0};
        for (int32_t i = 0; i < 12 * kkt->bodies; i++) {
            if (kkt->body_part[i / 12] != part) continue;
            meet(&moved, (double)(dq[i] - other_dq[i]), (double)kkt->moved[i]);
        }
        for (int32_t k = 0; k < kkt->rows; k++) {
            if (kkt->row_part[k] != part) continue;
            meet(&force, (double)(lambda[k] - other_lambda[k]), (double)kkt->lambda[k]);
        }
        e.dq = larger(e.dq, quotient(moved));
        e.lambda = larger(e.lambda, quotient(force));
    }
    return e;
}

kkt_errors kkt_measure(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda) {
    kkt_errors e = kkt_between(kkt, dq, lambda, kkt->dq, kkt->lambda);
    double* rest = calloc((size_t)kkt->rows + 1, sizeof *rest);
    if (!rest) cr_fatal("out of memory");
    for (int32_t k = 0; k < kkt->rows; k++) {
        rest[k] = -(double)kkt->b[k];
        for (int32_t i = 0; i < KKT_JOINT_ROWS && kkt->joint_first[k] + i < kkt->rows; i++) {
            rest[k] -= (double)(kkt->c[KKT_JOINT_ROWS * k + i] * lambda[kkt->joint_first[k] + i]);
        }
    }
    for (int32_t i = 0; i < kkt->entries; i++) {
        rest[kkt->row[i]] += (double)(kkt->value[i] * dq[kkt->column[i]]);
    }
    for (int32_t k = 0; k < kkt->rows; k++) e.opening = larger(e.opening, fabs(rest[k]));
    free(rest);
    return e;
}
