// SPDX-License-Identifier: Apache-2.0
// Check Coulomb's law, by its definition, at the result of a solver of contact forces
// (dual/cone_cg.h).
#pragma once

#include "dual/cone_cg.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/// Expect that no contact pulls and that friction is within its cone.
static inline void contact_law_cones(const mabd_cone_problem* of, const mabd_real* force) {
    for (int i = 0; i < of->count; i++) {
        const mabd_real* l = force + 3 * i;
        cr_expect(ge(dbl, l[0], 0));
        cr_expect(le(dbl, hypot(l[1], l[2]), of->friction[i] * l[0] * (1 + 1e-12)), "cone of %d",
                  i);
    }
}

/// Expect the law within e [m]: g are the rows W l + rest + c l of the forces, `reported` those
/// that the solver returns (3 count).
static inline void contact_law_expect(const mabd_cone_problem* of, const mabd_real* force,
                                      const mabd_real* reported, const mabd_real* g, mabd_real e) {
    contact_law_cones(of, force);
    for (int i = 0; i < of->count; i++) {
        const mabd_real *l = force + 3 * i, *row = g + 3 * i;
        const mabd_real o = of->own[2 * i], q = of->own[2 * i + 1], bound = of->friction[i] * l[0];
        const mabd_real push = hypot(l[1], l[2]), slip = hypot(row[1], row[2]);
        for (int k = 0; k < 3; k++) cr_expect(epsilon_eq(dbl, reported[3 * i + k], row[k], 1e-12));
        cr_expect(le(dbl, fabs(fmin(o * l[0], row[0])), e), "normal of %d", i);
        if (q * (bound - push) > e) cr_expect(le(dbl, slip, e), "%d does not stick", i);
        cr_expect(le(dbl, q * (l[1] * row[1] + l[2] * row[2] + bound * slip),
                     e * (2 * q * bound + slip) + 1e-15),
                  "%d does not slip against its way", i);
    }
}
