// SPDX-License-Identifier: Apache-2.0
// Cholesky factorisation in an envelope; see envelope.h.
#include "cli/bench/envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool envelope_create(int32_t count, const int32_t* first, envelope* m) {
    const size_t n = (size_t)count + 1;
    *m = (envelope){.count = count};
    m->first = malloc(n * sizeof(*m->first));
    m->start = malloc(n * sizeof(*m->start));
    if (m->first == NULL || m->start == NULL) return false;
    for (int32_t i = 0; i < count; i++) {
        m->first[i] = first[i], m->start[i] = m->size;
        m->size += (size_t)(i - first[i] + 1);
    }
    m->values = calloc(m->size + 1, sizeof(*m->values));
    return m->values != NULL;
}

void envelope_destroy(envelope* m) {
    free(m->first);
    free(m->start);
    free(m->values);
    *m = (envelope){0};
}

void envelope_clear(envelope* m) {
    memset(m->values, 0, m->size * sizeof(*m->values));
}

double* envelope_at(envelope* m, int32_t i, int32_t k) {
    return m->values + m->start[i] + (size_t)(k - m->first[i]);
}

// Four partial sums, so that additions overlap.
static double sum_products(int32_t n, const double* a, const double* b) {
    double s[4] = {0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    }
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// sum_j L_ij L_kj over the columns j < k that both rows store.
static double product(const envelope* m, int32_t i, int32_t k) {
    const int32_t from = m->first[i] > m->first[k] ? m->first[i] : m->first[k];
    if (from >= k) return 0;
    return sum_products(k - from, m->values + m->start[i] + (size_t)(from - m->first[i]),
                        m->values + m->start[k] + (size_t)(from - m->first[k]));
}

void envelope_factor(envelope* m) {
    for (int32_t i = 0; i < m->count; i++) {
        for (int32_t k = m->first[i]; k < i; k++) {
            double* value = envelope_at(m, i, k);
            const double above = *envelope_at(m, k, k);
            *value = above > 0 ? (*value - product(m, i, k)) / above : 0;
        }
        double* pivot = envelope_at(m, i, i);
        const double square = *pivot - product(m, i, i);
        *pivot = square > 0 ? sqrt(square) : 0;
    }
}

static double pivot_of(const envelope* m, int32_t i) {
    return m->values[m->start[i] + (size_t)(i - m->first[i])];
}

void envelope_solve(const envelope* m, double* x) {
    for (int32_t i = 0; i < m->count; i++) {
        const double* L = m->values + m->start[i];
        const double pivot = pivot_of(m, i);
        x[i] -= sum_products(i - m->first[i], L, x + m->first[i]);
        x[i] = pivot > 0 ? x[i] / pivot : 0;
    }
    for (int32_t i = m->count - 1; i >= 0; i--) {
        const double* L = m->values + m->start[i];
        const double pivot = pivot_of(m, i);
        x[i] = pivot > 0 ? x[i] / pivot : 0;
        for (int32_t k = m->first[i]; k < i; k++) x[k] -= L[k - m->first[i]] * x[i];
    }
}
