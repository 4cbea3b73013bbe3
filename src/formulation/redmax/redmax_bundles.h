// SPDX-License-Identifier: Apache-2.0
// Elimination of the borders of a part along its tree: the way of parts with many borders, in place
// of the dense matrix of border.c.
#pragma once

#include "formulation/redmax/redmax_motion.h"

/// Borders of a part above which they are eliminated along the tree.
#define MABD_REDMAX_DENSE_BORDERS 150

/// Parts of what a bundle keeps for solves. With t borders that end, o that go on, and m freedoms:
typedef struct mabd_redmax_kept {
    mabd_real* F;      // (t x t) LU of Q of those that end
    mabd_real* P;      // (t x 6)
    mabd_real* R;      // (t x 18)
    mabd_real* ahead;  // (t x o) Q of those that end by those that go on
    mabd_real* behind; // (t x o) Q of those that go on by those that end, transposed
    mabd_real* L;      // (o x m) dq by those that go on
    mabd_real* Z;      // (o x m) rows that go on by dq
    mabd_real* defect; // (o) rows that go on by the defect of the link (lift.c)
} mabd_redmax_kept;

/// True if the borders of a part are eliminated along the tree.
MABD_FN bool mabd_redmax_has_bundles(const mabd_redmax_solve* s) {
    return s->part->structure.bundled;
}

/// The bundle of a link, -1 = of the ground.
MABD_FN const mabd_redmax_bundle* mabd_redmax_bundle_of(const mabd_redmax_solve* s, int32_t link) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t ground = sim->link_count + (int32_t)(s->part - sim->parts);
    return &sim->bundles.bundles[link < 0 ? ground : link];
}

/// What a bundle keeps; freedoms: of its link, 0 of the ground.
MABD_FN mabd_redmax_kept mabd_redmax_kept_of(const mabd_redmax_sim* sim,
                                             const mabd_redmax_bundle* own, int32_t freedoms) {
    const size_t t = (size_t)own->ends, o = (size_t)own->open, m = (size_t)freedoms;
    mabd_redmax_kept out;
    out.F = sim->bundles.kept + own->kept;
    out.P = out.F + t * t;
    out.R = out.P + 6 * t;
    out.ahead = out.R + MABD_VARIATION * t;
    out.behind = out.ahead + t * o;
    out.L = out.behind + t * o;
    out.Z = out.L + o * m;
    out.defect = out.Z + o * m;
    return out;
}

/// Plan the bundles of all parts with more than `most` borders and take memory for them; links, cut
/// joints, couplings and springs are there (bundle_plan.c). MABD_ERR_MEMORY.
mabd_status mabd_redmax_bundles_create(mabd_redmax_sim* sim, int32_t most);
/// Free what mabd_redmax_bundles_create took; also after it failed (bundle_plan.c).
void mabd_redmax_bundles_destroy(mabd_redmax_sim* sim);
/// Bytes that it took (bundle_plan.c).
size_t mabd_redmax_bundles_bytes(const mabd_redmax_sim* sim);

/// The link where the ways of two links to the ground meet, -1 = at the ground (bundle_plan.c).
int32_t mabd_redmax_meeting(const mabd_redmax_sim* sim, int32_t a, int32_t b);
/// Find the rows among n borders that end (list) which follow from others, of s->ranks, by their
/// matrix F (n x n), where the borders inside are eliminated; work: n x n (redundancy.c).
void mabd_redmax_find_dependent(const mabd_redmax_solve* s, int32_t n, const int32_t* list,
                                const mabd_real* F, mabd_real* work);

/// Begin a factor: the ground has no sums (bundle_factor.c).
void mabd_redmax_bundles_begin(const mabd_redmax_solve* s);
/// Eliminate the borders that end at a link, whose children are eliminated: their part is added to
/// N (6 x 18) (bundle_factor.c). MABD_ERR_SINGULAR.
mabd_status mabd_redmax_bundle_close(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                     int32_t link, mabd_real* N);
/// Take the borders that go on from a link, whose freedoms are eliminated, to its parent
/// (bundle_factor.c).
void mabd_redmax_bundle_pass(const mabd_redmax_solve* s, mabd_redmax_weights w, int32_t link);

/// Solve H x - U y = x, L x + e y = c of a stage, or of the mass matrix: x (freedoms), c (borders)
/// in and out; force (rows of the simulation, null = 0): U force is taken from the first
/// right-hand side (bundle_solve.c).
void mabd_redmax_bundle_solve(const mabd_redmax_solve* s, bool mass, mabd_real* x, mabd_real* c,
                              const mabd_real* force);
/// Solve H'z + L'mu = z, -U'z + e'mu = bars of rows (null = 0); mu (borders) out (bundle_solve.c).
/// False if bars ask for forces that redundant rows share.
bool mabd_redmax_bundle_solve_transposed(const mabd_redmax_solve* s, bool mass, mabd_real* z,
                                         const mabd_real* bars, mabd_real* mu);
/// forces (freedoms) -= U y, by one sweep (bundle_solve.c).
void mabd_redmax_bundle_subtract(const mabd_redmax_solve* s, bool mass, mabd_real* forces);
