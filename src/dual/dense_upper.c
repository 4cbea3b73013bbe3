// SPDX-License-Identifier: Apache-2.0
#include "dual/dense_upper.h"

#define PROTOTYPE(isa) mabd_dense_upper_factor_fn MABD_UPPER_JOIN(factor, isa);
#define POINTER(isa)   MABD_UPPER_JOIN(factor, isa),
MABD_ISA_EACH(PROTOTYPE)

mabd_dense_upper_factor_fn* mabd_dense_upper_factor_of(int32_t isa) {
    static mabd_dense_upper_factor_fn* const factors[] = {MABD_ISA_EACH(POINTER)};
    return factors[isa];
}

void mabd_dense_upper_solve(size_t n, const mabd_real* U, mabd_real* x) {
    for (size_t i = 0; i < n; i++) {
        const mabd_real* row = U + i * n;
        x[i] /= row[i];
        for (size_t k = i + 1; k < n; k++) x[k] -= row[k] * x[i];
    }
    for (size_t i = n; i-- > 0;) {
        const mabd_real* row = U + i * n;
        mabd_real sum[4] = {0, 0, 0, 0};
        size_t k = i + 1;
        for (; k + 4 <= n; k += 4) {
            for (size_t m = 0; m < 4; m++) sum[m] += row[k + m] * x[k + m];
        }
        mabd_real rest = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (; k < n; k++) rest += row[k] * x[k];
        x[i] = (x[i] - rest) / row[i];
    }
}
