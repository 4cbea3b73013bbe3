// SPDX-License-Identifier: Apache-2.0
// Integrators as lists of implicit solves. A solve from t over h gives the node y at its end by
//
//   y' = (y - past)/bh,   past = on_start y_n + on_last y_n-1 + on_stage Y1 + slope h y_n'
//
// for poses, velocities and coordinates alike, so that every method is one row of numbers or two.
// The result of a step is the last solve, or a combination of the two.
//
//   euler            bh = h                       past = y_n
//   bdf2             bh = 2h/3                    past = (4 y_n - y_n-1)/3
//   sdirk2           bh = gh, g = 1 - 1/sqrt 2    past = y_n;  (1 - r) y_n + r Y1, r = (1 - g)/g
//   pareschi-russo   bh = gh, g = 1 - 1/sqrt 2    past = y_n;  (1 - r) y_n + r Y1, r = (1 - 2g)/g
//                    result = (1 - b1 - b2) y_n + b1 Y1 + b2 Y2,  b = (1/2, 1/2) A^-1
//   trbdf2           bh = gh/2, g = 2 - sqrt 2    past = y_n + (gh/2) y_n';
//                                                 (Y1 - (1 - g)^2 y_n)/(g (2 - g))
//
// Orders on mechanisms (tests/verification/test_quaternion_order.c): euler 1; bdf2 and trbdf2 2;
// sdirk2 1, because its first solve has stage order 1 and unit length is a constraint of every
// body; pareschi-russo 2 in poses and 1 in velocities, and its rows stay open by O(h^2).
#pragma once

#include "mabd/sim.h"
#include "math/shared.h"

#include <math.h>

/// One implicit solve.
typedef struct mabd_tableau_solve {
    mabd_real bh;                          // of h
    mabd_real end;                         // time of its end, of h
    mabd_real on_start, on_last, on_stage; // weights of y_n, y_n-1 and Y1 in its past
    mabd_real slope;                       // of h y_n'
} mabd_tableau_solve;

typedef struct mabd_tableau {
    int32_t count; // solves, 1 or 2
    mabd_tableau_solve solve[2];
    bool combines; // result = first Y1 + second Y2 + (1 - first - second) y_n
    mabd_real first, second;
    bool uses_last, uses_slope; // history that it needs
} mabd_tableau;

/// Return the solves of an integrator; those of implicit Euler for one that has none.
MABD_FN mabd_tableau mabd_tableau_of(mabd_integrator integrator) {
    const mabd_real g = 1 - (mabd_real)sqrt(0.5), t = 2 - (mabd_real)sqrt(2.0);
    const mabd_real r = (1 - g) / g, p = (1 - 2 * g) / g, q = 1 / (t * (2 - t));
    mabd_tableau out = {.count = 1, .solve = {{1, 1, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 0}}};
    switch (integrator) {
    case MABD_INTEGRATOR_BDF2:
        out.solve[0] =
            (mabd_tableau_solve){(mabd_real)2 / 3, 1, (mabd_real)4 / 3, (mabd_real)-1 / 3, 0, 0};
        out.uses_last = true;
        break;
    case MABD_INTEGRATOR_SDIRK2:
        out.count = 2;
        out.solve[0] = (mabd_tableau_solve){g, g, 1, 0, 0, 0};
        out.solve[1] = (mabd_tableau_solve){g, 1, 1 - r, 0, r, 0};
        break;
    case MABD_INTEGRATOR_PARESCHI_RUSSO:
        out.count = 2;
        out.solve[0] = (mabd_tableau_solve){g, g, 1, 0, 0, 0};
        out.solve[1] = (mabd_tableau_solve){g, 1 - g, 1 - p, 0, p, 0};
        out.combines = true;
        // (1/2, 1/2) A^-1 with A = [g 0; 1 - 2g g]
        out.second = 1 / (2 * g);
        out.first = (1 - p) / (2 * g);
        break;
    case MABD_INTEGRATOR_TRBDF2:
        out.count = 2;
        out.solve[0] = (mabd_tableau_solve){t / 2, t, 1, 0, 0, t / 2};
        out.solve[1] = (mabd_tableau_solve){t / 2, 1, -(1 - t) * (1 - t) * q, 0, q, 0};
        out.uses_slope = true;
        break;
    default:
        break;
    }
    return out;
}
