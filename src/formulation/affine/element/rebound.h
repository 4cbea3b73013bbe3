// SPDX-License-Identifier: Apache-2.0
// Impacts with restitution in a step of implicit Euler.
#pragma once

#include "math/shared.h"

#include <math.h>

/// Speed after an impact with the coefficient e and the speed v [m/s], [rad/s] from the distance d
/// in a step of length h; g: acceleration towards the stop. The rebound has e^2 of the energy where
/// the step ends:
///
///   w^2/2 + g (d + h w) = e^2 (v^2/2 + g d)
///
/// 0 if that would be less than g h: a hop that would end within the next step is none.
MABD_FN mabd_real mabd_affine_rebound(mabd_real e, mabd_real v, mabd_real d, mabd_real g,
                                      mabd_real h) {
    if (d < 0) d = 0;
    const mabd_real square = e * e * (v * v + 2 * g * d) - 2 * g * d + g * h * g * h;
    const mabd_real w = square > 0 ? (mabd_real)sqrt(square) - g * h : 0;
    return w > g * h ? w : 0;
}
