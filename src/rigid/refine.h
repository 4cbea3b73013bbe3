// SPDX-License-Identifier: Apache-2.0
// Proximal solution of K x = b with rows that may depend on each other.
//
// K is singular if rows are redundant. K + S is not, with a small shift S of the rows, and
//
//   x <- x + (K + S)^-1 (b - K x)
//
// removes the effect of S: for an eigenvalue k of K each iteration reduces its part of the error by
// S/(k + S). Started from zero, x has no part in the null space of K but for what redundant rows
// that contradict each other leave there. The iteration ends where the residual no longer falls:
// what is left of it is such a contradiction, or round-off.
#pragma once

#include "mabd/base.h"

/// A system and its factor. Vectors have n entries.
typedef struct mabd_rigid_system {
    size_t n;
    void* context;
    void (*apply)(void* context, mabd_real* x);                        // x <- (K + S)^-1 x
    void (*multiply)(void* context, const mabd_real* x, mabd_real* y); // y = K x
    mabd_real (*size)(void* context, const mabd_real* x);              // of a residual
} mabd_rigid_system;

/// When a refinement ends.
typedef struct mabd_rigid_refinement {
    mabd_real goal;  // size of the residual that is enough
    mabd_real first; // size that the first residual must fall below, times `fall`
    mabd_real fall;  // largest ratio of two residuals that is progress
    int32_t most;    // solves
} mabd_rigid_refinement;

/// Solve K x = b from x = 0; rest (n) becomes b - K x. Returns the solves.
static inline int32_t mabd_rigid_refine(const mabd_rigid_system* system,
                                        const mabd_rigid_refinement* until, const mabd_real* b,
                                        mabd_real* x, mabd_real* rest) {
    mabd_real last = until->first;
    int32_t count = 0;
    for (size_t i = 0; i < system->n; i++) x[i] = 0, rest[i] = b[i];
    while (count < until->most) {
        system->apply(system->context, rest);
        for (size_t i = 0; i < system->n; i++) x[i] += rest[i];
        system->multiply(system->context, x, rest);
        for (size_t i = 0; i < system->n; i++) rest[i] = b[i] - rest[i];
        count++;
        const mabd_real now = system->size(system->context, rest);
        if (!(now > until->goal) || now > until->fall * last) break;
        last = now;
    }
    return count;
}
