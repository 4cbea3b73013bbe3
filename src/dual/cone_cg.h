// SPDX-License-Identifier: Apache-2.0
// Contact forces between moving bodies: projected conjugate gradients over the contact rows.
//
// Contact i has a normal force l_n and a tangential force l_t (2). The rows are gap and slip as
// functions of the forces,
//
//   g = W l + rest + c l,    W = Jc A^-1 Jc' symmetric, positive semidefinite;
//                            a product is a structured solve
//
//   l_n >= 0,  g_n >= 0,  l_n g_n = 0                            no adhesion, no penetration
//   |l_t| <= mu l_n,  l_t along -g_t if |l_t| = mu l_n           Coulomb's cone
//   g_t = 0                          if |l_t| < mu l_n
//
// With the bound mu l_n replaced by a number r this is the minimum of l'(W + c)l/2 + rest'l over
// half-lines and discs, which is convex and has one solution. r follows l_n until both agree
// (Tresca's friction iterated to Coulomb's), or as often as the caller wants; each update costs as
// much as a whole solve. Unknowns are scaled by each row's own compliance, so that the diagonal is
// near 1.
//
// If bodies touch in more points than they have freedoms, W is singular except for elasticity, and
// only c makes the forces unique; it also bounds the condition number.
//
// A linear entry has three rows g = 0 instead, for any forces: dampers beside the contacts.
//
// Steps. Forces strictly inside their sets are free. While the free part of the gradient is the
// larger one, make a step of conjugate gradients on the free forces, projected where it leaves the
// sets. Otherwise make a projected gradient step, which frees and binds. Either step moves along d
// = P(x - a p) - x to the minimum of the quadratic on that segment, so the energy never rises for
// any a.
#pragma once

#include "base/memory.h"
#include "math/shared.h"

#include <math.h>

/// y = W x, rows 3 i (normal), 3 i + 1, 3 i + 2 (tangents) of contact i.
typedef void mabd_cone_operator(void* self, const mabd_real* x, mabd_real* y);

typedef struct mabd_cone_problem {
    int32_t count;             // contacts
    const mabd_real* rest;     // value of the rows without contact forces (3 count) [m]
    const mabd_real* own;      // compliance of normal and tangential rows by themselves, > 0
                               // (2 count) [m/N]
    mabd_real softness;        // c / own
    const mabd_real* friction; // (count)
    /// Entries that obey no law of contact: g = 0 with forces of any sign (count); null: none.
    const bool* linear;
    mabd_cone_operator* product;
    void* self;
    mabd_real tolerance; // of gaps and slips [m]
    /// Friction bounds (count), in and out [N]; null: iterate until they agree with the normal
    /// forces.
    mabd_real* bound;
    int32_t updates; // largest number of updates of `bound` by the normal forces
    int32_t max_products;
} mabd_cone_problem;

/// Project a tangential force t (2) onto the disc of a radius [N].
MABD_FN void mabd_cone_to_disk(mabd_real radius, mabd_real t[2]) {
    const mabd_real size = t[0] * t[0] + t[1] * t[1];
    if (!(size > radius * radius)) return;
    const mabd_real s = radius / (mabd_real)sqrt(size);
    t[0] *= s, t[1] *= s;
}

/// Natural residual of one contact, |x - P(x - g)| with x = own l: the larger of normal and slip
/// [m]. l: force [N], g: rows [m], own: compliance of normal and tangents [m/N], bound: of friction
/// [N].
MABD_FN mabd_real mabd_cone_off_law(const mabd_real own[2], mabd_real bound, const mabd_real l[3],
                                    const mabd_real g[3]) {
    const mabd_real n = own[0] * l[0];
    mabd_real t[2] = {own[1] * l[1] - g[1], own[1] * l[2] - g[2]};
    mabd_cone_to_disk(own[1] * bound, t);
    t[0] -= own[1] * l[1], t[1] -= own[1] * l[2];
    const mabd_real normal = (mabd_real)fabs(n < g[0] ? n : g[0]);
    const mabd_real slip = (mabd_real)sqrt(t[0] * t[0] + t[1] * t[1]);
    return normal > slip ? normal : slip;
}

/// Result of a solve over cones.
typedef struct mabd_cone_report {
    int32_t products;
    int32_t passes;     // updates of the friction bounds
    mabd_real residual; // largest natural residual of a contact [m]
    bool converged;
} mabd_cone_report;

/// Number of reals of workspace that mabd_cone_cg needs.
size_t mabd_cone_cg_work(int32_t count);
/// Solve a problem by projected conjugate gradients. force (3 count): first guess in, forces out
/// [N]; rows (3 count) gets g [m]; work: mabd_cone_cg_work(count) reals.
mabd_cone_report mabd_cone_cg(const mabd_cone_problem* problem, mabd_real* force, mabd_real* rows,
                              mabd_real* work);
