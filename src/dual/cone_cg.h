// SPDX-License-Identifier: Apache-2.0
// Contact forces between moving bodies: projected conjugate gradients over the contact rows.
//
// Contact i has a normal force l_n and a tangential force l_t (2). Rows are what forces do to gap and slip,
//
//   g = W l + rest + c l,        W = Jc A^-1 Jc' symmetric, positive semidefinite: one structured solve a product
//
//   l_n >= 0,  g_n >= 0,  l_n g_n = 0                            nothing sticks, nothing passes through
//   |l_t| <= mu l_n,  l_t along -g_t if |l_t| = mu l_n           Coulomb's cone
//   g_t = 0                          if |l_t| < mu l_n
//
// With the bound mu l_n held at a number r this is the minimum of l'(W + c)l/2 + rest'l over half lines and
// disks, which is convex and has one solution; r follows l_n until both agree (Tresca's friction iterated
// to Coulomb's), or as often as the caller wants: each time costs as much as all of it. Unknowns are scaled by the compliance of each row by itself, so that the diagonal is near 1.
//
// Where bodies touch in more points than they have freedoms W is singular but for elasticity, and only c
// makes the forces unique; it also bounds the condition of the problem.
//
// Steps. Forces strictly inside their sets are free. While the free part of the gradient is the larger one:
// a step of conjugate gradients on the free forces, cut off by projection where it leaves the sets. Else a
// projected gradient step, which frees and binds. Both go along d = P(x - a p) - x and take the least of
// the quadratic on that segment, so the energy never rises, whatever a is.
#pragma once

#include "base/memory.h"
#include "math/shared.h"

#include <math.h>

/// y = W x, rows 3 i (normal), 3 i + 1, 3 i + 2 (tangents) of contact i.
typedef void mabd_contact_operator(void* self, const mabd_real* x, mabd_real* y);

typedef struct mabd_cone_problem {
    int32_t count;             // contacts
    const mabd_real* rest;     // value of the rows without contact forces (3 count) [m]
    const mabd_real* own;      // compliance of normal and tangential rows by themselves, > 0
                               // (2 count) [m/N]
    mabd_real softness;        // c / own
    const mabd_real* friction; // (count)
    mabd_contact_operator* product;
    void* self;
    mabd_real tolerance; // of gaps and slips [m]
    mabd_real*
        bound; // of friction (count), in and out [N]; null: until they agree with the normal forces
    int32_t updates; // how often they follow the normal forces at the most, with `bound`
    int32_t max_products;
} mabd_cone_problem;

/// A tangential force into the disk of a radius.
MABD_FN void mabd_contact_to_disk(mabd_real radius, mabd_real t[2]) {
    const mabd_real size = t[0] * t[0] + t[1] * t[1];
    if (!(size > radius * radius)) return;
    const mabd_real s = radius / (mabd_real)sqrt(size);
    t[0] *= s, t[1] *= s;
}

/// How far a contact with force l [N] and rows g [m] is off the law: x - P(x - g) with x = own l, own of normal and tangents
/// [m/N], `bound` of friction [N]; the larger of normal and slip [m].
MABD_FN mabd_real mabd_cone_off_law(const mabd_real own[2], mabd_real bound, const mabd_real l[3],
                                    const mabd_real g[3]) {
    const mabd_real n = own[0] * l[0];
    mabd_real t[2] = {own[1] * l[1] - g[1], own[1] * l[2] - g[2]};
    mabd_contact_to_disk(own[1] * bound, t);
    t[0] -= own[1] * l[1], t[1] -= own[1] * l[2];
    const mabd_real normal = (mabd_real)fabs(n < g[0] ? n : g[0]);
    const mabd_real slip = (mabd_real)sqrt(t[0] * t[0] + t[1] * t[1]);
    return normal > slip ? normal : slip;
}

/// What was done.
typedef struct mabd_cone_report {
    int32_t products;
    int32_t passes;     // how often the bounds of friction were taken anew
    mabd_real residual; // how far gap and slip are from the law [m]
    bool converged;
} mabd_cone_report;

/// Reals that a solve works in.
size_t mabd_cone_cg_work(int32_t count);
/// force (3 count): first guess in, forces out [N]. rows (3 count) gets g [m]. work as above.
mabd_cone_report mabd_cone_cg(const mabd_cone_problem* problem, mabd_real* force, mabd_real* rows,
                              mabd_real* work);
